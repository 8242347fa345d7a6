//! Codex's typed model of a schema: the type names and keywords it has fields for, and where it looks for schemas.

use crate::{
    json::Text,
    schema::keyword::{Keyword, Keywords},
};

/// The type names Codex knows, spelled exactly so.
pub(super) const TYPES: [&str; 7] = ["string", "number", "boolean", "integer", "object", "array", "null"];

/// Rule 17: the keywords that survive, at every level.
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

/// The field of Codex that a key is, if it has one.
pub(super) fn modelled(key: &Text<'_>) -> Option<&'static str> {
    MODELLED.iter().find(|name| key.is_found(name)).copied()
}

/// Where schemas stand that survive.
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
