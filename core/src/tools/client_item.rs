//! Items of OpenAI Responses as the client expects them, made from functions that replace a `custom` tool or a search.

use alloc::string::String;

use super::custom_input;
use crate::{
    json::{self, Node},
    request::report::CallKind,
};

/// The `type` of each kind of call in OpenAI Responses.
pub(super) const FUNCTION_CALL: &str = "function_call";
pub(super) const CUSTOM_CALL: &str = "custom_tool_call";
pub(super) const SEARCH_CALL: &str = "tool_search_call";

/// Converts a `function_call` of OpenAI Responses to the item that its client expects. Its arguments are already
/// restored.
pub(super) fn retype(item: &mut Node<'_>, kind: CallKind) {
    if kind == CallKind::Function || !item.get("type").is_some_and(|name| name.is_text(FUNCTION_CALL)) {
        return;
    }
    let arguments = item.visit("arguments", core::mem::take).unwrap_or_default();
    item.remove("arguments");
    if kind == CallKind::Custom {
        item.set("type", Node::literal(CUSTOM_CALL));
        item.set("input", Node::string(input(&arguments)));
    } else {
        as_search(item, arguments);
    }
}

/// Converts an item to a search that the client runs.
pub(super) fn as_search<'a>(item: &mut Node<'a>, arguments: Node<'a>) {
    item.set("type", Node::literal(SEARCH_CALL));
    item.remove("name");
    item.set("execution", Node::literal("client"));
    if item.get("status").is_none() {
        item.set("status", Node::literal("completed"));
    }
    item.set("arguments", as_value(arguments));
}

/// Returns the input of a `custom` tool.
pub(super) fn input(arguments: &Node<'_>) -> String {
    match arguments.as_text() {
        Some(text) => custom_input::of_text(text),
        None if arguments.is_null() => String::new(),
        None => custom_input::of_value(arguments),
    }
}

/// Returns arguments as a value: an object, or what the model wrote instead.
pub(super) fn as_value(arguments: Node<'_>) -> Node<'_> {
    let Some(text) = arguments.as_text() else {
        return if arguments.is_null() { Node::empty_object() } else { arguments };
    };
    let text = text.display();
    if text.trim().is_empty() {
        return Node::empty_object();
    }
    // Invalid JSON stays unchanged: the tool's server reports the model's mistake.
    match json::read(&text).map(|value| value.detached()) {
        Ok(value) => value,
        Err(_) => arguments.clone(),
    }
}
