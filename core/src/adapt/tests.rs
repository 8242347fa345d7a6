//! Purpose of each step: without it, the outcome of some fixture differs. Purpose of its position: if it is
//! moved past the steps that its row names, the outcome of some fixture differs, too. What it fixes:
//! `check_request` finds it only without the step.
//!
//! The table is written to `docs/steps.md`; `TOOLWIRE_BLESS=1` updates it.
#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};
use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::Value;

use super::{adapt, steps::STEPS};
use crate::{
    check::findings::FindingLimit,
    deferred, json,
    naming::Naming,
    options::{AdaptOptions, CheckRequestOptions, DeferredOptions},
    report::Severity,
    request,
    steps::{
        changed::{with, Change},
        Steps,
    },
    tools::check,
};

/// A fixture, with its outcome.
struct Case {
    name: String,
    options: Options,
    input: String,
    outcome: String,
}

enum Options {
    Adapt(Box<AdaptOptions>),
    Defer(DeferredOptions),
}

impl Options {
    fn read(function: &str, options: &str) -> Option<Options> {
        let options = json::read(options).ok()?;
        match function {
            ADAPT => AdaptOptions::read(&options, Naming::Camel).ok().map(|options| Options::Adapt(Box::new(options))),
            _ => DeferredOptions::read(&options, Naming::Camel).ok().map(Options::Defer),
        }
    }
}

const ADAPT: &str = "adaptRequest";
const DEFER: &str = "applyDeferredLoading";

/// Returns the cases of these functions, the smallest first: the table shows the smallest case.
fn cases(functions: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for function in functions {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(function);
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
            let list: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
            for case in list {
                let (Some(input), Some(options)) = (case.get("input"), case.get("options")) else { continue };
                let Some(options) = Options::read(function, &options.to_string()) else { continue };
                let name = case.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
                let input = input.to_string();
                let outcome = outcome(&input, &options);
                cases.push(Case { name, options, input, outcome });
            }
        }
    }
    cases.sort_by_key(|case| (case.input.len(), case.name.clone()));
    cases
}

/// Returns the rewritten request, the report and the restore map, or the error.
fn outcome(input: &str, options: &Options) -> String {
    let adapted = request::read(input).and_then(|mut request| match options {
        Options::Adapt(options) => {
            let (mut report, restore_map) = adapt(&mut request, options)?;
            // The order of the report is no promise.
            report.request_changes.sort_by_cached_key(|change| (change.pointer.clone(), change.message.clone()));
            Ok(format!("{}\n{report:?}\n{}", json::write(&request), json::write(&restore_map.to_node())))
        }
        Options::Defer(options) => {
            let done = deferred::apply(&mut request, options, None, true)?;
            Ok(format!("{}\n{:?}\n{:?}", json::write(&request), done.report, done.client))
        }
    });
    adapted.unwrap_or_else(|error| format!("{error:?}"))
}

/// Returns the constraints that the rewritten request violates, according to `check_request`.
fn violated(input: &str, options: &Options) -> BTreeSet<&'static str> {
    let Options::Adapt(options) = options else { return BTreeSet::new() };
    let violations = request::read(input).and_then(|mut request| {
        adapt(&mut request, options)?;
        let mut checked = CheckRequestOptions::new(options.tools.sanitize.dialect);
        (checked.host, checked.model) = (options.host.clone(), options.model.clone());
        check::request(request, &checked, FindingLimit::LISTED)
    });
    let violations = violations.unwrap_or_default().into_iter();
    violations.filter(|found| found.severity == Severity::Refused).map(|found| found.constraint).collect()
}

/// Returns the constraints that only the request rewritten without a step violates.
fn fixed(cases: &[Case], step: &'static str) -> BTreeSet<&'static str> {
    let mut fixed = BTreeSet::new();
    for case in cases {
        let without = |of: fn(&str, &Options) -> BTreeSet<&'static str>| {
            with(Change::Without(step), || of(&case.input, &case.options))
        };
        if with(Change::Without(step), || outcome(&case.input, &case.options)) != case.outcome {
            fixed.extend(without(violated).difference(&violated(&case.input, &case.options)));
        }
    }
    fixed
}

/// Returns the smallest case whose outcome differs after a change of the table.
fn first_difference(cases: &[Case], change: Change) -> Option<&str> {
    let changed = |case: &Case| with(change, || outcome(&case.input, &case.options));
    cases.iter().find(|case| changed(case) != case.outcome).map(|case| case.name.as_str())
}

/// Finds a case whose outcome differs if a step is moved past another one.
fn proof(cases: &[Case], step: &'static str, other: Option<&'static str>) -> String {
    let Some(other) = other else { return "-".to_string() };
    match first_difference(cases, Change::Moved(step, other)) {
        Some(case) => format!("`{other}` (`{case}`)"),
        None => panic!("no fixture needs the step `{step}` on its side of `{other}`"),
    }
}

/// Proves a table, and returns its rows.
fn rows<Applies, Run>(table: Steps<Applies, Run>, cases: &[Case]) -> String {
    let (mut rows, mut faults) = (String::new(), Vec::new());
    for (at, step) in table.iter().enumerate() {
        let Some(missing) = first_difference(cases, Change::Without(step.name)) else {
            faults.push(format!("no fixture needs the step `{}`", step.name));
            continue;
        };
        if let Some(next) = table.get(at + 1) {
            let case = first_difference(cases, Change::Moved(step.name, next.name));
            let is_bound = (step.before == Some(next.name), next.after == Some(step.name));
            if is_bound != (case.is_some(), case.is_some()) {
                faults.push(format!("`{}` before `{}`: {case:?}, {is_bound:?}", step.name, next.name));
            }
        }
        let (after, before) = (proof(cases, step.name, step.after), proof(cases, step.name, step.before));
        let fixes: Vec<String> = fixed(cases, step.name).into_iter().map(|found| format!("`{found}`")).collect();
        let fixes = if fixes.is_empty() { "-".to_string() } else { fixes.join(", ") };
        rows.push_str(&format!("| `{}` | {} | {after} | {before} | `{missing}` | {fixes} |\n", step.name, step.why));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    rows
}

#[test]
fn every_step_is_needed_where_it_is_and_the_page_shows_it() {
    let twice = STEPS.iter().find(|step| deferred::steps::STEPS.iter().any(|other| other.name == step.name));
    assert!(twice.is_none(), "two steps have the name {:?}", twice.map(|step| step.name));
    let page = format!(
        "{HEAD}{}{DEFERRAL}{}",
        rows(STEPS, &cases(&[ADAPT])),
        rows(deferred::steps::STEPS, &cases(&[DEFER, ADAPT]))
    );
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
are the nearest steps for which a fixture shows it. The column *fixes* has the constraints that `checkRequest`, a second
implementation, finds in a rewritten request of a fixture only if the step is taken out.

| step | why it comes here | after | before | without it | fixes |
|---|---|---|---|---|---|
";

const DEFERRAL: &str = "
## The steps of deferred loading

`applyDeferredLoading` runs these steps, and so does the step `defer` of `adaptRequest`. The fixtures of both functions
prove them.

| step | why it comes here | after | before | without it | fixes |
|---|---|---|---|---|---|
";
