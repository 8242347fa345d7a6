//! How a text begins that may be an answer to restore, and an answer that is one block of Markdown: models put JSON
//! into a fence although the instructions say that they must not.

use alloc::string::String;

use super::answer_parts::Content;
use crate::{
    json,
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

/// The fewest backticks of a fence.
const TICKS: usize = 3;
/// The longest word behind the backticks, such as `json`, in bytes.
const WORD: usize = 32;

/// What of an answer is restored, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Restores {
    /// JSON text.
    pub(super) json: bool,
    /// JSON text in a Markdown fence.
    pub(super) fenced: bool,
}

/// The beginning of a text that comes in pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    restores: Restores,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but white space came.
    Blank,
    /// This many backticks came, counted up to those of a fence.
    Ticks(usize),
    /// This many bytes of the word behind the backticks came.
    Word(usize),
    /// White space came behind the opening of a fence.
    Opened,
    /// It is known whether the text may have to be restored.
    Known(bool),
}

impl Restores {
    /// Returns true if a text may be one to restore, or the beginning of one.
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

    /// Takes a piece. Returns whether the text may have to be restored, once that is known.
    pub(super) fn feed(&mut self, piece: &str) -> Option<bool> {
        for byte in piece.bytes() {
            self.state = match (self.state, byte) {
                (State::Known(_), _) => break,
                (State::Blank, byte) if byte.is_ascii_whitespace() => State::Blank,
                (State::Blank, b'`') if self.restores.fenced => State::Ticks(1),
                // No plan changes a number, `true`, `false` or `null`.
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
    /// One block of Markdown, with this text in it.
    Whole(&'t str),
    /// The end of the block is missing.
    Open(&'t str),
}

/// Takes a text that begins with a fence apart.
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

/// Takes an answer out of its fence, unless the schema refuses it. Returns `None` for a text that is not JSON in a
/// fence.
pub(super) fn unfenced(text: &str, plan: &Plan, schema: &Prepared) -> Option<Content> {
    let inner = match fenced(text)? {
        Fenced::Whole(inner) => inner,
        // Backticks of the end may still be missing.
        Fenced::Open(inner) => {
            let inner = inner.trim_end_matches('`');
            let is_json = json::close_cut(inner).is_some() || json::read(inner).is_ok();
            return is_json.then_some(Content { is_cut: true, ..Content::default() });
        }
    };
    let mut node = json::read(inner).ok()?;
    if plan.restore(&mut node).is_err() || schema.validator().verdict(&node) == Verdict::Invalid {
        return Some(Content::default());
    }
    let restored = if node.is_intact() { String::from(inner) } else { json::write(&node) };
    Some(Content { text: Some(restored), is_cut: false, is_unfenced: true })
}
