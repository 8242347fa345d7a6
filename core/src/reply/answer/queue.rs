//! Queue for the events of a stream in which a call contains the answer. Hides blocks from the client, and buffers
//! events until it is known whether an answer follows.

use alloc::vec::Vec;

use super::{
    call::{is_not_blank, Calls, Gone},
    text::Answer,
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Node},
    reply::streams::buffered_calls::{pay, CALL},
    wire::events::{decode, sequence, set_sequence, Key, Meaning},
};

/// State of the events of a stream: which are hidden from the client, and which are buffered.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The calls so far.
    pub(crate) calls: Calls,
    /// The blocks, items and steps that are hidden from the client.
    hidden: Set<Key>,
    gone: Gone,
    /// Buffered events, beginning with the first text part that is dropped if an answer follows. The flag of an event
    /// is true if it belongs to a text part.
    events: Vec<(Node<'static>, bool)>,
    /// Keys of the buffered text parts, with their indices.
    texts: Map<Key, Option<u64>>,
    /// Number of Responses events that were added.
    added: u64,
    pub(crate) cost: usize,
}

/// Position of an event in its block, item or step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Begins,
    GoesOn,
    Ends,
}

impl Queue {
    /// Returns true if there was no call, and no event is buffered.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls == Calls::default() && self.events.is_empty()
    }

    /// Returns true while text has to be buffered.
    pub(crate) const fn buffers(&self, answer: &Answer) -> bool {
        answer.is_only && !self.calls.has_answer && !self.calls.has_others
    }

    /// Buffers an event.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn hold(&mut self, event: &Node<'_>, is_text: bool) -> Result<(), Error> {
        pay(&mut self.cost, CALL + json::length(event))?;
        self.events.push((event.detached(), is_text));
        Ok(())
    }

    pub(crate) fn is_holding(&self) -> bool {
        !self.events.is_empty()
    }

    /// Passes on all buffered events.
    pub(crate) fn release<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        self.texts = Map::new();
        for (event, _) in core::mem::take(&mut self.events) {
            self.pass(event, out);
        }
    }

    /// Passes on the buffered events, except those of text parts.
    pub(crate) fn release_without_texts<'a>(&mut self, out: &mut Vec<Node<'a>>) {
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

    /// Passes on an event, with its number among the events that the client sees.
    pub(crate) fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.gone.renumber(&mut event);
        if let Some(number) = sequence(&event).filter(|_| self.added > 0) {
            set_sequence(&mut event, number.saturating_add(self.added));
        }
        out.push(event);
    }

    /// Hides a block, an item or a step from the client.
    pub(crate) fn hide(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        pay(&mut self.cost, CALL)?;
        index_of(event).into_iter().for_each(|index| self.gone.insert(index));
        self.hidden.insert(key);
        self.note_text(event);
        Ok(())
    }

    /// Records whether an event that is hidden from the client has text.
    pub(crate) fn note_text(&mut self, event: &Node<'_>) {
        self.calls.dropped.text |= has_text(event);
    }

    /// Passes on an event that the API did not send.
    pub(crate) fn add<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.added += 1;
        self.pass(event, out);
    }

    /// Returns true for an event of a block that is hidden from the client.
    pub(crate) fn is_hidden(&mut self, part: Part, key: &Key) -> bool {
        match part {
            Part::GoesOn => self.hidden.contains(key),
            Part::Begins | Part::Ends => self.hidden.remove(key) && part == Part::Ends,
        }
    }

    /// Returns true for a text part whose events are buffered.
    pub(crate) fn has_text(&self, key: &Key) -> bool {
        self.texts.contains_key(key)
    }

    /// Buffers the start of a text part.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(crate) fn hold_text(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        self.hold(event, true)?;
        self.texts.insert(key, index_of(event));
        Ok(())
    }
}

/// Returns the position of an event in its block, item or step, and the key of that block, item or step.
pub(crate) fn part_of(event: &Node<'_>) -> Option<(Part, Key)> {
    let cursor = decode(event).filter(|cursor| cursor.is_in_unit(event))?;
    let part = match cursor.meaning() {
        Meaning::Begin => Part::Begins,
        Meaning::End => Part::Ends,
        _ => Part::GoesOn,
    };
    Some((part, cursor.key(event)))
}

/// Maximum number of nested members that contain the text of an event.
const LEVELS: usize = 5;
/// Members that contain text, or what contains text, in the events of every format.
const TO_TEXT: [&str; 4] = ["part", "delta", "message", "content"];

/// Returns true if an event contains text that is not blank.
fn has_text(event: &Node<'_>) -> bool {
    let Some(cursor) = decode(event) else { return is_said_in(event, LEVELS) };
    [cursor.inner(event), cursor.unit(event)].into_iter().flatten().any(|node| is_said_in(node, LEVELS))
}

fn is_said_in(node: &Node<'_>, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    // In some events, `delta` itself is the piece of text.
    is_not_blank(node.get("text"))
        || is_not_blank(node.get("delta"))
        || TO_TEXT.iter().any(|key| node.get(*key).is_some_and(|inner| is_said_in(inner, levels)))
        || node.as_array().is_some_and(|parts| parts.iter().any(|part| is_said_in(part, levels)))
}

fn index_of(event: &Node<'_>) -> Option<u64> {
    decode(event)?.number(event)
}

impl Gone {
    /// Replaces the index of an event's block with its index among the blocks that the client sees.
    pub(crate) fn renumber(&self, event: &mut Node<'_>) {
        if self.is_empty() {
            return;
        }
        let Some(cursor) = decode(event).filter(|cursor| cursor.is_in_unit(event)) else { return };
        if let Some(index) = cursor.number(event) {
            cursor.renumber(event, index - self.before(index));
        }
    }
}
