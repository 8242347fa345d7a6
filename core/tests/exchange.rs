//! One request of a client and its reply, as often as the backend has to be asked for it: the cases of tests/exchange, which all
//! languages play.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire::{json::Node, Exchange, ExchangeOptions, Naming};

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/exchange").join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(path).expect("cases")).expect("they are JSON")
}

fn open(case: &Value, text: &str) -> Result<Option<Exchange>, toolwire::Error> {
    let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
    let options = ExchangeOptions::read(&Node::from_value(&options)?, Naming::Camel)?;
    Exchange::open(case["url"].as_str().unwrap_or("http://localhost/v1/messages"), text, &options)
}

fn asked(case: &Value) -> String {
    case["bare"].as_str().map_or_else(|| case["asked"].to_string(), Into::into)
}

/// The events as the text of a stream.
fn text_of(events: &Value, named: bool) -> String {
    let write = |event: &Value| {
        let name = if named { format!("event: {}\n", event["type"].as_str().expect("a type")) } else { String::new() };
        format!("{name}data: {event}\n\n")
    };
    events.as_array().expect("events").iter().map(write).collect()
}

/// The events in the text of a stream; those with a name have their own.
fn events_of(text: &str) -> Value {
    let one = |event: &str| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
        let event: Value = serde_json::from_str(data).expect("JSON");
        event
    };
    for event in text.split("\n\n").filter(|event| event.contains("event:")) {
        assert_eq!(event.lines().next(), Some(&*format!("event: {}", one(event)["type"].as_str().expect("a type"))), "{event}");
    }
    text.split("\n\n").filter(|event| !event.is_empty()).map(one).collect()
}

fn feed(exchange: &mut Exchange, text: &str, name: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for piece in characters.chunks(7) {
        out += &exchange.feed_text(&piece.iter().collect::<String>()).expect(name);
    }
    out + &exchange.finish_text().expect(name)
}

fn play(case: &Value, named: bool) {
    let name = case["name"].as_str().expect("a name");
    let text = asked(case);
    let found = open(case, &text);
    if let Some(error) = case.get("error") {
        let found = found.expect_err(name);
        assert_eq!(json!({"code": found.code().as_str(), "pointer": found.pointer()}), *error, "{name}: {}", found.message());
        return;
    }
    let found = found.expect(name);
    if case.get("passes").is_some() {
        assert!(found.is_none(), "{name}");
        return;
    }
    let mut exchange = found.expect(name);
    let rounds = case["rounds"].as_array().expect("rounds");
    let mut streamed = String::new();
    for (number, round) in rounds.iter().enumerate() {
        let sent = if round["sent"].is_null() { text.clone() } else { round["sent"].to_string() };
        assert_eq!(exchange.request(), sent, "{name}, round {number}");
        let last = number + 1 == rounds.len();
        if let Some(events) = round.get("events") {
            streamed += &feed(&mut exchange, &text_of(events, named), name);
            assert_eq!(exchange.asks_again(), !last, "{name}, round {number}");
        } else {
            let reply = round["reply"].to_string();
            let told = exchange.reply(&reply).expect(name);
            assert_eq!(told.as_deref(), last.then_some(&*case["told"].to_string()), "{name}, round {number}");
        }
    }
    if case["told"].is_array() {
        assert_eq!(events_of(&streamed).to_string(), case["told"].to_string(), "{name}");
    }
}

#[test]
fn whole_replies() {
    let cases = cases("whole");
    assert!(cases.len() > 20);
    cases.iter().for_each(|case| play(case, false));
}

#[test]
fn streams() {
    let cases = cases("streams");
    assert!(cases.len() > 5);
    for case in &cases {
        play(case, true);
        play(case, false);
    }
}

#[test]
fn what_passes_has_the_same_bytes() {
    let body = "{ \"model\": \"m\", \"messages\" : [ ],\n \"tools\": [{\"type\": \"tool_search_tool_bm25_1\", \"name\": \"s\"}] }";
    let case = json!({"options": {"dialect": "anthropic", "deferred": false}});
    assert_eq!(open(&case, body).expect("opens").expect("an exchange").request(), body);
    let mut exchange = open(&json!({"options": {"dialect": "anthropic"}}), body).expect("opens").expect("an exchange");
    for reply in ["{ \"content\" : [ {\"type\":\"text\", \"text\":\"\\u0041\"} ] }", "<html>", ""] {
        assert_eq!(exchange.reply(reply).expect("passes").as_deref(), Some(reply));
    }
    for text in [": comment\n\nevent: ping\r\ndata: { \"type\" : \"ping\" }\r\n\r\n", "data: [DONE]\n\n", "unfinished"] {
        assert_eq!(feed(&mut exchange, text, "a stream"), text);
    }
}

#[test]
fn a_failure_in_the_middle_is_told_as_an_event() {
    let exchange = open(&json!({"options": {"dialect": "anthropic"}}), "{\"messages\":[]}").expect("opens").expect("an exchange");
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}});
    assert_eq!(exchange.failed_text(&overloaded.to_string()), format!("event: error\ndata: {overloaded}\n\n"));
    let other = json!({"type": "error", "error": {"type": "api_error", "message": "<html>"}});
    assert_eq!(exchange.failed_text("<html>"), format!("event: error\ndata: {other}\n\n"));
}
