//! Answers the model's searches without the client, for APIs whose replies cannot represent a search by another party
//! than the client: OpenAI's formats, Gemini and Gemini Interactions. Calls and items of a streamed reply are assembled
//! from their pieces, and stored for the request that asks the model again.
//!
//! A *round* is a request to the backend and its reply. *Units* are the items, parts or steps of a message.
//!
//! Calls to the search are removed from the reply. This module runs the search and asks the model again. The client
//! receives the output of all rounds without the searches. The client's history then contains no search, so a found
//! tool stays loaded only if the model calls it.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{searches::Searches, usage};
use crate::{
    collections::Map,
    error::Error,
    json::{self, lazy, Data, Node, Text},
    limits::MAX_HELD_BYTES,
    options::Api,
    wire::{
        self,
        alternatives::{Alternatives, MessageText},
        rounds::{Body, BuiltItem, ItemList, Rounds, STATUS},
    },
};

#[derive(Debug)]
pub(super) struct HiddenLoop {
    pub(super) api: Api,
    pub(super) rounds: &'static Rounds,
    searches: Searches,
    pub(super) client_request: String,
    /// True if the client may refer to the reply by its id.
    pub(super) is_stored: bool,
    /// Number of times that the model may still be asked again.
    rounds_left: usize,
    /// Messages that the next request appends to the client's: the model's answers, and the results of its searches.
    turns: Vec<Node<'static>>,
    /// Output items, parts or steps of earlier rounds that the client receives.
    pub(super) client_units: Vec<Node<'static>>,
    /// Text of earlier rounds that the client receives next to the units.
    text: String,
    /// Number of stored bytes of replies, over all rounds.
    pub(super) stored_bytes: usize,
    /// Token usage of the previous rounds.
    pub(super) used: Option<Node<'static>>,
    pub(super) round: Round,
    /// True if this round ended with a search, so the model must be asked again.
    pub(super) asks_again: bool,
    /// True if this round contains the structured output.
    pub(super) is_answered: bool,
}

/// Separator between the text of two rounds.
const BREAK: &str = "\n\n";

impl HiddenLoop {
    pub(super) fn new(
        api: Api,
        searches: Searches,
        (body, is_stored): (&str, bool),
        rounds_left: usize,
    ) -> Option<Self> {
        Some(HiddenLoop {
            api,
            rounds: wire::of(api).rounds()?,
            searches,
            client_request: body.into(),
            is_stored,
            rounds_left,
            turns: Vec::new(),
            client_units: Vec::new(),
            text: String::new(),
            stored_bytes: 0,
            used: None,
            round: Round::default(),
            asks_again: false,
            is_answered: false,
        })
    }

    pub(super) fn is_search(&self, unit: &Node<'_>) -> bool {
        self.searches.is_call(unit)
    }

    pub(super) fn is_after_first_round(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Returns true if the model must be asked again. `has_search` is true if the round had a search. `has_client_call`
    /// is true if the round had a call of a client's tool.
    pub(super) fn decide(&mut self, (has_search, has_client_call): (bool, bool), ended: bool) -> bool {
        // The client answers calls to its own tools and sends the next request itself.
        self.asks_again = has_search
            && !has_client_call
            && !self.is_answered
            && ended
            && self.rounds_left > 0
            && self.stored_bytes <= MAX_HELD_BYTES;
        self.rounds_left -= usize::from(self.asks_again);
        self.asks_again
    }

    /// Appends the model's answer and the results of its searches to the next request.
    pub(super) fn answer(&mut self, model_answer: Vec<Node<'static>>, units: &[Node<'static>]) -> Result<(), Error> {
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            if self.searches.is_call(unit) {
                answers.push(self.searches.answer(unit, &self.client_request)?);
            }
        }
        self.stored_bytes =
            answers.iter().fold(self.stored_bytes, |bytes, answer| bytes.saturating_add(json::length(answer)));
        self.turns.extend(model_answer);
        self.turns.append(&mut wire::of(self.api).result_messages(answers));
        Ok(())
    }

    /// Returns the items for the client: without searches, and without the reasoning before a search.
    pub(super) fn without_searches(&self, units: &[Node<'static>]) -> Vec<Node<'static>> {
        let mut kept: Vec<Node<'static>> = Vec::with_capacity(units.len());
        for unit in units {
            if !self.is_search(unit) {
                kept.push(unit.clone());
                continue;
            }
            while kept.last().is_some_and(|unit| self.rounds.is_reasoning(unit)) {
                kept.pop();
            }
        }
        kept
    }

    /// Removes the searches from a non-streamed reply, and adds the output of earlier rounds.
    pub(super) fn reply(&mut self, reply: &mut Node<'_>) -> Result<(), Error> {
        let rounds = self.rounds;
        let (reply_units, reason) = rounds.output(reply);
        let reply_units: Vec<Node<'static>> = reply_units.iter().map(Node::detached).collect();
        let has_search = reply_units.iter().any(|unit| self.is_search(unit));
        if !has_search && !self.is_after_first_round() {
            return Ok(());
        }
        let has_client_call = reply_units.iter().any(|unit| rounds.is_call(unit) && !self.is_search(unit));
        self.stored_bytes = self.stored_bytes.saturating_add(json::length(reply));
        let usage = wire::of(self.api).reply().usage();
        let used = usage::total(self.used.as_ref(), reply.get(usage));
        if self.decide((has_search, has_client_call), rounds.allows_another_round(reason)) {
            let mut new_units = self.without_searches(&reply_units);
            let turn = match rounds.body() {
                Body::Message(message) => {
                    self.insert_breaks(&mut new_units, message);
                    let turn = message.first(reply).and_then(|entry| entry.get(message.whole)).map(Node::detached);
                    if let (Some(turn), MessageText::Member(member)) = (&turn, &message.text) {
                        let text = turn.text_at(*member).map(Text::display).unwrap_or_default();
                        self.text = join_texts(&self.text, &text);
                    }
                    turn.map(|turn| message.model_message(turn)).into_iter().collect()
                }
                Body::Items(_) => reply_units.clone(),
            };
            self.client_units.extend(new_units);
            self.used = used;
            return self.answer(turn, &reply_units);
        }
        if self.is_answered {
            // Clients read the whole text as the answer, so other text is removed.
            self.text = String::new();
            self.client_units.retain(|unit| !rounds.is_text(unit));
        }
        let kept = self.without_searches(&reply_units);
        let is_emptied = has_search && !has_client_call;
        match rounds.body() {
            Body::Message(message) => drop(message.edit_first(reply, |entry| {
                entry.visit(message.whole, |whole| self.complete(whole, message, kept));
                if let Some(end) = rounds.end_without_calls(entry.get(message.reason)).filter(|_| is_emptied) {
                    entry.set(message.reason, end);
                }
            })),
            Body::Items(items) => self.finish_items(reply, items, kept, is_emptied),
        }
        if let Some(used) = used {
            reply.set(usage, used);
        }
        Ok(())
    }

    fn complete(&self, whole: &mut Node<'_>, message: &Alternatives, mut kept: Vec<Node<'static>>) {
        self.insert_breaks(&mut kept, message);
        let units: Vec<Node<'static>> = self.client_units.iter().cloned().chain(kept).collect();
        let MessageText::Member(member) = message.text else { return whole.set(message.units, Node::array(units)) };
        match units.is_empty() {
            true => drop(whole.remove(message.units)),
            false => whole.set(message.units, Node::array(units)),
        }
        if !self.text.is_empty() {
            let round_text = whole.text_at(member).map(Text::display);
            let text = join_texts(&self.text, round_text.as_deref().unwrap_or_default());
            whole.set(member, Node::string(text));
        }
    }

    /// Inserts the separator before the text of a round in units, because clients join the texts of all units.
    fn insert_breaks(&self, units: &mut [Node<'static>], message: &Alternatives) {
        let MessageText::InUnits { member, unless } = message.text else { return };
        let has_text = |unit: &Node<'_>| {
            unit.bool_at(unless) != Some(true) && unit.text_at(member).is_some_and(|text| !text.is_empty())
        };
        if self.client_units.iter().any(has_text) {
            if let Some(unit) = units.iter_mut().find(|unit| has_text(unit)) {
                unit.visit(member, put_break);
            }
        }
    }

    pub(super) fn finish_items(
        &self,
        reply: &mut Node<'_>,
        items: &ItemList,
        kept: Vec<Node<'static>>,
        is_emptied: bool,
    ) {
        if reply.get(items.list).is_some() {
            reply.set(items.list, Node::array(self.client_units.iter().cloned().chain(kept).collect()));
        }
        if let Some(end) = self.rounds.end_without_calls(reply.get(STATUS)).filter(|_| is_emptied) {
            reply.set(STATUS, end);
        }
    }

    /// Returns the next request before it is adapted: the client's request, the model's answers so far, and the results
    /// of its searches.
    pub(super) fn next_request(&self) -> Result<Node<'_>, Error> {
        let mut request = crate::request::read(&self.client_request)?;
        let key = wire::of(self.api).history();
        let history = lazy::take(&mut request, key)?.unwrap_or_default();
        let mut list = wire::of(self.api).messages(history);
        list.extend(self.turns.iter().cloned());
        request.set(key, Node::array(list));
        Ok(request)
    }
}

fn join_texts(first: &str, second: &str) -> String {
    let mut whole = String::from(first);
    if !first.is_empty() && !second.is_empty() {
        whole.push_str(BREAK);
    }
    whole.push_str(second);
    whole
}

pub(super) fn put_break(text: &mut Node<'_>) {
    let old_text = text.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
    *text = Node::string(String::from(BREAK) + &old_text);
}

#[derive(Debug, Default)]
pub(super) struct Round {
    /// The message of the model, without its units.
    pub(super) message: Pieces,
    pub(super) calls: Vec<Pieces>,
    pub(super) items: Vec<Box<dyn BuiltItem>>,
    /// The units that arrive as a whole.
    pub(super) units: Vec<Node<'static>>,
    pub(super) last_above_limit: Option<Delivery>,
    /// Delivery of each call or item, by the backend's index, with its position in the fields above.
    pub(super) deliveries: Map<u64, (Delivery, usize)>,
    /// Buffered reasoning events.
    pub(super) buffered: Vec<Node<'static>>,
    /// Number of calls or items that the client has received, over all rounds.
    pub(super) passed: u64,
    pub(super) has_search: bool,
    pub(super) has_client_call: bool,
    /// True if the end of the round was processed.
    pub(super) stopped: bool,
    /// True if the client has received text of this round.
    pub(super) has_text: bool,
    pub(super) had_text_before: bool,
    pub(super) used: Option<Node<'static>>,
    /// The id of the first round's reply.
    pub(super) id: Option<Node<'static>>,
    /// The number of the next event, if events are numbered.
    pub(super) sequence: Option<u64>,
}

/// Delivery of a call or an item: it is sent to the client with an index, or hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    Shown(u64),
    Search,
    /// Reasoning; the next item decides whether the client receives it.
    Buffered,
}

/// An object that arrives in pieces: strings are concatenated, and lists are extended.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    members: Vec<(Text<'static>, Piece)>,
    places: Map<Text<'static>, usize>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    List(Vec<Node<'static>>),
    Object(Pieces),
    Value(Node<'static>),
}

impl Pieces {
    pub(super) fn add(&mut self, object: &Node<'static>, except: &[&str]) {
        for member in object.as_object().into_iter().flatten() {
            if except.iter().any(|key| member.key.is(key)) || member.value.is_null() {
                continue;
            }
            let index = *self.places.entry(member.key.clone()).or_insert(self.members.len());
            let Some((key, known)) = self.members.get_mut(index) else {
                self.members.push((member.key.clone(), Piece::of(&member.value)));
                continue;
            };
            // Some backends repeat the name of a call in each piece.
            let is_name = ["id", "type", "name"].iter().any(|name| key.is(name));
            match (known, member.value.data()) {
                (Piece::Text(_), _) if is_name => {}
                (Piece::Text(text), Data::String(more)) => text.push_str(&more.display()),
                (Piece::List(list), Data::Array(more)) => list.extend(more.iter().cloned()),
                (Piece::Object(inner), Data::Object(_)) => inner.add(&member.value, &[]),
                (known, _) => *known = Piece::of(&member.value),
            }
        }
    }

    pub(super) fn whole(self) -> Node<'static> {
        Node::object(self.members.into_iter().map(|(key, piece)| (key, piece.whole())).collect())
    }
}

impl Piece {
    fn of(value: &Node<'static>) -> Piece {
        match value.data() {
            Data::String(text) => Piece::Text(text.display().into_owned()),
            Data::Array(list) => Piece::List(list.clone()),
            Data::Object(_) => {
                let mut inner = Pieces::default();
                inner.add(value, &[]);
                Piece::Object(inner)
            }
            _ => Piece::Value(value.clone()),
        }
    }

    fn whole(self) -> Node<'static> {
        match self {
            Piece::Text(text) => Node::string(text),
            Piece::List(list) => Node::array(list),
            Piece::Object(inner) => inner.whole(),
            Piece::Value(value) => value,
        }
    }
}
