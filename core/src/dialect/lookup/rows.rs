//! The table of hosts, ports, protocols and models, each with its dialect and the evidence for it.

use crate::{options::Api, report::Grade};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Any host, or none.
    Anywhere,
    /// Only queries without a host.
    NoHost,
    /// One of these hosts. `*` matches any characters.
    Hosts(&'static [&'static str]),
    /// Any host, at this port.
    Port(u16),
    /// A local or private host, at one of these ports. On other hosts, any server may use these ports.
    PrivatePorts(&'static [u16]),
}

/// A row of the table. An empty list matches everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) scope: Scope,
    pub(super) apis: &'static [Api],
    /// Prefixes of the model's name without its vendor (`openai/`).
    pub(super) models: &'static [&'static str],
    pub(super) plain: &'static str,
    /// The dialect for `strict: true`; `None` if none is known.
    pub(super) strict: Option<&'static str>,
    /// Prefix of the paths at which the API honors `strict`; empty for all paths.
    pub(super) strict_path: &'static str,
    /// Confidence. `A`: documented, or proved; `B`: one live report; `C`: inferred.
    pub(super) confidence: Grade,
    /// The evidence, as a sentence without a full stop.
    pub(super) because: &'static str,
}

impl Row {
    const fn new(scope: Scope, plain: &'static str, confidence: Grade, because: &'static str) -> Row {
        Row { scope, apis: &[], models: &[], plain, strict: None, strict_path: "", confidence, because }
    }

    const fn apis(self, apis: &'static [Api]) -> Row {
        Row { apis, ..self }
    }

    const fn models(self, models: &'static [&'static str]) -> Row {
        Row { models, ..self }
    }

    const fn strict(self, dialect: &'static str) -> Row {
        Row { strict: Some(dialect), ..self }
    }

    const fn strict_below(self, strict_path: &'static str) -> Row {
        Row { strict_path, ..self }
    }

    pub(super) fn hosts(&self) -> &'static [&'static str] {
        match self.scope {
            Scope::Hosts(hosts) => hosts,
            _ => &[],
        }
    }

    pub(super) fn is_of_a_model(&self) -> bool {
        matches!(self.scope, Scope::Anywhere | Scope::NoHost) && self.apis.is_empty()
    }
}

const fn at(hosts: &'static [&'static str], plain: &'static str, confidence: Grade, because: &'static str) -> Row {
    Row::new(Scope::Hosts(hosts), plain, confidence, because)
}

const fn anywhere(plain: &'static str, because: &'static str) -> Row {
    Row::new(Scope::Anywhere, plain, Grade::C, because)
}

const fn without_host(plain: &'static str, because: &'static str) -> Row {
    Row::new(Scope::NoHost, plain, Grade::C, because)
}

const OPENAI: &[&str] = &["api.openai.com"];
const AZURE: &[&str] = &["*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"];
const GOOGLE: &[&str] = &["generativelanguage.googleapis.com"];
const VERTEX: &[&str] = &["aiplatform.googleapis.com", "*-aiplatform.googleapis.com"];
const BEDROCK: &[&str] = &["bedrock-runtime.*", "bedrock-runtime-fips.*"];
/// Amazon's endpoints of the Messages, Chat Completions and Responses APIs.
const MANTLE: &[&str] = &["bedrock-mantle.*"];
const ALIBABA: &[&str] = &["dashscope.aliyuncs.com", "*.dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"];
const DATABRICKS: &[&str] = &["*.cloud.databricks.com", "*.gcp.databricks.com", "*.azuredatabricks.net"];
const MOONSHOT: &[&str] = &["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"];
const COPILOT: &[&str] = &["api.githubcopilot.com", "*.githubcopilot.com"];
const ZEN: &[&str] = &["opencode.ai"];
const ROUTERS: &[&str] = &["openrouter.ai", "router.huggingface.co", "ai-gateway.vercel.sh"];
/// Hosts that run vLLM or SGLang, without stating which.
const OPEN_WEIGHT_HOSTS: &[&str] = &[
    "api.together.xyz",
    "api.together.ai",
    "integrate.api.nvidia.com",
    "api.sambanova.ai",
    "api.novita.ai",
    "api.deepinfra.com",
    "api.hyperbolic.xyz",
    "api.siliconflow.cn",
    "api.doubleword.ai",
    "api.venice.ai",
];

/// OpenAI's models before GPT-5, which accept fewer combinators at the root than later models do.
const BEFORE_GPT_5: &[&str] = &[
    "gpt-3",
    "gpt-4",
    "o1",
    "o3",
    "o4",
    "chatgpt-4",
    "codex-mini",
    "computer-use",
    "davinci",
    "babbage",
    "ft:gpt-3",
    "ft:gpt-4",
];
const GPT: &[&str] = &["gpt-", "ft:gpt-", "chatgpt", "codex"];
/// Models with the prefix of OpenAI's names that many hosts serve.
const GPT_OSS: &[&str] = &["gpt-oss"];
const CLAUDE: &[&str] = &["claude"];
/// Names of Claude models at Bedrock: with the vendor, and optionally with a region.
const BEDROCK_CLAUDE: &[&str] = &[
    "claude",
    "anthropic.claude",
    "us.anthropic.claude",
    "eu.anthropic.claude",
    "apac.anthropic.claude",
    "global.anthropic.claude",
];
const DATABRICKS_CLAUDE: &[&str] = &["databricks-claude", "claude"];
const GEMINI: &[&str] = &["gemini"];
/// Also the names for the regions whose inference profiles have separate names.
const NOVA: &[&str] =
    &["amazon.nova", "us.amazon.nova", "eu.amazon.nova", "apac.amazon.nova", "global.amazon.nova", "nova-"];
const GROK: &[&str] = &["grok"];
const KIMI: &[&str] = &["kimi", "moonshot"];
const DEEPSEEK: &[&str] = &["deepseek"];
const MISTRAL: &[&str] =
    &["mistral", "ministral", "magistral", "codestral", "devstral", "pixtral", "open-mistral", "open-mixtral"];
/// Models of other makers that a cloud offers. Any other name is the name of a deployment.
const GUESTS: &[&str] = &[
    "deepseek",
    "kimi",
    "moonshot",
    "qwen",
    "glm",
    "llama",
    "meta-llama",
    "gpt-oss",
    "phi-",
    "gemma",
    "minimax",
    "jamba",
    "nemotron",
    "command",
    "cohere",
];

const CHAT: &[Api] = &[Api::OpenaiChat];
const RESPONSES: &[Api] = &[Api::OpenaiResponses];
const INTERACTIONS: &[Api] = &[Api::GeminiInteractions];

const AT_OPENAI: &str = "api.openai.com is OpenAI's own API (platform.openai.com/docs)";
const AT_AZURE: &str = "Azure has OpenAI's API and its validator (learn.microsoft.com)";
const GUEST_AT_AZURE: &str =
    "Azure has models of other makers and hardly documents whose rules apply; the model decides";
const AT_COPILOT: &str =
    "Copilot answers with OpenAI's errors (copilot-cli#2223), and recorded requests were answered 200";
const AT_MOONSHOT: &str = "this is Moonshot's own API (platform.moonshot.ai)";
const OF_CLAUDE: &str = "Claude is Anthropic's, and this host is not known to have its own rules";
const OF_GPT: &str = "the model is OpenAI's, and this host is not known to have its own rules";

/// The first row that matches applies.
pub(super) const ROWS: &[Row] = &[
    // Hosts with their own API.
    at(OPENAI, "openai-chat", Grade::A, AT_OPENAI).apis(RESPONSES).models(BEFORE_GPT_5).strict("openai-strict"),
    at(OPENAI, "openai-responses", Grade::A, AT_OPENAI).apis(RESPONSES).strict("openai-strict"),
    at(OPENAI, "openai-chat", Grade::A, AT_OPENAI).strict("openai-strict"),
    at(AZURE, "anthropic", Grade::C, GUEST_AT_AZURE).models(CLAUDE).strict("anthropic-strict"),
    at(AZURE, "xai", Grade::C, GUEST_AT_AZURE).models(GROK).strict("xai"),
    at(AZURE, "mistral", Grade::C, GUEST_AT_AZURE).models(MISTRAL),
    at(AZURE, "portable", Grade::C, GUEST_AT_AZURE).models(GUESTS),
    at(AZURE, "openai-chat", Grade::A, AT_AZURE).apis(RESPONSES).models(BEFORE_GPT_5).strict("azure-strict"),
    at(AZURE, "openai-responses", Grade::A, AT_AZURE).apis(RESPONSES).strict("azure-strict"),
    at(AZURE, "openai-chat", Grade::A, AT_AZURE).strict("azure-strict"),
    at(&["api.anthropic.com"], "anthropic", Grade::A, "api.anthropic.com is Anthropic's own API (docs.claude.com)")
        .strict("anthropic-strict"),
    at(
        GOOGLE,
        "gemini-json-schema",
        Grade::A,
        "this is Google's own API (ai.google.dev), and `parametersJsonSchema` is used",
    )
    .apis(&[Api::GeminiJsonSchema]),
    at(GOOGLE, "gemini-interactions", Grade::A, "this is Google's own API (ai.google.dev), and it has Interactions")
        .apis(INTERACTIONS),
    at(GOOGLE, "gemini", Grade::A, "this is Google's own API (ai.google.dev); every version of it has `parameters`"),
    at(VERTEX, "anthropic", Grade::A, "Claude on Vertex accepts Anthropic's requests (docs.cloud.google.com)")
        .models(CLAUDE)
        .strict("anthropic-strict"),
    at(VERTEX, "portable", Grade::C, "Vertex has models of other makers and does not document whose rules apply")
        .models(GUESTS),
    at(VERTEX, "portable", Grade::C, "Vertex has Grok and does not document whether xAI's rules apply")
        .models(&["grok"]),
    at(VERTEX, "portable", Grade::C, "Vertex has Mistral's models and does not document whose rules apply")
        .models(MISTRAL),
    at(
        VERTEX,
        "vertex-json-schema",
        Grade::C,
        "both of Google's platforms have `parametersJsonSchema` (google-genai 3.4.0)",
    )
    .apis(&[Api::GeminiJsonSchema]),
    at(VERTEX, "gemini-interactions", Grade::C, "both of Google's platforms have Interactions (google-genai 3.6.1)")
        .apis(INTERACTIONS),
    at(VERTEX, "vertex", Grade::A, "this is Vertex AI, Google Cloud's own API (docs.cloud.google.com)"),
    at(BEDROCK, "bedrock-anthropic", Grade::A, "bedrock-runtime is Amazon Bedrock's API, and the model is Claude")
        .models(BEDROCK_CLAUDE)
        .strict("bedrock-strict"),
    at(BEDROCK, "bedrock", Grade::A, "bedrock-runtime is Amazon Bedrock's API (docs.aws.amazon.com)")
        .strict("bedrock-strict"),
    at(MOONSHOT, "moonshot", Grade::A, AT_MOONSHOT).strict("moonshot"),
    at(&["api.x.ai"], "xai", Grade::A, "api.x.ai is xAI's own API (docs.x.ai)").strict("xai"),
    at(&["api.deepseek.com"], "deepseek", Grade::A, "api.deepseek.com is DeepSeek's own API (api-docs.deepseek.com)")
        .strict("deepseek-strict")
        .strict_below("/beta"),
    at(
        &["api.mistral.ai", "codestral.mistral.ai"],
        "mistral",
        Grade::A,
        "this is Mistral's own API (docs.mistral.ai), which documents no rules for its strict mode",
    ),
    at(&["api.groq.com"], "groq", Grade::A, "api.groq.com is Groq's own API (console.groq.com/docs)")
        .strict("groq-strict"),
    at(&["api.cerebras.ai"], "cerebras", Grade::A, "api.cerebras.ai is Cerebras' own API (inference-docs.cerebras.ai)")
        .strict("cerebras-strict"),
    at(&["api.fireworks.ai"], "fireworks", Grade::A, "api.fireworks.ai is Fireworks' own API (docs.fireworks.ai)"),
    at(
        &["api.cohere.com", "api.cohere.ai"],
        "cohere",
        Grade::A,
        "this is Cohere's own API (docs.cohere.com); its `strict` is `strict_tools`, of the request",
    )
    .strict("cohere-strict"),
    at(
        &["api.minimax.io", "api.minimaxi.com"],
        "openai-chat",
        Grade::A,
        "MiniMax accepts OpenAI's schemas, and refuses a tool without `parameters` (qwen-code#11834)",
    ),
    at(
        &["api.z.ai", "open.bigmodel.cn"],
        "portable",
        Grade::C,
        "Z.ai refuses `properties: true` (SkyrimNet-GamePlugin#381), and its errors name no other rule",
    ),
    at(
        ALIBABA,
        "portable",
        Grade::C,
        "Alibaba accepts tools without `parameters` (qwen-code#11834), and documents no rules",
    ),
    at(
        &["ark.*.volces.com", "ark.*.bytepluses.com"],
        "portable",
        Grade::C,
        "Volcengine requires a `type` in every property (lobehub#7782), and documents no rules",
    ),
    at(
        &["chatgpt.com"],
        "openai-responses",
        Grade::B,
        "accounts of ChatGPT plans use OpenAI's Responses API there (pydantic-ai 2.68)",
    )
    .strict("openai-strict"),
    at(
        &["api.meta.ai"],
        "portable",
        Grade::C,
        "Meta's API refuses recursion and documents no other rules; `portable` is the nearest",
    ),
    at(
        DATABRICKS,
        "anthropic",
        Grade::B,
        "Databricks serves Claude, whose strict mode refuses larger grammars there (ellmer#1108)",
    )
    .models(DATABRICKS_CLAUDE),
    at(DATABRICKS, "portable", Grade::C, "Databricks serves models of several makers, and documents no rules"),
    at(MANTLE, "anthropic", Grade::A, "Amazon offers the Messages API for Claude there (docs.aws.amazon.com)")
        .models(BEDROCK_CLAUDE)
        .strict("anthropic-strict"),
    at(
        MANTLE,
        "portable",
        Grade::C,
        "Amazon serves models of several makers there and does not document whose rules apply",
    ),
    at(
        &["cloudcode-pa.googleapis.com"],
        "gemini",
        Grade::C,
        "Gemini Code Assist accepts Gemini's requests, and documents no rules",
    ),
    at(
        &["api.perplexity.ai"],
        "portable",
        Grade::C,
        "Perplexity accepts tools with its newer models, and documents no rules",
    ),
    at(&["ollama.com"], "ollama", Grade::C, "Ollama's cloud has Ollama's API; its backend is not documented"),
    at(COPILOT, "portable", Grade::B, "Copilot does not document who serves Claude, or whose rules apply")
        .models(CLAUDE),
    at(COPILOT, "gemini", Grade::B, "Copilot's Gemini refuses lists of types (copilot-cli#4623)").models(GEMINI),
    at(COPILOT, "portable", Grade::C, "Copilot has models of other makers and does not document whose rules apply")
        .models(GUESTS),
    at(COPILOT, "openai-chat", Grade::B, AT_COPILOT).models(BEFORE_GPT_5).strict("openai-strict"),
    at(COPILOT, "openai-chat", Grade::B, AT_COPILOT).models(GPT).strict("openai-strict"),
    at(
        COPILOT,
        "portable",
        Grade::C,
        "Copilot has models of several makers, and the model does not show whose rules apply",
    ),
    at(
        ZEN,
        "portable",
        Grade::B,
        "OpenCode Zen requires of Muse Spark the meta-schema, ten levels and no recursion (houseCARL#730); `portable` \
            is the nearest",
    )
    .models(&["muse-spark"]),
    at(OPEN_WEIGHT_HOSTS, "portable", Grade::C, "this provider runs vLLM or SGLang and does not document which"),
    // Protocols that only one kind of server supports.
    Row::new(Scope::Anywhere, "llama-cpp", Grade::A, "this API name means llama.cpp's server, and what is built on it")
        .apis(&[Api::LlamaCpp]),
    Row::new(
        Scope::Anywhere,
        "bedrock-anthropic",
        Grade::A,
        "only Amazon Bedrock has Converse, and the model is Claude",
    )
    .apis(&[Api::Bedrock])
    .models(BEDROCK_CLAUDE)
    .strict("bedrock-strict"),
    Row::new(Scope::Anywhere, "bedrock", Grade::A, "only Amazon Bedrock has Converse (docs.aws.amazon.com)")
        .apis(&[Api::Bedrock])
        .strict("bedrock-strict"),
    anywhere("gemini-json-schema", "the protocol is Gemini's, with schemas in `parametersJsonSchema`")
        .apis(&[Api::GeminiJsonSchema]),
    anywhere("gemini-interactions", "the protocol is Gemini's Interactions").apis(INTERACTIONS),
    anywhere("gemini", "the protocol is Gemini's, with schemas in `parameters`").apis(&[Api::Gemini]),
    // Default ports of servers. They precede models, because users name the models of their own servers freely.
    Row::new(Scope::Port(11434), "ollama", Grade::A, "Ollama listens on port 11434 (docs.ollama.com)"),
    Row::new(Scope::PrivatePorts(&[8000]), "vllm", Grade::C, "vLLM listens on port 8000 by default (docs.vllm.ai)"),
    Row::new(
        Scope::PrivatePorts(&[30000]),
        "sglang",
        Grade::C,
        "SGLang listens on port 30000 by default (docs.sglang.ai)",
    ),
    Row::new(
        Scope::PrivatePorts(&[8080]),
        "llama-cpp",
        Grade::C,
        "llama.cpp's server listens on port 8080 by default (its README)",
    ),
    Row::new(
        Scope::PrivatePorts(&[1234]),
        "llama-cpp",
        Grade::C,
        "LM Studio, which runs llama.cpp, listens on port 1234 by default (lmstudio.ai/docs)",
    ),
    // Behind a router or at an unknown host, the model is the best evidence if hardly any host except the maker's host
    // serves the model.
    anywhere("portable", "gpt-oss has open weights: many hosts serve it, each with its own rules").models(GPT_OSS),
    anywhere("anthropic", OF_CLAUDE).models(CLAUDE).strict("anthropic-strict"),
    anywhere("gemini", "Gemini is Google's, and this host is not known to have its own rules").models(GEMINI),
    anywhere("xai", "Grok is xAI's, and this host is not known to have its own rules").models(GROK).strict("xai"),
    anywhere("mistral", "the model is Mistral's, and this host is not known to have its own rules").models(MISTRAL),
    anywhere("bedrock", "Nova is Amazon's, and Bedrock serves it").models(NOVA),
    anywhere("openai-chat", OF_GPT).models(BEFORE_GPT_5).strict("openai-strict"),
    anywhere("openai-responses", OF_GPT).apis(RESPONSES).models(GPT).strict("openai-strict"),
    anywhere("openai-chat", OF_GPT).models(GPT).strict("openai-strict"),
    // Many hosts serve these models, so only the host is evidence. Without a host, the vendor's API is assumed.
    without_host("moonshot", "Kimi is Moonshot's, and no host is given; many hosts serve it")
        .models(KIMI)
        .strict("moonshot"),
    without_host("deepseek", "many hosts serve DeepSeek's models, and no host is given")
        .models(DEEPSEEK)
        .strict("deepseek-strict"),
    // For a router with any other model: the dialect that most APIs behind it accept.
    at(
        ROUTERS,
        "portable",
        Grade::C,
        "this is a router: it does not reveal who serves the model, or whose rules apply",
    ),
    at(
        ZEN,
        "portable",
        Grade::B,
        "OpenCode Zen has models of several makers, and answers as their servers do (houseCARL#730)",
    ),
    // Only the protocol is known.
    without_host("openai-responses", "only the protocol is known, which is OpenAI's")
        .apis(RESPONSES)
        .strict("openai-strict"),
    without_host("openai-chat", "only the protocol is known, which is OpenAI's").apis(CHAT).strict("openai-strict"),
    without_host("anthropic", "only the protocol is known, which is Anthropic's")
        .apis(&[Api::Anthropic])
        .strict("anthropic-strict"),
];

pub(super) struct Retired {
    pub(super) host: &'static str,
    pub(super) what_to_do: &'static str,
}

pub(super) const RETIRED: &[Retired] = &[
    Retired {
        host: "models.github.ai",
        what_to_do: "which GitHub retired on 2026-07-30 (docs.github.com); send to the model's own API, or to \
                     Azure AI Foundry (`*.services.ai.azure.com`), and name that host",
    },
    Retired {
        host: "models.inference.ai.azure.com",
        what_to_do:
            "which GitHub and Azure retired on 2026-07-30 (docs.github.com); send to the model's own API, or to \
                     Azure AI Foundry (`*.services.ai.azure.com`), and name that host",
    },
];
