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

pub(crate) use find::find_violations;
pub(crate) use fix::fix_violations;

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{
        backends::RequestFacts,
        requests::{Refusal, RequestFact},
        rule::{BetaLocation, Rule},
    },
    options::Api,
    wire,
};

pub(crate) type FactRule = (&'static RequestFact, &'static Rule);

pub(crate) fn of(facts: &RequestFacts, (api, model): (Api, &str)) -> Vec<FactRule> {
    facts
        .iter()
        .filter_map(|fact| match &fact.refuses {
            Refusal::Rule(rule) if rule.concerns(api, model) => Some((fact, rule)),
            _ => None,
        })
        .collect()
}

/// Returns true if a rule shows that the API reads the reasoning in the history of a request in this format.
pub(crate) fn reads_reasoning(rules: &[FactRule], api: Api) -> bool {
    let member = wire::of(api).turns().reasoning;
    member.is_some_and(|member| rules.iter().any(|(_, rule)| rule.shows_member(member)))
}

pub(crate) fn max_reply_tokens(rules: &[FactRule], api: Api) -> Option<u64> {
    let member = wire::of(api).translation()?.limit;
    rules.iter().filter_map(|(_, rule)| rule.maximum_of(member)).min()
}

#[derive(Debug)]
pub(crate) struct RuleViolation {
    pub(crate) fact: &'static RequestFact,
    pub(crate) rule: &'static Rule,
    pub(crate) pointer: String,
    location: ViolationLocation,
}

impl RuleViolation {
    /// Contains no values of the request.
    pub(crate) fn message(&self) -> String {
        words::violation_message(self.rule, self.fact)
    }
}

/// The location of a violation, without the path of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ViolationLocation {
    Request,
    Message(usize),
    /// Index of the message, and index of the part.
    Part(usize, usize),
    SystemPart(usize),
    Tool(usize),
    /// Number of the id among all ids of the history.
    Id(usize),
    Choice,
    Beta(BetaLocation),
}

impl ViolationLocation {
    const fn part(self) -> Option<usize> {
        match self {
            ViolationLocation::Part(_, part) => Some(part),
            _ => None,
        }
    }
}
