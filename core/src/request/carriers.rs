//! Messages that add tools: system messages of Kimi and Anthropic, items of OpenAI Responses, and results of searches.
//! Finds the searches of a history, because their results may add or load tools.
//!
//! Only part of the history comes from the client: tool results come from servers, and calls from the model. Additions
//! and removals therefore take effect only in blocks of the client: blocks of a system message or of the system prompt.
//! A reference can only load tools that the client listed, so it takes effect in a message, in a tool result and in a
//! search result. Blocks nested in other members of a block have no effect.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::tool::{self, has_type, Kind};
use crate::{
    collections::{Map, Set},
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Data, Flags, Node, Text,
    },
    options::{Api, DeferredOptions},
    wire::additions::UntypedResults,
    wire::anthropic::mentions::{added, edit_added, pointer_to_added},
    wire::{self, additions::Additions},
};

pub(crate) fn each<'a>(
    request: &Node<'a>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    mut take: impl FnMut(&[Node<'a>]),
) -> Result<(), Error> {
    each_at(request, api, deferred, |_, tools| take(tools))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedToolsLocation {
    message: usize,
    /// Index of the block that adds a tool in Anthropic Messages, and the pointer to the definition in the block.
    block: Option<(usize, &'static str)>,
}

impl AddedToolsLocation {
    pub(crate) fn pointer(self, api: Api, tool: usize) -> String {
        let (history, message) = (wire::of(api).history(), self.message);
        match self.block {
            Some((block, definition)) => format!("/{history}/{message}/content/{block}{definition}"),
            None => format!("/{history}/{message}/{}/{tool}", wire::of(api).additions().list()),
        }
    }
}

pub(crate) fn each_at<'a>(
    request: &Node<'a>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    mut take: impl FnMut(AddedToolsLocation, &[Node<'a>]),
) -> Result<(), Error> {
    let additions = wire::of(api).additions();
    if matches!(additions, Additions::None | Additions::Listed) {
        return Ok(());
    }
    let mut carriers = Carriers::of(request, api, deferred)?;
    for (at, message) in request.items_at(wire::of(api).history()).iter().enumerate() {
        if !may_hold(message, flags(additions)) {
            continue;
        }
        let message = view(message)?;
        if !carriers.adds_tools(&message) {
            continue;
        }
        if matches!(additions, Additions::Blocks) {
            for (block, node) in message.items_at("content").iter().enumerate() {
                let Some(definition) = added(node) else { continue };
                let location = AddedToolsLocation { message: at, block: Some((block, pointer_to_added(node))) };
                take(location, core::slice::from_ref(definition));
            }
        } else {
            let location = AddedToolsLocation { message: at, block: None };
            take(location, message.items_at(additions.list()));
        }
    }
    Ok(())
}

const fn flags(additions: Additions) -> Flags {
    match additions {
        Additions::Items { .. } => Flags::CARRIER,
        Additions::Results { .. } => Flags::DEFERRAL.union(Flags::CALL),
        _ => Flags::DEFERRAL,
    }
}

/// Returns the names of functions that hosted searches found. They may belong to servers that the API itself calls, so
/// the client's tools must not use these names.
pub(crate) fn names_of_hosted<'a>(request: &Node<'a>, api: Api) -> Result<Vec<Text<'a>>, Error> {
    let mut names = Vec::new();
    let Additions::Results { list, hosted, .. } = wire::of(api).additions() else { return Ok(names) };
    for step in request.items_at(wire::of(api).history()) {
        if may_hold(step, Flags::DEFERRAL) {
            let step = view(step)?;
            let entries = step.get(list).filter(|_| has_type(&step, hosted)).and_then(Node::as_array);
            names.extend(entries.unwrap_or_default().iter().filter_map(tool::name).cloned());
        }
    }
    Ok(names)
}

pub(crate) fn any(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let mut has_tools = false;
    each(request, api, None, |tools| has_tools |= !tools.is_empty())?;
    Ok(has_tools)
}

pub(crate) fn visit_definitions<'a>(message: &mut Node<'a>, api: Api, visit: &mut dyn FnMut(&mut Node<'a>)) {
    let additions = wire::of(api).additions();
    let is_block = matches!(additions, Additions::Blocks);
    let key = if is_block { "content" } else { additions.list() };
    message.visit(key, |list| {
        // The visitor never fails.
        let _ = list.visit_children::<core::convert::Infallible>(|_, entry| {
            if !is_block {
                visit(entry);
            } else if added(entry).is_some() {
                edit_added(entry, &mut *visit);
            }
            Ok(())
        });
    });
}

/// Recognizes messages that add tools. The messages must be passed in order.
pub(crate) struct Carriers<'a> {
    additions: Additions,
    searches: Searches<'a>,
}

impl<'a> Carriers<'a> {
    pub(crate) fn of(request: &Node<'a>, api: Api, deferred: Option<&DeferredOptions>) -> Result<Self, Error> {
        let mut searches = Searches::default();
        let additions = wire::of(api).additions();
        if let (Some(tools), Additions::Results { .. }) = (request.get("tools"), additions) {
            searches = Searches::of(view(tools)?.as_array().unwrap_or_default(), deferred);
        }
        Ok(Carriers { additions, searches })
    }

    pub(crate) fn adds_tools(&mut self, message: &Node<'a>) -> bool {
        let lists_tools = || !message.items_at(self.additions.list()).is_empty();
        match self.additions {
            Additions::System => is_system(message) && lists_tools(),
            Additions::Items { lists, results } => {
                lists.iter().chain(results).any(|kind| has_type(message, kind)) && lists_tools()
            }
            Additions::Results { ref form, .. } => {
                self.searches.record(message, form);
                self.searches.is_search_result(message, form)
            }
            Additions::Blocks => {
                is_system(message) && message.get("content").is_some_and(|content| content.as_array().is_some())
            }
            Additions::None | Additions::Listed => false,
        }
    }
}

/// Returns the name `wanted` for the function that replaces a hosted search. Appends a number if a listed function has
/// that name.
fn unused_name<'a>(list: &[&Node<'a>], wanted: &str) -> Text<'a> {
    let taken: Set<Cow<'_, str>> = list
        .iter()
        .copied()
        .filter(|entry| tool::kind(entry) == Kind::Tool && !tool::is_placeholder(entry))
        .filter_map(tool::name)
        .map(Text::display)
        .collect();
    let numbered = (2_u32..).map(|number| format!("{wanted}_{number}"));
    let mut names = core::iter::once(String::from(wanted)).chain(numbered);
    Text::new(names.find(|name| !taken.contains(name.as_str())).unwrap_or_default())
}

/// The searches that the client runs, and their calls in the history. In Gemini, Gemini Interactions and Bedrock
/// Converse, the result of any tool can look like the result of a search.
#[derive(Default)]
pub(crate) struct Searches<'a> {
    names: Set<Text<'a>>,
    /// Name of the function that replaces a hosted search.
    replacement_name: Option<Text<'a>>,
    /// Names of the called functions, by the ids of the calls, because a result may omit the name.
    call_names: Map<Text<'a>, Text<'a>>,
}

impl<'a> Searches<'a> {
    pub(crate) fn of(list: &[Node<'a>], deferred: Option<&DeferredOptions>) -> Self {
        Searches::among(&list.iter().collect::<Vec<_>>(), deferred)
    }

    pub(crate) fn among(list: &[&Node<'a>], deferred: Option<&DeferredOptions>) -> Self {
        let client_searches = list
            .iter()
            .copied()
            .filter(|entry| tool::kind(entry) == Kind::ClientSearch)
            .filter_map(tool::name)
            .cloned();
        let is_hosted = list.iter().any(|entry| tool::kind(entry) == Kind::HostedSearch);
        let replacement_name =
            deferred.filter(|_| is_hosted).map(|options| unused_name(list, &options.tool_search_name));
        let option_names = deferred.into_iter().flat_map(|options| &options.search_tools);
        let names = client_searches
            .chain(option_names.map(|name| Text::new(name.clone())))
            .chain(replacement_name.clone())
            .collect();
        Searches { names, replacement_name, call_names: Map::new() }
    }

    pub(crate) fn is_replacement(&self, name: &Text<'a>) -> bool {
        self.replacement_name.as_ref() == Some(name)
    }

    pub(crate) fn record(&mut self, block: &Node<'a>, form: &UntypedResults) {
        if let Some((id, name)) = (form.call)(block) {
            self.call_names.insert(id.clone(), name.clone());
        }
    }

    /// Returns true for the result of a search. References in the result of any other tool load nothing, because the
    /// tool's server may have written them.
    pub(crate) fn is_search_result(&self, block: &Node<'a>, form: &UntypedResults) -> bool {
        let Some((id, name)) = (form.result)(block) else { return false };
        let name = id.and_then(|id| self.call_names.get(id)).or(name);
        name.is_some_and(|name| self.names.contains(name)) && (form.has_tools)(block)
    }
}

pub(crate) fn is_system(message: &Node<'_>) -> bool {
    message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"))
}

/// Returns the blocks of a message of Bedrock Converse, or the parts of a message of Gemini `generateContent`. A Gemini
/// message may have a single part instead of a list.
pub(crate) fn of_message<'n, 'a>(message: &'n Node<'a>) -> &'n [Node<'a>] {
    let Some(blocks) = ["content", "parts"].iter().find_map(|key| message.get(key)) else { return &[] };
    match blocks.data() {
        Data::Object(_) => core::slice::from_ref(blocks),
        _ => blocks.as_array().unwrap_or_default(),
    }
}

pub(crate) const REFERENCES: &str = "tool_references";

pub(crate) fn references_in<'n, 'a>(json: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    json.get(REFERENCES)?.as_array()
}

pub(crate) fn misplaced_tools_error(pointer: &str) -> Error {
    let message = "expected tools only in a `system` message, found them in another message";
    Error::new(Code::InvalidRequest, format!("{pointer}/tools"), message)
}
