//! Queue for the events of a stream whose answer is a call. Hides blocks from the client, and buffers events until the
//! answer or another event shows if they are sent.

use alloc::vec::Vec;

use super::{
    call::{is_not_blank, Calls, HiddenIndices},
    text::Answer,
};
use crate::{
    collections::{Map, Set},
    error::Error,
    json::{self, Node},
    reply::streams::buffered_calls::{pay, CALL},
    wire::events::{decode, sequence, set_sequence, Key, Meaning},
};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) calls: Calls,
    hidden: Set<Key>,
    /// The start events of hidden messages without text so far. Such a message may have other parts.
    without_text: Map<Key, Node<'static>>,
    hidden_indices: HiddenIndices,
    /// Buffered events, beginning with the first text part that is dropped if an answer follows.
    events: Vec<(Node<'static>, Held)>,
    /// Keys of the buffered text parts, with their indices.
    texts: Map<Key, Option<u64>>,
    /// Number of Responses events that were added.
    added: u64,
    pub(crate) cost: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// A text part that is dropped if an answer follows.
    Text,
    /// The text part with this key, unless it also has other parts.
    TextOf(Key),
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Begins,
    GoesOn,
    Ends,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls == Calls::default() && self.events.is_empty() && self.without_text.is_empty()
    }

    pub(crate) const fn buffers(&self, answer: &Answer) -> bool {
        answer.is_only && !self.calls.has_answer && !self.calls.has_others
    }

    pub(crate) fn hold(&mut self, event: &Node<'_>, held: Held) -> Result<(), Error> {
        pay(&mut self.cost, CALL + json::length(event))?;
        self.events.push((event.detached(), held));
        Ok(())
    }

    /// Keeps a buffered message, because it also has parts that are not text, such as a refusal.
    pub(crate) fn keep(&mut self, key: &Key) {
        self.texts.remove(key);
    }

    pub(crate) fn is_holding(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn release<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        self.texts = Map::new();
        for (event, _) in core::mem::take(&mut self.events) {
            self.pass(event, out);
        }
    }

    pub(crate) fn release_without_texts<'a>(&mut self, out: &mut Vec<Node<'a>>) {
        let texts = core::mem::take(&mut self.texts);
        for (key, index) in texts.iter() {
            index.iter().for_each(|index| self.hidden_indices.insert(*index));
            self.hidden.insert(key.clone());
        }
        for (event, held) in core::mem::take(&mut self.events) {
            let is_text = match held {
                Held::Text => true,
                Held::TextOf(key) => texts.contains_key(&key),
                Held::Other => false,
            };
            let ends = part_of(&event).filter(|(part, _)| *part == Part::Ends);
            if is_text {
                self.record_text(&event);
            }
            match (is_text, ends) {
                (false, _) => self.pass(event, out),
                (true, Some((_, key))) => drop(self.hidden.remove(&key)),
                (true, None) => {}
            }
        }
    }

    pub(crate) fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.hidden_indices.renumber(&mut event);
        if let Some(number) = sequence(&event).filter(|_| self.added > 0) {
            set_sequence(&mut event, number.saturating_add(self.added));
        }
        out.push(event);
    }

    pub(crate) fn hide(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        pay(&mut self.cost, CALL)?;
        index_of(event).into_iter().for_each(|index| self.hidden_indices.insert(index));
        self.hidden.insert(key);
        self.record_text(event);
        Ok(())
    }

    /// Hides a text part that begins after the answer.
    pub(crate) fn hide_text(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        self.hide(event, key.clone())?;
        if !has_text(event) {
            pay(&mut self.cost, json::length(event))?;
            self.without_text.insert(key, event.detached());
        }
        Ok(())
    }

    /// Passes on a hidden message if its first part is not text. Returns true if it was passed on.
    pub(crate) fn reveal_message<'a>(&mut self, key: &Key, is_other: bool, out: &mut Vec<Node<'a>>) -> bool {
        let Some(begin) = self.without_text.remove(key).filter(|_| is_other) else { return false };
        self.hidden.remove(key);
        index_of(&begin).into_iter().for_each(|index| self.hidden_indices.remove(index));
        self.pass(begin, out);
        true
    }

    pub(crate) fn record_text(&mut self, event: &Node<'_>) {
        self.calls.dropped.text |= has_text(event);
    }

    /// Passes on an event that the API did not send.
    pub(crate) fn add<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.added += 1;
        self.pass(event, out);
    }

    /// Passes on an event that the API did not send, before its source event.
    pub(crate) fn add_before<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) {
        self.pass(event, out);
        self.added += 1;
    }

    /// Returns true if the event belongs to a hidden block. The block is no longer hidden after its end.
    pub(crate) fn end_if_hidden(&mut self, part: Part, key: &Key) -> bool {
        match part {
            Part::GoesOn => self.hidden.contains(key),
            Part::Begins | Part::Ends => self.hidden.remove(key) && part == Part::Ends,
        }
    }

    pub(crate) fn is_buffered_text(&self, key: &Key) -> bool {
        self.texts.contains_key(key)
    }

    pub(crate) fn hold_text(&mut self, event: &Node<'_>, key: Key) -> Result<(), Error> {
        self.hold(event, Held::TextOf(key.clone()))?;
        self.texts.insert(key, index_of(event));
        Ok(())
    }
}

pub(crate) fn part_of(event: &Node<'_>) -> Option<(Part, Key)> {
    let known_event = decode(event).filter(|known_event| known_event.is_in_unit(event))?;
    let part = match known_event.meaning() {
        Meaning::Begin => Part::Begins,
        Meaning::End => Part::Ends,
        _ => Part::GoesOn,
    };
    Some((part, known_event.key(event)))
}

/// Maximum number of nested members that contain the text of an event.
const LEVELS: usize = 5;
/// Members on the path to the text of an event, in any format.
const TO_TEXT: [&str; 4] = ["part", "delta", "message", "content"];

fn has_text(event: &Node<'_>) -> bool {
    let Some(known_event) = decode(event) else { return has_text_in(event, LEVELS) };
    [known_event.index_holder(event), known_event.unit(event)]
        .into_iter()
        .flatten()
        .any(|node| has_text_in(node, LEVELS))
}

fn has_text_in(node: &Node<'_>, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    // In some events, `delta` itself is the piece of text.
    is_not_blank(node.get("text"))
        || is_not_blank(node.get("delta"))
        || TO_TEXT.iter().any(|key| node.get(*key).is_some_and(|inner| has_text_in(inner, levels)))
        || node.as_array().is_some_and(|parts| parts.iter().any(|part| has_text_in(part, levels)))
}

fn index_of(event: &Node<'_>) -> Option<u64> {
    decode(event)?.number(event)
}

impl HiddenIndices {
    /// Replaces the index of an event's block with its index among the blocks that the client sees.
    pub(crate) fn renumber(&self, event: &mut Node<'_>) {
        if self.is_empty() {
            return;
        }
        let Some(known_event) = decode(event).filter(|known_event| known_event.is_in_unit(event)) else { return };
        if let Some(index) = known_event.number(event) {
            known_event.renumber(event, index - self.count_before(index));
        }
    }
}
