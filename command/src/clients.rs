//! Known clients: what they and their APIs refuse, each as a dialect, and their maximum number of tools.

/// The dialect for an unknown API.
pub(crate) const PORTABLE: &str = "portable";

/// Facts about a client.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// Dialect that describes what the client itself refuses, if any.
    pub(crate) dialect: Option<&'static str>,
    /// Dialect of the API to which the client sends tools, if that API is always the same.
    pub(crate) api: Option<&'static str>,
    /// Maximum number of tools that the client, or its model's API, accepts.
    pub(crate) most: Option<usize>,
    /// Source of these facts, with the day on which it was read.
    pub(crate) source: &'static str,
}

/// The clients, in alphabetical order.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        dialect: Some("claude-desktop"),
        api: Some("anthropic"),
        most: None,
        source: "docs/dialects/claude-desktop.md; it defers tools itself",
    },
    Client {
        name: "claude-desktop",
        dialect: Some("claude-desktop"),
        api: Some("anthropic"),
        most: None,
        source: "docs/dialects/claude-desktop.md",
    },
    Client {
        name: "codex",
        dialect: None,
        api: Some("openai-responses"),
        most: None,
        source: "docs/dialects/codex.md: it converts schemas itself; in front of other backends, name the dialect",
    },
    Client {
        name: "cursor",
        dialect: Some("mcp-typescript"),
        api: None,
        most: Some(40),
        source: "mcptrove.com/blog/cursor-tool-limit-math (2026-06-17): past some 40 tools; not verified",
    },
    Client {
        name: "typescript-sdk",
        dialect: Some("mcp-typescript"),
        api: None,
        most: None,
        source: "docs/dialects/mcp-typescript.md: any client on the TypeScript SDK",
    },
    Client {
        name: "vscode",
        dialect: Some("vscode"),
        api: None,
        most: Some(128),
        source: "docs/dialects/vscode.md; its tool picker takes 128",
    },
    Client {
        name: "windsurf",
        dialect: None,
        api: None,
        most: Some(100),
        source: "desplega.ai/blog/deep-dive-windsurf-mcp-workflows (2026-06-16): 100 tools at any given time, by its \
                 documentation",
    },
];

/// Returns the names of all clients.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name)
}

/// Finds a client by its name.
pub(crate) fn named(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use toolwire::{dialects, internal};

    use super::{CLIENTS, PORTABLE};

    #[test]
    fn page_lists_every_client() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for client in CLIENTS {
            let code = |name: &str| format!("`{name}`");
            let api = client.api.unwrap_or(PORTABLE);
            let dialect = dialects().iter().find(|dialect| dialect.name == api).expect("a dialect");
            let most = client.most.into_iter().chain(internal::max_tools(dialect)).min();
            let row = format!(
                "| {} | {} | {} | {} | {} |\n",
                code(client.name),
                client.dialect.map_or_else(|| "none".into(), code),
                code(api),
                most.map_or_else(|| "any".into(), |most| most.to_string()),
                client.source
            );
            assert!(page.contains(&row), "docs/proxy.md: expected the row {row}");
        }
    }
}
