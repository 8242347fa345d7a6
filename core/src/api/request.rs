//! `adapt_request` and `apply_deferred_loading`, and restoring replies, whole and in pieces.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};

use serde_json::Value;

use super::{input::fed, once::OnceValue, Form, Input, Restore};
use crate::{
    adapt::{self, AdaptReport},
    check::findings::FindingLimit,
    deferred,
    error::Error,
    json::{Node, Utf8Pieces},
    options::{AdaptOptions, CheckRequestOptions, DeferredOptions, Native},
    reply::{call_repair::CallReports, restore::RestoreMap, streams::restorer::Stream},
    report::{AnswerChange, RepairedCall},
    request::report::DeferredReport,
    tools::check::{self, RequestViolation},
};

/// A request that an API accepts, and the report on it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Adapted<T> {
    /// The request.
    pub request: T,
    /// Decisions and changes.
    pub report: AdaptReport,
    /// Restores the calls of the reply to the form that the tools' servers expect.
    pub restore: Restore,
}

impl<B: ToOwned + ?Sized> Adapted<Cow<'_, B>> {
    /// Returns the result with a request that borrows nothing.
    ///
    /// ```
    /// use toolwire::{adapt_request, AdaptOptions, Adapted, Dialect};
    /// fn adapted(body: String) -> Result<Adapted<String>, toolwire::Error> {
    ///     Ok(adapt_request(&body, &AdaptOptions::new(Dialect::ANTHROPIC))?.into_owned())
    /// }
    /// # adapted(r#"{"messages":[]}"#.into())?;
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn into_owned(self) -> Adapted<B::Owned> {
        let Adapted { request, report, restore } = self;
        Adapted { request: request.into_owned(), report, restore }
    }
}

/// Rewrites a whole request (Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini) so that the API
/// accepts it: applies deferred loading ([`apply_deferred_loading`](crate::apply_deferred_loading)), then sanitizes
/// every tool ([`sanitize_tools`](crate::sanitize_tools)), then renames tools in `tool_choice` and in the history.
///
/// ```
/// use serde_json::json;
/// use toolwire::{adapt_request, AdaptOptions, Dialect};
/// let request = json!({
///     "model": "claude",
///     "messages": [
///         {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "files.read", "input": {}}]},
///     ],
///     "tools": [{"name": "files.read", "input_schema": {"type": "object", "properties": {}}}],
///     "tool_choice": {"type": "tool", "name": "files.read"},
/// });
/// let adapted = adapt_request(&request, &AdaptOptions::new(Dialect::ANTHROPIC))?;
/// assert_eq!(adapted.request["tools"][0]["name"], "files_read");
/// assert_eq!(adapted.request["messages"][0]["content"][0]["name"], "files_read");
/// assert_eq!(adapted.request["tool_choice"]["name"], "files_read");
/// let call = json!({"type": "tool_use", "id": "t2", "name": "files_read", "input": {}});
/// let reply = json!({"role": "assistant", "content": [call]});
/// assert_eq!(adapted.restore.reply(&reply)?.reply["content"][0]["name"], "files.read");
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// In JSON text, messages that need no change are copied unchanged.
///
/// # Errors
/// `invalid-option`, `invalid-request`, `forced-deferred-tool`, `invalid-json`, `too-deep`.
pub fn adapt_request<T: Input>(request: T, options: &AdaptOptions) -> Result<Adapted<T::Output>, Error> {
    let mut node = request.given()?.read_request()?;
    let (report, restore_map) = adapt::adapt(&mut node, options)?;
    Ok(Adapted { request: request.written(&node)?, report, restore: Restore(restore_map) })
}

/// Returns what an API would refuse about a request as a whole: a tool choice combined with thinking, a tool choice
/// without tools, tools that the model does not support, arguments in the history that are not JSON objects, calls
/// without results. The options are the name of a dialect, or [`CheckRequestOptions`], which may also contain the
/// model. [`check_tools`](crate::check_tools) checks the tools of a request. An empty result means that the request
/// violates no rule. At most 100 violations of a constraint are listed at a location; [`RequestViolation::more`] counts
/// the others.
///
/// ```
/// use serde_json::json;
/// let tool = json!({"name": "ping", "input_schema": {"type": "object", "properties": {}}});
/// let request = json!({
///     "model": "claude-sonnet-4-6", "max_tokens": 4000,
///     "messages": [{"role": "user", "content": "hi"}],
///     "thinking": {"type": "enabled", "budget_tokens": 2000}, "tools": [tool], "tool_choice": {"type": "any"},
/// });
/// let found = toolwire::check_request(&request, toolwire::Dialect::ANTHROPIC)?;
/// assert_eq!((found[0].constraint, found[0].pointer.as_str()), ("choice-while-thinking", "/tool_choice"));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-request`, `invalid-json`, `too-deep`.
pub fn check_request<T: Input>(
    request: T,
    options: impl Into<CheckRequestOptions>,
) -> Result<Vec<RequestViolation>, Error> {
    check::request(request.given()?.read_request()?, &options.into(), FindingLimit::LISTED)
}

/// A reply whose calls are restored, and the repairs of their arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredReply<T> {
    /// The reply.
    pub reply: T,
    /// Repairs of each call, in the order of the calls, if repairing is enabled. Calls to tools without a schema are
    /// omitted.
    pub calls: Vec<RepairedCall>,
    /// Changes to the structured output that do not affect its values. Each kind of change is listed once.
    pub answer_changes: Vec<AnswerChange>,
}

impl Restore {
    /// Restores every call in a whole reply of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini, and
    /// returns the repairs of each call, if repairing is enabled. Text without anything to restore is returned
    /// borrowed.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{sanitize_tools, Dialect, RepairOptions, ToolsOptions};
    /// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
    /// let tools = json!([{"name": "search", "inputSchema": schema}]);
    /// let options = ToolsOptions::new(Dialect::ANTHROPIC).repair(RepairOptions::default());
    /// let call = json!({"type": "tool_use", "id": "t1", "name": "search", "input": {"limit": "ten"}});
    /// let reply = json!({"role": "assistant", "content": [call]});
    /// let restored = sanitize_tools(&tools, &options)?.restore.reply(&reply)?;
    /// // Send this text to the model as the result of the call `t1`.
    /// let message = restored.calls[0].retry_message.as_deref().unwrap_or_default();
    /// assert!(message.contains("/limit: expected an integer, found a string"));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`.
    pub fn reply<T: Input>(&self, reply: T) -> Result<RestoredReply<T::Output>, Error> {
        let (mut node, mut reports) = (reply.given()?.read()?, CallReports::default());
        self.0.whole_reply(&mut node, &mut reports)?;
        let (calls, answer_changes) = (reports.take(), reports.take_answer_changes());
        Ok(RestoredReply { reply: reply.written(&node)?, calls, answer_changes })
    }

    /// Creates a restorer for a reply that arrives in pieces.
    pub fn stream(&self) -> ReplyRestorer {
        ReplyRestorer { stream: Stream::new(self.0.clone()), bytes: Utf8Pieces::default() }
    }
}

/// Restores a reply that arrives in pieces: the events of one stream, in order.
///
/// Names are restored immediately. The pieces of a call's arguments are forwarded unchanged, unless the dialect encoded
/// the arguments of that tool or repairing is enabled: then the pieces are buffered, and the restored arguments are
/// returned as a whole at the end of the call.
///
/// ```
/// use serde_json::json;
/// use toolwire::{sanitize_tools, Dialect, ToolsOptions};
/// let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
/// let tools = json!([{"name": "show", "inputSchema": schema}]);
/// let mut stream = sanitize_tools(&tools, &ToolsOptions::new(Dialect::MOONSHOT))?.restore.stream();
/// let call = json!({"index": 0, "id": "c1", "function": {"name": "show", "arguments": ""}});
/// let start = json!({"index": 0, "delta": {"tool_calls": [call]}});
/// assert_eq!(stream.feed(&json!({"choices": [start]}))?.len(), 1);
/// for piece in ["{\"dollar_", "ref_\":\"main\"}"] {
///     let delta = json!({"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}});
///     assert_eq!(stream.feed(&json!({"choices": [delta]}))?.len(), 0);
/// }
/// let end = stream.feed(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}))?;
/// assert_eq!(end[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"], "{\"$ref\":\"main\"}");
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Debug)]
pub struct ReplyRestorer {
    stream: Stream,
    bytes: Utf8Pieces,
}

impl ReplyRestorer {
    /// Accepts the next event and returns the events to forward: none, one or several.
    ///
    /// # Errors
    /// `too-deep`; `limit-exceeded` if the buffered arguments exceed their maximum size; `budget-exceeded` if the
    /// arguments of a call take too many steps to restore. They are discarded, so the stream must not be continued.
    pub fn feed(&mut self, event: &Value) -> Result<Vec<Value>, Error> {
        self.stream.feed(Node::from_value(event)?)?.iter().map(Node::to_value).collect()
    }

    pub(crate) fn feed_node<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        self.stream.feed(event)
    }

    /// Accepts the next piece of the text of an event stream (`text/event-stream`), which may be split anywhere, and
    /// returns the text to forward in place of the piece. It is borrowed if it is the beginning of the piece, which may
    /// be empty: the rest is held back until the event is complete. Events that need no change are forwarded byte for
    /// byte.
    ///
    /// # Errors
    /// `limit-exceeded` if an event or the buffered text exceeds the maximum size. The next call returns the text that
    /// could already be forwarded, and the event unchanged. `budget-exceeded` if the arguments of a call take too many
    /// steps to restore. They are discarded, so the stream must not be continued.
    pub fn feed_text<'p>(&mut self, piece: &'p str) -> Result<Cow<'p, str>, Error> {
        self.stream.feed_text(piece)
    }

    /// Like [`Self::feed_text`], but accepts bytes, which may be split within a character. Bytes that are not UTF-8
    /// become U+FFFD.
    ///
    /// ```
    /// use toolwire::Restore;
    /// let mut stream = Restore::default().stream();
    /// let (first, second) = "data: {\"text\": \"€\"}\n\n".as_bytes().split_at(18);
    /// assert_eq!(&*stream.feed_bytes(first)?, b"");
    /// assert_eq!(&*stream.feed_bytes(second)?, "data: {\"text\": \"€\"}\n\n".as_bytes());
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Self::feed_text`].
    pub fn feed_bytes<'p>(&mut self, piece: &'p [u8]) -> Result<Cow<'p, [u8]>, Error> {
        fed(&mut self.bytes, piece, |text| self.stream.feed_text(text))
    }

    /// Returns the repairs of the calls that ended since this method was last used, if repairing is enabled.
    pub fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.stream.take_repaired_calls()
    }

    /// Returns the changes to the structured output since the last call to this method. They have the form of
    /// [`RestoredReply::answer_changes`].
    pub fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        self.stream.take_answer_changes()
    }

    /// Ends the stream and returns the events that are still buffered because their call never ended.
    ///
    /// # Errors
    /// `budget-exceeded` if the arguments of a call take too many steps to restore: the buffered calls are discarded.
    /// `invalid-value` if an event contains an unpaired surrogate, which a `Value` cannot represent.
    pub fn finish(&mut self) -> Result<Vec<Value>, Error> {
        self.stream.finish()?.iter().map(Node::to_value).collect()
    }

    pub(crate) fn finish_node(&mut self) -> Result<Vec<Node<'static>>, Error> {
        self.stream.finish()
    }

    /// Nothing is buffered. Bindings may then replace the restorer with a new one.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.stream.is_at_rest()
    }

    /// Ends a stream of text and returns the text that is still buffered, and any incomplete event at the end.
    ///
    /// # Errors
    /// `limit-exceeded` if the last event cannot be restored. Nothing is lost: the next call returns the buffered text,
    /// and that event unchanged. `budget-exceeded` as for [`Self::feed_text`].
    pub fn finish_text(&mut self) -> Result<String, Error> {
        let broken = self.bytes.end();
        if broken.is_empty() {
            return self.stream.finish_text();
        }
        let text = self.stream.feed_text(broken)?.into_owned();
        Ok(text + &self.stream.finish_text()?)
    }
}

/// A rewritten request. Its report is computed when it is first read, from the input, which it therefore borrows;
/// [`into_owned`](Self::into_owned) copies it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deferred<T: Form> {
    /// The request.
    pub request: T::Output,
    input: T,
    options: DeferredOptions,
    results: OnceValue<Result<(DeferredReport, Restore), Error>>,
}

impl<T: Form> Deferred<T> {
    /// Returns the report: the tools that were loaded and hidden, and warnings.
    ///
    /// # Errors
    /// Only those that [`apply_deferred_loading`] would have returned: the request is rewritten again.
    pub fn report(&self) -> Result<&DeferredReport, Error> {
        Ok(&self.results()?.0)
    }

    /// Returns the value that translates the backend's calls back for the client: the tools' names and the kinds of
    /// calls.
    ///
    /// # Errors
    /// Same as [`Self::report`].
    pub fn restore(&self) -> Result<&Restore, Error> {
        Ok(&self.results()?.1)
    }

    /// Returns the result with a copy of the input.
    #[must_use]
    pub fn into_owned(self) -> Deferred<T::Owned> {
        let Deferred { request, input, options, results } = self;
        Deferred { request: request.into(), input: input.copied(), options, results }
    }

    fn results(&self) -> Result<&(DeferredReport, Restore), Error> {
        let results = self.results.get_or_init(|| {
            let mut node = self.input.given()?.read_request()?;
            let done = deferred::apply(&mut node, &self.options, None, true)?;
            let restore = Restore(RestoreMap::of(done.client, &done.report));
            Ok((done.report, restore))
        });
        results.as_ref().map_err(Clone::clone)
    }
}

/// Makes a request that uses deferred tools work on an API without that feature.
///
/// ```
/// use serde_json::json;
/// use toolwire::{apply_deferred_loading, DeferredOptions};
/// let request = json!({
///     "model": "some-model",
///     "messages": [{"role": "user", "content": "hello"}],
///     "tools": [{"name": "Read", "input_schema": {"type": "object"}, "defer_loading": true}],
/// });
/// let applied = apply_deferred_loading(&request, &DeferredOptions::default())?;
/// assert_eq!(applied.request["tools"], json!([]));
/// assert_eq!(applied.report()?.hidden, ["Read"]);
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// In JSON text, messages that need no change are copied unchanged.
///
/// # Errors
/// `invalid-request`, `invalid-option`, `forced-deferred-tool`, `invalid-json`, `too-deep`.
pub fn apply_deferred_loading<T: Input>(request: T, options: &DeferredOptions) -> Result<Deferred<T>, Error> {
    let mut node = request.given()?.read_request()?;
    deferred::apply(&mut node, options, None, false)?;
    let (input, options, results, request) = (request, options.clone(), OnceValue::new(), request.written(&node)?);
    Ok(Deferred { request, input, options, results })
}

/// Removes the betas of deferred loading from the value of an `anthropic-beta` header, a comma-separated list, because
/// a backend refuses requests with a beta that it does not know. Returns `None` if nothing is left; the header must
/// then be removed. ([`apply_deferred_loading`] does the same to the body of a request; the caller is responsible for
/// headers.)
///
/// ```
/// use toolwire::strip_deferral_betas;
/// let left = strip_deferral_betas("tool-search-tool-2025-10-19, context-1m-2025-08-07");
/// assert_eq!(left.as_deref(), Some("context-1m-2025-08-07"));
/// assert_eq!(strip_deferral_betas("advanced-tool-use-2025-11-20"), None);
/// ```
pub fn strip_deferral_betas(value: &str) -> Option<Cow<'_, str>> {
    deferred::adjust_betas(Some(value), Native::None, &[])
}

/// Settles the value of an `anthropic-beta` header for a backend with a native construct for deferred tools: removes
/// the betas that the backend does not know, and adds those that a request needs ([`DeferredReport::betas`]). Returns
/// `None` if the header must be absent.
///
/// ```
/// use toolwire::{options::Native, settle_deferral_betas};
/// let needed = ["mid-conversation-tool-changes-2026-07-01"];
/// let settled = settle_deferral_betas(Some("inline-tools-2026-09-15,a"), Native::Changes, &needed);
/// assert_eq!(settled.as_deref(), Some("a,mid-conversation-tool-changes-2026-07-01"));
/// ```
pub fn settle_deferral_betas<'v>(value: Option<&'v str>, native: Native, needed: &[&str]) -> Option<Cow<'v, str>> {
    deferred::adjust_betas(value, native, needed)
}
