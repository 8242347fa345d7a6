//! Agents for `toolwire run`, the settings of each agent, and the APIs that support its protocol.

use toolwire::{options::Api, reports::Grade};

/// A client, and the variables, options and arguments that contain its URL, key and model. Placeholders in these texts:
/// - `{url}`: the base URL
/// - `{key}`: the name of the variable with the key
/// - `{secret}`: a key that is sent as bearer token
/// - `{api-key}`: a key that is sent in `x-api-key`
/// - `{model}`: the model
/// - `{token}`: the name of the variable with the relay's token
/// - `{token-value}`: the relay's token
///
/// A text, or a fragment between `[[` and `]]`, is omitted if the value of one of its placeholders is unknown.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) api: Api,
    /// API for which the client has a key itself.
    pub(crate) own: Option<&'static str>,
    /// API whose models the client asks for by default.
    pub(crate) home: Option<&'static str>,
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Additional variables for any API other than `own`.
    pub(crate) foreign: &'static [(&'static str, &'static str)],
    /// Variables that contain lines. The lines of the user are kept, unless the variable is in `removed`.
    pub(crate) extended: &'static [&'static str],
    /// Variables that are set unless the user has set them.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
    /// Variables that are removed for any API other than `own`, because their values are meant for another API.
    pub(crate) removed: &'static [&'static str],
    /// Variables that are removed, because they make the client ignore the base URL.
    pub(crate) bypasses: &'static [&'static str],
    /// Option of the client for settings as JSON. Its `env` contains the variables without secrets, because the `env`
    /// of the user's settings would override variables.
    pub(crate) settings: Option<&'static str>,
    /// Arguments before the user's arguments.
    pub(crate) arguments: &'static [&'static str],
    /// Source of these facts. They were checked on `as_of`. `confidence` is `A` for the client's documentation or code.
    pub(crate) source: &'static str,
    pub(crate) as_of: &'static str,
    pub(crate) confidence: Grade,
}

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        program: "claude",
        api: Api::Anthropic,
        own: Some("anthropic"),
        home: Some("anthropic"),
        variables: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_AUTH_TOKEN", "{secret}"),
            ("ANTHROPIC_API_KEY", "{api-key}"),
            ("ANTHROPIC_CUSTOM_HEADERS", "X-Toolwire-Token: {token-value}"),
            ("ANTHROPIC_MODEL", "{model}"),
        ],
        foreign: &[
            ("ANTHROPIC_DEFAULT_OPUS_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_FABLE_MODEL", "{model}"),
            ("CLAUDE_CODE_SUBAGENT_MODEL", "{model}"),
        ],
        extended: &["ANTHROPIC_CUSTOM_HEADERS"],
        // The relay answers the searches for deferred tools.
        defaults: &[("ENABLE_TOOL_SEARCH", "true")],
        removed: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_CUSTOM_HEADERS",
            "ANTHROPIC_SMALL_FAST_MODEL",
        ],
        bypasses: &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
        settings: Some("--settings"),
        arguments: &[],
        source: "code.claude.com/docs/en/env-vars, /settings and /model-config",
        as_of: "2026-11-29",
        confidence: Grade::A,
    },
    Client {
        name: "codex",
        program: "codex",
        api: Api::OpenaiResponses,
        own: None,
        home: Some("openai-responses"),
        variables: &[],
        foreign: &[],
        extended: &[],
        defaults: &[],
        removed: &[],
        bypasses: &[],
        settings: None,
        arguments: &[
            "-c",
            "model_provider=\"toolwire\"",
            "-c",
            "model_providers.toolwire.name=\"toolwire\"",
            "-c",
            "model_providers.toolwire.base_url=\"{url}\"",
            "-c",
            "model_providers.toolwire.wire_api=\"responses\"",
            "-c",
            "model_providers.toolwire.env_key=\"{key}\"",
            "-c",
            "model_providers.toolwire.env_http_headers={\"X-Toolwire-Token\"=\"{token}\"}",
            "-c",
            "model=\"{model}\"",
        ],
        source: "github.com/openai/codex, docs/config.md",
        as_of: "2026-11-29",
        confidence: Grade::A,
    },
    Client {
        name: "opencode",
        program: "opencode",
        // The package of the provider below.
        api: Api::OpenaiChat,
        own: None,
        home: None,
        variables: &[(
            "OPENCODE_CONFIG_CONTENT",
            concat!(
                r#"{"provider":{"toolwire":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{url}","#,
                r#""apiKey":"{env:{key}}"[[,"headers":{"X-Toolwire-Token":"{env:{token}}"}]]},"#,
                r#""models":{"{model}":{}}}},"model":"toolwire/{model}"}"#
            ),
        )],
        foreign: &[],
        extended: &[],
        defaults: &[],
        removed: &[],
        bypasses: &[],
        settings: None,
        arguments: &[],
        source: "opencode.ai/v1/docs/config",
        as_of: "2026-11-29",
        confidence: Grade::A,
    },
];

/// A protocol that an API supports in addition to its own protocol.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
pub(crate) struct Protocol {
    pub(crate) dialect: &'static str,
    pub(crate) api: Api,
    /// `None` for the base URL of Chat Completions.
    pub(crate) base: Option<&'static str>,
    pub(crate) source: &'static str,
    pub(crate) as_of: &'static str,
    pub(crate) confidence: Grade,
}

const OF_OPENAI: Protocol = Protocol {
    dialect: "openai-responses",
    api: Api::OpenaiResponses,
    base: None,
    source: "platform.openai.com/docs/api-reference/responses",
    as_of: "2026-11-27",
    confidence: Grade::A,
};
pub(crate) const PROTOCOLS: &[Protocol] = &[
    OF_OPENAI,
    Protocol {
        dialect: "groq",
        source: "docs/dialects/groq.md",
        as_of: "2026-11-26",
        confidence: Grade::B,
        ..OF_OPENAI
    },
    Protocol {
        dialect: "deepseek",
        source: "api-docs.deepseek.com/guides/responses_api",
        as_of: "2026-11-27",
        confidence: Grade::A,
        ..OF_OPENAI
    },
    Protocol {
        dialect: "moonshot",
        source: "github.com/Wei-Shaw/sub2api/pull/6463",
        as_of: "2026-11-27",
        confidence: Grade::B,
        ..OF_OPENAI
    },
    Protocol {
        dialect: "vllm",
        source: "github.com/vllm-project/vllm/issues/49493",
        as_of: "2026-07-22",
        confidence: Grade::B,
        ..OF_OPENAI
    },
    Protocol {
        dialect: "llama-cpp",
        source: "github.com/ggml-org/llama.cpp/issues/20156",
        as_of: "2026-08-18",
        confidence: Grade::B,
        ..OF_OPENAI
    },
    Protocol {
        dialect: "ollama",
        api: Api::Anthropic,
        base: Some("http://localhost:11434"),
        source: "docs.ollama.com/api/anthropic-compatibility",
        as_of: "2026-11-29",
        ..OF_OPENAI
    },
];

/// Names that users may write in place of an API's dialect.
pub(crate) const ALIASES: &[(&str, &str)] = &[("kimi", "moonshot"), ("openai", "openai-responses")];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn page_lists_every_fact() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/relay.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for Client { program, variables, foreign, defaults, removed, bypasses, source, as_of, confidence, .. } in
            CLIENTS
        {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{program}` |"))).unwrap_or_default();
            assert!(row.ends_with(&format!("| {source} ({as_of}, {confidence}) |")), "docs/relay.md: {program}");
            let set = variables.iter().chain(*foreign).chain(*defaults).map(|(name, _)| name);
            for name in set.chain(*removed).chain(*bypasses) {
                assert!(row.contains(&format!("`{name}")), "docs/relay.md: {program}: {name}");
            }
        }
        for Protocol { dialect, api, source, as_of, confidence, .. } in PROTOCOLS {
            let protocol = if *api == Api::Anthropic { "Anthropic Messages" } else { "OpenAI Responses" };
            let row = format!("| `{dialect}` | {protocol} | {source} ({as_of}, {confidence}) |\n");
            assert!(page.contains(&row), "docs/relay.md: expected the row {row}");
        }
    }
}
