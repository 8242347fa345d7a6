//! Options for the source of the input: files, standard input, MCP servers.

use clap::{ArgGroup, Args};

/// Maximum delay of a timer in Node, in seconds; a longer one would fire immediately.
pub(super) const MAX_SECONDS: i64 = 2_147_483;

/// One input.
#[derive(Args, Clone, Debug)]
pub(crate) struct Source {
    /// JSON or JSON Lines file; `-` or no file: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url", "servers"])]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// MCP servers whose tools are the input.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("named").multiple(true)))]
pub(crate) struct Connection {
    /// An `mcp.json` with the MCP servers to use; no other file is searched for servers
    #[arg(long, value_name = "FILE", group = "named", conflicts_with_all = ["server", "url"])]
    pub(crate) servers: Option<String>,
    /// Only this server of `--servers` (repeatable)
    #[arg(long = "server", value_name = "NAME", id = "only", requires = "named")]
    pub(crate) only: Vec<String>,
    /// URL of an MCP server (streamable HTTP or SSE)
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    pub(crate) url: Option<String>,
    /// Header for the server at `--url`, as `Name: value` (repeatable)
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Maximum time for a server to start, and for each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MAX_SECONDS))]
    pub(crate) timeout: u32,
    /// Environment variable to pass to the server after `--`, or to substitute for `${NAME}` in the file of `--servers`
    /// (repeatable)
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Vec<String>,
    /// Command that starts an MCP server (after `--`)
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}
