//! Makes a list that uses the backend's constructs for deferred tools acceptable to the backend.

use crate::{
    error::Error,
    json::{lazy::edit_member, Node, Text},
    options::{DeferredOptions, Native},
    request::{
        listed,
        location::Location,
        origins::EntryOrigin,
        report::Warnings,
        tool::{self, Kind, CACHE, DEFERRAL_FLAG},
    },
};

/// Returns true if a backend with these constructs has a hosted search.
pub(crate) const fn has_hosted_search(native: Native) -> bool {
    !matches!(native, Native::Kimi | Native::AdditionalTools)
}

/// A tool that is sent without its flag, because every tool of the list was deferred.
pub(super) struct Shown {
    /// The client's name of the tool.
    pub(super) name: Text<'static>,
    /// True if the model can find the other tools with this tool.
    pub(super) is_search: bool,
}

/// Makes the list of a request acceptable for Anthropic's API. Returns the tool that lost its flag.
///
/// # Errors
/// `invalid-json` if the list is text that cannot be read.
pub(super) fn fit_list(
    request: &mut Node<'_>,
    origins: Option<&[EntryOrigin]>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<Option<Shown>, Error> {
    let origin = |at: usize| match origins {
        Some(origins) => origins.get(at).and_then(|origin| origin.location),
        None => Some(Location::of_list().index(at)),
    };
    let shown = edit_member(request, "tools", |tools| {
        // Runs first, because a breakpoint can only move to a tool that is not deferred.
        let shown = remove_one_flag(tools, options, &origin, warnings);
        move_breakpoint(tools, &origin, warnings);
        Ok(shown)
    })?;
    warnings.clear_location();
    Ok(shown.flatten())
}

/// Adds a hosted search to a list of OpenAI Responses or Gemini Interactions that has deferred tools and no search.
/// Returns true if it was added.
///
/// Source: OpenAI's answer *Deferred tools require tools.tool_search* (sub2api#5942; read 2026-11).
pub(super) fn add_search(request: &mut Node<'_>, warnings: &mut Warnings) -> bool {
    let list = listed(request);
    let is_search = |entry: &Node<'_>| matches!(tool::kind(entry), Kind::HostedSearch | Kind::ClientSearch);
    let has_deferred_member = |entry: &Node<'_>| {
        let tools = entry.get("tools").filter(|_| tool::has_type(entry, "namespace"));
        tools.and_then(Node::as_array).is_some_and(|tools| tools.iter().any(|tool| tool::deferral(tool).0))
    };
    if list.iter().any(is_search) || !list.iter().any(|entry| tool::deferral(entry).0 || has_deferred_member(entry)) {
        return false;
    }
    let search = Node::record([("type", Node::literal("tool_search"))]);
    request.visit("tools", |tools| tools.as_array_mut().map(|list| list.push(search)));
    warnings.warn("tool-search-added");
    true
}

fn is_deferred(entry: &Node<'_>) -> bool {
    let by_default = entry.get("default_config").and_then(|config| config.get(DEFERRAL_FLAG)).and_then(Node::as_bool);
    tool::deferral(entry).0 || tool::kind(entry) == Kind::Toolset && by_default == Some(true)
}

/// Moves a cache breakpoint of a deferred tool to the last tool that is not deferred.
///
/// Source: the API's answers, a 400 for `cache_control` together with `defer_loading` (anthropics/claude-code#86743,
/// OmniRoute#215; read 2026-11).
fn move_breakpoint(tools: &mut Node<'_>, origin: &dyn Fn(usize) -> Option<Location>, warnings: &mut Warnings) {
    let has_both = |entry: &Node<'_>| tool::deferral(entry).0 && entry.get(CACHE).is_some();
    if !tools.as_array().is_some_and(|list| list.iter().any(has_both)) {
        return;
    }
    let Some(list) = tools.as_array_mut() else { return };
    let mut moved = None;
    for (at, entry) in list.iter_mut().enumerate().filter(|(_, entry)| has_both(entry)) {
        warnings.set_origin(origin(at));
        warnings.warn_optional_name("cached-deferred", tool::name(entry).cloned().as_ref());
        moved = entry.remove(CACHE);
    }
    let last = list.iter_mut().rev().find(|entry| !is_deferred(entry));
    if let (Some(object), Some(breakpoint)) = (last.and_then(Node::as_object_mut), moved) {
        if !object.has(CACHE) {
            object.set(Text::literal(CACHE), breakpoint);
        }
    }
}

/// If every tool is deferred, removes the flag of the first tool that searches for tools, or else of the first tool.
///
/// Source: the API's answer *At least one tool must have defer_loading=false* (ironclaw#7274, theia#17254; read
/// 2026-11).
fn remove_one_flag(
    tools: &mut Node<'_>,
    options: &DeferredOptions,
    origin: &dyn Fn(usize) -> Option<Location>,
    warnings: &mut Warnings,
) -> Option<Shown> {
    let list = tools.as_array()?;
    if list.is_empty() || !list.iter().all(is_deferred) {
        return None;
    }
    let searches = |name: &Text<'_>| tool::searches(name, options);
    let tools_with_index = list.iter().enumerate().filter(|(_, entry)| tool::kind(entry) == Kind::Tool);
    let names = tools_with_index
        .filter_map(|(at, entry)| Some((at, tool::name(entry).filter(|_| !tool::is_placeholder(entry))?)));
    let (at, name) = names.clone().find(|(_, name)| searches(name)).or_else(|| names.clone().next())?;
    let shown = Shown { name: name.clone().into_owned(), is_search: searches(name) };
    tools.as_array_mut()?.get_mut(at).into_iter().for_each(|entry| {
        let was_deferred = false;
        tool::clean(entry, was_deferred);
    });
    warnings.set_origin(origin(at));
    warnings.warn_named("all-deferred", shown.name.display());
    Some(shown)
}
