//! Determines the result of every tool in every dialect, and the totals.

use std::{
    collections::BTreeSet,
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use toolwire::{
    check, dialects, internal,
    reports::{Accepts, Change, Guidance, Severity, Violation},
    rules::Constraint,
    sanitize, Dialect, SanitizeOptions,
};

use super::tools::Tools;
use crate::id;

/// The result of a tool in a dialect, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    AsItIs,
    Lossless,
    Encoded,
    Closed,
    TextLost,
    Wider,
    Narrower,
    NotAtAll,
}

impl Outcome {
    pub(crate) const ALL: [Outcome; 8] = [
        Outcome::AsItIs,
        Outcome::Lossless,
        Outcome::Encoded,
        Outcome::Closed,
        Outcome::TextLost,
        Outcome::Wider,
        Outcome::Narrower,
        Outcome::NotAtAll,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Outcome::AsItIs => "as it is",
            Outcome::Lossless => "without loss",
            Outcome::Encoded => "encoded",
            Outcome::Closed => "closed",
            Outcome::TextLost => "text lost",
            Outcome::Wider => "wider",
            Outcome::Narrower => "narrower or mixed",
            Outcome::NotAtAll => "not at all",
        }
    }

    /// Returns the outcome of a change. `toolwire matrix` has these outcomes as columns.
    fn of(change: &Change) -> Outcome {
        match change.accepts {
            Accepts::Wider => Outcome::Wider,
            Accepts::Narrower | Accepts::Mixed => Outcome::Narrower,
            Accepts::Same | Accepts::Closed if change.guidance == Guidance::Lost => Outcome::TextLost,
            Accepts::Closed => Outcome::Closed,
            Accepts::Same if change.encoded => Outcome::Encoded,
            Accepts::Same => Outcome::Lossless,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    /// Rules with a violation that is refused.
    pub(crate) refused: BTreeSet<&'static str>,
    /// Refused keywords. The rule for refused keywords covers so many of them that its name alone is not informative.
    pub(crate) keywords: BTreeSet<String>,
    pub(crate) reinterpreted: bool,
    pub(crate) ignored: bool,
}

impl Verdict {
    pub(crate) fn of(dialect: &str, schema: &str) -> Verdict {
        let options = SanitizeOptions::new(id(dialect));
        let mut verdict = Verdict {
            outcome: Outcome::NotAtAll,
            refused: BTreeSet::new(),
            keywords: BTreeSet::new(),
            reinterpreted: false,
            ignored: false,
        };
        let Ok(found) = check(schema, &options) else { return verdict };
        for Violation { constraint: rule, severity, pointer, .. } in found {
            match severity {
                Severity::Refused => {
                    verdict.refused.insert(rule.id());
                    if rule == Constraint::RefusedKeyword {
                        // These are known keywords; any other key violates `unknown-keyword`.
                        verdict.keywords.extend(pointer.rsplit('/').next().map(str::to_owned));
                    }
                }
                Severity::Reinterpreted => verdict.reinterpreted = true,
                Severity::Ignored => verdict.ignored = true,
            }
        }
        verdict.outcome = if verdict.refused.is_empty() {
            Outcome::AsItIs
        } else {
            // The tool is not accepted unchanged, so it is rewritten.
            sanitize(schema, &options).map_or(Outcome::NotAtAll, |result| {
                result.changes().expect("a report").iter().map(Outcome::of).max().unwrap_or(Outcome::Lossless)
            })
        };
        verdict
    }
}

pub(crate) struct Column {
    pub(crate) dialect: &'static Dialect,
    /// One verdict per schema.
    pub(crate) verdicts: Vec<Verdict>,
}

/// The number of tools with each outcome, in the order of `Outcome::ALL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutcomeCounts(pub(crate) [usize; 8]);

impl OutcomeCounts {
    pub(crate) fn of(&self, outcome: Outcome) -> usize {
        self.0.get(outcome as usize).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> usize {
        self.0.iter().sum()
    }

    fn add(&mut self, outcome: Outcome) {
        if let Some(count) = self.0.get_mut(outcome as usize) {
            *count += 1;
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tools: OutcomeCounts,
    /// A server has the result of its worst tool.
    pub(crate) servers: OutcomeCounts,
    /// Tools that are accepted unchanged but reinterpreted: the model's arguments must satisfy another schema.
    pub(crate) reinterpreted: usize,
    /// Tools that are accepted unchanged but contain something without effect.
    pub(crate) ignored: usize,
    pub(crate) revision: u32,
}

impl Column {
    pub(crate) fn tally(&self, tools: &Tools) -> Tally {
        let mut tally = Tally { revision: self.dialect.revision, ..Tally::default() };
        let mut worst = vec![Outcome::AsItIs; tools.servers];
        for (server, schema) in &tools.tools {
            let Some(verdict) = self.verdicts.get(*schema) else { continue };
            tally.tools.add(verdict.outcome);
            if let Some(worst) = worst.get_mut(*server) {
                *worst = verdict.outcome.max(*worst);
            }
            if verdict.outcome == Outcome::AsItIs {
                tally.reinterpreted += usize::from(verdict.reinterpreted);
                tally.ignored += usize::from(verdict.ignored);
            }
        }
        worst.into_iter().for_each(|outcome| tally.servers.add(outcome));
        tally
    }
}

pub(crate) struct Census {
    pub(crate) tools: Tools,
    pub(crate) columns: Vec<Column>,
}

impl Census {
    /// Counts in every dialect of an API. The other dialects describe clients, which process tools before the API does.
    pub(crate) fn take(tools: Tools) -> Census {
        let dialects: Vec<&'static Dialect> =
            dialects().iter().filter(|dialect| internal::is_of_an_api(dialect)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut columns = Vec::new();
            while let Some((index, dialect)) = claim(&next, &dialects) {
                let verdicts = tools.schemas.iter().map(|schema| Verdict::of(dialect.name, schema)).collect();
                columns.push((index, Column { dialect, verdicts }));
            }
            columns
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut columns: Vec<(usize, Column)> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mine = work();
            let joined =
                |other: thread::ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| resume_unwind(panic));
            let theirs = others.into_iter().flat_map(joined);
            mine.into_iter().chain(theirs).collect()
        });
        columns.sort_by_key(|(index, _)| *index);
        Census { tools, columns: columns.into_iter().map(|(_, column)| column).collect() }
    }
}

fn claim(next: &AtomicUsize, dialects: &[&'static Dialect]) -> Option<(usize, &'static Dialect)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    dialects.get(index).map(|dialect| (index, *dialect))
}
