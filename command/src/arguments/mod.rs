//! Arguments of the command line: commands, options and help. Other modules execute the commands.

mod check;
mod defer;
mod probe;
mod proxy;
mod relay;
mod restore;
mod source;
mod validate;

use clap::{builder::PossibleValuesParser, Args, Parser, Subcommand};

use toolwire::{
    dialects as known_dialects,
    internal::Choices,
    options::{Allow, Confidence, Formats, Hints, Prefix, Refs, ToolFormat, Untyped, Use},
    SanitizeOptions,
};

pub(crate) use self::{
    check::{CheckArguments, FailOn, Format},
    defer::DeferArguments,
    probe::ProbeArguments,
    proxy::{Defer, ProxyArguments},
    relay::{natives, RelayArguments, AUTO},
    restore::RestoreArguments,
    source::{Connection, Source},
    validate::{Repairing, ValidateArguments},
};
use super::{
    error::CommandError,
    outcome::Outcome,
    profile::{Choice, ALL, PROFILES},
};

/// Any tool schema, any model. Nothing is lost silently.
#[derive(Debug, Parser)]
#[command(name = "toolwire", version, arg_required_else_help = true, subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  toolwire matrix -- npx -y some-mcp-server    Will my MCP server work with every model?
  toolwire check --dialect gemini tools.json   What would the API answer with HTTP 400?
  toolwire explain --tool search --dialect gemini tools.json
  toolwire sanitize --dialect gemini < tools.json > for-gemini.json
  toolwire defer --target openai-chat request.json

The input is JSON or JSON Lines: a schema, a tool, a list of tools as any API writes them, what an MCP server \
answered to
`tools/list`, a request with tools. From a file, from standard input, or from an MCP server that is started for it \
(`-- SERVER`).

Exit codes: 0 fine; 1 something was found, or a tool cannot be had; 2 wrong usage, or an input that cannot be read.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Which tools work with which APIs, as they are and rewritten, and what would be lost
    #[command(after_help = "\
Columns:
  accepted   the API takes the tool as it is
  lossless   rewritten, the same arguments are accepted, and the model reads the same
  encoded    the same, once the model's arguments were brought back (`restoreArguments`)
  closed     arguments are refused that have properties the tool never named, nor said that it wants
  not strict the tool is sent not strict, because the strict mode cannot take it: nothing enforces its schema
  lost       the same arguments are accepted, but something the model reads is gone
  wider      arguments are accepted that the tool's server will have to refuse
  narrower   arguments are refused that the tool's server would accept
  refused    the tool cannot be written for that API

--fail-on takes these from `encoded` on, and `rejected` (an API rejects a tool as it is), `changed` (anything has to \
change), `never`.

Examples:
  toolwire matrix -- npx -y some-mcp-server
  toolwire matrix --dialect gemini,openai-strict --fail-on wider tools.json
  toolwire matrix --json tools.jsonl | jq .dialects")]
    Matrix(MatrixArguments),
    /// What APIs would refuse about the tools or schemas as they are: the linter for CI
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArguments),
    /// Rewrites a schema, a tool list or a whole request into one dialect
    #[command(after_help = "\
A schema becomes a schema, a list of tools the list that the API takes, a request a request (after deferred loading). \
With --json, what
was changed stands beside it, and what `toolwire restore` needs. Tools that cannot be written are left out and named \
on standard error.

Examples:
  toolwire sanitize --dialect gemini tools.json
  toolwire sanitize --dialect openai-strict --allow closed --fallback openai-chat -- npx -y some-mcp-server
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json
  toolwire sanitize --dialect moonshot --json --repair tools.json > repairing.json")]
    Sanitize(SanitizeArguments),
    /// Every change of one tool: where, why, before and after
    #[command(after_help = "\
Examples:
  toolwire explain --dialect gemini schema.json
  toolwire explain --tool API-post-search --dialect gemini,openai-strict -- npx -y @notionhq/notion-mcp-server")]
    Explain(ExplainArguments),
    /// Makes a request with deferred tools work on an API without that feature
    #[command(after_help = "\
Examples:
  toolwire defer request.json
  toolwire defer --target openai-chat --announce names < request.json
  toolwire defer --turns --target openai-chat --native kimi request.json")]
    Defer(DeferArguments),
    /// Brings a model's reply, or one call, back to what the tools' own servers expect
    #[command(after_help = restore::EXAMPLES)]
    Restore(RestoreArguments),
    /// What a tool's own schema says against the arguments that a model answered, or those arguments repaired
    #[command(after_help = validate::EXAMPLES)]
    Validate(ValidateArguments),
    /// Asks the API itself, with your key, which tools it takes as they are, and compares that with `check`
    #[command(after_help = probe::EXAMPLES)]
    Probe(ProbeArguments),
    /// Stands between a client of MCP and its servers: rewrites tools, restores and repairs calls
    #[command(after_help = proxy::EXAMPLES)]
    Proxy(ProxyArguments),
    /// Stands between an agent and the API of a model: adapts requests, restores and repairs replies
    #[command(after_help = relay::EXAMPLES)]
    Relay(RelayArguments),
    /// The dialects there are, or all that is known of one: facts, sources, dates
    #[command(after_help = "\
Examples:
  toolwire dialects
  toolwire dialects gemini")]
    Dialects(DialectsArguments),
}

/// How the result is written.
#[derive(Args, Clone, Debug)]
pub(crate) struct Machine {
    /// One JSON document, for machines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which dialects the tools are judged in.
#[derive(Args, Clone, Debug)]
pub(crate) struct DialectChoice {
    /// Only these; `all`: every one there is
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',', conflicts_with = "profile")]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
    /// Those of a profile: of APIs their ordinary modes (`check`), their strict ones or both (`matrix`), or all
    #[arg(short, long, value_name = "PROFILE", value_parser = PossibleValuesParser::new(PROFILES))]
    pub(crate) profile: Option<String>,
    /// All but these
    #[arg(short = 'x', long = "exclude", value_name = "DIALECT", value_delimiter = ',')]
    #[arg(value_parser = dialects(), hide_possible_values = true)]
    pub(crate) exclude: Vec<String>,
}

impl DialectChoice {
    /// Returns the choice of dialects, if the command line contains one.
    pub(crate) fn choice(&self) -> Option<Choice<'_>> {
        match self.profile.as_deref() {
            Some(name) => Some(Choice::Profile(name)),
            None if self.dialects.is_empty() => None,
            None => Some(Choice::Dialects(&self.dialects)),
        }
    }
}

/// How JSON is laid out.
#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// No line breaks: byte for byte what the library gives
    #[arg(long)]
    pub(crate) compact: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MatrixArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
    /// The most loss that is accepted; tools with more are refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words::<Allow>())]
    pub(crate) allow: String,
    /// From which outcome on the exit code is 1
    #[arg(long, value_name = "OUTCOME", default_value = "refused")]
    #[arg(value_parser = PossibleValuesParser::new(Outcome::LEVELS))]
    pub(crate) fail_on: String,
    /// Every tool, not only those that lose something
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Args, Debug)]
pub(crate) struct SanitizeArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The dialect to write (`toolwire dialects` lists them)
    #[arg(short, long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: String,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    /// The shape of the tools, where it is not the dialect's own
    #[arg(long, value_name = "FORMAT", value_parser = words::<ToolFormat>())]
    pub(crate) format: Option<String>,
    /// Another dialect, for tools that the first one cannot say
    #[arg(long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) fallback: Option<String>,
    /// The model of a request that does not name it, as with Gemini and Bedrock
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How the schema of a request's response format is sent
    #[arg(long, value_name = "HOW", default_value = "native", value_parser = words::<Formats>())]
    pub(crate) formats: String,
    /// How tools of a list of several servers, `[{ server, tools }, …]`, are called
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = words::<Prefix>())]
    pub(crate) prefix: String,
    /// Keeps the tools' own schemas beside the result, so that `toolwire restore` repairs arguments by them
    #[arg(long, requires = "json")]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
    // Last, because its heading would apply to all options after it.
    #[command(flatten)]
    pub(crate) repairing: Repairing,
}

/// The options of `sanitize` that are about schemas.
#[derive(Args, Debug)]
pub(crate) struct Rewriting {
    /// The most loss that is accepted; beyond it a tool is refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words::<Allow>())]
    pub(crate) allow: String,
    /// What a schema describes: a tool's arguments, the answer itself, or a tool's result (MCP)
    #[arg(long = "use", value_name = "USE", default_value = "tool", value_parser = words::<Use>())]
    pub(crate) used_as: String,
    /// The property that holds the answer if the API wants an object and the schema describes something else
    #[arg(long, value_name = "NAME", default_value = "response")]
    pub(crate) wrapper: String,
    /// What becomes of `$ref`
    #[arg(long, value_name = "WHAT", value_parser = words::<Refs>())]
    pub(crate) refs: Option<String>,
    /// What becomes of a schema without a type
    #[arg(long, value_name = "WHAT", value_parser = words::<Untyped>())]
    pub(crate) untyped: Option<String>,
    /// What becomes of constraints that the dialect cannot say
    #[arg(long, value_name = "WHAT", value_parser = words::<Hints>())]
    pub(crate) hints: Option<String>,
    /// The size above which the dialect compacts; `none`: no limit
    #[arg(long, value_name = "BYTES", value_parser = limit)]
    pub(crate) max_bytes: Option<Limit>,
    /// The most nodes that inlining may produce
    #[arg(long, value_name = "NODES")]
    pub(crate) max_nodes: Option<usize>,
    /// Maximum number of steps that one call may take
    #[arg(long, value_name = "STEPS")]
    pub(crate) max_steps: Option<usize>,
    /// The chat template that the server runs: its file or a model
    #[arg(long, value_name = "NAME")]
    pub(crate) template: Option<String>,
}

/// A limit; `None` means no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(pub(crate) Option<usize>);

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The tool's name; not needed if there is only one
    #[arg(short, long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The dialects to write it in (`toolwire dialects` lists them)
    #[arg(short, long = "dialect", value_name = "DIALECT", required = true, value_delimiter = ',')]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    /// Excerpts whole, however long
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Args, Debug)]
pub(crate) struct DialectsArguments {
    /// One dialect, with all that is known of it
    #[arg(value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(known_dialects().iter().map(|dialect| dialect.name))
}

fn dialects_or_all() -> PossibleValuesParser {
    PossibleValuesParser::new(known_dialects().iter().map(|dialect| dialect.name).chain([ALL]))
}

fn words<T: Choices>() -> PossibleValuesParser {
    PossibleValuesParser::new(T::CHOICES.iter().map(|(word, _)| *word))
}

fn limit(text: &str) -> Result<Limit, std::num::ParseIntError> {
    if text == "none" {
        return Ok(Limit(None));
    }
    text.parse().map(|count| Limit(Some(count)))
}

impl Rewriting {
    /// Converts the arguments to the library's options.
    pub(crate) fn options(&self, dialect: &str) -> SanitizeOptions {
        let mut options = SanitizeOptions::new(dialect).allow(choice(Some(&self.allow)).unwrap_or_default());
        options.used_as = choice(Some(&self.used_as)).unwrap_or(options.used_as);
        options.wrapper.clone_from(&self.wrapper);
        options.refs = choice(self.refs.as_deref());
        options.untyped = choice(self.untyped.as_deref());
        options.hints = choice(self.hints.as_deref());
        options.max_bytes = self.max_bytes.map(|limit| limit.0);
        options.max_nodes = self.max_nodes;
        options.max_steps = self.max_steps;
        options.template = self.template.clone();
        options
    }
}

/// Error for tools as input of `--use response`, which expects the schema of an answer.
pub(crate) fn not_a_schema() -> CommandError {
    CommandError::option("use", "expected a schema with `--use response`, found tools or a request")
}

/// Words for the minimum confidence of repairs.
pub(crate) const REPAIRS: [&str; 3] = ["exact", "likely", "off"];

/// Returns the minimum confidence of repairs; `None` if arguments are not repaired.
pub(crate) fn least_confidence(word: &str) -> Option<Confidence> {
    match word {
        "off" => None,
        "exact" => Some(Confidence::Exact),
        _ => Some(Confidence::Likely),
    }
}

/// Returns the value of an option's word, which the parser has validated.
pub(crate) fn choice<T: Choices>(word: Option<&str>) -> Option<T> {
    let word = word?;
    T::CHOICES.iter().find(|(spelling, _)| *spelling == word).map(|(_, choice)| *choice)
}
