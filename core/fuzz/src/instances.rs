//! Generates instances of a schema: mostly valid, from every branch, and sometimes invalid.

use std::cell::Cell;

use arbitrary::{Result, Unstructured};
use serde_json::{json, Map, Value};

use crate::grammar::{self, Style};

/// Maximum number of references and branches on the path to a value.
const DEEPEST: usize = 12;

/// Maximum number of schemas that one instance is generated from.
const LONGEST: usize = 300;

/// Generates instances of one schema.
pub(crate) struct Instances<'s> {
    root: &'s Value,
    left: Cell<usize>,
}

impl<'s> Instances<'s> {
    pub(crate) fn of(root: &'s Value) -> Self {
        Instances { root, left: Cell::new(0) }
    }

    /// Generates one instance.
    ///
    /// # Errors
    /// None in practice: if the data ends, every choice is the first one.
    pub(crate) fn one(&self, data: &mut Unstructured<'_>) -> Result<Value> {
        self.left.set(LONGEST);
        self.value(self.root, data, DEEPEST)
    }

    fn value(&self, schema: &Value, data: &mut Unstructured<'_>, fuel: usize) -> Result<Value> {
        let (Some(fuel), Some(left)) = (fuel.checked_sub(1), self.left.get().checked_sub(1)) else {
            return Ok(Value::Null);
        };
        self.left.set(left);
        if data.ratio(1_u8, 14_u8)? {
            return anything(data);
        }
        if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return data.choose(values).cloned();
        }
        if let Some(value) = schema.get("const") {
            return Ok(value.clone());
        }
        let target = schema["$ref"].as_str().and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
        let branches = ["anyOf", "oneOf"]
            .into_iter()
            .filter_map(|keyword| schema[keyword].as_array().filter(|list| !list.is_empty()));
        let mut parts: Vec<&Value> = target.into_iter().collect();
        for list in branches {
            parts.push(data.choose(list)?);
        }
        parts.extend(schema["allOf"].as_array().into_iter().flatten());
        for part in ["then", "else"] {
            parts.extend(schema.get(part).filter(|_| data.arbitrary().unwrap_or(false)));
        }
        let has_more = ["type", "properties", "items", "prefixItems", "additionalProperties"]
            .iter()
            .any(|key| schema.get(key).is_some());
        let mut value = match parts.first() {
            Some(first) if !has_more => self.value(first, data, fuel)?,
            _ => self.own(schema, data, fuel)?,
        };
        // An object that several subschemas describe has the members of all of them.
        for part in parts {
            if let (Value::Object(members), Value::Object(more)) = (&mut value, self.value(part, data, fuel)?) {
                more.into_iter().for_each(|(name, inner)| {
                    members.entry(name).or_insert(inner);
                });
            }
        }
        Ok(value)
    }

    /// Generates a value that the schema's own keywords describe.
    fn own(&self, schema: &Value, data: &mut Unstructured<'_>, fuel: usize) -> Result<Value> {
        let kind = match &schema["type"] {
            Value::String(name) => name.as_str(),
            Value::Array(names) if !names.is_empty() => data.choose(names)?.as_str().unwrap_or("null"),
            _ if ["properties", "required", "additionalProperties", "patternProperties"]
                .iter()
                .any(|key| schema.get(key).is_some()) =>
            {
                "object"
            }
            _ if ["items", "prefixItems", "contains"].iter().any(|key| schema.get(key).is_some()) => "array",
            _ => return anything(data),
        };
        Ok(match kind {
            "object" => self.object(schema, data, fuel)?,
            "array" => self.array(schema, data, fuel)?,
            "string" => json!(data.choose(&["a", "x-1", "abc", "", "null", "a/b", "1", "[]", "xyzxyz"])?),
            "integer" => json!(data.choose(&[0, 1, 2, 3, 7, -1, 100_000, 100_001])?),
            "number" => data.choose(&[json!(0), json!(0.5), json!(1.0), json!(2), json!(-1), json!(3.5)])?.clone(),
            "boolean" => json!(data.arbitrary::<bool>()?),
            _ => Value::Null,
        })
    }

    fn object(&self, schema: &Value, data: &mut Unstructured<'_>, fuel: usize) -> Result<Value> {
        let mut members = Map::new();
        let required =
            |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            if data.ratio(if required(name) { 15_u8 } else { 9_u8 }, 16_u8)? {
                members.insert(name.clone(), self.value(inner, data, fuel)?);
            }
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) && data.ratio(15_u8, 16_u8)? {
                members.insert(name.into(), self.value(&schema["additionalProperties"], data, fuel)?);
            }
        }
        for inner in schema["patternProperties"]
            .as_object()
            .into_iter()
            .flat_map(Map::values)
            .chain(schema.get("additionalProperties"))
        {
            if data.ratio(1_u8, 4_u8)? {
                let name = *data.choose(&["a", "b", "x-1", "abc", "key", "1", "constructor", ""])?;
                members.insert(name.into(), self.value(inner, data, fuel)?);
            }
        }
        Ok(Value::Object(members))
    }

    fn array(&self, schema: &Value, data: &mut Unstructured<'_>, fuel: usize) -> Result<Value> {
        let by_position =
            schema["prefixItems"].as_array().or(schema["items"].as_array()).map_or(&[][..], Vec::as_slice);
        let beyond = if schema["items"].is_array() { &schema["additionalItems"] } else { &schema["items"] };
        let count = data.int_in_range(0..=by_position.len() + 2)?;
        (0..count).map(|at| self.value(by_position.get(at).unwrap_or(beyond), data, fuel)).collect()
    }
}

fn anything(data: &mut Unstructured<'_>) -> Result<Value> {
    Ok(serde_json::from_str(&grammar::value(data, Style::Tidy)?).unwrap_or(Value::Null))
}
