//! A request that the outline of its text shows to be plain is sent as it is, whatever the API and the options.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Map, Value};
use toolwire::{dialects, internal, options::Formats, Dialect, DialectId, Exchange, ExchangeOptions};

const URLS: [&str; 6] = [
    "http://localhost/v1/messages",
    "http://localhost/v1/chat/completions",
    "http://localhost/v1/responses",
    "http://localhost/v1beta/models/gemini-3:generateContent",
    "http://localhost/v1beta/interactions",
    "http://localhost/model/m/converse",
];
const HISTORIES: [&str; 3] = ["messages", "input", "contents"];

fn requests(value: &Value, found: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Object(members) => {
            if HISTORIES.iter().any(|history| members.contains_key(*history)) {
                found.push(members.clone());
            }
            members.values().for_each(|value| requests(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| requests(value, found)),
        _ => {}
    }
}

fn collect_from_files(folder: &Path, found: &mut Vec<Map<String, Value>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_from_files(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        for line in text.lines().filter(|_| path.extension().is_some_and(|end| end == "jsonl")).chain([text.as_str()]) {
            if let Ok(value) = serde_json::from_str(line) {
                requests(&value, found);
            }
        }
    }
}

fn parts(request: &Map<String, Value>) -> Vec<Map<String, Value>> {
    const TOOLS: [&str; 6] = ["tools", "tool_choice", "toolConfig", "tool_config", "max_tokens", "betas"];
    let mut bare = request.clone();
    bare.retain(|name, _| !TOOLS.contains(&name.as_str()));
    let mut parts = vec![request.clone(), bare.clone()];
    for history in HISTORIES {
        for message in request.get(history).and_then(Value::as_array).into_iter().flatten() {
            let mut part = bare.clone();
            part.insert(history.into(), json!([message]));
            parts.push(part);
        }
    }
    parts
}

#[test]
fn plain_requests_are_sent_as_they_are() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut found = Vec::new();
    for folder in ["fixtures", "exchange", "sample", "deferred-conversations", "relay"] {
        collect_from_files(&tests.join(folder), &mut found);
    }
    let mut texts: Vec<String> =
        found.iter().flat_map(parts).map(|request| Value::Object(request).to_string()).collect();
    texts.sort_unstable();
    texts.dedup();
    let names: Vec<DialectId> = dialects().iter().map(Dialect::id).collect();
    let mut plain = 0;
    for (at, text) in texts.iter().enumerate() {
        for url in URLS {
            if !internal::outline(url, text).is_some_and(|outline| outline.is_plain) {
                continue;
            }
            plain += 1;
            // Each request meets some of the dialects.
            for name in names.iter().skip(at % 4).step_by(4).map(|name| Some(*name)).chain([None]) {
                for (formats, native_is_auto) in [(Formats::Native, true), (Formats::Ladder, false)] {
                    let mut options = ExchangeOptions::default();
                    options.dialect = name;
                    options.native_is_auto = native_is_auto;
                    let options = options.formats(formats);
                    let exchange = Exchange::open(url, text, &options);
                    let exchange = exchange.unwrap_or_else(|error| panic!("{url} {name:?} {text}: {error}"));
                    let Some(exchange) = exchange else { continue };
                    assert_eq!(exchange.request(), text, "{url} {name:?}");
                    assert!(exchange.warning().is_none() && !exchange.asks_again(), "{url} {name:?} {text}");
                    let report = exchange.report();
                    assert!(report.request_changes.is_empty() && report.changes.is_empty(), "{url} {name:?} {text}");
                    let deferred = report.deferred.as_ref();
                    assert!(deferred.is_none_or(|report| report.warnings.is_empty()), "{url} {name:?} {text}");
                }
            }
        }
    }
    println!("{plain} plain requests of {} texts", texts.len());
    assert!(plain > 100, "expected more plain requests, found {plain}");
}
