//! Events of a `custom_tool_call`, made from events of a `function_call`.

use alloc::string::String;

use crate::{json::Node, wire::events::InputEvents};

pub(super) static INPUTS: InputEvents = InputEvents { piece, whole };

fn piece(event: &mut Node<'_>, text: String) {
    ["arguments", "input", "name", "item"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("type", Node::literal("response.custom_tool_call_input.delta"));
    event.set("delta", Node::string(text));
}

fn whole(event: &mut Node<'_>, input: String) {
    event.set("type", Node::literal("response.custom_tool_call_input.done"));
    ["arguments", "name"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("input", Node::string(input));
}
