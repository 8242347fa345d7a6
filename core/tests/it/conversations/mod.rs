//! Conversations in all six formats with constructs that trigger the APIs' rules about whole requests. A fake of the
//! backend must accept everything that `adapt_request` sends, and a request that the fake accepts must stay unchanged.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod deferral;
mod fakes;
mod generator;
mod overflow;

use std::collections::BTreeMap;

use generator::{made, Backend, Made, TRIGGERS};
use serde_json::Value;
use toolwire::{
    adapt_request, check_request, dialects,
    options::{Formats, HistoryPairs},
    reports::RequestFact,
    AdaptOptions, CheckRequestOptions, Code,
};

use crate::dialect_id;

const CONVERSATIONS: usize = 6000;

/// Rules whose violations cannot be repaired: `check_request` finds them, and they remain.
const LEFT: [&str; 11] = [
    "choice-of-absent-tool",
    "choice-by-model",
    "model-without-tools",
    "format-by-model",
    "format-beside-tools",
    "format-beside-prefill",
    "prefill-by-model",
    "format-without-word",
    "format-updates",
    "functions-beside-hosted",
    "cached-content",
];

/// Rules about locations in a request. A test in the core violates each rule at each location.
const PLACES: [&str; 17] = [
    "unsupported-member",
    "unsupported-beta",
    "missing-beta",
    "call-id",
    "item-id",
    "missing-member",
    "unsupported-value",
    "message-role",
    "empty-list",
    "empty-text",
    "block-order",
    "search-result",
    "turn-order",
    "calls-without-tools",
    "call-signature",
    "result-not-object",
    "choice-kind",
];

/// Rules whose violations may cause an error, because no change can add the tool that a choice requires, or make the
/// API support a format.
const ERRORS: [&str; 4] = ["choice-without-tools", "choice-of-absent-tool", "choice-while-thinking", "format-refused"];
const MAX_ERRORS: usize = 160;

/// Changes of requests that a fake accepts, with the reason.
const CHANGED: &[(&str, &str)] = &[
    (
        "declare-open",
        "a server that converts schemas to grammars closes objects that do not declare that they are open",
    ),
    ("strict-flag", "a list in which one tool is strict makes the others strict, unless they set `strict: false`"),
];

pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// Returns the rules that a request violates, each with the statement of its fact.
fn violations(dialect: &str, model: &str, request: &Value) -> Vec<(&'static str, &'static str)> {
    let options = CheckRequestOptions::new(dialect_id(dialect)).model(model);
    let found = check_request(request, options).unwrap_or_else(|error| panic!("{error}: {request}"));
    found.iter().map(|violation| (violation.constraint, violation.fact.statement)).collect()
}

#[test]
fn adapted_requests_are_not_refused() {
    let mut numbers = Numbers(7);
    let mut facts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let mut triggers: BTreeMap<(&str, Backend), usize> = BTreeMap::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults: Vec<String> = Vec::new();
    for number in 0..CONVERSATIONS {
        let Made { backend, trigger, request } = made(number, &mut numbers);
        let (_, dialect, model) = backend;
        let about = format!("{number}, {trigger}, {backend:?}");
        let verdict = fakes::check(backend, &request);
        let found = violations(dialect, model, &request);
        for fact in &found {
            *facts.entry(*fact).or_default() += 1;
            *rules.entry(fact.0).or_default() += 1;
        }
        *triggers.entry((trigger, backend)).or_default() += 1;
        if !found.is_empty() && verdict.is_ok() {
            faults.push(format!("{about}: the fake does not know {found:?}: {request}"));
        }
        let options = AdaptOptions::new(dialect_id(dialect)).model(model).history_pairs(HistoryPairs::Complete);
        let adapted = match adapt_request(&request, &options) {
            Ok(adapted) => adapted,
            Err(error) if matches!(error.code(), Code::InvalidRequest | Code::NotRepresentable) && verdict.is_err() => {
                if !found.iter().any(|(rule, _)| ERRORS.contains(rule)) {
                    faults.push(format!("{about}: {error}, although the rules {found:?} can be followed: {request}"));
                }
                *count.entry("errors for requests that no change can fix").or_default() += 1;
                continue;
            }
            Err(error) => {
                faults.push(format!("{about}: {error}: {request}"));
                continue;
            }
        };
        let sent = &adapted.request;
        for change in &adapted.report.request_changes {
            *rules.entry(change.rule).or_default() += 1;
        }
        if verdict.is_ok() {
            *count.entry("accepted unchanged").or_default() += 1;
            let reasons: Vec<&str> = adapted
                .report
                .request_changes
                .iter()
                .map(|change| change.rule)
                .chain(adapted.report.changes.iter().map(|change| change.change.rule.id()))
                .collect();
            let is_known = |rule: &&str| CHANGED.iter().any(|(known, _)| known == rule);
            let is_demanded = !reasons.is_empty() && reasons.iter().all(is_known);
            match sent == &request {
                true => *count.entry("accepted and unchanged").or_default() += 1,
                false if is_demanded => *count.entry("accepted and changed, with a known reason").or_default() += 1,
                false => faults.push(format!("{about}: changed by {reasons:?}: {request}\n to {sent}")),
            }
        }
        *count.entry("sent").or_default() += 1;
        if let Err(refusal) = fakes::check(backend, sent) {
            let left = violations(dialect, model, sent);
            match !left.is_empty() && left.iter().all(|(rule, _)| LEFT.contains(rule)) {
                true => *count.entry("sent and refused, as `check_request` reports").or_default() += 1,
                false => faults.push(format!("{about}: refused, {refusal}: {sent}\n of {request}")),
            }
        }
    }
    println!("{CONVERSATIONS} conversations, {} rules with {} facts: {count:#?}", rules.len(), facts.len());
    let errors = count.get("errors for requests that no change can fix").copied().unwrap_or_default();
    assert!(errors <= MAX_ERRORS, "{errors} errors");
    let shown: Vec<&String> = faults.iter().take(12).collect();
    assert!(faults.is_empty(), "{} faults: {shown:#?}", faults.len());
    let rare: Vec<_> = triggers.iter().filter(|(_, times)| **times < 20).collect();
    assert!(rare.is_empty(), "each trigger is in 20 requests of each backend that has the rule: {rare:?}");
    assert_eq!(triggers.len(), TRIGGERS.iter().map(|(_, backends, _)| backends.len()).sum::<usize>());
    for (rule, _) in RequestFact::CONSTRAINTS.iter().filter(|(rule, _)| !PLACES.contains(rule)) {
        let times = rules.get(rule).copied().unwrap_or_default();
        assert!(times >= 20, "`{rule}` was broken {times} times");
    }
    let facts_of_requests = dialects().iter().flat_map(|dialect| dialect.requests());
    // Facts with fixtures, whose constraints also have facts about other backends.
    const WITH_FIXTURES: [&str; 3] = [
        "`functionCallingConfig` needs functions",
        "Messages has no tools that Anthropic runs",
        "the tool choice must not force a call while Opus 4.6 thinks with a budget; adaptive thinking accepts it",
    ];
    let is_place = |fact: &RequestFact| PLACES.contains(&fact.rule()) || WITH_FIXTURES.contains(&fact.statement);
    for fact in facts_of_requests.filter(|fact| !is_place(fact)) {
        let times = facts.get(&(fact.rule(), fact.statement)).copied().unwrap_or_default();
        assert!(times >= 20, "`{}` ({}) was broken {times} times", fact.rule(), fact.statement);
    }
}

/// The ladder's substitute for a response format must not be refused: neither the format itself, nor the choice that
/// forces the function in its place.
#[test]
fn substitutes_for_response_formats_are_not_refused() {
    let mut numbers = Numbers(11);
    let (mut faults, mut steps): (Vec<String>, BTreeMap<String, usize>) = (Vec::new(), BTreeMap::new());
    for number in 0..CONVERSATIONS {
        let Made { backend, trigger, request } = made(number, &mut numbers);
        let (_, dialect, model) = backend;
        let about = format!("{number}, {trigger}, {backend:?}");
        for formats in [Formats::Ladder, Formats::Tool, Formats::Prompt] {
            let options = AdaptOptions::new(dialect_id(dialect)).model(model).history_pairs(HistoryPairs::Complete);
            let adapted = match adapt_request(&request, &options.formats(formats)) {
                Ok(adapted) => adapted,
                // Some models do not accept a choice that forces a call.
                Err(error) if formats == Formats::Tool && error.code() == Code::NotRepresentable => continue,
                Err(error) if error.code() == Code::InvalidRequest => continue,
                // The request has a prefilled answer, which the model refuses.
                Err(error) if error.message().contains("without a prefilled answer") => continue,
                // The cache already contains the instructions and tools, so the request cannot add any.
                Err(_) if request["cachedContent"].is_string() => continue,
                Err(error) => {
                    faults.push(format!("{about}, {formats:?}: {error}: {request}"));
                    continue;
                }
            };
            let changes = &adapted.report.format_changes;
            let is_step = |rule: &str| ["format-as-tool", "format-in-prompt"].contains(&rule);
            let Some(step) = changes.iter().map(|change| change.change.rule.id()).find(|rule| is_step(rule)) else {
                continue;
            };
            *steps.entry(format!("{formats:?}: {step}")).or_default() += 1;
            let left = violations(dialect, model, &adapted.request);
            let is_about = |rule: &str| rule.starts_with("format-") || rule.starts_with("choice-while");
            // Other rules that the substitute violates.
            let given = violations(dialect, model, &request);
            let is_of_step = |rule: &str| {
                ["functions-beside-hosted", "cached-content"].contains(&rule)
                    && !given.iter().any(|(known, _)| *known == rule)
            };
            let left: Vec<_> = left.iter().filter(|(rule, _)| is_about(rule) || is_of_step(rule)).collect();
            if !left.is_empty() {
                faults.push(format!("{about}, {formats:?}: {left:?}: {}", adapted.request));
            }
            if let Err(refusal) = fakes::check(backend, &adapted.request) {
                let known = violations(dialect, model, &adapted.request);
                if !known.iter().any(|(rule, _)| LEFT.contains(rule)) {
                    faults.push(format!("{about}, {formats:?}: refused, {refusal}: {}", adapted.request));
                }
            }
        }
    }
    println!("{steps:#?}");
    let shown: Vec<&String> = faults.iter().take(8).collect();
    assert!(faults.is_empty(), "{} faults: {shown:#?}", faults.len());
    for step in ["Ladder: format-as-tool", "Tool: format-as-tool", "Prompt: format-in-prompt"] {
        assert!(steps.get(step).is_some_and(|times| *times >= 20), "{step}: {steps:?}");
    }
}
