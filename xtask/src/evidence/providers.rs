//! Maps the rows of `issue_cases.jsonl` and `issue_cases_2.jsonl` to dialects, and errors to rules.

use super::Binds;

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

pub(super) fn binds(provider: &str) -> Binds {
    let of = |rows: &[(&str, &'static str)]| rows.iter().find(|(name, _)| *name == provider).map(|(_, what)| *what);
    Binds::of(of(PROVIDERS).map(Ok).or_else(|| of(UNMAPPED).map(Err)))
}

/// The problem that `sanitize` must remove.
#[derive(Clone, Copy)]
pub(crate) enum Gone {
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
pub(crate) const NAMED: &[(&str, &str, Gone)] = &[
    ("array schema missing items", "array-without-items", Gone::NoItems),
    ("array type must have items", "array-without-items", Gone::NoItems),
    ("object schema missing properties", "object-without-properties", Gone::NoProperties),
    ("'object' is not of type 'object', 'boolean'", "not-a-schema", Gone::Finding),
    ("None is not of type 'object', 'boolean'", "items-not-schema", Gone::Null),
    ("None is not of type 'array'", "required-not-strings", Gone::Null),
    ("True is not of type 'array'", "required-not-strings", Gone::Finding),
    ("True is not of type 'number'", "keyword-value", Gone::Finding),
    ("is not of type 'object', 'boolean'", "array-items", Gone::ItemsList),
    ("is not a 'regex'", "pattern", Gone::Keywords(&["pattern"])),
    ("got 'type: \"", "root-object", Gone::OtherRoot),
    ("'any' is not valid under any of the given schemas", "unknown-type", Gone::Finding),
    ("/type must be equal to one of the allowed values", "unknown-type", Gone::Finding),
    ("'allOf' is not permitted", "refused-keyword", Gone::Keywords(&["allOf"])),
    ("oneOf is not permitted", "refused-keyword", Gone::Keywords(&["oneOf"])),
    ("'oneOf' is not permitted", "refused-keyword", Gone::Keywords(&["oneOf"])),
    ("'default' is not permitted", "refused-keyword", Gone::Keywords(&["default"])),
    ("openai-agents-python/issues/4390", "refused-keyword", Gone::Keywords(&["default"])),
    ("`const`/`patternProperties` are rejected", "refused-keyword", Gone::Keywords(&["const", "patternProperties"])),
    ("does not support oneOf, allOf, or anyOf at the top level", "root-keyword", Gone::OtherRoot),
    // The API removed `$ref`, and then reported that the target was missing.
    ("property 'maxItems' is not supported", "refused-keyword", Gone::Keywords(&["maxItems"])),
    ("property 'multipleOf' is not supported", "refused-keyword", Gone::Keywords(&["multipleOf"])),
    ("'minItems' values other than 0 or 1", "keyword-too-large", Gone::Finding),
    ("items: missing field", "refused-keyword", Gone::NoItems),
    ("enum[0]' (TYPE_STRING)", "enum-kind", Gone::Finding),
    ("Proto field is not repeating, cannot start list", "type-list", Gone::Finding),
    ("copilot-cli/issues/4623", "type-list", Gone::Finding),
    ("schema didn't specify the schema type field", "untyped", Gone::Finding),
    ("only allowed for OBJECT type", "beside-other-type", Gone::Finding),
    ("are not defined in the schema properties", "required-unknown", Gone::Finding),
    ("when using anyOf, type should be defined in anyOf items", "type-beside-any-of", Gone::Finding),
    ("is not defined in properties", "required-unknown", Gone::Finding),
    ("references must start with", "ref-form", Gone::Finding),
    ("items must be an object", "array-items", Gone::ItemsList),
    ("conflicting keywords found after $ref expansion", "ref-shared", Gone::Finding),
    ("type is not defined", "untyped", Gone::Finding),
    ("could not understand the instance", "untyped", Gone::Keywords(&["not"])),
    ("field `anyOf`: missing field `type`", "untyped-branch", Gone::Finding),
    ("failed to parse grammar", "pattern", Gone::Finding),
    ("Missing '", "not-required", Gone::Optional),
    ("required must include every key", "not-required", Gone::Optional),
    ("additionalProperties is required to be supplied", "object-not-closed", Gone::Open),
    ("'additionalProperties' is required to be supplied", "object-not-closed", Gone::Open),
    ("'additionalProperties' must be explicitly set to false", "object-not-closed", Gone::Open),
    ("property 'maxItems' is not supported", "refused-keyword", Gone::Keywords(&["maxItems"])),
    ("property 'multipleOf' is not supported", "refused-keyword", Gone::Keywords(&["multipleOf"])),
    ("'json_schema' provided: missing required field 'type'", "root-object", Gone::OtherRoot),
    ("is not valid under any of the schemas listed in the 'anyOf' keyword", "unknown-type", Gone::Finding),
    ("Unknown name \"additionalProperties\"", "refused-keyword", Gone::Keywords(&["additionalProperties"])),
    ("input_schema.type: Field required", "root-object", Gone::OtherRoot),
    ("input_schema.type: Input should be 'object'", "root-object", Gone::OtherRoot),
    ("input_schema: Input does not match the expected shape", "root-not-schema", Gone::OtherRoot),
    ("property 'properties' is not supported", "not-a-schema", Gone::Boolean),
    ("Circular reference detected", "recursion", Gone::Finding),
    ("too many parameters with union types", "too-many-unions", Gone::Finding),
    ("too many optional parameters", "too-many-optional-properties", Gone::Finding),
    ("Schema is too complex for compilation", "too-complex", Gone::Finding),
    ("Too many strict tools", "too-many-strict-tools", Gone::Finding),
    ("Unimplemented keys", "refused-keyword", Gone::Finding),
    ("contains features not supported by xgrammar", "refused-keyword", Gone::Finding),
    ("backreferences are not supported", "pattern", Gone::Finding),
    ("lookarounds not supported", "pattern", Gone::Finding),
    ("Expected positive integer", "keyword-value", Gone::Finding),
    ("Unknown format", "format", Gone::Keywords(&["format"])),
    ("Invalid type", "unknown-type", Gone::Finding),
    ("Pointer '/definitions", "ref-form", Gone::Finding),
    ("' does not exist", "ref-target", Gone::Finding),
    ("Go struct field .tools.function.parameters.properties of", "properties-not-object", Gone::Finding),
    ("Go struct field .tools.function.parameters.properties.type of", "type-list", Gone::Finding),
    ("optional parameters are not supported", "not-required", Gone::Finding),
    ("a dynamic tool without `name`", "nameless-tool", Gone::Finding),
    ("a dynamic tool without `function`", "nameless-tool", Gone::Finding),
    ("a name that is empty", "nameless-tool", Gone::Finding),
    ("a name that ", "tool-name", Gone::Finding),
    ("a dynamic tool without `", "not-a-tool", Gone::Finding),
    ("a tools item is not an object", "not-a-tool", Gone::Finding),
    ("duplicate dynamic tool names", "duplicate-name", Gone::Finding),
    ("declaring tools with the same name", "duplicate-name", Gone::Finding),
    ("sharing the same name", "duplicate-name", Gone::Finding),
];
