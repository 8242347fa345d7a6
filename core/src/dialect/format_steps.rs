//! Alternatives to response formats with a schema for answers in JSON, as data for `tools::format_ladder`.

use super::{
    request_fact::{FormatRule, Refusal},
    Dialect,
};
use crate::options::Api;

/// The alternatives of an API to response formats with a schema.
#[derive(Debug)]
pub(crate) struct FormatSteps {
    /// The dialects of the API.
    dialects: &'static [&'static str],
    pub(crate) forces: Forces,
    /// The value of the tool choice that requires a call, in requests of the API's native format.
    pub(crate) required: Option<&'static str>,
    /// True if a request can forbid parallel calls.
    pub(crate) limits_calls: bool,
    /// True if the API has JSON mode, in requests of the formats of [`JSON_MODES`].
    has_json_mode: bool,
    /// Source of the fact, as in [`Fact`](super::Fact).
    pub(crate) source: &'static str,
    /// Confidence of the fact, as in [`Fact`](super::Fact).
    pub(crate) confidence: char,
}

/// The function calls that a request can force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forces {
    /// A call to one function, by its name.
    Named,
    /// A call to any function.
    Any,
    /// No call.
    Nothing,
}

/// JSON mode in requests of one format.
#[derive(Debug)]
pub(crate) struct JsonMode {
    pub(crate) api: Api,
    /// The member that holds the schema of a response format, if the entry is limited to requests with that member.
    holds: Option<&'static str>,
    /// The path of members to the object, which is created if it is missing.
    pub(crate) path: &'static [&'static str],
    /// The members of that object.
    pub(crate) members: &'static [(&'static str, &'static str)],
    /// True if the answer must be an object.
    pub(crate) wants_object: bool,
}

const JSON_MODES: &[JsonMode] = &[
    // Ollama's native API.
    JsonMode {
        api: Api::OpenaiChat,
        holds: Some("format"),
        path: &[],
        members: &[("format", "json")],
        wants_object: true,
    },
    JsonMode {
        api: Api::OpenaiChat,
        holds: None,
        path: &["response_format"],
        members: &[("type", "json_object")],
        wants_object: true,
    },
    JsonMode {
        api: Api::OpenaiResponses,
        holds: None,
        path: &["text", "format"],
        members: &[("type", "json_object")],
        wants_object: true,
    },
    JsonMode {
        api: Api::Gemini,
        holds: None,
        path: &["generationConfig"],
        members: &[("responseMimeType", "application/json")],
        wants_object: false,
    },
    JsonMode {
        api: Api::GeminiInteractions,
        holds: None,
        path: &["response_format"],
        members: &[("type", "text"), ("mime_type", "application/json")],
        wants_object: false,
    },
];

const TABLE: &[FormatSteps] = &[
    FormatSteps {
        dialects: &["openai-chat", "openai-responses", "openai-strict", "azure-strict"],
        forces: Forces::Named,
        required: None,
        limits_calls: true,
        has_json_mode: true,
        source: "OpenAI, API reference, `tool_choice` and `response_format` (read 2026-11-26)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &["anthropic", "anthropic-strict"],
        forces: Forces::Named,
        required: None,
        limits_calls: true,
        has_json_mode: false,
        source: "Anthropic, tool use, `tool_choice`: Anthropic's own way to get JSON is to force a tool (read \
            2026-11-26)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &["bedrock-anthropic"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: false,
        source: "Amazon Bedrock, API reference, ToolChoice: `tool` for Claude and Nova (read 2026-11-26)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &["bedrock", "bedrock-strict"],
        forces: Forces::Any,
        required: None,
        limits_calls: false,
        has_json_mode: false,
        source: "Amazon Bedrock, API reference, ToolChoice: more models accept `any` than `tool` (read 2026-11-26)",
        confidence: 'B',
    },
    FormatSteps {
        dialects: &["gemini", "gemini-json-schema", "vertex", "vertex-json-schema"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "Gemini API, FunctionCallingConfig: `ANY` with `allowedFunctionNames`; `responseMimeType` needs no \
            schema (read 2026-11-26)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &["gemini-interactions"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "google-genai 3.6.1, _gaos/types/interactions: `allowed_tools`; a text format without a schema \
            (read 2026-11-26)",
        confidence: 'B',
    },
    FormatSteps {
        dialects: &["cohere", "cohere-strict"],
        forces: Forces::Any,
        required: Some("REQUIRED"),
        limits_calls: false,
        has_json_mode: true,
        source: "Cohere Chat v2, `tool_choice`: `REQUIRED` or `NONE`; `response_format` (read 2026-11-26)",
        confidence: 'B',
    },
    FormatSteps {
        dialects: &["llama-cpp"],
        forces: Forces::Any,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "llama.cpp b11434, common chat parameters: `tool_choice` is `auto`, `none` or `required` (read \
            2026-11-26)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &["ollama"],
        forces: Forces::Nothing,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "Ollama, OpenAI compatibility: `tool_choice` is not supported, JSON mode is (read 2026-11-26)",
        confidence: 'B',
    },
    FormatSteps {
        dialects: &["vllm"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source:
            "vLLM, tool calling: named functions, and `auto`, `required` and `none` (docs.vllm.ai, read 2026-11-27)",
        confidence: 'A',
    },
    FormatSteps {
        dialects: &[
            "mistral",
            "deepseek",
            "moonshot",
            "xai",
            "groq",
            "groq-strict",
            "cerebras",
            "cerebras-strict",
            "fireworks",
            "sglang",
        ],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source:
            "they adopt `tool_choice` and `json_object` of OpenAI's Chat Completions; the page of each was not read",
        confidence: 'C',
    },
];

/// For dialects whose API is not known. Requests have OpenAI's tool choice, or that of their own format.
const UNKNOWN: FormatSteps = FormatSteps {
    dialects: &[],
    forces: Forces::Named,
    required: None,
    limits_calls: false,
    has_json_mode: false,
    source: "nothing is known about the API",
    confidence: 'C',
};

/// Returns the alternatives of a dialect's API to response formats.
pub(crate) fn of(dialect: &Dialect) -> &'static FormatSteps {
    TABLE.iter().find(|row| row.dialects.contains(&dialect.name)).unwrap_or(&UNKNOWN)
}

impl FormatSteps {
    /// Returns JSON mode for requests of a format, if the API has it there. `member` is the member that holds the
    /// schema.
    pub(crate) fn json_mode(&self, api: Api, member: Option<&str>) -> Option<&'static JsonMode> {
        let is_it = |mode: &&JsonMode| mode.api == api && mode.holds.is_none_or(|holds| member == Some(holds));
        JSON_MODES.iter().find(is_it).filter(|_| self.has_json_mode)
    }
}

/// Returns the rules of a dialect about formats that a substitute for a format may also violate.
pub(crate) fn rules(dialect: &Dialect) -> impl Iterator<Item = FormatRule> + '_ {
    dialect.requests().iter().filter_map(|fact| match fact.refuses {
        Refusal::Format(rule) => Some(rule),
        _ => None,
    })
}
