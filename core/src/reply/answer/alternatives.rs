//! Converts calls with structured output to text, in replies with alternative messages and in chunks of such replies.
//! The first call to the function that replaces the response format becomes the text of its alternative. Pieces of its
//! arguments become pieces of text.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::{
    call::{self, as_text_in_list, is_answer_unit, is_call_of, Calls, Dropped, HiddenIndices},
    text::Answer,
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Data, Node, Text},
    reply::streams::{
        buffered_calls::{append, pay, CALL},
        text::{Carrier, TextLocation},
    },
    wire::alternatives::{alternatives_of, number, Alternatives, PiecedCalls},
};

#[derive(Debug, Default)]
pub(crate) struct AlternativeAnswers {
    known: Map<u64, Alternative>,
    pub(crate) is_answered: bool,
    pub(crate) dropped: Dropped,
    /// Alternatives of the current event with calls whose names are not known yet.
    nameless: Vec<u64>,
    cost: usize,
}

#[derive(Debug, Default)]
struct Alternative {
    calls: Calls,
    /// True if this event or an earlier event contains the structured output.
    is_answered: bool,
    /// The last call at each index.
    calls_by_index: Map<u64, Begun>,
    hidden_indices: HiddenIndices,
    /// Buffered text, which is dropped if structured output follows.
    buffered: String,
    /// Event to send with the buffered text.
    carrier: Option<Carrier>,
    /// Event to send with calls whose names remain unknown.
    chunk: Option<(Arc<Node<'static>>, &'static Alternatives)>,
}

#[derive(Debug)]
enum Begun {
    /// A call to the function. The first such call contains the structured output.
    Answer { id: Option<Text<'static>>, is_first: bool },
    /// A call that is passed on to the client.
    Other,
    /// Pieces of a call whose name is not known yet.
    Nameless(Node<'static>),
}

enum Handling {
    Unchanged,
    Changed(Node<'static>),
    Answer(String),
    Dropped,
}

/// Converts the calls in a whole reply, or in a list of its chunks. Returns `None` if calls are not units of the
/// messages.
pub(super) fn answer_in_units(reply: &mut Node<'_>, answer: &Answer) -> Option<Calls> {
    let in_units = |chunk: &Node<'_>| alternatives_of(chunk).filter(|layout| layout.calls().is_none());
    let mut answers = AlternativeAnswers::default();
    // `feed` and `record_answers` fail only if a stream exceeds its limit.
    if !matches!(reply.data(), Data::Array(_)) {
        let _ = answers.feed(reply, in_units(reply)?, (answer, false));
        return Some(answers.calls());
    }
    let mut has_any = false;
    for chunk in reply.as_array().unwrap_or_default() {
        if let Some(layout) = in_units(chunk) {
            has_any = true;
            let _ = answers.record_answers(chunk, layout, answer);
        }
    }
    if !has_any {
        return None;
    }
    // The visitor never fails.
    let _ = reply.visit_children::<()>(|_, chunk| {
        if let Some(layout) = in_units(chunk) {
            let _ = answers.feed(chunk, layout, (answer, false));
        }
        Ok(())
    });
    Some(answers.calls())
}

impl AlternativeAnswers {
    /// Processes an event. `buffers` is true if text is buffered until structured output or the end follows.
    pub(crate) fn feed(
        &mut self,
        event: &mut Node<'_>,
        layout: &'static Alternatives,
        (answer, buffers): (&Answer, bool),
    ) -> Result<(), Error> {
        self.record_answers(event, layout, answer)?;
        let carrier = buffers.then(|| Carrier::new(layout.without_output(event), TextLocation::Alternative(layout, 0)));
        let mut outcome = Ok(());
        layout.visit(event, &mut |item, number| {
            if outcome.is_ok() {
                outcome = self.alternative((item, number), layout, (answer, carrier.as_ref()));
            }
        });
        let nameless = core::mem::take(&mut self.nameless);
        if !nameless.is_empty() {
            let chunk = Arc::new(layout.without_output(event));
            pay(&mut self.cost, json::length(&chunk))?;
            for number in nameless {
                if let Some(known) = self.known.get_mut(&number) {
                    known.chunk = Some((chunk.clone(), layout));
                }
            }
        }
        outcome
    }

    fn record_answers(
        &mut self,
        event: &Node<'_>,
        layout: &'static Alternatives,
        answer: &Answer,
    ) -> Result<(), Error> {
        if layout.calls().is_some() {
            return Ok(());
        }
        for item in layout.items(event) {
            let known = self.entry(number(item))?;
            known.is_answered |= layout.units_of(item).iter().any(|unit| is_answer_unit(unit, layout.units, answer));
        }
        Ok(())
    }

    fn entry(&mut self, number: u64) -> Result<&mut Alternative, Error> {
        if !self.known.contains_key(&number) {
            pay(&mut self.cost, CALL)?;
        }
        Ok(self.known.entry(number).or_default())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        self.known.values().for_each(|known| calls.add(known.calls));
        calls
    }

    pub(crate) fn take_buffered(&mut self) -> Vec<Node<'static>> {
        self.cost = 0;
        let mut events = Vec::new();
        for (number, mut known) in core::mem::take(&mut self.known) {
            let text = core::mem::take(&mut known.buffered);
            events.extend(known.carrier.take().filter(|_| !text.is_empty()).map(|carrier| carrier.with(text)));
            let mut calls = Vec::new();
            let has_calls = known.take_nameless(&mut calls);
            if let Some((chunk, layout)) = known.chunk.take().filter(|_| has_calls) {
                let mut chunk = Arc::unwrap_or_clone(chunk);
                layout.set_units(&mut chunk, number, calls);
                events.push(chunk);
            }
        }
        events
    }

    fn alternative(
        &mut self,
        (item, number): (&mut Node<'_>, u64),
        layout: &'static Alternatives,
        (answer, carrier): (&Answer, Option<&Carrier>),
    ) -> Result<(), Error> {
        let has_whole = layout.whole != layout.part && item.get(layout.whole).is_some();
        if layout.units_of(item).is_empty() && !has_whole && carrier.is_none() && !self.known.contains_key(&number) {
            return Ok(());
        }
        self.entry(number)?;
        let Some(known) = self.known.get_mut(&number) else { return Ok(()) };
        if has_whole {
            // Some servers send whole messages as chunks.
            let calls = item.visit(layout.whole, |message| call::answer_in_message(message, answer));
            known.calls.add(calls.unwrap_or_default());
        }
        let ends = layout.ends(item);
        let piece = match layout.calls() {
            Some(calls) => {
                let (piece, has_nameless) = known.pieces(item, (layout, calls), answer, &mut self.cost)?;
                if has_nameless && known.chunk.is_none() {
                    self.nameless.push(number);
                }
                known.is_answered = known.calls.has_answer;
                piece
            }
            None => None,
        };
        if known.is_answered || carrier.is_some() {
            let mut text = String::new();
            item.visit(layout.part, |part| layout.take_texts(part, &mut |piece| append(&mut text, piece)));
            if known.is_answered {
                self.is_answered = true;
                let is_blank = |text: &str| text.trim().is_empty();
                known.calls.dropped.text |= !is_blank(&text) || !is_blank(&known.buffered);
                let carrier_cost = known.carrier.take().map_or(0, |carrier| carrier.length());
                self.cost -= known.buffered.len() + carrier_cost;
                known.buffered = String::new();
            } else if let Some(carrier) = carrier.filter(|_| !(text.is_empty() && known.buffered.is_empty())) {
                // An event above the limit changes nothing.
                let carrier_cost = known.carrier.as_ref().map_or(0, Carrier::length);
                let mut cost = self.cost - carrier_cost;
                pay(&mut cost, text.len() + carrier.length())?;
                self.cost = cost;
                known.buffered.push_str(&text);
                known.carrier = Some(carrier.at(TextLocation::Alternative(layout, number)));
            }
        }
        if layout.calls().is_none() {
            let was_answered = known.calls.has_answer;
            let calls = item.visit(layout.part, |part| as_text_in_list(part, layout.units, answer, was_answered));
            known.calls.add(calls.unwrap_or_default());
        }
        if known.is_answered {
            self.dropped.add(known.calls.dropped);
            piece.into_iter().for_each(|piece| layout.add_text(item, piece));
        } else if ends && !known.buffered.is_empty() {
            let carrier_cost = known.carrier.take().map_or(0, |carrier| carrier.length());
            self.cost -= known.buffered.len() + carrier_cost;
            layout.put_text(item, core::mem::take(&mut known.buffered));
        }
        call::set_stop_reason(item, known.calls);
        Ok(())
    }
}

impl Alternative {
    /// Returns the piece of structured output, and true if the name of a call is not known yet.
    fn pieces(
        &mut self,
        item: &mut Node<'_>,
        (layout, calls): (&'static Alternatives, PiecedCalls),
        answer: &Answer,
        cost: &mut usize,
    ) -> Result<(Option<String>, bool), Error> {
        let (mut text, mut passed, mut is_changed, mut has_nameless) = (None, Vec::new(), false, false);
        for (at, call) in layout.units_of(item).iter().enumerate() {
            let index = call.u64_at("index").unwrap_or(at as u64);
            let handling = self.handling_of(index, (call, calls), answer, cost)?;
            has_nameless |=
                matches!((&handling, self.calls_by_index.get(&index)), (Handling::Dropped, Some(Begun::Nameless(_))));
            is_changed |= !matches!(handling, Handling::Unchanged) || self.hidden_indices.count_before(index) > 0;
            match handling {
                Handling::Unchanged => passed.push(self.renumber(index, call.detached())),
                Handling::Changed(call) => passed.push(self.renumber(index, call)),
                Handling::Answer(piece) => text.get_or_insert_with(String::new).push_str(&piece),
                Handling::Dropped => {}
            }
        }
        is_changed |= layout.ends(item) && self.take_nameless(&mut passed);
        if is_changed {
            layout.edit_part(item, |part| {
                if passed.is_empty() {
                    part.remove(layout.units);
                } else {
                    part.set(layout.units, Node::array(passed));
                }
            });
        }
        Ok((text, has_nameless))
    }

    fn handling_of(
        &mut self,
        index: u64,
        (call, calls): (&Node<'_>, PiecedCalls),
        answer: &Answer,
        cost: &mut usize,
    ) -> Result<Handling, Error> {
        let text = |node: Option<&Node<'_>>| {
            node.and_then(Node::as_text).filter(|text| !text.is_empty()).cloned().map(Text::into_owned)
        };
        let function = calls.of(call).filter(|function| function.as_object().is_some());
        let (name, id) = (text(function.and_then(|function| function.get(calls.name()))), text(call.get("id")));
        let is_answer = function.is_some_and(|function| is_call_of(function, calls.name(), answer));
        // A different name, or the same name with a different id, starts another call. Some servers repeat both in
        // every piece.
        let is_other_id = |known: &Option<Text<'static>>| id.is_some() && known.is_some() && id != *known;
        match self.calls_by_index.get(&index) {
            // Some servers assign a different id to every piece.
            Some(Begun::Answer { id: known, is_first })
                if function.is_some() && (name.is_none() || is_answer && !is_other_id(known)) =>
            {
                return Ok(if *is_first { Handling::Answer(piece_of(call, calls, answer)) } else { Handling::Dropped });
            }
            Some(Begun::Other) if name.is_none() => return Ok(Handling::Unchanged),
            _ => {}
        }
        if !self.calls_by_index.contains_key(&index) {
            pay(cost, CALL)?;
        }
        let (mut whole, mut is_merged) = (None, false);
        if let Some(Begun::Nameless(before)) = self.calls_by_index.get(&index) {
            (whole, is_merged) = (Some(merge(before, call, calls)), true);
        }
        if name.is_none() && function.is_some() {
            let buffered = whole.unwrap_or_else(|| call.detached());
            pay(cost, json::length(call))?;
            self.calls_by_index.insert(index, Begun::Nameless(buffered));
            return Ok(Handling::Dropped);
        }
        if is_answer {
            let is_first = !self.calls.has_answer;
            self.calls.has_answer = true;
            self.calls.dropped.calls |= !is_first;
            self.hidden_indices.insert(index);
            self.calls_by_index.insert(index, Begun::Answer { id, is_first });
            let piece = || piece_of(whole.as_ref().unwrap_or(call), calls, answer);
            return Ok(if is_first { Handling::Answer(piece()) } else { Handling::Dropped });
        }
        self.calls.has_others = true;
        self.calls_by_index.insert(index, Begun::Other);
        Ok(match whole.filter(|_| is_merged) {
            Some(whole) => Handling::Changed(whole),
            None => Handling::Unchanged,
        })
    }

    /// Appends the calls whose names remain unknown to the calls of an event. Returns true if such calls exist.
    fn take_nameless(&mut self, calls: &mut Vec<Node<'static>>) -> bool {
        let known = core::mem::take(&mut self.calls_by_index);
        let before = calls.len();
        for (index, call) in known {
            match call {
                Begun::Nameless(call) => {
                    self.calls.has_others = true;
                    calls.push(self.renumber(index, call));
                    self.calls_by_index.insert(index, Begun::Other);
                }
                known => drop(self.calls_by_index.insert(index, known)),
            }
        }
        calls.len() > before
    }

    /// Returns a call with its index among the calls that the client sees.
    fn renumber(&self, index: u64, mut call: Node<'static>) -> Node<'static> {
        let before = self.hidden_indices.count_before(index);
        if before > 0 && call.get("index").is_some() {
            call.set("index", Node::count(index - before));
        }
        call
    }
}

fn piece_of(call: &Node<'_>, calls: PiecedCalls, answer: &Answer) -> String {
    answer.text_of((calls.arguments_of(call), true))
}

fn merge(before: &Node<'static>, call: &Node<'_>, calls: PiecedCalls) -> Node<'static> {
    let mut whole = before.clone();
    for member in call.as_object().into_iter().flatten() {
        if member.key.is(calls.function()) {
            let mut arguments = String::new();
            for part in [calls.of(before), Some(&member.value)].into_iter().flatten() {
                part.text_at(calls.arguments()).into_iter().for_each(|text| append(&mut arguments, text));
            }
            let mut function = member.value.detached();
            function.set(calls.arguments(), Node::string(arguments));
            whole.set(calls.function(), function);
        } else if !member.value.is_null() {
            let key = member.key.clone().into_owned();
            whole.as_object_mut().into_iter().for_each(|whole| whole.set(key.clone(), member.value.detached()));
        }
    }
    whole
}
