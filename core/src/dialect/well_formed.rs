//! What every surface takes for granted, said once.

use super::Fact;

/// Confidence C although it is refused: what is no JSON Schema has no meaning that leaving it alone could keep.
pub(super) const WELL_FORMED: Fact = Fact {
    says: "the schema is one by the 2020-12 meta-schema, it speaks of an object, and its references lead somewhere",
    confidence: 'C',
    source: "JSON Schema 2020-12, and MCP: arguments are objects",
    rules: &[
        "root-object",
        "root-not-schema",
        "unknown-type",
        "not-a-schema",
        "array-items",
        "items-not-schema",
        "properties-not-object",
        "additional-properties-not-schema",
        "required-not-strings",
        "combinator-not-list",
        "any-of-size",
        "enum-not-list",
        "enum-empty",
        "defs-not-object",
        "definition-name",
        "ref-not-string",
        "ref-form",
        "ref-target",
    ],
};

/// The rules of `check` that hold a schema to the 2020-12 meta-schema, where an API does so itself.
pub(super) const METASCHEMA: &[&str] = &[
    "keyword-value",
    "unknown-type",
    "not-a-schema",
    "array-items",
    "items-not-schema",
    "properties-not-object",
    "additional-properties-not-schema",
    "required-not-strings",
    "combinator-not-list",
    "any-of-size",
    "enum-not-list",
    "enum-empty",
    "defs-not-object",
    "ref-not-string",
    "ref-target",
];
