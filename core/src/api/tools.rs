//! `sanitize_tools`, `check_tools`, `dialect_for`, `deferral_for` and `dialects`. A `ToolSet` is a tool list that is
//! sent repeatedly.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::{once::OnceValue, Form, Input, OwnedForm, Restore};
use crate::{
    check::findings::FindingLimit,
    dialect::{
        self,
        lookup::{self, deferral::DeferralChoice, DialectChoice},
        Dialect, DialectId, DIALECTS,
    },
    error::Error,
    json::{self, Node},
    naming::Naming,
    options::{DeferralQuery, DialectQuery, ToolsOptions},
    report::Detail,
    tools::{
        check::{self, ToolViolation},
        quarantine::{self, Quarantined, SetAsideWarning},
        sanitize_list::{self, Outcome, ToolChange},
    },
};

/// A tool list that an API accepts. Its changes are computed when they are first read, from the input, which it
/// therefore borrows; [`into_owned`](Self::into_owned) copies it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SanitizedTools<T: Form> {
    /// Tools in the API's format.
    pub tools: T::Output,
    /// Tools that could not be made acceptable, and are not in the list.
    pub quarantined: Vec<Quarantined>,
    /// True if the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub lossless: bool,
    /// Restores the model's calls to the form that the tools' servers expect.
    pub restore: Restore,
    /// Warning to show if tools are missing: which tools, why, and what to do. Show it once for each
    /// [`key`](SetAsideWarning::key).
    pub warning: Option<SetAsideWarning>,
    input: T,
    options: ToolsOptions,
    changes: OnceValue<Result<Vec<ToolChange>, Error>>,
}

impl<T: Form> SanitizedTools<T> {
    /// Returns every change, tool by tool. A different tool format is not a change.
    ///
    /// # Errors
    /// `budget-exceeded` if computing the changes exceeds the step budget, even though rewriting the tools did not: see
    /// [`Rewritten`](crate::Rewritten).
    pub fn changes(&self) -> Result<&[ToolChange], Error> {
        let changes = self.changes.get_or_init(|| {
            let tools = self.input.given()?.read()?;
            Ok(sanitize_list::rewrite(tools, &self.options, Detail::Whole)?.changes)
        });
        changes.as_deref().map_err(Clone::clone)
    }

    /// Returns the result with a copy of the input.
    #[must_use]
    pub fn into_owned(self) -> SanitizedTools<T::Owned> {
        let SanitizedTools { tools, quarantined, lossless, restore, warning, input, options, changes } = self;
        let (tools, input) = (tools.into(), input.copied());
        SanitizedTools { tools, quarantined, lossless, restore, warning, input, options, changes }
    }
}

/// The report of a sanitized tool list.
#[derive(Debug)]
pub struct ToolsReport {
    pub quarantined: Vec<Quarantined>,
    pub lossless: bool,
    pub restore: Restore,
    pub warning: Option<SetAsideWarning>,
    /// The changes. Empty unless the caller requested them.
    pub changes: Vec<ToolChange>,
}

/// Rewrites a tool list for one API: it rewrites each schema into the dialect, each name into a legal one, and each
/// tool into the API's format. A tool that cannot be made acceptable is set aside and does not affect the others.
///
/// `tools` is a list of tools in the format of MCP's `tools/list`, Anthropic, OpenAI (Chat Completions or Responses),
/// Gemini or Bedrock, or an object with such a list in `tools`. Hosted tools, which the API runs itself (for example, a
/// search), are returned unchanged.
///
/// For tools of several servers, the list is `[{ server, tools }, …]`. Tools with the same name remain callable
/// ([`Prefix`](crate::options::Prefix)), and [`Restore::call`] returns the server.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize_tools, Dialect, ToolsOptions};
/// let search = json!({"name": "search", "inputSchema": {"type": "object", "properties": {}}});
/// let servers = json!([{"server": "github", "tools": [search]}, {"server": "jira", "tools": [search]}]);
/// let sanitized = sanitize_tools(&servers, &ToolsOptions::new(Dialect::ANTHROPIC))?;
/// assert_eq!(sanitized.tools[0]["name"], "github__search");
/// let call = sanitized.restore.call("github__search", &json!({}))?;
/// assert_eq!((call.server.as_deref(), call.name.as_str()), (Some("github"), "search"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize_tools, Dialect, ToolsOptions};
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// let tools = json!([{"name": "21st_builder", "inputSchema": schema}]);
/// let sanitized = sanitize_tools(&tools, &ToolsOptions::new(Dialect::MOONSHOT))?;
/// assert_eq!(sanitized.tools[0]["function"]["name"], "_21st_builder");
/// let call = sanitized.restore.call("_21st_builder", &json!({"dollar_ref_": "main"}))?;
/// assert_eq!((call.name.as_str(), call.arguments), ("21st_builder", json!({"$ref": "main"})));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-option`, `too-deep`; `invalid-request` if `tools` is not a list of tools;
/// `not-representable` if tools have to be set aside, which [`OnSetAside::Error`](crate::options::OnSetAside) forbids.
pub fn sanitize_tools<T: Input>(tools: T, options: &ToolsOptions) -> Result<SanitizedTools<T>, Error> {
    let (node, report) = sanitize_tools_node(tools.given()?.read()?, options, false)?;
    let ToolsReport { quarantined, lossless, restore, warning, .. } = report;
    let (input, options, changes, tools) = (tools, options.clone(), OnceValue::new(), tools.written(&node)?);
    Ok(SanitizedTools { tools, quarantined, lossless, restore, warning, input, options, changes })
}

/// Like [`sanitize_tools`], but accepts and returns trees.
///
/// # Errors
/// Same as [`sanitize_tools`].
pub fn sanitize_tools_node<'a>(
    tools: Node<'a>,
    options: &ToolsOptions,
    with_changes: bool,
) -> Result<(Node<'a>, ToolsReport), Error> {
    let detail = if with_changes { Detail::Whole } else { Detail::Effects };
    let outcome = sanitize_list::rewrite(tools, options, detail)?;
    let Outcome { tools, quarantined, changes, lossless, restore_map, .. } = outcome;
    let dialect = options.sanitize.dialect;
    let warning = quarantine::set_aside_warning(options.on_set_aside, dialect, &quarantined, options.sanitize.naming)?;
    Ok((tools, ToolsReport { quarantined, lossless, restore: Restore(restore_map), warning, changes }))
}

/// Returns what the APIs of several dialects would refuse in a tool list, dialect by dialect. An empty result means
/// that all APIs accept the list. For each dialect, at most 100 violations of a constraint are listed at a location;
/// [`ToolViolation::more`] counts the others.
///
/// ```
/// use serde_json::json;
/// use toolwire::{check_tools, reports::Grade, rules::Constraint, Dialect};
/// let tools = json!([{"name": "a b", "inputSchema": {"type": "object", "properties": {}}}]);
/// let violations = check_tools(&tools, &[Dialect::MOONSHOT])?;
/// let found = &violations[0];
/// assert_eq!((found.constraint, found.pointer.as_str()), (Constraint::ToolName, "/0/name"));
/// assert_eq!(found.confidence, Grade::A);
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `too-deep`; `invalid-request` if `tools` is not a list of tools.
pub fn check_tools(tools: impl Input, dialects: &[DialectId]) -> Result<Vec<ToolViolation>, Error> {
    let dialects = dialects.iter().map(|dialect| dialect::named(dialect.as_str())).collect::<Result<Vec<_>, _>>()?;
    check::list(tools.given()?.read()?, &dialects, FindingLimit::LISTED, Naming::Rust)
}

/// Returns the dialect of an API by its host, its protocol and the model, with the confidence and the reason. For an
/// unknown API, returns `portable`, unless the query is [exact](DialectQuery::exact).
///
/// ```
/// use toolwire::{dialect_for, reports::Grade, Dialect, DialectQuery};
/// let query = DialectQuery::default().model("anthropic/claude-sonnet-4.5");
/// assert_eq!(dialect_for(&query)?.dialect, "anthropic");
/// let choice = dialect_for(&DialectQuery::default().host("llm.example"))?;
/// assert_eq!((choice.dialect, choice.confidence), (Dialect::PORTABLE, Grade::C));
/// assert!(choice.because.starts_with("unknown host `llm.example`"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `unknown-dialect` for a host that is retired, and for an unknown API if the query is exact; `invalid-option` if the
/// query is empty.
pub fn dialect_for(query: &DialectQuery) -> Result<DialectChoice, Error> {
    lookup::dialect_for(query)
}

/// Looks up a backend's native construct for deferred tools, and returns it as the options `target` and `native` of
/// [`apply_deferred_loading`](crate::apply_deferred_loading). Every result includes its reason and the date on which it
/// was checked.
///
/// A backend that is not known to have a construct is not an error: its `native` is
/// [`Native::None`](crate::options::Native::None), and deferred tools are emulated.
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

/// Maximum number of different options for which results are cached.
const MAX_OPTIONS: usize = 16;

/// A tool list that is sent with every request. It is sanitized once for each set of options; the result is cached.
///
/// The list is identified by its contents. [`update`](Self::update) replaces it after `tools/list_changed`. The results
/// have the form of the list: [`Value`](serde_json::Value), text or bytes.
///
/// ```
/// use serde_json::json;
/// use toolwire::{rules::Rule, Dialect, ToolSet, ToolsOptions};
/// let mut tools = ToolSet::new(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?;
/// let moonshot = ToolsOptions::new(Dialect::MOONSHOT);
/// let ready = tools.sanitize(&moonshot)?;
/// assert_eq!(ready.tools[0]["function"]["name"], "look_up");
/// assert_eq!(ready.changes()?[0].change.rule, Rule::RenameTool);
/// assert!(!tools.update(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?);
///
/// // For a request body built by hand: the list as JSON text.
/// let mut tools = ToolSet::new(r#"[{"name":"look.up","inputSchema":{"type":"object","properties":{}}}]"#)?;
/// let body = format!(r#"{{"model":"kimi-k3","messages":[],"tools":{}}}"#, tools.sanitize(&moonshot)?.tools);
/// assert!(body.contains("look_up"));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet<T: OwnedForm> {
    /// As compact JSON text.
    list: String,
    len: usize,
    /// In the order of their last use.
    ready: Vec<Arc<SanitizedTools<T>>>,
}

impl<T: OwnedForm> ToolSet<T> {
    /// Reads a tool list in any form that [`sanitize_tools`](crate::sanitize_tools) accepts.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-request` if `tools` is not a list of tools.
    pub fn new(tools: impl Input<Owned = T>) -> Result<Self, Error> {
        ToolSet::from_node(tools.given()?.read()?)
    }

    pub(crate) fn from_node(tools: Node<'_>) -> Result<Self, Error> {
        let (list, len) = text_and_len(tools)?;
        Ok(ToolSet { list, len, ready: Vec::new() })
    }

    /// Returns the number of tools, including hosted tools that an API runs itself.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the list as compact JSON text.
    pub(crate) fn list(&self) -> &str {
        &self.list
    }

    /// Replaces the list. Returns false if the new list is equal to the old one; the cached results then remain.
    ///
    /// # Errors
    /// Those of [`ToolSet::new`], and `invalid-value` for an unpaired surrogate if the results are values. The list
    /// then remains unchanged.
    pub fn update(&mut self, tools: impl Input) -> Result<bool, Error> {
        self.update_node(tools.given()?.read()?)
    }

    pub(crate) fn update_node(&mut self, tools: Node<'_>) -> Result<bool, Error> {
        let (list, len) = text_and_len(tools)?;
        if list == self.list {
            return Ok(false);
        }
        // Later results have another form than this list, perhaps one that cannot express it.
        T::of_compact_text(&list)?;
        (self.list, self.len) = (list, len);
        self.ready.clear();
        Ok(true)
    }

    /// Returns the result of [`sanitize_tools`](crate::sanitize_tools) for this list. The first call with given options
    /// computes it; later calls return that object.
    ///
    /// # Errors
    /// Those of [`sanitize_tools`](crate::sanitize_tools).
    pub fn sanitize(&mut self, options: &ToolsOptions) -> Result<Arc<SanitizedTools<T>>, Error> {
        if let Some(index) = self.ready.iter().position(|ready| ready.options == *options) {
            let ready = self.ready.remove(index);
            self.ready.push(Arc::clone(&ready));
            return Ok(ready);
        }
        let (list, input) = (json::read(&self.list)?, T::of_compact_text(&self.list)?);
        let (tools, report) = sanitize_tools_node(list, options, false)?;
        let ToolsReport { quarantined, lossless, restore, warning, .. } = report;
        let (tools, options, changes) = (T::written_from(&tools)?, options.clone(), OnceValue::new());
        let ready = SanitizedTools { tools, quarantined, lossless, restore, warning, input, options, changes };
        let ready = Arc::new(ready);
        if self.ready.len() >= MAX_OPTIONS {
            self.ready.remove(0);
        }
        self.ready.push(Arc::clone(&ready));
        Ok(ready)
    }
}

/// Returns a list as text, and the number of its tools.
fn text_and_len(tools: Node<'_>) -> Result<(String, usize), Error> {
    let text = json::write(&tools);
    Ok((text, sanitize_list::count(tools)?))
}

/// Returns the known facts about each dialect, in the order of the documentation.
///
/// ```
/// assert!(toolwire::dialects().iter().any(|dialect| dialect.name == "codex"));
/// ```
pub fn dialects() -> &'static [Dialect] {
    DIALECTS
}
