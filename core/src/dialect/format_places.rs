//! Places of response-format schemas in the requests of each API, as data for `request::formats`.

use crate::{options::Api, report::Reason};

/// A place of response formats in requests.
#[derive(Debug)]
pub(crate) struct FormatPlace {
    /// The format of the requests.
    pub(crate) api: Api,
    /// The type of the items of the history that hold the format; `None` if the request itself holds it.
    pub(crate) item: Option<&'static str>,
    /// The path of members to the format, or to a list of formats.
    pub(crate) path: &'static [&'static str],
    /// The `type` of the format; `None` if its members identify it.
    pub(crate) kind: Option<&'static str>,
    /// The path of members from the format to the object with the schema, its name and its flags.
    pub(crate) holder: &'static [&'static str],
    /// The member that holds the schema.
    pub(crate) schema: &'static str,
    /// Form of the schema: JSON, or JSON text in a string.
    pub(crate) text: SchemaText,
    /// True if the object that holds the schema also has the member `strict`.
    pub(crate) has_strict: bool,
    /// True if the object that holds the schema also has the member `name`.
    pub(crate) has_name: bool,
    /// True if the API enforces the schema without a flag.
    pub(crate) is_enforced: bool,
    /// Dialects with different rules at this place, as pairs: the caller's dialect and the dialect of the place.
    pub(crate) dialects: &'static [(&'static str, &'static str)],
    /// True for the place to which formats of other APIs are translated.
    pub(crate) is_main: bool,
    /// Source of the fact, as in [`Fact`](super::Fact).
    pub(crate) source: &'static str,
    /// Confidence of the fact, as in [`Fact`](super::Fact).
    pub(crate) confidence: char,
}

/// Form of a schema: never, possibly or always JSON text in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaText {
    Never,
    Maybe,
    Always,
}

impl FormatPlace {
    /// Returns the fact that the format is at this place, as the reason for changing its flag.
    pub(crate) fn reason(&self) -> Reason {
        let statement = match self.has_strict {
            true => "the flag `strict` is next to the schema of a response format",
            false => "this is the schema of a response format",
        };
        Reason::fact(statement, self.confidence, self.source)
    }

    const NONE: FormatPlace = FormatPlace {
        api: Api::OpenaiChat,
        item: None,
        path: &[],
        kind: None,
        holder: &[],
        schema: "schema",
        text: SchemaText::Never,
        has_strict: false,
        has_name: false,
        is_enforced: true,
        dialects: &[],
        is_main: false,
        source: "",
        confidence: 'A',
    };
    const OF_OPENAI: FormatPlace =
        FormatPlace { kind: Some("json_schema"), has_strict: true, has_name: true, is_enforced: false, ..Self::NONE };
    const OF_GEMINI: FormatPlace = FormatPlace { api: Api::Gemini, ..Self::NONE };
}

const TO_OPENAPI: &[(&str, &str)] = &[("gemini-json-schema", "gemini"), ("vertex-json-schema", "vertex")];
const TO_JSON_SCHEMA: &[(&str, &str)] = &[("gemini", "gemini-json-schema"), ("vertex", "vertex-json-schema")];
const GOOGLE: &str = "Gemini API, GenerationConfig; google-genai 3.6.1 (read 2026-11-26)";
const PROTO_JSON: &str =
    "Protocol Buffers, ProtoJSON format: parsers accept the name of a field in both spellings (read 2026-11-26)";
const GOOGLE_LIST: &str =
    "google-genai 3.6.1 writes a list of `{text: {mimeType, schema}}`, LiteLLM an object: both are \
    read (2026-11-26)";
const LLAMA_CPP: &str = "llama.cpp b11434, tools/server, common chat parameters (read 2026-11-26)";

/// All places. Those of one API are in the order in which they are read.
pub(crate) const PLACES: &[FormatPlace] = &[
    FormatPlace {
        path: &["response_format"],
        holder: &["json_schema"],
        is_main: true,
        source: "OpenAI, API reference, Chat Completions, `response_format`; adopted by Azure, Mistral, Groq, \
            Cerebras, Fireworks, xAI, Moonshot, vLLM, SGLang and llama.cpp (read 2026-11-26)",
        ..FormatPlace::OF_OPENAI
    },
    FormatPlace {
        path: &["response_format"],
        kind: Some("json_schema"),
        confidence: 'B',
        source: "Together and some gateways put `schema` next to `type` (LiteLLM 1.110, read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        path: &["response_format"],
        kind: Some("json_object"),
        source: "Fireworks, structured responses; llama.cpp's `response_format.schema` (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        path: &["response_format"],
        kind: Some("json_object"),
        schema: "json_schema",
        source: "Cohere Chat v2, structured outputs; older versions have `schema` (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace { schema: "json_schema", source: LLAMA_CPP, ..FormatPlace::NONE },
    FormatPlace {
        schema: "format",
        source: "Ollama, structured outputs, `format` of `/api/chat` (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        path: &["structured_outputs"],
        schema: "json",
        text: SchemaText::Maybe,
        source: "vLLM, structured outputs, StructuredOutputsParams.json (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        schema: "guided_json",
        text: SchemaText::Maybe,
        source: "vLLM before 0.12 (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        api: Api::OpenaiResponses,
        path: &["text", "format"],
        is_main: true,
        source: "OpenAI, API reference, Responses, `text.format` (read 2026-11-26)",
        ..FormatPlace::OF_OPENAI
    },
    FormatPlace {
        api: Api::OpenaiResponses,
        item: Some("configuration_update"),
        path: &["text", "format"],
        source: "openai-python 7.57, configuration_update: valid until the next (read 2026-11-26)",
        ..FormatPlace::OF_OPENAI
    },
    FormatPlace {
        api: Api::Anthropic,
        path: &["output_config", "format"],
        kind: Some("json_schema"),
        is_main: true,
        source: "Anthropic, structured outputs (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        api: Api::Anthropic,
        path: &["output_format"],
        kind: Some("json_schema"),
        source: "Anthropic, structured outputs: deprecated, present in recorded answers (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        path: &["generationConfig"],
        schema: "responseSchema",
        dialects: TO_OPENAPI,
        source: GOOGLE,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generationConfig"],
        schema: "responseJsonSchema",
        dialects: TO_JSON_SCHEMA,
        source: GOOGLE,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config"],
        schema: "response_schema",
        dialects: TO_OPENAPI,
        source: GOOGLE,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config"],
        schema: "response_json_schema",
        dialects: TO_JSON_SCHEMA,
        source: GOOGLE,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generationConfig"],
        schema: "response_schema",
        dialects: TO_OPENAPI,
        source: PROTO_JSON,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generationConfig"],
        schema: "response_json_schema",
        dialects: TO_JSON_SCHEMA,
        source: PROTO_JSON,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config"],
        schema: "responseSchema",
        dialects: TO_OPENAPI,
        source: PROTO_JSON,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config"],
        schema: "responseJsonSchema",
        dialects: TO_JSON_SCHEMA,
        source: PROTO_JSON,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generationConfig", "responseFormat"],
        holder: &["text"],
        dialects: TO_JSON_SCHEMA,
        confidence: 'C',
        source: GOOGLE_LIST,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generationConfig", "response_format"],
        holder: &["text"],
        dialects: TO_JSON_SCHEMA,
        confidence: 'C',
        source: GOOGLE_LIST,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config", "responseFormat"],
        holder: &["text"],
        dialects: TO_JSON_SCHEMA,
        confidence: 'C',
        source: GOOGLE_LIST,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        path: &["generation_config", "response_format"],
        holder: &["text"],
        dialects: TO_JSON_SCHEMA,
        confidence: 'C',
        source: GOOGLE_LIST,
        ..FormatPlace::OF_GEMINI
    },
    FormatPlace {
        api: Api::GeminiInteractions,
        path: &["response_format"],
        kind: Some("text"),
        is_main: true,
        source: "google-genai 3.6.1, _gaos/types/interactions, TextResponseFormat (read 2026-11-26)",
        ..FormatPlace::NONE
    },
    FormatPlace {
        api: Api::Bedrock,
        path: &["outputConfig", "textFormat"],
        kind: Some("json_schema"),
        holder: &["structure", "jsonSchema"],
        text: SchemaText::Always,
        has_name: true,
        is_main: true,
        source: "Amazon Bedrock, API reference, Converse, OutputConfig (read 2026-11-26)",
        ..FormatPlace::NONE
    },
];

/// Values with which requests ask for JSON without a schema: the format of the requests, the path of members, and the
/// value.
pub(crate) const JSON_MODES: &[(Api, &[&str], &str)] = &[
    (Api::OpenaiChat, &["response_format", "type"], "json_object"),
    (Api::OpenaiChat, &["format"], "json"),
    (Api::OpenaiResponses, &["text", "format", "type"], "json_object"),
    (Api::Gemini, &["generationConfig", "responseMimeType"], "application/json"),
    (Api::Gemini, &["generation_config", "response_mime_type"], "application/json"),
];
