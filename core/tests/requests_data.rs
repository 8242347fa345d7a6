//! `check_request` held to whole requests that real APIs answered.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

use std::{collections::BTreeMap, fs, io::Write as _};

use serde_json::{json, Value};
use toolwire::check_request;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/answered_requests_3.jsonl");

/// The dialect of a surface, if it has one.
fn dialect(row: &Value) -> Option<&'static str> {
    let is_grok = row["model"].as_str().is_some_and(|model| model.starts_with("x-ai/"));
    Some(match row["surface"].as_str()? {
        "alibaba" => "portable",
        "anthropic-messages" => "anthropic",
        "cerebras" => "cerebras",
        "cohere" => "cohere",
        "deepseek" => "deepseek",
        "gemini" => "gemini",
        "groq" => "groq",
        "mistral" => "mistral",
        "moonshot" => "moonshot",
        "ollama" => "ollama",
        "openai-chat" => "openai-chat",
        "openai-responses" => "openai-responses",
        "openrouter" if is_grok => "xai",
        "xai" => "xai",
        _ => return None,
    })
}

/// The request of a row, with a history of one message.
fn request(row: &Value) -> Value {
    let facts = &row["request_facts"];
    let mut request = json!({ "model": row["model"], "tools": row["tools"] });
    let (key, history) = match row["format"].as_str() {
        Some("openai-responses") => ("input", json!("hi")),
        Some("gemini-generateContent") => ("contents", json!([{ "parts": [{ "text": "hi" }] }])),
        _ => ("messages", json!([{ "role": "user", "content": "hi" }])),
    };
    request[key] = history;
    match &facts["thinking"] {
        Value::Null => {}
        Value::Bool(enabled) => request["enable_thinking"] = json!(enabled),
        thinking => request["thinking"] = thinking.clone(),
    }
    if !facts["tool_choice"].is_null() && key != "contents" {
        request["tool_choice"] = facts["tool_choice"].clone();
    }
    request
}

/// What is refused, by what: rejections that no rule about requests explains are named here with what does.
#[test]
fn requests_are_judged_as_they_were_answered() {
    let mut say = std::io::stderr();
    let Ok(source) = fs::read_to_string(DATA) else {
        let _ = writeln!(say, "skipped: expected {DATA}");
        return;
    };
    let (mut found, mut missed, mut faults, mut accepted) = (BTreeMap::new(), Vec::new(), Vec::new(), 0);
    for line in source.lines() {
        let row: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let Some(dialect) = dialect(&row) else { continue };
        let request = request(&row);
        let violations = check_request(&request, dialect).unwrap_or_else(|error| panic!("{error}: {request}"));
        match (row["verdict"].as_str(), violations.first()) {
            (Some("accepted"), None) => accepted += 1,
            (Some("accepted"), Some(violation)) => {
                faults.push(format!("{dialect} accepted what {} refuses: {line:.300}", violation.constraint));
            }
            (_, Some(violation)) => *found.entry(violation.constraint).or_insert(0) += 1,
            (_, None) => missed.push(format!("{dialect}, about {}: {}", row["about"], row["error"])),
        }
    }
    let _ = writeln!(say, "{accepted} accepted requests without findings; rejections found: {found:?}");
    missed.iter().for_each(|row| drop(writeln!(say, "  not by a rule about requests: {row:.160}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(found.values().sum::<i32>() >= 10, "{found:?}");
}
