//! The blocks with which a history speaks of tools: references, directives, and what searches found.
//!
//! Not everything in a history is the client's own word. Results of tools are whatever a server sent, and calls are the
//! model's. So additions and removals count where the API takes them from the client: as blocks of a system message, or
//! of the system prompt. A reference only loads what the client has listed; it counts as a block of a message, and of a
//! tool's or a search's result. Nothing counts that stands below another member of a block.

use alloc::format;

use super::tool::{self, has_type, starts_with, type_of};
use crate::{
    error::{Code, Error},
    json::{Node, Text},
};

/// Whether a message is the client's word about the conversation: a system message.
pub(crate) fn is_system(message: &Node<'_>) -> bool {
    message.get("role").is_some_and(|role| role.is_text("system") || role.is_text("developer"))
}

/// A change of the tool list in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    Addition,
    Removal,
}

/// Which directive a block is.
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

/// Whether a block has to do with the tools that there are: one of these, a search, or a result that holds one of
/// these. A call's `caller` belongs to searches, too.
pub(crate) fn concerns_tools(block: &Node<'_>) -> bool {
    let is = |name| has_type(block, name);
    let speaks = |node: &Node<'_>| is_mention(node) || is_typed_outcome(node);
    speaks(block)
        || is("server_tool_use")
        || is("tool_search_tool_result")
        || is("tool_use") && block.get("caller").is_some()
        || is("tool_result") && block.get("content").is_some_and(|content| any_block(content, speaks))
}

/// Whether any block of a content is of some kind, or a search result stands in its place.
pub(crate) fn any_block(content: &Node<'_>, is: impl Fn(&Node<'_>) -> bool) -> bool {
    match content.as_array() {
        Some(blocks) => blocks.iter().any(is),
        None => is_search_outcome(content) || is(content),
    }
}

/// Is it a `tool_reference`?
pub(crate) fn is_reference(node: &Node<'_>) -> bool {
    has_type(node, "tool_reference")
}

/// Is it a reference or a directive?
pub(crate) fn is_mention(node: &Node<'_>) -> bool {
    is_reference(node) || directive(node).is_some()
}

/// Is it what a search found, or why it failed, in the place of blocks?
pub(crate) fn is_search_outcome(node: &Node<'_>) -> bool {
    node.get("tool_references").is_some() || is_typed_outcome(node)
}

/// Is it tagged as the content of a search result by its `type`?
pub(crate) fn is_typed_outcome(node: &Node<'_>) -> bool {
    type_of(node).is_some_and(|name| starts_with(name, "tool_search_tool_") && !name.is("tool_search_tool_result"))
}

/// The name a reference refers to; empty if it has none.
pub(crate) fn reference_name<'a>(node: &Node<'a>) -> Text<'a> {
    let named = ["tool_name", "name"].iter().find_map(|key| node.get(key)?.as_text());
    named.or_else(|| node.as_text()).cloned().unwrap_or_else(|| Text::new(""))
}

/// The name a directive is about.
pub(crate) fn directive_name<'a>(node: &Node<'a>) -> Text<'a> {
    match directive_definition(node).or_else(|| node.get("tool")) {
        Some(tool) => tool::name(tool).cloned().unwrap_or_else(|| reference_name(tool)),
        None => reference_name(node),
    }
}

/// The definition that an addition brings, if it brings one: in a `tool_definition`, as the API has it, or bare.
/// Source: Anthropic's documentation, mid-conversation tool changes, read 2026-09-22.
pub(crate) fn directive_definition<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = node.get("tool")?;
    match tool.get("definition") {
        Some(definition) if has_type(tool, "tool_definition") => Some(definition),
        _ => Some(tool).filter(|tool| is_definition(tool)),
    }
}

/// Is a directive's `tool` a definition, and not a reference to one?
fn is_definition(tool: &Node<'_>) -> bool {
    !is_reference(tool)
        && tool
            .as_object()
            .is_some_and(|object| object.iter().any(|member| !member.key.is("name") && !member.key.is("tool_name")))
}

/// The error of tools where no API takes them.
pub(crate) fn brings_tools(pointer: &str) -> Error {
    let message = "expected tools in a `system` message alone, found them in another one";
    Error::new(Code::InvalidRequest, format!("{pointer}/tools"), message)
}
