//! Decides from the strings in a message whether it may need rewriting, so that other messages are never parsed.
//!
//! The words are a superset of those that rewriting looks for. A message stays unparsed if none of its strings, with
//! escapes decoded, equals one of the words. A message that contains a word by coincidence is parsed, but also keeps
//! its text.

use crate::json::Text;

/// A type or a key of deferred loading.
pub(crate) const DEFERRAL: u8 = 1;
/// A role or key that only Chat Completions uses.
pub(crate) const CHAT: u8 = 2;
/// A tool call.
pub(crate) const CALL: u8 = 4;
/// An item of OpenAI Responses that contains definitions of tools.
pub(crate) const CARRIER: u8 = 8;
/// The result of a call, if no other mark covers it.
pub(crate) const RESULT: u8 = 16;
/// An item of OpenAI Responses that sets the response format.
pub(crate) const FORMAT: u8 = 32;
/// The marks of messages that may name a tool, in any API.
pub(crate) const NAMES_TOOLS: u8 = DEFERRAL | CHAT | CALL;

/// Maximum length of a word, rounded up.
const MAX_WORD: usize = 32;

/// The marks of one string.
pub(crate) fn of(text: &Text<'_>) -> u8 {
    match text.as_plain() {
        Some(word) if word.len() < 4 => 0,
        Some(word) => of_word(word.as_bytes()),
        // Longer than every word, except for those that match by the prefix of searches, which this string lacks.
        None if text.chars().len() > 6 * MAX_WORD && !text.chars().starts_with(['t', '\\']) => 0,
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
            // matches no word, except by the prefix of searches.
            let whole = text.code_points().nth(length).is_none();
            let word = buffer.get(..length).unwrap_or_default();
            if whole || word.starts_with(SEARCH) {
                of_word(word)
            } else {
                0
            }
        }
    }
}

const SEARCH: &[u8] = b"tool_search";

fn of_word(word: &[u8]) -> u8 {
    match word {
        b"tool_reference" | b"tool_references" | b"tool_addition" | b"tool_removal" | b"server_tool_use"
        | b"caller" | b"namespace" | b"defer_loading" | b"toolAddition" | b"toolRemoval" => DEFERRAL,
        b"additional_tools" | b"tool_search_output" => DEFERRAL | CARRIER,
        // A Kimi message that adds tools.
        b"tools" => DEFERRAL | CHAT,
        b"tool_use"
        | b"toolUse"
        | b"mcp_tool_use"
        | b"function_call"
        | b"custom_tool_call"
        | b"custom_tool_call_output"
        | b"function_result"
        | b"functionCall"
        | b"functionResponse"
        | b"function_response" => CALL,
        b"tool_result" | b"function_call_output" | b"toolResult" => RESULT,
        b"tool" | b"function" => CHAT,
        b"configuration_update" => FORMAT,
        b"tool_calls" => CHAT | CALL,
        _ if word.starts_with(SEARCH) => DEFERRAL,
        _ => 0,
    }
}
