//! Writes a conversation, either without constructs for deferred tools (in the same format or another one) or with the
//! backend's constructs. Detects requests that the backend accepts unchanged, and adapts lists and calls to the
//! backend's requirements.

use alloc::{format, string::String, vec::Vec};

use super::{
    emulation::{self, unsendable, Sending},
    Applied, CallRecorder, Client, ListOrigins,
};
use crate::{
    collections::Set,
    error::Error,
    json::{
        lazy::{edit_member, may_hold, view},
        Flags, Node, Text,
    },
    names::{Names, Taken},
    options::{Api, CustomTools, DeferredOptions, Mode, Native, Removals, ToolChanges, UnavailableCalls},
    request::{
        choice::widen,
        conversation::{self, Content, Conversation, Event, EventKind, Part, Role},
        listed,
        location::Location,
        origins::EntryOrigin,
        reader::{self, Reading},
        report::{DeferredReport, Warnings},
        tool::{self, Kind, CACHE, FLAG},
        tools::{Tool, Tools},
        writer::{self, Writing},
    },
    wire,
    wire::constructs::{self, lists_deferred, Unsupported},
    wire::responses::namespaces::{flatten_choice, NameMap},
    wire::{history_formats, prompt::whole},
};

/// Writes a request without constructs for deferred loading. Its list of tools is final, and its entries have these
/// origins. Returns the origins of the entries that are written, and false if messages have other indices than before.
pub(super) fn plain<'a>(
    request: &mut Node<'a>,
    (mut conversation, origins): (Conversation<'a>, Vec<EntryOrigin>),
    formats: (Api, Api),
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(Vec<EntryOrigin>, bool), Error> {
    conversation.tools = Tools::read(listed(request), Some(&origins), formats.0, warnings);
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable_as_text(&mut conversation, options.removals)?;
    }
    let written = write(request, conversation, formats, (options, &Names::default()), warnings)?;
    Ok((written.origins.unwrap_or(origins), written.is_aligned))
}

/// Writes a request with the constructs that the backend supports.
pub(super) fn native<'a>(
    request: &mut Node<'a>,
    formats: (Api, Api),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Applied, Error> {
    let mut map = NameMap::default();
    if let Some(Acceptable { report, deferred }) = acceptable(request, formats, (options, sending), warnings)? {
        if options.native == Native::Kimi {
            widen(request, warnings)?;
        }
        let client = Client { format: formats.0, search: None };
        return Ok(Applied {
            report,
            names: Names::default(),
            client,
            deferred,
            origins: ListOrigins::default(),
            is_aligned: true,
        });
    }
    let (target, backend) = (formats.1, sending.map(|sending| sending.backend));
    let format = history_formats::reader(formats.0);
    let reading =
        Reading { options, names: &mut map, warnings: &mut *warnings, format, target, glances: false, backend };
    let mut conversation = reader::read(request, formats.0, reading)?;
    if wire::of(formats.0).tools().has_namespaces() {
        flatten_choice(request, &map)?;
    }
    if formats.0 != formats.1 {
        conversation.lose_references();
    }
    conversation::apply(&mut conversation.events, &mut conversation.tools, options, warnings);
    conversation.collect_found();
    emulation::load_forced((request, formats.0), &mut conversation.tools, options, warnings)?;
    if options.native == Native::AdditionalTools {
        emulation::settle_allowed((request, formats.0), &conversation.tools, warnings)?;
    }
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable_as_text(&mut conversation, options.removals)?;
    }
    let own_search = tool::client_search_name(listed(request));
    let search = search_name(&mut conversation, options, own_search.as_deref(), warnings);
    let mut names = Names::default();
    if let Some(sending) = sending {
        // Prevents tools from being renamed to the name of the search.
        let taken = search.as_ref().map(|name| Text::new(name.clone()));
        let taken: Vec<&Text<'_>> = taken.iter().collect();
        names.plan(sending.shape, conversation.tools.iter().filter_map(|tool| tool.name.as_ref()), &taken);
        let list = loaded_definitions(&conversation.tools, listed(request), (formats, options))?;
        conversation.set_aside = unsendable(&conversation.tools, list, sending, &names)?;
    }
    let recorder = CallRecorder { source: formats.0, target: formats.1, options };
    // The backend's own search loads listed tools, which the model may call in the same reply.
    let searches = conversation.tools.has_hosted_search() && has_hosted_search(options.native);
    let is_callable = |tool: &&Tool<'_>| tool.is_available() || searches && tool.listed && !tool.withdrawn;
    for tool in conversation.tools.iter().filter(is_callable) {
        let definition = conversation.tools.definition_of(tool, listed(request));
        if let Some((name, definition)) = tool.name.as_ref().zip(definition) {
            recorder.tool(&mut map, name, definition, tool.deferred && (tool.loaded || searches && tool.listed));
        }
    }
    search.iter().filter(|_| own_search.is_none()).for_each(|search| recorder.search(&mut map, search));
    let report = DeferredReport {
        name_map: map.finish(),
        tool_search_name: search,
        ..report_of(&conversation, listed(request), options)
    };
    let deferred = conversation.tools.deferred_names().map(|name| names.current(name).into_owned()).collect();
    let writer::Written { search: own_search, origins, added, is_aligned } =
        write(request, conversation, formats, (options, &names), warnings)?;
    if formats.0 == formats.1 && options.native == Native::Kimi {
        widen(request, warnings)?;
    }
    let client = Client { format: formats.0, search: own_search };
    let origins = ListOrigins { entries: origins, added, ..ListOrigins::default() };
    Ok(Applied { report, names, client, deferred, origins, is_aligned })
}

/// Returns the definitions of the loaded tools, in the target's format.
fn loaded_definitions<'a>(
    tools: &Tools<'a>,
    listed: &[Node<'a>],
    (formats, options): ((Api, Api), &DeferredOptions),
) -> Result<Vec<Node<'a>>, Error> {
    // The writer reports losses when it writes the list.
    let (mut list, mut unreported) = (Vec::new(), Warnings::default());
    let loaded = tools.iter().filter(|tool| tool.loaded && tool.is_available());
    for definition in loaded.filter_map(|tool| tools.definition_of(tool, listed)).cloned() {
        let custom = options.custom_tools.unwrap_or(CustomTools::Function);
        list.extend(match formats.0 == formats.1 {
            true => Some(definition),
            false => writer::definitions::write_definition(definition, formats, custom, &mut unreported)?,
        });
    }
    Ok(list)
}

/// Writes the conversation.
fn write<'a>(
    request: &mut Node<'a>,
    conversation: Conversation<'a>,
    (source, target): (Api, Api),
    (options, names): (&DeferredOptions, &Names),
    warnings: &mut Warnings,
) -> Result<writer::Written, Error> {
    writer::put(
        request,
        conversation,
        Writing {
            options,
            source,
            target,
            history: history_formats::writer(target),
            settings: (history_formats::settings(source), history_formats::settings(target)),
            names,
            warnings,
        },
    )
}

/// Returns the report about loaded, hidden and unreachable deferred tools.
fn report_of<'a>(conversation: &Conversation<'a>, listed: &[Node<'a>], options: &DeferredOptions) -> DeferredReport {
    let tools = &conversation.tools;
    let hidden = tools.hidden_names();
    let can_search = tools.iter().any(|tool| match tool.kind {
        Kind::ClientSearch => true,
        Kind::HostedSearch => has_hosted_search(options.native),
        _ => tool.searches(options),
    });
    DeferredReport {
        loaded: tools.loaded_names(),
        unreachable: !hidden.is_empty() && !can_search,
        hidden,
        saved_bytes: tools.saved_bytes(listed),
        ..DeferredReport::default()
    }
}

/// Returns true if a backend with these constructs has a hosted search.
pub(crate) const fn has_hosted_search(native: Native) -> bool {
    !matches!(native, Native::Kimi | Native::AdditionalTools)
}

/// Returns the name of the function that replaces the client's search if the backend has no such tool: the name in the
/// options, made unique among the tools. Calls to the search get the same name.
fn search_name(
    conversation: &mut Conversation<'_>,
    options: &DeferredOptions,
    own: Option<&str>,
    warnings: &mut Warnings,
) -> Option<String> {
    let is_search = conversation.tools.iter().any(|tool| tool.kind == Kind::ClientSearch);
    if !is_search || options.native == Native::ToolSearch {
        return None;
    }
    let wanted = own.unwrap_or(options.tool_search_name.as_str());
    let mut taken = Taken::default();
    conversation.tools.iter().filter_map(|tool| tool.name.as_ref()).for_each(|name| taken.take(name));
    let name = taken.free(wanted.into(), usize::MAX);
    if name != wanted {
        warnings.about("tool-search-renamed", name.as_str());
        for event in &mut conversation.events {
            if let EventKind::Call(call) = &mut event.kind {
                if call.search.is_some() && call.name.is(wanted) {
                    call.name = Text::new(name.clone());
                }
            }
        }
    }
    conversation.search_name = Some(name.clone());
    Some(name)
}

/// A request that its backend accepts unchanged.
pub(super) struct Acceptable {
    pub(super) report: DeferredReport,
    /// The names of the listed tools that are deferred.
    pub(super) deferred: Vec<String>,
}

/// Inspects a request. Returns `None` if it has to be rewritten.
fn acceptable<'a>(
    request: &mut Node<'a>,
    formats: (Api, Api),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Option<Acceptable>, Error> {
    if formats.0 != formats.1 || lacks(request, options)? || is_ambiguous(request, formats, options)? {
        return Ok(None);
    }
    let names = &mut NameMap::default();
    let backend = sending.map(|sending| sending.backend);
    let format = history_formats::reader(formats.0);
    let reading =
        Reading { options, names, warnings: &mut *warnings, format, target: formats.1, glances: true, backend };
    let mut conversation = reader::read(request, formats.0, reading)?;
    // All listed deferred tools, so that the announcement does not depend on the history.
    let tools = Tools::read(crate::request::listed(request), None, formats.0, &mut Warnings::default());
    let deferred = tools.deferred_names().map(|name| name.display().into_owned()).collect();
    let Conversation { tools, events, .. } = &mut conversation;
    conversation::apply(events, tools, options, warnings);
    // Ignored changes have to be removed, from messages and from results.
    let ignores = events.iter().any(|event| matches!(event.kind, EventKind::Ignored(_)));
    // A definition is refused if it has the name of a search: for calls to that tool, the client would run its search.
    if conversation.tools.has_refused() {
        return Ok(None);
    }
    let checks = wire::of(formats.0).tools().checks_deferral();
    if checks && (ignores || refers_to_missing(&mut conversation, crate::request::listed(request), sending)?) {
        return Ok(None);
    }
    let (loaded, hidden) = (conversation.tools.loaded_names(), conversation.tools.hidden_names());
    Ok(Some(Acceptable { report: DeferredReport { loaded, hidden, ..DeferredReport::default() }, deferred }))
}

/// Returns true if a result refers to a tool that is not in the request, or that cannot be sent. Anthropic's API
/// refuses such a request, and every later request with the same history.
///
/// Source: the API's answer *Tool reference 'X' not found in available tools* (edgee#128, anthropics/claude-code#81863;
/// read 2026-11).
fn refers_to_missing<'a>(
    conversation: &mut Conversation<'a>,
    listed: &[Node<'a>],
    sending: Option<&Sending<'_>>,
) -> Result<bool, Error> {
    let Conversation { tools, events, .. } = conversation;
    // The request does not list the tools of a toolset.
    let has_toolset = tools.iter().any(|tool| tool.kind == Kind::Toolset);
    if !has_toolset && conversation::refers_to_unknown(events) {
        return Ok(true);
    }
    let Some(sending) = sending else { return Ok(false) };
    let loaded = tools.iter().filter(|tool| tool.loaded && tool.is_available());
    let list: Vec<Node<'a>> = loaded.filter_map(|tool| tools.definition_of(tool, listed)).cloned().collect();
    let mut names = Names::default();
    names.plan(sending.shape, tools.all_names(), &[]);
    Ok(!unsendable(tools, list, sending, &names)?.is_empty())
}

/// Returns true if a call might be ambiguous. The API puts a top-level tool that it loads into a namespace that has the
/// tool's name, and the client may have a namespace of this name that contains another tool of this name. If `custom`
/// tools are sent as functions, calls have no namespace.
fn is_ambiguous(request: &Node<'_>, formats: (Api, Api), options: &DeferredOptions) -> Result<bool, Error> {
    if !super::keeps_namespaces(formats) {
        return Ok(false);
    }
    let names = crate::wire::responses::namespaces::flat_names_of_unchanged(request)?;
    let mut renamed = names.renamed_own_names().peekable();
    if renamed.peek().is_none() || options.custom_tools == Some(CustomTools::Function) {
        return Ok(renamed.peek().is_some());
    }
    let loadable = crate::wire::responses::namespaces::loadable_names(request)?;
    Ok(renamed.any(|name| loadable.contains(&*name.display())))
}

/// Returns true if a request of the backend's own format has to be rewritten: it contains a construct that the backend
/// does not support, or the options load tools.
fn lacks(request: &Node<'_>, options: &DeferredOptions) -> Result<bool, Error> {
    let native = options.native;
    // Requests of Converse are not rewritten for a backend that supports the construct.
    if native == Native::Converse {
        return Ok(false);
    }
    if (options.mode == Mode::LoadAll || !options.loaded_tools.is_empty()) && lists_deferred(request)? {
        return Ok(true);
    }
    let ignores = options.tool_changes == ToolChanges::Ignore;
    let (history, is_unsupported) = match constructs::unsupported(native, ignores) {
        Unsupported::Nothing => return Ok(false),
        Unsupported::Carriers => return has_refused_carriers(request),
        Unsupported::Parts { history, is_unsupported } => (history, is_unsupported),
    };
    if native == Native::AdditionalTools {
        if let Some(tools) = request.get("tools") {
            let tools = view(tools)?;
            let is_search = |tool: &Node<'_>| matches!(tool::kind(tool), Kind::HostedSearch | Kind::ClientSearch);
            let mut listed = tools.as_array().unwrap_or_default().iter();
            if listed.any(|tool| is_search(tool) || tool::deferral(tool).0) {
                return Ok(true);
            }
        }
    }
    for message in request.items_at(history) {
        if may_hold(message, Flags::DEFERRAL) && is_unsupported(&*view(message)?, native) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if Kimi refuses the tools in messages: a name may occur only once in a request, and a message with
/// tools must not have text.
///
/// Source: MoonshotAI/Kimi-Vendor-Verifier, tests/k3_features/test_dynamic_tools.py.
fn has_refused_carriers(request: &Node<'_>) -> Result<bool, Error> {
    let mut names: Set<String> = Set::new();
    let mut is_second = |tool: &Node<'_>| tool::name(tool).is_some_and(|name| !names.insert(name.display().into()));
    let listed = request.get("tools").map(view).transpose()?;
    for tool in listed.iter().flat_map(|tools| tools.as_array().unwrap_or_default()) {
        // Kimi has neither deferred tools nor a hosted search.
        if tool::deferral(tool).0 || tool::kind(tool) != Kind::Tool {
            return Ok(true);
        }
        is_second(tool);
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        let Some(tools) = message.array_at("tools") else { continue };
        let has_content = message.get("content").is_some_and(|content| !content.is_text(""));
        if has_content || tools.iter().any(&mut is_second) {
            return Ok(true);
        }
    }
    Ok(false)
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
pub(super) fn settle_native_list(
    request: &mut Node<'_>,
    origins: Option<&[EntryOrigin]>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<Option<Shown>, Error> {
    let origin = |at: usize| match origins {
        Some(origins) => origins.get(at).and_then(|origin| origin.location),
        None => Some(Location::of_list().index(at)),
    };
    let settled = edit_member(request, "tools", |tools| {
        // A breakpoint can only move to a tool that is not deferred, so there has to be one.
        let shown = show_one(tools, options, &origin, warnings);
        move_breakpoint(tools, &origin, warnings);
        Ok(shown)
    })?;
    warnings.clear_location();
    Ok(settled.flatten())
}

/// Adds a hosted search to a list of OpenAI Responses or Gemini Interactions that has deferred tools and no search.
/// Returns true if it was added.
///
/// Source: OpenAI's answer *Deferred tools require tools.tool_search* (sub2api#5942; read 2026-11).
pub(super) fn add_search(request: &mut Node<'_>, warnings: &mut Warnings) -> bool {
    let list = listed(request);
    let is_search = |entry: &Node<'_>| matches!(tool::kind(entry), Kind::HostedSearch | Kind::ClientSearch);
    let members = |entry: &Node<'_>| {
        let tools = entry.get("tools").filter(|_| tool::has_type(entry, "namespace"));
        tools.and_then(Node::as_array).is_some_and(|tools| tools.iter().any(|tool| tool::deferral(tool).0))
    };
    if list.iter().any(is_search) || !list.iter().any(|entry| tool::deferral(entry).0 || members(entry)) {
        return false;
    }
    let search = Node::record([("type", Node::literal("tool_search"))]);
    request.visit("tools", |tools| tools.as_array_mut().map(|list| list.push(search)));
    warnings.warn("tool-search-added");
    true
}

fn is_deferred(entry: &Node<'_>) -> bool {
    let by_default = entry.get("default_config").and_then(|config| config.get(FLAG)).and_then(Node::as_bool);
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
        warnings.about_maybe("cached-deferred", tool::name(entry).cloned().as_ref());
        moved = entry.remove(CACHE);
    }
    let last = list.iter_mut().rev().find(|entry| !is_deferred(entry));
    if let (Some(object), Some(breakpoint)) = (last.and_then(Node::as_object_mut), moved) {
        if !object.has(CACHE) {
            object.set(Text::literal(CACHE), breakpoint);
        }
    }
}

/// Removes the flag of one tool if every tool is deferred: of the first tool that searches for tools, or else of the
/// first tool.
///
/// Source: the API's answer *At least one tool must have defer_loading=false* (ironclaw#7274, theia#17254; read
/// 2026-11).
fn show_one(
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
    let named = list.iter().enumerate().filter(|(_, entry)| tool::kind(entry) == Kind::Tool);
    let named = named.filter_map(|(at, entry)| Some((at, tool::name(entry).filter(|_| !tool::is_placeholder(entry))?)));
    let (at, name) = named.clone().find(|(_, name)| searches(name)).or_else(|| named.clone().next())?;
    let shown = Shown { name: name.clone().into_owned(), is_search: searches(name) };
    tools.as_array_mut()?.get_mut(at).into_iter().for_each(|entry| tool::clean(entry, false));
    warnings.set_origin(origin(at));
    warnings.about("all-deferred", shown.name.display());
    Some(shown)
}

/// Replaces calls to tools that are not sent, and their results, with text.
///
/// # Errors
/// `invalid-value` for an unpaired surrogate in arguments.
fn unavailable_as_text<'a>(conversation: &mut Conversation<'a>, removals: Removals) -> Result<(), Error> {
    let Conversation { tools, events, changed, .. } = conversation;
    let is_sent = |name: &Text<'a>| {
        tools.get(name).is_some_and(|tool| {
            tool.is_available() || tool.withdrawn && removals == Removals::Notice && (tool.loaded || !tool.deferred)
        })
    };
    let mut texts: Set<Text<'a>> = Set::new();
    let mut out = Vec::with_capacity(events.len());
    let mut turn = Turn::default();
    for Event { at, message, member, origin, others, kind } in core::mem::take(events) {
        let is_step = matches!(kind, EventKind::Call(_) | EventKind::Result(_));
        // A later turn may use an id again.
        if let EventKind::Call(call) = &kind {
            call.id.as_text().map(|id| texts.remove(id));
        }
        let kind = match kind {
            EventKind::Call(call) if call.search.is_none() && !is_sent(&call.name) => {
                texts.extend(call.id.as_text().cloned());
                let arguments = call.arguments.text();
                let arguments = arguments.as_text().map(|text| whole(text, "")).transpose()?;
                let text = format!("[Call to {}: {}]", call.name.display(), arguments.unwrap_or_default());
                EventKind::Text { role: Role::Assistant, content: Content::sentence(text) }
            }
            EventKind::Result(outcome) if outcome.id.as_text().is_some_and(|id| texts.contains(id)) => {
                let mut parts = outcome.content.into_parts();
                if parts.is_empty() {
                    parts.push(Part::Text(Node::string(String::from("[No result]"))));
                }
                EventKind::Text { role: Role::User, content: Content::Parts(parts) }
            }
            other => other,
        };
        if is_step && matches!(kind, EventKind::Text { .. }) {
            changed.insert(at);
        }
        turn.add(Event { at, message, member, origin, others, kind }, is_step, (&mut out, &mut *changed));
    }
    turn.end((&mut out, changed));
    *events = out;
    Ok(())
}

/// Consecutive calls, or consecutive results, with no other message or item between them. APIs require results directly
/// after their calls. So the text that replaces calls precedes the other calls, and the text that replaces results
/// follows the other results.
#[derive(Default)]
struct Turn<'a> {
    is_results: bool,
    steps: Vec<Event<'a>>,
}

impl<'a> Turn<'a> {
    fn add(&mut self, event: Event<'a>, is_step: bool, (out, changed): (&mut Vec<Event<'a>>, &mut Set<usize>)) {
        let is_results = matches!(event.kind, EventKind::Result(_) | EventKind::Text { role: Role::User, .. });
        // If the format does not change, a message that was not read has no event.
        let is_next = self.steps.last().is_none_or(|last| event.at <= last.at + 1);
        if !is_step || !is_next || is_results != self.is_results {
            self.end((&mut *out, changed));
        }
        self.is_results = is_results;
        if is_step { &mut self.steps } else { out }.push(event);
    }

    fn end(&mut self, (out, changed): (&mut Vec<Event<'a>>, &mut Set<usize>)) {
        let steps = core::mem::take(&mut self.steps);
        let is_text = |event: &Event<'a>| matches!(event.kind, EventKind::Text { .. });
        let others = || steps.iter().enumerate().filter(|(_, event)| !is_text(event));
        let neighbor = if self.is_results { others().next_back() } else { others().next() };
        let Some((place, at, member)) = neighbor.map(|(place, event)| (place, event.at, event.member)) else {
            out.extend(steps);
            return;
        };
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        for (index, mut event) in steps.into_iter().enumerate() {
            if !is_text(&event) {
                others.push(event);
                continue;
            }
            // A text that moves past other steps joins the message of the last step that it passes.
            let moves = if self.is_results { index < place } else { index > place };
            if moves {
                changed.insert(at);
                (event.at, event.member) = (at, member);
            }
            texts.push(event);
        }
        let (first, second) = if self.is_results { (others, texts) } else { (texts, others) };
        out.extend(first);
        out.extend(second);
    }
}
