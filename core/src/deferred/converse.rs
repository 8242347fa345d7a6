//! Deferred loading of Bedrock Converse, whose list of tools is in `toolConfig`.
//!
//! Converse has no deferred tools, but system messages that add and remove tools of the list. The list is moved to
//! `tools` while the request is rewritten. A request that holds nothing to rewrite is not touched.

use super::{apply_to_list, quote::Sending, Applied, Client};
use crate::{
    error::Error,
    json::{
        lazy::{edit_member, may_hold, view},
        Node,
    },
    names::Names,
    options::{Announce, Api, DeferredOptions, Native, ToolChanges, UnavailableCalls},
    request::{
        self, prefilter,
        report::DeferredReport,
        tool::{deferral, is_clean},
    },
};

/// Rewrites a request in place.
pub(super) fn apply(
    request: &mut Node<'_>,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    let mut options = DeferredOptions { format: Some(Api::Bedrock), ..options.clone() };
    if options.tool_changes == ToolChanges::Ignore && options.native == Native::Converse {
        // Without changes, nothing of the construct is left.
        options.native = Native::None;
    }
    if options.native == Native::Converse && has_flags(request)? {
        // Converse has no flag for deferred tools.
        options.native = Native::None;
    }
    let nothing = || Applied {
        report: DeferredReport::default(),
        names: Names::default(),
        client: Client { format: Api::Bedrock, search: None },
        deferred: alloc::vec::Vec::new(),
    };
    if !concerns_tools(request, &options)? {
        return Ok(nothing());
    }
    if options.native == Native::Converse && options.announce == Announce::None {
        // The request stays as it is, and is read for its report.
        let mut copy = request.clone();
        lift(&mut copy)?;
        return apply_to_list(&mut copy, &options, sending, reports);
    }
    lift(request)?;
    let applied = apply_to_list(request, &options, sending, reports);
    sink(request)?;
    applied
}

/// Returns true if a request holds anything that deferred loading rewrites.
fn concerns_tools(request: &Node<'_>, options: &DeferredOptions) -> Result<bool, Error> {
    if options.native == Native::None && options.unavailable_calls == UnavailableCalls::Text {
        return Ok(true);
    }
    if has_flags(request)? {
        return Ok(true);
    }
    for message in request.get("messages").and_then(Node::as_array).unwrap_or_default() {
        if may_hold(message, prefilter::DEFERRAL) {
            let message = view(message)?;
            let blocks = message.get("content").and_then(Node::as_array).unwrap_or_default();
            if blocks.iter().any(|block| request::blocks::converse_change(block).is_some()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns true if the list has a flag of deferred loading.
fn has_flags(request: &Node<'_>) -> Result<bool, Error> {
    let found = request::with_tools(request, Api::Bedrock, |tools| {
        let list = tools.as_array().unwrap_or_default();
        Ok(list.iter().any(|entry| deferral(entry).0 || !is_clean(entry, false)))
    })?;
    Ok(found == Some(true))
}

/// Moves the list out of `toolConfig`.
fn lift(request: &mut Node<'_>) -> Result<(), Error> {
    let list = edit_member(request, "toolConfig", |config| Ok(config.visit("tools", core::mem::take)))?;
    if let Some(list) = list.flatten() {
        request.set("tools", list);
    }
    Ok(())
}

/// Moves the list back. A `toolConfig` without tools is refused, so it leaves with the last of them.
fn sink(request: &mut Node<'_>) -> Result<(), Error> {
    let Some(list) = request.remove("tools") else {
        request.remove("toolConfig");
        return Ok(());
    };
    if request.get("toolConfig").is_none() {
        request.set("toolConfig", Node::empty_object());
    }
    edit_member(request, "toolConfig", |config| {
        config.set("tools", list);
        Ok(())
    })
    .map(drop)
}
