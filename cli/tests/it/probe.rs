//! `toolwire probe` with real sockets: the key is in the header and nowhere else.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::Write as _,
    net::TcpStream,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    command::{program, ran, Folder},
    relay::{api, write, Message},
};

const KEY: &str = "secret/with+signs-0123456789";
const REFUSAL: &str = "Invalid schema for function 'bad': In context=('properties', 'a'), array schema missing items.";

fn tools() -> String {
    json!([
        {"name": "good", "description": "It is.", "inputSchema": {"type": "object", "properties": {}}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "array"}}}},
    ])
    .to_string()
}

fn answer(stream: &mut TcpStream, status: u16, headers: &str, body: &str) {
    write(stream, &format!("HTTP/1.1 {status} OK\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()));
}

fn drip(stream: &mut TcpStream, begin: &str, more: &str) {
    write(stream, begin);
    for _ in 0..300 {
        thread::sleep(Duration::from_millis(100));
        if stream.write_all(more.as_bytes()).is_err() {
            return;
        }
    }
}

/// The key with the escapes of encoders: in JSON, in a URL, in HTML, and in nested JSON.
fn escaped() -> String {
    let nested = format!("\\\"{}\\\"", KEY.replace('+', "\\\\u002B"));
    let parts =
        [KEY.replace('/', "\\/").replace('+', "\\u002B"), KEY.replace('+', "%2B"), KEY.replace('+', "&#43;"), nested];
    format!("{{\"error\":{{\"message\":\"{}\"}}}}", parts.join(" "))
}

type Received = Arc<Mutex<Vec<(String, Option<String>, Value)>>>;

/// Starts an API that is overloaded at first, and then refuses tools in OpenAI's words.
fn fake() -> (u16, Received) {
    let received = Received::default();
    let seen = received.clone();
    let port = api(move |request: &Message, stream| {
        let target = request.start.split(' ').nth(1).unwrap_or_default().to_string();
        let authorization = request.header("authorization").map(String::from);
        let is_first = {
            let mut seen = seen.lock().expect("no panic");
            seen.push((target.clone(), authorization.clone(), request.json()));
            seen.len() == 1
        };
        let is_known = authorization.as_deref() == Some(&format!("Bearer {KEY}"));
        let names = request.json();
        let mut names = names["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]["name"]);
        match target.split('/').nth(1).unwrap_or_default() {
            "away" => answer(stream, 307, "Location: /v1/chat/completions\r\n", ""),
            "slow" => thread::sleep(Duration::from_secs(5)),
            "header" => drip(stream, "HTTP/1.1 200 OK\r\nX: ", "x"),
            "chunk" => drip(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"),
            "continue" => drip(stream, "", "HTTP/1.1 100 Continue\r\n\r\n"),
            "body" => drip(stream, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "x"),
            "escaped" => answer(stream, 401, "", &escaped()),
            "key" => {
                answer(stream, 401, "", &format!("Incorrect API key provided: {}", authorization.unwrap_or_default()))
            }
            _ if !is_known => answer(stream, 401, "", "{}"),
            _ if is_first => answer(stream, 429, "Retry-After: 1\r\n", "{}"),
            _ if names.any(|name| name == "bad") => {
                answer(stream, 400, "", &json!({"error": {"message": REFUSAL}}).to_string());
            }
            _ => answer(stream, 200, "", "{}"),
        }
    });
    (port, received)
}

fn probe(url: &str, key: &str, more: &[&str], folder: &Folder) -> (String, String, Option<i32>) {
    let mut command = program();
    command.args(["probe", "-d", "openai-chat", "--model", "m", "--key-env", "THE_KEY", "--url", url]).args(more);
    ran(command.env("THE_KEY", key).current_dir(&folder.0), &tools())
}

#[test]
fn the_key_is_only_in_the_header() {
    let (port, received) = fake();
    let folder = Folder::new();
    let url = format!("http://127.0.0.1:{port}/v1");
    let (stdout, stderr, code) = probe(&url, &format!(" {KEY}\n"), &["--json", "--record", "rows.jsonl"], &folder);
    assert_eq!((stderr.as_str(), code), ("", Some(1)));
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&found["tools"][0]["api"], &found["tools"][1]["api"]), (&json!("accepted"), &json!("refused")));
    let received = received.lock().expect("no panic");
    assert_eq!((&found["requests"], received.len()), (&json!(3), 3));
    for (target, authorization, body) in received.iter() {
        assert_eq!(target, "/v1/chat/completions");
        assert_eq!(authorization.as_deref(), Some(format!("Bearer {KEY}").as_str()));
        assert!(!body.to_string().contains(KEY));
    }
    assert_eq!(received[0].2, received[1].2);
    let rows = fs::read_to_string(folder.0.join("rows.jsonl")).expect("rows");
    let verdicts: Vec<Value> =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).expect("JSON")["verdict"].clone()).collect();
    assert_eq!(verdicts, ["accepted", "rejected"]);
    assert!(![&stdout, &rows].iter().any(|text| text.contains(KEY)) && !rows.contains("127.0.0.1"), "{rows}");
}

#[test]
fn a_key_that_an_answer_repeats_is_masked() {
    let (port, _) = fake();
    let folder = Folder::new();
    for (path, end) in [
        ("key", "found 401: Incorrect API key provided: Bearer (THE_KEY)\n"),
        ("escaped", "found 401: (THE_KEY) (THE_KEY) (THE_KEY) \"(THE_KEY)\"\n"),
    ] {
        let (_, stderr, code) = probe(&format!("http://127.0.0.1:{port}/{path}"), KEY, &[], &folder);
        assert!(code == Some(2) && stderr.ends_with(end), "{stderr}");
    }
}

#[test]
fn a_key_that_is_no_value_of_a_header_is_neither_sent_nor_shown() {
    let (port, received) = fake();
    let url = format!("http://127.0.0.1:{port}/v1");
    let (stdout, stderr, code) = probe(&url, "one\ntwo-secret", &[], &Folder::new());
    assert_eq!((code, received.lock().expect("no panic").len()), (Some(2), 0));
    assert!(!(stdout + &stderr).contains("two-secret"), "{stderr}");
}

#[test]
fn a_redirection_is_not_followed() {
    let (port, received) = fake();
    let (_, stderr, code) = probe(&format!("http://127.0.0.1:{port}/away"), KEY, &[], &Folder::new());
    assert_eq!((code, received.lock().expect("no panic").len()), (Some(2), 1));
    assert!(stderr.contains("found 307"), "{stderr}");
}

#[test]
fn an_answer_that_does_not_end_in_time_is_an_error() {
    let (port, _) = fake();
    for path in ["slow", "header", "chunk", "continue", "body"] {
        let begin = Instant::now();
        let url = format!("http://127.0.0.1:{port}/{path}");
        let (_, stderr, code) = probe(&url, KEY, &["--timeout", "1"], &Folder::new());
        let is_late = stderr.ends_with(": expected an answer in 1 s, found none\n");
        assert!(code == Some(2) && is_late, "{path}: {stderr}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{path}");
    }
}

#[test]
fn a_key_without_tls_is_not_sent_through_a_proxy() {
    let ((port, received), (proxy, overheard)) = (fake(), fake());
    let proxy = format!("http://127.0.0.1:{proxy}");
    let mut command = program();
    let url = format!("http://127.0.0.1:{port}/v1");
    command.args(["probe", "-d", "openai-chat", "--model", "m", "--key-env", "THE_KEY", "--url", &url]);
    command.env("THE_KEY", KEY).env("NO_PROXY", "").env("no_proxy", "");
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, &proxy);
    }
    let (_, stderr, code) = ran(&mut command, &tools());
    assert_eq!((stderr.as_str(), code), ("", Some(1)));
    assert_eq!((received.lock().expect("no panic").len(), overheard.lock().expect("no panic").len()), (3, 0));
}

#[test]
fn an_address_without_a_server_is_an_error() {
    let (_, stderr, code) = probe("http://127.0.0.1:9/v1", KEY, &[], &Folder::new());
    let why = "expected a server at that address, found none (ECONNREFUSED)";
    assert_eq!((stderr, code), (format!("toolwire: 127.0.0.1:9: {why}\n"), Some(2)));
}
