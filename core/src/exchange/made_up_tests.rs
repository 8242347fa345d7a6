//! Tests for an API that only has a description (`wire/made_up`). The API also has a variant of `Api` with its rows
//! (`options/lookup.rs`), and its rows in `wire/mod.rs`.
//!
//! Not yet possible by a description alone: ids that are numbers, results before their calls, and structured output in
//! texts (`reply/answer/text.rs` knows one member with text).
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
    options::{AdaptOptions, SearchOptions},
    reply::{answer::text::Answer, call_repair::CallReports, restore::RestoreMap, streams::restorer::Stream},
    request,
    sanitize::decode::Plan,
    search::{self, Call, Index},
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

fn answered_by_a_call() -> RestoreMap {
    let mut restore_map = RestoreMap::default();
    restore_map.set_answer(Some(Answer::of_tool(Plan::default(), "give".into(), true)));
    restore_map
}

#[test]
fn a_call_that_is_the_answer_becomes_text() {
    let reply = json!({"turn": {"acts": [
        {"type": "uses", "key": "1", "tool": "give", "with": "{\"n\":1}"},
        {"type": "uses", "key": "2", "tool": "give", "with": "{\"n\":2}"},
    ]}})
    .to_string();
    let mut reply = core_json::read(&reply).expect("JSON");
    answered_by_a_call().whole_reply(&mut reply, &mut CallReports::default()).expect("restored");
    assert_eq!(value(&reply), json!({"turn": {"acts": [{"type": "speak", "words": "{\"n\":1}"}]}}));
}

#[test]
fn a_call_that_is_the_answer_becomes_text_in_a_stream() {
    let events = [
        json!({"beat": "open", "slot": 0, "act": {"type": "uses", "key": "1", "tool": "give"}}),
        json!({"beat": "more", "slot": 0, "bit": {"with": "{\"n\""}}),
        json!({"beat": "more", "slot": 0, "bit": {"with": ":1}"}}),
        json!({"beat": "shut", "slot": 0}),
        json!({"beat": "over"}),
    ];
    let expected = [
        json!({"beat": "open", "slot": 0, "act": {"type": "speak", "words": ""}}),
        json!({"beat": "more", "slot": 0, "bit": {"words": "{\"n\""}}),
        json!({"beat": "more", "slot": 0, "bit": {"words": ":1}"}}),
        json!({"beat": "shut", "slot": 0}),
        json!({"beat": "over"}),
    ];
    assert_eq!(fed(answered_by_a_call(), &events), expected);
}

#[test]
fn a_search_is_answered_in_its_format() {
    let call = json!({"type": "uses", "key": "1", "tool": "tool_search", "with": "{\"query\":\"stock\"}"}).to_string();
    let call = core_json::read(&call).expect("JSON");
    let tools = json!([{"type": "function", "name": "stock.count", "defer_loading": true}]).to_string();
    let index = Index::new(&core_json::read(&tools).expect("JSON"), false).expect("a list");
    let options = SearchOptions::default();
    let call = Call::recognize(&call, &options).expect("a search");
    let answer = value(&search::answer(&call, &index, &options, &|_, _| {}).expect("an answer"));
    assert_eq!(answer["type"], "gave");
    assert_eq!(answer["of"], "1");
    assert_eq!(answer["what"][0]["tool_name"], "stock.count");
}

fn fed(restore_map: RestoreMap, events: &[Value]) -> Vec<Value> {
    let texts: Vec<String> = events.iter().map(Value::to_string).collect();
    let mut stream = Stream::new(restore_map);
    let mut out: Vec<Value> = Vec::new();
    for text in &texts {
        let event = core_json::read(text).expect("JSON");
        out.extend(stream.feed(event).expect("restored").iter().map(value));
    }
    out.extend(stream.finish().expect("restored").iter().map(value));
    out
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
            let out = fed(restore_map.clone(), &events);
            let whole: String = out.iter().filter_map(|event| event["bit"]["with"].as_str()).collect();
            assert_eq!(out[0]["act"]["tool"], "stock.count", "{out:?}");
            assert_eq!(whole, r#"{"by":{"red":1}}"#, "{pieces:?} {out:?}");
            assert_eq!(out.last(), events.last());
        }
    }
}
