//! The door of the command line: what the crate `toolwire-command` needs beyond the public API, and nothing more. (That
//! of the bindings is [`bindings`].)
//!
//! The public functions take `serde_json::Value` or text. The command line has to recognise its input before it knows
//! which function it is for, so it works on trees; it offers the words of options as its own; and it asks what a
//! dialect means for a whole list. Hidden, because nobody else gets a promise about it. `core/tests/architecture.rs`
//! holds that it is the only door, and that everything in it is used.

pub mod bindings;
pub mod steps;

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{surface::NamePattern, Dialect, Fact, Method},
    error::Error,
    exchange,
    json::Node,
    options::{
        Announce, Api, Client, CustomTools, DeferredOptions, EmptyTools, ForcedTool, Formats, Hints, Mode, Native,
        Order, Overflow, Prefix, Reasoning, Refs, Removals, ServerHistory, ServerToolSearch, SystemMessages,
        ToolChanges, ToolFormat, ToolsOptions, Truncated, UnavailableCalls, UnknownReference, Untyped, Use,
    },
    report::Allow,
    request::{
        self,
        tool_format::{self, Entry},
        tool_list::Listing,
    },
    rules::Constraint,
    tools::servers,
};

pub use crate::{
    api::{sanitize::sanitize_with_report, tools::sanitize_tools_node as sanitize_tools},
    check::check,
    nearest::{did_you_mean, nearest},
    sanitize::sanitize,
    tools::{
        as_sent::{as_sent, strict_member, SentTool},
        check::list as check_tools,
        check_request::check as check_request,
    },
};

/// Reports and dialects as JSON.
pub mod describe {
    pub use crate::api::describe::{
        adapted, change, deferred, dialect, dialects, repaired, rewrite, tools, validation,
    };
}

/// Whether a value is a tool of the caller, in any API's shape.
pub fn is_tool(value: &Node<'_>) -> bool {
    matches!(tool_format::recognise(value), Entry::Tool(_))
}

/// Whether a value is what stands in a tool list for something that the API runs itself.
pub fn is_hosted(value: &Node<'_>) -> bool {
    tool_format::recognise(value) == Entry::Hosted
}

/// The entries of a tool list in their order, each with its pointer and its name, less those that the API runs itself.
/// In a list of several servers, a name that several of them have begins with that of its server.
///
/// # Errors
/// `invalid-request` if it is no tool list.
pub fn entries(list: Node<'_>) -> Result<Vec<(String, Option<String>)>, Error> {
    let (list, servers) = servers::flatten(list, Prefix::Auto, NamePattern::ANY)?;
    let mut listing = Listing::read(list)?;
    servers.iter().for_each(|servers| servers.settle(&mut listing));
    let named = listing.entries().filter_map(|listed| {
        let name = match tool_format::recognise(&listed.entry) {
            Entry::Hosted => return None,
            Entry::Tool(shape) => shape.name(&listed.entry).map(|name| name.display().into_owned()),
            Entry::Unknown => None,
        };
        Some((listed.pointer.clone(), name))
    });
    Ok(named.collect())
}

/// The schema of a tool, in any API's shape; `None`: it has none.
pub fn schema_of<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Node<'a>> {
    match tool_format::recognise(tool) {
        Entry::Tool(shape) => shape.schema(tool),
        Entry::Hosted | Entry::Unknown => None,
    }
}

/// Whether a dialect is that of an API. (Codex's are those of a client.)
pub fn is_of_an_api(dialect: &Dialect) -> bool {
    !matches!(dialect.method, Method::Codex { .. })
}

/// The fact that a rule of [`check`] rests on.
pub fn fact_of(dialect: &Dialect, rule: &str, pointer: &str) -> Option<&'static Fact> {
    dialect.fact_of(rule, pointer).or_else(|| dialect.facts.first())
}

/// Whether a rule of [`check_tools`] says that a request has no room for a tool, whatever the tool itself is like.
pub fn is_about_room(dialect: &Dialect, rule: &str) -> bool {
    rule == Constraint::TooManyTools.id() || dialect.tools.budgets.iter().any(|budget| budget.counts.rule() == rule)
}

/// The constraint of a name that violations have.
pub fn constraint_of(rule: &str) -> Option<Constraint> {
    Constraint::ALL.iter().copied().find(|constraint| constraint.id() == rule)
}

/// The API that a URL is of, by the end of its path; `None` if it does not take tools.
pub fn api_of(url: &str) -> Option<Api> {
    exchange::api_of(url)
}

/// Maximum number of tools that a request to the API may have.
pub fn most_tools(dialect: &Dialect) -> Option<usize> {
    dialect.tools.tools_most
}

/// The options for a list that is not that of one request: the API's maximum of tools does not apply.
pub fn with_any_count(mut options: ToolsOptions) -> ToolsOptions {
    options.any_count = true;
    options.max_tools = Some(None);
    options
}

/// The members that a tool's schema may stand in.
pub fn schema_members() -> impl Iterator<Item = &'static str> {
    tool_format::schema_members()
}

/// The format of a request, by its shape or by the options.
///
/// # Errors
/// `invalid-request` if it is none, `invalid-option` if the options do not suit it.
pub fn format_of(request: &Node<'_>, options: &DeferredOptions) -> Result<Api, Error> {
    request::source_of(request, options)
}

/// Whether the client, and not the API, runs a search of OpenAI Responses, or ran it: of its call, or its output.
pub fn is_client_search(item: &Node<'_>) -> bool {
    request::tool::is_client_search(item)
}

/// The words of an option, and what each stands for.
pub trait Choices: Copy + 'static {
    /// All of them, in the order of the documentation.
    const CHOICES: &'static [(&'static str, Self)];
}

/// An API is asked for where deferred loading is.
impl Choices for Api {
    const CHOICES: &'static [(&'static str, Self)] = Api::WITH_DEFERRAL;
}

macro_rules! choices {
    ($($option:ident),* $(,)?) => {
        $(impl Choices for $option {
            const CHOICES: &'static [(&'static str, Self)] = $option::CHOICES;
        })*
    };
}

choices!(
    Allow,
    Announce,
    Client,
    CustomTools,
    EmptyTools,
    ForcedTool,
    Formats,
    Hints,
    Mode,
    Native,
    Order,
    Overflow,
    Prefix,
    Reasoning,
    Refs,
    Removals,
    ServerHistory,
    ServerToolSearch,
    SystemMessages,
    ToolChanges,
    ToolFormat,
    Truncated,
    UnavailableCalls,
    UnknownReference,
    Untyped,
    Use,
);
