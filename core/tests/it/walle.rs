//! Compares `check` with Moonshot's own validator: its cases with its verdicts at the level "strict", and the
//! rejections that users reported (`reference`).
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use crate::print_uncaptured;
use std::{collections::BTreeMap, time::Instant};

use crate::reference::{sources, Source};
use serde_json::{json, Value};
use toolwire::{check, reports::Violation, Dialect, SanitizeOptions};

fn violations(schema: &Value) -> Vec<Violation> {
    check(schema, &SanitizeOptions::new(Dialect::MOONSHOT)).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// The constraint of the live API's root gate, which the validator does not have.
const ROOT_GATE: &str = "root-object";

/// Cases in which the validator's verdict depends on the order of a hash map, with the reason. `check` then reports
/// what the validator may reject. None of the validator's own cases depends on it; the fixture
/// `moonshot-recursion-undecided` has a shape that does (a recursive property next to an open map, below a root that
/// cannot end).
const UNDECIDED: &[(&str, &str)] = &[];

/// Parts of the validator's messages, and the rule by which `check` must report the same. The first match applies.
const SAME: &[(&str, &str)] = &[
    ("JSON schema parsing error", "root-not-schema"),
    ("type should be defined in anyOf items instead of the parent schema)", "ref-any-of"),
    ("when using anyOf, type should be defined", "type-beside-any-of"),
    ("when using $ref, type should be defined", "type-beside-ref"),
    ("infinite recursion", "endless-recursion"),
    ("is not defined in properties", "required-unknown"),
    ("cannot contain '/' character", "slash"),
    ("is reserved for JSON Schema keywords", "reserved-name"),
    ("$defs schema must be object", "not-a-schema"),
    ("not a valid number", "enum-value"),
    ("does not match any type", "enum-value"),
    ("invalid type", "unknown-type"),
    ("type must be string or array of strings", "unknown-type"),
    ("type array cannot be empty", "unknown-type"),
    ("$ref must be a string", "ref-not-string"),
    ("references must start with", "ref-form"),
    ("$defs not found for reference", "ref-target"),
    ("invalid $ref path", "ref-target"),
    ("additionalProperties must be", "additional-properties-not-schema"),
    ("items must be an object", "items"),
    ("$id must be a string", "not-a-string"),
    ("description must be a string", "not-a-string"),
    ("enum must be an array", "enum-not-list"),
    ("enum array cannot be empty", "enum-empty"),
    ("enum array cannot have more than", "enum-too-long"),
    ("is not allowed in combination with enum", "enum-type-list"),
    ("is not allowed in combination with multiple types", "beside-type-list"),
    ("anyOf must be an array", "combinator-not-list"),
    ("anyOf must have", "any-of-size"),
    ("schema in anyOf must be an object", "not-a-schema"),
    ("conflicting keywords found in anyOf with parent", "any-of-shared"),
    ("conflicting keywords found after $ref expansion", "ref-shared"),
    ("properties must be an object", "properties-not-object"),
    ("property schema for", "not-a-schema"),
    ("required must be an array", "required-not-strings"),
    ("items in required array must be strings", "required-not-strings"),
    ("$defs property name cannot be empty", "definition-name"),
    ("$defs must be an object", "defs-not-object"),
];

fn is_same(rule: &str, found: &str) -> bool {
    match rule {
        "slash" => matches!(found, "definition-name" | "slash-in-definition"),
        "items" => matches!(found, "array-items" | "items-not-schema"),
        rule => rule == found,
    }
}

#[test]
fn findings_agree_with_the_validator() {
    for Source { text, .. } in sources("walle_cases.json") {
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("walle_cases.json: {error}"));
        // For each group: the numbers of cases that both accept, that both refuse for the same reason, and in total.
        let mut table: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        let mut failures = Vec::new();
        let mut undecided = Vec::new();
        for case in &cases {
            let name = case["name"].as_str().unwrap_or_default();
            let verdict = case["levels"]["strict"].as_str().unwrap_or_default();
            let found: Vec<_> = violations(&case["schema"])
                .into_iter()
                .filter(|violation| violation.constraint.id() != ROOT_GATE)
                .collect();
            let row = table.entry(name.split('/').next().unwrap_or_default()).or_default();
            row[2] += 1;
            if let Some((_, reason)) = UNDECIDED.iter().find(|(known, _)| *known == name) {
                undecided.push(format!("{name}: {reason}"));
            } else if verdict == "OK" {
                row[0] += usize::from(found.is_empty());
                if !found.is_empty() {
                    failures.push(format!("{name}: the validator accepts it, but `check` finds {found:?}"));
                }
            } else {
                match SAME.iter().find(|(phrase, _)| verdict.contains(phrase)) {
                    None => failures.push(format!("{name}: no rule is known for {verdict:?}")),
                    Some((_, rule)) if found.iter().any(|violation| is_same(rule, violation.constraint.id())) => {
                        row[1] += 1
                    }
                    Some((_, rule)) => {
                        failures.push(format!("{name}: not refused as {verdict:?} (`{rule}`), found {found:?}"))
                    }
                }
            }
        }
        print_uncaptured("group                       accepted  refused  of");
        for (group, [accepted, refused, of]) in &table {
            print_uncaptured(&format!("{group:<27} {accepted:>8} {refused:>8} {of:>3}"));
        }
        let agreed: usize = table.values().map(|[accepted, refused, _]| accepted + refused).sum();
        print_uncaptured(&format!("{agreed} of {} agree, {} undecided {undecided:?}", cases.len(), undecided.len()));
        assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), cases.len(), failures.join("\n"));
        assert_eq!(agreed + undecided.len(), cases.len());
    }
}

/// The API's answers to schemas that users quoted, and the rule that identifies the problem.
#[test]
fn schemas_with_quoted_errors_have_a_violation() {
    for Source { text, is_whole } in sources("issue_cases.jsonl") {
        let rows = text.lines().map(|line| {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("issue_cases.jsonl: {error}"))
        });
        let mut quoted = 0;
        for row in rows.filter(|row| row["provider"] == "moonshot" && row["schema_origin"] == "quoted") {
            let error = row["error"].as_str().unwrap_or_default();
            let Some((_, rule)) = SAME.iter().find(|(phrase, _)| error.contains(phrase)) else {
                panic!("no rule is known for {error:?}")
            };
            let found = violations(&row["schema"]);
            assert!(found.iter().any(|violation| is_same(rule, violation.constraint.id())), "{error}: here {found:?}");
            quoted += 1;
        }
        print_uncaptured(&format!("{quoted} quoted rejections named"));
        assert_eq!(quoted > 0, is_whole, "quoted rejections belong to the users, so the sample has none");
    }
}

/// Each of these schemas is refused or accepted, and none takes exponential time.
#[test]
fn hostile_schemas_take_bounded_time() {
    let chain = |fan: usize, length: usize| {
        let mut definitions = serde_json::Map::new();
        for index in 0..length {
            let next = json!({"$ref": format!("#/$defs/d{}", index + 1)});
            let properties: serde_json::Map<_, _> =
                (0..fan).map(|branch| (format!("p{branch}"), next.clone())).collect();
            definitions.insert(format!("d{index}"), json!({"type": "object", "properties": properties}));
        }
        definitions.insert(format!("d{length}"), json!({"type": "string"}));
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    };
    let clique = |size: usize| {
        let properties: serde_json::Map<_, _> =
            (0..size).map(|index| (format!("p{index}"), json!({"$ref": format!("#/$defs/d{index}")}))).collect();
        let definitions: serde_json::Map<_, _> = (0..size)
            .map(|index| (format!("d{index}"), json!({"type": "object", "properties": properties, "required": ["p0"]})))
            .collect();
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"], "$defs": definitions})
    };
    let ring = |size: usize| {
        let definitions: serde_json::Map<_, _> = (0..size)
            .map(|index| (format!("d{index}"), json!({"$ref": format!("#/$defs/d{}", (index + 1) % size)})))
            .collect();
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"], "$defs": definitions})
    };
    let wide: serde_json::Map<_, _> =
        (0..2_500).map(|index| (format!("p{index}"), json!({"$ref": "#", "minLength": 1, "x": {}}))).collect();
    let hostile: Vec<(&str, Value, Option<&str>)> = vec![
        // 40 levels of `properties` through references, with 2^40 paths.
        ("fan-out-2 chain of 40", chain(2, 40), Some("too-deep")),
        ("fan-out-2 chain of 28", chain(2, 28), None),
        ("12 definitions that all refer to all", clique(12), Some("endless-recursion")),
        ("40 definitions that all refer to all", clique(40), Some("too-deep")),
        ("ring of 5,000 bare references", ring(5_000), Some("endless-recursion")),
        ("10,000 nodes", json!({"type": "object", "properties": wide}), None),
    ];
    for (name, schema, rule) in hostile {
        let start = Instant::now();
        let found = violations(&schema);
        let rules: std::collections::BTreeSet<_> = found.iter().map(|violation| violation.constraint.id()).collect();
        print_uncaptured(&format!(
            "{name}: {} bytes, {} violations {rules:?}, {:?}",
            schema.to_string().len(),
            found.len(),
            start.elapsed()
        ));
        match rule {
            Some(rule) => assert!(rules.contains(rule), "{name}: no `{rule}`"),
            None => assert!(rules.is_empty(), "{name}: {rules:?}"),
        }
    }
}

/// The result is also the same for text and for a value.
#[test]
fn any_value_of_any_keyword_causes_no_panic() {
    let keywords = [
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "anyOf",
        "enum",
        "$ref",
        "$defs",
        "description",
        "pattern",
        "$id",
        "default",
        "const",
        "not",
        "oneOf",
        "patternProperties",
        "prefixItems",
    ];
    let values = [
        json!(null),
        json!(true),
        json!(5),
        json!("#"),
        json!("object"),
        json!("#/$defs/"),
        json!("#/$defs/a"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([{}]),
        json!([null]),
        json!(["a"]),
        json!({"a": null}),
        json!({"a": {"$ref": "#/$defs/a"}}),
        json!({"$ref": "#"}),
        json!({"$ref": 5}),
        json!([{"$ref": "#"}]),
        json!({"$ref": {"$ref": "#"}}),
    ];
    let options = SanitizeOptions::new(Dialect::MOONSHOT);
    let mut cases = 0;
    for (index, one) in keywords.iter().enumerate() {
        for two in &keywords[index..] {
            for first in &values {
                for second in &values {
                    let inner = json!({*one: first, *two: second});
                    let schema = json!({"type": "object", "properties": {"p": inner}, "required": ["p"], *one: first, *two: second});
                    let found = violations(&schema);
                    let from_text =
                        check(&schema.to_string(), &options).unwrap_or_else(|error| panic!("{schema}: {error}"));
                    assert_eq!(found, from_text, "{schema}");
                    cases += 1;
                }
            }
        }
    }
    print_uncaptured(&format!("{cases} malformed schemas answered"));
    for root in [json!(null), json!(true), json!(5), json!("x"), json!([]), json!({})] {
        assert!(!violations(&root).is_empty(), "{root}");
    }
}
