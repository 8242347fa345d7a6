//! `apply_deferred_loading` from one API to another, with the reference data if it exists next to the checkout: 188
//! cases from other projects, documentation and recordings. (Our own cases are fixtures.)

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::native::{assertion::Assertion, rows};
use serde_json::{json, Value};
use toolwire::{
    adapt_request, apply_deferred_loading,
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    AdaptOptions, DeferredOptions,
};

fn options<T: bindings::ReadOptions>(value: &Value) -> Result<T, toolwire::Error> {
    bindings::options::<T>(&Node::from_value(value).expect("options are shallow"), Naming::Camel)
}

/// Returns the request that results from a row's options.
fn adapt(input: &Value, given: &Value) -> Result<Value, toolwire::Error> {
    let text = input.to_string();
    let done = if given["call"] == "adaptRequest" {
        let mut without_call = given.as_object().expect("options").clone();
        without_call.shift_remove("call");
        adapt_request(text.as_str(), &options::<AdaptOptions>(&Value::Object(without_call))?)?.request.into_owned()
    } else {
        apply_deferred_loading(text.as_str(), &options::<DeferredOptions>(given)?)?.request.into_owned()
    };
    Ok(serde_json::from_str(&done).expect("the output is JSON"))
}

/// Rows that expect no `oneOf` at the root, which toolwire keeps: Moonshot's validator accepts it next to `type` and
/// does not check it. The validator takes precedence over these rows, which are based on an issue thread.
const ROOT_UNION_STAYS: [&str; 2] = ["issue_kimi_automation_update_typed", "issue_kimi_automation_update_untyped"];

/// Rows of a gateway that drops one of two tools with the same flat name. Toolwire sends both, one of them renamed, and
/// restores calls to both. Without the renamed tool, the rows' assertions hold.
const BOTH_ARE_SENT: [&str; 4] = [
    "chat_flat_name_wins",
    "anthropic_duplicate_flat_name",
    "anthropic_direct_beats_namespace",
    "anthropic_direct_beats_namespace_later",
];

/// Rows of a gateway that only replaces characters in ids. Toolwire adds a digest, so that an id does not depend on the
/// other ids. Without the digests, the rows' assertions hold.
const IDS_HAVE_DIGESTS: [&str; 3] = ["anthropic_ids_fit", "anthropic_custom_history", "anthropic_namespace_history"];

fn remove_digests(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_digests),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_str().and_then(|id| id.rsplit_once('_')) {
                    Some((id, tail)) if tail.len() == 13 && ["id", "tool_use_id"].contains(&name.as_str()) => {
                        *member = json!(id);
                    }
                    _ => remove_digests(member),
                }
            }
        }
        _ => {}
    }
}

fn without_renamed(mut request: Value) -> Value {
    let tools = request["tools"].as_array_mut().expect("a list");
    let count = tools.len();
    tools.retain(|tool| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str()).expect("a name");
        name.rsplit_once('_').is_none_or(|(_, tail)| tail.len() != 13)
    });
    assert_eq!(tools.len() + 1, count, "expected exactly one tool with a digest in its name: {request}");
    request
}

/// Returns `None` if the row has the expected result.
fn fault(row: &Value) -> Option<String> {
    let (options, expect) = (&row["options"], &row["expect"]);
    if let Some(code) = expect["error"].as_str() {
        return match adapt(&row["input"], options) {
            Err(error) if error.code().as_str() == code => None,
            other => Some(format!("expected the error {code}, found {other:?}")),
        };
    }
    if let Some(at) = expect["prefix"].as_str() {
        return prefix(row, at);
    }
    let adapted_request = match row.get("restoreCall") {
        Some(_) => restore_row(row),
        None => adapt(&row["input"], options),
    };
    let mut adapted_request = match adapted_request {
        Ok(adapted_request) => adapted_request,
        Err(error) => return Some(error.to_string()),
    };
    if IDS_HAVE_DIGESTS.iter().any(|name| row["name"] == *name) {
        remove_digests(&mut adapted_request);
    }
    if let Some(request) = expect.get("request") {
        return (canonical_text(request) != canonical_text(&adapted_request))
            .then(|| format!("expected {request}\n   found {adapted_request}"));
    }
    let both = BOTH_ARE_SENT.iter().any(|name| row["name"] == *name);
    let adapted_request = if both { without_renamed(adapted_request) } else { adapted_request };
    let wrong: Vec<String> = expect["assert"]
        .as_array()
        .expect("assertions")
        .iter()
        .filter(|assertion| {
            let stays = ROOT_UNION_STAYS.iter().any(|name| row["name"] == *name);
            !(stays && assertion["at"].as_str().is_some_and(|at| at.ends_with("/oneOf")))
        })
        .filter_map(|assertion| Assertion::read(assertion).fault(&adapted_request))
        .collect();
    (!wrong.is_empty()).then(|| format!("{}\n   in {adapted_request}", wrong.join("\n   ")))
}

/// Each request of a conversation has to begin like the previous one.
fn prefix(row: &Value, at: &str) -> Option<String> {
    let mut before: Option<Value> = None;
    let inputs = row["input"].as_array().expect("requests");
    // A single request cannot be compared.
    assert!(inputs.len() > 1, "{}: {} requests", row["name"], inputs.len());
    for input in inputs {
        let found = match adapt(input, &row["options"]) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        if let Some(before) = &before {
            let list = |request: &Value| request.pointer(at).and_then(Value::as_array).cloned();
            let (Some(old), Some(new)) = (list(before), list(&found)) else {
                return Some(format!("no list at {at} of {before}\n   or of {found}"));
            };
            if !new.starts_with(&old) {
                return Some(format!("expected {} to begin with {}", json!(new), json!(old)));
            }
            if row["expect"]["sameTools"] == true && before["tools"] != found["tools"] {
                return Some(format!("expected the tools {}, found {}", before["tools"], found["tools"]));
            }
        }
        before = Some(found);
    }
    None
}

fn canonical_text(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(canonical_text).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            let mut members: Vec<String> =
                object.iter().map(|(key, value)| format!("{key:?}:{}", canonical_text(value))).collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

/// Returns the row's backend call in the form that the client receives.
fn restore_row(row: &Value) -> Result<Value, toolwire::Error> {
    let text = row["input"].to_string();
    apply_deferred_loading(text.as_str(), &options::<DeferredOptions>(&row["options"])?)?
        .restore()?
        .client_call(&row["restoreCall"])
        .map(|done| done.call)
}

#[test]
fn every_case_has_the_expected_result() {
    rows::judged("deferred_native_cases.json", [126, 62], fault);
}
