//! The rules that schemas break, and what would be gained by mending them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::count::{Census, Column, Verdict};

/// What several APIs accept at once is no API: counted here, it would count the others twice.
const MEET: &str = "portable";

/// One rule or keyword, over all tools and all dialects of APIs. A case is one tool in one dialect.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) name: String,
    /// The tools that break it, or have it, somewhere.
    pub(crate) tools: usize,
    /// The dialects in which some tool does.
    pub(crate) dialects: usize,
    pub(crate) cases: usize,
    /// The cases in which nothing else is refused: once this is mended, they are taken as they are.
    pub(crate) alone: usize,
    /// The cases in which nothing is refused but this and what stands before it in the list.
    pub(crate) with_those_before: usize,
}

/// The dialects whose rules are counted.
pub(crate) fn counted(census: &Census) -> impl Iterator<Item = &Column> {
    census.columns.iter().filter(|column| column.dialect.name != MEET)
}

/// The cases in which something is refused: in which dialect, of which tool, what.
fn cases(census: &Census) -> impl Iterator<Item = (&'static str, usize, &Verdict)> {
    counted(census).flat_map(move |column| {
        census.tools.tools.iter().enumerate().filter_map(move |(tool, (_, schema))| {
            let verdict = column.verdicts.get(*schema)?;
            (!verdict.refused.is_empty()).then_some((column.dialect.name, tool, verdict))
        })
    })
}

/// How often something was seen.
#[derive(Default)]
struct Seen {
    tools: BTreeSet<usize>,
    dialects: BTreeSet<&'static str>,
    cases: usize,
    alone: usize,
}

impl Seen {
    fn add(&mut self, dialect: &'static str, tool: usize, is_alone: bool) {
        self.tools.insert(tool);
        self.dialects.insert(dialect);
        self.cases += 1;
        self.alone += usize::from(is_alone);
    }
}

/// What was seen, the most frequent first, with what `gained` says of the first so many.
fn ranked(seen: BTreeMap<String, Seen>, count: usize, gained: impl Fn(&BTreeSet<&str>) -> usize) -> Vec<Broken> {
    let mut list: Vec<(String, Seen)> = seen.into_iter().collect();
    // Equal ones stay in the order of their names, because this is stable.
    list.sort_by_key(|(_, seen)| Reverse(seen.cases));
    list.truncate(count);
    let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
    let broken = |(place, (name, seen)): (usize, &(String, Seen))| Broken {
        name: name.clone(),
        tools: seen.tools.len(),
        dialects: seen.dialects.len(),
        cases: seen.cases,
        alone: seen.alone,
        with_those_before: gained(&names.iter().take(place + 1).copied().collect()),
    };
    list.iter().enumerate().map(broken).collect()
}

/// The rules that break in most cases, the first of them first.
pub(crate) fn rules(census: &Census, count: usize) -> Vec<Broken> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for (dialect, tool, verdict) in cases(census) {
        for rule in &verdict.refused {
            seen.entry((*rule).to_owned()).or_default().add(dialect, tool, verdict.refused.len() == 1);
        }
    }
    ranked(seen, count, |mended| {
        cases(census).filter(|(_, _, verdict)| verdict.refused.iter().all(|rule| mended.contains(rule))).count()
    })
}

/// The keywords that are refused in most cases; `alone` and `with_those_before` speak of the cases in which no other rule
/// breaks.
pub(crate) fn keywords(census: &Census, count: usize) -> Vec<Broken> {
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let is_all = |verdict: &Verdict| verdict.refused.len() == 1;
    for (dialect, tool, verdict) in cases(census) {
        for keyword in &verdict.keywords {
            let is_alone = is_all(verdict) && verdict.keywords.len() == 1;
            seen.entry(keyword.clone()).or_default().add(dialect, tool, is_alone);
        }
    }
    ranked(seen, count, |mended| {
        let is_gained = |verdict: &Verdict| {
            is_all(verdict)
                && !verdict.keywords.is_empty()
                && verdict.keywords.iter().all(|keyword| mended.contains(keyword.as_str()))
        };
        cases(census).filter(|(_, _, verdict)| is_gained(verdict)).count()
    })
}
