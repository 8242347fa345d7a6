//! The command line: its commands, options and help. What they do is elsewhere.

// `format` is for what clap derives, which takes a prelude for granted.
use alloc::{format, string::String, vec::Vec};
use clap::{builder::PossibleValuesParser, Args, Parser, Subcommand};

use super::matrix::Outcome;
use crate::{
    dialect::{Dialect, Method, DIALECTS},
    options::{
        Announce, DeferredOptions, EmptyTools, ForcedTool, Format, Hints, Mode, Order, Refs, SanitizeOptions, ServerHistory,
        ServerToolSearch, SystemMessages, Target, ToolChanges, ToolFormat, UnknownReference, Untyped,
    },
    report::Allow,
};

/// Any tool schema, any model, nothing lost on the way without saying so.
#[derive(Debug, Parser)]
#[command(name = "toolwire", version, arg_required_else_help = true, subcommand_required = true, after_help = EXAMPLES)]
pub(super) struct CommandLine {
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  toolwire matrix -- npx -y some-mcp-server    Will my MCP server work with every model?
  toolwire check --dialect gemini tools.json   What would the API answer with HTTP 400?
  toolwire explain --tool search --dialect gemini tools.json
  toolwire sanitize --dialect gemini < tools.json > for-gemini.json
  toolwire defer --target openai-chat request.json

The input is JSON or JSON Lines: a schema, a tool, a list of tools as any API writes them, what an MCP server answered to
`tools/list`, a request with tools. From a file, from standard input, or from an MCP server that is started for it (`-- SERVER`).

Exit codes: 0 fine; 1 something was found, or a tool cannot be had; 2 wrong usage, or an input that cannot be read.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Which tools work with which APIs, as they are and rewritten, and what would be lost
    #[command(after_help = "\
Columns:
  accepted   the API takes the tool as it is
  lossless   rewritten, the same arguments are accepted, and the model reads the same
  encoded    the same, once the model's arguments were brought back (`restoreArguments`)
  lost       the same arguments are accepted, but something the model reads is gone
  wider      arguments are accepted that the tool's server will have to refuse
  narrower   arguments are refused that the tool's server would accept
  refused    the tool cannot be written for that API

--fail-on takes these from `encoded` on, and `rejected` (an API rejects a tool as it is), `changed` (anything has to change), `never`.

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
A schema becomes a schema, a list of tools the list that the API takes, a request a request (after deferred loading). With --json, what
was changed stands beside it, and what `toolwire restore` needs. Tools that cannot be written are left out and named on standard error.

Examples:
  toolwire sanitize --dialect gemini tools.json
  toolwire sanitize --dialect openai-strict --allow wider --fallback openai-chat -- npx -y some-mcp-server
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
pub(super) struct Source {
    /// JSON or JSON Lines; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<String>,
    /// A variable of the environment that the server gets beside PATH, HOME and the like; as often as need be
    #[arg(long = "env", value_name = "NAME", requires = "server")]
    pub(super) environment: Vec<String>,
    /// An MCP server to start: its tools are the input (after `--`)
    #[arg(last = true, value_name = "SERVER", conflicts_with = "file")]
    pub(super) server: Vec<String>,
}

/// How the result is written.
#[derive(Args, Debug)]
pub(super) struct Machine {
    /// One JSON document, for machines
    #[arg(long)]
    pub(super) json: bool,
}

/// How JSON is laid out.
#[derive(Args, Debug)]
pub(super) struct Layout {
    /// No line breaks: byte for byte what the library gives
    #[arg(long)]
    pub(super) compact: bool,
}

#[derive(Args, Debug)]
pub(super) struct MatrixArguments {
    #[command(flatten)]
    pub(super) source: Source,
    /// Only these; default: all but `codex` and `codex-wire`, which are no APIs; `all`: them, too
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',', value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(super) dialects: Vec<String>,
    /// The most loss that is accepted; tools with more are refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words(Allow::CHOICES))]
    pub(super) allow: String,
    /// From which outcome on the exit code is 1
    #[arg(long, value_name = "OUTCOME", default_value = "refused", value_parser = PossibleValuesParser::new(Outcome::LEVELS))]
    pub(super) fail_on: String,
    /// Every tool, not only those that lose something
    #[arg(long)]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) machine: Machine,
}

#[derive(Args, Debug)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) source: Source,
    /// Only these; default: all but `codex` and `codex-wire`, which are no APIs; `all`: them, too
    #[arg(short, long = "dialect", value_name = "DIALECT", value_delimiter = ',', value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(super) dialects: Vec<String>,
    #[command(flatten)]
    pub(super) machine: Machine,
}

#[derive(Args, Debug)]
pub(super) struct SanitizeArguments {
    #[command(flatten)]
    pub(super) source: Source,
    /// The dialect to write (`toolwire dialects` lists them)
    #[arg(short, long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(super) dialect: String,
    #[command(flatten)]
    pub(super) rewriting: Rewriting,
    /// The shape of the tools, where it is not the dialect's own
    #[arg(long, value_name = "FORMAT", value_parser = words(ToolFormat::CHOICES))]
    pub(super) format: Option<String>,
    /// Another dialect, for tools that the first one cannot say
    #[arg(long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(super) fallback: Option<String>,
    #[command(flatten)]
    pub(super) layout: Layout,
    #[command(flatten)]
    pub(super) machine: Machine,
}

/// The options of `sanitize` that are about schemas.
#[derive(Args, Debug)]
pub(super) struct Rewriting {
    /// The most loss that is accepted; beyond it a tool is refused
    #[arg(long, value_name = "LOSS", default_value = "any", value_parser = words(Allow::CHOICES))]
    pub(super) allow: String,
    /// What becomes of `$ref`
    #[arg(long, value_name = "WHAT", value_parser = words(Refs::CHOICES))]
    pub(super) refs: Option<String>,
    /// What becomes of a schema without a type
    #[arg(long, value_name = "WHAT", value_parser = words(Untyped::CHOICES))]
    pub(super) untyped: Option<String>,
    /// What becomes of constraints that the dialect cannot say
    #[arg(long, value_name = "WHAT", value_parser = words(Hints::CHOICES))]
    pub(super) hints: Option<String>,
    /// The size above which the dialect compacts; `none`: no limit
    #[arg(long, value_name = "BYTES", value_parser = limit)]
    pub(super) max_bytes: Option<Limit>,
    /// The most nodes that inlining may produce
    #[arg(long, value_name = "NODES")]
    pub(super) max_nodes: Option<usize>,
    /// The most steps that one call may take
    #[arg(long, value_name = "STEPS")]
    pub(super) max_steps: Option<usize>,
}

/// A number, or no limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) Option<usize>);

#[derive(Args, Debug)]
pub(super) struct ExplainArguments {
    #[command(flatten)]
    pub(super) source: Source,
    /// The tool's name; not needed if there is only one
    #[arg(short, long, value_name = "NAME")]
    pub(super) tool: Option<String>,
    /// The dialects to write it in (`toolwire dialects` lists them)
    #[arg(short, long = "dialect", value_name = "DIALECT", required = true, value_delimiter = ',', value_parser = dialects_or_all(), hide_possible_values = true)]
    pub(super) dialects: Vec<String>,
    #[command(flatten)]
    pub(super) rewriting: Rewriting,
    /// Excerpts whole, however long
    #[arg(long)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) machine: Machine,
}

#[derive(Args, Debug)]
pub(super) struct DeferArguments {
    /// The request, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<String>,
    /// The format to translate an Anthropic request into
    #[arg(long, value_name = "FORMAT", value_parser = words(Target::CHOICES))]
    pub(super) target: Option<String>,
    /// The request's format, where its shape does not tell
    #[arg(long, value_name = "FORMAT", value_parser = words(Format::CHOICES))]
    pub(super) format: Option<String>,
    /// Whether hidden tools are announced by name
    #[arg(long, value_name = "WHAT", value_parser = words(Announce::CHOICES))]
    pub(super) announce: Option<String>,
    /// Whether deferred tools are hidden until they are loaded
    #[arg(long, value_name = "MODE", value_parser = words(Mode::CHOICES))]
    pub(super) mode: Option<String>,
    /// Where loaded tools stand
    #[arg(long, value_name = "ORDER", value_parser = words(Order::CHOICES))]
    pub(super) order: Option<String>,
    /// A tool that counts as loaded whatever the history says; as often as need be
    #[arg(long = "loaded-tool", value_name = "NAME")]
    pub(super) loaded_tools: Vec<String>,
    /// A call of a tool in the history counts as a load of it
    #[arg(long)]
    pub(super) load_used_tools: bool,
    /// What happens if `tool_choice` forces a tool that is not loaded
    #[arg(long, value_name = "WHAT", value_parser = words(ForcedTool::CHOICES))]
    pub(super) forced_tool: Option<String>,
    /// What a reference to an unknown tool becomes
    #[arg(long, value_name = "WHAT", value_parser = words(UnknownReference::CHOICES))]
    pub(super) unknown_reference: Option<String>,
    /// What becomes of the hosted tool search
    #[arg(long, value_name = "WHAT", value_parser = words(ServerToolSearch::CHOICES))]
    pub(super) server_tool_search: Option<String>,
    /// What becomes of hosted searches in the history
    #[arg(long, value_name = "WHAT", value_parser = words(ServerHistory::CHOICES))]
    pub(super) server_history: Option<String>,
    /// The name of the function that stands for a tool search
    #[arg(long, value_name = "NAME")]
    pub(super) tool_search_name: Option<String>,
    /// What is sent if no tool is visible
    #[arg(long, value_name = "WHAT", value_parser = words(EmptyTools::CHOICES))]
    pub(super) empty_tools: Option<String>,
    /// Whether the history may change the tools that there are
    #[arg(long, value_name = "WHAT", value_parser = words(ToolChanges::CHOICES))]
    pub(super) tool_changes: Option<String>,
    /// Bytes of notices that may repeat earlier ones
    #[arg(long, value_name = "BYTES")]
    pub(super) max_repeated_bytes: Option<usize>,
    /// The role of system messages whose directives became text
    #[arg(long, value_name = "WHAT", value_parser = words(SystemMessages::CHOICES))]
    pub(super) system_messages: Option<String>,
    #[command(flatten)]
    pub(super) layout: Layout,
    #[command(flatten)]
    pub(super) machine: Machine,
}

#[derive(Args, Debug)]
pub(super) struct RestoreArguments {
    /// What `toolwire sanitize --json` printed
    #[arg(long, value_name = "FILE")]
    pub(super) with: String,
    /// The name in the model's call; then the input is its arguments, and not a reply
    #[arg(long, value_name = "NAME")]
    pub(super) call: Option<String>,
    /// The reply, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<String>,
    #[command(flatten)]
    pub(super) layout: Layout,
}

#[derive(Args, Debug)]
pub(super) struct DialectsArguments {
    /// One dialect, with all that is known of it
    #[arg(value_name = "DIALECT", value_parser = dialects(), hide_possible_values = true)]
    pub(super) dialect: Option<String>,
    #[command(flatten)]
    pub(super) machine: Machine,
}

const ALL: &str = "all";

fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(DIALECTS.iter().map(|dialect| dialect.name))
}

fn dialects_or_all() -> PossibleValuesParser {
    PossibleValuesParser::new(DIALECTS.iter().map(|dialect| dialect.name).chain([ALL]))
}

fn words<T>(choices: &'static [(&'static str, T)]) -> PossibleValuesParser {
    PossibleValuesParser::new(choices.iter().map(|(word, _)| *word))
}

fn limit(text: &str) -> Result<Limit, core::num::ParseIntError> {
    if text == "none" {
        return Ok(Limit(None));
    }
    text.parse().map(|count| Limit(Some(count)))
}

impl Rewriting {
    /// As the library's options.
    pub(super) fn options(&self, dialect: &str) -> SanitizeOptions {
        let mut options = SanitizeOptions::new(dialect).allow(meant(Allow::CHOICES, Some(&self.allow)).unwrap_or_default());
        options.refs = meant(Refs::CHOICES, self.refs.as_deref());
        options.untyped = meant(Untyped::CHOICES, self.untyped.as_deref());
        options.hints = meant(Hints::CHOICES, self.hints.as_deref());
        options.max_bytes = self.max_bytes.map(|limit| limit.0);
        options.max_nodes = self.max_nodes;
        options.max_steps = self.max_steps;
        options
    }
}

impl DeferArguments {
    /// As the library's options.
    pub(super) fn options(&self) -> DeferredOptions {
        let default = DeferredOptions::default();
        DeferredOptions {
            target: meant(Target::CHOICES, self.target.as_deref()),
            format: meant(Format::CHOICES, self.format.as_deref()),
            announce: meant(Announce::CHOICES, self.announce.as_deref()).unwrap_or(default.announce),
            mode: meant(Mode::CHOICES, self.mode.as_deref()).unwrap_or(default.mode),
            order: meant(Order::CHOICES, self.order.as_deref()).unwrap_or(default.order),
            unknown_reference: meant(UnknownReference::CHOICES, self.unknown_reference.as_deref()).unwrap_or(default.unknown_reference),
            forced_tool: meant(ForcedTool::CHOICES, self.forced_tool.as_deref()).unwrap_or(default.forced_tool),
            server_tool_search: meant(ServerToolSearch::CHOICES, self.server_tool_search.as_deref()).unwrap_or(default.server_tool_search),
            server_history: meant(ServerHistory::CHOICES, self.server_history.as_deref()).unwrap_or(default.server_history),
            empty_tools: meant(EmptyTools::CHOICES, self.empty_tools.as_deref()).unwrap_or(default.empty_tools),
            system_messages: meant(SystemMessages::CHOICES, self.system_messages.as_deref()).unwrap_or(default.system_messages),
            loaded_tools: self.loaded_tools.clone(),
            load_used_tools: self.load_used_tools,
            tool_search_name: self.tool_search_name.clone().unwrap_or(default.tool_search_name),
            tool_changes: meant(ToolChanges::CHOICES, self.tool_changes.as_deref()).unwrap_or(default.tool_changes),
            max_repeated_bytes: self.max_repeated_bytes,
            share: false,
        }
    }
}

/// What a word stands for. Only words that the parser let through come here.
pub(super) fn meant<T: Copy>(choices: &[(&str, T)], word: Option<&str>) -> Option<T> {
    let word = word?;
    choices.iter().find(|(spelling, _)| *spelling == word).map(|(_, choice)| *choice)
}

/// The dialects of these names, in their order; of no name, those of APIs.
pub(super) fn chosen(names: &[String]) -> Vec<&'static Dialect> {
    if names.is_empty() {
        return DIALECTS.iter().filter(|dialect| !matches!(dialect.method, Method::Codex { .. })).collect();
    }
    if names.iter().any(|name| name == ALL) {
        return DIALECTS.iter().collect();
    }
    let mut found: Vec<&'static Dialect> = Vec::new();
    for name in names {
        let Some(dialect) = DIALECTS.iter().find(|dialect| dialect.name == name) else { continue };
        if !found.iter().any(|known| known.name == dialect.name) {
            found.push(dialect);
        }
    }
    found
}
