//! Converts replies to a request whose response format was sent as a function. The first call to the function becomes
//! the text of the answer, and the reply ends like a reply with text. Other text is dropped, because the client reads
//! all text of a reply as its answer.
//!
//! Calls are restored before this conversion, so the function has its original name, and the arguments match the
//! caller's schema.

use alloc::{string::String, vec::Vec};

use super::{
    answer::Answer,
    answer_block::{in_block, is_answer_block, is_call_of, is_not_blank, is_text, text_part, Calls, Dropped, Place},
    answer_candidates,
    call_sites::each,
};
use crate::{
    json::{Data, Node, Text},
    request::tool::has_type,
};

/// Members with the reason why a reply ended, each with its value for calls and its value for text.
const ENDS: [(&str, &str, &str); 7] = [
    ("finish_reason", "tool_calls", "stop"),
    ("finish_reason", "TOOL_CALL", "COMPLETE"),
    ("finish_reason", "tool_call", "stop"),
    ("stop_reason", "tool_use", "end_turn"),
    ("stopReason", "tool_use", "end_turn"),
    ("done_reason", "tool_calls", "stop"),
    ("status", "requires_action", "completed"),
];

/// Prefix of the ids of messages that were calls in OpenAI Responses. The API requires `msg_`. The rest of the prefix
/// shows, in a later request, which messages the API does not know.
pub(super) const ANSWER_ID: &str = "msg_fc_";

/// Converts the calls to the function to text, in a whole reply or in an event with complete calls.
pub(super) fn in_reply(reply: &mut Node<'_>, answer: &Answer) -> Calls {
    if let Some(calls) = answer_candidates::in_reply(reply, answer) {
        return calls;
    }
    let mut calls = Calls::default();
    if matches!(reply.data(), Data::Array(_)) {
        // The visitor never fails.
        let _ = reply.visit_children::<()>(|_, one| {
            calls.add(in_reply(one, answer));
            Ok(())
        });
        return calls;
    }
    calls.add(in_message(reply, answer, false));
    each(reply, "choices", &mut |choice| {
        let own = choice.visit("message", |message| in_message(message, answer, false)).unwrap_or_default();
        set_end(choice, own);
        calls.add(own);
    });
    // Cohere's own API has a list of parts, and Ollama's API has arguments that are values.
    let has_parts = reply.get("finish_reason").is_some();
    let place = if reply.get("done").is_some() { Place::Value } else { Place::Text };
    calls.add(reply.visit("message", |message| in_message_at(message, answer, has_parts, place)).unwrap_or_default());
    calls.add(reply.visit("step", |step| in_item(step, answer, Item::Step)).unwrap_or_default());
    for (list, kind) in [("output", Item::Response), ("steps", Item::Step)] {
        let own = in_items(reply, list, answer, kind);
        if own.has_answer {
            set_output_text(reply, list);
        }
        calls.add(own);
    }
    let of_converse = reply.visit("output", |output| output.visit("message", |one| in_message(one, answer, false)));
    calls.add(of_converse.flatten().unwrap_or_default());
    hide_function(reply, answer);
    for inner in ["response", "interaction"] {
        reply.visit(inner, |inner| in_reply(inner, answer));
    }
    set_end(reply, calls);
    calls
}

/// Removes the function from the tools and the choice that a reply of OpenAI Responses repeats from the request.
fn hide_function(reply: &mut Node<'_>, answer: &Answer) {
    let names = |node: &Node<'_>| {
        node.get("name").is_some_and(|own| answer.tool.as_deref().is_some_and(|name| own.is_text(name)))
    };
    let is_repeated = reply.array_at("tools").is_some_and(|tools| tools.iter().any(names));
    if !is_repeated || reply.get("output").is_none() {
        return;
    }
    reply.visit("tools", |tools| tools.as_array_mut().map(|tools| tools.retain(|tool| !names(tool))));
    let allows = |choice: &Node<'_>| choice.get("tools").is_some_and(|tools| tools.as_array().is_some());
    if reply.get("tool_choice").is_some_and(allows) {
        reply.visit("tool_choice", |choice| {
            choice.visit("tools", |tools| tools.as_array_mut().map(|tools| tools.retain(|tool| !names(tool))));
            choice.set("mode", Node::literal("auto"));
        });
    } else if reply.get("tool_choice").is_some_and(|choice| names(choice) || choice.is_text("required")) {
        // The client did not send the choice that forces the function.
        reply.set("tool_choice", Node::literal("auto"));
    }
}

/// Changes the reason why a reply ended, if its only calls were the answer.
pub(super) fn set_end(holder: &mut Node<'_>, calls: Calls) {
    if !calls.ends_with_answer() {
        return;
    }
    for (key, of_calls, of_text) in ENDS {
        if holder.get(key).is_some_and(|word| word.is_text(of_calls)) {
            holder.set(key, Node::literal(of_text));
        }
    }
}

/// Converts the calls of a message, or of a single item or step. `has_parts` is true if the content is a list of parts.
pub(super) fn in_message(message: &mut Node<'_>, answer: &Answer, has_parts: bool) -> Calls {
    in_message_at(message, answer, has_parts, Place::Text)
}

fn in_message_at(message: &mut Node<'_>, answer: &Answer, has_parts: bool, place: Place) -> Calls {
    let mut calls = in_tool_calls(message, answer, (has_parts, place));
    for list in ["content", "parts"] {
        calls.add(in_blocks(message, list, answer, calls.has_answer));
    }
    // A call of Responses has a `call_id`. A step of Interactions has only an `id`.
    let is_step = message.get("call_id").is_none() && message.get("id").is_some();
    calls.add(in_item(message, answer, if is_step { Item::Step } else { Item::Response }));
    calls
}

/// Converts the `tool_calls` of a message: the arguments of the first call to the function become its content.
fn in_tool_calls(message: &mut Node<'_>, answer: &Answer, (has_parts, place): (bool, Place)) -> Calls {
    let list = message.items_at("tool_calls");
    let is_answer = |call: &Node<'_>| call.get("function").is_some_and(|function| is_call_of(function, answer));
    let first = list.iter().find(|call| is_answer(call));
    let mut calls = Calls { has_answer: first.is_some(), has_others: !list.iter().all(is_answer), ..Calls::default() };
    let Some(first) = first else { return calls };
    calls.dropped.calls = list.iter().filter(|call| is_answer(call)).nth(1).is_some();
    calls.dropped.text = is_not_blank(message.get("content")) || has_text(message.get("content"));
    let arguments = first.get("function").and_then(|function| function.get("arguments"));
    let text = answer.text_of(arguments, place);
    if calls.has_others {
        message.visit("tool_calls", |list| list.as_array_mut().map(|list| list.retain(|call| !is_answer(call))));
    } else {
        message.remove("tool_calls");
    }
    set_text(message, text, has_parts);
    calls
}

/// Returns true if a list of parts has text that is not blank.
fn has_text(parts: Option<&Node<'_>>) -> bool {
    let parts = parts.and_then(Node::as_array).unwrap_or_default();
    parts.iter().any(|part| is_text(part) && is_not_blank(part.get("text")))
}

/// Sets the text of a message of Chat Completions, Cohere or Ollama. Parts that are not text are kept.
fn set_text(message: &mut Node<'_>, text: String, has_parts: bool) {
    let is_list = message.get("content").is_some_and(|content| content.as_array().is_some());
    if !(is_list || has_parts && message.get("content").is_none_or(Node::is_null)) {
        message.set("content", Node::string(text));
        return;
    }
    if !is_list {
        message.set("content", Node::array([].into()));
    }
    message.visit("content", |parts| {
        parts.as_array_mut().map(|parts| {
            parts.retain(|part| !is_text(part));
            parts.push(text_part("text", text));
        })
    });
}

/// Converts the first call to the function in a list of blocks, unless the message already has an answer. Removes
/// further calls to the function and other text.
fn in_blocks(message: &mut Node<'_>, list: &str, answer: &Answer, is_answered: bool) -> Calls {
    if is_answered {
        return Calls::default();
    }
    let (mut calls, mut is_left_out, mut dropped) = (Calls::default(), Vec::new(), Dropped::default());
    each(message, list, &mut |block| {
        let was_answered = calls.has_answer;
        let own = if was_answered && is_answer_block(block, answer) { None } else { Some(in_block(block, answer)) };
        calls.add(own.unwrap_or_default());
        let is_beside = own == Some(Calls::default()) && is_text(block);
        dropped.calls |= own.is_none();
        dropped.text |= is_beside && is_not_blank(block.get("text"));
        is_left_out.push(own.is_none() || is_beside);
    });
    if calls.has_answer {
        calls.dropped = dropped;
        let mut is_left_out = is_left_out.into_iter();
        message.visit(list, |list| list.as_array_mut().map(|list| list.retain(|_| is_left_out.next() != Some(true))));
    }
    calls
}

/// Kind of a `function_call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An item of OpenAI Responses, whose arguments are text.
    Response,
    /// A step of Gemini Interactions, whose arguments are a value.
    Step,
}

/// Converts the first call to the function in a list of items or steps. Removes further calls to the function and other
/// text.
fn in_items(reply: &mut Node<'_>, list: &str, answer: &Answer, kind: Item) -> Calls {
    let (mut calls, mut is_left_out, mut dropped) = (Calls::default(), Vec::new(), Dropped::default());
    each(reply, list, &mut |item| {
        let is_second = calls.has_answer && has_type(item, "function_call") && is_call_of(item, answer);
        let own = if is_second { Calls::default() } else { in_item(item, answer, kind) };
        calls.add(own);
        let is_beside = own == Calls::default() && is_text_item(item);
        dropped.calls |= is_second;
        dropped.text |= is_beside && has_text(item.get("content"));
        is_left_out.push(is_second || is_beside);
    });
    if calls.has_answer {
        calls.dropped = dropped;
        let mut is_left_out = is_left_out.into_iter();
        reply.visit(list, |list| list.as_array_mut().map(|list| list.retain(|_| is_left_out.next() != Some(true))));
    }
    calls
}

/// Returns true for an item of Responses or a step of Interactions that contains only text.
pub(super) fn is_text_item(item: &Node<'_>) -> bool {
    (has_type(item, "message") || has_type(item, "model_output"))
        && item.get("content").is_none_or(|content| content.as_array().is_some_and(|parts| parts.iter().all(is_text)))
}

/// Converts an item or a step, if it is a call to the function.
pub(super) fn in_item(item: &mut Node<'_>, answer: &Answer, kind: Item) -> Calls {
    if !has_type(item, "function_call") {
        return Calls::default();
    }
    if !is_call_of(item, answer) {
        return Calls::OTHER;
    }
    let place = if kind == Item::Step { Place::Value } else { Place::Text };
    let text = answer.text_of(item.get("arguments"), place);
    as_item(item, Some(text), kind);
    Calls::ANSWER
}

/// Converts an item of Responses to a message, or a step of Interactions to model output. `text` is `None` for an item
/// that has just started.
pub(super) fn as_item(item: &mut Node<'_>, text: Option<String>, kind: Item) {
    ["arguments", "name", "call_id"].into_iter().for_each(|key| drop(item.remove(key)));
    if kind == Item::Step {
        ["id", "signature"].into_iter().for_each(|key| drop(item.remove(key)));
        item.set("type", Node::literal("model_output"));
        item.set("content", Node::array(text.map(|text| text_part("text", text)).into_iter().collect()));
        return;
    }
    item.set("type", Node::literal("message"));
    if let Some(id) = item.text_at("id").and_then(Text::value).map(|id| message_id(&id)) {
        item.set("id", Node::string(id));
    }
    item.set("role", Node::literal("assistant"));
    item.set("content", Node::array(text.map(output_text).into_iter().collect()));
}

/// Sets `output_text`, which some servers of Responses add to a whole reply.
fn set_output_text(reply: &mut Node<'_>, list: &str) {
    if reply.get("output_text").is_none_or(|text| text.as_text().is_none()) {
        return;
    }
    let items = reply.items_at(list);
    let message = items.iter().find(|item| has_type(item, "message"));
    let parts = message.and_then(|message| message.get("content")).and_then(Node::as_array);
    let text = parts.and_then(|parts| parts.first()?.get("text")).cloned();
    text.into_iter().for_each(|text| reply.set("output_text", text));
}

/// Returns a text part of a Responses message.
pub(super) fn output_text(text: String) -> Node<'static> {
    Node::record([
        ("type", Node::literal("output_text")),
        ("text", Node::string(text)),
        ("annotations", Node::array([].into())),
        ("logprobs", Node::array([].into())),
    ])
}

/// Returns the id of the message that replaces a Responses call.
pub(super) fn message_id(id: &str) -> String {
    String::from(ANSWER_ID) + id.strip_prefix("fc_").unwrap_or(id)
}
