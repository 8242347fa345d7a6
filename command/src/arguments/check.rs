//! The options of `toolwire check`, the linter.

use clap::{builder::PossibleValuesParser, Args, ValueEnum};
use toolwire::{options::Use, reports::Severity};

use super::{words, Connection, DialectChoice};
use crate::outcome::Outcome;

pub(super) const EXAMPLES: &str = "\
Severities:
  refused        the API returns an error, or the MCP client drops the tool
  reinterpreted  the API holds the model to other arguments than the schema describes
  ignored        a part of the schema has no effect

Profiles:
  ordinary       ordinary modes of APIs and clients, which get a server's schemas unchanged (the default)
  strict         modes that hold the model to the schema
  apis           every mode of every API
  all            every dialect

Examples:
  toolwire check tools.json 'servers/**/*.json'
  toolwire check --profile strict -- npx -y some-mcp-server
  toolwire check --url https://example.com/mcp --header \"Authorization: Bearer $TOKEN\"
  toolwire check --servers .mcp.json --env GITHUB_TOKEN
  toolwire check --fix tools.json
  toolwire check --format sarif tools.json > toolwire.sarif
  toolwire check --baseline toolwire-baseline.json --update-baseline tools.json";

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// JSON or JSON Lines files; `*`, `**` and `?` are patterns; `-` or no file: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url"])]
    pub(crate) files: Vec<String>,
    /// Read every FILE as a literal name, without patterns
    #[arg(long)]
    pub(crate) no_patterns: bool,
    #[command(flatten)]
    pub(crate) connection: Connection,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
    /// Purpose of the schemas: arguments of a tool, response format, or result of an MCP tool
    #[arg(long = "use", value_name = "USE", default_value = "tool", value_parser = words::<Use>())]
    pub(crate) used_as: String,
    /// Only these tools (repeatable)
    #[arg(short, long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Minimum severity that is shown and makes the exit code 1 (default: refused)
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,
    /// Instead, report what rewriting the tools would lose: losses of this outcome or a worse one, which make the exit
    /// code 1 (`toolwire matrix --help` explains the outcomes)
    #[arg(long, value_name = "OUTCOME", conflicts_with_all = ["fail_on", "show"])]
    #[arg(value_parser = PossibleValuesParser::new(Outcome::LOSSES))]
    pub(crate) rewritten: Option<String>,
    /// Minimum severity that is shown, if it is lower than that of `--fail-on`
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) show: Option<Show>,
    /// Output format of the findings
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    pub(crate) format: Format,
    /// File of the repository to which SARIF assigns the findings of a server or of standard input (default: the
    /// configuration, `package.json` or `pyproject.toml`, whichever exists)
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif_file: Option<String>,
    /// Same as `--format json`
    #[arg(long)]
    pub(crate) json: bool,
    /// Print one line for each finding, and nothing else
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Configuration file (default: `toolwire.toml`, if it exists)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,
    /// File of known findings, which are not reported
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Write the current findings to the baseline
    #[arg(long)]
    pub(crate) update_baseline: bool,
    /// Write fixes that lose nothing into the files, and report the findings that are left; standard input is written
    /// to standard output
    #[arg(long, conflicts_with_all = ["diff", "rewritten", "update_baseline"])]
    pub(crate) fix: bool,
    /// Print what `--fix` would change, and write nothing; the exit code is 1 if there are changes
    #[arg(long, conflicts_with_all = ["rewritten", "update_baseline", "json", "format"])]
    pub(crate) diff: bool,
    /// Also apply fixes that change which arguments the schemas accept, or that remove information for the model
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
}

impl CheckArguments {
    pub(crate) const fn fixes(&self) -> bool {
        self.fix || self.diff
    }
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
    // The exit code does not depend on findings
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
    pub(crate) fn of(word: &str) -> Option<FailOn> {
        FailOn::from_str(word, false).ok()
    }

    pub(crate) const fn min_severity(self) -> Option<Severity> {
        match self {
            FailOn::Refused => Some(Severity::Refused),
            FailOn::Reinterpreted => Some(Severity::Reinterpreted),
            FailOn::Ignored => Some(Severity::Ignored),
            FailOn::Never => None,
        }
    }

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
    pub(crate) const fn min_severity(self) -> Severity {
        match self {
            Show::Refused => Severity::Refused,
            Show::Reinterpreted => Severity::Reinterpreted,
            Show::Ignored => Severity::Ignored,
        }
    }
}
