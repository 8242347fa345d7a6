//! JSON text as it arrives: bytes that may not be UTF-8, and strings of other languages that UTF-8 cannot represent.

use alloc::{format, string::String, vec::Vec};

use super::read;
use crate::error::{Code, Error};

/// Returns bytes as text, if they are UTF-8.
///
/// # Errors
/// `invalid-json` at the first byte that is not UTF-8, with pointer, line and column.
pub fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    core::str::from_utf8(bytes).map_err(|error| {
        let (before, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        let before = core::str::from_utf8(before).unwrap_or_default();
        unreadable(before, &format!("expected UTF-8, found the byte `0x{byte:02x}`"))
    })
}

/// Returns the error for text that contains an unpaired surrogate after `before`, as strings of JavaScript and Python
/// may.
pub fn half_a_pair(before: &str) -> Error {
    unreadable(
        before,
        "expected valid Unicode, found half of a surrogate pair; JSON text can only spell it as an escape such as \
         `\\ud83d`",
    )
}

/// Returns the error for text that cannot be read after `before`, or the error of `before` itself if it is invalid.
fn unreadable(before: &str, message: &str) -> Error {
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let place = format!("(line {line}, column {column})");
    match read(before) {
        // Reading fails at the end of `before`, and the error has the pointer.
        Err(error) if error.message().ends_with(&place) => {
            Error::new(Code::InvalidJson, error.pointer(), format!("{message} {place}"))
        }
        Err(earlier) => earlier,
        Ok(_) => Error::new(Code::InvalidJson, "", format!("{message} {place}")),
    }
}

/// Decodes bytes that arrive in pieces, which may end within a character. Bytes that are not UTF-8 become U+FFFD, as
/// event streams require (WHATWG, "server-sent events").
#[derive(Debug, Default)]
pub(crate) struct Utf8Pieces {
    /// The first bytes of an incomplete character: at most three.
    incomplete: Vec<u8>,
}

impl Utf8Pieces {
    /// Adds a piece. Returns the text of all characters that are complete.
    pub(crate) fn text(&mut self, piece: &[u8]) -> String {
        let mut text = String::with_capacity(piece.len());
        self.incomplete.extend_from_slice(piece);
        let mut at = 0;
        loop {
            let rest = self.incomplete.get(at..).unwrap_or_default();
            let (valid, broken) = match core::str::from_utf8(rest) {
                Ok(all) => {
                    text.push_str(all);
                    self.incomplete.clear();
                    return text;
                }
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            let before = rest.get(..valid).and_then(|bytes| core::str::from_utf8(bytes).ok());
            text.push_str(before.unwrap_or_default());
            at += valid;
            match broken {
                Some(length) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    at += length;
                }
                None => {
                    self.incomplete.drain(..at);
                    return text;
                }
            }
        }
    }

    /// Returns U+FFFD if an incomplete character is left at the end.
    pub(crate) fn end(&mut self) -> &'static str {
        if core::mem::take(&mut self.incomplete).is_empty() {
            ""
        } else {
            "\u{fffd}"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_may_cut_characters_anywhere() {
        let whole = "a\u{e9}\u{20ac}\u{1f600}b";
        for at in 0..=whole.len() {
            let mut pieces = Utf8Pieces::default();
            let (first, second) = whole.as_bytes().split_at(at);
            assert_eq!(pieces.text(first) + &pieces.text(second) + pieces.end(), whole, "{at}");
        }
        let mut pieces = Utf8Pieces::default();
        assert_eq!(pieces.text(b"a\xffb\xf0\x9f"), "a\u{fffd}b");
        assert_eq!(pieces.text(b"c"), "\u{fffd}c");
        assert_eq!((pieces.text(b"\xe2\x82").as_str(), pieces.end()), ("", "\u{fffd}"));
    }
}
