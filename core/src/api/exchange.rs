//! `Exchange`: one client request and its reply.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{describe, input::fed, Input};
use crate::{
    adapt::AdaptReport,
    error::Error,
    exchange::{self, StreamKind},
    json::{Node, Utf8Pieces},
    options::{ExchangeOptions, Native},
    report::{AnswerChange, RepairedCall},
    tools::{list_cache::ToolListCache, quarantine::SetAsideWarning},
};

/// One client request and its reply, for a program between a client and a backend. The exchange adapts the request
/// like [`adapt_request`](crate::adapt_request), and restores the reply. If the client relies on its provider to search
/// for tools (Anthropic's `tool_search_tool_*`) and the model searches, the exchange answers the search and the model
/// is asked again. The client receives one reply, with the blocks that Anthropic's servers would have written.
///
/// ```
/// use toolwire::{Dialect, Exchange, ExchangeOptions};
/// let body = r#"{"model":"m","messages":[{"role":"user","content":"a room, please"}],"tools":[
///     {"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},
///     {"name":"book_room","description":"Books a meeting room","defer_loading":true,
///      "input_schema":{"type":"object","properties":{}}}
/// ]}"#;
/// let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
/// let mut exchange = Exchange::open("http://localhost/v1/messages", body, &options)?.expect("a request with tools");
/// assert!(!exchange.request().contains("book_room"));
/// let searches = r#"{"type":"message","stop_reason":"tool_use",
///     "content":[{"type":"tool_use","id":"toolu_1","name":"tool_search","input":{"query":"meeting room"}}]}"#;
/// assert_eq!(exchange.reply(searches)?, None);
/// assert!(exchange.request().contains("book_room"));
/// let calls = r#"{"type":"message","stop_reason":"tool_use",
///     "content":[{"type":"tool_use","id":"toolu_2","name":"book_room","input":{}}]}"#;
/// let reply = exchange.reply(calls)?.expect("the end");
/// assert!(reply.contains("tool_search_tool_result"));
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Debug)]
pub struct Exchange(exchange::Exchange, Utf8Pieces);

impl Exchange {
    /// Opens an exchange for a request, given its URL and its body, a value or JSON text. Returns `None` if the request
    /// cannot contain tools (because of its path, or because it is not a JSON object); such a request must be forwarded
    /// unchanged.
    ///
    /// # Errors
    /// The errors of [`adapt_request`](crate::adapt_request) and [`dialect_for`](crate::dialect_for);
    /// `not-representable` if tools have to be set aside, which [`OnSetAside::Error`](crate::options::OnSetAside)
    /// forbids; `invalid-request` if the history is in another format than the address has, because the client could
    /// not read the reply; `invalid-json` for bytes that are not UTF-8.
    pub fn open(url: &str, body: impl Input, options: &ExchangeOptions) -> Result<Option<Exchange>, Error> {
        Exchange::open_with(url, body, options, None)
    }

    /// Like [`Exchange::open`], but for requests that repeat their tools: a list in the cache is not rewritten again.
    ///
    /// # Errors
    /// Same as [`Exchange::open`].
    pub fn open_cached(
        url: &str,
        body: impl Input,
        options: &ExchangeOptions,
        cache: &ToolListCache,
    ) -> Result<Option<Exchange>, Error> {
        Exchange::open_with(url, body, options, Some(cache))
    }

    fn open_with(
        url: &str,
        body: impl Input,
        options: &ExchangeOptions,
        cache: Option<&ToolListCache>,
    ) -> Result<Option<Exchange>, Error> {
        let opened = exchange::Exchange::open(url, &body.given()?.text()?, options, cache)?;
        Ok(opened.map(|opened| Exchange(opened, Utf8Pieces::default())))
    }

    /// Returns the body to send: the original text if nothing needs rewriting, or the next request if the model must be
    /// asked again.
    pub fn request(&self) -> &str {
        self.0.request()
    }

    /// Like [`Self::request`], but moves the body out of the exchange. A client can send it without a copy.
    /// [`Self::request`] is empty until the model must be asked again.
    ///
    /// ```
    /// use toolwire::{Dialect, Exchange, ExchangeOptions};
    /// let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    /// let url = "http://localhost/v1/messages";
    /// let mut exchange = Exchange::open(url, br#"{"messages":[]}"#, &options)?.expect("a request");
    /// let body: Vec<u8> = exchange.take_request().into_bytes();
    /// assert_eq!(body, br#"{"messages":[]}"#);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn take_request(&mut self) -> String {
        self.0.take_request()
    }

    /// Returns the report on the rewritten request.
    pub fn report(&self) -> &AdaptReport {
        self.0.report()
    }

    /// Returns the betas that the header `anthropic-beta` of the request has to name: the betas of
    /// [`AdaptOptions::betas`](crate::AdaptOptions::betas) that the backend knows, and those that the request needs. An
    /// empty list means that the header must not be sent.
    ///
    /// ```
    /// use toolwire::{Exchange, ExchangeOptions};
    /// let body = r#"{"model":"claude-opus-5","messages":[],"context_management":{"edits":[]}}"#;
    /// let options = ExchangeOptions::default().betas(["files-api-2025-04-14"]);
    /// let exchange = Exchange::open("https://api.anthropic.com/v1/messages", body, &options)?.expect("a request");
    /// assert_eq!(exchange.betas(), ["files-api-2025-04-14", "context-management-2025-06-27"]);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    pub fn betas(&self) -> &[String] {
        self.0.betas()
    }

    /// Returns the backend's native construct for deferred tools that the request uses. With
    /// [`ExchangeOptions::native_is_auto`](crate::ExchangeOptions::native_is_auto), the default, it is looked up unless
    /// the options name one.
    ///
    /// ```
    /// use toolwire::{options::Native, Exchange, ExchangeOptions};
    /// let body = r#"{"model":"claude-opus-5","messages":[]}"#;
    /// let options = ExchangeOptions::default();
    /// let exchange = Exchange::open("https://api.anthropic.com/v1/messages", body, &options)?.expect("a request");
    /// assert_eq!(exchange.native(), Native::Inline);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    pub fn native(&self) -> Native {
        self.0.native()
    }

    /// Returns a warning for the user: which tools are missing from the request, why, and what to do. Show it once for
    /// each [`key`](SetAsideWarning::key).
    ///
    /// ```
    /// use toolwire::{Dialect, Exchange, ExchangeOptions};
    /// let body = r#"{"messages":[],"tools":[
    ///     {"name":"read","input_schema":{"type":"object"}}, {"name":"bad","input_schema":{"type":"string"}}]}"#;
    /// let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    /// let exchange = Exchange::open("http://localhost/v1/messages", body, &options)?.expect("a request with tools");
    /// let warning = &exchange.warning().expect("a warning").message;
    /// assert!(warning.starts_with("1 tool was not sent: `bad` at `/tools/1"));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    pub fn warning(&self) -> Option<&SetAsideWarning> {
        self.0.warning()
    }

    /// Returns null if no warning exists.
    pub(crate) fn warning_node(&self) -> Node<'static> {
        self.warning().map_or_else(Node::default, describe::warning)
    }

    /// Returns the body of a response with status 400 that reports `error` in the format of the API at `url`, so that
    /// an SDK treats it as a bad request. A program between a client and that API sends this response if it cannot open
    /// an exchange.
    ///
    /// ```
    /// use toolwire::{Dialect, Exchange, ExchangeOptions};
    /// let (url, options) = ("http://localhost/v1/messages", ExchangeOptions::default().dialect(Dialect::ANTHROPIC));
    /// let error = Exchange::open(url, r#"{"messages":[],"tools":3}"#, &options).expect_err("no tools");
    /// let body = Exchange::refusal(url, &error);
    /// assert!(body.starts_with(r#"{"type":"error","error":{"type":"invalid_request_error","message":"toolwire: "#));
    /// assert!(body.ends_with(r#""code":"invalid-request","pointer":"/tools"}}"#));
    /// ```
    pub fn refusal(url: &str, error: &Error) -> String {
        exchange::endpoint::refusal_body(url, error)
    }

    pub(crate) fn report_node(&self) -> Node<'static> {
        describe::request(self.report())
    }

    /// Restores a whole reply for the client. Returns `None` if the model must be asked again, with [`Self::request`].
    ///
    /// # Errors
    /// `too-deep`, `invalid-option`, and the errors of [`Self::open`] for the next request; `invalid-value` for a reply
    /// in another format than the address has; `invalid-json` for bytes that are not UTF-8.
    pub fn reply<T: Input>(&mut self, reply: T) -> Result<Option<T::Output>, Error> {
        let text = reply.given()?.text()?;
        let restored = match self.0.reply(&text)? {
            None => return Ok(None),
            Some(Cow::Borrowed(_)) => None,
            Some(Cow::Owned(restored)) => Some(restored),
        };
        reply.text(restored).map(Some)
    }

    /// Returns the repairs of the calls that ended since this method was last used, in whole replies and in streams, if
    /// repairing is enabled ([`ExchangeOptions::repair`]).
    ///
    /// ```
    /// use toolwire::{Dialect, Exchange, ExchangeOptions, RepairOptions};
    /// let body = r#"{"messages":[],"tools":[{"name":"read","input_schema":
    ///     {"type":"object","properties":{"lines":{"type":"array","items":{"type":"integer"}}}}}]}"#;
    /// let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC).repair(RepairOptions::default());
    /// let url = "http://localhost/v1/messages";
    /// let mut exchange = Exchange::open(url, body, &options)?.expect("a request with tools");
    /// let reply = r#"{"content":[{"type":"tool_use","id":"t1","name":"read","input":{"lines":"[1, 2]"}}]}"#;
    /// assert!(exchange.reply(reply)?.expect("the end").contains(r#""input":{"lines":[1,2]}"#));
    /// let calls = exchange.take_repaired_calls();
    /// assert_eq!((calls[0].id.as_deref(), calls[0].valid), (Some("t1"), Some(true)));
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    pub fn take_repaired_calls(&mut self) -> Vec<RepairedCall> {
        self.0.take_repaired_calls()
    }

    /// Returns the changes to the structured output since the last call to this method, in whole replies and
    /// in streams. They have the form of [`RestoredReply::answer_changes`](crate::RestoredReply::answer_changes).
    pub fn take_answer_changes(&mut self) -> Vec<AnswerChange> {
        self.0.take_answer_changes()
    }

    /// Restores the next piece of the text of an event stream, which may be split anywhere, and returns the text to
    /// forward in place of the piece. It is borrowed if it is the beginning of the piece, which may be empty: the rest
    /// is held back until the event is complete.
    ///
    /// # Errors
    /// `limit-exceeded` if an event, or the reply, exceeds the maximum size; `invalid-value` for an event in another
    /// format than the address has.
    pub fn feed_text<'p>(&mut self, piece: &'p str) -> Result<Cow<'p, str>, Error> {
        self.0.feed_text(piece)
    }

    /// Like [`Self::feed_text`], but accepts bytes, which may be split anywhere. The first byte determines what the
    /// stream is: text, in which bytes that are not UTF-8 become U+FFFD, or binary frames
    /// (`application/vnd.amazon.eventstream`). Frames are restored at URLs of Amazon Bedrock, and are passed on
    /// unchanged at other URLs. Only this method accepts frames.
    ///
    /// # Errors
    /// Same as [`Self::feed_text`]; `invalid-value` for bytes that are no frame, after frames. The next call returns
    /// the events before them, and later calls return the error again.
    pub fn feed_bytes<'p>(&mut self, piece: &'p [u8]) -> Result<Cow<'p, [u8]>, Error> {
        match self.0.stream_kind(piece) {
            StreamKind::Frames => self.0.feed_frames(piece).map(Cow::Owned),
            StreamKind::Other => Ok(Cow::Borrowed(piece)),
            StreamKind::Text => fed(&mut self.1, piece, |text| self.0.feed_text(text)),
        }
    }

    /// Like [`Self::finish_text`], for a stream that [`Self::feed_bytes`] received.
    ///
    /// # Errors
    /// Same as [`Self::finish_text`].
    pub fn finish_bytes(&mut self) -> Result<Vec<u8>, Error> {
        match self.0.begun_kind() {
            StreamKind::Frames => self.0.finish_frames(),
            StreamKind::Other => Ok(Vec::new()),
            StreamKind::Text => self.finish_text().map(String::into_bytes),
        }
    }

    /// Like [`Self::failed_text`], for a client that has received bytes of [`Self::feed_bytes`].
    pub fn failed_bytes(&self, body: &str) -> Vec<u8> {
        match self.0.begun_kind() {
            StreamKind::Frames => exchange::Exchange::failed_frame(body),
            StreamKind::Other => Vec::new(),
            StreamKind::Text => self.0.failed_text(body).into_bytes(),
        }
    }

    /// Ends a stream and returns the remaining text to forward. If the model must be asked again, [`Self::asks_again`]
    /// returns true, and the next stream continues this one.
    ///
    /// # Errors
    /// `limit-exceeded` if the last event cannot be restored; the next call then returns the buffered text, and that
    /// event unchanged. If the next request cannot be made, the text ends with an event that reports the reason, and
    /// the model is not asked again.
    pub fn finish_text(&mut self) -> Result<String, Error> {
        let broken = self.1.end();
        if broken.is_empty() {
            return self.0.finish_text();
        }
        let text = self.0.feed_text(broken)?.into_owned();
        Ok(text + &self.0.finish_text()?)
    }

    /// Returns true if the last stream ended with a search. The model must then be asked again.
    pub fn asks_again(&self) -> bool {
        self.0.asks_again()
    }

    /// Nothing is buffered, so the exchange can be opened again without loss. Bindings may then drop it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.0.is_at_rest()
    }

    /// Returns the text of an error event for a client that has already received the beginning of the reply. It reports
    /// that the model could not be asked again. `body` is the backend's response.
    pub fn failed_text(&self, body: &str) -> String {
        self.0.failed_text(body)
    }
}
