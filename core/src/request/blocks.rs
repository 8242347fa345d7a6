//! Blocks of the history that concern tools: references, additions, removals and search results.
//!
//! Only part of the history comes from the client: tool results come from servers, and calls from the model. Additions
//! and removals therefore only count where the API accepts them from the client: as blocks of a system message or of
//! the system prompt. A reference can only load tools that the client listed, so it counts as a block of a message, of
//! a tool result or of a search result. Blocks nested in other members of a block never count.

use alloc::format;

use super::tool::{self, has_type, starts_with, type_of};
use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
};

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

/// Returns the kind of directive that a block is.
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

/// Returns true for the outcome of a search (tools or an error) that replaces a list of blocks.
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
