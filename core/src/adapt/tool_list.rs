//! Rewrites the list of tools in a request, or finds the result in the cache.

use alloc::{borrow::Cow, sync::Arc};

use super::{context::RequestContext, substitute::Stop};
use crate::{
    error::{Code, Error},
    json::{self, Data, Node},
    names::Names,
    options::Api,
    report::Detail,
    request::{tool::is_cache_point, tool_format},
    rules::Constraint,
    tools::{
        list_cache::{self, CacheKey, ListInputs, Lookup, ReportedChanges, SentList},
        quarantine::Quarantined,
        sanitize_list::{self, Planned},
        servers::Servers,
    },
    wire::{self, GROUPS},
};

/// End of the message for a loaded tool that exceeds the maximum number of tools.
const NO_ROOM: &str = "; `overflow` reserves room for loaded tools, but earlier ones already fill it";

/// Rewrites the list of a request.
///
/// # Errors
/// `not-representable` if the function that replaces the response format cannot be sent.
pub(super) fn rewrite<'a>(request: &mut Node<'a>, context: &mut RequestContext<'_, 'a>) -> Result<(), Stop> {
    let wire = context.target_wire();
    let tools = context.tools_options();
    let inputs = ListInputs {
        options: Cow::Borrowed(&tools),
        shape: context.name_pattern(),
        names: Cow::Owned(core::mem::take(&mut context.names)),
        flat: context.sent.flat.as_ref().map(|flat| Cow::Owned(flat.of_list())),
        pointer: wire.tools().pointer(),
    };
    match find_or_rewrite(request, context.target, (inputs, context.servers.as_ref()), context.lookup)? {
        Err(names) => context.names = names,
        Ok(sent) => {
            if sent.emptied {
                // APIs refuse a choice without tools, and some also refuse an empty list.
                for key in wire.tools().members() {
                    request.remove(key);
                }
                if wire.choice().is_setting() {
                    wire.choice().remove(request)?;
                }
            }
            let origins = &context.sent.origins;
            context.report.changes = sent.reported.of(sent.changes, origins);
            context.report.quarantined = sent.quarantined;
            context.report.quarantined.iter_mut().for_each(|tool| origins.to_given(&mut tool.pointer));
            (context.restore_map, context.names) = (sent.restore_map, sent.names);
            (context.sent.callable, context.sent.is_emptied) = (sent.accepted, sent.emptied);
        }
    }
    if let Some(substitute) = &context.substitute {
        substitute.require_sent(&context.report)?;
    }
    if !context.overflowed.is_empty() {
        let is_late = |tool: &&mut Quarantined| tool.rule == Constraint::TooManyTools.id();
        let late = context.report.quarantined.iter_mut().filter(is_late);
        late.for_each(|tool| tool.message.push_str(NO_ROOM));
    }
    Ok(())
}

/// Returns the rewritten list, or the names of tools if the request has no list.
fn find_or_rewrite<'a>(
    request: &mut Node<'a>,
    api: Api,
    (inputs, servers): (ListInputs<'_>, Option<&Servers>),
    lookup: Option<(Lookup<'a>, Option<&'a str>)>,
) -> Result<Result<SentList, Names>, Error> {
    let list = wire::of(api).tools();
    let mut inputs = Some(inputs);
    // Cached lists do not record servers.
    let lookup = lookup.filter(|_| servers.is_none());
    let sent = list.edit(request, |node| {
        if node.is_null() {
            return Ok(None);
        }
        let Some(inputs) = inputs.take() else { return Err(Error::internal("a second list")) };
        let Some((lookup, text)) = lookup else {
            return rewrite_list(node, &inputs, servers).map(|(sent, _)| Some(sent));
        };
        // The text belongs to the member `tools` of the request. An API with another list does not read it.
        let text = text.filter(|_| list.config().is_none() && node.is_intact());
        let text = text.map_or_else(|| list_cache::text_of(node), Cow::Borrowed);
        let key = CacheKey { list: text.into_owned().into(), inputs };
        if let Some(known) = lookup.find(&key) {
            if let Some(text) = &known.text {
                node.replace(Data::Verbatim(text));
            }
            return Ok(Some(known.sent.clone()));
        }
        let (sent, changed) = rewrite_list(node, &key.inputs, None)?;
        lookup.keep(key, changed.then(|| json::write(node)), sent.clone());
        Ok(Some(sent))
    });
    let names = || inputs.map(|inputs| inputs.names.into_owned()).unwrap_or_default();
    Ok(sent?.flatten().ok_or_else(names))
}

/// Rewrites the list of a request. Returns the result, and true if the list changed.
fn rewrite_list<'a>(
    node: &mut Node<'a>,
    ListInputs { options, shape, names, flat, pointer }: &ListInputs<'_>,
    servers: Option<&Servers>,
) -> Result<(SentList, bool), Error> {
    let names = Names::clone(names);
    let planned = Planned { names, name_pattern: Some(*shape), flat: flat.as_deref(), servers, ..Planned::default() };
    let (data, origin) = (core::mem::take(node), node.origin());
    let (tools, source_text) = match data.data() {
        Data::Verbatim(text) => (json::read(text)?, Some(*text)),
        _ => (data, None),
    };
    let has_group = |tools: &Node<'_>| GROUPS.iter().any(|group| tools.get(*group).is_some());
    let is_single = has_group(&tools);
    let has_tools = |tools: &Node<'_>| tools.as_array().map_or(is_single, |tools| !tools.iter().all(is_cache_point));
    let had_tools = has_tools(&tools);
    let mut outcome = sanitize_list::rewrite_with_names(tools, options, planned, Detail::Whole).map_err(|error| {
        match error.code() {
            Code::InvalidRequest => error.below(pointer),
            _ => error,
        }
    })?;
    // Gemini's API accepts a single entry in place of a list. The entry stays single while it has functions.
    let entry = outcome.tools.as_array().filter(|_| is_single);
    if let Some([entry]) = entry.filter(|list| list.iter().all(has_group)) {
        outcome.tools = entry.clone();
        for tool_change in &mut outcome.changes {
            let output = tool_change.change.output_pointer.as_mut().filter(|output| output.starts_with("/0"));
            output.into_iter().for_each(|output| drop(output.drain(..2)));
        }
    }
    let mut sent = SentList {
        emptied: had_tools && !has_tools(&outcome.tools),
        quarantined: outcome.quarantined,
        changes: Arc::default(),
        reported: ReportedChanges::default(),
        restore_map: outcome.restore_map,
        names: outcome.names,
        accepted: outcome.accepted,
    };
    for tool in &mut sent.quarantined {
        tool.pointer.insert_str(0, pointer);
    }
    let mut changes = outcome.changes;
    for tool_change in &mut changes {
        tool_change.change.pointer.insert_str(0, pointer);
        if let Some(output) = &mut tool_change.change.output_pointer {
            output.insert_str(0, pointer);
        }
    }
    sent.changes = Arc::new(changes);
    let intact = outcome.tools.is_intact();
    *node = match source_text {
        Some(text) if intact => Node::read(Data::Verbatim(text), origin),
        _ => outcome.tools,
    };
    Ok((sent, !intact))
}

/// Returns true if a request has tools that the model can call.
pub(super) fn can_call(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let list = wire::of(api).tools();
    let is_callable = |entry: &Node<'_>| {
        let functions = list.groups().iter().find_map(|key| entry.get(*key)?.as_array());
        // A choice is among functions only. An entry of Gemini contains functions or tools that the API runs, and an
        // entry of Converse may be a cache point.
        list.is_flat()
            || functions.is_some_and(|list| !list.is_empty())
            || matches!(tool_format::recognize(entry), tool_format::Entry::Tool(_))
    };
    let has_callable = list.look(request, |tools| {
        // Gemini accepts a single entry in place of a list.
        Ok(tools.as_array().map_or_else(|| is_callable(tools), |list| list.iter().any(is_callable)))
    })?;
    Ok(has_callable.unwrap_or_default())
}
