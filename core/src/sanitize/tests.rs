//! Tests that calls use only a small share of their budgets, so that no realistic schema is refused for exceeding one.
#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{format, rc::Rc, string::String, vec::Vec};
use std::{fs, path::PathBuf, println};

use crate::{
    budget::by_size,
    dialect::{Dialect, DIALECTS},
    json::{self, Node},
    options::SanitizeOptions,
    report::Detail,
    sanitize::run,
};

/// Reference data, with the member that holds the schema: from the folder next to the checkout, or the sample inside
/// it.
const FILES: [(&str, &str); 4] = [
    ("mcp_tools.jsonl", "inputSchema"),
    ("test_suite.jsonl", "schema"),
    ("accepted_schemas.jsonl", "schema"),
    ("answers.jsonl", "schema"),
];

fn schemas() -> Vec<String> {
    let mut found = Vec::new();
    for (file, member) in FILES {
        let read = |folder: &str| fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(file));
        // The sample has no recorded answers.
        let Ok(text) = read("../../shared/data").or_else(|_| read("../tests/sample")) else { continue };
        let rows =
            text.lines().filter_map(|line| json::read(line).ok().and_then(|row| row.get(member).map(json::write)));
        found.extend(rows);
    }
    found.extend(expensive_schemas());
    found
}

fn expensive_schemas() -> Vec<String> {
    let chain = |count: usize| {
        let link = |at: usize| {
            format!(r##""d{at}":{{"anyOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, at + 1)
        };
        let links: Vec<String> = (0..count).map(link).collect();
        let last = format!(r#""d{count}":{{"type":"string"}}"#);
        let properties = r##""properties":{"v":{"$ref":"#/$defs/d0"}}"##;
        format!(r#"{{"type":"object",{properties},"$defs":{{{},{last}}}}}"#, links.join(","))
    };
    let union = |count: usize| {
        let branches: Vec<String> = (0..count)
            .map(|at| format!(r#"{{"properties":{{"b{at}":{{"type":"string"}}}},"required":["b{at}"]}}"#))
            .collect();
        format!(r#"{{"type":"object","properties":{{"a":{{"type":"string"}}}},"anyOf":[{}]}}"#, branches.join(","))
    };
    let parts = |count: usize| {
        let parts: Vec<String> =
            (0..count).map(|at| format!(r#"{{"properties":{{"p{at}":{{"type":"string"}}}}}}"#)).collect();
        format!(r#"{{"type":"object","properties":{{"v":{{"allOf":[{}]}}}}}}"#, parts.join(","))
    };
    let deep = |open: &str, inner: &str, close: &str, count: usize| {
        format!(r#"{{"type":"object","properties":{{"v":{}{inner}{}}}}}"#, open.repeat(count), close.repeat(count))
    };
    Vec::from([
        chain(40),
        union(500),
        parts(2_000),
        deep(r#"{"type":"object","properties":{"a":"#, "{}", "}}", 250),
        deep(r#"{"type":["object","array"],"items":"#, "{}", "}", 160),
        deep(r#"{"anyOf":[{"type":"object"},"#, r#"{"type":"string"}"#, "]}", 240),
        deep(r#"{"type":"object","required":["a"],"additionalProperties":"#, r#"{"type":"string"}"#, "}", 60),
    ])
}

#[test]
fn calls_take_a_fraction_of_their_budget() {
    let mut highest = (0, String::new());
    for schema in schemas() {
        for dialect in DIALECTS {
            let options = SanitizeOptions::new(dialect.id());
            let Ok(mut node) = json::read(&schema) else { continue };
            let nodes = Node::values_read(&node);
            let budget = Rc::new(options.budget(&node));
            let _ = run(&mut node, &options, Some(Detail::Whole), None, &budget);
            let share = budget.spent() * 1000 / by_size(nodes);
            if share > highest.0 {
                highest = (
                    share,
                    format!(
                        "{}: {} steps for {nodes} values: {}",
                        dialect.name,
                        budget.spent(),
                        schema.get(..300).unwrap_or(&schema)
                    ),
                );
            }
        }
    }
    println!("the most is {} per mille of the budget: {}", highest.0, highest.1);
    assert!(highest.0 < 500, "{} per mille of the budget: {}", highest.0, highest.1);
}

/// Limits hold for numbers without exponents, which are up to five times as long as the caller's.
#[test]
fn numbers_with_exponents_are_measured_in_full() {
    let values: Vec<String> = (100..324).map(|value| format!("{value}e18")).collect();
    let text = format!(r#"{{"type":"object","properties":{{"a":{{"type":"number","enum":[{}]}}}}}}"#, values.join(","));
    let Ok(mut schema) = json::read(&text) else { panic!("expected JSON") };
    let options = SanitizeOptions::new(Dialect::CEREBRAS_STRICT);
    if let Err(error) = super::sanitize(&mut schema, &options, false) {
        panic!("expected a shorter schema, found {error}");
    }
}
