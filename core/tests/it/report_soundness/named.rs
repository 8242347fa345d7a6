//! Builds a schema that accepts the instances of another schema, except those with undefined properties: the definition
//! of `closed`.
//!
//! A property is defined if `unevaluatedProperties` would count it as evaluated: a schema describes the property and
//! accepts the value. A property in `required` is also defined, regardless of its value. Every object is therefore
//! closed if its schema defines properties; if the schema states that the object is open, closing has no effect.

use serde_json::{json, Map, Value};

/// Identifier of the schema that is built from the root. References may point to it.
const ROOT: &str = "https://example.com/named";

/// Maximum number of references that are followed to determine whether properties are defined.
const FUEL: usize = 40;

/// Returns a schema that accepts only named properties. `ignores_ref_siblings` is true for dialects that ignore the
/// siblings of a reference.
pub(crate) fn named(schema: &Value, ignores_ref_siblings: bool) -> Value {
    let text = schema.to_string();
    let has_unevaluated = text.contains("unevaluatedProperties");
    let branches = ["\"anyOf\"", "\"oneOf\"", "\"then\"", "\"else\"", "\"dependentSchemas\""];
    let has_branches = branches.iter().any(|keyword| text.contains(keyword));
    let mut root = Named { root: schema, ignores_ref_siblings, has_unevaluated, has_branches }.within(schema, true);
    let mut outer = json!({"unevaluatedProperties": false});
    if let Some(object) = root.as_object_mut() {
        object.remove("$schema");
        let id = object.entry("$id").or_insert_with(|| json!(ROOT)).clone();
        outer["$ref"] = id;
        outer["$defs"] = json!({ "root": root });
    }
    outer
}

struct Named<'s> {
    root: &'s Value,
    ignores_ref_siblings: bool,
    has_unevaluated: bool,
    /// True if keywords with conditional subschemas occur anywhere.
    has_branches: bool,
}

impl Named<'_> {
    /// Returns the schema for one location in the instance.
    fn place(&self, schema: &Value) -> Value {
        let mut inside = self.within(schema, true);
        if self.names(schema, FUEL, true) {
            if let Some(object) = inside.as_object_mut() {
                object.entry("unevaluatedProperties").or_insert(json!(false));
            }
        }
        inside
    }

    /// Returns a schema for a value that other schemas also describe. `is_certain` is true if the schema applies to
    /// every value.
    fn within(&self, schema: &Value, is_certain: bool) -> Value {
        let Some(object) = schema.as_object() else { return schema.clone() };
        let of = |(key, value): (&String, &Value)| {
            let each = |value: &Value, of: &dyn Fn(&Value) -> Value| -> Value {
                match value {
                    Value::Array(items) => items.iter().map(of).collect(),
                    Value::Object(table) => {
                        Value::Object(table.iter().map(|(name, schema)| (name.clone(), of(schema))).collect())
                    }
                    other => other.clone(),
                }
            };
            let value = match key.as_str() {
                "properties" | "patternProperties" | "prefixItems" => each(value, &|schema| self.place(schema)),
                "items" if value.is_array() => each(value, &|schema| self.place(schema)),
                "items" | "additionalItems" | "unevaluatedItems" | "additionalProperties" => self.place(value),
                "allOf" => each(value, &|schema| self.within(schema, is_certain)),
                // A branch of a union may refer to definitions.
                "$defs" | "definitions" => each(value, &|schema| self.within(schema, !self.has_branches)),
                "anyOf" | "oneOf" | "dependentSchemas" => each(value, &|schema| self.within(schema, false)),
                "then" | "else" => self.within(value, false),
                // Closing schemas below `not`, `if` and `contains` would have the opposite effect.
                _ => value.clone(),
            };
            let key = if key == "items" && value.is_array() { "prefixItems" } else { key.as_str() };
            (key.to_string(), value)
        };
        let is_alone = self.ignores_ref_siblings && schema["$ref"].is_string();
        let counts = |key: &str| !is_alone || ["$ref", "$defs", "definitions"].contains(&key);
        let mut inside = object.iter().filter(|(key, _)| counts(key)).map(of).collect::<Map<_, _>>();
        // `additionalProperties` and `unevaluatedProperties` do not apply to names in `properties`.
        let others = !is_certain || inside.contains_key("additionalProperties") || self.has_unevaluated;
        let required = inside.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if !required.is_empty() && !others {
            let table = inside.entry("properties").or_insert_with(|| json!({}));
            for name in required.iter().filter_map(Value::as_str) {
                if let Some(table) = table.as_object_mut() {
                    table.entry(name).or_insert(json!(true));
                }
            }
        }
        Value::Object(inside)
    }

    /// Returns true if a schema, or one that applies to the same value, defines properties.
    fn names(&self, schema: &Value, fuel: usize, is_certain: bool) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return true };
        if let Some(reference) = schema["$ref"].as_str() {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let names = target.is_none_or(|target| self.names(target, fuel, is_certain && !self.has_branches));
            if names || self.ignores_ref_siblings {
                return names;
            }
        }
        if schema["properties"].as_object().is_some_and(|table| !table.is_empty()) {
            return true;
        }
        let has_required = || schema["required"].as_array().is_some_and(|names| !names.is_empty());
        if is_certain && schema.get("additionalProperties").is_none() && !self.has_unevaluated && has_required() {
            return true;
        }
        let mut parts = schema["allOf"].as_array().into_iter().flatten();
        let lists = ["anyOf", "oneOf"].iter().filter_map(|keyword| schema[*keyword].as_array()).flatten();
        let ones = ["then", "else"].iter().filter_map(|keyword| schema.get(*keyword));
        parts.any(|inner| self.names(inner, fuel, is_certain))
            || lists.chain(ones).any(|inner| self.names(inner, fuel, false))
    }
}
