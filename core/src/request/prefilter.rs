//! Decides from the strings in a message whether it may need rewriting, so that other messages are never parsed.
//!
//! The words are a superset of those that rewriting looks for. A message stays unparsed if none of its strings, with
//! escapes decoded, equals one of the words. A message that contains a word by coincidence is parsed, but also keeps
//! its text.

use crate::json::{Flags, Text};

/// Maximum length of a word, rounded up.
const MAX_WORD: usize = 32;

/// The flags of one string.
pub(crate) fn of(text: &Text<'_>) -> Flags {
    match text.as_plain() {
        Some(word) if word.len() < 4 => Flags::NONE,
        Some(word) => of_word(word.as_bytes()),
        // This string is longer than every word, and it cannot be a type of search, which begins with `SEARCH`.
        None if text.chars().len() > 6 * MAX_WORD && !text.chars().starts_with(['t', '\\']) => Flags::NONE,
        // Decodes into a buffer on the stack: most strings with escapes are long, and an allocation would be wasted.
        None => {
            let mut buffer = [0; MAX_WORD];
            let mut length = 0;
            for point in text.code_points() {
                let (Ok(byte), Some(place)) = (u8::try_from(point), buffer.get_mut(length)) else { break };
                *place = byte;
                length += 1;
            }
            // Decoding stops at the first character beyond Latin-1 or at the maximum length. A truncated string
            // is not a word, but it may be a type of search, which begins with `SEARCH`.
            let whole = text.code_points().nth(length).is_none();
            let word = buffer.get(..length).unwrap_or_default();
            if whole || word.starts_with(SEARCH) {
                of_word(word)
            } else {
                Flags::NONE
            }
        }
    }
}

const SEARCH: &[u8] = b"tool_search";

fn of_word(word: &[u8]) -> Flags {
    match word {
        b"tool_reference" | b"tool_references" | b"tool_addition" | b"tool_removal" | b"server_tool_use"
        | b"caller" | b"namespace" | b"defer_loading" | b"toolAddition" | b"toolRemoval" => Flags::DEFERRAL,
        b"additional_tools" | b"tool_search_output" => Flags::DEFERRAL | Flags::CARRIER,
        // A Kimi message that adds tools.
        b"tools" => Flags::DEFERRAL | Flags::CHAT,
        b"tool_use"
        | b"toolUse"
        | b"mcp_tool_use"
        | b"function_call"
        | b"custom_tool_call"
        | b"custom_tool_call_output"
        | b"function_result"
        | b"functionCall"
        | b"functionResponse"
        | b"function_response" => Flags::CALL,
        b"tool_result" | b"function_call_output" | b"toolResult" => Flags::RESULT,
        #[cfg(test)]
        b"uses" => Flags::CALL,
        #[cfg(test)]
        b"gave" => Flags::RESULT,
        b"tool" | b"function" => Flags::CHAT,
        b"configuration_update" => Flags::FORMAT,
        b"tool_calls" => Flags::CHAT | Flags::CALL,
        _ if word.starts_with(SEARCH) => Flags::DEFERRAL,
        _ => Flags::NONE,
    }
}
