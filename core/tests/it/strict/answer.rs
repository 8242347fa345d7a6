//! Simulates a model's answer: an instance of the original schema in the form that the sanitized schema requires.
//!
//! The simulation only uses the sanitized schema and the conventions in its descriptions. An absent property is null,
//! an object with arbitrary names is a list of key-value pairs, and a string may contain JSON.

use serde_json::{json, Map, Value};

/// Returns the answer; `None` if the schema cannot represent the instance.
pub(crate) fn answer(instance: &Value, schema: &Value) -> Option<Value> {
    Answer { root: schema }.of(Some(instance), schema, 0)
}

struct Answer<'s> {
    root: &'s Value,
}

impl Answer<'_> {
    fn of(&self, instance: Option<&Value>, schema: &Value, depth: usize) -> Option<Value> {
        if depth > 100 {
            return None;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            return self.of(instance, self.root.pointer(reference.strip_prefix('#')?)?, depth + 1);
        }
        if let Some(branches) = schema["anyOf"].as_array() {
            return branches.iter().find_map(|branch| self.of(instance, branch, depth + 1));
        }
        let has_type = |name: &str| match &schema["type"] {
            Value::Array(names) => names.iter().any(|known| known == name),
            Value::Null => true,
            single => single == name,
        };
        let Some(instance) = instance else {
            let listed = schema["enum"].as_array().is_none_or(|values| values.contains(&Value::Null));
            return (has_type("null") && schema["type"] != Value::Null && listed).then_some(Value::Null);
        };
        let text = instance.to_string();
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let same = values.iter().find(|value| is_equal(value, instance)).cloned();
            let is_json = |value: &&Value| {
                value
                    .as_str()
                    .and_then(|text| serde_json::from_str::<Value>(text).ok())
                    .is_some_and(|read| read == *instance)
            };
            return same.or_else(|| values.iter().find(is_json).cloned());
        }
        if let Some(value) = schema.get("const") {
            return is_equal(value, instance).then(|| value.clone());
        }
        if schema["description"].as_str().is_some_and(|text| text.contains("written as JSON text")) {
            return Some(json!(text));
        }
        let scalar = match instance {
            Value::Null => has_type("null"),
            Value::Bool(_) => has_type("boolean"),
            Value::String(_) => has_type("string"),
            Value::Number(number) => {
                has_type("number")
                    || (has_type("integer") && number.as_f64().is_some_and(|number| number.fract() == 0.0))
            }
            Value::Array(items) => {
                if has_type("array") {
                    if let Some(items) = items
                        .iter()
                        .map(|item| self.of(Some(item), &schema["items"], depth + 1))
                        .collect::<Option<Vec<Value>>>()
                    {
                        return Some(json!(items));
                    }
                }
                return self.boxed(instance, schema, depth);
            }
            Value::Object(members) => {
                if has_type("object") {
                    if let Some(object) = self.object(members, schema, depth) {
                        return Some(object);
                    }
                }
                if has_type("array") {
                    if let Some(list) = self.pairs(members, &schema["items"], depth) {
                        return Some(list);
                    }
                }
                return self.boxed(instance, schema, depth);
            }
        };
        scalar.then(|| instance.clone()).or_else(|| self.boxed(instance, schema, depth))
    }

    /// Returns the answer for a schema whose only property `pairs` wraps the object.
    fn boxed(&self, instance: &Value, schema: &Value, depth: usize) -> Option<Value> {
        let table = schema["properties"].as_object().filter(|table| table.len() == 1)?;
        // The wrapper contains pairs; an array has its own branch.
        let (name, inner) =
            table.iter().next().filter(|(name, _)| name.starts_with("pairs") && !instance.is_array())?;
        Some(json!({ name.as_str(): self.of(Some(instance), inner, depth + 1)? }))
    }

    fn pairs(&self, members: &Map<String, Value>, pair: &Value, depth: usize) -> Option<Value> {
        let table = pair["properties"].as_object().filter(|table| table.len() == 2 && table.contains_key("key"))?;
        let each = |(key, value): (&String, &Value)| {
            Some(json!({"key": key, "value": self.of(Some(value), table.get("value")?, depth + 1)?}))
        };
        members.iter().map(each).collect()
    }

    fn object(&self, members: &Map<String, Value>, schema: &Value, depth: usize) -> Option<Value> {
        let none = Map::new();
        let table = schema["properties"].as_object().unwrap_or(&none);
        let required =
            |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
        // The property for all other members is the last one, and its description identifies it.
        let others =
            table.iter().find(|(_, inner)| inner["description"] == "Other properties, as pairs of key and value");
        let mut object = Map::new();
        for (name, inner) in table.iter().filter(|(name, _)| others.is_none_or(|(others, _)| others != *name)) {
            if !members.contains_key(name) && !required(name) {
                continue;
            }
            match self.of(members.get(name), inner, depth + 1) {
                Some(value) => object.insert(name.clone(), value),
                None => return None,
            };
        }
        let rest: Map<String, Value> = members
            .iter()
            .filter(|(name, _)| !object.contains_key(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match others {
            Some((name, inner)) => {
                if !rest.is_empty() || required(name) {
                    object.insert(name.clone(), self.pairs(&rest, &inner["items"], depth)?);
                }
            }
            None if rest.is_empty() => {}
            None => return None,
        }
        Some(Value::Object(object))
    }
}

/// Returns true if two values are equal as JSON: `1` equals `1.0`.
fn is_equal(one: &Value, two: &Value) -> bool {
    one == two || one.as_f64().is_some_and(|number| two.as_f64() == Some(number))
}
