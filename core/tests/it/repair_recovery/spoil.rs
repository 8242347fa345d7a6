//! The kinds of damage that models do to calls.

use serde_json::{json, Map, Value};
use toolwire::validate_arguments;

use super::calls::Call;

type OfValue = fn(&Value) -> Option<Value>;

/// A damaged call as text; `None` if this kind of damage does not apply.
type OfCall = fn(&Call) -> Option<String>;

pub(crate) const WAYS: [(&str, OfCall); 30] = [
    ("containers as strings", |call| inside(call, |value| value.is_container().then(|| json!(value.to_string())))),
    ("containers as Python strings", |call| inside(call, |value| value.is_container().then(|| json!(python(value))))),
    ("numbers as strings", |call| everywhere(call, |value| value.is_number().then(|| json!(value.to_string())))),
    ("booleans as strings", |call| everywhere(call, |value| value.is_boolean().then(|| json!(value.to_string())))),
    ("booleans as Python strings", |call| everywhere(call, |value| value.is_boolean().then(|| json!(python(value))))),
    ("the item of an array of one", |call| {
        everywhere(call, |value| value.as_array().filter(|items| items.len() == 1).map(|items| items[0].clone()))
    }),
    ("an array around an item", array_around),
    ("item", |call| inside(call, |value| value.is_array().then(|| json!({"item": value})))),
    ("arguments around", |call| around(call, "arguments", json!({"arguments": call.arguments}).to_string())),
    ("a whole call as text", |call| {
        around(call, "input", json!({"name": "tool", "input": call.arguments.to_string()}).to_string())
    }),
    ("all arguments as one string", |call| Some(json!(call.arguments.to_string()).to_string())),
    ("other names", |call| if_different(call, names(&call.arguments).to_string())),
    ("other enums", enums),
    ("null for absent", |call| absent(call, &Value::Null)),
    ("blank for absent", |call| absent(call, &json!(""))),
    ("Python text", |call| if_different(call, python(&call.arguments))),
    ("fence", |call| Some(format!("```json\n{}\n```", call.arguments))),
    ("extra comma", |call| {
        let text = call.arguments.to_string();
        (text != "{}").then(|| format!("{},}}", &text[..text.len() - 1]))
    }),
    ("extra bracket", |call| Some(format!("{}}}", call.arguments))),
    ("repeated", |call| Some(format!("{0}{0}", call.arguments))),
    ("words around", |call| Some(format!("Sure, I call it: {} That is all.", call.arguments))),
    ("doubled braces", |call| Some(format!("{{{}}}", call.arguments))),
    ("quote tokens", |call| {
        write_members(call, |name, value| {
            Some(format!("{name}:{}", value.as_str().map(|text| format!("<|\"|>{text}<|\"|>"))?))
        })
    }),
    ("no first quote", |call| write_members(call, |name, value| Some(format!("{name}\":{value}")))),
    ("no last quote", |call| write_members(call, |name, value| Some(format!("\"{name}:{value}")))),
    ("no colon", |call| write_members(call, |name, value| Some(format!("\"{name}\" {value}")))),
    ("plus signs", |call| {
        write_members(call, |name, value| Some(format!("\"{name}\":+{value}")).filter(|_| value.is_number()))
    }),
    ("bare words", |call| {
        write_members(call, |name, value| Some(format!("\"{name}\":{}", value.as_str().filter(|text| is_word(text))?)))
    }),
    ("cut by one", |call| truncate(call, 1)),
    ("cut by a third", |call| truncate(call, call.arguments.to_string().len() / 3)),
];

trait IsContainer {
    fn is_container(&self) -> bool;
}

impl IsContainer for Value {
    fn is_container(&self) -> bool {
        self.is_array() || self.is_object()
    }
}

/// Damages every argument as a whole.
fn inside(call: &Call, way: OfValue) -> Option<String> {
    let members = call.arguments.as_object()?;
    let spoiled: Map<String, Value> =
        members.iter().map(|(name, value)| (name.clone(), way(value).unwrap_or(value.clone()))).collect();
    (spoiled != *members).then(|| Value::Object(spoiled).to_string())
}

fn everywhere(call: &Call, way: OfValue) -> Option<String> {
    fn spoil(value: &Value, way: OfValue) -> Value {
        let inner = match value {
            Value::Array(items) => items.iter().map(|item| spoil(item, way)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), spoil(value, way))).collect())
            }
            other => other.clone(),
        };
        way(&inner).unwrap_or(inner)
    }
    let found = spoil(&call.arguments, way);
    (found != call.arguments).then(|| found.to_string())
}

fn is_word(text: &str) -> bool {
    text.starts_with(char::is_alphanumeric) && serde_json::from_str::<Value>(text).is_err()
}

fn write_members(call: &Call, way: impl Fn(&str, &Value) -> Option<String>) -> Option<String> {
    let members = call.arguments.as_object()?.iter();
    let plain = |name: &str, value: &Value| format!("{}:{value}", json!(name));
    let written: Vec<String> =
        members.map(|(name, value)| way(name, value).unwrap_or_else(|| plain(name, value))).collect();
    if_different(call, format!("{{{}}}", written.join(",")))
}

fn if_different(call: &Call, text: String) -> Option<String> {
    let own = call.arguments.to_string();
    (text != own).then_some(text)
}

fn array_around(call: &Call) -> Option<String> {
    let mut arguments = call.arguments.clone();
    for (name, value) in arguments.as_object_mut()? {
        let schema = call.schema["properties"][name].to_string();
        if schema.contains("\"type\":\"") && !schema.contains("array") && !schema.contains("$ref") {
            *value = json!([value]);
        }
    }
    (arguments != call.arguments).then(|| arguments.to_string())
}

/// A wrapper that the tool declares would be indistinguishable from an argument.
fn around(call: &Call, wrapper: &str, text: String) -> Option<String> {
    call.schema["properties"].get(wrapper).is_none().then_some(text)
}

fn names(arguments: &Value) -> Value {
    let other = |name: &str| match name.contains('_') {
        true => name.replace('_', "-"),
        false => name
            .chars()
            .flat_map(|letter| if letter.is_uppercase() { vec!['_', letter] } else { vec![letter] })
            .collect::<String>()
            .to_uppercase(),
    };
    let members = arguments.as_object().into_iter().flatten();
    Value::Object(members.map(|(name, value)| (other(name), value.clone())).collect())
}

fn enums(call: &Call) -> Option<String> {
    let mut arguments = call.arguments.clone();
    for (name, value) in arguments.as_object_mut()? {
        if let Some(text) = value.as_str().filter(|_| call.schema["properties"][name].get("enum").is_some()) {
            let upper = text.to_uppercase();
            *value = json!(if upper == text { text.to_lowercase() } else { upper });
        }
    }
    (arguments != call.arguments).then(|| arguments.to_string())
}

fn absent(call: &Call, nothing: &Value) -> Option<String> {
    let mut arguments = call.arguments.clone();
    let required = |name: &str| call.schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
    for (name, _) in call.schema["properties"].as_object()? {
        if !required(name) && arguments.get(name).is_none() {
            arguments[name.as_str()] = nothing.clone();
        }
    }
    (arguments != call.arguments).then(|| arguments.to_string())
}

fn truncate(call: &Call, bytes: usize) -> Option<String> {
    let mut text = call.arguments.to_string();
    let mut end = text.len() - bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    (bytes > 0).then_some(text)
}

fn python(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let escaped = text.replace('\\', "\\\\").replace('\n', "\\n").replace(quote, &format!("\\{quote}"));
            format!("{quote}{escaped}{quote}")
        }
        Value::Array(items) => format!("[{}]", joined(items.iter().map(python).collect())),
        Value::Object(members) => {
            let member = |(name, inner): (&String, &Value)| format!("{}: {}", python(&json!(name)), python(inner));
            format!("{{{}}}", joined(members.iter().map(member).collect()))
        }
    }
}

pub(crate) fn is_taken(text: &str, schema: &Value) -> bool {
    let value = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    value.is_some_and(|value| validate_arguments(&value, schema).is_ok_and(|found| found.valid == Some(true)))
}
