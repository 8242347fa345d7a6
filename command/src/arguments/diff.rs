//! The options of `toolwire diff`.

use clap::{Args, ValueEnum};
use toolwire::reports::Severity;

use super::{DialectChoice, Format, MAX_SECONDS};
use crate::diff::kinds::level;

pub(super) const EXAMPLES: &str = "\
OLD and NEW are files, `-`, or URLs of MCP servers. A server that the command starts stands after `--`: NEW if
there is an OLD, otherwise both, separated by another `--`.

Severities:
  breaking  a tool is gone or renamed, arguments are refused that were accepted, results are possible that were
            not, or an API or a client refuses a tool that it accepted
  warning   a difference that no value proves, other annotations, or a part that an API ignores or reads differently
  note      everything else

A schema is narrower, wider or both if a value proves it: one schema accepts the value, and the other refuses it.

Examples:
  toolwire diff tools-1.0.json tools-1.1.json
  toolwire diff tools.json -- node server.js
  toolwire diff -- npx -y some-mcp-server@1 -- npx -y some-mcp-server@2
  toolwire diff https://old.example.com/mcp https://new.example.com/mcp
  toolwire diff --servers .mcp.json --server old --server new
  toolwire diff --format sarif tools.json new-tools.json > toolwire.sarif";

#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// The old and the new list: JSON or JSON Lines files, or URLs of MCP servers; `-`: standard input
    #[arg(value_names = ["OLD", "NEW"], num_args = 0..=2)]
    pub(crate) inputs: Vec<String>,
    /// An `mcp.json` with the MCP servers that `--server` names; no other file is searched for servers
    #[arg(long, value_name = "FILE", conflicts_with = "server", requires = "only")]
    pub(crate) servers: Option<String>,
    /// Server of `--servers`: the new one, or first the old and then the new one
    #[arg(long = "server", value_name = "NAME", id = "only", requires = "servers")]
    pub(crate) only: Vec<String>,
    /// Header for the servers at URLs, which must be of one origin, as `Name: value` (repeatable)
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Maximum time for a server to start, and for each answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MAX_SECONDS))]
    pub(crate) timeout: u32,
    /// Environment variable to pass to the servers after `--`, or to substitute for `${NAME}` in the file of
    /// `--servers` (repeatable)
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) environment: Vec<String>,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
    /// Minimum severity that makes the exit code 1 (default: breaking)
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<DiffFailOn>,
    /// Output format of the differences
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: Format,
    /// File of the repository to which SARIF assigns the differences of a server or of standard input (default:
    /// `package.json` or `pyproject.toml`, whichever exists)
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif_file: Option<String>,
    /// Same as `--format json`
    #[arg(long)]
    pub(crate) json: bool,
    /// Print one line for each difference, and nothing else
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Command that starts an MCP server (after `--`)
    #[arg(last = true, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
}

/// Minimum severity for the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFailOn {
    // Users, APIs or clients lose something
    Breaking,
    // Also: something to look at
    Warning,
    // Also: any difference
    Note,
    // The exit code does not depend on differences
    Never,
}

impl DiffFailOn {
    /// Returns the minimum severity that counts.
    pub(crate) const fn min_severity(self) -> Option<Severity> {
        match self {
            DiffFailOn::Breaking => Some(Severity::Refused),
            DiffFailOn::Warning => Some(Severity::Reinterpreted),
            DiffFailOn::Note => Some(Severity::Ignored),
            DiffFailOn::Never => None,
        }
    }

    /// Returns the severity as the command line spells it.
    pub(crate) fn as_str(self) -> &'static str {
        self.min_severity().map_or("never", level)
    }
}
