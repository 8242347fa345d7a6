//! Requests that the backend accepts unchanged.

use alloc::{string::String, vec::Vec};

use super::emulation::{find_unsendable, Sending};
use crate::{
    collections::Set,
    error::Error,
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    names::Names,
    options::{Api, CustomTools, DeferredOptions, Mode, Native, ToolChanges},
    request::{
        conversation::{self, Conversation, EventKind},
        reader::{self, Reading},
        report::{DeferredReport, Warnings},
        tool::{self, Kind},
        tools::Tools,
    },
    wire,
    wire::constructs::{self, lists_deferred, Unsupported},
    wire::history_formats,
    wire::responses::namespaces::NameMap,
};

/// A request that its backend accepts unchanged.
pub(super) struct Acceptable {
    pub(super) report: DeferredReport,
    /// The names of the listed tools that are deferred.
    pub(super) deferred: Vec<String>,
}

/// Inspects a request. Returns `None` if it has to be rewritten.
pub(super) fn accept_unchanged<'a>(
    request: &mut Node<'a>,
    formats: (Api, Api),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Option<Acceptable>, Error> {
    if formats.0 != formats.1 || needs_rewriting(request, options)? || is_ambiguous(request, formats, options)? {
        return Ok(None);
    }
    let names = &mut NameMap::default();
    let backend = sending.map(|sending| sending.backend);
    let format = history_formats::reader(formats.0);
    let reading =
        Reading { options, names, warnings: &mut *warnings, format, target: formats.1, is_trial: true, backend };
    let mut conversation = reader::read(request, formats.0, reading)?;
    // All listed deferred tools, so that the announcement does not depend on the history.
    let tools = Tools::read(crate::request::listed(request), None, formats.0, &mut Warnings::default());
    let deferred = tools.deferred_names().map(|name| name.display().into_owned()).collect();
    let Conversation { tools, events, .. } = &mut conversation;
    conversation::apply_to_tools(events, tools, options, warnings);
    // Ignored changes have to be removed, from messages and from results.
    let ignores = events.iter().any(|event| matches!(event.kind, EventKind::Ignored(_)));
    // A definition with the name of a search has to be removed: for calls to that tool, the client would run its
    // search.
    if conversation.tools.has_dropped_definition() {
        return Ok(None);
    }
    let checks = wire::of(formats.0).tools().checks_deferral();
    if checks && (ignores || refers_to_missing(&mut conversation, crate::request::listed(request), sending)?) {
        return Ok(None);
    }
    let (loaded, hidden) = (conversation.tools.loaded_names(), conversation.tools.hidden_names());
    Ok(Some(Acceptable { report: DeferredReport { loaded, hidden, ..DeferredReport::default() }, deferred }))
}

/// Returns true if a result refers to a missing tool, or to a tool that cannot be sent. Anthropic's API
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
    Ok(!find_unsendable(tools, list, sending, &names)?.is_empty())
}

/// Returns true if a call might be ambiguous. The API puts a top-level tool `a` that it loads into a namespace `a`, and
/// the client may have a namespace `a` with another tool `a`. If `custom` tools are sent as functions, calls have no
/// namespace.
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
fn needs_rewriting(request: &Node<'_>, options: &DeferredOptions) -> Result<bool, Error> {
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
        Unsupported::Carriers => return has_refused_messages(request),
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
fn has_refused_messages(request: &Node<'_>) -> Result<bool, Error> {
    let mut names: Set<String> = Set::new();
    let mut is_duplicate = |tool: &Node<'_>| tool::name(tool).is_some_and(|name| !names.insert(name.display().into()));
    let listed = request.get("tools").map(view).transpose()?;
    for tool in listed.iter().flat_map(|tools| tools.as_array().unwrap_or_default()) {
        // Kimi has neither deferred tools nor a hosted search.
        if tool::deferral(tool).0 || tool::kind(tool) != Kind::Tool {
            return Ok(true);
        }
        is_duplicate(tool);
    }
    for message in request.items_at("messages") {
        if !may_hold(message, Flags::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        let Some(tools) = message.array_at("tools") else { continue };
        let has_content = message.get("content").is_some_and(|content| !content.is_text(""));
        if has_content || tools.iter().any(&mut is_duplicate) {
            return Ok(true);
        }
    }
    Ok(false)
}
