//! Every difference between two schemas has a witness, which another validator confirms.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{json, Value};
use toolwire::internal::{compare_schemas, json::read, SchemaComparison};

const WHOLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/test_suite.jsonl");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sample/test_suite.jsonl");

fn compared(old: &Value, new: &Value, objects_only: bool) -> SchemaComparison {
    let (old, new) = (old.to_string(), new.to_string());
    compare_schemas(&read(&old).expect("JSON"), &read(&new).expect("JSON"), objects_only, usize::MAX)
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

fn unconfirmed(old: &Value, new: &Value, found: &SchemaComparison) -> Vec<String> {
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
        ("narrower", property(json!({"maxLength": 2_000})), property(json!({"maxLength": 1_500}))),
        ("narrower", property(json!({"maxLength": 100_000})), property(json!({"maxLength": 70_000}))),
        (
            "narrower",
            property(json!({"type": "array", "maxItems": 5_000})),
            property(json!({"type": "array", "maxItems": 2_000})),
        ),
        (
            "narrower",
            json!({"required": ["p", "q"], "properties": {"p": {}, "q": {"type": "string", "minLength": 1_200}}}),
            json!({
                "required": ["p", "q"],
                "properties": {"p": {"type": "null"}, "q": {"type": "string", "minLength": 1_200}}
            }),
        ),
        (
            "both",
            json!({"type": "object", "dependentRequired": {"a": ["b"]}}),
            json!({"type": "object", "dependentRequired": {"a": ["c"]}}),
        ),
        (
            "narrower",
            json!({
                "required": ["a"],
                "properties": {"p": {}},
                "dependentRequired": {"a": ["b"], "b": ["c"]},
                "dependentSchemas": {"c": {"required": ["d"]}}
            }),
            json!({
                "required": ["a"],
                "properties": {"p": {"type": "null"}},
                "dependentRequired": {"a": ["b"], "b": ["c"]},
                "dependentSchemas": {"c": {"required": ["d"]}}
            }),
        ),
        // Undecided: no validator has to check a format, and both patterns match the same strings.
        ("undecided", property(json!({"format": "email"})), property(json!({"format": "uri"}))),
        ("undecided", property(json!({"pattern": "^a{1,}$"})), property(json!({"pattern": "^a+$"}))),
    ];
    let mut wrong = Vec::new();
    for (expected, old, new) in rows {
        let found = compared(&old, &new, true);
        if relation(&found) != expected {
            wrong.push(format!("expected {expected}, found {found:?}: {old} {new}"));
        }
        wrong.extend(unconfirmed(&old, &new, &found));
        let back = compared(&new, &old, true);
        let (only_old, only_new) = (back.only_old.is_some(), back.only_new.is_some());
        if (only_old, only_new) != (found.only_new.is_some(), found.only_old.is_some()) {
            wrong.push(format!("the opposite direction differs: {back:?}: {new} {old}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A definition that a reference uses is never treated as unused, however the reference is spelled, and nothing that a
/// reference points to is changed.
#[test]
fn equal_schemas_have_equal_targets() {
    let (text, number) = (json!({"type": "string"}), json!({"type": "number"}));
    let with = |reference: &str, parts: Value| {
        let mut schema = property(json!({"$ref": reference}));
        for (key, value) in parts.as_object().expect("an object") {
            schema[key] = value.clone();
        }
        schema
    };
    let definitions = |reference: &str, table: &dyn Fn(&Value) -> Value| {
        let [old, new] = [&text, &number].map(|leaf| with(reference, json!({"$defs": table(leaf)})));
        (old, new)
    };
    let named = |name: &'static str| move |leaf: &Value| json!({name: leaf});
    let identified = |id: Value| {
        move |leaf: &Value| {
            let mut schema = leaf.clone();
            for (key, value) in id.as_object().expect("an object") {
                schema[key] = value.clone();
            }
            json!({"x": schema})
        }
    };
    let recursive = |reference: &str, leaf: &Value| {
        json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "type": "object",
            "properties": {"p": {"$recursiveRef": reference}},
            "$defs": {"x": leaf}
        })
    };
    let draft_4 = |leaf: &str| {
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "object",
            "properties": {"p": {"$ref": "#x"}},
            "definitions": {"x": {"id": "#x", "type": leaf}}
        })
    };
    let dynamic = |leaf: &Value| {
        json!({
            "type": "object",
            "properties": {"p": {"$dynamicRef": "#/$defs/x"}},
            "$defs": {"x": leaf}
        })
    };
    let unlike = [
        definitions("#/$defs/a~1b", &named("a/b")),
        definitions("#/$defs/a%20b", &named("a b")),
        definitions("#/%24defs/x", &named("x")),
        definitions("#/$defs/x/properties/y", &|leaf| json!({"x": {"properties": {"y": leaf}}})),
        definitions("#/$defs/x/$defs/y", &|leaf| json!({"x": {"$defs": {"y": {"$ref": "#/$defs/z"}}}, "z": leaf})),
        definitions("#x", &identified(json!({"$anchor": "x"}))),
        definitions("https://example.com/x", &identified(json!({"$id": "https://example.com/x"}))),
        definitions("#x", &identified(json!({"$dynamicAnchor": "x"}))),
        (
            with("r#/$defs/x", json!({"$id": "https://example.com/r", "$defs": {"x": text}})),
            with("r#/$defs/x", json!({"$id": "https://example.com/r", "$defs": {"x": number}})),
        ),
        (dynamic(&text), dynamic(&number)),
        (recursive("#/$defs/x", &text), recursive("#/$defs/x", &number)),
        (draft_4("string"), draft_4("number")),
        (
            with("#/$defs/u/anyOf/0", json!({"$defs": {"u": {"anyOf": [text, number]}}})),
            with("#/$defs/u/anyOf/0", json!({"$defs": {"u": {"anyOf": [number, text]}}})),
        ),
        (
            with("#/$defs/u/enum/0", json!({"$defs": {"u": {"enum": [text, number]}}})),
            with("#/$defs/u/enum/0", json!({"$defs": {"u": {"enum": [number, text]}}})),
        ),
        (with("#/default", json!({"default": text})), with("#/default", json!({"default": number}))),
        (with("#/examples/0", json!({"examples": [text]})), with("#/examples/0", json!({"examples": [number]}))),
        (with("#/$comment", json!({"$comment": text})), with("#/$comment", json!({"$comment": number}))),
        (with("#/x-more/0", json!({"x-more": [text]})), with("#/x-more/0", json!({"x-more": [number]}))),
        (
            with("#/$defs/u/const", json!({"$defs": {"u": {"const": text}}})),
            with("#/$defs/u/const", json!({"$defs": {"u": {"enum": [text]}}})),
        ),
        (
            with("#/additionalProperties", json!({"additionalProperties": true})),
            with("#/additionalProperties", json!({})),
        ),
        (
            property(json!({"$id": "https://example.com/q", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": text}})),
            property(json!({"$id": "https://example.com/q", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": number}})),
        ),
        (
            with("#x", json!({"$defs": {"b": {"$anchor": "x", "type": "string"}, "c": {"$anchor": "y"}}})),
            with("#x", json!({"$defs": {"b": {"$anchor": "y", "type": "string"}, "c": {"$anchor": "x"}}})),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "enum": [1]}),
        ),
    ];
    for (old, new) in unlike {
        let found = compared(&old, &new, true);
        assert_ne!(relation(&found), "equal", "{old} {new}");
        assert!(unconfirmed(&old, &new, &found).is_empty(), "{found:?}: {old} {new}");
        assert_eq!(relation(&compared(&old, &old, true)), "equal", "{old}");
    }
    let about = |schema: &Value| {
        let mut schema = schema.clone();
        schema["description"] = json!("About it.");
        schema
    };
    let alike = [
        definitions("#/$defs/a~1b", &|_| json!({"a/b": about(&text)})).0,
        with(
            "#/properties/q/not",
            json!({"properties": {"p": {"$ref": "#/properties/q/not"}, "q": {"not": about(&text)}}}),
        ),
        with("#/$defs/u/anyOf/0", json!({"$defs": {"u": {"anyOf": [about(&text), number]}, "unused": {}}})),
    ];
    for schema in alike {
        let text = schema.to_string().replace(r#","description":"About it.""#, "");
        let found = compared(&schema, &read_value(&text), true);
        assert!(found.is_equal && !found.has_same_annotations, "{found:?}: {schema}");
    }
    let number = |exponent: &str| format!(r#"{{"properties":{{"p":{{"maximum":1e{exponent}}}}}}}"#);
    for (old, new) in [
        ("99999999999999999999", "99999999999999999998"),
        ("-99999999999999999999", "-99999999999999999998"),
        ("9223372036854775807", "9223372036854775806"),
    ] {
        let (old, new) = (number(old), number(new));
        let found = compare_schemas(&read(&old).expect("JSON"), &read(&new).expect("JSON"), true, usize::MAX);
        assert!(!found.is_equal, "{old} {new}");
    }
}

/// Copies of long texts are paid for, so that nested arrays of them cannot fill the memory.
#[test]
fn witnesses_are_bounded() {
    let nested =
        |leaf: Value| (0..2).fold(leaf, |items, _| json!({"type": "array", "minItems": 1_000, "items": items}));
    let named = |format: &str| nested(json!({"enum": ["x".repeat(10_000)], "format": format}));
    let required = |schema: Value| json!({"type": "object", "required": ["p"], "properties": {"p": schema}});
    let found = compared(&required(named("date")), &required(named("time")), true);
    assert_eq!(relation(&found), "undecided");
    assert!(found.steps < 1_000_000, "{}", found.steps);
    // The shortest base is used.
    let long = json!({"enum": ["x".repeat(100_000), "y"]});
    let with =
        |kind: &str| json!({"type": "object", "properties": {"p": long, "q": {"type": kind}}, "required": ["p"]});
    let found = compared(&with("string"), &with("integer"), true);
    assert_eq!(relation(&found), "both");
    // A caller's limit holds for the search and for both validators.
    let old = required(json!({"type": "string", "pattern": "^a{1,}$"})).to_string();
    let new = required(json!({"type": "string", "pattern": "^a+$"})).to_string();
    let found = compare_schemas(&read(&old).expect("JSON"), &read(&new).expect("JSON"), true, 50);
    assert!(found.steps <= 150, "{}", found.steps);
}

fn read_value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Compares neighboring schemas of the official suite. Every witness has to be confirmed. Keywords whose meaning depends
/// on a vocabulary, on remote documents or on other keywords are left out, and so are annotations.
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
        let found = compared(old, new, false);
        *counts.entry(relation(&found)).or_default() += 1;
        for (value, is_confirmed) in verdicts(old, new, &found) {
            confirmed += usize::from(is_confirmed);
            wrong.extend((!is_confirmed).then(|| format!("{value}: {old} {new}")));
        }
        assert_eq!(relation(&compared(old, old, false)), "equal", "{old}");
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
        let found = compared(&old, &new, false);
        assert!(unconfirmed(&old, &new, &found).is_empty());
    }
}
