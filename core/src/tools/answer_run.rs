//! Restores an answer that is spread over adjacent text parts of a stream, such as blocks of Anthropic or parts of
//! Responses. After a part that is truncated JSON, events are buffered until an event does not belong to a text part.
//! The whole answer is then put into the first part, as in a whole reply.

use alloc::{string::String, vec::Vec};

use super::{
    answer_parts::{in_run, is_bare_block, Read},
    buffered_calls::{append, pay, CONVERSE_DELTA},
    buffered_text::{at, BufferedText, Carrier, TextKey},
    text_events::{step_of, Step},
};
use crate::{
    error::Error,
    json::{self, Node},
    request::tool::has_type,
};

/// Adjacent text parts. All parts but the last one have ended.
#[derive(Debug)]
pub(super) struct Run {
    texts: Vec<Part>,
    /// Key of the last part, to which further pieces may belong.
    last: TextKey,
    is_open: bool,
    /// The start and end events of the parts, each with the index of its part.
    events: Vec<(Node<'static>, usize)>,
    cost: usize,
}

#[derive(Debug, Default)]
struct Part {
    text: String,
    /// Event that can carry the text.
    carrier: Option<Carrier>,
    /// Index of the block that is removed if its text moves into another block.
    bare: Option<u64>,
}

/// The events of a run that has ended.
pub(super) struct Released {
    pub(super) events: Vec<Node<'static>>,
    /// Indices of the removed blocks.
    pub(super) gone: Vec<u64>,
}

impl Run {
    /// Starts a run with a truncated text part, and the event that ends this part.
    pub(super) fn new(buffered: BufferedText, key: TextKey, end: &Node<'_>) -> Run {
        let first = Part { text: buffered.pieces, carrier: buffered.carrier, bare: None };
        let events = Vec::from([(end.detached(), 0)]);
        Run { texts: Vec::from([first]), last: key, is_open: false, events, cost: 0 }
    }

    /// Adds the next event. Returns false if the run ends before this event.
    ///
    /// # Errors
    /// `limit-exceeded`.
    pub(super) fn take(&mut self, event: &Node<'_>, carrier: impl FnOnce() -> Carrier) -> Result<bool, Error> {
        let number = self.texts.len().saturating_sub(1);
        match step_of(event) {
            // Texts of Converse start with their first piece.
            Step::GoesOn(key, path) => {
                if key != self.last {
                    if self.is_open || !has_no_start(event) {
                        return Ok(false);
                    }
                    (self.last, self.is_open) = (key, true);
                    self.texts.push(Part::default());
                } else if !self.is_open {
                    return Ok(false);
                }
                let piece = at(event, path).and_then(Node::as_text);
                pay(&mut self.cost, piece.map_or(0, |piece| piece.chars().len()))?;
                let Some(part) = self.texts.last_mut() else { return Ok(false) };
                piece.into_iter().for_each(|piece| append(&mut part.text, piece));
                part.carrier = Some(carrier());
            }
            Step::Begins(key) if !self.is_open && key != self.last && self.may_begin(&key, event) => {
                pay(&mut self.cost, json::length(event))?;
                (self.last, self.is_open) = (key, true);
                let block = event.get("content_block").filter(|block| is_bare_block(block));
                let bare = block.and_then(|_| event.get("index")?.as_u64());
                self.texts.push(Part { bare, ..Part::default() });
                self.events.push((event.detached(), number + 1));
            }
            Step::Ends(key) if key == self.last => {
                pay(&mut self.cost, json::length(event))?;
                self.is_open = false;
                self.events.push((event.detached(), number));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns true if an event may start the text after the last one: the event has no text yet, and a part of
    /// Responses is in the same item as the last text.
    fn may_begin(&self, key: &TextKey, event: &Node<'_>) -> bool {
        let message = event.get("delta").and_then(|delta| delta.get("message")?.get("content"));
        let holder = [event.get("content_block"), event.get("part"), message].into_iter().flatten().next();
        let is_empty =
            holder.and_then(|holder| holder.get("text")).is_none_or(|text| text.is_null() || text.is_text(""));
        is_empty && (!has_type(event, "response.content_part.added") || key.block == self.last.block)
    }

    /// Returns the buffered events, with the whole answer in the first part.
    pub(super) fn release(self, read: Read<'_>) -> Released {
        let texts: Vec<&str> = self.texts.iter().map(|part| part.text.as_str()).collect();
        let mut new = in_run(&texts, read, true).into_iter();
        let mut parts: Vec<(Part, Option<String>)> = Vec::new();
        for part in self.texts {
            parts.push((part, new.next().flatten()));
        }
        let is_gone = |part: &Part, new: &Option<String>| part.bare.is_some() && new.as_deref() == Some("");
        let gone = parts.iter().filter(|(part, new)| is_gone(part, new)).filter_map(|(part, _)| part.bare).collect();
        let mut events = Vec::new();
        for (mut event, number) in self.events {
            let Some((part, new)) = parts.get_mut(number) else { continue };
            if is_gone(part, new) {
                continue;
            }
            if let Step::Ends(_) = step_of(&event) {
                events.extend(part.piece(new.as_deref()));
                if let Some(text) = new {
                    let text = Node::string(text.clone());
                    match event.get("part").is_some() {
                        true => drop(event.visit("part", |part| part.set("text", text))),
                        false if event.get("text").is_some() => event.set("text", text),
                        false => {}
                    }
                }
            }
            events.push(event);
        }
        for (part, new) in &mut parts {
            events.extend(part.piece(new.as_deref()));
        }
        Released { events, gone }
    }
}

impl Part {
    /// Removes and returns the event with the text, unless the text is empty.
    fn piece(&mut self, new: Option<&str>) -> Option<Node<'static>> {
        let carrier = self.carrier.take()?;
        let text = new.unwrap_or(&self.text);
        (!text.is_empty()).then(|| carrier.with(text.into()))
    }
}

/// Returns true for a piece of a text part whose block has no start event.
fn has_no_start(event: &Node<'_>) -> bool {
    event.get(CONVERSE_DELTA).is_some()
}
