//! Checks that `repair_arguments` does not change valid calls, and does not produce other values from damaged ones.
//! Uses recorded calls, calls to published tools, and the official test suite: the sample in this repository, and all
//! data next to the checkout.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod calls;
mod spoil;

use crate::{dialect_id, print_uncaptured};
use std::collections::BTreeMap;

use crate::reference::sources;
use calls::Call;
use serde_json::{json, Value};
use toolwire::{
    internal::json::{self as tree, Node},
    options::Confidence,
    repair_arguments,
    reports::RepairRule,
    sanitize_tools, validate_arguments, RepairOptions, ToolsOptions,
};

fn is_equal(one: &Value, two: &Value) -> bool {
    tree::same(&Node::from_value(one).expect("shallow"), &Node::from_value(two).expect("shallow"))
}

fn calls() -> Vec<(&'static str, Vec<Call>)> {
    let all = [
        ("recorded, sample", calls::recorded(false)),
        ("recorded, whole", calls::recorded(true)),
        ("reported", calls::reported()),
        ("generated, sample", calls::generated(false)),
        ("generated, whole", calls::generated(true)),
    ];
    for (name, _) in all.iter().filter(|(_, calls)| calls.is_empty()) {
        print_uncaptured(&format!("skipped: {name} is not next to this checkout"));
    }
    all.into_iter().filter(|(_, calls)| !calls.is_empty()).collect()
}

/// Returns a description of the fault if valid arguments are changed.
fn fault_of_valid_call(arguments: &Value, schema: &Value) -> Option<String> {
    let options = RepairOptions::default().use_defaults(true).remove_additional(true);
    let spaced = format!(" {} ", serde_json::to_string_pretty(arguments).expect("a value"));
    let on_text = repair_arguments(&spaced, &schema.to_string(), &options);
    let on_value = repair_arguments(arguments, schema, &options);
    match (on_text, on_value) {
        (Ok(on_text), Ok(on_value)) => {
            let stays = on_text.arguments == spaced && !on_text.changed && on_text.repairs.is_empty();
            // Compared as text, for the order of members.
            let [after, before] = [&on_value.arguments, arguments].map(Value::to_string);
            let stays = stays && after == before && !on_value.changed;
            (!stays).then(|| format!("{arguments} of {schema}: {:?}", on_text.repairs))
        }
        (on_text, on_value) => Some(format!("{arguments} of {schema}: {:?} {:?}", on_text.err(), on_value.err())),
    }
}

#[test]
fn valid_calls_do_not_change() {
    for (name, calls) in calls() {
        let faults: Vec<String> =
            calls.iter().filter_map(|call| fault_of_valid_call(&call.arguments, &call.schema)).collect();
        print_uncaptured(&format!("{name}: {} valid calls", calls.len()));
        assert!(faults.is_empty(), "{} of {name}:\n{}", faults.len(), faults.join("\n"));
    }
}

#[test]
fn valid_instances_of_the_test_suite_do_not_change() {
    for source in sources("test_suite.jsonl") {
        let (mut count, mut faults) = (0, Vec::new());
        for row in calls::rows(&source.text) {
            let mark = "http://json-schema.org/draft-07/schema#";
            let mut schema = row["schema"].clone();
            let mut inner = schema.clone();
            if let Some(members) = inner.as_object_mut() {
                members.entry("$id").or_insert_with(|| json!("https://example.com/inner"));
            }
            let mut outer = json!({"type": "object", "properties": {"v": inner}, "required": ["v"]});
            if row["draft"] == "draft7" {
                outer["$schema"] = json!(mark);
                schema.as_object_mut().map(|members| members.entry("$schema").or_insert_with(|| json!(mark)));
            }
            for test in row["tests"].as_array().into_iter().flatten().filter(|test| test["valid"] == true) {
                count += 1;
                faults.extend(fault_of_valid_call(&json!({"v": test["data"]}), &outer));
                // Arguments must be objects.
                faults.extend(fault_of_valid_call(&test["data"], &schema).filter(|_| test["data"].is_object()));
            }
        }
        print_uncaptured(&format!("test_suite.jsonl: {count} valid instances"));
        assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
        assert!(count >= if source.is_whole { 1000 } else { 500 }, "{count} instances");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Became {
    Original,
    Refused,
    /// Arguments that are invalid, and are reported as invalid.
    Left,
    /// The schema accepts the damaged arguments.
    Kept,
    /// The original arguments, except for damaged values that the schema accepts.
    Partly,
    /// The original arguments, with additional null or blank members that the schema accepts.
    Blanks,
}

fn outcome(call: &Call, text: &str) -> Result<Became, String> {
    let schema = call.schema.to_string();
    let options = RepairOptions::default();
    let Ok(done) = repair_arguments(text, &schema, &options) else { return Ok(Became::Refused) };
    let result: Value = serde_json::from_str(&done.arguments).map_err(|error| format!("no JSON: {error}"))?;
    let again = repair_arguments(&*done.arguments, &schema, &options);
    if !again.as_ref().is_ok_and(|again| !again.changed) {
        return Err(format!("a second run changes {result}"));
    }
    let report = format!("{:?} {:?}", done.repairs, done.left);
    if let Some(secret) = secrets(&call.arguments, &schema).into_iter().find(|secret| report.contains(secret.as_str()))
    {
        return Err(format!("{secret:?} is in the report: {report}"));
    }
    let exact = options.clone().confidence(Confidence::Exact);
    let exact = repair_arguments(text, &schema, &exact).ok();
    let places: Vec<_> = done.repairs.iter().map(|repair| (&repair.pointer, repair.rule)).collect();
    for repair in exact.iter().flat_map(|exact| &exact.repairs) {
        let is_subset = places.contains(&(&repair.pointer, repair.rule)) || has_unwrapped(&done.repairs);
        if repair.confidence != Confidence::Exact || !is_subset {
            return Err(format!("an exact repair that the full run lacks, or a guess: {repair:?}"));
        }
    }
    for rule in done.repairs.iter().map(|repair| repair.rule) {
        let without = repair_arguments(text, &schema, &options.clone().disable([rule]));
        if without.is_ok_and(|without| without.repairs.iter().any(|repair| repair.rule == rule)) {
            return Err(format!("{} is disabled, but was applied", rule.as_str()));
        }
    }
    if is_equal(&result, &call.arguments) {
        return Ok(Became::Original);
    }
    if done.valid != Some(true) {
        return Ok(Became::Left);
    }
    if !done.changed && spoil::is_taken(text, &call.schema) {
        return Ok(Became::Kept);
    }
    let spoiled = serde_json::from_str::<Value>(text).unwrap_or_default();
    if is_either(&result, &call.arguments, &spoiled) {
        return Ok(Became::Partly);
    }
    let mut without = result.clone();
    if let (Some(members), Some(original)) = (without.as_object_mut(), call.arguments.as_object()) {
        members.retain(|name, value| original.contains_key(name) || !(value.is_null() || *value == json!("")));
    }
    if is_equal(&without, &call.arguments) {
        Ok(Became::Blanks)
    } else {
        Err(format!("a different value: {result}"))
    }
}

/// Returns true if every location holds the original or the damaged value.
fn is_either(result: &Value, original: &Value, spoiled: &Value) -> bool {
    if is_equal(result, original) || is_equal(result, spoiled) {
        return true;
    }
    match (result, original) {
        (Value::Array(found), Value::Array(items)) if found.len() == items.len() => {
            let at = |index| spoiled.as_array().map_or(spoiled, |items| items.get(index).unwrap_or(&Value::Null));
            found.iter().zip(items).enumerate().all(|(index, (found, item))| is_either(found, item, at(index)))
        }
        (Value::Object(found), Value::Object(members)) if found.len() == members.len() => {
            found.iter().all(|(name, found)| members.get(name).is_some_and(|own| is_either(found, own, &spoiled[name])))
        }
        _ => false,
    }
}

/// Repairs inside unwrapped arguments have other locations.
fn has_unwrapped(repairs: &[toolwire::reports::Repair]) -> bool {
    repairs.iter().any(|repair| repair.rule == RepairRule::UnwrapArguments)
}

/// Returns the strings of arguments that must not appear in a report.
fn secrets(arguments: &Value, schema: &str) -> Vec<String> {
    // These words also occur in messages.
    let known = ["null", "true", "false", "value", "text", "name", "string", "line"];
    let is_known = |text: &String| schema.contains(text.as_str()) || known.contains(&text.as_str());
    let mut found = Vec::new();
    let mut open = vec![arguments];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.chars().count() > 3 && !is_known(text) => found.push(text.clone()),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    found
}

#[test]
fn damaged_calls_never_become_another_value() {
    let mut faults = Vec::new();
    for (from, calls) in calls() {
        let mut totals: BTreeMap<Became, usize> = BTreeMap::new();
        for (name, way) in spoil::WAYS {
            let mut counts: BTreeMap<Became, usize> = BTreeMap::new();
            for call in &calls {
                let Some(text) = way(call) else { continue };
                match outcome(call, &text) {
                    Ok(became) => {
                        *counts.entry(became).or_default() += 1;
                        *totals.entry(became).or_default() += 1;
                        if name.starts_with("cut") && became != Became::Refused {
                            faults.push(format!("{from}, {name}: {text} is read"));
                        }
                    }
                    Err(fault) => faults.push(format!("{from}, {name}: {text}\n  of {}\n  {fault}", call.schema)),
                }
            }
            print_uncaptured(&format!("  {from}, {name}: {counts:?}"));
        }
        print_uncaptured(&format!("{from}: {} calls, {totals:?}", calls.len()));
        // A kind of damage without effect would prove nothing. Most of the generated calls must be restored.
        let (total, count) =
            (totals.values().sum::<usize>(), totals.get(&Became::Original).copied().unwrap_or_default());
        if from == "generated, sample" {
            assert!(calls.len() >= 250 && count >= 3200, "{count} of {total} are restored, of {} calls", calls.len());
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}

/// A call in the encoded form that was sent to the model may be damaged as well. It is repaired with the schema that
/// was sent, decoded, and then repaired with the tool's own schema. (Previously, such calls were decoded first, and a
/// tenth of them were lost.)
#[test]
fn damaged_calls_in_encoded_form_are_restored() {
    for (dialect, least) in [("openai-strict", 4800), ("anthropic-strict", 3200)] {
        let (mut total, mut original) = (0, 0);
        for own in calls::sample() {
            let list = json!([{"name": "tool", "inputSchema": own}]);
            let options = ToolsOptions::new(dialect_id(dialect)).repair(RepairOptions::default());
            let Ok(ready) = sanitize_tools(&list, &options) else { continue };
            let tool = &ready.tools[0];
            let schemas = ["/function/parameters", "/parameters", "/input_schema"];
            let Some(sent) = schemas.iter().find_map(|pointer| tool.pointer(pointer)).filter(|sent| **sent != own)
            else {
                continue;
            };
            let restored = |text: &str| -> Option<Value> {
                let arguments = ready.restore.call("tool", text).expect("restores").arguments;
                serde_json::from_str(&arguments).ok()
            };
            for call in calls::of_sent(sent) {
                let expected = restored(&call.arguments.to_string()).expect("JSON");
                if !validate_arguments(&expected, &own).is_ok_and(|found| found.valid == Some(true)) {
                    continue;
                }
                for text in spoil::WAYS.iter().filter_map(|(_, way)| way(&call)) {
                    total += 1;
                    original += usize::from(restored(&text).is_some_and(|found| is_equal(&found, &expected)));
                }
            }
        }
        print_uncaptured(&format!("{dialect}: {original} of {total} damaged calls are restored"));
        assert!(original >= least, "{dialect}: {original} of {total} damaged calls are restored, expected {least}");
    }
}
