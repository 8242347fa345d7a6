//! Compact JSON as a part of a text, strings spelled the shortest way: the same text wherever the value came from.

use alloc::string::String;
use core::fmt::Write as _;

use crate::json::{self, Data, Node, Text};

/// Appends the compact JSON of a value.
pub(crate) fn compact(node: &Node<'_>, out: &mut String) {
    match node.data() {
        Data::String(text) => string(text, out),
        Data::Array(items) => {
            let mut before = "[";
            for item in items {
                out.push_str(before);
                compact(item, out);
                before = ",";
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Data::Object(object) => {
            let mut before = "{";
            for member in object {
                out.push_str(before);
                string(&member.key, out);
                out.push(':');
                compact(&member.value, out);
                before = ",";
            }
            out.push_str(if object.is_empty() { "{}" } else { "}" });
        }
        _ => json::write_into(node, out),
    }
}

/// Appends a string, its quotes included.
pub(crate) fn string(text: &Text<'_>, out: &mut String) {
    match text.value() {
        Some(value) => json::write_into(&Node::string(Text::new(value)), out),
        // Half a surrogate pair has one spelling only, and as JSON inside a text it is plain ASCII.
        None => {
            out.push('"');
            for point in text.code_points() {
                match char::from_u32(point) {
                    Some(character) => {
                        let mut buffer = [0; 4];
                        let mut quoted = String::new();
                        json::write_into(&Node::string(Text::new(&*character.encode_utf8(&mut buffer))), &mut quoted);
                        out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
                    }
                    None => {
                        let _ = write!(out, "\\u{point:04x}");
                    }
                }
            }
            out.push('"');
        }
    }
}
