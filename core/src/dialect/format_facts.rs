//! Facts about response formats that APIs refuse in requests, as data for `tools::check_formats`.

use super::{
    name_pattern::NamePattern,
    request_fact::{FormatRule, Models, Refusal, RequestFact, DAY},
};
use crate::{options::Api, report::Severity};

const fn refused(rule: FormatRule, confidence: char, statement: &'static str, source: &'static str) -> RequestFact {
    RequestFact {
        refuses: Refusal::Format(rule),
        statement,
        confidence,
        severity: Severity::Refused,
        source,
        checked: DAY,
    }
}

/// The schema of a format must satisfy the facts of the dialect's response format.
pub(crate) const SCHEMA: RequestFact = refused(
    FormatRule::Broken,
    'A',
    "the schema of a response format follows the dialect's rules",
    "the dialect's facts about response formats",
);

pub(super) const CLAUDE_MODELS: RequestFact = refused(
    FormatRule::ByModel(Models::Contain(&[
        "claude-3",
        "claude-2",
        "claude-instant",
        "sonnet-4-0",
        "sonnet-4-2025",
        "sonnet-4@",
        "opus-4-0",
        "opus-4-2025",
        "opus-4@",
    ])),
    'B',
    "Claude accepts response formats from 4.5 on; so does Opus 4.1",
    "Anthropic, structured outputs (documentation); live, on Bedrock: `output_config.format: Extra inputs are not \
        permitted` (models.dev#1765)",
);
pub(super) const PREFILL: RequestFact = refused(
    FormatRule::BesidePrefill(Api::Anthropic),
    'A',
    "a response format does not allow a prefilled answer",
    "Anthropic, structured outputs: message prefilling is incompatible with JSON outputs (documentation)",
);
/// The fact applies to requests with and without a response format.
pub(super) const CLAUDE_PREFILL: RequestFact = RequestFact {
    refuses: Refusal::Prefill(Models::Contain(&[
        "opus-4-6",
        "opus-4.6",
        "sonnet-4-6",
        "sonnet-4.6",
        "opus-4-7",
        "opus-4.7",
        "opus-4-8",
        "opus-4.8",
        "opus-5",
        "sonnet-5",
        "haiku-5",
        "fable-5",
        "mythos-5",
    ])),
    statement: "Claude does not accept a prefilled answer from 4.6 on",
    confidence: 'A',
    severity: Severity::Refused,
    source: "Anthropic, What's new in Claude 4.6, prefill removal (documentation); live: `This model does not support \
        assistant message prefill. The conversation must end with a user message.` (skyvern#4795, opencode#13768, \
        qwen-code#8039; on Bedrock opencode#29760)",
    checked: "2026-11-27",
};
pub(super) const DEEPSEEK_SCHEMA: RequestFact = refused(
    FormatRule::Schema(Api::OpenaiChat),
    'A',
    "DeepSeek's Chat Completions has only JSON mode",
    "live: `This response_format type is unavailable now`; DeepSeek, JSON output (documentation)",
);
pub(super) const DEEPSEEK_WORD: RequestFact = refused(
    FormatRule::WithoutWord,
    'A',
    "JSON mode requires the word JSON in the messages",
    "DeepSeek, JSON output (documentation): include the word json in the system or user prompt",
);
pub(super) const OPENAI_WORD: RequestFact = refused(
    FormatRule::WithoutWord,
    'A',
    "JSON mode requires the word JSON in the messages",
    "OpenAI, Structured Outputs, JSON mode (documentation): the API throws an error if the string JSON does not appear \
        somewhere in the context",
);
pub(super) const UPDATES: RequestFact = refused(
    FormatRule::Updates,
    'A',
    "configuration updates are not consecutive",
    "openai-python 7.57, documentation of `configuration_update`",
);
pub(super) const OPENAI_NAME: RequestFact = refused(
    FormatRule::Name(NamePattern::OPENAI),
    'A',
    "a response format has a name that matches `^[a-zA-Z0-9_-]{1,64}$`",
    "OpenAI, API reference, `json_schema.name`: a-z, A-Z, 0-9, underscores and dashes, with a maximum length of 64 \
        (documentation); openai-openapi, ResponseFormatJsonSchema: `name` is required",
);
pub(super) const GROQ_TOOLS: RequestFact = refused(
    FormatRule::BesideTools { models: Models::All, only_json: true },
    'A',
    "Groq does not combine JSON mode with tools",
    "live: `response_format` json_object cannot be combined with tool/function calling (agno#1065); `json mode cannot \
        be combined with tool/function calling` (vercel/ai#16540)",
);
pub(super) const COHERE_TOOLS: RequestFact = refused(
    FormatRule::BesideTools { models: Models::All, only_json: false },
    'A',
    "Cohere does not accept a response format together with tools",
    "Cohere, structured outputs (documentation)",
);
pub(super) const GEMINI_TOOLS: RequestFact = refused(
    FormatRule::BesideTools { models: Models::Contain(&["gemini-1", "gemini-2"]), only_json: false },
    'A',
    "Gemini combines JSON answers with functions from Gemini 3 on",
    "live: `Function calling with a response mime type: 'application/json' is unsupported` (python-genai#867, \
        symfony/ai#803, symfony/ai#1777)",
);
pub(super) const GEMINI_MAPS: RequestFact = refused(
    FormatRule::BesideHosted { models: Models::All, hosted: &["googleMaps"] },
    'B',
    "Gemini does not accept a `responseMimeType` of JSON together with Google Maps; it accepts `responseFormat`",
    "live: `Google Maps tool with a response mime type: 'application/json' is unsupported` (litellm#29451)",
);
pub(super) const GEMINI_HOSTED: RequestFact = refused(
    FormatRule::BesideHosted {
        models: Models::Contain(&["gemini-1", "gemini-2"]),
        hosted: &["googleSearch", "googleSearchRetrieval", "urlContext", "codeExecution"],
    },
    'A',
    "Gemini combines JSON answers with Google's own tools from Gemini 3 on",
    "live: `Tool use with a response mime type: 'application/json' is unsupported` (gemini-balance#238, \
        gemini-balance#264, gpt-load#188; gemini-balance#286 omits `codeExecution`, `googleSearch` and `urlContext`)",
);
