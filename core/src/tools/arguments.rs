//! Detects tools without arguments.

use crate::json::{Node, Object};

/// Returns `None` if a schema describes any arguments, `Some(true)` if it forbids all, and `Some(false)` otherwise.
pub(super) fn none(schema: &Node<'_>) -> Option<bool> {
    let object = schema.as_object()?;
    let mut closed = false;
    for member in object {
        let value = &member.value;
        let empty = || value.as_object().is_some_and(Object::is_empty);
        match member.key.value()?.as_ref() {
            "type" if value.is_text("object") => {}
            "properties" | "$defs" | "definitions" if empty() => {}
            "required" if value.as_array().is_some_and(<[Node<'_>]>::is_empty) => {}
            "additionalProperties" if value.as_bool().is_some() => closed = value.as_bool() == Some(false),
            "additionalProperties" if empty() => {}
            "$schema" | "$id" | "$comment" | "title" | "description" => {}
            _ => return None,
        }
    }
    Some(closed)
}
