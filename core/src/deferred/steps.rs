//! The steps of deferred loading, in the order in which they run.

use alloc::{string::String, vec::Vec};

use super::{
    acceptance::accept_unchanged,
    announce, betas,
    calls_as_text::replace_unavailable_calls,
    context::DeferralContext,
    emulation::{self, find_unsendable, Emulation, Quotes},
    history_text, native_list, CallRecorder,
};
use crate::{
    collections::Set,
    error::Error,
    json::{Node, Text},
    names::{Names, Taken},
    options::{CustomTools, Mode, Native, ServerToolSearch, UnavailableCalls},
    request::{
        choice::{add_auto_choice, widen_forced_choice},
        conversation::{self, EventKind},
        format::{self, FormatPair},
        instructions::{Notices, Quoted},
        listed,
        reader::{self, Reading},
        report::{DeferredReport, Warnings},
        tool::{self, Kind},
        tools::{Tool, Tools},
        writer::{self, Writing},
    },
    steps::Step,
    wire::{
        self,
        choice::{WithoutTools, CHOICE, PARALLEL_CALLS},
        constructs, history_formats,
        recognition::SentTo,
        responses::{
            custom_tools,
            namespaces::{self, FlatNames},
        },
    },
};

pub(crate) type DeferralStep = Step<for<'o, 'a> fn(&DeferralContext<'o, 'a>) -> bool, Run>;

type Run = for<'o, 'a> fn(&mut Node<'a>, &mut DeferralContext<'o, 'a>) -> Result<(), Error>;

/// Rewrites a request whose tools are in a flat list.
pub(super) fn run_steps<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    for step in crate::steps::order(STEPS) {
        if (step.applies)(context) {
            (step.run)(request, context)?;
        }
    }
    Ok(())
}

/// Every step.
pub(crate) const STEPS: &[DeferralStep] = &[
    Step {
        name: "keep-accepted",
        applies: |context| !context.emulates_deferral(),
        run: keep_accepted,
        after: None,
        before: Some("read-history"),
        why: "If the backend accepts the request, the steps that rewrite history and tools are skipped.",
    },
    Step {
        name: "find-announcement",
        applies: |context| {
            context.emulates_deferral() && context.is_translated() && (context.announces_names() || context.reports)
        },
        run: |request, context| {
            // Only deferred tools are announced or unreachable.
            context.is_announced = constructs::lists_deferred(request)? && announce::is_present(request)?;
            Ok(())
        },
        after: None,
        before: Some("read-history"),
        why: "`read-history` takes the history out of the request.",
    },
    Step {
        name: "read-history",
        applies: |context| !context.is_kept,
        run: read_history,
        after: Some("find-announcement"),
        before: Some("name-search"),
        why: "Later steps work on the conversation.",
    },
    Step {
        name: "name-search",
        applies: |context| context.emulates_deferral(),
        run: |_, context| {
            let wanted = context.client_search.as_ref().unwrap_or(&context.options.tool_search_name);
            context.emulation.name_search(wanted, &mut context.warnings);
            Ok(())
        },
        after: Some("read-history"),
        before: Some("fit-choice"),
        why: "A choice that names a search gets the name of the function.",
    },
    Step {
        name: "apply-history",
        applies: |context| !context.is_kept,
        run: apply_history,
        after: Some("read-history"),
        before: Some("fit-choice"),
        why: "Loads and removes tools, in the order of the history.",
    },
    Step {
        name: "load-without-search",
        applies: |context| context.emulates_deferral() && context.emulation.has_unreplaced_search(),
        run: load_without_search,
        after: Some("read-history"),
        before: Some("report-tools"),
        why: "The tools that it loads are reported and sent.",
    },
    Step {
        name: "fit-choice",
        applies: |context| !context.is_kept,
        run: apply_choice,
        after: Some("apply-history"),
        before: Some("report-tools"),
        why: "A choice may load the tool that it forces.",
    },
    Step {
        name: "replace-calls",
        applies: |context| context.rewrites_natively() && replaces_calls(context),
        run: |_, context| replace_unavailable_calls(&mut context.conversation, context.options.removals),
        after: Some("read-history"),
        before: Some("write-history"),
        why: "The calls are still events of the conversation.",
    },
    Step {
        name: "name-function",
        applies: |context| context.rewrites_natively(),
        run: name_function,
        after: Some("read-history"),
        before: Some("report-tools"),
        why: "The name is reported, and must be free.",
    },
    Step {
        name: "name-tools",
        applies: |context| context.sending.is_some() && !context.is_kept,
        run: plan_names,
        after: Some("apply-history"),
        before: Some("report-tools"),
        why: "The report and the texts of the history use these names.",
    },
    Step {
        name: "report-tools",
        applies: |context| !context.is_kept,
        run: report_tools,
        after: Some("name-tools"),
        before: Some("write-list"),
        why: "`write-list` and `write-history` take the tools out of the context.",
    },
    Step {
        name: "replace-references",
        applies: |context| context.emulates_deferral(),
        run: replace_references,
        after: Some("name-tools"),
        before: Some("write-list"),
        why: "Texts quote tools of the list that `write-list` removes.",
    },
    Step {
        name: "remove-betas",
        applies: |context| context.emulates_deferral() && context.source_wire().has_betas(),
        run: |request, _| betas::rewrite_body(request, Native::None, &[]),
        after: None,
        before: Some("write-history"),
        why: "Betas that no backend needs must not be reported as lost in translation.",
    },
    Step {
        name: "write-list",
        applies: |context| context.emulates_deferral(),
        run: rewrite_list,
        after: Some("replace-references"),
        before: Some("record-calls"),
        why: "`write-history` translates the list that is sent.",
    },
    Step {
        name: "record-calls",
        applies: |context| !context.is_kept && (context.reports || !context.emulates_deferral()),
        run: record_calls,
        after: Some("write-list"),
        before: Some("write-history"),
        why: "The definitions still have the client's format.",
    },
    Step {
        name: "announce-in-prompt",
        applies: |context| context.emulates_deferral() && context.is_translated(),
        run: |_, context| {
            context.report.unreachable &= !context.is_announced;
            if !context.is_announced && !context.deferred.is_empty() {
                announce::add_list_to_conversation(
                    &mut context.conversation,
                    context.formats.format,
                    &context.deferred,
                )?;
            }
            Ok(())
        },
        after: Some("report-tools"),
        before: Some("write-history"),
        why: "The prompt is a part of the conversation, which is translated as a whole.",
    },
    Step {
        name: "write-history",
        applies: |context| !context.is_kept,
        run: write_history,
        after: Some("announce-in-prompt"),
        before: Some("fit-deferred-list"),
        why: "From here on, the request has the format of the backend.",
    },
    Step {
        name: "widen-choice",
        applies: |context| context.options.native == Native::Kimi && !context.is_translated(),
        run: |request, context| widen_forced_choice(request, &mut context.warnings),
        after: Some("read-history"),
        before: None,
        why: "The conversation is read with the client's choice.",
    },
    Step {
        name: "read-again",
        applies: |context| {
            let is_open = context.options.target.is_some() && context.options.format.is_none();
            is_open && !context.is_translated() && SentTo::matters(context.formats.target)
        },
        run: read_again,
        after: Some("write-history"),
        before: None,
        why: "The tools that identified the format may be gone; a second run must not change the request.",
    },
    Step {
        name: "fit-deferred-list",
        applies: |context| !context.emulates_deferral() && context.target_wire().tools().checks_deferral(),
        run: |request, context| {
            let origins = context.origins.entries.as_deref();
            let shown = native_list::fit_list(request, origins, context.options, &mut context.warnings)?;
            if let Some(shown) = shown {
                context.record_shown(&shown);
            }
            Ok(())
        },
        after: Some("write-history"),
        before: None,
        why: "The list is complete; a tool that loses its flag is not announced.",
    },
    Step {
        name: "add-search",
        applies: |context| matches!(context.options.native, Native::ToolSearch | Native::Interactions),
        run: |request, context| {
            if native_list::add_search(request, &mut context.warnings) {
                context.origins.add_entry(listed(request).len());
                context.report.unreachable = false;
            }
            Ok(())
        },
        after: Some("write-history"),
        before: None,
        why: "The list is complete, and the model can find the deferred tools.",
    },
    Step {
        name: "announce",
        applies: |context| !context.emulates_deferral() || !context.is_translated(),
        run: |request, context| {
            let unreachable = &mut context.report.unreachable;
            announce::add_list(request, context.formats.target, &context.deferred, (context.options, unreachable))
        },
        after: Some("write-history"),
        before: Some("complete-choice"),
        why: "Only tools that are still hidden are announced.",
    },
    Step {
        name: "replace-custom-tools",
        applies: |context| context.sends_functions(),
        run: convert_custom_tools,
        after: Some("record-calls"),
        before: None,
        why: "Adds the converted tools to the recorded calls.",
    },
    Step {
        name: "drop-empty-tools",
        applies: |_| true,
        run: drop_empty_tools,
        after: Some("write-history"),
        before: Some("complete-choice"),
        why: "Every step that adds a tool has run.",
    },
    Step {
        name: "complete-choice",
        applies: |context| {
            (context.is_translated() || context.is_read_again) && context.target_wire().choice().writes_default()
        },
        run: |request, _| {
            add_auto_choice(request);
            Ok(())
        },
        after: Some("drop-empty-tools"),
        before: None,
        why: "A request without tools needs no choice.",
    },
    Step {
        name: "add-betas",
        applies: |context| !context.emulates_deferral() && context.target_wire().has_betas(),
        run: |request, context| {
            context.report.betas = betas::needed(request)?;
            betas::rewrite_body(request, context.options.native, &context.report.betas)
        },
        after: Some("write-history"),
        before: None,
        why: "The finished request shows which betas it needs.",
    },
];

fn replaces_calls(context: &DeferralContext<'_, '_>) -> bool {
    context.options.unavailable_calls == UnavailableCalls::Text
}

fn keep_accepted<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let options = (context.options, context.sending);
    if let Some(accepted) = accept_unchanged(request, context.source_and_target(), options, &mut context.warnings)? {
        (context.report, context.deferred, context.is_kept) = (accepted.report, accepted.deferred, true);
    }
    Ok(())
}

fn read_history<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let (format, target) = context.source_and_target();
    if context.emulates_deferral() {
        context.warnings.set_format(format);
        emulation::warn_of_toolsets(listed(request), &mut context.warnings);
    }
    let reading = Reading {
        options: context.options,
        names: &mut context.calls,
        warnings: &mut context.warnings,
        format: history_formats::reader(format),
        target,
        is_trial: false,
        backend: context.sending.map(|sending| sending.backend),
    };
    let mut conversation = reader::read(request, format, reading)?;
    context.client_search = tool::client_search_name(listed(request));
    if context.emulates_deferral() {
        let tools = core::mem::take(&mut conversation.tools);
        context.emulation = Emulation::new(tools, listed(request).len(), context.options.emulates_search());
    } else {
        if context.source_wire().tools().has_namespaces() {
            namespaces::flatten_choice(request, &context.calls)?;
        }
        if context.is_translated() {
            conversation.lose_references();
        }
    }
    context.conversation = conversation;
    Ok(())
}

fn apply_history(_: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    let DeferralContext { conversation, emulation, options, warnings, .. } = context;
    if options.native == Native::None {
        conversation::apply_to_tools(&mut conversation.events, &mut emulation.tools, options, warnings);
        emulation.warn_of_changed_prefix(warnings);
    } else {
        conversation::apply_to_tools(&mut conversation.events, &mut conversation.tools, options, warnings);
        conversation.collect_found_tools();
    }
    Ok(())
}

/// Without the provider's search, the model cannot find deferred tools.
fn load_without_search(_: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    match context.options.hosted_search() {
        ServerToolSearch::LoadAll => {
            if context.options.mode != Mode::LoadAll {
                context.emulation.tools.load_all();
            }
            context.loads_all = true;
            context.warnings.warn("server-tool-search-unavailable");
        }
        ServerToolSearch::Drop => context.warnings.warn("server-tool-search-dropped"),
        ServerToolSearch::Emulate => {}
    }
    Ok(())
}

fn apply_choice<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let (api, overflowed) = (context.formats.format, context.sending.map(|sending| sending.overflowed));
    let DeferralContext { conversation, emulation, calls, options, warnings, search, .. } = context;
    if options.native == Native::None {
        *search = emulation.search_function();
        let options = (*options, overflowed);
        return emulation::apply_choice(request, api, (emulation, calls), options, search.as_deref(), warnings);
    }
    emulation::load_forced((request, api), &mut conversation.tools, options, warnings)?;
    if options.native == Native::AdditionalTools {
        emulation::remove_unavailable((request, api), &conversation.tools, warnings)?;
    }
    Ok(())
}

/// Names the function that replaces the client's search if the backend has no such tool: the name in the options, made
/// unique among the tools. Calls to the search get the same name.
fn name_function(_: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    let DeferralContext { conversation, options, client_search, warnings, .. } = context;
    let is_search = conversation.tools.iter().any(|tool| tool.kind == Kind::ClientSearch);
    if !is_search || options.native == Native::ToolSearch {
        return Ok(());
    }
    let wanted = client_search.as_deref().unwrap_or(options.tool_search_name.as_str());
    let mut taken_names = Taken::default();
    conversation.tools.iter().filter_map(|tool| tool.name.as_ref()).for_each(|name| taken_names.take(name));
    let name = taken_names.reserve_unused(wanted.into(), usize::MAX);
    if name != wanted {
        warnings.warn_named("tool-search-renamed", name.as_str());
        for event in &mut conversation.events {
            if let EventKind::Call(call) = &mut event.kind {
                if call.search.is_some() && call.name.is(wanted) {
                    call.name = Text::new(name.clone());
                }
            }
        }
    }
    conversation.search_name = Some(name.clone());
    context.search = Some(name);
    Ok(())
}

fn plan_names<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let Some(sending) = context.sending else { return Ok(()) };
    if context.emulates_deferral() {
        context.names.plan(sending.shape, context.emulation.tools.all_names(), &[]);
        return Ok(());
    }
    // Prevents tools from being renamed to the name of the search.
    let taken = context.search.as_ref().map(|name| Text::new(name.clone()));
    let taken: Vec<&Text<'_>> = taken.iter().collect();
    let tools = &context.conversation.tools;
    context.names.plan(sending.shape, tools.iter().filter_map(|tool| tool.name.as_ref()), &taken);
    let list = loaded_definitions(tools, listed(request), context)?;
    context.conversation.set_aside = find_unsendable(tools, list, sending, &context.names)?;
    Ok(())
}

/// Returns the definitions of the loaded tools, in the target's format.
fn loaded_definitions<'a>(
    tools: &Tools<'a>,
    listed: &[Node<'a>],
    context: &DeferralContext<'_, 'a>,
) -> Result<Vec<Node<'a>>, Error> {
    // The writer reports losses when it writes the list.
    let (mut list, mut unreported) = (Vec::new(), Warnings::default());
    let loaded = tools.iter().filter(|tool| tool.loaded && tool.is_available());
    for definition in loaded.filter_map(|tool| tools.definition_of(tool, listed)).cloned() {
        let custom = context.options.custom_tools.unwrap_or(CustomTools::Function);
        list.extend(match context.is_translated() {
            false => Some(definition),
            true => {
                writer::definitions::write_definition(definition, context.source_and_target(), custom, &mut unreported)?
            }
        });
    }
    Ok(list)
}

fn report_tools(request: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    let emulates = context.emulates_deferral();
    let tools = if emulates { &context.emulation.tools } else { &context.conversation.tools };
    let listed = listed(request);
    let hidden = tools.hidden_names();
    let is_announced = if emulates { context.announces_names() && !context.loads_all } else { true };
    let deferred: Vec<String> = match is_announced {
        true => tools.deferred_names().map(|name| context.names.current(name).into_owned()).collect(),
        false => Vec::new(),
    };
    let reports = !emulates || context.reports;
    let is_unreachable = match emulates {
        true => reports && deferred.is_empty() && !context.emulation.can_search(context.options),
        false => !tools.iter().any(|tool| match tool.kind {
            Kind::ClientSearch => true,
            Kind::HostedSearch => native_list::has_hosted_search(context.options.native),
            _ => tool.searches(context.options),
        }),
    };
    context.report = DeferredReport {
        loaded: tools.loaded_names(),
        unreachable: is_unreachable && !hidden.is_empty(),
        hidden,
        saved_bytes: if reports { tools.saved_bytes(listed) } else { 0 },
        tool_search_name: context.search.clone(),
        ..DeferredReport::default()
    };
    context.deferred = deferred;
    Ok(())
}

fn replace_references<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let (format, is_same, options) = (context.formats.format, !context.is_translated(), context.options);
    let called = String::from(context.search_name());
    let keeps_caller = context.sending.is_some() && is_same;
    let mut conversation = core::mem::take(&mut context.conversation);
    history_text::replace_searches(&mut conversation, (format, is_same, keeps_caller), (options, &called));
    let mentioned = history_text::mentioned_names(&mut conversation.events);
    let notices = prepare_notices(listed(request), context, &mentioned)?;
    let has_toolsets = context.emulation.has_toolsets();
    history_text::Writer { notices, options, source: format, same_format: is_same, has_toolsets }
        .write(&mut conversation);
    context.conversation = conversation;
    Ok(())
}

/// Prepares the text about the tools that the history mentions.
fn prepare_notices<'a>(
    listed: &[Node<'a>],
    context: &DeferralContext<'_, 'a>,
    mentioned: &[Text<'a>],
) -> Result<Notices<'a>, Error> {
    let DeferralContext { emulation, names, options, sending, .. } = context;
    let mut notices = Notices::new(options.max_repeated_bytes);
    let function = |search: &Node<'a>| context.search_function(search);
    let quotes = match sending.filter(|_| !mentioned.is_empty()) {
        Some(sending) => {
            Some(Quotes::write(sending, (emulation, names), (listed, options.order), mentioned, function)?)
        }
        None => None,
    };
    for name in mentioned {
        let called = names.current(name);
        let definition = emulation.tools.get(name).and_then(|tool| emulation.tools.definition_of(tool, listed));
        let quoted = match (&quotes, definition) {
            (Some(quotes), Some(_)) => quotes.of(&called),
            (_, definition) => Quoted::Definition(definition),
        };
        notices.prepare(name, &called, &quoted, &emulation.pointer_to_definition(name))?;
    }
    Ok(notices)
}

fn rewrite_list<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let keeps_null = context.keeps_null();
    let is_listed = |tools: &Node<'_>| tools.as_array().is_some_and(|tools| !tools.is_empty());
    context.had_entries = request.get("tools").is_some_and(|tools| tools.is_null() && !keeps_null || is_listed(tools));
    let emulation = core::mem::take(&mut context.emulation);
    context.replaces_client_search = context.search.is_some() && emulation.is_client_search();
    let function = |search: &Node<'a>| context.search_function(search);
    context.origins.entries = Some(emulation.write(request, (context.options.order, keeps_null), function));
    Ok(())
}

fn record_calls<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let (source, target) = context.source_and_target();
    let recorder = CallRecorder { source, target, options: context.options };
    let mut calls = core::mem::take(&mut context.calls);
    let mut has_search = context.search.is_some();
    if context.emulates_deferral() {
        let loaded: Set<&str> = context.report.loaded.iter().map(String::as_str).collect();
        // The client does not know that the caller deferred a tool, and expects an ordinary call.
        let overflowed = context.sending.map(|sending| sending.overflowed);
        let is_overflowed =
            |name: &str| overflowed.is_some_and(|overflowed| overflowed.contains(&(None, String::from(name))));
        recorder.record_list(&mut calls, listed(request), |name| {
            let name = name.display();
            loaded.contains(&*name) && !is_overflowed(&name)
        });
        has_search = context.replaces_client_search;
    } else {
        let tools = &context.conversation.tools;
        // The backend's own search loads listed tools, which the model may call in the same reply.
        let runs_search = tools.has_hosted_search() && native_list::has_hosted_search(context.options.native);
        let is_callable = |tool: &&Tool<'_>| tool.is_available() || runs_search && tool.listed && !tool.is_removed;
        for tool in tools.iter().filter(is_callable) {
            if let Some((name, definition)) = tool.name.as_ref().zip(tools.definition_of(tool, listed(request))) {
                let is_loaded = tool.deferred && (tool.loaded || runs_search && tool.listed);
                recorder.record_tool(&mut calls, name, definition, is_loaded);
            }
        }
    }
    if let Some(search) = context.search.as_ref().filter(|_| has_search && context.client_search.is_none()) {
        recorder.record_search(&mut calls, search);
    }
    context.report.name_map = calls.finish();
    Ok(())
}

fn write_history<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let mut conversation = core::mem::take(&mut context.conversation);
    let (source, target) = context.source_and_target();
    let DeferralContext { options, names, warnings, .. } = context;
    let no_names = Names::default();
    let mut names = &*names;
    if options.native == Native::None {
        conversation.tools = Tools::read(listed(request), context.origins.entries.as_deref(), source, warnings);
        if options.unavailable_calls == UnavailableCalls::Text {
            replace_unavailable_calls(&mut conversation, options.removals)?;
        }
        // The texts already contain the new names.
        names = &no_names;
    }
    let (history, settings) =
        (history_formats::writer(target), (history_formats::settings(source), history_formats::settings(target)));
    let writing = Writing { options, source, target, history, settings, names, warnings };
    let writer::Written { search, origins, added, is_aligned } = writer::write_request(request, conversation, writing)?;
    if context.emulates_deferral() {
        context.origins.entries = origins.or(context.origins.entries.take());
    } else {
        context.origins.entries = origins;
        context.origins.added = added;
        context.client.search = search;
    }
    context.is_aligned = is_aligned;
    Ok(())
}

fn convert_custom_tools(request: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    let names = match context.emulates_deferral() {
        true => FlatNames::default(),
        false => namespaces::flat_names_of_unchanged(request)?,
    };
    let converted = custom_tools::as_functions(request, &names, &mut context.warnings)?;
    if !context.emulates_deferral() {
        context.report.add_client_tools(converted.tools);
    }
    context.origins.custom = converted.replaced;
    Ok(())
}

/// Reads the request again if the tools that are now removed had identified its format. A second call of this library
/// would recognize another format by the messages, and must not change the request.
fn read_again<'a>(request: &mut Node<'a>, context: &mut DeferralContext<'_, 'a>) -> Result<(), Error> {
    let FormatPair { format, target } = context.formats;
    let recognized = format::recognize(request, context.options)?.format;
    if recognized == format || !wire::of(recognized).has_evidence() {
        return Ok(());
    }
    let sending = context.sending.filter(|_| !context.emulates_deferral());
    let formats = FormatPair { format: recognized, target };
    let mut second_context = DeferralContext::new(request, formats, (context.options, sending), false);
    for step in crate::steps::order(STEPS).take_while(|step| step.name != "read-again") {
        if (step.applies)(&second_context) {
            (step.run)(request, &mut second_context)?;
        }
    }
    context.origins.rewrite(second_context.origins);
    context.warnings.extend_rewritten(second_context.warnings);
    context.is_read_again = true;
    Ok(())
}

/// Handles an empty list of tools. APIs refuse a `tool_choice` without tools, and some also refuse an empty list.
fn drop_empty_tools(request: &mut Node<'_>, context: &mut DeferralContext<'_, '_>) -> Result<(), Error> {
    let wire = context.target_wire();
    let is_tool = |entry: &Node<'_>| wire.tools().is_tool(entry);
    if request.get("tools").is_none_or(|tools| tools.as_array().is_none_or(|list| list.iter().any(is_tool))) {
        return Ok(());
    }
    // An empty list that the client wrote stays, because the rules of the API decide about it.
    let omits_list = (context.had_entries || context.is_translated()) && wire.tools().refuses_empty();
    if omits_list {
        request.remove("tools");
    }
    let is_emptied = context.emulates_deferral() && context.had_entries;
    // Kimi's tools may be in messages.
    if (omits_list || is_emptied) && context.options.native != Native::Kimi {
        request.remove(CHOICE);
        if wire.choice().is_setting() {
            wire.choice().remove(request)?;
        }
    }
    if omits_list && wire.choice().without_tools() == WithoutTools::None {
        request.remove(PARALLEL_CALLS);
    }
    Ok(())
}
