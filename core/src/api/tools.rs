//! `sanitize_tools`, `check_tools`, `dialect_for` and `deferral_for`.

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::{Input, Restore};
use crate::{
    dialect::{
        lookup::{self, deferral::DeferralChoice, DialectChoice},
        Dialect,
    },
    error::Error,
    json::Node,
    options::{DeferralQuery, DialectQuery, SanitizeOptions, ToolsOptions},
    tools::{
        check::{self, ToolViolation},
        memory::Memory,
        quarantine::Quarantined,
        sanitize_list::{self, Outcome, ToolChange},
        set_aside::{self, SetAsideWarning},
    },
};

/// A tool list that an API accepts; what was changed for that is determined when it is first read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SanitizedTools<T: Input> {
    /// The tools, in the API's own shape.
    pub tools: T::Output,
    /// The tools that could not be made acceptable: they are not in the list.
    pub quarantined: Vec<Quarantined>,
    /// Whether the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub lossless: bool,
    /// Brings the model's calls back to what the tools' own servers expect.
    pub restore: Restore,
    /// A warning to show if tools are missing: which, why, and what to do. Show it once for each
    /// [`key`](SetAsideWarning::key).
    pub warning: Option<SetAsideWarning>,
    input: T,
    options: ToolsOptions,
    changes: OnceCell<Result<Vec<ToolChange>, Error>>,
}

impl<T: Input> SanitizedTools<T> {
    /// Returns every change, tool by tool. Another shape of a tool is not a change.
    ///
    /// # Errors
    /// `budget-exceeded` if there are steps for the tools and not for their report.
    pub fn changes(&self) -> Result<&[ToolChange], Error> {
        let changes = self.changes.get_or_init(|| changes_of(self.input.given()?.read()?, &self.options));
        changes.as_deref().map_err(Clone::clone)
    }
}

/// Every change of a list.
///
/// # Errors
/// As [`sanitize_tools`].
pub(super) fn changes_of(tools: Node<'_>, options: &ToolsOptions) -> Result<Vec<ToolChange>, Error> {
    Ok(sanitize_list::rewrite(tools, options, None)?.changes)
}

/// The report of a sanitized tool list.
#[derive(Debug)]
pub struct ToolsReport {
    pub quarantined: Vec<Quarantined>,
    pub lossless: bool,
    pub restore: Restore,
    pub warning: Option<SetAsideWarning>,
    /// Empty unless they were asked for.
    pub changes: Vec<ToolChange>,
}

/// Rewrites a tool list for one API: each schema in its dialect, each name legal, each tool in the API's own shape. A
/// tool that cannot be made acceptable is set aside, and never costs the others.
///
/// `tools` is a list of tools as MCP's `tools/list`, Anthropic, OpenAI (Chat Completions or Responses), Gemini or
/// Bedrock have them, or an object that has one in `tools`. What the API runs itself (a hosted search, say) is passed
/// on as it is.
///
/// Tools of several servers go into one list as `[{ server, tools }, …]`. Tools of one name stay callable
/// ([`Prefix`](crate::options::Prefix)), and [`Restore::call`] gives the server.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize_tools, ToolsOptions};
/// let search = json!({"name": "search", "inputSchema": {"type": "object", "properties": {}}});
/// let servers = json!([{"server": "github", "tools": [search]}, {"server": "jira", "tools": [search]}]);
/// let sanitized = sanitize_tools(&servers, &ToolsOptions::new("anthropic"))?;
/// assert_eq!(sanitized.tools[0]["name"], "github__search");
/// let call = sanitized.restore.call("github__search", &json!({}))?;
/// assert_eq!((call.server.as_deref(), call.name.as_str()), (Some("github"), "search"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize_tools, ToolsOptions};
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// let tools = json!([{"name": "21st_builder", "inputSchema": schema}]);
/// let sanitized = sanitize_tools(&tools, &ToolsOptions::new("moonshot"))?;
/// assert_eq!(sanitized.tools[0]["function"]["name"], "_21st_builder");
/// let call = sanitized.restore.call("_21st_builder", &json!({"dollar_ref_": "main"}))?;
/// assert_eq!((call.name.as_str(), call.arguments), ("21st_builder", json!({"$ref": "main"})));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect`, `invalid-option`, `invalid-request` if it is no list of tools, `too-deep`; `not-representable` if
/// tools have to be set aside and [`OnSetAside::Error`](crate::options::OnSetAside) forbids that.
pub fn sanitize_tools<T: Input>(tools: T, options: &ToolsOptions) -> Result<SanitizedTools<T>, Error> {
    let (node, report) = sanitize_tools_node(tools.given()?.read()?, options, false)?;
    let ToolsReport { quarantined, lossless, restore, warning, .. } = report;
    let (input, options, changes, tools) = (tools, options.clone(), OnceCell::new(), tools.written(&node)?);
    Ok(SanitizedTools { tools, quarantined, lossless, restore, warning, input, options, changes })
}

/// [`sanitize_tools`] from tree to tree.
///
/// # Errors
/// As [`sanitize_tools`].
pub fn sanitize_tools_node<'a>(
    tools: Node<'a>,
    options: &ToolsOptions,
    with_changes: bool,
) -> Result<(Node<'a>, ToolsReport), Error> {
    let mut once = Memory::forgetful();
    reported(sanitize_list::rewrite(tools, options, (!with_changes).then_some(&mut once))?, options)
}

/// # Errors
/// `not-representable` if no tool may be set aside.
pub(super) fn reported<'a>(outcome: Outcome<'a>, options: &ToolsOptions) -> Result<(Node<'a>, ToolsReport), Error> {
    let Outcome { tools, quarantined, changes, lossless, restore_map, .. } = outcome;
    let dialect = crate::dialect::of(&options.sanitize)?.name;
    let warning = set_aside::tell(options.on_set_aside, dialect, &quarantined, options.sanitize.naming)?;
    Ok((tools, ToolsReport { quarantined, lossless, restore: Restore(restore_map), warning, changes }))
}

/// What the APIs behind some dialects would reject about a tool list as it is, dialect by dialect. Empty means
/// accepted.
///
/// ```
/// use serde_json::json;
/// let tools = json!([{"name": "a b", "inputSchema": {"type": "object", "properties": {}}}]);
/// let violations = toolwire::check_tools(&tools, &["moonshot"])?;
/// let found = &violations[0];
/// assert_eq!((found.constraint, found.pointer.as_str(), found.confidence), ("tool-name", "/0/name", 'A'));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect`, `invalid-request` if it is no list of tools, `too-deep`.
pub fn check_tools<S: AsRef<str>>(tools: impl Input, dialects: &[S]) -> Result<Vec<ToolViolation>, Error> {
    check::list(tools.given()?.read()?, &named(dialects)?)
}

/// The dialects of these names.
pub(super) fn named<S: AsRef<str>>(dialects: &[S]) -> Result<Vec<&'static Dialect>, Error> {
    let known = |(at, name): (usize, &S)| {
        let options = SanitizeOptions::new(name.as_ref());
        crate::dialect::of(&options)
            .map_err(|error| Error::new(error.code(), alloc::format!("/dialects/{at}"), error.message()))
    };
    dialects.iter().enumerate().map(known).collect()
}

/// Returns the dialect of an API by its host, its protocol and the model, with the confidence and the reason. An
/// unknown API is `portable`, unless the query is [exact](DialectQuery::exact).
///
/// ```
/// use toolwire::{dialect_for, DialectQuery};
/// let query = DialectQuery { model: Some("anthropic/claude-sonnet-4.5".into()), ..DialectQuery::default() };
/// assert_eq!(dialect_for(&query)?.dialect, "anthropic");
/// let choice = dialect_for(&DialectQuery { host: Some("llm.example".into()), ..DialectQuery::default() })?;
/// assert_eq!((choice.dialect, choice.confidence), ("portable", 'C'));
/// assert!(choice.because.starts_with("unknown host `llm.example`"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect` for a host that is retired, and for an unknown API if the query is exact; `invalid-option` if
/// there is nothing to go by.
pub fn dialect_for(query: &DialectQuery) -> Result<DialectChoice, Error> {
    lookup::dialect_for(query)
}

/// The options `target` and `native` of [`apply_deferred_loading`](crate::apply_deferred_loading) for what is known of
/// a backend: which construct of its own for deferred tools it has. Every answer says what it rests on, and since when.
///
/// A backend that nobody knows to have one is no error: its `native` is [`Native::None`](crate::options::Native::None),
/// and deferred tools are emulated.
///
/// ```
/// use serde_json::json;
/// use toolwire::{apply_deferred_loading, deferral_for, options::Native, DeferralQuery, DeferredOptions};
/// let choice = deferral_for(&DeferralQuery::default().host("api.moonshot.ai").model("kimi-k3"))?;
/// assert_eq!(choice.native, Native::Kimi);
/// let options = DeferredOptions::default().target(choice.target).native(choice.native);
/// let added = json!({"type": "additional_tools", "role": "developer", "tools": [
///     {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}},
/// ]});
/// let codex = json!({"model": "kimi-k3", "input": [{"role": "user", "content": "Rain in Rome?"}, added]});
/// let body = apply_deferred_loading(&codex, &options)?.request;
/// assert_eq!(body["messages"][1]["tools"][0]["function"]["name"], "weather");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-option` if neither a host nor a model is given.
pub fn deferral_for(query: &DeferralQuery) -> Result<DeferralChoice, Error> {
    lookup::deferral::deferral_for(query)
}
