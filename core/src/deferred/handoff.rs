//! A conversation that goes on elsewhere: in another format, or with another API's constructs for deferred tools.

use alloc::{string::String, vec::Vec};

use super::{
    choice,
    client::{Client, Noting},
    conversation::{unavailable, Conversation, What},
    lazy::{may_hold, view},
    load_events::{directive, directive_definition, Directive, Events},
    namespace::NameMap,
    prefilter,
    quote::Sending,
    reader::{self, Reading},
    report::{DeferredReport, Warnings},
    tool::{self, has_type, Kind},
    tools::{Tool, Tools},
    writer::{self, Writing},
    Applied,
};
use crate::{
    collections::Set,
    error::Error,
    json::{Node, Text},
    names::{Names, Taken},
    options::{CustomTools, DeferredOptions, Format, Mode, Native, ToolChanges, UnavailableCalls},
};

/// Writes a request that holds nothing of deferred loading any more in another format.
pub(super) fn plain<'a>(
    request: &mut Node<'a>,
    formats: (Format, Format),
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    let mut names = NameMap::default();
    let mut conversation = read(request, formats, (options, &mut names), warnings)?;
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable::as_text(&mut conversation, options.removals)?;
    }
    write(request, conversation, formats, (options, &Names::default()), warnings).map(drop)
}

/// Writes a request with the constructs that the backend understands.
pub(super) fn native<'a>(
    request: &mut Node<'a>,
    formats: (Format, Format),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Applied, Error> {
    let mut map = NameMap::default();
    if formats.0 == formats.1 && !lacks(request, options)? && !is_ambiguous(request, formats, options)? {
        if options.native == Native::Kimi {
            choice::widen(request, warnings)?;
        }
        let client = Client { format: formats.0, search: None };
        let (report, deferred) = as_it_is(request, options, warnings)?;
        return Ok(Applied { report, names: Names::default(), client, deferred });
    }
    let mut conversation = read(request, formats, (options, &mut map), warnings)?;
    conversation.apply(options, warnings);
    choice::load_forced(request, &mut conversation.tools, options, warnings)?;
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable::as_text(&mut conversation, options.removals)?;
    }
    let search = search_name(&mut conversation, options, warnings);
    let mut names = Names::default();
    if let Some(sending) = sending {
        // No tool is renamed to the name of the search.
        let taken = search.as_ref().map(|name| Text::new(name.clone()));
        let taken: Vec<&Text<'_>> = taken.iter().collect();
        names.plan(sending.shape, conversation.tools.iter().filter_map(|tool| tool.name.as_ref()), &taken);
        conversation.set_aside = set_aside(&conversation, sending, &names, (formats, options))?;
    }
    let noting = Noting { source: formats.0, target: formats.1, options };
    // The backend's own search loads what is listed, and the model calls it in the same reply.
    let searches = conversation.tools.has_hosted_search() && has_hosted_search(options.native);
    let is_callable = |tool: &&Tool<'_>| tool.is_available() || searches && tool.listed && !tool.withdrawn;
    for tool in conversation.tools.iter().filter(is_callable) {
        let definition = conversation.tools.definition_of(tool, &[]);
        if let Some((name, definition)) = tool.name.as_ref().zip(definition) {
            noting.tool(&mut map, name, definition, tool.deferred && (tool.loaded || searches && tool.listed));
        }
    }
    search.iter().for_each(|search| noting.search(&mut map, search));
    let report = DeferredReport { name_map: map.finish(), tool_search_name: search, ..told(&conversation, options) };
    let deferred = conversation.tools.deferred_names().map(|name| names.current(name).into_owned()).collect();
    let own_search = write(request, conversation, formats, (options, &names), warnings)?;
    if formats.0 == formats.1 && options.native == Native::Kimi {
        choice::widen(request, warnings)?;
    }
    Ok(Applied { report, names, client: Client { format: formats.0, search: own_search }, deferred })
}

/// The loaded tools that cannot be sent: texts do not promise them. That they are missing is reported where the request
/// is held to its dialect.
fn set_aside<'a>(
    conversation: &Conversation<'a>,
    sending: &Sending<'_>,
    names: &Names,
    (formats, options): ((Format, Format), &DeferredOptions),
) -> Result<Set<Text<'a>>, Error> {
    let loaded = || conversation.tools.iter().filter(|tool| tool.loaded && tool.is_available());
    let (mut list, mut told_later) = (Vec::new(), Warnings::default());
    for definition in loaded().filter_map(|tool| conversation.tools.definition_of(tool, &[])).cloned() {
        let custom = options.custom_tools.unwrap_or(CustomTools::Function);
        list.extend(match formats.0 == formats.1 {
            true => Some(definition),
            false => writer::function::write(definition, formats, custom, &mut told_later)?,
        });
    }
    if list.is_empty() {
        return Ok(Set::new());
    }
    let written = (sending.write)(Node::array(list), names)?;
    let written = written.as_array().unwrap_or_default().iter();
    let sent: Set<String> = written.filter_map(tool::name).map(|name| name.display().into()).collect();
    let loaded = loaded().filter_map(|tool| tool.name.as_ref());
    Ok(loaded.filter(|name| !sent.contains(&*names.current(name))).cloned().collect())
}

fn read<'a>(
    request: &mut Node<'a>,
    (source, target): (Format, Format),
    (options, names): (&DeferredOptions, &mut NameMap<'a>),
    warnings: &mut Warnings,
) -> Result<Conversation<'a>, Error> {
    reader::take(request, source, Reading { options, names, warnings, target })
}

/// Writes it; gives the name of the client's own search, where the backend's stands for it.
fn write<'a>(
    request: &mut Node<'a>,
    conversation: Conversation<'a>,
    (source, target): (Format, Format),
    (options, names): (&DeferredOptions, &Names),
    warnings: &mut Warnings,
) -> Result<Option<String>, Error> {
    writer::put(request, conversation, Writing { options, source, target, names, warnings })
}

/// What became of the deferred tools.
fn told(conversation: &Conversation<'_>, options: &DeferredOptions) -> DeferredReport {
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
        saved_bytes: tools.saved_bytes(&[]),
        ..DeferredReport::default()
    }
}

/// Whether a backend with these constructs has a search of its own.
fn has_hosted_search(native: Native) -> bool {
    native != Native::Kimi && native != Native::AdditionalTools
}

/// The name of the function that stands for the client's search where there are none: that of the options, unless a
/// tool has it. Its calls get the same.
fn search_name(
    conversation: &mut Conversation<'_>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Option<String> {
    let is_search = conversation.tools.iter().any(|tool| tool.kind == Kind::ClientSearch);
    if !is_search || options.native == Native::ToolSearch {
        return None;
    }
    let wanted = options.tool_search_name.as_str();
    let mut taken = Taken::default();
    conversation.tools.iter().filter_map(|tool| tool.name.as_ref()).for_each(|name| taken.take(name));
    let name = taken.free(wanted.into(), usize::MAX);
    if name != wanted {
        warnings.about("tool-search-renamed", name.as_str());
        for event in &mut conversation.events {
            if let What::Call(call) = &mut event.what {
                if call.search.is_some() && call.name.is(wanted) {
                    call.name = Text::new(name.clone());
                }
            }
        }
    }
    conversation.search_name = Some(name.clone());
    Some(name)
}

/// What is to be said of a request that its backend takes as it is, and the listed tools that are deferred.
fn as_it_is(
    request: &Node<'_>,
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(DeferredReport, Vec<String>), Error> {
    let format = options.native.format().unwrap_or(Format::Anthropic);
    let (mut events, mut map) = (Events::new(options), NameMap::default());
    if format == Format::OpenaiResponses {
        map = NameMap::with(super::responses::flat_names(request, options.tool_changes)?);
    }
    let mut tools = Tools::read(super::listed(request), warnings);
    let deferred = tools.deferred_names().map(|name| name.display().into_owned()).collect();
    if format == Format::OpenaiResponses {
        super::responses::scan(request, &mut events, &mut map, warnings)?;
    } else {
        request.get("messages").map_or(Ok(()), |messages| events.messages(messages, format))?;
    }
    events.bring(&mut tools, super::listed(request), warnings);
    events.apply(&mut tools, options, warnings);
    let (loaded, hidden) = (tools.loaded_names(), tools.hidden_names());
    Ok((DeferredReport { loaded, hidden, ..DeferredReport::default() }, deferred))
}

/// Whether a call may not identify its tool: the API calls a loaded tool of the top level by a namespace of the tool's
/// own name, in which another tool of that name stands. If `custom` tools are sent as functions, calls have no
/// namespace.
fn is_ambiguous(request: &Node<'_>, formats: (Format, Format), options: &DeferredOptions) -> Result<bool, Error> {
    if formats != super::RESPONSES_ONLY {
        return Ok(false);
    }
    let names = super::responses::flat_names_as_it_is(request)?;
    let mut renamed = names.renamed_own_names().peekable();
    if renamed.peek().is_none() || options.custom_tools == Some(CustomTools::Function) {
        return Ok(renamed.peek().is_some());
    }
    let loadable = super::responses::loadable_names(request)?;
    Ok(renamed.any(|name| loadable.contains(&*name.display())))
}

/// Whether a request of the backend's own format has to be rewritten: it holds a construct that the backend does not
/// understand, or the options load tools.
fn lacks(request: &Node<'_>, options: &DeferredOptions) -> Result<bool, Error> {
    let native = options.native;
    if (options.mode == Mode::LoadAll || !options.loaded_tools.is_empty()) && lists_deferred(request)? {
        return Ok(true);
    }
    let ignores = options.tool_changes == ToolChanges::Ignore;
    let (history, is_foreign): (&str, fn(&Node<'_>, Native) -> bool) = match native {
        // What the client has no say in goes, whoever could take it.
        Native::Inline if ignores => ("messages", |message, _| changes(message, Native::References)),
        Native::ToolSearch if ignores => ("input", |item, _| has_type(item, "additional_tools")),
        Native::Kimi if ignores => ("messages", |message, _| message.get("tools").is_some()),
        Native::Kimi => return has_refused_carriers(request),
        Native::None | Native::Inline | Native::ToolSearch => return Ok(false),
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
    for message in request.get(history).and_then(Node::as_array).unwrap_or_default() {
        if may_hold(message, prefilter::DEFERRAL) && is_foreign(&*view(message)?, native) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the list of a request has a deferred tool, in a namespace or outside.
fn lists_deferred(request: &Node<'_>) -> Result<bool, Error> {
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    let is_deferred = |entry: &Node<'_>| tool::deferral(entry).0;
    let found = tools.as_array().unwrap_or_default().iter().any(|entry| {
        let members = entry.get("tools").filter(|_| has_type(entry, "namespace")).and_then(Node::as_array);
        is_deferred(entry) || members.unwrap_or_default().iter().any(is_deferred)
    });
    Ok(found)
}

/// Whether Kimi refuses what its messages bring: each name stands once in the whole request, and no text beside tools.
/// Source: MoonshotAI/Kimi-Vendor-Verifier, tests/k3_features/test_dynamic_tools.py.
fn has_refused_carriers(request: &Node<'_>) -> Result<bool, Error> {
    let mut names: Set<String> = Set::new();
    let mut is_second = |tool: &Node<'_>| tool::name(tool).is_some_and(|name| !names.insert(name.display().into()));
    let listed = request.get("tools").map(view).transpose()?;
    for tool in listed.iter().flat_map(|tools| tools.as_array().unwrap_or_default()) {
        // Nor does it know tools that wait, or a search of its own.
        if tool::deferral(tool).0 || tool::kind(tool) != Kind::Tool {
            return Ok(true);
        }
        is_second(tool);
    }
    for message in request.get("messages").and_then(Node::as_array).unwrap_or_default() {
        if !may_hold(message, prefilter::DEFERRAL) {
            continue;
        }
        let message = view(message)?;
        let Some(tools) = message.get("tools").and_then(Node::as_array) else { continue };
        let speaks = message.get("content").is_some_and(|content| !content.is_text(""));
        if speaks || tools.iter().any(&mut is_second) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a message changes the tools in a way that the backend has not.
fn changes(message: &Node<'_>, native: Native) -> bool {
    let blocks = message.get("content").and_then(Node::as_array).unwrap_or_default();
    blocks.iter().any(|block| match directive(block) {
        None => false,
        Some(_) if native == Native::References => true,
        Some(Directive::Removal) => false,
        Some(Directive::Addition) => directive_definition(block).is_some(),
    })
}
