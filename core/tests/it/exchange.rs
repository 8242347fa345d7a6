//! One request of a client and its reply, with all the requests to the backend that it needs: the cases of
//! tests/exchange, which all languages run.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    Exchange, ExchangeOptions, ToolListCache,
};

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/exchange").join(name).with_extension("json");
    serde_json::from_str(&fs::read_to_string(path).expect("cases")).expect("they are JSON")
}

fn open(case: &Value, text: &str) -> Result<Option<Exchange>, toolwire::Error> {
    open_with(case, text, None)
}

fn open_with(case: &Value, text: &str, cache: Option<&ToolListCache>) -> Result<Option<Exchange>, toolwire::Error> {
    let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
    let options = bindings::options::<ExchangeOptions>(&Node::from_value(&options)?, Naming::Camel)?;
    let url = case["url"].as_str().unwrap_or("http://localhost/v1/messages");
    match cache {
        Some(cache) => Exchange::open_cached(url, text, &options, cache),
        None => Exchange::open(url, text, &options),
    }
}

fn request_of(case: &Value) -> String {
    case["bare"].as_str().map_or_else(|| case["asked"].to_string(), Into::into)
}

fn type_of(event: &Value) -> Option<&str> {
    event["type"].as_str().or_else(|| event["event_type"].as_str())
}

/// The text is complete if `whole` is true. Otherwise it lacks the final line breaks, which some servers omit.
fn text_of(events: &Value, named: bool, whole: bool) -> String {
    let write = |event: &Value| {
        // Events of Chat Completions and Gemini have no type.
        let kind = type_of(event).filter(|_| named);
        let name = kind.map(|kind| format!("event: {kind}\n")).unwrap_or_default();
        format!("{name}data: {event}\n\n")
    };
    let text: String = events.as_array().expect("events").iter().map(write).collect();
    if whole {
        text
    } else {
        text.trim_end().into()
    }
}

/// Returns the data of the events as a list, and checks the names of named events.
fn events_of(text: &str) -> Value {
    let one = |event: &str| {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
        let event: Value = serde_json::from_str(data).expect("JSON");
        event
    };
    for event in text.split("\n\n").filter(|event| event.contains("event:")) {
        assert_eq!(
            event.lines().next(),
            type_of(&one(event)).map(|kind| format!("event: {kind}")).as_deref(),
            "{event}"
        );
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

fn play(case: &Value, named: bool, whole: bool) {
    play_with(case, named, whole, None);
}

fn play_with(case: &Value, named: bool, whole: bool, cache: Option<&ToolListCache>) {
    let name = case["name"].as_str().expect("a name");
    let text = request_of(case);
    let opened = open_with(case, &text, cache);
    if let Some(error) = case.get("error") {
        let opened = opened.expect_err(name);
        assert_eq!(
            json!({"code": opened.code().as_str(), "pointer": opened.pointer()}),
            *error,
            "{name}: {}",
            opened.message()
        );
        if let Some(refusal) = case.get("refusal") {
            let body = Exchange::refusal(case["url"].as_str().unwrap_or("http://localhost/v1/messages"), &opened);
            assert_eq!(body, refusal.to_string(), "{name}");
        }
        return;
    }
    let opened = opened.expect(name);
    if case.get("passes").is_some() {
        assert!(opened.is_none(), "{name}");
        return;
    }
    let mut exchange = opened.expect(name);
    let warning = exchange.warning().map(|warning| warning.message.as_str());
    assert_eq!(warning, case.get("warning").and_then(Value::as_str), "{name}");
    let rounds = case["rounds"].as_array().expect("rounds");
    let mut streamed = String::new();
    for (number, round) in rounds.iter().enumerate() {
        let sent = if round["sent"].is_null() { text.clone() } else { round["sent"].to_string() };
        assert_eq!(exchange.request(), sent, "{name}, round {number}");
        let betas = round.get("betas").cloned().unwrap_or_else(|| json!([]));
        assert_eq!(json!(exchange.betas()), betas, "{name}, round {number}");
        let last = number + 1 == rounds.len();
        if let Some(refused) = round.get("refused") {
            let error = match round.get("events") {
                Some(events) => exchange.feed_text(&text_of(events, named, true)).expect_err(name),
                None => exchange.reply(&round["reply"].to_string()).expect_err(name),
            };
            assert_eq!(json!({"code": error.code().as_str(), "pointer": error.pointer()}), *refused, "{name}");
            return;
        }
        if let Some(events) = round.get("events") {
            streamed += &feed(&mut exchange, &text_of(events, named, whole), name);
            assert_eq!(exchange.asks_again(), !last, "{name}, round {number}");
        } else {
            let reply = round["reply"].to_string();
            let reported = exchange.reply(&reply).expect(name);
            assert_eq!(reported.as_deref(), last.then_some(&*case["told"].to_string()), "{name}, round {number}");
        }
    }
    let repaired = bindings::repaired_calls(&exchange.take_repaired_calls());
    let expected = case.get("repaired").cloned().unwrap_or_else(|| json!([]));
    assert_eq!(toolwire::internal::json::write(&repaired), expected.to_string(), "{name}");
    let changes = bindings::answer_changes(&exchange.take_answer_changes());
    let expected = case.get("answerChanges").cloned().unwrap_or_else(|| json!([]));
    assert_eq!(toolwire::internal::json::write(&changes), expected.to_string(), "{name}");
    if case["told"].is_array() {
        assert_eq!(events_of(&streamed).to_string(), case["told"].to_string(), "{name}");
    }
}

#[test]
fn whole_replies_match_their_cases() {
    let cases = cases("whole");
    assert!(cases.len() > 20);
    cases.iter().for_each(|case| play(case, false, true));
    let cache = ToolListCache::default();
    for _ in 0..2 {
        cases.iter().for_each(|case| play_with(case, false, true, Some(&cache)));
    }
}

#[test]
fn endpoints_match_their_cases() {
    let cases = cases("endpoints");
    assert!(cases.len() > 20);
    cases.iter().for_each(|case| play(case, false, true));
}

#[test]
fn streams_match_their_cases() {
    let cases = cases("streams");
    assert!(cases.len() > 5);
    for case in &cases {
        for whole in [true, false] {
            play(case, true, whole);
            play(case, false, whole);
        }
    }
}

#[test]
fn unchanged_bodies_keep_their_bytes() {
    let body = "{ \"model\": \"m\", \"messages\" : [ ],\n \"tools\": [{\"type\": \"tool_search_tool_bm25_1\", \"name\": \"s\"}] }";
    let case = json!({"options": {"dialect": "anthropic", "deferred": false}});
    assert_eq!(open(&case, body).expect("opens").expect("an exchange").request(), body);
    let mut exchange = open(&json!({"options": {"dialect": "anthropic"}}), body).expect("opens").expect("an exchange");
    for reply in ["{ \"content\" : [ {\"type\":\"text\", \"text\":\"\\u0041\"} ] }", "<html>", ""] {
        assert_eq!(exchange.reply(reply).expect("passes").as_deref(), Some(reply));
    }
    for text in [": comment\n\nevent: ping\r\ndata: { \"type\" : \"ping\" }\r\n\r\n", "data: [DONE]\n\n", "unfinished"]
    {
        assert_eq!(feed(&mut exchange, text, "a stream"), text);
    }
}

#[test]
fn a_failure_in_the_middle_of_a_stream_becomes_an_event() {
    let exchange =
        open(&json!({"options": {"dialect": "anthropic"}}), "{\"messages\":[]}").expect("opens").expect("an exchange");
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}});
    assert_eq!(exchange.failed_text(&overloaded.to_string()), format!("event: error\ndata: {overloaded}\n\n"));
    let other = json!({"type": "error", "error": {"type": "api_error", "message": "<html>"}});
    assert_eq!(exchange.failed_text("<html>"), format!("event: error\ndata: {other}\n\n"));
}

#[test]
fn odd_values_in_a_stream_are_accepted() {
    let is_first = |case: &Value| {
        let name = case["name"].as_str().expect("a name");
        name == "search-and-call" || name.starts_with("overflow-") && name.matches('-').count() == 1
    };
    let cases: Vec<Value> = cases("streams").into_iter().filter(is_first).collect();
    assert_eq!(cases.len(), 5);
    cases.iter().for_each(any_event_is_accepted);
}

fn any_event_is_accepted(case: &Value) {
    let body = case["asked"].to_string();
    let events = case["rounds"][0]["events"].as_array().expect("events").clone();
    let odd = [
        json!(null),
        json!("x"),
        json!([]),
        json!({}),
        json!(u64::MAX),
        json!(-1),
        json!({"type": 1}),
        json!([[{"type": "tool_use"}]]),
    ];
    let mut taken = 0;
    // Replaces each member of each event, duplicates each event, and removes each event.
    for (at, event) in events.iter().enumerate() {
        let members: Vec<String> = event.as_object().expect("an object").keys().cloned().collect();
        for (member, value) in members.iter().flat_map(|member| odd.iter().map(move |value| (member, value))) {
            let mut changed = events.clone();
            changed[at][member] = value.clone();
            let mut exchange = open(case, &body).expect("opens").expect("an exchange");
            let text: String = changed.iter().map(|event| format!("data: {event}\n\n")).collect();
            events_of(&feed(&mut exchange, &text, member));
            let mut exchange = open(case, &body).expect("opens").expect("an exchange");
            let reply = json!({"content": [value, changed[at]], "stop_reason": value, "usage": value, "id": value});
            assert!(exchange.reply(&reply.to_string()).is_ok(), "{reply}");
            taken += 1;
        }
        for times in [0, 2] {
            let mut exchange = open(case, &body).expect("opens").expect("an exchange");
            let body_events =
                events.iter().enumerate().flat_map(|(place, event)| vec![event; if place == at { times } else { 1 }]);
            events_of(&feed(
                &mut exchange,
                &body_events.map(|event| format!("data: {event}\n\n")).collect::<String>(),
                "events",
            ));
        }
    }
    assert!(taken > 60, "{taken}");
}

fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), out));
        }
        Value::Object(members) => members.iter().for_each(|(key, member)| places(member, &format!("{at}/{key}"), out)),
        _ => {}
    }
}

#[test]
fn odd_values_in_a_whole_reply_are_accepted() {
    let odd = [json!(null), json!("x"), json!([]), json!({}), json!(-1), json!([[{"type": "function_call"}]])];
    for case in cases("whole").iter().filter(|case| case["name"].as_str().expect("a name").starts_with("overflow")) {
        let body = request_of(case);
        for round in case["rounds"].as_array().expect("rounds") {
            let mut all = Vec::new();
            places(&round["reply"], "", &mut all);
            for (at, value) in all.iter().flat_map(|at| odd.iter().map(move |value| (at, value))) {
                let mut reply = round["reply"].clone();
                *reply.pointer_mut(at).expect("a place") = value.clone();
                let mut exchange = open(case, &body).expect("opens").expect("an exchange");
                assert!(exchange.reply(&reply.to_string()).is_ok(), "{reply}");
            }
        }
    }
}

/// Returns an exchange whose model may search, and whose search is answered by the exchange.
fn searching() -> Exchange {
    let case = json!({"options": {"dialect": "anthropic"}});
    let tools = json!([{"type": "tool_search_tool_bm25_1", "name": "s"}, {"name": "a", "defer_loading": true}]);
    let body = json!({"messages": [], "tools": tools}).to_string();
    open(&case, &body).expect("opens").expect("an exchange")
}

fn data(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn block(index: usize, block: &Value, delta: &Value) -> String {
    data(&json!({"type": "content_block_start", "index": index, "content_block": block}))
        + &data(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
        + &data(&json!({"type": "content_block_stop", "index": index}))
}

fn text(index: usize, text: &str) -> String {
    block(index, &json!({"type": "text", "text": ""}), &json!({"type": "text_delta", "text": text}))
}

fn call(index: usize, name: &str) -> String {
    let use_ = json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}});
    block(index, &use_, &json!({"type": "input_json_delta", "partial_json": "{\"query\":\"a\"}"}))
}

const END: &str = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n\
                   data: {\"type\":\"message_stop\"}\n\n";

#[test]
fn model_is_not_asked_again_after_an_overlong_reply() {
    let mut exchange = searching();
    let search = exchange.report().deferred.as_ref().and_then(|report| report.tool_search_name.clone());
    let megabyte = "x".repeat(1 << 20);
    for index in 0..70 {
        let event = text(index, &megabyte);
        assert_eq!(exchange.feed_text(&event).expect("passes"), event, "block {index}");
    }
    let out = exchange.feed_text(&call(70, &search.expect("a search"))).expect("passes").into_owned();
    assert!(out.contains("tool_search_tool_result"), "the search is answered: {out}");
    let out = exchange.feed_text(END).expect("passes").into_owned() + &exchange.finish_text().expect("ends");
    // The earlier blocks were dropped, so the client must send them back to continue.
    assert!(out.contains("\"stop_reason\":\"pause_turn\"") && !exchange.asks_again(), "{out}");
}

#[test]
fn model_is_asked_again_after_a_short_reply() {
    let mut exchange = searching();
    let search = exchange.report().deferred.as_ref().and_then(|report| report.tool_search_name.clone());
    let piece = text(0, "x") + &call(1, &search.expect("a search")) + END;
    let out = exchange.feed_text(&piece).expect("passes");
    exchange.finish_text().expect("ends");
    assert!(exchange.asks_again() && !out.contains("pause_turn"), "{out}");
    assert!(exchange.request().contains("\"text\":\"x\""), "{}", exchange.request());
}

/// Above the limit of a stream's calls, searches stay hidden.
#[test]
fn model_is_not_asked_again_after_too_many_entries_without_an_index() {
    let is_case = |case: &Value| case["name"] == "overflow-chat-without-an-index";
    let case = cases("streams").into_iter().find(is_case).expect("a case");
    let mut exchange = open(&case, &request_of(&case)).expect("opens").expect("an exchange");
    let chunk = |calls: Value| data(&json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]}));
    let many = vec![json!({"function": {"name": "tool_search"}}); 150_000];
    let end = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let events = chunk(json!(many))
        + &chunk(json!([{"id": "s", "function": {"name": "tool_search", "arguments": ""}}]))
        + &chunk(json!([{"function": {"arguments": "{\"query\":\"rooms\"}"}}]))
        + &data(&end);
    let out = exchange.feed_text(&events).expect("passes").into_owned() + &exchange.finish_text().expect("ends");
    assert!(!exchange.asks_again() && !out.contains("tool_search") && !out.contains("rooms"), "{out}");
}

/// The limit also applies to non-streamed replies, and to the sum of all rounds.
#[test]
fn size_limit_of_replies_applies_to_the_sum_of_all_rounds() {
    let mut exchange = searching();
    let search = exchange.report().deferred.as_ref().and_then(|report| report.tool_search_name.clone());
    let search = search.expect("a search");
    let mut rounds = 0;
    let reply_text = loop {
        let content = json!([{"type": "text", "text": "x".repeat(40 << 20)},
            {"type": "tool_use", "id": "toolu_1", "name": search, "input": {"query": "a"}}]);
        let reply = json!({"stop_reason": "tool_use", "content": content}).to_string();
        if let Some(reply_text) = exchange.reply(&reply).expect("a reply") {
            break reply_text.into_owned();
        }
        rounds += 1;
    };
    let found: Value = serde_json::from_str(&reply_text).expect("JSON");
    assert_eq!((rounds, &found["stop_reason"]), (1, &json!("pause_turn")));
    assert_eq!(found["content"].as_array().map(Vec::len), Some(6));
}
