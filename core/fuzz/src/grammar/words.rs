//! The vocabulary of the grammar: names, references, values, and keywords with their frequencies.

/// Names of properties and definitions, many of them unusual.
#[rustfmt::skip]
pub(super) const NAMES: [&str; 26] = [
    "a", "b", "c", "D", "m", "type", "$ref", "enum", "properties", "required", "anyOf", "0", "1", "a/b", "x~y", "__proto__",
    "constructor", "{x}", "é", "key", "value", "additional_properties", "pairs", "", "A long name with blanks", "$defs",
];

/// Number of ordinary names at the beginning of the list, which occur again in other lists.
pub(super) const ORDINARY: usize = 4;

pub(super) const DEFINITIONS: [&str; 9] = ["a", "D", "m", "b", "a/b", "1", "{x}", "properties", ""];

pub(super) const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// References, with and without targets.
#[rustfmt::skip]
pub(super) const REFERENCES: [&str; 22] = [
    "#", "#/$defs/a", "#/$defs/b", "#/$defs/D", "#/$defs/m", "#/definitions/a", "#/definitions/D", "#/definitions/m",
    "#/properties/a", "#/properties/b/items", "#/properties/a/anyOf/0", "#/$defs/D/properties/a", "#/$defs/m/allOf/0", "#here",
    "#/components/schemas/a", "#/components/schemas/D", "item.json", "https://example.com/item.json#/$defs/a", "#/$defs/a~1b",
    "#/$defs/missing", "", "#/$defs/%7Bx%7D",
];

/// Definitions of a schema with many references, of which some are often unused.
pub(super) const NESTED_DEFINITIONS: [&str; 3] = ["a", "b", "D"];

/// References to the root, to definitions, and less often into definitions, unions and properties, where others may be.
pub(super) const NESTED_REFERENCES: [&str; 15] = [
    "#",
    "#/$defs/a",
    "#/$defs/a",
    "#/$defs/a",
    "#/$defs/b",
    "#/$defs/b",
    "#/$defs/D",
    "#/$defs/D",
    "#/$defs/D",
    "#/properties/a",
    "#/$defs/a/$defs/b",
    "#/$defs/D/properties/a",
    "#/$defs/a/anyOf/0",
    "#/$defs/D/anyOf/1",
    "#/$defs/b/allOf/0",
];

/// Definitions of a tidy schema.
pub(super) const TIDY_DEFINITIONS: [&str; 4] = ["a", "D", "m", "a/b"];
pub(super) const TIDY_REFERENCES: [&str; 6] = ["#/$defs/a", "#/$defs/D", "#/$defs/m", "#/$defs/a~1b", "#/$defs/a", "#"];
pub(super) const OLD_REFERENCES: [&str; 6] =
    ["#/definitions/a", "#/definitions/D", "#/definitions/m", "#/definitions/a~1b", "#/definitions/a", "#"];

pub(super) const DRAFTS: [&str; 4] = [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

pub(super) const ODD_TYPES: [&str; 8] =
    ["\"any\"", "\"int\"", "[]", "null", "{}", "[\"string\",\"string\"]", "\"Object\"", "[\"null\"]"];

pub(super) const TEXTS: [&str; 8] =
    ["x", "The unit.", "\\u00e9t\\u00e9", "é", "(enum: [1])", "line\\nbreak", "", "\\\"quoted\\\""];

pub(super) const NUMBERS: [&str; 14] =
    ["0", "1", "2", "-1", "3", "1.0", "1e2", "0.5", "-0", "1e400", "18446744073709551616", "100000", "1.50", "7"];

/// Numbers that every validator represents exactly. The first ones are valid counts.
pub(super) const TIDY_NUMBERS: [&str; 9] = ["0", "1", "2", "3", "7", "-1", "0.5", "1.0", "100000"];
pub(super) const COUNTS: usize = 4;

pub(super) const PATTERNS: [&str; 8] = ["^a", "^x-", ".*", "^[a-z]+$", "(?=a)", "\\\\p{L}", "a/b", "("];

/// Number of patterns at the beginning of the list that are valid.
pub(super) const EXPRESSIONS: usize = 7;

pub(super) const FORMATS: [&str; 6] = ["date-time", "email", "uri", "int64", "enum", "odd"];

/// Keywords, repeated in proportion to their frequency.
#[rustfmt::skip]
pub(super) const KEYWORDS: [&str; 62] = [
    "properties", "properties", "required", "items", "additionalProperties", "anyOf", "anyOf", "oneOf", "allOf", "allOf", "not", "if",
    "then", "else", "enum", "enum", "const", "prefixItems", "patternProperties", "propertyNames", "contains", "unevaluatedProperties",
    "unevaluatedItems", "dependentSchemas", "dependentRequired", "nullable", "description", "default", "$ref", "pattern", "format",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
    "maxProperties", "multipleOf", "minContains", "maxContains", "title", "$comment", "x-unknown", "example", "deprecated",
    "examples", "uniqueItems", "$anchor", "$dynamicAnchor", "$id", "id", "$recursiveAnchor", "dependencies", "$defs", "definitions",
    "additionalItems", "contentSchema", "properties",
];

/// Keywords with subschemas, and a few that decide whether a schema accepts anything.
#[rustfmt::skip]
pub(super) const NESTING_KEYWORDS: [&str; 25] = [
    "properties", "properties", "properties", "required", "items", "additionalProperties", "anyOf", "anyOf", "oneOf", "allOf",
    "allOf", "not", "not", "if", "then", "else", "contains", "propertyNames", "$defs", "$defs", "enum", "const", "description",
    "nullable", "format",
];

/// Keywords of a tidy schema of 2020-12.
#[rustfmt::skip]
pub(super) const TIDY_KEYWORDS: [&str; 47] = [
    "properties", "properties", "properties", "required", "required", "items", "additionalProperties", "additionalProperties",
    "anyOf", "anyOf", "anyOf", "oneOf", "allOf", "allOf", "not", "if", "then", "else", "enum", "enum", "const", "prefixItems",
    "patternProperties", "propertyNames", "contains", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas",
    "dependentRequired", "description", "default", "$ref", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "minLength",
    "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf", "uniqueItems", "minContains", "title",
];

/// Keywords of a tidy schema of draft 7.
#[rustfmt::skip]
pub(super) const OLD_KEYWORDS: [&str; 41] = [
    "properties", "properties", "properties", "required", "required", "items", "items", "additionalItems", "additionalProperties",
    "additionalProperties", "anyOf", "anyOf", "anyOf", "oneOf", "allOf", "allOf", "not", "if", "then", "else", "enum", "enum",
    "const", "patternProperties", "propertyNames", "contains", "dependencies", "description", "default", "$ref", "pattern", "format",
    "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "uniqueItems",
];
