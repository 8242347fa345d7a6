//! The command line: its commands, options and help. What they do is elsewhere.

use clap::{builder::PossibleValuesParser, Args, Parser, Subcommand};

use toolwire::{
    dialects as known_dialects,
    internal::{self, Choices},
    options::{
        Allow, Announce, EmptyTools, ForcedTool, Format, Hints, Mode, Order, Refs, ServerHistory, ServerToolSearch,
        SystemMessages, Target, ToolChanges, ToolFormat, UnknownReference, Untyped,
    },
    DeferredOptions, Dialect, SanitizeOptions,
};

use super::outcome::Outcome;

/// Any tool schema, any model, nothing lost on the way without saying so.
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
    /// What APIs would reject about the tools or schemas as they are
    #[command(after_help = "\
Examples:
  toolwire check --dialect gemini tools.json
  toolwire check -- npx -y some-mcp-server
  echo '{\"type\": \"array\"}' | toolwire check --dialect moonshot")]
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
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json")]
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
  toolwire defer --target openai-chat --announce names < request.json")]
    Defer(DeferArguments),
    /// Brings a model's reply, or one call, back to what the tools' own servers expect
    #[command(after_help = "\
Examples:
  toolwire sanitize --dialect moonshot --json tools.json > rewritten.json
  toolwire restore --with rewritten.json reply.json
  echo '{\"dollar_ref_\": \"main\"}' | toolwire restore --with rewritten.json --call show_branch")]
    Restore(RestoreArguments),
    /// The dialects there are, or all that is known of one: facts, sources, dates
    #[command(after_help = "\
Examples:
  toolwire dialects
  toolwire dialects gemini")]
    Dialects(DialectsArguments),
}

/// Where the input comes from.
#[derive(Args, Debug)]
pub(crate) struct Source {
    /// JSON or JSON Lines; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// A variable of the environment that the server gets beside PATH, HOME and the like; as often as need be
    #[arg(long = "env", value_name = "NAME", requires = "server")]
    pub(crate) environment: Vec<String>,
    /// An MCP server to start: its tools are the input (after `--`)
    #[arg(last = true, value_name = "SERVER", conflicts_with = "file")]
    pub(crate) server: Vec<String>,
}

/// How the result is written.
#[derive(Args, Debug)]
pub(crate) struct Machine {
    /// One JSON document, for machines
    #[arg(long)]
    pub(crate) json: bool,
}

/// How JSON is laid out.
#[derive(Args, Debug)]
pub(crate) struct Layout {
    /// No line breaks: byte for byte what the library gives
    #[arg(long)]
    pub(crate) compact: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MatrixArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Only these; default: all but `codex` and `codex-wire`, which are no APIs; `all`: them, too
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',')]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
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
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Only these; default: all but `codex` and `codex-wire`, which are no APIs; `all`: them, too
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',')]
    #[arg(value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(crate) dialects: Vec<String>,
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
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

/// The options of `sanitize` that are about schemas.
#[derive(Args, Debug)]
pub(crate) struct Rewriting {
    /// The most loss that is accepted; beyond it a tool is refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words::<Allow>())]
    pub(crate) allow: String,
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
    /// The most steps that one call may take
    #[arg(long, value_name = "STEPS")]
    pub(crate) max_steps: Option<usize>,
}

/// A number, or no limit.
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
pub(crate) struct DeferArguments {
    /// The request, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// The format to translate an Anthropic request into
    #[arg(long, value_name = "FORMAT", value_parser = words::<Target>())]
    pub(crate) target: Option<String>,
    /// The request's format, where its shape does not tell
    #[arg(long, value_name = "FORMAT", value_parser = words::<Format>())]
    pub(crate) format: Option<String>,
    /// Whether hidden tools are announced by name
    #[arg(long, value_name = "WHAT", value_parser = words::<Announce>())]
    pub(crate) announce: Option<String>,
    /// Whether deferred tools are hidden until they are loaded
    #[arg(long, value_name = "MODE", value_parser = words::<Mode>())]
    pub(crate) mode: Option<String>,
    /// Where loaded tools stand
    #[arg(long, value_name = "ORDER", value_parser = words::<Order>())]
    pub(crate) order: Option<String>,
    /// A tool that counts as loaded whatever the history says; as often as need be
    #[arg(long = "loaded-tool", value_name = "NAME")]
    pub(crate) loaded_tools: Vec<String>,
    /// A call of a tool in the history counts as a load of it
    #[arg(long)]
    pub(crate) load_used_tools: bool,
    /// What happens if `tool_choice` forces a tool that is not loaded
    #[arg(long, value_name = "WHAT", value_parser = words::<ForcedTool>())]
    pub(crate) forced_tool: Option<String>,
    /// What a reference to an unknown tool becomes
    #[arg(long, value_name = "WHAT", value_parser = words::<UnknownReference>())]
    pub(crate) unknown_reference: Option<String>,
    /// What becomes of the hosted tool search
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerToolSearch>())]
    pub(crate) server_tool_search: Option<String>,
    /// What becomes of hosted searches in the history
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerHistory>())]
    pub(crate) server_history: Option<String>,
    /// The name of the function that stands for a tool search
    #[arg(long, value_name = "NAME")]
    pub(crate) tool_search_name: Option<String>,
    /// What is sent if no tool is visible
    #[arg(long, value_name = "WHAT", value_parser = words::<EmptyTools>())]
    pub(crate) empty_tools: Option<String>,
    /// Whether the history may change the tools that there are
    #[arg(long, value_name = "WHAT", value_parser = words::<ToolChanges>())]
    pub(crate) tool_changes: Option<String>,
    /// Bytes of notices that may repeat earlier ones
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_repeated_bytes: Option<usize>,
    /// The role of system messages whose directives became text
    #[arg(long, value_name = "WHAT", value_parser = words::<SystemMessages>())]
    pub(crate) system_messages: Option<String>,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Args, Debug)]
pub(crate) struct RestoreArguments {
    /// What `toolwire sanitize --json` printed
    #[arg(long, value_name = "FILE")]
    pub(crate) with: String,
    /// The name in the model's call; then the input is its arguments, and not a reply
    #[arg(long, value_name = "NAME")]
    pub(crate) call: Option<String>,
    /// The reply, or the arguments of one schema's tool, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    #[command(flatten)]
    pub(crate) layout: Layout,
}

#[derive(Args, Debug)]
pub(crate) struct DialectsArguments {
    /// One dialect, with all that is known of it
    #[arg(value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

const ALL: &str = "all";

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
    /// As the library's options.
    pub(crate) fn options(&self, dialect: &str) -> SanitizeOptions {
        let mut options = SanitizeOptions::new(dialect).allow(choice(Some(&self.allow)).unwrap_or_default());
        options.refs = choice(self.refs.as_deref());
        options.untyped = choice(self.untyped.as_deref());
        options.hints = choice(self.hints.as_deref());
        options.max_bytes = self.max_bytes.map(|limit| limit.0);
        options.max_nodes = self.max_nodes;
        options.max_steps = self.max_steps;
        options
    }
}

impl DeferArguments {
    /// As the library's options.
    pub(crate) fn options(&self) -> DeferredOptions {
        let mut options = DeferredOptions::default();
        options.target = choice(self.target.as_deref());
        options.format = choice(self.format.as_deref());
        options.announce = choice(self.announce.as_deref()).unwrap_or(options.announce);
        options.mode = choice(self.mode.as_deref()).unwrap_or(options.mode);
        options.order = choice(self.order.as_deref()).unwrap_or(options.order);
        options.unknown_reference = choice(self.unknown_reference.as_deref()).unwrap_or(options.unknown_reference);
        options.forced_tool = choice(self.forced_tool.as_deref()).unwrap_or(options.forced_tool);
        options.server_tool_search = choice(self.server_tool_search.as_deref()).unwrap_or(options.server_tool_search);
        options.server_history = choice(self.server_history.as_deref()).unwrap_or(options.server_history);
        options.empty_tools = choice(self.empty_tools.as_deref()).unwrap_or(options.empty_tools);
        options.system_messages = choice(self.system_messages.as_deref()).unwrap_or(options.system_messages);
        options.tool_changes = choice(self.tool_changes.as_deref()).unwrap_or(options.tool_changes);
        options.loaded_tools = self.loaded_tools.clone();
        options.load_used_tools = self.load_used_tools;
        if let Some(name) = &self.tool_search_name {
            options.tool_search_name = name.clone();
        }
        options.max_repeated_bytes = self.max_repeated_bytes;
        options
    }
}

/// What a word stands for. Only words that the parser let through come here.
pub(crate) fn choice<T: Choices>(word: Option<&str>) -> Option<T> {
    let word = word?;
    T::CHOICES.iter().find(|(spelling, _)| *spelling == word).map(|(_, choice)| *choice)
}

/// The dialects of these names, in their order; of no name, those of APIs.
pub(crate) fn chosen(names: &[String]) -> Vec<&'static Dialect> {
    if names.is_empty() {
        return known_dialects().iter().filter(|dialect| internal::is_of_an_api(dialect)).collect();
    }
    if names.iter().any(|name| name == ALL) {
        return known_dialects().iter().collect();
    }
    let mut found: Vec<&'static Dialect> = Vec::new();
    for name in names {
        let Some(dialect) = known_dialects().iter().find(|dialect| dialect.name == name) else { continue };
        if !found.iter().any(|known| known.name == dialect.name) {
            found.push(dialect);
        }
    }
    found
}
