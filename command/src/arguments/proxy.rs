//! The options of `toolwire proxy`.

use clap::{builder::PossibleValuesParser, Args};
use toolwire::DialectId;

use super::{dialect_ids, Connection, REPAIRS};
use crate::clients;

pub(super) const EXAMPLES: &str = "\
The client starts the proxy instead of its server. The proxy rewrites tools for the dialect, and restores calls to
the arguments that the server expects. It repairs arguments that violate the original schema, or returns an error
that explains the violation to the model. Everything else passes unchanged. The resource `toolwire://report` lists
the changes.

Examples:
  toolwire proxy -- npx -y some-mcp-server
  toolwire proxy --client claude-desktop -- uvx some-mcp-server
  toolwire proxy --dialect moonshot --defer 40 --servers mcp.json
  toolwire proxy --listen 127.0.0.1:8000 -- npx -y some-mcp-server
  toolwire proxy --install cursor --server github

Exit codes: 0 the client closed the connection; 2 wrong usage, or a server that cannot be started.";

#[derive(Args, Debug)]
pub(crate) struct ProxyArguments {
    /// Dialect of the API to which the client sends the tools (default: that of `--client`, or `portable`)
    #[arg(short, long, value_name = "DIALECT", value_parser = dialect_ids(), hide_possible_values = true)]
    pub(crate) dialect: Option<DialectId>,
    /// Known client: determines the dialect and the maximum number of tools
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(clients::names()))]
    pub(crate) client: Option<String>,
    /// Name of this entry in the client's file: some clients limit the length of tool names together with it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["install", "undo"])]
    pub(crate) name: Option<String>,
    /// Minimum confidence of a repair; `off`: invalid arguments are not repaired
    #[arg(long, value_name = "CONFIDENCE", default_value = "likely")]
    #[arg(value_parser = PossibleValuesParser::new(REPAIRS))]
    pub(crate) repair: String,
    /// Number of tools above which the list is replaced by a search; `auto`: the maximum of the client or the API
    #[arg(long, value_name = "auto|N|off", default_value = "auto", value_parser = defer)]
    pub(crate) defer: Defer,
    /// Handling of a result that does not match its tool's `outputSchema`; `drop`: without structured content
    #[arg(long, value_name = "WHAT", default_value = "pass")]
    #[arg(value_parser = PossibleValuesParser::new(["pass", "refuse", "drop"]))]
    pub(crate) results: String,
    /// Results whose structured content is added as text, for clients that show only `content`
    #[arg(long, value_name = "WHEN", default_value = "empty")]
    #[arg(value_parser = PossibleValuesParser::new(["empty", "missing", "never"]))]
    pub(crate) structured_text: String,
    /// Size above which a result is cut; the model reads the rest with the tool `read_result`
    #[arg(long, value_name = "BYTES", value_parser = max_result)]
    pub(crate) max_result: Option<usize>,
    /// Report every change on standard error: what, for which tool, and why
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Append the same reports to a file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    /// Serve streamable HTTP at `http://HOST:PORT/mcp` instead of stdio, to several clients; port 0: any free port
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["install", "undo"])]
    pub(crate) listen: Option<String>,
    /// Environment variable with the token that clients send in the header `X-Toolwire-Token` (with `--listen`)
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) token_env: Option<String>,
    /// Put the proxy in front of a server in the client's configuration file: shows the change, asks, and keeps a
    /// backup
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(clients::names_with_files()))]
    #[arg(group = "named", conflicts_with_all = ["client", "undo"])]
    pub(crate) install: Option<String>,
    /// Remove the proxy from the client's configuration file
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(clients::names_with_files()))]
    #[arg(group = "named", conflicts_with = "client")]
    pub(crate) undo: Option<String>,
    /// Do not ask before `--install` or `--undo` changes the file
    #[arg(long, requires = "named")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl ProxyArguments {
    pub(crate) fn edits(&self) -> bool {
        self.install.is_some() || self.undo.is_some()
    }
}

/// Minimum of `--max-result`. A cut result ends with a note of up to 300 bytes.
const MIN_RESULT: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defer {
    Auto,
    Off,
    Above(usize),
}

fn max_result(text: &str) -> Result<usize, String> {
    let expected = || format!("expected a number of bytes of at least {MIN_RESULT}");
    text.parse().ok().filter(|size| *size >= MIN_RESULT).ok_or_else(expected)
}

fn defer(text: &str) -> Result<Defer, String> {
    match text {
        "auto" => Ok(Defer::Auto),
        "off" => Ok(Defer::Off),
        _ => text.parse().map(Defer::Above).map_err(|_| "expected `auto`, `off` or a number".to_string()),
    }
}
