//! `ToolSet`: a tool list that is sent again and again.

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
    tools::{
        memory::Memory,
        quarantine::Quarantined,
        sanitize_list::{self, ToolChange},
        set_aside::SetAsideWarning,
    },
};

/// The most different options that lists are kept for.
const MOST: usize = 16;

/// A tool list that is sent with every request: sanitized once for each dialect, and handed out as it is after that.
///
/// It is known by its contents. [`update`](Self::update) takes the list that `tools/list_changed` brings, and then only
/// tools that changed are sanitized again.
///
/// ```
/// use serde_json::json;
/// use toolwire::{ToolSet, ToolsOptions};
/// let mut tools = ToolSet::new(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?;
/// let moonshot = ToolsOptions::new("moonshot");
/// let ready = tools.sanitize(&moonshot)?;
/// assert_eq!(ready.tools()?[0]["function"]["name"], "look_up");
/// // For a body that is written by hand: the same list as JSON text.
/// let body = format!(r#"{{"model":"kimi-k3","messages":[],"tools":{}}}"#, ready.json);
/// assert!(body.contains("look_up"));
/// assert!(!tools.update(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?);
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet {
    /// The list, as compact JSON text.
    list: Arc<str>,
    len: usize,
    /// For each of the options used, the last one used last.
    ready: Vec<Arc<ReadyTools>>,
    memory: Memory,
}

/// A tool list that an API accepts, made once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyTools {
    /// The tools in the API's own shape, as compact JSON text.
    pub json: String,
    /// The tools that could not be made acceptable: they are not in the list.
    pub quarantined: Vec<Quarantined>,
    /// Whether the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub lossless: bool,
    /// Brings the model's calls back to what the tools' own servers expect.
    pub restore: Restore,
    /// A warning to show if tools are missing, as [`SanitizedTools::warning`](crate::SanitizedTools::warning).
    pub warning: Option<SetAsideWarning>,
    tools: Result<Value, Error>,
    list: Arc<str>,
    options: ToolsOptions,
}

impl ReadyTools {
    /// Returns the tools in the API's own shape.
    ///
    /// # Errors
    /// `invalid-value` if one holds an unpaired surrogate, which a `Value` cannot.
    pub fn tools(&self) -> Result<&Value, Error> {
        self.tools.as_ref().map_err(Clone::clone)
    }

    /// Every change, tool by tool: what [`sanitize_tools`](crate::sanitize_tools) says of this list.
    ///
    /// They are much text, and agents that send a list seldom read them: each call makes them again.
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
    /// None that [`ToolSet::sanitize`] would not have given.
    pub fn changes(&self) -> Result<Vec<ToolChange>, Error> {
        changes_of(json::read(&self.list)?, &self.options)
    }
}

impl ToolSet {
    /// Takes a tool list, as [`sanitize_tools`](crate::sanitize_tools) does.
    ///
    /// # Errors
    /// `invalid-request` if it is no list of tools, `invalid-json`, `too-deep`.
    pub fn new(tools: impl Input) -> Result<Self, Error> {
        ToolSet::from_node(tools.given()?.read()?)
    }

    /// [`ToolSet::new`] from a tree.
    ///
    /// # Errors
    /// As [`ToolSet::new`].
    pub fn from_node(tools: Node<'_>) -> Result<Self, Error> {
        let (list, len) = listed(tools)?;
        Ok(ToolSet { list: list.into(), len, ready: Vec::new(), memory: Memory::default() })
    }

    /// How many tools it has, those that an API runs itself included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The list, as compact JSON text.
    pub(crate) fn list(&self) -> &str {
        &self.list
    }

    /// Takes another list in place of this one. `false`: it says the same, and all that was made stays.
    ///
    /// # Errors
    /// As [`ToolSet::new`]; the list stays what it was then.
    pub fn update(&mut self, tools: impl Input) -> Result<bool, Error> {
        self.update_node(tools.given()?.read()?)
    }

    /// [`ToolSet::update`] from a tree.
    ///
    /// # Errors
    /// As [`ToolSet::update`].
    pub fn update_node(&mut self, tools: Node<'_>) -> Result<bool, Error> {
        let (list, len) = listed(tools)?;
        if list == *self.list {
            return Ok(false);
        }
        (self.list, self.len) = (list.into(), len);
        self.ready.clear();
        self.memory.turn();
        Ok(true)
    }

    /// What [`sanitize_tools`](crate::sanitize_tools) gives for this list: made by the first call with such options,
    /// the same object after that. What was changed is made when it is [asked for](ReadyTools::changes).
    ///
    /// # Errors
    /// `unknown-dialect`, `invalid-option`, `not-representable` as [`sanitize_tools`](crate::sanitize_tools).
    pub fn sanitize(&mut self, options: &ToolsOptions) -> Result<Arc<ReadyTools>, Error> {
        if let Some(place) = self.ready.iter().position(|ready| ready.options == *options) {
            let ready = self.ready.remove(place);
            self.ready.push(Arc::clone(&ready));
            return Ok(ready);
        }
        let outcome = sanitize_list::rewrite(json::read(&self.list)?, options, Some(&mut self.memory))?;
        let (tools, report) = reported(outcome, options)?;
        let ToolsReport { quarantined, lossless, restore, warning, .. } = report;
        let (json, tools) = (json::write(&tools), tools.to_value());
        let (list, options) = (Arc::clone(&self.list), options.clone());
        let ready = Arc::new(ReadyTools { json, quarantined, lossless, restore, warning, tools, list, options });
        if self.ready.len() >= MOST {
            self.ready.remove(0);
        }
        self.ready.push(Arc::clone(&ready));
        Ok(ready)
    }
}

/// A list as text, and how many tools it has.
fn listed(tools: Node<'_>) -> Result<(String, usize), Error> {
    let text = json::write(&tools);
    Ok((text, sanitize_list::count(tools)?))
}
