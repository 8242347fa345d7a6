//! Endpoints of the dialects' APIs, and the form of their requests. All differences between APIs are data in this file.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    pub(crate) dialect: &'static str,
    /// Name in rows of evidence.
    pub(crate) surface: &'static str,
    /// Base URL; `None` if it depends on the account, as in `example`.
    pub(crate) base: Option<&'static str>,
    pub(crate) example: &'static str,
    /// The API's key may be sent to these hosts. They are names, or patterns in which `*` is one label and `{region}`
    /// an AWS region.
    pub(crate) hosts: &'static [&'static str],
    /// Path below the base URL. `{model}` is a placeholder.
    pub(crate) path: &'static str,
    pub(crate) key: KeyForm,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) wire: &'static Wire,
    pub(crate) documentation: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyForm {
    pub(crate) header: &'static str,
    pub(crate) before: &'static str,
    /// The first variable that is set contains the key. Empty if no key is needed.
    pub(crate) variables: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    /// Name of the format in rows of evidence.
    pub(crate) format: &'static str,
    /// Name in rows of evidence of the member that contains the schema.
    pub(crate) schema_member: &'static str,
    /// Path of the schema in a tool. `name` is the path of the tool's name.
    pub(crate) schema: &'static [&'static str],
    pub(crate) name: &'static [&'static str],
    /// Minimal body, as JSON. `$model`, `$tools` and `$tokens` are placeholders for the model, the tools and the
    /// maximum number of output tokens.
    pub(crate) body: &'static str,
    /// Texts before the index of a tool in an error.
    pub(crate) numbered: &'static [&'static str],
}

/// A gateway, which forwards requests to other APIs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gateway {
    pub(crate) host: &'static str,
    pub(crate) surface: &'static str,
    pub(crate) variables: &'static [&'static str],
}

pub(crate) const GATEWAYS: &[Gateway] = &[
    Gateway { host: "openrouter.ai", surface: "openrouter", variables: &["OPENROUTER_API_KEY"] },
    Gateway { host: "api.together.xyz", surface: "together", variables: &["TOGETHER_API_KEY"] },
    Gateway { host: "router.huggingface.co", surface: "huggingface-router", variables: &["HF_TOKEN"] },
    Gateway { host: "ai-gateway.vercel.sh", surface: "vercel-gateway", variables: &["AI_GATEWAY_API_KEY"] },
];

/// Name in rows of evidence for an unknown server that was given with `--url`.
pub(crate) const ELSEWHERE: &str = "elsewhere";

const IN_TOOLS: &[&str] = &["tools[", "tools.", "tool "];

const CHAT: Wire = Wire {
    format: "openai-chat",
    schema_member: "function.parameters",
    schema: &["function", "parameters"],
    name: &["function", "name"],
    body: concat!(
        r#"{"model":"$model","messages":[{"role":"user","#,
        r#""content":"Hi"}],"max_tokens":"$tokens","tools":"$tools"}"#
    ),
    numbered: IN_TOOLS,
};
/// Reasoning models refuse `max_tokens` in this API.
const CHAT_OF_OPENAI: Wire = Wire {
    body: concat!(
        r#"{"model":"$model","messages":[{"role":"user","#,
        r#""content":"Hi"}],"max_completion_tokens":"$tokens","tools":"$tools"}"#
    ),
    ..CHAT
};
/// These servers compile a schema to a grammar only if a call is forced.
const CHAT_WITH_CALL: Wire = Wire {
    body: concat!(
        r#"{"model":"$model","messages":[{"role":"user","content":"Hi"}],"#,
        r#""max_tokens":"$tokens","tools":"$tools","tool_choice":"required"}"#
    ),
    ..CHAT
};
const RESPONSES: Wire = Wire {
    format: "openai-responses",
    schema_member: "parameters",
    schema: &["parameters"],
    name: &["name"],
    body: r#"{"model":"$model","input":"Hi","max_output_tokens":"$tokens","store":false,"tools":"$tools"}"#,
    numbered: IN_TOOLS,
};
const MESSAGES: Wire = Wire {
    format: "anthropic-messages",
    schema_member: "input_schema",
    schema: &["input_schema"],
    name: &["name"],
    body: concat!(
        r#"{"model":"$model","max_tokens":"$tokens","#,
        r#""messages":[{"role":"user","content":"Hi"}],"tools":"$tools"}"#
    ),
    numbered: IN_TOOLS,
};
const DECLARATIONS: Wire = Wire {
    format: "gemini-generateContent",
    schema_member: "parameters",
    schema: &["parameters"],
    name: &["name"],
    body: concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"#,
        r#""tools":[{"functionDeclarations":"$tools"}],"generationConfig":{"maxOutputTokens":"$tokens"}}"#
    ),
    // `tools[0]` is the object with all function declarations.
    numbered: &["function_declarations[", "functiondeclarations["],
};
const DECLARATIONS_OF_JSON: Wire =
    Wire { schema_member: "parametersJsonSchema", schema: &["parametersJsonSchema"], ..DECLARATIONS };
const INTERACTIONS: Wire = Wire {
    format: "gemini-interactions",
    body: concat!(
        r#"{"model":"$model","input":"Hi","store":false,"#,
        r#""generation_config":{"max_output_tokens":"$tokens"},"tools":"$tools"}"#
    ),
    ..RESPONSES
};
const CONVERSE: Wire = Wire {
    format: "bedrock-converse",
    schema_member: "inputSchema.json",
    schema: &["toolSpec", "inputSchema", "json"],
    name: &["toolSpec", "name"],
    body: concat!(
        r#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"#,
        r#""inferenceConfig":{"maxTokens":"$tokens"},"toolConfig":{"tools":"$tools"}}"#
    ),
    numbered: IN_TOOLS,
};
const COHERE_CHAT: Wire = Wire { format: "cohere-chat", ..CHAT };

const fn bearer(variables: &'static [&'static str]) -> KeyForm {
    KeyForm { header: "authorization", before: "Bearer ", variables }
}

const fn bare(header: &'static str, variables: &'static [&'static str]) -> KeyForm {
    KeyForm { header, before: "", variables }
}

const OPENAI: Endpoint = Endpoint {
    dialect: "openai-chat",
    surface: "openai-chat",
    base: Some("https://api.openai.com/v1"),
    example: "",
    hosts: &["api.openai.com"],
    path: "/chat/completions",
    key: bearer(&["OPENAI_API_KEY"]),
    headers: &[],
    wire: &CHAT_OF_OPENAI,
    documentation: "https://platform.openai.com/docs/api-reference/chat/create",
};
const ANTHROPIC: Endpoint = Endpoint {
    dialect: "anthropic",
    surface: "anthropic-messages",
    base: Some("https://api.anthropic.com"),
    hosts: &["api.anthropic.com"],
    path: "/v1/messages",
    key: bare("x-api-key", &["ANTHROPIC_API_KEY"]),
    headers: &[("anthropic-version", "2023-06-01")],
    wire: &MESSAGES,
    documentation: "https://docs.anthropic.com/en/api/messages",
    ..OPENAI
};
const GEMINI: Endpoint = Endpoint {
    dialect: "gemini",
    surface: "gemini",
    base: Some("https://generativelanguage.googleapis.com/v1beta"),
    hosts: &["generativelanguage.googleapis.com"],
    path: "/models/{model}:generateContent",
    key: bare("x-goog-api-key", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    wire: &DECLARATIONS,
    documentation: "https://ai.google.dev/api/generate-content",
    ..OPENAI
};
/// The express mode, which accepts a key. For other modes, pass `--url` up to the location.
const VERTEX: Endpoint = Endpoint {
    dialect: "vertex",
    surface: "vertex",
    base: Some("https://aiplatform.googleapis.com/v1"),
    hosts: &["aiplatform.googleapis.com"],
    path: "/publishers/google/models/{model}:generateContent",
    key: bare("x-goog-api-key", &["GOOGLE_API_KEY"]),
    documentation:
        "https://cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/vertex-ai-express-mode-api-reference",
    ..GEMINI
};
const AZURE: Endpoint = Endpoint {
    dialect: "azure-strict",
    surface: "azure-openai",
    base: None,
    example: "https://NAME.openai.azure.com/openai/v1",
    // https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains: each is the host of one
    // resource.
    hosts: &["*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"],
    key: bare("api-key", &["AZURE_OPENAI_API_KEY"]),
    documentation: "https://learn.microsoft.com/azure/ai-foundry/openai/latest",
    ..OPENAI
};
const BEDROCK: Endpoint = Endpoint {
    dialect: "bedrock",
    surface: "bedrock",
    base: Some("https://bedrock-runtime.us-east-1.amazonaws.com"),
    // https://docs.aws.amazon.com/general/latest/gr/bedrock.html
    hosts: &[
        "bedrock-runtime.us-east-1.amazonaws.com",
        "bedrock-runtime.{region}.amazonaws.com",
        "bedrock-runtime-fips.{region}.amazonaws.com",
    ],
    path: "/model/{model}/converse",
    key: bearer(&["AWS_BEARER_TOKEN_BEDROCK"]),
    wire: &CONVERSE,
    documentation: "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html",
    ..OPENAI
};
const DEEPSEEK: Endpoint = Endpoint {
    dialect: "deepseek",
    surface: "deepseek",
    base: Some("https://api.deepseek.com"),
    hosts: &["api.deepseek.com"],
    key: bearer(&["DEEPSEEK_API_KEY"]),
    wire: &CHAT,
    documentation: "https://api-docs.deepseek.com/api/create-chat-completion",
    ..OPENAI
};
const COHERE: Endpoint = Endpoint {
    dialect: "cohere",
    surface: "cohere",
    base: Some("https://api.cohere.com/v2"),
    hosts: &["api.cohere.com"],
    path: "/chat",
    key: bearer(&["CO_API_KEY", "COHERE_API_KEY"]),
    wire: &COHERE_CHAT,
    documentation: "https://docs.cohere.com/reference/chat",
    ..OPENAI
};
/// A self-hosted server.
const OWN: Endpoint = Endpoint { base: None, hosts: &[], key: bearer(&[]), wire: &CHAT, ..OPENAI };

/// In the order of the dialects.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        dialect: "openai-responses",
        surface: "openai-responses",
        path: "/responses",
        wire: &RESPONSES,
        documentation: "https://platform.openai.com/docs/api-reference/responses/create",
        ..OPENAI
    },
    OPENAI,
    Endpoint { dialect: "openai-strict", ..OPENAI },
    AZURE,
    ANTHROPIC,
    Endpoint { dialect: "anthropic-strict", ..ANTHROPIC },
    GEMINI,
    Endpoint { dialect: "gemini-json-schema", wire: &DECLARATIONS_OF_JSON, ..GEMINI },
    Endpoint {
        dialect: "gemini-interactions",
        surface: "gemini-interactions",
        path: "/interactions",
        wire: &INTERACTIONS,
        documentation: "https://ai.google.dev/gemini-api/docs/interactions",
        ..GEMINI
    },
    VERTEX,
    Endpoint { dialect: "vertex-json-schema", wire: &DECLARATIONS_OF_JSON, ..VERTEX },
    Endpoint {
        dialect: "moonshot",
        surface: "moonshot",
        base: Some("https://api.moonshot.ai/v1"),
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        key: bearer(&["MOONSHOT_API_KEY"]),
        wire: &CHAT,
        documentation: "https://platform.moonshot.ai/docs/api/chat",
        ..OPENAI
    },
    Endpoint {
        dialect: "xai",
        surface: "xai",
        base: Some("https://api.x.ai/v1"),
        hosts: &["api.x.ai"],
        key: bearer(&["XAI_API_KEY"]),
        documentation: "https://docs.x.ai/docs/api-reference#chat-completions",
        ..OPENAI
    },
    DEEPSEEK,
    Endpoint {
        dialect: "deepseek-strict",
        base: Some("https://api.deepseek.com/beta"),
        documentation: "https://api-docs.deepseek.com/guides/function_calling",
        ..DEEPSEEK
    },
    BEDROCK,
    Endpoint { dialect: "bedrock-anthropic", ..BEDROCK },
    Endpoint { dialect: "bedrock-strict", ..BEDROCK },
    Endpoint {
        dialect: "mistral",
        surface: "mistral",
        base: Some("https://api.mistral.ai/v1"),
        hosts: &["api.mistral.ai"],
        key: bearer(&["MISTRAL_API_KEY"]),
        wire: &CHAT,
        documentation: "https://docs.mistral.ai/api/#tag/chat",
        ..OPENAI
    },
    Endpoint {
        dialect: "groq",
        surface: "groq",
        base: Some("https://api.groq.com/openai/v1"),
        hosts: &["api.groq.com"],
        key: bearer(&["GROQ_API_KEY"]),
        documentation: "https://console.groq.com/docs/api-reference#chat-create",
        ..OPENAI
    },
    Endpoint {
        dialect: "groq-strict",
        surface: "groq",
        base: Some("https://api.groq.com/openai/v1"),
        hosts: &["api.groq.com"],
        key: bearer(&["GROQ_API_KEY"]),
        documentation: "https://console.groq.com/docs/api-reference#chat-create",
        ..OPENAI
    },
    Endpoint {
        dialect: "cerebras",
        surface: "cerebras",
        base: Some("https://api.cerebras.ai/v1"),
        hosts: &["api.cerebras.ai"],
        key: bearer(&["CEREBRAS_API_KEY"]),
        documentation: "https://inference-docs.cerebras.ai/api-reference/chat-completions",
        ..OPENAI
    },
    Endpoint {
        dialect: "cerebras-strict",
        surface: "cerebras",
        base: Some("https://api.cerebras.ai/v1"),
        hosts: &["api.cerebras.ai"],
        key: bearer(&["CEREBRAS_API_KEY"]),
        documentation: "https://inference-docs.cerebras.ai/api-reference/chat-completions",
        ..OPENAI
    },
    Endpoint {
        dialect: "fireworks",
        surface: "fireworks",
        base: Some("https://api.fireworks.ai/inference/v1"),
        hosts: &["api.fireworks.ai"],
        key: bearer(&["FIREWORKS_API_KEY"]),
        wire: &CHAT,
        documentation: "https://docs.fireworks.ai/api-reference/post-chatcompletions",
        ..OPENAI
    },
    COHERE,
    Endpoint { dialect: "cohere-strict", ..COHERE },
    Endpoint {
        dialect: "llama-cpp",
        surface: "llama-cpp",
        example: "http://localhost:8080/v1",
        documentation: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        ..OWN
    },
    Endpoint {
        dialect: "ollama",
        surface: "ollama",
        example: "http://localhost:11434/v1",
        documentation: "https://github.com/ollama/ollama/blob/main/docs/openai.md",
        ..OWN
    },
    Endpoint {
        dialect: "vllm",
        surface: "vllm",
        example: "http://localhost:8000/v1",
        wire: &CHAT_WITH_CALL,
        documentation: "https://docs.vllm.ai/en/latest/features/tool_calling.html",
        ..OWN
    },
    Endpoint {
        dialect: "sglang",
        surface: "sglang",
        example: "http://localhost:30000/v1",
        documentation: "https://docs.sglang.ai/advanced_features/tool_parser.html",
        ..OWN
    },
];

impl Endpoint {
    pub(crate) fn of(dialect: &str) -> Option<&'static Endpoint> {
        ENDPOINTS.iter().find(|endpoint| endpoint.dialect == dialect)
    }
}

#[cfg(test)]
mod tests {
    use toolwire::{
        dialects,
        internal::{self, json},
    };

    use super::{CHAT, ENDPOINTS};
    use crate::profile::dialects_named;

    /// Clients, and the common subset of several APIs: these cannot be probed.
    const NOT_PROBED: [&str; 3] = ["codex", "codex-wire", "portable"];

    #[test]
    fn every_probed_dialect_has_an_endpoint() {
        let apis = dialects().iter().filter(|dialect| !dialect.is_mcp_client());
        let known = apis.map(|dialect| dialect.name).filter(|name| !NOT_PROBED.contains(name));
        let probed: Vec<&str> = ENDPOINTS.iter().map(|endpoint| endpoint.dialect).collect();
        assert_eq!(probed, known.collect::<Vec<_>>());
    }

    #[test]
    fn tools_fit_the_body_of_every_endpoint() {
        for endpoint in ENDPOINTS {
            let about = endpoint.dialect;
            let list = json::read(r#"[{"name": "a", "inputSchema": {"type": "object"}}]"#).unwrap_or_default();
            let dialect = dialects_named(&[about.into()]).first().copied();
            let sent = dialect.map(|dialect| internal::as_sent(list, dialect).unwrap_or_default()).unwrap_or_default();
            let tool = sent.first().map(|sent| &sent.tool);
            let at = |path: &[&str]| path.iter().try_fold(tool?, |node, key| node.get(*key));
            assert!(at(endpoint.wire.schema).is_some_and(|schema| schema.get("type").is_some()), "{about}");
            assert!(at(endpoint.wire.name).is_some_and(|name| name.is_text("a")), "{about}");
            assert!(endpoint.wire.schema.join(".").ends_with(endpoint.wire.schema_member), "{about}");
            let body = json::read(endpoint.wire.body).map(|body| json::write(&body)).unwrap_or_default();
            assert_eq!(body, endpoint.wire.body, "{about}");
            assert!(body.contains("\"$tools\"") && body.contains("\"$tokens\""), "{about}");
            assert_eq!(body.contains("\"$model\""), !endpoint.path.contains("{model}"), "{about}");
            assert!(endpoint.documentation.starts_with("https://"), "{about}");
            let is_own = endpoint.base.is_none();
            assert_eq!(endpoint.example.is_empty(), !is_own, "{about}");
            assert_eq!(endpoint.key.variables.is_empty(), endpoint.hosts.is_empty(), "{about}");
            assert!(endpoint.base.is_none_or(|base| base.starts_with("https://") && !base.ends_with('/')), "{about}");
        }
        assert_eq!(CHAT.format, "openai-chat");
    }
}
