//! Answers that contradict a table, and the reasons why the table remains.

const WITHOUT_MODEL: &str =
    "the name has the 256 letters that Kimi K3 takes; `checkTools` knows no model, and holds it to the 64 of \
                             the others";

/// Dialect, difference, number of rows, and the reason why the table remains.
pub(crate) const EXCEPTIONS: &[(&str, &str, usize, &str)] = &[
    (
        "gemini",
        "accepted: `unknown-keyword`",
        2,
        "`any_of` is the protocol's other name for `anyOf`, and no key of JSON Schema",
    ),
    ("gemini", "accepted: `untyped`", 2, "the schemas with `any_of`"),
    (
        "gemini-json-schema",
        "accepted: `beside-ref`",
        2,
        "`title` beside a reference at the root: the documentation refuses it everywhere",
    ),
    ("vertex-json-schema", "accepted: `beside-ref`", 1, "`title` beside that reference"),
    (
        "gemini-json-schema",
        "rejected: no rule is known for the error",
        1,
        "*exceeds the maximum allowed nesting depth* of a response format with 9 levels; 5 are accepted, and where the \
         limit lies between is not known",
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
        "a map of properties in place of a schema: accepted, and the model sees a tool without arguments",
    ),
    (
        "groq",
        "accepted: `required-without-properties`",
        3,
        "`required: []` beside `properties: {}`, all of `llama-3.3-70b-versatile`: six threads quote the refusal, the \
         latest of 2026-09-05, and leaving an empty list out costs nothing",
    ),
    (
        "cerebras-strict",
        "accepted: `object-not-closed`",
        8,
        "tools of 2025 that say `strict: true`: since January 2026 the API answers 422 to an open response format \
         (agno#6013), and a gateway reports the same of tools (llmgateway#1455)",
    ),
    ("cerebras-strict", "accepted: `not-required`", 8, "the same tools; the documentation wants every property required"),
    (
        "llama-cpp",
        "rejected: nothing is refused, not by `pattern` either",
        2,
        "outdated: since August 2026 (llama.cpp#26939) patterns with `\\d` are accepted and not enforced; the judge runs \
         b11434",
    ),
    ("mistral", "accepted: `root-object`", 2, "`{}` at the root, 3 times: one rule holds for all roots without a type"),
    (
        "openai-strict",
        "accepted: `object-not-closed`",
        1,
        "`type: [\"object\", \"null\"]` with a map, in a response format of gpt-4o-mini: a gap of the API's",
    ),
    ("openai-strict", "accepted: `object-without-properties`", 1, "the same schema"),
    (
        "vllm",
        "accepted: `pattern`",
        1,
        "`\\p` is refused by xgrammar and taken by llguidance: patterns are read as Python does",
    ),
    (
        "vllm",
        "accepted: `ref-target`",
        1,
        "where a function is named `definitions` are found, and under `required` not",
    ),
    (
        "vllm",
        "rejected: refused, but not by `ref-form`",
        1,
        "a pointer to another table has no target; the row calls that its form",
    ),
    ("vllm", "accepted: `refused-keyword`", 1, "left to outlines, which was not run"),
    (
        "vllm",
        "rejected: nothing is refused, not by `refused-keyword` either",
        1,
        "outdated: vLLM 0.8.4 refused a keyword of its own",
    ),
    (
        "ollama",
        "rejected: nothing is refused, not by `type-list` either",
        1,
        "outdated: since 0.6.6 the type of a property may be a list",
    ),
    (
        "openai-strict",
        "accepted: `any-of-first-keys`",
        3,
        "recorded with sorted keys: `kind`, by which the branches differ, stood first; and two response formats of gpt-4o",
    ),
    (
        "openai-strict",
        "accepted: `root-object`",
        1,
        "stated by a project's fixture, no exchange: a response format whose root is a reference",
    ),
    ("openai-strict", "accepted: `beside-ref`", 1, "the same schema: `$schema` beside the reference at the root"),
    (
        "openai-strict",
        "rejected: nothing is refused, not by `refused-keyword` either",
        2,
        "outdated: `default` was refused in 2024, and a maintainer's probe of 2026-08 was answered 200",
    ),
    (
        "openai-chat",
        "rejected: nothing is refused, not by `refused-keyword` either",
        1,
        "really strict mode: `allOf` is accepted where it is not",
    ),
    (
        "moonshot",
        "rejected: nothing is refused, not by `ref-shared` either",
        1,
        "outdated: the validator accepts descriptions on both sides of a reference",
    ),
    (
        "moonshot",
        "rejected: nothing is refused, not by `untyped` either",
        1,
        "outdated: the validator accepts schemas without a type",
    ),
    (
        "moonshot",
        "rejected: nothing is refused, not by `not-a-tool` either",
        1,
        "a tool without `type` is read as the function that it means; `sanitizeTools` does not write it either",
    ),
    ("moonshot", "rejected: `tool-name` is still found after `adaptRequest`", 1, WITHOUT_MODEL),
    (
        "groq",
        "rejected: nothing is refused of the request",
        1,
        "`browser_search` is a tool of the models `gpt-oss`, and the row is of another model",
    ),
    (
        "openai-responses",
        "rejected: nothing is refused of the request",
        1,
        "a tool of Chat Completions, sent to Responses: it is the format of another API, and no fact of this one",
    ),
];
