//! Calls with their tools: recorded calls, and generated calls to published tools.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{json, Map, Value};
use toolwire::validate_arguments;

use crate::reference::sources;

/// A call whose arguments satisfy the schema of its tool.
pub(crate) struct Call {
    pub(crate) schema: Value,
    pub(crate) arguments: Value,
}

impl Call {
    fn valid(schema: &Value, arguments: &Value) -> Option<Call> {
        let is_valid = arguments.is_object() && validate_arguments(arguments, schema).ok()?.valid == Some(true);
        is_valid.then(|| Call { schema: schema.clone(), arguments: arguments.clone() })
    }
}

/// Returns the recorded calls without duplicates. If `is_whole` is true, reads the data next to the checkout.
pub(crate) fn recorded(is_whole: bool) -> Vec<Call> {
    let mut texts: Vec<String> = ["deferred_requests.jsonl", "deferred_cases.json"]
        .into_iter()
        .flat_map(|name| sources(name).filter(|source| source.is_whole == is_whole))
        .map(|source| source.text)
        .collect();
    if is_whole {
        let files = ["deferred_native_cases.json", "more/deferred_native_cases.json", "more/deferred_cases.json"];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
        texts.extend(files.into_iter().filter_map(|name| fs::read_to_string(folder.join(name)).ok()));
    }
    let (mut seen, mut calls) = (BTreeSet::new(), Vec::new());
    for row in texts.iter().flat_map(|text| rows(text)) {
        let (mut tools, mut found) = (Vec::new(), Vec::new());
        gather(&row, &mut tools, &mut found);
        for (name, arguments) in found {
            for (_, schema) in tools.iter().filter(|(known, _)| *known == name) {
                if seen.insert(format!("{schema} {arguments}")) {
                    calls.extend(Call::valid(schema, &arguments));
                }
            }
        }
    }
    calls
}

/// Returns the calls from users' reports and tests, in their correct form.
pub(crate) fn reported() -> Vec<Call> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let files = ["argument_cases.json", "more/argument_cases.json"];
    let texts: Vec<String> = files.iter().filter_map(|name| fs::read_to_string(folder.join(name)).ok()).collect();
    let (mut seen, mut calls) = (BTreeSet::new(), Vec::new());
    for row in texts.iter().flat_map(|text| rows(text)) {
        for arguments in ["arguments", "expected"].iter().filter_map(|key| row.get(key)) {
            if seen.insert(format!("{} {arguments}", row["schema"])) {
                calls.extend(Call::valid(&row["schema"], arguments));
            }
        }
    }
    calls
}

pub(crate) fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text)
        .or_else(|_| text.lines().map(serde_json::from_str).collect())
        .expect("reference data is JSON")
}

fn gather(value: &Value, tools: &mut Vec<(String, Value)>, calls: &mut Vec<(String, Value)>) {
    if let (Some(name), Some(about)) = (value["name"].as_str(), value.as_object()) {
        let schemas = ["input_schema", "parameters", "inputSchema", "parametersJsonSchema"];
        let schemas = schemas.iter().filter_map(|key| about.get(*key)).filter(|schema| schema.is_object());
        tools.extend(schemas.map(|schema| (name.to_owned(), schema.clone())));
        for key in ["input", "arguments", "args"] {
            let arguments = match about.get(key) {
                Some(Value::String(text)) => serde_json::from_str(text).ok(),
                other => other.cloned(),
            };
            calls.extend(arguments.filter(Value::is_object).map(|arguments| (name.to_owned(), arguments)));
        }
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, tools, calls)),
        Value::Object(members) => members.values().for_each(|inner| gather(inner, tools, calls)),
        _ => {}
    }
}

/// Returns two calls to each published tool: one with all arguments, one with some.
pub(crate) fn generated(is_whole: bool) -> Vec<Call> {
    let source = sources("mcp_tools.jsonl").find(|source| source.is_whole == is_whole);
    let tools: Vec<Value> = source.map_or_else(Vec::new, |source| rows(&source.text));
    let mut numbers = Numbers(14_450_000);
    let mut calls = Vec::new();
    for tool in &tools {
        let schema = &tool["inputSchema"];
        for every in [true, false] {
            let arguments = instance(schema, schema, "", every, &mut numbers, 8);
            calls.extend(Call::valid(schema, &arguments));
        }
    }
    calls
}

pub(crate) fn sample() -> Vec<Value> {
    let source = sources("mcp_tools.jsonl").find(|source| !source.is_whole);
    source.map_or_else(Vec::new, |source| rows(&source.text)).iter().map(|tool| tool["inputSchema"].clone()).collect()
}

/// Returns calls that satisfy a schema as it was sent to a model: one with all optional arguments, two with some.
pub(crate) fn of_sent(schema: &Value) -> Vec<Call> {
    let mut numbers = Numbers(14_450_000);
    let arguments = [true, false, false].map(|every| instance(schema, schema, "", every, &mut numbers, 8));
    arguments.iter().filter_map(|arguments| Call::valid(schema, arguments)).collect()
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).expect("small")
    }

    fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }
}

/// Typical strings. Two of them are JSON and Python, and must remain strings.
const STRINGS: [&str; 9] = [
    "src/main.rs",
    "open the door, please",
    "It's \"quoted\"",
    "2026-11-21",
    "C:\\Dev\\x",
    "line\nbreak",
    "https://example.com/a?b=c",
    "SELECT * FROM orders WHERE id = 7",
    "Grüße",
];

fn instance(root: &Value, schema: &Value, name: &str, every: bool, numbers: &mut Numbers, fuel: usize) -> Value {
    let Some(fuel) = fuel.checked_sub(1) else { return Value::Null };
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return numbers.of(values).clone();
    }
    if let Some(value) = schema.get("const").or(schema.get("default").filter(|value| !value.is_null())) {
        return value.clone();
    }
    let target = schema["$ref"].as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    let branch = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array()).filter(|list| !list.is_empty());
    if let Some(inner) = target.or(branch.map(|list| &list[0])).filter(|_| schema.get("properties").is_none()) {
        return instance(root, inner, name, every, numbers, fuel);
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or("string"),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    };
    match kind {
        "object" => {
            let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            let mut members = Map::new();
            for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                if every || required(name) || numbers.below(3) == 0 {
                    members.insert(name.clone(), instance(root, inner, name, every, numbers, fuel));
                }
            }
            Value::Object(members)
        }
        "array" => {
            let min = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let count = min.max(1 + numbers.below(2));
            (0..count).map(|_| instance(root, &schema["items"], name, every, numbers, fuel)).collect()
        }
        "integer" | "number" => {
            let min = schema["minimum"].as_i64().unwrap_or(0);
            let is_fraction = kind == "number" && schema.get("minimum").is_none() && numbers.below(2) == 0;
            if is_fraction {
                json!(0.5)
            } else {
                json!(min + numbers.below(7) as i64)
            }
        }
        "boolean" => json!(numbers.below(2) == 0),
        "null" => Value::Null,
        _ if schema.get("format").is_some() || schema.get("pattern").is_some() => json!("2026-11-21"),
        _ if numbers.below(3) == 0 => json!(format!("the {name} of it")),
        _ => json!(numbers.of(&STRINGS)),
    }
}
