//! Requests of 10 MB with three kinds of content. npm/bench/requests.js and python/bench/requests.py generate the same
//! ones.

use serde_json::{json, Value};

/// Generators of the contents by name.
pub(crate) const CONTENTS: [(&str, Messages); 3] = [("prose", prose), ("tool calls", tool_calls), ("images", images)];

/// Generates messages with a given total number of bytes.
pub(crate) type Messages = fn(usize) -> Vec<Value>;

/// Bytes of a request.
pub(crate) const SIZE: usize = 10_000_000;

/// Returns a request with messages of this size and fifty deferred tools, one of which is loaded.
pub(crate) fn request(messages: Messages, size: usize) -> String {
    let tools: Vec<Value> = (0..50).map(tool).collect();
    let loaded = json!([{"type": "tool_reference", "tool_name": "tool_7"}]);
    let mut history = messages(size);
    history.push(
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]}),
    );
    history.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": loaded}]}));
    json!({"model": "m", "max_tokens": 1000, "messages": history, "tools": tools}).to_string()
}

fn tool(number: usize) -> Value {
    let properties: serde_json::Map<String, Value> =
        (0..12).map(|at| (format!("argument_{at}"), json!({"type": "string", "description": SENTENCE}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": ["argument_0"]});
    json!({"name": format!("tool_{number}"), "description": SENTENCE, "input_schema": schema, "defer_loading": true})
}

const SENTENCE: &str =
    "The harbour was quiet that morning; \"too quiet\", said the captain, and lit his pipe once more.\n";

/// Generates turns of 5 KB, with a line break and two quotes per hundred characters.
fn prose(size: usize) -> Vec<Value> {
    let text = SENTENCE.repeat(50);
    let role = |at| if at % 2 == 0 { "user" } else { "assistant" };
    (0..size / (text.len() + 3 * 50)).map(|at| json!({"role": role(at), "content": text})).collect()
}

/// Generates calls with a few arguments and results of 1 KB that contain JSON, with one quote per ten characters.
fn tool_calls(size: usize) -> Vec<Value> {
    let row = json!({"id": 1024, "path": "src/harbour/captain.rs", "kind": "file", "size": 52311, "tags": ["a", "b"]})
        .to_string();
    let result = row.repeat(11);
    let turn = |at: usize| {
        let id = format!("toolu_{at:06}");
        let input = json!({"path": "src/harbour", "depth": 3, "pattern": "*.rs", "hidden": false});
        [
            json!({"role": "assistant", "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": id, "name": "list_files", "input": input},
            ]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": result}]}]}),
        ]
    };
    (0..size / 1540).flat_map(turn).collect()
}

/// Generates images of half a megabyte.
fn images(size: usize) -> Vec<Value> {
    let data = "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAYAAADo08FDAAAgAElEQVR4nOzdd5xU".repeat(8192);
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let block = json!([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}]);
    (0..size / data.len()).map(|_| json!({"role": "user", "content": block})).collect()
}
