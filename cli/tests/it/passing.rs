//! `toolwire relay` with real sockets: what passes unchanged, what is refused, and what is logged.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::{json, Value};

use crate::{
    command::{program, ran, Folder},
    http::Running,
    relay::{
        api, ask, called, calls, chat, connect, packed, read_head, read_message, relay, reply, send, wait_until, write,
        CHAT,
    },
};

const EMBED: &str = "POST /v1/embeddings HTTP/1.1\r\nContent-Type: application/json";

#[test]
fn requests_and_replies_without_tools_pass_byte_for_byte() {
    let raw: Vec<u8> = (0..=255).collect();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (requests, sent) = (seen.clone(), raw.clone());
    let port = api(move |request, stream| {
        let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        requests.lock().expect("no panic").push((request.start.clone(), headers, request.body.clone()));
        let body = if request.start.starts_with("HEAD") { &[][..] } else { &sent };
        let headers = "X-Two: 1\r\nx-two: 2\r\nContent-Type: application/octet-stream\r\nContent-Encoding: br\r\n";
        write(stream, &format!("HTTP/1.1 203 OK\r\n{headers}Content-Length: {}\r\n\r\n", sent.len()));
        let _ = stream.write_all(body);
    });
    let mut command = program();
    command.args(["relay", "--listen", "127.0.0.1:0", "--upstream", &format!("http://127.0.0.1:{port}/base")]);
    let relay = Running::start(command);
    wait_until(|| relay.log().contains(&format!("in place of http://127.0.0.1:{port}/base")));
    let head =
        "POST /v1/files?a=%2F&b HTTP/1.1\r\nX-Case: \u{c4}\r\nauthorization: Bearer k\r\nContent-Type: image/png";
    let found = ask(relay.port, head, &raw);
    assert_eq!((found.status(), &found.body), (203, &raw));
    let pairs: Vec<(&str, &str)> = found.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // Nothing is added.
    let content = [("Content-Type", "application/octet-stream"), ("Content-Encoding", "br"), ("Content-Length", "256")];
    assert_eq!(pairs, [&[("X-Two", "1"), ("x-two", "2")], &content[..]].concat());
    {
        let seen = seen.lock().expect("no panic");
        let (start, headers, body) = &seen[0];
        assert_eq!((start.as_str(), body), ("POST /base/v1/files?a=%2F&b HTTP/1.1", &raw));
        let host = format!("Host: 127.0.0.1:{port}");
        let own = ["X-Case: \u{c4}", "authorization: Bearer k", "Content-Type: image/png"];
        assert_eq!(*headers, [&own[..], &[&host, "Content-Length: 256"]].concat());
    }
    let mut client = connect(relay.port);
    for _ in 0..2 {
        send(&mut client, "HEAD /v1/models HTTP/1.1", b"");
        let head = read_head(&mut client).expect("a head");
        assert_eq!((head.status(), head.header("content-length")), (203, Some("256")));
    }
}

#[test]
fn targets_keep_their_spelling() {
    let port = api(|request, stream| reply(stream, "", request.start.as_bytes()));
    let relay = relay(port, &[]);
    for target in ["/v1/models?", "/?", "/a%2Fb/%7e?x=%20+&y", "//a/?b?c", "/a;b=c,d"] {
        let start = format!("GET {target} HTTP/1.1");
        assert_eq!(ask(relay.port, &start, b"").text(), start);
    }
}

#[test]
fn an_upstream_may_have_an_ipv6_address() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return println!("skipped: this machine has no IPv6") };
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let mut reader = BufReader::new(listener.accept().expect("a connection").0);
        let request = read_message(&mut reader).expect("a request");
        reply(reader.get_mut(), "", request.start.as_bytes());
    });
    let mut command = program();
    command.args(["relay", "--listen", "127.0.0.1:0", "--upstream", &format!("http://[::1]:{port}")]);
    let relay = Running::start(command);
    assert_eq!(ask(relay.port, "GET /v1/models?a=b HTTP/1.1", b"").text(), "GET /v1/models?a=b HTTP/1.1");
}

/// Returns a text in the encoding `br`, without compression: a header of 16 MB of window, one part, and the end.
fn brotli(text: &[u8]) -> Vec<u8> {
    // Bits from the lowest: WBITS 0, ISLAST 0, MNIBBLES 00, MLEN - 1 in 16 bits, ISUNCOMPRESSED 1 (RFC 7932, 9.2).
    let length = u32::try_from(text.len()).expect("a short text") - 1;
    let head = length << 4 | 1 << 20;
    [&head.to_le_bytes()[..3], text, &[3]].concat()
}

#[test]
fn calls_are_restored_from_brotli() {
    let port = api(|request, stream| {
        assert_eq!(request.json()["tools"][0]["function"]["name"], "a_b");
        let delta = json!({"tool_calls": calls("a_b", "{\"n\":\"4\"}")});
        let events = format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
        let (content, text) = match request.json()["stream"] == true {
            true => ("text/event-stream", events),
            false => ("application/json", called("a_b")),
        };
        reply(stream, &format!("Content-Type: {content}\r\nContent-Encoding: br\r\n"), &brotli(text.as_bytes()));
    });
    let relay = relay(port, &[]);
    for stream in [false, true] {
        let body = brotli(&chat("a.b", json!({"stream": stream})));
        let text = ask(relay.port, &format!("{CHAT}\r\nContent-Encoding: br"), &body).text();
        assert!(text.contains(r#""name":"a.b""#) && text.contains(r#"{\"n\":4}"#), "{stream}: {text}");
    }
}

#[test]
fn bodies_in_memory_have_a_common_limit() {
    fills_the_memory(|length| format!("Content-Length: {length}\r\n\r\n"));
}

#[test]
fn bodies_in_memory_have_a_common_limit_without_a_declared_length() {
    fills_the_memory(|length| format!("Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n"));
}

/// Sends several large bodies, whose length is declared in this way.
fn fills_the_memory(declared: impl Fn(usize) -> String) {
    let relay = relay(1, &[]);
    // 63 MiB, compressed to 63 kB; without the end, so that the relay waits for more.
    let body = packed("gzip", &vec![b' '; 63 << 20]);
    let uploads: Vec<_> = (0..9)
        .map(|_| {
            let mut client = connect(relay.port);
            let head = format!("{EMBED}\r\nHost: 127.0.0.1\r\nContent-Encoding: gzip\r\n{}", declared(body.len()));
            write(client.get_mut(), &head);
            let _ = client.get_mut().write_all(&body[..body.len() - 8]);
            client
        })
        .collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    for mut client in uploads {
        let sender = sender.clone();
        thread::spawn(move || {
            if let Some(reply) = read_head(&mut client) {
                let _ = sender.send(reply.status());
            }
            // Keeps the other uploads open.
            thread::sleep(Duration::from_secs(20));
        });
    }
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok(503));
}

#[test]
fn an_idle_connection_stays_open_longer_than_clients_keep_theirs() {
    let relay = relay(1, &[]);
    let mut client = connect(relay.port);
    for pause in [0, 7] {
        thread::sleep(Duration::from_secs(pause));
        send(&mut client, "GET /toolwire/health HTTP/1.1", b"");
        assert_eq!(read_message(&mut client).expect("a reply").text(), "ok\n");
    }
}

#[test]
fn a_body_in_several_members_is_read_and_one_that_is_not_whole_is_refused() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let bodies = seen.clone();
    let port = api(move |request, stream| {
        bodies.lock().expect("no panic").push(request.text());
        reply(stream, "", b"{}");
    });
    let relay = relay(port, &["--timeout", "1"]);
    let head = format!("{EMBED}\r\nContent-Encoding: gzip");
    let members = [packed("gzip", b"{\"model\":\"m\","), packed("gzip", b"\"input\":\"x\"}")].concat();
    assert_eq!(ask(relay.port, &head, &members).status(), 200);
    assert_eq!(*seen.lock().expect("no panic"), ["{\"model\":\"m\",\"input\":\"x\"}"]);
    assert_eq!(ask(relay.port, &head, &packed("gzip", b"{\"model\":\"m\"}")[..12]).status(), 400);
    // A client that waits for permission to send the body, and then stops in the middle.
    let mut client = connect(relay.port);
    let head = format!("{EMBED}\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n");
    write(client.get_mut(), &head);
    assert_eq!(read_head(&mut client).expect("a head").status(), 100);
    write(client.get_mut(), "{");
    assert_eq!(read_head(&mut client).expect("a head").status(), 408);
}

#[test]
fn requests_need_the_token_and_the_right_host() {
    let port = api(|_, stream| reply(stream, "", b"{}"));
    let mut command = program();
    command.env("RELAY_TOKEN", "secret");
    let relay = Running::relay(command, port, &["--token-env", "RELAY_TOKEN"]);
    let status = |more: &str| ask(relay.port, &format!("GET /v1/models HTTP/1.1{more}"), b"").status();
    assert_eq!(status(""), 401);
    assert_eq!(status("\r\nX-Toolwire-Token: Secret"), 401);
    assert_eq!(status("\r\nX-Toolwire-Token: secret"), 200);
    assert_eq!(status("\r\nX-Toolwire-Token: secret\r\nOrigin: https://evil.example"), 403);
    assert_eq!(ask(relay.port, "GET /toolwire/health HTTP/1.1", b"").text(), "ok\n");
    let mut client = connect(relay.port);
    write(client.get_mut(), "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nX-Toolwire-Token: secret\r\n\r\n");
    assert_eq!(read_head(&mut client).expect("a head").status(), 403);
}

#[test]
fn requests_are_routed_to_several_upstreams_and_the_report_contains_no_values() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let start = |name: &'static str| {
        let seen = seen.clone();
        api(move |request, stream| {
            let target = request.start.split(' ').nth(1).unwrap_or_default().to_string();
            seen.lock().expect("no panic").push((name, target, request.json()["model"].clone()));
            reply(stream, "Content-Type: application/json\r\n", called("a_b").as_bytes());
        })
    };
    let (one, two) = (start("one"), start("two"));
    let folder = Folder::new();
    folder.write(
        "relay.toml",
        &format!(
            "[[upstream]]\npath = \"/one\"\nurl = \"http://127.0.0.1:{one}\"\ndialect = \"openai-chat\"\n\n\
             [[upstream]]\nmodels = \"deepseek-*\"\nurl = \"http://127.0.0.1:{two}/base\"\ndialect = \"deepseek\"\n\
             model-names = {{ deepseek-best = \"d\" }}\n"
        ),
    );
    let mut command = program();
    command.args(["relay", "--listen", "127.0.0.1:0", "--config", "relay.toml", "--report", "report.jsonl"]);
    let relay = Running::start({
        command.current_dir(&folder.0);
        command
    });
    let secret = json!([{"role": "user", "content": "secret text of the user"}]);
    let body = |model: &str| chat("a.b", json!({"model": model, "messages": secret}));
    let target = |target: &str| CHAT.replace("/v1/chat/completions", target);
    ask(relay.port, &target("/one/v1/chat/completions?key=hidden"), &body("gpt"));
    ask(relay.port, CHAT, &body("deepseek-best"));
    assert_eq!(ask(relay.port, CHAT, &body("gpt")).status(), 404);
    let expected = [
        ("one", "/v1/chat/completions?key=hidden".to_string(), json!("gpt")),
        ("two", "/base/v1/chat/completions".into(), json!("d")),
    ];
    assert_eq!(*seen.lock().expect("no panic"), expected);
    let page = ask(relay.port, "GET /toolwire/last HTTP/1.1", b"").text();
    relay.end();
    let report = fs::read_to_string(folder.0.join("report.jsonl")).expect("a report");
    let lines: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let lines: Vec<(&str, u64)> = lines
        .iter()
        .map(|line| (line["model"].as_str().unwrap_or_default(), line["status"].as_u64().unwrap_or_default()))
        .collect();
    assert_eq!(lines, [("gpt", 200), ("deepseek-best", 200), ("gpt", 404)]);
    for shown in [&report, &page] {
        assert!(!["secret text", "hidden", "\"4\""].iter().any(|value| shown.contains(value)), "{shown}");
    }
    assert!(page.contains("rename-tool"), "{page}");
}

#[test]
fn no_key_is_written() {
    let port = api(|_, stream| {
        write(stream, "HTTP/1.1 200 OK\r\nX-Api-Key SECRET\r\n\r\n");
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let folder = Folder::new();
    let report = folder.0.join("report.jsonl");
    let relay = relay(port, &["--report", report.to_str().expect("a path")]);
    let found = ask(relay.port, "GET /v1beta/models?key=SECRET HTTP/1.1", b"");
    assert_eq!(found.status(), 502);
    let mut client = connect(relay.port);
    write(client.get_mut(), "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key SECRET\r\n\r\n");
    let mut refused = String::new();
    client.read_line(&mut refused).expect("an answer");
    let page = ask(relay.port, "GET /toolwire/last HTTP/1.1", b"").text();
    let log = relay.end();
    for shown in [found.text(), refused, page, log, fs::read_to_string(&report).expect("a report")] {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_logged_once() {
    let port = api(|_, stream| reply(stream, "", b"{}"));
    let folder = Folder::new();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_toolwire")]);
    let report = folder.0.join("r.jsonl");
    let relay = Running::relay(limited, port, &["--report", report.to_str().expect("a path")]);
    for _ in 0..20 {
        assert_eq!(ask(relay.port, "GET /v1/models HTTP/1.1", b"").status(), 200);
    }
    let log = relay.end();
    assert_eq!(log.matches("the report has lines missing").count(), 1, "{log}");
}

#[test]
fn wrong_usage_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = taken.local_addr().expect("an address").port();
    let (url, taken) = (format!("http://127.0.0.1:{port}"), format!("127.0.0.1:{port}"));
    for (arguments, words) in [
        (vec![], "expected `--upstream URL` or `--config FILE`, found neither"),
        (vec!["--upstream", "api.example.com"], "expected a URL that begins with `https://`"),
        (vec!["--upstream", &url, "--listen", "0.0.0.0:0"], "expected `--token-env NAME`"),
        (vec!["--upstream", &url, "--listen", &taken], "found the relay's own"),
        (vec!["--upstream", "http://127.0.0.1:9", "--listen", &taken], "(EADDRINUSE)"),
        (vec!["--upstream", &url, "--listen", "192.0.2.1:1", "--token-env", "PATH"], "can listen, found"),
        (vec!["--upstream", &url, "--token-env", "NO_SUCH_NAME"], "expected a token in the variable NO_SUCH_NAME"),
        (vec!["--upstream", &url, "--dialect", "gemni"], "'gemini'"),
        (vec!["--upstream", &url, "--report", "."], "EISDIR"),
        (vec!["--config", "none.toml"], "none.toml"),
    ] {
        let (_, stderr, code) = ran(program().arg("relay").args(&arguments), "");
        assert!(code == Some(2) && stderr.contains(words), "{words} in {stderr}");
    }
}
