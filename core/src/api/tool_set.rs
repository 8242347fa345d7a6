//! `ToolSet`: a tool list that is sent again and again.

use alloc::{string::String, sync::Arc, vec::Vec};
use serde_json::Value;

use super::{
    tools::{sanitized, SanitizedTools},
    JsonText, Restore,
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
        tool_list::Listing,
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
/// assert_eq!(ready.tools[0]["function"]["name"], "look_up");
/// // For a body that is written by hand: the same list as JSON text.
/// let body = format!(r#"{{"model":"kimi-k3","messages":[],"tools":{}}}"#, tools.sanitize_json(&moonshot)?.tools);
/// assert!(body.contains("look_up"));
/// assert!(!tools.update(&json!([{"name": "look.up", "inputSchema": {"type": "object", "properties": {}}}]))?);
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolSet {
    /// The list, as compact JSON text.
    list: Arc<str>,
    len: usize,
    ready: Vec<Ready>,
    memory: Memory,
}

/// A tool list that an API accepts, made once. [`changes`](Self::changes) says what was done for that.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadyTools<T> {
    /// The tools, in the API's own shape.
    pub tools: T,
    /// The tools that could not be made acceptable: they are not in the list.
    pub quarantined: Vec<Quarantined>,
    /// Whether the same arguments are accepted, no guidance is lost, and no tool is missing.
    pub lossless: bool,
    /// Brings the model's calls back to what the tools' own servers expect.
    pub restore: Restore,
    /// A warning to show if tools are missing, as [`SanitizedTools::warning`].
    pub warning: Option<SetAsideWarning>,
    list: Arc<str>,
    options: ToolsOptions,
}

impl<T> ReadyTools<T> {
    /// Every change, tool by tool: what [`sanitize_tools`](crate::sanitize_tools) says of this list.
    ///
    /// They are much text, and agents that send a list seldom look at them: so they are made when they are asked for,
    /// and by each call anew.
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
        Ok(sanitize_list::rewrite(json::read(&self.list)?, &self.options, None)?.changes)
    }
}

/// The list as one API takes it.
#[derive(Clone, Debug)]
struct Ready {
    text: Arc<ReadyTools<String>>,
    value: Option<Arc<ReadyTools<Value>>>,
}

impl ToolSet {
    /// Takes a tool list, as [`sanitize_tools`](crate::sanitize_tools) does.
    ///
    /// # Errors
    /// `invalid-request` if it is no list of tools, `too-deep`.
    pub fn new(tools: &Value) -> Result<Self, Error> {
        ToolSet::from_node(Node::from_value(tools)?)
    }

    /// [`ToolSet::new`] from JSON text.
    ///
    /// # Errors
    /// As [`ToolSet::new`], and `invalid-json`.
    pub fn from_json<'a>(tools: impl JsonText<'a>) -> Result<Self, Error> {
        ToolSet::from_node(json::read(tools.text()?)?)
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
    pub fn update(&mut self, tools: &Value) -> Result<bool, Error> {
        self.update_node(Node::from_value(tools)?)
    }

    /// [`ToolSet::update`] from JSON text.
    ///
    /// # Errors
    /// As [`ToolSet::update`], and `invalid-json`.
    pub fn update_json<'a>(&mut self, tools: impl JsonText<'a>) -> Result<bool, Error> {
        self.update_node(json::read(tools.text()?)?)
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
    pub fn sanitize(&mut self, options: &ToolsOptions) -> Result<Arc<ReadyTools<Value>>, Error> {
        let ready = self.ready(options)?;
        if let Some(value) = &ready.value {
            return Ok(Arc::clone(value));
        }
        let ReadyTools { tools, quarantined, lossless, restore, warning, list, options } = (*ready.text).clone();
        let tools = json::read(&tools)?.to_value()?;
        let value = Arc::new(ReadyTools { tools, quarantined, lossless, restore, warning, list, options });
        ready.value = Some(Arc::clone(&value));
        Ok(value)
    }

    /// [`ToolSet::sanitize`] with the tools as compact JSON text, to be put into a request as it is.
    ///
    /// # Errors
    /// As [`ToolSet::sanitize`].
    pub fn sanitize_json(&mut self, options: &ToolsOptions) -> Result<Arc<ReadyTools<String>>, Error> {
        Ok(Arc::clone(&self.ready(options)?.text))
    }

    fn ready(&mut self, options: &ToolsOptions) -> Result<&mut Ready, Error> {
        let place = match self.ready.iter().position(|ready| ready.text.options == *options) {
            // The last one is the one used last.
            Some(place) => {
                if let Some(used) = self.ready.get_mut(place..) {
                    used.rotate_left(1);
                }
                self.ready.len().saturating_sub(1)
            }
            None => {
                let outcome = sanitize_list::rewrite(json::read(&self.list)?, options, Some(&mut self.memory))?;
                let SanitizedTools { tools, quarantined, lossless, restore, warning, .. } =
                    sanitized(outcome, options, |tools| json::write(&tools))?;
                let (list, options) = (Arc::clone(&self.list), options.clone());
                let text = Arc::new(ReadyTools { tools, quarantined, lossless, restore, warning, list, options });
                if self.ready.len() >= MOST {
                    self.ready.remove(0);
                }
                self.ready.push(Ready { text, value: None });
                self.ready.len().saturating_sub(1)
            }
        };
        #[allow(clippy::indexing_slicing, reason = "the place was found or made in the lines above")]
        Ok(&mut self.ready[place])
    }
}

/// A list as text, and how many tools it has.
fn listed(tools: Node<'_>) -> Result<(String, usize), Error> {
    let text = json::write(&tools);
    let listing = Listing::read(tools)?;
    let len = listing.entries().count();
    Ok((text, len))
}
