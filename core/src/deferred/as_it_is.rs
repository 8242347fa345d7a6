//! Decides whether a backend accepts a request of its own format unchanged, with the constructs for deferred tools that
//! the backend supports.

use alloc::{string::String, vec::Vec};

use super::quote::{unsendable, Sending};
use crate::{
    collections::Set,
    error::Error,
    json::{
        lazy::{may_hold, view},
        Node,
    },
    names::Names,
    options::{Api, CustomTools, DeferredOptions, Mode, Native, ToolChanges},
    request::{
        blocks::{directive, directive_definition, Directive},
        conversation::{self, Conversation, EventKind},
        namespaces::NameMap,
        prefilter,
        reader::{self, Reading},
        report::{DeferredReport, Warnings},
        tool::{self, has_type, Kind},
        tools::Tools,
    },
};

/// A request that its backend accepts unchanged.
pub(super) struct AsItIs {
    pub(super) report: DeferredReport,
    /// The names of the listed tools that are deferred.
    pub(super) deferred: Vec<String>,
}

/// Inspects a request. Returns `None` if it has to be rewritten.
pub(super) fn judge<'a>(
    request: &mut Node<'a>,
    formats: (Api, Api),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Option<AsItIs>, Error> {
    if formats.0 != formats.1 || lacks(request, options)? || is_ambiguous(request, formats, options)? {
        return Ok(None);
    }
    let names = &mut NameMap::default();
    let describes = sending.is_some();
    let reading = Reading { options, names, warnings: &mut *warnings, target: formats.1, glances: true, describes };
    let mut conversation = reader::read(request, formats.0, reading)?;
    // All listed deferred tools, so that the announcement does not depend on the history.
    let tools = Tools::read(crate::request::listed(request), formats.0, &mut Warnings::default());
    let deferred = tools.deferred_names().map(|name| name.display().into_owned()).collect();
    let Conversation { tools, events, .. } = &mut conversation;
    conversation::apply(events, tools, options, warnings);
    // Ignored changes have to be removed, from messages and from results.
    let ignores = events.iter().any(|event| matches!(event.kind, EventKind::Ignored(_)));
    // A refused definition has the name of a search: the client would run its search for calls to that tool.
    if conversation.tools.has_refused() {
        return Ok(None);
    }
    let is_anthropic = formats.0 == Api::Anthropic;
    if is_anthropic && (ignores || refers_to_missing(&mut conversation, crate::request::listed(request), sending)?) {
        return Ok(None);
    }
    let (loaded, hidden) = (conversation.tools.loaded_names(), conversation.tools.hidden_names());
    Ok(Some(AsItIs { report: DeferredReport { loaded, hidden, ..DeferredReport::default() }, deferred }))
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

/// Returns true if a call possibly does not identify its tool. The API calls a loaded top-level tool in a namespace
/// that has the tool's name, and that namespace may contain another tool with this name. If `custom` tools are sent as
/// functions, calls have no namespace.
fn is_ambiguous(request: &Node<'_>, formats: (Api, Api), options: &DeferredOptions) -> Result<bool, Error> {
    if formats != super::RESPONSES_ONLY {
        return Ok(false);
    }
    let names = crate::request::namespaces::flat_names_as_it_is(request)?;
    let mut renamed = names.renamed_own_names().peekable();
    if renamed.peek().is_none() || options.custom_tools == Some(CustomTools::Function) {
        return Ok(renamed.peek().is_some());
    }
    let loadable = crate::request::namespaces::loadable_names(request)?;
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
    let (history, is_foreign): (&str, fn(&Node<'_>, Native) -> bool) = match native {
        // Ignored changes are removed even if the backend supports them.
        Native::Inline if ignores => ("messages", |message, _| changes(message, Native::References)),
        Native::ToolSearch if ignores => ("input", |item, _| has_type(item, "additional_tools")),
        Native::Kimi if ignores => ("messages", |message, _| message.get("tools").is_some()),
        Native::Kimi => return has_refused_carriers(request),
        Native::None | Native::Inline | Native::ToolSearch | Native::Interactions | Native::Converse => {
            return Ok(false);
        }
        Native::References => ("messages", changes),
        Native::Changes if ignores => ("messages", |message, _| changes(message, Native::References)),
        Native::Changes => ("messages", changes),
        Native::AdditionalTools if ignores => ("input", |item, _| {
            ["additional_tools", "tool_search_call", "tool_search_output"].iter().any(|kind| has_type(item, kind))
        }),
        Native::AdditionalTools => {
            ("input", |item, _| has_type(item, "tool_search_call") || has_type(item, "tool_search_output"))
        }
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
        if may_hold(message, prefilter::DEFERRAL) && is_foreign(&*view(message)?, native) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if the list of a request or of an `additional_tools` item has a deferred tool, in a namespace or
/// outside.
pub(super) fn lists_deferred(request: &Node<'_>) -> Result<bool, Error> {
    if request.get("tools").map(view).transpose()?.is_some_and(|tools| has_deferred(&tools)) {
        return Ok(true);
    }
    for item in request.items_at("input") {
        if may_hold(item, prefilter::CARRIER) {
            let item = view(item)?;
            if has_type(&item, "additional_tools") && item.get("tools").is_some_and(has_deferred) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn has_deferred(list: &Node<'_>) -> bool {
    let is_deferred = |entry: &Node<'_>| tool::deferral(entry).0;
    list.as_array().unwrap_or_default().iter().any(|entry| {
        let members = entry.get("tools").filter(|_| has_type(entry, "namespace")).and_then(Node::as_array);
        is_deferred(entry) || members.unwrap_or_default().iter().any(is_deferred)
    })
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
        if !may_hold(message, prefilter::DEFERRAL) {
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

/// Returns true if a message changes the tools with a construct that the backend does not support.
fn changes(message: &Node<'_>, native: Native) -> bool {
    let blocks = message.items_at("content");
    blocks.iter().any(|block| match directive(block) {
        None => false,
        Some(_) if native == Native::References => true,
        Some(Directive::Removal) => false,
        Some(Directive::Addition) => directive_definition(block).is_some(),
    })
}
