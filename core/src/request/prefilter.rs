//! Decides from the strings of a message if it may need rewriting. Other messages are never parsed.
//!
//! The descriptions of the formats contain all words that rewriting looks for, and some more. A message stays unparsed
//! if no string in it equals such a word, after decoding escapes. A message that contains a word by coincidence is
//! parsed, but keeps its text.

use crate::{
    dialect::rule,
    json::{Flags, Text},
    wire,
};

/// Maximum length of a word, rounded up.
const MAX_WORD: usize = 32;

pub(crate) fn of(text: &Text<'_>) -> Flags {
    match text.as_plain() {
        Some(word) if word.trim().is_empty() => Flags::EMPTY,
        Some(word) if word.len() < 4 => Flags::NONE,
        Some(word) => of_word(word.as_bytes()),
        // White space with escapes.
        None if text.is_blank() => Flags::EMPTY,
        // The string is longer than every word, and does not begin with `SEARCH`, as types of searches do.
        None if text.chars().len() > 6 * MAX_WORD && !text.chars().starts_with(['t', '\\']) => Flags::NONE,
        // Decodes into a buffer on the stack. An allocation would be wasted, because most strings with escapes are
        // long.
        None => {
            let mut buffer = [0; MAX_WORD];
            let mut length = 0;
            for point in text.code_points() {
                let (Ok(byte), Some(slot)) = (u8::try_from(point), buffer.get_mut(length)) else { break };
                *slot = byte;
                length += 1;
            }
            // Decoding stops at the first character beyond Latin-1 or at the maximum length. A truncated string
            // is not a word, but may be the type of a search, which begins with `SEARCH`.
            let is_whole = text.code_points().nth(length).is_none();
            let word = buffer.get(..length).unwrap_or_default();
            if is_whole || word.starts_with(SEARCH) {
                of_word(word)
            } else {
                Flags::NONE
            }
        }
    }
}

const SEARCH: &[u8] = b"tool_search";

/// The words of all formats and rules, by their length in bytes. Unused entries are empty.
static WORDS: [[Word; MAX_WORDS_OF_LENGTH]; MAX_WORD] = by_length();
/// Maximum number of words of one length.
const MAX_WORDS_OF_LENGTH: usize = 12;

type Word = (&'static str, Flags);

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses an index out of bounds")]
const fn by_length() -> [[Word; MAX_WORDS_OF_LENGTH]; MAX_WORD] {
    let mut words: [[Word; MAX_WORDS_OF_LENGTH]; MAX_WORD] = [[("", Flags::NONE); MAX_WORDS_OF_LENGTH]; MAX_WORD];
    let mut counts = [0; MAX_WORD];
    let mut list_index = 0;
    while list_index <= wire::FLAG_WORDS.len() {
        let list = if list_index < wire::FLAG_WORDS.len() { wire::FLAG_WORDS[list_index] } else { rule::WORDS };
        let mut at = 0;
        while at < list.len() {
            let length = list[at].0.len();
            words[length][counts[length]] = list[at];
            counts[length] += 1;
            at += 1;
        }
        list_index += 1;
    }
    words
}

fn of_word(word: &[u8]) -> Flags {
    let words = WORDS.get(word.len()).into_iter().flatten().take_while(|(known, _)| !known.is_empty());
    let matches = words.filter(|(known, _)| known.as_bytes() == word).map(|(_, flags)| *flags);
    let flags = matches.fold(Flags::NONE, |flags, more| flags | more);
    if word.starts_with(SEARCH) {
        return flags | Flags::DEFERRAL;
    }
    flags
}
