//! Data about the response formats of each API, for `request::formats` and `tools`: the locations of their schemas in
//! requests, and facts about formats that APIs refuse. Also the alternatives to formats for answers in JSON.

use super::{
    name_rules::NamePattern,
    request_fact::{FormatRule, Models, Refusal, RequestFact, DAY},
    Dialect,
};
use crate::{
    options::{Api, ToolFormat},
    report::{Grade, Reason, Severity},
};

#[derive(Debug)]
pub(crate) struct FormatLocation {
    pub(crate) api: Api,
    /// The type of the items of the history that hold the format; `None` if the request itself holds it.
    pub(crate) item: Option<&'static str>,
    /// The path of members to the format, or to a list of formats.
    pub(crate) path: &'static [&'static str],
    /// The `type` of the format; `None` if its members identify it.
    pub(crate) kind: Option<&'static str>,
    /// The path of members from the format to the object with the schema, its name and its flags.
    pub(crate) holder: &'static [&'static str],
    pub(crate) schema: &'static str,
    pub(crate) text: SchemaText,
    /// True if the object that contains the schema may have the member `strict`.
    pub(crate) has_strict: bool,
    /// True if the object that contains the schema may have the member `name`.
    pub(crate) has_name: bool,
    /// The member that has to name the media type of the answer.
    pub(crate) media_type: Option<&'static str>,
    /// True if the API enforces the schema without a flag.
    pub(crate) is_enforced: bool,
    /// The format of tools whose schemas follow the rules of this location, if the API has several such formats. The
    /// rules are in `carriers` of the dialect's [`Surface`](super::surface::Surface).
    pub(crate) carrier: Option<ToolFormat>,
    /// True for the location to which formats of other APIs are translated.
    pub(crate) is_main: bool,
    /// As in [`Fact`](super::Fact).
    pub(crate) source: &'static str,
    /// As in [`Fact`](super::Fact).
    pub(crate) confidence: Grade,
}

/// How often a schema is JSON text in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaText {
    Never,
    Maybe,
    Always,
}

impl FormatLocation {
    pub(crate) fn reason(&self) -> Reason {
        let statement = match self.has_strict {
            true => "the flag `strict` is next to the schema of a response format",
            false => "this is the schema of a response format",
        };
        Reason::fact(statement, self.confidence, self.source)
    }

    const NONE: FormatLocation = FormatLocation {
        api: Api::OpenaiChat,
        item: None,
        path: &[],
        kind: None,
        holder: &[],
        schema: "schema",
        text: SchemaText::Never,
        has_strict: false,
        has_name: false,
        media_type: None,
        is_enforced: true,
        carrier: None,
        is_main: false,
        source: "",
        confidence: Grade::A,
    };
    const OF_OPENAI: FormatLocation = FormatLocation {
        kind: Some("json_schema"),
        has_strict: true,
        has_name: true,
        is_enforced: false,
        ..Self::NONE
    };
    const OF_GEMINI: FormatLocation = FormatLocation { api: Api::Gemini, ..Self::NONE };
}

const OPENAPI: Option<ToolFormat> = Some(ToolFormat::Gemini);
const JSON_SCHEMA: Option<ToolFormat> = Some(ToolFormat::GeminiJsonSchema);
const GOOGLE: &str = "Gemini API, GenerationConfig; google-genai 3.6.1 (read 2026-11-26)";
const PROTO_JSON: &str =
    "Protocol Buffers, ProtoJSON format: parsers accept the name of a field in both spellings (read 2026-11-26)";
const GOOGLE_LIST: &str =
    "google-genai 3.6.1 writes a list of `{text: {mimeType, schema}}`, LiteLLM an object: both are \
    read (2026-11-26)";
const LLAMA_CPP: &str = "llama.cpp b11434, tools/server, common chat parameters (read 2026-11-26)";

/// The locations of one API are in the order in which they are read.
pub(crate) const FORMAT_LOCATIONS: &[FormatLocation] = &[
    FormatLocation {
        path: &["response_format"],
        holder: &["json_schema"],
        is_main: true,
        source: "OpenAI, API reference, Chat Completions, `response_format`; adopted by Azure, Mistral, Groq, \
            Cerebras, Fireworks, xAI, Moonshot, vLLM, SGLang and llama.cpp (read 2026-11-26)",
        ..FormatLocation::OF_OPENAI
    },
    FormatLocation {
        path: &["response_format"],
        kind: Some("json_schema"),
        confidence: Grade::B,
        source: "Together and some gateways put `schema` next to `type` (LiteLLM 1.110, read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        path: &["response_format"],
        kind: Some("json_object"),
        source: "Fireworks, structured responses; llama.cpp's `response_format.schema` (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        path: &["response_format"],
        kind: Some("json_object"),
        schema: "json_schema",
        source: "Cohere Chat v2, structured outputs; older versions have `schema` (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation { schema: "json_schema", source: LLAMA_CPP, ..FormatLocation::NONE },
    FormatLocation {
        schema: "format",
        source: "Ollama, structured outputs, `format` of `/api/chat` (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        path: &["structured_outputs"],
        schema: "json",
        text: SchemaText::Maybe,
        source: "vLLM, structured outputs, StructuredOutputsParams.json (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        schema: "guided_json",
        text: SchemaText::Maybe,
        source: "vLLM before 0.12 (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        api: Api::OpenaiResponses,
        path: &["text", "format"],
        is_main: true,
        source: "OpenAI, API reference, Responses, `text.format` (read 2026-11-26)",
        ..FormatLocation::OF_OPENAI
    },
    FormatLocation {
        api: Api::OpenaiResponses,
        item: Some("configuration_update"),
        path: &["text", "format"],
        source: "openai-python 7.57, configuration_update: valid until the next (read 2026-11-26)",
        ..FormatLocation::OF_OPENAI
    },
    FormatLocation {
        api: Api::Anthropic,
        path: &["output_config", "format"],
        kind: Some("json_schema"),
        is_main: true,
        source: "Anthropic, structured outputs (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        api: Api::Anthropic,
        path: &["output_format"],
        kind: Some("json_schema"),
        source: "Anthropic, structured outputs: deprecated, present in recorded answers (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        path: &["generationConfig"],
        schema: "responseSchema",
        carrier: OPENAPI,
        source: GOOGLE,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generationConfig"],
        schema: "responseJsonSchema",
        carrier: JSON_SCHEMA,
        source: GOOGLE,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config"],
        schema: "response_schema",
        carrier: OPENAPI,
        source: GOOGLE,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config"],
        schema: "response_json_schema",
        carrier: JSON_SCHEMA,
        source: GOOGLE,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generationConfig"],
        schema: "response_schema",
        carrier: OPENAPI,
        source: PROTO_JSON,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generationConfig"],
        schema: "response_json_schema",
        carrier: JSON_SCHEMA,
        source: PROTO_JSON,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config"],
        schema: "responseSchema",
        carrier: OPENAPI,
        source: PROTO_JSON,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config"],
        schema: "responseJsonSchema",
        carrier: JSON_SCHEMA,
        source: PROTO_JSON,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generationConfig", "responseFormat"],
        holder: &["text"],
        carrier: JSON_SCHEMA,
        confidence: Grade::C,
        source: GOOGLE_LIST,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generationConfig", "response_format"],
        holder: &["text"],
        carrier: JSON_SCHEMA,
        confidence: Grade::C,
        source: GOOGLE_LIST,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config", "responseFormat"],
        holder: &["text"],
        carrier: JSON_SCHEMA,
        confidence: Grade::C,
        source: GOOGLE_LIST,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        path: &["generation_config", "response_format"],
        holder: &["text"],
        carrier: JSON_SCHEMA,
        confidence: Grade::C,
        source: GOOGLE_LIST,
        ..FormatLocation::OF_GEMINI
    },
    FormatLocation {
        api: Api::GeminiInteractions,
        path: &["response_format"],
        kind: Some("text"),
        media_type: Some("mime_type"),
        is_main: true,
        source: "google-genai 3.6.1, _gaos/types/interactions, TextResponseFormat (read 2026-11-26)",
        ..FormatLocation::NONE
    },
    FormatLocation {
        api: Api::Bedrock,
        path: &["outputConfig", "textFormat"],
        kind: Some("json_schema"),
        holder: &["structure", "jsonSchema"],
        text: SchemaText::Always,
        has_name: true,
        is_main: true,
        source: "Amazon Bedrock, API reference, Converse, OutputConfig (read 2026-11-26)",
        ..FormatLocation::NONE
    },
];

/// Values with which requests ask for JSON without a schema, with the format of the requests and the path of members.
pub(crate) const JSON_MODE_VALUES: &[(Api, &[&str], &str)] = &[
    (Api::OpenaiChat, &["response_format", "type"], "json_object"),
    (Api::OpenaiChat, &["format"], "json"),
    (Api::OpenaiResponses, &["text", "format", "type"], "json_object"),
    (Api::Gemini, &["generationConfig", "responseMimeType"], "application/json"),
    (Api::Gemini, &["generation_config", "response_mime_type"], "application/json"),
];

const fn format_fact(
    rule: FormatRule,
    confidence: Grade,
    statement: &'static str,
    source: &'static str,
) -> RequestFact {
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
pub(crate) const SCHEMA: RequestFact = format_fact(
    FormatRule::Broken,
    Grade::A,
    "the schema of a response format follows the dialect's rules",
    "the dialect's facts about response formats",
);

pub(super) const CLAUDE_MODELS: RequestFact = format_fact(
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
    Grade::B,
    "Claude accepts response formats from 4.5 on; so does Opus 4.1",
    "Anthropic, structured outputs (documentation); live, on Bedrock: `output_config.format: Extra inputs are not \
        permitted` (models.dev#1765)",
);
pub(super) const PREFILL: RequestFact = format_fact(
    FormatRule::BesidePrefill(Api::Anthropic),
    Grade::A,
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
    confidence: Grade::A,
    severity: Severity::Refused,
    source: "Anthropic, What's new in Claude 4.6, prefill removal (documentation); live: `This model does not support \
        assistant message prefill. The conversation must end with a user message.` (skyvern#4795, opencode#13768, \
        qwen-code#8039; on Bedrock opencode#29760)",
    checked: "2026-11-27",
};
pub(super) const DEEPSEEK_SCHEMA: RequestFact = format_fact(
    FormatRule::Schema(Api::OpenaiChat),
    Grade::A,
    "DeepSeek's Chat Completions has only JSON mode",
    "live: `This response_format type is unavailable now`; DeepSeek, JSON output (documentation)",
);
pub(super) const DEEPSEEK_WORD: RequestFact = format_fact(
    FormatRule::WithoutWord,
    Grade::A,
    "JSON mode requires the word JSON in the messages",
    "DeepSeek, JSON output (documentation): include the word json in the system or user prompt",
);
pub(super) const OPENAI_WORD: RequestFact = format_fact(
    FormatRule::WithoutWord,
    Grade::A,
    "JSON mode requires the word JSON in the messages",
    "OpenAI, Structured Outputs, JSON mode (documentation): the API throws an error if the string JSON does not appear \
        somewhere in the context",
);
pub(super) const UPDATES: RequestFact = format_fact(
    FormatRule::Updates(Api::OpenaiResponses),
    Grade::A,
    "a configuration update does not directly follow another one",
    "openai-python 7.57, documentation of `configuration_update`",
);
pub(super) const OPENAI_NAME: RequestFact = format_fact(
    FormatRule::Name(NamePattern::OPENAI),
    Grade::A,
    "a response format has a name that matches `^[a-zA-Z0-9_-]{1,64}$`",
    "OpenAI, API reference, `json_schema.name`: a-z, A-Z, 0-9, underscores and dashes, with a maximum length of 64 \
        (documentation); openai-openapi, ResponseFormatJsonSchema: `name` is required",
);
pub(super) const GROQ_TOOLS: RequestFact = format_fact(
    FormatRule::BesideTools { models: Models::All, only_json: true },
    Grade::A,
    "Groq does not accept JSON mode together with tools",
    "live: `response_format` json_object cannot be combined with tool/function calling (agno#1065); `json mode cannot \
        be combined with tool/function calling` (vercel/ai#16540)",
);
pub(super) const COHERE_TOOLS: RequestFact = format_fact(
    FormatRule::BesideTools { models: Models::All, only_json: false },
    Grade::A,
    "Cohere does not accept a response format together with tools",
    "Cohere, structured outputs (documentation)",
);
pub(super) const GEMINI_TOOLS: RequestFact = format_fact(
    FormatRule::BesideTools { models: Models::Contain(&["gemini-1", "gemini-2"]), only_json: false },
    Grade::A,
    "Gemini accepts JSON answers together with functions only from Gemini 3 on",
    "live: `Function calling with a response mime type: 'application/json' is unsupported` (python-genai#867, \
        symfony/ai#803, symfony/ai#1777)",
);
pub(super) const GEMINI_MAPS: RequestFact = format_fact(
    FormatRule::BesideHosted { models: Models::All, hosted: &["googleMaps"] },
    Grade::B,
    "Gemini does not accept a `responseMimeType` of JSON together with Google Maps; it accepts `responseFormat`",
    "live: `Google Maps tool with a response mime type: 'application/json' is unsupported` (litellm#29451)",
);
pub(super) const GEMINI_HOSTED: RequestFact = format_fact(
    FormatRule::BesideHosted {
        models: Models::Contain(&["gemini-1", "gemini-2"]),
        hosted: &["googleSearch", "googleSearchRetrieval", "urlContext", "codeExecution"],
    },
    Grade::A,
    "Gemini accepts JSON answers together with Google's own tools only from Gemini 3 on",
    "live: `Tool use with a response mime type: 'application/json' is unsupported` (gemini-balance#238, \
        gemini-balance#264, gpt-load#188; gemini-balance#286 omits `codeExecution`, `googleSearch` and `urlContext`)",
);

/// The alternatives of an API to response formats with a schema.
#[derive(Debug)]
pub(crate) struct FormatSteps {
    dialects: &'static [&'static str],
    pub(crate) forces: Forces,
    /// The value of the tool choice that requires a call, in requests of the API's native format.
    pub(crate) required: Option<&'static str>,
    /// True if a request can forbid parallel calls.
    pub(crate) limits_calls: bool,
    /// True if the API has JSON mode, in requests of the formats of [`JSON_MODES`].
    has_json_mode: bool,
    /// As in [`Fact`](super::Fact).
    pub(crate) source: &'static str,
    /// As in [`Fact`](super::Fact).
    pub(crate) confidence: Grade,
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
    only_with: Option<&'static str>,
    /// The path of members to the object, which is created if it is missing.
    pub(crate) path: &'static [&'static str],
    /// The members of the object at `path`.
    pub(crate) members: &'static [(&'static str, &'static str)],
    /// True if the answer must be an object.
    pub(crate) wants_object: bool,
    /// True if the object has other members, which stay.
    pub(crate) is_beside_others: bool,
}

const JSON_MODES: &[JsonMode] = &[
    // Ollama's native API.
    JsonMode {
        api: Api::OpenaiChat,
        only_with: Some("format"),
        path: &[],
        members: &[("format", "json")],
        wants_object: true,
        is_beside_others: false,
    },
    JsonMode {
        api: Api::OpenaiChat,
        only_with: None,
        path: &["response_format"],
        members: &[("type", "json_object")],
        wants_object: true,
        is_beside_others: false,
    },
    JsonMode {
        api: Api::OpenaiResponses,
        only_with: None,
        path: &["text", "format"],
        members: &[("type", "json_object")],
        wants_object: true,
        is_beside_others: false,
    },
    JsonMode {
        api: Api::Gemini,
        only_with: None,
        path: &["generationConfig"],
        members: &[("responseMimeType", "application/json")],
        wants_object: false,
        is_beside_others: true,
    },
    JsonMode {
        api: Api::GeminiInteractions,
        only_with: None,
        path: &["response_format"],
        members: &[("type", "text"), ("mime_type", "application/json")],
        wants_object: false,
        is_beside_others: false,
    },
];

const STEPS: &[FormatSteps] = &[
    FormatSteps {
        dialects: &["openai-chat", "openai-responses", "openai-strict", "azure-strict"],
        forces: Forces::Named,
        required: None,
        limits_calls: true,
        has_json_mode: true,
        source: "OpenAI, API reference, `tool_choice` and `response_format` (read 2026-11-26)",
        confidence: Grade::A,
    },
    FormatSteps {
        dialects: &["anthropic", "anthropic-strict"],
        forces: Forces::Named,
        required: None,
        limits_calls: true,
        has_json_mode: false,
        source: "Anthropic, tool use, `tool_choice`: Anthropic's own way to get JSON is to force a tool (read \
            2026-11-26)",
        confidence: Grade::A,
    },
    FormatSteps {
        dialects: &["bedrock-anthropic"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: false,
        source: "Amazon Bedrock, API reference, ToolChoice: `tool` for Claude and Nova (read 2026-11-26)",
        confidence: Grade::A,
    },
    FormatSteps {
        dialects: &["bedrock", "bedrock-strict"],
        forces: Forces::Any,
        required: None,
        limits_calls: false,
        has_json_mode: false,
        source: "Amazon Bedrock, API reference, ToolChoice: more models accept `any` than `tool` (read 2026-11-26)",
        confidence: Grade::B,
    },
    FormatSteps {
        dialects: &["gemini", "gemini-json-schema", "vertex", "vertex-json-schema"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "Gemini API, FunctionCallingConfig: `ANY` with `allowedFunctionNames`; `responseMimeType` needs no \
            schema (read 2026-11-26)",
        confidence: Grade::A,
    },
    FormatSteps {
        dialects: &["gemini-interactions"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "google-genai 3.6.1, _gaos/types/interactions: `allowed_tools`; a text format without a schema \
            (read 2026-11-26)",
        confidence: Grade::B,
    },
    FormatSteps {
        dialects: &["cohere", "cohere-strict"],
        forces: Forces::Any,
        required: Some("REQUIRED"),
        limits_calls: false,
        has_json_mode: true,
        source: "Cohere Chat v2, `tool_choice`: `REQUIRED` or `NONE`; `response_format` (read 2026-11-26)",
        confidence: Grade::B,
    },
    FormatSteps {
        dialects: &["llama-cpp"],
        forces: Forces::Any,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "llama.cpp b11434, common chat parameters: `tool_choice` is `auto`, `none` or `required` (read \
            2026-11-26)",
        confidence: Grade::A,
    },
    FormatSteps {
        dialects: &["ollama"],
        forces: Forces::Nothing,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source: "Ollama, OpenAI compatibility: `tool_choice` is not supported, JSON mode is (read 2026-11-26)",
        confidence: Grade::B,
    },
    FormatSteps {
        dialects: &["vllm"],
        forces: Forces::Named,
        required: None,
        limits_calls: false,
        has_json_mode: true,
        source:
            "vLLM, tool calling: named functions, and `auto`, `required` and `none` (docs.vllm.ai, read 2026-11-27)",
        confidence: Grade::A,
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
        confidence: Grade::C,
    },
];

/// Assumes that requests have OpenAI's tool choice, or the tool choice of their format.
const UNKNOWN_STEPS: FormatSteps = FormatSteps {
    dialects: &[],
    forces: Forces::Named,
    required: None,
    limits_calls: false,
    has_json_mode: false,
    source: "nothing is known about the API",
    confidence: Grade::C,
};

pub(crate) fn steps_of(dialect: &Dialect) -> &'static FormatSteps {
    STEPS.iter().find(|row| row.dialects.contains(&dialect.name)).unwrap_or(&UNKNOWN_STEPS)
}

impl FormatSteps {
    /// `member` is the member that holds the schema.
    pub(crate) fn json_mode(&self, api: Api, member: Option<&str>) -> Option<&'static JsonMode> {
        let is_match =
            |mode: &&JsonMode| mode.api == api && mode.only_with.is_none_or(|only_with| member == Some(only_with));
        JSON_MODES.iter().find(is_match).filter(|_| self.has_json_mode)
    }
}
