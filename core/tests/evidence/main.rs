//! Every dialect held to what real APIs answered: schemas and whole requests that they accepted, and rejections that
//! were recorded or that users quoted.
//!
//! Precedence: an authority's validator (walle.rs), then accepted schemas, then quoted rejections, then the tables.
//! Each row of the data is mapped to a dialect or named as one that says nothing about any; a row that is neither
//! fails.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

mod ledger;
#[path = "../reference/mod.rs"]
mod reference;

use std::{fs, io::Write as _};

use ledger::{root, Ledger, DATA, PAGE};
use reference::sources;

/// Said past the test harness, which would swallow it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn whole() -> Option<Ledger> {
    let whole = Ledger::whole();
    if whole.is_none() {
        say(&format!("skipped: expected the files of answers in {DATA} beside the checkout, found not all of them"));
    }
    whole
}

fn assert_faultless(ledger: &Ledger) {
    let faults = &ledger.faults;
    assert!(faults.is_empty(), "{} faults\n\n{}\n", faults.len(), faults.join("\n\n"));
}

#[test]
fn the_sample_is_judged_as_it_was_answered() {
    for name in ["accepted_schemas.jsonl", "issue_cases.jsonl"] {
        for source in sources(name).filter(|source| !source.is_whole) {
            let ledger = Ledger::of(name, &source.text).unwrap_or_else(|| panic!("{name} is no file of answers"));
            assert!(ledger.rows > 10, "expected rows in the sample of {name}, found {}", ledger.rows);
            assert_faultless(&ledger);
        }
    }
}

#[test]
fn tables_say_what_apis_answered() {
    let Some(ledger) = whole() else { return };
    say(&format!("{} answers", ledger.rows));
    for (dialect, tally) in &ledger.tallies {
        let (accepted, rejected, excepted) = (tally.accepted, tally.rejected, tally.excepted);
        say(&format!("  {dialect:<20} {accepted:>4} accepted, {rejected:>3} rejected, {excepted:>2} excepted"));
    }
    for (why, count) in &ledger.nothing {
        say(&format!("  {count:>4} of no dialect: {why}"));
    }
    assert_faultless(&ledger);
}

#[test]
fn the_page_is_fresh() {
    let Some(ledger) = whole() else { return };
    assert!(
        fs::read_to_string(root().join(PAGE)).is_ok_and(|old| old == ledger.page()),
        "{PAGE} is stale; write it with `cargo run -p toolwire --example evidence`, and read what changed"
    );
}

/// Rows written by us: what the tests say of the data must not be true of any data.
#[test]
fn what_differs_is_a_fault() {
    let rows = |surface: &str, verdict: &str, error: &str, schema: &str| {
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
    let is_closed = "additionalProperties is required to be supplied and to be false";
    for (found, expected) in [
        (rows("nobody", "accepted", "", closed), "neither mapped to a dialect nor named"),
        (rows("openai-chat", "accepted", "", open), "accepted: `object-not-closed`"),
        (rows("openai-chat", "rejected", "something else", open), "no rule is known for the error"),
        (rows("openai-chat", "rejected", is_closed, closed), "nothing is refused, not by `object-not-closed` either"),
    ] {
        assert!(found.contains(expected), "expected {expected:?}, found {found:?}");
    }
    assert_eq!(rows("openai-chat", "accepted", "", closed), "");
    assert_eq!(rows("openai-chat", "rejected", is_closed, open), "");
}
