//! Places the results of calls directly after the calls. Events between them move after all results of the turn; text
//! of the model between them moves before the calls.

use alloc::{collections::VecDeque, string::String, vec::Vec};

use super::{Event, EventKind, Role, Searcher};
use crate::{
    collections::{Map, Set},
    json::{Node, Text},
    request::report::{Warnings, LOST},
};

/// Sorts the events of each turn into the order that every API accepts.
pub(crate) fn settle<'a>(events: Vec<Event<'a>>, warnings: &mut Warnings) -> Vec<Event<'a>> {
    // A call is open until its last result.
    let last_results = last_results(&events);
    let mut out: Vec<Event<'a>> = Vec::with_capacity(events.len());
    let mut turn = Turn::default();
    for (at, event) in events.into_iter().enumerate() {
        if let EventKind::Call(_) = &event.kind {
            // A call after a result begins the next turn, unless another call of this turn is still open.
            if !turn.results.is_empty() && at > turn.until {
                turn.close(&mut out);
            }
            turn.until = turn.until.max(last_results.get(&at).copied().unwrap_or_default());
            turn.calls.push(event);
            continue;
        }
        if turn.calls.is_empty() {
            out.push(event);
            continue;
        }
        match &event.kind {
            EventKind::Result(_) if at <= turn.until => turn.results.push(event),
            _ if at > turn.until => {
                turn.close(&mut out);
                out.push(event);
            }
            EventKind::Text { role: Role::Assistant, .. } | EventKind::Reasoning(_) => turn.before.push(event),
            EventKind::Add(additions) | EventKind::Carry(additions) => {
                additions.iter().for_each(|addition| warnings.about("moved", addition.name.display()));
                turn.after.push(event);
            }
            EventKind::Remove { name, .. } => {
                warnings.about("moved", name.display());
                turn.after.push(event);
            }
            _ => turn.after.push(event),
        }
    }
    turn.close(&mut out);
    out
}

/// Returns the index of the last result of each call, by the index of the call. A result belongs to the oldest open
/// call with its id. A call without a result is closed if its id is used again after a user message, because some
/// backends restart the numbering of calls in each reply.
fn last_results(events: &[Event<'_>]) -> Map<usize, usize> {
    #[derive(Default)]
    struct Calls {
        /// Index of each open call, and the number of user messages before it.
        open: VecDeque<(usize, usize)>,
        /// The most recently answered call.
        answered: Option<usize>,
    }
    let (mut calls, mut found, mut texts): (Map<&Text<'_>, Calls>, _, _) = (Map::new(), Map::new(), 0);
    for (at, event) in events.iter().enumerate() {
        match &event.kind {
            EventKind::Text { role: Role::User, .. } | EventKind::Unchanged(Role::User) => texts += 1,
            EventKind::Call(call) => {
                let Some(id) = call.id.as_text() else { continue };
                let calls = calls.entry(id).or_default();
                while calls.open.front().is_some_and(|(_, before)| *before < texts) {
                    calls.open.pop_front();
                }
                calls.open.push_back((at, texts));
                calls.answered = None;
            }
            EventKind::Result(outcome) => {
                let Some(calls) = outcome.id.as_text().and_then(|id| calls.get_mut(id)) else { continue };
                let call = calls.open.pop_front().map(|(call, _)| call).or(calls.answered);
                calls.answered = call;
                found.extend(call.map(|call| (call, at)));
            }
            _ => {}
        }
    }
    found
}

/// Detects the results of searches: results that contain references, and results of calls that are searches. Ids need
/// not be unique; each result belongs to the oldest open call with its id, as in [`last_results`]. A hosted search
/// without a result is removed, unless `keeps` is true (hosted searches keep their form).
pub(crate) fn match_searches(events: &mut Vec<Event<'_>>, keeps: bool, warnings: &mut Warnings) {
    let mut open: Map<String, VecDeque<(usize, usize)>> = Map::new();
    let (mut lost, mut texts) = (Set::new(), 0);
    let id = |node: &Node<'_>| node.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
    for at in 0..events.len() {
        let (before, rest) = events.split_at_mut(at);
        match rest.first_mut().map(|event| &mut event.kind) {
            Some(EventKind::Text { role: Role::User, .. } | EventKind::Unchanged(Role::User)) => texts += 1,
            Some(EventKind::Call(call)) => {
                let calls = open.entry(id(&call.id)).or_default();
                while calls.front().is_some_and(|(_, before)| *before < texts) {
                    lost.extend(calls.pop_front().map(|(call, _)| call));
                }
                calls.push_back((at, texts));
            }
            Some(EventKind::Result(outcome)) => {
                let called = open.get_mut(&id(&outcome.id)).and_then(VecDeque::pop_front);
                let call = match called.and_then(|(at, _)| before.get_mut(at)).map(|event| &mut event.kind) {
                    Some(EventKind::Call(call)) => Some(call),
                    _ => None,
                };
                let found = outcome.found.as_ref().map(|_| Searcher::Client);
                outcome.of_search = call.as_ref().and_then(|call| call.search).or(found);
                if let Some(call) = call {
                    call.search = outcome.of_search;
                }
            }
            _ => {}
        }
    }
    if keeps {
        return;
    }
    // A hosted search does not wait for the client. If it became a call that the client must answer, it would never get
    // a result.
    lost.extend(open.values().flatten().map(|(at, _)| *at));
    let mut at = 0;
    events.retain(|event| {
        at += 1;
        match &event.kind {
            EventKind::Call(call) if call.search == Some(Searcher::Hosted) && lost.contains(&(at - 1)) => {
                warnings.about(LOST, call.name.display());
                false
            }
            _ => true,
        }
    });
}

/// Marks the results of ordinary calls as such, even if they contain references. `is_search` is true for the names of
/// the client's searches. For APIs that accept found tools only in the results of searches.
pub(crate) fn keep_searches<'a>(events: &mut [Event<'a>], is_search: impl Fn(&Text<'a>) -> bool) {
    let mut ordinary: Set<Text<'a>> = Set::new();
    for event in events {
        match &mut event.kind {
            EventKind::Call(call) if call.search != Some(Searcher::Hosted) => {
                let Some(id) = call.id.as_text().cloned() else { continue };
                if is_search(&call.name) {
                    ordinary.remove(&id);
                } else {
                    call.search = None;
                    ordinary.insert(id);
                }
            }
            EventKind::Result(outcome) if outcome.id.as_text().is_some_and(|id| ordinary.contains(id)) => {
                outcome.of_search = None;
            }
            _ => {}
        }
    }
}

/// The calls of one turn of the model and their results.
#[derive(Default)]
struct Turn<'a> {
    before: Vec<Event<'a>>,
    calls: Vec<Event<'a>>,
    results: Vec<Event<'a>>,
    after: Vec<Event<'a>>,
    /// Index of the turn's last result.
    until: usize,
}

impl<'a> Turn<'a> {
    fn close(&mut self, out: &mut Vec<Event<'a>>) {
        // In formats whose messages contain the calls, a turn is one message.
        if let Some(message) = self.calls.first().map(|call| call.message) {
            self.before.iter_mut().chain(&mut self.calls).for_each(|event| event.message = message);
        }
        for part in [&mut self.before, &mut self.calls, &mut self.results, &mut self.after] {
            out.append(part);
        }
        self.until = 0;
    }
}
