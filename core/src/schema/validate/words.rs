//! What is said of what a schema refuses: what it expects, in the schema's own names and values, and the kind of what
//! was found. Nothing of a value is ever said.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    json::{self, Node, Text},
    schema::instance_types::InstanceTypes,
};

/// The most values of an `enum` that are named, and the most letters of a name or a value.
const VALUES: usize = 12;
const LETTERS: usize = 60;

/// The first letters of a text.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// A name, shortened, in backquotes.
pub(crate) fn name(name: &Text<'_>) -> String {
    format!("`{}`", short(&name.display()))
}

/// A value of the schema, shortened.
pub(super) fn value(value: &Node<'_>) -> String {
    short(&json::write(value))
}

/// The values of an `enum`.
pub(super) fn values(values: &[Node<'_>]) -> String {
    let named: Vec<String> = values.iter().take(VALUES).map(value).collect();
    match values.len().saturating_sub(VALUES) {
        0 if named.len() == 1 => named.concat(),
        0 => format!("one of {}", named.join(", ")),
        more => format!("one of {} and {more} more", named.join(", ")),
    }
}

/// The types that `type` names, as kinds: "a string or null".
pub(super) fn types(types: InstanceTypes) -> String {
    let (nulls, others): (Vec<&str>, Vec<&str>) = types.names().partition(|name| *name == "null");
    let kinds: Vec<&str> = others
        .into_iter()
        .chain(nulls)
        .map(|name| match name {
            "boolean" => "a boolean",
            "object" => "an object",
            "array" => "an array",
            "number" => "a number",
            "integer" => "an integer",
            "string" => "a string",
            other => other,
        })
        .collect();
    if kinds.is_empty() {
        return "nothing".into();
    }
    kinds.join(" or ")
}
