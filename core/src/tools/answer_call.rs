//! Replies to a request whose response format was sent as a function: its call becomes the text of the answer, and the
//! reply ends as one that has text. The first such call is the answer. Other texts are left out beside it, because the
//! client reads all text of the reply as its answer.
//!
//! Calls are restored first, so the function has its own name and the arguments are those of the caller's schema.

use alloc::{string::String, vec::Vec};

use super::{
    answer::{restored, Answer},
    answer_candidates,
    answer_parts::is_text_part,
    call_sites::each,
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

/// The beginning of the ids of messages that were calls in OpenAI Responses. The API wants `msg_` there, and a later
/// request shows by the rest which messages it does not know.
pub(super) const ANSWER_ID: &str = "msg_fc_";

/// The calls of a reply or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// True if one was the answer.
    pub(super) has_answer: bool,
    /// True if one is to another function.
    pub(super) has_others: bool,
}

impl Calls {
    pub(super) const ANSWER: Calls = Calls { has_answer: true, has_others: false };
    pub(super) const OTHER: Calls = Calls { has_answer: false, has_others: true };

    pub(super) fn add(&mut self, other: Calls) {
        self.has_answer |= other.has_answer;
        self.has_others |= other.has_others;
    }

    /// Returns true if the client has no call to answer.
    pub(super) const fn ends_with_answer(self) -> bool {
        self.has_answer && !self.has_others
    }
}

/// The indices of the calls and blocks of a stream that the client does not see.
#[derive(Debug, Default)]
pub(super) struct Gone(Vec<u64>);

impl Gone {
    /// No model calls one function more often in one reply. Later indices then have gaps.
    const MOST: usize = 256;

    pub(super) fn insert(&mut self, index: u64) {
        let at = self.0.partition_point(|known| *known < index);
        if self.0.get(at) != Some(&index) && self.0.len() < Gone::MOST {
            self.0.insert(at, index);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of them before an index.
    pub(super) fn before(&self, index: u64) -> u64 {
        self.0.partition_point(|known| *known < index) as u64
    }
}

/// Where a call stands, which shows what its arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Their JSON text is in a string.
    Text,
    /// They are a value.
    Value,
}

/// Turns the calls of the function in a whole reply, or in an event that has whole calls, into text.
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
    });
    // Cohere's own API has parts, and Ollama's has arguments that are values.
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

/// Turns the calls of a message, or of an item or a step that comes alone. `has_parts`: the content is a list.
pub(super) fn in_message(message: &mut Node<'_>, answer: &Answer, has_parts: bool) -> Calls {
    in_message_at(message, answer, has_parts, Place::Text)
}

fn in_message_at(message: &mut Node<'_>, answer: &Answer, has_parts: bool, place: Place) -> Calls {
    let mut calls = in_tool_calls(message, answer, (has_parts, place));
    for list in ["content", "parts"] {
        calls.add(in_blocks(message, list, answer, calls.has_answer));
    }
    // A call of Responses has a `call_id`, a step of Interactions has an `id` alone.
    let is_step = message.get("call_id").is_none() && message.get("id").is_some();
    calls.add(in_item(message, answer, if is_step { Item::Step } else { Item::Response }));
    calls
}

/// Returns true if a restored call is one of the function. A tool of a server or of a namespace is another one.
pub(super) fn is_call_of(call: &Node<'_>, answer: &Answer) -> bool {
    call.get("name").is_some_and(|own| answer.tool.as_deref().is_some_and(|name| own.is_text(name)))
        && ["server", "namespace", "index"].iter().all(|key| call.get(key).is_none_or(Node::is_null))
}

/// Turns the `tool_calls` of a message: its content is the arguments of the first call of the function.
fn in_tool_calls(message: &mut Node<'_>, answer: &Answer, (has_parts, place): (bool, Place)) -> Calls {
    let list = message.get("tool_calls").and_then(Node::as_array).unwrap_or_default();
    let is_answer = |call: &Node<'_>| call.get("function").is_some_and(|function| is_call_of(function, answer));
    let first = list.iter().find(|call| is_answer(call));
    let calls = Calls { has_answer: first.is_some(), has_others: !list.iter().all(is_answer) };
    let Some(first) = first else { return calls };
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

/// Sets the text of a message of Chat Completions, Cohere or Ollama. Parts that are no text stay.
fn set_text(message: &mut Node<'_>, text: String, has_parts: bool) {
    let is_list = message.get("content").is_some_and(|content| content.as_array().is_some());
    if !is_list && !(has_parts && message.get("content").is_none_or(Node::is_null)) {
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

/// Returns true for a part or a block that is text of the answer.
pub(super) fn is_text(part: &Node<'_>) -> bool {
    part.get("text").is_some_and(|text| text.as_text().is_some()) && is_text_part(part)
}

pub(super) fn text_part(kind: &'static str, text: String) -> Node<'static> {
    Node::record([("type", Node::literal(kind)), ("text", Node::string(text))])
}

/// Turns the first call of the function in a list of blocks, unless the message has an answer already, and leaves out
/// the others, and other texts.
fn in_blocks(message: &mut Node<'_>, list: &str, answer: &Answer, is_answered: bool) -> Calls {
    if is_answered {
        return Calls::default();
    }
    let (mut calls, mut is_left_out) = (Calls::default(), Vec::new());
    each(message, list, &mut |block| {
        let was_answered = calls.has_answer;
        let own = if was_answered && is_answer_block(block, answer) { None } else { Some(in_block(block, answer)) };
        calls.add(own.unwrap_or_default());
        is_left_out.push(own.is_none_or(|own| own == Calls::default() && is_text(block)));
    });
    if calls.has_answer {
        let mut is_left_out = is_left_out.into_iter();
        message.visit(list, |list| list.as_array_mut().map(|list| list.retain(|_| is_left_out.next() != Some(true))));
    }
    calls
}

/// Returns the member that holds the call of a block of Converse or of a part of Gemini.
fn holder_of(block: &Node<'_>) -> Option<&'static str> {
    let is_call = |key: &&str| block.get(*key).is_some_and(|call| call.as_object().is_some());
    ["toolUse", "functionCall", "function_call"].into_iter().find(is_call)
}

fn call_of<'n, 'a>(block: &'n Node<'a>) -> Option<&'n Node<'a>> {
    match holder_of(block) {
        Some(key) => block.get(key),
        None => has_type(block, "tool_use").then_some(block),
    }
}

/// Returns true for a block or a part that is a whole call of the function.
pub(super) fn is_answer_block(block: &Node<'_>, answer: &Answer) -> bool {
    // The arguments of a call that goes on in another event are not known yet.
    let is_part = |call: &Node<'_>| ["partialArgs", "willContinue"].iter().any(|key| call.get(*key).is_some());
    call_of(block).is_some_and(|call| !is_part(call) && is_call_of(call, answer))
}

/// Turns a block of Anthropic or Converse, or a part of Gemini, if it is a call.
pub(super) fn in_block(block: &mut Node<'_>, answer: &Answer) -> Calls {
    let Some(call) = call_of(block) else { return Calls::default() };
    if !is_answer_block(block, answer) {
        return Calls::OTHER;
    }
    let arguments = ["input", "args"].into_iter().find_map(|key| call.get(key));
    let text = answer.text_of(arguments, Place::Value);
    as_text_block(block, text);
    Calls::ANSWER
}

/// Makes text of a block that is a call.
pub(super) fn as_text_block(block: &mut Node<'_>, text: String) {
    match holder_of(block) {
        // Signatures of thoughts stand beside the call.
        Some(key) => drop(block.remove(key)),
        None => {
            ["id", "name", "input", "caller"].into_iter().for_each(|key| drop(block.remove(key)));
            block.set("type", Node::literal("text"));
        }
    }
    block.set("text", Node::string(text));
}

/// What a `function_call` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An item of OpenAI Responses, whose arguments are text.
    Response,
    /// A step of Gemini Interactions, whose arguments are a value.
    Step,
}

/// Turns the first call of the function in a list of items or steps, and leaves out the others, and other texts.
fn in_items(reply: &mut Node<'_>, list: &str, answer: &Answer, kind: Item) -> Calls {
    let (mut calls, mut is_left_out) = (Calls::default(), Vec::new());
    each(reply, list, &mut |item| {
        let is_second = calls.has_answer && has_type(item, "function_call") && is_call_of(item, answer);
        let own = if is_second { Calls::default() } else { in_item(item, answer, kind) };
        calls.add(own);
        is_left_out.push(is_second || own == Calls::default() && is_text_item(item));
    });
    if calls.has_answer {
        let mut is_left_out = is_left_out.into_iter();
        reply.visit(list, |list| list.as_array_mut().map(|list| list.retain(|_| is_left_out.next() != Some(true))));
    }
    calls
}

/// Returns true for an item of Responses or a step of Interactions that has text alone.
pub(super) fn is_text_item(item: &Node<'_>) -> bool {
    (has_type(item, "message") || has_type(item, "model_output"))
        && item.get("content").is_none_or(|content| content.as_array().is_some_and(|parts| parts.iter().all(is_text)))
}

/// Turns an item or a step, if it is a call.
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

/// Turns an item of Responses into a message, or a step of Interactions into output of the model. `text` is `None` for
/// one that begins.
pub(super) fn as_item(item: &mut Node<'_>, text: Option<String>, kind: Item) {
    ["arguments", "name", "call_id"].into_iter().for_each(|key| drop(item.remove(key)));
    if kind == Item::Step {
        ["id", "signature"].into_iter().for_each(|key| drop(item.remove(key)));
        item.set("type", Node::literal("model_output"));
        item.set("content", Node::array(text.map(|text| text_part("text", text)).into_iter().collect()));
        return;
    }
    item.set("type", Node::literal("message"));
    if let Some(id) = item.get("id").and_then(Node::as_text).and_then(Text::value).map(|id| message_id(&id)) {
        item.set("id", Node::string(id));
    }
    item.set("role", Node::literal("assistant"));
    item.set("content", Node::array(text.map(output_text).into_iter().collect()));
}

/// Sets the text of a whole reply that some servers of Responses add to its items.
fn set_output_text(reply: &mut Node<'_>, list: &str) {
    if reply.get("output_text").is_none_or(|text| text.as_text().is_none()) {
        return;
    }
    let items = reply.get(list).and_then(Node::as_array).unwrap_or_default();
    let message = items.iter().find(|item| has_type(item, "message"));
    let parts = message.and_then(|message| message.get("content")).and_then(Node::as_array);
    let text = parts.and_then(|parts| parts.first()?.get("text")).cloned();
    text.into_iter().for_each(|text| reply.set("output_text", text));
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

/// Returns the id of the message that a call of Responses becomes.
pub(super) fn message_id(id: &str) -> String {
    String::from(ANSWER_ID) + id.strip_prefix("fc_").unwrap_or(id)
}

impl Answer {
    /// Returns restored arguments as text. Of text that breaks off, what is whole is restored here.
    pub(super) fn text_of(&self, arguments: Option<&Node<'_>>, place: Place) -> String {
        match (arguments, place) {
            (Some(arguments), Place::Text) if arguments.as_text().is_some() => {
                let mut out = String::new();
                arguments.as_text().into_iter().for_each(|text| append(&mut out, text));
                self.whole_text(out)
            }
            (None, Place::Text) => String::new(),
            (Some(arguments), Place::Text) if arguments.is_null() => String::new(),
            // APIs leave out arguments without members. Only a wrapper holds null.
            (None, Place::Value) => String::from("{}"),
            (Some(arguments), Place::Value) if arguments.is_null() && self.plan.is_empty() => String::from("{}"),
            (Some(arguments), _) => json::write(arguments),
        }
    }

    /// Returns a whole text of restored arguments. Of one that breaks off, what is whole is restored.
    pub(super) fn whole_text(&self, text: String) -> String {
        if self.plan.is_empty() || json::read(&text).is_ok() {
            return text;
        }
        restored(Some(self), &text).text.unwrap_or(text)
    }
}
