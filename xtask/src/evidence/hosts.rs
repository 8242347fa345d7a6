//! Maps the rows of `accepted_schemas.jsonl` to dialects by host, format, kind and `strict`.

use serde_json::Value;

use super::{text, RowDialect};

/// Required value of a tool's `strict`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    True,
    /// `false`, or omitted if that has the same meaning.
    Not,
    /// Any value, because the API ignores the flag.
    Any,
}

/// The destination of a recorded request, and the dialect of that surface.
struct Surface {
    /// Suffix of the host.
    host: &'static str,
    format: &'static str,
    kinds: &'static [&'static str],
    strict: Strict,
    dialect: &'static str,
}

const TOOL: &[&str] = &["tool"];

/// Kinds for APIs that apply the same validator to response formats.
const TOOL_OR_RESPONSE: &[&str] = &["tool", "tool-in-input", "response_format"];

const MAPPED: &[Surface] = &[
    Surface {
        host: "api.openai.com",
        format: "openai-chat",
        kinds: TOOL_OR_RESPONSE,
        strict: Strict::True,
        dialect: "openai-strict",
    },
    Surface { host: "api.openai.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "openai-chat" },
    Surface {
        host: "api.openai.com",
        format: "openai-responses",
        kinds: TOOL_OR_RESPONSE,
        strict: Strict::True,
        dialect: "openai-strict",
    },
    // If `strict` is omitted, the API makes the schema strict if possible, and accepts it unchanged otherwise.
    Surface {
        host: "api.openai.com",
        format: "openai-responses",
        kinds: &["tool", "tool-in-input"],
        strict: Strict::Not,
        dialect: "openai-responses",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: &["response_format"],
        strict: Strict::Any,
        dialect: "anthropic-strict",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: TOOL,
        strict: Strict::True,
        dialect: "anthropic-strict",
    },
    Surface {
        host: "api.anthropic.com",
        format: "anthropic-messages",
        kinds: TOOL,
        strict: Strict::Not,
        dialect: "anthropic",
    },
    Surface {
        host: "aiplatform.googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parameters", "response_format:responseSchema"],
        strict: Strict::Any,
        dialect: "vertex",
    },
    Surface {
        host: "aiplatform.googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parametersJsonSchema", "response_format:responseJsonSchema"],
        strict: Strict::Any,
        dialect: "vertex-json-schema",
    },
    Surface {
        host: "googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parameters", "response_format:responseSchema"],
        strict: Strict::Any,
        dialect: "gemini",
    },
    Surface {
        host: "googleapis.com",
        format: "gemini-generateContent",
        kinds: &["tool:parametersJsonSchema", "tool:parameters_json_schema", "response_format:responseJsonSchema"],
        strict: Strict::Any,
        dialect: "gemini-json-schema",
    },
    Surface { host: "api.x.ai", format: "openai-responses", kinds: TOOL, strict: Strict::Any, dialect: "xai" },
    Surface {
        host: "api.deepseek.com",
        format: "openai-chat",
        kinds: TOOL,
        strict: Strict::True,
        dialect: "deepseek-strict",
    },
    Surface { host: "api.deepseek.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "deepseek" },
    Surface { host: "amazonaws.com", format: "bedrock-converse", kinds: TOOL, strict: Strict::Not, dialect: "bedrock" },
    Surface { host: "api.mistral.ai", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "mistral" },
    Surface { host: "api.groq.com", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "groq" },
    Surface {
        host: "<OLLAMA_API_BASE>/chat/completions",
        format: "openai-chat",
        kinds: TOOL,
        strict: Strict::Any,
        dialect: "ollama",
    },
    Surface { host: "api.cohere.com", format: "cohere-chat", kinds: TOOL, strict: Strict::Not, dialect: "cohere" },
    Surface {
        host: "api.cerebras.ai",
        format: "openai-chat",
        kinds: TOOL,
        strict: Strict::True,
        dialect: "cerebras-strict",
    },
    Surface { host: "api.cerebras.ai", format: "openai-chat", kinds: TOOL, strict: Strict::Not, dialect: "cerebras" },
];

/// Rows without a dialect: the suffix of the host (`""` for any), the prefix of the kind, and the reason. The first
/// match applies.
const UNMAPPED: &[(&str, &str, &str)] = &[
    ("", "response_format", "a response format of a host without a known dialect for response formats"),
    ("**REDACTED**", "tool", "the host is unknown"),
    ("openrouter.ai", "tool", "a router: the provider of the request is unknown"),
    ("router.huggingface.co", "tool", "a router: the provider of the request is unknown"),
    ("<GPUSTACK_API_BASE>/chat/completions", "tool", "a server for several engines, one of them unknown"),
    ("ollama.com", "tool", "Ollama's cloud forwards requests to unknown hosts"),
    ("rubyllm.services.ai.azure.com", "tool", "no dialect: Azure, for models of several makers"),
    ("api.aws", "tool", "no dialect: Bedrock's OpenAI-compatible API"),
    ("amazonaws.com", "tool", "no dialect: Bedrock's strict tools"),
    ("api.deepseek.com", "tool", "no dialect: DeepSeek's Responses API"),
    ("api.inference.crusoecloud.com", "tool", "no dialect: Crusoe"),
    ("generativelanguage.googleapis.com", "tool", "no dialect: Gemini's OpenAI-compatible API"),
    ("myorg-myaccount.snowflakecomputing.com", "tool", "no dialect: Snowflake"),
];

pub(super) fn row_dialect(row: &Value) -> RowDialect {
    let strict = row["strict"] == true;
    let (host, kind) = (text(row, "host"), text(row, "kind"));
    let surface = MAPPED.iter().find(|surface| {
        let strict_fits = match surface.strict {
            Strict::True => strict,
            Strict::Not => !strict,
            Strict::Any => true,
        };
        strict_fits
            && host.ends_with(surface.host)
            && text(row, "format") == surface.format
            && surface.kinds.contains(&kind)
    });
    let unmapped = || UNMAPPED.iter().find(|(end, begin, _)| host.ends_with(end) && kind.starts_with(begin));
    match (surface, unmapped()) {
        (Some(surface), _) => RowDialect::Dialect(surface.dialect),
        (None, Some((_, _, why))) => RowDialect::Nothing(why),
        (None, None) => RowDialect::Unknown,
    }
}
