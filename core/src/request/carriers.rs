//! Messages that add tools: system messages of Kimi and Anthropic, items of OpenAI Responses, and results in Gemini
//! Interactions.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::{
    blocks::{has_references, FUNCTION_RESPONSES},
    prefilter::{CALL, CARRIER, DEFERRAL},
    tool::{self, has_type, Kind},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{
        lazy::{may_hold, view},
        Node, Text,
    },
    options::{Api, DeferredOptions},
};

/// Calls `take` with the tools of each message in the history that adds tools, in order.
///
/// # Errors
/// `invalid-json` if a message is text that cannot be parsed.
pub(crate) fn each<'a>(
    request: &Node<'a>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    mut take: impl FnMut(&[Node<'a>]),
) -> Result<(), Error> {
    each_at(request, api, deferred, |_, tools| take(tools))
}

/// The position of tools in the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The index of the message.
    message: usize,
    /// The index of the block that adds a tool, in Anthropic Messages.
    block: Option<usize>,
}

impl Place {
    /// Returns the pointer to one of the tools.
    pub(crate) fn pointer(self, api: Api, tool: usize) -> String {
        let (history, message) = (api.history(), self.message);
        match self.block {
            Some(block) => format!("/{history}/{message}/content/{block}/tool/definition"),
            None => format!("/{history}/{message}/{}/{tool}", list_of(api)),
        }
    }
}

/// Does the same as [`each`], and also passes the position of the tools.
pub(crate) fn each_at<'a>(
    request: &Node<'a>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    mut take: impl FnMut(Place, &[Node<'a>]),
) -> Result<(), Error> {
    let mut carriers = Carriers::of(request, api, deferred)?;
    for (at, message) in request.items_at(api.history()).iter().enumerate() {
        if !may_hold(message, marks(api)) {
            continue;
        }
        let message = view(message)?;
        if !carriers.brings(&message) {
            continue;
        }
        if api == Api::Anthropic {
            let blocks = message.items_at("content").iter().enumerate();
            blocks.filter_map(|(block, node)| Some((block, added(node)?))).for_each(|(block, definition)| {
                take(Place { message: at, block: Some(block) }, core::slice::from_ref(definition));
            });
        } else {
            let place = Place { message: at, block: None };
            take(place, message.items_at(list_of(api)));
        }
    }
    Ok(())
}

const fn marks(api: Api) -> u8 {
    match api {
        Api::OpenaiResponses => CARRIER,
        Api::GeminiInteractions => DEFERRAL | CALL,
        _ => DEFERRAL,
    }
}

/// Returns the tool names in the results of hosted searches of Gemini Interactions. The functions may belong to servers
/// that the API calls itself, so they are not the client's, but the client's tools must not use their names.
///
/// # Errors
/// `invalid-json` if a step is text that cannot be parsed.
pub(crate) fn names_of_hosted<'a>(request: &Node<'a>, api: Api) -> Result<Vec<Text<'a>>, Error> {
    let mut names = Vec::new();
    if api != Api::GeminiInteractions {
        return Ok(names);
    }
    for step in request.items_at(api.history()) {
        if may_hold(step, DEFERRAL) {
            let step = view(step)?;
            let found = step.get("result").filter(|_| has_type(&step, "tool_search_result")).and_then(Node::as_array);
            names.extend(found.unwrap_or_default().iter().filter_map(tool::name).cloned());
        }
    }
    Ok(names)
}

/// Returns the member of a message that holds the tools that it adds, for APIs other than Anthropic's.
pub(crate) const fn list_of(api: Api) -> &'static str {
    match api {
        Api::GeminiInteractions => "result",
        _ => "tools",
    }
}

/// Returns true if the history adds a tool.
///
/// # Errors
/// The errors of [`each`].
pub(crate) fn any(request: &Node<'_>, api: Api) -> Result<bool, Error> {
    let mut found = false;
    each(request, api, None, |tools| found |= !tools.is_empty())?;
    Ok(found)
}

/// Returns the definition that a block of Anthropic Messages adds.
pub(crate) fn added<'n, 'a>(block: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = block.get("tool").filter(|tool| has_type(block, "tool_addition") && has_type(tool, "tool_definition"));
    tool?.get("definition")
}

/// Calls `visit` with each definition in a message that adds tools.
pub(crate) fn visit_definitions<'a>(message: &mut Node<'a>, api: Api, visit: &mut dyn FnMut(&mut Node<'a>)) {
    let key = if api == Api::Anthropic { "content" } else { list_of(api) };
    message.visit(key, |list| {
        // The visitor never fails.
        let _ = list.visit_children::<core::convert::Infallible>(|_, entry| {
            if api != Api::Anthropic {
                visit(entry);
            } else if added(entry).is_some() {
                entry.visit("tool", |tool| tool.visit("definition", &mut *visit));
            }
            Ok(())
        });
    });
}

/// Finds the messages of a history that add tools. Messages must be passed in order.
pub(crate) struct Carriers<'a> {
    api: Api,
    searches: Searches<'a>,
}

impl<'a> Carriers<'a> {
    pub(crate) fn of(request: &Node<'a>, api: Api, deferred: Option<&DeferredOptions>) -> Result<Self, Error> {
        let mut searches = Searches::default();
        if let Some(tools) = request.get("tools").filter(|_| api == Api::GeminiInteractions) {
            searches = Searches::of(view(tools)?.as_array().unwrap_or_default(), deferred);
        }
        Ok(Carriers { api, searches })
    }

    /// Returns true if a message may add tools.
    pub(crate) fn brings(&mut self, message: &Node<'a>) -> bool {
        let is_system = message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"));
        let list = message.items_at(list_of(self.api));
        let lists_tools = || !list.is_empty();
        match self.api {
            Api::OpenaiChat => is_system && lists_tools(),
            Api::OpenaiResponses => {
                (has_type(message, "additional_tools") || has_type(message, "tool_search_output")) && lists_tools()
            }
            Api::GeminiInteractions => {
                self.searches.note(message);
                self.searches.finds(message)
            }
            Api::Anthropic => is_system && message.get("content").is_some_and(|content| content.as_array().is_some()),
            _ => false,
        }
    }
}

/// Returns the name of the function that replaces a hosted search. If a listed function already has the wanted name,
/// the returned name gets a number.
fn free_name<'a>(list: &[&Node<'a>], wanted: &str) -> Text<'a> {
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

/// The searches that the client runs, and their calls in the history, for APIs in which the result of any tool can look
/// like that of a search: Gemini, Gemini Interactions and Bedrock Converse.
#[derive(Default)]
pub(crate) struct Searches<'a> {
    names: Set<Text<'a>>,
    /// Name of the function that replaces a hosted search.
    function: Option<Text<'a>>,
    /// Names of the called functions, by the ids of the calls, because a result may omit the name.
    called: Map<Text<'a>, Text<'a>>,
}

impl<'a> Searches<'a> {
    /// Returns the search functions of a list and of the options, and the function that replaces a hosted search.
    pub(crate) fn of(list: &[Node<'a>], deferred: Option<&DeferredOptions>) -> Self {
        Searches::among(&list.iter().collect::<Vec<_>>(), deferred)
    }

    /// Does the same as [`Self::of`] for references to entries.
    pub(crate) fn among(list: &[&Node<'a>], deferred: Option<&DeferredOptions>) -> Self {
        let own = list
            .iter()
            .copied()
            .filter(|entry| tool::kind(entry) == Kind::ClientSearch)
            .filter_map(tool::name)
            .cloned();
        let is_hosted = list.iter().any(|entry| tool::kind(entry) == Kind::HostedSearch);
        let function = deferred.filter(|_| is_hosted).map(|options| free_name(list, &options.tool_search_name));
        let listed = deferred.into_iter().flat_map(|options| &options.search_tools);
        let names = own.chain(listed.map(|name| Text::new(name.clone()))).chain(function.clone()).collect();
        Searches { names, function, called: Map::new() }
    }

    /// Returns true if this is the name of the function that replaces a hosted search.
    pub(crate) fn is_function(&self, name: &Text<'a>) -> bool {
        self.function.as_ref() == Some(name)
    }

    /// Records the call in a step, if the step is a call.
    pub(crate) fn note(&mut self, step: &Node<'a>) {
        let text = |key: &str| step.text_at(key).filter(|_| has_type(step, "function_call"));
        if let (Some(id), Some(name)) = (text("id"), text("name")) {
            self.called.insert(id.clone(), name.clone());
        }
    }

    /// Records a call of Bedrock Converse by its id.
    pub(crate) fn note_block(&mut self, block: &Node<'a>) {
        let Some(call) = block.get("toolUse") else { return };
        let text = |key: &str| call.text_at(key);
        if let (Some(id), Some(name)) = (text("toolUseId"), text("name")) {
            self.called.insert(id.clone(), name.clone());
        }
    }

    /// Returns true for a result with references (Bedrock Converse or Gemini) that answers a search. References in the
    /// result of another tool load nothing, because its server may have written them.
    pub(crate) fn is_search_result(&self, block: &Node<'a>) -> bool {
        let name = match block.get("toolResult") {
            Some(result) => result.text_at("toolUseId").and_then(|id| self.called.get(id)),
            None => FUNCTION_RESPONSES.iter().find_map(|key| block.get(key)?.get("name")?.as_text()),
        };
        name.is_some_and(|name| self.names.contains(name)) && has_references(block)
    }

    /// Returns true for a result with functions that answers a search. Functions in the result of another tool load
    /// nothing, because its server may have written them.
    pub(crate) fn finds(&self, step: &Node<'a>) -> bool {
        let result = step.items_at("result");
        if !has_type(step, "function_result") || !result.iter().any(|entry| has_type(entry, "function")) {
            return false;
        }
        let text = |key: &str| step.text_at(key);
        let name = text("call_id").and_then(|id| self.called.get(id)).or_else(|| text("name"));
        name.is_some_and(|name| self.names.contains(name))
    }
}
