//! The options of `toolwire proxy`.

use clap::{builder::PossibleValuesParser, Args};

use super::{dialects, Connection, REPAIRS};
use crate::{client_files, clients};

pub(super) const EXAMPLES: &str = "\
The client starts the proxy in place of its server. Everything but tools passes as it is. Tools are rewritten for the \
dialect, and
calls come back in the shape that the server expects. Arguments that its schema refuses are repaired, or the model is \
told what is
wrong with them. What was changed is in the resource `toolwire://report`.

Examples:
  toolwire proxy -- npx -y some-mcp-server
  toolwire proxy --client claude-desktop -- uvx some-mcp-server
  toolwire proxy --dialect moonshot --defer 40 --servers mcp.json
  toolwire proxy --listen 127.0.0.1:8000 -- npx -y some-mcp-server
  toolwire proxy --install cursor --server github

Exit codes: 0 the client has closed its end; 2 wrong usage, or a server that cannot be started.";

#[derive(Args, Debug)]
pub(crate) struct ProxyArguments {
    /// The dialect of the API that the client sends tools to (default: `portable`, or that of `--client`)
    #[arg(short, long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    /// A known client: sets the dialect, and the maximum number of tools
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(clients::names()))]
    pub(crate) client: Option<String>,
    /// The least confidence of a repair; `off`: calls are passed on as they are
    #[arg(long, value_name = "CONFIDENCE", default_value = "likely")]
    #[arg(value_parser = PossibleValuesParser::new(REPAIRS))]
    pub(crate) repair: String,
    /// Longer lists of tools are put behind a search; `auto`: longer than the client or the API takes
    #[arg(long, value_name = "auto|N|off", default_value = "auto", value_parser = defer)]
    pub(crate) defer: Defer,
    /// What becomes of a result that does not match the `outputSchema` of its tool
    #[arg(long, value_name = "WHAT", default_value = "pass")]
    #[arg(value_parser = PossibleValuesParser::new(["pass", "refuse"]))]
    pub(crate) results: String,
    /// Says on standard error what was changed, for which tool and why
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Adds the same to a file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    /// Serves streamable HTTP at `http://HOST:PORT/mcp` in place of stdio, to several clients; port 0: any that is free
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["install", "undo"])]
    pub(crate) listen: Option<String>,
    /// With `--listen`: the variable of the environment with the token that clients send in the header
    /// `X-Toolwire-Token`
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) token_env: Option<String>,
    /// Puts the proxy before a server in the client's own file: shows the change, asks, and keeps a backup
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(client_files::names()))]
    #[arg(group = "named", conflicts_with_all = ["client", "undo"])]
    pub(crate) install: Option<String>,
    /// Takes it away again
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(client_files::names()))]
    #[arg(group = "named", conflicts_with = "client")]
    pub(crate) undo: Option<String>,
    /// With `--install` and `--undo`: does not ask
    #[arg(long, requires = "named")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

impl ProxyArguments {
    /// Returns whether the command edits a client's file and runs nothing.
    pub(crate) fn edits(&self) -> bool {
        self.install.is_some() || self.undo.is_some()
    }
}

/// Condition for replacing a list of tools by a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defer {
    Auto,
    Off,
    Above(usize),
}

fn defer(text: &str) -> Result<Defer, String> {
    match text {
        "auto" => Ok(Defer::Auto),
        "off" => Ok(Defer::Off),
        _ => text.parse().map(Defer::Above).map_err(|_| "expected `auto`, `off` or a number".to_string()),
    }
}
