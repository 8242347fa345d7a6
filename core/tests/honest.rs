//! The report held to its word by a real validator: an instance that is lost needs a change that says `narrower` or `mixed`,
//! one that is gained needs `wider` or `mixed`, and `lossless` means that nothing changed at all.
//!
//! The schemas and instances are the official test suite's (../shared/data/test_suite.jsonl), each as it is and wrapped in a
//! property, so that the root rule cannot excuse anything.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

use std::{collections::BTreeMap, fs, io::Write as _, path::Path};

use jsonschema::{Draft, Validator};
use serde_json::{json, Value};
use toolwire::{check, restore_arguments, sanitize_with_report, Accepts, Change, Code, SanitizeOptions};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/test_suite.jsonl");

struct Group {
    name: String,
    draft: Draft,
    schema: Value,
    tests: Vec<(Value, bool)>,
}

/// Said past the test harness, which would swallow it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn groups() -> Option<Vec<Group>> {
    let path = std::env::var("TOOLWIRE_SUITE").unwrap_or(DATA.into());
    let text = fs::read_to_string(Path::new(&path)).ok()?;
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row of the test suite"));
    Some(
        rows.map(|row| Group {
            name: format!(
                "{} {}",
                row["source"].as_str().unwrap_or_default().rsplit(':').next().unwrap_or_default(),
                row["description"].as_str().unwrap_or_default()
            ),
            draft: if row["draft"] == "draft7" { Draft::Draft7 } else { Draft::Draft202012 },
            schema: row["schema"].clone(),
            tests: row["tests"].as_array().expect("tests").iter().map(|test| (test["data"].clone(), test["valid"] == true)).collect(),
        })
        .collect(),
    )
}

fn validator(schema: &Value, draft: Draft) -> Option<Validator> {
    jsonschema::options().with_draft(draft).should_validate_formats(false).build(schema).ok()
}

/// Remote and dynamic references are resolved by nobody here.
fn out_of_reach(schema: &Value) -> bool {
    let text = schema.to_string();
    ["$dynamicRef", "localhost:1234", "\"$ref\":\"http", "$vocabulary", "$recursiveRef"].iter().any(|mark| text.contains(mark))
}

fn wrapped(group: &Group) -> (Value, Vec<Value>) {
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
fn moonshot_reports_what_the_official_suite_shows() {
    let Some(groups) = groups() else {
        println!("skipped: {DATA} is not here");
        return;
    };
    let mut faults: Vec<String> = Vec::new();
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let mut skipped: Vec<&str> = Vec::new();
    for group in &groups {
        if out_of_reach(&group.schema) {
            skipped.push(&group.name);
            continue;
        }
        let mut plain = group.schema.clone();
        if group.draft == Draft::Draft7 {
            if let Some(object) = plain.as_object_mut() {
                object.entry("$schema").or_insert_with(|| json!("http://json-schema.org/draft-07/schema#"));
            }
        }
        let objects: Vec<Value> = group.tests.iter().map(|(data, _)| data.clone()).filter(Value::is_object).collect();
        let (outer, instances) = wrapped(group);
        for (how, schema, instances) in [("as it is", plain, objects), ("wrapped", outer, instances)] {
            judge(&format!("{} ({how})", group.name), &schema, group.draft, &instances, &mut faults, &mut tally);
        }
    }
    say(&format!("out of reach: {} groups with remote or dynamic references", skipped.len()));
    for name in &skipped {
        say(&format!("  {name}"));
    }
    say(&format!("{tally:?}"));
    for fault in &faults {
        println!("{fault}\n");
    }
    assert!(faults.is_empty(), "{} faults", faults.len());
}

/// Answers as a model would that reads the output, restores the answer, and compares it with the instance.
fn encoded(
    name: &str,
    schema: &Value,
    changes: &[Change],
    (before, after): (&Validator, &Validator),
    instance: &Value,
    options: &SanitizeOptions,
    faults: &mut Vec<String>,
) {
    let names: BTreeMap<&str, &str> = changes
        .iter()
        .filter(|change| change.encoded)
        .filter_map(|change| Some((change.pointer.rsplit('/').next()?, change.output_pointer.as_deref()?.rsplit('/').next()?)))
        .collect();
    let answer = renamed(instance, &names);
    let restored = restore_arguments(&answer, schema, options);
    if restored.as_ref().ok() != Some(instance) {
        faults.push(format!("{name}: {instance} answered as {answer} came back as {restored:?}\n  in  {schema}"));
    }
    let says = |wanted: Accepts| changes.iter().any(|change| change.accepts == wanted || change.accepts == Accepts::Mixed);
    let (was, is) = (before.is_valid(instance), after.is_valid(&answer));
    if (was && !is && !says(Accepts::Narrower)) || (!was && is && !says(Accepts::Wider)) {
        faults.push(format!("{name}: {instance} was {was}, answered as {answer} is {is}\n  in  {schema}"));
    }
}

fn renamed(value: &Value, names: &BTreeMap<&str, &str>) -> Value {
    match value {
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| (names.get(key.as_str()).copied().unwrap_or(key).to_string(), renamed(value, names));
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => items.iter().map(|item| renamed(item, names)).collect(),
        other => other.clone(),
    }
}

fn judge(
    name: &str,
    schema: &Value,
    draft: Draft,
    instances: &[Value],
    faults: &mut Vec<String>,
    tally: &mut BTreeMap<&'static str, usize>,
) {
    if std::env::var_os("TOOLWIRE_TRACE").is_some() {
        eprintln!("{name}\n{schema}");
    }
    let options = SanitizeOptions::new("moonshot");
    let Some(before) = validator(schema, draft) else {
        *tally.entry("input unreadable to the validator").or_default() += 1;
        return;
    };
    let result = match sanitize_with_report(schema, &options) {
        Ok(result) => result,
        Err(error) => {
            *tally.entry(error.code().as_str()).or_default() += 1;
            // An error is an answer only where no object could be accepted.
            let accepted = instances.iter().any(|instance| before.is_valid(instance));
            if error.code() != Code::NotRepresentable || accepted {
                faults.push(format!("{name}: {error}\n  in  {schema}"));
            }
            return;
        }
    };
    let output = &result.schema;
    let again = sanitize_with_report(output, &options);
    if again.as_ref().map(|again| &again.schema).ok() != Some(output) {
        faults.push(format!(
            "{name}: not idempotent\n  in  {schema}\n  out {output}\n  2nd {:?}",
            again.map(|again| again.schema.to_string())
        ));
    }
    match check(output, &options) {
        Ok(violations) if violations.is_empty() => {}
        other => faults.push(format!("{name}: check {other:?}\n  in  {schema}\n  out {output}")),
    }
    let Some(after) = validator(output, Draft::Draft202012) else {
        faults.push(format!(
            "{name}: output unreadable to the validator: {:?}\n  in  {schema}\n  out {output}",
            jsonschema::options().with_draft(Draft::Draft202012).build(output).err().map(|e| e.to_string())
        ));
        return;
    };
    if result.changes.iter().any(|change| change.encoded) {
        *tally.entry("encoded").or_default() += 1;
        for instance in instances {
            encoded(name, schema, &result.changes, (&before, &after), instance, &options, faults);
        }
        return;
    }
    let says = |wanted: Accepts| result.changes.iter().any(|change| change.accepts == wanted || change.accepts == Accepts::Mixed);
    let worst = result.changes.iter().fold(Accepts::Same, |worst, change| worst.and(change.accepts));
    *tally.entry(if result.lossless { "lossless" } else { worst.as_str() }).or_default() += 1;
    for instance in instances {
        let (was, is) = (before.is_valid(instance), after.is_valid(instance));
        let told = match (was, is) {
            (true, false) => says(Accepts::Narrower),
            (false, true) => says(Accepts::Wider),
            _ => true,
        };
        if !told {
            let rules: Vec<String> =
                result.changes.iter().map(|change| format!("{} {} {}", change.pointer, change.rule, change.accepts.as_str())).collect();
            faults.push(format!("{name}: {instance} was {was}, is {is}\n  in  {schema}\n  out {output}\n  {rules:?}"));
        }
    }
}
