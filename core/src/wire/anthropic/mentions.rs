//! The blocks of Anthropic Messages that concern tools: references, additions, removals and searches. Clients also send
//! these blocks to other APIs.

use crate::{
    json::{Node, Text},
    request::tool::{self, has_type, starts_with, type_of, CACHE},
    wire::additions::reference_name,
    wire::additions::ToolChangeKind,
    wire::turns::FAILED,
};

pub(crate) const REFERENCE: &str = "tool_reference";

pub(crate) fn tool_change_kind(node: &Node<'_>) -> Option<ToolChangeKind> {
    let name = type_of(node)?;
    if name.is("tool_addition") {
        Some(ToolChangeKind::Addition)
    } else if name.is("tool_removal") {
        Some(ToolChangeKind::Removal)
    } else {
        None
    }
}

/// Returns true for a reference, an addition, a removal, a search, or a result that contains such a block. Also returns
/// true for a call with `caller`, which belongs to a search.
pub(crate) fn concerns_tools(block: &Node<'_>) -> bool {
    let is = |name| has_type(block, name);
    let mentions = |node: &Node<'_>| is_tool_ref(node) || is_typed_outcome(node);
    mentions(block)
        || is("server_tool_use")
        || is("tool_search_tool_result")
        || is("tool_use") && block.get("caller").is_some()
        || is("tool_result") && block.get("content").is_some_and(|content| any_block(content, mentions))
}

pub(crate) fn any_block(content: &Node<'_>, is: impl Fn(&Node<'_>) -> bool) -> bool {
    match content.as_array() {
        Some(blocks) => blocks.iter().any(is),
        None => is_search_outcome(content) || is(content),
    }
}

pub(crate) fn is_reference(node: &Node<'_>) -> bool {
    has_type(node, REFERENCE)
}

pub(crate) fn is_tool_ref(node: &Node<'_>) -> bool {
    is_reference(node) || tool_change_kind(node).is_some()
}

/// Returns true for the outcome of a search: an object with tools or an error, not a list of blocks.
pub(crate) fn is_search_outcome(node: &Node<'_>) -> bool {
    node.get("tool_references").is_some() || is_typed_outcome(node)
}

pub(crate) fn is_typed_outcome(node: &Node<'_>) -> bool {
    type_of(node).is_some_and(|name| starts_with(name, "tool_search_tool_") && !name.is("tool_search_tool_result"))
}

pub(crate) fn changed_tool_name<'a>(node: &Node<'a>) -> Text<'a> {
    match changed_definition(node).or_else(|| node.get("tool")) {
        Some(tool) => tool::name(tool).cloned().unwrap_or_else(|| reference_name(tool)),
        None => reference_name(node),
    }
}

/// Returns the definition in an addition: the content of a `tool_definition`, as in the API, or `tool` itself.
///
/// Source: Anthropic's documentation, mid-conversation tool changes, read 2026-09-22.
pub(crate) fn changed_definition<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let tool = node.get("tool")?;
    match tool.get("definition") {
        Some(definition) if has_type(tool, "tool_definition") => Some(definition),
        _ => Some(tool).filter(|tool| is_definition(tool)),
    }
}

fn is_definition(tool: &Node<'_>) -> bool {
    !is_reference(tool)
        && tool
            .as_object()
            .is_some_and(|object| object.iter().any(|member| !member.key.is("name") && !member.key.is("tool_name")))
}

pub(crate) fn added<'n, 'a>(block: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let definition = changed_definition(block).filter(|_| tool_change_kind(block) == Some(ToolChangeKind::Addition))?;
    // `mcp_tool_reference` and `mcp_toolset_reference` define no tool.
    let is_reference = type_of(definition).is_some_and(|kind| kind.display().ends_with("_reference"));
    (!is_reference).then_some(definition)
}

pub(crate) fn is_bare_definition(block: &Node<'_>) -> bool {
    !block.get("tool").is_some_and(|tool| has_type(tool, "tool_definition") && tool.get("definition").is_some())
}

pub(crate) fn pointer_to_added(block: &Node<'_>) -> &'static str {
    if is_bare_definition(block) {
        "/tool"
    } else {
        "/tool/definition"
    }
}

pub(crate) fn edit_added<'a, R>(block: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
    if is_bare_definition(block) {
        return block.visit("tool", edit);
    }
    block.visit("tool", |tool| tool.visit("definition", edit)).flatten()
}

pub(crate) fn as_client_call<'a>(search: &mut Node<'a>, name: Option<Text<'a>>) {
    let Some(object) = search.as_object_mut() else { return };
    object.set("type", Node::literal("tool_use"));
    if let Some(name) = name {
        object.set("name", Node::string(name));
    }
}

/// Returns a result without content, which is written later.
pub(crate) fn client_result<'a>(search: Option<&Node<'a>>, is_error: bool) -> Node<'a> {
    let member = |key: &str| search.and_then(|search| search.get(key)).cloned();
    let mut result = Node::record([("type", Node::literal("tool_result"))]);
    if let Some(object) = result.as_object_mut() {
        object.set("tool_use_id", member("tool_use_id").unwrap_or_default());
        if is_error {
            object.set(FAILED, Node::bool(true));
        }
        object.set("content", Node::default());
        if let Some(cache_control) = member(CACHE) {
            object.set(CACHE, cache_control);
        }
    }
    result
}

pub(crate) fn reference<'a>(name: Text<'a>) -> Node<'a> {
    Node::record([("type", Node::literal(REFERENCE)), ("tool_name", Node::string(name))])
}
