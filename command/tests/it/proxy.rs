//! `toolwire proxy` (tests/proxy): plays every transcript, and compares the effects of each message.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{json, Value};
use toolwire_command::{Effect, Proxy};

use crate::transcripts::{shown, text, Numbers};

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

#[test]
fn transcripts_have_the_expected_effects() {
    let begin = |case: &Value| Proxy::new(&case["settings"].to_string());
    crate::transcripts::play("proxy", begin, |proxy, step| {
        played(proxy, step).into_iter().map(|effect| shown(effect.words())).collect()
    });
}

/// A server that lists page after page must not fill the memory.
#[test]
fn the_pages_of_a_list_are_bounded_in_bytes() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let mut effects = proxy.client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let tool = json!({"name": "t", "description": "x".repeat(4 << 20), "inputSchema": {"type": "object"}});
    let mut pages = 0;
    while let Some(Effect::ToServer(0, request)) = effects.first() {
        let request: Value = serde_json::from_str(request).expect("a request");
        let page = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": [tool], "nextCursor": "n"}});
        effects = proxy.server(0, page.to_string().as_bytes());
        pages += 1;
    }
    let [Effect::ToClient(answer)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(answer.contains("expected at most 10000 pages with 100000 entries of 64 MiB, found more"), "{answer}");
    assert_eq!(pages, 16);
}

#[test]
fn a_logged_line_is_bounded() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let effects = proxy.ended(0, &"x".repeat(1 << 20));
    let Some(Effect::Log(line)) = effects.first() else { panic!("{effects:?}") };
    assert!(line.len() < 3_000, "{}", line.len());
}

/// The limit on the entries of a list holds for its last page, and for a list of one page.
#[test]
fn the_pages_of_a_list_are_bounded_in_entries() {
    let limited = |pages: &[usize]| {
        let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
        let mut effects = proxy.client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        for (at, entries) in pages.iter().enumerate() {
            let Some(Effect::ToServer(0, request)) = effects.first() else { panic!("{effects:?}") };
            let request: Value = serde_json::from_str(request).expect("a request");
            let mut page = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": vec![1; *entries]}});
            if at + 1 < pages.len() {
                page["result"]["nextCursor"] = json!("n");
            }
            effects = proxy.server(0, page.to_string().as_bytes());
        }
        // A server may list many tools that are no tools.
        let logged = effects.iter().filter(|effect| matches!(effect, Effect::Log(_))).count();
        assert!(logged <= 101, "{logged} lines");
        let Some(Effect::ToClient(answer)) = effects.last() else { panic!("{effects:?}") };
        answer.contains("100000 entries of 64 MiB, found more")
    };
    assert!(!limited(&[100_000]));
    assert!(!limited(&[100_000, 0]));
    assert!(limited(&[100_001]));
    assert!(limited(&[50_000, 50_001]));
}

#[test]
fn the_pages_of_a_list_are_bounded_in_number() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let mut effects = proxy.client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let mut pages = 0;
    while let Some(Effect::ToServer(0, request)) = effects.first() {
        let request: Value = serde_json::from_str(request).expect("a request");
        let page = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": [], "nextCursor": "n"}});
        effects = proxy.server(0, page.to_string().as_bytes());
        pages += 1;
    }
    let [Effect::ToClient(answer)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(answer.contains("expected at most 10000 pages"), "{answer}");
    assert_eq!(pages, 10_000);
}

#[test]
fn a_server_that_ends_again_and_again_is_restarted_more_and_more_slowly() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let delays: Vec<u64> = (0..9)
        .map(|_| {
            let effects = proxy.ended(0, "exit code 1");
            let delay = effects.iter().find_map(|effect| match effect {
                Effect::Start(0, delay) => Some(*delay),
                _ => None,
            });
            proxy.started(0);
            delay.unwrap_or_else(|| panic!("{effects:?}"))
        })
        .collect();
    assert_eq!(delays, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
}

#[test]
fn a_message_that_is_not_utf_8_passes_from_one_server_and_is_an_error_of_several() {
    let answer =
        |id: &Value| [format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").as_bytes(), b"\"\xff\"}"].concat();
    let notification = b"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"t\":\"\xff\"}}";
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    assert_eq!(proxy.client(br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#), [Effect::PassToServer(0)]);
    assert_eq!(proxy.server(0, &answer(&json!(1))), [Effect::PassToClient]);
    assert_eq!(proxy.server(0, notification), [Effect::PassToClient]);
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "a"}, {"name": "b"}], "dialects": ["portable"]}"#);
    let effects = proxy.client(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let requests: Vec<Value> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::ToServer(_, request) => Some(serde_json::from_str(request).expect("a request")),
            _ => None,
        })
        .collect();
    let [one, two] = &requests[..] else { panic!("{effects:?}") };
    let effects = proxy.server(0, notification);
    assert!(effects.iter().all(|effect| matches!(effect, Effect::Log(_))), "{effects:?}");
    let mut effects = proxy.server(0, &answer(&one["id"]));
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    let list = json!({"jsonrpc": "2.0", "id": two["id"], "result": {"tools": [tool]}});
    effects.extend(proxy.server(1, list.to_string().as_bytes()));
    let to_client = |effect: &Effect| match effect {
        Effect::ToClient(answer) => Some(answer.clone()),
        _ => None,
    };
    let answers: Vec<String> = effects.iter().filter_map(to_client).collect();
    assert!(answers.len() == 1 && answers[0].contains("b__t"), "{effects:?}");
}

/// A message may begin with one byte order mark. A host without a large stack must survive a line of many.
#[test]
fn a_line_of_byte_order_marks_is_refused() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for line in ["\u{feff}".repeat(1_000_000), format!("\u{feff}\u{feff}{ping}")] {
        let effects = proxy.client(line.as_bytes());
        let [Effect::ToClient(answer)] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(answer.contains("-32700"), "{answer}");
        let effects = proxy.server(0, line.as_bytes());
        assert!(matches!(effects.as_slice(), [] | [Effect::Log(_)]), "{effects:?}");
    }
    assert_eq!(proxy.client(format!("\u{feff}{ping}").as_bytes()), [Effect::ToServer(0, ping.into())]);
}

/// Without its mark, a message is sent as text, so a message that is not UTF-8 cannot be sent unchanged.
#[test]
fn a_marked_message_that_is_not_utf_8_is_not_forwarded() {
    let mut proxy = Proxy::new(r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#);
    let effects =
        proxy.client(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"t\":\"\xff\"}}");
    let [Effect::ToClient(answer)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(answer.contains("\"id\":1,") && answer.contains("expected UTF-8"), "{answer}");
    assert_eq!(proxy.unanswered(), 0);

    assert_eq!(proxy.client(br#"{"jsonrpc":"2.0","id":2,"method":"x"}"#), [Effect::PassToServer(0)]);
    let effects = proxy.server(0, b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"t\":\"\xff\"}}");
    let [Effect::ToClient(answer)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(answer.contains("\"id\":2,\"error\""), "{answer}");
    let effects = proxy.server(0, b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"t\":\"\xff\"}}");
    assert!(matches!(effects.as_slice(), [Effect::Log(_)]), "{effects:?}");
}

struct Session {
    proxy: Proxy,
    /// Ids of the client's unanswered requests.
    requests: Vec<Value>,
    /// Unanswered requests of each server.
    received: Vec<Vec<Value>>,
    alarms: Vec<u64>,
    starting: Vec<usize>,
    stopped: Vec<usize>,
    /// True if the client states its version with each request.
    is_modern: bool,
    /// Subscriptions, which are answered at their end.
    listens: Vec<Value>,
}

impl Session {
    fn new(count: usize, is_modern: bool) -> Session {
        let servers: Vec<Value> = (0..count).map(|at| json!({"name": format!("s{at}")})).collect();
        let settings = json!({"servers": servers, "dialects": ["portable"], "repair": "likely", "most": 3});
        let proxy = Proxy::new(&settings.to_string());
        let received = vec![Vec::new(); count];
        let (requests, listens, alarms) = (Vec::new(), Vec::new(), Vec::new());
        let (starting, stopped) = (Vec::new(), Vec::new());
        Session { proxy, requests, received, alarms, starting, stopped, is_modern, listens }
    }

    /// Carries out the effects, and checks what the host and both sides may rely on.
    fn take(&mut self, effects: Vec<Effect>, message: &str) {
        for effect in effects {
            match effect {
                Effect::ToClient(text) => self.write_client(&text),
                Effect::PassToClient => self.write_client(message),
                Effect::ToServer(server, text) => self.write_server(server, &text),
                Effect::PassToServer(server) => self.write_server(server, message),
                Effect::Alarm(alarm, _) => self.alarms.push(alarm),
                Effect::Start(server, _) => self.starting.push(server),
                Effect::Stop(server) => self.stopped.push(server),
                Effect::Headers(..) => {}
                Effect::Log(line) | Effect::Report(line) => assert!(!line.contains(['\u{1b}', '\n']), "{line}"),
                other => panic!("{other:?}"),
            }
        }
    }

    fn write_client(&mut self, text: &str) {
        assert!(!text.contains('\n'), "{text}");
        let message: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if message.get("method").is_some() || message["id"].is_null() {
            return;
        }
        let place = self.requests.iter().position(|id| *id == message["id"]);
        self.requests.swap_remove(place.unwrap_or_else(|| panic!("an answer without a request: {text}")));
    }

    fn write_server(&mut self, server: usize, text: &str) {
        assert!(!text.contains('\n'), "{text}");
        assert!(!self.starting.contains(&server), "output for a server that has ended");
        let message: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        if message.get("method").is_some() && message.get("id").is_some() {
            self.received[server].push(message);
        }
    }

    fn of_client(&mut self, message: &Value) {
        let text = message.to_string();
        let effects = self.proxy.client(text.as_bytes());
        self.take(effects, &text);
    }

    fn of_server(&mut self, server: usize, text: &str) {
        let effects = self.proxy.server(server, text.as_bytes());
        self.take(effects, text);
    }

    fn end(&mut self, server: usize) {
        if self.starting.contains(&server) {
            return;
        }
        self.received[server].clear();
        let effects = self.proxy.ended(server, "exit code 1\nmore");
        self.take(effects, "");
    }

    fn step(&mut self, numbers: &mut Numbers, number: u64) {
        let server = numbers.below(self.received.len());
        match numbers.below(12) {
            0..=3 => {
                let id = if numbers.below(2) == 0 { json!(number) } else { json!(format!("toolwire:{number}")) };
                let tool = ["a_b", "s0__a_b", "search_tools", "call_tool", "read", "\u{1b}[2J"][numbers.below(6)];
                let arguments = [json!({}), json!({"name": "read", "arguments": "{}"}), json!("x"), json!(null)];
                let (method, params) = match numbers.below(10) {
                    0 => ("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})),
                    1 | 2 => ("tools/list", json!({"_meta": {"progressToken": 1}})),
                    3..=5 => ("tools/call", json!({"name": tool, "arguments": arguments[numbers.below(4)]})),
                    6 => ("resources/read", json!({"uri": "toolwire://report"})),
                    7 => ("prompts/list", json!({})),
                    8 => ("resources/list", json!({"cursor": 1})),
                    _ => ("ping", json!([])),
                };
                let (method, mut params) = match numbers.below(24) {
                    0 => ("server/discover", json!({})),
                    1 => ("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})),
                    2 => ("resources/subscribe", json!({"uri": "a:b"})),
                    3 => ("prompts/get", json!({"name": "p"})),
                    _ => (method, params),
                };
                if self.is_modern && params.is_object() && method != "initialize" {
                    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
                }
                self.requests.push(id.clone());
                if method == "subscriptions/listen" {
                    self.listens.push(id.clone());
                }
                self.of_client(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            }
            4 if !self.requests.is_empty() => {
                // A cancelled request may be answered, but need not be.
                let id = self.requests[numbers.below(self.requests.len())].clone();
                let before = self.requests.len();
                let params = json!({"requestId": id});
                self.of_client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
                assert_eq!(self.requests.len(), before);
                self.requests.retain(|one| *one != id);
            }
            5..=7 if !self.received[server].is_empty() && !self.starting.contains(&server) => {
                let place = numbers.below(self.received[server].len());
                let request = self.received[server].swap_remove(place);
                let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}}});
                let tool = |name: &str| json!({"name": name, "inputSchema": schema});
                let result = match request["method"].as_str().unwrap_or_default() {
                    "initialize" => {
                        json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}}})
                    }
                    "tools/list" if numbers.below(3) == 0 => json!({"tools": [tool("a.b")], "nextCursor": "n"}),
                    "tools/list" => json!({"tools": [tool("a.b"), tool("read"), tool("search_tools"), tool("x"), 7]}),
                    "prompts/list" => json!({"prompts": [{"name": "p"}]}),
                    "server/discover" => {
                        let versions = [json!(["2026-07-28"]), json!(["2999-01-01"]), json!(null)];
                        json!({"supportedVersions": versions[numbers.below(3)], "capabilities":
                            {"tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}}})
                    }
                    "tools/call" | "prompts/get" if numbers.below(3) == 0 => {
                        let input = json!({"method": "roots/list"});
                        json!({"resultType": "input_required", "inputRequests": {"a": input}, "requestState": "s"})
                    }
                    _ => json!({"content": []}),
                };
                let id = &request["id"];
                let answer = match numbers.below(6) {
                    0 => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no\u{1b}[2J"}}),
                    _ => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                };
                self.of_server(server, &answer.to_string());
            }
            8 if !self.starting.contains(&server) => {
                let lines = [
                    "",
                    "\u{1b}[31m",
                    "{}",
                    "[[[",
                    r#"{"id":1,"result":{}}"#,
                    r#"{"id":"toolwire:1","result":7}"#,
                    r#"{"method":"notifications/tools/list_changed"}"#,
                    r#"{"method":"notifications/cancelled","params":{"requestId":"toolwire:5"}}"#,
                ];
                let text = lines[numbers.below(8)];
                // A line with the id of an open request would be its answer.
                if !self.requests.contains(&json!(1)) {
                    self.of_server(server, text);
                }
            }
            9 => self.end(server),
            10 if !self.starting.is_empty() => {
                let server = self.starting.swap_remove(numbers.below(self.starting.len()));
                let effects = self.proxy.started(server);
                self.take(effects, "");
            }
            11 if !self.alarms.is_empty() => {
                let alarm = self.alarms.swap_remove(numbers.below(self.alarms.len()));
                let effects = self.proxy.alarm(alarm);
                self.take(effects, "");
                for server in std::mem::take(&mut self.stopped) {
                    self.end(server);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn each_request_of_a_generated_session_is_answered_once() {
    for seed in 0..600 {
        let mut numbers = Numbers(seed);
        let mut session = Session::new(1 + numbers.below(3), seed % 2 == 1);
        for number in 0..60 {
            session.step(&mut numbers, 1_000 + number);
        }
        // At the end no request remains open, whatever happened before.
        for server in 0..session.received.len() {
            session.end(server);
        }
        for alarm in std::mem::take(&mut session.alarms) {
            let effects = session.proxy.alarm(alarm);
            session.take(effects, "");
        }
        let mut open = session.requests.clone();
        open.retain(|id| !session.listens.contains(id));
        assert_eq!((open.as_slice(), session.proxy.unanswered()), ([].as_slice(), 0), "seed {seed}");
    }
}
