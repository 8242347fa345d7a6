//! Difficult shapes: their time is printed, and the size of their output is checked.

use std::time::Instant;

use serde_json::{json, Map, Value};
use toolwire::{Code, Dialect, SanitizeOptions};

use super::{assert_no_faults, effect, print_uncaptured, sanitize_and_check};

/// Maximum size of the output in bytes: the dialect accepts 120,000.
const MAX_BYTES: usize = 120_000;

fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    Value::Object(members.into_iter().collect())
}

fn with_definitions(value: Value, definitions: Value) -> Value {
    json!({"type": "object", "properties": {"v": value}, "$defs": definitions})
}

fn reference(name: impl std::fmt::Display) -> Value {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn nest(levels: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({"type": "string"}), |inner, _| wrap(inner))
}

fn branches(count: usize) -> Value {
    (0..count)
        .map(
            |index| json!({"properties": {format!("b{index}"): {"type": "string"}}, "required": [format!("b{index}")]}),
        )
        .collect()
}

fn shapes() -> Vec<(&'static str, Value)> {
    let chain = |fan: usize, length: usize| {
        let step = |index: usize| {
            let properties =
                object((0..fan).map(|branch| (format!("p{branch}"), reference(format!("d{}", index + 1)))));
            (format!("d{index}"), json!({"type": "object", "properties": properties}))
        };
        let last = (format!("d{length}"), json!({"type": "string", "description": "the end"}));
        with_definitions(reference("d0"), object((0..length).map(step).chain([last])))
    };
    let heavy =
        object((0..200).map(|index| (format!("p{index}"), json!({"type": "string", "description": "a property"}))));
    let union = |name: &str, count: usize| -> Value {
        (0..count).map(|index| json!({"properties": {name: {"const": index}}})).collect()
    };
    let many: Vec<String> = (0..5_000).map(|index| format!("value {index}")).collect();
    vec![
        ("fan-out-2 chain of 40 definitions", chain(2, 40)),
        ("fan-out-2 chain of 12 definitions", chain(2, 12)),
        ("fan-out-5 chain of 25 definitions", chain(5, 25)),
        (
            "mutual recursion",
            with_definitions(
                reference("a"),
                json!({"a": {"type": "object", "properties": {"b": reference("b")}}, "b": {"type": "array", "items": reference("a")}}),
            ),
        ),
        (
            "mutual recursion that cannot end",
            with_definitions(
                reference("a"),
                json!({
                    "a": {"type": "object", "properties": {"b": reference("b")}, "required": ["b"]},
                    "b": {"type": "object", "properties": {"a": reference("a")}, "required": ["a"]},
                }),
            ),
        ),
        ("20 definitions that all refer to all", {
            let all = object((0..20).map(|index| (format!("p{index}"), reference(format!("d{index}")))));
            with_definitions(reference("d0"), object((0..20).map(|index| (format!("d{index}"), json!({"type": "object", "properties": all})))))
        }),
        ("a ref to itself", with_definitions(reference("a"), json!({"a": {"$ref": "#/$defs/a"}}))),
        ("a ref into a ref into itself", with_definitions(json!({"$ref": "#/$defs/a/properties/b"}), json!({"a": {"$ref": "#/$defs/a/properties/b"}}))),
        ("a ref to the ref node itself", json!({"type": "object", "properties": {"v": {"$ref": "#/properties/v"}}})),
        ("a ref through a ref", json!({"type": "object", "properties": {"v": {"$ref": "#/properties/w/properties/x"}, "w": {"$ref": "#/$defs/w"}}, "$defs": {"w": {"properties": {"x": {"type": "string"}}}}})),
        ("a ref to an ancestor", json!({"type": "object", "properties": {"v": {"type": "object", "properties": {"w": {"$ref": "#/properties/v"}}}}})),
        ("a root that refers to itself", json!({"$ref": "#"})),
        ("a root that refers to itself and has siblings", json!({"type": "object", "minProperties": 1, "$ref": "#"})),
        ("a root that refers to a ring", json!({"$ref": "#/$defs/a", "minProperties": 1, "$defs": {"a": {"$ref": "#/$defs/b", "maxProperties": 2}, "b": {"$ref": "#/$defs/a", "description": "b"}}})),
        ("a root that refers to a recursive definition", json!({"$ref": "#/$defs/n", "minProperties": 1, "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "r": {"$ref": "#"}}}}})),
        ("a ref to the root", json!({"type": "object", "properties": {"v": {"$ref": "#"}}})),
        ("a required ref to the root", json!({"type": "object", "properties": {"v": {"$ref": "#"}}, "required": ["v"]})),
        ("a ref through a property named $ref", json!({"type": "object", "properties": {"v": {"$ref": "#/properties/$ref/properties/x"}, "$ref": {"type": "object", "properties": {"x": {"type": "string"}}}}})),
        ("5,000 unused definitions", with_definitions(json!({"type": "string"}), object((0..5_000).map(|index| (format!("d{index}"), json!({"type": "string"})))))),
        ("5,000 unused definitions that refer to each other", with_definitions(reference("end"), object((0..5_000).map(|index| (format!("d{index}"), reference(format!("d{}", index + 1)))).chain([("end".into(), json!({"type": "string"}))])))),
        ("5,000 used definitions", with_definitions(json!({"anyOf": (0..500).map(|index| reference(format!("d{}", index * 10))).collect::<Value>()}), object((0..5_000).map(|index| (format!("d{index}"), json!({"type": "string", "maxLength": index})))))),
        ("2,500 properties, each with its definition", {
            let properties = object((0..2_500).map(|index| (format!("p{index}"), reference(format!("d{index}")))));
            json!({"type": "object", "properties": properties, "$defs": object((0..2_500).map(|index| (format!("d{index}"), json!({"type": "string"}))))})
        }),
        ("chain of 5,000 aliases", with_definitions(reference("d0"), object((0..5_000).map(|index| (format!("d{index}"), reference(format!("d{}", index + 1)))).chain([("d5000".into(), json!({"type": "string"}))])))),
        ("ring of 5,000 aliases", with_definitions(reference("d0"), object((0..5_000).map(|index| (format!("d{index}"), reference(format!("d{}", (index + 1) % 5_000))))))),
        ("chain of 400 definitions, one inside the other", chain(1, 400)),
        ("500 JSON levels of properties", nest(249, |inner| json!({"type": "object", "properties": {"p": inner}}))),
        ("500 JSON levels of items", nest(490, |inner| json!({"items": inner}))),
        ("500 JSON levels of anyOf", json!({"type": "object", "properties": {"v": nest(249, |inner| json!({"anyOf": [inner]}))}})),
        ("240 levels of type beside anyOf", nest(120, |inner| json!({"type": ["string", "object"], "anyOf": [inner, {"minLength": 1}]}))),
        ("anyOf of 500 next to many properties", json!({"type": "object", "properties": {"v": {"type": "object", "properties": heavy, "anyOf": branches(500)}}})),
        ("anyOf of 501", json!({"type": "object", "properties": {"v": {"anyOf": branches(501)}}})),
        ("root anyOf of 500 next to many properties", json!({"type": "object", "properties": heavy, "anyOf": branches(500)})),
        ("cross product of six unions of six", {
            let all: Vec<Value> = (0..6).map(|index| json!({"anyOf": union(&format!("u{index}"), 6)})).collect();
            json!({"type": "object", "properties": {"v": {"type": "object", "allOf": all}}})
        }),
        ("cross product through references", {
            let step = |index: usize| (format!("d{index}"), json!({"anyOf": union(&format!("u{index}"), 6), "$ref": format!("#/$defs/d{}", index + 1)}));
            with_definitions(json!({"type": "object", "$ref": "#/$defs/d0"}), object((0..12).map(step).chain([("d12".into(), json!({"anyOf": union("end", 6)}))])))
        }),
        ("unions inside the branches of unions", (0..12).fold(json!({"type": "string"}), |inner, level| json!({"type": "object", "properties": {format!("p{level}"): {"type": "string"}}, "anyOf": [inner, {"required": [format!("p{level}")]}]}))),
        ("enum of 5,000", json!({"type": "object", "properties": {"v": {"enum": many}}})),
        ("enum of 5,000 of several types", json!({"type": "object", "properties": {"v": {"enum": (0..5_000).map(|index| if index % 2 == 0 { json!(index) } else { json!(format!("{index}")) }).collect::<Value>()}}})),
        ("enum of 1,000 long strings", json!({"type": "object", "properties": {"v": {"type": "string", "enum": (0..1_000).map(|index| format!("{index}{}", "x".repeat(500))).collect::<Value>()}}})),
        ("3,500 properties", json!({"type": "object", "properties": {"v": {"type": "object", "properties": object((0..3_500).map(|index| (format!("p{index}"), json!({"type": "string"}))))}}})),
        ("a description of 500,000 characters", json!({"type": "object", "properties": {"v": {"type": "string", "description": "x".repeat(500_000)}}})),
        ("40 levels of properties", nest(40, |inner| json!({"type": "object", "properties": {"p": inner}}))),
    ]
}

#[test]
fn output_of_difficult_shapes_is_bounded() {
    let mut faults = Vec::new();
    for (name, schema) in shapes() {
        let before = schema.to_string().len();
        // With `refs: keep`, every definition remains, and their names alone may exceed the size limit.
        let asked_for_too_much =
            ["2,500 properties, each with its definition", "chain of 5,000 aliases", "ring of 5,000 aliases"]
                .contains(&name);
        for (how, options) in [
            ("inline", SanitizeOptions::new(Dialect::MOONSHOT)),
            ("keep", SanitizeOptions::new(Dialect::MOONSHOT).refs(toolwire::options::Refs::Keep)),
        ] {
            let start = Instant::now();
            let result = toolwire::sanitize(&schema, &options);
            let elapsed = start.elapsed();
            match result {
                Ok(result) => {
                    let after = result.schema.to_string().len();
                    print_uncaptured(&format!(
                        "{name} ({how}): {before} bytes → {after}, {} changes, {}, {elapsed:?}",
                        result.changes().expect("a report").len(),
                        effect(&result)
                    ));
                    if after > MAX_BYTES {
                        faults.push(format!("{name} ({how}): {before} bytes became {after}"));
                    }
                }
                Err(error) if how == "keep" && asked_for_too_much && error.code() == Code::LimitExceeded => {
                    print_uncaptured(&format!("{name} ({how}): {before} bytes → {error}, {elapsed:?}"));
                }
                Err(error) => faults.push(format!("{name} ({how}): {error}")),
            }
            let _ = sanitize_and_check(&format!("{name} ({how})"), &schema, &options, &mut faults);
        }
    }
    assert_no_faults(&faults);
}

/// Above the limit for inlining, definitions that are used more than once remain references.
#[test]
fn small_inlining_limit_is_respected() {
    let mut faults = Vec::new();
    let definitions: Map<String, Value> = (0..10)
        .map(|index| (format!("d{index}"), json!({"type": "object", "properties": {"a": reference(format!("d{}", index + 1)), "b": reference(format!("d{}", index + 1))}})))
        .chain([("d10".to_string(), json!({"type": "string"}))])
        .collect();
    let schema = with_definitions(reference("d0"), Value::Object(definitions));
    let size = |nodes: usize| {
        let mut faults = Vec::new();
        let result = sanitize_and_check(
            "budget",
            &schema,
            &SanitizeOptions::new(Dialect::MOONSHOT).max_nodes(nodes),
            &mut faults,
        );
        (result.map_or(0, |result| result.schema.to_string().len()), faults)
    };
    let ((large, more), (small, fewer)) = (size(100_000), size(100));
    faults.extend(more);
    faults.extend(fewer);
    print_uncaptured(&format!("fan-out-2 chain of 10: {large} bytes with 100,000 nodes, {small} with 100"));
    assert_no_faults(&faults);
    assert!(small < 3_000 && large > 30_000, "{small}, {large}");
}
