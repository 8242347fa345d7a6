//! Agents that `toolwire run` starts, what each of them reads, and the APIs that have their protocols.

use toolwire::options::Api;

/// A client, and what it reads the address, the key and the model from. In texts, `{url}` means the base URL, `{key}`
/// for the name of the variable with the key, `{secret}` for the key, and `{model}` for the model. A text with a part
/// that is not known is left out.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    /// Protocol that the client speaks.
    pub(crate) api: Api,
    /// API whose key the client has itself.
    pub(crate) own: Option<&'static str>,
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Variables that are set unless the user has set them.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
    /// Variables that are removed, because they contain the key of another API.
    pub(crate) removed: &'static [&'static str],
    /// Arguments before those of the user.
    pub(crate) arguments: &'static [&'static str],
    /// Source of these facts. They were checked on `as_of`. `confidence` is `A` for the client's documentation or code.
    pub(crate) source: &'static str,
    pub(crate) as_of: &'static str,
    pub(crate) confidence: char,
}

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        program: "claude",
        api: Api::Anthropic,
        own: Some("anthropic"),
        variables: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_AUTH_TOKEN", "{secret}"),
            ("ANTHROPIC_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_OPUS_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "{model}"),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "{model}"),
        ],
        // The relay answers the searches for deferred tools.
        defaults: &[("ENABLE_TOOL_SEARCH", "true")],
        removed: &["ANTHROPIC_API_KEY"],
        arguments: &[],
        source: "code.claude.com/docs/en/env-vars",
        as_of: "2026-11-29",
        confidence: 'A',
    },
    Client {
        name: "codex",
        program: "codex",
        api: Api::OpenaiResponses,
        own: None,
        variables: &[],
        defaults: &[],
        removed: &[],
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
            "model=\"{model}\"",
        ],
        source: "github.com/openai/codex, docs/config.md",
        as_of: "2026-11-29",
        confidence: 'A',
    },
    Client {
        name: "opencode",
        program: "opencode",
        // The package of the provider below.
        api: Api::OpenaiChat,
        own: None,
        variables: &[(
            "OPENCODE_CONFIG_CONTENT",
            concat!(
                r#"{"provider":{"toolwire":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{url}","#,
                r#""apiKey":"{env:{key}}"},"models":{"{model}":{}}}},"model":"toolwire/{model}"}"#
            ),
        )],
        defaults: &[],
        removed: &[],
        arguments: &[],
        source: "opencode.ai/docs/config",
        as_of: "2026-11-29",
        confidence: 'A',
    },
];

/// Dialects whose API has the Responses protocol at the base URL of Chat Completions.
#[allow(dead_code, reason = "the page contains the sources, which a test compares")]
pub(crate) struct Responses {
    pub(crate) dialect: &'static str,
    pub(crate) source: &'static str,
    pub(crate) as_of: &'static str,
    pub(crate) confidence: char,
}

pub(crate) const RESPONSES: &[Responses] = &[
    Responses {
        dialect: "openai-responses",
        source: "platform.openai.com/docs/api-reference/responses",
        as_of: "2026-11-27",
        confidence: 'A',
    },
    Responses { dialect: "groq", source: "docs/dialects/groq.md", as_of: "2026-11-26", confidence: 'B' },
    Responses {
        dialect: "deepseek",
        source: "api-docs.deepseek.com/guides/responses_api",
        as_of: "2026-11-27",
        confidence: 'A',
    },
    Responses {
        dialect: "moonshot",
        source: "github.com/Wei-Shaw/sub2api/pull/6463",
        as_of: "2026-11-27",
        confidence: 'B',
    },
    Responses {
        dialect: "vllm",
        source: "github.com/vllm-project/vllm/issues/49493",
        as_of: "2026-07-22",
        confidence: 'A',
    },
    Responses {
        dialect: "llama-cpp",
        source: "github.com/ggml-org/llama.cpp/issues/20156",
        as_of: "2026-08-18",
        confidence: 'A',
    },
];

/// Names by which users know an API, in place of its dialect.
pub(crate) const ALIASES: &[(&str, &str)] = &[("kimi", "moonshot"), ("openai", "openai-responses")];

/// Returns the names of the clients.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn page_lists_every_fact() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/run.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for Client { program, variables, defaults, removed, source, as_of, confidence, .. } in CLIENTS {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{program}` |"))).unwrap_or_default();
            assert!(row.ends_with(&format!("| {source} ({as_of}, {confidence}) |")), "docs/run.md: {program}");
            for name in variables.iter().chain(*defaults).map(|(name, _)| name).chain(*removed) {
                assert!(row.contains(&format!("`{name}")), "docs/run.md: {program}: {name}");
            }
        }
        for Responses { dialect, source, as_of, confidence } in RESPONSES {
            let row = format!("| `{dialect}` | {source} ({as_of}, {confidence}) |\n");
            assert!(page.contains(&row), "docs/run.md: expected the row {row}");
        }
    }
}
