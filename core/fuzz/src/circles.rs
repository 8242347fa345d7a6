//! Detects schemas that refer to themselves for the same instance. JSON Schema does not define what they accept, and
//! validators differ.

use std::collections::HashSet;

use serde_json::Value;

/// Returns true if a schema leads back to itself without descending into a property or an item.
pub(crate) fn has_circle(root: &Value) -> bool {
    let (mut done, mut way) = (HashSet::new(), Vec::new());
    every(root, &mut |schema| leads_back(root, schema, &mut way, &mut done))
}

/// Returns true if `holds` is true for any value in the document.
fn every(value: &Value, holds: &mut dyn FnMut(&Value) -> bool) -> bool {
    let below: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => return false,
    };
    holds(value) || below.into_iter().any(|inner| every(inner, holds))
}

fn leads_back(root: &Value, schema: &Value, way: &mut Vec<*const Value>, done: &mut HashSet<*const Value>) -> bool {
    let here = std::ptr::from_ref(schema);
    if way.contains(&here) {
        return true;
    }
    if !done.insert(here) {
        return false;
    }
    way.push(here);
    let target = schema["$ref"].as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    let tables = ["dependentSchemas", "dependencies"].into_iter().filter_map(|keyword| schema[keyword].as_object());
    let single = ["not", "if", "then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
    let in_place: Vec<&Value> =
        target.into_iter().chain(lists).chain(tables.flat_map(serde_json::Map::values)).chain(single).collect();
    let leads = in_place.into_iter().any(|next| leads_back(root, next, way, done));
    way.pop();
    leads
}
