//! `toolwire relay` (tests/relay): plays every transcript, and compares the effects of each step.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolwire_command::{Headers, Relay, RelayEffect, RelayRequest, RequestHead};

use crate::transcripts::{shown, text, Numbers};

struct Played {
    relay: Relay,
    open: BTreeMap<u64, RelayRequest>,
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

/// Each character of a value is one byte.
fn headers(list: &Value) -> Headers {
    let byte = |one: char| u8::try_from(one).expect("a byte");
    let pair = |pair: &Value| (string(&pair[0]), string(&pair[1]).chars().map(byte).collect());
    list.as_array().into_iter().flatten().map(pair).collect()
}

fn head(of: &Value) -> RequestHead {
    RequestHead {
        method: string(&of["method"]),
        target: string(&of["target"]),
        authority: of["authority"].as_str().map(String::from),
        headers: headers(&of["headers"]),
        time: string(&of["time"]),
        is_local: of["local"].as_bool().unwrap_or_default(),
    }
}

fn played(Played { relay, open }: &mut Played, step: &Value) -> Vec<RelayEffect> {
    let number = step["number"].as_u64().unwrap_or(1);
    let status = |about: &Value| u16::try_from(about["status"].as_u64().expect("a status")).expect("a status");
    let why = |about: &Value| about["why"].as_str().expect("a reason").to_string();
    if let Some(of) = step.get("request") {
        let (request, effects) = relay.request(head(of));
        open.insert(number, request);
        return effects;
    }
    let Some(request) = open.get_mut(&number) else { return Vec::new() };
    if let Some(length) = step.get("received") {
        return request.received(length.as_u64().expect("a length"));
    }
    if let Some(body) = step.get("body") {
        return request.body(text(body).as_bytes());
    }
    if let Some(about) = step.get("unread") {
        return request.unread(status(about), &why(about));
    }
    if let Some(head) = step.get("reply") {
        return request.reply(status(head), headers(&head["headers"]));
    }
    if let Some(body) = step.get("whole") {
        return request.whole(text(body).as_bytes());
    }
    if let Some(piece) = step.get("piece") {
        return request.piece(text(piece).as_bytes());
    }
    if step.get("end").is_some() {
        return request.end();
    }
    if let Some(about) = step.get("failed") {
        return request.failed(about["late"].as_bool().unwrap_or_default(), &why(about));
    }
    request.closed(step["closed"].as_u64().expect("microseconds"))
}

#[test]
fn transcripts_have_the_expected_effects() {
    let begin = |case: &Value| Played {
        relay: Relay::new(&case["settings"].to_string(), case.get("token").and_then(Value::as_str)),
        open: BTreeMap::new(),
    };
    crate::transcripts::play("relay", begin, |relay, step| {
        played(relay, step).into_iter().map(|effect| shown(effect.words())).collect()
    });
}

/// A transcript is text, so it cannot contain such a reply.
#[test]
fn a_whole_reply_that_is_not_utf_8_is_an_error() {
    let relay = Relay::new(r#"{"upstreams": [{"url": "http://127.0.0.1:1", "dialect": "openai-chat"}]}"#, None);
    let target = json!({"method": "POST", "target": "/v1/chat/completions", "headers": [["Host", "localhost"]]});
    let (mut request, _) = relay.request(head(&target));
    let body =
        json!({"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "files.read"}}]});
    let effects = request.body(body.to_string().as_bytes());
    assert!(matches!(effects[..], [.., RelayEffect::Send(..)]), "{effects:?}");
    let effects = request.reply(200, headers(&json!([["content-type", "application/json"]])));
    assert!(matches!(effects[..], [.., RelayEffect::Collect(_)]), "{effects:?}");
    let effects = request.whole(b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"}}]}");
    let [.., RelayEffect::Answer(head, text)] = &effects[..] else { panic!("{effects:?}") };
    assert!(head.status == 502 && text.contains("its reply is not UTF-8"), "{text}");
}

/// A frame of a binary event stream, whose checksum of the lengths the relay has to find wrong.
#[test]
fn binary_streams_are_restored_or_end_with_an_error() {
    let relay = Relay::new(r#"{"upstreams": [{"url": "https://bedrock-runtime.us-east-1.amazonaws.com"}]}"#, None);
    let target = "/model/anthropic.claude-sonnet-4-5/invoke-with-response-stream";
    let (mut request, _) =
        relay.request(head(&json!({"method": "POST", "target": target, "headers": [["Host", "localhost"]]})));
    let tool = json!({"name": "files.read", "input_schema": {"type": "object"}});
    let body = json!({"anthropic_version": "bedrock-2023-05-31", "messages": [], "tools": [tool]});
    let effects = request.body(body.to_string().as_bytes());
    assert!(matches!(effects[..], [RelayEffect::Send(..)]), "{effects:?}");
    let effects = request.reply(200, headers(&json!([["content-type", "application/vnd.amazon.eventstream"]])));
    assert!(matches!(effects[..], [RelayEffect::Head(_), RelayEffect::Feed(None)]), "{effects:?}");
    // The empty frame, which an event stream may contain.
    let empty = [0, 0, 0, 0x10, 0, 0, 0, 0, 5, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
    assert_eq!(request.piece(&empty[..7]), []);
    assert_eq!(request.piece(&empty[7..]), [RelayEffect::Write(empty.into())]);
    let effects = request.piece(&[0; 16]);
    let [RelayEffect::Write(frame), RelayEffect::End] = &effects[..] else { panic!("{effects:?}") };
    let text = String::from_utf8_lossy(frame);
    assert!(text.contains(":exception-type") && text.contains("expected frames of an event stream"), "{text}");
}

/// A large body of one request is rewritten on one thread while other requests are answered on this thread. A request
/// that is dropped in the middle, as after a panic, leaves nothing behind.
#[test]
fn requests_do_not_wait_for_each_other() {
    let relay = Relay::new(r#"{"upstreams": [{"url": "http://127.0.0.1:1"}], "mostClients": 2}"#, None);
    let post = json!({"method": "POST", "target": "/v1/chat/completions", "headers": [["Host", "localhost"]]});
    let (mut large, effects) = relay.request(head(&post));
    assert!(matches!(effects[..], [RelayEffect::Read(_)]), "{effects:?}");
    let body = format!("{{\"messages\": [{}0]}}", "0,".repeat(1 << 20));
    let rewritten = std::thread::spawn(move || large.body(body.as_bytes()));
    for _ in 0..100 {
        let (request, effects) = relay.request(head(&post));
        assert!(matches!(effects[..], [RelayEffect::Read(_)]), "{effects:?}");
        drop(request);
    }
    assert!(!rewritten.join().expect("no panic").is_empty());
    let metrics =
        json!({"method": "GET", "target": "/toolwire/metrics", "headers": [["Host", "localhost"]], "local": true});
    let (_, effects) = relay.request(head(&metrics));
    let [RelayEffect::Answer(_, page)] = &effects[..] else { panic!("{effects:?}") };
    assert!(page.contains("\ntoolwire_open_requests 0\n"), "{page}");
}

impl Numbers {
    fn one<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    Body,
    Reply,
    Whole,
    Pieces,
    Nothing,
}

/// A client receives one head and one end.
fn carried_out(effects: &[RelayEffect], has_head: &mut bool, before: Expects) -> Expects {
    let mut next = before;
    for effect in effects {
        assert_ne!(next, Expects::Nothing, "output after the end: {effect:?}");
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
            // Only log and report may follow.
            let rest = effects.iter().skip_while(|one| *one != effect).skip(1);
            assert!(rest.clone().all(|one| matches!(one, RelayEffect::Log(_) | RelayEffect::Report(_))));
            return next;
        }
    }
    next
}

/// Clients and upstreams that send anything, in any order that sockets allow: each client receives one head and one
/// end, and no state of a request remains after it.
#[test]
fn any_order_of_events_gives_each_client_one_reply() {
    let settings = json!({"upstreams": [{"url": "http://127.0.0.1:1/x", "dialect": "openai-chat", "formats": "ladder"},
        {"url": "https://api.anthropic.com", "path": "/a"}], "report": "r", "verbose": true, "mostClients": 3});
    let relay = Relay::new(&settings.to_string(), None);
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
        let encoding = numbers.one(&["gzip", "br", "x", "", "identity"]);
        let list = json!([
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
        let of = json!({"method": numbers.one(&["POST", "POST", "POST", "GET", "", "HEAD"]), "target": target,
            "headers": list, "local": true});
        let of = if numbers.below(50) == 0 { Value::Null } else { of };
        let mut has_head = false;
        let (mut request, effects) = relay.request(head(&of));
        let mut next = carried_out(&effects, &mut has_head, Expects::Reply);
        while next != Expects::Nothing {
            let at = numbers.below(20);
            let bytes = bodies[numbers.below(bodies.len())].as_bytes();
            let bytes = if at == 1 { &[0xff, 0xfe, b'{'] } else { bytes };
            let effects = match next {
                // The client or the upstream disconnects.
                _ if at == 0 => break,
                Expects::Body if at == 2 => with(&mut request, |request| request.unread(413, "too large")),
                Expects::Body | Expects::Whole if at == 3 => with(&mut request, |request| request.received(1 << 22)),
                Expects::Body => with(&mut request, |request| request.body(bytes)),
                _ if at < 4 => with(&mut request, |request| request.failed(at == 3, "gone")),
                Expects::Reply => {
                    let status = [200, 200, 200, 201, 204, 400, 529][numbers.below(7)];
                    let kind = numbers.one(&["application/json", "text/event-stream", "text/html", "application/json"]);
                    let packed = numbers.one(&["", "", "gzip", "x"]);
                    let headers = headers(&json!([["content-type", kind], ["content-encoding", packed]]));
                    with(&mut request, |request| request.reply(status, headers))
                }
                Expects::Whole => with(&mut request, |request| request.whole(bytes)),
                Expects::Pieces if at < 10 => with(&mut request, RelayRequest::end),
                _ => with(&mut request, |request| request.piece(bytes)),
            };
            next = carried_out(&effects, &mut has_head, next);
        }
        let rest = with(&mut request, |request| request.closed(max_number(&mut numbers)));
        assert!(rest.iter().all(|effect| matches!(effect, RelayEffect::Report(_))), "{rest:?}");
        assert!(!request.is_open(), "state of the request remains");
    }
}

fn with(request: &mut RelayRequest, what: impl FnOnce(&mut RelayRequest) -> Vec<RelayEffect>) -> Vec<RelayEffect> {
    if request.is_open() {
        what(request)
    } else {
        Vec::new()
    }
}

fn max_number(numbers: &mut Numbers) -> u64 {
    numbers.below(1 << 30) as u64
}

#[test]
fn changed_settings_are_checked_with_the_address_that_listens() {
    let settings = |host: &str, port: u16, upstream: u16| {
        let upstream = json!({"url": format!("http://127.0.0.1:{upstream}")});
        json!({"listen": {"host": host, "port": port}, "upstreams": [upstream]}).to_string()
    };
    let open = Relay::new(&settings("0.0.0.0", 8787, 1), Some("token"));
    let local = settings("127.0.0.1", 8787, 1);
    assert!(open.with_settings(&local, None).is_err());
    assert!(open.with_settings(&local, Some("token")).is_ok());
    let local = Relay::new(&local, None);
    assert!(local.with_settings(&settings("127.0.0.1", 9, 8787), None).is_err());
    assert!(local.with_settings(&settings("127.0.0.1", 9, 2), None).is_ok());
}

/// An agent may be able to write the file itself.
#[test]
fn key_of_a_client_is_sent_only_to_the_addresses_of_the_start() {
    let file = [("/kimi", "https://a.example/v1/MINE"), ("/other", "https://b.example"), ("/other/x", "http://c:1")];
    let settings = |upstreams: &[(&str, &str)], token: Option<&str>, client: Option<&str>| {
        let upstreams = upstreams.iter().map(|(path, url)| json!({"path": path, "url": url, "dialect": "vllm"}));
        let client = client.map(|path| json!({"path": path}));
        let upstreams: Vec<_> = upstreams.collect();
        json!({"listen": {"host": "127.0.0.1", "port": 0}, "token": token, "upstreams": upstreams, "client": client})
            .to_string()
    };
    let changed = |path: &str, url: &'static str| {
        file.map(|(known, old)| (known, if known == path { url } else { old })).to_vec()
    };
    let with = |row: (&'static str, &'static str)| [&file[..], &[row]].concat();
    let without = |path: &str| file.iter().copied().filter(|(known, _)| *known != path).collect::<Vec<_>>();
    for (client, upstreams, is_accepted) in [
        ("/kimi", file.to_vec(), true),
        ("/kimi", changed("/kimi", "https://a.example/v1/EVIL"), false),
        ("/kimi", changed("/kimi", "https://a.example:8443/v1/MINE"), false),
        ("/kimi", changed("/kimi", "http://a.example:443/v1/MINE"), false),
        ("/kimi", changed("/kimi", "https://b.example"), false),
        ("/kimi", with(("/kimi", "https://b.example")), false),
        ("/kimi", with(("/kimi/v1", "https://a.example/v1/MINE")), false),
        ("/kimi", with(("/kimis", "https://d.example")), true),
        // A shorter path would receive the requests.
        ("/kimi", without("/kimi"), false),
        ("/kimi", [without("/kimi"), vec![("/", "https://b.example")]].concat(), false),
        ("/kimi", changed("/other", "https://d.example"), true),
        ("/kimi", without("/other"), true),
        ("/other", changed("/other/x", "http://c:2"), false),
        ("/other", without("/other/x"), false),
        // The client may use every path.
        ("", changed("/kimi", "https://b.example"), false),
        ("", with(("", "https://b.example")), false),
        ("", file.iter().rev().copied().collect(), true),
    ] {
        let start = Relay::new(&settings(&file, None, Some(client)), None);
        let change = start.with_settings(&settings(&upstreams, None, Some(client)), None);
        assert_eq!(change.is_ok(), is_accepted, "{client}: {upstreams:?}");
    }
    // Without a client, the file decides, but a token stays required.
    let relay = |token: Option<&str>, client: Option<&str>| Relay::new(&settings(&file, token, client), token);
    let change = |relay: &Relay, token: Option<&str>, client: Option<&str>| {
        relay.with_settings(&settings(&changed("/kimi", "https://b.example"), token, client), token).is_ok()
    };
    assert!(change(&relay(None, None), None, None));
    assert!(change(&relay(None, None), Some("T"), None));
    assert!(change(&relay(Some("T"), None), Some("T"), None));
    assert!(!change(&relay(Some("T"), None), None, None));
    assert!(!change(&relay(Some("T"), None), Some("U"), None));
    // The client sends no token.
    let started = relay(None, Some(""));
    assert!(started.with_settings(&settings(&file, Some("T"), Some("")), Some("T")).is_err());
    // The addresses at the start decide, not those of the last change.
    let fewer = relay(None, Some("/kimi")).with_settings(&settings(&without("/other"), None, Some("/kimi")), None);
    let back = fewer.and_then(|fewer| fewer.with_settings(&settings(&file, None, Some("/kimi")), None));
    assert_eq!(back.map(drop), Ok(()));
}
