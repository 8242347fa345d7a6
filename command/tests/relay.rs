//! `toolwire relay` (tests/relay): every transcript, step by step, with what a host has to do after each one.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::Path};

use serde_json::{json, Value};
use toolwire_command::{Relay, RelayEffect};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/relay"))
}

fn read(name: &str) -> Value {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("tests/relay");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json") && name != "count.json").collect();
    names.sort();
    names
}

/// A body as it stands in a transcript: text, or JSON that becomes compact text.
fn text(body: &Value) -> String {
    body.as_str().map_or_else(|| body.to_string(), String::from)
}

/// Does one step of a transcript.
fn played(relay: &mut Relay, step: &Value) -> Vec<RelayEffect> {
    let number = step["number"].as_u64().unwrap_or(1);
    let status = |about: &Value| u16::try_from(about["status"].as_u64().expect("a status")).expect("a status");
    let why = |about: &Value| about["why"].as_str().expect("a reason").to_string();
    if let Some(head) = step.get("request") {
        return relay.request(number, &head.to_string());
    }
    if let Some(body) = step.get("body") {
        return relay.body(number, text(body).as_bytes());
    }
    if let Some(about) = step.get("unread") {
        return relay.unread(number, status(about), &why(about));
    }
    if let Some(head) = step.get("reply") {
        return relay.reply(number, status(head), &head["headers"].to_string());
    }
    if let Some(body) = step.get("whole") {
        return relay.whole(number, text(body).as_bytes());
    }
    if let Some(piece) = step.get("piece") {
        return relay.piece(number, text(piece).as_bytes());
    }
    if step.get("end").is_some() {
        return relay.end(number);
    }
    if let Some(about) = step.get("failed") {
        return relay.failed(number, about["late"].as_bool().unwrap_or_default(), &why(about));
    }
    relay.closed(number, step["closed"].as_u64().expect("microseconds"))
}

/// An effect as transcripts have it: its words, JSON as a value.
fn shown(effect: RelayEffect) -> Value {
    let [kind, about, text] = effect.words();
    let value = |text: String| serde_json::from_str(&text).unwrap_or(json!(text));
    let words = [about, text].into_iter().filter(|word| !word.is_empty()).map(value);
    Value::Array([json!(kind)].into_iter().chain(words).collect())
}

/// `TOOLWIRE_BLESS=1` writes what was found into the transcripts, for somebody to read.
#[test]
fn every_transcript() {
    let (mut count, blesses) = (0, std::env::var_os("TOOLWIRE_BLESS").is_some());
    for name in files() {
        let mut cases = read(&name);
        for case in cases.as_array_mut().expect("a list of cases") {
            count += 1;
            let title = case["name"].to_string();
            let mut relay = Relay::new(&case["settings"].to_string(), case.get("token").and_then(Value::as_str));
            for (at, step) in case["steps"].as_array_mut().expect("steps").iter_mut().enumerate() {
                let found = Value::Array(played(&mut relay, step).into_iter().map(shown).collect());
                if blesses {
                    step["effects"] = found;
                } else {
                    assert_eq!(found.to_string(), step["effects"].to_string(), "{name}: {title}, step {at}");
                }
            }
        }
        if blesses {
            let text = toolwire_lines(&cases);
            fs::write(folder().join(&name), text).expect("the transcript is written");
        }
    }
    assert_eq!(Some(count), read("count.json")["cases"].as_u64(), "tests/relay/count.json");
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn one<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

/// What a host expects of a request: how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    Body,
    Reply,
    Whole,
    Pieces,
    Nothing,
}

/// Plays what there is to do, and returns what the host has to do next. A client gets one head and one end.
fn carried_out(effects: &[RelayEffect], has_head: &mut bool, before: Expects) -> Expects {
    let mut next = before;
    for effect in effects {
        assert_ne!(next, Expects::Nothing, "something comes after the end: {effect:?}");
        match effect {
            RelayEffect::Answer(..) => {
                assert!(!*has_head, "a second head");
                (*has_head, next) = (true, Expects::Nothing);
            }
            RelayEffect::Read(_) => next = Expects::Body,
            RelayEffect::Forward(_) | RelayEffect::SendBody(_) | RelayEffect::Send(..) => next = Expects::Reply,
            RelayEffect::Head(_) => {
                assert!(!*has_head, "a second head");
                *has_head = true;
            }
            RelayEffect::Collect(_) => next = Expects::Whole,
            RelayEffect::Feed(_) => next = Expects::Pieces,
            RelayEffect::Write(_) => assert!(*has_head, "a piece before the head"),
            RelayEffect::Through | RelayEffect::End | RelayEffect::Abort => {
                assert!(*has_head, "an end before the head");
                next = Expects::Nothing;
            }
            _ => {}
        }
        if matches!(effect, RelayEffect::Answer(..)) {
            // Only the log and the report may follow.
            let rest = effects.iter().skip_while(|one| *one != effect).skip(1);
            assert!(rest.clone().all(|one| matches!(one, RelayEffect::Log(_) | RelayEffect::Report(_))));
            return next;
        }
    }
    next
}

/// Clients and upstreams that say anything, in any order that sockets allow: each client gets one head and one end,
/// and nothing of a request is kept after it.
#[test]
fn anything_on_the_wire() {
    let settings = json!({"upstreams": [{"url": "http://127.0.0.1:1/x", "dialect": "openai-chat", "formats": "ladder"},
        {"url": "https://api.anthropic.com", "path": "/a"}], "report": "r", "verbose": true, "mostClients": 3});
    let mut relay = Relay::new(&settings.to_string(), None);
    let mut numbers = Numbers(7);
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = json!({"type": "function", "function": {"name": "a.b", "parameters": schema}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "string"}}});
    let request = json!({"model": "m", "messages": [], "tools": [tool], "response_format": format}).to_string();
    let function = json!({"name": "a_b", "arguments": "{"});
    let calls = json!([{"index": 0, "id": "c", "function": function}]);
    let call = json!({"choices": [{"index": 0, "message": {"tool_calls": calls}}]}).to_string();
    let event = json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let event = format!("data: {event}\n\n");
    let (call, event) = (call.as_str(), event.as_str());
    let bodies = [request.as_str(), call, event, "{", "", "[1]", "\u{feff}{}", "null", "{\"messages\":[],\"model\":3}"];
    for _ in 0..3_000 {
        let number = numbers.below(5) as u64;
        let encoding = numbers.one(&["gzip", "br", "x", "", "identity"]);
        let headers = json!([
            ["Host", numbers.one(&["localhost", "evil", "127.0.0.1:1"])],
            ["Content-Type", numbers.one(&["application/json", "text/plain", "APPLICATION/JSON; a=b", ""])],
            ["Content-Encoding", encoding],
            ["Connection", numbers.one(&["close", "host, x", ""])]
        ]);
        let target = numbers.one(&[
            "/v1/chat/completions",
            "/a/v1/messages",
            "/",
            "*",
            "/toolwire/last",
            "",
            "/a",
            "/v1beta/models/x:generateContent?key=k",
            "//x",
            "/toolwire/",
        ]);
        let head = json!({"method": numbers.one(&["POST", "POST", "POST", "GET", "", "HEAD"]), "target": target,
            "headers": headers, "local": true});
        let head = if numbers.below(50) == 0 { "[".to_string() } else { head.to_string() };
        let mut has_head = false;
        let effects = relay.request(number, &head);
        let mut next = carried_out(&effects, &mut has_head, Expects::Reply);
        while next != Expects::Nothing {
            let at = numbers.below(20);
            let bytes = bodies[numbers.below(bodies.len())].as_bytes();
            let bytes = if at == 1 { &[0xff, 0xfe, b'{'] } else { bytes };
            let effects = match next {
                // The client, or the upstream, has gone.
                _ if at == 0 => break,
                Expects::Body if at == 2 => relay.unread(number, 413, "too large"),
                Expects::Body => relay.body(number, bytes),
                _ if at < 4 => relay.failed(number, at == 3, "gone"),
                Expects::Reply => {
                    let status = [200, 200, 200, 201, 204, 400, 529][numbers.below(7)];
                    let kind = numbers.one(&["application/json", "text/event-stream", "text/html", "application/json"]);
                    let packed = numbers.one(&["", "", "gzip", "x"]);
                    relay.reply(
                        number,
                        status,
                        &json!([["content-type", kind], ["content-encoding", packed]]).to_string(),
                    )
                }
                Expects::Whole => relay.whole(number, bytes),
                Expects::Pieces if at < 10 => relay.end(number),
                _ => relay.piece(number, bytes),
            };
            next = carried_out(&effects, &mut has_head, next);
        }
        let rest = relay.closed(number, max_number(&mut numbers));
        assert!(rest.iter().all(|effect| matches!(effect, RelayEffect::Report(_))), "{rest:?}");
        assert_eq!(relay.closed(number, 0), [], "nothing is left of it");
    }
}

fn max_number(numbers: &mut Numbers) -> u64 {
    numbers.below(1 << 30) as u64
}

/// JSON with a line for each step.
fn toolwire_lines(cases: &Value) -> String {
    let one = |case: &Value| {
        let steps: Vec<String> =
            case["steps"].as_array().expect("steps").iter().map(|step| format!("      {step}")).collect();
        let mut members: Vec<String> = Vec::new();
        for (key, value) in case.as_object().expect("a case") {
            if key != "steps" {
                members.push(format!("    {}: {value}", json!(key)));
            }
        }
        members.push(format!("    \"steps\": [\n{}\n    ]", steps.join(",\n")));
        format!("  {{\n{}\n  }}", members.join(",\n"))
    };
    let cases: Vec<String> = cases.as_array().expect("cases").iter().map(one).collect();
    format!("[\n{}\n]\n", cases.join(",\n"))
}
