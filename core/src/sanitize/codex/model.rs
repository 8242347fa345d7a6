//! Codex's typed model of a schema: the type names and keywords that it supports, and the keywords in which it looks
//! for subschemas.

use crate::{
    json::Text,
    schema::keyword::{Keyword, Keywords},
};

/// Type names that Codex accepts, in exactly this spelling.
pub(super) const TYPES: [&str; 7] = ["string", "number", "boolean", "integer", "object", "array", "null"];

/// Keywords that survive at every level.
const MODELLED: [&str; 15] = [
    "$ref",
    "type",
    "description",
    "encrypted",
    "enum",
    "items",
    "minItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "$defs",
    "definitions",
];

/// Returns the name of Codex's field for a key, if there is one.
pub(super) fn modelled(key: &Text<'_>) -> Option<&'static str> {
    MODELLED.iter().find(|name| key.is_found(name)).copied()
}

/// Surviving keywords that hold subschemas.
pub(super) const APPLICATORS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Defs,
    Keyword::Definitions,
]);
