//! The options of `toolwire check`, the linter.

use clap::{builder::PossibleValuesParser, Args, ValueEnum};

use toolwire::{options::Use, reports::Severity};

use super::{source::Connection, words, DialectChoice};
use crate::outcome::Outcome;

pub(super) const EXAMPLES: &str = "\
Profiles:
  ordinary   what APIs and clients take in their ordinary modes (the default)
  strict     the modes that hold the model to the schema
  apis       every dialect of an API
  all        every dialect

Examples:
  toolwire check tools.json 'servers/**/*.json'
  toolwire check --profile strict -- npx -y some-mcp-server
  toolwire check --url https://example.com/mcp --header \"Authorization: Bearer $TOKEN\"
  toolwire check --servers .mcp.json --env GITHUB_TOKEN
  toolwire check --format sarif tools.json > toolwire.sarif
  toolwire check --baseline toolwire-baseline.json --update-baseline tools.json";

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// JSON or JSON Lines; patterns with `*`, `**` and `?`; `-` or none: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url"])]
    pub(crate) files: Vec<String>,
    /// FILE is always a name: `*` and `?` in it match nothing else
    #[arg(long)]
    pub(crate) no_patterns: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
    /// What a schema describes: a tool's arguments, the answer itself, or a tool's result (MCP)
    #[arg(long = "use", value_name = "USE", default_value = "tool", value_parser = words::<Use>())]
    pub(crate) used_as: String,
    /// Only these tools (repeatable)
    #[arg(short, long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// What is shown, and makes the exit code 1: from which severity on (default: refused)
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    /// Another question: what is lost when the tools are rewritten, and from which outcome on the exit code is 1
    #[arg(long, value_name = "OUTCOME", conflicts_with_all = ["fail_on", "show"])]
    #[arg(value_parser = PossibleValuesParser::new(Outcome::LOSSES))]
    pub(crate) rewritten: Option<String>,
    /// What is shown, where that is more than what `--fail-on` says
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) show: Option<Show>,
    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: Format,
    /// The same as `--format json`
    #[arg(long)]
    pub(crate) json: bool,
    /// A line for each finding, and nothing else
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// The configuration; without it `toolwire.toml`, where there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// Findings that are known, and no longer told
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Writes what is found now into the baseline
    #[arg(long)]
    pub(crate) update_baseline: bool,
}

/// Minimum severity for the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    // Refused by an API, or dropped by a client
    Refused,
    // Also: reinterpreted by an API
    Reinterpreted,
    // Also: without effect
    Ignored,
    // No finding
    Never,
}

/// Minimum severity of the findings that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    // Refused
    Refused,
    // Also: reinterpreted by an API
    Reinterpreted,
    // Also: without effect
    Ignored,
}

/// Output format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    // Human-readable text, grouped by rule
    Text,
    // One JSON document
    Json,
    // Annotations of GitHub Actions
    Github,
    // SARIF 2.1.0
    Sarif,
    // JUnit XML
    Junit,
    // Markdown tables, for a job summary or a comment
    Markdown,
}

impl FailOn {
    /// Parses the word of a configuration.
    pub(crate) fn of(word: &str) -> Option<FailOn> {
        FailOn::from_str(word, false).ok()
    }

    /// Returns the minimum severity that counts.
    pub(crate) const fn min_severity(self) -> Option<Severity> {
        match self {
            FailOn::Refused => Some(Severity::Refused),
            FailOn::Reinterpreted => Some(Severity::Reinterpreted),
            FailOn::Ignored => Some(Severity::Ignored),
            FailOn::Never => None,
        }
    }

    /// Returns the word of the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            FailOn::Never => "never",
            FailOn::Refused => Severity::Refused.as_str(),
            FailOn::Reinterpreted => Severity::Reinterpreted.as_str(),
            FailOn::Ignored => Severity::Ignored.as_str(),
        }
    }
}

impl Show {
    /// Returns the minimum severity that is shown.
    pub(crate) const fn min_severity(self) -> Severity {
        match self {
            Show::Refused => Severity::Refused,
            Show::Reinterpreted => Severity::Reinterpreted,
            Show::Ignored => Severity::Ignored,
        }
    }
}
