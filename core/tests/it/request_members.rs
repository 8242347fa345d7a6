//! Tests that `check_request` finds, and `adapt_request` repairs, the members of requests that the tables list.

#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire::{adapt_request, check_request, AdaptOptions};

use crate::dialect_id;

/// A dialect, a model, a member and its value, and the member and value that are sent instead.
type Case = (&'static str, &'static str, &'static str, Value, Option<(&'static str, Value)>);

fn cases() -> Vec<Case> {
    let low = || json!({ "effort": "low" });
    let effort = || Some(("reasoning_effort", json!("low")));
    vec![
        ("mistral", "mistral-large", "max_completion_tokens", json!(100), Some(("max_tokens", json!(100)))),
        ("mistral", "mistral-large", "store", json!(false), None),
        ("mistral", "mistral-large", "thinking", json!({ "type": "disabled" }), None),
        ("openai-chat", "gpt-5-mini", "max_tokens", json!(100), Some(("max_completion_tokens", json!(100)))),
        ("openai-strict", "o3", "max_tokens", json!(100), Some(("max_completion_tokens", json!(100)))),
        ("openai-chat", "o4-mini", "parallel_tool_calls", json!(false), None),
        ("openai-chat", "gpt-5", "metadata", json!({ "a": "b" }), None),
        ("portable", "gpt-5", "metadata", json!({ "a": "b" }), None),
        ("openai-chat", "gpt-4.1", "verbosity", json!("low"), None),
        ("xai", "grok-4", "reasoning_effort", json!("low"), None),
        ("xai", "grok-4-fast-reasoning", "reasoning_effort", json!("low"), None),
        ("groq", "llama-3.3-70b-versatile", "prompt_cache_key", json!("k"), None),
        ("groq", "llama-3.3-70b-versatile", "store", json!(true), None),
        ("groq", "openai/gpt-oss-20b", "reasoning", low(), effort()),
        ("groq", "openai/gpt-oss-20b", "verbosity", json!("low"), None),
        ("groq", "openai/gpt-oss-120b", "metadata", json!({}), None),
        ("cerebras", "qwen-3-32b", "thinking", json!({ "type": "enabled" }), None),
        ("cerebras", "qwen-3-32b", "store", json!(false), None),
        ("cerebras", "qwen-3-32b", "metadata", json!({}), None),
        ("cerebras", "gpt-oss-120b", "reasoning", low(), effort()),
        ("cerebras", "qwen-3-32b", "enable_thinking", json!(true), None),
        ("gemini", "gemini-2.5-flash", "store", json!(false), None),
        ("gemini", "gemini-2.5-flash", "metadata", json!({}), None),
        ("gemini", "gemini-2.5-flash", "prompt_cache_key", json!("k"), None),
    ]
}

/// Returns requests with accepted members that resemble refused ones.
fn accepted_requests() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("mistral", "mistral-large", json!({ "max_tokens": 100, "parallel_tool_calls": false })),
        ("openai-chat", "gpt-4o", json!({ "max_tokens": 100, "parallel_tool_calls": false })),
        ("openai-chat", "gpt-5", json!({ "metadata": { "a": "b" }, "store": true, "reasoning": { "effort": "low" } })),
        ("openai-chat", "gpt-4.1", json!({ "verbosity": "medium" })),
        ("xai", "grok-3-mini", json!({ "reasoning_effort": "low" })),
        ("xai", "grok-4.3", json!({ "reasoning_effort": "low" })),
        ("groq", "llama-3.3-70b-versatile", json!({ "metadata": {}, "reasoning_effort": "none" })),
        ("cerebras", "gpt-oss-120b", json!({ "reasoning_effort": "low", "max_completion_tokens": 5 })),
        ("gemini", "gemini-2.5-flash", json!({ "reasoning_effort": "low", "parallel_tool_calls": true })),
        ("deepseek", "deepseek-chat", json!({ "store": true, "prompt_cache_key": "k" })),
    ]
}

fn request(model: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": {} });
    let tools = json!([{ "type": "function", "function": { "name": "ping", "parameters": parameters } }]);
    json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }], "tools": tools })
}

fn members_found(request: &Value, dialect: &str) -> Vec<String> {
    let found = check_request(request, dialect_id(dialect)).expect("a request");
    found.into_iter().filter(|one| one.constraint == "unsupported-member").map(|one| one.pointer).collect()
}

fn adapt(request: &Value, dialect: &str) -> (Value, Vec<String>) {
    let options = AdaptOptions::new(dialect_id(dialect));
    let adapted = adapt_request(request, &options).expect("a request");
    let changes = adapted.report.request_changes.iter().filter(|change| change.rule == "unsupported-member");
    (adapted.request.clone(), changes.map(|change| change.pointer.clone()).collect())
}

#[test]
fn refused_members_are_found_and_removed_or_replaced() {
    for (dialect, model, member, value, sent) in cases() {
        let about = format!("{dialect}, {model}: {member}");
        let mut given = request(model);
        given[member] = value;
        let pointer = format!("/{member}");
        assert_eq!(members_found(&given, dialect), [pointer.as_str()], "{about}");
        let (mended, changes) = adapt(&given, dialect);
        assert_eq!(changes, [pointer.as_str()], "{about}");
        assert!(mended.get(member).is_none(), "{about} was not removed");
        if let Some((name, value)) = &sent {
            assert_eq!(&mended[*name], value, "{about}");
        }
        assert!(members_found(&mended, dialect).is_empty(), "{about}: the repaired request is refused");
        // If a client sends both members, the accepted one takes precedence.
        if let Some((name, _)) = sent {
            given[name] = json!("the client's");
            assert_eq!(adapt(&given, dialect).0[name], "the client's", "{about}");
        }
    }
}

#[test]
fn accepted_members_are_kept() {
    for (dialect, model, members) in accepted_requests() {
        let mut given = request(model);
        for (name, value) in members.as_object().expect("members") {
            given[name] = value.clone();
        }
        assert!(members_found(&given, dialect).is_empty(), "{dialect}, {model}: {members}");
        let (mended, changes) = adapt(&given, dialect);
        assert!(changes.is_empty(), "{dialect}, {model}: {changes:?}");
        for (name, value) in members.as_object().expect("members") {
            assert_eq!(&mended[name], value, "{dialect}, {model}: {name}");
        }
    }
}
