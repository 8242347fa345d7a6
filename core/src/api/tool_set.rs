//! `ToolSet`: a tool list that is sent repeatedly.

use alloc::{string::String, sync::Arc, vec::Vec};
use serde_json::Value;

use super::{
    tools::{changes_of, reported, ToolsReport},
    Input, Restore,
};
use crate::{
    error::Error,
    json::{self, Node},
    options::ToolsOptions,
    report::Detail,
    tools::{
        quarantine::Quarantined,
        sanitize_list::{self, ToolChange},
        set_aside::SetAsideWarning,
    },
};

/// Maximum number of different options for which results are cached.
const MAX_OPTIONS: usize = 16;

/// A tool list that is sent with every request. It is sanitized once for each set of options; the result is cached.
///
/// The list is identified by its contents. [`update`](Self::update) replaces it after `tools/list_changed`.
///
/// ```
/// use serde_json::json;
/// use toolwire::{ToolSet, ToolsOptions};
/// let mut tools = ToolSet::new(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?;
/// let moonshot = ToolsOptions::new("moonshot");
/// let ready = tools.sanitize(&moonshot)?;
/// assert_eq!(ready.tools()?[0]["function"]["name"], "look_up");
/// // For a request body built by hand: the same list as JSON text.
/// let body = format!(r#"{{"model":"kimi-k3","messages":[],"tools":{}}}"#, ready.json);
/// assert!(body.contains("look_up"));
/// assert!(!tools.update(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?);
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet {
    /// The list as compact JSON text.
    list: Arc<str>,
    len: usize,
    /// Results for the options that were used, in the order of their last use.
    ready: Vec<Arc<ReadyTools>>,
}

/// A tool list that an API accepts, for one set of options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyTools {
    /// Tools in the API's format, as compact JSON text.
    pub json: String,
    /// Tools that could not be made acceptable, and are not in the list.
    pub quarantined: Vec<Quarantined>,
    /// True if the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub lossless: bool,
    /// Restores the model's calls to the form that the tools' servers expect.
    pub restore: Restore,
    /// Warning to show if tools are missing, as [`SanitizedTools::warning`](crate::SanitizedTools::warning).
    pub warning: Option<SetAsideWarning>,
    tools: Result<Value, Error>,
    list: Arc<str>,
    options: ToolsOptions,
}

impl ReadyTools {
    /// Returns the tools in the API's format.
    ///
    /// # Errors
    /// `invalid-value` if a tool contains an unpaired surrogate, which a `Value` cannot represent.
    pub fn tools(&self) -> Result<&Value, Error> {
        self.tools.as_ref().map_err(Clone::clone)
    }

    /// Returns every change, tool by tool, as [`sanitize_tools`](crate::sanitize_tools) reports it for this list.
    ///
    /// Changes are large and seldom read, so each call computes them again.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{ToolSet, ToolsOptions};
    /// let mut tools = ToolSet::new(&json!([{"name": "a.b", "inputSchema": {"type": "object", "properties": {}}}]))?;
    /// let changes = tools.sanitize(&ToolsOptions::new("moonshot"))?.changes()?;
    /// assert_eq!((changes[0].tool.as_str(), changes[0].change.rule), ("a.b", "rename-tool"));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those that [`ToolSet::sanitize`] would have returned.
    pub fn changes(&self) -> Result<Vec<ToolChange>, Error> {
        changes_of(json::read(&self.list)?, &self.options)
    }
}

impl ToolSet {
    /// Reads a tool list in any form that [`sanitize_tools`](crate::sanitize_tools) accepts.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-request` if `tools` is not a list of tools.
    pub fn new(tools: impl Input) -> Result<Self, Error> {
        ToolSet::from_node(tools.given()?.read()?)
    }

    /// Like [`ToolSet::new`], but accepts a tree.
    ///
    /// # Errors
    /// Same as [`ToolSet::new`].
    pub fn from_node(tools: Node<'_>) -> Result<Self, Error> {
        let (list, len) = listed(tools)?;
        Ok(ToolSet { list: list.into(), len, ready: Vec::new() })
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
    /// Same as [`ToolSet::new`]; the list then remains unchanged.
    pub fn update(&mut self, tools: impl Input) -> Result<bool, Error> {
        self.update_node(tools.given()?.read()?)
    }

    /// Like [`ToolSet::update`], but accepts a tree.
    ///
    /// # Errors
    /// Same as [`ToolSet::update`].
    pub fn update_node(&mut self, tools: Node<'_>) -> Result<bool, Error> {
        let (list, len) = listed(tools)?;
        if list == *self.list {
            return Ok(false);
        }
        (self.list, self.len) = (list.into(), len);
        self.ready.clear();
        Ok(true)
    }

    /// Returns the result of [`sanitize_tools`](crate::sanitize_tools) for this list. The first call with given options
    /// computes it; later calls return the same object. Changes are computed when [`ReadyTools::changes`] is called.
    ///
    /// # Errors
    /// `unknown-dialect`, `invalid-option`, `not-representable`, as for [`sanitize_tools`](crate::sanitize_tools).
    pub fn sanitize(&mut self, options: &ToolsOptions) -> Result<Arc<ReadyTools>, Error> {
        if let Some(place) = self.ready.iter().position(|ready| ready.options == *options) {
            let ready = self.ready.remove(place);
            self.ready.push(Arc::clone(&ready));
            return Ok(ready);
        }
        let outcome = sanitize_list::rewrite(json::read(&self.list)?, options, Detail::Effects)?;
        let (tools, report) = reported(outcome, options)?;
        let ToolsReport { quarantined, lossless, restore, warning, .. } = report;
        let (json, tools) = (json::write(&tools), tools.to_value());
        let (list, options) = (Arc::clone(&self.list), options.clone());
        let ready = Arc::new(ReadyTools { json, quarantined, lossless, restore, warning, tools, list, options });
        if self.ready.len() >= MAX_OPTIONS {
            self.ready.remove(0);
        }
        self.ready.push(Arc::clone(&ready));
        Ok(ready)
    }
}

/// Returns a list as text, and the number of its tools.
fn listed(tools: Node<'_>) -> Result<(String, usize), Error> {
    let text = json::write(&tools);
    Ok((text, sanitize_list::count(tools)?))
}
