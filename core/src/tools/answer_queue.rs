//! The events of a stream whose answer comes as a call, as they are passed on: which blocks the client does not see,
//! and what is held back until it is known whether an answer comes.

use alloc::vec::Vec;

use super::{
    answer::Answer,
    answer_block::{says_something, Calls, Gone},
    held::{pay, Key, CALL, CONVERSE_DELTA},
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Node},
};

pub(super) const CONVERSE_START: &str = "contentBlockStart";
pub(super) const CONVERSE_STOP: &str = "contentBlockStop";
/// The member of an event of Responses that numbers it.
pub(super) const SEQUENCE: &str = "sequence_number";

/// What is passed on of the events of a stream, and what is not.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The calls so far.
    pub(super) calls: Calls,
    /// The blocks, items and steps that the client does not see.
    hidden: Set<Key>,
    gone: Gone,
    /// The events from a text on that may stand beside an answer, which is not known yet: each with true if it belongs
    /// to a text.
    events: Vec<(Node<'static>, bool)>,
    /// The texts among them, with their indices.
    texts: Map<Key, Option<u64>>,
    /// How many events of Responses were added.
    added: u64,
    pub(super) cost: usize,
}

/// What an event of a block, an item or a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Begins,
    GoesOn,
    Ends,
}

impl Queue {
    /// Returns true if no call has come, and nothing is held back.
    pub(super) fn is_empty(&self) -> bool {
        self.calls == Calls::default() && self.events.is_empty()
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
        self.events.push((event.detached(), is_text));
        Ok(())
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.events.is_empty()
    }

    /// Passes on all events that are held back.
    pub(super) fn release<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        self.texts = Map::new();
        for (event, _) in core::mem::take(&mut self.events) {
            self.pass(event, out);
        }
    }

    /// Passes on the events that are held back, without those of texts.
    pub(super) fn release_without_texts<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        for (key, index) in core::mem::take(&mut self.texts) {
            index.into_iter().for_each(|index| self.gone.insert(index));
            self.hidden.insert(key);
        }
        for (event, is_text) in core::mem::take(&mut self.events) {
            let ends = part_of(&event).filter(|(part, _)| *part == Part::Ends);
            if is_text {
                self.note_text(&event);
            }
            match (is_text, ends) {
                (false, _) => self.pass(event, out),
                (true, Some((_, key))) => drop(self.hidden.remove(&key)),
                (true, None) => {}
            }
        }
    }

    /// Passes on an event, with the number that it has among those which the client sees.
    pub(super) fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.gone.renumber(&mut event);
        if let Some(number) = event.get(SEQUENCE).and_then(Node::as_u64).filter(|_| self.added > 0) {
            event.set(SEQUENCE, Node::count(number + self.added));
        }
        out.push(event);
    }

    /// Leaves out a block, an item or a step.
    pub(super) fn hide(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        pay(&mut self.cost, CALL)?;
        index_of(event).into_iter().for_each(|index| self.gone.insert(index));
        self.hidden.insert(key);
        self.note_text(event);
        Ok(())
    }

    /// Notes the text of an event that the client does not see.
    pub(super) fn note_text(&mut self, event: &Node<'_>) {
        self.calls.dropped.text |= has_text(event, LEVELS);
    }

    /// Passes on an event that was not among those of the API.
    pub(super) fn add<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.added += 1;
        self.pass(event, out);
    }

    /// Returns true for an event of a block that the client does not see.
    pub(super) fn is_hidden(&mut self, part: Part, key: &Key) -> bool {
        match part {
            Part::GoesOn => self.hidden.contains(key),
            Part::Begins | Part::Ends => self.hidden.remove(key) && part == Part::Ends,
        }
    }

    /// Returns true for a text whose events are held back.
    pub(super) fn has_text(&self, key: &Key) -> bool {
        self.texts.contains_key(key)
    }

    /// Holds the start of a text back.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn hold_text(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        self.hold(event, true)?;
        self.texts.insert(key, index_of(event));
        Ok(())
    }
}

/// Returns what an event of a block, an item or a step is, and of which.
pub(super) fn part_of(event: &Node<'_>) -> Option<(Part, Key)> {
    for (member, part) in [(CONVERSE_START, Part::Begins), (CONVERSE_DELTA, Part::GoesOn), (CONVERSE_STOP, Part::Ends)]
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

/// Maximum number of levels above the text of an event: `delta`, `message`, `content`, `text` of Cohere.
const LEVELS: usize = 5;
/// The members that lead to the text of an event.
const TO_TEXT: [&str; 8] = [CONVERSE_DELTA, "content_block", "step", "item", "part", "delta", "message", "content"];

/// Returns true if an event of a text has a piece of it that is not blank.
fn has_text(node: &Node<'_>, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    // The piece of a text of Responses is `delta` itself.
    says_something(node.get("text"))
        || says_something(node.get("delta"))
        || TO_TEXT.iter().any(|key| node.get(*key).is_some_and(|inner| has_text(inner, levels)))
        || node.as_array().is_some_and(|parts| parts.iter().any(|part| has_text(part, levels)))
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
