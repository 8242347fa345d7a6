//! `Restore`: restores calls, whole and in pieces.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

use super::{input::Given, Input};
use crate::{
    error::Error,
    json::{self, Node, Text},
    reply::{call_repair::CallReports, client_call, restore::RestoreMap, streams::pieces::CallPieces},
    report::RepairedCall,
};

/// Restores calls to the form that the tools' servers expect: their names, and arguments in the shape of their schemas.
///
/// A call may be restored in a later turn, possibly in another process: [`Self::to_json`] and [`Self::from_json`]
/// preserve this value until then.
#[derive(Clone, Debug, Default)]
pub struct Restore(pub(crate) RestoreMap);

/// Two values are equal if [`Restore::to_json`] returns the same text.
impl PartialEq for Restore {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for Restore {}

/// Restores the arguments of one call piece by piece; created by [`Restore::call_stream`].
///
/// The input of a `custom` tool is unescaped and returned as it arrives. Arguments that a dialect has encoded are
/// buffered until the end; all others are returned unchanged.
///
/// ```
/// use serde_json::json;
/// use toolwire::{apply_deferred_loading, DeferredOptions};
/// let exec = json!({"type": "custom", "name": "exec"});
/// let request = json!({"model": "m", "input": "Where am I?", "tools": [exec]});
/// let options = DeferredOptions::default().target(toolwire::options::Api::OpenaiChat);
/// let mut pieces = apply_deferred_loading(&request, &options)?.restore()?.call_stream("exec");
/// assert_eq!(pieces.feed_text("{\"input\":\"p")?, "p");
/// assert_eq!(pieces.feed_text("wd\\")?, "wd");
/// assert_eq!(pieces.feed_text("n\"}")?, "\n");
/// assert_eq!(pieces.finish_text()?, "");
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Debug)]
pub struct CallStream(CallPieces);

impl CallStream {
    /// Accepts the next piece and returns the text to forward, which may be empty, borrowed if nothing changed.
    ///
    /// # Errors
    /// `limit-exceeded` if the buffered text exceeds the maximum size of a call.
    pub fn feed_text<'p>(&mut self, piece: &'p str) -> Result<Cow<'p, str>, Error> {
        let out = self.0.feed(piece)?;
        Ok(if out == piece { Cow::Borrowed(piece) } else { Cow::Owned(out) })
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.0.is_at_rest()
    }

    /// Returns the repairs of the call that ended, if repairing is enabled. The repairs are returned only once.
    pub fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.0.take_repaired_calls()
    }

    /// Ends the call and returns the text that is still buffered.
    ///
    /// # Errors
    /// `budget-exceeded` if the arguments take too many steps to restore. They are discarded.
    pub fn finish_text(&mut self) -> Result<String, Error> {
        self.0.finish()
    }
}

/// A call in the form that the tool's server expects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredCall<T> {
    /// The tool's server, if the list combined several servers.
    pub server: Option<String>,
    /// Index of the tool in the list, if the tool was renamed because another one has the same name; see
    /// [`ToolsOptions::duplicate_names`](crate::ToolsOptions::duplicate_names).
    pub index: Option<usize>,
    /// Name of the tool.
    pub name: String,
    /// Namespace of the tool (OpenAI Responses), if it has one.
    pub namespace: Option<String>,
    /// The arguments.
    pub arguments: T,
    /// Repairs of the arguments, if repairing is enabled ([`ToolsOptions::repair`]) and the tool has a schema.
    ///
    /// [`ToolsOptions::repair`]: crate::ToolsOptions::repair
    pub repaired: Option<RepairedCall>,
}

/// Text of the model's answer, in the form that the caller's response format describes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredContent<'t> {
    /// The text.
    pub content: Cow<'t, str>,
    /// False if the text is truncated JSON. Then only its complete values are restored.
    pub complete: bool,
    /// True if the text was in a Markdown fence, which is removed.
    pub fenced: bool,
}

/// A call in the client's format, and the repairs of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredClientCall<T> {
    /// The call.
    pub call: T,
    /// Repairs of the arguments, if repairing is enabled and the tool has a schema.
    pub repaired: Option<RepairedCall>,
}

impl Restore {
    /// Restores a call. An unknown tool and arguments that do not match the plan are returned unchanged, because they
    /// are the model's mistake, which the tool's server can report. Arguments are a value or JSON text; the result has
    /// the same form.
    ///
    /// # Errors
    /// `too-deep`; `invalid-json` if bytes are not UTF-8; `budget-exceeded` if the plan takes too many steps.
    pub fn call<T: Input>(&self, name: &str, arguments: T) -> Result<RestoredCall<T::Output>, Error> {
        let mut reports = CallReports::default();
        let restored = match arguments.given()? {
            Given::Text(text) => {
                let restored = self.0.text(&Text::new(name), text, None, &mut reports)?;
                arguments.text(restored)?
            }
            Given::Value(value) => {
                let mut node = Node::from_value(value)?;
                self.0.arguments(&Text::new(name), &mut node, (None, true), &mut reports)?;
                arguments.written(&node)?
            }
        };
        Ok(self.restored_call(name, restored, reports))
    }

    fn restored_call<T>(&self, name: &str, arguments: T, mut reports: CallReports) -> RestoredCall<T> {
        let shown = |text: Option<Text<'_>>| text.map(|text| text.display().into_owned());
        let index = self.0.name(&Text::new(name)).and_then(|entry| entry.index);
        let (server, name, namespace) = match self.0.name(&Text::new(name)) {
            Some(entry) => (shown(entry.server), entry.name.display().into_owned(), shown(entry.namespace)),
            None => (None, name.to_string(), None),
        };
        RestoredCall { server, index, name, namespace, arguments, repaired: reports.take().pop() }
    }

    /// Converts a call into the format of the client's request: `tool_use`, an entry of `tool_calls`, `function_call`
    /// with its namespace, `custom_tool_call` with its input, `tool_search_call`. `call` is a call from the reply of
    /// any API, or `{ id, name, arguments }` with the arguments as a value or as JSON text. An unknown tool keeps its
    /// name.
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
    /// `invalid-value` if `call` is not a call; `invalid-json`, `too-deep`.
    pub fn client_call<T: Input>(&self, call: T) -> Result<RestoredClientCall<T::Output>, Error> {
        let mut reports = CallReports::default();
        let written = client_call::write(&self.0, call.given()?.read()?, &mut reports)?;
        let call = call.text(Some(json::write(&written)))?;
        Ok(RestoredClientCall { call, repaired: reports.take().pop() })
    }

    /// Restores text of the model's answer, if the request has a response format that was rewritten: extracts it from
    /// its wrapper, and restores encoded values. If the schema was sent only in the instructions, the answer is also
    /// extracted from a Markdown fence, unless the schema rejects it. Text that is not JSON, or needs no restoring, is
    /// returned unchanged. If the JSON is truncated, its complete values are restored. [`Self::reply`] and
    /// [`Self::stream`] do the same.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{adapt_request, AdaptOptions, Dialect};
    /// let list = json!({"type": "array", "items": {"type": "string"}});
    /// let format = json!({"type": "json_schema", "json_schema": {"name": "list", "strict": true, "schema": list}});
    /// let request = json!({"model": "gpt-5", "messages": [], "response_format": format});
    /// let restore = adapt_request(&request, &AdaptOptions::new(Dialect::OPENAI_STRICT))?.restore;
    /// assert_eq!(restore.content("{\"response\": [\"a\"]}")?.content, "[\"a\"]");
    /// let cut = restore.content("{\"response\": [\"a\", \"b")?;
    /// assert_eq!((cut.content.as_ref(), cut.complete), ("[\"a\"]", false));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    ///
    /// # Errors
    /// `budget-exceeded` if the answer takes too many steps to restore.
    pub fn content<'t>(&self, text: &'t str) -> Result<RestoredContent<'t>, Error> {
        let restored = self.0.content(text);
        restored.failure.map_or(Ok(()), Err)?;
        let content = restored.text.map_or(Cow::Borrowed(text), Cow::Owned);
        Ok(RestoredContent { content, complete: !restored.is_cut, fenced: restored.is_unfenced })
    }

    /// Restores the arguments of one call piece by piece, for callers that convert a stream of one API into that of
    /// another.
    pub fn call_stream(&self, name: &str) -> CallStream {
        CallStream(CallPieces::new(&self.0, &Text::new(name)))
    }

    /// Returns true if there is nothing to restore in calls and answers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns this value as JSON text, to be stored for a later turn.
    pub fn to_json(&self) -> String {
        json::write(&self.0.to_node())
    }

    /// Reads the JSON text that [`Self::to_json`] returned.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-value` if the text is something else; `unknown-dialect` if a newer version
    /// wrote it.
    pub fn from_json(text: &str) -> Result<Restore, Error> {
        Self::from_node(&json::read(text)?)
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Result<Restore, Error> {
        RestoreMap::from_node(node).map(Restore)
    }
}
