//! MCP servers at URLs: `check` and `proxy` with streamable HTTP and SSE.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
        Arc, Mutex,
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    client::{initialize_request, initialize_result, ProxyProcess},
    command::program,
    relay::{api, reply, wait_until, write},
};

/// A server at a URL, with streamable HTTP or only SSE. Returns its port.
fn remote(transport: &'static str) -> u16 {
    let streams = std::sync::Mutex::new(None::<std::net::TcpStream>);
    api(move |request, stream| {
        let (method, rest) = request.start.split_once(' ').expect("a request line");
        let path = rest.split(' ').next().unwrap_or_default();
        if request.header("authorization") != Some("Bearer secret-secret") {
            let text = format!("who are you with {:?}?", request.header("authorization"));
            return write(stream, &format!("HTTP/1.1 401 No\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
        }
        let message: Value = request.json();
        let result = match message["method"].as_str() {
            Some("initialize") => initialize_result(),
            Some("tools/list") => json!({"tools": [{"name": "a.b", "inputSchema": {"type": "object"}}]}),
            Some("large") => json!({"text": "x".repeat(17 << 20)}),
            Some("fail") => return write(stream, "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"),
            _ => {
                json!({"version": request.header("mcp-protocol-version"), "session": request.header("mcp-session-id")})
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        match (method, path, transport) {
            ("POST", "/mcp", "http") if message.get("id").is_none() => {
                write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n");
            }
            ("POST", "/mcp", "http") => {
                let pretty = serde_json::to_string_pretty(&answer).expect("JSON");
                reply(stream, "Content-Type: application/json\r\nMcp-Session-Id: s\r\n", pretty.as_bytes());
            }
            ("POST", "/mcp", "moved") => {
                write(stream, "HTTP/1.1 307 Moved\r\nLocation: /mcp/\r\nContent-Length: 0\r\n\r\n");
            }
            ("POST", "/mcp/", "moved") => {
                reply(stream, "Content-Type: text/event-stream\r\n", format!("data: {answer}\n\n").as_bytes());
            }
            ("GET", "/mcp", "sse") => {
                // Stored first: the client's next message may arrive as soon as it knows the endpoint.
                *streams.lock().expect("no panic") = Some(stream.try_clone().expect("a connection"));
                write(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /m\n\n",
                );
            }
            ("POST", "/m", "sse") => {
                write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n");
                let mut streams = streams.lock().expect("no panic");
                if message.get("id").is_some() {
                    write(streams.as_mut().expect("a stream"), &format!("event: message\ndata: {answer}\n\n"));
                }
            }
            ("DELETE", ..) => write(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            _ => write(stream, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"),
        }
    })
}

const SECRET: &str = "Authorization: Bearer secret-secret";

#[test]
fn tools_of_a_server_at_a_url_are_listed() {
    for transport in ["http", "sse", "moved"] {
        let url = format!("http://127.0.0.1:{}/mcp", remote(transport));
        let output = program().args(["check", "-d", "openai-chat", "--url", &url, "--header", SECRET]).output();
        let output = output.expect("the program");
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(stdout.contains("tool-name"), "{transport}: {stdout}{stderr}");
    }
}

#[test]
fn a_server_at_a_url_that_refuses_or_does_not_exist_is_an_error() {
    let url = format!("http://127.0.0.1:{}/mcp", remote("http"));
    let other = "Authorization: Bearer other-secret";
    for (url, words) in [
        (url.as_str(), "who are you with Some(\"…\")?"),
        ("http://127.0.0.1:9/mcp", "expected a server at that address, found none (ECONNREFUSED)"),
        ("http://x.test:port/mcp", "expected an address, found something else"),
        ("http://x.invalid/mcp", "expected a server at that address, found none (ENOTFOUND)"),
    ] {
        let output = program().args(["check", "--url", url, "--header", other]).output().expect("the program");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words) && !stderr.contains("other-secret"), "{words} in {stderr}");
    }
}

#[test]
fn a_proxy_connects_to_a_server_at_a_url() {
    for transport in ["http", "sse", "moved"] {
        let url = format!("http://127.0.0.1:{}/mcp", remote(transport));
        let mut command = program();
        command.args(["proxy", "--dialect", "openai-chat", "--url", &url, "--header", SECRET]);
        let mut proxied = ProxyProcess::start(command);
        assert_eq!(proxied.ask(&initialize_request())["result"]["serverInfo"]["name"], "f");
        let list = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        assert_eq!(list["result"]["tools"][0]["name"], "a_b", "{transport}");
        let failed = proxied.ask(r#"{"jsonrpc":"2.0","id":2,"method":"fail"}"#);
        assert!(
            failed["error"]["message"].as_str().is_some_and(|why| why.contains("could not be reached")),
            "{failed}"
        );
        let found = proxied.ask(r#"{"jsonrpc":"2.0","id":3,"method":"vendor/own"}"#)["result"].clone();
        let session = if transport == "http" { json!("s") } else { Value::Null };
        assert_eq!(found, json!({"version": "2025-06-18", "session": session}), "{transport}");
        // The limit of all answers together is that of `check`.
        assert!(proxied.ask(r#"{"jsonrpc":"2.0","id":4,"method":"large"}"#).get("result").is_some());
        assert_eq!(proxied.end(), (String::new(), Some(0)));
    }
}

#[test]
fn a_server_at_a_url_receives_the_bytes_of_a_message() {
    let (seen, bodies) = channel();
    let port = api(move |request, stream| {
        let message = request.json();
        let result = if message["method"] == "initialize" { initialize_result() } else { json!({}) };
        if message["method"] == "vendor/own" {
            seen.send(request.body.clone()).expect("the test waits");
        }
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        match message.get("id") {
            Some(_) => reply(stream, "Content-Type: application/json\r\n", answer.as_bytes()),
            None => write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n"),
        }
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    let odd =
        r#"{"jsonrpc":"2.0", "id":1,"method":"vendor/own","params":{"chat":9007199254740993,"n":1.0,"s":"\u00e9"}}"#;
    proxied.ask(odd);
    let body = bodies.recv_timeout(Duration::from_secs(20)).expect("a request");
    assert_eq!(String::from_utf8_lossy(&body), odd);
}

/// Such a server is rmcp before 1.4.0.
#[test]
fn a_message_is_sent_after_the_server_has_received_the_notification_before_it() {
    let is_initialized = AtomicBool::new(false);
    let port = api(move |request, stream| {
        let message = request.json();
        let result = match message["method"].as_str() {
            Some("initialize") => initialize_result(),
            Some("notifications/initialized") => {
                thread::sleep(Duration::from_millis(200));
                is_initialized.store(true, Ordering::SeqCst);
                return write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n");
            }
            Some("tools/list") if is_initialized.load(Ordering::SeqCst) => {
                json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]})
            }
            _ => return write(stream, "HTTP/1.1 422 No\r\nContent-Length: 0\r\n\r\n"),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
    });
    let list = ProxyProcess::start_for_server(port).ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(list["result"]["tools"][0]["name"], "look", "{list}");
}

#[test]
fn a_notification_without_a_reply_delays_others_for_a_limited_time() {
    let port = api(|request, stream| {
        let message = request.json();
        let result = match message["method"].as_str() {
            Some("initialize") => initialize_result(),
            Some("notifications/initialized") => return,
            _ => json!({}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    let begin = Instant::now();
    assert!(proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).get("result").is_some());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

/// A server that closes the streams of calls, and continues them with GET and `Last-Event-ID` (SEP-1699). Returns its
/// port, and the ids with which streams were continued.
fn polled() -> (u16, Arc<Mutex<Vec<String>>>) {
    const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let continued = Arc::new(Mutex::new(Vec::new()));
    let (ids, own, failed) = (continued.clone(), AtomicBool::new(false), AtomicBool::new(false));
    let port = api(move |request, stream| {
        let message = request.json();
        let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"text": "answered"}});
        let close = |stream: &mut std::net::TcpStream, text: &str| {
            write(stream, &format!("{EVENTS}{text}"));
            let _ = stream.shutdown(std::net::Shutdown::Both);
        };
        if request.start.starts_with("GET") {
            let Some(last) = request.header("last-event-id").map(String::from) else {
                // The server's own messages.
                let text = "id: own-1\nretry: 100\ndata:\n\n";
                if own.swap(true, Ordering::SeqCst) {
                    return write(stream, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n");
                }
                return close(stream, text);
            };
            ids.lock().expect("no panic").push(last.clone());
            let id = last.rsplit('-').next().and_then(|id| id.parse::<u64>().ok()).map_or(Value::Null, Value::from);
            return match last.split('-').next().unwrap_or_default() {
                // A network that is gone for a moment.
                "own" if !failed.swap(true, Ordering::SeqCst) => {
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                }
                "own" => {
                    let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "own"}});
                    write(stream, &format!("{EVENTS}data: {note}\n\n"));
                }
                "primed" => close(stream, &format!("id: again-{id}\ndata:\n\n")),
                "again" | "broken" => close(stream, &format!("id: last\ndata: {}\n\n", answer(&id))),
                "refused" => write(stream, "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"),
                _ => close(stream, ""),
            };
        }
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": initialize_result()}).to_string();
                reply(stream, "Content-Type: application/json\r\n", answer.as_bytes());
            }
            "broken" => {
                let text = format!("id: broken-{}\nretry: 100\ndata: {{\"jsonrpc\":\"2.0\",", message["id"]);
                let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "before"}});
                let head = EVENTS.replace("Connection: close", "Content-Length: 9999");
                let whole = format!("id: broken-{}\ndata: {note}\n\n", message["id"]);
                write(stream, &format!("{head}{whole}{}", text.replace("broken", "partial")));
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            method if message.get("id").is_some() => {
                let text = format!("id: {method}-{}\nretry: 100\ndata:\n\n", message["id"]);
                if method == "cancelled" {
                    write(stream, &format!("{EVENTS}{text}"));
                    thread::sleep(Duration::from_millis(300));
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                } else {
                    close(stream, &text);
                }
            }
            _ => write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n"),
        }
    });
    (port, continued)
}

#[test]
fn a_stream_that_the_server_closes_is_continued_after_the_last_event() {
    let (port, continued) = polled();
    let mut proxied = ProxyProcess::start_for_server(port);
    let ids = |of: &str| -> Vec<String> {
        let ids = continued.lock().expect("no panic");
        ids.iter().filter(|id| id.starts_with(of)).cloned().collect()
    };
    let call = |id: u32, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string();
    let begin = Instant::now();
    for (id, method) in [(1, "primed"), (2, "broken")] {
        let answer = proxied.ask(&call(id, method));
        assert_eq!(answer["result"]["text"], "answered", "{method}: {answer}");
    }
    // The time of `retry`, three times.
    assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
    let found = [ids("primed"), ids("again"), ids("broken"), ids("partial")].map(|ids| ids.len());
    assert_eq!(found, [1, 1, 1, 0], "{:?}", ids(""));
    for (id, method, count) in [(3, "refused", 1), (4, "silent", 4)] {
        let answer = proxied.ask(&call(id, method));
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
        assert_eq!(ids(method).len(), count, "{method}");
    }
    proxied.send(&call(5, "cancelled"));
    thread::sleep(Duration::from_millis(100));
    proxied.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#);
    thread::sleep(Duration::from_millis(600));
    assert!(ids("cancelled").is_empty(), "{:?}", ids(""));
    wait_until(|| ids("own") == ["own-1", "own-1"]);
}

#[test]
fn the_servers_own_messages_are_continued_after_the_last_event() {
    let (port, _) = polled();
    let mut proxied = ProxyProcess::start_for_server(port);
    let message = proxied.receive().expect("a message");
    assert!(message.contains("notifications/message"), "{message}");
}
