//! Defers tools of a request that has more tools than the API accepts. The model finds deferred tools with a search.

use alloc::string::String;

use crate::{
    deferred::emulation::Overflowed,
    dialect::Dialect,
    error::Error,
    json::{lazy, Data, Node, Text},
    limits::LOADS_SHARE,
    options::{AdaptOptions, Api, Overflow},
    request::{
        flat_list,
        tool::{self, Kind, CACHE, DEFERRAL_FLAG},
        tool_format::{self, Entry},
    },
    wire,
};

const TOOLS: &str = "tools";
/// The search that is added to a list without a search.
const SEARCH_TYPE: &str = "tool_search_tool_bm25_20251119";
pub(crate) const SEARCH: &str = "tool_search_tool_bm25";

/// Returns the maximum number of tools in a request: the API's, or the caller's if that is smaller.
pub(super) fn limit(dialect: &Dialect, options: &AdaptOptions) -> Option<usize> {
    [dialect.tools.max_tools, options.tools.max_tools.or(None)].into_iter().flatten().min()
}

/// Returns true if a request sends more tools than the API accepts, and the options defer the rest.
pub(crate) fn must_defer(request: &Node<'_>, api: Api, options: &AdaptOptions) -> Result<bool, Error> {
    if options.overflow != Overflow::Defer {
        return Ok(false);
    }
    let Some(limit) = limit(crate::dialect::of(&options.tools.sanitize)?, options) else { return Ok(false) };
    let sent = wire::of(api).tools().look(request, |tools| Ok(flat_list::count(tools, count_sent)))?;
    Ok(sent.is_some_and(|sent| sent > limit))
}

/// Defers the tools of a request, beginning with the first tool that exceeds `limit`, and adds a search. The
/// choice of deferred tools depends on the list alone, so that prompt caches keep their prefix. Tools named in
/// `searches` are never deferred.
///
/// Returns the deferred tools. No tool is deferred if all tools of the request together are within `limit`, including
/// tools that the history may load.
pub(super) fn defer(
    request: &mut Node<'_>,
    api: Api,
    limit: Option<usize>,
    searches: &[String],
) -> Result<Overflowed, Error> {
    let Some(limit) = limit else { return Ok(Overflowed::new()) };
    let all = wire::of(api).tools().look(request, |tools| Ok(flat_list::count(tools, count_all)))?;
    if all.is_none_or(|all| all <= limit) {
        return Ok(Overflowed::new());
    }
    let shell = flat_list::flatten(request, api)?;
    // Hosted tools count towards the maximum.
    let hidden = defer_from_list(request, limit, shell.count_hosted_entries(), searches);
    flat_list::write_back(request, api, shell)?;
    hidden
}

/// Defers the tools of a request whose list is flat. `unlisted` is the number of tools outside the list.
fn defer_from_list(
    request: &mut Node<'_>,
    limit: usize,
    unlisted: usize,
    searches: &[String],
) -> Result<Overflowed, Error> {
    let mut hidden = Overflowed::new();
    let is_search = |name: &Text<'_>| searches.iter().any(|search| name.is(search.as_str()));
    let stays = |entry: &Node<'_>| !is_deferrable(entry) || tool::name(entry).is_some_and(is_search);
    // The search and the tools that the history loads also need room.
    let room_of = |list: &[Node<'_>]| {
        let fixed: usize = list.iter().filter(|entry| stays(entry)).map(count_sent).sum();
        limit.saturating_sub(limit / LOADS_SHARE + unlisted + fixed + usize::from(!has_search(list)))
    };
    let room = lazy::edit_member(request, TOOLS, |tools| {
        let list = tools.as_array().unwrap_or_default();
        let wanted: usize = list.iter().filter(|entry| !stays(entry)).map(count_sent).sum();
        let all = unlisted + list.iter().map(count_all).sum::<usize>();
        Ok(Some(room_of(list)).filter(|room| all > limit && wanted > *room))
    })?;
    let Some(mut room) = room.flatten() else { return Ok(hidden) };
    lazy::edit_member(request, TOOLS, |tools| {
        let Some(list) = tools.as_array_mut() else { return Ok(()) };
        let has_search = has_search(list);
        let (mut cached, mut last) = (None, None);
        for (at, entry) in list.iter_mut().enumerate() {
            if stays(entry) || count_sent(entry) == 0 {
                last = if count_sent(entry) > 0 { Some(at) } else { last };
                continue;
            }
            match room.checked_sub(count_sent(entry)) {
                Some(left) => (room, last) = (left, Some(at)),
                None => {
                    // Every deferrable entry after a deferred one is deferred as well.
                    room = 0;
                    cached = entry.get(CACHE).cloned().or(cached);
                    hide(entry, &mut hidden);
                }
            }
        }
        if !has_search {
            last = Some(list.len());
            list.push(Node::record([("type", Node::literal(SEARCH_TYPE)), ("name", Node::literal(SEARCH))]));
        }
        // A deferred tool cannot have a cache breakpoint: the breakpoint moves to the last tool that is sent.
        let last = last.and_then(|at| list.get_mut(at)).filter(|last| last.get(CACHE).is_none());
        if let Some((last, cached)) = last.zip(cached) {
            last.set(CACHE, cached);
        }
        Ok(())
    })?;
    Ok(hidden)
}

fn has_search(list: &[Node<'_>]) -> bool {
    list.iter().any(|entry| matches!(tool::kind(entry), Kind::HostedSearch | Kind::ClientSearch))
}

/// Returns the number of tools in an entry.
fn count_all(entry: &Node<'_>) -> usize {
    members(entry).map_or(usize::from(!tool::is_cache_point(entry)), <[Node<'_>]>::len)
}

/// Returns the number of tools in an entry that are not deferred.
fn count_sent(entry: &Node<'_>) -> usize {
    match members(entry) {
        Some(tools) => tools.iter().filter(|tool| !tool::deferral(tool).0).count(),
        None => usize::from(!tool::deferral(entry).0 && !tool::is_cache_point(entry)),
    }
}

/// Returns the tools of a namespace.
fn members<'n, 'a>(entry: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    tool::has_type(entry, "namespace").then(|| entry.array_at(TOOLS)).flatten()
}

/// Returns true for a tool that the client defines, and for a namespace.
fn is_deferrable(entry: &Node<'_>) -> bool {
    members(entry).is_some() || matches!(tool_format::recognize(entry), Entry::Tool(_)) || tool::is_custom(entry)
}

fn hide(entry: &mut Node<'_>, hidden: &mut Overflowed) {
    let name_of = |entry: &Node<'_>| tool::name(entry).map(|name| name.display().into_owned());
    if members(entry).is_none() {
        hidden.insert((None, name_of(entry).unwrap_or_default()));
        entry.set(DEFERRAL_FLAG, Node::bool(true));
        return;
    }
    let namespace = name_of(entry);
    entry.visit(TOOLS, |tools| {
        if let Data::Array(_) = tools.data() {
            let _ = tools.visit_children::<core::convert::Infallible>(|_, tool| {
                if !tool::deferral(tool).0 {
                    hidden.extend(name_of(tool).map(|name| (namespace.clone(), name)));
                }
                tool.set(DEFERRAL_FLAG, Node::bool(true));
                Ok(())
            });
        }
    });
}
