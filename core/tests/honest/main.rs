//! The report held to its word by a real validator: an instance that is lost needs a change that says `narrower` or `mixed`,
//! one that is gained needs `wider` or `mixed`, and `lossless` means that nothing changed at all.
//!
//! The schemas and instances are the official test suite's (../shared/data/test_suite.jsonl), each as it is and wrapped in a
//! property, so that the root rule cannot excuse anything. Where arguments are encoded, the instance is answered as a model would
//! that reads the output, and restored. `TOOLWIRE_DIALECT=name` shows everything that is wrong with one.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

mod answers;
mod limits;
mod openapi;

use std::{collections::BTreeMap, fs, io::Write as _, path::Path, thread};

use answers::answers;
use jsonschema::{Draft, Validator};
use serde_json::{json, Value};
use toolwire::{check, dialects, restore_arguments, sanitize_with_report, Accepts, Change, Code, SanitizeOptions};

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
fn every_dialect_reports_what_the_official_suite_shows() {
    let Some(groups) = groups() else {
        println!("skipped: {DATA} is not here");
        return;
    };
    let (groups, skipped): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(|group| !out_of_reach(&group.schema));
    say(&format!("out of reach: {} groups with remote or dynamic references", skipped.len()));
    skipped.iter().for_each(|group| say(&format!("  {}", group.name)));
    let asked = std::env::var("TOOLWIRE_DIALECT").ok();
    let names: Vec<&str> = dialects().iter().map(|dialect| dialect.name).filter(|name| !name.starts_with("codex")).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| asked.as_ref().is_none_or(|asked| asked == name)).collect();
    // Two halves, because the machines that run this have two cores at least.
    let half = |start: usize| names.iter().skip(start).step_by(2).map(|name| (*name, judge_all(name, &groups))).collect::<Vec<_>>();
    let mut results = thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        let mut results = half(0);
        results.extend(other.join().expect("the other half of the dialects"));
        results
    });
    results.sort_by_key(|(name, _)| names.iter().position(|known| known == name));
    let mut broken = Vec::new();
    for (name, (faults, tally)) in &results {
        say(&format!("{name}: {} faults, {tally:?}", faults.len()));
        let most = limits::of(name);
        if faults.len() > most || asked.is_some() {
            faults.iter().take(if asked.is_some() { usize::MAX } else { 10 }).for_each(|fault| println!("{name}: {fault}\n"));
        }
        match faults.len() {
            count if count > most => broken.push(format!("{name}: {count} faults, at most {most} may be")),
            count if count < most => say(&format!("  {count} faults, and tests/honest/limits.rs allows {most}: lower it")),
            _ => {}
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What is wrong with one dialect, and what became of the schemas.
type Verdict = (Vec<String>, BTreeMap<&'static str, usize>);

fn judge_all(dialect: &str, groups: &[Group]) -> Verdict {
    let (mut faults, mut tally) = Verdict::default();
    let options = SanitizeOptions::new(dialect);
    for group in groups {
        let mut plain = group.schema.clone();
        if group.draft == Draft::Draft7 {
            if let Some(object) = plain.as_object_mut() {
                object.entry("$schema").or_insert_with(|| json!("http://json-schema.org/draft-07/schema#"));
            }
        }
        let objects: Vec<Value> = group.tests.iter().map(|(data, _)| data.clone()).filter(Value::is_object).collect();
        let (outer, instances) = wrapped(group);
        for (how, schema, instances) in [("as it is", plain, objects), ("wrapped", outer, instances)] {
            judge(&format!("{} ({how})", group.name), &schema, group.draft, &instances, &options, &mut faults, &mut tally);
        }
    }
    (faults, tally)
}

/// Answers as a model would that reads the output, restores the answers, and looks for one that came back as the instance.
fn encoded(
    name: &str,
    (schema, output): (&Value, &Value),
    changes: &[Change],
    (before, after): (&Validator, &Validator),
    instance: &Value,
    options: &SanitizeOptions,
) -> Option<String> {
    let names: BTreeMap<&str, &str> = changes
        .iter()
        .filter(|change| change.encoded)
        .filter_map(|change| Some((change.pointer.rsplit('/').next()?, change.output_pointer.as_deref()?.rsplit('/').next()?)))
        .filter(|(old, new)| old != new)
        .collect();
    let accepted: Vec<Value> = answers(instance, output, &names).into_iter().filter(|answer| after.is_valid(answer)).collect();
    let restored: Vec<Option<Value>> = accepted.iter().map(|answer| restore_arguments(answer, schema, options).ok()).collect();
    let comes_back = restored.iter().flatten().any(|value| same(value, instance));
    let says = |wanted: Accepts| changes.iter().any(|change| change.accepts == wanted || change.accepts == Accepts::Mixed);
    let told = match (before.is_valid(instance), comes_back) {
        (true, false) => says(Accepts::Narrower),
        (false, true) => says(Accepts::Wider),
        _ => true,
    };
    (!told).then(|| {
        let was = before.is_valid(instance);
        format!("{name}: {instance} was {was}, said as {accepted:?} came back as {restored:?}\n  in  {schema}\n  out {output}")
    })
}

/// Equal by value, as JSON Schema counts: `1` is `1.0`.
fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two)),
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len() && one.iter().all(|(key, value)| two.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == two,
    }
}

fn judge(
    name: &str,
    schema: &Value,
    draft: Draft,
    instances: &[Value],
    options: &SanitizeOptions,
    faults: &mut Vec<String>,
    tally: &mut BTreeMap<&'static str, usize>,
) {
    if std::env::var_os("TOOLWIRE_TRACE").is_some() {
        eprintln!("{name}\n{schema}");
    }
    let Some(before) = validator(schema, draft) else {
        *tally.entry("input unreadable to the validator").or_default() += 1;
        return;
    };
    let result = match sanitize_with_report(schema, options) {
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
    let again = sanitize_with_report(output, options);
    if again.as_ref().map(|again| &again.schema).ok() != Some(output) {
        faults.push(format!(
            "{name}: not idempotent\n  in  {schema}\n  out {output}\n  2nd {:?}",
            again.map(|again| again.schema.to_string())
        ));
    }
    match check(output, options) {
        Ok(violations) if violations.is_empty() => {}
        other => faults.push(format!("{name}: check {other:?}\n  in  {schema}\n  out {output}")),
    }
    let speaks = if output["$schema"].as_str().is_some_and(|name| name.contains("draft-07")) { Draft::Draft7 } else { Draft::Draft202012 };
    let Some(after) = validator(&openapi::in_json_schema(output), speaks) else {
        faults.push(format!(
            "{name}: output unreadable to the validator: {:?}\n  in  {schema}\n  out {output}",
            jsonschema::options().with_draft(speaks).build(output).err().map(|e| e.to_string())
        ));
        return;
    };
    if result.changes.iter().any(|change| change.encoded) {
        *tally.entry("encoded").or_default() += 1;
        for instance in instances {
            faults.extend(encoded(name, (schema, output), &result.changes, (&before, &after), instance, options));
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
