//! Requests that repeat their tools: the result for a cached list equals the first result.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{self, Naming},
        json::Node,
    },
    options::Formats,
    Dialect, Exchange, ExchangeOptions, ToolListCache,
};

use crate::{dialect_id, every_option, reference};

const URLS: [&str; 4] = [
    "http://localhost/v1/messages",
    "http://localhost/v1/chat/completions",
    "http://localhost/v1/responses",
    "http://localhost/v1beta/models/gemini-2.5-pro:generateContent",
];
const DIALECTS: [&str; 6] = ["moonshot", "openai-strict", "anthropic-strict", "gemini", "portable", "openai-chat"];

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

fn outcome(opened: Result<Option<Exchange>, toolwire::Error>) -> Value {
    match opened {
        Ok(None) => json!(null),
        Err(error) => json!([error.code().as_str(), error.pointer(), error.message()]),
        Ok(Some(mut exchange)) => {
            let (request, report) = (exchange.request().to_owned(), bindings::report(&exchange));
            let warning = toolwire::internal::json::write(&bindings::warning(&exchange));
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
            json!([request, toolwire::internal::json::write(&report), warning, replies])
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
                    let mut options = ExchangeOptions::default().dialect(dialect_id(dialect));
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

/// A member that the API does not have says nothing about its tools.
#[test]
fn a_stray_list_does_not_stand_for_the_tools() {
    let converse = |stray: &Value, name: &str| {
        let tool = json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}});
        let messages = json!([{"role": "user", "content": [{"text": "Hi"}]}]);
        json!({"tools": stray, "messages": messages, "toolConfig": {"tools": [tool]}}).to_string()
    };
    let gemini = |stray: &Value, name: &str| {
        let tools = json!([{"functionDeclarations": [{"name": name, "parameters": {"type": "OBJECT"}}]}]);
        let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
        json!({"toolConfig": {"tools": stray}, "contents": contents, "tools": tools}).to_string()
    };
    const CONVERSE: &str = "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse";
    for stray in [json!(null), json!([]), json!([{"name": "a", "input_schema": {"type": "object"}}])] {
        let cache = ToolListCache::default();
        let mut sent = Vec::new();
        for name in ["alice.secret", "bob.tool"] {
            for (url, request) in [(CONVERSE, converse(&stray, name)), (URLS[3], gemini(&stray, name))] {
                let options = ExchangeOptions::default();
                let alone = outcome(Exchange::open(url, &request, &options));
                assert_eq!(outcome(Exchange::open_cached(url, &request, &options, &cache)), alone, "{request}");
                sent.push(alone[0].to_string());
            }
        }
        assert!(sent[0].contains("alice_secret") && sent[2].contains("bob_tool"), "{sent:?}");
    }
}

struct Asked {
    url: String,
    options: Value,
    body: String,
}

/// `key` is the member with the request.
fn cases_in(folder: &str, key: &str) -> Vec<Asked> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).expect("cases").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(file).expect("text")).expect("cases");
        found.extend(cases.into_iter().filter_map(|case| {
            let body = case.get(key)?;
            let url = case["url"].as_str().unwrap_or_else(|| url_of(body, case["options"]["format"].as_str()));
            let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
            Some(Asked { url: url.into(), options, body: body.to_string() })
        }));
    }
    found
}

fn url_of(body: &Value, format: Option<&str>) -> &'static str {
    let has = |key: &str| body.get(key).is_some();
    match format {
        Some("openai-responses") => URLS[2],
        Some("gemini-interactions") => "http://localhost/v1beta/interactions",
        Some("anthropic" | "anthropic-messages") => URLS[0],
        Some("bedrock") => "http://localhost/model/m/converse",
        _ if has("contents") => URLS[3],
        _ if has("toolConfig") => "http://localhost/model/m/converse",
        _ if has("input") => URLS[2],
        _ if has("max_tokens") || has("system") => URLS[0],
        _ => URLS[1],
    }
}

/// A file that is not in the repository is skipped with a message.
fn recorded_requests() -> Vec<Asked> {
    let mut found = Vec::new();
    let mut add = |text: &str, format: &str, key: &str| {
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("a row");
            let Some(body) = row.get(key).filter(|body| body.is_object()) else { continue };
            let url = url_of(body, row[format].as_str()).into();
            found.push(Asked { url, options: json!({"dialect": "moonshot"}), body: body.to_string() });
        }
    };
    reference::sources("deferred_requests.jsonl").for_each(|source| add(&source.text, "format", "request"));
    let answered = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/answered_4.jsonl");
    match fs::read_to_string(answered) {
        Ok(text) => add(&text, "api", "input"),
        Err(_) => println!("skipped: ../shared/data/answered_4.jsonl is not there"),
    }
    found
}

fn single_options() -> Vec<Value> {
    let read = |text: String| serde_json::from_str::<Value>(&text).expect("options are JSON");
    let own = every_option::exchange().into_iter().filter(|chosen| chosen.name != "toolListCache");
    let own = own.map(|chosen| read(format!(r#"{{"{}":{}}}"#, chosen.name, chosen.json)));
    let deferral = every_option::deferral().into_iter().filter(|chosen| chosen.name != "share");
    let deferral = deferral.map(|chosen| read(format!(r#"{{"deferred":{{"{}":{}}}}}"#, chosen.name, chosen.json)));
    [json!({})].into_iter().chain(own).chain(deferral).collect()
}

fn with_option(options: &Value, more: &Value) -> Result<ExchangeOptions, toolwire::Error> {
    let mut all = options.clone();
    for (key, value) in more.as_object().expect("an object") {
        match (all.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
            (Some(inner), Some(value)) => inner.extend(value.clone()),
            _ => all[key] = value.clone(),
        }
    }
    all["toolListCache"] = json!(1_000);
    bindings::options::<ExchangeOptions>(&Node::from_value(&all)?, Naming::Camel)
}

/// One cache for all requests and all options: what a request stores must never change another one.
#[test]
fn every_exchange_equals_the_one_without_cache() {
    let single = single_options();
    let mut asked: Vec<(Asked, Vec<&Value>)> = Vec::new();
    asked.extend(cases_in("exchange", "asked").into_iter().map(|one| (one, single.iter().collect())));
    // Of a request without rounds, some options suffice: together, these requests have every option many times.
    let others = [cases_in("fixtures/adaptRequest", "input"), cases_in("fixtures/applyDeferredLoading", "input")];
    let others = others.into_iter().flatten().chain(recorded_requests());
    asked.extend(others.enumerate().map(|(at, one)| {
        let next = |step: usize| single.get((at * 2 + step) % single.len()).expect("an option");
        (one, vec![next(0), next(1)])
    }));
    let cache = ToolListCache::default();
    let mut all: Vec<(&Asked, &Value, ExchangeOptions, String)> = Vec::new();
    for (one, options) in &asked {
        for more in options {
            // A fixture may have an option that an exchange refuses.
            let Ok(options) = with_option(&one.options, more) else { continue };
            let alone = outcome(Exchange::open(&one.url, &one.body, &options)).to_string();
            all.push((one, more, options, alone));
        }
    }
    assert!(all.len() > 5_000, "only {} exchanges", all.len());
    for turn in 0..2 {
        // In the second turn, each request follows another one than in the first.
        for at in 0..all.len() {
            let at = if turn == 0 { at } else { all.len() - 1 - at };
            let (one, more, options, alone) = all.get(at).expect("an exchange");
            let kept = outcome(Exchange::open_cached(&one.url, &one.body, options, &cache)).to_string();
            assert_eq!(kept, *alone, "turn {turn}: {} with {} and {more}\n{}", one.url, one.options, one.body);
        }
    }
    assert!(cache.len() > 100, "only {} lists", cache.len());
}

/// A format that only a function can return takes several steps, and each step looks up a different list.
#[test]
fn every_step_of_a_format_finds_its_own_list() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let format = json!({"type": "json_schema", "json_schema": {"name": "place", "schema": schema}});
    let tool = json!({"type": "function", "function": {"name": "other.tool", "parameters": {"type": "object"}}});
    let request = json!({"model": "m", "messages": [], "tools": [tool], "response_format": format}).to_string();
    for dialect in ["deepseek", "cohere"] {
        let options = ExchangeOptions::default().dialect(dialect_id(dialect)).formats(Formats::Ladder);
        let cache = ToolListCache::default();
        let alone = outcome(Exchange::open(URLS[1], &request, &options));
        for turn in 0..3 {
            let kept = outcome(Exchange::open_cached(URLS[1], &request, &options, &cache));
            assert_eq!(kept, alone, "{dialect}, {turn}");
        }
    }
}

fn body(tool: &str) -> String {
    json!({"model": "m", "messages": [], "tools": [{"name": tool, "input_schema": {"type": "object"}}]}).to_string()
}

#[test]
fn least_recently_used_list_is_dropped_first() {
    let options = ExchangeOptions::default().dialect(Dialect::MOONSHOT).tool_list_cache(2);
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
    open(&body("a"), &ExchangeOptions::default().dialect(Dialect::MOONSHOT).tool_list_cache(0)).expect("opens");
    assert!(cache.is_empty());
    // A list that caused an error causes it again.
    let request = json!({"model": "m", "messages": [], "tools": 3}).to_string();
    for _ in 0..2 {
        let error = open(&request, &ExchangeOptions::default().dialect(Dialect::MOONSHOT)).expect_err("no list");
        assert_eq!((error.code().as_str(), error.pointer()), ("invalid-request", "/tools"));
    }
    assert!(cache.is_empty());
}

#[test]
fn lists_are_cached_per_options() {
    let cache = ToolListCache::default();
    for dialect in DIALECTS {
        for url in &URLS[..2] {
            let options = ExchangeOptions::default().dialect(dialect_id(dialect));
            Exchange::open_cached(url, &body("a.b"), &options, &cache).expect("opens");
        }
    }
    assert_eq!(cache.len(), DIALECTS.len() * 2);
}

#[test]
fn size_of_cached_text_is_bounded() {
    let cache = ToolListCache::default();
    let options = ExchangeOptions::default().dialect(Dialect::MOONSHOT).tool_list_cache(usize::MAX);
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
    let options = ExchangeOptions::default().dialect(Dialect::MOONSHOT);
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
