//! Simulates a model's answers: an instance of the original schema, written in the ways that the sanitized schema
//! offers.
//!
//! The simulation uses only the sanitized schema, without knowledge of the rules. A required property that is absent
//! becomes null. An object with arbitrary names may be a list of key-value pairs. A string may contain JSON, and a
//! property may be renamed. The caller checks the answers with a validator.

use std::{cell::Cell, collections::BTreeMap};

use serde_json::{json, Map, Value};

use super::judge::same;

const MAX_ANSWERS: usize = 64;
/// Description of the property that holds all other members.
const OTHERS: &str = "Other properties, as pairs of key and value";
/// Maximum number of references and branches on the path to an answer.
const MAX_DEPTH: usize = 40;

/// Maximum number of schemas that are visited for one instance, because recursion through several branches takes too
/// long.
const MAX_VISITS: usize = 20_000;

pub(crate) struct AnswerList {
    pub(crate) answers: Vec<Value>,
    pub(crate) are_all: bool,
}

/// Returns the ways to write the instance, or `None` if finding them takes too long.
///
/// `schema` is part of `root`, in which its references resolve.
pub(crate) fn answers(
    instance: &Value,
    schema: &Value,
    root: &Value,
    names: &BTreeMap<String, String>,
) -> Option<AnswerList> {
    let answers = Answers { root, names, left: Cell::new(MAX_VISITS), are_all: Cell::new(true) };
    let found = answers.of(Some(instance), schema, MAX_DEPTH);
    (answers.left.get() > 0).then(|| AnswerList { answers: found, are_all: answers.are_all.get() })
}

struct Answers<'s> {
    root: &'s Value,
    /// New names by old names.
    names: &'s BTreeMap<String, String>,
    /// Number of schemas that may still be visited.
    left: Cell<usize>,
    /// True if no answer was dropped because there were too many.
    are_all: Cell<bool>,
}

impl Answers<'_> {
    fn of(&self, instance: Option<&Value>, schema: &Value, fuel: usize) -> Vec<Value> {
        self.left.set(self.left.get().saturating_sub(1));
        let Some(fuel) = fuel.checked_sub(1).filter(|_| self.left.get() > 0) else { return Vec::new() };
        let mut answers = Vec::new();
        if let Some(target) =
            schema["$ref"].as_str().and_then(|reference| self.root.pointer(reference.strip_prefix('#')?))
        {
            answers.extend(self.of(instance, target, fuel));
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for branch in schema[keyword].as_array().into_iter().flatten() {
                answers.extend(self.of(instance, branch, fuel));
            }
        }
        let Some(instance) = instance else {
            answers.push(Value::Null);
            return self.distinct(answers);
        };
        let has_type = |name: &str| match &schema["type"] {
            Value::Array(names) => names.iter().any(|known| known == name),
            Value::Null => true,
            single => single == name,
        };
        match instance {
            Value::Object(members) => {
                if has_type("object") {
                    answers.extend(self.object(members, schema, fuel));
                    answers.extend(self.boxed(instance, schema, fuel));
                }
                if has_type("array") {
                    answers.extend(self.pairs(members, &schema["items"], fuel));
                }
            }
            Value::Array(items) if has_type("array") => {
                let position = |index: usize| schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
                let each = items.iter().enumerate().map(|(index, item)| self.or_itself(item, position(index), fuel));
                answers.extend(self.combined(each.collect()).into_iter().map(Value::Array));
            }
            Value::Array(_) => {}
            _ => {
                if kinds(instance).iter().any(|name| has_type(name))
                    || (instance.is_null() && schema["nullable"] == true)
                {
                    answers.push(instance.clone());
                }
                answers.extend(self.boxed(instance, schema, fuel));
            }
        }
        let text = json!(instance.to_string());
        if has_type("string") {
            answers.push(text.clone());
            // An `enum` value may be a different spelling of the same JSON.
            let is_it = |listed: &&Value| {
                listed
                    .as_str()
                    .and_then(|text| serde_json::from_str(text).ok())
                    .is_some_and(|parsed| same(&parsed, instance))
            };
            answers.extend(schema["enum"].as_array().into_iter().flatten().filter(is_it).cloned());
        }
        // Prefers other values to JSON in a string.
        answers.sort_by_key(|answer| *answer == text);
        self.distinct(answers)
    }

    fn or_itself(&self, instance: &Value, schema: &Value, fuel: usize) -> Vec<Value> {
        // The schema has no subschema for this value.
        if schema.is_null() {
            return vec![instance.clone()];
        }
        let mut found = self.of(Some(instance), schema, fuel);
        if found.is_empty() {
            found.push(instance.clone());
        }
        found
    }

    fn object(&self, members: &Map<String, Value>, schema: &Value, fuel: usize) -> Vec<Value> {
        let none = Map::new();
        let table = schema["properties"].as_object().unwrap_or(&none);
        let lists = |schema: &Value, name: &String| {
            schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
        };
        let parts = || schema["allOf"].as_array().into_iter().flatten();
        let is_required = |name: &String| lists(schema, name) || parts().any(|part| lists(part, name));
        let new_name = |name: &String| match self.names.get(name.as_str()) {
            Some(new) if !table.contains_key(name) => new.clone(),
            _ => name.clone(),
        };
        let (mut keys, mut values, mut rest) = (Vec::new(), Vec::new(), Map::new());
        for (name, value) in members {
            // A member may have the name of the property that holds all other members.
            match table.get(&new_name(name)).filter(|inner| inner["description"] != OTHERS) {
                Some(inner) => {
                    keys.push(new_name(name));
                    values.push(self.or_itself(value, inner, fuel));
                }
                None => {
                    let new = new_name(name);
                    rest.insert(if is_required(&new) { new } else { name.clone() }, value.clone());
                }
            }
        }
        let absent: Vec<&String> = table.keys().filter(|name| !keys.contains(name)).collect();
        // The last property may hold all other members.
        let others = absent.last().filter(|name| is_pair(&table[name.as_str()]["items"])).copied();
        for name in absent.iter().filter(|name| is_required(name) && Some(**name) != others) {
            keys.push((*name).clone());
            values.push(self.of(None, &table[name.as_str()], fuel));
        }
        let mut ways = vec![(keys.clone(), values.clone(), rest.clone())];
        if let Some(name) = others.filter(|name| !rest.is_empty() || is_required(name)) {
            let inner = &table[name.as_str()];
            keys.push(name.clone());
            values.push(self.pairs(&rest, &inner["items"], fuel));
            ways = vec![(keys.clone(), values.clone(), Map::new())];
            if inner["description"] != OTHERS && is_required(name) {
                // The object itself may define the property, which is absent from the instance.
                values.pop();
                values.push(self.of(None, inner, fuel));
                ways.push((keys, values, rest));
            }
        }
        let mut found = Vec::new();
        for (keys, values, rest) in ways {
            // Members without a property are written as `additionalProperties` describes.
            let (free, free_values): (Vec<String>, Vec<Vec<Value>>) = rest
                .iter()
                .map(|(name, value)| (name.clone(), self.or_itself(value, &schema["additionalProperties"], fuel)))
                .unzip();
            let keys: Vec<String> = keys.into_iter().chain(free).collect();
            let values: Vec<Vec<Value>> = values.into_iter().chain(free_values).collect();
            found.extend(
                self.combined(values)
                    .into_iter()
                    .map(|values| Value::Object(keys.iter().cloned().zip(values).collect())),
            );
        }
        found
    }

    /// Returns answers in which an object with a single property wraps the instance.
    fn boxed(&self, instance: &Value, schema: &Value, fuel: usize) -> Vec<Value> {
        let Some((name, inner)) =
            schema["properties"].as_object().filter(|table| table.len() == 1).and_then(|table| table.iter().next())
        else {
            return Vec::new();
        };
        self.of(Some(instance), inner, fuel).into_iter().map(|value| json!({ name.as_str(): value })).collect()
    }

    fn pairs(&self, members: &Map<String, Value>, pair: &Value, fuel: usize) -> Vec<Value> {
        if !is_pair(pair) {
            return Vec::new();
        }
        let keys: Vec<&String> = members.keys().collect();
        let values = members.values().map(|value| self.or_itself(value, &pair["properties"]["value"], fuel)).collect();
        let pairs = |values: Vec<Value>| {
            keys.iter().zip(values).map(|(key, value)| json!({"key": key, "value": value})).collect()
        };
        self.combined(values).into_iter().map(pairs).collect()
    }
}

fn kinds(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(_) => &["number", "integer"],
        _ => &["string"],
    }
}

fn is_pair(schema: &Value) -> bool {
    schema["properties"]
        .as_object()
        .is_some_and(|table| table.len() == 2 && table.contains_key("key") && table.contains_key("value"))
}

impl Answers<'_> {
    fn combined(&self, choices: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
        let mut ways: Vec<Vec<Value>> = vec![Vec::new()];
        for choice in choices {
            let longer = |way: &Vec<Value>| {
                choice.iter().map(|value| way.iter().chain([value]).cloned().collect()).collect::<Vec<Vec<Value>>>()
            };
            let mut all = ways.iter().flat_map(longer);
            let kept = all.by_ref().take(MAX_ANSWERS).collect();
            self.are_all.set(self.are_all.get() && all.next().is_none());
            ways = kept;
        }
        ways
    }

    fn distinct(&self, values: Vec<Value>) -> Vec<Value> {
        let mut kept: Vec<Value> = Vec::new();
        for value in values {
            if kept.contains(&value) {
                continue;
            }
            if kept.len() == MAX_ANSWERS {
                self.are_all.set(false);
                break;
            }
            kept.push(value);
        }
        kept
    }
}
