//! Purpose of each step: without it, the outcome of some fixture differs. Purpose of its position: if it is moved past
//! the steps that its row names, the outcome of some fixture differs, too.
//!
//! The table is written to `docs/steps.md`; `TOOLWIRE_BLESS=1` updates it.
#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use std::{env, fs, path::Path};

use serde_json::Value;

use super::{
    adapt,
    steps::{
        changed::{moved, without},
        STEPS,
    },
};
use crate::{json, naming::Naming, options::AdaptOptions, request};

/// A fixture, with its outcome.
struct Case {
    name: String,
    options: AdaptOptions,
    input: String,
    outcome: String,
}

/// Returns the cases of `adaptRequest`, the smallest first: the table shows the smallest case.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/adaptRequest");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
        let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
        for case in list {
            let (Some(input), Some(options)) = (case.get("input"), case.get("options")) else { continue };
            let read = json::read(&options.to_string()).map(|options| AdaptOptions::read(&options, Naming::Camel));
            let Ok(Ok(options)) = read else { continue };
            let name = case.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
            let input = input.to_string();
            let outcome = outcome(&input, &options);
            cases.push(Case { name, options, input, outcome });
        }
    }
    cases.sort_by_key(|case| (case.input.len(), case.name.clone()));
    cases
}

/// Returns the rewritten request, the report and the restore map, or the error.
fn outcome(input: &str, options: &AdaptOptions) -> String {
    let adapted = request::read(input).and_then(|mut request| {
        let (mut report, restore_map) = adapt(&mut request, options)?;
        // The order of the report is no promise.
        report.request_changes.sort_by_cached_key(|change| (change.pointer.clone(), change.message.clone()));
        Ok(format!("{}\n{report:?}\n{}", json::write(&request), json::write(&restore_map.to_node())))
    });
    adapted.unwrap_or_else(|error| format!("{error:?}"))
}

/// Returns the smallest case whose outcome differs.
fn differs(cases: &[Case], changed: impl Fn(&Case) -> String) -> Option<&str> {
    cases.iter().find(|case| changed(case) != case.outcome).map(|case| case.name.as_str())
}

/// Finds a case whose outcome differs if the step at `at` is moved past another one.
fn proof(cases: &[Case], at: usize, other: Option<&str>) -> String {
    let Some(other) = other else { return "-".to_string() };
    let to = STEPS.iter().position(|step| step.name == other);
    let to = to.unwrap_or_else(|| panic!("there is no step `{other}`"));
    match differs(cases, |case| moved(at, to, || outcome(&case.input, &case.options))) {
        Some(case) => format!("`{other}` (`{case}`)"),
        None => panic!("no fixture needs the step {at} on its side of `{other}`"),
    }
}

#[test]
fn every_step_is_needed_where_it_is_and_the_page_shows_it() {
    let cases = cases();
    let mut page = String::from(HEAD);
    for (at, step) in STEPS.iter().enumerate() {
        let missing = differs(&cases, |case| without(at, || outcome(&case.input, &case.options)));
        let missing = missing.unwrap_or_else(|| panic!("no fixture needs the step `{}`", step.name));
        if let Some(next) = STEPS.get(at + 1) {
            let case = differs(&cases, |case| moved(at, at + 1, || outcome(&case.input, &case.options)));
            let is_bound = (step.before == Some(next.name), next.after == Some(step.name));
            let is_shown = case.is_some();
            assert!(is_bound == (is_shown, is_shown), "`{}` before `{}`: {case:?}, {is_bound:?}", step.name, next.name);
        }
        let (after, before) = (proof(&cases, at, step.after), proof(&cases, at, step.before));
        page.push_str(&format!("| `{}` | {} | {after} | {before} | `{missing}` |\n", step.name, step.why));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/steps.md");
    if env::var_os("TOOLWIRE_BLESS").is_some() {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/steps.md is outdated; update it: TOOLWIRE_BLESS=1 cargo test -p toolwire --lib every_step"
    );
}

const HEAD: &str = "\
<!-- Generated: `TOOLWIRE_BLESS=1 cargo test -p toolwire --lib every_step`. Edit the table, not this page. -->

# The steps of a request

`adaptRequest` runs these steps, in this order. A test takes out each step, moves it past the steps in the columns
*after* and *before*, and swaps neighbors: the outcome of a fixture (`tests/fixtures/adaptRequest`) differs. These
are the nearest steps for which a fixture shows it.

| step | why it comes here | after | before | without it |
|---|---|---|---|---|
";
