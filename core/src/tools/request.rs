//! `adapt_request` rewrites a whole request: first it applies deferred loading, then it rewrites every tool, then
//! everything that mentions tools.

use alloc::{borrow::Cow, format, string::String, sync::Arc, vec::Vec};

use super::{
    call_sites,
    carriers::{self, Carried},
    format_ladder::{self, For, Stop, Substitute},
    formats,
    history::{calls, pairs},
    list_cache::{self, CacheKey, ListInputs, Lookup, SentList},
    overflow,
    quarantine::{self, Quarantined},
    request_facts::{self, RequestChange},
    restore::RestoreMap,
    retained_namespaces::RetainedNamespaces,
    sanitize_list::{self, Planned},
    servers::{self, mentions, Servers},
};
#[cfg(feature = "search")]
use crate::request::{flat_list, tool::has_type};
use crate::{
    collections::Set,
    deferred::{
        self,
        emulation::{Overflowed, Sending},
        Client,
    },
    dialect::{
        self,
        requests::{HISTORY_NAME, HISTORY_PAIRS, RESULT_NAME},
        Dialect,
    },
    error::{Code, Error},
    json::{self, lazy, Child, Data, Flags, Node, Text},
    names::{self, Names, TakenDigests},
    options::{
        AdaptOptions, Announce, Api, CustomTools, DeferredOptions, Formats, HistoryArguments, HistoryPairs, Mode,
        Native, Order, Overflow, SanitizeOptions, ServerToolSearch, ToolChanges, ToolsOptions,
    },
    report::Detail,
    request::{self, namespaces, report::Warning, tool::is_cache_point, tool_format, tool_list},
    rules::Constraint,
    wire::{
        self,
        choice::{Decision, ToolRef},
        units, GROUPS,
    },
};

pub use super::adapt_report::AdaptReport;

/// A request of OpenAI Responses that is sent to a Responses API.
const RESPONSES_ONLY: (Api, Api) = (Api::OpenaiResponses, Api::OpenaiResponses);

/// Rewrites a request in place.
pub(crate) fn adapt(request: &mut Node<'_>, options: &AdaptOptions) -> Result<(AdaptReport, RestoreMap), Error> {
    adapt_with_names(request, options, None).map(|(report, restore_map, _)| (report, restore_map))
}

/// Does the same as [`adapt`] and also returns the current names of all tools, including those that are not sent yet.
/// If `lookup` is set, the tool list is looked up in the cache first.
pub(crate) fn adapt_with_names<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    lookup: Option<Lookup<'a>>,
) -> Result<(AdaptReport, RestoreMap, Names), Error> {
    format_ladder::by_steps(request, options, &mut |request, step| adapt_by(request, options, lookup, step))
}

/// Does the same as [`adapt_with_names`], for one step of the option `formats`.
fn adapt_by<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    lookup: Option<Lookup<'a>>,
    step: Formats,
) -> Result<(AdaptReport, RestoreMap, Names), Stop> {
    let dialect = dialect::of(&options.tools.sanitize)?;
    let mut report = AdaptReport { dialect: dialect.name, ..AdaptReport::default() };
    let model = request::model(request, options.model.as_deref())?;
    let shape = dialect.tools.names_for(&model);
    let servers = servers::take(request, (options.tools.prefix, shape), options.deferred.as_ref())?;
    let api = recognize(request, options)?;
    let deferred = deferred_of(options, servers.as_ref());
    let given_formats = formats::OriginalFormats::of(request, api)?;
    let added = mentions::settle(request, api, servers.as_ref(), deferred.as_deref())?;
    let target = options.deferred.as_ref().and_then(|deferred| deferred.target).unwrap_or(api);
    let own_names: Vec<String> =
        servers.iter().flat_map(Servers::owners).map(|(_, owner)| owner.name.display().into_owned()).collect();
    let deferred_options = deferred.as_deref();
    let format_for =
        For { api, target, dialect, model: &model, options, names: &own_names, deferred: deferred_options };
    let substitute = format_ladder::substitute(request, step, format_for)?;
    let answer = substitute.as_ref().and_then(Substitute::tool).map(String::from);
    let given = request_facts::OriginalMembers::of(request, api)?;
    let found_namespaces = request_facts::Namespaces::of(request)?;
    let messages = history_length(request, api);
    let namespaced_calls = request_facts::namespaced_calls(request, api)?;
    let retains = servers.is_none() && keeps_namespaces(api, dialect, options);
    let native = deferred.as_ref().map_or(Native::None, |deferred| deferred.native);
    let retained = if retains { RetainedNamespaces::take(request, shape, native)? } else { None };
    if retained.is_none() && wire::of(api).tools().has_namespaces() {
        let changes = deferred.as_ref().map_or(ToolChanges::Apply, |deferred| deferred.tool_changes);
        namespaces::expand_choice(request, changes)?;
    }
    if (api, target) == RESPONSES_ONLY {
        report.request_changes = calls::forget_answers(request)?;
    }
    if api == target {
        report.request_changes.extend(request_facts::remove_block_members(request, api, (&dialect.tools, &model))?);
    }
    if options.history_arguments == HistoryArguments::Repair {
        report.request_changes.extend(calls::repair_arguments(request, api)?);
    }
    if options.history_pairs == HistoryPairs::Complete {
        let fact = dialect.history_pairs(api).unwrap_or(&HISTORY_PAIRS);
        report.request_changes.extend(pairs::complete(request, api, fact)?);
    }
    for pointer in calls::name_results(request, api)? {
        let message = "added the missing function name to a result";
        report.request_changes.push(RequestChange::new(pointer, &RESULT_NAME, message));
    }
    let is_paired = report.request_changes.iter().any(|change| change.rule == HISTORY_PAIRS.rule());
    let is_foreign = !dialect.tools.has_custom_tools && (api, target) == RESPONSES_ONLY;
    let chosen = options.deferred.as_ref().and_then(|deferred| deferred.custom_tools);
    let custom_tools = chosen.or(is_foreign.then_some(CustomTools::Function));
    if is_foreign && custom_tools == Some(CustomTools::Function) {
        report.request_changes.extend(request_facts::custom_tools(request)?);
    }
    // A choice in a request without tools is checked at the end.
    let demand = match wire::of(api).choice().demand(request)? {
        Some(pointer) if can_call(request, api)? => Some(pointer),
        _ => None,
    };
    let mut api_out = api;
    let mut overflowed = Overflowed::new();
    let mut names = Names::default();
    // Calls of Gemini are restored in place.
    let mut client = (api != Api::Gemini).then_some(Client { format: api, search: None });
    if let Some(deferred) = &options.deferred {
        let mut deferred_options = DeferredOptions { format: Some(api), custom_tools, ..deferred.clone() };
        mentions::in_options(&mut deferred_options, servers.as_ref());
        if defers_overflow(deferred, options) {
            let limit = max_tools(dialect, options);
            let stay: Vec<String> = deferred_options.search_tools.iter().chain(&answer).cloned().collect();
            overflowed = overflow::defer(request, api, limit, &stay)?;
        }
        if !overflowed.is_empty() {
            deferred_options.server_tool_search = Some(ServerToolSearch::Emulate);
            deferred_options.announce = Announce::Names;
            deferred_options.order = Order::Append;
            // A tool that the model has called is sent, even if the history does not show how the tool was found.
            deferred_options.load_used_tools = true;
        }
        api_out = target;
        let tools = sent_as(api_out, (dialect, &model), options);
        let sending = Sending {
            shape,
            write: &|list, names| sanitize_list::quotes(list, &tools, names, shape),
            alone: sanitize_list::max_alone(&tools)?,
            overflowed: &overflowed,
        };
        let is_announced = !overflowed.is_empty() && deferred::is_announced(request)?;
        let found =
            deferred::apply(request, &deferred_options, Some(&sending), true).map_err(|error| match error.code() {
                Code::InvalidOption => error.below("/deferred"),
                _ => error,
            })?;
        (report.deferred, names) = (Some(found.report), found.names);
        client = client.map(|_| found.client);
        if let Some(deferred) = report.deferred.as_mut().filter(|_| !overflowed.is_empty()) {
            let codes = [Some(OVERFLOW), is_announced.then_some("overflow-unannounced")];
            deferred.warnings.extend(codes.into_iter().flatten().map(|code| Warning { code, name: None }));
        }
    } else if options.overflow == Overflow::Defer {
        let expected = "expected `deferred` with `overflow: \"defer\"`, found `deferred: false`";
        return Err(Error::new(Code::InvalidOption, "/overflow", expected).into());
    }
    let mut functions = Vec::new();
    if report.deferred.is_none() && custom_tools == Some(CustomTools::Function) {
        functions = deferred::custom_tools_as_functions(request)?;
    }
    let tools = ToolsOptions { answer, ..sent_as(api_out, (dialect, &model), options) };
    let flat = tool_list::plan_names(request, api_out, deferred.as_deref(), (&mut names, shape))?;
    let inputs = ListInputs {
        options: Cow::Borrowed(&tools),
        shape,
        names: Cow::Owned(names),
        flat: flat.as_ref().map(|flat| Cow::Owned(flat.of_list())),
        pointer: wire::of(api_out).tools().pointer(),
    };
    let Tools { restore_map, names, callable, is_emptied } =
        rewrite_tools(request, api_out, (inputs, servers.as_ref()), lookup, &mut report)?;
    if let Some(substitute) = &substitute {
        substitute.is_sent(&report)?;
    }
    let AdaptReport { quarantined, changes, .. } = &mut report;
    if !overflowed.is_empty() {
        let is_late = |tool: &&mut Quarantined| tool.rule == Constraint::TooManyTools.id();
        quarantined.iter_mut().filter(is_late).for_each(|tool| tool.message.push_str(NO_ROOM));
    }
    let mut carried = Carried { options: &tools, shape, names, flat, restore_map, callable, quarantined, changes };
    carriers::rewrite(request, api_out, deferred.as_deref(), &mut carried)?;
    let Carried { names, mut restore_map, callable, .. } = carried;
    if wire::of(api_out).tools().has_namespaces() {
        namespaces::rename_calls(request, restore_map.names_in_namespaces(), &callable)?;
    }
    let noted = report.deferred.iter_mut().flat_map(|report| &mut report.name_map);
    for (flat, tool) in noted.chain(&mut functions) {
        *flat = match restore_map.key_of(tool) {
            Some(called) => called,
            None => names.current(&Text::new(flat.as_str())).into_owned(),
        };
        restore_map.is_client_tool(flat.clone(), tool);
    }
    restore_map.comes_from(client);
    let digests = TakenDigests::of(callable.iter());
    let new_name = |name: &Text<'_>| {
        let planned = names.new_name(name).map(String::from);
        // Entries that are sent unchanged keep even illegal names.
        let is_past = || !names::is_legal(shape, name) && !callable.contains(&*name.display());
        planned.or_else(|| is_past().then(|| names::of_the_past(shape, name, &digests)))
    };
    let known_as = |tool: &Quarantined| {
        let name = tool.name.clone()?;
        let (Some(servers), Some(server)) = (&servers, &tool.server) else { return Some(name) };
        let called = servers.called(Some(&Text::new(server.as_str())), &Text::new(name.as_str()));
        Some(called.map_or(name, |called| called.display().into_owned()))
    };
    let gone: Set<String> = report.quarantined.iter().filter_map(known_as).collect();
    if api_out == Api::Bedrock {
        carriers::remove_converse_changes(request, &gone)?;
    }
    let listed = servers.iter().flat_map(Servers::owners).map(|(called, owner)| (called, owner.server(), &owner.name));
    for (name, server, own) in listed.chain(added.iter().map(|(called, (server, own))| (called, server, own))) {
        let called = names.current(name);
        if callable.contains(&*called) || !gone.contains(&*name.display()) {
            restore_map.is_of_server(called.into_owned(), server, own);
        }
    }
    let mut decide = |tool_ref: &ToolRef<'a>, _| {
        let name = match tool_ref {
            ToolRef::Tool { name, .. } => name,
            ToolRef::Hosted(kind) if dialect.refuses_type(kind, api_out).is_some() => return Ok(Decision::Remove),
            _ => return Ok(Decision::Keep),
        };
        let new = new_name(name);
        let called = new.as_deref().map_or_else(|| name.display(), Into::into);
        let is_gone = gone.contains(&*name.display()) && !callable.contains(&*called);
        Ok(match new {
            _ if is_gone => Decision::Remove,
            Some(new) => Decision::Rename(Text::new(new)),
            None => Decision::Keep,
        })
    };
    let applied = wire::of(api_out).choice().apply(request, &mut decide)?;
    let stuck = match demand {
        Some(pointer) if !can_call(request, api_out)? => Some(pointer),
        _ => applied.emptied,
    };
    if let Some(pointer) = stuck {
        return Err(nothing_left(pointer, &report).into());
    }
    let places = retained.as_ref().map(|retained| &retained.places);
    let position = report.request_changes.len();
    let if_flattened = if retained.is_some() { found_namespaces.clone().report(request, None)? } else { Vec::new() };
    let flattened = found_namespaces.report(request, places)?;
    let count = flattened.len();
    report.request_changes.extend(flattened);
    let (choice, changes) = request_facts::mend_choice(request, api_out, (&dialect.tools, &model), given, is_emptied)?;
    report.choice = choice;
    report.request_changes.extend(changes);
    report.request_changes.extend(request_facts::mend_members(request, api_out, (&dialect.tools, &model))?);
    report.unforced = applied.gone.iter().map(|name| name.display().into_owned()).collect();
    for place in rename_history(request, api_out, &new_name, &|name| names.new_name(name).is_none())? {
        // Indices of messages are those of the input only if no message was added, removed or moved.
        let is_same = api == api_out && !is_paired && history_length(request, api) == messages;
        let pointer = match is_same {
            true => format!("/{}/{place}", wire::of(api).history()),
            false => format!("/{}", wire::of(api).history()),
        };
        let message = "renamed an unlisted tool to a name that the API accepts";
        report.request_changes.push(RequestChange::new(pointer, &HISTORY_NAME, message));
    }
    if let Some(substitute) = substitute {
        let format_for = For { target: api_out, ..format_for };
        substitute.complete(request, format_for, (&mut report, &mut restore_map))?;
    } else {
        let written = formats::rewrite(request, api_out, &options.tools, &given_formats)
            .map_err(|error| format_ladder::stopped_by(format_ladder::without_format(error, dialect)))?;
        report.format_changes = written.changes;
        restore_map.answers_by(written.answer);
        if options.formats == Formats::Ladder && given_formats.has_schema() {
            format_ladder::refused_natively(request, api_out, dialect, &model)?;
        }
    }
    if let Some(retained) = retained {
        let AdaptReport { deferred, changes, request_changes, .. } = &mut report;
        if !retained.put_back(request, &restore_map, (deferred.as_mut(), changes))? {
            request_changes.splice(position..position + count, if_flattened);
        }
    }
    if api == api_out && !namespaced_calls.is_empty() {
        let is_aligned = !is_paired && history_length(request, api) == messages;
        let flattened = request_facts::flattened_calls(request, &namespaced_calls, is_aligned)?;
        report.request_changes.extend(flattened);
    }
    Ok((report, restore_map, names))
}

/// Returns the listed tools of a request as they would be sent, for a search among them, and the map that restores
/// calls. Each tool is rewritten separately. A tool that cannot be sent stays unchanged; the model learns of the
/// problem when it finds the tool.
#[cfg(feature = "search")]
pub(crate) fn catalogue<'a>(
    request: &mut Node<'a>,
    options: &AdaptOptions,
    mut names: Names,
) -> Result<(Node<'a>, RestoreMap), Error> {
    const FLAG: &str = "defer_loading";
    let dialect = dialect::of(&options.tools.sanitize)?;
    let model = request::model(request, options.model.as_deref())?;
    let shape = dialect.tools.names_for(&model);
    let servers = servers::take(request, (options.tools.prefix, shape), options.deferred.as_ref())?;
    let api = recognize(request, options)?;
    if let Some(deferred) = options.deferred.as_ref().filter(|deferred| defers_overflow(deferred, options)) {
        let mut deferred = deferred.clone();
        mentions::in_options(&mut deferred, servers.as_ref());
        overflow::defer(request, api, max_tools(dialect, options), &deferred.search_tools)?;
    }
    flat_list::lift(request, api)?;
    let tools = ToolsOptions { repair: None, ..sent_as(api, (dialect, &model), options) };
    let (mut found, mut restore_map, mut callable) = (Vec::new(), RestoreMap::default(), Set::new());
    let listed = request.items_at("tools");
    for entry in listed.iter().flat_map(one_by_one) {
        let alone = Node::array(Vec::from([entry.clone()]));
        let planned = Planned { names, shape: Some(shape), ..Planned::default() };
        let outcome = sanitize_list::rewrite_with_names(alone, &tools, planned, Detail::Whole)?;
        names = outcome.names;
        restore_map.extend(outcome.restore_map, &callable);
        callable.extend(outcome.accepted);
        let mut sent = outcome.tools.as_array().and_then(<[Node<'_>]>::first).cloned();
        flat_list::each_function(&outcome.tools, &mut |function| sent = Some(function.clone()));
        let mut sent = sent.unwrap_or_else(|| entry.clone());
        let member = entry.array_at("tools").and_then(<[Node<'_>]>::first);
        if let Some(flag) = member.and_then(|member| member.get(FLAG)).or_else(|| entry.get(FLAG)) {
            sent.set(FLAG, flag.clone());
        }
        found.push(sent);
    }
    for (name, owner) in servers.iter().flat_map(Servers::owners) {
        restore_map.is_of_server(names.current(name).into_owned(), owner.server(), &owner.name);
    }
    Ok((Node::array(found), restore_map))
}

/// Returns one namespace for each tool of a namespace, and any other entry unchanged.
#[cfg(feature = "search")]
fn one_by_one<'a>(entry: &Node<'a>) -> Vec<Node<'a>> {
    let members = entry.array_at("tools").filter(|_| has_type(entry, "namespace"));
    let Some(members) = members else { return Vec::from([entry.clone()]) };
    let alone = |member: &Node<'a>| {
        let around = entry.as_object().into_iter().flatten().filter(|around| !around.key.is("tools"));
        let mut namespace = Node::object(around.map(|around| (around.key.clone(), around.value.clone())).collect());
        namespace.set("tools", Node::array(Vec::from([member.clone()])));
        namespace
    };
    members.iter().map(alone).collect()
}

/// End of the message for a loaded tool that exceeds the maximum number of tools.
const NO_ROOM: &str = "; `overflow` reserves room for loaded tools, but earlier ones already fill it";

/// Returns the options of deferred loading, in which the tools of servers have their names in the list.
fn deferred_of<'o>(options: &'o AdaptOptions, servers: Option<&Servers>) -> Option<Cow<'o, DeferredOptions>> {
    let deferred = options.deferred.as_ref()?;
    if servers.is_none() {
        return Some(Cow::Borrowed(deferred));
    }
    let mut own = deferred.clone();
    mentions::in_options(&mut own, servers);
    Some(Cow::Owned(own))
}

/// Code of the warning that tools beyond the maximum are deferred.
pub(crate) const OVERFLOW: &str = "overflow-deferred";

/// Returns true if the API has namespaces, and no option needs a flat list.
fn keeps_namespaces(api: Api, dialect: &Dialect, options: &AdaptOptions) -> bool {
    // `customTools` shows that the caller's backend accepts functions only.
    let is_flat = |deferred: &DeferredOptions| {
        !matches!(deferred.native, Native::None | Native::ToolSearch | Native::AdditionalTools)
            || deferred.target.is_some_and(|target| !wire::of(target).tools().has_namespaces())
            || deferred.custom_tools == Some(CustomTools::Function)
    };
    wire::of(api).tools().has_namespaces()
        && dialect.tools.has_namespaces
        && options.overflow != Overflow::Defer
        && !options.deferred.as_ref().is_some_and(is_flat)
}

/// Returns true if tools beyond the API's maximum are deferred.
fn defers_overflow(deferred: &DeferredOptions, options: &AdaptOptions) -> bool {
    let is_emulated = deferred.native == Native::None && deferred.mode == Mode::Filter;
    options.overflow == Overflow::Defer && is_emulated
}

/// Returns the maximum number of tools in a request: the API's, or the caller's if that is smaller.
fn max_tools(dialect: &Dialect, options: &AdaptOptions) -> Option<usize> {
    [dialect.tools.max_tools, options.tools.max_tools.flatten()].into_iter().flatten().min()
}

/// Returns the options for writing the tools of a request. A tool keeps its member for the schema if the request is
/// sent to the dialect's own API.
fn sent_as(api: Api, (dialect, model): (&Dialect, &str), options: &AdaptOptions) -> ToolsOptions {
    let (home, format) = (dialect.tools.format, tool_format::sent_to(api, dialect.tools.format));
    let is_of_request = dialect.needs_parameters(model).is_none();
    let sanitize = SanitizeOptions { is_of_request, ..options.tools.sanitize.clone() };
    ToolsOptions { format: (format != home).then_some(format), sanitize, ..options.tools.clone() }
}

/// Returns true if a request has tools that the model can call.
fn can_call(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let place = wire::of(api).tools();
    let is_callable = |entry: &Node<'_>| {
        let functions = place.groups().iter().find_map(|key| entry.get(*key)?.as_array());
        // An entry of Gemini holds functions or tools that the API runs, and an entry of Converse may be a cache point;
        // a choice is among functions only.
        place.is_flat()
            || functions.is_some_and(|list| !list.is_empty())
            || matches!(tool_format::recognize(entry), tool_format::Entry::Tool(_))
    };
    let found = place.look(request, |tools| {
        // Gemini accepts a single entry in place of a list.
        Ok(tools.as_array().map_or_else(|| is_callable(tools), |list| list.iter().any(is_callable)))
    })?;
    Ok(found.unwrap_or_default())
}

/// Returns the error for a `tool_choice` that no tool in the sent request can satisfy.
fn nothing_left(pointer: &str, report: &AdaptReport) -> Error {
    let mut why = quarantine::reasons(&report.quarantined, report.dialect);
    let hidden = report.deferred.iter().map(|report| report.hidden.len()).sum::<usize>();
    if hidden > 0 {
        why.push(format!("{hidden} deferred tools that are not loaded"));
    }
    let why = if why.is_empty() { String::from("no tool") } else { why.join("; ") };
    let message = format!("expected a tool that the choice can force or allow, found none that is sent: {why}");
    Error::new(Code::InvalidRequest, pointer, message)
}

/// The tools of a request after its list is rewritten.
#[derive(Default)]
struct Tools {
    restore_map: RestoreMap,
    names: Names,
    /// Names of the tools that can be called.
    callable: Set<String>,
    /// True if the list had tools, and has none now.
    is_emptied: bool,
}

/// Rewrites the list of a request, or looks it up in the cache.
fn rewrite_tools<'a>(
    request: &mut Node<'a>,
    api: Api,
    (inputs, servers): (ListInputs<'_>, Option<&Servers>),
    lookup: Option<Lookup<'a>>,
    report: &mut AdaptReport,
) -> Result<Tools, Error> {
    let mut inputs = Some(inputs);
    // Cached lists do not record servers.
    let lookup = lookup.filter(|_| servers.is_none());
    let sent = wire::of(api).tools().edit(request, |node| {
        if node.is_null() {
            return Ok(None);
        }
        let Some(inputs) = inputs.take() else { return Err(Error::internal("a second list")) };
        let Some(lookup) = lookup else { return rewrite_list(node, &inputs, servers).map(|(sent, _)| Some(sent)) };
        let key = CacheKey { list: list_cache::text_of(node).into_owned().into(), inputs };
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
    let Some(sent) = sent?.flatten() else {
        let names = inputs.map(|inputs| inputs.names.into_owned()).unwrap_or_default();
        return Ok(Tools { names, ..Tools::default() });
    };
    if sent.emptied {
        // APIs refuse a choice without tools, and some also refuse an empty list.
        for key in wire::of(api).tools().members() {
            request.remove(key);
        }
        if wire::of(api).choice().is_setting() {
            wire::of(api).choice().remove(request)?;
        }
    }
    (report.quarantined, report.changes) = (sent.quarantined, sent.changes);
    let SentList { restore_map, names, accepted: callable, emptied: is_emptied, .. } = sent;
    Ok(Tools { restore_map, names, callable, is_emptied })
}

/// Rewrites the list of a request. Returns the result, and true if the list changed.
fn rewrite_list<'a>(
    node: &mut Node<'a>,
    ListInputs { options, shape, names, flat, pointer }: &ListInputs<'_>,
    servers: Option<&Servers>,
) -> Result<(SentList, bool), Error> {
    let names = Names::clone(names);
    let planned = Planned { names, shape: Some(*shape), flat: flat.as_deref(), servers, same_names: None };
    let (data, origin) = (core::mem::take(node), node.origin());
    let (tools, spelled) = match data.data() {
        Data::Verbatim(text) => (json::read(text)?, Some(*text)),
        _ => (data, None),
    };
    let has_group = |tools: &Node<'_>| GROUPS.iter().any(|group| tools.get(*group).is_some());
    let is_single = has_group(&tools);
    let has_any = |tools: &Node<'_>| tools.as_array().map_or(is_single, |tools| !tools.iter().all(is_cache_point));
    let had = has_any(&tools);
    let mut outcome = sanitize_list::rewrite_with_names(tools, options, planned, Detail::Whole).map_err(|error| {
        match error.code() {
            Code::InvalidRequest => error.below(pointer),
            _ => error,
        }
    })?;
    // A single entry of Gemini, which its API accepts in place of a list, stays one while it has functions.
    let entry = outcome.tools.as_array().filter(|_| is_single);
    if let Some([entry]) = entry.filter(|list| list.iter().all(has_group)) {
        outcome.tools = entry.clone();
        for about in &mut outcome.changes {
            let output = about.change.output_pointer.as_mut().filter(|output| output.starts_with("/0"));
            output.into_iter().for_each(|output| drop(output.drain(..2)));
        }
    }
    let mut sent = SentList {
        emptied: had && !has_any(&outcome.tools),
        quarantined: outcome.quarantined,
        changes: Arc::default(),
        restore_map: outcome.restore_map,
        names: outcome.names,
        accepted: outcome.accepted,
    };
    for tool in &mut sent.quarantined {
        tool.pointer.insert_str(0, pointer);
    }
    let mut changes = outcome.changes;
    for about in &mut changes {
        about.change.pointer.insert_str(0, pointer);
        if let Some(output) = &mut about.change.output_pointer {
            output.insert_str(0, pointer);
        }
    }
    sent.changes = Arc::new(changes);
    let intact = outcome.tools.is_intact();
    *node = match spelled {
        Some(text) if intact => Node::read(Data::Verbatim(text), origin),
        _ => outcome.tools,
    };
    Ok((sent, !intact))
}

/// Returns the number of messages in a request.
pub(super) fn history_length(request: &Node<'_>, api: Api) -> usize {
    request.array_at(wire::of(api).history()).map_or(0, <[Node<'_>]>::len)
}

/// Renames the tools in the calls of the history to their names in the list. Returns the indices of the messages that
/// mention a renamed tool that is not in the list.
pub(super) fn rename_history(
    request: &mut Node<'_>,
    api: Api,
    new_name: &dyn Fn(&Text<'_>) -> Option<String>,
    is_unlisted: &dyn Fn(&Text<'_>) -> bool,
) -> Result<Vec<usize>, Error> {
    let mut places = Vec::new();
    let renamed = request.visit(wire::of(api).history(), |history| {
        if !matches!(history.data(), Data::Array(_)) {
            return Ok(());
        }
        history.visit_children(|child, message| {
            if !lazy::may_hold(message, Flags::NAMES_TOOLS) {
                return Ok(());
            }
            lazy::edit(message, |message| {
                units::visit(message, None, &mut |site| {
                    let old = site.node.text_at(site.name);
                    let new = old.and_then(new_name);
                    if let Some(new) = new {
                        let place = if let Child::Item(at) = child { Some(at) } else { None };
                        if old.is_some_and(is_unlisted) && places.last() != place.as_ref() {
                            places.extend(place);
                        }
                        call_sites::rename(site.node, site.name, Text::new(new));
                    }
                });
                Ok(())
            })
        })
    });
    renamed.unwrap_or(Ok(()))?;
    Ok(places)
}

pub(super) fn recognize(request: &Node<'_>, options: &AdaptOptions) -> Result<Api, Error> {
    let given =
        |key: &str| request.get(key).is_some_and(|node| !matches!(node.data(), Data::Null | Data::Verbatim("null")));
    match options.tools.format {
        Some(format) => Ok(tool_format::request_api_of(format).unwrap_or(Api::Gemini)),
        None if given("contents") => Ok(Api::Gemini),
        None if request::format::is_converse(request) => Ok(Api::Bedrock),
        None => {
            let dialect = dialect::of(&options.tools.sanitize).ok();
            let home = dialect.and_then(|dialect| tool_format::api_of(dialect.tools.format));
            let deferred = options.deferred.as_ref();
            let chosen = deferred.and_then(|deferred| deferred.format);
            let sent_to = request::format::Home {
                is_interactions: home == Some(Api::GeminiInteractions),
                has_code_execution: dialect.is_some_and(|dialect| dialect.lists_type("code_execution")),
            };
            let mut read_as = deferred.cloned().unwrap_or_default();
            if chosen.is_none() && given("input") {
                if request::format::is_interactions(request, sent_to)? {
                    return Ok(Api::GeminiInteractions);
                }
                read_as.format = Some(Api::OpenaiResponses);
            }
            request::format_of(request, &read_as, home)
        }
    }
}
