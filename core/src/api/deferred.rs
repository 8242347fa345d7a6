//! `apply_deferred_loading`.

use alloc::borrow::Cow;
use serde_json::Value;

use super::{text_of, JsonText, Restore};
use crate::{
    deferred::{self, Applied, DeferredReport},
    error::Error,
    json::Node,
    options::{DeferredOptions, Native},
    tools::restore::RestoreMap,
};

/// A rewritten request and what was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deferred<T> {
    /// The request.
    pub request: T,
    /// Which tools were loaded and hidden, and what was odd.
    pub report: DeferredReport,
    /// Turns the backend's calls into the client's own: their names, and what kinds of calls they are.
    pub restore: Restore,
}

fn deferred<T>(request: T, done: Applied) -> Deferred<T> {
    let restore = Restore(RestoreMap::of(done.client, &done.report));
    Deferred { request, report: done.report, restore }
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
/// assert_eq!(apply_deferred_loading(&request, &DeferredOptions::default())?["tools"], json!([]));
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-request`, `invalid-option`, `forced-deferred-tool`, `too-deep`.
pub fn apply_deferred_loading(request: &Value, options: &DeferredOptions) -> Result<Value, Error> {
    let mut node = Node::from_value(request)?;
    deferred::apply(&mut node, options, None, false)?;
    node.to_value()
}

/// [`apply_deferred_loading`], and what it decided.
///
/// # Errors
/// As [`apply_deferred_loading`].
pub fn apply_deferred_loading_with_report(
    request: &Value,
    options: &DeferredOptions,
) -> Result<Deferred<Value>, Error> {
    let mut node = Node::from_value(request)?;
    let done = deferred::apply(&mut node, options, None, true)?;
    Ok(deferred(node.to_value()?, done))
}

/// [`apply_deferred_loading`] from text to text: messages that hold nothing to rewrite are copied as they stand.
///
/// # Errors
/// As [`apply_deferred_loading`], and `invalid-json`.
pub fn apply_deferred_loading_json<'a, T: JsonText<'a>>(
    request: T,
    options: &DeferredOptions,
) -> Result<Cow<'a, T::Form>, Error> {
    let request = request.text()?;
    let mut node = deferred::read(request)?;
    deferred::apply(&mut node, options, None, false)?;
    Ok(T::form(text_of(request, &node)))
}

/// [`apply_deferred_loading_json`], and what it decided.
///
/// # Errors
/// As [`apply_deferred_loading_json`].
pub fn apply_deferred_loading_json_with_report<'a, T: JsonText<'a>>(
    request: T,
    options: &DeferredOptions,
) -> Result<Deferred<Cow<'a, T::Form>>, Error> {
    let request = request.text()?;
    let mut node = deferred::read(request)?;
    let done = deferred::apply(&mut node, options, None, true)?;
    Ok(deferred(T::form(text_of(request, &node)), done))
}

/// Takes the betas of deferred loading out of the value of an `anthropic-beta` header, a list with commas: a backend
/// that does not know a beta refuses the request. `None`: nothing is left, so the header goes. (In a request,
/// [`apply_deferred_loading`] does the same; headers are the caller's.)
///
/// ```
/// use toolwire::strip_deferral_betas;
/// let left = strip_deferral_betas("tool-search-tool-2025-10-19, context-1m-2025-08-07");
/// assert_eq!(left.as_deref(), Some("context-1m-2025-08-07"));
/// assert_eq!(strip_deferral_betas("advanced-tool-use-2025-11-20"), None);
/// ```
pub fn strip_deferral_betas(value: &str) -> Option<Cow<'_, str>> {
    deferred::settle_betas(Some(value), Native::None, &[])
}

/// Settles the value of an `anthropic-beta` header for a backend with a construct of its own for deferred tools: betas
/// that it does not know go, and those that a request needs ([`DeferredReport::betas`]) are named. `None`: there is to
/// be no header.
///
/// ```
/// use toolwire::{options::Native, settle_deferral_betas};
/// let needed = ["mid-conversation-tool-changes-2026-07-01"];
/// let settled = settle_deferral_betas(Some("inline-tools-2026-09-15,a"), Native::Changes, &needed);
/// assert_eq!(settled.as_deref(), Some("a,mid-conversation-tool-changes-2026-07-01"));
/// ```
pub fn settle_deferral_betas<'v>(value: Option<&'v str>, native: Native, needed: &[&str]) -> Option<Cow<'v, str>> {
    deferred::settle_betas(value, native, needed)
}
