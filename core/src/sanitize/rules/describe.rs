//! What the grammar cannot say, said in the description: one parenthesis, once.

use alloc::{format, string::String, vec::Vec};

use crate::json::{self, Node, Text};

/// Appends `(k: v; k: v)` to the description, strings bare and other values as compact JSON, unless it ends with it already.
pub(super) fn append<'a>(node: &mut Node<'a>, notes: &[(&str, Node<'a>)]) {
    let said: Vec<String> = notes
        .iter()
        .map(|(keyword, value)| match value.as_text().and_then(|text| text.value()) {
            Some(text) => format!("{keyword}: {text}"),
            None => format!("{keyword}: {}", json::write(value)),
        })
        .collect();
    let note = format!("({})", said.join("; "));
    let text = match node.get("description").and_then(Node::as_text).map(Text::value) {
        Some(Some(text)) if text.ends_with(&note) => return,
        Some(Some(text)) if text.is_empty() => note,
        Some(Some(text)) => format!("{text} {note}"),
        // Half a surrogate pair cannot be written again; the description stays as it is.
        Some(None) => return,
        None => note,
    };
    if let Some(object) = node.as_object_mut() {
        match object.get_mut("description") {
            Some(description) => description.replace(json::Data::String(Text::new(text))),
            None => object.set(Text::literal("description"), Node::string(text)),
        }
    }
}
