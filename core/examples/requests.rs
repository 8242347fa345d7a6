//! Milliseconds for a request of 10 MB in Rust, beside what `serde_json` takes to parse it: `make bench` runs it.
//!
//! Three contents, the same as in npm/bench/requests.js and python/bench/requests.py: prose, tool calls, images. Each has fifty
//! deferred tools, one of which the history loads.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde_json::{json, Value};
use toolwire::{apply_deferred_loading_json, DeferredOptions, Error};

const ROUNDS: u32 = 15;
const SIZE: usize = 10_000_000;

fn main() -> Result<(), Error> {
    println!("Rust, a request of 10 MB, milliseconds, and the ratio to parsing it");
    let options = DeferredOptions::default();
    for (name, messages) in [("prose", prose as fn(usize) -> Vec<Value>), ("tool calls", tool_calls), ("images", images)] {
        let text = request(messages);
        assert!(apply_deferred_loading_json(&text, &options)?.len() < text.len(), "49 tools are hidden");
        let parse = || serde_json::from_str::<Value>(&text).is_ok();
        let apply = || apply_deferred_loading_json(&text, &options).is_ok();
        // In turns, so that a machine that is busy for a while is so for both.
        let mut best = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            best = [best[0].min(time(parse)), best[1].min(time(apply))];
        }
        let [parsed, applied] = best.map(|time| time.as_secs_f64() * 1e3);
        println!("  {:<40} {parsed:7.2}", format!("{name}, serde_json::Value, parse alone"));
        println!("  {:<40} {applied:7.2} {:7.2}", format!("{name}, apply_deferred_loading, text"), applied / parsed);
    }
    Ok(())
}

fn time(run: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    assert!(black_box(run()), "the request is read");
    start.elapsed()
}

fn request(messages: fn(usize) -> Vec<Value>) -> String {
    let tools: Vec<Value> = (0..50).map(tool).collect();
    let loaded = json!([{"type": "tool_reference", "tool_name": "tool_7"}]);
    let mut history = messages(SIZE);
    history.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]}));
    history.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": loaded}]}));
    json!({"model": "m", "max_tokens": 1000, "messages": history, "tools": tools}).to_string()
}

fn tool(number: usize) -> Value {
    let properties: serde_json::Map<String, Value> =
        (0..12).map(|at| (format!("argument_{at}"), json!({"type": "string", "description": SENTENCE}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": ["argument_0"]});
    json!({"name": format!("tool_{number}"), "description": SENTENCE, "input_schema": schema, "defer_loading": true})
}

const SENTENCE: &str = "The harbour was quiet that morning; \"too quiet\", said the captain, and lit his pipe once more.\n";

/// Turns of 5 KB: a line break and two quotes in every hundred characters.
fn prose(size: usize) -> Vec<Value> {
    let text = SENTENCE.repeat(50);
    let role = |at| if at % 2 == 0 { "user" } else { "assistant" };
    (0..size / (text.len() + 3 * 50)).map(|at| json!({"role": role(at), "content": text})).collect()
}

/// Calls with a few arguments, and results of 1 KB that are JSON themselves: a quote in every ten characters.
fn tool_calls(size: usize) -> Vec<Value> {
    let row = json!({"id": 1024, "path": "src/harbour/captain.rs", "kind": "file", "size": 52311, "tags": ["a", "b"]}).to_string();
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

/// Pictures of half a megabyte.
fn images(size: usize) -> Vec<Value> {
    let data = "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAYAAADo08FDAAAgAElEQVR4nOzdd5xU".repeat(8192);
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let block = json!([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}]);
    (0..size / data.len()).map(|_| json!({"role": "user", "content": block})).collect()
}
