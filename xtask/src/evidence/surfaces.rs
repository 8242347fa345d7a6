//! Maps the rows of `answers.jsonl` and `answered_requests.jsonl` to dialects, by the name of the surface, the
//! format, the member that held the schema, and `strict`.

use serde_json::Value;

use super::{text, RowDialect};

/// The members of a row that determine its dialect.
struct Sent<'a> {
    surface: &'a str,
    format: &'a str,
    model: &'a str,
    schema_member: &'a str,
    is_response: bool,
    strict: bool,
}

pub(super) fn of_schema(row: &Value) -> RowDialect {
    RowDialect::of(dialect(&Sent {
        surface: text(row, "surface"),
        format: text(row, "format"),
        model: text(row, "model"),
        schema_member: text(row, "carrier"),
        is_response: text(row, "kind") == "response-format",
        strict: row["strict"] == true,
    }))
}

/// A list with a strict tool belongs to the strict dialect, because `check_tools` applies each tool's own flag.
pub(super) fn of_request(row: &Value) -> RowDialect {
    let tools = row["tools"].to_string();
    let carrier =
        ["parametersJsonSchema", "parameters_json_schema", "parameters"].into_iter().find(|name| tools.contains(name));
    RowDialect::of(dialect(&Sent {
        surface: text(row, "surface"),
        format: text(row, "format"),
        model: text(row, "model"),
        schema_member: carrier.unwrap_or_default(),
        is_response: false,
        strict: row["request_facts"]["strict_tools"].as_u64().is_some_and(|count| count > 0),
    }))
}

const RESPONSE: &str = "a response format of a host without a known dialect for response formats";
const ROUTER: &str = "a router: the provider of the request is unknown";

/// Returns the dialect of a response format; `None` if the surface alone determines the dialect.
fn of_response(sent: &Sent<'_>) -> Option<Result<&'static str, &'static str>> {
    let &Sent { surface, format, model, schema_member: _, is_response, strict } = sent;
    is_response.then_some(())?;
    Some(match surface {
        "anthropic-messages" => Ok("anthropic"),
        "openai-chat" | "openai-responses" if strict => Ok("openai-strict"),
        "openai-chat" => Ok("openai-chat"),
        "openai-responses" => Ok("openai-responses"),
        "copilot" if strict && model.starts_with("gpt-") => Ok("openai-strict"),
        "azure-openai" if strict => Ok("azure-strict"),
        "bedrock" if format == "bedrock-converse" && model.contains("claude") => Ok("bedrock-anthropic"),
        "mistral" => Ok("mistral"),
        "groq" if strict => Ok("groq-strict"),
        "groq" => Ok("groq"),
        "cerebras" if strict => Ok("cerebras-strict"),
        "cerebras" => Ok("cerebras"),
        "xai" => Ok("xai"),
        "cohere" => Ok("cohere"),
        "ollama" => Ok("ollama"),
        "llama-cpp" => Ok("llama-cpp"),
        "gemini" if format == "gemini-interactions" => Ok("gemini-interactions"),
        "gemini" | "vertex" => return None,
        _ => Err(RESPONSE),
    })
}

/// Returns the dialect, or the reason why it does not exist. Returns `None` for an unknown surface.
fn dialect(sent: &Sent<'_>) -> Option<Result<&'static str, &'static str>> {
    if let Some(found) = of_response(sent) {
        return Some(found);
    }
    let &Sent { surface, format, model, schema_member, strict, .. } = sent;
    let is_responses = format == "openai-responses";
    Some(match surface {
        "anthropic-messages" if strict => Ok("anthropic-strict"),
        "anthropic-messages" | "vertex-anthropic" => Ok("anthropic"),
        "openai-chat" | "openai-responses" if strict => Ok("openai-strict"),
        // Copilot forwards requests to the vendor of the model.
        "copilot" if strict && model.starts_with("gpt-") => Ok("openai-strict"),
        "azure-openai" if strict => Ok("azure-strict"),
        "openai-chat" | "openai-responses" | "azure-openai" if is_responses => Ok("openai-responses"),
        "openai-chat" | "openai-responses" | "azure-openai" => Ok("openai-chat"),
        "copilot" if model.starts_with("gpt-") && !is_responses => Ok("openai-chat"),
        "gemini-interactions" => Ok("gemini-interactions"),
        "gemini" if format == "gemini-interactions" => Ok("gemini-interactions"),
        "gemini" if matches!(schema_member, "parameters" | "responseSchema" | "response_schema") => Ok("gemini"),
        "gemini" if schema_member.to_lowercase().replace('_', "").ends_with("jsonschema") => Ok("gemini-json-schema"),
        "vertex" if matches!(schema_member, "parameters" | "responseSchema") => Ok("vertex"),
        "vertex" if schema_member.to_lowercase().replace('_', "").ends_with("jsonschema") => Ok("vertex-json-schema"),
        "bedrock" if format == "bedrock-converse" && !strict && model.contains("claude") => Ok("bedrock-anthropic"),
        "bedrock" if format == "bedrock-converse" && !strict => Ok("bedrock"),
        "bedrock" if format == "bedrock-converse" => Ok("bedrock-strict"),
        "bedrock" => Err("no dialect: Bedrock's InvokeModel, with the model's own format"),
        "llama-cpp" => Ok("llama-cpp"),
        "deepseek" if !strict => Ok("deepseek"),
        "mistral" => Ok("mistral"),
        "groq" if strict => Ok("groq-strict"),
        "groq" => Ok("groq"),
        "xai" => Ok("xai"),
        "cohere" if !strict => Ok("cohere"),
        "ollama" => Ok("ollama"),
        "deepseek" => Ok("deepseek-strict"),
        "cohere" => Ok("cohere-strict"),
        "moonshot" => Ok("moonshot"),
        "cerebras" if strict => Ok("cerebras-strict"),
        "cerebras" => Ok("cerebras"),
        "fireworks" => Ok("fireworks"),
        "vllm" => Ok("vllm"),
        "sglang" => Ok("sglang"),
        // Servers that `toolwire probe --url` probed and that belong to no known provider.
        "elsewhere" => Err("a server with unknown models and an unknown validator"),
        "mistral-rs" => Err("no dialect: mistral.rs"),
        "gemini-openai" => Err("no dialect: Gemini's OpenAI-compatible API"),
        "databricks" => Err("no dialect: Databricks"),
        "alibaba" => Err("no dialect: Alibaba"),
        "writer" => Err("no dialect: Writer"),
        "chatgpt-codex" => Err("no dialect: chatgpt.com, the backend of Codex"),
        "openrouter" | "huggingface-router" | "pydantic-gateway" | "vercel-gateway" | "pollinations"
        | "github-models" => Err(ROUTER),
        "together" | "doubleword" | "venice" | "avian" | "zai" | "baseten" | "cloudflare" | "xiaomi" => {
            Err("no dialect: a host of open-weight models whose server is unknown")
        }
        _ => return None,
    })
}
