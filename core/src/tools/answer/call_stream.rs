//! Converts the events of a reply to a request whose response format was sent as a function. Pieces of the arguments of
//! the first call become pieces of text, and later calls to the function are dropped.
//!
//! Events are restored before this conversion, which only changes their form. Text next to the answer does not belong
//! to it. Text after the answer is dropped. If the model may call nothing else, text before the answer is buffered, and
//! dropped as soon as the answer starts.

use alloc::{string::String, vec::Vec};

use super::{
    alternatives::AlternativeAnswers,
    call::{
        self, as_item, as_text_block, is_call_of, is_text, is_text_item, message_id, output_text, Dropped, Item, Place,
    },
    cohere::Cohere,
    queue::{part_of, Part, Queue},
    text::Answer,
};
use crate::{
    collections::Map,
    error::Error,
    json::{Node, Text},
    request::tool::has_type,
    tools::{
        call_sites::is_none,
        streams::{
            buffered_calls::{pay, CALL},
            text::delta_of,
        },
    },
    wire::{
        alternatives::alternatives_of,
        events::{at, decode, set, Content, Key},
    },
};

/// State of the conversion of a stream.
#[derive(Debug, Default)]
pub(crate) struct AnswerEvents {
    /// The open blocks, items and steps that are converted to text. The flag is true once there was a piece of text.
    open: Map<Key, bool>,
    /// Key of a Converse text that is passed on. Converse has no start events for blocks of text.
    passing: Option<Key>,
    alternatives: AlternativeAnswers,
    cohere: Cohere,
    queue: Queue,
}

impl AnswerEvents {
    /// Processes an event. Appends the events for the client to `out`.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn feed<'a>(
        &mut self,
        mut event: Node<'a>,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if let Some(of) = alternatives_of(&event) {
            self.alternatives.feed(&mut event, of, (answer, answer.is_only))?;
            out.push(event);
            return Ok(());
        }
        let Some(event) = self.cohere.feed(event, answer, &mut self.queue, out)? else { return Ok(()) };
        match part_of(&event) {
            Some((part, key)) => self.in_block((event, part, key), answer, out),
            None => {
                self.other(event, answer, out);
                Ok(())
            }
        }
    }

    /// Returns true if the stream has an answer so far.
    #[cfg(feature = "search")]
    pub(crate) fn has_answer(&self) -> bool {
        self.queue.calls.has_answer || self.alternatives.is_answered
    }

    /// Returns the kinds of content that were dropped because of the answer.
    pub(crate) fn dropped(&self) -> Dropped {
        let mut dropped = self.queue.calls.dropped;
        dropped.add(self.alternatives.dropped);
        dropped
    }

    /// Returns true if no state is left, so the next event may belong to another reply.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.passing.is_none() && self.queue.is_empty() && self.alternatives.is_empty() && self.cohere.is_empty()
    }

    /// Returns the events that are still buffered at the end of a stream.
    ///
    /// # Errors
    /// `budget-exceeded` if the answer cannot be restored.
    pub(crate) fn finish(&mut self, answer: &Answer) -> Result<Vec<Node<'static>>, Error> {
        let mut out = Vec::from_iter(self.cohere.left(answer)?);
        self.queue.release(&mut out);
        out.extend(self.alternatives.left());
        Ok(out)
    }

    /// Processes an event of a block, an item or a step.
    fn in_block<'a>(
        &mut self,
        (event, part, key): (Node<'a>, Part, Key),
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if part == Part::Begins {
            self.queue.is_hidden(part, &key);
            if self.open.remove(&key).is_some() {
                self.queue.cost -= CALL;
            }
            return self.begin(event, key, answer, out);
        }
        if self.queue.is_hidden(part, &key) {
            if delta_of(&event).is_some() {
                self.queue.note_text(&event);
            }
            return Ok(());
        }
        if self.open.contains_key(&key) {
            self.in_answer((event, part, key), answer, out);
            return Ok(());
        }
        let is_bare_text = decode(&event)
            .is_some_and(|cursor| cursor.begins_without_event() && cursor.piece(&event, Content::Text).is_some());
        if is_bare_text && self.passing.as_ref() != Some(&key) && !self.queue.has_text(&key) {
            return self.begin_text(event, key, answer, out);
        }
        if self.queue.is_holding() {
            let is_text = self.queue.has_text(&key);
            return self.queue.hold(&event, is_text);
        }
        if part == Part::Ends && self.passing.as_ref() == Some(&key) {
            self.passing = None;
        }
        if has_type(&event, "response.output_item.done") {
            self.other(event, answer, out);
        } else {
            self.queue.pass(event, out);
        }
        Ok(())
    }

    /// Processes an event that does not belong to a block, or that has complete calls.
    fn other<'a>(&mut self, mut event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) {
        if has_type(&event, "ping") {
            out.push(event);
            return;
        }
        self.queue.release(out);
        // Whole replies, and events that repeat earlier pieces.
        self.queue.calls.add(call::answer_in_reply(&mut event, answer));
        if has_type(&event, "response.output_item.done") {
            let calls = event.visit("item", |item| call::answer_in_item(item, answer, Item::Response));
            self.queue.calls.add(calls.unwrap_or_default());
        }
        for inner in ["delta", "messageStop", "interaction"] {
            event.visit(inner, |inner| call::set_end(inner, self.queue.calls));
        }
        call::set_end(&mut event, self.queue.calls);
        self.queue.pass(event, out);
    }

    /// Processes the start of a text part.
    fn begin_text<'a>(
        &mut self,
        event: Node<'a>,
        key: Key,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if self.queue.calls.has_answer {
            return self.queue.hide(&event, key);
        }
        if self.queue.buffers(answer) {
            self.queue.hold_text(&event, key)?;
            return Ok(());
        }
        self.passing = Some(key);
        self.queue.pass(event, out);
        Ok(())
    }

    /// Processes the start of a block, an item or a step.
    fn begin<'a>(
        &mut self,
        mut event: Node<'a>,
        key: Key,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        let inner = ["content_block", "item", "step"].into_iter().find(|inner| event.get(*inner).is_some());
        let part = match inner {
            Some(inner) => event.get(inner),
            None => decode(&event).and_then(|cursor| cursor.call(&event)),
        };
        let Some(part) = part else {
            return self.pass_or_hold(event, out);
        };
        let is_call = inner.is_none() || has_type(part, "tool_use") || has_type(part, "function_call");
        if !is_call {
            let begins_text = match inner {
                Some("content_block") => is_text(part),
                _ => is_text_item(part),
            };
            return if begins_text { self.begin_text(event, key, answer, out) } else { self.pass_or_hold(event, out) };
        }
        if !is_call_of(part, answer) {
            self.queue.calls.has_others = true;
            self.queue.release(out);
            self.queue.pass(event, out);
            return Ok(());
        }
        if self.queue.calls.has_answer {
            self.queue.calls.dropped.calls = true;
            return self.queue.hide(&event, key);
        }
        pay(&mut self.queue.cost, CALL)?;
        self.queue.calls.has_answer = true;
        self.queue.release_without_texts(out);
        // The arguments are usually in later events. Converse has no start events for blocks of text.
        let Some(inner) = inner else {
            self.open.insert(key, false);
            return Ok(());
        };
        let (member, place) = match inner {
            "content_block" => ("input", Place::Value),
            "item" => ("arguments", Place::Text),
            _ => ("arguments", Place::Value),
        };
        let begun = if is_none(part, member) { None } else { Some(answer.text_of(part.get(member), place)) };
        self.open.insert(key, begun.is_some());
        if inner == "content_block" {
            event.visit(inner, |block| as_text_block(block, begun.unwrap_or_default()));
            self.queue.pass(event, out);
            return Ok(());
        }
        let kind = if inner == "step" { Item::Step } else { Item::Response };
        // In Responses, the text of a message is in a part, which has its own start event.
        let text = begun.filter(|_| kind == Item::Step);
        event.visit(inner, |item| as_item(item, text, kind));
        let part = (kind == Item::Response).then(|| part_event(&event, "response.content_part.added", String::new()));
        self.queue.pass(event, out);
        if let Some(part) = part {
            self.queue.add(part, out);
        }
        Ok(())
    }

    fn pass_or_hold<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        if self.queue.is_holding() {
            return self.queue.hold(&event, false);
        }
        self.queue.pass(event, out);
        Ok(())
    }

    /// Processes an event of the answer that is not a start event.
    fn in_answer<'a>(
        &mut self,
        (mut event, part, key): (Node<'a>, Part, Key),
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) {
        if part == Part::Ends {
            let has_text = self.open.remove(&key) == Some(true);
            self.queue.cost -= CALL;
            if has_type(&event, "response.output_item.done") {
                event.visit("item", |item| {
                    let text = answer.text_of(item.get("arguments"), Place::Text);
                    as_item(item, Some(text), Item::Response);
                });
            } else if !has_text {
                // A call without pieces has no arguments.
                empty_object(&event).into_iter().for_each(|event| self.queue.pass(event, out));
            }
        } else if has_type(&event, "response.function_call_arguments.done") {
            let text = answer.text_of(event.get("arguments"), Place::Text);
            let part = part_event(&event, "response.content_part.done", text.clone());
            as_text_done(&mut event, text);
            self.queue.pass(event, out);
            self.queue.add(part, out);
            return;
        } else if as_text_delta(&mut event, answer) {
            self.open.insert(key, true);
        }
        self.queue.pass(event, out);
    }
}

/// Returns the event with an empty object as the text of the answer, which precedes the event that ends the block.
fn empty_object(event: &Node<'_>) -> Option<Node<'static>> {
    let (mut piece, path) = decode(event)?.piece_event(event, Content::Text)?;
    set(&mut piece, path, Node::literal("{}"));
    Some(piece)
}

/// Converts a piece of a call's arguments to a piece of text. Returns true if the piece is not empty.
fn as_text_delta(event: &mut Node<'_>, answer: &Answer) -> bool {
    // A piece stays unchanged, unless the arguments are buffered: then the piece contains all arguments.
    let text = |piece: &Node<'_>| {
        let own = piece.as_text()?;
        let whole = (!answer.plan.is_empty()).then(|| Text::new(answer.text_of(Some(piece), Place::Text)));
        Some(whole.unwrap_or_else(|| own.clone().into_owned()))
    };
    let Some(cursor) = decode(event).filter(|cursor| cursor.may_have(Content::Arguments)) else { return false };
    let piece = cursor.piece(event, Content::Arguments).and_then(|path| text(at(event, path)?));
    let has_text = piece.as_ref().is_some_and(|piece| !piece.is_empty());
    if has_type(event, "response.function_call_arguments.delta") {
        if let Some(piece) = piece {
            event.set("delta", Node::string(piece));
        }
        event.set("type", Node::literal("response.output_text.delta"));
        set_message(event);
        event.set("content_index", Node::count(0));
        event.set("logprobs", Node::array(Vec::new()));
        return has_text;
    }
    let empty = cursor.piece_event(event, Content::Text);
    if let Some((piece, (mut of_text, path))) = piece.zip(empty) {
        set(&mut of_text, path, Node::string(piece));
        let holder = path.split_last().map_or(path, |(_, holder)| holder);
        let delta = at(&of_text, holder).map(Node::detached).unwrap_or_default();
        set(event, holder, delta);
    }
    has_text
}

/// Replaces the item id of a Responses event with the id of the message.
fn set_message(event: &mut Node<'_>) {
    let id = event.text_at("item_id").and_then(Text::value).map(|id| message_id(&id));
    if let Some(id) = id {
        event.set("item_id", Node::string(id));
    }
}

/// Converts the event that ends the arguments to the event that ends the text of a Responses message.
fn as_text_done(event: &mut Node<'_>, text: String) {
    event.set("type", Node::literal("response.output_text.done"));
    set_message(event);
    ["arguments", "name"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("content_index", Node::count(0));
    event.set("text", Node::string(text));
    event.set("logprobs", Node::array(Vec::new()));
}

/// Returns an event about a part of a Responses message, made from an event about the item.
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
    part.set("part", output_text(text));
    part
}
