//! The corpus of unions at the root, tuples and outputs (tests/corpus): `check` must accept the output of `sanitize`.
//! The judges of the Python tests use the same schemas.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use std::{collections::BTreeMap, fs, io::Write as _};

use serde_json::{json, Value};
use toolwire::{check, dialects, reports::Severity, sanitize, Code, SanitizeOptions};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/schemas.jsonl");

fn corpus() -> Vec<(String, Value)> {
    let text = fs::read_to_string(CORPUS).expect("the corpus is part of this repository");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    rows.map(|row| (row["source"].as_str().expect("a source").to_owned(), row["schema"].clone())).collect()
}

/// Returns a tool with the schema as a property, and with its definitions at the root.
fn below_a_property(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let definitions = inner.as_object_mut().and_then(|members| members.remove("$defs"));
    let mut outer = json!({"type": "object", "properties": {"value": inner}, "required": ["value"]});
    if let Some(definitions) = definitions {
        outer["$defs"] = definitions;
    }
    outer
}

/// A tool with a list or a string as its arguments cannot be called.
fn admits_an_object(schema: &Value) -> bool {
    schema.get("type").is_none_or(|name| name == "object")
        && schema.get("prefixItems").is_none()
        && schema
            .get("anyOf")
            .and_then(Value::as_array)
            .is_none_or(|branches| branches.iter().any(|branch| branch.get("type").is_none_or(|name| name == "object")))
}

#[test]
fn sanitized_schemas_pass_check() {
    let corpus = corpus();
    let mut faults = Vec::new();
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for dialect in dialects().iter().filter(|dialect| !dialect.name.starts_with("codex")) {
        let options = SanitizeOptions::new(dialect.id());
        let count = counts.entry(dialect.name).or_default();
        for (source, schema) in &corpus {
            for (place, schema) in [("root", schema.clone()), ("property", below_a_property(schema))] {
                let refuses = |schema: &Value| {
                    let found = check(schema, &options).unwrap_or_else(|error| panic!("{source}: {error}"));
                    found.into_iter().find(|one| one.severity == Severity::Refused)
                };
                let written = match sanitize(&schema, &options) {
                    Ok(done) => done.schema,
                    Err(error) => {
                        count[2] += 1;
                        if error.code() != Code::NotRepresentable || admits_an_object(&schema) {
                            faults.push(format!("{}: {source} ({place}): {error}", dialect.name));
                        }
                        continue;
                    }
                };
                count[usize::from(written != schema)] += 1;
                if let Some(refused) = refuses(&written) {
                    faults.push(format!("{}: {source} ({place}): {}", dialect.name, refused.message));
                }
                match sanitize(&written, &options) {
                    Ok(again) if again.schema == written => {}
                    Ok(_) => faults.push(format!("{}: {source} ({place}) changes again", dialect.name)),
                    Err(error) => faults.push(format!("{}: {source} ({place}): {error}", dialect.name)),
                }
            }
        }
    }
    for (name, [kept, rewritten, refused]) in &counts {
        let _ = writeln!(std::io::stderr(), "{name}: {kept} unchanged, {rewritten} rewritten, {refused} not tools");
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn corpus_has_unions_and_tuples() {
    let corpus = corpus();
    let has = |key: &str| corpus.iter().filter(|(_, schema)| schema.get(key).is_some()).count();
    let tuples = corpus.iter().filter(|(_, schema)| schema.to_string().contains("\"prefixItems\"")).count();
    assert!(has("anyOf") + has("oneOf") >= 50 && tuples >= 8, "{} unions, {tuples} tuples", has("anyOf"));
    assert!(corpus.len() > 100);
}
