//! A schema that accepts of what another one accepts only what has no property that is not named: `closed` held to its
//! definition.
//!
//! Named is what `unevaluatedProperties` counts as evaluated: a property of which a schema speaks that accepts the
//! value. So each place of a value is closed where its schema names properties, and where it says that it is open,
//! closing does nothing.

use serde_json::{json, Map, Value};

/// Where the schema stands that is made of the input's root, which may refer to itself.
const ROOT: &str = "https://example.com/named";

/// How far references are followed to see whether properties are named.
const FUEL: usize = 40;

/// The same schema, closed at every place of a value. `ref_stands_alone`: what stands beside a reference says nothing.
pub(crate) fn named(schema: &Value, ref_stands_alone: bool) -> Value {
    let mut root = Named { root: schema, ref_stands_alone }.within(schema);
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
    ref_stands_alone: bool,
}

impl Named<'_> {
    /// The schema of a place.
    fn place(&self, schema: &Value) -> Value {
        let mut inside = self.within(schema);
        if self.names(schema, FUEL) {
            if let Some(object) = inside.as_object_mut() {
                object.entry("unevaluatedProperties").or_insert(json!(false));
            }
        }
        inside
    }

    /// A schema that speaks of a value together with others.
    fn within(&self, schema: &Value) -> Value {
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
                "allOf" | "anyOf" | "oneOf" | "$defs" | "definitions" | "dependentSchemas" => {
                    each(value, &|schema| self.within(schema))
                }
                "then" | "else" => self.within(value),
                // What is closed beneath `not`, `if` and `contains` would be no more than it was, but less.
                _ => value.clone(),
            };
            let key = if key == "items" && value.is_array() { "prefixItems" } else { key.as_str() };
            (key.to_string(), value)
        };
        let is_alone = self.ref_stands_alone && schema["$ref"].is_string();
        let counts = |key: &str| !is_alone || ["$ref", "$defs", "definitions"].contains(&key);
        Value::Object(object.iter().filter(|(key, _)| counts(key)).map(of).collect::<Map<_, _>>())
    }

    /// Does a schema name properties, itself or by what holds of the same value?
    fn names(&self, schema: &Value, fuel: usize) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return true };
        if let Some(reference) = schema["$ref"].as_str() {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let names = target.is_none_or(|target| self.names(target, fuel));
            if names || self.ref_stands_alone {
                return names;
            }
        }
        if schema["properties"].as_object().is_some_and(|table| !table.is_empty()) {
            return true;
        }
        let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|keyword| schema[*keyword].as_array()).flatten();
        let ones = ["then", "else"].iter().filter_map(|keyword| schema.get(*keyword));
        lists.chain(ones).any(|inner| self.names(inner, fuel))
    }
}
