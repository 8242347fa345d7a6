//! Requests that repeat their tools: the result for a cached list equals the first result.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire::{internal::bindings, Exchange, ExchangeOptions, ToolListCache};

const URLS: [&str; 4] = [
    "http://localhost/v1/messages",
    "http://localhost/v1/chat/completions",
    "http://localhost/v1/responses",
    "http://localhost/v1beta/models/gemini-2.5-pro:generateContent",
];
const DIALECTS: [&str; 6] = ["moonshot", "openai-strict", "anthropic-strict", "gemini", "portable", "openai-chat"];

/// Returns the inputs of the cases for whole requests.
fn requests() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let mut found = Vec::new();
    for function in ["adaptRequest", "applyDeferredLoading"] {
        for file in fs::read_dir(folder.join(function)).expect("cases") {
            let text = fs::read_to_string(file.expect("a file").path()).expect("text");
            let cases: Vec<Value> = serde_json::from_str(&text).expect("cases");
            found.extend(cases.iter().filter_map(|case| match (case.get("input"), case.get("inputText")) {
                (Some(input), _) => Some(input.to_string()),
                (None, text) => text?.as_str().map(String::from),
            }));
        }
    }
    found
}

/// Returns the complete report of an exchange on a request, and the restored call to each tool.
fn outcome(opened: Result<Option<Exchange>, toolwire::Error>) -> Value {
    match opened {
        Ok(None) => json!(null),
        Err(error) => json!([error.code().as_str(), error.pointer(), error.message()]),
        Ok(Some(mut exchange)) => {
            let (request, report) = (exchange.request().to_owned(), bindings::report(&exchange));
            let warning = toolwire::json::write(&bindings::warning(&exchange));
            let names: Vec<String> =
                serde_json::from_str::<Value>(&request).map(|sent| names(&sent)).unwrap_or_default();
            let replies: Vec<String> = names
                .iter()
                .map(|name| {
                    let input = json!({"a": null, "_": "[]"});
                    let reply = json!({"content": [{"type": "tool_use", "id": "t", "name": name, "input": input}]});
                    format!("{:?}", exchange.reply(&reply.to_string()))
                })
                .collect();
            json!([request, toolwire::json::write(&report), warning, replies])
        }
    }
}

fn names(sent: &Value) -> Vec<String> {
    let tools = sent["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(String::from)).collect()
}

#[test]
fn cached_list_equals_a_new_one() {
    let (mut compared, mut rewritten) = (0, 0);
    for request in requests() {
        for url in URLS {
            for dialect in DIALECTS {
                for deferred in [true, false] {
                    let mut options = ExchangeOptions::default().dialect(dialect);
                    if !deferred {
                        options = options.deferred(None);
                    }
                    let cache = ToolListCache::default();
                    let alone = outcome(Exchange::open(url, &request, &options));
                    for turn in 0..2 {
                        let kept = outcome(Exchange::open_cached(url, &request, &options, &cache));
                        assert_eq!(kept, alone, "{url}, {dialect}, {turn}: {request}");
                    }
                    compared += 1;
                    rewritten += usize::from(!cache.is_empty());
                }
            }
        }
    }
    assert!(rewritten > 1_000, "{rewritten} of {compared}");
}

fn body(tool: &str) -> String {
    json!({"model": "m", "messages": [], "tools": [{"name": tool, "input_schema": {"type": "object"}}]}).to_string()
}

#[test]
fn least_recently_used_list_is_dropped_first() {
    let options = ExchangeOptions::default().dialect("moonshot").tool_list_cache(2);
    let cache = ToolListCache::default();
    let send = |tool: &str| Exchange::open_cached(URLS[0], &body(tool), &options, &cache).expect("opens");
    for tool in ["a", "b", "a", "c"] {
        send(tool);
    }
    assert_eq!(cache.len(), 2);
    assert!(format!("{cache:?}").contains("\\\"a\\\""), "`a` was used after `b`: {cache:?}");
    assert!(!format!("{cache:?}").contains("\\\"b\\\""), "{cache:?}");
    cache.clear();
    assert!(cache.is_empty());
}

#[test]
fn disabled_cache_stores_nothing_and_errors_are_not_cached() {
    let cache = ToolListCache::default();
    let open = |request: &str, options: &ExchangeOptions| Exchange::open_cached(URLS[0], request, options, &cache);
    open(&body("a"), &ExchangeOptions::default().dialect("moonshot").tool_list_cache(0)).expect("opens");
    assert!(cache.is_empty());
    // A list that caused an error causes it again.
    let request = json!({"model": "m", "messages": [], "tools": 3}).to_string();
    for _ in 0..2 {
        let error = open(&request, &ExchangeOptions::default().dialect("moonshot")).expect_err("no list");
        assert_eq!((error.code().as_str(), error.pointer()), ("invalid-request", "/tools"));
    }
    assert!(cache.is_empty());
}

#[test]
fn lists_are_cached_per_options() {
    let cache = ToolListCache::default();
    for dialect in DIALECTS {
        for url in &URLS[..2] {
            let options = ExchangeOptions::default().dialect(dialect);
            Exchange::open_cached(url, &body("a.b"), &options, &cache).expect("opens");
        }
    }
    assert_eq!(cache.len(), DIALECTS.len() * 2);
}

#[test]
fn size_of_cached_text_is_bounded() {
    let cache = ToolListCache::default();
    let options = ExchangeOptions::default().dialect("moonshot").tool_list_cache(usize::MAX);
    for number in 0..40 {
        let text = "x".repeat(400_000);
        let tools = json!([{"name": format!("a{number}"), "description": text, "input_schema": {"type": "object"}}]);
        let request = json!({"model": "m", "messages": [], "tools": tools}).to_string();
        Exchange::open_cached(URLS[0], &request, &options, &cache).expect("opens");
    }
    // 8 MiB, counting the lists as received and as sent.
    assert!((8..=21).contains(&cache.len()), "{}", cache.len());
}

#[test]
fn threads_share_a_cache() {
    let cache = ToolListCache::default();
    let options = ExchangeOptions::default().dialect("moonshot");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (cache, options) = (cache.clone(), options.clone());
            scope.spawn(move || {
                for turn in 0..200 {
                    let name = format!("t.{}", (number + turn) % 20);
                    let sent = Exchange::open_cached(URLS[0], &body(&name), &options, &cache).expect("opens");
                    let sent = sent.expect("an exchange");
                    assert!(sent.request().contains(&name.replace('.', "_")), "{}", sent.request());
                }
            });
        }
    });
    assert_eq!(cache.len(), 16);
}
