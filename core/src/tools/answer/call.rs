//! Converts replies to a request whose response format was sent as a function. The first call to the function becomes
//! the text of the answer, and the reply ends like a reply with text. Other text is dropped, because the client reads
//! all text of a reply as its answer.
//!
//! Calls are restored before this conversion, so the function has its original name, and the arguments match the
//! caller's schema.

use alloc::{string::String, vec::Vec};

use super::{
    alternatives,
    text::{restored, Answer},
};
use crate::{
    json::{self, Data, Node, Text},
    report::AnswerChange,
    request::tool::has_type,
    tools::{call_sites::each, streams::buffered_calls::append},
    wire::{
        alternatives::alternatives_of,
        reply::{is_text_part, text_part},
    },
};

/// The calls of a reply or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// True if one of them is the answer.
    pub(crate) has_answer: bool,
    /// True if one of them calls another function.
    pub(crate) has_others: bool,
    /// Content that is dropped because of the answer.
    pub(crate) dropped: Dropped,
}

/// Kinds of content that are dropped from a reply because of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// True if text that is not blank is dropped.
    pub(crate) text: bool,
    /// True if later calls to the function are dropped.
    pub(crate) calls: bool,
}

impl Dropped {
    pub(crate) fn add(&mut self, other: Dropped) {
        self.text |= other.text;
        self.calls |= other.calls;
    }

    pub(crate) fn changes(self) -> impl Iterator<Item = AnswerChange> {
        let found = [(self.text, AnswerChange::DropText), (self.calls, AnswerChange::DropCall)];
        found.into_iter().filter(|(is_dropped, _)| *is_dropped).map(|(_, change)| change)
    }
}

impl Calls {
    pub(crate) const ANSWER: Calls =
        Calls { has_answer: true, has_others: false, dropped: Dropped { text: false, calls: false } };
    const OTHER: Calls = Calls { has_answer: false, has_others: true, ..Calls::ANSWER };

    pub(crate) fn add(&mut self, other: Calls) {
        self.has_answer |= other.has_answer;
        self.has_others |= other.has_others;
        self.dropped.add(other.dropped);
    }

    /// Returns true if the reply has an answer, and no call that the client has to answer.
    const fn ends_with_answer(self) -> bool {
        self.has_answer && !self.has_others
    }
}

/// Indices of the calls and blocks of a stream that are hidden from the client.
#[derive(Debug, Default)]
pub(crate) struct Gone(Vec<u64>);

impl Gone {
    /// Maximum number of recorded indices. Models are not expected to call one function more often in one reply. If a
    /// model does, the client sees gaps in later indices.
    const MAX_INDICES: usize = 256;

    pub(crate) fn insert(&mut self, index: u64) {
        let at = self.0.partition_point(|known| *known < index);
        if self.0.get(at) != Some(&index) && self.0.len() < Gone::MAX_INDICES {
            self.0.insert(at, index);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of hidden indices before an index.
    pub(crate) fn before(&self, index: u64) -> u64 {
        self.0.partition_point(|known| *known < index) as u64
    }
}

/// Position of a call, which determines the form of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The arguments are a string with JSON text.
    Text,
    /// The arguments are a value.
    Value,
}

/// Returns true for a restored call to the function. A tool of a server or of a namespace is another tool.
pub(crate) fn is_call_of(call: &Node<'_>, answer: &Answer) -> bool {
    call.get("name").is_some_and(|own| answer.tool.as_deref().is_some_and(|name| own.is_text(name)))
        && ["server", "namespace", "index"].iter().all(|key| call.get(key).is_none_or(Node::is_null))
}

/// Returns true for a part or a block with text that the client would read as the answer.
pub(crate) fn is_text(part: &Node<'_>) -> bool {
    part.get("text").is_some_and(|text| text.as_text().is_some()) && is_text_part(part)
}

/// Returns true for text that is not blank.
pub(crate) fn is_not_blank(text: Option<&Node<'_>>) -> bool {
    text.and_then(Node::as_text).is_some_and(|text| text.chars().chars().any(|one| !one.is_whitespace()))
}

/// Returns the member that contains the call of a Converse block or of a Gemini part.
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

/// Returns true for a block or a part that is a complete call to the function.
pub(super) fn is_answer_unit(block: &Node<'_>, answer: &Answer) -> bool {
    // The arguments of a call that continues in another event are not complete.
    let is_part = |call: &Node<'_>| ["partialArgs", "willContinue"].iter().any(|key| call.get(*key).is_some());
    call_of(block).is_some_and(|call| !is_part(call) && is_call_of(call, answer))
}

/// Converts a block of Anthropic or Converse, or a part of Gemini, to text if it is a call to the function.
fn in_block(block: &mut Node<'_>, answer: &Answer) -> Calls {
    let Some(call) = call_of(block) else { return Calls::default() };
    if !is_answer_unit(block, answer) {
        return Calls::OTHER;
    }
    let arguments = ["input", "args"].into_iter().find_map(|key| call.get(key));
    let text = answer.text_of(arguments, Place::Value);
    as_text_block(block, text);
    Calls::ANSWER
}

/// Converts a block with a call to a block with text.
pub(crate) fn as_text_block(block: &mut Node<'_>, text: String) {
    match holder_of(block) {
        // Signatures of thoughts are siblings of the call, and are kept.
        Some(key) => drop(block.remove(key)),
        None => {
            ["id", "name", "input", "caller"].into_iter().for_each(|key| drop(block.remove(key)));
            block.set("type", Node::literal("text"));
        }
    }
    block.set("text", Node::string(text));
}

impl Answer {
    /// Returns restored arguments as text. Truncated text is restored as far as it is complete.
    pub(crate) fn text_of(&self, arguments: Option<&Node<'_>>, place: Place) -> String {
        match (arguments, place) {
            (Some(arguments), Place::Text) if arguments.as_text().is_some() => {
                let mut out = String::new();
                arguments.as_text().into_iter().for_each(|text| append(&mut out, text));
                self.whole_text(out)
            }
            (None, Place::Text) => String::new(),
            (Some(arguments), Place::Text) if arguments.is_null() => String::new(),
            // APIs omit empty arguments. Restored arguments are null only if the plan removed a wrapper around null.
            (None, Place::Value) => String::from("{}"),
            (Some(arguments), Place::Value) if arguments.is_null() && self.plan.is_empty() => String::from("{}"),
            (Some(arguments), _) => json::write(arguments),
        }
    }

    /// Returns the complete text of restored arguments. Truncated text is restored as far as it is complete. If that
    /// takes too many steps, the text is returned unchanged: it is not valid JSON, so no client can mistake it for a
    /// complete answer.
    pub(crate) fn whole_text(&self, text: String) -> String {
        if self.plan.is_empty() || json::read(&text).is_ok() {
            return text;
        }
        restored(Some(self), &text).text.unwrap_or(text)
    }
}

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
pub(crate) const ANSWER_ID: &str = "msg_fc_";

/// Converts the calls to the function to text, in a whole reply or in an event with complete calls.
pub(crate) fn answer_in_reply(reply: &mut Node<'_>, answer: &Answer) -> Calls {
    if let Some(calls) = alternatives::answer_in_units(reply, answer) {
        return calls;
    }
    let mut calls = Calls::default();
    if matches!(reply.data(), Data::Array(_)) {
        // The visitor never fails.
        let _ = reply.visit_children::<()>(|_, one| {
            calls.add(answer_in_reply(one, answer));
            Ok(())
        });
        return calls;
    }
    calls.add(answer_in_message(reply, answer, false));
    if let Some(alternatives) = alternatives_of(reply) {
        alternatives.visit(reply, &mut |item, _| {
            let message = item.visit(alternatives.whole, |message| answer_in_message(message, answer, false));
            let own = message.unwrap_or_default();
            set_end(item, own);
            calls.add(own);
        });
    }
    // Cohere's own API has a list of parts, and Ollama's API has arguments that are values.
    let has_parts = reply.get("finish_reason").is_some();
    let place = if reply.get("done").is_some() { Place::Value } else { Place::Text };
    calls.add(reply.visit("message", |message| in_message_at(message, answer, has_parts, place)).unwrap_or_default());
    calls.add(reply.visit("step", |step| answer_in_item(step, answer, Item::Step)).unwrap_or_default());
    for (list, kind) in [("output", Item::Response), ("steps", Item::Step)] {
        let own = in_items(reply, list, answer, kind);
        if own.has_answer {
            set_output_text(reply, list);
        }
        calls.add(own);
    }
    let of_converse =
        reply.visit("output", |output| output.visit("message", |one| answer_in_message(one, answer, false)));
    calls.add(of_converse.flatten().unwrap_or_default());
    hide_function(reply, answer);
    for inner in ["response", "interaction"] {
        reply.visit(inner, |inner| answer_in_reply(inner, answer));
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
pub(crate) fn set_end(holder: &mut Node<'_>, calls: Calls) {
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
pub(crate) fn answer_in_message(message: &mut Node<'_>, answer: &Answer, has_parts: bool) -> Calls {
    in_message_at(message, answer, has_parts, Place::Text)
}

fn in_message_at(message: &mut Node<'_>, answer: &Answer, has_parts: bool, place: Place) -> Calls {
    let mut calls = in_tool_calls(message, answer, (has_parts, place));
    for list in ["content", "parts"] {
        calls.add(in_units(message, list, answer, calls.has_answer));
    }
    // A call of Responses has a `call_id`. A step of Interactions has only an `id`.
    let is_step = message.get("call_id").is_none() && message.get("id").is_some();
    calls.add(answer_in_item(message, answer, if is_step { Item::Step } else { Item::Response }));
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

/// Converts the first call to the function in a list of units, unless the message already has an answer. Removes further
/// calls to the function and other text.
fn in_units(message: &mut Node<'_>, list: &str, answer: &Answer, is_answered: bool) -> Calls {
    if is_answered {
        return Calls::default();
    }
    let mut has_text = false;
    if message.items_at(list).iter().any(|unit| is_answer_unit(unit, answer)) {
        retain(message, list, |unit| {
            let is_other_text = call_of(unit).is_none() && is_text(unit);
            has_text |= is_other_text && is_not_blank(unit.get("text"));
            !is_other_text
        });
    }
    let mut calls = as_text_in_list(message, list, answer, false);
    calls.dropped.text |= has_text;
    calls
}

/// Converts the first call to the function in a list of units to text, unless there was an answer before. Removes
/// further calls to the function.
pub(super) fn as_text_in_list(message: &mut Node<'_>, list: &str, answer: &Answer, was_answered: bool) -> Calls {
    let (mut calls, mut is_second) = (Calls { has_answer: was_answered, ..Calls::default() }, Vec::new());
    each(message, list, &mut |unit| {
        let own = calls.has_answer && is_answer_unit(unit, answer);
        if !own {
            calls.add(in_block(unit, answer));
        }
        calls.dropped.calls |= own;
        is_second.push(own);
    });
    if calls.dropped.calls {
        let mut is_second = is_second.into_iter();
        retain(message, list, |_| is_second.next() != Some(true));
    }
    calls
}

fn retain<'a>(holder: &mut Node<'a>, list: &str, test: impl FnMut(&Node<'a>) -> bool) {
    holder.visit(list, |list| list.as_array_mut().map(|list| list.retain(test)));
}

/// Kind of a `function_call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
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
        let own = if is_second { Calls::default() } else { answer_in_item(item, answer, kind) };
        calls.add(own);
        let is_other_text = own == Calls::default() && is_text_item(item);
        dropped.calls |= is_second;
        dropped.text |= is_other_text && has_text(item.get("content"));
        is_left_out.push(is_second || is_other_text);
    });
    if calls.has_answer {
        calls.dropped = dropped;
        let mut is_left_out = is_left_out.into_iter();
        reply.visit(list, |list| list.as_array_mut().map(|list| list.retain(|_| is_left_out.next() != Some(true))));
    }
    calls
}

/// Returns true for an item of Responses or a step of Interactions that contains only text.
pub(crate) fn is_text_item(item: &Node<'_>) -> bool {
    (has_type(item, "message") || has_type(item, "model_output"))
        && item.get("content").is_none_or(|content| content.as_array().is_some_and(|parts| parts.iter().all(is_text)))
}

/// Converts an item or a step, if it is a call to the function.
pub(crate) fn answer_in_item(item: &mut Node<'_>, answer: &Answer, kind: Item) -> Calls {
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
pub(crate) fn as_item(item: &mut Node<'_>, text: Option<String>, kind: Item) {
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
pub(crate) fn output_text(text: String) -> Node<'static> {
    Node::record([
        ("type", Node::literal("output_text")),
        ("text", Node::string(text)),
        ("annotations", Node::array([].into())),
        ("logprobs", Node::array([].into())),
    ])
}

/// Returns the id of the message that replaces a Responses call.
pub(crate) fn message_id(id: &str) -> String {
    String::from(ANSWER_ID) + id.strip_prefix("fc_").unwrap_or(id)
}
