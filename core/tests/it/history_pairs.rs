//! `historyPairs: "complete"` with generated histories: the result satisfies the API's rules for calls and results, a
//! second run changes nothing, and no text is lost.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, time::Instant};

use serde_json::{json, Value};
use toolwire::{adapt_request, check_request, options::HistoryPairs, AdaptOptions, Dialect};

use crate::dialect_id;

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).expect("small")
    }

    fn id(&mut self) -> String {
        format!("c{}", self.below(3))
    }

    /// Returns a few ids for the calls of one message, without duplicates.
    fn ids(&mut self) -> Vec<String> {
        (0..3).filter(|_| self.below(3) == 0).map(|id| format!("c{id}")).collect()
    }
}

fn anthropic(numbers: &mut Numbers) -> Value {
    let text = || json!({"type": "text", "text": "t"});
    match numbers.below(4) {
        0 => json!({"role": "user", "content": "t"}),
        1 => {
            let calls =
                numbers.ids().into_iter().map(|id| json!({"type": "tool_use", "id": id, "name": "a", "input": {}}));
            let blocks: Vec<Value> = core::iter::once(text()).chain(calls).collect();
            json!({"role": "assistant", "content": blocks})
        }
        _ => {
            let mut blocks: Vec<Value> = (0..=numbers.below(3))
                .map(|_| json!({"type": "tool_result", "tool_use_id": numbers.id(), "content": "x"}))
                .collect();
            if numbers.below(3) == 0 {
                blocks.insert(numbers.below(blocks.len() + 1), text());
            }
            json!({"role": "user", "content": blocks})
        }
    }
}

fn chat(numbers: &mut Numbers) -> Value {
    match numbers.below(4) {
        0 => json!({"role": "user", "content": "t"}),
        1 => {
            let calls = numbers.ids().into_iter();
            let function = json!({"name": "a", "arguments": "{}"});
            let calls: Vec<Value> =
                calls.map(|id| json!({"id": id, "type": "function", "function": function})).collect();
            match calls.is_empty() {
                true => json!({"role": "assistant", "content": "t"}),
                false => json!({"role": "assistant", "content": "t", "tool_calls": calls}),
            }
        }
        _ => json!({"role": "tool", "tool_call_id": numbers.id(), "content": "x"}),
    }
}

fn responses(numbers: &mut Numbers) -> Value {
    match numbers.below(4) {
        0 => json!({"role": "user", "content": "t"}),
        1 => json!({"role": "assistant", "content": "t"}),
        2 => json!({"type": "function_call", "call_id": numbers.id(), "name": "a", "arguments": "{}"}),
        _ => json!({"type": "function_call_output", "call_id": numbers.id(), "output": "x"}),
    }
}

fn sort(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

fn has_text(value: &Value, key: &str, text: &str) -> bool {
    value[key] == text
}

fn id(value: &Value, key: &str) -> String {
    value[key].as_str().expect("an id").to_owned()
}

/// Returns true if every run of assistant messages is followed by a run of user messages that begins with exactly the
/// results.
fn obeys_anthropic(messages: &[Value]) -> bool {
    let runs = messages.chunk_by(|one, next| one["role"] == next["role"]).map(|run| {
        let blocks = run.iter().flat_map(|message| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({"type": "text", "text": text})],
        });
        blocks.collect::<Vec<_>>()
    });
    let mut calls: Vec<String> = Vec::new();
    for blocks in runs {
        let count = blocks.iter().take_while(|block| has_text(block, "type", "tool_result")).count();
        let results = blocks[..count].iter().map(|block| id(block, "tool_use_id")).collect();
        if sort(calls) != sort(results) || blocks[count..].iter().any(|block| has_text(block, "type", "tool_result")) {
            return false;
        }
        calls =
            blocks.iter().filter(|block| has_text(block, "type", "tool_use")).map(|block| id(block, "id")).collect();
    }
    calls.is_empty() && messages.iter().all(|message| message["content"] != json!([]))
}

/// Returns true if every message with calls is followed by exactly the results.
fn obeys_chat(messages: &[Value]) -> bool {
    let mut calls: Vec<String> = Vec::new();
    for message in messages {
        if has_text(message, "role", "tool") {
            let Some(at) = calls.iter().position(|call| *call == id(message, "tool_call_id")) else { return false };
            calls.remove(at);
            continue;
        }
        if !calls.is_empty() {
            return false;
        }
        calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| id(call, "id")).collect();
    }
    calls.is_empty()
}

/// Returns true if every call has a later result, and every result an earlier call.
fn obeys_responses(items: &[Value]) -> bool {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        if has_text(item, "type", "function_call") {
            *open.entry(id(item, "call_id")).or_default() += 1;
        } else if has_text(item, "type", "function_call_output") {
            match open.get_mut(&id(item, "call_id")).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => return false,
            }
        }
    }
    open.values().all(|count| *count == 0)
}

fn texts(value: &Value) -> usize {
    match value {
        Value::String(text) => usize::from(text == "t"),
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(members) => members.values().map(texts).sum(),
        _ => 0,
    }
}

type Made = fn(&mut Numbers) -> Value;
type Obeys = fn(&[Value]) -> bool;

#[test]
fn completed_histories_obey_their_api() {
    let formats: [(&str, &str, Made, Obeys); 3] = [
        ("anthropic", "messages", anthropic, obeys_anthropic),
        ("openai-chat", "messages", chat, obeys_chat),
        ("openai-responses", "input", responses, obeys_responses),
    ];
    let (mut numbers, mut changed) = (Numbers(3), 0);
    for (dialect, key, made, obeys) in formats {
        let options = AdaptOptions::new(dialect_id(dialect)).history_pairs(HistoryPairs::Complete);
        for _ in 0..3000 {
            let history: Vec<Value> = (0..=numbers.below(8)).map(|_| made(&mut numbers)).collect();
            let request = json!({"model": "m", key: history});
            let adapted = adapt_request(&request, &options).unwrap_or_else(|error| panic!("{request}\n{error}"));
            let about = || format!("{dialect}\n{}\n{}", request[key], adapted.request[key]);
            let messages = adapted.request[key].as_array().expect("messages");
            assert!(obeys(messages), "{}\nis refused", about());
            assert_eq!(texts(&request[key]), texts(&adapted.request[key]), "{}\ntext is lost", about());
            let ends = |messages: &[Value]| messages.last().map(|last| has_text(last, "role", "assistant"));
            assert!(!messages.is_empty(), "{}\nis empty", about());
            assert!(
                ends(&history) == Some(true) || ends(messages) == Some(false),
                "{}\nnow ends with the assistant",
                about()
            );
            let begins = |messages: &[Value]| has_text(&messages[0], "role", "assistant");
            assert!(
                dialect != "anthropic" || begins(&history) == begins(messages),
                "{}\nnow begins with another role",
                about()
            );
            let again = adapt_request(&adapted.request, &options).expect("the same");
            assert_eq!(again.request, adapted.request, "{}\nchanges again", about());
            assert!(again.report.request_changes.is_empty(), "{}\nreports again", about());
            let blocks = |item: &Value| item["content"].as_array().cloned().unwrap_or_default();
            let uses: Vec<Value> =
                history.iter().flat_map(blocks).filter(|one| has_text(one, "type", "tool_use")).collect();
            let chat = |item: &Value| {
                let ids: Vec<&str> = item["tool_calls"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|call| call["id"].as_str())
                    .collect();
                ids.iter().enumerate().any(|(at, id)| ids[..at].contains(id))
            };
            let items = history.iter().filter(|item| has_text(item, "type", "function_call"));
            let calls = items.filter_map(|item| item["call_id"].as_str());
            let calls: Vec<&str> = calls.chain(uses.iter().filter_map(|call| call["id"].as_str())).collect();
            let is_unique = calls.iter().all(|id| calls.iter().filter(|other| *other == id).count() == 1);
            if obeys(&history) && is_unique && !history.iter().any(chat) {
                assert_eq!(adapted.request, request, "{}\nwas changed without need", about());
            }
            changed += usize::from(adapted.request != request);
        }
    }
    assert!(changed > 4000, "{changed} histories changed");
}

/// Four times as many orphans must take less than twelve times as long (the best of several runs, because other load
/// slows some of them). Quadratic work would take sixteen times as long.
#[test]
fn broken_pairs_are_found_in_linear_time() {
    let seconds = |count: usize| {
        let orphan = json!({"type": "function_call_output", "call_id": "a", "output": ""});
        let mut input = vec![json!({"role": "user", "content": "hi"})];
        input.extend(vec![orphan; count]);
        let request = json!({"model": "m", "input": input}).to_string();
        let measure = || {
            let start = Instant::now();
            let found = check_request(&request, Dialect::OPENAI_RESPONSES).expect("a request");
            assert_eq!(found.iter().map(|violation| 1 + violation.more).sum::<usize>(), count);
            start.elapsed().as_secs_f64()
        };
        (0..9).map(|_| measure()).fold(f64::INFINITY, f64::min)
    };
    let (few, many) = (seconds(10_000), seconds(40_000));
    assert!(many < 12.0 * few, "{few} s, then {many} s");
}
