//! The steps, in the order in which they run.

use alloc::{format, string::String, vec::Vec};

use super::{
    added_tools,
    context::{Original, RequestContext},
    format_substitute,
    history_names::HistoryNames,
    overflow,
    report::AdaptReport,
    substitute::{to_stop, Stop, Substitute},
    tool_list, OVERFLOW,
};
use crate::{
    collections::Set,
    deferred::{self, emulation::Sending, Client},
    dialect::requests::{HISTORY_NAME, HISTORY_PAIRS, RESULT_NAME},
    error::{Code, Error},
    json::{Node, Object, Text},
    options::{
        AdaptOptions, Announce, CustomTools, DeferredOptions, Formats, HistoryArguments, HistoryPairs, Mode, Native,
        Order, Overflow, Reasoning, ServerToolSearch, ToolChanges, ToolsOptions,
    },
    request::{reader::Backend, report::Warning, tool_list as listing, writer::DEFAULT_LIMIT},
    steps::Step,
    tools::{
        formats,
        history::{calls, names::rename_history, pairs},
        quarantine,
        request_facts::{self, RequestChange},
        request_rules, sanitize_list,
        servers::{mentions, Servers},
    },
    wire::responses::namespaces,
    wire::responses::retained_namespaces::{Flattened, RetainedNamespaces},
    wire::{
        self,
        additions::Additions,
        choice::{Decision, ToolRef},
    },
};

pub(super) type RequestStep = Step<for<'o, 'a> fn(&RequestContext<'o, 'a>) -> bool, Run>;

type Run = for<'o, 'a> fn(&mut Node<'a>, &mut RequestContext<'o, 'a>) -> Result<(), Stop>;

/// Rewrites a request, and adds the changes to the report of the context.
pub(super) fn run<'a>(request: &mut Node<'a>, context: &mut RequestContext<'_, 'a>) -> Result<(), Stop> {
    for step in crate::steps::order(STEPS) {
        if (step.applies)(context) {
            (step.run)(request, context)?;
        }
    }
    Ok(())
}

/// Every step.
pub(super) const STEPS: &[RequestStep] = &[
    Step {
        name: "resolve-server-names",
        applies: always,
        run: |request, context| {
            context.added_server_tools = mentions::resolve_tool_names(
                request,
                context.api,
                context.servers.as_ref(),
                context.deferred.as_deref(),
            )?;
            Ok(())
        },
        after: None,
        before: Some("defer"),
        why: "`defer` finds tools by their names in the list; history and choice must use these names.",
    },
    Step {
        name: "replace-format",
        applies: |context| !matches!(context.formats, Formats::Native | Formats::Ladder),
        run: |request, context| {
            context.substitute = format_substitute::substitute(request, context)?;
            Ok(())
        },
        after: None,
        before: Some("apply-in-place-rules"),
        why: "The format may become a function, which is added to the list and is never deferred.",
    },
    Step {
        name: "apply-in-place-rules",
        applies: |context| context.is_same_format(),
        run: |request, context| {
            let mut rules = context.rules();
            rules.retain(|(_, rule)| rule.is_in_place());
            let formats = (context.api, context.dialect.tools.format);
            let fixed = request_rules::fix_violations(request, formats, &rules, context.header.as_mut())?;
            context.report.choice = fixed.choice;
            for mut change in fixed.changes {
                context.sent.origins.to_given(&mut change.pointer);
                context.report.request_changes.push(change);
            }
            Ok(())
        },
        after: Some("replace-format"),
        before: Some("remember-request"),
        why: "The report names parts of the input, so nothing may have been added, removed or moved.",
    },
    Step {
        name: "remember-request",
        applies: always,
        run: |request, context| {
            context.original = Original {
                members: request_facts::OriginalMembers::of(request, context.api)?,
                namespaces: request_facts::Namespaces::of(request, context.api)?,
                namespaced_calls: request_facts::namespaced_calls(request, context.api)?,
                messages: wire::of(context.api).count(request),
                names: request.as_object().map(member_names).unwrap_or_default(),
            };
            Ok(())
        },
        after: Some("apply-in-place-rules"),
        before: Some("defer"),
        why: "Changes are found by comparing with the request before its tools change.",
    },
    Step {
        name: "repair-arguments",
        applies: |context| context.options.history_arguments == HistoryArguments::Repair,
        run: |request, context| {
            context.report.request_changes.extend(calls::repair_arguments(request, context.api)?);
            Ok(())
        },
        after: None,
        before: Some("complete-pairs"),
        why: "The report names calls of the input, so no message may have been added or removed.",
    },
    Step {
        name: "name-results",
        applies: always,
        run: |request, context| {
            for pointer in calls::name_results(request, context.api)? {
                let message = "added the missing function name to a result";
                context.report.request_changes.push(RequestChange::new(pointer, &RESULT_NAME, message));
            }
            Ok(())
        },
        after: None,
        before: None,
        why: "The report names results of the input, so no message may have been added or removed.",
    },
    Step {
        name: "complete-pairs",
        applies: completes_pairs,
        run: |request, context| {
            let fact = context.facts.history_pairs(context.api).unwrap_or(&HISTORY_PAIRS);
            let (changes, origins) = pairs::complete_pairs(request, context.api, fact)?;
            context.is_shifted = !changes.is_empty();
            context.sent.origins.add_messages(context.api, origins);
            context.report.request_changes.extend(changes);
            Ok(())
        },
        after: Some("repair-arguments"),
        before: Some("remove-message-ids"),
        why: "`take-namespaces` records positions of messages, and `rename-history` renames the added results.",
    },
    Step {
        name: "remove-message-ids",
        applies: |context| context.keeps_namespaces(),
        run: |request, context| {
            let before = wire::of(context.api).count(request);
            let (changes, origins) = calls::remove_message_ids(request, context.target, &context.sent.origins)?;
            context.report.request_changes.extend(changes);
            context.sent.origins.add_messages(context.api, origins);
            context.is_shifted |= wire::of(context.api).count(request) != before;
            Ok(())
        },
        after: Some("complete-pairs"),
        before: Some("defer"),
        why: "`complete-pairs` removes results without a call, which separate a message from its reasoning.",
    },
    Step {
        name: "take-namespaces",
        applies: keeps_namespaces,
        run: |request, context| {
            let taken = RetainedNamespaces::take(request, context.name_pattern(), context.native())?;
            context.retained = taken.map(|taken| (taken, Flattened::default()));
            Ok(())
        },
        after: Some("complete-pairs"),
        before: Some("defer"),
        why: "`defer` flattens namespaces.",
    },
    Step {
        name: "expand-choice",
        applies: |context| context.retained.is_none() && wire::of(context.api).tools().has_namespaces(),
        run: |request, context| {
            let changes = context.deferred.as_ref().map_or(ToolChanges::Apply, |deferred| deferred.tool_changes);
            Ok(namespaces::expand_choice(request, changes)?)
        },
        after: None,
        before: Some("rewrite-list"),
        why: "A choice that names a namespace gets the names of its tools, while the list still shows them.",
    },
    Step {
        name: "report-custom-tools",
        applies: |context| context.has_foreign_tools() && context.custom_tools() == Some(CustomTools::Function),
        run: |request, context| {
            let mut changes = request_facts::report_custom_tools(request, context.target)?;
            changes.iter_mut().for_each(|change| context.sent.origins.to_given(&mut change.pointer));
            context.report.request_changes.extend(changes);
            Ok(())
        },
        after: None,
        before: Some("defer"),
        why: "`defer` declares `custom` tools as functions.",
    },
    Step {
        name: "find-forced-call",
        applies: always,
        run: |request, context| {
            // `fix-choice` checks a choice in a request without tools.
            context.demand = match wire::of(context.api).choice().pointer_to_demand(request)? {
                Some(pointer) if tool_list::can_call(request, context.api)? => Some(pointer),
                _ => None,
            };
            Ok(())
        },
        after: None,
        before: Some("defer"),
        why: "`defer` may hide every tool that the choice could require.",
    },
    Step {
        name: "defer-overflow",
        applies: |context| context.options.overflow == Overflow::Defer,
        run: defer_overflow,
        after: Some("replace-format"),
        before: Some("defer"),
        why: "`defer` hides the tools that are deferred here.",
    },
    Step {
        name: "defer",
        applies: |context| context.deferred.is_some(),
        run: defer,
        after: Some("defer-overflow"),
        before: Some("rewrite-list"),
        why: "Hidden tools are not rewritten.",
    },
    Step {
        name: "convert-custom-tools",
        applies: |context| context.deferred.is_none() && context.custom_tools() == Some(CustomTools::Function),
        run: |request, context| {
            let converted = deferred::custom_tools_as_functions(request)?;
            context.sent.functions = converted.tools;
            context.sent.origins.add_replaced(converted.replaced);
            Ok(())
        },
        after: Some("report-custom-tools"),
        before: Some("record-client-tools"),
        why: "Replaces `custom` tools as `defer` would; later steps record how calls return to the client.",
    },
    Step {
        name: "plan-names",
        applies: always,
        run: |request, context| {
            let pattern = context.name_pattern();
            let names = (&mut context.names, pattern);
            context.sent.flat = listing::plan_names(request, context.target, context.deferred.as_deref(), names)?;
            Ok(())
        },
        after: None,
        before: Some("rewrite-list"),
        why: "Names are planned for the list together with the tools that the history adds.",
    },
    Step {
        name: "rewrite-list",
        applies: always,
        run: tool_list::rewrite,
        after: Some("plan-names"),
        before: Some("rewrite-added-tools"),
        why: "The list comes first: the tools that the history adds must not take its names.",
    },
    Step {
        name: "rewrite-added-tools",
        applies: always,
        run: |request, context| Ok(added_tools::rewrite(request, context)?),
        after: Some("rewrite-list"),
        before: Some("rename-namespaced-calls"),
        why: "From here on, all names are final.",
    },
    Step {
        name: "rename-namespaced-calls",
        applies: |context| context.target_wire().tools().has_namespaces(),
        run: |request, context| {
            let names = context.restore_map.names_in_namespaces();
            Ok(namespaces::rename_calls(request, names, &context.sent.callable)?)
        },
        after: Some("rewrite-added-tools"),
        before: Some("put-namespaces-back"),
        why: "A call in a namespace gets the flat name under which its tool is sent.",
    },
    Step {
        name: "record-client-tools",
        applies: always,
        run: record_client_tools,
        after: Some("rewrite-added-tools"),
        before: Some("record-servers"),
        why: "Records for each name that is sent which kind of call the client expects.",
    },
    Step {
        name: "remove-additions",
        applies: |context| matches!(context.target_wire().additions(), Additions::Listed),
        run: |request, context| Ok(added_tools::remove_changes(request, &context.unsent_names())?),
        after: Some("rewrite-list"),
        before: None,
        why: "Removes changes of tools that are not sent.",
    },
    Step {
        name: "record-servers",
        applies: always,
        run: record_server_tools,
        after: Some("record-client-tools"),
        before: None,
        why: "Adds the servers to what is recorded about each tool.",
    },
    Step {
        name: "apply-choice",
        applies: always,
        run: apply_choice,
        after: Some("rewrite-list"),
        before: None,
        why: "The choice gets the names that are sent, and loses tools that are not.",
    },
    Step {
        name: "report-namespaces",
        applies: always,
        run: report_namespaces,
        after: Some("rewrite-list"),
        before: Some("put-namespaces-back"),
        why: "Reports the namespaces that are gone; `put-namespaces-back` corrects the report if it fails.",
    },
    Step {
        name: "fix-choice",
        applies: always,
        run: |request, context| {
            let facts = (&context.facts, context.model.as_str());
            let members = core::mem::take(&mut context.original.members);
            let is_emptied = context.sent.is_emptied;
            let (choice, changes) = request_facts::fix_choice(request, context.target, facts, members, is_emptied)?;
            if let Some(change) = choice {
                context.report.choice = Some(change);
            }
            context.report.request_changes.extend(changes);
            Ok(())
        },
        after: Some("rewrite-list"),
        before: Some("apply-rules"),
        why: "Judges the choice among the tools that are sent.",
    },
    Step {
        name: "rename-history",
        applies: always,
        run: rename_in_history,
        after: Some("rewrite-added-tools"),
        before: None,
        why: "A tool that is not sent must not get the name of a tool that is sent.",
    },
    Step {
        name: "put-namespaces-back",
        applies: |context| context.retained.is_some(),
        run: put_namespaces_back,
        after: Some("report-namespaces"),
        before: Some("report-flat-calls"),
        why: "Earlier steps work on a flat list; `rewrite-formats` may add a message.",
    },
    Step {
        name: "report-flat-calls",
        applies: |context| context.is_same_format() && !context.original.namespaced_calls.is_empty(),
        run: |request, context| {
            let before = &context.original.namespaced_calls;
            let changes =
                request_facts::report_flattened_calls(request, context.target, before, context.is_aligned(request))?;
            context.report.request_changes.extend(changes);
            Ok(())
        },
        after: Some("put-namespaces-back"),
        before: None,
        why: "Calls that have their namespaces again are not reported.",
    },
    Step {
        name: "apply-rules",
        applies: always,
        run: apply_rules,
        after: Some("fix-choice"),
        before: None,
        why: "Fixes the final request; `fix-choice` has reported the members that were removed with the tools.",
    },
    Step {
        name: "rewrite-formats",
        applies: always,
        run: rewrite_formats,
        after: Some("put-namespaces-back"),
        before: None,
        why: "Needs the choice that is sent. It may add a message, so steps that compare positions come first.",
    },
];

fn member_names(request: &Object<'_>) -> Set<String> {
    request.iter().map(|member| member.key.display().into_owned()).collect()
}

fn always(_: &RequestContext<'_, '_>) -> bool {
    true
}

/// Returns true if calls without results and results without calls are repaired.
fn completes_pairs(context: &RequestContext<'_, '_>) -> bool {
    let is_refused = || [context.api, context.target].iter().any(|api| context.facts.history_pairs(*api).is_some());
    match context.options.history_pairs {
        HistoryPairs::Keep => false,
        HistoryPairs::Complete => true,
        HistoryPairs::Auto => is_refused(),
    }
}

/// Returns true if the API has namespaces, and no option needs a flat list.
fn keeps_namespaces(context: &RequestContext<'_, '_>) -> bool {
    // `customTools` shows that the caller's backend accepts functions only.
    let is_flat = |deferred: &DeferredOptions| {
        !matches!(deferred.native, Native::None | Native::ToolSearch | Native::AdditionalTools)
            || deferred.target.is_some_and(|target| !wire::of(target).tools().has_namespaces())
            || deferred.custom_tools == Some(CustomTools::Function)
    };
    let options = context.options;
    context.servers.is_none()
        && wire::of(context.api).tools().has_namespaces()
        && context.dialect.tools.has_namespaces
        && options.overflow != Overflow::Defer
        && !options.deferred.as_ref().is_some_and(is_flat)
}

/// Returns true if tools beyond the API's maximum are deferred.
pub(super) fn defers_overflow(deferred: &DeferredOptions, options: &AdaptOptions) -> bool {
    let is_emulated = deferred.native == Native::None && deferred.mode == Mode::Filter;
    options.overflow == Overflow::Defer && is_emulated
}

fn defer_overflow(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let Some(deferred) = context.deferred.as_deref() else {
        let expected = "expected `deferred` with `overflow: \"defer\"`, found `deferred: false`";
        return Err(Error::new(Code::InvalidOption, "/overflow", expected).into());
    };
    if !defers_overflow(deferred, context.options) {
        return Ok(());
    }
    let answer_function = context.substitute.as_ref().and_then(Substitute::tool).map(String::from);
    let never_deferred: Vec<String> = deferred.search_tools.iter().cloned().chain(answer_function).collect();
    let limit = overflow::limit(context.dialect, context.options);
    context.overflowed = overflow::defer(request, context.api, limit, &never_deferred)?;
    Ok(())
}

fn defer(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let Some(deferred) = context.deferred.as_deref() else { return Ok(()) };
    let mut options =
        DeferredOptions { format: Some(context.api), custom_tools: context.custom_tools(), ..deferred.clone() };
    let rules = context.rules();
    let reads_reasoning = request_rules::reads_reasoning(&rules, context.target);
    let max_tokens = request_rules::max_reply_tokens(&rules, context.target).map(|tokens| tokens.min(DEFAULT_LIMIT));
    options.reasoning = options.reasoning.or(reads_reasoning.then_some(Reasoning::Content));
    options.max_tokens = options.max_tokens.or(max_tokens);
    let overflowed = &context.overflowed;
    if !overflowed.is_empty() {
        options.server_tool_search = Some(ServerToolSearch::Emulate);
        options.announce = Announce::Names;
        options.order = Order::Append;
        // A tool that the model has called is sent, even if the history does not show how the tool was found.
        options.load_used_tools = true;
    }
    let (pattern, tools) = (context.name_pattern(), ToolsOptions { answer: None, ..context.tools_options() });
    let sending = Sending {
        shape: pattern,
        write: &|list, names| sanitize_list::quoted_tools(list, &tools, names, pattern),
        max_alone: sanitize_list::max_alone(&tools)?,
        backend: Backend { has_refusals: context.dialect.tools.has_refusals },
        overflowed,
    };
    let is_announced = !overflowed.is_empty() && deferred::is_announced(request)?;
    let applied = deferred::apply(request, &options, Some(&sending), true);
    let mut applied = applied.map_err(|error| match error.code() {
        Code::InvalidOption => error.below("/deferred"),
        _ => error,
    })?;
    if let Some(header) = &mut context.header {
        deferred::rewrite_header(header, options.native, &applied.report.betas);
    }
    if !overflowed.is_empty() {
        let codes = [Some(OVERFLOW), is_announced.then_some("overflow-unannounced")];
        let warnings = codes.into_iter().flatten().map(|code| Warning { code, name: None, pointer: None });
        applied.report.warnings.extend(warnings);
    }
    applied.report.warnings.iter_mut().filter_map(|warning| warning.pointer.as_mut()).for_each(|pointer| {
        context.sent.origins.to_given(pointer);
    });
    let deferred::ListOrigins { entries, grouped, added, custom } = applied.origins;
    if let Some(entries) = entries {
        context.sent.origins.add_list(&entries, (context.api, context.target), grouped);
    }
    context.sent.origins.add_replaced(custom);
    context.sent.added = added;
    context.is_shifted |= !applied.is_aligned;
    context.sent.client = Some(applied.client);
    (context.report.deferred, context.names) = (Some(applied.report), applied.names);
    Ok(())
}

fn record_client_tools(_: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let RequestContext { report, sent, names, restore_map, .. } = context;
    let deferred = report.deferred.iter_mut().flat_map(|report| &mut report.name_map);
    for (flat, tool) in deferred.chain(&mut sent.functions) {
        *flat = match restore_map.key_of(tool) {
            Some(called) => called,
            None => names.current(&Text::new(flat.as_str())).into_owned(),
        };
        restore_map.add_client_tool(flat.clone(), tool);
    }
    let client = sent.client.take().unwrap_or(Client { format: context.api, search: None });
    restore_map.set_client(Some(client).filter(|_| !wire::of(context.api).single_call().keeps_form));
    Ok(())
}

fn record_server_tools(_: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let gone = context.unsent_names();
    let RequestContext { servers, added_server_tools: added, sent, names, restore_map, .. } = context;
    let listed = servers.iter().flat_map(Servers::owners).map(|(called, owner)| (called, owner.server, owner.name));
    let added = added.iter().map(|(called, tool)| (called, &*tool.server, &tool.name));
    for (name, server, original_name) in listed.chain(added) {
        let called = names.current(name);
        if sent.callable.contains(&*called) || !gone.contains(&*name.display()) {
            restore_map.add_server_tool(called.into_owned(), server, original_name);
        }
    }
    Ok(())
}

/// Changes the names in the choice, and removes the tools that are not sent.
///
/// # Errors
/// `invalid-request` if no tool is left that the choice can force or allow.
fn apply_choice<'a>(request: &mut Node<'a>, context: &mut RequestContext<'_, 'a>) -> Result<(), Stop> {
    let (gone, names) = (context.unsent_names(), HistoryNames::of(context));
    let mut decide = |tool_ref: &ToolRef<'a>, _: bool| {
        let name = match tool_ref {
            ToolRef::Tool { name, .. } => name,
            ToolRef::Hosted(kind) if context.dialect.refuses_type(kind, context.target).is_some() => {
                return Ok(Decision::Remove);
            }
            _ => return Ok(Decision::Keep),
        };
        let new = names.new_name(name);
        let called = new.as_deref().map_or_else(|| name.display(), Into::into);
        let is_gone = gone.contains(&*name.display()) && !context.sent.callable.contains(&*called);
        Ok(match new {
            _ if is_gone => Decision::Remove,
            Some(new) => Decision::Rename(Text::new(new)),
            None => Decision::Keep,
        })
    };
    let applied = context.target_wire().choice().apply(request, &mut decide)?;
    let unsatisfied = match context.demand {
        Some(pointer) if !tool_list::can_call(request, context.target)? => Some(pointer),
        _ => applied.emptied,
    };
    if let Some(pointer) = unsatisfied {
        return Err(unsatisfied_choice(pointer, &context.report).into());
    }
    context.report.unforced = applied.gone.iter().map(|name| name.display().into_owned()).collect();
    Ok(())
}

/// Returns the error for a `tool_choice` that no tool in the sent request can satisfy.
fn unsatisfied_choice(pointer: &str, report: &AdaptReport) -> Error {
    let mut why = quarantine::reasons(&report.quarantined, report.dialect.as_str());
    let hidden = report.deferred.iter().map(|report| report.hidden.len()).sum::<usize>();
    if hidden > 0 {
        why.push(format!("{hidden} deferred tools that are not loaded"));
    }
    let why = if why.is_empty() { String::from("no tool") } else { why.join("; ") };
    let message = format!("expected a tool that the choice can force or allow, found none that is sent: {why}");
    Error::new(Code::InvalidRequest, pointer, message)
}

fn report_namespaces(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let found = core::mem::take(&mut context.original.namespaces);
    let changes = &mut context.report.request_changes;
    let Some((retained, flattened)) = &mut context.retained else {
        changes.extend(found.report(request, context.target, |_| false)?);
        return Ok(());
    };
    flattened.changes = found.clone().report(request, context.target, |_| false)?;
    let start = changes.len();
    changes.extend(found.report(request, context.target, |namespace| retained.keeps(namespace))?);
    flattened.reported = start..changes.len();
    Ok(())
}

fn rename_in_history(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    let (gone, names) = (context.unsent_names(), HistoryNames::of(context));
    // The report has an entry for the new name of each tool in the list.
    let is_unlisted = |name: &Text<'_>| {
        let planned = context.names.new_name(name);
        planned.is_none_or(|new| gone.contains(&*name.display()) && !context.sent.callable.contains(new))
    };
    let indices = rename_history(request, context.target, &|name| names.new_name(name), &is_unlisted)?;
    let (history, is_aligned) = (wire::of(context.api).history(), context.is_aligned(request));
    for index in indices {
        let pointer = match is_aligned {
            true => format!("/{history}/{index}"),
            false => format!("/{history}"),
        };
        let message = "renamed an unlisted tool to a name that the API accepts";
        let change = RequestChange::new(pointer, &HISTORY_NAME, message);
        if context.report.request_changes.last() != Some(&change) {
            context.report.request_changes.push(change);
        }
    }
    Ok(())
}

/// Fixes violations of the API's rules, in the format of the sent request.
fn apply_rules(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    // A later step may have violated rules that `apply-in-place-rules` applied.
    let rules = context.rules();
    let tools = context.target_wire().tools().pointer();
    let (original_history, sent_history) = (wire::of(context.api).history(), context.target_wire().history());
    let is_aligned = context.is_aligned(request);
    let formats = (context.target, context.dialect.tools.format);
    let fixed = request_rules::fix_violations(request, formats, &rules, context.header.as_mut())?;
    context.is_shifted |= fixed.is_shifted;
    if let Some(change) = fixed.choice {
        match &mut context.report.choice {
            Some(reported) => reported.sent = change.sent,
            none => *none = Some(change),
        }
    }
    if let Some(remaining) = &fixed.remaining_tools {
        context.report.relocate_tools(context.target_wire().tools().pointer(), remaining);
    }
    for mut change in fixed.changes {
        let rest = change.pointer.strip_prefix('/').and_then(|pointer| pointer.strip_prefix(sent_history));
        let is_in_history = rest.is_some_and(|rest| rest.starts_with('/'));
        let of_tool = change.pointer.strip_prefix(tools).and_then(|rest| rest.strip_prefix('/'));
        if let Some(index) = of_tool.and_then(|rest| rest.split('/').next()) {
            // The original tool may not have the member to which the pointer points.
            let mut pointer = format!("{tools}/{index}");
            context.sent.origins.to_given(&mut pointer);
            change.pointer = pointer;
        }
        if is_in_history && !is_aligned {
            change.pointer = format!("/{original_history}");
        } else if !context.is_same_format() {
            change.pointer = context.original.pointer(core::mem::take(&mut change.pointer));
        }
        if context.report.request_changes.last() != Some(&change) {
            context.report.request_changes.push(change);
        }
    }
    Ok(())
}

/// Completes the replacement of the response format, or rewrites all response formats.
fn rewrite_formats(request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
    if let Some(substitute) = context.substitute.take() {
        return substitute.complete(request, context);
    }
    let written = formats::rewrite(request, context.target, &context.options.tools, &context.original_formats)
        .map_err(|error| to_stop(format_substitute::advise_next_form(error, context.dialect)))?;
    context.report.format_changes = written.changes;
    context.restore_map.set_answer(written.answer);
    if context.options.formats == Formats::Ladder && context.original_formats.has_schema() {
        format_substitute::require_accepted_format(request, context)?;
    }
    Ok(())
}

fn put_namespaces_back<'a>(request: &mut Node<'a>, context: &mut RequestContext<'_, 'a>) -> Result<(), Stop> {
    let Some((retained, flattened)) = context.retained.take() else { return Ok(()) };
    let AdaptReport { deferred, changes, request_changes, .. } = &mut context.report;
    if !retained.put_back(request, &context.restore_map, (deferred.as_mut(), changes))? {
        request_changes.splice(flattened.reported, flattened.changes);
    }
    Ok(())
}
