//! JSON text in one spelling, however the input spelled it: what is written into descriptions and strings, and what is measured.
//!
//! A hint that says `(enum: ["é"])` must be the same text whether the schema came as JSON with escapes or as a value of the caller's
//! language, which has no escapes.

use alloc::{format, string::String};

use super::{number, write::Sink, Data, Node, Text};

/// The compact JSON text of a value: numbers as `JSON.stringify` writes them, strings with the fewest escapes.
pub(crate) fn write_plain(node: &Node<'_>) -> String {
    let mut out = String::new();
    emit(node, &mut out);
    out
}

/// The length in bytes of [`write_plain`], without making it.
pub(crate) fn plain_length(node: &Node<'_>) -> usize {
    let mut length = super::write::Length(0);
    emit(node, &mut length);
    length.0
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

fn emit(node: &Node<'_>, out: &mut impl Sink) {
    match node.data() {
        Data::Null => out.put("null"),
        Data::Bool(true) => out.put("true"),
        Data::Bool(false) => out.put("false"),
        Data::Number(text) => out.put(&number::plain(text)),
        Data::String(text) => string(text, out),
        Data::Verbatim(text) => out.put(text),
        Data::Array(items) => {
            let mut before = "[";
            for item in items {
                out.put(before);
                emit(item, out);
                before = ",";
            }
            out.put(if items.is_empty() { "[]" } else { "]" });
        }
        Data::Object(object) => {
            let mut before = "{";
            for member in object {
                out.put(before);
                string(&member.key, out);
                out.put(":");
                emit(&member.value, out);
                before = ",";
            }
            out.put(if object.is_empty() { "{}" } else { "}" });
        }
    }
}

fn string(text: &Text<'_>, out: &mut impl Sink) {
    match text.value() {
        Some(value) => {
            out.put("\"");
            super::write::escape(&value, out);
            out.put("\"");
        }
        // A surrogate without its partner has no other spelling than its escape.
        None => {
            let mut spelled = String::new();
            for point in text.code_points() {
                match char::from_u32(point) {
                    Some(character) => super::write::escape(character.encode_utf8(&mut [0; 4]), &mut spelled),
                    None => spelled.push_str(&format!("\\u{point:04x}")),
                }
            }
            out.put_quoted(&spelled);
        }
    }
}
