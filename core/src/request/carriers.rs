//! Messages that add tools: system messages of Kimi and Anthropic, items of OpenAI Responses, and results of searches.
//! Also the blocks of the history that concern tools: references, additions, removals and search results.
//!
//! Only part of the history comes from the client: tool results come from servers, and calls from the model. Additions
//! and removals therefore take effect only in blocks that come from the client: those of a system message or of the
//! system prompt. A reference can only load tools that the client listed, so it takes effect in a message, in a tool
//! result and in a search result. Blocks nested in other members of a block have no effect.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::tool::{self, has_type, starts_with, type_of, Kind};
use crate::{
    collections::{Map, Set},
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Data, Flags, Node, Text,
    },
    options::{Api, DeferredOptions},
    wire::{self, additions::Additions},
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
    /// The index of the block that adds a tool, in Anthropic Messages, and the pointer to the definition in the block.
    block: Option<(usize, &'static str)>,
}

impl Place {
    /// Returns the pointer to one of the tools.
    pub(crate) fn pointer(self, api: Api, tool: usize) -> String {
        let (history, message) = (wire::of(api).history(), self.message);
        match self.block {
            Some((block, definition)) => format!("/{history}/{message}/content/{block}{definition}"),
            None => format!("/{history}/{message}/{}/{tool}", wire::of(api).additions().list()),
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
        if !carriers.brings(&message) {
            continue;
        }
        if matches!(additions, Additions::Blocks) {
            for (block, node) in message.items_at("content").iter().enumerate() {
                let Some(definition) = added(node) else { continue };
                let place = Place { message: at, block: Some((block, pointer_to_added(node))) };
                take(place, core::slice::from_ref(definition));
            }
        } else {
            let place = Place { message: at, block: None };
            take(place, message.items_at(additions.list()));
        }
    }
    Ok(())
}

const fn flags(additions: Additions) -> Flags {
    match additions {
        Additions::Items(_) => Flags::CARRIER,
        Additions::Results { .. } => Flags::DEFERRAL.and(Flags::CALL),
        _ => Flags::DEFERRAL,
    }
}

/// Returns the tool names in the results of hosted searches of Gemini Interactions. The functions may belong to servers
/// that the API calls itself, so they are not the client's, but the client's tools must not use their names.
///
/// # Errors
/// `invalid-json` if a step is text that cannot be parsed.
pub(crate) fn names_of_hosted<'a>(request: &Node<'a>, api: Api) -> Result<Vec<Text<'a>>, Error> {
    let mut names = Vec::new();
    let Additions::Results { list, hosted } = wire::of(api).additions() else { return Ok(names) };
    for step in request.items_at(wire::of(api).history()) {
        if may_hold(step, Flags::DEFERRAL) {
            let step = view(step)?;
            let found = step.get(list).filter(|_| has_type(&step, hosted)).and_then(Node::as_array);
            names.extend(found.unwrap_or_default().iter().filter_map(tool::name).cloned());
        }
    }
    Ok(names)
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
    let definition = directive_definition(block).filter(|_| directive(block) == Some(Directive::Addition))?;
    // `mcp_tool_reference` and `mcp_toolset_reference` define no tool.
    let is_reference = type_of(definition).is_some_and(|kind| kind.display().ends_with("_reference"));
    (!is_reference).then_some(definition)
}

/// Returns true if the addition contains the definition without a `tool_definition` around it.
pub(crate) fn is_bare_definition(block: &Node<'_>) -> bool {
    !block.get("tool").is_some_and(|tool| has_type(tool, "tool_definition") && tool.get("definition").is_some())
}

/// Returns the pointer from a block to the definition that it adds.
pub(crate) fn pointer_to_added(block: &Node<'_>) -> &'static str {
    if is_bare_definition(block) {
        "/tool"
    } else {
        "/tool/definition"
    }
}

/// Edits the definition that a block of Anthropic Messages adds.
pub(crate) fn edit_added<'a, R>(block: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
    if is_bare_definition(block) {
        return block.visit("tool", edit);
    }
    block.visit("tool", |tool| tool.visit("definition", edit)).flatten()
}

/// Calls `visit` with each definition in a message that adds tools.
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

/// Finds the messages of a history that add tools. Messages must be passed in order.
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

    /// Returns true if a message may add tools.
    pub(crate) fn brings(&mut self, message: &Node<'a>) -> bool {
        let lists_tools = || !message.items_at(self.additions.list()).is_empty();
        match self.additions {
            Additions::System => is_system(message) && lists_tools(),
            Additions::Items(kinds) => kinds.iter().any(|kind| has_type(message, kind)) && lists_tools(),
            Additions::Results { .. } => {
                self.searches.note(message);
                self.searches.finds(message)
            }
            Additions::Blocks => {
                is_system(message) && message.get("content").is_some_and(|content| content.as_array().is_some())
            }
            Additions::None | Additions::Listed => false,
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

    /// Returns true for the result of a search that contains references (Bedrock Converse or Gemini). References in the
    /// result of another tool load nothing, because its server may have written them.
    pub(crate) fn is_search_result(&self, block: &Node<'a>) -> bool {
        let name = match block.get("toolResult") {
            Some(result) => result.text_at("toolUseId").and_then(|id| self.called.get(id)),
            None => FUNCTION_RESPONSES.iter().find_map(|key| block.get(key)?.get("name")?.as_text()),
        };
        name.is_some_and(|name| self.names.contains(name)) && has_references(block)
    }

    /// Returns true for the result of a search that contains functions. Functions in the result of another tool load
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

/// Returns true for a system message, which contains the client's instructions.
pub(crate) fn is_system(message: &Node<'_>) -> bool {
    message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"))
}

/// A change of the tool list in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Addition,
    Removal,
}

/// Returns whether a block adds or removes a tool; `None` for any other block.
pub(crate) fn directive(node: &Node<'_>) -> Option<Directive> {
    let name = type_of(node)?;
    if name.is("tool_addition") {
        Some(Directive::Addition)
    } else if name.is("tool_removal") {
        Some(Directive::Removal)
    } else {
        None
    }
}

/// Returns true if a block concerns tools: a reference, a directive, a search, or a result that contains one of them. A
/// call with `caller` also counts, because it belongs to a search.
pub(crate) fn concerns_tools(block: &Node<'_>) -> bool {
    let is = |name| has_type(block, name);
    let mentions = |node: &Node<'_>| is_mention(node) || is_typed_outcome(node);
    mentions(block)
        || is("server_tool_use")
        || is("tool_search_tool_result")
        || is("tool_use") && block.get("caller").is_some()
        || is("tool_result") && block.get("content").is_some_and(|content| any_block(content, mentions))
}

/// Returns true if `is` holds for any block of a content, or if the content is a search outcome instead of blocks.
pub(crate) fn any_block(content: &Node<'_>, is: impl Fn(&Node<'_>) -> bool) -> bool {
    match content.as_array() {
        Some(blocks) => blocks.iter().any(is),
        None => is_search_outcome(content) || is(content),
    }
}

/// Returns the directive in a block of Bedrock Converse, and the name of the tool that it adds or removes.
///
/// Source: botocore 1.43.127, `bedrock-runtime`: `ToolAdditionBlock`, `ToolRemovalBlock`, `ToolReference`.
pub(crate) fn converse_change<'a>(block: &Node<'a>) -> Option<(Directive, Text<'a>)> {
    let found = [("toolAddition", Directive::Addition), ("toolRemoval", Directive::Removal)];
    let (change, block) = found.into_iter().find_map(|(key, change)| Some((change, block.get(key)?)))?;
    Some((change, block.get("tool").map(reference_name).unwrap_or_else(|| Text::new(""))))
}

/// Returns the blocks of a message of Bedrock Converse or of Gemini `generateContent`. A Gemini message may have a
/// single part instead of a list.
pub(crate) fn of_message<'n, 'a>(message: &'n Node<'a>) -> &'n [Node<'a>] {
    let Some(blocks) = ["content", "parts"].iter().find_map(|key| message.get(key)) else { return &[] };
    match blocks.data() {
        Data::Object(_) => core::slice::from_ref(blocks),
        _ => blocks.as_array().unwrap_or_default(),
    }
}

/// Members of a Gemini part that hold the result of a call.
pub(crate) const FUNCTION_RESPONSES: [&str; 2] = ["functionResponse", "function_response"];
/// Member of a JSON result that holds references.
pub(crate) const REFERENCES: &str = "tool_references";

/// Returns the references in a JSON result.
pub(crate) fn references_in<'n, 'a>(json: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    json.get(REFERENCES)?.as_array()
}

/// Returns true if a result of Bedrock Converse or of Gemini `generateContent` has references. These results are JSON,
/// in which `answer_tool_search` writes references as a member.
pub(crate) fn has_references(block: &Node<'_>) -> bool {
    if let Some(result) = block.get("toolResult") {
        let content = result.items_at("content");
        return content.iter().any(|block| block.get("json").and_then(references_in).is_some());
    }
    FUNCTION_RESPONSES.iter().any(|key| block.get(key).and_then(|it| references_in(it.get("response")?)).is_some())
}

/// Returns true if a block of Bedrock Converse adds or removes a tool of a server that the API calls itself.
pub(crate) fn is_of_server(block: &Node<'_>) -> bool {
    let change = ["toolAddition", "toolRemoval"].into_iter().find_map(|key| block.get(key));
    change.and_then(|change| change.get("tool")?.get("serverName")).is_some_and(|server| !server.is_null())
}

/// Returns true for a `tool_reference`.
pub(crate) fn is_reference(node: &Node<'_>) -> bool {
    has_type(node, "tool_reference")
}

/// Returns true for a reference or a directive.
pub(crate) fn is_mention(node: &Node<'_>) -> bool {
    is_reference(node) || directive(node).is_some()
}

/// Returns true for the outcome of a search (tools or an error), which is an object in place of a list of blocks.
pub(crate) fn is_search_outcome(node: &Node<'_>) -> bool {
    node.get("tool_references").is_some() || is_typed_outcome(node)
}

/// Returns true if the `type` identifies the content of a search result.
pub(crate) fn is_typed_outcome(node: &Node<'_>) -> bool {
    type_of(node).is_some_and(|name| starts_with(name, "tool_search_tool_") && !name.is("tool_search_tool_result"))
}

/// Returns the name in a reference, or an empty name.
pub(crate) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}

/// Returns the name of the tool that a directive adds or removes.
pub(crate) fn directive_name<'a>(node: &Node<'a>) -> Text<'a> {
    match directive_definition(node).or_else(|| node.get("tool")) {
        Some(tool) => tool::name(tool).cloned().unwrap_or_else(|| reference_name(tool)),
        None => reference_name(node),
    }
}

/// Returns the definition in an addition: the content of a `tool_definition` (the API's form), or the bare definition.
/// Source: Anthropic's documentation, mid-conversation tool changes, read 2026-09-22.
pub(crate) fn directive_definition<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = node.get("tool")?;
    match tool.get("definition") {
        Some(definition) if has_type(tool, "tool_definition") => Some(definition),
        _ => Some(tool).filter(|tool| is_definition(tool)),
    }
}

/// Returns true if the `tool` of a directive is a definition rather than a reference.
fn is_definition(tool: &Node<'_>) -> bool {
    !is_reference(tool)
        && tool
            .as_object()
            .is_some_and(|object| object.iter().any(|member| !member.key.is("name") && !member.key.is("tool_name")))
}

/// Returns the error for tools in a message whose role does not allow them.
pub(crate) fn brings_tools(pointer: &str) -> Error {
    let message = "expected tools only in a `system` message, found them in another message";
    Error::new(Code::InvalidRequest, format!("{pointer}/tools"), message)
}
