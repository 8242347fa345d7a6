//! Malformed requests (tests/malformed-requests): any JSON value anywhere in a request, as an option, a tool list or a
//! call.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use serde_json::{json, Map, Value};
use toolwire::{
    answer_tool_search, apply_deferred_loading,
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    repair_arguments,
    reports::Confidence,
    search_tools, validate_arguments, DeferredOptions, Error, RepairOptions, SearchOptions, ToolIndex,
};

fn inputs() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/malformed-requests/requests.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the inputs")).expect("it is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn options(value: &Value) -> Result<DeferredOptions, Error> {
    bindings::options::<DeferredOptions>(&Node::from_value(value)?, Naming::Camel)
}

/// Returns true if the request was rewritten rather than refused.
fn check(request: &Value, set: &Value) -> bool {
    let options = options(set).expect("valid options");
    let text = request.to_string();
    let about = format!("{text}\n with {set}");
    match (
        apply_deferred_loading(request, &options).map(|done| done.request),
        apply_deferred_loading(&text, &options).map(|done| done.request),
    ) {
        (Ok(done), Ok(by_text)) => {
            assert_eq!(done.to_string(), by_text, "{about}: text and value agree");
            let again = apply_deferred_loading(&by_text, &options)
                .map(|done| done.request)
                .unwrap_or_else(|error| panic!("{about}: once more: {error}"));
            assert_eq!(again, by_text, "{about}: applied twice");
            true
        }
        (Err(one), Err(two)) => {
            assert_eq!(one, two, "{about}: text and value refuse the same");
            assert!(!one.message().is_empty(), "{about}: an error states the problem");
            false
        }
        (one, two) => panic!("{about}: only one path refuses: {one:?} {two:?}"),
    }
}

/// Arguments in which every name is a misspelling of a required name, or unrelated: the lookup for each name uses the
/// budget, so a call takes seconds instead of minutes.
#[test]
fn many_wrong_names_take_linear_time() {
    let count = 4_000;
    let names: Vec<String> = (0..count).map(|index| format!("some_name_{index}")).collect();
    let own = json!({
        "type": "object",
        "properties": names.iter().map(|name| (name.clone(), json!({"type": "integer", "default": 1}))).collect::<Map<_, _>>(),
        "required": names,
        "additionalProperties": false,
    });
    let respelled: Map<_, _> = (0..count).map(|index| (format!("some-name-{index}"), json!(1))).collect();
    let unknown: Map<_, _> = (0..count).map(|index| (format!("some_namf_{index}_"), json!(1))).collect();
    let begun = Instant::now();
    for arguments in [Value::Object(respelled), Value::Object(unknown)] {
        for options in [
            RepairOptions::default(),
            RepairOptions::default().confidence(Confidence::Exact),
            RepairOptions::default().use_defaults(true),
        ] {
            let repaired = repair_arguments(&arguments, &own, &options).expect("they are arguments");
            assert!(repaired.left.len() <= 100, "{} are left", repaired.left.len());
        }
        validate_arguments(&arguments, &own).expect("they are arguments");
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
}

#[test]
fn malformed_values_anywhere_in_a_request_cause_no_panic() {
    let inputs = inputs();
    let (mut accepted, mut refused) = (0, BTreeMap::<&str, usize>::new());
    let mut sets = list(&inputs["options"]).iter().cycle();
    for row in list(&inputs["requests"]) {
        for place in list(&row["places"]).iter().filter_map(Value::as_str) {
            for value in list(&inputs["values"]) {
                let mut request = row["request"].clone();
                *request.pointer_mut(place).expect("a place in the request") = value.clone();
                // The option sets take turns here. The optimized builds of Node and Python run all of them.
                let set = sets.next().expect("a cycle does not end");
                match check(&request, set) {
                    true => accepted += 1,
                    false => *refused.entry(place).or_default() += 1,
                }
            }
        }
    }
    println!("{accepted} accepted; refused by place: {refused:?}");
    assert!(accepted > 4_000, "most malformed requests can still be rewritten");
}

#[test]
fn malformed_option_is_accepted_or_named_in_the_error() {
    let inputs = inputs();
    let (mut accepted, mut refused) = (0, 0);
    for name in list(&inputs["optionNames"]).iter().filter_map(Value::as_str) {
        for value in list(&inputs["values"]) {
            match options(&json!({name: value})) {
                Ok(_) => accepted += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.pointer().starts_with(&format!("/{name}")), "{name}: {value}: {error}");
                    assert!(["invalid-option", "unknown-option"].contains(&error.code().as_str()), "{error}");
                }
            }
        }
    }
    for value in list(&inputs["values"]) {
        let _ = options(value).map_err(|error| assert!(!error.message().is_empty()));
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 0 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn malformed_tool_lists_and_calls_are_searched_or_refused() {
    let (inputs, options) = (inputs(), SearchOptions::default());
    let call = json!({"type": "tool_use", "id": "t", "name": "tool_search", "input": {"query": "a d"}});
    let values = list(&inputs["values"]);
    for value in values {
        for tools in [value.clone(), json!([value]), json!({"tools": value}), json!({"tools": [value, value]})] {
            let found = search_tools(&tools, "a d", &options);
            let answered = answer_tool_search(&call, &tools, &options);
            let index = ToolIndex::new(&tools);
            match (found, answered, index) {
                (Ok(names), Ok(Some(answer)), Ok(index)) => {
                    assert_eq!(index.search("a d", &options).as_ref(), Ok(&names));
                    assert_eq!(index.answer(&call, &options), Ok(Some(answer)));
                }
                (Err(one), Err(two), Err(three)) => assert!(one == two && two == three, "{tools}: {one} {two} {three}"),
                other => panic!("{tools}: {other:?}"),
            }
        }
        let answer = answer_tool_search(value, &json!([]), &options).expect("any call has a result");
        let is_search =
            value["name"] == "tool_search" && value["type"] == "tool_use" || value["type"] == "tool_search_call";
        assert_eq!(answer.is_some(), is_search, "{value}");
    }
    assert!(values.len() > 40);
}
