//! Arguments that grow, with schemas that grow or are constant.

use serde_json::{json, Map, Value};

use super::Table;

/// Argument generators, each named after the defect that it produces. They take the number of members or items.
pub(crate) const ANSWERS: Table<fn(usize) -> Value> = &[
    ("numbers in quotes", |count| members(count, |at| json!(format!("{at}")))),
    ("numbers", |count| members(count, |at| json!(at))),
    ("null", |count| members(count, |_| Value::Null)),
    ("texts", |count| members(count, |at| json!({"kind": "k1", "text": format!("[{at}]")}))),
    ("other names", |count| {
        let own: Map<String, Value> = (0..count).map(|at| (format!("P-{at}"), json!("x"))).collect();
        let mut all = own.clone();
        all.insert("v".into(), json!(own));
        json!(all)
    }),
    ("a list", |count| json!({"v": (0..count).map(|at| format!("{at}")).collect::<Vec<_>>()})),
    (
        "a list of objects",
        |count| json!({"v": (0..count).map(|at| json!({"kind": "k0", format!("p{at}"): "1"})).collect::<Vec<_>>()}),
    ),
    (
        "a list in a string",
        |count| json!({"v": json!((0..count).map(|at| json!({"p0": at})).collect::<Vec<_>>()).to_string()}),
    ),
    ("one more object", |count| json!({"arguments": members(count, |at| json!(at))})),
];

/// Schemas that cover all members, regardless of their number.
pub(crate) const SCHEMAS: Table<fn() -> Value> = &[
    ("additionalProperties", || {
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "properties": {"v": {"type": "array",
            "items": {"type": "object", "additionalProperties": {"type": "integer"}}}}})
    }),
    (
        "patternProperties",
        || json!({"type": "object", "patternProperties": {"^p": {"type": "integer"}, "1$": {"minimum": 1}, "^(a|p)+[0-9]*$": {}}}),
    ),
    ("propertyNames", || json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+[0-9]*$", "maxLength": 9}})),
    ("items", || {
        json!({"type": "object", "properties": {"v": {"type": "array", "items": {"type": "integer"}, "uniqueItems": true,
            "contains": {"const": 1}}}})
    }),
    ("union of items", || {
        json!({"type": "object", "properties": {"v": {"type": "array", "items": {"anyOf": [{"type": "integer"},
            {"type": "object", "properties": {"p0": {"type": "integer"}}}, {"type": "null"}]}}}})
    }),
    ("closed", || json!({"type": "object", "properties": {"p0": {"type": "integer"}}, "additionalProperties": false})),
    ("unions", || {
        json!({"type": "object", "anyOf": [{"required": ["p0"]}, {"required": ["q0"]}], "not": {"required": ["q1"]},
            "if": {"required": ["p1"]}, "then": {"required": ["p2"]}, "additionalProperties": {"type": "integer"},
            "oneOf": [{"properties": {"p0": {"type": "integer"}}}, {"required": ["q2"]}]})
    }),
    ("circle", || {
        json!({"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, {"$ref": "#"},
            {"type": "array", "items": {"$ref": "#"}}]}})
    }),
    ("enum", || {
        json!({"type": "object", "additionalProperties": {"enum": (0..1000).map(|at| format!("v{at}")).collect::<Vec<_>>()},
            "properties": {"v": {"items": {"enum": [1, 2, 3]}}}})
    }),
];

pub(crate) fn members(count: usize, value: fn(usize) -> Value) -> Value {
    let own: Map<String, Value> = (0..count).map(|at| (format!("p{at}"), value(at))).collect();
    let mut all = own.clone();
    all.insert("v".into(), json!(own));
    json!(all)
}

/// Generators of arguments as text that is almost JSON.
pub(crate) const TEXTS: Table<fn(usize) -> String> = &[
    ("single quotes", |count| {
        format!("{{{}}}", (0..count).map(|at| format!("'p{at}': 'it''s'")).collect::<Vec<_>>().join(","))
    }),
    ("no commas", |count| {
        format!("{{{}}}", (0..count).map(|at| format!("\"p{at}\": 1")).collect::<Vec<_>>().join(" "))
    }),
    ("comments", |count| {
        format!("{{{}}}", (0..count).map(|at| format!("p{at}: 1, // one\n")).collect::<Vec<_>>().join("/* two */"))
    }),
    ("words around", |count| {
        format!("{} ```json\n{{\"p0\": 1}}\n``` {}", "some words ".repeat(count), "{ more [ words".repeat(count))
    }),
    ("open brackets", |count| "{\"p0\": [".repeat(count)),
    ("open texts", |count| format!("{{\"p0\": \"{}", "a \"b\" c".repeat(count))),
    ("escapes", |count| format!("{{\\\"p0\\\": \\\"{}\\\"}}", "\\\\n \\\\\\\" ".repeat(count))),
    ("numbers", |count| format!("{{\"p0\": [{}]}}", "1_000, .5, 0x1f, 1e999, ".repeat(count))),
    ("one number", |count| format!("{{\"p0\": \"{}\"}}", "1".repeat(count * 10))),
    ("several values", |count| "{\"p0\": 1}\n".repeat(count)),
    ("the same name", |count| format!("{{{}}}", "'p0': 1,".repeat(count))),
];
