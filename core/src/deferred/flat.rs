//! Deferred loading for Bedrock Converse, whose list of tools is in `toolConfig`, and for Gemini `generateContent`,
//! whose functions are in groups.
//!
//! Neither API has deferred tools. Converse has system messages that add and remove tools of the list. The tools are
//! moved to a flat list while the request is rewritten. A request without anything to rewrite stays unchanged.

use alloc::vec::Vec;

use super::{apply_to_list, emulation::Sending, Applied, Client, ListOrigins};
use crate::{
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    names::Names,
    options::{Announce, Api, DeferredOptions, Native, ToolChanges, UnavailableCalls},
    request::{
        carriers::{self, Searches},
        flat_list,
        origins::EntryOrigin,
        report::DeferredReport,
        tool::{deferral, is_cache_point, is_clean},
    },
    wire,
    wire::additions::Additions,
    wire::converse::mentions::converse_change,
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
        // Converse's construct consists only of tool changes, which are ignored.
        options.native = Native::None;
    }
    if options.native == Native::Converse && has_flags(request, api)? {
        // Converse has no flag for deferred tools.
        options.native = Native::None;
    }
    let unchanged = || Applied {
        report: DeferredReport::default(),
        names: Names::default(),
        client: Client { format: api, search: None },
        origins: ListOrigins::default(),
        is_aligned: true,
    };
    if !concerns_tools(request, api, &options)? {
        return Ok(unchanged());
    }
    if options.native == Native::Converse && options.announce == Announce::None {
        // The request stays unchanged, and is read only for its report.
        let mut copy = request.clone();
        flat_list::flatten(&mut copy, api)?;
        return apply_to_list(&mut copy, &options, sending, reports);
    }
    let list_format = wire::of(api).tools();
    let pointers = |request: &Node<'_>| list_format.look(request, |tools| Ok(flat_list::pointers(tools)));
    let before = if list_format.groups().is_empty() { None } else { Some(pointers(request)?.unwrap_or_default()) };
    let shell = flat_list::flatten(request, api)?;
    let mut applied = apply_to_list(request, &options, sending, reports)?;
    if list_format.has_others() {
        drop_idle_cache_points(request, &mut applied.origins.entries);
    }
    flat_list::write_back(request, api, shell)?;
    if let Some(before) = before {
        applied.origins.grouped = Some((before, pointers(request)?.unwrap_or_default()));
    }
    Ok(applied)
}

/// Removes each cache point that begins the list or directly follows another cache point. The tools before such a cache
/// point are not sent.
fn drop_idle_cache_points(request: &mut Node<'_>, origins: &mut Option<Vec<EntryOrigin>>) {
    let has_idle_point = |list: &[Node<'_>]| -> bool {
        let points = list.iter().map(is_cache_point);
        let before = core::iter::once(true).chain(list.iter().map(is_cache_point));
        points.zip(before).any(|(point, before)| point && before)
    };
    request.visit("tools", |tools| {
        if !tools.as_array().is_some_and(has_idle_point) {
            return;
        }
        let Some(list) = tools.as_array_mut() else { return };
        let mut is_behind_point = true;
        let mut origins = origins.as_mut().map(|origins| (core::mem::take(origins).into_iter(), origins));
        list.retain(|entry| {
            let is_point = is_cache_point(entry);
            let stays = !(is_point && is_behind_point);
            is_behind_point = is_point;
            if let Some((all, kept)) = &mut origins {
                kept.extend(all.next().filter(|_| stays));
            }
            stays
        });
    });
}

/// Returns true if a request contains anything that deferred loading rewrites.
fn concerns_tools(request: &Node<'_>, api: Api, options: &DeferredOptions) -> Result<bool, Error> {
    let has_texts = options.native == Native::None && options.unavailable_calls == UnavailableCalls::Text;
    if has_texts && wire::of(api).turns().replaces_calls {
        return Ok(true);
    }
    if has_flags(request, api)? {
        return Ok(true);
    }
    let history = request.get(wire::of(api).history()).map(as_messages).unwrap_or_default();
    let lists_changes = matches!(wire::of(api).additions(), Additions::Listed);
    let in_json = wire::of(api).searches().in_json();
    let mut has_results = false;
    for message in history.iter().filter(|message| may_hold(message, Flags::DEFERRAL)) {
        let message = view(message)?;
        let blocks = carriers::of_message(&message);
        if lists_changes && blocks.iter().any(|block| converse_change(block).is_some()) {
            return Ok(true);
        }
        has_results |= in_json.is_some_and(|form| blocks.iter().any(form.has_tools));
    }
    Ok(has_results && has_search_results(request, api, options)?)
}

/// Returns the messages of a history.
fn as_messages<'n, 'a>(history: &'n Node<'a>) -> &'n [Node<'a>] {
    history.as_array().unwrap_or_default()
}

/// Returns true if the history contains the result of a search. Other tools may return a result of this form.
fn has_search_results(request: &Node<'_>, api: Api, options: &DeferredOptions) -> Result<bool, Error> {
    let searches =
        wire::of(api).tools().look(request, |tools| Ok(Searches::among(&flat_list::all(tools), Some(options))))?;
    let mut searches = searches.unwrap_or_else(|| Searches::of(&[], Some(options)));
    let Some(form) = wire::of(api).searches().in_json() else { return Ok(false) };
    for message in request.get(wire::of(api).history()).map(as_messages).unwrap_or_default() {
        if !may_hold(message, Flags::DEFERRAL | Flags::CALL) {
            continue;
        }
        let message = view(message)?;
        for block in carriers::of_message(&message) {
            searches.record(block, form);
            if searches.is_search_result(block, form) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns true if a tool in the list has a flag of deferred loading.
fn has_flags(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let was_deferred = false;
    let has_flag = wire::of(api).tools().look(request, |tools| {
        Ok(flat_list::all(tools).into_iter().any(|entry| deferral(entry).0 || !is_clean(entry, was_deferred)))
    })?;
    Ok(has_flag == Some(true))
}
