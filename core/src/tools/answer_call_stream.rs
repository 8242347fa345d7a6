//! The events of a reply to a request whose response format was sent as a function: the pieces of its arguments become
//! pieces of text.
//!
//! Events are restored first, so this only changes their form; nothing is held back here.

use alloc::{string::String, vec::Vec};

use super::{
    answer::Answer,
    answer_call::{self, add_text, as_item, is_call_of, message_id, output_text, Calls},
    call_sites::each,
    held::{pay, Key, CALL, CONVERSE_DELTA},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{Node, Object, Text},
    request::tool::has_type,
};

/// The calls of a stream that are answers, and what is known of the others.
#[derive(Debug, Default)]
pub(super) struct AnswerEvents {
    /// The blocks, items and steps that are text now.
    open: Set<Key>,
    choices: Map<u64, Choice>,
    /// The calls of a reply without choices.
    calls: Calls,
    cost: usize,
}

/// The calls of a choice of Chat Completions.
#[derive(Debug, Default)]
struct Choice {
    /// The index of the call that is the answer.
    answer: Option<u64>,
    /// The indices of more calls of the function.
    others: Set<u64>,
    calls: Calls,
}

impl AnswerEvents {
    /// Puts the form that the client gets of an event into `out`.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn feed<'a>(
        &mut self,
        mut event: Node<'a>,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if event.get("choices").is_some_and(|choices| choices.as_array().is_some()) {
            self.chat(&mut event, answer)?;
            out.push(event);
            return Ok(());
        }
        let kind = ["type", "event_type"].into_iter().find_map(|key| event.get(key)?.as_text()).cloned();
        let is = |kind_name: &str| kind.as_ref().is_some_and(|kind| kind.is(kind_name));
        if is("content_block_start") || is("response.output_item.added") || is("step.start") {
            return self.begin(event, answer, out);
        }
        if event.get("contentBlockStart").is_some() {
            return self.begin_converse(event, answer, out);
        }
        let converse = [CONVERSE_DELTA, "contentBlockStop"].into_iter().find_map(|member| event.get(member));
        let key = converse.map_or_else(|| Key::of(&event), |block| Key::of_block(block.get("contentBlockIndex")));
        if self.open.contains(&key) {
            if is("content_block_stop") || is("step.stop") || event.get("contentBlockStop").is_some() {
                self.close(&key);
            } else if is("response.output_item.done") {
                self.close(&key);
                event.visit("item", |item| as_item(item, answer));
            } else if is("response.function_call_arguments.done") {
                end_item_text(event, answer, out);
                return Ok(());
            } else {
                as_text_delta(&mut event, answer);
            }
            out.push(event);
            return Ok(());
        }
        // Whole replies, and the events that repeat what came in pieces.
        self.calls.add(answer_call::in_reply(&mut event, answer));
        if is("response.output_item.done") {
            event.visit("item", |item| answer_call::in_message(item, answer, false));
        }
        for inner in ["delta", "messageStop", "interaction"] {
            event.visit(inner, |inner| answer_call::set_end(inner, self.calls));
        }
        answer_call::set_end(&mut event, self.calls);
        out.push(event);
        Ok(())
    }

    fn open(&mut self, key: Key) -> Result<(), Error> {
        if !self.open.contains(&key) {
            pay(&mut self.cost, CALL)?;
            self.open.insert(key);
        }
        Ok(())
    }

    fn close(&mut self, key: &Key) {
        if self.open.remove(key) {
            self.cost -= CALL;
        }
    }

    /// Handles the start of a block, an item or a step.
    fn begin<'a>(&mut self, mut event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let key = Key::of(&event);
        self.close(&key);
        let found = ["content_block", "item", "step"].into_iter().find_map(|inner| Some((inner, event.get(inner)?)));
        let Some((inner, part)) = found else {
            out.push(event);
            return Ok(());
        };
        let is_call = has_type(part, "tool_use") || has_type(part, "function_call");
        let is_answer = is_call && is_call_of(part, answer);
        self.calls.add(Calls { has_answer: is_answer, has_others: is_call && !is_answer });
        if !is_answer {
            out.push(event);
            return Ok(());
        }
        self.open(key)?;
        if inner == "content_block" {
            event.visit(inner, |block| {
                // A call begins with empty arguments.
                let is_bare = block.get("input").and_then(Node::as_object).is_some_and(Object::is_empty);
                if is_bare {
                    block.set("input", Node::default());
                }
                answer_call::in_block(block, answer)
            });
            out.push(event);
            return Ok(());
        }
        event.visit(inner, |item| {
            // A step begins with empty arguments.
            if item.get("arguments").and_then(Node::as_object).is_some_and(Object::is_empty) {
                item.set("arguments", Node::default());
            }
            as_item(item, answer);
        });
        if inner == "step" {
            out.push(event);
            return Ok(());
        }
        // The text of a message of Responses is a part of it.
        let part = part_event(&event, "response.content_part.added", String::new());
        event.visit(inner, |item| item.set("content", Node::array(Vec::new())));
        out.push(event);
        out.push(part);
        Ok(())
    }

    /// Handles the start of a block of Converse: blocks of text have none.
    fn begin_converse<'a>(&mut self, event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let block = event.get("contentBlockStart");
        let key = Key::of_block(block.and_then(|block| block.get("contentBlockIndex")));
        self.close(&key);
        let call = block.and_then(|block| block.get("start")?.get("toolUse"));
        let is_answer = call.is_some_and(|call| is_call_of(call, answer));
        self.calls.add(Calls { has_answer: is_answer, has_others: call.is_some() && !is_answer });
        if is_answer {
            self.open(key)?;
        } else {
            out.push(event);
        }
        Ok(())
    }

    fn chat(&mut self, event: &mut Node<'_>, answer: &Answer) -> Result<(), Error> {
        let mut outcome = Ok(());
        each(event, "choices", &mut |choice| {
            if outcome.is_ok() {
                outcome = self.choice(choice, answer);
            }
        });
        outcome
    }

    fn choice(&mut self, choice: &mut Node<'_>, answer: &Answer) -> Result<(), Error> {
        let number = choice.get("index").and_then(Node::as_u64).unwrap_or_default();
        let whole = choice.visit("message", |message| answer_call::in_message(message, answer, false));
        let list = choice.get("delta").and_then(|delta| delta.get("tool_calls")?.as_array()).unwrap_or_default();
        if list.is_empty() && whole.is_none() && !self.choices.contains_key(&number) {
            return Ok(());
        }
        if !self.choices.contains_key(&number) {
            pay(&mut self.cost, CALL)?;
        }
        let known = self.choices.entry(number).or_default();
        known.calls.add(whole.unwrap_or_default());
        let (mut text, mut gone) = (String::new(), Vec::new());
        for (at, call) in list.iter().enumerate() {
            let index = call.get("index").and_then(Node::as_u64).unwrap_or(at as u64);
            let function = call.get("function");
            let named = function.and_then(|function| function.get("name")).and_then(Node::as_text);
            let named = named.filter(|name| !name.is_empty());
            let is_new = named.is_some();
            let is_known = !is_new && (known.answer == Some(index) || known.others.contains(&index));
            if !is_known && !function.is_some_and(|function| is_new && is_call_of(function, answer)) {
                known.calls.has_others = true;
                continue;
            }
            if is_new && known.answer.is_some_and(|answer| answer != index) && !known.others.contains(&index) {
                pay(&mut self.cost, CALL)?;
                known.others.insert(index);
            }
            known.calls.has_answer = true;
            gone.push(at);
            if *known.answer.get_or_insert(index) == index {
                text += &function
                    .and_then(|function| function.get("arguments"))
                    .map(|arguments| answer.text_of(arguments))
                    .unwrap_or_default();
            }
        }
        let calls = known.calls;
        if !gone.is_empty() {
            let is_emptied = gone.len() == list.len();
            choice.visit("delta", |delta| {
                if is_emptied {
                    delta.remove("tool_calls");
                } else {
                    let (mut at, mut gone) = (0, gone.into_iter().peekable());
                    delta.visit("tool_calls", |list| {
                        list.as_array_mut().map(|list| {
                            list.retain(|_| {
                                let goes = gone.next_if_eq(&at).is_some();
                                at += 1;
                                !goes
                            });
                        })
                    });
                }
                add_text(delta, text, false);
            });
        }
        answer_call::set_end(choice, calls);
        Ok(())
    }
}

/// Turns the piece of a call's arguments into a piece of text.
fn as_text_delta(event: &mut Node<'_>, answer: &Answer) {
    // A piece stays as it is, unless the arguments are held back: then it is all of them.
    let text = |delta: &Node<'_>, key: &str| {
        let piece = delta.get(key).filter(|piece| piece.as_text().is_some())?;
        let whole = (!answer.plan.is_empty()).then(|| Text::new(answer.text_of(piece)));
        whole.or_else(|| piece.as_text().cloned().map(Text::into_owned))
    };
    if has_type(event, "response.function_call_arguments.delta") {
        if let Some(piece) = text(event, "delta") {
            event.set("delta", Node::string(piece));
        }
        event.set("type", Node::literal("response.output_text.delta"));
        set_message(event);
        event.set("content_index", Node::count(0));
        event.set("logprobs", Node::array(Vec::new()));
        return;
    }
    if event.get(CONVERSE_DELTA).is_some() {
        event.visit(CONVERSE_DELTA, |block| {
            let piece = block.get("delta").and_then(|delta| text(delta.get("toolUse")?, "input"));
            if let Some(piece) = piece {
                block.set("delta", Node::record([("text", Node::string(piece))]));
            }
        });
        return;
    }
    let is_step = event.get("event_type").is_some();
    event.visit("delta", |delta| {
        let piece = text(delta, if is_step { "arguments" } else { "partial_json" });
        if let Some(piece) = piece {
            let kind = Node::literal(if is_step { "text" } else { "text_delta" });
            *delta = Node::record([("type", kind), ("text", Node::string(piece))]);
        }
    });
}

/// Gives an event of Responses the id of the message.
fn set_message(event: &mut Node<'_>) {
    let id = event.get("item_id").and_then(Node::as_text).and_then(Text::value).map(|id| message_id(&id));
    if let Some(id) = id {
        event.set("item_id", Node::string(id));
    }
}

/// Puts the events that end the text of a message of Responses into `out`, for the one that ends the arguments.
fn end_item_text<'a>(mut event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) {
    let text = event.get("arguments").map(|arguments| answer.text_of(arguments)).unwrap_or_default();
    let part = part_event(&event, "response.content_part.done", text.clone());
    event.set("type", Node::literal("response.output_text.done"));
    set_message(&mut event);
    ["arguments", "name"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("content_index", Node::count(0));
    event.set("text", Node::string(text));
    event.set("logprobs", Node::array(Vec::new()));
    out.push(event);
    out.push(part);
}

/// Returns an event of Responses about the part of a message, for an event about the item.
fn part_event(event: &Node<'_>, kind: &'static str, text: String) -> Node<'static> {
    let mut part = Node::record([("type", Node::literal(kind))]);
    let id = event.get("item_id").or_else(|| event.get("item")?.get("id")).and_then(Node::as_text);
    if let Some(id) = id.and_then(Text::value) {
        part.set("item_id", Node::string(message_id(&id)));
    }
    for key in ["output_index", "sequence_number"] {
        if let Some(value) = event.get(key) {
            part.set(key, value.detached());
        }
    }
    part.set("content_index", Node::count(0));
    part.set("part", output_text(text));
    part
}
