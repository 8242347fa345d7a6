//! The tools of a request beyond the API's maximum: they are deferred behind a search.

use crate::{
    error::Error,
    json::{lazy, Data, Node, Text},
    limits::LOADS_SHARE,
    options::Api,
    request::{
        self,
        tool::{self, Kind, CACHE, FLAG},
        tool_format::{self, Entry},
    },
};

const TOOLS: &str = "tools";
/// The search that is added to a list without one.
const SEARCH_TYPE: &str = "tool_search_tool_bm25_20251119";
pub(crate) const SEARCH: &str = "tool_search_tool_bm25";

/// Defers the tools of a request from the first one for which there is no room, and adds a search. What is deferred
/// depends on the list alone, so that a prompt cache keeps its prefix. Tools named in `searches` stay. Returns true if
/// the request has more than `most` tools.
pub(super) fn defer(
    request: &mut Node<'_>,
    api: Api,
    most: Option<usize>,
    searches: &[alloc::string::String],
) -> Result<bool, Error> {
    let Some(most) = most else { return Ok(false) };
    let count = request::with_tools(request, api, |tools| {
        Ok(tools.as_array().unwrap_or_default().iter().map(size).sum::<usize>())
    })?;
    if count.unwrap_or_default() <= most {
        return Ok(false);
    }
    let is_search = |name: &Text<'_>| searches.iter().any(|search| name.is(search.as_str()));
    let stays = |entry: &Node<'_>| !is_deferrable(entry) || tool::name(entry).is_some_and(is_search);
    lazy::edit_member(request, TOOLS, |tools| {
        let Some(list) = tools.as_array_mut() else { return Ok(()) };
        let fixed: usize = list.iter().filter(|entry| stays(entry)).map(size).sum();
        let has_search = list.iter().any(|entry| matches!(tool::kind(entry), Kind::HostedSearch | Kind::ClientSearch));
        // The search, and the tools that the history loads, need room, too.
        let mut room = most.saturating_sub(most / LOADS_SHARE + fixed + usize::from(!has_search));
        let mut cached = None;
        for entry in list.iter_mut().filter(|entry| !stays(entry) && size(entry) > 0) {
            match room.checked_sub(size(entry)) {
                Some(left) => room = left,
                None => {
                    // No entry behind one that is deferred stays.
                    room = 0;
                    cached = entry.get(CACHE).cloned().or(cached);
                    hide(entry);
                }
            }
        }
        if !has_search {
            let mut search = Node::record([("type", Node::literal(SEARCH_TYPE)), ("name", Node::literal(SEARCH))]);
            if let Some(cached) = cached {
                search.set(CACHE, cached);
            }
            list.push(search);
        }
        Ok(())
    })?;
    Ok(true)
}

/// Returns the number of tools of an entry that the request makes visible.
fn size(entry: &Node<'_>) -> usize {
    match members(entry) {
        Some(tools) => tools.iter().filter(|tool| !tool::deferral(tool).0).count(),
        None => usize::from(!tool::deferral(entry).0),
    }
}

/// Returns the tools of a namespace.
fn members<'n, 'a>(entry: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    tool::has_type(entry, "namespace").then(|| entry.get(TOOLS).and_then(Node::as_array)).flatten()
}

/// Returns true for a tool that the client defines, and for a namespace.
fn is_deferrable(entry: &Node<'_>) -> bool {
    members(entry).is_some() || matches!(tool_format::recognise(entry), Entry::Tool(_)) || tool::is_custom(entry)
}

fn hide(entry: &mut Node<'_>) {
    if members(entry).is_none() {
        entry.set(FLAG, Node::bool(true));
        return;
    }
    entry.visit(TOOLS, |tools| {
        if let Data::Array(_) = tools.data() {
            let _ = tools.visit_children::<core::convert::Infallible>(|_, tool| {
                tool.set(FLAG, Node::bool(true));
                Ok(())
            });
        }
    });
}
