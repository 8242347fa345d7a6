//! Rules about locations in a request ([`Rule`]): finds violations, and fixes them.
//!
//! `find` reads and never writes; `fix` changes the locations that were found. Only `dialect::rule` knows what a rule
//! is, and only `wire` knows where the locations of a format are.

mod find;
mod fix;
mod ids;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use find::find;
pub(crate) use fix::fix;

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{
        backends::RequestFacts,
        requests::{Refusal, RequestFact},
        rule::{BetaPlace, Rule},
    },
    options::Api,
    wire,
};

/// A fact with its rule.
pub(crate) type FactRule = (&'static RequestFact, &'static Rule);

/// Returns the rules about requests of this format to this model.
pub(crate) fn of(facts: &RequestFacts, (api, model): (Api, &str)) -> Vec<FactRule> {
    facts
        .iter()
        .filter_map(|fact| match &fact.refuses {
            Refusal::Rule(rule) if rule.concerns(api, model) => Some((fact, rule)),
            _ => None,
        })
        .collect()
}

/// Returns what the rules say about a request that is written in this format: whether the API reads the reasoning in
/// messages of the model, and the maximum number of tokens of an answer.
pub(crate) fn answers(rules: &[FactRule], api: Api) -> (bool, Option<u64>) {
    let wire = wire::of(api);
    let shows = |rule: &Rule| wire.turns().reasoning.is_some_and(|member| rule.shows_member(member));
    let maximum = |rule: &Rule| wire.translation().and_then(|format| rule.maximum_of(format.limit));
    (rules.iter().any(|(_, rule)| shows(rule)), rules.iter().filter_map(|(_, rule)| maximum(rule)).min())
}

/// A violation of a rule.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) fact: &'static RequestFact,
    pub(crate) rule: &'static Rule,
    pub(crate) pointer: String,
    location: FoundLocation,
}

impl Found {
    /// Returns what was expected, and what was found. Contains no values of the request.
    pub(crate) fn message(&self) -> String {
        words::expected(self.rule, self.fact)
    }
}

/// The location of a violation, without the path of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundLocation {
    Request,
    Message(usize),
    /// Index of the message, and index of the part.
    Part(usize, usize),
    /// Index of the part.
    SystemPart(usize),
    /// Index of the entry of the list.
    Tool(usize),
    /// Number of the id among all ids of the history.
    Id(usize),
    Choice,
    Beta(BetaPlace),
}

impl FoundLocation {
    /// Returns the index of the part.
    const fn part(self) -> Option<usize> {
        match self {
            FoundLocation::Part(_, part) => Some(part),
            _ => None,
        }
    }
}
