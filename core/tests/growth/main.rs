//! Checks growth by counting: from 32 to 128 KB, steps and allocated bytes may grow with an exponent of at most 1.2.
//! Only bytes are counted for requests and streams, which have no budget. The steps of a search with a fixed budget are
//! left out. Validations and repairs that exhaust their budget are compared at smaller sizes.
//!
//! The groups in [`COUNTED`] are checked, except for inputs that are refused at these sizes. `cargo run --release -p
//! toolwire --example growth -- rows` shows all others.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../allocation/counting.rs"]
mod counting;
mod shapes;
mod unpaid;

use std::{collections::BTreeSet, sync::Mutex};

use shapes::{shapes, Work};
use toolwire::internal::steps;

/// The compared sizes, in bytes.
const SIZES: [usize; 2] = [32 << 10, 128 << 10];
/// The compared sizes if a validation or repair of the larger input exhausts its budget, which is the same for every
/// input. They are tried in order.
const SMALLER: [[usize; 2]; 2] = [[8 << 10, 32 << 10], [1 << 10, 4 << 10]];
const MAX_EXPONENT: f64 = 1.2;
/// Dialects without a size limit. At a size limit, a call runs more passes, so its cost jumps.
const DIALECTS: [&str; 2] = ["gemini", "llama-cpp"];
const COUNTED: [(Work, &str); 30] = [
    (Work::Sanitize, "anyOf over properties"),
    (Work::Sanitize, "properties"),
    (Work::Sanitize, "definitions"),
    (Work::Check, "anyOf over properties"),
    (Work::Check, "required properties"),
    (Work::Validate, "properties"),
    (Work::Validate, "required properties"),
    (Work::Validate, "allOf at the root"),
    (Work::Validate, ARGUMENTS),
    (Work::Repair, "properties"),
    (Work::Repair, "required properties"),
    (Work::Repair, "allOf at the root"),
    (Work::Repair, ARGUMENTS),
    (Work::Repair, "texts of arguments"),
    (Work::Restore, ARGUMENTS),
    (Work::ValidateResult, ARGUMENTS),
    (Work::FitResult, ARGUMENTS),
    (Work::Tools, "tool lists"),
    (Work::CheckTools, "tool lists"),
    (Work::Search, "tool lists"),
    (Work::AnswerSearch, "tool lists"),
    (Work::ToolSet, "tool lists"),
    (Work::Defer, "requests"),
    (Work::Adapt, "requests"),
    (Work::CheckRequest, "requests"),
    (Work::Exchange, "requests"),
    (Work::Reply, "replies"),
    (Work::Stream, "streams"),
    (Work::Compare, "compared properties"),
    (Work::Compare, "compared definitions"),
];
/// Prefix of the names of all groups whose arguments grow but whose schemas do not.
const ARGUMENTS: &str = "arguments by ";

/// Rows that exhaust their budget at these sizes: references through identifiers, in chains of properties. Do not add
/// any.
const SPENT: [(&str, &str); 2] = [("properties", "$id that refers"), ("properties", "$anchor that refers")];

/// Groups and prefixes of names whose validation or repair grows faster, or exhausts the budget of a validation. Do not
/// add any without a reason.
const FASTER: [(&str, &str); 5] = [
    // Every subschema validates every member.
    ("allOf at the root", "additionalProperties"),
    ("allOf at the root", "patternProperties"),
    // The root, which requires all names, validates every member.
    ("required properties", "$ref to the root"),
    // Every member expands the root with all of its properties.
    ("properties", "$ref to the root"),
    // The schema of 1,000 values is the larger part of the input, so the arguments grow faster than the input.
    ("arguments by enum", ""),
];

/// The counted branches of unions. For other branches, the work is quadratic until the budget ends it.
const OF_UNIONS: [&str; 16] = [
    "type",
    "properties",
    "required",
    "required twice",
    "open object",
    "minProperties",
    "items as list",
    "unevaluatedItems",
    "contains",
    "not",
    "not const",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "notes",
];

/// Steps and times are measured by one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn all_work_is_paid() {
    let _alone = ALONE.lock();
    let faults = unpaid::faults();
    assert!(faults.is_empty(), "these take time that they do not pay for:\n{}", faults.join("\n"));
}

#[test]
fn cost_grows_no_faster_than_the_input() {
    let _alone = ALONE.lock();
    let (mut faults, mut count, mut faster) = (Vec::new(), 0, BTreeSet::new());
    let mut counted = BTreeSet::new();
    for shape in shapes() {
        if shape.group.starts_with("anyOf") && !OF_UNIONS.contains(&shape.name.as_str()) {
            continue;
        }
        let works: Vec<Work> = shape.works.iter().copied().filter(|work| is_counted(*work, &shape.group)).collect();
        if works.is_empty() {
            continue;
        }
        let large = SIZES.map(|size| shape.of_size(size));
        for work in works {
            let is_judged = work.is_validation();
            let is_cut_off =
                |(texts, _): &(Vec<String>, usize)| work.is_cut_off(steps::of(|| work.run("", texts).is_ok()).1);
            let mut smaller = SMALLER.iter().map(|sizes| sizes.map(|size| shape.of_size(size)));
            let inputs = match is_judged && is_cut_off(&large[1]) {
                true => &smaller.find(|inputs| !is_cut_off(&inputs[1])).unwrap_or_else(|| large.clone()),
                false => &large,
            };
            for dialect in if work.has_dialect() { &DIALECTS[..] } else { &[""] } {
                let costs = inputs.each_ref().map(|(texts, bytes)| {
                    let ((end, steps), memory) =
                        counting::allocated_by(|| steps::of(|| work.run(dialect, texts).err()));
                    (end, *bytes as f64, steps - work.steps_of_search(texts), memory as f64)
                });
                let [before, after] = costs;
                let name = (work.name(), dialect, &shape.group, &shape.name);
                let listed = FASTER
                    .iter()
                    .position(|(group, start)| is_judged && *group == shape.group && shape.name.starts_with(start));
                if work.is_cut_off(after.2) {
                    match listed {
                        Some(row) => drop(faster.insert(row)),
                        None => faults.push(format!("{name:?}: uses all steps of a validation")),
                    }
                    continue;
                }
                if [before.0, after.0].contains(&Some("budget-exceeded")) {
                    if !SPENT.contains(&(shape.group.as_str(), shape.name.as_str())) {
                        faults.push(format!("{name:?}: exhausts its budget"));
                    }
                    continue;
                }
                if before.0.is_some() || after.0.is_some() {
                    continue;
                }
                count += 1;
                counted.insert((work, counted_group(&shape.group).to_owned()));
                let exponent = |one: f64, two: f64| (two.max(1.0) / one.max(1.0)).ln() / (after.1 / before.1).ln();
                let (steps, memory) = (exponent(before.2 as f64, after.2 as f64), exponent(before.3, after.3));
                if steps <= MAX_EXPONENT && memory <= MAX_EXPONENT {
                    continue;
                }
                if let Some(row) = listed {
                    faster.insert(row);
                } else {
                    faults.push(format!("{name:?}: {steps:.2} in steps, {memory:.2} in bytes"));
                }
            }
        }
    }
    println!("{count} rows");
    for (row, listed) in FASTER.iter().enumerate().filter(|(row, _)| !faster.contains(row)) {
        faults.push(format!("{listed:?}, row {row} of FASTER: no longer grows faster than its input"));
    }
    for (work, group) in COUNTED {
        if !counted.contains(&(work, group.to_owned())) {
            faults.push(format!("{:?}, {group}: every input is refused", work.name()));
        }
    }
    assert!(count > 1000, "only {count} rows were counted");
    assert!(faults.is_empty(), "these grow faster than their input:\n{}", faults.join("\n"));
}

/// Returns the name of a group in [`COUNTED`].
fn counted_group(group: &str) -> &str {
    if group.starts_with(ARGUMENTS) {
        ARGUMENTS
    } else {
        group
    }
}

fn is_counted(work: Work, group: &str) -> bool {
    COUNTED.contains(&(work, counted_group(group)))
}
