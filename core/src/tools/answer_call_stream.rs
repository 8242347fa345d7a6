//! The events of a reply to a request whose response format was sent as a function: the pieces of the arguments of its
//! first call become pieces of text, and later calls of it are left out.
//!
//! Events are restored first, so this only changes their form. Text that stands beside the answer is no part of it: it
//! is left out after the answer, and before it if the model may call nothing else, which shows where the reply ends.

use alloc::{string::String, vec::Vec};

use super::{
    answer::Answer,
    answer_call::{
        self, as_item, as_text_block, is_call_of, is_text, is_text_item, message_id, output_text, Calls, Gone, Item,
        Place,
    },
    answer_candidates::Candidates,
    answer_choices::Choices,
    answer_cohere::Cohere,
    held::{pay, Key, CALL, CONVERSE_DELTA},
    stream_restorer::is_none,
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Node, Text},
    request::tool::has_type,
};

const CONVERSE_START: &str = "contentBlockStart";
const CONVERSE_STOP: &str = "contentBlockStop";
/// The member of an event of Responses that numbers it.
const SEQUENCE: &str = "sequence_number";

/// The calls of a stream that are answers, and what is known of the others.
#[derive(Debug, Default)]
pub(super) struct AnswerEvents {
    /// The blocks, items and steps that are text now: true if some text of it has come.
    open: Map<Key, bool>,
    /// Those that the client does not see.
    hidden: Set<Key>,
    /// A text of Converse that passes: its blocks of text have no start.
    passing: Option<Key>,
    gone: Gone,
    choices: Choices,
    candidates: Candidates,
    pub(super) cohere: Cohere,
    /// The calls of a reply without choices and candidates.
    pub(super) calls: Calls,
    queue: Queue,
    /// How many events of Responses were added.
    added: u64,
    pub(super) cost: usize,
}

/// The events from a text on that may stand beside an answer, which is not known yet.
#[derive(Debug, Default)]
struct Queue {
    /// Each with true if it belongs to a text.
    events: Vec<(Node<'static>, bool)>,
    /// The texts, with their indices.
    texts: Map<Key, Option<u64>>,
}

/// What an event of a block, an item or a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Begins,
    GoesOn,
    Ends,
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
            self.choices.feed(&mut event, answer)?;
            out.push(event);
            return Ok(());
        }
        self.candidates.holds = answer.is_only;
        if self.candidates.feed(&mut event, answer)? {
            out.push(event);
            return Ok(());
        }
        let Some(event) = self.cohere(event, answer, out)? else { return Ok(()) };
        match part_of(&event) {
            Some((part, key)) => self.in_block((event, part, key), answer, out),
            None => {
                self.other(event, answer, out);
                Ok(())
            }
        }
    }

    /// Returns true if nothing is held back.
    pub(super) fn is_at_rest(&self) -> bool {
        self.queue.events.is_empty()
            && self.choices.is_at_rest()
            && self.candidates.is_at_rest()
            && self.cohere.is_at_rest()
    }

    /// Returns what is held back at the end of a stream.
    pub(super) fn finish(&mut self, answer: &Answer) -> Vec<Node<'static>> {
        let mut out = self.cohere.left(answer);
        self.release(&mut out);
        out.extend(self.choices.left(answer));
        out.extend(self.candidates.left(answer));
        out
    }

    /// Returns true while text is held back.
    pub(super) const fn holds(&self, answer: &Answer) -> bool {
        answer.is_only && !self.calls.has_answer && !self.calls.has_others
    }

    /// Holds an event back.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn hold(&mut self, event: &Node<'_>, is_text: bool) -> Result<(), Error> {
        pay(&mut self.cost, CALL + json::length(event))?;
        self.queue.events.push((event.detached(), is_text));
        Ok(())
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.queue.events.is_empty()
    }

    /// Passes on all events that are held back.
    pub(super) fn release<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        self.queue.texts = Map::new();
        for (event, _) in core::mem::take(&mut self.queue.events) {
            self.pass(event, out);
        }
    }

    /// Passes on the events that are held back, without those of texts.
    pub(super) fn release_without_texts<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        for (key, index) in core::mem::take(&mut self.queue.texts) {
            index.into_iter().for_each(|index| self.gone.insert(index));
            self.hidden.insert(key);
        }
        for (event, is_text) in core::mem::take(&mut self.queue.events) {
            let ends = part_of(&event).filter(|(part, _)| *part == Part::Ends);
            match (is_text, ends) {
                (false, _) => self.pass(event, out),
                (true, Some((_, key))) => drop(self.hidden.remove(&key)),
                (true, None) => {}
            }
        }
    }

    /// Passes on an event, with the number that it has among those which the client sees.
    fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.gone.renumber(&mut event);
        if let Some(number) = event.get(SEQUENCE).and_then(Node::as_u64).filter(|_| self.added > 0) {
            event.set(SEQUENCE, Node::count(number + self.added));
        }
        out.push(event);
    }

    /// Leaves out a block, an item or a step.
    fn hide(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        pay(&mut self.cost, CALL)?;
        index_of(event).into_iter().for_each(|index| self.gone.insert(index));
        self.hidden.insert(key);
        Ok(())
    }

    /// Handles an event of a block, an item or a step.
    fn in_block<'a>(
        &mut self,
        (event, part, key): (Node<'a>, Part, Key),
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if part == Part::Begins {
            self.hidden.remove(&key);
            if self.open.remove(&key).is_some() {
                self.cost -= CALL;
            }
            return self.begin(event, key, answer, out);
        }
        if self.hidden.contains(&key) {
            if part == Part::Ends {
                self.hidden.remove(&key);
            }
            return Ok(());
        }
        if self.open.contains_key(&key) {
            self.in_answer((event, part, key), answer, out);
            return Ok(());
        }
        let is_bare_text = event.get(CONVERSE_DELTA).is_some_and(|block| {
            block.get("delta").is_some_and(|delta| delta.get("text").is_some())
        });
        if is_bare_text && self.passing.as_ref() != Some(&key) && !self.queue.texts.contains_key(&key) {
            return self.begin_text(event, key, answer, out);
        }
        if self.is_holding() {
            let is_text = self.queue.texts.contains_key(&key);
            return self.hold(&event, is_text);
        }
        if part == Part::Ends && self.passing.as_ref() == Some(&key) {
            self.passing = None;
        }
        if has_type(&event, "response.output_item.done") {
            self.other(event, answer, out);
        } else {
            self.pass(event, out);
        }
        Ok(())
    }

    /// Handles an event that is not of a block, or that has whole calls.
    fn other<'a>(&mut self, mut event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) {
        if has_type(&event, "ping") {
            out.push(event);
            return;
        }
        self.release(out);
        // Whole replies, and the events that repeat what came in pieces.
        self.calls.add(answer_call::in_reply(&mut event, answer));
        if has_type(&event, "response.output_item.done") {
            let calls = event.visit("item", |item| answer_call::in_item(item, answer, Item::Response));
            self.calls.add(calls.unwrap_or_default());
        }
        for inner in ["delta", "messageStop", "interaction"] {
            event.visit(inner, |inner| answer_call::set_end(inner, self.calls));
        }
        answer_call::set_end(&mut event, self.calls);
        self.pass(event, out);
    }

    /// Handles the start of a text.
    fn begin_text<'a>(
        &mut self,
        event: Node<'a>,
        key: Key,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if self.calls.has_answer {
            return self.hide(&event, key);
        }
        if self.holds(answer) {
            self.hold(&event, true)?;
            self.queue.texts.insert(key, index_of(&event));
            return Ok(());
        }
        self.passing = Some(key);
        self.pass(event, out);
        Ok(())
    }

    /// Handles the start of a block, an item or a step.
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
            None => event.get(CONVERSE_START).and_then(|block| block.get("start")?.get("toolUse")),
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
            self.calls.has_others = true;
            self.release(out);
            self.pass(event, out);
            return Ok(());
        }
        if self.calls.has_answer {
            return self.hide(&event, key);
        }
        pay(&mut self.cost, CALL)?;
        self.calls.has_answer = true;
        self.release_without_texts(out);
        // Usually the arguments come later. Blocks of text have no start in Converse.
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
            self.pass(event, out);
            return Ok(());
        }
        let kind = if inner == "step" { Item::Step } else { Item::Response };
        // The text of a message of Responses is a part of it, which begins by itself.
        let text = begun.filter(|_| kind == Item::Step);
        event.visit(inner, |item| as_item(item, text, kind));
        let part = (kind == Item::Response).then(|| part_event(&event, "response.content_part.added", String::new()));
        self.pass(event, out);
        if let Some(part) = part {
            self.added += 1;
            self.pass(part, out);
        }
        Ok(())
    }

    fn pass_or_hold<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        if self.is_holding() {
            return self.hold(&event, false);
        }
        self.pass(event, out);
        Ok(())
    }

    /// Handles an event of the answer that is no start.
    fn in_answer<'a>(&mut self, (mut event, part, key): (Node<'a>, Part, Key), answer: &Answer, out: &mut Vec<Node<'a>>) {
        if part == Part::Ends {
            let has_text = self.open.remove(&key) == Some(true);
            self.cost -= CALL;
            if has_type(&event, "response.output_item.done") {
                event.visit("item", |item| {
                    let text = answer.text_of(item.get("arguments"), Place::Text);
                    as_item(item, Some(text), Item::Response);
                });
            } else if !has_text {
                // A call without pieces has no arguments.
                self.pass(empty_object(&event), out);
            }
        } else if has_type(&event, "response.function_call_arguments.done") {
            let text = answer.text_of(event.get("arguments"), Place::Text);
            let part = part_event(&event, "response.content_part.done", text.clone());
            as_text_done(&mut event, text);
            self.pass(event, out);
            self.added += 1;
            self.pass(part, out);
            return;
        } else if as_text_delta(&mut event, answer) {
            self.open.insert(key, true);
        }
        self.pass(event, out);
    }
}

/// Returns what an event of a block, an item or a step is, and of which.
fn part_of(event: &Node<'_>) -> Option<(Part, Key)> {
    for (member, part) in
        [(CONVERSE_START, Part::Begins), (CONVERSE_DELTA, Part::GoesOn), (CONVERSE_STOP, Part::Ends)]
    {
        if let Some(block) = event.get(member) {
            return Some((part, Key::of_block(block.get("contentBlockIndex"))));
        }
    }
    let kind = ["type", "event_type"].into_iter().find_map(|key| event.get(key)?.as_text())?;
    let begins = ["content_block_start", "response.output_item.added", "step.start"];
    let ends = ["content_block_stop", "response.output_item.done", "step.stop"];
    let part = if begins.iter().any(|name| kind.is(*name)) {
        Part::Begins
    } else if ends.iter().any(|name| kind.is(*name)) {
        Part::Ends
    } else if kind.is("content_block_delta") || kind.is("step.delta") || event.get("output_index").is_some() {
        Part::GoesOn
    } else if kind.display().starts_with("response.") && event.get("item_id").is_some() {
        // Some servers send only the item's id.
        Part::GoesOn
    } else {
        return None;
    };
    Some((part, Key::of(event)))
}

/// The member that numbers the block, the item or the step of an event.
fn numbered<'n, 'a>(event: &'n Node<'a>) -> Option<(Option<&'static str>, &'static str, &'n Node<'a>)> {
    for outer in [CONVERSE_START, CONVERSE_DELTA, CONVERSE_STOP] {
        if let Some(index) = event.get(outer).and_then(|block| block.get("contentBlockIndex")) {
            return Some((Some(outer), "contentBlockIndex", index));
        }
    }
    ["output_index", "index"].into_iter().find_map(|key| Some((None, key, event.get(key)?)))
}

fn index_of(event: &Node<'_>) -> Option<u64> {
    numbered(event).and_then(|(.., index)| index.as_u64())
}

impl Gone {
    /// Gives an event the number that its block has without those that the client does not see.
    pub(super) fn renumber(&self, event: &mut Node<'_>) {
        if self.is_empty() || part_of(event).is_none() {
            return;
        }
        let Some((outer, key, index)) = numbered(event) else { return };
        let Some(new) = index.as_u64().map(|index| index - self.before(index)) else { return };
        match outer {
            Some(outer) => drop(event.visit(outer, |block| block.set(key, Node::count(new)))),
            None => event.set(key, Node::count(new)),
        }
    }
}

/// Returns the event with an object without members as the text of the answer, before the event that ends its block.
fn empty_object(event: &Node<'_>) -> Node<'static> {
    const TEXT: &str = "{}";
    let index = |node: &Node<'_>, key: &str| node.get(key).map(Node::detached).unwrap_or_default();
    if let Some(block) = event.get(CONVERSE_STOP) {
        let delta = Node::record([("text", Node::literal(TEXT))]);
        let block = [("delta", delta), ("contentBlockIndex", index(block, "contentBlockIndex"))];
        return Node::record([(CONVERSE_DELTA, Node::record(block))]);
    }
    let (kind, name, text) = match event.get("event_type") {
        Some(_) => ("event_type", "step.delta", "text"),
        None => ("type", "content_block_delta", "text_delta"),
    };
    let delta = Node::record([("type", Node::literal(text)), ("text", Node::literal(TEXT))]);
    Node::record([(kind, Node::literal(name)), ("index", index(event, "index")), ("delta", delta)])
}

/// Turns the piece of a call's arguments into a piece of text. Returns true if it is not empty.
fn as_text_delta(event: &mut Node<'_>, answer: &Answer) -> bool {
    // A piece stays as it is, unless the arguments are held back: then it is all of them.
    let text = |delta: &Node<'_>, key: &str| {
        let piece = delta.get(key)?.as_text()?;
        let whole = (!answer.plan.is_empty()).then(|| Text::new(answer.text_of(delta.get(key), Place::Text)));
        Some(whole.unwrap_or_else(|| piece.clone().into_owned()))
    };
    let mut has_text = false;
    if has_type(event, "response.function_call_arguments.delta") {
        if let Some(piece) = text(event, "delta") {
            has_text = !piece.is_empty();
            event.set("delta", Node::string(piece));
        }
        event.set("type", Node::literal("response.output_text.delta"));
        set_message(event);
        event.set("content_index", Node::count(0));
        event.set("logprobs", Node::array(Vec::new()));
        return has_text;
    }
    if event.get(CONVERSE_DELTA).is_some() {
        event.visit(CONVERSE_DELTA, |block| {
            let piece = block.get("delta").and_then(|delta| text(delta.get("toolUse")?, "input"));
            if let Some(piece) = piece {
                has_text = !piece.is_empty();
                block.set("delta", Node::record([("text", Node::string(piece))]));
            }
        });
        return has_text;
    }
    let is_step = event.get("event_type").is_some();
    event.visit("delta", |delta| {
        let piece = text(delta, if is_step { "arguments" } else { "partial_json" });
        if let Some(piece) = piece {
            has_text = !piece.is_empty();
            let kind = Node::literal(if is_step { "text" } else { "text_delta" });
            *delta = Node::record([("type", kind), ("text", Node::string(piece))]);
        }
    });
    has_text
}

/// Gives an event of Responses the id of the message.
fn set_message(event: &mut Node<'_>) {
    let id = event.get("item_id").and_then(Node::as_text).and_then(Text::value).map(|id| message_id(&id));
    if let Some(id) = id {
        event.set("item_id", Node::string(id));
    }
}

/// Makes the event that ends the text of a message of Responses of the one that ends the arguments.
fn as_text_done(event: &mut Node<'_>, text: String) {
    event.set("type", Node::literal("response.output_text.done"));
    set_message(event);
    ["arguments", "name"].into_iter().for_each(|key| drop(event.remove(key)));
    event.set("content_index", Node::count(0));
    event.set("text", Node::string(text));
    event.set("logprobs", Node::array(Vec::new()));
}

/// Returns an event of Responses about the part of a message, for an event about the item.
fn part_event(event: &Node<'_>, kind: &'static str, text: String) -> Node<'static> {
    let mut part = Node::record([("type", Node::literal(kind))]);
    if let Some(id) = event.get("item").and_then(|item| item.get("id")).map(Node::detached) {
        part.set("item_id", id);
    } else if let Some(id) = event.get("item_id").and_then(Node::as_text).and_then(Text::value) {
        part.set("item_id", Node::string(message_id(&id)));
    }
    for key in ["output_index", SEQUENCE] {
        if let Some(value) = event.get(key) {
            part.set(key, value.detached());
        }
    }
    part.set("content_index", Node::count(0));
    part.set("part", output_text(text));
    part
}
