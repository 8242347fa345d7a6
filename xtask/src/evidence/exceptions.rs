//! Answers that contradict a table, and the reasons for keeping the table unchanged.

const WITHOUT_MODEL: &str =
    "the name has 256 characters, which Kimi K3 accepts; `checkTools` does not know the model, and applies the limit \
        of 64";

/// Dialect, difference, number of rows, and the reason for keeping the table unchanged.
pub(crate) const EXCEPTIONS: &[(&str, &str, usize, &str)] = &[
    (
        "gemini-json-schema",
        "accepted: `beside-ref`",
        2,
        "`title` next to a reference at the root: the documentation excludes it everywhere",
    ),
    ("vertex-json-schema", "accepted: `beside-ref`", 1, "`title` next to that reference"),
    (
        "gemini-json-schema",
        "rejected: no rule is known for the error",
        1,
        "*exceeds the maximum allowed nesting depth* for a response format with 9 levels; 5 are accepted, and the \
            limit in between is unknown",
    ),
    (
        "bedrock-anthropic",
        "accepted: `object-not-closed`",
        3,
        "recordings of Claude 3 Sonnet, which has no response formats and answers as if there were none",
    ),
    (
        "deepseek",
        "accepted: `untyped`",
        1,
        "one recording of `deepseek-chat` accepts `items` without a type, and live errors refuse an untyped schema",
    ),
    (
        "ollama",
        "accepted: `root-object`",
        5,
        "a map of properties instead of a schema: accepted, and the model sees a tool without arguments",
    ),
    (
        "groq",
        "accepted: `required-without-properties`",
        3,
        "`required: []` next to `properties: {}`, all from `llama-3.3-70b-versatile`: six threads quote the refusal, \
            the latest of 2026-09-05, and omitting an empty list costs nothing",
    ),
    (
        "cerebras-strict",
        "accepted: `object-not-closed`",
        8,
        "tools of 2025 with `strict: true`: since January 2026, the API answers an open response format with 422 \
            (agno#6013), and a gateway reports the same for tools (llmgateway#1455)",
    ),
    (
        "cerebras-strict",
        "accepted: `not-required`",
        8,
        "the same tools; the documentation requires every property in \
        `required`",
    ),
    (
        "llama-cpp",
        "rejected: no violation is found, expected `pattern`",
        2,
        "outdated: since August 2026 (llama.cpp#26939) patterns with `\\d` are accepted and not enforced; the judge \
         runs b11434",
    ),
    (
        "openai-strict",
        "accepted: `map`",
        1,
        "`type: [\"object\", \"null\"]` with a map, in a response format of gpt-4o-mini: a gap in the API",
    ),
    (
        "vllm",
        "accepted: `pattern`",
        1,
        "`\\p` is refused by xgrammar and accepted by llguidance: patterns are read as in Python",
    ),
    (
        "vllm",
        "accepted: `ref-target`",
        1,
        "`definitions` are found if `tool_choice` names a function, but not with `required`",
    ),
    (
        "vllm",
        "rejected: refused, but not by `ref-form`",
        1,
        "a pointer to another table has no target; the row blames its form",
    ),
    ("vllm", "accepted: `refused-keyword`", 1, "vLLM passes this schema to its backend outlines, which was not run"),
    (
        "vllm",
        "rejected: no violation is found, expected `refused-keyword`",
        1,
        "outdated: vLLM 0.8.4 refused a keyword that it added itself",
    ),
    (
        "ollama",
        "rejected: no violation is found, expected `type-list`",
        1,
        "outdated: since 0.6.6 the type of a property may be a list",
    ),
    (
        "openai-strict",
        "accepted: `any-of-first-keys`",
        3,
        "recorded with sorted keys: `kind`, by which the branches differ, was first; and two response formats of \
            gpt-4o",
    ),
    (
        "openai-strict",
        "accepted: `root-object`",
        1,
        "from a project's fixture, not an exchange: a response format whose root is a reference",
    ),
    ("openai-strict", "accepted: `beside-ref`", 1, "the same schema: `$schema` next to the reference at the root"),
    (
        "openai-strict",
        "rejected: no violation is found, expected `refused-keyword`",
        2,
        "outdated: `default` was refused in 2024, and a maintainer's probe of 2026-08 was answered with 200",
    ),
    (
        "openai-chat",
        "rejected: no violation is found, expected `root-object`",
        1,
        "outdated: `{}` was refused in July 2025 (vercel/ai#7005), and answered with 200 in September 2025 and March \
            2026",
    ),
    (
        "openai-chat",
        "rejected: no violation is found, expected `refused-keyword`",
        1,
        "actually strict mode: `allOf` is accepted in non-strict mode",
    ),
    (
        "moonshot",
        "rejected: no violation is found, expected `ref-shared`",
        1,
        "outdated: the validator accepts descriptions both next to a reference and in its target",
    ),
    (
        "moonshot",
        "rejected: no violation is found, expected `untyped`",
        1,
        "outdated: the validator accepts schemas without a type",
    ),
    (
        "moonshot",
        "rejected: no violation is found, expected `not-a-tool`",
        1,
        "a tool without `type` is read as the intended function; `sanitizeTools` does not write `type` either",
    ),
    ("moonshot", "rejected: `tool-name` is still found after `adaptRequest`", 1, WITHOUT_MODEL),
    (
        "groq",
        "rejected: nothing in the request is refused",
        1,
        "`browser_search` is a tool of the `gpt-oss` models, and the row is from another model",
    ),
    (
        "openai-responses",
        "rejected: nothing in the request is refused",
        1,
        "a tool of Chat Completions, sent to Responses: the format of another API, not a fact about this one",
    ),
];
