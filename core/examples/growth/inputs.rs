//! Generates inputs of any size, the same on every machine.

use serde_json::{json, Map, Value};

/// Repeats the tools of the repository's sample, each with a unique name and property, because a repeated schema would
/// not be rewritten again.
pub(crate) fn tools(count: usize) -> String {
    let sample: Vec<Value> = include_str!("../../../tests/sample/mcp_tools.jsonl")
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let own = |(number, tool): (usize, &Value)| {
        let mut schema = tool.get("inputSchema").cloned().unwrap_or_default();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(format!("own_{number}"), json!({"type": "string"}));
        }
        json!({"name": format!("tool_{number}"), "description": tool.get("description"), "inputSchema": schema})
    };
    Value::Array(sample.iter().cycle().take(count).enumerate().map(own).collect()).to_string()
}

/// Generates an object whose properties alternate between five kinds.
pub(crate) fn properties(count: usize) -> String {
    let kinds = [
        json!({"type": "string", "description": "A name.", "minLength": 1, "maxLength": 200}),
        json!({"type": ["integer", "null"], "minimum": 0, "default": 1}),
        json!({"enum": ["one", "two", "three"]}),
        json!({"type": "array", "items": {"type": "string", "format": "uri"}, "uniqueItems": true}),
        json!({"anyOf": [{"type": "object", "properties": {"id": {"type": "integer"}}}, {"type": "boolean"}]}),
    ];
    let properties: Map<String, Value> = kinds
        .iter()
        .cycle()
        .take(count)
        .enumerate()
        .map(|(number, kind)| (format!("p{number}"), kind.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": ["p0"]}).to_string()
}

/// Generates an object whose properties refer to definitions, two properties per definition.
pub(crate) fn references(count: usize) -> String {
    let properties: Map<String, Value> =
        (0..count).map(|number| (format!("p{number}"), json!({"$ref": format!("#/$defs/d{}", number / 2)}))).collect();
    let definition = |number| {
        let shape = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
        (format!("d{number}"), shape)
    };
    let definitions: Map<String, Value> = (0..count.div_ceil(2)).map(definition).collect();
    json!({"type": "object", "properties": properties, "$defs": definitions}).to_string()
}

/// Generates a conversation with fifty deferred tools, in which every fourth message loads one of them.
pub(crate) fn history(count: usize) -> String {
    let tools: Vec<Value> = (0..50)
        .map(|number| {
            let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
            json!({"name": format!("tool_{number}"), "description": "Reads a file.", "input_schema": schema,
                "defer_loading": true})
        })
        .collect();
    let message = |number: usize| {
        let id = format!("call_{}", number / 4);
        match number % 4 {
            0 => json!({"role": "user", "content": "Find me a tool, and read the file with it."}),
            1 => json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "find", "input": {"query": "read a file"}}]}),
            2 => json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": [
                {"type": "tool_reference", "tool_name": format!("tool_{}", number / 4 % 50)}]}]}),
            _ => json!({"role": "assistant", "content": [{"type": "text", "text": "It is read.\n"}]}),
        }
    };
    let messages: Vec<Value> = (0..count).map(message).collect();
    json!({"model": "m", "max_tokens": 1000, "messages": messages, "tools": tools}).to_string()
}
