//! Schemas that each API accepts for an answer: response formats, also called structured outputs.
//!
//! Each row is the dialect of the API's tools with the known differences. If no difference is known, the facts about
//! tools apply, and the row states where the format is in a request.

use alloc::format;

use super::{
    anthropic, azure, bedrock, cerebras, cohere, fireworks, gemini, gemini_interactions, grammar::Grammar, groq,
    llama_cpp, mistral, moonshot, openai, vertex, vllm, xai, Dialect, Fact, Method,
};
use crate::{
    error::{Code, Error},
    json::Node,
    options::Api,
    report::{Grade, Severity},
    rules::Constraint,
    schema::keyword::{Keyword, Keywords},
};

#[derive(Clone, Copy)]
pub(super) struct ResponseFormat {
    /// The dialect of the tools of the API.
    name: &'static str,
    /// The dialect of the format, or an explanation of why the API has none, with an alternative.
    dialect: Result<&'static Dialect, &'static str>,
    /// Number of the dialect's first facts that are about the format. The other facts are about tools.
    format_facts: usize,
    /// The formats of requests in which the API is known to refuse schemas for answers.
    refused_in: &'static [Api],
}

pub(crate) enum InRequest {
    /// The rules of the dialect.
    Known,
    /// The API has no such format; the text names an alternative.
    Refused(&'static str),
    /// No rules are known: the format is sent unchanged.
    Unknown,
}

pub(crate) fn in_request(dialect: &Dialect, api: Api) -> InRequest {
    match FORMATS.iter().find(|row| row.name == dialect.name) {
        Some(ResponseFormat { dialect: Ok(_), .. }) => InRequest::Known,
        Some(ResponseFormat { dialect: Err(why), refused_in, .. }) if refused_in.contains(&api) => {
            InRequest::Refused(why)
        }
        _ => InRequest::Unknown,
    }
}

/// Dialects whose API has strict response formats, each with the dialect of those formats.
const STRICT_FORMATS: [(&str, &str); 4] = [
    ("openai-chat", "openai-strict"),
    ("openai-responses", "openai-strict"),
    ("groq", "groq-strict"),
    ("cerebras", "cerebras-strict"),
];

/// Returns the dialect of formats with `strict: true`, if it is not the dialect of other formats.
pub(crate) fn strict_of(name: &str) -> Option<&'static str> {
    STRICT_FORMATS.iter().find(|(plain, _)| *plain == name).map(|(_, strict)| *strict)
}

pub(super) fn of(dialect: &Dialect) -> Result<&'static Dialect, Error> {
    let row = FORMATS.iter().find(|row| row.name == dialect.name);
    row.map_or(Err(UNKNOWN), |row| row.dialect).map_err(|why| {
        let message = format!("expected a dialect whose API has response formats, found `{}`: {why}", dialect.name);
        Error::new(Code::NotRepresentable, "", message)
    })
}

/// Returns the description of the response format; null if the API has none.
pub(super) fn to_node(dialect: &Dialect) -> Node<'static> {
    let found = FORMATS.iter().find(|row| row.name == dialect.name);
    let Some((format, format_facts)) = found.and_then(|row| Some((row.dialect.ok()?, row.format_facts))) else {
        return Node::default();
    };
    Node::record([
        ("surface", Node::string(format.surface)),
        ("documentation", Node::string(format.documentation)),
        ("asOf", Node::string(format.as_of)),
        ("facts", format.facts_to_node(format.facts.get(..format_facts).unwrap_or_default())),
    ])
}

const CLIENT: &str = "it is a client of MCP servers and does not request answers";
const UNKNOWN: &str = "no response format is known for it";
const IN_TOOL: &str = "`response_format` accepts only `json_object` (`This response_format type is unavailable now`); \
    DeepSeek's Responses API accepts schemas";

const fn root_fact(statement: &'static str, confidence: Grade, source: &'static str) -> Fact {
    Fact {
        statement,
        confidence,
        source,
        rules: &[Constraint::RootObject, Constraint::RootNotSchema, Constraint::RootKeyword],
        ..Fact::REFUSED
    }
}

/// Returns a fact that no rule of `check` enforces.
const fn unchecked_fact(statement: &'static str, confidence: Grade, source: &'static str) -> Fact {
    Fact { statement, confidence, source, severity: Severity::Ignored, ..Fact::REFUSED }
}

/// Concatenates the facts about a format and the facts about tools at compile time. If any schema is allowed at the
/// root, facts about the root of tools are left out.
const fn join_facts<const N: usize>(format_facts: &[Fact], of_tools: &[Fact], grammar: &Grammar) -> [Fact; N] {
    let mut all = [Fact::REFUSED; N];
    let mut room: &mut [Fact] = &mut all;
    let (mut first, mut then) = (format_facts, of_tools);
    while let [fact, rest @ ..] = first {
        room = push(room, fact);
        first = rest;
    }
    while let [fact, rest @ ..] = then {
        if applies_to_formats(fact, grammar) {
            room = push(room, fact);
        }
        then = rest;
    }
    all
}

const fn push<'r>(room: &'r mut [Fact], fact: &Fact) -> &'r mut [Fact] {
    match room {
        [slot, rest @ ..] => {
            *slot = *fact;
            rest
        }
        [] => room,
    }
}

const fn count(format_facts: &[Fact], of_tools: &[Fact], grammar: &Grammar) -> usize {
    let mut count = format_facts.len();
    let mut then = of_tools;
    while let [fact, rest @ ..] = then {
        count += applies_to_formats(fact, grammar) as usize;
        then = rest;
    }
    count
}

/// Returns true if a fact about tools also applies to response formats.
const fn applies_to_formats(fact: &Fact, grammar: &Grammar) -> bool {
    let mut rules = fact.rules;
    let mut is_of_root = !rules.is_empty();
    while let [rule, rest @ ..] = rules {
        is_of_root &= matches!(rule, Constraint::RootObject | Constraint::RootNotSchema | Constraint::RootKeyword);
        rules = rest;
    }
    grammar.object_root || !is_of_root
}

/// Returns the grammar of tools without the exception for tools that have no arguments.
const fn tool_grammar(dialect: &Dialect) -> Grammar {
    match dialect.method {
        Method::Rules(grammar) => Grammar { empty_root: false, ..*grammar },
        Method::Codex { .. } => Grammar::OPEN,
    }
}

const fn any_root(grammar: Grammar) -> Grammar {
    Grammar { object_root: false, root_refuses: Keywords::NONE, ..grammar }
}

/// Declares a response format: its name, the dialect of the tools, its location in requests, and the documentation of
/// that location. The grammar and its limits follow if they differ from the grammar of tools; then the facts about the
/// format.
macro_rules! format_of {
    (@limits $base:path) => { $base.limits };
    (@limits $base:path, $limits:expr) => { $limits };
    (
        $name:ident: $as:literal from $base:path; $surface:literal at $documentation:literal;
        $grammar:expr $(, within $limits:expr)?; $($fact:expr),+ $(,)?
    ) => {
        const $name: ResponseFormat = {
            const OWN: &[Fact] = &[$($fact),+];
            const GRAMMAR: Grammar = $grammar;
            const DIALECT: Dialect = Dialect {
                name: $as,
                surface: $surface,
                documentation: $documentation,
                as_of: "2026-11-26",
                facts: &join_facts::<{ count(OWN, $base.facts, &GRAMMAR) }>(OWN, $base.facts, &GRAMMAR),
                method: Method::Rules(&GRAMMAR),
                limits: format_of!(@limits $base $(, $limits)?),
                ..$base
            };
            ResponseFormat { name: $as, dialect: Ok(&DIALECT), format_facts: OWN.len(), refused_in: &[] }
        };
    };
}

const fn none(name: &'static str, why: &'static str) -> ResponseFormat {
    ResponseFormat { name, dialect: Err(why), format_facts: 0, refused_in: &[] }
}

const fn refused(name: &'static str, why: &'static str, refused_in: &'static [Api]) -> ResponseFormat {
    ResponseFormat { name, dialect: Err(why), format_facts: 0, refused_in }
}

const OPENAI_ROOT: Fact = root_fact(
    "the root has `type: \"object\"`",
    Grade::A,
    "live: `schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'` (recorded answer of Responses, \
        `text.format`)",
);
const OPENAI_UNION: Fact = root_fact(
    "no `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not` at the root",
    Grade::B,
    "openai-node, lib/transform.ts, throws for a root union; the API's errors are about tools",
);
const OPENAI_PLACE: Fact = unchecked_fact(
    "the schema is in `response_format.json_schema` (Chat Completions) or `text.format` (Responses)",
    Grade::A,
    "OpenAI, API reference, Chat Completions and Responses",
);
const NOT_ENFORCED: Fact = unchecked_fact(
    "without `strict: true`, the model reads the schema, but nothing enforces it",
    Grade::A,
    "OpenAI, Structured Outputs, `strict`",
);

format_of!(CHAT: "openai-chat" from openai::CHAT;
    "OpenAI Chat Completions, non-strict `response_format`"
    at "https://platform.openai.com/docs/guides/structured-outputs";
    tool_grammar(&openai::CHAT); OPENAI_ROOT, OPENAI_UNION, OPENAI_PLACE, NOT_ENFORCED);
format_of!(RESPONSES: "openai-responses" from openai::RESPONSES;
    "OpenAI Responses, non-strict `text.format`"
    at "https://platform.openai.com/docs/guides/structured-outputs";
    tool_grammar(&openai::CHAT); OPENAI_ROOT, OPENAI_UNION, OPENAI_PLACE, NOT_ENFORCED);
format_of!(STRICT: "openai-strict" from openai::STRICT;
    "OpenAI Chat Completions and Responses, response formats with `strict: true`"
    at "https://platform.openai.com/docs/guides/structured-outputs";
    tool_grammar(&openai::STRICT); OPENAI_ROOT, OPENAI_UNION, OPENAI_PLACE);
format_of!(AZURE: "azure-strict" from azure::STRICT;
    "Azure OpenAI (Microsoft Foundry), response formats with `strict: true`"
    at "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/structured-outputs";
    tool_grammar(&azure::STRICT); OPENAI_ROOT, OPENAI_UNION, OPENAI_PLACE);

const ANTHROPIC_ROOT: Fact = unchecked_fact(
    "any schema is allowed at the root",
    Grade::A,
    "anthropic-sdk-python 2.12.0, transform_schema, has no rule for the root; recorded answers show only objects",
);
const ANTHROPIC_CLOSED: Fact = Fact {
    statement: "every object has `additionalProperties: false`, regardless of the `strict` of tools",
    confidence: Grade::A,
    source: "live: `output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to \
        false` (recorded answer; veryfront-code#3918)",
    rules: &[Constraint::ObjectNotClosed, Constraint::Map],
    ..Fact::REFUSED
};
const ANTHROPIC_PLACE: Fact = unchecked_fact(
    "the schema is in `output_config.format`, or in `output_format`, which is deprecated; Claude 4.5 and later, and \
        Opus 4.1",
    Grade::A,
    "Anthropic, structured outputs; recorded answers of both members",
);

const ANTHROPIC_LIMITS: &[(&str, u64)] = &[("optionalProperties", 24), ("unions", 16)];
const ANTHROPIC_SIZE: Fact = Fact {
    statement: "a response format has at most 24 optional properties, and 16 properties with several types",
    confidence: Grade::A,
    source: "Anthropic, structured outputs, schema complexity limits: strict tools and JSON outputs of a request \
        together; live: `Schema is too complex for compilation`, for tools; recorded answers to formats have at most 2 \
        and 1",
    rules: &[Constraint::TooComplex],
    ..Fact::REFUSED
};

format_of!(ANTHROPIC: "anthropic" from anthropic::STRICT;
    "Anthropic Messages API, `output_config.format`"
    at "https://platform.claude.com/docs/en/build-with-claude/structured-outputs";
    any_root(tool_grammar(&anthropic::STRICT)), within ANTHROPIC_LIMITS;
    ANTHROPIC_ROOT, ANTHROPIC_CLOSED, ANTHROPIC_SIZE, ANTHROPIC_PLACE);
format_of!(ANTHROPIC_STRICT: "anthropic-strict" from anthropic::STRICT;
    "Anthropic Messages API, `output_config.format`"
    at "https://platform.claude.com/docs/en/build-with-claude/structured-outputs";
    any_root(tool_grammar(&anthropic::STRICT)), within ANTHROPIC_LIMITS;
    ANTHROPIC_ROOT, ANTHROPIC_CLOSED, ANTHROPIC_SIZE, ANTHROPIC_PLACE);

const BEDROCK_ROOT: Fact = root_fact(
    "the root has `type: \"object\"`",
    Grade::C,
    "recorded answers show only objects; the schema is sent to Claude as text in \
        `outputConfig.textFormat.structure.jsonSchema.schema`",
);
/// The root may be any object schema.
const BEDROCK_GRAMMAR: Grammar = Grammar { root_refuses: Keywords::NONE, ..tool_grammar(&bedrock::STRICT) };
const BEDROCK_KEYWORDS: Fact = Fact {
    statement:
        "no `maxItems`, `multipleOf` or numeric bounds, as in Anthropic's own API; `minLength` and `maxLength` are \
            accepted",
    confidence: Grade::A,
    source: "live: `output_config.format.schema: For 'array' type, property 'maxItems' is not supported` (recorded \
        answers of Claude Sonnet 4.5)",
    rules: &[Constraint::RefusedKeyword],
    ..Fact::REFUSED
};

const BEDROCK_SIZE: Fact = Fact {
    confidence: Grade::B,
    source:
        "Anthropic, structured outputs, schema complexity limits; Claude on Bedrock answers with Anthropic's errors",
    ..ANTHROPIC_SIZE
};

format_of!(BEDROCK: "bedrock" from bedrock::STRICT;
    "Amazon Bedrock Converse, `outputConfig.textFormat`"
    at "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html";
    BEDROCK_GRAMMAR; BEDROCK_ROOT, BEDROCK_KEYWORDS);
format_of!(BEDROCK_ANTHROPIC: "bedrock-anthropic" from bedrock::STRICT;
    "Amazon Bedrock Converse with Claude, `outputConfig.textFormat`"
    at "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html";
    BEDROCK_GRAMMAR, within ANTHROPIC_LIMITS; BEDROCK_ROOT, BEDROCK_KEYWORDS, BEDROCK_SIZE);

format_of!(BEDROCK_STRICT: "bedrock-strict" from bedrock::STRICT;
    "Amazon Bedrock Converse, `outputConfig.textFormat`"
    at "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html";
    BEDROCK_GRAMMAR, within ANTHROPIC_LIMITS; BEDROCK_ROOT, BEDROCK_KEYWORDS, BEDROCK_SIZE);

const GOOGLE_ROOT: Fact = unchecked_fact(
    "any schema is allowed at the root",
    Grade::A,
    "google-genai, documentation of `response_schema`: objects, but also primitives and arrays; recorded answers",
);
const GOOGLE_TYPE: Fact = unchecked_fact(
    "`responseMimeType: \"application/json\"` is next to the schema",
    Grade::A,
    "Gemini API, GenerationConfig.responseSchema",
);

format_of!(GEMINI: "gemini" from gemini::GEMINI;
    "Gemini API, `generationConfig.responseSchema`"
    at "https://ai.google.dev/gemini-api/docs/structured-output";
    any_root(tool_grammar(&gemini::GEMINI)); GOOGLE_ROOT, GOOGLE_TYPE);
format_of!(GEMINI_JSON_SCHEMA: "gemini-json-schema" from gemini::JSON_SCHEMA;
    "Gemini API, `generationConfig.responseJsonSchema`"
    at "https://ai.google.dev/gemini-api/docs/structured-output";
    any_root(tool_grammar(&gemini::JSON_SCHEMA)); GOOGLE_ROOT, GOOGLE_TYPE);
format_of!(INTERACTIONS: "gemini-interactions" from gemini_interactions::INTERACTIONS;
    "Gemini Interactions API, `response_format`"
    at "https://ai.google.dev/gemini-api/docs/interactions";
    any_root(tool_grammar(&gemini_interactions::INTERACTIONS));
    unchecked_fact(
        "the schema is in `response_format: {type: \"text\", mime_type, schema}`, or in a list of such objects",
        Grade::A,
        "google-genai 3.6.1, _gaos/types/interactions"),
    unchecked_fact("any schema is allowed at the root", Grade::C, "as for `generateContent`; no answer is recorded"));
format_of!(VERTEX: "vertex" from vertex::VERTEX;
    "Vertex AI, `generationConfig.responseSchema`"
    at "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output";
    any_root(tool_grammar(&vertex::VERTEX)); GOOGLE_ROOT, GOOGLE_TYPE);
format_of!(VERTEX_JSON_SCHEMA: "vertex-json-schema" from vertex::JSON_SCHEMA;
    "Vertex AI, `generationConfig.responseJsonSchema`"
    at "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output";
    any_root(tool_grammar(&vertex::JSON_SCHEMA)); GOOGLE_ROOT, GOOGLE_TYPE);

format_of!(MOONSHOT: "moonshot" from moonshot::MOONSHOT;
"Moonshot AI (Kimi), `response_format` with `json_schema`"
at "https://platform.moonshot.ai/docs/api/chat";
Grammar { refuses: Keywords::of(&[Keyword::Schema]), ..tool_grammar(&moonshot::MOONSHOT) };
root_fact("the root has `type: \"object\"`", Grade::A, "Kimi-Vendor-Verifier, test_response_format.py"),
Fact {
    statement: "with `$schema` in the schema, kimi-k2.5 returns nonsense",
    confidence: Grade::B,
    source: "live report (vercel/ai#18921)",
    rules: &[Constraint::RefusedKeyword],
    severity: Severity::Reinterpreted,
    ..Fact::REFUSED
});
format_of!(XAI: "xai" from xai::XAI;
    "xAI, `response_format` with `json_schema`, and `text.format`"
    at "https://docs.x.ai/docs/guides/structured-outputs";
    tool_grammar(&xai::XAI);
    root_fact("the root is an object", Grade::C, "xAI, structured outputs: its examples are objects"));
format_of!(MISTRAL: "mistral" from mistral::MISTRAL;
    "Mistral, `response_format` with `json_schema`"
    at "https://docs.mistral.ai/capabilities/structured_output";
    Grammar { root_reference: true, refuses: Keywords::NONE, ..tool_grammar(&mistral::MISTRAL) };
    root_fact("the root is an object, or a reference to one; `$id` is accepted, too", Grade::C,
        "recorded answers: 9 schemas were answered 200, one of them with both a reference and `$id`"));
format_of!(GROQ: "groq" from groq::GROQ;
    "Groq, `response_format` with `json_schema`"
    at "https://console.groq.com/docs/structured-outputs";
    tool_grammar(&groq::GROQ); root_fact("the root is an object", Grade::B, "Groq, structured outputs"));
format_of!(GROQ_STRICT: "groq-strict" from groq::STRICT;
    "Groq, `response_format` with `json_schema` and `strict: true` (gpt-oss)"
    at "https://console.groq.com/docs/structured-outputs";
    tool_grammar(&groq::STRICT); root_fact("the root is an object", Grade::B, "Groq, structured outputs"));
format_of!(CEREBRAS: "cerebras" from cerebras::CEREBRAS;
    "Cerebras, `response_format` with `json_schema`"
    at "https://inference-docs.cerebras.ai/capabilities/structured-outputs";
    Grammar { root_reference: true, ..tool_grammar(&cerebras::CEREBRAS) };
    root_fact("the root is an object, or a reference to one", Grade::A,
        "Cerebras, structured outputs; recorded answers: 2 reference roots were answered 200"));
format_of!(CEREBRAS_STRICT: "cerebras-strict" from cerebras::STRICT;
    "Cerebras, `response_format` with `json_schema` and `strict: true`"
    at "https://inference-docs.cerebras.ai/capabilities/structured-outputs";
    Grammar { root_reference: true, ..tool_grammar(&cerebras::STRICT) };
    root_fact("the root is an object, or a reference to one", Grade::A,
        "Cerebras, structured outputs; recorded answers: 2 reference roots were answered 200"));
format_of!(FIREWORKS: "fireworks" from fireworks::FIREWORKS;
    "Fireworks, `response_format` with `json_schema`, or `json_object` with `schema`"
    at "https://docs.fireworks.ai/structured-responses/structured-response-formatting";
    any_root(tool_grammar(&fireworks::FIREWORKS));
    unchecked_fact("any schema is allowed at the root", Grade::C, "Fireworks, structured responses"));
format_of!(COHERE: "cohere" from cohere::STRICT;
    "Cohere Chat v2, `response_format: {type: \"json_object\", json_schema}`"
    at "https://docs.cohere.com/docs/structured-outputs";
    tool_grammar(&cohere::STRICT); COHERE_ROOT);
format_of!(COHERE_STRICT: "cohere-strict" from cohere::STRICT;
    "Cohere Chat v2, `response_format: {type: \"json_object\", json_schema}`"
    at "https://docs.cohere.com/docs/structured-outputs";
    tool_grammar(&cohere::STRICT); COHERE_ROOT);
const COHERE_ROOT: Fact = root_fact(
    "the root has `type: \"object\"`",
    Grade::A,
    "live: `response_format validation: invalid 'json_schema' provided: missing required field 'type'` (recorded \
        answer)",
);

format_of!(LLAMA_CPP: "llama-cpp" from llama_cpp::LLAMA_CPP;
    "llama.cpp server, `response_format` with a schema, or `json_schema`"
    at "https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md";
    any_root(tool_grammar(&llama_cpp::LLAMA_CPP));
    unchecked_fact("any schema is allowed at the root; `{}` there means an object", Grade::A, "llama.cpp b11434, run"));
format_of!(OLLAMA: "ollama" from llama_cpp::LLAMA_CPP;
    "Ollama, `format`"
    at "https://docs.ollama.com/capabilities/structured-outputs";
    tool_grammar(&llama_cpp::LLAMA_CPP);
    root_fact("an array at the root is not enforced", Grade::B, "ollama#8000"),
    unchecked_fact("Ollama's cloud does not enforce the schema", Grade::B, "ollama#12362"));
format_of!(VLLM: "vllm" from vllm::VLLM;
    "vLLM, `response_format` with `json_schema`, and `structured_outputs`"
    at "https://docs.vllm.ai/en/latest/features/structured_outputs/";
    any_root(tool_grammar(&vllm::VLLM));
    unchecked_fact("any schema is allowed at the root", Grade::A, "xgrammar and llguidance, run"));
format_of!(SGLANG: "sglang" from vllm::VLLM;
    "SGLang, `response_format` with `json_schema`"
    at "https://docs.sglang.ai/advanced_features/structured_outputs.html";
    Grammar { alternatives: &[], ..any_root(tool_grammar(&vllm::VLLM)) };
    unchecked_fact(
        "any schema is allowed at the root, and xgrammar compiles it, as in vLLM", Grade::A, "xgrammar, run"));

const FORMATS: &[ResponseFormat] = &[
    none("codex", "it rewrites only the schemas of tools; for answers, use `openai-strict`"),
    none("codex-wire", "it rewrites only the schemas of tools; for answers, use `openai-strict`"),
    none("portable", "no response format is accepted everywhere; use the dialect of the API"),
    refused("deepseek", IN_TOOL, &[Api::OpenaiChat]),
    refused("deepseek-strict", IN_TOOL, &[Api::OpenaiChat]),
    none("vscode", CLIENT),
    none("mcp-typescript", CLIENT),
    none("claude-desktop", CLIENT),
    none("claude-code", CLIENT),
    none("cursor", CLIENT),
    none("cowork", CLIENT),
    CHAT,
    RESPONSES,
    STRICT,
    AZURE,
    ANTHROPIC,
    ANTHROPIC_STRICT,
    BEDROCK,
    BEDROCK_ANTHROPIC,
    BEDROCK_STRICT,
    GEMINI,
    GEMINI_JSON_SCHEMA,
    INTERACTIONS,
    VERTEX,
    VERTEX_JSON_SCHEMA,
    MOONSHOT,
    XAI,
    MISTRAL,
    GROQ,
    GROQ_STRICT,
    CEREBRAS,
    CEREBRAS_STRICT,
    FIREWORKS,
    COHERE,
    COHERE_STRICT,
    LLAMA_CPP,
    OLLAMA,
    VLLM,
    SGLANG,
];
