//! Removes the model's searches from a streamed reply, because the client must not see them: text is passed on at once,
//! and several rounds become one reply.
//!
//! In Responses and Interactions, a reasoning item belongs to the item after it, so its events are buffered until the
//! next item shows whether it led to a search.

use alloc::{string::String, vec::Vec};

use super::{
    hidden::{
        edit_first, is_call, is_reasoning, Delivery, HiddenLoop, Pieces, Round, Step, BREAK, CHAT_ENDS, GEMINI_ENDS,
        STATUSES,
    },
    usage,
};
use crate::{
    collections::Map,
    error::Error,
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    options::Api,
    tools::streams::unnumbered::{entry_id, CallNumber, CALL},
    wire,
};

/// Names of event types and members of an API whose replies consist of items.
struct Names {
    begins: &'static str,
    ends: &'static str,
    /// The member that holds the index of an item.
    index: &'static str,
    /// The member that holds the item in its first and last event.
    item: &'static str,
    /// The events that end a reply. The first one ends a complete reply.
    last: &'static [&'static str],
    /// The member of those events that holds the reply.
    reply: &'static str,
    /// The events that begin a reply.
    first: &'static [&'static str],
}

const RESPONSES: Names = Names {
    begins: "response.output_item.added",
    ends: "response.output_item.done",
    index: "output_index",
    item: "item",
    last: &["response.completed", "response.incomplete", "response.failed"],
    reply: "response",
    first: &["response.created", "response.queued", "response.in_progress"],
};

const INTERACTIONS: Names = Names {
    begins: "step.start",
    ends: "step.stop",
    index: "index",
    item: "step",
    last: &["interaction.completed"],
    reply: "interaction",
    first: &["interaction.created", "interaction.in_progress"],
};

/// Added to the numbers of calls without an index, so that they differ from every index.
const UNNUMBERED: u64 = 1 << 63;

impl HiddenLoop {
    /// Processes an event and appends the events to pass on to `out`.
    ///
    /// # Errors
    /// The errors of the searches.
    pub(super) fn feed<'a>(&mut self, event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        match self.api {
            Api::OpenaiChat => self.chunk(event, out),
            Api::Gemini => self.gemini(event, out),
            Api::GeminiInteractions => self.item(event, &INTERACTIONS, out),
            _ => self.item(event, &RESPONSES, out),
        }
    }

    /// Ends a stream and returns the events that are still buffered. Some streams end without a final event.
    ///
    /// # Errors
    /// The errors of the searches.
    pub(super) fn end(&mut self) -> Result<Vec<Node<'static>>, Error> {
        if !self.round.stopped {
            self.stop(true)?;
        }
        let mut out = Vec::new();
        if !self.again {
            self.release(&mut out);
        }
        Ok(out)
    }

    /// Begins the next round.
    pub(super) fn turn(&mut self) {
        let Round { passed, spoke, spoke_before, used, id, sequence, .. } = core::mem::take(&mut self.round);
        self.round = Round { passed, spoke_before: spoke_before || spoke, id, sequence, ..Round::default() };
        self.used = usage::total(self.used.as_ref(), used.as_ref());
    }

    /// Processes the end of a round. Returns true if the model is asked again.
    fn stop(&mut self, ended: bool) -> Result<bool, Error> {
        self.round.stopped = true;
        if !self.decide((self.round.searched, self.round.called), ended) {
            return Ok(false);
        }
        let Round { message: text, calls, steps, units, .. } = &mut self.round;
        let mut units = core::mem::take(units);
        units.extend(core::mem::take(calls).into_iter().map(Pieces::whole));
        units.extend(core::mem::take(steps).into_iter().map(Step::whole));
        let text = match self.api {
            Api::OpenaiChat => {
                let mut message = Node::record([("role", Node::literal("assistant"))]);
                for member in core::mem::take(text).whole().as_object().into_iter().flatten() {
                    if let Some(object) = message.as_object_mut() {
                        object.set(member.key.clone(), member.value.clone());
                    }
                }
                message.set("tool_calls", Node::array(units.clone()));
                [message].into()
            }
            Api::Gemini => {
                let content = [("role", Node::literal("model")), ("parts", Node::array(units.clone()))];
                [Node::record(content)].into()
            }
            _ => units.clone(),
        };
        if !matches!(self.api, Api::OpenaiChat | Api::Gemini) {
            let shown = self.without_searches(&units);
            self.shown.extend(shown);
        }
        self.answer(text, &units)?;
        Ok(true)
    }

    /// Counts stored bytes. Returns false above the limit: then the model is not asked again, so nothing needs to be
    /// stored.
    fn keeps(&mut self, node: &Node<'_>) -> bool {
        self.stored_bytes = self.stored_bytes.saturating_add(json::length(node));
        self.stored_bytes <= MAX_HELD_BYTES
    }

    /// Counts the bytes of a call or an item besides its content. Returns false above the limit.
    fn stores_call(&mut self) -> bool {
        self.stored_bytes = self.stored_bytes.saturating_add(CALL);
        self.stored_bytes <= MAX_HELD_BYTES
    }

    /// Replaces the id of a reply with the id of the first round.
    fn identify(&mut self, event: &mut Node<'_>, key: &'static str) {
        let own = event.get(key).filter(|id| !id.is_null());
        match &self.round.id {
            Some(id) if own.is_some_and(|own| !json::same(own, id)) => event.set(key, id.clone()),
            Some(_) => {}
            None => self.round.id = own.map(Node::detached),
        }
    }

    /// Records the token usage of an event, and adds the usage of earlier rounds to it.
    fn count(&mut self, event: &mut Node<'_>) {
        let key = wire::of(self.api).reply().usage();
        let Some(own) = event.get(key).filter(|used| !used.is_null()).map(Node::detached) else { return };
        if let (true, Some(used)) = (self.used.is_some(), usage::total(self.used.as_ref(), Some(&own))) {
            event.set(key, used);
        }
        self.round.used = Some(own);
    }

    /// Processes a chunk of Chat Completions.
    fn chunk<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        self.count(&mut event);
        if self.again {
            return Ok(());
        }
        self.identify(&mut event, "id");
        let first = event.array_at("choices").and_then(<[Node<'_>]>::first);
        let delta = first.and_then(|choice| choice.get("delta")).filter(|delta| delta.as_object().is_some());
        let reason = first.and_then(|choice| choice.get("finish_reason")).filter(|reason| !reason.is_null());
        let reason = reason.map(Node::detached);
        let mut is_shortened = false;
        if let Some(delta) = delta.map(Node::detached) {
            is_shortened = self.delta(&delta, &mut event);
        }
        let ended = reason.as_ref().map(|reason| CHAT_ENDS.iter().any(|end| reason.is_text(end)));
        if let Some(ended) = ended.filter(|_| !self.round.stopped) {
            let asks = self.stop(ended)?;
            let is_emptied = self.round.searched && !self.round.called;
            if asks {
                edit_first(&mut event, "choices", |choice| choice.set("finish_reason", Node::default()));
                is_shortened = true;
            } else if is_emptied && reason.is_some_and(|reason| reason.is_text("tool_calls")) {
                edit_first(&mut event, "choices", |choice| choice.set("finish_reason", Node::literal("stop")));
            }
        }
        if !(is_shortened && is_bare(&event)) {
            out.push(event);
        }
        Ok(())
    }

    /// Reads a delta of Chat Completions and removes its searches from the event. Returns true if something was
    /// removed.
    fn delta(&mut self, delta: &Node<'static>, event: &mut Node<'_>) -> bool {
        let keeps = self.keeps(delta);
        let mut deliveries: Vec<Delivery> = Vec::new();
        for (position, call) in delta.items_at("tool_calls").iter().enumerate() {
            let Some(index) = self.number(call, position as u64) else {
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
            self.round.message.add(delta, &["tool_calls", "role"]);
        }
        // The client received the role in the first round.
        let repeats_role = self.continues() && delta.get("role").is_some();
        if repeats_role {
            edit_first(event, "choices", |choice| choice.visit("delta", |delta| delta.remove("role")));
        }
        let breaks = self.breaks(delta.get("content"));
        let is_shortened = deliveries.contains(&Delivery::Search);
        // A call keeps its lack of an index.
        let is_moved = deliveries.iter().zip(delta.items_at("tool_calls")).any(|(delivery, call)| match delivery {
            Delivery::Shown(place) => call.u64_at("index").is_some_and(|index| index != *place),
            _ => true,
        });
        if !breaks && !is_moved {
            return repeats_role;
        }
        edit_first(event, "choices", |choice| {
            choice.visit("delta", |delta| {
                if breaks {
                    delta.visit("content", put_break);
                }
                if !is_moved {
                    return;
                }
                let is_empty = delta.visit("tool_calls", |calls| {
                    let Some(list) = calls.as_array_mut() else { return false };
                    for (call, delivery) in list.iter_mut().zip(&deliveries) {
                        if let (Delivery::Shown(place), Some(_)) = (delivery, call.u64_at("index")) {
                            call.set("index", Node::count(*place));
                        }
                    }
                    let mut deliveries = deliveries.iter();
                    list.retain(|_| deliveries.next() != Some(&Delivery::Search));
                    list.is_empty()
                });
                if is_empty == Some(true) {
                    delta.remove("tool_calls");
                }
            })
        });
        is_shortened || repeats_role
    }

    /// Returns the number of the call that an entry belongs to, or `None` if the number cannot be stored. A call with
    /// an index always has a number.
    fn number(&mut self, call: &Node<'_>, position: u64) -> Option<u64> {
        let stored = &mut self.stored_bytes;
        let pay = |cost: usize| {
            *stored = stored.saturating_add(cost);
            Some(()).filter(|()| cost == 0 || *stored <= MAX_HELD_BYTES).ok_or(())
        };
        let unnumbered = &mut self.round.unnumbered;
        if let Some(index) = call.u64_at("index") {
            // Above the limit, only an entry at a new position is not recorded.
            let _ = unnumbered.record_index(index, position, pay);
            return Some(index);
        }
        let is_index = self.round.deliveries.contains_key(&position);
        Some(match unnumbered.number(call, position, is_index, pay).ok()? {
            CallNumber::Index(index) => index,
            CallNumber::Unnumbered(number) => UNNUMBERED + number,
        })
    }

    /// Returns the delivery of a new call.
    fn delivery(&mut self, call: &Node<'_>) -> Delivery {
        let is_search = self.is_search(call);
        self.round.searched |= is_search;
        self.round.called |= !is_search;
        let delivery = if is_search { Delivery::Search } else { Delivery::Shown(self.round.passed) };
        self.round.passed += u64::from(!is_search);
        delivery
    }

    /// Returns the delivery of an entry without a number. An entry without a name and an id continues the last one.
    fn delivery_above_limit(&mut self, call: &Node<'_>) -> Delivery {
        let name = call.get("function").and_then(|function| function.text_at("name"));
        let begins = name.is_some_and(|name| !name.is_empty()) || entry_id(call).is_some();
        let delivery = self.round.last_above_limit.filter(|_| !begins).unwrap_or_else(|| self.delivery(call));
        self.round.last_above_limit = Some(delivery);
        delivery
    }

    /// Returns true if text begins here and an earlier round had text, so a separator is needed.
    fn breaks(&mut self, text: Option<&Node<'_>>) -> bool {
        let is_text = text.and_then(Node::as_text).is_some_and(|text| !text.is_empty());
        let breaks = is_text && !self.round.spoke && self.round.spoke_before;
        self.round.spoke |= is_text;
        breaks
    }

    /// Processes an event of Gemini, which contains complete parts.
    fn gemini<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        self.count(&mut event);
        if self.again {
            return Ok(());
        }
        self.identify(&mut event, "responseId");
        let first = event.array_at("candidates").and_then(<[Node<'_>]>::first);
        let reason = first.and_then(|one| one.get("finishReason")).filter(|reason| !reason.is_null());
        let ended = reason.map(|reason| GEMINI_ENDS.iter().any(|end| reason.is_text(end)));
        let parts = first.and_then(|one| one.get("content")?.get("parts")?.as_array()).unwrap_or_default();
        let parts: Vec<Node<'static>> = parts.iter().map(Node::detached).collect();
        let mut searches = Vec::with_capacity(parts.len());
        let mut breaks = None;
        for (at, part) in parts.iter().enumerate() {
            let is_search = self.is_search(part);
            self.round.searched |= is_search;
            self.round.called |= is_call(part, Api::Gemini) && !is_search;
            searches.push(is_search);
            let is_thought = part.bool_at("thought") == Some(true);
            if self.breaks(part.get("text").filter(|_| !is_thought)) {
                breaks = Some(at);
            }
            if self.keeps(part) {
                self.round.units.push(part.clone());
            }
        }
        let mut is_shortened = searches.contains(&true);
        if is_shortened || breaks.is_some() {
            edit_first(&mut event, "candidates", |one| {
                one.visit("content", |content| {
                    content.visit("parts", |parts| {
                        let Some(list) = parts.as_array_mut() else { return };
                        if let Some(part) = breaks.and_then(|at| list.get_mut(at)) {
                            part.visit("text", put_break);
                        }
                        let mut searches = searches.iter();
                        list.retain(|_| searches.next() != Some(&true));
                    })
                })
            });
        }
        if let Some(ended) = ended.filter(|_| !self.round.stopped) {
            if self.stop(ended)? {
                edit_first(&mut event, "candidates", |one| one.remove("finishReason"));
                is_shortened = true;
            }
        }
        if !(is_shortened && is_bare(&event)) {
            out.push(event);
        }
        Ok(())
    }

    /// Processes an event of an API whose replies consist of items.
    fn item<'a>(&mut self, mut event: Node<'a>, names: &Names, out: &mut Vec<Node<'a>>) -> Result<(), Error> {
        let kind = ["type", "event_type"].iter().find_map(|key| event.get(key)?.as_text());
        let Some(kind) = kind.map(|kind| kind.display().into_owned()) else {
            self.pass(event, out);
            return Ok(());
        };
        let is_one_of = |all: &[&str]| all.contains(&kind.as_str());
        if is_one_of(names.last) {
            let is_complete = names.last.first().is_some_and(|last| *last == kind);
            return self.last(event, names, is_complete, out);
        }
        if is_one_of(names.first) && self.continues() {
            return Ok(());
        }
        let Some(index) = event.u64_at(names.index) else {
            self.pass(event, out);
            return Ok(());
        };
        if kind == names.begins {
            let item = event.get(names.item).map(Node::detached).unwrap_or_default();
            let is_search = self.is_search(&item);
            self.round.searched |= is_search;
            self.round.called |= is_call(&item, self.api) && !is_search;
            let delivery = if is_search {
                self.round.buffered.clear();
                Delivery::Search
            } else if is_reasoning(&item) {
                Delivery::Buffered
            } else {
                self.release(out);
                let place = self.round.passed;
                self.round.passed += 1;
                Delivery::Shown(place)
            };
            let at = self.round.steps.len();
            // Items follow one another, so above the limit the last one is enough.
            if !self.stores_call() {
                self.round.deliveries = Map::new();
            }
            self.round.deliveries.insert(index, (delivery, at));
        }
        self.note(&event, &kind, index, names);
        match self.round.deliveries.get(&index) {
            Some((Delivery::Shown(place), _)) if *place != index => event.set(names.index, Node::count(*place)),
            Some((Delivery::Search, _)) => return Ok(()),
            Some((Delivery::Buffered, _)) => {
                self.stored_bytes = self.stored_bytes.saturating_add(json::length(&event));
                self.round.buffered.push(event.detached());
                if self.stored_bytes > MAX_HELD_BYTES {
                    self.release(out);
                }
                return Ok(());
            }
            _ => {}
        }
        self.pass(event, out);
        Ok(())
    }

    /// Stores the item of an event, or the piece of an item.
    fn note(&mut self, event: &Node<'_>, kind: &str, index: u64, names: &Names) {
        let item = event.get(names.item);
        if self.api != Api::GeminiInteractions {
            if let Some(item) = item.filter(|item| kind == names.ends && self.keeps(item)) {
                self.round.units.push(item.detached());
            }
            return;
        }
        let keeps = self.keeps(event);
        if let Some(item) = item.filter(|_| kind == names.begins) {
            if keeps {
                self.round.steps.push(Step::new(item.detached()));
            }
            return;
        }
        let at = self.round.deliveries.get(&index).map(|(_, at)| *at).filter(|_| keeps);
        let step = at.and_then(|at| self.round.steps.get_mut(at));
        if let Some((step, delta)) = step.zip(event.get("delta")) {
            step.add(delta);
        }
    }

    /// Processes the last event of a reply.
    fn last<'a>(
        &mut self,
        mut event: Node<'a>,
        names: &Names,
        is_complete: bool,
        out: &mut Vec<Node<'a>>,
    ) -> Result<(), Error> {
        let status = event.get(names.reply).and_then(|reply| reply.get("status"));
        let ended = is_complete
            && status.is_none_or(|status| status.is_null() || STATUSES.iter().any(|one| status.is_text(one)));
        event.visit(names.reply, |reply| self.count(reply));
        if !self.round.stopped && self.stop(ended)? {
            return Ok(());
        }
        if let (None, Some(used)) = (&self.round.used, &self.used) {
            // The last round has no usage of its own.
            event.visit(names.reply, |reply| reply.set(wire::of(self.api).reply().usage(), used.clone()));
        }
        self.release(out);
        if self.round.searched || self.continues() {
            let key = if self.api == Api::GeminiInteractions { "steps" } else { "output" };
            let own = event.get(names.reply).and_then(|reply| reply.get(key)?.as_array()).unwrap_or_default();
            let own: Vec<Node<'static>> = own.iter().map(Node::detached).collect();
            let kept = self.without_searches(&own);
            let is_emptied = self.round.searched && !self.round.called;
            event.visit(names.reply, |reply| self.finish_items(reply, kept, is_emptied));
        }
        self.pass(event, out);
        Ok(())
    }

    /// Passes on the buffered reasoning events.
    fn release(&mut self, out: &mut Vec<Node<'_>>) {
        let names = if self.api == Api::GeminiInteractions { &INTERACTIONS } else { &RESPONSES };
        for mut event in core::mem::take(&mut self.round.buffered) {
            let Some(index) = event.u64_at(names.index) else { continue };
            let place = match self.round.deliveries.get(&index) {
                Some((Delivery::Shown(place), _)) => *place,
                known => {
                    let at = known.map(|(_, at)| *at).unwrap_or_default();
                    let place = self.round.passed;
                    self.round.passed += 1;
                    self.round.deliveries.insert(index, (Delivery::Shown(place), at));
                    place
                }
            };
            if place != index {
                event.set(names.index, Node::count(place));
            }
            self.pass(event, out);
        }
    }

    /// Passes on an event. Responses numbers its events, so the number is adjusted.
    fn pass<'a>(&mut self, mut event: Node<'a>, out: &mut Vec<Node<'a>>) {
        const NUMBER: &str = "sequence_number";
        if let Some(own) = event.u64_at(NUMBER) {
            let number = self.round.sequence.unwrap_or(own);
            if number != own {
                event.set(NUMBER, Node::count(number));
            }
            self.round.sequence = Some(number.saturating_add(1));
        }
        out.push(event);
    }
}

/// Inserts the separator before text.
fn put_break(text: &mut Node<'_>) {
    let own = text.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
    *text = Node::string(String::from(BREAK) + &own);
}

/// Returns true if a chunk contains nothing for the client.
fn is_bare(event: &Node<'_>) -> bool {
    let first = |key: &str| event.get(key)?.as_array()?.first();
    if let Some(choice) = first("choices") {
        let delta = choice.object_at("delta");
        let is_silent = |value: &Node<'_>| value.is_null() || value.as_text().is_some_and(Text::is_empty);
        let has_no_content =
            delta.is_none_or(|delta| delta.iter().all(|member| member.key.is("role") || is_silent(&member.value)));
        let is_open = choice.get("finish_reason").is_none_or(Node::is_null);
        return has_no_content && is_open && event.get("usage").is_none_or(Node::is_null);
    }
    first("candidates").is_some_and(|candidate| {
        let parts = candidate.get("content").and_then(|content| content.get("parts")?.as_array());
        parts.is_none_or(<[Node<'_>]>::is_empty) && candidate.get("finishReason").is_none()
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use alloc::{format, vec::Vec};

    use super::HiddenLoop;
    use crate::{
        exchange::searches::Searches,
        json::{self, Text},
        limits::MAX_HELD_BYTES,
        names::Names,
        options::{AdaptOptions, Api, SearchOptions},
    };

    fn beyond_the_limit(api: Api) -> HiddenLoop {
        let adapting = AdaptOptions::new("openai-chat");
        let searches = Searches::new(Text::literal("find"), SearchOptions::default(), adapting, Names::default());
        let mut hidden = HiddenLoop::new(api, searches, "{}", 1);
        hidden.stored_bytes = MAX_HELD_BYTES;
        hidden
    }

    /// A fixture cannot show it: the limit is 64 MiB.
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
        assert!(hidden.round.steps.is_empty());
        assert!(hidden.round.deliveries.len() <= 1);
    }
}
