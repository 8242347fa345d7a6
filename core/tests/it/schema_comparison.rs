//! Every difference between two schemas has a witness, which another validator confirms.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{json, Value};
use toolwire::{
    internal::{compare_schemas, SchemaComparison},
    json::read,
};

const WHOLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/test_suite.jsonl");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sample/test_suite.jsonl");

fn compare(old: &Value, new: &Value, objects_only: bool) -> SchemaComparison {
    let (old, new) = (old.to_string(), new.to_string());
    compare_schemas(&read(&old).expect("JSON"), &read(&new).expect("JSON"), objects_only)
}

fn relation(found: &SchemaComparison) -> &'static str {
    match (found.is_equal, &found.only_old, &found.only_new) {
        (true, None, None) => "equal",
        (false, Some(_), None) => "narrower",
        (false, None, Some(_)) => "wider",
        (false, Some(_), Some(_)) => "both",
        (false, None, None) => "undecided",
        (true, ..) => panic!("equal schemas have no witness"),
    }
}

/// Returns each witness, and true if the other validator confirms it. A schema that it refuses has no verdict.
fn verdicts(old: &Value, new: &Value, found: &SchemaComparison) -> Vec<(String, bool)> {
    let (Ok(old), Ok(new)) = (jsonschema::validator_for(old), jsonschema::validator_for(new)) else {
        return Vec::new();
    };
    let verdict = |text: &Option<String>, accepts: &jsonschema::Validator, refuses: &jsonschema::Validator| {
        let value: Value = serde_json::from_str(text.as_ref()?).expect("a witness is JSON");
        Some((value.to_string(), accepts.is_valid(&value) && !refuses.is_valid(&value)))
    };
    [verdict(&found.only_old, &old, &new), verdict(&found.only_new, &new, &old)].into_iter().flatten().collect()
}

fn unconfirmed_witnesses(old: &Value, new: &Value, found: &SchemaComparison) -> Vec<String> {
    verdicts(old, new, found).into_iter().filter(|(_, is_confirmed)| !is_confirmed).map(|(value, _)| value).collect()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn property(schema: Value) -> Value {
    object(json!({"p": schema}))
}

#[test]
fn relations_of_schemas() {
    let tree = |leaf: Value| {
        json!({"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {
        "leaf": leaf, "next": {"$ref": "#/$defs/t"}}}}})
    };
    let rows = [
        ("equal", property(json!({"const": 1})), property(json!({"enum": [1.0], "description": "One."}))),
        (
            "undecided",
            json!({"type": "object", "additionalProperties": true, "unevaluatedProperties": false}),
            json!({"type": "object", "unevaluatedProperties": false}),
        ),
        (
            "equal",
            json!({"required": ["a", "b"], "type": ["object"]}),
            json!({"type": "object", "required": ["b", "a"]}),
        ),
        ("equal", object(json!({})), json!({"type": "object", "additionalProperties": true, "required": []})),
        ("equal", json!({"type": "object", "$defs": {"unused": {}}}), json!({"type": "object"})),
        ("narrower", object(json!({})), json!({"type": "object", "required": ["a"]})),
        (
            "narrower",
            object(json!({"a": {}})),
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
        ),
        ("narrower", property(json!({"type": "string"})), property(json!({"type": "string", "maxLength": 20}))),
        (
            "narrower",
            property(json!({"type": "string"})),
            property(json!({"type": "string", "pattern": "^[A-Z]{3}-\\d+$"})),
        ),
        ("narrower", property(json!({"type": "number"})), property(json!({"type": "integer"}))),
        ("narrower", property(json!({"minimum": 1})), property(json!({"exclusiveMinimum": 1}))),
        ("narrower", property(json!({"multipleOf": 0.5})), property(json!({"multipleOf": 1}))),
        ("narrower", property(json!({"enum": ["a", "b"]})), property(json!({"enum": ["a"]}))),
        (
            "narrower",
            property(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            property(json!({"type": "string"})),
        ),
        ("narrower", property(json!({"type": "array"})), property(json!({"type": "array", "uniqueItems": true}))),
        ("narrower", property(json!({"type": "array"})), property(json!({"type": "array", "maxItems": 3}))),
        (
            "narrower",
            property(json!({"type": "array", "items": {}})),
            property(json!({"type": "array", "items": {"type": "string"}})),
        ),
        ("narrower", tree(json!({})), tree(json!({"type": "string"}))),
        ("narrower", object(json!({})), json!({"type": "object", "dependentRequired": {"a": ["b"]}})),
        ("narrower", object(json!({})), json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}})),
        ("narrower", object(json!({})), json!({"type": "object", "minProperties": 2})),
        ("narrower", object(json!({})), json!({"type": "object", "not": {"required": ["a"]}})),
        (
            "narrower",
            property(json!({"contains": {"const": 1}})),
            property(json!({"contains": {"const": 1}, "minContains": 2})),
        ),
        (
            "narrower",
            property(json!({"contains": {"const": 1}})),
            property(json!({"contains": {"const": 1}, "maxContains": 2})),
        ),
        ("wider", json!({"type": "object", "required": ["a", "b"]}), json!({"type": "object", "required": ["a"]})),
        ("wider", property(json!({"type": "string", "pattern": "^(?:ab|cd)+$"})), property(json!({"type": "string"}))),
        (
            "wider",
            property(json!({"oneOf": [{"type": "string"}]})),
            property(json!({"oneOf": [{"type": "string"}, {"type": "integer"}]})),
        ),
        ("both", property(json!({"type": "string"})), property(json!({"type": "integer"}))),
        ("both", json!({"type": "object", "required": ["a"]}), json!({"type": "object", "required": ["b"]})),
        ("both", property(json!({"enum": ["a", "b"]})), property(json!({"enum": ["b", "c"]}))),
        (
            "both",
            property(json!({"minLength": 2, "maxLength": 4, "type": "string"})),
            property(json!({"minLength": 3, "maxLength": 9, "type": "string"})),
        ),
        // Undecided: no validator has to check a format, and both patterns match the same strings.
        ("undecided", property(json!({"format": "email"})), property(json!({"format": "uri"}))),
        ("undecided", property(json!({"pattern": "^a{1,}$"})), property(json!({"pattern": "^a+$"}))),
    ];
    let mut wrong = Vec::new();
    for (expected, old, new) in rows {
        let found = compare(&old, &new, true);
        if relation(&found) != expected {
            wrong.push(format!("expected {expected}, found {found:?}: {old} {new}"));
        }
        wrong.extend(unconfirmed_witnesses(&old, &new, &found));
        let back = compare(&new, &old, true);
        let (only_old, only_new) = (back.only_old.is_some(), back.only_new.is_some());
        if (only_old, only_new) != (found.only_new.is_some(), found.only_old.is_some()) {
            wrong.push(format!("the opposite direction differs: {back:?}: {new} {old}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares neighboring schemas of the official suite. Every witness has to be confirmed. Keywords whose meaning
/// depends on a vocabulary, on remote documents or on other keywords are left out, and so are annotations.
#[test]
fn another_validator_confirms_every_witness() {
    let text = fs::read_to_string(Path::new(WHOLE)).or_else(|_| fs::read_to_string(SAMPLE)).expect("the suite");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    let is_usual = |row: &&Value| {
        let text = row["schema"].to_string();
        let odd = ["$dynamicRef", "$recursiveRef", "localhost:1234", "\"$ref\":\"http", "$vocabulary", "unevaluated"];
        let annotations = ["\"format\"", "contentMediaType", "contentEncoding", "\"$id\""];
        !odd.iter().chain(&annotations).any(|mark| text.contains(mark)) && row["draft"] != "draft7"
    };
    let schemas: Vec<Value> = rows.iter().filter(is_usual).map(|row| row["schema"].clone()).collect();
    let (mut counts, mut wrong, mut confirmed) = (BTreeMap::<&str, usize>::new(), Vec::new(), 0);
    for pair in schemas.windows(2) {
        let [old, new] = pair else { continue };
        let found = compare(old, new, false);
        *counts.entry(relation(&found)).or_default() += 1;
        for (value, is_confirmed) in verdicts(old, new, &found) {
            confirmed += usize::from(is_confirmed);
            wrong.extend((!is_confirmed).then(|| format!("{value}: {old} {new}")));
        }
        assert_eq!(relation(&compare(old, old, false)), "equal", "{old}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{counts:?}, {confirmed} witnesses");
    assert!(confirmed > schemas.len(), "{confirmed} witnesses of {} pairs are confirmed", schemas.len());
    let undecided = counts.get("undecided").copied().unwrap_or_default();
    assert!(undecided * 10 < schemas.len(), "{counts:?}");
}

/// The work is limited for every input: deep, wide and endless schemas, and schemas that accept nothing.
#[test]
fn comparisons_end() {
    let deep = |leaf: Value| (0..120).fold(leaf, |inner, _| property(inner));
    let wide = |kind: &str| {
        let members: serde_json::Map<String, Value> =
            (0..5_000).map(|at| (format!("p{at}"), json!({"type": kind}))).collect();
        json!({"type": "object", "properties": members, "required": members.keys().collect::<Vec<_>>()})
    };
    let union = |leaf: &str| (0..14).fold(json!({"type": leaf}), |inner, _| json!({"anyOf": [inner, inner]}));
    let endless = |leaf: &str| {
        json!({"$ref": "#/$defs/a", "$defs": {
        "a": {"allOf": [{"$ref": "#/$defs/b"}], "properties": {"x": {"type": leaf}}}, "b": {"$ref": "#/$defs/a"}}})
    };
    let repeated =
        |count: u64| json!({"type": "array", "minItems": count, "items": {"type": "string", "minLength": count}});
    // Nothing but one property differs.
    let open = |kind: &str| {
        let members = (0..40_000).map(|at| (format!("p{at}"), json!({})));
        let changed = std::iter::once((String::from("last"), json!({"type": kind})));
        json!({"type": "object", "properties": members.chain(changed).collect::<serde_json::Map<_, _>>()})
    };
    // No character is next to another one.
    let apart: String = (0..30_000).filter_map(|at| char::from_u32(0x4e00 + 2 * at)).collect();
    let odd = format!("^[^aA0_\\- .@/:+xzZ9\\n\\té{apart}]$");
    let pairs = [
        (deep(json!({"type": "string"})), deep(json!({"type": "integer"}))),
        (wide("string"), wide("integer")),
        (union("string"), union("integer")),
        (endless("string"), endless("integer")),
        (repeated(u64::MAX), repeated(1_000_000_000)),
        (
            property(json!({"pattern": "^(?:(?:a{1,99}){1,99}){1,9}$"})),
            property(json!({"pattern": "^(?:a|b){0,9999}$"})),
        ),
        (open("string"), open("integer")),
        (property(json!({"pattern": odd, "maxLength": 9})), property(json!({"pattern": odd, "maxLength": 8}))),
        (json!(false), json!(true)),
        (json!(false), property(json!(false))),
        (json!(1), json!("schema")),
        (
            json!({"type": 1, "properties": [], "enum": {}, "required": "a", "items": 3, "anyOf": {}}),
            json!({"$ref": 1}),
        ),
    ];
    for (old, new) in pairs {
        let found = compare(&old, &new, false);
        assert!(unconfirmed_witnesses(&old, &new, &found).is_empty());
    }
}
