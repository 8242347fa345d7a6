//! Arguments of the command line: commands, options and help. Other modules execute the commands.

mod check;
mod defer;
mod diff;
mod probe;
mod proxy;
mod relay;
mod report;
mod request_options;
mod restore;
mod run;
mod validate;

pub(crate) use check::{CheckArguments, FailOn, Format};
pub(crate) use defer::DeferArguments;
pub(crate) use diff::{DiffArguments, DiffFailOn};
pub(crate) use probe::ProbeArguments;
pub(crate) use proxy::{Defer, ProxyArguments};
pub(crate) use relay::RelayArguments;
pub(crate) use report::ReportArguments;
pub(crate) use request_options::{RequestOption, RequestOptions, DIALECT, REQUEST_OPTIONS};
pub(crate) use restore::RestoreArguments;
pub(crate) use run::RunArguments;
pub(crate) use validate::{Repairing, ValidateArguments};

use clap::{
    builder::{PossibleValuesParser, TypedValueParser},
    ArgGroup, Args, Parser, Subcommand,
};
use toolwire::{
    dialects as known_dialects,
    internal::{self, Choices},
    options::{Allow, Confidence, Formats, Hints, Limit, Prefix, Refs, ToolFormat, Untyped, Use},
    DialectId, SanitizeOptions,
};

use super::{
    error::CommandError,
    outcome::Outcome,
    profile::{Choice, ALL, PROFILES},
};

/// Any tool schema, any model. Nothing is lost silently.
// `about` repeats the documentation, because clap removes its last period.
#[derive(Debug, Parser)]
#[command(name = "toolwire", version, about = "Any tool schema, any model. Nothing is lost silently.")]
#[command(arg_required_else_help = true, subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  toolwire matrix -- npx -y some-mcp-server    Does my MCP server work with every model?
  toolwire check --dialect gemini tools.json   What would the API refuse with HTTP 400?
  toolwire explain --tool search --dialect gemini tools.json
  toolwire sanitize --dialect gemini < tools.json > for-gemini.json
  toolwire defer --target openai-chat request.json

A dialect describes what one API or MCP client accepts, in one of its modes: its subset of JSON Schema, the format
of its tools, and its limits. `toolwire dialects` lists the dialects.

The input is JSON or JSON Lines: a schema, a tool, a list of tools in the format of any API, an MCP server's answer
to `tools/list`, or a request with tools. It comes from a file, from standard input, or from an MCP server that the
command starts (`-- SERVER`) or connects to (`--url`).

Exit codes: 0 success; 1 a finding, or a tool that cannot be rewritten; 2 wrong usage, or unreadable input.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show which APIs accept each tool, as is and rewritten, and what rewriting loses
    #[command(after_help = "\
Columns, each with a number of tools (empty columns are omitted):
  accepted       the API accepts the tool as is
  reinterpreted  accepted as is, but the API holds the model to other arguments than the schema describes
  ignored        accepted as is, but a part of the schema has no effect

Outcomes of rewriting, from the best to the worst; a tool counts under its worst change:
  lossless       the same arguments are accepted, and the model reads the same
  encoded        lossless once the model's arguments are restored (`toolwire restore`)
  closed         objects are closed: properties that the schema neither declares nor allows are refused
  not strict     the tool is sent without strict mode, which cannot express it: nothing enforces its schema
  lost           the same arguments are accepted, but the model no longer reads a part of the tool
  wider          arguments are accepted that the tool's server refuses
  narrower       arguments are refused that the tool's server accepts, or this cannot be ruled out
  refused        the tool cannot be rewritten for the API, or only with more loss than --allow permits

--fail-on accepts the outcomes from `encoded` on (`not-strict` with a hyphen), and:
  changed        a tool has to be changed, even without loss
  rejected       an API refuses a tool as is
  never          the exit code does not depend on the tools

Examples:
  toolwire matrix -- npx -y some-mcp-server
  toolwire matrix --dialect gemini,openai-strict --fail-on wider tools.json
  toolwire matrix --json tools.jsonl | jq .dialects")]
    Matrix(MatrixArguments),
    /// Lint tools and schemas: report what APIs refuse, reinterpret or ignore
    #[command(after_help = check::EXAMPLES)]
    Check(CheckArguments),
    /// Compare two lists of tools: what breaks for users, models, APIs and clients
    #[command(after_help = diff::EXAMPLES)]
    Diff(DiffArguments),
    /// Write static pages about servers: their tools, APIs, clients, findings and fixes, and badges
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArguments),
    /// Rewrite a schema, a list of tools or a whole request for one dialect
    #[command(after_help = "\
The output is of the same kind as the input: a schema, a list of tools in the format of the API, or a request (with
deferred loading applied). With --json, it also contains the changes and the data that `toolwire restore` needs.
Tools that cannot be rewritten are set aside and named on standard error.

Examples:
  toolwire sanitize --dialect gemini tools.json
  toolwire sanitize --dialect openai-strict --allow closed --fallback openai-chat -- npx -y some-mcp-server
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json
  toolwire sanitize --dialect moonshot --json --repair tools.json > repairing.json")]
    Sanitize(SanitizeArguments),
    /// Show every change to one tool: where, why, before and after
    #[command(after_help = "\
Examples:
  toolwire explain --dialect gemini schema.json
  toolwire explain --tool API-post-search --dialect gemini,openai-strict -- npx -y @notionhq/notion-mcp-server")]
    Explain(ExplainArguments),
    /// Rewrite a request with deferred tools for an API that does not support them
    #[command(after_help = "\
Examples:
  toolwire defer request.json
  toolwire defer --target openai-chat --announce names < request.json
  toolwire defer --turns --target openai-chat --native kimi request.json")]
    Defer(DeferArguments),
    /// Convert a model's reply, or one call, back to the original tools' names and arguments
    #[command(after_help = restore::EXAMPLES)]
    Restore(RestoreArguments),
    /// Validate the arguments of a call against the tool's original schema, or repair them
    #[command(after_help = validate::EXAMPLES)]
    Validate(ValidateArguments),
    /// Ask the API itself, with your key, which tools it accepts as is, and compare that with `check`
    #[command(after_help = probe::EXAMPLES)]
    Probe(ProbeArguments),
    /// Run between an MCP client and its servers: rewrite tools, restore and repair calls
    #[command(after_help = proxy::EXAMPLES)]
    Proxy(ProxyArguments),
    /// Run between an agent and a model API: adapt requests, restore and repair replies
    #[command(after_help = relay::EXAMPLES)]
    Relay(RelayArguments),
    /// Run an agent with a relay of its own: sets its base URL, key and model, and ends with it
    #[command(after_help = run::EXAMPLES)]
    Run(RunArguments),
    /// List the dialects, or show all facts about one, with sources and dates
    #[command(after_help = "\
Examples:
  toolwire dialects
  toolwire dialects gemini")]
    Dialects(DialectsArguments),
}

/// Format of the result.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Machine {
    /// Print one JSON document, for machines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Choice of the dialects by which the tools are judged.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DialectChoice {
    /// Only these dialects (comma-separated or repeated); `all`: every dialect
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',', conflicts_with = "profile")]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
    /// Dialects of a profile: the ordinary modes of APIs and clients (default of `check`), strict modes, every mode of
    /// every API (default of `matrix`), or all dialects
    #[arg(short, long, value_name = "PROFILE", value_parser = PossibleValuesParser::new(PROFILES))]
    pub(crate) profile: Option<String>,
    /// Leave out these dialects (comma-separated or repeated)
    #[arg(short = 'x', long = "exclude", value_name = "DIALECT", value_delimiter = ',')]
    #[arg(value_parser = dialects(), hide_possible_values = true)]
    pub(crate) exclude: Vec<String>,
}

impl DialectChoice {
    pub(crate) fn choice(&self) -> Option<Choice<'_>> {
        match self.profile.as_deref() {
            Some(name) => Some(Choice::Profile(name)),
            None if self.dialects.is_empty() => None,
            None => Some(Choice::Dialects(&self.dialects)),
        }
    }
}

/// Layout of JSON output.
#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// Print JSON without line breaks, exactly as the library writes it
    #[arg(long)]
    pub(crate) compact: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct MatrixArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) choice: DialectChoice,
    /// Maximum loss that is accepted; a tool that would lose more is refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words::<Allow>())]
    pub(crate) allow: String,
    /// Exit with code 1 if a tool has this outcome or a worse one
    #[arg(long, value_name = "OUTCOME", default_value = "refused")]
    #[arg(value_parser = PossibleValuesParser::new(Outcome::LEVELS))]
    pub(crate) fail_on: String,
    /// Show each tool and outcome in a separate row, including tools that lose nothing
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Args, Debug)]
pub(crate) struct SanitizeArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Dialect to write (`toolwire dialects` lists them)
    #[arg(short, long, value_name = "DIALECT", value_parser = dialect_ids(), hide_possible_values = true)]
    pub(crate) dialect: DialectId,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    /// Format of the tools, if it is not that of the dialect's API
    #[arg(long, value_name = "FORMAT", value_parser = words::<ToolFormat>())]
    pub(crate) format: Option<String>,
    /// Dialect for tools that the first dialect cannot express
    #[arg(long, value_name = "DIALECT", value_parser = dialect_ids(), hide_possible_values = true)]
    pub(crate) fallback: Option<DialectId>,
    /// Host that the request is for, or a URL on it: some facts apply only to some hosts
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Model of the request, if the URL names it instead of the request (Gemini, Bedrock)
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Form in which the schema of a response format is sent
    #[arg(long, value_name = "HOW", default_value = "native", value_parser = words::<Formats>())]
    pub(crate) formats: String,
    /// Naming of tools in a list from several servers, `[{ server, tools }, …]`: with the server's name as a prefix, or
    /// without
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = words::<Prefix>())]
    pub(crate) prefix: String,
    /// Accept text for numbers and booleans, and null for optional properties, for APIs that validate the calls of
    /// their models (Groq)
    #[arg(long)]
    pub(crate) lenient_types: bool,
    /// Keep the original schemas in the output, so that `toolwire restore` can repair arguments
    #[arg(long, requires = "json")]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
    // The last member, because its heading applies to all options after it.
    #[command(flatten)]
    pub(crate) repairing: Repairing,
}

/// Options of `sanitize` for schemas.
#[derive(Args, Debug)]
pub(crate) struct Rewriting {
    /// Maximum loss that is accepted; a tool that would lose more is refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words::<Allow>())]
    pub(crate) allow: String,
    /// Purpose of the schemas: arguments of a tool, response format, or result of an MCP tool
    #[arg(long = "use", value_name = "USE", default_value = "tool", value_parser = words::<Use>())]
    pub(crate) used_as: String,
    /// Name of the property that holds the answer if the API requires an object and the schema describes something else
    #[arg(long, value_name = "NAME", default_value = "response")]
    pub(crate) wrapper: String,
    /// Handling of `$ref`
    #[arg(long, value_name = "WHAT", value_parser = words::<Refs>())]
    pub(crate) refs: Option<String>,
    /// Handling of a schema whose type cannot be inferred
    #[arg(long, value_name = "WHAT", value_parser = words::<Untyped>())]
    pub(crate) untyped: Option<String>,
    /// Handling of constraints that the dialect cannot express
    #[arg(long, value_name = "WHAT", value_parser = words::<Hints>())]
    pub(crate) hints: Option<String>,
    /// Size above which the dialect compacts the schema; `none`: no limit
    #[arg(long, value_name = "BYTES", value_parser = limit)]
    pub(crate) max_bytes: Option<Limit>,
    /// Maximum number of nodes that inlining may produce
    #[arg(long, value_name = "NODES")]
    pub(crate) max_nodes: Option<usize>,
    /// Maximum work for one schema or list, in steps: visits, copies and comparisons of nodes
    #[arg(long, value_name = "STEPS")]
    pub(crate) max_steps: Option<usize>,
    /// Chat template of the server: the name of its file, or of a model
    #[arg(long, value_name = "NAME")]
    pub(crate) template: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Name of the tool; not needed if there is only one
    #[arg(short, long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Dialects to write (`toolwire dialects` lists them; comma-separated or repeated)
    #[arg(short, long = "dialect", value_name = "DIALECT", required = true, value_delimiter = ',')]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    /// Show excerpts in full length
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Args, Debug)]
pub(crate) struct DialectsArguments {
    /// Dialect to show, with all its facts
    #[arg(value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(known_dialects().iter().map(|dialect| dialect.name))
}

fn dialect_ids() -> impl TypedValueParser<Value = DialectId> {
    dialects().try_map(|name| name.parse::<DialectId>())
}

fn dialects_or_all() -> PossibleValuesParser {
    PossibleValuesParser::new(known_dialects().iter().map(|dialect| dialect.name).chain([ALL]))
}

fn words<T: Choices>() -> PossibleValuesParser {
    PossibleValuesParser::new(T::CHOICES.iter().map(|(word, _)| *word))
}

fn limit(text: &str) -> Result<Limit, std::num::ParseIntError> {
    if text == "none" {
        return Ok(Limit::Unlimited);
    }
    text.parse().map(Limit::AtMost)
}

impl Rewriting {
    pub(crate) fn used_as(&self) -> Use {
        choice(Some(&self.used_as)).unwrap_or(Use::Tool)
    }

    pub(crate) fn options(&self, dialect: DialectId) -> SanitizeOptions {
        let mut options = internal::schema_options(dialect).allow(choice(Some(&self.allow)).unwrap_or_default());
        options.used_as = self.used_as();
        options.wrapper.clone_from(&self.wrapper);
        options.refs = choice(self.refs.as_deref());
        options.untyped = choice(self.untyped.as_deref());
        options.hints = choice(self.hints.as_deref());
        options.max_bytes = self.max_bytes.unwrap_or_default();
        options.max_nodes = self.max_nodes;
        options.max_steps = self.max_steps;
        options.template = self.template.clone();
        options
    }
}

/// `--use response` expects the schema of an answer.
pub(crate) fn not_a_schema() -> CommandError {
    CommandError::option("use", "expected a schema with `--use response`, found tools or a request")
}

/// Words for the minimum confidence of repairs.
pub(crate) const REPAIRS: [&str; 3] = ["exact", "likely", "off"];

pub(crate) fn least_confidence(word: &str) -> Option<Confidence> {
    match word {
        "off" => None,
        "exact" => Some(Confidence::Exact),
        _ => Some(Confidence::Likely),
    }
}

/// Converts a word that clap has already validated.
pub(crate) fn choice<T: Choices>(word: Option<&str>) -> Option<T> {
    let word = word?;
    T::CHOICES.iter().find(|(spelling, _)| *spelling == word).map(|(_, choice)| *choice)
}

/// Maximum delay of a timer in Node, in seconds. Node fires a longer timer immediately.
pub(crate) const MAX_SECONDS: i64 = 2_147_483;

/// One input.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Source {
    /// JSON or JSON Lines file; `-` or no file: standard input
    #[arg(value_name = "FILE", conflicts_with_all = ["server", "url", "servers"])]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// MCP servers whose tools are the input.
#[derive(Args, Clone, Debug, Default)]
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
