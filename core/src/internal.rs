//! The interface for the command line: what the crate `toolwire-command` needs in addition to the public API.
//! ([`bindings`] is the interface for the bindings.)
//!
//! The public functions accept `serde_json::Value` or text. The command line has to detect the kind of its input before
//! calling a function, so it works on trees. Its flags accept the options' strings, and it looks up the facts of a
//! dialect that concern a whole list. The module is hidden, because its API is not stable.
//! `core/tests/it/architecture.rs` verifies that it is the only such interface, and that everything in it is used.

pub mod bindings;
pub mod hosts;
pub mod rounds;
pub mod steps;

use alloc::{string::String, vec::Vec};

#[cfg(feature = "exchange")]
use crate::options::ExchangeOptions;

use crate::{
    dialect::{named, surface::NamePattern, Dialect, DialectId, Fact, Method},
    error::Error,
    json::Node,
    naming::Naming,
    options::APIS_WITH_DEFERRAL,
    options::{
        AdaptOptions, Announce, Api, CheckRequestOptions, Client, CustomTools, DeferredOptions, ForcedTool, Formats,
        Hints, Limit, Mode, Native, Order, Overflow, Prefix, Reasoning, Refs, Removals, SanitizeOptions, ServerHistory,
        ServerToolSearch, ToolChanges, ToolFormat, ToolsOptions, Truncated, UnavailableCalls, UnknownReference,
        Untyped, Use,
    },
    report::Allow,
    request::{
        self,
        tool_format::{self, Entry},
        tool_list::Entries,
    },
    rules::Constraint,
    tools::{
        check::{self as checks, RequestViolation, ToolViolation},
        quarantine::Quarantined,
        sanitize_list,
        servers::{self, Servers},
    },
};

pub use crate::{
    api::{sanitize::sanitize_with_report, tools::sanitize_tools_node as sanitize_tools},
    check::{
        check,
        findings::{location, FindingLimit},
    },
    json::pointer::{push_token, unescaped_token},
    naming::{did_you_mean, nearest},
    sanitize::sanitize,
    schema::{
        compare::{compare_schemas, SchemaComparison},
        uri::percent_decoded,
    },
    tools::as_sent::{as_sent, strict_member, SentTool},
};

/// The tree that all functions work on.
pub mod json {
    pub use crate::json::*;
}

/// Reports and dialects as JSON.
pub mod describe {
    pub use crate::api::describe::{
        adapted, change, deferred, dialect, dialects, repaired, rewrite, tools, validation,
    };
}

/// Returns true if a value is a tool of the caller, in the format of any API.
pub fn is_tool(value: &Node<'_>) -> bool {
    matches!(tool_format::recognize(value), Entry::Tool(_))
}

/// Returns true if a value is an entry of a tool list for a hosted tool, which the API runs itself.
pub fn is_hosted(value: &Node<'_>) -> bool {
    tool_format::recognize(value) == Entry::Hosted
}

/// An entry of a tool list.
pub struct ListEntry {
    /// JSON Pointer into the list.
    pub pointer: String,
    /// The tool's name. In a list of several servers, a name that several servers use has the server's name as a
    /// prefix.
    pub name: Option<String>,
    /// The tool's server, if the list has several servers.
    pub server: Option<String>,
}

/// Returns the entries of a tool list in order, without hosted tools.
///
/// # Errors
/// `invalid-request` if `list` is not a tool list.
pub fn entries(list: Node<'_>) -> Result<Vec<ListEntry>, Error> {
    let (list, servers) = servers::flatten(list, Prefix::Auto, NamePattern::ANY)?;
    let list = Entries::read(list)?;
    let named = Servers::located(servers.as_ref(), &list).filter_map(|(listed, server)| {
        let name = match tool_format::recognize(listed.entry) {
            Entry::Hosted => return None,
            Entry::Tool(shape) => shape.name(listed.entry).map(|name| name.display().into_owned()),
            Entry::Unknown => None,
        };
        let server = server.map(|server| server.display().into_owned());
        Some(ListEntry { pointer: listed.pointer(), name, server })
    });
    Ok(named.collect())
}

/// Returns the schema of a tool in the format of any API; `None` if it has none.
pub fn schema_of<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Node<'a>> {
    match tool_format::recognize(tool) {
        Entry::Tool(shape) => shape.schema(tool),
        Entry::Hosted | Entry::Unknown => None,
    }
}

/// Returns the format of a tool, if its members identify it, and the pointer to its schema; `None` if the tool has no
/// schema.
pub fn place_of_schema(tool: &Node<'_>) -> Option<(Option<ToolFormat>, String)> {
    match tool_format::recognize(tool) {
        Entry::Tool(shape) => {
            shape.schema(tool).map(|_| (shape.format(), tool_format::pointer(&shape.pointer_to_schema())))
        }
        Entry::Hosted | Entry::Unknown => None,
    }
}

/// Returns true if a dialect describes an API. (Codex's dialects describe a client.)
pub fn is_of_an_api(dialect: &Dialect) -> bool {
    !matches!(dialect.method, Method::Codex { .. })
}

/// Returns the fact behind a constraint that [`check`] reports.
pub fn fact_of(dialect: &Dialect, constraint: Constraint, pointer: &str) -> Option<&'static Fact> {
    dialect.fact_of(constraint, pointer).or_else(|| dialect.facts.first())
}

/// Returns true if a constraint of [`check_tools`] limits all tools of a request together, not each tool separately.
pub fn limits_whole_request(dialect: &Dialect, rule: &str) -> bool {
    rule == Constraint::TooManyTools.id()
        || dialect.tools.budgets.iter().any(|budget| budget.counts.constraint().id() == rule)
}

/// Returns true if an MCP client refuses all tools of the tool's server because of a violation.
pub fn drops_server(violation: &ToolViolation) -> bool {
    violation.drops_server()
}

/// Returns the constraint with this name.
pub fn constraint_of(rule: &str) -> Option<Constraint> {
    Constraint::ALL.iter().copied().find(|constraint| constraint.id() == rule)
}

/// Returns the API that a URL belongs to, by the end of its path; `None` if it does not accept tools.
#[cfg(feature = "exchange")]
pub fn api_of(url: &str) -> Option<Api> {
    crate::exchange::api_of(url)
}

/// Returns a note for the user if requests to a URL may have tools, which are not adapted.
#[cfg(feature = "exchange")]
pub fn note(method: &str, url: &str) -> Option<&'static str> {
    crate::exchange::note(method, url)
}

/// Returns the location of the model's name in a URL of requests that can have tools.
#[cfg(feature = "exchange")]
pub fn model_range(url: &str) -> Option<core::ops::Range<usize>> {
    crate::exchange::model_range(url)
}

/// Returns true if the host of a URL is known to refuse a beta, or if deferred loading may need it.
#[cfg(feature = "exchange")]
pub fn is_known_beta(url: &str, name: &str) -> bool {
    crate::dialect::backends::host_has_beta_fact(url, name) || crate::deferred::is_about_beta(name)
}

/// What the text of a request shows without parsing.
#[cfg(feature = "exchange")]
#[derive(Debug)]
pub struct Outline {
    /// The member `model`, if it is a string.
    pub model: Option<String>,
    /// True if the request needs no change and its reply no restoring, whatever the options and the dialect: it has no
    /// tools, calls or response formats.
    pub is_plain: bool,
}

/// Returns the outline of a request to a URL; `None` if its text has to be parsed to find it.
#[cfg(feature = "exchange")]
pub fn outline(url: &str, body: &str) -> Option<Outline> {
    let crate::exchange::plain::Outline { model, is_plain } = crate::exchange::plain::outline(url, body)?;
    Some(Outline { model, is_plain })
}

/// Returns the format of the tools of the API.
pub fn tool_format_of(dialect: &Dialect) -> ToolFormat {
    dialect.tools.format
}

/// Returns the maximum number of tools in a request to the API.
pub fn max_tools(dialect: &Dialect) -> Option<usize> {
    dialect.tools.max_tools
}

/// Returns options whose names are spelled as in JSON in messages, not as in Rust.
pub fn schema_options(dialect: DialectId) -> SanitizeOptions {
    SanitizeOptions { naming: Naming::Camel, ..SanitizeOptions::new(dialect) }
}

/// Same as [`schema_options`], for lists of tools.
pub fn tools_options(dialect: DialectId) -> ToolsOptions {
    let mut options = ToolsOptions::new(dialect);
    options.sanitize.naming = Naming::Camel;
    options
}

/// Same as [`schema_options`], for requests.
pub fn request_options(dialect: DialectId) -> AdaptOptions {
    let mut options = AdaptOptions::new(dialect);
    options.tools.sanitize.naming = Naming::Camel;
    options
}

/// Returns the violations of a list, with the names of options spelled as in JSON.
///
/// # Errors
/// `invalid-request` if the input is not a list of tools, `too-deep`.
pub fn check_tools(
    tools: Node<'_>,
    dialects: &[&'static Dialect],
    limit: FindingLimit,
) -> Result<Vec<ToolViolation>, Error> {
    checks::list(tools, dialects, limit, Naming::Camel)
}

/// Like [`check_tools`], but for tools that will be sent in the format of the dialect: a list has the same violations
/// in the format of every API.
///
/// # Errors
/// Same as [`check_tools`].
pub fn check_tools_in_format(
    tools: Node<'_>,
    dialect: &'static Dialect,
    limit: FindingLimit,
) -> Result<Vec<ToolViolation>, Error> {
    checks::in_format_of(tools, dialect, limit, Naming::Camel)
}

/// Returns the violations of a request, with the names of options spelled as in JSON.
///
/// # Errors
/// `too-deep`, `budget-exceeded`; `invalid-request` if the input is not a request.
pub fn check_request(
    request: Node<'_>,
    dialect: DialectId,
    limit: FindingLimit,
) -> Result<Vec<RequestViolation>, Error> {
    checks::request(request, &CheckRequestOptions { naming: Naming::Camel, ..dialect.into() }, limit)
}

/// Returns options of an exchange whose names are spelled as in JSON in messages, not as in Rust.
#[cfg(feature = "exchange")]
pub fn exchange_with_names_of_json(mut options: ExchangeOptions) -> ExchangeOptions {
    options.adapt.tools.sanitize.naming = Naming::Camel;
    options
}

/// Returns options for a list that is not sent in a single request: the API's maximum number of tools does not apply.
pub fn with_any_count(mut options: ToolsOptions) -> ToolsOptions {
    options.any_count = true;
    options.max_tools = Limit::Unlimited;
    options
}

/// Returns the maximum length of a server's name in the configuration of a client that limits the names of servers and
/// tools together; `None` for any other dialect.
pub fn max_server_name(dialect: Option<DialectId>) -> Option<usize> {
    let dialect = named(dialect?.as_str()).ok()?;
    Some(sanitize_list::max_server_name(dialect.tools.qualified?))
}

/// Returns options for a client that lists the tools under the server's name in its own configuration.
pub fn with_server(mut options: ToolsOptions, server: Option<String>) -> ToolsOptions {
    options.server = server;
    options
}

/// Returns the name of a tool that was set aside, or the type of a hosted tool without a name.
pub fn label(tool: &Quarantined) -> &str {
    tool.name.as_deref().or(tool.hosted.as_deref()).unwrap_or_default()
}

/// Returns the names of the members that may contain a tool's schema.
pub fn schema_members() -> impl Iterator<Item = &'static str> {
    tool_format::schema_members()
}

/// Returns the format of a request, determined by its content or by the options.
///
/// # Errors
/// `invalid-request` if the format is unknown; `invalid-option` if the options do not match it.
pub fn format_of(request: &Node<'_>, options: &DeferredOptions) -> Result<Api, Error> {
    request::source_of(request, options)
}

/// Returns true if an item of OpenAI Responses is the call or the output of a search that the client runs, not the API.
pub fn is_client_search(item: &Node<'_>) -> bool {
    crate::wire::responses::is_client_search(item)
}

/// An option's allowed strings and their values.
pub trait Choices: Copy + 'static {
    /// All strings, in the order of the documentation.
    const CHOICES: &'static [(&'static str, Self)];
}

/// The APIs are those that deferred loading supports.
impl Choices for Api {
    const CHOICES: &'static [(&'static str, Self)] = APIS_WITH_DEFERRAL;
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
    ToolChanges,
    ToolFormat,
    Truncated,
    UnavailableCalls,
    UnknownReference,
    Untyped,
    Use,
);
