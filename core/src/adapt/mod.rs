//! `adapt_request` rewrites a whole request in steps.
//!
//! [`steps`] is the table of steps, in the order in which they run, with the reason for each position. Steps share a
//! [`RequestContext`]. `tool_list` rewrites the list of tools, and `added_tools` the tools that the history adds.
//! `overflow` defers tools above the API's maximum. `retained_namespaces` keeps namespaces. `format_ladder` tries
//! how a response format can be sent, and `format_substitute` replaces it.

mod added_tools;
#[cfg(feature = "exchange")]
pub(crate) mod catalogue;
mod context;
mod format_ladder;
mod format_substitute;
mod history_names;
pub(crate) mod overflow;
mod report;
mod steps;
mod substitute;
#[cfg(test)]
mod tests;
mod tool_list;

use context::RequestContext;
pub use report::AdaptReport;

use crate::{
    error::Error, json::Node, names::Names, options::AdaptOptions, reply::restore::RestoreMap, request,
    tools::list_cache::Lookup,
};

/// Code of the warning that tools beyond the maximum are deferred.
pub(crate) const OVERFLOW: &str = "overflow-deferred";

/// Rewrites a request in place.
pub(crate) fn adapt(request: &mut Node<'_>, options: &AdaptOptions) -> Result<(AdaptReport, RestoreMap), Error> {
    adapt_with_names(request, options, None).map(|(report, restore_map, _)| (report, restore_map))
}

/// Like [`adapt`], but also returns the current names of all tools, including tools that are not sent yet. If `lookup`
/// is set, the tool list is looked up in the cache first.
pub(crate) fn adapt_with_names<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    lookup: Option<Lookup<'a>>,
) -> Result<(AdaptReport, RestoreMap, Names), Error> {
    let list = request::open_list(request)?;
    let adapted = format_ladder::rewrite_in_first_form(request, options, &mut |request, form| {
        let lookup = lookup.map(|lookup| (lookup, list));
        let mut context = RequestContext::new(request, options, lookup, form)?;
        steps::run(request, &mut context)?;
        let RequestContext { mut report, restore_map, names, header, .. } = context;
        report.beta_changes = header.map(|header| header.changes).unwrap_or_default();
        report.betas = report.beta_changes.apply(options.betas.as_deref().unwrap_or_default());
        Ok((report, restore_map, names))
    })?;
    request::close_list(request, list);
    Ok(adapted)
}
