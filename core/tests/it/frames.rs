//! Streams of Amazon Bedrock: events in binary frames, which are written and read here a second time.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire::{Exchange, ExchangeOptions};

const HOST: &str = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5";

/// The checksum of RFC 1952, bit by bit.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    (!sum).to_be_bytes()
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a length").to_be_bytes()
}

fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).expect("a short name"));
        block.extend(name.as_bytes());
        block.push(7);
        block.extend(u16::try_from(value.len()).expect("a short value").to_be_bytes());
        block.extend(value.as_bytes());
    }
    let mut out = [length(16 + block.len() + payload.len()), length(block.len())].concat();
    out.extend(checksum(&out));
    out.extend(block);
    out.extend(payload);
    out.extend(checksum(&out));
    out
}

fn frames(bytes: &[u8]) -> Vec<(Vec<(String, String)>, Value)> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
    let (mut rest, mut out) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (length, headers) = (number(&rest[..4]), number(&rest[4..8]));
        assert_eq!(rest[8..12], checksum(&rest[..8]));
        assert_eq!(rest[length - 4..length], checksum(&rest[..length - 4]));
        let mut block = &rest[12..12 + headers];
        let mut read = Vec::new();
        while !block.is_empty() {
            let name = usize::from(block[0]);
            let value = number(&block[name + 2..name + 4]);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            read.push((text(&block[1..=name]), text(&block[name + 4..name + 4 + value])));
            block = &block[name + 4 + value..];
        }
        out.push((read, serde_json::from_slice(&rest[12 + headers..length - 4]).expect("JSON")));
        rest = &rest[length..];
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits: Vec<bool> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    bits.resize(bits.len().div_ceil(6) * 6, false);
    let digit = |bits: &[bool]| digits[bits.iter().fold(0, |sum, bit| sum * 2 + usize::from(*bit))];
    let mut text: String = bits.chunks(6).map(|bits| char::from(digit(bits))).collect();
    while text.len() % 4 != 0 {
        text.push('=');
    }
    text
}

/// Returns the frame of an event, with the padding that hides the event's length.
fn chunk(event: &Value) -> Vec<u8> {
    let headers = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")];
    let payload = json!({"bytes": base64(event.to_string().as_bytes()), "p": "abcdef"});
    frame(&headers, payload.to_string().as_bytes())
}

fn event_frame(kind: &str, event: &Value) -> Vec<u8> {
    let headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, event.to_string().as_bytes())
}

fn invoke(path: &str) -> Exchange {
    let tool = json!({"name": "get.weather", "input_schema": {"type": "object", "properties": {}}});
    let body = json!({"anthropic_version": "bedrock-2023-05-31", "messages": [], "tools": [tool]});
    open(path, &body)
}

fn open(path: &str, body: &Value) -> Exchange {
    let opened = Exchange::open(&format!("{HOST}/{path}"), &body.to_string(), &ExchangeOptions::default());
    opened.expect("opens").expect("an exchange")
}

fn feed_in_pieces(exchange: &mut Exchange, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in bytes.chunks(size) {
        out.extend_from_slice(&exchange.feed_bytes(piece).expect("frames"));
    }
    out.extend(exchange.finish_bytes().expect("the end"));
    out
}

fn block(name: &str) -> Value {
    let call = json!({"type": "tool_use", "id": "t", "name": name, "input": {}});
    json!({"type": "content_block_start", "index": 0, "content_block": call})
}

#[test]
fn calls_in_frames_are_restored() {
    let start = chunk(&json!({"type": "message_start", "message": {"role": "assistant", "content": []}}));
    let end = chunk(&json!({"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}}));
    let error = frame(
        &[(":exception-type", "throttlingException"), (":message-type", "exception")],
        br#"{"message":"Too many requests"}"#,
    );
    let sent = [&*start, &chunk(&block("get_weather")), &end, &error].concat();
    for size in [1, 7, sent.len()] {
        let received = feed_in_pieces(&mut invoke("invoke-with-response-stream"), &sent, size);
        assert!(received.starts_with(&start) && received.ends_with(&[&*end, &error].concat()));
        let all = frames(&received);
        assert_eq!(all.len(), 4);
        let (headers, payload) = &all[1];
        assert_eq!(headers, &frames(&start)[0].0);
        assert_eq!(payload, &json!({"bytes": base64(block("get.weather").to_string().as_bytes())}));
    }
}

#[test]
fn events_of_converse_are_named_by_their_frames() {
    let tool = json!({"toolSpec": {"name": "get.weather", "inputSchema": {"json": {"type": "object"}}}});
    let body = json!({"messages": [], "toolConfig": {"tools": [tool]}});
    let start = |name: &str| json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": name}}});
    let begin = event_frame("messageStart", &json!({"role": "assistant"}));
    let stop = event_frame("messageStop", &json!({"stopReason": "tool_use"}));
    let sent = [&*begin, &event_frame("contentBlockStart", &start("get_weather")), &stop].concat();
    let received = feed_in_pieces(&mut open("converse-stream", &body), &sent, 5);
    let expected = [&*begin, &event_frame("contentBlockStart", &start("get.weather")), &stop].concat();
    assert_eq!(frames(&received), frames(&expected));
    assert_eq!(received, expected);
}

#[test]
fn other_bytes_are_refused_or_passed() {
    let mut exchange = invoke("invoke-with-response-stream");
    let mut broken = chunk(&block("get_weather"));
    broken[20] ^= 1;
    let first = chunk(&json!({"type": "ping"}));
    let error = exchange.feed_bytes(&[&*first, &broken].concat()).expect_err("a wrong checksum");
    assert_eq!((error.code().as_str(), error.pointer()), ("invalid-value", ""));
    let failed = exchange.failed_bytes(r#"{"error":{"message":"no"}}"#);
    let [(headers, payload)] = frames(&failed).try_into().expect("one frame");
    assert_eq!(payload, json!({"message": "no"}));
    assert!(headers.contains(&(":message-type".into(), "exception".into())));
    // A gateway may answer with text.
    let text = b"data: {\"type\":\"ping\"}\n\n";
    assert_eq!(feed_in_pieces(&mut invoke("invoke-with-response-stream"), text, 4), text);
    // The reply is not streamed.
    assert_eq!(feed_in_pieces(&mut invoke("invoke"), text, 4), text);
    // Payloads that are no events, and frames that end early.
    for payload in ["", "{}", r#"{"bytes":1}"#, r#"{"bytes":"e"}"#, r#"{"bytes":"e30="}"#] {
        let bytes = frame(&[(":event-type", "chunk"), (":message-type", "event")], payload.as_bytes());
        assert_eq!(feed_in_pieces(&mut invoke("invoke-with-response-stream"), &bytes, 9), bytes);
        let cut = &bytes[..bytes.len() - 3];
        assert_eq!(feed_in_pieces(&mut invoke("invoke-with-response-stream"), cut, 9), cut);
    }
}

#[test]
fn nothing_follows_a_broken_frame() {
    let ping = chunk(&json!({"type": "ping"}));
    let mut broken = chunk(&block("get_weather"));
    broken[20] ^= 1;
    let sent = [&*ping, &ping, &broken, &chunk(&block("get_weather"))].concat();
    for size in [3, sent.len()] {
        let mut exchange = invoke("invoke-with-response-stream");
        let (mut received, mut failures) = (Vec::new(), 0);
        for piece in sent.chunks(size) {
            match exchange.feed_bytes(piece) {
                Ok(bytes) => received.extend_from_slice(&bytes),
                Err(_) => failures += 1,
            }
        }
        assert!(failures > 0);
        for _ in 0..2 {
            received.extend_from_slice(&exchange.feed_bytes(&ping).unwrap_or_default());
        }
        assert_eq!(received, [&*ping, &ping].concat());
        assert_eq!(exchange.feed_bytes(&ping).expect_err("the error again").code().as_str(), "invalid-value");
        assert!(exchange.finish_bytes().expect("the end").is_empty());
    }
}

#[test]
fn the_first_byte_determines_what_a_stream_is() {
    // Frames at a URL that has none.
    let start = chunk(&block("get_weather"));
    for size in [1, 7, start.len()] {
        assert_eq!(feed_in_pieces(&mut invoke("invoke"), &start, size), start);
    }
    let event = b"data: {\"type\":\"ping\"}\n\n";
    let mut exchange = invoke("invoke-with-response-stream");
    assert!(exchange.feed_bytes(b"").expect("nothing").is_empty());
    assert!(exchange.feed_bytes(&event[..9]).expect("text").is_empty());
    assert_eq!(&*exchange.feed_bytes(&event[9..]).expect("text"), event);
    assert_eq!(&*exchange.feed_bytes(b"\0: comment\n\n").expect("text"), b"\0: comment\n\n");
    assert_eq!(&*exchange.feed_bytes(event).expect("text"), event);
    assert!(exchange.failed_bytes("{}").starts_with(b"event: error"));
    assert!(exchange.finish_bytes().expect("the end").is_empty());
}

#[test]
fn a_payload_is_one_value() {
    let tool = json!({"toolSpec": {"name": "get.weather", "inputSchema": {"json": {"type": "object"}}}});
    let body = json!({"messages": [], "toolConfig": {"tools": [tool]}});
    let payload = br#"{"role":"assistant"},"contentBlockStart":{"start":{"toolUse":{"name":"get_weather"}}}"#;
    let sent = frame(&[(":event-type", "messageStart"), (":message-type", "event")], payload);
    assert_eq!(feed_in_pieces(&mut open("converse-stream", &body), &sent, 7), sent);
}

#[test]
fn a_search_in_frames_is_answered() {
    let tools = json!([
        {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        {"name": "book_room", "description": "Books a room", "defer_loading": true, "input_schema": {"type": "object"}},
    ]);
    let body = json!({"anthropic_version": "bedrock-2023-05-31", "messages": [], "tools": tools});
    let url = format!("{HOST}/invoke-with-response-stream");
    let options = ExchangeOptions::default().native_is_auto(false);
    let mut exchange = Exchange::open(&url, &body.to_string(), &options).expect("opens").expect("an exchange");
    assert!(!exchange.request().contains("book_room"));
    let delta = json!({"type": "input_json_delta", "partial_json": r#"{"query":"book a room"}"#});
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}}),
        block("tool_search"),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let sent: Vec<u8> = events.iter().flat_map(chunk).collect();
    let first = feed_in_pieces(&mut exchange, &sent, 11);
    assert!(exchange.asks_again() && exchange.request().contains("book_room"));
    let end = [
        json!({"type": "message_start", "message": {"id": "n", "role": "assistant", "content": [], "usage": {}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let second = feed_in_pieces(&mut exchange, &end.iter().flat_map(chunk).collect::<Vec<u8>>(), 11);
    assert!(!exchange.asks_again());
    assert!(!frames(&[first, second].concat()).is_empty());
}
