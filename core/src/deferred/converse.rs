//! Deferred loading of Bedrock Converse, whose list of tools is in `toolConfig`, and of Gemini `generateContent`, whose
//! functions are in groups.
//!
//! Neither has deferred tools. Converse has system messages that add and remove tools of the list. The tools are moved
//! to a flat list while the request is rewritten. A request that holds nothing to rewrite is not touched.

use super::{apply_to_list, quote::Sending, Applied, Client};
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Node,
    },
    names::Names,
    options::{Announce, Api, DeferredOptions, Native, ToolChanges, UnavailableCalls},
    request::{
        self, blocks, flat_list, prefilter,
        report::DeferredReport,
        tool::{deferral, is_clean},
    },
};

/// Rewrites a request in place. `api` is Bedrock Converse or Gemini `generateContent`.
pub(super) fn apply(
    request: &mut Node<'_>,
    api: Api,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    let mut options = DeferredOptions { format: Some(api), ..options.clone() };
    if options.tool_changes == ToolChanges::Ignore && options.native == Native::Converse {
        // Without changes, nothing of the construct is left.
        options.native = Native::None;
    }
    if options.native == Native::Converse && has_flags(request, api)? {
        // Converse has no flag for deferred tools.
        options.native = Native::None;
    }
    let nothing = || Applied {
        report: DeferredReport::default(),
        names: Names::default(),
        client: Client { format: api, search: None },
        deferred: alloc::vec::Vec::new(),
    };
    if !concerns_tools(request, api, &options)? {
        return Ok(nothing());
    }
    if options.native == Native::Converse && options.announce == Announce::None {
        // The request stays as it is, and is read for its report.
        let mut copy = request.clone();
        flat_list::lift(&mut copy, api)?;
        return apply_to_list(&mut copy, &options, sending, reports);
    }
    let shell = flat_list::lift(request, api)?;
    let applied = apply_to_list(request, &options, sending, reports);
    flat_list::sink(request, api, shell)?;
    applied
}

/// Returns true if a request holds anything that deferred loading rewrites.
fn concerns_tools(request: &Node<'_>, api: Api, options: &DeferredOptions) -> Result<bool, Error> {
    let has_texts = options.native == Native::None && options.unavailable_calls == UnavailableCalls::Text;
    if has_texts && api == Api::Bedrock {
        return Ok(true);
    }
    if has_flags(request, api)? {
        return Ok(true);
    }
    for message in request.get(api.history()).and_then(Node::as_array).unwrap_or_default() {
        if may_hold(message, prefilter::DEFERRAL) {
            let message = view(message)?;
            let found = blocks::of_message(&message).iter().any(|block| match api {
                Api::Bedrock => blocks::converse_change(block).is_some() || blocks::found_by_search(block).is_some(),
                _ => blocks::found_by_search(block).is_some(),
            });
            if found {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns true if the list has a flag of deferred loading.
fn has_flags(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let found = request::with_tools(request, api, |tools| {
        let is_flagged = |entry: &Node<'_>| deferral(entry).0 || !is_clean(entry, false);
        let mut found = tools.as_array().unwrap_or_default().iter().any(is_flagged);
        flat_list::each_function(tools, &mut |function| found |= is_flagged(function));
        Ok(found)
    })?;
    Ok(found == Some(true))
}
