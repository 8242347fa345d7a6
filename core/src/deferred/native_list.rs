//! What Anthropic's API demands of a list with deferred tools.

use alloc::string::String;

use super::{
    lazy::edit_member,
    report::Warnings,
    tool::{self, remove, Kind, CACHE, FLAG},
};
use crate::{
    error::Error,
    json::{Node, Text},
};

/// Makes the list of a request acceptable. Returns the name of the tool that lost its flag because every tool had one:
/// the model cannot find the others then.
///
/// # Errors
/// `invalid-json`, if the list is text that cannot be read.
pub(super) fn settle(request: &mut Node<'_>, warnings: &mut Warnings) -> Result<Option<String>, Error> {
    let settled = edit_member(request, "tools", |tools| {
        move_breakpoint(tools, warnings);
        Ok(show_one(tools, warnings))
    })?;
    Ok(settled.flatten())
}

fn is_deferred(entry: &Node<'_>) -> bool {
    let by_default = entry.get("default_config").and_then(|config| config.get(FLAG)).and_then(Node::as_bool);
    tool::deferral(entry).0 || tool::kind(entry) == Kind::Toolset && by_default == Some(true)
}

/// Moves a cache breakpoint of a deferred tool to the last tool that is not deferred.
///
/// Source: the API's answers, a 400 for `cache_control` beside `defer_loading` (anthropics/claude-code#86743,
/// OmniRoute#215; read 2026-11).
fn move_breakpoint(tools: &mut Node<'_>, warnings: &mut Warnings) {
    let has_both = |entry: &Node<'_>| tool::deferral(entry).0 && entry.get(CACHE).is_some();
    if !tools.as_array().is_some_and(|list| list.iter().any(has_both)) {
        return;
    }
    let Some(list) = tools.as_array_mut() else { return };
    let mut moved = None;
    for entry in list.iter_mut().filter(|entry| has_both(entry)) {
        warnings.about_maybe("cached-deferred", tool::name(entry).cloned().as_ref());
        moved = remove(entry, CACHE);
    }
    let last = list.iter_mut().rev().find(|entry| !is_deferred(entry));
    if let (Some(object), Some(breakpoint)) = (last.and_then(Node::as_object_mut), moved) {
        if !object.has(CACHE) {
            object.set(Text::literal(CACHE), breakpoint);
        }
    }
}

/// Takes the flag off the first tool if every tool has one.
///
/// Source: the API's answer *At least one tool must have defer_loading=false* (ironclaw#7274, theia#17254; read
/// 2026-11).
fn show_one(tools: &mut Node<'_>, warnings: &mut Warnings) -> Option<String> {
    let list = tools.as_array()?;
    if list.is_empty() || !list.iter().all(is_deferred) {
        return None;
    }
    let first = tools.as_array_mut()?.iter_mut().find(|entry| tool::kind(entry) == Kind::Tool)?;
    remove(first, FLAG);
    let name = tool::name(first)?.display().into_owned();
    warnings.about("all-deferred", name.as_str());
    Some(name)
}
