//! `apply_deferred_loading`.

use alloc::borrow::Cow;
use core::cell::OnceCell;

use super::{Input, Restore};
use crate::{
    deferred,
    error::Error,
    options::{DeferredOptions, Native},
    request::report::DeferredReport,
    tools::restore::RestoreMap,
};

/// A rewritten request. Its report is computed when it is first read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deferred<T: Input> {
    /// The request.
    pub request: T::Output,
    input: T,
    options: DeferredOptions,
    results: OnceCell<Result<(DeferredReport, Restore), Error>>,
}

impl<T: Input> Deferred<T> {
    /// Returns the report: the tools that were loaded and hidden, and warnings.
    ///
    /// # Errors
    /// Only those that [`apply_deferred_loading`] would have returned.
    pub fn report(&self) -> Result<&DeferredReport, Error> {
        Ok(&self.results()?.0)
    }

    /// Returns the value that restores the backend's calls to the client's: their names and the kinds of calls.
    ///
    /// # Errors
    /// Same as [`Self::report`].
    pub fn restore(&self) -> Result<&Restore, Error> {
        Ok(&self.results()?.1)
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
    let (input, options, results, request) = (request, options.clone(), OnceCell::new(), request.written(&node)?);
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
    deferred::settle_betas(Some(value), Native::None, &[])
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
    deferred::settle_betas(value, native, needed)
}
