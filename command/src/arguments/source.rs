//! Options for the source of the input: files, standard input, MCP servers.

use clap::{ArgGroup, Args};

/// Maximum delay of a timer in Node, in seconds; a longer one would end at once.
pub(super) const LONGEST: i64 = 2_147_483;

/// One input.
#[derive(Args, Clone, Debug)]
pub(crate) struct Source {
    /// JSON or JSON Lines; `-` or none: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url", "servers"])]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// MCP servers whose tools are the input.
#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("named").multiple(true)))]
pub(crate) struct Connection {
    /// The `mcp.json` whose servers are asked; no other file is read for servers
    #[arg(long, value_name = "FILE", group = "named", conflicts_with_all = ["server", "url"])]
    pub(crate) servers: Option<String>,
    /// Only this server of the file that `--servers` names (repeatable)
    #[arg(long = "server", value_name = "NAME", id = "only", requires = "named")]
    pub(crate) only: Vec<String>,
    /// The address of an MCP server (streamable HTTP, or SSE)
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    pub(crate) url: Option<String>,
    /// A header for that server, as `Name: value` (repeatable)
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// How long a server may take to start, and for each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=LONGEST))]
    pub(crate) timeout: u32,
    /// A variable of the environment that the server after `--` gets, or that `${NAME}` in the file of `--servers` may
    /// use (repeatable)
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Vec<String>,
    /// An MCP server to start (after `--`)
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}
