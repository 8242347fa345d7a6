//! Calls and their results: results follow their calls at once. What stood between comes after all results of that
//! turn, and what the model said there before its calls.

use alloc::vec::Vec;

use super::{Event, Role, What};
use crate::{
    collections::Map,
    deferred::report::Warnings,
    json::{Node, Text},
};

/// Puts the events of each turn in the order that every API takes.
pub(in crate::deferred) fn settle<'a>(events: Vec<Event<'a>>, warnings: &mut Warnings) -> Vec<Event<'a>> {
    // The last result of each id: a call is open up to there.
    let mut answers: Map<Text<'a>, usize> = Map::new();
    for (at, event) in events.iter().enumerate() {
        if let What::Result(outcome) = &event.what {
            answers.extend(outcome.id.as_text().cloned().map(|id| (id, at)));
        }
    }
    let answered = |id: &Node<'a>| id.as_text().and_then(|id| answers.get(id)).copied();
    let mut out: Vec<Event<'a>> = Vec::with_capacity(events.len());
    let mut turn = Turn::default();
    for (at, event) in events.into_iter().enumerate() {
        if let What::Call(call) = &event.what {
            // A call after a result begins the next turn, unless this one is still open.
            if !turn.results.is_empty() && at > turn.until {
                turn.close(&mut out);
            }
            turn.until = turn.until.max(answered(&call.id).filter(|answer| *answer > at).unwrap_or_default());
            turn.calls.push(event);
            continue;
        }
        if turn.calls.is_empty() {
            out.push(event);
            continue;
        }
        match &event.what {
            What::Result(_) if at <= turn.until => turn.results.push(event),
            _ if at > turn.until => {
                turn.close(&mut out);
                out.push(event);
            }
            What::Text { role: Role::Assistant, .. } | What::Reasoning(_) => turn.before.push(event),
            What::Add(additions) => {
                additions.iter().for_each(|addition| warnings.about("moved", addition.name.display()));
                turn.after.push(event);
            }
            What::Remove(name) => {
                warnings.about("moved", name.display());
                turn.after.push(event);
            }
            _ => turn.after.push(event),
        }
    }
    turn.close(&mut out);
    out
}

/// A turn of the model and its results.
#[derive(Default)]
struct Turn<'a> {
    before: Vec<Event<'a>>,
    calls: Vec<Event<'a>>,
    results: Vec<Event<'a>>,
    after: Vec<Event<'a>>,
    /// Where its last result stands.
    until: usize,
}

impl<'a> Turn<'a> {
    fn close(&mut self, out: &mut Vec<Event<'a>>) {
        for part in [&mut self.before, &mut self.calls, &mut self.results, &mut self.after] {
            out.append(part);
        }
        self.until = 0;
    }
}
