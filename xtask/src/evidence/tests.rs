//! Checks every dialect against recorded answers of APIs: schemas and whole requests that they accepted, and rejections
//! that were recorded or quoted by users.
//!
//! Precedence: an API's own validator (core/tests/it/walle.rs), then accepted schemas, then quoted rejections, then the
//! tables. Each row of the data must be mapped to a dialect, or listed as a row that no dialect covers; otherwise
//! the test fails.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

#[path = "../../../core/tests/it/reference.rs"]
mod reference;

use std::{fs, io::Write as _};

use reference::sources;

use super::{Ledger, DATA, PAGE};
use crate::root;

/// The test harness would capture the line.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn full_ledger() -> Option<Ledger> {
    let ledger = Ledger::read_all();
    if ledger.is_none() {
        print_line(&format!(
            "skipped: expected all files of answers in {DATA} next to the checkout, found only some of them"
        ));
    }
    ledger
}

fn assert_faultless(ledger: &Ledger) {
    let faults = &ledger.faults;
    assert!(faults.is_empty(), "{} faults\n\n{}\n", faults.len(), faults.join("\n\n"));
}

#[test]
fn tables_agree_with_the_recorded_answers_of_the_sample() {
    for name in ["accepted_schemas.jsonl", "issue_cases.jsonl"] {
        for source in sources(name).filter(|source| !source.is_whole) {
            let ledger = Ledger::of(name, &source.text).unwrap_or_else(|| panic!("{name} is not a file of answers"));
            assert!(ledger.rows > 10, "expected rows in the sample of {name}, found {}", ledger.rows);
            assert_faultless(&ledger);
        }
    }
}

#[test]
fn tables_agree_with_all_recorded_answers() {
    let Some(ledger) = full_ledger() else { return };
    print_line(&format!("{} answers", ledger.rows));
    for (dialect, tally) in &ledger.tallies {
        let (accepted, rejected, excepted) = (tally.accepted, tally.rejected, tally.excepted);
        print_line(&format!("  {dialect:<20} {accepted:>4} accepted, {rejected:>3} rejected, {excepted:>2} excepted"));
    }
    for (why, count) in &ledger.rows_without_dialect {
        print_line(&format!("  {count:>4} without a dialect: {why}"));
    }
    assert_faultless(&ledger);
}

#[test]
fn the_page_is_fresh() {
    let Some(ledger) = full_ledger() else { return };
    assert!(
        fs::read_to_string(root().join(PAGE)).is_ok_and(|old| old == ledger.page()),
        "{PAGE} is stale; write it with `cargo xtask evidence`, and read what changed"
    );
}

/// Rows that `toolwire probe --record` writes: a built row for each surface, and the rows in tests/command/probe.json.
#[test]
fn rows_that_probe_records_are_known() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let endpoints = read("command/src/probe/endpoints.rs");
    let surfaces: Vec<&str> =
        endpoints.split("surface: \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut rows: Vec<String> = surfaces
        .iter()
        // The surface of a URL that no endpoint lists (`ELSEWHERE` in endpoints.rs).
        .chain(&["elsewhere"])
        .map(|surface| {
            let format = if *surface == "bedrock" { "bedrock-converse" } else { "openai-chat" };
            format!(
                r#"{{"surface":"{surface}","format":"{format}","kind":"tool","carrier":"parameters","strict":null,"verdict":"accepted","schema":{{"type":"object","properties":{{}}}}}}"#
            )
        })
        .collect();
    assert!(rows.len() > 15, "{surfaces:?}");
    let cases: serde_json::Value = serde_json::from_str(&read("tests/command/probe.json")).unwrap_or_default();
    let written = cases.as_array().into_iter().flatten().filter_map(|case| case["written"]["rows.jsonl"].as_array());
    let written = written.flatten().filter_map(|row| row.as_str()).filter(|row| row.contains("evidence"));
    rows.extend(written.map(String::from));
    assert!(rows.iter().any(|row| row.contains("toolwire probe")), "expected cases with `--record`");
    let ledger = Ledger::of("answers.jsonl", &rows.join("\n")).unwrap_or_else(|| panic!("no file of answers"));
    let unknown: Vec<&String> = ledger.faults.iter().filter(|fault| fault.contains("neither mapped")).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Contributed answers, which are checked like all others.
#[test]
fn probed_answers_agree_with_the_tables() {
    let Ok(rows) = fs::read_to_string(root().join("tests/sample/probed.jsonl")) else {
        print_line("nothing to judge: tests/sample/probed.jsonl does not exist yet");
        return;
    };
    assert_faultless(&Ledger::of("answers.jsonl", &rows).unwrap_or_else(|| panic!("no file of answers")));
}

/// Rows written for this test, which contradict the tables.
#[test]
fn contradicting_rows_are_reported() {
    let faults_of = |surface: &str, verdict: &str, error: &str, schema: &str| {
        let strict = surface == "openai-chat";
        let row = format!(
            r#"{{"surface":"{surface}","format":"openai-chat","kind":"tool","carrier":"function.parameters",
            "strict":{strict},"schema":{schema},"verdict":"{verdict}","error":"{error}","evidence":"recorded"}}"#
        );
        let source = row.replace('\n', " ");
        let ledger =
            Ledger::of("answers.jsonl", &source).unwrap_or_else(|| panic!("answers.jsonl is a file of answers"));
        ledger.faults.join("\n")
    };
    let closed = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;
    let open = r#"{"type":"object","properties":{},"required":[]}"#;
    let optional =
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}"#;
    let is_closed = "additionalProperties is required to be supplied and to be false";
    for (found, expected) in [
        (faults_of("nobody", "accepted", "", closed), "neither mapped to a dialect nor listed"),
        (faults_of("openai-chat", "accepted", "", optional), "accepted: `not-required`"),
        (faults_of("openai-chat", "rejected", "something else", open), "no rule is known for the error"),
        (
            faults_of("openai-chat", "rejected", is_closed, closed),
            "no violation is found, expected `object-not-closed`",
        ),
    ] {
        assert!(found.contains(expected), "expected {expected:?}, found {found:?}");
    }
    assert_eq!(faults_of("openai-chat", "accepted", "", closed), "");
    assert_eq!(faults_of("openai-chat", "rejected", is_closed, open), "");
}
