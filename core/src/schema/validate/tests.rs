//! Compares verdicts with the JSON Schema test suite: each must equal the suite's, or be unknown for a reason that is
//! counted here.

extern crate std;

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use std::{fs, path::PathBuf, println};

use serde_json::{json, Value};

use super::{Validator, Verdict, STEPS};
use crate::json::{self, Node};

/// Reasons for which a result may be unknown; the first reason found in a schema applies.
const REASONS: [&str; 5] =
    ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "json-schema.org/draft", "pattern"];

/// Returns the sample in the repository, or all of the reference data if it is next to the checkout.
fn rows(folder: &str) -> Option<Vec<Value>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join("test_suite.jsonl");
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect())
}

/// Returns why the result for a schema of the suite may be unknown; `$schema` at the root is not a reference.
fn reason(row: &Value) -> &'static str {
    let mut schema = row["schema"].clone();
    let leads_out =
        row["source"].as_str().is_some_and(|source| source.contains("/refRemote.") || source.contains("/dynamicRef."));
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
    }
    let text = schema.to_string();
    REASONS.into_iter().find(|reason| text.contains(reason)).unwrap_or(if leads_out { "remote" } else { "none" })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    groups: usize,
    equal: usize,
    verdicts: usize,
    unknown: BTreeMap<&'static str, usize>,
}

fn judged(rows: &[Value]) -> (Tally, Vec<String>) {
    let (mut tally, mut faults) = (Tally::default(), Vec::new());
    for row in rows {
        // A custom metaschema may omit keywords; it is in another document, which is not read.
        if row["source"].as_str().is_some_and(|source| source.ends_with("draft2020-12/vocabulary.json#0")) {
            continue;
        }
        let mut schema = row["schema"].clone();
        if let Some(members) = schema.as_object_mut().filter(|_| row["draft"] == "draft7") {
            // The suite stores the draft separately from the schema.
            members.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
        }
        let text = schema.to_string();
        let schema = json::read(&text).expect("a schema");
        let validator = Validator::new(&schema).expect("a schema");
        let (mut is_equal, why) = (true, reason(row));
        tally.groups += 1;
        for test in row["tests"].as_array().into_iter().flatten() {
            let value = test["data"].to_string();
            let found = validator.verdict(&json::read(&value).expect("a value"));
            tally.verdicts += 1;
            match found.known() {
                Some(valid) if test["valid"] == valid => {}
                None if why != "none" => {
                    is_equal = false;
                    *tally.unknown.entry(why).or_default() += 1;
                }
                _ => faults.push(format!("{}: {}: {text} on {value}: {found:?}", row["source"], test["description"])),
            }
        }
        tally.equal += usize::from(is_equal);
    }
    (tally, faults)
}

#[test]
fn verdicts_match_the_test_suite() {
    for (folder, is_whole) in [("../tests/sample", false), ("../../shared/data", true)] {
        let Some(rows) = rows(folder) else { continue };
        let (tally, faults) = judged(&rows);
        println!("{folder}: {tally:?}");
        assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
        if is_whole {
            assert!(tally.groups >= 639, "{tally:?}");
        }
    }
}

fn verdict(schema: &Value, value: &Value) -> Verdict {
    let (schema, value) = (schema.to_string(), value.to_string());
    let schema = json::read(&schema).expect("a schema");
    Validator::new(&schema).expect("a schema").verdict(&json::read(&value).expect("a value"))
}

#[test]
fn circular_references_give_an_unknown_verdict() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "not": {"$ref": "#"}}),
    ] {
        assert_eq!(verdict(&schema, &json!({})), Verdict::Unknown, "{schema}");
    }
    // A violation next to a cycle is still a violation.
    assert_eq!(verdict(&json!({"$ref": "#", "type": "string"}), &json!(1)), Verdict::Invalid);
    // A recursion that descends into the value is not a cycle.
    let tree = json!({"properties": {"next": {"$ref": "#"}}, "required": ["id"]});
    assert_eq!(verdict(&tree, &json!({"id": 1, "next": {"id": 2, "next": {"id": 3}}})), Verdict::Valid);
    assert_eq!(verdict(&tree, &json!({"id": 1, "next": {"id": 2, "next": {}}})), Verdict::Invalid);
}

#[test]
fn too_many_steps_give_an_unknown_verdict() {
    let items: Vec<Value> = (0..STEPS).map(|number| json!(number)).collect();
    let schema = json!({"items": {"anyOf": [{"type": "string"}, {"type": "number"}]}});
    assert_eq!(verdict(&schema, &Value::Array(items)), Verdict::Unknown);
    // Each level doubles the work.
    let mut defs = json!({"d0": {"type": "string"}});
    for level in 1..60 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        defs[format!("d{level}")] = json!({"oneOf": [below, below]});
    }
    assert_eq!(verdict(&json!({"$ref": "#/$defs/d59", "$defs": defs}), &json!("a")), Verdict::Unknown);
}

#[test]
fn deep_schemas_fit_into_the_smallest_stack() {
    let deep = || {
        for count in [200, 20_000] {
            let mut defs = json!({"d0": {"type": "string"}});
            for level in 1..count {
                defs[format!("d{level}")] = json!({"allOf": [{"$ref": format!("#/$defs/d{}", level - 1)}]});
            }
            let schema = json!({"$ref": format!("#/$defs/d{}", count - 1), "$defs": defs});
            assert_ne!(verdict(&schema, &json!("a")), Verdict::Invalid);
        }
        let [open, close] = [r#"{"a":"#, "}"].map(|part| part.repeat(500));
        let value = format!("{open}1{close}");
        let value = json::read(&value).expect("a value");
        for schema in [
            r##"{"additionalProperties":{"$ref":"#"},"patternProperties":{"^b":{"$ref":"#"}}}"##,
            r##"{"properties":{"a":{"anyOf":[{"not":{"not":{"$ref":"#"}}}]}}}"##,
            r##"{"if":{"properties":{"a":{"$ref":"#"}}},"then":{"dependentSchemas":{"a":{"items":{"$ref":"#"}}}}}"##,
            r##"{"enum":[{}],"const":{}}"##,
        ] {
            let schema = json::read(schema).expect("a schema");
            Validator::new(&schema).expect("a schema").arguments(&value);
        }
        let nested = ["[".repeat(500), "]".repeat(500)].concat();
        let nested = json::read(&nested).expect("a value").into_data();
        let twins = Node::array(Vec::from([Node::new(nested.clone()), Node::new(nested)]));
        let schema = json::read(r#"{"uniqueItems":true,"items":{"uniqueItems":true}}"#).expect("a schema");
        assert_eq!(Validator::new(&schema).expect("a schema").verdict(&twins), Verdict::Invalid);
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(deep).expect("a thread").join().expect("no overflow");
}

#[test]
fn messages_contain_no_values_of_the_arguments() {
    let schema = json!({
        "properties": {
            "a": {"type": "integer"}, "b": {"enum": ["x", "y"]}, "c": {"const": 1}, "d": {"maxLength": 2},
            "e": {"minimum": 10}, "f": {"anyOf": [{"type": "null"}, {"type": "array"}]},
            "g": {"items": {"type": "null"}},
            "h": {"not": {}}, "i": false, "j": {"uniqueItems": true}, "k": {"contains": {"type": "null"}},
        },
        "additionalProperties": false,
    });
    let value = json!({
        "a": "SECRET", "b": "SECRET", "c": "SECRET", "d": "SECRET", "e": 3, "f": "SECRET", "g": ["SECRET"],
        "h": "SECRET", "i": "SECRET", "j": ["SECRET", "SECRET"], "k": ["SECRET"], "z": "SECRET",
    });
    let (schema, value) = (schema.to_string(), value.to_string());
    let schema = json::read(&schema).expect("a schema");
    let found = Validator::new(&schema).expect("a schema").arguments(&json::read(&value).expect("a value"));
    assert_eq!((found.valid, found.errors.len()), (Some(false), 12), "{found:#?}");
    for error in &found.errors {
        assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
        assert!(error.message.starts_with("expected ") && error.message.contains(", found "), "{error:?}");
    }
}

#[test]
fn at_most_a_hundred_violations_are_reported() {
    let value = json!({"a": (0..200).map(|_| json!("x")).collect::<Vec<_>>()}).to_string();
    let schema = json::read(r#"{"properties":{"a":{"items":{"type":"null"}}}}"#).expect("a schema");
    let found = Validator::new(&schema).expect("a schema").arguments(&json::read(&value).expect("a value"));
    assert_eq!((found.valid, found.errors.len()), (Some(false), 100));
    assert_eq!(found.errors[99].pointer, "/a/99".to_string());
}
