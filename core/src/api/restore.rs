//! `Restore`: calls brought back, whole and in pieces.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

use super::{input::Given, Input};
use crate::{
    error::Error,
    json::{self, Node, Text},
    report::RepairedCall,
    tools::{call_pieces::CallPieces, call_repair::Told, client_call, restore::RestoreMap},
};

/// Brings calls back to what the tools' own servers expect: their names, and arguments in the shape of their schemas.
///
/// Calls come back in a later turn, maybe in another process: [`Self::to_json`] and [`Self::from_json`] keep it until
/// then.
#[derive(Clone, Debug, Default)]
pub struct Restore(pub(crate) RestoreMap);

/// Two of them are equal if they are kept as the same text.
impl PartialEq for Restore {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for Restore {}

/// The arguments of one call, restored piece by piece: [`Restore::call_stream`].
///
/// What a `custom` tool is called with comes unescaped, as soon as it is there. Arguments that a dialect has encoded
/// are held back until the end; all others pass as they are.
///
/// ```
/// use serde_json::json;
/// use toolwire::{apply_deferred_loading, DeferredOptions};
/// let exec = json!({"type": "custom", "name": "exec"});
/// let request = json!({"model": "m", "input": "Where am I?", "tools": [exec]});
/// let options = DeferredOptions::default().target(toolwire::options::Api::OpenaiChat);
/// let mut pieces = apply_deferred_loading(&request, &options)?.restore()?.call_stream("exec");
/// assert_eq!(pieces.feed("{\"input\":\"p")?, "p");
/// assert_eq!(pieces.feed("wd\\")?, "wd");
/// assert_eq!(pieces.feed("n\"}")?, "\n");
/// assert_eq!(pieces.finish(), "");
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Debug)]
pub struct CallStream(CallPieces);

impl CallStream {
    /// Takes the next piece; gives what must be passed on, which may be nothing.
    ///
    /// # Errors
    /// `limit-exceeded` if what has to be held back is larger than any call.
    pub fn feed(&mut self, piece: &str) -> Result<String, Error> {
        self.0.feed(piece)
    }

    /// Returns true if no state is buffered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.0.is_at_rest()
    }

    /// What became of the arguments of the call that ended, where calls are repaired; told once.
    pub fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.0.take_repaired_calls()
    }

    /// Ends the call: what was still held back.
    pub fn finish(&mut self) -> String {
        self.0.finish()
    }
}

/// A call as the tool's own server expects it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredCall<T> {
    /// The tool's server, if the list was one of several servers.
    pub server: Option<String>,
    /// The tool's index in the list, if it was renamed because another tool there has the same name:
    /// [`ToolsOptions::duplicate_names`](crate::ToolsOptions::duplicate_names).
    pub index: Option<usize>,
    /// The tool's name.
    pub name: String,
    /// The namespace of the tool (OpenAI Responses), if it stood in one.
    pub namespace: Option<String>,
    /// The arguments.
    pub arguments: T,
    /// What became of them, where calls are repaired and the tool has a schema: [`ToolsOptions::repair`].
    ///
    /// [`ToolsOptions::repair`]: crate::ToolsOptions::repair
    pub repaired: Option<RepairedCall>,
}

/// A text of the model's answer, as the caller's response format describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredContent<'t> {
    /// The text.
    pub content: Cow<'t, str>,
    /// False if the text is JSON that breaks off. Then only what is whole of it is restored.
    pub complete: bool,
    /// True if the text stood in a Markdown fence, which is removed.
    pub fenced: bool,
}

/// A call in its client's own form, and what became of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredClientCall<T> {
    /// The call.
    pub call: T,
    /// What became of its arguments, where calls are repaired and the tool has a schema.
    pub repaired: Option<RepairedCall>,
}

impl Restore {
    /// Restores a call. A tool that is not known comes back as it is, and so do arguments that are not understood: the
    /// model made a mistake, which the tool's server can tell it. Arguments are a value, or JSON text that gives text.
    ///
    /// # Errors
    /// `too-deep`; `invalid-json` if bytes are not UTF-8; `budget-exceeded` for a plan that takes too many steps.
    pub fn call<T: Input>(&self, name: &str, arguments: T) -> Result<RestoredCall<T::Output>, Error> {
        let mut told = Told::default();
        let restored = match arguments.given()? {
            Given::Text(text) => {
                let restored = self.0.text(&Text::new(name), text, None, &mut told)?;
                arguments.text(restored)?
            }
            Given::Value(value) => {
                let mut node = Node::from_value(value)?;
                self.0.arguments(&Text::new(name), &mut node, (None, true), &mut told)?;
                arguments.written(&node)?
            }
        };
        Ok(self.named(name, restored, told))
    }

    fn named<T>(&self, name: &str, arguments: T, mut told: Told) -> RestoredCall<T> {
        let shown = |text: Option<Text<'_>>| text.map(|text| text.display().into_owned());
        let index = self.0.name(&Text::new(name)).and_then(|way| way.index);
        let (server, name, namespace) = match self.0.name(&Text::new(name)) {
            Some(way) => (shown(way.server), way.name.display().into_owned(), shown(way.namespace)),
            None => (None, name.to_string(), None),
        };
        RestoredCall { server, index, name, namespace, arguments, repaired: told.take().pop() }
    }

    /// The client's own form of a call, in the format that its request had: `tool_use`, an entry of `tool_calls`,
    /// `function_call` with its namespace, `custom_tool_call` with its input, `tool_search_call`. The call is one of
    /// any API as it stands in the reply, or `{ id, name, arguments }` with the arguments as a value or as JSON text. A
    /// tool that is not known keeps its name.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{apply_deferred_loading, DeferredOptions};
    /// let patch = json!({"type": "custom", "name": "apply_patch"});
    /// let request = json!({"model": "m", "input": "Mend it.", "tools": [patch]});
    /// let options = DeferredOptions::default().target(toolwire::options::Api::OpenaiChat);
    /// let sent = apply_deferred_loading(&request, &options)?;
    /// let call = json!({"id": "c1", "name": "apply_patch", "arguments": "{\"input\":\"*** Begin\"}"});
    /// let own = json!({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"});
    /// assert_eq!(sent.restore()?.client_call(&call)?.call, own);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid-value` if it is no call; `invalid-json`, `too-deep`.
    pub fn client_call<T: Input>(&self, call: T) -> Result<RestoredClientCall<T::Output>, Error> {
        let mut told = Told::default();
        let written = client_call::write(&self.0, call.given()?.read()?, &mut told)?;
        let call = call.text(Some(json::write(&written)))?;
        Ok(RestoredClientCall { call, repaired: told.take().pop() })
    }

    /// Restores a text of the model's answer, if the request has a response format that was rewritten: takes it out of
    /// its wrapper, and brings encoded values back. If the schema was sent in the instructions alone, the answer is
    /// taken out of a Markdown fence, too, unless the schema refuses it. Text that is not JSON, or needs nothing, stays
    /// as it is. Of JSON that breaks off, whatever is whole is restored. [`Self::reply`] and [`Self::stream`] do the
    /// same.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{adapt_request, AdaptOptions};
    /// let list = json!({"type": "array", "items": {"type": "string"}});
    /// let format = json!({"type": "json_schema", "json_schema": {"name": "list", "strict": true, "schema": list}});
    /// let request = json!({"model": "gpt-5", "messages": [], "response_format": format});
    /// let restore = adapt_request(&request, &AdaptOptions::new("openai-strict"))?.restore;
    /// assert_eq!(restore.content("{\"response\": [\"a\"]}").content, "[\"a\"]");
    /// let cut = restore.content("{\"response\": [\"a\", \"b");
    /// assert_eq!((cut.content.as_ref(), cut.complete), ("[\"a\"]", false));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    pub fn content<'t>(&self, text: &'t str) -> RestoredContent<'t> {
        let restored = self.0.content(text);
        let content = restored.text.map_or(Cow::Borrowed(text), Cow::Owned);
        RestoredContent { content, complete: !restored.is_cut, fenced: restored.is_unfenced }
    }

    /// Restores the arguments of one call piece by piece, for callers that turn a stream of one API into another's.
    pub fn call_stream(&self, name: &str) -> CallStream {
        CallStream(CallPieces::new(&self.0, &Text::new(name)))
    }

    /// Whether calls and the answer come back as they are.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As JSON text, to be kept for a later turn.
    pub fn to_json(&self) -> String {
        json::write(&self.0.to_node())
    }

    /// From the JSON text that [`Self::to_json`] gave.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`, `invalid-value` if it is something else, `unknown-dialect` if it was written by
    /// another version that knows more.
    pub fn from_json(text: &str) -> Result<Restore, Error> {
        Self::from_node(&json::read(text)?)
    }

    /// From the tree of what [`Self::to_json`] gave: for bindings.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub(crate) fn from_node(node: &Node<'_>) -> Result<Restore, Error> {
        RestoreMap::from_node(node).map(Restore)
    }
}
