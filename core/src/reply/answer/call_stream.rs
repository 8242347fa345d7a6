//! Converts the events of a reply to a request whose response format was sent as a function. Pieces of the arguments of
//! the first call become pieces of text, and later calls to the function are dropped.
//!
//! Events are restored before this conversion, which only changes their form. Text next to the answer does not belong
//! to it. Text after the answer is dropped. If the model may call nothing else, text before the answer is buffered, and
//! dropped as soon as the answer starts.

use alloc::vec::Vec;

use super::{
    alternatives::AlternativeAnswers,
    call::{is_call_of, Dropped},
    queue::{part_of, Held, Part, Queue},
    reply,
    text::Answer,
};
use crate::{
    collections::Map,
    error::Error,
    json::{Node, Text},
    reply::{
        call_sites::has_no_arguments,
        streams::{
            buffered_calls::{pay, CALL},
            text::delta_of,
        },
    },
    wire::chat::cohere::Cohere,
    wire::{
        alternatives::alternatives_of,
        answers::{has_output, Conversion},
        events::{at, decode, kind_of, set, visit, Content, Key, Meaning},
        reply::is_text_part,
    },
};

#[derive(Debug, Default)]
pub(crate) struct AnswerEvents {
    /// The open blocks, items and steps that are converted to text. The flag is true once a piece of text was sent.
    open: Map<Key, bool>,
    /// Key of a Converse text that is passed on. Converse has no start events for blocks of text.
    passing: Option<Key>,
    alternatives: AlternativeAnswers,
    cohere: Cohere,
    queue: Queue,
}

impl AnswerEvents {
    pub(crate) fn feed<'a>(
        &mut self,
        mut event: Node<'a>,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if let Some(layout) = alternatives_of(&event) {
            self.alternatives.feed(&mut event, layout, (answer, answer.is_only))?;
            out.push(event);
            return Ok(());
        }
        let Some(event) = self.cohere.feed(event, answer, &mut self.queue, out)? else { return Ok(()) };
        match part_of(&event) {
            Some((part, key)) => self.in_block((event, part, key), answer, out),
            None => {
                self.process_other(event, answer, out);
                Ok(())
            }
        }
    }

    #[cfg(feature = "exchange")]
    pub(crate) fn has_answer(&self) -> bool {
        self.queue.calls.has_answer || self.alternatives.is_answered
    }

    pub(crate) fn dropped(&self) -> Dropped {
        let mut dropped = self.queue.calls.dropped;
        dropped.add(self.alternatives.dropped);
        dropped
    }

    /// Returns true if no state is left, so that the next event may belong to another reply.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.passing.is_none() && self.queue.is_empty() && self.alternatives.is_empty() && self.cohere.is_empty()
    }

    /// # Errors
    /// `budget-exceeded` if the answer cannot be restored.
    pub(crate) fn finish(&mut self, answer: &Answer) -> Result<Vec<Node<'static>>, Error> {
        let mut out = Vec::from_iter(self.cohere.finish(answer)?);
        self.queue.release(&mut out);
        out.extend(self.alternatives.take_buffered());
        Ok(out)
    }

    fn in_block<'a>(
        &mut self,
        (event, part, key): (Node<'a>, Part, Key),
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if part == Part::Begins {
            self.queue.end_if_hidden(part, &key);
            if self.open.remove(&key).is_some() {
                self.queue.cost -= CALL;
            }
            return self.begin(event, key, answer, out);
        }
        let new_part = decode(&event).filter(|known_event| known_event.meaning() == Meaning::BeginPart);
        let is_other_part =
            new_part.is_some_and(|known_event| known_event.unit(&event).is_some_and(|part| !is_text_part(part)));
        if is_other_part {
            self.queue.keep(&key);
        }
        if new_part.is_some() && self.queue.reveal_message(&key, is_other_part, out) {
            self.queue.pass(event, out);
            return Ok(());
        }
        if self.queue.end_if_hidden(part, &key) {
            if delta_of(&event).is_some() {
                self.queue.record_text(&event);
            }
            return Ok(());
        }
        if self.open.contains_key(&key) {
            self.in_answer((event, part, key), answer, out);
            return Ok(());
        }
        let is_bare_text = decode(&event).is_some_and(|known_event| {
            known_event.begins_without_event() && known_event.piece(&event, Content::Text).is_some()
        });
        if is_bare_text && self.passing.as_ref() != Some(&key) && !self.queue.is_buffered_text(&key) {
            return self.begin_text(event, key, answer, out);
        }
        if self.queue.is_holding() {
            let held = if self.queue.is_buffered_text(&key) { Held::TextOf(key) } else { Held::Other };
            return self.queue.hold(&event, held);
        }
        if part == Part::Ends && self.passing.as_ref() == Some(&key) {
            self.passing = None;
        }
        let repeats_unit =
            part == Part::Ends && decode(&event).is_some_and(|known_event| known_event.unit(&event).is_some());
        if repeats_unit {
            self.process_other(event, answer, out);
        } else {
            self.queue.pass(event, out);
        }
        Ok(())
    }

    /// Processes an event that does not belong to a block, or that has complete calls.
    fn process_other<'a>(&mut self, mut event: Node<'a>, answer: &Answer, out: &mut Vec<Node<'a>>) {
        // An event of an unknown kind does not end a text.
        let is_unknown = || kind_of(&event).is_some() && decode(&event).is_none() && !has_output(&event);
        if decode(&event).is_some_and(|known_event| known_event.meaning() == Meaning::KeepAlive) || is_unknown() {
            out.push(event);
            return;
        }
        self.queue.release(out);
        // Whole replies, and events that repeat earlier pieces.
        self.queue.calls.add(reply::answer_in_reply(&mut event, answer));
        reply::set_stop_reasons(&mut event, self.queue.calls);
        self.queue.pass(event, out);
    }

    fn begin_text<'a>(
        &mut self,
        event: Node<'a>,
        key: Key,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if self.queue.calls.has_answer {
            return self.queue.hide_text(&event, key);
        }
        if self.queue.buffers(answer) {
            self.queue.hold_text(&event, key)?;
            return Ok(());
        }
        self.passing = Some(key);
        self.queue.pass(event, out);
        Ok(())
    }

    fn begin<'a>(
        &mut self,
        mut event: Node<'a>,
        key: Key,
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        let Some(known_event) = decode(&event) else { return self.pass_or_hold(event, out) };
        let Some(unit) = known_event.unit(&event) else { return self.pass_or_hold(event, out) };
        let wire = known_event.wire();
        let Some(called) = known_event.call(&event) else {
            return match (wire.answers().is_text)(unit) {
                true => self.begin_text(event, key, answer, out),
                false => self.pass_or_hold(event, out),
            };
        };
        if !is_call_of(called, known_event.call_name(), answer) {
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
        let (Conversion::Unit(convert), false) = (wire.answers().conversion, known_event.begins_without_event()) else {
            self.open.insert(key, false);
            return Ok(());
        };
        // The arguments are usually in later events.
        let arguments = known_event.call_arguments().filter(|member| !has_no_arguments(called, member));
        let first_text = arguments.map(|_| answer.text_of(known_event.arguments_of(called)));
        self.open.insert(key, first_text.is_some());
        // If the text is in a part, the part has its own start event.
        let text = first_text.filter(|_| wire.answers().events.is_none());
        visit(&mut event, known_event.unit_path(), |unit| convert(unit, text));
        let part = wire.answers().events.map(|events| (events.part_begin)(&event));
        self.queue.pass(event, out);
        if let Some(part) = part {
            self.queue.add(part, out);
        }
        Ok(())
    }

    fn pass_or_hold<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        if self.queue.is_holding() {
            return self.queue.hold(&event, Held::Other);
        }
        self.queue.pass(event, out);
        Ok(())
    }

    fn in_answer<'a>(
        &mut self,
        (mut event, part, key): (Node<'a>, Part, Key),
        answer: &Answer,
        out: &mut Vec<Node<'a>>,
    ) {
        let Some(known_event) = decode(&event) else { return self.queue.pass(event, out) };
        let answers = known_event.wire().answers();
        if part == Part::Ends {
            let has_text = self.open.remove(&key) == Some(true);
            self.queue.cost -= CALL;
            if let (Some(unit), Conversion::Unit(convert)) = (known_event.unit(&event), answers.conversion) {
                let text = answer.whole_text_of(unit, known_event.repeated_arguments(unit));
                visit(&mut event, known_event.unit_path(), |unit| convert(unit, Some(text)));
            } else if !has_text {
                // A call without pieces has no arguments.
                empty_object(&event).into_iter().for_each(|event| self.queue.pass(event, out));
            }
        } else if let (Meaning::Snapshot, Some(events)) = (known_event.meaning(), answers.events) {
            let is_empty = has_no_arguments(&event, "arguments");
            let text = answer.whole_text_of(&event, (event.get("arguments"), true));
            if is_empty && !self.open.insert(key, true).unwrap_or_default() {
                // Clients that join pieces would get no text.
                let mut piece = event.detached();
                (events.piece)(&mut piece, Some(Node::string(text.clone())));
                events.bare.iter().for_each(|key| drop(piece.remove(key)));
                self.queue.add_before(piece, out);
            }
            let part = (events.whole)(&mut event, text);
            self.queue.pass(event, out);
            self.queue.add(part, out);
            return;
        } else if convert_delta(&mut event, answer) {
            self.open.insert(key, true);
        }
        self.queue.pass(event, out);
    }
}

/// Returns an event with the piece `{}`, to send before the event that ends the block.
fn empty_object(event: &Node<'_>) -> Option<Node<'static>> {
    let (mut piece, path) = decode(event)?.piece_event(event, Content::Text)?;
    set(&mut piece, path, Node::literal("{}"));
    Some(piece)
}

/// Converts an event with a piece of arguments to an event with a piece of text. Returns true if the piece is not
/// empty.
fn convert_delta(event: &mut Node<'_>, answer: &Answer) -> bool {
    // A piece stays unchanged, unless the arguments are buffered: then the piece contains all arguments.
    let text = |piece: &Node<'_>| {
        let arguments = piece.as_text()?;
        let whole = (!answer.plan.is_empty()).then(|| Text::new(answer.text_of((Some(piece), true))));
        Some(whole.unwrap_or_else(|| arguments.clone().into_owned()))
    };
    let Some(known_event) = decode(event).filter(|known_event| known_event.may_have(Content::Arguments)) else {
        return false;
    };
    let piece = known_event.piece(event, Content::Arguments).and_then(|path| text(at(event, path)?));
    let has_text = piece.as_ref().is_some_and(|piece| !piece.is_empty());
    if let Some(events) = known_event.wire().answers().events {
        (events.piece)(event, piece.map(Node::string));
        return has_text;
    }
    let empty = known_event.piece_event(event, Content::Text);
    if let Some((piece, (mut of_text, path))) = piece.zip(empty) {
        set(&mut of_text, path, Node::string(piece));
        let holder = path.split_last().map_or(path, |(_, holder)| holder);
        let delta = at(&of_text, holder).map(Node::detached).unwrap_or_default();
        set(event, holder, delta);
    }
    has_text
}
