//! Generates values that mostly satisfy a schema. The caller checks them with a validator.

use serde_json::{json, Map, Value};

const OTHER: &str = "otherwise_undefined";

pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

/// Returns the values, and for each value a variant with an undefined property in one of its objects.
pub(crate) fn instances(schema: &Value, count: usize, dice: &mut Dice) -> Vec<Value> {
    let mut found = Vec::new();
    for _ in 0..count {
        let value = Maker { root: schema, dice }.of(schema, 12);
        let objects = count_objects(&value);
        let mut more = value.clone();
        add(&mut more, &mut dice.roll(objects));
        found.extend([value, more]);
    }
    found
}

fn count_objects(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(count_objects).sum::<usize>(),
        Value::Array(items) => items.iter().map(count_objects).sum(),
        _ => 0,
    }
}

fn add(value: &mut Value, number: &mut usize) -> bool {
    match value {
        Value::Object(members) => {
            if *number == 0 {
                members.insert(OTHER.into(), json!(1));
                return true;
            }
            *number -= 1;
            members.values_mut().any(|inner| add(inner, number))
        }
        Value::Array(items) => items.iter_mut().any(|inner| add(inner, number)),
        _ => false,
    }
}

struct Maker<'s, 'd> {
    root: &'s Value,
    dice: &'d mut Dice,
}

impl Maker<'_, '_> {
    fn of(&mut self, schema: &Value, fuel: usize) -> Value {
        let Some(fuel) = fuel.checked_sub(1) else { return Value::Null };
        if let Some(target) =
            schema["$ref"].as_str().and_then(|reference| self.root.pointer(reference.strip_prefix('#')?))
        {
            return self.of(target, fuel);
        }
        if let Some(value) = schema.get("const").or_else(|| self.pick(schema["enum"].as_array()?)) {
            return value.clone();
        }
        let mut made = self.typed(schema, fuel);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let value = self.of(part, fuel);
            made = both(made, value);
        }
        for keyword in ["then", "else"] {
            if schema.get(keyword).is_some() && self.dice.one_in(2) {
                let value = self.of(&schema[keyword], fuel);
                made = both(made, value);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = schema[keyword].as_array() else { continue };
            // Sometimes combines two branches.
            for _ in 0..=usize::from(self.dice.one_in(2)) {
                if let Some(branch) = self.pick(branches) {
                    let value = self.of(branch, fuel);
                    made = both(made, value);
                }
            }
        }
        made.unwrap_or(Value::Null)
    }

    fn pick<'v>(&mut self, of: &'v [Value]) -> Option<&'v Value> {
        of.get(self.dice.roll(of.len()))
    }

    /// Returns `None` if the schema has neither types nor members.
    fn typed(&mut self, schema: &Value, fuel: usize) -> Option<Value> {
        let kind = match &schema["type"] {
            Value::Array(names) => self.pick(names)?.clone(),
            Value::Null if schema.get("properties").is_some() => json!("object"),
            other => other.clone(),
        };
        Some(match kind.as_str()? {
            "string" => self.text(schema),
            "number" | "integer" => ["minimum", "maximum"]
                .iter()
                .find_map(|keyword| schema.get(*keyword).filter(|bound| bound.is_number()).cloned())
                .unwrap_or_else(|| json!(self.dice.roll(9) + 1)),
            "boolean" => json!(self.dice.one_in(2)),
            "array" => {
                let minimum = schema["minItems"].as_u64().unwrap_or(0).min(4) as usize;
                let count = minimum + self.dice.roll(2);
                (0..count).map(|_| self.of(&schema["items"], fuel)).collect()
            }
            "object" => {
                let mut members = Map::new();
                let is_required = |name: &str| {
                    schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
                };
                for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
                    if is_required(name) || self.dice.one_in(3) {
                        let value = self.of(inner, fuel);
                        members.insert(name.clone(), value);
                    }
                }
                if schema["additionalProperties"].is_object() && self.dice.one_in(2) {
                    let value = self.of(&schema["additionalProperties"], fuel);
                    members.insert("k".into(), value);
                }
                Value::Object(members)
            }
            _ => Value::Null,
        })
    }

    fn text(&mut self, schema: &Value) -> Value {
        let minimum = schema["minLength"].as_u64().unwrap_or(0).min(100) as usize;
        json!("abcdefgh".repeat(minimum / 8 + 1))
    }
}

fn both(one: Option<Value>, two: Value) -> Option<Value> {
    match (one, two) {
        (Some(Value::Object(mut one)), Value::Object(two)) => {
            for (name, value) in two {
                let met = both(one.remove(&name), value);
                one.extend(met.map(|value| (name, value)));
            }
            Some(Value::Object(one))
        }
        (Some(one), Value::Null) => Some(one),
        (_, two) => Some(two),
    }
}
