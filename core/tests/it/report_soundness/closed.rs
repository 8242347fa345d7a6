//! Checks `closed` against its definition, with the fixtures and real tools. An instance that only the strict schema
//! refuses must have a property that the tool does not define, unless the report states a greater effect.

use std::{collections::BTreeMap, fs, path::PathBuf, thread};

use jsonschema::Draft;
use serde_json::Value;
use toolwire::SanitizeOptions;

use super::{
    instances::{instances, Dice},
    judge, named, print_uncaptured,
};
use crate::{dialect_id, reference::sources};

const DIALECTS: [&str; 3] = ["openai-strict", "anthropic-strict", "deepseek-strict"];

fn draft(schema: &Value) -> Draft {
    match schema["$schema"].as_str() {
        Some(name) if name.contains("draft-07") => Draft::Draft7,
        _ => Draft::Draft202012,
    }
}

#[derive(Default)]
struct Tally {
    became: BTreeMap<&'static str, usize>,
    verdicts: usize,
    /// Number of instances that are refused only because objects are closed.
    shut_out: usize,
    faults: Vec<String>,
}

fn judge_schemas(dialect: &'static str, schemas: &[Value], rounds: usize) -> Tally {
    let (options, mut dice, mut tally) =
        (SanitizeOptions::new(dialect_id(dialect)), Dice(0x9e37_79b9_7f4a_7c15), Tally::default());
    for schema in schemas {
        let found = judge::judge(schema, draft(schema), &instances(schema, rounds, &mut dice), &options);
        *tally.became.entry(found.became).or_default() += 1;
        tally.verdicts += found.verdicts;
        tally.shut_out += found.shut_out;
        tally.faults.extend(found.faults);
    }
    tally
}

fn hold(name: &str, schemas: &[Value], rounds: usize) -> Vec<String> {
    let tallies: Vec<(&str, Tally)> = thread::scope(|scope| {
        let all: Vec<_> =
            DIALECTS.map(|dialect| (dialect, scope.spawn(move || judge_schemas(dialect, schemas, rounds)))).into();
        all.into_iter().map(|(dialect, one)| (dialect, one.join().expect("a dialect"))).collect()
    });
    let mut faults = Vec::new();
    for (dialect, tally) in tallies {
        let Tally { became, verdicts, shut_out, .. } = &tally;
        print_uncaptured(&format!(
            "{name} {dialect}: {} schemas, {verdicts} verdicts, {shut_out} shut out, {became:?}, {} faults",
            schemas.len(),
            tally.faults.len()
        ));
        assert!(*shut_out > 0, "no property was refused in {dialect}, so nothing was tested");
        faults.extend(tally.faults.into_iter().map(|fault| format!("{dialect}: {fault}")));
    }
    faults
}

fn fail_on(mut faults: Vec<String>) {
    faults.sort_by_key(String::len);
    faults.iter().take(10).for_each(|fault| println!("{fault}\n"));
    assert!(faults.is_empty(), "{} faults", faults.len());
}

#[test]
fn closed_schemas_of_real_tools_refuse_only_undefined_properties() {
    let mut faults = Vec::new();
    for source in sources("mcp_tools.jsonl") {
        let rows = source.text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
        let schemas: Vec<Value> = rows.map(|row| row["inputSchema"].clone()).filter(Value::is_object).collect();
        let (name, rounds) = if source.is_whole { ("all real tools", 1) } else { ("sample of real tools", 3) };
        faults.extend(hold(name, &schemas, rounds));
    }
    fail_on(faults);
}

#[test]
fn closed_schemas_of_fixtures_refuse_only_undefined_properties() {
    let mut open = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/sanitize")];
    let mut schemas = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let cases: Vec<Value> =
            serde_json::from_str(&fs::read_to_string(&path).expect("a fixture file")).expect("cases");
        let is_strict = |case: &&Value| DIALECTS.iter().any(|dialect| case["options"]["dialect"] == *dialect);
        let is_tool = |case: &&Value| case["options"]["use"].is_null();
        let usable = |case: &&Value| case["input"].is_object() && (case.get("error").is_none() || is_allow(case));
        schemas.extend(cases.iter().filter(is_strict).filter(is_tool).filter(usable).map(|case| case["input"].clone()));
    }
    schemas.sort_by_key(Value::to_string);
    schemas.dedup();
    fail_on(hold("fixtures", &schemas, 12));
}

/// Returns true if the only reason for the refusal is the option `allow`.
fn is_allow(case: &Value) -> bool {
    case["error"]["code"] == "too-lossy"
}

#[test]
fn undefined_properties_are_recognized() {
    let named =
        |schema: Value, instance: Value| judge::is_named(&named::named(&schema, false), &instance).expect("readable");
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for (schema, instance, expected) in [
        (r#"{"properties": {"a": {}}}"#, r#"{"a": 1}"#, true),
        (r#"{"properties": {"a": {}}}"#, r#"{"b": 1}"#, false),
        (r#"{"properties": {"a": {}}, "additionalProperties": true}"#, r#"{"b": 1}"#, true),
        (r#"{"properties": {"a": {}}, "additionalProperties": {"type": "string"}}"#, r#"{"b": "x"}"#, true),
        (r#"{"properties": {"a": {}}, "then": {"properties": {"b": {}}}, "if": {}}"#, r#"{"b": 1}"#, true),
        (r#"{"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}"#, r#"{"a": 1, "b": 1}"#, true),
        (
            r#"{"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["c"]}]}"#,
            r#"{"a": 1, "b": 1}"#,
            false,
        ),
        (r##"{"properties": {"a": {"$ref": "#"}}}"##, r#"{"a": {"a": {}}}"#, true),
        (r##"{"properties": {"a": {"$ref": "#"}}}"##, r#"{"a": {"b": {}}}"#, false),
        (r##"{"properties": {"a": {"$ref": "#", "properties": {"b": {}}}}}"##, r#"{"a": {"a": {}, "b": {}}}"#, true),
        (r#"{"properties": {"a": {"required": ["b"]}}}"#, r#"{"a": {"b": 1}}"#, true),
        (r#"{"properties": {"a": {"required": ["b"]}}}"#, r#"{"a": {"b": 1, "c": 1}}"#, false),
        (r#"{"properties": {"a": {"anyOf": [{"required": ["b"]}]}}}"#, r#"{"a": {"b": 1, "c": 1}}"#, true),
        (r#"{"properties": {"a": {"type": "object"}}}"#, r#"{"a": {"b": 1}}"#, true),
        (r#"{"properties": {"a": {"items": {"properties": {"b": {}}}}}}"#, r#"{"a": [{"c": 1}]}"#, false),
    ] {
        assert_eq!(named(parse(schema), parse(instance)), expected, "{instance} in {schema}");
    }
}
