//! Paths of the files in which clients store the configuration of their MCP servers.

/// File of a client.
pub(crate) struct ClientFile {
    pub(crate) client: &'static str,
    /// Candidate paths, each starting with an environment variable. The first that exists is used.
    pub(crate) paths: &'static [&'static str],
    /// Keys of the members that lead to the servers.
    pub(crate) list: &'static [&'static str],
    /// URL of the documentation.
    pub(crate) source: &'static str,
}

/// Environment variables at the beginning of paths.
pub(crate) const VARIABLES: [&str; 4] = ["HOME", "USERPROFILE", "APPDATA", "CODEX_HOME"];
const MCP_SERVERS: &[&str] = &["mcpServers"];

/// The files, each with the name of its client in `--client`.
pub(crate) const CLIENT_FILES: &[ClientFile] = &[
    ClientFile {
        client: "claude-code",
        paths: &["HOME/.claude.json", "USERPROFILE/.claude.json"],
        list: MCP_SERVERS,
        source: "Claude Code 2.1.197 writes it; it contains the user's `mcpServers`",
    },
    ClientFile {
        client: "claude-desktop",
        paths: &[
            "HOME/Library/Application Support/Claude/claude_desktop_config.json",
            "APPDATA/Claude/claude_desktop_config.json",
            "HOME/.config/Claude/claude_desktop_config.json",
        ],
        list: MCP_SERVERS,
        source: "bitflight-devops/mcp-json-yaml-toml, docs/clients.md (read 2026-11-27)",
    },
    ClientFile {
        client: "codex",
        paths: &["CODEX_HOME/config.toml", "HOME/.codex/config.toml", "USERPROFILE/.codex/config.toml"],
        list: &["mcp_servers"],
        source: "Codex 0.171 reads it (tests/clients)",
    },
    ClientFile {
        client: "cursor",
        paths: &["HOME/.cursor/mcp.json", "USERPROFILE/.cursor/mcp.json"],
        list: MCP_SERVERS,
        source: "PV-Bhat/vibe-check-mcp-server, docs/clients.md (read 2026-11-27)",
    },
    ClientFile {
        client: "vscode",
        paths: &[
            "HOME/Library/Application Support/Code/User/mcp.json",
            "APPDATA/Code/User/mcp.json",
            "HOME/.config/Code/User/mcp.json",
        ],
        list: &["servers"],
        source: "docker/docs, commit 3712a39: `mcp.json` of the user; its folder is not verified",
    },
    ClientFile {
        client: "windsurf",
        paths: &[
            "HOME/.codeium/windsurf/mcp_config.json",
            "HOME/.codeium/mcp_config.json",
            "USERPROFILE/.codeium/windsurf/mcp_config.json",
        ],
        list: MCP_SERVERS,
        source: "PV-Bhat/vibe-check-mcp-server, docs/clients.md (read 2026-11-27)",
    },
];

/// Returns the clients whose files are known.
pub(crate) fn names() -> Vec<&'static str> {
    CLIENT_FILES.iter().map(|place| place.client).collect()
}

/// Returns the file of a client.
pub(crate) fn of(client: &str) -> Option<&'static ClientFile> {
    CLIENT_FILES.iter().find(|place| place.client == client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_lists_every_client_file() -> Result<(), std::io::Error> {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md"))?;
        for ClientFile { client, paths, source, .. } in CLIENT_FILES {
            assert!(crate::clients::named(client).is_some(), "{client} is not a value of `--client`");
            let first = paths.iter().find_map(|path| path.strip_prefix("HOME/")).unwrap_or_default();
            let row = format!("| `{client}` | `~/{first}` | {source} |");
            assert!(page.contains(&row), "docs/proxy.md: expected the row {row}");
        }
        Ok(())
    }
}
