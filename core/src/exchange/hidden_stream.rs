//! Removes the model's searches from a streamed reply, because the client must not see them: text is passed on at once,
//! and several rounds become one reply.
//!
//! In Responses and Interactions, a reasoning item belongs to the item after it, so its events are buffered until the
//! next item shows if a search follows.

use alloc::vec::Vec;

use super::{
    hidden::{put_break, Delivery, HiddenLoop, Pieces, Round},
    usage,
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    reply::{call_sites::entry_id, streams::buffered_calls::CALL},
    wire::{
        self,
        alternatives::{Alternatives, MessageText},
        events::{sequence, set_sequence, visit, KnownEvent, Meaning},
        rounds::{Body, BuiltItem, ItemList, STATUS},
    },
};

const ID: &str = "id";

impl HiddenLoop {
    pub(super) fn feed<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        match self.rounds.body() {
            Body::Message(message) => self.feed_chunk(event, message, out),
            Body::Items(items) => self.feed_item(event, items, out),
        }
    }

    /// Some streams end without a final event.
    pub(super) fn end(&mut self) -> Result<Vec<Node<'static>>, Error> {
        if !self.round.stopped {
            self.stop(true)?;
        }
        let mut out = Vec::new();
        if !self.asks_again {
            self.release_buffered(&mut out);
        }
        Ok(out)
    }

    pub(super) fn begin_round(&mut self) {
        let Round { passed, has_text, had_text_before, used, id, sequence, .. } = core::mem::take(&mut self.round);
        self.round = Round { passed, had_text_before: had_text_before || has_text, id, sequence, ..Round::default() };
        self.used = usage::total(self.used.as_ref(), used.as_ref());
    }

    /// Returns true if the model is asked again.
    fn stop(&mut self, ended: bool) -> Result<bool, Error> {
        self.round.stopped = true;
        if !self.decide((self.round.has_search, self.round.has_client_call), ended) {
            return Ok(false);
        }
        let Round { message: pieces, calls, items, units, .. } = &mut self.round;
        let mut units = core::mem::take(units);
        units.extend(core::mem::take(calls).into_iter().map(Pieces::whole));
        units.extend(core::mem::take(items).into_iter().map(<dyn BuiltItem>::whole));
        let turn = match self.rounds.body() {
            Body::Message(message) => {
                let mut turn = message.model_message(Node::empty_object());
                for member in core::mem::take(pieces).whole().as_object().into_iter().flatten() {
                    if let Some(object) = turn.as_object_mut() {
                        object.set(member.key.clone(), member.value.clone());
                    }
                }
                turn.set(message.units, Node::array(units.clone()));
                Vec::from([turn])
            }
            Body::Items(_) => {
                let new_units = self.without_searches(&units);
                self.client_units.extend(new_units);
                units.clone()
            }
        };
        self.answer(turn, &units)?;
        Ok(true)
    }

    /// Counts stored bytes. Returns false above the limit. The model is then not asked again, so nothing needs to be
    /// stored.
    fn count_stored(&mut self, node: &Node<'_>) -> bool {
        self.stored_bytes = self.stored_bytes.saturating_add(json::length(node));
        self.stored_bytes <= MAX_HELD_BYTES
    }

    /// Counts the bytes of a call or an item, without its content. Returns false above the limit.
    fn stores_call(&mut self) -> bool {
        self.stored_bytes = self.stored_bytes.saturating_add(CALL);
        self.stored_bytes <= MAX_HELD_BYTES
    }

    fn use_first_id(&mut self, event: &mut Node<'_>, key: &'static str) {
        let event_id = event.get(key).filter(|id| !id.is_null());
        match &self.round.id {
            Some(id) if event_id.is_some_and(|event_id| !json::same(event_id, id)) => event.set(key, id.clone()),
            Some(_) => {}
            None => self.round.id = event_id.map(Node::detached),
        }
    }

    fn add_usage(&mut self, event: &mut Node<'_>) {
        let key = wire::of(self.api).reply().usage();
        let Some(event_usage) = event.get(key).filter(|used| !used.is_null()).map(Node::detached) else { return };
        if let (true, Some(used)) = (self.used.is_some(), usage::total(self.used.as_ref(), Some(&event_usage))) {
            event.set(key, used);
        }
        self.round.used = Some(event_usage);
    }

    fn feed_chunk<'a>(
        &mut self,
        mut event: Node<'a>,
        message: &'static Alternatives,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        self.add_usage(&mut event);
        if self.asks_again {
            return Ok(());
        }
        self.use_first_id(&mut event, message.id);
        let entry = message.first(&event);
        let reason = entry.and_then(|entry| entry.get(message.reason)).filter(|reason| !reason.is_null());
        let ended = reason.map(|reason| self.rounds.allows_another_round(Some(reason)));
        let without_calls = self.rounds.end_without_calls(reason);
        let part = entry.and_then(|entry| entry.get(message.part)).filter(|part| part.as_object().is_some());
        let part = part.map(Node::detached);
        let mut is_shortened = part.is_some_and(|part| match &message.text {
            MessageText::Member(text) => self.filter_pieces(&part, &mut event, (message, text)),
            MessageText::InUnits { member, unless } => self.filter_parts(&part, &mut event, (message, member, unless)),
        });
        if let Some(ended) = ended.filter(|_| !self.round.stopped) {
            if self.stop(ended)? {
                message.edit_first(&mut event, |entry| match message.has_null_reason {
                    true => entry.set(message.reason, Node::default()),
                    false => drop(entry.remove(message.reason)),
                });
                is_shortened = true;
            } else if let Some(end) = without_calls.filter(|_| self.round.has_search && !self.round.has_client_call) {
                message.edit_first(&mut event, |entry| entry.set(message.reason, end));
            }
        }
        if !(is_shortened && self.is_bare(&event, message)) {
            out.push(event);
        }
        Ok(())
    }

    fn is_bare(&self, event: &Node<'_>, message: &Alternatives) -> bool {
        let Some(entry) = message.first(event) else { return false };
        let is_silent = |value: &Node<'_>| {
            value.is_null()
                || value.as_text().is_some_and(Text::is_empty)
                || value.as_array().is_some_and(<[_]>::is_empty)
        };
        let part = entry.object_at(message.part);
        part.is_none_or(|part| part.iter().all(|member| member.key.is("role") || is_silent(&member.value)))
            && entry.get(message.reason).is_none_or(Node::is_null)
            && (message.repeats_usage || event.get(wire::of(self.api).reply().usage()).is_none_or(Node::is_null))
    }

    /// Returns true if something was removed.
    fn filter_pieces(
        &mut self,
        delta: &Node<'static>,
        event: &mut Node<'_>,
        (message, text): (&'static Alternatives, &'static str),
    ) -> bool {
        let calls = delta.items_at(message.units);
        let keeps = self.count_stored(delta);
        let mut deliveries: Vec<Delivery> = Vec::new();
        for call in calls {
            let Some(index) = call.u64_at("index") else {
                // The stream is above a limit of restoring, so the calls of this round are not known.
                self.stored_bytes = self.stored_bytes.max(MAX_HELD_BYTES.saturating_add(1));
                deliveries.push(self.delivery_above_limit(call));
                continue;
            };
            let (delivery, at) = match self.round.deliveries.get(&index) {
                Some(known) => *known,
                None => {
                    if !self.stores_call() {
                        deliveries.push(self.delivery_above_limit(call));
                        continue;
                    }
                    let delivery = self.delivery(call);
                    let at = self.round.calls.len();
                    self.round.calls.push(Pieces::default());
                    self.round.deliveries.insert(index, (delivery, at));
                    (delivery, at)
                }
            };
            if let Some(whole) = self.round.calls.get_mut(at).filter(|_| keeps) {
                whole.add(call, &["index"]);
            }
            deliveries.push(delivery);
        }
        if keeps {
            self.round.message.add(delta, &[message.units, "role"]);
        }
        // The client received the role in the first round.
        let repeats_role = self.is_after_first_round() && delta.get("role").is_some();
        if repeats_role {
            message.edit_first(event, |entry| entry.visit(message.part, |part| part.remove("role")));
        }
        let breaks = self.needs_break(delta.get(text));
        let is_shortened = deliveries.contains(&Delivery::Search);
        // A call without an index gets none.
        let is_moved = deliveries.iter().zip(calls).any(|(delivery, call)| match delivery {
            Delivery::Shown(position) => call.u64_at("index").is_some_and(|index| index != *position),
            _ => true,
        });
        if !breaks && !is_moved {
            return repeats_role;
        }
        message.edit_first(event, |entry| {
            entry.visit(message.part, |part| {
                if breaks {
                    part.visit(text, put_break);
                }
                if !is_moved {
                    return;
                }
                let is_empty = part.visit(message.units, |calls| {
                    let Some(list) = calls.as_array_mut() else { return false };
                    for (call, delivery) in list.iter_mut().zip(&deliveries) {
                        if let (Delivery::Shown(position), Some(_)) = (delivery, call.u64_at("index")) {
                            call.set("index", Node::count(*position));
                        }
                    }
                    let mut deliveries = deliveries.iter();
                    list.retain(|_| deliveries.next() != Some(&Delivery::Search));
                    list.is_empty()
                });
                if is_empty == Some(true) {
                    part.remove(message.units);
                }
            })
        });
        is_shortened || repeats_role
    }

    fn delivery(&mut self, call: &Node<'_>) -> Delivery {
        let is_search = self.is_search(call);
        self.round.has_search |= is_search;
        self.round.has_client_call |= !is_search;
        let delivery = if is_search { Delivery::Search } else { Delivery::Shown(self.round.passed) };
        self.round.passed += u64::from(!is_search);
        delivery
    }

    /// Returns the delivery of a call above the limit. An entry without a name and an id continues the last entry.
    fn delivery_above_limit(&mut self, call: &Node<'_>) -> Delivery {
        let name = call.get("function").and_then(|function| function.text_at("name"));
        let begins = name.is_some_and(|name| !name.is_empty()) || entry_id(call).is_some();
        let delivery = self.round.last_above_limit.filter(|_| !begins).unwrap_or_else(|| self.delivery(call));
        self.round.last_above_limit = Some(delivery);
        delivery
    }

    /// Returns true if text begins here and an earlier round had text, so a separator is needed.
    fn needs_break(&mut self, text: Option<&Node<'_>>) -> bool {
        let is_text = text.and_then(Node::as_text).is_some_and(|text| !text.is_empty());
        let breaks = is_text && !self.round.has_text && self.round.had_text_before;
        self.round.has_text |= is_text;
        breaks
    }

    /// Returns true if something was removed.
    fn filter_parts(
        &mut self,
        part: &Node<'static>,
        event: &mut Node<'_>,
        (message, text, unless): (&'static Alternatives, &'static str, &'static str),
    ) -> bool {
        let units = part.items_at(message.units);
        let mut searches = Vec::with_capacity(units.len());
        let mut breaks = None;
        for (at, unit) in units.iter().enumerate() {
            let is_search = self.is_search(unit);
            self.round.has_search |= is_search;
            self.round.has_client_call |= self.rounds.is_call(unit) && !is_search;
            searches.push(is_search);
            if self.needs_break(unit.get(text).filter(|_| unit.bool_at(unless) != Some(true))) {
                breaks = Some(at);
            }
            if self.count_stored(unit) {
                self.round.units.push(unit.clone());
            }
        }
        let is_shortened = searches.contains(&true);
        if is_shortened || breaks.is_some() {
            message.edit_first(event, |entry| {
                entry.visit(message.part, |part| {
                    part.visit(message.units, |units| {
                        let Some(list) = units.as_array_mut() else { return };
                        if let Some(unit) = breaks.and_then(|at| list.get_mut(at)) {
                            unit.visit(text, put_break);
                        }
                        let mut searches = searches.iter();
                        list.retain(|_| searches.next() != Some(&true));
                    })
                })
            });
        }
        is_shortened
    }

    fn feed_item<'a>(
        &mut self,
        mut event: Node<'a>,
        items: &'static ItemList,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        if self.asks_again {
            return Ok(());
        }
        let Some(known_event) = wire::of(self.api).decode(&event) else {
            self.pass(event, out);
            return Ok(());
        };
        match known_event.meaning() {
            Meaning::Finish { is_complete } => {
                return self.finish_last_round(event, (known_event, items), is_complete, out)
            }
            Meaning::ReplyBegin if self.is_after_first_round() => return Ok(()),
            Meaning::ReplyBegin if !self.is_stored => {
                visit(&mut event, known_event.unit_path(), |reply| self.use_first_id(reply, ID));
            }
            _ => {}
        }
        let Some(index) = known_event.number(&event) else {
            self.pass(event, out);
            return Ok(());
        };
        if known_event.meaning() == Meaning::Begin {
            let item = known_event.unit(&event).map(Node::detached).unwrap_or_default();
            let is_search = self.is_search(&item);
            self.round.has_search |= is_search;
            self.round.has_client_call |= self.rounds.is_call(&item) && !is_search;
            let delivery = if is_search {
                self.round.buffered.clear();
                Delivery::Search
            } else if self.rounds.is_reasoning(&item) {
                Delivery::Buffered
            } else {
                self.release_buffered(out);
                let position = self.round.passed;
                self.round.passed += 1;
                Delivery::Shown(position)
            };
            let at = self.round.items.len();
            // Items do not overlap, so above the limit only the last item is recorded.
            if !self.stores_call() {
                self.round.deliveries = Map::new();
            }
            self.round.deliveries.insert(index, (delivery, at));
        }
        self.record_item(&event, (known_event, items), index);
        match self.round.deliveries.get(&index) {
            Some((Delivery::Shown(position), _)) if *position != index => known_event.renumber(&mut event, *position),
            Some((Delivery::Search, _)) => return Ok(()),
            Some((Delivery::Buffered, _)) => {
                self.stored_bytes = self.stored_bytes.saturating_add(json::length(&event));
                self.round.buffered.push(event.detached());
                if self.stored_bytes > MAX_HELD_BYTES {
                    self.release_buffered(out);
                }
                return Ok(());
            }
            _ => {}
        }
        self.pass(event, out);
        Ok(())
    }

    fn record_item(&mut self, event: &Node<'_>, (known_event, items): (KnownEvent, &ItemList), index: u64) {
        let Some(built) = items.built else {
            let item = known_event.unit(event).filter(|_| known_event.meaning() == Meaning::End);
            if let Some(item) = item.filter(|item| self.count_stored(item)) {
                self.round.units.push(item.detached());
            }
            return;
        };
        let keeps = self.count_stored(event);
        let Some(unit) = known_event.unit(event).filter(|_| keeps) else { return };
        if known_event.meaning() == Meaning::Begin {
            self.round.items.push(built(unit.detached()));
        } else if let Some((_, at)) = self.round.deliveries.get(&index) {
            self.round.items.get_mut(*at).into_iter().for_each(|item| item.add(unit));
        }
    }

    fn finish_last_round<'a>(
        &mut self,
        mut event: Node<'a>,
        (known_event, items): (KnownEvent, &ItemList),
        is_complete: bool,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        let (reply, usage) = (known_event.unit_path(), wire::of(self.api).reply().usage());
        let status = known_event.unit(&event).and_then(|reply| reply.get(STATUS));
        let ended = is_complete && self.rounds.allows_another_round(status);
        visit(&mut event, reply, |reply| {
            self.add_usage(reply);
            if !self.is_stored {
                self.use_first_id(reply, ID);
            }
        });
        if !self.round.stopped && self.stop(ended)? {
            return Ok(());
        }
        if let (None, Some(used)) = (&self.round.used, &self.used) {
            // The last round reports no usage.
            visit(&mut event, reply, |reply| reply.set(usage, used.clone()));
        }
        self.release_buffered(out);
        if self.round.has_search || self.is_after_first_round() {
            let units = known_event.unit(&event).map(|reply| reply.items_at(items.list)).unwrap_or_default();
            let units: Vec<Node<'static>> = units.iter().map(Node::detached).collect();
            let kept = self.without_searches(&units);
            let is_emptied = self.round.has_search && !self.round.has_client_call;
            visit(&mut event, reply, |reply| self.finish_items(reply, items, kept, is_emptied));
        }
        self.pass(event, out);
        Ok(())
    }

    fn release_buffered(&mut self, out: &mut Vec<Node<'_>>) {
        for mut event in core::mem::take(&mut self.round.buffered) {
            let Some((known_event, index)) = wire::of(self.api)
                .decode(&event)
                .and_then(|known_event| Some((known_event, known_event.number(&event)?)))
            else {
                continue;
            };
            let position = match self.round.deliveries.get(&index) {
                Some((Delivery::Shown(position), _)) => *position,
                known => {
                    let at = known.map(|(_, at)| *at).unwrap_or_default();
                    let position = self.round.passed;
                    self.round.passed += 1;
                    self.round.deliveries.insert(index, (Delivery::Shown(position), at));
                    position
                }
            };
            if position != index {
                known_event.renumber(&mut event, position);
            }
            self.pass(event, out);
        }
    }

    fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        if let Some(old_number) = sequence(&event) {
            let number = self.round.sequence.unwrap_or(old_number);
            if number != old_number {
                set_sequence(&mut event, number);
            }
            self.round.sequence = Some(number.saturating_add(1));
        }
        out.push(event);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

    use alloc::{format, vec::Vec};

    use super::HiddenLoop;
    use crate::{
        exchange::searches::Searches,
        json::{self, Text},
        limits::MAX_HELD_BYTES,
        names::Names,
        options::{AdaptOptions, Api, SearchOptions},
        Dialect,
    };

    fn beyond_the_limit(api: Api) -> HiddenLoop {
        let adapting = AdaptOptions::new(Dialect::OPENAI_CHAT);
        let searches = Searches::new(Text::literal("find"), SearchOptions::default(), adapting, Names::default());
        let mut hidden = HiddenLoop::new(api, searches, ("{}", false), 1).expect("searches are hidden");
        hidden.stored_bytes = MAX_HELD_BYTES;
        hidden
    }

    /// A fixture cannot show this: the limit is 64 MiB.
    #[test]
    fn calls_beyond_the_limit_are_passed_on_and_not_stored() {
        let mut hidden = beyond_the_limit(Api::OpenaiChat);
        for index in 0..10 {
            let call =
                format!(r#"{{"index":{index},"id":"c{index}","function":{{"name":"read","arguments":"{{}}"}}}}"#);
            let text = format!(r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{call}]}}}}]}}"#);
            let (Ok(event), mut out) = (json::read(&text), Vec::new()) else { panic!("JSON") };
            assert!(hidden.feed(event, &mut out).is_ok());
            assert_eq!(out.iter().map(json::write).collect::<Vec<_>>(), [text]);
        }
        assert!(hidden.round.calls.is_empty());
        assert!(hidden.round.deliveries.is_empty());
    }

    #[test]
    fn items_beyond_the_limit_are_passed_on_and_not_stored() {
        let mut hidden = beyond_the_limit(Api::GeminiInteractions);
        for index in 0..10 {
            let step = r#"{"type":"function_call","id":"c","name":"read","arguments":{}}"#;
            let start = format!(r#"{{"event_type":"step.start","index":{index},"step":{step}}}"#);
            let stop = format!(r#"{{"event_type":"step.stop","index":{index}}}"#);
            for text in [start, stop] {
                let (Ok(event), mut out) = (json::read(&text), Vec::new()) else { panic!("JSON") };
                assert!(hidden.feed(event, &mut out).is_ok());
                assert_eq!(out.iter().map(json::write).collect::<Vec<_>>(), [text]);
            }
        }
        assert!(hidden.round.items.is_empty());
        assert!(hidden.round.deliveries.len() <= 1);
    }
}
