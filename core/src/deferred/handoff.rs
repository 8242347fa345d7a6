//! Writes a conversation: without constructs for deferred tools, in its own or another format, or with the backend's
//! constructs.

use alloc::{string::String, vec::Vec};

use super::{
    as_it_is::{self, AsItIs},
    choice,
    client::{CallRecorder, Client},
    quote::{unsendable, Sending},
    unavailable, Applied,
};
use crate::{
    error::Error,
    json::{Node, Text},
    names::{Names, Taken},
    options::{Api, CustomTools, DeferredOptions, Native, UnavailableCalls},
    request::{
        choice::widen,
        conversation::{self, Conversation, EventKind},
        listed,
        namespaces::{flatten_choice, NameMap},
        reader::{self, Reading},
        report::{DeferredReport, Warnings},
        tool::{self, Kind},
        tools::{Tool, Tools},
        writer::{self, Writing},
    },
};

/// Writes a request without constructs for deferred loading. Its list of tools is final.
pub(super) fn plain<'a>(
    request: &mut Node<'a>,
    mut conversation: Conversation<'a>,
    formats: (Api, Api),
    options: &DeferredOptions,
    warnings: &mut Warnings,
) -> Result<(), Error> {
    conversation.tools = Tools::read(listed(request), formats.0, warnings);
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable::as_text(&mut conversation, options.removals)?;
    }
    write(request, conversation, formats, (options, &Names::default()), warnings).map(drop)
}

/// Writes a request with the constructs that the backend supports.
pub(super) fn native<'a>(
    request: &mut Node<'a>,
    formats: (Api, Api),
    (options, sending): (&DeferredOptions, Option<&Sending<'_>>),
    warnings: &mut Warnings,
) -> Result<Applied, Error> {
    let mut map = NameMap::default();
    if let Some(AsItIs { report, deferred }) = as_it_is::judge(request, formats, (options, sending), warnings)? {
        if options.native == Native::Kimi {
            widen(request, warnings)?;
        }
        let client = Client { format: formats.0, search: None };
        return Ok(Applied { report, names: Names::default(), client, deferred });
    }
    let (target, describes) = (formats.1, sending.is_some());
    let reading = Reading { options, names: &mut map, warnings: &mut *warnings, target, glances: false, describes };
    let mut conversation = reader::read(request, formats.0, reading)?;
    if formats.0 == Api::OpenaiResponses {
        flatten_choice(request, &map)?;
    }
    if formats.0 != formats.1 {
        conversation.lose_references();
    }
    conversation::apply(&mut conversation.events, &mut conversation.tools, options, warnings);
    conversation.collect_found();
    choice::load_forced((request, formats.0), &mut conversation.tools, options, warnings)?;
    if options.native == Native::AdditionalTools {
        choice::settle_allowed((request, formats.0), &conversation.tools, warnings)?;
    }
    if options.unavailable_calls == UnavailableCalls::Text {
        unavailable::as_text(&mut conversation, options.removals)?;
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
    let own_search = write(request, conversation, formats, (options, &names), warnings)?;
    if formats.0 == formats.1 && options.native == Native::Kimi {
        widen(request, warnings)?;
    }
    Ok(Applied { report, names, client: Client { format: formats.0, search: own_search }, deferred })
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
            false => writer::function::write(definition, formats, custom, &mut unreported)?,
        });
    }
    Ok(list)
}

/// Writes the conversation. Returns the name of the client's own search if the backend's search replaces it.
fn write<'a>(
    request: &mut Node<'a>,
    conversation: Conversation<'a>,
    (source, target): (Api, Api),
    (options, names): (&DeferredOptions, &Names),
    warnings: &mut Warnings,
) -> Result<Option<String>, Error> {
    writer::put(request, conversation, Writing { options, source, target, names, warnings })
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
