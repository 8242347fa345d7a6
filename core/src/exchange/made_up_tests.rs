//! What holds for an API that only has a description (`wire/made_up`). Besides it, the API has a variant of `Api` with
//! its rows (`options/lookup.rs`), its rows in `wire/mod.rs`, and its words in `request/prefilter.rs`.
//!
//! Not yet possible by a description alone: ids that are numbers, results before their calls, hidden searches
//! (`search/answer.rs` spells the calls and results of each format), and the calls of structured output.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

extern crate std;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{json, Value};

use crate::{
    adapt::{adapt, AdaptReport},
    json::{self as core_json, Node},
    naming::Naming,
    options::AdaptOptions,
    request,
    tools::{call_repair::CallReports, restore::RestoreMap, streams::restorer::Stream},
};

fn adapted(request_body: &Value, options: &Value) -> (Value, AdaptReport, RestoreMap) {
    let options = options.to_string();
    let options = core_json::read(&options).and_then(|options| AdaptOptions::read(&options, Naming::Camel));
    let text = request_body.to_string();
    let mut node = request::read(&text).expect("JSON");
    let (report, restore_map) = adapt(&mut node, &options.expect("options")).expect("a request");
    (value(&node), report, restore_map)
}

fn value(node: &Node<'_>) -> Value {
    serde_json::from_str(&core_json::write(node)).expect("JSON")
}

/// A tool with a name that OpenAI refuses, whose arguments are encoded in strict mode.
fn tools() -> Value {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    json!([{
        "type": "function",
        "name": "stock.count",
        "parameters": {"type": "object", "properties": {"by": map}, "required": ["by"]}
    }])
}

fn call(key: &str) -> Value {
    json!({"type": "uses", "key": key, "tool": "stock.count", "with": "{\"by\":{\"red\":1}}"})
}

fn gave(key: &str) -> Value {
    json!({"type": "gave", "of": key, "what": "ok"})
}

fn person(acts: Value) -> Value {
    json!({"role": "person", "acts": acts})
}

fn machine(acts: Value) -> Value {
    json!({"role": "machine", "acts": acts})
}

#[test]
fn names_in_the_choice_and_in_calls_follow_the_tools() {
    let request = json!({
        "tools": tools(),
        "pick": {"type": "function", "name": "stock.count"},
        "dialogue": [person(json!([])), machine(json!([call("1")])), person(json!([gave("1")]))]
    });
    let (sent, ..) = adapted(&request, &json!({"dialect": "openai-strict"}));
    let name = sent["tools"][0]["name"].as_str().expect("a name");
    assert_ne!(name, "stock.count");
    assert_eq!(sent["pick"]["name"], name);
    let call = &sent["dialogue"][1]["acts"][0];
    assert_eq!(call["tool"], name);
}

#[test]
fn a_call_without_a_result_gets_one() {
    let request = json!({
        "tools": tools(),
        "dialogue": [
            machine(json!([call("1"), call("2")])),
            person(json!([gave("2"), {"type": "speak", "words": "Go on."}])),
        ]
    });
    let (sent, ..) = adapted(&request, &json!({"dialect": "openai-chat", "historyPairs": "complete"}));
    let acts = sent["dialogue"][1]["acts"].as_array().expect("acts");
    let of: Vec<&str> = acts.iter().filter_map(|act| act["of"].as_str()).collect();
    assert_eq!(of.len(), 2);
    assert!(of.contains(&"1") && of.contains(&"2"));
    assert_eq!(acts.last().map(|act| act["type"].clone()), Some(json!("speak")));
}

#[test]
fn calls_in_a_whole_reply_are_restored() {
    let (sent, _, restore_map) =
        adapted(&json!({"tools": tools(), "dialogue": []}), &json!({"dialect": "openai-strict"}));
    let with = r#"{"by":[{"key":"red","value":1}]}"#;
    let reply =
        json!({"turn": {"acts": [{"type": "uses", "key": "1", "tool": sent["tools"][0]["name"], "with": with}]}});
    let reply = reply.to_string();
    let mut reply = core_json::read(&reply).expect("JSON");
    restore_map.whole_reply(&mut reply, &mut CallReports::default()).expect("restored");
    assert_eq!(value(&reply)["turn"]["acts"][0], call("1"));
}

/// Each way to cut the arguments into three pieces.
#[test]
fn calls_in_a_stream_are_restored() {
    let (sent, _, restore_map) =
        adapted(&json!({"tools": tools(), "dialogue": []}), &json!({"dialect": "openai-strict"}));
    let with = r#"{"by":[{"key":"red","value":1}]}"#;
    for first in 0..with.len() {
        for second in first..with.len() {
            let pieces = [&with[..first], &with[first..second], &with[second..]];
            let act = json!({"type": "uses", "key": "1", "tool": sent["tools"][0]["name"]});
            let mut events = Vec::from([json!({"beat": "open", "slot": 3, "act": act})]);
            events.extend(pieces.map(|piece| json!({"beat": "more", "slot": 3, "bit": {"with": piece}})));
            events.push(json!({"beat": "shut", "slot": 3}));
            let texts: Vec<String> = events.iter().map(Value::to_string).collect();
            let mut stream = Stream::new(restore_map.clone());
            let mut out: Vec<Value> = Vec::new();
            for text in &texts {
                let event = core_json::read(text).expect("JSON");
                out.extend(stream.feed(event).expect("restored").iter().map(value));
            }
            out.extend(stream.finish().expect("restored").iter().map(value));
            let whole: String = out.iter().filter_map(|event| event["bit"]["with"].as_str()).collect();
            assert_eq!(out[0]["act"]["tool"], "stock.count", "{out:?}");
            assert_eq!(whole, r#"{"by":{"red":1}}"#, "{pieces:?} {out:?}");
            assert_eq!(out.last(), events.last());
        }
    }
}
