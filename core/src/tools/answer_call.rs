//! Replies to a request whose response format was sent as a function: its call becomes the text of the answer, and the
//! reply ends as one that has text.
//!
//! Calls are restored first, so the function has its own name and the arguments are those of the caller's schema.

use alloc::string::String;

use super::{
    answer::{restored, Answer},
    call_sites::{self, each},
    held::append,
};
use crate::{
    json::{self, Data, Node, Text},
    request::tool::has_type,
};

/// The members that say why a reply ends: the words for calls, and for text.
const ENDS: [(&str, &str, &str); 7] = [
    ("finish_reason", "tool_calls", "stop"),
    ("finish_reason", "TOOL_CALL", "COMPLETE"),
    ("finish_reason", "tool_call", "stop"),
    ("stop_reason", "tool_use", "end_turn"),
    ("stopReason", "tool_use", "end_turn"),
    ("done_reason", "tool_calls", "stop"),
    ("status", "requires_action", "completed"),
];

/// The calls of a reply or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// True if one was the answer.
    pub(super) has_answer: bool,
    /// True if one is to another function.
    pub(super) has_others: bool,
}

impl Calls {
    pub(super) fn add(&mut self, other: Calls) {
        self.has_answer |= other.has_answer;
        self.has_others |= other.has_others;
    }

    /// Returns true if the client has no call to answer.
    pub(super) const fn ends_with_answer(self) -> bool {
        self.has_answer && !self.has_others
    }
}

/// Turns the calls of the function in a reply, or in an event that holds whole calls, into text.
pub(super) fn in_reply(reply: &mut Node<'_>, answer: &Answer) -> Calls {
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
    });
    let has_parts = reply.get("finish_reason").is_some();
    for key in ["message", "step"] {
        calls.add(reply.visit(key, |message| in_message(message, answer, has_parts)).unwrap_or_default());
    }
    for list in ["output", "steps"] {
        each(reply, list, &mut |item| calls.add(in_message(item, answer, false)));
    }
    let of_converse = reply.visit("output", |output| output.visit("message", |one| in_message(one, answer, false)));
    calls.add(of_converse.flatten().unwrap_or_default());
    each(reply, "candidates", &mut |candidate| {
        candidate.visit("content", |content| in_message(content, answer, false));
    });
    for inner in ["response", "interaction"] {
        reply.visit(inner, |inner| in_reply(inner, answer));
    }
    set_end(reply, calls);
    calls
}

/// Sets why a reply ends, if its only calls were the answer.
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

/// Turns the calls of a message, an item or a step. `has_parts`: the content of a message is a list.
pub(super) fn in_message(message: &mut Node<'_>, answer: &Answer, has_parts: bool) -> Calls {
    let mut calls = in_tool_calls(message, answer, has_parts);
    for list in ["content", "parts"] {
        each(message, list, &mut |block| calls.add(in_block(block, answer)));
    }
    if has_type(message, "function_call") {
        let is_answer = is_call_of(message, answer);
        calls.add(Calls { has_answer: is_answer, has_others: !is_answer });
        if is_answer {
            as_item(message, answer);
        }
    }
    calls
}

/// Returns true if a restored call is one of the function. A tool of a server or of a namespace is another one.
pub(super) fn is_call_of(call: &Node<'_>, answer: &Answer) -> bool {
    call.get("name").is_some_and(|own| answer.tool.as_deref().is_some_and(|name| own.is_text(name)))
        && ["server", "namespace", "index"].iter().all(|key| call.get(key).is_none_or(Node::is_null))
}

/// Turns the `tool_calls` of a message: its content is the arguments of the first call of the function, behind the text
/// that stands there.
fn in_tool_calls(message: &mut Node<'_>, answer: &Answer, has_parts: bool) -> Calls {
    let list = message.get("tool_calls").and_then(Node::as_array).unwrap_or_default();
    let is_answer = |call: &Node<'_>| call.get("function").is_some_and(|function| is_call_of(function, answer));
    let first = list.iter().find(|call| is_answer(call));
    let calls = Calls { has_answer: first.is_some(), has_others: !list.iter().all(is_answer) };
    let Some(first) = first else { return calls };
    let arguments = first.get("function").and_then(|function| function.get("arguments"));
    let text = arguments.map(|arguments| answer.text_of(arguments)).unwrap_or_default();
    if calls.has_others {
        message.visit("tool_calls", |list| list.as_array_mut().map(|list| list.retain(|call| !is_answer(call))));
    } else {
        message.remove("tool_calls");
    }
    add_text(message, text, has_parts);
    calls
}

/// Adds a text to the content of a message of Chat Completions, Cohere or Ollama.
pub(super) fn add_text(message: &mut Node<'_>, text: String, has_parts: bool) {
    let is_list = message.get("content").map_or(has_parts, |content| content.as_array().is_some());
    if is_list || has_parts && message.get("content").is_none_or(Node::is_null) {
        let part = text_part("text", text);
        if message.get("content").and_then(Node::as_array).is_none() {
            message.set("content", Node::array([].into()));
        }
        message.visit("content", |parts| parts.as_array_mut().map(|parts| parts.push(part)));
        return;
    }
    let mut whole = String::new();
    if let Some(before) = message.get("content").and_then(Node::as_text) {
        append(&mut whole, before);
    }
    whole.push_str(&text);
    message.set("content", Node::string(whole));
}

fn text_part(kind: &'static str, text: String) -> Node<'static> {
    Node::record([("type", Node::literal(kind)), ("text", Node::string(text))])
}

/// Turns a block of Anthropic or Converse, or a part of Gemini, if it is a call.
pub(super) fn in_block(block: &mut Node<'_>, answer: &Answer) -> Calls {
    let holder = ["toolUse", "functionCall", "function_call"]
        .into_iter()
        .find(|key| block.get(*key).is_some_and(|call| call.as_object().is_some()));
    let call = match holder {
        Some(key) => block.get(key),
        None if has_type(block, "tool_use") => Some(&*block),
        None => None,
    };
    let Some(call) = call else { return Calls::default() };
    // The arguments of a call that goes on in another event are not known yet.
    let is_part = ["partialArgs", "willContinue"].iter().any(|key| call.get(*key).is_some());
    if is_part || !is_call_of(call, answer) {
        return Calls { has_answer: false, has_others: true };
    }
    let arguments = ["input", "args"].into_iter().find_map(|key| call.get(key));
    let text = Node::string(arguments.map(|arguments| answer.text_of(arguments)).unwrap_or_default());
    match holder {
        // Signatures of thoughts stand beside the call.
        Some(key) => {
            block.remove(key);
            block.set("text", text);
        }
        None => {
            ["id", "name", "input", "caller"].into_iter().for_each(|key| drop(block.remove(key)));
            block.set("type", Node::literal("text"));
            block.set("text", text);
        }
    }
    Calls { has_answer: true, has_others: false }
}

/// Turns an item of Responses into a message, or a step of Interactions into output of the model.
pub(super) fn as_item(item: &mut Node<'_>, answer: &Answer) {
    let is_step = call_sites::is_step(item);
    let arguments = item.remove("arguments").unwrap_or_default();
    ["name", "call_id"].into_iter().for_each(|key| drop(item.remove(key)));
    if is_step {
        ["id", "signature"].into_iter().for_each(|key| drop(item.remove(key)));
        item.set("type", Node::literal("model_output"));
        let has_text = !arguments.is_null();
        let parts = has_text.then(|| text_part("text", answer.text_of(&arguments)));
        item.set("content", Node::array(parts.into_iter().collect()));
        return;
    }
    item.set("type", Node::literal("message"));
    if let Some(id) = item.get("id").and_then(Node::as_text).and_then(Text::value).map(|id| message_id(&id)) {
        item.set("id", Node::string(id));
    }
    item.set("role", Node::literal("assistant"));
    let text = answer.text_of(&arguments);
    let is_begun = text.is_empty() && item.get("status").is_some_and(|status| status.is_text("in_progress"));
    let part = (!is_begun).then(|| output_text(text));
    item.set("content", Node::array(part.into_iter().collect()));
}

/// Returns a part of a message of Responses.
pub(super) fn output_text(text: String) -> Node<'static> {
    Node::record([
        ("type", Node::literal("output_text")),
        ("text", Node::string(text)),
        ("annotations", Node::array([].into())),
        ("logprobs", Node::array([].into())),
    ])
}

/// Returns the id of the message that a call of Responses becomes. Its API wants another beginning.
pub(super) fn message_id(id: &str) -> String {
    match id.strip_prefix("fc_") {
        Some(rest) => String::from("msg_") + rest,
        None => id.into(),
    }
}

impl Answer {
    /// Returns restored arguments as text. Of text that breaks off, whatever is whole is restored here.
    pub(super) fn text_of(&self, arguments: &Node<'_>) -> String {
        let Some(text) = arguments.as_text() else {
            return if arguments.is_null() { String::new() } else { json::write(arguments) };
        };
        let mut out = String::new();
        append(&mut out, text);
        if self.plan.is_empty() || json::read(&out).is_ok() {
            return out;
        }
        restored(Some(self), &out).text.unwrap_or(out)
    }
}
