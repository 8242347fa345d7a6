//! Maps the rows of `issue_cases.jsonl` and `issue_cases_2.jsonl` to dialects, and errors to rules.

use super::RowDialect;

/// The API of a row, and its dialect.
const PROVIDERS: &[(&str, &str)] = &[
    ("openai", "openai-chat"),
    ("openai(copilot)", "openai-chat"),
    ("openai strict", "openai-strict"),
    ("azure strict", "azure-strict"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("gemini parameters", "gemini"),
    // Gemini behind Copilot is checked against the table of Gemini, as in `dialect_for`.
    ("gemini(copilot)", "gemini"),
    ("vertex", "vertex"),
    ("moonshot", "moonshot"),
    ("fireworks/ollama cloud", "fireworks"),
    ("deepseek", "deepseek"),
    ("deepseek strict", "deepseek-strict"),
    ("llama.cpp", "llama-cpp"),
    ("sglang", "sglang"),
    ("vllm", "vllm"),
    ("ollama", "ollama"),
    ("cohere strict", "cohere-strict"),
    ("vscode", "vscode"),
    ("anthropic (Claude Code drops silently)", "claude-desktop"),
    ("MCP TypeScript SDK (client)", "mcp-typescript"),
];

const UNMAPPED: &[(&str, &str)] = &[
    ("anthropic-compatible gateway", "an unknown gateway"),
    ("openai codex (old)", "about requests, not schemas: deferred loading"),
    ("openai responses", "about requests, not schemas: deferred loading"),
    ("minimax", "no dialect: MiniMax"),
    ("z.ai", "no dialect: Z.ai"),
    ("volcengine", "no dialect: Volcengine"),
    ("lm studio", "no dialect: LM Studio"),
    ("opencode console (muse-spark)", "no dialect: OpenCode's gateway"),
];

pub(super) fn row_dialect(provider: &str) -> RowDialect {
    let of = |rows: &[(&str, &'static str)]| rows.iter().find(|(name, _)| *name == provider).map(|(_, what)| *what);
    RowDialect::of(of(PROVIDERS).map(Ok).or_else(|| of(UNMAPPED).map(Err)))
}

/// The problem that `sanitize` must remove.
#[derive(Clone, Copy)]
pub(crate) enum Problem {
    /// These keywords, anywhere.
    Keywords(&'static [&'static str]),
    /// An object with an optional property.
    Optional,
    /// An object that is not closed.
    Open,
    /// A root that is not an object.
    OtherRoot,
    /// A root without `properties`.
    NoProperties,
    /// An array without `items`.
    NoItems,
    /// `items` with a list as its value.
    ItemsList,
    /// A property that is `true` or `false`.
    Boolean,
    /// A member with the value null.
    Null,
    /// The finding of the rule; `check` shows that it is gone.
    Finding,
}

/// Part of an API's answer, or of its URL; the rule by which `check` must report it; and the problem that `sanitize`
/// must remove. The first match applies.
pub(crate) const ERRORS: &[(&str, &str, Problem)] = &[
    ("array schema missing items", "array-without-items", Problem::NoItems),
    ("array type must have items", "array-without-items", Problem::NoItems),
    ("object schema missing properties", "object-without-properties", Problem::NoProperties),
    ("'object' is not of type 'object', 'boolean'", "not-a-schema", Problem::Finding),
    ("None is not of type 'object', 'boolean'", "items-not-schema", Problem::Null),
    ("None is not of type 'array'", "required-not-strings", Problem::Null),
    ("True is not of type 'array'", "required-not-strings", Problem::Finding),
    ("True is not of type 'number'", "keyword-value", Problem::Finding),
    ("is not of type 'object', 'boolean'", "array-items", Problem::ItemsList),
    ("is not a 'regex'", "pattern", Problem::Keywords(&["pattern"])),
    ("got 'type: \"", "root-object", Problem::OtherRoot),
    ("'any' is not valid under any of the given schemas", "unknown-type", Problem::Finding),
    ("/type must be equal to one of the allowed values", "unknown-type", Problem::Finding),
    ("'allOf' is not permitted", "refused-keyword", Problem::Keywords(&["allOf"])),
    ("oneOf is not permitted", "refused-keyword", Problem::Keywords(&["oneOf"])),
    ("'oneOf' is not permitted", "refused-keyword", Problem::Keywords(&["oneOf"])),
    ("'default' is not permitted", "refused-keyword", Problem::Keywords(&["default"])),
    ("openai-agents-python/issues/4390", "refused-keyword", Problem::Keywords(&["default"])),
    ("`const`/`patternProperties` are rejected", "refused-keyword", Problem::Keywords(&["const", "patternProperties"])),
    ("does not support oneOf, allOf, or anyOf at the top level", "root-keyword", Problem::OtherRoot),
    // The API removed `$ref`, and then reported that the target was missing.
    ("property 'maxItems' is not supported", "refused-keyword", Problem::Keywords(&["maxItems"])),
    ("property 'multipleOf' is not supported", "refused-keyword", Problem::Keywords(&["multipleOf"])),
    ("'minItems' values other than 0 or 1", "keyword-too-large", Problem::Finding),
    ("items: missing field", "refused-keyword", Problem::NoItems),
    ("enum[0]' (TYPE_STRING)", "enum-kind", Problem::Finding),
    ("Proto field is not repeating, cannot start list", "type-list", Problem::Finding),
    ("copilot-cli/issues/4623", "type-list", Problem::Finding),
    ("schema didn't specify the schema type field", "untyped", Problem::Finding),
    ("only allowed for OBJECT type", "beside-other-type", Problem::Finding),
    ("are not defined in the schema properties", "required-unknown", Problem::Finding),
    ("when using anyOf, type should be defined in anyOf items", "type-beside-any-of", Problem::Finding),
    ("is not defined in properties", "required-unknown", Problem::Finding),
    ("references must start with", "ref-form", Problem::Finding),
    ("items must be an object", "array-items", Problem::ItemsList),
    ("conflicting keywords found after $ref expansion", "ref-shared", Problem::Finding),
    ("type is not defined", "untyped", Problem::Finding),
    ("could not understand the instance", "untyped", Problem::Keywords(&["not"])),
    ("field `anyOf`: missing field `type`", "untyped-branch", Problem::Finding),
    ("failed to parse grammar", "pattern", Problem::Finding),
    ("Missing '", "not-required", Problem::Optional),
    ("required must include every key", "not-required", Problem::Optional),
    ("additionalProperties is required to be supplied", "object-not-closed", Problem::Open),
    ("'additionalProperties' is required to be supplied", "object-not-closed", Problem::Open),
    ("'additionalProperties' must be explicitly set to false", "object-not-closed", Problem::Open),
    ("property 'maxItems' is not supported", "refused-keyword", Problem::Keywords(&["maxItems"])),
    ("property 'multipleOf' is not supported", "refused-keyword", Problem::Keywords(&["multipleOf"])),
    ("'json_schema' provided: missing required field 'type'", "root-object", Problem::OtherRoot),
    ("is not valid under any of the schemas listed in the 'anyOf' keyword", "unknown-type", Problem::Finding),
    ("Unknown name \"additionalProperties\"", "refused-keyword", Problem::Keywords(&["additionalProperties"])),
    ("input_schema.type: Field required", "root-object", Problem::OtherRoot),
    ("input_schema.type: Input should be 'object'", "root-object", Problem::OtherRoot),
    ("input_schema: Input does not match the expected shape", "root-not-schema", Problem::OtherRoot),
    ("property 'properties' is not supported", "not-a-schema", Problem::Boolean),
    ("Circular reference detected", "recursion", Problem::Finding),
    ("too many parameters with union types", "too-many-unions", Problem::Finding),
    ("too many optional parameters", "too-many-optional-properties", Problem::Finding),
    ("Schema is too complex for compilation", "too-complex", Problem::Finding),
    ("Too many strict tools", "too-many-strict-tools", Problem::Finding),
    ("Unimplemented keys", "refused-keyword", Problem::Finding),
    ("contains features not supported by xgrammar", "refused-keyword", Problem::Finding),
    ("backreferences are not supported", "pattern", Problem::Finding),
    ("lookarounds not supported", "pattern", Problem::Finding),
    ("Expected positive integer", "keyword-value", Problem::Finding),
    ("Unknown format", "format", Problem::Keywords(&["format"])),
    ("Invalid type", "unknown-type", Problem::Finding),
    ("Pointer '/definitions", "ref-form", Problem::Finding),
    ("' does not exist", "ref-target", Problem::Finding),
    ("Go struct field .tools.function.parameters.properties of", "properties-not-object", Problem::Finding),
    ("Go struct field .tools.function.parameters.properties.type of", "type-list", Problem::Finding),
    ("optional parameters are not supported", "not-required", Problem::Finding),
    ("a dynamic tool without `name`", "nameless-tool", Problem::Finding),
    ("a dynamic tool without `function`", "nameless-tool", Problem::Finding),
    ("a name that is empty", "nameless-tool", Problem::Finding),
    ("a name that ", "tool-name", Problem::Finding),
    ("a dynamic tool without `", "not-a-tool", Problem::Finding),
    ("a tools item is not an object", "not-a-tool", Problem::Finding),
    ("duplicate dynamic tool names", "duplicate-name", Problem::Finding),
    ("declaring tools with the same name", "duplicate-name", Problem::Finding),
    ("sharing the same name", "duplicate-name", Problem::Finding),
];
