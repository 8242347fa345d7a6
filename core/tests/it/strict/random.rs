//! Generated schemas and instances: the model's answer for an instance is simulated, restored, and validated against
//! the original schema.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{json, Map, Value};
use toolwire::{
    check,
    reports::{Accepts, Severity},
    restore_arguments, sanitize, SanitizeOptions,
};

use super::{answer::answer, print_uncaptured, DIALECTS};
use crate::{dialect_id, report_soundness::named::named};

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

const NAMES: [&str; 7] = ["a", "b", "c", "key", "value", "additional_properties", "type"];
const SCALARS: [&str; 5] = ["string", "number", "integer", "boolean", "null"];

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = match dice.roll(if depth == 0 { 6 } else { 16 }) {
        0..=1 => json!({"type": dice.pick(&SCALARS)}),
        2 => json!({"type": [dice.pick(&SCALARS[..3]), "null"]}),
        3 => match dice.roll(4) {
            0 => json!({"enum": ["x", "y", 3]}),
            1 => json!({"type": "string", "enum": ["x", "y"]}),
            2 => json!({"enum": [{"x": 1}, ["y"], null, "z"]}),
            _ => json!({"const": dice.pick(&[json!("k"), json!(7), json!({"k": [1]})])}),
        },
        4 => match dice.roll(5) {
            0 => json!({}),
            1 => json!(true),
            2 => json!({"type": "object"}),
            3 => json!({"type": "array"}),
            _ => json!({"type": ["string", "number", "boolean", "object", "array", "null"]}),
        },
        5 => json!({"$ref": dice.pick(&["#/$defs/A", "#/$defs/B", "#"])}),
        6..=10 => object(dice, depth),
        11..=12 => json!({"type": "array", "items": schema_at(dice, depth)}),
        13 => {
            json!({"type": [dice.pick(&["object", "array"]), "object", dice.pick(&SCALARS)], "items": schema_at(dice, depth), "additionalProperties": schema_at(dice, depth)})
        }
        14 => json!({"type": "object", "additionalProperties": schema_at(dice, depth)}),
        _ => json!({"anyOf": [schema_at(dice, depth), schema_at(dice, depth), schema_at(dice, depth)]}),
    };
    if let Some(types) = schema["type"].as_array() {
        let mut names = types.clone();
        names.sort_by_key(ToString::to_string);
        names.dedup();
        schema["type"] = json!(names);
    }
    if dice.one_in(6) {
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".into(), json!("what it is"));
        }
    }
    schema
}

fn schema_at(dice: &mut Dice, depth: usize) -> Value {
    schema(dice, depth - 1)
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut table = Map::new();
    let mut required = Vec::new();
    for _ in 0..=dice.roll(3) {
        let name = dice.pick(&NAMES);
        table.insert(name.into(), schema_at(dice, depth));
        if dice.one_in(2) && !required.contains(&name) {
            required.push(name);
        }
    }
    let mut object = json!({"type": "object", "properties": table, "required": required});
    match dice.roll(4) {
        0 => object["additionalProperties"] = json!(false),
        1 => object["additionalProperties"] = schema_at(dice, depth),
        2 => object["additionalProperties"] = json!(true),
        _ => {}
    }
    object
}

/// Generates a value, mostly one that the schema accepts.
fn instance(dice: &mut Dice, schema: &Value, root: &Value, depth: usize) -> Value {
    let any = |dice: &mut Dice| {
        dice.pick(&[
            json!(null),
            json!("x"),
            json!("12"),
            json!(3),
            json!(true),
            json!([]),
            json!({}),
            json!({"x": [1, {"y": null}]}),
            json!([{"key": "k", "value": 1}]),
        ])
    };
    if depth == 0 {
        return any(dice);
    }
    if let Some(reference) = schema["$ref"].as_str() {
        return root.pointer(&reference[1..]).map_or(Value::Null, |target| instance(dice, target, root, depth - 1));
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        let branch = dice.pick(branches);
        return instance(dice, &branch, root, depth - 1);
    }
    if let Some(values) = schema["enum"].as_array() {
        return dice.pick(values);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(names) => dice.pick(names),
        other => other.clone(),
    };
    match kind.as_str() {
        Some("string") => json!(dice.pick(&["", "x", "12", "{\"a\":1}", "null"])),
        Some("number") => json!(1.5),
        Some("integer") => json!(dice.roll(9)),
        Some("boolean") => json!(dice.one_in(2)),
        Some("null") => Value::Null,
        Some("array") => {
            let count = dice.roll(3);
            (0..count).map(|_| instance(dice, &schema["items"], root, depth - 1)).collect()
        }
        Some("object") => {
            let mut members = Map::new();
            for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                if dice.one_in(2)
                    || schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
                {
                    members.insert(name.clone(), instance(dice, inner, root, depth - 1));
                }
            }
            if schema["additionalProperties"] != json!(false) && dice.one_in(2) {
                members.insert("other".into(), instance(dice, &schema["additionalProperties"], root, depth - 1));
            }
            Value::Object(members)
        }
        _ => any(dice),
    }
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(false).build(schema).ok()
}

/// Removes properties that are null: in optional properties, the model may write null for absence.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

#[test]
fn encoded_arguments_are_restored() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults: Vec<String> = Vec::new();
    for round in 0..400 {
        let mut root = object(&mut dice, 3);
        root["$defs"] = json!({"A": schema(&mut dice, 2), "B": object(&mut dice, 2)});
        let Some(before) = validator(&root) else { continue };
        let Some(only_named) = validator(&named(&root, false)) else { continue };
        let instances: Vec<Value> =
            (0..6).map(|_| instance(&mut dice, &root, &root, 6)).filter(|instance| before.is_valid(instance)).collect();
        for dialect in DIALECTS {
            let options = SanitizeOptions::new(dialect_id(dialect));
            let result = match sanitize(&root, &options) {
                Ok(result) => result,
                Err(error) => {
                    *tally.entry(format!("{dialect} {}", error.code().as_str())).or_default() += 1;
                    if error.code().as_str() != "budget-exceeded" && !error.message().contains("no recursion") {
                        faults.push(format!("round {round} {dialect}: {error}\n  in  {root}"));
                    }
                    continue;
                }
            };
            let output = &result.schema;
            if check(output, &options)
                .map_or(true, |found| !found.iter().all(|violation| violation.severity == Severity::Ignored))
            {
                faults.push(format!("round {round} {dialect}: not clean\n  in  {root}\n  out {output}"));
            }
            if sanitize(output, &options).map(|again| again.schema.to_string()).ok() != Some(output.to_string()) {
                faults.push(format!("round {round} {dialect}: not idempotent\n  in  {root}\n  out {output}"));
            }
            let Some(after) = validator(output) else {
                faults.push(format!("round {round} {dialect}: unreadable\n  out {output}"));
                continue;
            };
            let loses = result
                .changes()
                .expect("a report")
                .iter()
                .any(|change| matches!(change.accepts, Accepts::Narrower | Accepts::Mixed));
            let closes = result.changes().expect("a report").iter().any(|change| change.accepts == Accepts::Closed);
            for instance in &instances {
                let fault = |what: &str| {
                    format!("round {round} {dialect}: {what}\n  in  {root}\n  out {output}\n  instance {instance}")
                };
                let Some(answer) = answer(instance, output) else {
                    *tally.entry(format!("{dialect} no answer")).or_default() += 1;
                    // Defined properties can still be represented if objects are closed.
                    if !loses && (!closes || only_named.is_valid(instance)) {
                        faults.push(fault("no answer"));
                    }
                    continue;
                };
                if !after.is_valid(&answer) {
                    faults.push(fault(&format!("the answer is not valid: {answer}")));
                    continue;
                }
                match result.restore_plan().and_then(|plan| restore_arguments(&answer, plan)) {
                    Ok(restored) if restored == *instance => *tally.entry(format!("{dialect} same")).or_default() += 1,
                    Ok(restored)
                        if without_nulls(&restored) == without_nulls(instance) && before.is_valid(&restored) =>
                    {
                        *tally.entry(format!("{dialect} same but for nulls")).or_default() += 1;
                        if !loses {
                            faults.push(fault(&format!("nulls differ, but the report states no loss: {restored}")));
                        }
                    }
                    other => {
                        *tally.entry(format!("{dialect} other")).or_default() += 1;
                        faults.push(fault(&format!("answer {answer} restored {other:?}")));
                    }
                }
            }
        }
    }
    print_uncaptured(&format!("{tally:?}"));
    faults.sort_by_key(String::len);
    for fault in faults.iter().take(12) {
        println!("{fault}\n");
    }
    assert!(faults.is_empty(), "{} faults", faults.len());
}

#[test]
fn odd_arguments_are_restored_without_an_error() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for _ in 0..400 {
        let (mut root, other) = (object(&mut dice, 3), object(&mut dice, 3));
        root["$defs"] = json!({"A": schema(&mut dice, 2), "B": object(&mut dice, 2)});
        let arguments = instance(&mut dice, &other, &other, 6);
        for dialect in DIALECTS {
            let options = SanitizeOptions::new(dialect_id(dialect));
            let Ok(done) = sanitize(&root, &options) else { continue };
            let restored = done.restore_plan().and_then(|plan| restore_arguments(&arguments, plan));
            assert!(restored.is_ok(), "{dialect}: {restored:?}\n  in  {root}\n  arguments {arguments}");
        }
    }
}
