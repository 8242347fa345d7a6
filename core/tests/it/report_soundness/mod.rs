//! Checks the report with a validator. If an instance is lost, a change must state `narrower` or `mixed`, or `closed`
//! if the instance has an undefined property. If an instance is gained, a change must state `wider` or `mixed`.
//! `lossless` means that the accepted instances are the same.
//!
//! The schemas and instances are from the official test suite (../shared/data/test_suite.jsonl, or its sample in
//! tests/sample). Each is tested unchanged and wrapped in a property, so that the rules for the root cannot hide a
//! fault. If arguments are encoded, the test simulates a model that reads the rewritten schema, and restores its
//! answer. `TOOLWIRE_DIALECT=name` shows all faults of one dialect.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

mod answers;
mod closed;
mod instances;
mod judge;
mod limits;
pub(crate) mod named;
mod openapi;

use crate::{dialect_id, print_uncaptured};
use std::{collections::BTreeMap, fs, path::Path, thread};

use jsonschema::Draft;
use serde_json::{json, Value};
use toolwire::{dialects, options::Use, Dialect, SanitizeOptions};

/// The complete suite, which may be missing, and the sample in this repository.
const WHOLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/test_suite.jsonl");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sample/test_suite.jsonl");

struct Group {
    name: String,
    draft: Draft,
    schema: Value,
    tests: Vec<(Value, bool)>,
}

fn groups() -> Vec<Group> {
    let wanted = std::env::var("TOOLWIRE_SUITE").unwrap_or(WHOLE.into());
    let text = fs::read_to_string(Path::new(&wanted))
        .or_else(|_| fs::read_to_string(SAMPLE))
        .expect("the JSON Schema test suite or its sample");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row of the test suite"));
    rows.map(|row| Group {
        name: format!(
            "{} {}",
            row["source"].as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default(),
            row["description"].as_str().unwrap_or_default()
        ),
        draft: if row["draft"] == "draft7" { Draft::Draft7 } else { Draft::Draft202012 },
        schema: row["schema"].clone(),
        tests: row["tests"]
            .as_array()
            .expect("tests")
            .iter()
            .map(|test| (test["data"].clone(), test["valid"] == true))
            .collect(),
    })
    .collect()
}

/// Returns true for schemas with remote or dynamic references, which this test does not resolve.
fn out_of_reach(schema: &Value) -> bool {
    let text = schema.to_string();
    ["$dynamicRef", "localhost:1234", "\"$ref\":\"http", "$vocabulary", "$recursiveRef"]
        .iter()
        .any(|mark| text.contains(mark))
}

fn wrap_schemas(group: &Group) -> (Value, Vec<Value>) {
    let mut inner = group.schema.clone();
    if let Some(object) = inner.as_object_mut() {
        object.entry("$id").or_insert_with(|| json!("https://example.com/inner"));
    }
    let mut outer = json!({"type": "object", "properties": {"v": inner}, "required": ["v"]});
    if group.draft == Draft::Draft7 {
        outer["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    }
    (outer, group.tests.iter().map(|(data, _)| json!({"v": data})).collect())
}

#[test]
fn reports_for_response_formats_agree_with_the_official_suite() {
    judge_schemas(Use::Response);
}

#[test]
fn reports_for_tools_agree_with_the_official_suite() {
    judge_schemas(Use::Tool);
}

/// Checks tools, whose arguments are objects, or answers, which may be any value.
fn judge_schemas(used_as: Use) {
    let (groups, skipped): (Vec<Group>, Vec<Group>) =
        groups().into_iter().partition(|group| !out_of_reach(&group.schema));
    print_uncaptured(&format!("skipped: {} groups with remote or dynamic references", skipped.len()));
    skipped.iter().for_each(|group| print_uncaptured(&format!("  {}", group.name)));
    let selected = std::env::var("TOOLWIRE_DIALECT").ok();
    let of_use = |dialect: &&Dialect| match used_as {
        Use::Response => dialect.response_format().is_some(),
        _ => !dialect.name.starts_with("codex"),
    };
    let names: Vec<&str> = dialects().iter().filter(of_use).map(|dialect| dialect.name).collect();
    let names: Vec<&str> =
        names.into_iter().filter(|name| selected.as_ref().is_none_or(|selected| selected == name)).collect();
    // Two threads, because the test machines have at least two cores.
    let half = |start: usize| {
        names.iter().skip(start).step_by(2).map(|name| (*name, judge_all(name, used_as, &groups))).collect::<Vec<_>>()
    };
    let mut results = thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut results = half(0);
        results.extend(other.join().expect("the other half of the dialects"));
        results
    });
    results.sort_by_key(|(name, _)| names.iter().position(|known| known == name));
    let mut broken = Vec::new();
    for (name, (faults, tally)) in &results {
        print_uncaptured(&format!("{name}: {} faults, {tally:?}", faults.len()));
        let limit = limits::of(name);
        if faults.len() > limit || selected.is_some() {
            faults
                .iter()
                .take(if selected.is_some() { usize::MAX } else { 10 })
                .for_each(|fault| println!("{name}: {fault}\n"));
        }
        match faults.len() {
            count if count > limit => broken.push(format!("{name}: {count} faults, at most {limit} are allowed")),
            count if count < limit => print_uncaptured(&format!(
                "  {count} faults, and tests/report_soundness/limits.rs allows {limit}: lower it"
            )),
            _ => {}
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The faults of one dialect, and the number of schemas per result.
type Verdict = (Vec<String>, BTreeMap<&'static str, usize>);

fn judge_all(dialect: &str, used_as: Use, groups: &[Group]) -> Verdict {
    let (mut faults, mut tally) = Verdict::default();
    let options = SanitizeOptions::new(dialect_id(dialect)).used_as(used_as);
    for group in groups {
        let mut plain = group.schema.clone();
        if group.draft == Draft::Draft7 {
            if let Some(object) = plain.as_object_mut() {
                object.entry("$schema").or_insert_with(|| json!("http://json-schema.org/draft-07/schema#"));
            }
        }
        let is_possible = |data: &Value| used_as == Use::Response || data.is_object();
        let data: Vec<Value> = group.tests.iter().map(|(data, _)| data.clone()).filter(is_possible).collect();
        let (outer, instances) = wrap_schemas(group);
        // Answers need no wrapped variant, because their root may be any value.
        let in_property = (used_as == Use::Tool).then_some(("wrapped", outer, instances));
        for (how, schema, instances) in [("unchanged", plain, data)].into_iter().chain(in_property) {
            let name = format!("{} ({how})", group.name);
            let judged = judge::judge(&schema, group.draft, &instances, &options);
            faults.extend(judged.faults.into_iter().map(|fault| format!("{name}: {fault}")));
            *tally.entry(judged.became).or_default() += 1;
        }
    }
    (faults, tally)
}
