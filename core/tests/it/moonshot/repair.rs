//! Measures how many of the schemas that Moonshot's validator rejects become acceptable, and at what loss.

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolwire::{check, Code, Dialect, SanitizeOptions};

use super::{assert_no_faults, effect, print_uncaptured, sanitize_and_check};
use crate::reference::{sources, Source};

type Table = BTreeMap<String, usize>;

/// An error is only acceptable if it states the reason.
fn measure(name: &str, schema: &Value, table: &mut Table, faults: &mut Vec<String>) {
    let outcome = match sanitize_and_check(name, schema, &SanitizeOptions::new(Dialect::MOONSHOT), faults) {
        Ok(result) => effect(&result).to_string(),
        Err(error) if matches!(error.code(), Code::NotRepresentable | Code::InvalidSchema) => {
            if !error.message().contains("found") {
                faults.push(format!("{name}: the error does not state a reason: {error}"));
            }
            format!("error {}", error.code().as_str())
        }
        Err(error) => {
            faults.push(format!("{name}: {error}\n  in {schema}"));
            format!("error {}", error.code().as_str())
        }
    };
    *table.entry(outcome).or_default() += 1;
}

fn print(title: &str, table: &Table) {
    let all: usize = table.values().sum();
    let refused: usize = table.iter().filter(|(name, _)| name.starts_with("error")).map(|(_, count)| count).sum();
    print_uncaptured(&format!("{title}: {} of {all} results are accepted", all - refused));
    for (outcome, count) in table {
        print_uncaptured(&format!("  {outcome:<22} {count:>4}"));
    }
}

/// Moves the definitions to the root, and adjusts the references.
fn wrap(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let definitions = inner.as_object_mut().and_then(|object| object.remove("$defs"));
    lead(&mut inner);
    let mut outer = json!({"type": "object", "properties": {"v": inner}});
    if let Some(mut definitions) = definitions {
        lead(&mut definitions);
        outer["$defs"] = definitions;
    }
    outer
}

fn lead(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(reference) if key == "$ref" && !reference.starts_with("#/$defs") => {
                        if let Some(rest) = reference.strip_prefix('#') {
                            *reference = format!("#/properties/v{rest}");
                        }
                    }
                    other => lead(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(lead),
        _ => {}
    }
}

fn is_accepted(case: &Value) -> bool {
    case["levels"]["strict"] == "OK"
}

#[test]
fn schemas_that_the_validator_rejects_are_repaired_inside_a_property() {
    for Source { text, .. } in sources("walle_cases.json") {
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("walle_cases.json: {error}"));
        let (mut plain, mut inside, mut accepted, mut faults, mut harmless) =
            (Table::new(), Table::new(), Table::new(), Vec::new(), 0);
        for case in &cases {
            let (name, schema) = (case["name"].as_str().unwrap_or_default(), &case["schema"]);
            if is_accepted(case) {
                // A schema that both the validator and the root gate accept must stay acceptable. Every schema is also
                // checked as a property, to which the root gate does not apply.
                if schema["type"] == "object" {
                    measure(name, schema, &mut accepted, &mut faults);
                }
                measure(&format!("{name} (wrapped)"), &wrap(schema), &mut Table::new(), &mut faults);
                continue;
            }
            measure(name, schema, &mut plain, &mut faults);
            let outer = wrap(schema);
            measure(&format!("{name} (wrapped)"), &outer, &mut inside, &mut faults);
            // If the wrapped schema is accepted, the fault was in the root, or in a path that has changed.
            harmless += usize::from(
                check(&outer, &SanitizeOptions::new(Dialect::MOONSHOT)).is_ok_and(|found| found.is_empty()),
            );
        }
        print("rejected by the validator, unchanged", &plain);
        print("rejected by the validator, as a property", &inside);
        print_uncaptured(&format!("  {harmless} of them are no longer rejected once they are a property"));
        print("accepted by the validator, with an object as the root", &accepted);
        assert_no_faults(&faults);
        assert!(
            !inside.keys().any(|outcome| outcome.starts_with("error")),
            "expected every schema to be repaired inside a property: {inside:?}"
        );
        assert!(
            !accepted.keys().any(|outcome| outcome.starts_with("error")),
            "accepted schemas are never refused: {accepted:?}"
        );
    }
}

#[test]
fn schemas_that_users_reported_are_repaired() {
    for Source { text, .. } in sources("issue_cases.jsonl") {
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}"))).collect();
        let (mut moonshot, mut others, mut faults) = (Table::new(), Table::new(), Vec::new());
        for row in rows.iter().filter(|row| !row["schema"].is_null()) {
            let name = row["url"].as_str().unwrap_or_default();
            let table = if row["provider"] == "moonshot" { &mut moonshot } else { &mut others };
            measure(name, &row["schema"], table, &mut faults);
            let wrapped = json!({"type": "object", "properties": {"v": {"type": "array", "items": row["schema"]}}});
            measure(&format!("{name} (inside)"), &wrapped, &mut Table::new(), &mut faults);
        }
        print("rejections by Moonshot that users reported", &moonshot);
        print("rejections by others that users reported", &others);
        assert_no_faults(&faults);
        assert!(
            moonshot.keys().chain(others.keys()).all(|outcome| !outcome.starts_with("error")),
            "{moonshot:?} {others:?}"
        );
    }
}
