//! The rules that schemas violate, and the effect of fixing the violations.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::count::{Census, Column, Verdict};

/// `portable` is the intersection of several APIs, not an API: counting it would count their violations twice.
const INTERSECTION: &str = "portable";

/// A rule or keyword, over all tools and all dialects of APIs. A case is one tool in one dialect.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ViolationCount {
    pub(crate) name: String,
    /// Tools with a violation in some dialect.
    pub(crate) tools: usize,
    /// Dialects that some tool violates.
    pub(crate) dialects: usize,
    pub(crate) cases: usize,
    /// Cases without another violation: the API accepts the tool once this violation is fixed.
    pub(crate) alone: usize,
    /// Cases whose only violations are this entry and earlier entries of the list.
    pub(crate) with_those_before: usize,
}

pub(crate) fn api_columns(census: &Census) -> impl Iterator<Item = &Column> {
    census.columns.iter().filter(|column| column.dialect.name != INTERSECTION)
}

fn cases(census: &Census) -> impl Iterator<Item = (&'static str, usize, &Verdict)> {
    api_columns(census).flat_map(move |column| {
        census.tools.tools.iter().enumerate().filter_map(move |(tool, (_, schema))| {
            let verdict = column.verdicts.get(*schema)?;
            (!verdict.refused.is_empty()).then_some((column.dialect.name, tool, verdict))
        })
    })
}

#[derive(Default)]
struct Occurrences {
    tools: BTreeSet<usize>,
    dialects: BTreeSet<&'static str>,
    cases: usize,
    alone: usize,
}

impl Occurrences {
    fn add(&mut self, dialect: &'static str, tool: usize, is_alone: bool) {
        self.tools.insert(tool);
        self.dialects.insert(dialect);
        self.cases += 1;
        self.alone += usize::from(is_alone);
    }
}

/// Returns the most frequent violations, sorted by frequency. `gained` returns the number of cases that fixing the
/// first entries makes acceptable.
fn rank(
    seen: BTreeMap<String, Occurrences>,
    count: usize,
    gained: impl Fn(&BTreeSet<&str>) -> usize,
) -> Vec<ViolationCount> {
    let mut list: Vec<(String, Occurrences)> = seen.into_iter().collect();
    // The sort is stable, so entries with equal counts remain sorted by name.
    list.sort_by_key(|(_, seen)| Reverse(seen.cases));
    list.truncate(count);
    let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
    let broken = |(index, (name, seen)): (usize, &(String, Occurrences))| ViolationCount {
        name: name.clone(),
        tools: seen.tools.len(),
        dialects: seen.dialects.len(),
        cases: seen.cases,
        alone: seen.alone,
        with_those_before: gained(&names.iter().take(index + 1).copied().collect()),
    };
    list.iter().enumerate().map(broken).collect()
}

pub(crate) fn rules(census: &Census, count: usize) -> Vec<ViolationCount> {
    let mut seen: BTreeMap<String, Occurrences> = BTreeMap::new();
    for (dialect, tool, verdict) in cases(census) {
        for rule in &verdict.refused {
            seen.entry((*rule).to_owned()).or_default().add(dialect, tool, verdict.refused.len() == 1);
        }
    }
    rank(seen, count, |fixed| {
        cases(census).filter(|(_, _, verdict)| verdict.refused.iter().all(|rule| fixed.contains(rule))).count()
    })
}

/// Returns the keywords that are refused most frequently. `alone` and `with_those_before` count cases without
/// violations of other rules.
pub(crate) fn keywords(census: &Census, count: usize) -> Vec<ViolationCount> {
    let mut seen: BTreeMap<String, Occurrences> = BTreeMap::new();
    let is_all = |verdict: &Verdict| verdict.refused.len() == 1;
    for (dialect, tool, verdict) in cases(census) {
        for keyword in &verdict.keywords {
            let is_alone = is_all(verdict) && verdict.keywords.len() == 1;
            seen.entry(keyword.clone()).or_default().add(dialect, tool, is_alone);
        }
    }
    rank(seen, count, |fixed| {
        let is_gained = |verdict: &Verdict| {
            is_all(verdict)
                && !verdict.keywords.is_empty()
                && verdict.keywords.iter().all(|keyword| fixed.contains(keyword.as_str()))
        };
        cases(census).filter(|(_, _, verdict)| is_gained(verdict)).count()
    })
}
