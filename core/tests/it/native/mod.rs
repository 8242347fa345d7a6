//! Sends requests of every format to every API with each native construct, and checks properties that hold for every
//! pair. The requests are recorded requests, the conversations in the fixtures, and both with values in wrong
//! locations.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

pub(crate) mod assertion;
pub(crate) mod fakes;
mod invariants;
mod journey;
mod kimi_data;
mod properties;
mod render;
pub(crate) mod rows;
mod script;
mod untrusted;
mod view;

use crate::reference::{sources, Source};
use invariants::{broken, calls};
use serde_json::{json, Value};
use toolwire::{
    apply_deferred_loading,
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    DeferredOptions,
};

const TARGETS: [(&str, &[&str]); 4] = [
    ("anthropic", &["none", "references", "changes", "inline"]),
    ("openai-responses", &["none", "additional-tools", "tool-search"]),
    ("openai-chat", &["none", "kimi"]),
    ("gemini-interactions", &["none", "interactions"]),
];

/// Returns every target with each native construct, and with options for removals and hosted searches.
fn sets() -> Vec<Value> {
    let mut sets = Vec::new();
    for (target, natives) in TARGETS {
        for native in natives {
            for more in [json!({}), json!({"removals": "notice", "serverHistory": "split"})] {
                let mut set = json!({"target": target, "native": native});
                set.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
                sets.push(set);
            }
        }
    }
    sets
}

fn requests() -> Vec<Value> {
    let mut requests = Vec::new();
    for Source { text, .. } in sources("deferred_requests.jsonl") {
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("the data is JSON"));
        requests.extend(rows.map(|row| row["request"].clone()));
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/applyDeferredLoading/native.json");
    let cases: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(file).expect("the fixtures")).expect("the fixtures are JSON");
    requests.extend(cases.into_iter().map(|case| case["input"].clone()));
    for folder in ["", "more/"] {
        let file = format!("{}/../../shared/data/{folder}deferred_native_cases.json", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(file) else {
            println!("skipped: there is no reference data next to the checkout");
            continue;
        };
        let cases: Vec<Value> = serde_json::from_str(&text).expect("the data is JSON");
        for case in cases {
            match &case["input"] {
                Value::Array(inputs) => requests.extend(inputs.clone()),
                input => requests.push(input.clone()),
            }
        }
    }
    requests
}

/// Returns true if the API of the request's format accepts the request with all native constructs. The translation of a
/// request that is not accepted may be refused, too.
fn is_accepted(request: &Value) -> bool {
    let (target, native) = if request.get("input").is_some() {
        ("openai-responses", "tool-search")
    } else if request["max_tokens"].is_u64() {
        ("anthropic", "inline")
    } else {
        ("openai-chat", "kimi")
    };
    fakes::check(target, native, request, &[fakes::anthropic::INLINE]).is_ok()
}

fn options(set: &Value) -> DeferredOptions {
    bindings::options(&Node::from_value(set).expect("options are shallow"), Naming::Camel).expect("options are valid")
}

/// Returns the adapted request; `None` for an error. Checks that text and value agree, and that a second run changes
/// nothing.
fn adapt(request: &Value, options: &DeferredOptions, about: &str) -> Option<Value> {
    let text = request.to_string();
    let by_text = apply_deferred_loading(text.as_str(), options);
    match (apply_deferred_loading(request, options), by_text) {
        (Ok(by_value), Ok(by_text)) => {
            assert_eq!(by_text.request, by_value.request.to_string(), "{about}: text and value agree");
            assert_eq!(
                by_text.report().expect("a report"),
                by_value.report().expect("a report"),
                "{about}: text and value report the same"
            );
            let again = apply_deferred_loading(&*by_text.request, options)
                .unwrap_or_else(|error| panic!("{about}: {error}, of {}", by_text.request));
            assert_eq!(again.request, by_text.request, "{about}: applied twice");
            Some(by_value.request)
        }
        (Err(one), Err(two)) => {
            assert_eq!(one, two, "{about}: text and value refuse the same");
            assert!(!one.message().is_empty(), "{about}: an error states the problem");
            None
        }
        (one, two) => panic!("{about}: only one path refuses: {one:?} {two:?}"),
    }
}

#[test]
fn adapted_requests_are_accepted_by_every_api() {
    let (mut runs, mut taken) = (0, 0);
    for (at, request) in requests().iter().enumerate() {
        let accepted = is_accepted(request);
        for set in sets() {
            let about = format!("request {at} with {set}");
            let Some(found) = adapt(request, &options(&set), &about) else { continue };
            let (target, native) = (set["target"].as_str().expect("a name"), set["native"].as_str().expect("a name"));
            if accepted {
                let verdict = fakes::check(target, native, &found, &[fakes::anthropic::INLINE]);
                assert_eq!(verdict, Ok(()), "{about}: {found}\n of {request}");
                taken += 1;
            }
            // An unchanged request was not written by this library, so the properties need not hold.
            if &found == request {
                continue;
            }
            let broken = broken(&found);
            assert!(broken.is_empty(), "{about}: {broken:?} in {found}\n of {request}");
            // Only hosted searches may be dropped, and only synthesized ones added.
            let (before, after) = (calls(request), calls(&found));
            let missing: Vec<&String> = before.iter().filter(|name| !after.contains(*name)).collect();
            assert!(missing.is_empty(), "{about}: the calls to {missing:?} are missing in {found}");
            runs += 1;
        }
    }
    println!("{runs} runs, {taken} of them for requests that their own API accepts");
    assert!(runs > 1_000 && taken > 1_000, "expected most requests to be accepted by every API");
}

/// A pseudorandom number generator with the same sequence on every machine, so that a failure can be reproduced.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

fn disturb(value: &mut Value, numbers: &mut Numbers, pool: &[Value]) {
    let here = numbers.below(12) == 0;
    match value {
        Value::Array(items) if !items.is_empty() && !here => {
            let at = numbers.below(items.len());
            match numbers.below(6) {
                0 => drop(items.remove(at)),
                1 => items.insert(at, items[at].clone()),
                _ => disturb(&mut items[at], numbers, pool),
            }
        }
        Value::Object(object) if !object.is_empty() && !here => {
            let key = object.keys().nth(numbers.below(object.len())).cloned().expect("an index below the length");
            disturb(&mut object[&key], numbers, pool);
        }
        _ => *value = pool[numbers.below(pool.len())].clone(),
    }
}

#[test]
fn odd_requests_give_a_clear_error_or_a_request() {
    let pool = [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!({}),
        json!([{"type": "tool_reference", "tool_name": "rate"}]),
        json!({"type": "additional_tools", "tools": [{"type": "function", "name": "f"}, 7]}),
        json!({"type": "tool_search_output", "tools": [{"name": "rate"}]}),
        json!({"role": "system", "tools": [{"type": "function", "function": {"name": "k"}}]}),
        json!({"role": "system", "content": [{"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "z"}}}]}),
    ];
    let (requests, sets) = (requests(), sets());
    let (mut numbers, mut accepted, mut refused) = (Numbers(11), 0, 0);
    for _ in 0..4_000 {
        let mut request = requests[numbers.below(requests.len())].clone();
        for _ in 0..=numbers.below(4) {
            disturb(&mut request, &mut numbers, &pool);
        }
        let set = &sets[numbers.below(sets.len())];
        match adapt(&request, &options(set), &format!("{request}\n with {set}")) {
            Some(_) => accepted += 1,
            None => refused += 1,
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > refused, "expected most odd requests to be accepted");
}
