//! Known clients: dialects for what they and their APIs refuse, and their maximum numbers of tools. Also the paths of
//! the files that list the MCP servers of a client.

use toolwire::{Dialect, DialectId};

/// The dialect for an unknown API.
pub(crate) const PORTABLE: DialectId = Dialect::PORTABLE;

pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// Dialect that describes what the client itself refuses, if any.
    pub(crate) dialect: Option<DialectId>,
    /// Dialect of the API to which the client sends tools, if that API is always the same.
    pub(crate) api: Option<DialectId>,
    /// Maximum number of tools that the client, or its model's API, accepts.
    pub(crate) max_tools: Option<usize>,
    /// Source of these facts, with the day on which it was read.
    pub(crate) source: &'static str,
}

/// In alphabetical order.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        dialect: Some(Dialect::CLAUDE_CODE),
        api: Some(Dialect::ANTHROPIC),
        max_tools: None,
        source: "docs/dialects/claude-code.md; it defers tools itself",
    },
    Client {
        name: "claude-desktop",
        dialect: Some(Dialect::CLAUDE_DESKTOP),
        api: Some(Dialect::ANTHROPIC),
        max_tools: None,
        source: "docs/dialects/claude-desktop.md",
    },
    Client {
        name: "codex",
        dialect: None,
        api: Some(Dialect::OPENAI_RESPONSES),
        max_tools: None,
        source: "docs/dialects/codex.md: it converts schemas itself; for other backends, name the dialect",
    },
    Client {
        name: "cowork",
        dialect: Some(Dialect::COWORK),
        api: Some(Dialect::ANTHROPIC),
        max_tools: None,
        source: "docs/dialects/cowork.md",
    },
    Client {
        name: "cursor",
        dialect: Some(Dialect::CURSOR),
        api: None,
        max_tools: Some(40),
        source:
            "docs/dialects/cursor.md; mcptrove.com/blog/cursor-tool-limit-math (2026-06-17): past some 40 tools; not \
                 verified",
    },
    Client {
        name: "typescript-sdk",
        dialect: Some(Dialect::MCP_TYPESCRIPT),
        api: None,
        max_tools: None,
        source: "docs/dialects/mcp-typescript.md: any client built on the TypeScript SDK",
    },
    Client {
        name: "vscode",
        dialect: Some(Dialect::VSCODE),
        api: None,
        max_tools: Some(128),
        source: "docs/dialects/vscode.md; its tool picker takes 128",
    },
    Client {
        name: "windsurf",
        dialect: None,
        api: None,
        max_tools: Some(100),
        source: "desplega.ai/blog/deep-dive-windsurf-mcp-workflows (2026-06-16): 100 tools at any given time, by its \
                 documentation",
    },
];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|client| client.name)
}

pub(crate) fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.name == name)
}

pub(crate) struct ClientFile {
    pub(crate) client: &'static str,
    /// Candidate paths, each starting with an environment variable. The first that exists is used.
    pub(crate) paths: &'static [&'static str],
    /// Keys of the members that contain the servers, from the outermost one.
    pub(crate) path_of_servers: &'static [&'static str],
    #[cfg_attr(not(test), allow(dead_code, reason = "a test compares it with the page, which shows it"))]
    pub(crate) source: &'static str,
}

pub(crate) const PATH_VARIABLES: [&str; 4] = ["HOME", "USERPROFILE", "APPDATA", "CODEX_HOME"];
const MCP_SERVERS: &[&str] = &["mcpServers"];

/// `client` is the client's name in `--client`.
pub(crate) const CLIENT_FILES: &[ClientFile] = &[
    ClientFile {
        client: "claude-code",
        paths: &["HOME/.claude.json", "USERPROFILE/.claude.json"],
        path_of_servers: MCP_SERVERS,
        source: "Claude Code 2.1.197 writes it; it contains the user's `mcpServers`",
    },
    ClientFile {
        client: "claude-desktop",
        paths: &[
            "HOME/Library/Application Support/Claude/claude_desktop_config.json",
            "APPDATA/Claude/claude_desktop_config.json",
            "HOME/.config/Claude/claude_desktop_config.json",
        ],
        path_of_servers: MCP_SERVERS,
        source: "bitflight-devops/mcp-json-yaml-toml, docs/clients.md (read 2026-11-27)",
    },
    ClientFile {
        client: "codex",
        paths: &["CODEX_HOME/config.toml", "HOME/.codex/config.toml", "USERPROFILE/.codex/config.toml"],
        path_of_servers: &["mcp_servers"],
        source: "Codex 0.171 reads it (tests/clients)",
    },
    ClientFile {
        client: "cursor",
        paths: &["HOME/.cursor/mcp.json", "USERPROFILE/.cursor/mcp.json"],
        path_of_servers: MCP_SERVERS,
        source: "PV-Bhat/vibe-check-mcp-server, docs/clients.md (read 2026-11-27)",
    },
    ClientFile {
        client: "vscode",
        paths: &[
            "HOME/Library/Application Support/Code/User/mcp.json",
            "APPDATA/Code/User/mcp.json",
            "HOME/.config/Code/User/mcp.json",
        ],
        path_of_servers: &["servers"],
        source: "docker/docs, commit 3712a39: `mcp.json` of the user; its folder is not verified",
    },
    ClientFile {
        client: "windsurf",
        paths: &[
            "HOME/.codeium/windsurf/mcp_config.json",
            "HOME/.codeium/mcp_config.json",
            "USERPROFILE/.codeium/windsurf/mcp_config.json",
        ],
        path_of_servers: MCP_SERVERS,
        source: "PV-Bhat/vibe-check-mcp-server, docs/clients.md (read 2026-11-27)",
    },
];

pub(crate) fn names_with_files() -> Vec<&'static str> {
    CLIENT_FILES.iter().map(|file| file.client).collect()
}

pub(crate) fn file_of(client: &str) -> Option<&'static ClientFile> {
    CLIENT_FILES.iter().find(|file| file.client == client)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::{CLIENTS, PORTABLE, *};
    use toolwire::{dialects, internal};

    #[test]
    fn page_lists_every_client() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for client in CLIENTS {
            let code = |name: &str| format!("`{name}`");
            let api = client.api.unwrap_or(PORTABLE);
            let dialect = dialects().iter().find(|dialect| dialect.id() == api).expect("a dialect");
            let max_tools = client.max_tools.into_iter().chain(internal::max_tools(dialect)).min();
            let row = format!(
                "| {} | {} | {} | {} | {} |\n",
                code(client.name),
                client.dialect.map_or_else(|| "none".into(), |dialect| code(dialect.as_str())),
                code(api.as_str()),
                max_tools.map_or_else(|| "any".into(), |most| most.to_string()),
                client.source
            );
            assert!(page.contains(&row), "docs/proxy.md: expected the row {row}");
        }
    }

    #[test]
    fn page_lists_every_client_file() -> Result<(), std::io::Error> {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md"))?;
        for ClientFile { client, paths, source, .. } in CLIENT_FILES {
            assert!(super::find(client).is_some(), "{client} is not a value of `--client`");
            let first = paths.iter().find_map(|path| path.strip_prefix("HOME/")).unwrap_or_default();
            let row = format!("| `{client}` | `~/{first}` | {source} |");
            assert!(page.contains(&row), "docs/proxy.md: expected the row {row}");
        }
        Ok(())
    }
}
