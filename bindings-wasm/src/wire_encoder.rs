//! Encodes a result as records for JavaScript.
//!
//! One word per value, in document order: `kind | payload << 3`. An unchanged value of the caller is encoded by its
//! number in one word, however large it is. In objects, the word of a member's name precedes the word of its value.
//! Lengths are in UTF-16 units; strings are concatenated in the characters.

use toolwire::internal::json::{write, Data, Node, Text};

use crate::{shared_buffer::OutputBuffer, wire_decoder::Names};

/// The kinds, with the same numbers as in `npm/src/values/wire-decoder.ts`.
mod kind {
    /// The caller's value with this number.
    pub(super) const INPUT: u32 = 0;
    /// The member name of the caller's value with this number.
    pub(super) const INPUT_NAME: u32 = 1;
    /// null, false or true: 0, 1, 2.
    pub(super) const CONSTANT: u32 = 2;
    pub(super) const NUMBER: u32 = 3;
    pub(super) const STRING: u32 = 4;
    /// Any value as JSON text, the only encoding of a string with an unpaired surrogate.
    pub(super) const JSON: u32 = 5;
    pub(super) const ARRAY: u32 = 6;
    pub(super) const OBJECT: u32 = 7;
}

pub(crate) struct WireEncoder<'n> {
    pub(crate) names: Names<'n, 'n>,
    pub(crate) output: OutputBuffer,
}

impl WireEncoder<'_> {
    pub(crate) fn value(&mut self, node: &Node<'_>) {
        if let (true, Some(number)) = (node.is_intact(), node.origin().number()) {
            return self.word(kind::INPUT, number as usize);
        }
        match node.data() {
            Data::Null => self.word(kind::CONSTANT, 0),
            Data::Bool(value) => self.word(kind::CONSTANT, 1 + usize::from(*value)),
            Data::Number(text) => self.text(kind::NUMBER, text),
            Data::String(text) => self.string(text),
            Data::Verbatim(text) => self.text(kind::JSON, text),
            Data::Array(items) => {
                self.word(kind::ARRAY, items.len());
                for item in items {
                    self.value(item);
                }
            }
            Data::Object(object) => {
                self.word(kind::OBJECT, object.len());
                for member in object {
                    match member.value.origin().number() {
                        Some(number) if self.names.is(&member.key, number) => {
                            self.word(kind::INPUT_NAME, number as usize)
                        }
                        _ => self.string(&member.key),
                    }
                    self.value(&member.value);
                }
            }
        }
    }

    fn string(&mut self, text: &Text<'_>) {
        if let Some(plain) = text.as_plain() {
            return self.text(kind::STRING, plain);
        }
        match text.value() {
            Some(value) => self.text(kind::STRING, &value),
            None => self.text(kind::JSON, &write(&Node::string(text.borrowed()))),
        }
    }

    fn text(&mut self, kind: u32, text: &str) {
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        self.word(kind, units);
        self.output.chars.push_str(text);
    }

    fn word(&mut self, kind: u32, payload: usize) {
        self.output.words.push(kind | (payload as u32) << 3);
    }
}
