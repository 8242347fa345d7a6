//! `toolwire proxy` (tests/proxy): every transcript, message by message, with what a host has to do after each one.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire_command::{Effect, Proxy};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/proxy"))
}

fn read(name: &str) -> Value {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("tests/proxy");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json") && name != "count.json").collect();
    names.sort();
    names
}

/// A message as it stands in a transcript: text, or JSON that becomes compact text.
fn text(message: &Value) -> String {
    message.as_str().map_or_else(|| message.to_string(), String::from)
}

/// Does one step of a transcript.
fn played(proxy: &mut Proxy, step: &Value) -> Vec<Effect> {
    let number = |key: &str| usize::try_from(step[key].as_u64().expect(key)).expect("a small number");
    if let Some(message) = step.get("client") {
        return proxy.client(text(message).as_bytes());
    }
    if step.get("server").is_some() {
        return proxy.server(number("server"), text(&step["message"]).as_bytes());
    }
    if step.get("ended").is_some() {
        return proxy.ended(number("ended"), step["why"].as_str().expect("a reason"));
    }
    if step.get("started").is_some() {
        return proxy.started(number("started"));
    }
    if step.get("alarm").is_some() {
        return proxy.alarm(step["alarm"].as_u64().expect("a number"));
    }
    if step.get("undelivered").is_some() {
        let why = step["why"].as_str().expect("a reason");
        return proxy.undelivered(number("undelivered"), text(&step["message"]).as_bytes(), why);
    }
    proxy.too_long(number("tooLong"))
}

/// An effect as transcripts have it: its words, a message as JSON if it is some.
fn shown(effect: Effect) -> Value {
    let [kind, number, text] = effect.words();
    let mut words = vec![json!(kind)];
    if !number.is_empty() {
        words.push(json!(number.parse::<u64>().expect("a number")));
    }
    if !text.is_empty() {
        words.push(serde_json::from_str(&text).unwrap_or(json!(text)));
    }
    Value::Array(words)
}

#[test]
fn every_transcript() {
    let mut count = 0;
    for name in files() {
        let cases = read(&name);
        for case in cases.as_array().expect("a list of cases") {
            count += 1;
            let mut proxy = Proxy::new(&case["settings"].to_string());
            for (at, step) in case["steps"].as_array().expect("steps").iter().enumerate() {
                let found: Vec<Value> = played(&mut proxy, step).into_iter().map(shown).collect();
                assert_eq!(json!(found), step["effects"], "{name}: {}: step {at}: {}", case["name"], json!(found));
            }
        }
    }
    assert_eq!(json!(count), read("count.json")["cases"]);
}

/// Writes into the transcripts what was found, for somebody to read: `cargo test -p toolwire-command --test proxy --
/// --ignored`.
#[test]
#[ignore = "it writes"]
fn bless() {
    for name in files() {
        let mut cases = read(&name);
        for case in cases.as_array_mut().expect("a list of cases") {
            let mut proxy = Proxy::new(&case["settings"].to_string());
            for step in case["steps"].as_array_mut().expect("steps") {
                let found: Vec<Value> = played(&mut proxy, step).into_iter().map(shown).collect();
                step["effects"] = json!(found);
            }
        }
        let text = serde_json::to_string(&cases).expect("JSON");
        fs::write(folder().join(&name), text + "\n").expect("a file that can be written");
    }
}
