//! OpenAI Responses: tool searches, their outputs and additional tools are items of the input.

use alloc::string::String;

use super::{
    flat_names::{FlatNames, Planner},
    lazy::{may_hold, view},
    prefilter,
    tool::{self, has_type},
};
use crate::{collections::Set, error::Error, json::Node, options::ToolChanges};

/// The flat names of all tools that a request lists and that its history brings, unless its changes are ignored.
/// Without namespaces every tool keeps its name.
pub(super) fn flat_names(request: &Node<'_>, changes: ToolChanges) -> Result<FlatNames, Error> {
    plan(request, changes, Planner::with_default_at_top())
}

/// The flat names of all tools of a request that is sent as it is: whatever stands in it is sent with it.
pub(super) fn flat_names_as_it_is(request: &Node<'_>) -> Result<FlatNames, Error> {
    plan(request, ToolChanges::Apply, Planner::default())
}

fn plan(request: &Node<'_>, changes: ToolChanges, mut planner: Planner) -> Result<FlatNames, Error> {
    let listed = request.get("tools").map(view).transpose()?;
    planner.add(listed.as_ref().and_then(|tools| tools.as_array()).unwrap_or_default());
    // Tools whose change is ignored are not sent, and take no names.
    if changes == ToolChanges::Apply {
        for item in request.get("input").and_then(Node::as_array).unwrap_or_default() {
            if may_hold(item, prefilter::CARRIER) {
                let item = view(item)?;
                if has_type(&item, "tool_search_output") || has_type(&item, "additional_tools") {
                    planner.add(item.get("tools").and_then(Node::as_array).unwrap_or_default());
                }
            }
        }
    }
    Ok(planner.finish())
}

/// The names of the tools of the top level that a search may load or that an item brings. The API calls them by a
/// namespace of their own name.
pub(crate) fn loadable_names(request: &Node<'_>) -> Result<Set<String>, Error> {
    let mut names = Set::new();
    let mut take = |list: &Node<'_>, all: bool| {
        let tools = list.as_array().unwrap_or_default().iter().filter(|tool| all || tool::deferral(tool).0);
        names.extend(tools.filter_map(tool::name).map(|name| String::from(name.display())));
    };
    if let Some(tools) = request.get("tools") {
        take(&*view(tools)?, false);
    }
    for item in request.get("input").and_then(Node::as_array).unwrap_or_default() {
        if may_hold(item, prefilter::CARRIER) {
            let item = view(item)?;
            if has_type(&item, "additional_tools") || has_type(&item, "tool_search_output") {
                item.get("tools").into_iter().for_each(|tools| take(tools, true));
            }
        }
    }
    Ok(names)
}

/// Whether the caller runs this search, or ran it.
pub(crate) fn is_client(item: &Node<'_>) -> bool {
    match item.get("execution") {
        Some(execution) if !execution.is_null() => execution.is_text("client"),
        // Hosted searches have no call to answer.
        _ => item.get("call_id").and_then(Node::as_text).is_some(),
    }
}
