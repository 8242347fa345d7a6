//! Schemas that grow: each repeats one element in one kind of container.

use serde_json::{json, Map, Value};

/// Makes a small schema from its number.
pub(crate) type Element = fn(usize) -> Value;

/// A schema that contains many small ones.
pub(crate) type Container = fn(&[Value]) -> Value;

/// The small schemas: one for each keyword, and for combinations with special rules.
pub(crate) const ELEMENTS: &[(&str, Element)] = &[
    ("type", |_| json!({"type": ["string", "null"]})),
    ("properties", |i| json!({"properties": {format!("p{i}"): {"type": "string"}}})),
    ("required", |i| json!({"required": [format!("p{i}")]})),
    ("required twice", |i| json!({"required": [format!("p{i}"), format!("p{}", i + 1)]})),
    ("enum", |i| json!({"enum": [format!("v{i}"), format!("w{i}")]})),
    ("enum of objects", |i| json!({"enum": [{"a": i}, {"b": i}]})),
    ("const", |i| json!({"const": i})),
    ("pattern", |i| json!({"type": "string", "pattern": format!("^a{{0,9}}{i}$")})),
    ("format", |_| json!({"type": "string", "format": "date-time"})),
    ("minLength", |i| json!({"type": "string", "minLength": i % 9, "maxLength": i})),
    ("minimum", |i| json!({"type": "integer", "minimum": i, "exclusiveMaximum": i + 9, "multipleOf": 1})),
    ("items", |i| json!({"type": "array", "items": {"type": "string", "maxLength": i}, "maxItems": i})),
    ("prefixItems", |i| json!({"type": "array", "prefixItems": [{"const": i}, {"type": "string"}]})),
    ("items as list", |i| json!({"items": [{"const": i}], "additionalItems": {"type": "string"}})),
    ("contains", |i| json!({"contains": {"const": i}, "minContains": 1})),
    // No API accepts thousands of required items, and refusing them takes more steps.
    ("uniqueItems", |i| json!({"type": "array", "uniqueItems": true, "minItems": i % 1_000})),
    ("unevaluatedItems", |i| json!({"prefixItems": [{"const": i}], "unevaluatedItems": false})),
    ("not", |i| json!({"not": {"required": [format!("p{i}")]}})),
    ("not const", |i| json!({"not": {"const": i}})),
    ("if", |i| json!({"if": {"properties": {format!("p{i}"): {"const": 1}}}, "then": {"required": [format!("q{i}")]}})),
    ("dependentRequired", |i| json!({"dependentRequired": {format!("p{i}"): [format!("q{i}")]}})),
    ("dependentSchemas", |i| json!({"dependentSchemas": {format!("p{i}"): {"required": [format!("q{i}")]}}})),
    ("dependencies", |i| json!({"dependencies": {format!("p{i}"): [format!("q{i}")]}})),
    ("patternProperties", |i| json!({"patternProperties": {format!("^x{i}"): {"type": "string"}}})),
    ("additionalProperties", |i| json!({"additionalProperties": {"type": "string", "minLength": i}})),
    ("closed", |i| json!({"properties": {format!("p{i}"): {"type": "string"}}, "additionalProperties": false})),
    ("propertyNames", |i| json!({"propertyNames": {"pattern": format!("^[a-z]+{i}")}})),
    ("minProperties", |i| json!({"minProperties": i % 5, "maxProperties": i})),
    (
        "unevaluatedProperties",
        |i| json!({"properties": {format!("p{i}"): {"type": "string"}}, "unevaluatedProperties": false}),
    ),
    ("anyOf", |i| json!({"anyOf": [{"type": "string", "maxLength": i}, {"const": i}]})),
    ("oneOf", |i| json!({"oneOf": [{"type": "string", "maxLength": i}, {"const": i}]})),
    ("allOf", |i| json!({"allOf": [{"type": "string"}, {"maxLength": i}]})),
    ("anyOf of required", |i| json!({"anyOf": [{"required": [format!("p{i}")]}, {"required": [format!("q{i}")]}]})),
    ("tagged object", |i| {
        json!({"type": "object", "properties": {"kind": {"const": format!("k{i}")}, format!("p{i}"): {"type": "string"}},
            "required": ["kind"]})
    }),
    ("overlapping object", |i| json!({"type": "object", "properties": {"p0": {"type": "string", "minLength": i}}})),
    ("open object", |i| json!({"type": "object", "properties": {format!("p{i}"): {"type": "integer"}}})),
    ("anything", |_| json!({})),
    ("nullable", |i| json!({"type": "string", "maxLength": i, "nullable": true})),
    ("null", |_| json!({"type": "null"})),
    ("false", |_| json!(false)),
    ("texts", |i| json!({"title": format!("T{i}"), "description": format!("D{i}"), "default": i, "examples": [i]})),
    ("notes", |i| json!({"$comment": format!("C{i}"), "deprecated": true, "readOnly": true, "x-unknown": i})),
    ("content", |i| json!({"type": "string", "contentMediaType": "application/json", "contentSchema": {"const": i}})),
    ("$ref", |i| json!({"$ref": format!("#/$defs/d{i}")})),
    ("$ref to one", |_| json!({"$ref": "#/$defs/d0"})),
    ("$ref beside", |i| json!({"$ref": format!("#/$defs/d{i}"), "description": "D", "minLength": 1})),
    ("$ref to the root", |_| json!({"$ref": "#"})),
    (
        "$id",
        |i| json!({"$id": format!("s{i}"), "type": "object", "properties": {"next": {"$ref": format!("s{}", i + 1)}}}),
    ),
    ("$id that refers", |i| json!({"$id": format!("s{i}"), "$ref": format!("s{}", i + 1)})),
    ("$anchor that refers", |i| json!({"$anchor": format!("a{i}"), "$ref": format!("#a{}", i + 1)})),
    ("$id as URI", |i| json!({"$id": format!("https://example.com/schemas/s{i}"), "type": "string"})),
    (
        "$anchor",
        |i| json!({"$anchor": format!("a{i}"), "type": "object", "properties": {"next": {"$ref": format!("#a{}", i + 1)}}}),
    ),
    (
        "$dynamicRef",
        |i| json!({"$dynamicAnchor": format!("a{i}"), "properties": {"next": {"$dynamicRef": format!("#a{}", i + 1)}}}),
    ),
    (
        "$dynamicRef beside $ref",
        |i| json!({"$ref": format!("#/$defs/d{i}"), "$dynamicRef": format!("#/$defs/d{}", i + 1)}),
    ),
    ("discriminator", |i| {
        json!({"oneOf": [{"$ref": format!("#/$defs/d{i}")}, {"$ref": "#/$defs/d0"}],
            "discriminator": {"propertyName": "kind", "mapping": {"one": format!("#/$defs/d{i}")}}})
    }),
    (
        "odd names",
        |i| json!({"properties": {format!("a/b${i}"): {"type": "string"}, format!("$ref{i}"): {"const": i}}}),
    ),
    ("names that collide", |i| {
        let names = [format!("a{i}$"), format!("a{i}$$"), format!("a{i}_"), format!("{}$", "a".repeat(i % 60))];
        json!({"properties": names.iter().map(|name| (name.clone(), json!({"const": i}))).collect::<Map<_, _>>()})
    }),
    ("long text", |i| json!({"type": "string", "description": format!("{i} ").repeat(50)})),
    ("malformed", |i| json!({"type": "strin", "required": "p", "enum": format!("v{i}"), "properties": []})),
];

pub(crate) const CONTAINERS: &[(&str, Container)] = &[
    ("properties", |all| json!({"type": "object", "properties": with_names(all, "p")})),
    ("required properties", |all| {
        let required: Vec<String> = (0..all.len()).map(|at| format!("p{at}")).collect();
        json!({"type": "object", "properties": with_names(all, "p"), "required": required})
    }),
    ("one schema", |all| {
        let mut one = all.iter().fold(json!({}), merge);
        if let Some(one) = one.as_object_mut() {
            one.insert("type".into(), json!("object"));
        }
        one
    }),
    ("one property", |all| json!({"type": "object", "properties": {"v": all.iter().fold(json!({}), merge)}})),
    ("allOf", |all| json!({"type": "object", "properties": {"v": {"allOf": all}}})),
    ("allOf at the root", |all| json!({"type": "object", "allOf": all})),
    ("allOf over properties", |all| json!({"type": "object", "properties": strings(all.len()), "allOf": all})),
    ("anyOf", |all| json!({"type": "object", "properties": {"v": {"anyOf": all}}})),
    ("anyOf at the root", |all| json!({"type": "object", "anyOf": all})),
    ("anyOf over properties", |all| json!({"type": "object", "properties": strings(all.len()), "anyOf": all})),
    (
        "anyOf over properties inside",
        |all| json!({"type": "object", "properties": {"v": {"type": "object", "properties": strings(all.len()), "anyOf": all}}}),
    ),
    ("oneOf", |all| json!({"type": "object", "properties": {"v": {"oneOf": all}}})),
    ("oneOf at the root", |all| json!({"type": "object", "properties": strings(3), "oneOf": all})),
    (
        "prefixItems",
        |all| json!({"type": "object", "properties": {"v": {"type": "array", "prefixItems": all, "items": false}}}),
    ),
    ("items as list", |all| {
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"v": {"type": "array", "items": all}}})
    }),
    ("definitions", |all| {
        let uses: Map<String, Value> =
            (0..all.len()).map(|at| (format!("p{at}"), json!({"$ref": format!("#/$defs/d{at}")}))).collect();
        json!({"type": "object", "properties": uses, "$defs": with_names(all, "d")})
    }),
    ("misnamed definitions beside many members", |all| {
        let uses: Map<String, Value> =
            (0..all.len()).map(|at| (format!("p{at}"), json!({"$ref": format!("#/definitions/d{at}")}))).collect();
        let mut root: Map<String, Value> = (0..all.len()).map(|at| (format!("x-{at}"), json!(at))).collect();
        let members = [("type", json!("object")), ("properties", json!(uses)), ("$defs", json!(with_names(all, "d")))];
        root.extend(members.map(|(key, value)| (key.into(), value)));
        Value::Object(root)
    }),
    ("unused definitions", |all| json!({"type": "object", "properties": {}, "$defs": with_names(all, "d")})),
    ("shared definitions", |all| {
        let uses: Map<String, Value> = (0..all.len() * 2)
            .map(|at| (format!("p{at}"), json!({"$ref": format!("#/definitions/e{}", at % all.len().max(1))})))
            .collect();
        json!({"type": "object", "properties": uses, "definitions": with_names(all, "e")})
    }),
    ("chained definitions", |all| {
        let chain: Map<String, Value> = all
            .iter()
            .enumerate()
            .map(|(at, one)| {
                (format!("c{at}"), json!({"type": "object", "properties": {"own": one, "next": {"$ref": format!("#/$defs/c{}", at + 1)}}}))
            })
            .collect();
        json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/c0"}}, "$defs": chain})
    }),
    ("ring of definitions", |all| {
        let count = all.len().max(1);
        let ring: Map<String, Value> = all
            .iter()
            .enumerate()
            .map(|(at, one)| {
                (format!("c{at}"), json!({"type": "object", "properties": {"own": one, "next": {"$ref": format!("#/$defs/c{}", (at + 1) % count)}}}))
            })
            .collect();
        json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/c0"}}, "$defs": ring})
    }),
    ("not", |all| json!({"type": "object", "properties": {"v": {"not": {"anyOf": all}}}})),
    ("dependentSchemas", |all| json!({"type": "object", "dependentSchemas": with_names(all, "p")})),
    ("patternProperties", |all| json!({"type": "object", "patternProperties": with_names(all, "^p")})),
    ("nested", |all| {
        let group = |group: &[Value]| {
            group.iter().fold(
                json!({"type": "string"}),
                |inner, one| json!({"type": "object", "properties": {"own": one, "below": inner}}),
            )
        };
        let groups: Vec<Value> = all.chunks(40).map(group).collect();
        json!({"type": "object", "properties": with_names(&groups, "g")})
    }),
    ("nested unions", |all| {
        let group = |group: &[Value]| {
            group.iter().fold(
                json!({"type": "string"}),
                |inner, one| json!({"anyOf": [one, {"type": "array", "items": inner}]}),
            )
        };
        let groups: Vec<Value> = all.chunks(20).map(group).collect();
        json!({"type": "object", "properties": with_names(&groups, "g")})
    }),
    ("nested allOf", |all| {
        let group =
            |group: &[Value]| group.iter().fold(json!({"minLength": 1}), |inner, one| json!({"allOf": [one, inner]}));
        let groups: Vec<Value> = all.chunks(20).map(group).collect();
        json!({"type": "object", "properties": with_names(&groups, "g")})
    }),
    ("allOf of unions", |all| {
        let pairs: Vec<Value> = all.chunks(2).map(|pair| json!({"anyOf": pair})).collect();
        json!({"type": "object", "properties": {"v": {"allOf": pairs}}})
    }),
    (
        "unevaluated over allOf",
        |all| json!({"type": "object", "properties": {"v": {"allOf": all, "unevaluatedProperties": false, "unevaluatedItems": false}}}),
    ),
];

/// Returns a schema of many small schemas, with the definitions that the small schemas refer to.
pub(crate) fn schema(element: (&str, Element), container: (&str, Container), count: usize) -> Value {
    let all: Vec<Value> = (0..count).map(element.1).collect();
    let mut root = container.1(&all);
    if element.0.starts_with("$ref") || element.0 == "discriminator" {
        let own = (0..count).map(|at| {
            let kind = json!({"type": "string", "maxLength": at});
            (format!("d{at}"), kind)
        });
        if let Some(root) = root.as_object_mut() {
            let table = root.entry("$defs").or_insert_with(|| json!({}));
            if let Some(table) = table.as_object_mut() {
                for (name, schema) in own {
                    table.entry(name).or_insert(schema);
                }
            }
        }
    }
    root
}

fn with_names(all: &[Value], prefix: &str) -> Map<String, Value> {
    all.iter().enumerate().map(|(at, one)| (format!("{prefix}{at}"), one.clone())).collect()
}

fn strings(count: usize) -> Map<String, Value> {
    (0..count).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect()
}

/// Merges two schemas: tables and lists are concatenated; for other keywords the value of the later schema applies.
fn merge(mut one: Value, other: &Value) -> Value {
    if let (Some(into), Some(other)) = (one.as_object_mut(), other.as_object()) {
        for (key, value) in other {
            match (into.get_mut(key), value) {
                (Some(Value::Object(table)), Value::Object(more)) => table.extend(more.clone()),
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.clone()),
                _ => drop(into.insert(key.clone(), value.clone())),
            }
        }
    }
    one
}
