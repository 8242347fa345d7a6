//! What becomes of every tool in every dialect, and the sums of it.

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

/// What becomes of a tool, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    AsItIs,
    Lossless,
    Encoded,
    Closed,
    TextLost,
    Wider,
    Narrower,
    NotAtAll,
}

impl Fate {
    pub(crate) const ALL: [Fate; 8] = [
        Fate::AsItIs,
        Fate::Lossless,
        Fate::Encoded,
        Fate::Closed,
        Fate::TextLost,
        Fate::Wider,
        Fate::Narrower,
        Fate::NotAtAll,
    ];

    /// As tables and plots say it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Fate::AsItIs => "as it is",
            Fate::Lossless => "without loss",
            Fate::Encoded => "encoded",
            Fate::Closed => "closed",
            Fate::TextLost => "text lost",
            Fate::Wider => "wider",
            Fate::Narrower => "narrower or mixed",
            Fate::NotAtAll => "not at all",
        }
    }

    /// What one change alone would make of a tool: the columns of `toolwire matrix`.
    fn of(change: &Change) -> Fate {
        match change.accepts {
            Accepts::Wider => Fate::Wider,
            Accepts::Narrower | Accepts::Mixed => Fate::Narrower,
            Accepts::Same | Accepts::Closed if change.guidance == Guidance::Lost => Fate::TextLost,
            Accepts::Closed => Fate::Closed,
            Accepts::Same if change.encoded => Fate::Encoded,
            Accepts::Same => Fate::Lossless,
        }
    }
}

/// What one dialect means for one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) fate: Fate,
    /// The rules that it breaks so that it is refused.
    pub(crate) refused: BTreeSet<&'static str>,
    /// The keywords that it may not have, for the rule that is about so many of them that its name alone says little.
    pub(crate) keywords: BTreeSet<String>,
    pub(crate) reinterpreted: bool,
    pub(crate) ignored: bool,
}

impl Verdict {
    pub(crate) fn of(dialect: &str, schema: &str) -> Verdict {
        let options = SanitizeOptions::new(dialect);
        let mut verdict = Verdict {
            fate: Fate::NotAtAll,
            refused: BTreeSet::new(),
            keywords: BTreeSet::new(),
            reinterpreted: false,
            ignored: false,
        };
        let Ok(found) = check(schema, &options) else { return verdict };
        for Violation { constraint: rule, severity, pointer, .. } in found {
            match severity {
                Severity::Refused => {
                    verdict.refused.insert(rule);
                    if rule == Constraint::RefusedKeyword.id() {
                        // Known keywords only: any other key is an `unknown-keyword`.
                        verdict.keywords.extend(pointer.rsplit('/').next().map(str::to_owned));
                    }
                }
                Severity::Reinterpreted => verdict.reinterpreted = true,
                Severity::Ignored => verdict.ignored = true,
            }
        }
        verdict.fate = if verdict.refused.is_empty() {
            Fate::AsItIs
        } else {
            // Something had to change, so that it is at least a rewriting.
            sanitize(schema, &options).map_or(Fate::NotAtAll, |result| {
                result.changes().expect("a report").iter().map(Fate::of).max().unwrap_or(Fate::Lossless)
            })
        };
        verdict
    }
}

/// All schemas in one dialect.
pub(crate) struct Column {
    pub(crate) dialect: &'static Dialect,
    /// As many as there are schemas.
    pub(crate) verdicts: Vec<Verdict>,
}

/// How many have each fate, in the order of `Fate::ALL`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates(pub(crate) [usize; 8]);

impl Fates {
    pub(crate) fn of(&self, fate: Fate) -> usize {
        self.0.get(fate as usize).copied().unwrap_or_default()
    }

    pub(crate) fn all(&self) -> usize {
        self.0.iter().sum()
    }

    fn add(&mut self, fate: Fate) {
        if let Some(count) = self.0.get_mut(fate as usize) {
            *count += 1;
        }
    }
}

/// How many tools, and how many servers, have each fate in one dialect.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tools: Fates,
    /// A server has the fate of its worst tool.
    pub(crate) servers: Fates,
    /// Of the tools that are taken as they are: those whose model is held to other arguments than the schema says.
    pub(crate) reinterpreted: usize,
    /// Of the tools that are taken as they are: those in which something has no effect.
    pub(crate) ignored: usize,
    /// Of the dialect's table.
    pub(crate) revision: u32,
}

impl Column {
    pub(crate) fn tally(&self, tools: &Tools) -> Tally {
        let mut tally = Tally { revision: self.dialect.revision, ..Tally::default() };
        let mut worst = vec![Fate::AsItIs; tools.servers];
        for (server, schema) in &tools.tools {
            let Some(verdict) = self.verdicts.get(*schema) else { continue };
            tally.tools.add(verdict.fate);
            if let Some(worst) = worst.get_mut(*server) {
                *worst = verdict.fate.max(*worst);
            }
            if verdict.fate == Fate::AsItIs {
                tally.reinterpreted += usize::from(verdict.reinterpreted);
                tally.ignored += usize::from(verdict.ignored);
            }
        }
        worst.into_iter().for_each(|fate| tally.servers.add(fate));
        tally
    }
}

/// All tools in all dialects.
pub(crate) struct Census {
    pub(crate) tools: Tools,
    pub(crate) columns: Vec<Column>,
}

impl Census {
    /// Counts in every dialect of an API: the others are what a client does before the API sees anything.
    pub(crate) fn take(tools: Tools) -> Census {
        let asked: Vec<&'static Dialect> =
            dialects().iter().filter(|dialect| internal::is_of_an_api(dialect)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((place, dialect)) = claim(&next, &asked) {
                let verdicts = tools.schemas.iter().map(|schema| Verdict::of(dialect.name, schema)).collect();
                done.push((place, Column { dialect, verdicts }));
            }
            done
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
        columns.sort_by_key(|(place, _)| *place);
        Census { tools, columns: columns.into_iter().map(|(_, column)| column).collect() }
    }
}

/// The next dialect that nobody has begun with.
fn claim(next: &AtomicUsize, asked: &[&'static Dialect]) -> Option<(usize, &'static Dialect)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    asked.get(place).map(|dialect| (place, *dialect))
}
