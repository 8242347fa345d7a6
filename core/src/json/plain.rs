//! JSON text in one spelling, regardless of the spelling in the input: for text in descriptions and strings, and for
//! measurements.
//!
//! A hint such as `(enum: ["é"])` must be the same text whether the schema came as JSON with escapes, or as a value of
//! the caller's language, which has no escapes.

use alloc::{format, string::String};

use super::{
    number,
    write::{emit, escape, Length, Sink, Spelling},
    Data, Node, Text,
};

/// Returns the compact JSON text of a value: numbers as `JSON.stringify` writes them, strings with the fewest escapes.
pub(crate) fn write_plain(node: &Node<'_>) -> String {
    let mut out = String::new();
    emit::<Plain>(node, &mut out);
    out
}

/// Appends the compact JSON text of a value: strings with the fewest escapes, numbers as in the input.
pub(crate) fn write_compact(node: &Node<'_>, out: &mut String) {
    emit::<Compact>(node, out);
}

/// Returns the length in bytes of [`write_compact`], without writing the text.
pub(crate) fn compact_length(node: &Node<'_>) -> usize {
    let mut length = Length(0);
    emit::<Compact>(node, &mut length);
    length.0
}

/// Returns the length in bytes of a string in [`write_compact`], with its quotes.
pub(crate) fn compact_text_length(text: &Text<'_>) -> usize {
    let mut length = Length(0);
    Compact::string(text, &mut length);
    length.0
}

/// Returns the length in bytes of [`write_plain`], without writing the text.
pub(crate) fn plain_length(node: &Node<'_>) -> usize {
    let mut length = Length(0);
    emit::<Plain>(node, &mut length);
    length.0
}

/// Returns at least the length in bytes of [`write_plain`]. No text is read, so it takes a quarter of the time of
/// [`plain_length`].
pub(crate) fn plain_length_at_most(node: &Node<'_>) -> usize {
    // Gain of a number such as `1e20`.
    const DIGITS: usize = 24;
    match node.data() {
        Data::Null | Data::Bool(_) => 5,
        Data::Number(text) => text.len() + DIGITS,
        Data::String(text) => plain_text_length_at_most(text),
        Data::Array(items) => 2 + items.iter().map(|item| 1 + plain_length_at_most(item)).sum::<usize>(),
        Data::Object(object) => {
            let lengths = object
                .iter()
                .map(|member| 2 + plain_text_length_at_most(&member.key) + plain_length_at_most(&member.value));
            2 + lengths.sum::<usize>()
        }
        Data::Verbatim(text) => text.len().saturating_mul(6),
    }
}

/// Returns at least the length in bytes of a string in [`write_plain`], with its quotes.
pub(crate) fn plain_text_length_at_most(text: &Text<'_>) -> usize {
    // The spelling with the fewest escapes is no longer than another; each byte of a value may need an escape.
    2 + text.spelling().map_or_else(|| text.chars().len().saturating_mul(6), str::len)
}

impl Sink for String {
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }

    fn put_quoted(&mut self, spelling: &str) {
        self.push('"');
        self.push_str(spelling);
        self.push('"');
    }
}

/// One spelling for each string, regardless of the input.
struct Compact;

impl Spelling for Compact {
    fn number(text: &str, out: &mut impl Sink) {
        out.put(text);
    }

    fn string(text: &Text<'_>, out: &mut impl Sink) {
        Plain::string(text, out);
    }
}

/// One spelling for each value, regardless of the input.
struct Plain;

impl Spelling for Plain {
    fn number(text: &str, out: &mut impl Sink) {
        out.put(&number::plain(text));
    }

    fn string(text: &Text<'_>, out: &mut impl Sink) {
        if let Some(spelling) = text.spelling().filter(|spelling| has_fewest_escapes(spelling)) {
            out.put_quoted(spelling);
            return;
        }
        match text.value() {
            Some(value) => {
                out.put("\"");
                escape(&value, out);
                out.put("\"");
            }
            // The only spelling of a lone surrogate is its escape.
            None => {
                let mut spelled = String::new();
                for point in text.code_points() {
                    match char::from_u32(point) {
                        Some(character) => escape(character.encode_utf8(&mut [0; 4]), &mut spelled),
                        None => spelled.push_str(&format!("\\u{point:04x}")),
                    }
                }
                out.put_quoted(&spelled);
            }
        }
    }
}

/// Returns true if a string is spelled with short escapes only, and only if an escape is required. Most strings are.
fn has_fewest_escapes(spelling: &str) -> bool {
    // No early exit, so that the compiler compares many bytes at a time. With an early exit, this loop took a tenth of
    // the time for long schemas.
    if !spelling.bytes().fold(false, |found, byte| found | (byte == b'\\')) {
        return true;
    }
    let mut rest = spelling.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        if !rest.get(at + 1).is_some_and(|next| b"\"\\bfnrt".contains(next)) {
            return false;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    true
}
