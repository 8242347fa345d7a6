//! `apply_deferred_loading`: emulates the deferred loading of Anthropic's servers for an API without deferred tools.
//!
//! Each request is one inference, so every decision is made while the request is rewritten. A `reader` for each format
//! turns a request into a `conversation`, whose events are applied to the `tools` in order. Then the tools are emulated
//! (`emulation`: which tools are sent; `history_text`: the text in the history), or the backend's own constructs are
//! used (`handoff`). A `writer` for each format turns the conversation into a request.

mod announce;
mod betas;
pub(crate) mod emulation;
mod flat;
mod handoff;
mod history_text;

#[cfg(feature = "search")]
pub(crate) use betas::is_about as is_about_beta;
pub(crate) use betas::{header as settle_betas, rewrite_header};
#[cfg(feature = "search")]
pub(crate) use handoff::has_hosted_search;

use alloc::{string::String, vec::Vec};

use crate::wire::responses::custom_tools::{self, Converted, Replaced};
use crate::{
    collections::Set,
    error::Error,
    json::{self, Data, Node, Text},
    names::Names,
    options::{Announce, Api, CustomTools, DeferredOptions, Mode, Native, ServerToolSearch},
    request::{
        choice::complete as complete_choice,
        conversation,
        format::{self, FormatPair},
        instructions::{Notices, Quoted},
        listed,
        location::Location,
        origins::{EntryOrigin, Grouped},
        reader::{self, Reading},
        report::{CallKind, DeferredReport, Warnings},
        search_tool,
        tool::{self, has_type},
        writer::AddedOrigins,
    },
    wire::constructs,
    wire::recognition::SentTo,
    wire::responses::namespaces::{self, FlatNames, NameMap},
    wire::translation::Form,
    wire::{
        self,
        choice::{WithoutTools, CHOICE, PARALLEL_CALLS},
        history_formats,
    },
};
use emulation::{Emulation, Quotes, Sending};

/// Returns the name of the hosted search that a request lists, if any.
#[cfg(feature = "search")]
pub(crate) fn hosted_search(request: &Node<'_>) -> Result<Option<Text<'static>>, Error> {
    let Some(tools) = request.get("tools") else { return Ok(None) };
    let tools = json::lazy::view(tools)?;
    let hosted = crate::request::entries(&tools).find(|tool| tool::kind(tool) == tool::Kind::HostedSearch);
    Ok(hosted.and_then(tool::name).map(|name| name.clone().into_owned()))
}

/// Returns true if a request lists a hosted search.
#[cfg(feature = "search")]
pub(crate) fn lists_hosted_search(request: &Node<'_>) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = json::lazy::view(tools)?;
    let found = crate::request::entries(&tools).any(|tool| tool::kind(tool) == tool::Kind::HostedSearch);
    Ok(found)
}

/// Result of applying deferred loading to a request.
pub(crate) struct Applied {
    pub(crate) report: DeferredReport,
    /// Names that tools will have, if the API restricts names.
    pub(crate) names: Names,
    pub(crate) client: Client,
    /// The listed tools that are deferred, loaded or not, by the names under which they will be sent.
    deferred: Vec<String>,
    pub(crate) origins: ListOrigins,
    /// False if messages are known to have other indices than before.
    pub(crate) is_aligned: bool,
}

/// The origins of all tools of a rewritten request.
#[derive(Default)]
pub(crate) struct ListOrigins {
    /// The origins of the entries of the list; `None` if the list is as it was.
    pub(crate) entries: Option<Vec<EntryOrigin>>,
    /// The pointers to the entries of Gemini's list.
    pub(crate) grouped: Option<Grouped>,
    /// The origins of the tools that the history defines.
    pub(crate) added: AddedOrigins,
    /// The `custom` tools that are functions now.
    pub(crate) custom: Vec<Replaced>,
}

impl ListOrigins {
    /// Adds the origins of a list that was rewritten again.
    fn rewrite(&mut self, again: ListOrigins) {
        if let Some(again) = again.entries {
            self.entries = Some(EntryOrigin::of_rewritten(&again, self.entries.as_deref()));
        }
    }

    /// Records that the last of `count` entries was added.
    fn add_entry(&mut self, count: usize) {
        let as_listed = |index| EntryOrigin { location: Some(Location::of_list().index(index)), shapes: None };
        let before = count.saturating_sub(1);
        self.entries.get_or_insert_with(|| (0..before).map(as_listed).collect()).push(EntryOrigin::default());
    }
}

impl Applied {
    /// Records that a tool is sent without its flag. The other deferred tools can be reached only if that tool is a
    /// search.
    fn record_shown(&mut self, shown: &handoff::Shown) {
        let (report, called) = (&mut self.report, self.names.current(&shown.name));
        self.deferred.retain(|deferred| *deferred != called);
        let name = shown.name.display();
        report.hidden.retain(|hidden| *hidden != name);
        if !report.loaded.iter().any(|loaded| *loaded == name) {
            report.loaded.push(name.into_owned());
        }
        report.unreachable = !report.hidden.is_empty() && !shown.is_search;
    }
}

/// Returns true for a request that stays in a format with namespaces.
fn keeps_namespaces((source, target): (Api, Api)) -> bool {
    source == target && wire::of(target).tools().has_namespaces()
}

/// Rewrites a request in place. If `reports` is false, the parts of the report that need another pass over all tools or
/// messages are left out. If `sending` is present, the tools are rewritten again before they are sent. Texts in the
/// history then use the names and schemas that the tools will have; the list itself is left to the later rewriting.
pub(crate) fn apply(
    request: &mut Node<'_>,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    let api = format::recognize(request, options)?.format;
    if !wire::of(api).tools().is_flat() {
        return flat::apply(request, api, options, sending, reports);
    }
    apply_to_list(request, options, sending, reports)
}

/// Rewrites a request whose list of tools is in `tools`.
fn apply_to_list(
    request: &mut Node<'_>,
    options: &DeferredOptions,
    sending: Option<&Sending<'_>>,
    reports: bool,
) -> Result<Applied, Error> {
    // Parses the list of tools. If it is not changed, `keep_spelling` restores its original text.
    let spelled = request
        .visit("tools", |tools| {
            let Data::Verbatim(text) = tools.data() else { return Ok(None) };
            let text = *text;
            *tools = json::read(text)?;
            Ok(Some(text))
        })
        .transpose()?
        .flatten();
    let wire = format::recognize(request, options)?;
    let mut warnings = Warnings::default();
    if options.native != Native::None {
        let formats = (wire.format, wire.target);
        let had_tools = !listed(request).is_empty() || wire.format != wire.target;
        let mut done = handoff::native(request, formats, (options, sending), &mut warnings)?;
        let source = format_to_read(request, wire, options)?;
        if source != wire.format {
            let mut others = Warnings::default();
            let again = handoff::native(request, (source, wire.target), (options, sending), &mut others)?;
            done.origins.rewrite(again.origins);
            warnings.extend_rewritten(others);
        }
        if wire::of(wire.target).tools().checks_deferral() {
            let origins = done.origins.entries.as_deref();
            if let Some(shown) = handoff::settle_native_list(request, origins, options, &mut warnings)? {
                done.record_shown(&shown);
            }
        }
        let has_search = matches!(options.native, Native::ToolSearch | Native::Interactions);
        if has_search && handoff::add_search(request, &mut warnings) {
            done.origins.add_entry(listed(request).len());
            done.report.unreachable = false;
        }
        announce::add_list(request, wire.target, &done.deferred, (options, &mut done.report.unreachable))?;
        if keeps_namespaces(formats) && options.custom_tools == Some(CustomTools::Function) {
            let names = namespaces::flat_names_of_unchanged(request)?;
            let converted = custom_tools::as_functions(request, &names, &mut warnings)?;
            done.report.are_custom(converted.tools);
            done.origins.custom = converted.replaced;
        }
        let Applied { report, .. } = &mut done;
        drop_empty_tools(request, wire.target, (had_tools, false), options)?;
        if wire.format != wire.target && wire::of(wire.target).choice().is_completed() {
            complete_choice(request);
        }
        if wire::of(wire.target).has_betas() {
            report.betas = betas::needed(request)?;
            betas::rewrite_body(request, options.native, &report.betas)?;
        }
        keep_spelling(request, spelled);
        report.warnings = warnings.finish();
        return Ok(done);
    }
    let (mut done, emptied) = emulate(request, (wire, sending), options, &mut warnings, reports)?;
    let source = format_to_read(request, wire, options)?;
    if source != wire.format {
        let mut others = Warnings::default();
        let formats = FormatPair { format: source, target: wire.target };
        let (again, _) = emulate(request, (formats, None), options, &mut others, false)?;
        done.origins.rewrite(again.origins);
        warnings.extend_rewritten(others);
    }
    drop_empty_tools(request, wire.target, (emptied || wire.format != wire.target, emptied), options)?;
    if source != wire.target && wire::of(wire.target).choice().is_completed() {
        complete_choice(request);
    }
    keep_spelling(request, spelled);
    done.report.warnings = warnings.finish();
    Ok(done)
}

/// Returns true if the client already announces deferred tools.
pub(crate) fn is_announced(request: &Node<'_>) -> Result<bool, Error> {
    announce::is_present(request)
}

/// Declares the `custom` tools of a Responses request as functions, if deferred tools are not rewritten.
pub(crate) fn custom_tools_as_functions(request: &mut Node<'_>) -> Result<Converted, Error> {
    let names = namespaces::flat_names_of_unchanged(request)?;
    custom_tools::as_functions(request, &names, &mut Warnings::default())
}

/// Restores the original text of an unchanged list of tools.
fn keep_spelling<'a>(request: &mut Node<'a>, spelled: Option<&'a str>) {
    if let Some(text) = spelled {
        request.visit("tools", |tools| {
            if tools.is_intact() {
                *tools = Node::read(Data::Verbatim(text), tools.origin());
            }
        });
    }
}

/// Returns the format in which a rewritten request must be read. A Chat Completions request that was recognized by its
/// tools alone may have no tools left. Then only its messages identify the format, and they may look like Anthropic's.
fn format_to_read(request: &Node<'_>, wire: FormatPair, options: &DeferredOptions) -> Result<Api, Error> {
    let is_same = wire.format == wire.target && SentTo::matters(wire.target);
    let undecided = is_same && options.target.is_some() && options.format.is_none();
    if undecided {
        let found = format::recognize(request, options)?.format;
        if wire::of(found).has_evidence() {
            return Ok(found);
        }
    }
    Ok(wire.format)
}

/// Rewrites a request for an API without deferred tools. Also returns true if `tools` was null or had an entry.
fn emulate<'a>(
    request: &mut Node<'a>,
    (wire, sending): (FormatPair, Option<&Sending<'_>>),
    options: &DeferredOptions,
    warnings: &mut Warnings,
    reports: bool,
) -> Result<(Applied, bool), Error> {
    let FormatPair { format, target } = wire;
    let announces = options.mode == Mode::Filter && options.announce == Announce::Names;
    // If the format changes, the history is taken out of the request below, so it is searched for an announcement here.
    // Only deferred tools are announced or unreachable.
    let is_asked = format != target && (announces || reports) && constructs::lists_deferred(request)?;
    let is_announced = is_asked && announce::is_present(request)?;
    let mut map = NameMap::default();
    warnings.set_format(format);
    emulation::warn_of_toolsets(listed(request), warnings);
    let backend = sending.map(|sending| sending.backend);
    let reading = Reading {
        options,
        names: &mut map,
        warnings: &mut *warnings,
        format: history_formats::reader(format),
        target,
        glances: false,
        backend,
    };
    let mut conversation = reader::read(request, format, reading)?;
    let emulates = options.emulates_search();
    let mut emulation = Emulation::new(core::mem::take(&mut conversation.tools), listed(request).len(), emulates);
    let own_search = tool::client_search_name(listed(request));
    emulation.name_search(own_search.as_ref().unwrap_or(&options.tool_search_name), warnings);
    conversation::apply(&mut conversation.events, &mut emulation.tools, options, warnings);
    emulation.warn_of_prefix(warnings);
    // Without the provider's search, the model could not find deferred tools.
    let loads_all = options.hosted_search() == ServerToolSearch::LoadAll && emulation.lost_search();
    if loads_all {
        if options.mode != Mode::LoadAll {
            emulation.tools.load_all();
        }
        warnings.warn("server-tool-search-unavailable");
    } else if options.hosted_search() == ServerToolSearch::Drop && emulation.lost_search() {
        warnings.warn("server-tool-search-dropped");
    }
    let search = emulation.search_function();
    let overflowed = sending.map(|sending| sending.overflowed);
    emulation::settle_choice(
        request,
        format,
        (&mut emulation, &map),
        (options, overflowed),
        search.as_deref(),
        warnings,
    )?;

    let mut names = Names::default();
    if let Some(sending) = sending {
        names.plan(sending.shape, emulation.tools.all_names(), &[]);
    }
    let mut report = DeferredReport {
        loaded: emulation.tools.loaded_names(),
        hidden: emulation.tools.hidden_names(),
        saved_bytes: if reports { emulation.tools.saved_bytes(listed(request)) } else { 0 },
        tool_search_name: search.clone(),
        ..DeferredReport::default()
    };
    // The function that replaces a search has the same name everywhere.
    let called = search.clone().unwrap_or_else(|| options.tool_search_name.clone());
    let function = |search: &Node<'a>| search_tool::function(format, &called, search);
    let keeps_caller = backend.is_some() && format == target;
    history_text::settle_searches(&mut conversation, (format, format == target, keeps_caller), (options, &called));
    let mentioned = history_text::mentioned(&mut conversation.events);
    let notices = notices(listed(request), (&emulation, &names), &mentioned, (sending, options), &function)?;
    let has_toolsets = emulation.has_toolsets();
    history_text::Writer { notices, options, source: format, same_format: format == target, has_toolsets }
        .write(&mut conversation);
    if wire::of(format).has_betas() {
        betas::rewrite_body(request, Native::None, &[])?;
    }

    let searchable = emulation.can_search(options);
    let deferred: Vec<String> = if announces && !loads_all {
        emulation.tools.deferred_names().map(|name| names.current(name).into_owned()).collect()
    } else {
        Vec::new()
    };
    // An API reads null as no list.
    let keeps_null = format == target && (backend.is_some() || wire::of(target).tools().refuses_empty());
    let emptied = request
        .get("tools")
        .is_some_and(|tools| tools.is_null() && !keeps_null || tools.as_array().is_some_and(|tools| !tools.is_empty()));
    let client_search = search.filter(|_| emulation.is_client_search());
    let origins = emulation.settle(request, (options.order, keeps_null), function);
    if reports {
        let recorder = CallRecorder { source: format, target, options };
        let loaded: Set<&str> = report.loaded.iter().map(String::as_str).collect();
        // The client does not know that the caller deferred a tool, and expects an ordinary call.
        let is_overflowed =
            |name: &str| overflowed.is_some_and(|overflowed| overflowed.contains(&(None, String::from(name))));
        recorder.list(&mut map, listed(request), |name| {
            let name = name.display();
            loaded.contains(&*name) && !is_overflowed(&name)
        });
        client_search.iter().filter(|_| own_search.is_none()).for_each(|search| recorder.search(&mut map, search));
        report.name_map = map.finish();
    }
    let is_unreachable = reports && deferred.is_empty() && !report.hidden.is_empty() && !searchable;
    if format != target {
        report.unreachable = is_unreachable && !is_announced;
        if !is_announced && !deferred.is_empty() {
            announce::add_to(&mut conversation, format, &deferred)?;
        }
    }
    let (origins, is_aligned) = handoff::plain(request, (conversation, origins), (format, target), options, warnings)?;
    if format == target && (!deferred.is_empty() || is_unreachable) {
        let is_announced = announce::is_present(request)?;
        report.unreachable = is_unreachable && !is_announced;
        if !is_announced && !deferred.is_empty() {
            announce::append(request, format, &deferred)?;
        }
    }
    let mut custom = Vec::new();
    if keeps_namespaces((format, target)) && options.custom_tools == Some(CustomTools::Function) {
        custom = custom_tools::as_functions(request, &FlatNames::default(), warnings)?.replaced;
    }
    let client = Client { format, search: None };
    let origins = ListOrigins { entries: Some(origins), custom, ..ListOrigins::default() };
    Ok((Applied { report, names, client, deferred: Vec::new(), origins, is_aligned }, emptied))
}

/// Prepares the text about the tools that the history mentions.
fn notices<'a>(
    listed: &[Node<'a>],
    (emulation, names): (&Emulation<'a>, &Names),
    mentioned: &[Text<'a>],
    (sending, options): (Option<&Sending<'_>>, &DeferredOptions),
    function: &dyn Fn(&Node<'a>) -> Node<'a>,
) -> Result<Notices<'a>, Error> {
    let mut notices = Notices::new(options.max_repeated_bytes);
    let written = match sending.filter(|_| !mentioned.is_empty()) {
        Some(sending) => {
            Some(Quotes::write(sending, (emulation, names), (listed, options.order), mentioned, function)?)
        }
        None => None,
    };
    for name in mentioned {
        let called = names.current(name);
        let known = emulation.tools.get(name).and_then(|tool| emulation.tools.definition_of(tool, listed));
        let quoted = match (&written, known) {
            (Some(quotes), Some(_)) => quotes.of(&called),
            (_, definition) => Quoted::Definition(definition),
        };
        notices.prepare(name, &called, &quoted, &emulation.pointer(name))?;
    }
    Ok(notices)
}

/// Handles an empty list of tools. APIs refuse a `tool_choice` without tools, and Chat Completions also refuses an
/// empty list. `had_tools` is true if the list was not empty before, or was written for
/// another API, and `emptied` if hiding tools has emptied it.
fn drop_empty_tools(
    request: &mut Node<'_>,
    format: Api,
    (had_tools, emptied): (bool, bool),
    options: &DeferredOptions,
) -> Result<(), Error> {
    let wire = wire::of(format);
    let is_tool = |entry: &Node<'_>| wire.tools().is_tool(entry);
    if request.get("tools").is_none_or(|tools| tools.as_array().is_none_or(|list| list.iter().any(is_tool))) {
        return Ok(());
    }
    // A list that the client sent empty is sent as it came: rules of the API decide about it.
    let omit = had_tools && wire.tools().refuses_empty();
    if omit {
        request.remove("tools");
    }
    // Kimi's tools may be in messages.
    if (omit || emptied) && options.native != Native::Kimi {
        request.remove(CHOICE);
        if wire.choice().is_setting() {
            wire.choice().remove(request)?;
        }
    }
    if omit && wire.choice().without_tools() == WithoutTools::None {
        request.remove(PARALLEL_CALLS);
    }
    Ok(())
}

/// The client that sent the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The client's format.
    pub(crate) format: Api,
    /// The client's own search function, if the backend's own search (`tool_search` of Responses) replaces it.
    pub(crate) search: Option<String>,
}

/// Records how calls to the tools are translated on their way back to the client.
pub(crate) struct CallRecorder<'o> {
    pub(crate) source: Api,
    pub(crate) target: Api,
    pub(crate) options: &'o DeferredOptions,
}

impl CallRecorder<'_> {
    /// Returns true if tools of the source need no type.
    fn has_plain_tools(&self) -> bool {
        wire::of(self.source).translation().is_some_and(|format| format.form == Form::Plain)
    }

    /// Records one tool, by its flat name and definition.
    pub(crate) fn tool(&self, map: &mut NameMap<'_>, name: &Text<'_>, definition: &Node<'_>, is_loaded: bool) {
        // In a format whose tools need no type, every tool of the client may have the type `custom`.
        let is_custom = !self.has_plain_tools() && has_type(definition, "custom");
        // A tool that is loaded is in a namespace, if the format has them.
        let has_namespaces = |api: Api| wire::of(api).tools().has_namespaces();
        let is_function = match self.source == self.target {
            true => has_namespaces(self.source) && self.options.custom_tools == Some(CustomTools::Function),
            false => true,
        };
        let kind = if is_custom && is_function { CallKind::Custom } else { CallKind::Function };
        let is_at_api = has_namespaces(self.target) && self.options.native != Native::None;
        map.note(name, (is_loaded && has_namespaces(self.source), is_at_api), kind);
    }

    /// Records all tools of a flat list.
    pub(crate) fn list(&self, map: &mut NameMap<'_>, tools: &[Node<'_>], is_loaded: impl Fn(&Text<'_>) -> bool) {
        if self.has_plain_tools() {
            return;
        }
        for definition in tools.iter().filter(|definition| tool::kind(definition) == tool::Kind::Tool) {
            if let Some(name) = tool::name(definition) {
                self.tool(map, name, definition, is_loaded(name));
            }
        }
    }

    /// Records the function that replaces the client's search.
    pub(crate) fn search(&self, map: &mut NameMap<'_>, name: &str) {
        map.note(&Text::new(name), (false, false), CallKind::Search);
    }
}
