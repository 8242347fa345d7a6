//! Recognizes, by its beginning, text that may be an answer to restore, and extracts answers from Markdown fences:
//! models put JSON into a fence even if the instructions forbid it.

use alloc::string::String;

use super::answer_parts::Content;
use crate::{
    json,
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

/// Minimum number of backticks in a fence.
const TICKS: usize = 3;
/// Maximum length in bytes of the word after the backticks, such as `json`.
const WORD: usize = 32;

/// Kinds of text that are restored, recognized by their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Restores {
    /// JSON text.
    pub(super) json: bool,
    /// JSON text in a Markdown fence.
    pub(super) fenced: bool,
}

/// Parser for the beginning of text that arrives in pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    restores: Restores,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The text so far is only whitespace.
    Blank,
    /// Number of backticks so far, counted up to the minimum of a fence.
    Ticks(usize),
    /// Number of bytes so far of the word after the backticks.
    Word(usize),
    /// Whitespace after the opening of a fence.
    Opened,
    /// Decided: true if the text may have to be restored.
    Known(bool),
}

impl Restores {
    /// Returns true if text may have to be restored, or may be the beginning of such text.
    pub(super) fn may_be(self, text: &str) -> bool {
        let mut beginning = Beginning::new(self);
        beginning.feed(text);
        !matches!(beginning.state, State::Blank | State::Known(false))
    }
}

impl Beginning {
    pub(super) const fn new(restores: Restores) -> Self {
        Beginning { restores, state: State::Blank }
    }

    /// Adds a piece. Returns true or false once it is decided whether the text may have to be restored.
    pub(super) fn feed(&mut self, piece: &str) -> Option<bool> {
        for byte in piece.bytes() {
            self.state = match (self.state, byte) {
                (State::Known(_), _) => break,
                (State::Blank, byte) if byte.is_ascii_whitespace() => State::Blank,
                (State::Blank, b'`') if self.restores.fenced => State::Ticks(1),
                // Decoding never changes a number, `true`, `false` or `null`.
                (State::Blank, b'{' | b'[' | b'"') => State::Known(self.restores.json),
                (State::Blank, _) => State::Known(false),
                (State::Ticks(count), b'`') => State::Ticks(TICKS.min(count + 1)),
                (State::Ticks(count), _) if count < TICKS => State::Known(false),
                (State::Ticks(_) | State::Word(_) | State::Opened, byte) if byte.is_ascii_whitespace() => State::Opened,
                (State::Ticks(_), byte) if is_of_word(byte) => State::Word(1),
                (State::Word(length), byte) if is_of_word(byte) && length < WORD => State::Word(length + 1),
                (State::Ticks(_) | State::Word(_) | State::Opened, byte) => State::Known(begins_json(byte)),
            };
        }
        match self.state {
            State::Known(may) => Some(may),
            _ => None,
        }
    }
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')
}

const fn begins_json(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// A text that begins with a fence.
enum Fenced<'t> {
    /// A complete Markdown block, with its content.
    Whole(&'t str),
    /// A Markdown block without its end, with its content so far.
    Open(&'t str),
}

/// Parses text that begins with a fence.
fn fenced(text: &str) -> Option<Fenced<'_>> {
    let ticks = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let text = text.trim_matches(is_space);
    let opening = ticks(text);
    if opening < TICKS {
        return None;
    }
    let rest = text.get(opening..)?;
    let word = rest.bytes().take_while(|byte| is_of_word(*byte)).count();
    let inner = rest.get(word..).filter(|_| word <= WORD)?;
    let closing = inner.bytes().rev().take_while(|byte| *byte == b'`').count();
    if closing < opening {
        return Some(Fenced::Open(inner));
    }
    let inner = inner.get(..inner.len() - closing)?;
    Some(Fenced::Whole(inner.trim_matches(is_space)))
}

const fn is_space(one: char) -> bool {
    one.is_ascii_whitespace()
}

/// Takes an answer out of its fence, unless the schema refuses the answer. Returns `None` for text that is not JSON
/// in a fence.
pub(super) fn unfenced(text: &str, plan: &Plan, schema: &Prepared) -> Option<Content> {
    let inner = match fenced(text)? {
        Fenced::Whole(inner) => inner,
        // Some backticks of the closing fence may still be missing.
        Fenced::Open(inner) => {
            let inner = inner.trim_end_matches('`');
            let is_json = json::close_cut(inner).is_some() || json::read(inner).is_ok();
            return is_json.then_some(Content { is_cut: true, ..Content::default() });
        }
    };
    let mut node = json::read(inner).ok()?;
    if let Err(error) = plan.restore(&mut node) {
        return Some(Err(error).into());
    }
    if schema.validator().verdict(&node) == Verdict::Invalid {
        return Some(Content::default());
    }
    let restored = if node.is_intact() { String::from(inner) } else { json::write(&node) };
    Some(Content { text: Some(restored), is_unfenced: true, ..Content::default() })
}
