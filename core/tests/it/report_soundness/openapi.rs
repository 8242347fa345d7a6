//! Translates Gemini's Schema message from OpenAPI's dialect to JSON Schema, so that a validator reads it as the API
//! does.

use serde_json::{json, Map, Value};

pub(crate) fn in_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(in_json_schema).collect(),
        Value::Object(members) => {
            let mut plain: Map<String, Value> =
                members.iter().map(|(key, value)| (key.clone(), in_json_schema(value))).collect();
            let is_text = plain.get("type") == Some(&json!("string"));
            let is_listed = !is_text && plain.get("format") == Some(&json!("enum"));
            if let Some(spelled) = plain.get("enum").and_then(Value::as_array).cloned().filter(|_| is_listed) {
                let values = spelled.iter().filter_map(|value| serde_json::from_str::<Value>(value.as_str()?).ok());
                plain.insert("enum".into(), values.collect());
            }
            // A property named `nullable` holds a schema.
            if plain.get("nullable") == Some(&json!(true)) && plain.contains_key("type") {
                plain.remove("nullable");
                return json!({"anyOf": [plain, {"type": "null"}]});
            }
            Value::Object(plain)
        }
        other => other.clone(),
    }
}
