//! The cost of a stream is proportional to its size, for any pieces and any number of open calls.

use std::fmt::Write as _;

use serde_json::{json, Value};
use toolwire::{Dialect, Exchange, ExchangeOptions, ReplyRestorer, Restore};

use crate::counting::{allocated_by, live};

fn stream() -> ReplyRestorer {
    let plan = json!({"names": {"names": {"dollar_ref_": "$ref"}}});
    let tools = json!({"a_b": {"name": "a.b"}, "show": {"name": "show", "plan": plan}});
    Restore::from_json(&json!({"version": 2, "tools": tools}).to_string()).expect("a restore").stream()
}

fn split_into_pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    (0..text.len()).step_by(size).map(move |at| &text[at..text.len().min(at + size)])
}

/// One large event in pieces of 1 KB once took quadratic time: 31 seconds for 16 MB.
#[test]
fn large_event_in_small_pieces_allocates_linearly() {
    let text = format!("data: {{\"x\":\"{}\"}}\n\n", "x".repeat(4 << 20));
    for size in [64, 1024, 1 << 20] {
        let mut stream = stream();
        let (out, bytes) = allocated_by(|| {
            let out: usize =
                split_into_pieces(&text, size).map(|piece| stream.feed_text(piece).expect("text").len()).sum();
            out + stream.finish_text().expect("text").len()
        });
        println!("{} bytes in pieces of {size}: {bytes} allocated", text.len());
        assert_eq!(out, text.len());
        assert!(bytes <= 8 * text.len(), "pieces of {size}: {bytes} bytes for text of {} bytes", text.len());
    }
}

#[test]
fn exchange_allocates_linearly() {
    let body =
        r#"{"model":"m","messages":[],"tools":[{"name":"a.b","input_schema":{"type":"object","properties":{}}}]}"#;
    let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    let text = format!("data: {{\"x\":\"{}\"}}\n\n", "x".repeat(4 << 20));
    let mut exchange =
        Exchange::open("http://localhost/v1/messages", body, &options).expect("a request").expect("one with tools");
    let (out, bytes) = allocated_by(|| {
        split_into_pieces(&text, 1024).map(|piece| exchange.feed_text(piece).expect("text").len()).sum::<usize>()
    });
    assert_eq!(out, text.len());
    assert!(bytes <= 8 * text.len(), "{bytes} bytes for text of {} bytes", text.len());
}

fn chunk(choices: &Value) -> Value {
    json!({"id": "c", "model": "m", "service": "x".repeat(1000), "choices": choices})
}

fn opening(index: usize) -> Value {
    json!({"index": index, "id": format!("c{index}"), "function": {"name": "show", "arguments": "{\"dollar_ref_\":\"main\"}"}})
}

/// Many calls that begin in one chunk and end in one chunk. Each of them once copied the whole chunk and searched all
/// entries.
#[test]
fn many_open_calls_allocate_linearly() {
    let many = 20_000;
    let calls: Vec<Value> = (0..many).map(opening).collect();
    let begin = chunk(&json!([{"index": 0, "delta": {"tool_calls": calls}}]));
    let end = chunk(&json!([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]));
    let size = begin.to_string().len();
    let mut stream = stream();
    let (out, bytes) = allocated_by(|| (stream.feed(&begin).expect("events"), stream.feed(&end).expect("events")));
    println!("{many} calls, {size} bytes: {bytes} allocated");
    assert!(bytes <= 100 * size, "{bytes} bytes for a chunk of {size}");
    let calls = out.1[0]["choices"][0]["delta"]["tool_calls"].as_array().expect("calls");
    assert_eq!(calls.len(), many);
    assert_eq!(calls[many - 1], json!({"index": many - 1, "function": {"arguments": "{\"$ref\":\"main\"}"}}));
}

/// Calls in many choices that begin together and end one choice at a time. Each end once searched all open calls.
#[test]
fn choices_that_end_one_by_one_allocate_linearly() {
    let many = 20_000;
    let mut text = String::new();
    for choice in 0..many {
        let one = json!({"choices": [{"index": choice, "delta": {"tool_calls": [opening(0)]}}]});
        write!(text, "data: {one}\n\n").expect("text");
    }
    for choice in 0..many {
        let one = json!({"choices": [{"index": choice, "delta": {}, "finish_reason": "tool_calls"}]});
        write!(text, "data: {one}\n\n").expect("text");
    }
    let mut stream = stream();
    let (out, bytes) = allocated_by(|| stream.feed_text(&text).expect("text"));
    println!("{many} choices, {} bytes: {bytes} allocated", text.len());
    assert!(bytes <= 100 * text.len(), "{bytes} bytes for text of {} bytes", text.len());
    assert_eq!(out.matches("$ref").count(), many);
}

/// Calls without arguments are also limited; otherwise a stream could open an unlimited number of them.
#[test]
fn number_of_open_calls_is_limited() {
    let mut stream = stream();
    let mut opened = 0;
    let error = loop {
        let calls: Vec<Value> =
            (opened..opened + 10_000).map(|index| json!({"index": index, "function": {"name": "show"}})).collect();
        match stream.feed(&json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})) {
            Ok(_) => opened += 10_000,
            Err(error) => break error,
        }
        assert!(opened < 10_000_000, "no limit applies");
    };
    assert_eq!((error.code().as_str(), error.pointer()), ("limit-exceeded", ""));
}

/// Events that are stored to carry buffered arguments are also limited.
#[test]
fn size_of_stored_events_is_limited() {
    let mut stream = stream();
    let mut fed = 0;
    let large = "x".repeat(1 << 20);
    let error = loop {
        let call = json!({"index": fed, "function": {"name": "show", "arguments": "{"}});
        match stream.feed(&json!({"x": large, "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})) {
            Ok(_) => fed += 1,
            Err(error) => break error,
        }
        assert!(fed < 1000, "no limit applies");
    };
    assert_eq!(error.code().as_str(), "limit-exceeded");
}

/// After a call to one of the client's tools, the model is not asked again, so the rest of the reply is not stored.
#[test]
fn exchange_does_not_store_a_reply_after_a_call_to_a_client_tool() {
    let tools =
        json!([{"type": "tool_search_tool_bm25_1", "name": "s"}, {"name": "a", "input_schema": {"type": "object"}}]);
    let body = json!({"model": "m", "messages": [], "tools": tools}).to_string();
    let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    let url = "http://localhost/v1/messages";
    let kept = |called: bool| {
        let mut exchange = Exchange::open(url, &body, &options).expect("a request").expect("one with tools");
        if called {
            let call = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c", "name": "a", "input": {}}});
            let stop = json!({"type": "content_block_stop", "index": 0});
            exchange.feed_text(&format!("data: {call}\n\ndata: {stop}\n\n")).expect("text");
        }
        let block = json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}});
        let piece = json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "x".repeat(1 << 16)}});
        let before = live();
        exchange.feed_text(&format!("data: {block}\n\n")).expect("text");
        for _ in 0..256 {
            exchange.feed_text(&format!("data: {piece}\n\n")).expect("text");
        }
        live().saturating_sub(before)
    };
    let (all, none) = (kept(false), kept(true));
    println!("of 16 MiB, {all} bytes are kept if a search may follow, {none} after a call");
    assert!(all >= 16 << 20 && none < 1 << 20, "{all} and {none}");
}
