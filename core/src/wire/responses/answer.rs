//! A message that replaces a call with the structured output.

use alloc::{string::String, vec::Vec};

use crate::{
    json::{Node, Text},
    wire::{
        answers::{has_only_text, AnswerText, Conversion, TextEvents},
        units::has_type,
    },
};

pub(super) const ANSWERS: AnswerText = AnswerText {
    conversion: Conversion::Unit(as_message),
    is_text: |item| has_type(item, "message") && has_only_text(item),
    stop_reasons: &[],
    repeat: Some(repeat),
    events: Some(TextEvents { part_begin, piece, whole, bare: &["arguments", "name"] }),
};

/// Prefix of the ids of messages that were calls. The API requires `msg_`. In a later request, the rest of the prefix
/// identifies the messages that the API does not know.
pub(crate) const ANSWER_ID: &str = "msg_fc_";

fn message_id(id: &str) -> String {
    String::from(ANSWER_ID) + id.strip_prefix("fc_").unwrap_or(id)
}

fn as_message(item: &mut Node<'_>, text: Option<String>) {
    ["arguments", "name", "call_id"].into_iter().for_each(|key| drop(item.remove(key)));
    item.set("type", Node::literal("message"));
    if let Some(id) = item.text_at("id").and_then(Text::value).map(|id| message_id(&id)) {
        item.set("id", Node::string(id));
    }
    item.set("role", Node::literal("assistant"));
    item.set("content", Node::array(text.map(text_part).into_iter().collect()));
}

fn text_part(text: String) -> Node<'static> {
    Node::record([
        ("type", Node::literal("output_text")),
        ("text", Node::string(text)),
        ("annotations", Node::array([].into())),
        ("logprobs", Node::array([].into())),
    ])
}

/// Removes the function from the tools and the choice that the reply repeats. Also sets `output_text`, which some
/// servers add.
fn repeat(reply: &mut Node<'_>, function: &str, has_answer: bool) {
    let is_function = |node: &Node<'_>| node.get("name").is_some_and(|name| name.is_text(function));
    let is_repeated = reply.array_at("tools").is_some_and(|tools| tools.iter().any(is_function));
    if reply.get("output").is_none() {
        return;
    }
    let retain = |holder: &mut Node<'_>| {
        holder.visit("tools", |tools| tools.as_array_mut().map(|tools| tools.retain(|tool| !is_function(tool))));
    };
    if is_repeated {
        retain(reply);
        let allows = |choice: &Node<'_>| choice.get("tools").is_some_and(|tools| tools.as_array().is_some());
        if reply.get("tool_choice").is_some_and(allows) {
            reply.visit("tool_choice", |choice| {
                retain(choice);
                choice.set("mode", Node::literal("auto"));
            });
        } else if reply.get("tool_choice").is_some_and(|choice| is_function(choice) || choice.is_text("required")) {
            // The client did not send the choice that forces the function.
            reply.set("tool_choice", Node::literal("auto"));
        }
    }
    if has_answer && reply.get("output_text").is_some_and(|text| text.as_text().is_some()) {
        let answer = reply.items_at("output").iter().find(|item| has_type(item, "message"));
        let text = answer.and_then(|message| message.array_at("content")?.first()?.get("text")).cloned();
        text.into_iter().for_each(|text| reply.set("output_text", text));
    }
}

fn part_begin(event: &Node<'_>) -> Node<'static> {
    part_event(event, "response.content_part.added", String::new())
}

fn piece(event: &mut Node<'_>, piece: Option<Node<'static>>) {
    piece.into_iter().for_each(|piece| event.set("delta", piece));
    event.set("type", Node::literal("response.output_text.delta"));
    set_message(event);
    event.set("content_index", Node::count(0));
    event.set("logprobs", Node::array(Vec::new()));
}

fn whole(event: &mut Node<'_>, text: String) -> Node<'static> {
    let part = part_event(event, "response.content_part.done", text.clone());
    event.set("type", Node::literal("response.output_text.done"));
    set_message(event);
    ["arguments", "name"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("content_index", Node::count(0));
    event.set("text", Node::string(text));
    event.set("logprobs", Node::array(Vec::new()));
    part
}

fn set_message(event: &mut Node<'_>) {
    let id = event.text_at("item_id").and_then(Text::value).map(|id| message_id(&id));
    if let Some(id) = id {
        event.set("item_id", Node::string(id));
    }
}

fn part_event(event: &Node<'_>, kind: &'static str, text: String) -> Node<'static> {
    let mut part = Node::record([("type", Node::literal(kind))]);
    if let Some(id) = event.get("item").and_then(|item| item.get("id")).map(Node::detached) {
        part.set("item_id", id);
    } else if let Some(id) = event.text_at("item_id").and_then(Text::value) {
        part.set("item_id", Node::string(message_id(&id)));
    }
    for key in ["output_index", "sequence_number"] {
        if let Some(value) = event.get(key) {
            part.set(key, value.detached());
        }
    }
    part.set("content_index", Node::count(0));
    part.set("part", text_part(text));
    part
}
