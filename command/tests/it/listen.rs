//! `toolwire proxy --listen` (tests/listen): plays every transcript, and compares the effects of each step.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde_json::{json, Value};
use toolwire_command::{Listener, ListenerEffect};

use crate::transcripts::{shown, text, Numbers};

fn played(listener: &mut Listener, step: &Value) -> Vec<ListenerEffect> {
    let number = step["number"].as_u64().unwrap_or(1);
    let session = step["session"].as_u64().unwrap_or_default();
    if let Some(head) = step.get("request") {
        return listener.request(number, &head.to_string());
    }
    if let Some(body) = step.get("body") {
        return listener.body(number, text(body).as_bytes());
    }
    if let Some(about) = step.get("unread") {
        let status = u16::try_from(about["status"].as_u64().expect("a status")).expect("a status");
        return listener.unread(number, status, about["why"].as_str().expect("a reason"));
    }
    if let Some(message) = step.get("message") {
        return listener.message(session, text(message).as_bytes());
    }
    if let Some(why) = step.get("ended") {
        return listener.ended(session, why.as_str().expect("a reason"));
    }
    if step.get("alarm").is_some() {
        return listener.alarm(session);
    }
    assert!(step.get("closed").is_some(), "an unknown step: {step}");
    listener.closed(number)
}

#[test]
fn transcripts_have_the_expected_effects() {
    let begin = |case: &Value| Listener::new(&case["settings"].to_string(), case.get("token").and_then(Value::as_str));
    crate::transcripts::play("listen", begin, |listener, step| {
        played(listener, step).into_iter().map(|effect| shown(effect.words())).collect()
    });
}

/// Bodies and events are UTF-8, so a server's other bytes would be changed silently.
#[test]
fn a_message_that_is_not_utf_8_is_refused() {
    let mut listener = Listener::new("{}", None);
    let headers = json!([["Host", "localhost"], ["Accept", "*/*"], ["Content-Type", "application/json"]]);
    let head = json!({"method": "POST", "target": "/mcp", "headers": headers, "id": "a"});
    listener.request(1, &head.to_string());
    listener.body(1, br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    let effects = listener.message(1, b"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"t\":\"\xff\"}}");
    assert!(matches!(effects.as_slice(), [ListenerEffect::Log(line)] if line.contains("UTF-8")), "{effects:?}");
    let effects = listener.message(1, b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"r\",\"params\":{\"t\":\"\xff\"}}");
    let [ListenerEffect::Message(1, refusal)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(refusal.contains("\"id\":7,\"error\""), "{refusal}");
    let effects = listener.message(1, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"\xff\"}}");
    let [ListenerEffect::Answer(1, _, answer), ListenerEffect::Close(1)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert!(answer.contains("\"id\":1,\"error\"") && answer.contains("expected UTF-8"), "{answer}");
}

#[derive(Default)]
struct Response {
    has_head: bool,
    is_over: bool,
    text: String,
}

/// Eight clients, half of them with the protocol version 2026-07-28, use the same ids at the same time. Each has a
/// secret, which its servers repeat: no response contains another client's secret, and each response has one head and
/// one end.
#[test]
fn clients_receive_only_responses_to_their_own_requests() {
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let mut listener = Listener::new(r#"{"mostSessions": 100}"#, None);
        let mut responses: BTreeMap<u64, (usize, Response)> = BTreeMap::new();
        // The open requests of each session: id and secret.
        let mut requests: BTreeMap<u64, Vec<(Value, Value)>> = BTreeMap::new();
        let mut has_begun = [false; 8];
        let mut number = 0;
        for _ in 0..200 {
            let mut body = String::new();
            let effects = match numbers.below(8) {
                0..=3 => {
                    number += 1;
                    let client = numbers.below(8);
                    let is_modern = client >= 4;
                    let secret = format!("secret-{client}");
                    let (id, token) = (numbers.below(3), numbers.below(2));
                    let mut headers = vec![json!(["Host", "localhost"]), json!(["Accept", "*/*"])];
                    headers.push(json!(["Content-Type", "application/json"]));
                    let mut meta = json!({"progressToken": token});
                    let mut method = "ping";
                    if is_modern {
                        meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
                        headers.push(json!(["MCP-Protocol-Version", "2026-07-28"]));
                        headers.push(json!(["Mcp-Method", "ping"]));
                    } else if has_begun[client] {
                        headers.push(json!(["Mcp-Session-Id", secret]));
                    } else {
                        (method, has_begun[client]) = ("initialize", true);
                    }
                    let head = json!({"method": "POST", "target": "/mcp", "headers": headers, "id": secret});
                    responses.insert(number, (client, Response::default()));
                    let params = json!({"_meta": meta, "secret": secret});
                    body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
                    let mut effects = listener.request(number, &head.to_string());
                    effects.extend(listener.body(number, body.as_bytes()));
                    effects
                }
                4 => match responses.iter().filter(|(_, (_, it))| !it.is_over).map(|(number, _)| *number).next() {
                    // The client disconnects.
                    Some(gone) if numbers.below(3) == 0 => {
                        responses.remove(&gone);
                        listener.closed(gone)
                    }
                    _ => Vec::new(),
                },
                5 => {
                    let session = 1 + numbers.below(8) as u64;
                    listener.alarm(session)
                }
                progress => {
                    let sessions: Vec<u64> = requests.keys().copied().collect();
                    if sessions.is_empty() {
                        continue;
                    }
                    let session = sessions[numbers.below(sessions.len())];
                    let open = requests.get_mut(&session).expect("a session");
                    if open.is_empty() {
                        continue;
                    }
                    let at = numbers.below(open.len());
                    let message = if progress == 6 {
                        let params = json!({"progressToken": open[at].1["_meta"]["progressToken"], "message": open[at].1["secret"]});
                        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
                    } else {
                        let (id, params) = open.remove(at);
                        json!({"jsonrpc": "2.0", "id": id, "result": {"of": params["secret"]}})
                    };
                    listener.message(session, message.to_string().as_bytes())
                }
            };
            for effect in effects {
                let mut take = |number: u64, text: &str, begins: bool, ends: bool| {
                    let Some((client, response)) = responses.get_mut(&number) else { return };
                    assert!(!response.is_over, "output after the end");
                    assert!(begins != response.has_head, "expected one head before all other output");
                    response.has_head = true;
                    response.is_over = ends;
                    response.text.push_str(text);
                    for other in (0..8).filter(|other| other != client) {
                        assert!(!response.text.contains(&format!("secret-{other}")), "seed {seed}: {}", response.text);
                    }
                };
                match effect {
                    ListenerEffect::Answer(number, head, text) => take(number, &(head + &text), true, true),
                    ListenerEffect::Head(number, head) => take(number, &head, true, false),
                    ListenerEffect::Write(_, number, text) => take(number, &text, false, false),
                    ListenerEffect::End(number) => take(number, "", false, true),
                    ListenerEffect::Message(session, text) => {
                        let message: Value = serde_json::from_str(&text).expect("JSON");
                        let list = requests.entry(session).or_default();
                        match message["method"].as_str() {
                            Some("notifications/cancelled") => {
                                list.retain(|(id, _)| *id != message["params"]["requestId"]);
                            }
                            _ => list.push((message["id"].clone(), message["params"].clone())),
                        }
                    }
                    ListenerEffect::Pass(session, _) => {
                        let message: Value = serde_json::from_str(&body).expect("JSON");
                        requests.entry(session).or_default().push((message["id"].clone(), message["params"].clone()));
                    }
                    ListenerEffect::Close(session) => {
                        requests.remove(&session);
                    }
                    ListenerEffect::Read(..)
                    | ListenerEffect::Open(_)
                    | ListenerEffect::Alarm(..)
                    | ListenerEffect::Log(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        let answered = responses.values().filter(|(_, response)| response.is_over).count();
        assert!(answered > 20, "seed {seed}: {answered}");
    }
}
