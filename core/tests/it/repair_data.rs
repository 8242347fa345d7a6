//! `repair_arguments` with the reference data if it exists next to the checkout: 371 cases from the tests of 15
//! projects, recorded calls and users' reports. (Our own cases are fixtures.)

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::Value;
use toolwire::{
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    repair_arguments, validate_arguments, RepairOptions,
};

fn data(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let text = fs::read_to_string(path).ok();
    if text.is_none() {
        println!("skipped: {name} is not next to this checkout");
    }
    text
}

/// The compared parts of a repair, in sortable form: pointer, rule, confidence.
type ReportedRepair = (String, String, String);

struct RepairOutcome {
    arguments: Value,
    is_unchanged: bool,
    valid: Option<bool>,
    reported: Vec<ReportedRepair>,
}

fn repair_row(row: &Value) -> Result<RepairOutcome, toolwire::Error> {
    let given = row.get("options").cloned().unwrap_or_default();
    let options = bindings::options::<RepairOptions>(&Node::from_value(&given)?, Naming::Camel)?;
    let schema = &row["schema"];
    let (arguments, is_unchanged, valid, repairs) = match row["argumentsText"].as_str() {
        Some(text) => {
            let done = repair_arguments(text, &schema.to_string(), &options)?;
            let is_unchanged = done.arguments == text;
            (serde_json::from_str(&done.arguments).expect("JSON"), is_unchanged, done.valid, done.repairs)
        }
        None => {
            let done = repair_arguments(&row["arguments"], schema, &options)?;
            let is_unchanged = done.arguments == row["arguments"];
            (done.arguments, is_unchanged, done.valid, done.repairs)
        }
    };
    let reported = |repair: &toolwire::reports::Repair| {
        let at = repair.output_pointer.clone().unwrap_or_else(|| repair.pointer.clone());
        (at, repair.rule.as_str().to_owned(), repair.confidence.as_str().to_owned())
    };
    let mut reported: Vec<ReportedRepair> = repairs.iter().map(reported).collect();
    reported.sort();
    Ok(RepairOutcome { arguments, is_unchanged, valid, reported })
}

/// Cases that refuse text whose reading the schema decides: a bare word where the schema accepts strings.
const DECIDED: [&str; 1] = ["unquoted address"];

fn fault(row: &Value) -> Option<String> {
    if DECIDED.iter().any(|name| row["name"] == *name) {
        return None;
    }
    let repaired = match (repair_row(row), row["reason"].as_str()) {
        (Err(error), Some(reason)) if row["error"] == true => {
            let is_as_expected =
                error.code().as_str() == "invalid-json" && error.message().contains(&format!("({reason},"));
            return (!is_as_expected).then(|| format!("expected {reason}, found {error}"));
        }
        (Err(error), _) => return Some(format!("expected arguments, found {error}")),
        (Ok(repaired), _) if row["error"] == true => {
            return Some(format!("expected an error, found {}", repaired.arguments))
        }
        (Ok(repaired), _) => repaired,
    };
    if row["unchanged"] == true && !repaired.is_unchanged {
        return Some(format!("expected no repair, found {} {:?}", repaired.arguments, repaired.reported));
    }
    // Numbers are compared by value: `1e5` equals 100000.
    let is_same = |expected: &Value| is_equal(expected, &repaired.arguments);
    if let Some(expected) = row.get("expected").filter(|expected| !is_same(expected)) {
        return Some(format!("expected {expected}, found {} {:?}", repaired.arguments, repaired.reported));
    }
    if repaired.valid != row["valid"].as_bool() {
        return Some(format!("expected valid {}, found {:?} {}", row["valid"], repaired.valid, repaired.arguments));
    }
    let reported = |repair: &Value| {
        let text = |key: &str| repair[key].as_str().unwrap_or_default().to_owned();
        (text("at"), text("rule"), text("confidence"))
    };
    let mut expected: Vec<ReportedRepair> = row["repairs"].as_array().into_iter().flatten().map(reported).collect();
    expected.sort();
    // A part that is dropped from JSON text is reported at the pointer of that text, but rows contain its own pointer.
    let agree = |(expected, repaired): (&ReportedRepair, &ReportedRepair)| {
        expected.1 == repaired.1 && expected.2 == repaired.2 && expected.0.starts_with(repaired.0.as_str())
    };
    let is_as_expected =
        expected.len() == repaired.reported.len() && expected.iter().zip(&repaired.reported).all(agree);
    (!is_as_expected).then(|| format!("expected {expected:?}, found {:?}", repaired.reported))
}

fn is_equal(one: &Value, two: &Value) -> bool {
    toolwire::internal::json::same(&Node::from_value(one).expect("shallow"), &Node::from_value(two).expect("shallow"))
}

#[test]
fn every_case_gives_the_expected_result() {
    let mut faults = Vec::new();
    for file in ["argument_cases.json", "more/argument_cases.json"] {
        let Some(text) = data(file) else { return };
        let rows: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
        let reported = rows.iter().filter_map(|row| Some(format!("{}: {}", row["name"], fault(row)?)));
        faults.extend(reported);
        println!("{file}: {} cases", rows.len());
    }
    assert!(faults.is_empty(), "{} cases:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn valid_arguments_are_unchanged() {
    let Some(text) = data("argument_cases.json") else { return };
    let rows: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    for row in rows.iter().filter(|row| row.get("arguments").is_some()) {
        let (arguments, schema) = (&row["arguments"], &row["schema"]);
        if validate_arguments(arguments, schema).expect("a schema").valid == Some(true) {
            let text = format!(" {arguments} ");
            let done = repair_arguments(&text, &schema.to_string(), &RepairOptions::default());
            assert_eq!(done.expect("arguments").arguments, text.as_str(), "{}", row["name"]);
        }
    }
}

/// These inputs are spelled differently as a value and as text, so they cannot be fixtures.
#[test]
fn strings_that_are_not_arguments_are_unchanged() {
    let schema = serde_json::json!({"type": "object"});
    let options = RepairOptions::default();
    for text in ["\"42\"", "\"\\\"7\\\"\"", "\"\\\"\\\\ud800\\\"\""] {
        let done = repair_arguments(text, &schema.to_string(), &options);
        assert_eq!(done.map(|done| (done.arguments.into_owned(), done.changed)).ok(), Some((text.to_owned(), false)));
        let value = Value::String(text.to_owned());
        let done = repair_arguments(&value, &schema, &options).ok();
        assert_eq!(done.map(|done| (done.arguments, done.changed)), Some((value, false)), "{text}");
    }
}

#[test]
fn recorded_calls_of_gemini_are_judged() {
    let Some(text) = data("answered_4.jsonl") else { return };
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let (mut calls, mut unknown) = (0, 0);
    for row in rows.filter(|row| row["api"] == "gemini" && row["kind"] == "request") {
        let request = &row["input"];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let declared: Vec<Value> =
            list(&request["tools"]).iter().flat_map(|entry| list(&entry["functionDeclarations"])).collect();
        for part in list(&request["contents"]).iter().flat_map(|content| list(&content["parts"])) {
            let call = &part["functionCall"];
            let Some(tool) = declared.iter().find(|tool| call.is_object() && tool["name"] == call["name"]) else {
                continue;
            };
            let Some(schema) = ["parameters", "parametersJsonSchema"].iter().find_map(|key| tool.get(key)) else {
                continue;
            };
            let arguments = call.get("args").cloned().unwrap_or_else(|| serde_json::json!({}));
            let repaired = repair_arguments(&arguments, schema, &RepairOptions::default()).expect("arguments");
            calls += 1;
            unknown += usize::from(repaired.valid.is_none());
        }
    }
    println!("Gemini: {calls} recorded calls, {unknown} not judged");
    assert!(calls >= 40, "only {calls} recorded calls");
    assert_eq!(unknown, 0, "a recorded call cannot be judged");
}
