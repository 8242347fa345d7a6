//! `toolwire relay` with real sockets: what transcripts cannot show.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    io::{BufRead, BufReader, Read as _, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
        Arc,
    },
    thread,
    time::{Duration, Instant},
};

use flate2::{
    write::{GzEncoder, ZlibEncoder},
    Compression,
};
use serde_json::{json, Value};

use crate::{command::program, http::Running};

pub(crate) struct Message {
    /// The first line.
    pub(crate) start: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        self.start.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Returns `None` at the end of the connection.
pub(crate) fn read_head(reader: &mut impl BufRead) -> Option<Message> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        Some(line.trim_end().to_string())
    };
    let (start, mut headers) = (line()?, Vec::new());
    loop {
        match line()? {
            line if line.is_empty() => return Some(Message { start, headers, body: Vec::new() }),
            line => {
                let (name, value) = line.split_once(':').expect("a header");
                headers.push((name.into(), value.trim().into()));
            }
        }
    }
}

/// The body ends with the connection if nothing else defines its length.
pub(crate) fn read_message(reader: &mut impl BufRead) -> Option<Message> {
    let mut message = read_head(reader)?;
    let is_request = !message.start.starts_with("HTTP/");
    if message.header("transfer-encoding").is_some() {
        while let Some(chunk) = read_chunk(reader) {
            message.body.extend(chunk);
        }
    } else if let Some(length) = message.header("content-length").and_then(|length| length.parse().ok()) {
        message.body = vec![0; length];
        reader.read_exact(&mut message.body).ok()?;
    } else if !is_request {
        reader.read_to_end(&mut message.body).ok()?;
    }
    Some(message)
}

/// Returns `None` after the last chunk, and at the end of the connection.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim_end(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// `answer` handles one request, and may close the connection. Returns its port.
pub(crate) fn api(answer: impl Fn(&Message, &mut TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, answer) = (stream.expect("a connection"), answer.clone());
            thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a connection");
                let mut reader = BufReader::new(stream);
                while let Some(request) = read_message(&mut reader) {
                    answer(&request, &mut writer);
                }
            });
        }
    });
    port
}

pub(crate) fn write(stream: &mut TcpStream, text: &str) {
    // The other side may have closed the connection.
    let _ = stream.write_all(text.as_bytes());
}

pub(crate) fn reply(stream: &mut TcpStream, headers: &str, body: &[u8]) {
    write(stream, &format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len()));
    let _ = stream.write_all(body);
}

fn chunk(stream: &mut TcpStream, text: &[u8]) {
    write(stream, &format!("{:x}\r\n", text.len()));
    let _ = stream.write_all(text);
    write(stream, "\r\n");
}

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n";

pub(crate) fn connect(port: u16) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    BufReader::new(stream)
}

pub(crate) fn send(client: &mut BufReader<TcpStream>, head: &str, body: &[u8]) {
    let head = format!("{head}\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", body.len());
    client.get_mut().write_all(head.as_bytes()).expect("a connection");
    let _ = client.get_mut().write_all(body);
}

pub(crate) fn ask(port: u16, head: &str, body: &[u8]) -> Message {
    let mut client = connect(port);
    send(&mut client, head, body);
    read_message(&mut client).unwrap_or_else(|| panic!("expected a reply to {head}, found none"))
}

pub(crate) const CHAT: &str = "POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json";

/// A request with a tool whose name the API does not accept.
pub(crate) fn chat(name: &str, more: Value) -> Vec<u8> {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let mut request = json!({"model": "m", "messages": [], "tools": [
        {"type": "function", "function": {"name": name, "parameters": parameters}}]});
    for (key, value) in more.as_object().into_iter().flatten() {
        request[key] = value.clone();
    }
    request.to_string().into_bytes()
}

pub(crate) fn calls(name: &str, arguments: &str) -> Value {
    json!([{"index": 0, "id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}])
}

pub(crate) fn called(name: &str) -> String {
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": calls(name, "{\"n\":\"4\"}")}}]})
        .to_string()
}

fn event(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

/// Starts a relay with a dialect whose names are limited.
pub(crate) fn relay(upstream: u16, more: &[&str]) -> Running {
    Running::relay(program(), upstream, &[&["--dialect", "openai-chat"], more].concat())
}

pub(crate) fn packed(encoding: &str, text: &[u8]) -> Vec<u8> {
    match encoding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).and_then(|()| encoder.finish()).expect("gzip")
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text).and_then(|()| encoder.finish()).expect("zlib")
        }
        "zstd" => {
            let mut out = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
            zstd_safe::compress(&mut out, text, 1).expect("zstd");
            out
        }
        _ => text.to_vec(),
    }
}

#[test]
fn calls_are_restored_however_a_body_is_compressed_and_split() {
    let port = api(|request, stream| {
        let encoding = request.header("x-how").unwrap_or_default();
        let of_content = if encoding == "none" { String::new() } else { format!("Content-Encoding: {encoding}\r\n") };
        assert_eq!(request.json()["tools"][0]["function"]["name"], "a_b");
        if request.json()["stream"] == true {
            let text = event(&json!({"tool_calls": calls("a_b", "{\"n\":\"4\"}")})) + "data: [DONE]\n\n";
            write(stream, &format!("{STREAM}{of_content}\r\n"));
            for byte in packed(encoding, text.as_bytes()) {
                chunk(stream, &[byte]);
            }
            write(stream, "0\r\n\r\n");
        } else {
            reply(
                stream,
                &format!("Content-Type: application/json\r\n{of_content}"),
                &packed(encoding, called("a_b").as_bytes()),
            );
        }
    });
    let relay = relay(port, &[]);
    for encoding in ["none", "gzip", "deflate", "zstd"] {
        for stream in [false, true] {
            let of_content =
                if encoding == "none" { String::new() } else { format!("\r\nContent-Encoding: {encoding}") };
            let head = format!("{CHAT}\r\nX-How: {encoding}{of_content}");
            let text = ask(relay.port, &head, &packed(encoding, &chat("a.b", json!({"stream": stream})))).text();
            assert!(text.contains(r#""name":"a.b""#) && text.contains(r#"{\"n\":4}"#), "{encoding} {stream}: {text}");
        }
    }
}

#[test]
fn an_event_is_passed_on_before_the_next_one_arrives() {
    let (go, wait) = channel();
    let wait = std::sync::Mutex::new(wait);
    let port = api(move |_, stream| {
        write(stream, &format!("{STREAM}\r\n"));
        chunk(stream, event(&json!({"content": "first"})).as_bytes());
        wait.lock().expect("no panic").recv().expect("the first event was passed on");
        chunk(stream, event(&json!({"content": "second"})).as_bytes());
        write(stream, "0\r\n\r\n");
    });
    let relay = relay(port, &[]);
    let mut client = connect(relay.port);
    send(&mut client, CHAT, &chat("a.b", json!({"stream": true})));
    read_head(&mut client).expect("a head");
    let first = read_chunk(&mut client).expect("a chunk");
    assert!(String::from_utf8_lossy(&first).contains("first"));
    go.send(()).expect("the API waits");
    assert!(String::from_utf8_lossy(&read_chunk(&mut client).expect("a chunk")).contains("second"));
}

#[test]
fn a_client_that_disconnects_ends_the_request_at_the_api() {
    let (ended, wait) = channel();
    let port = api(move |_, stream| {
        write(stream, &format!("{STREAM}\r\n"));
        chunk(stream, event(&json!({"content": "first"})).as_bytes());
        // Ends with the connection.
        let length = stream.read(&mut [0; 1]);
        ended.send(length.is_err() || length.is_ok_and(|length| length == 0)).expect("the test waits");
    });
    let relay = relay(port, &[]);
    let mut client = connect(relay.port);
    send(&mut client, CHAT, &chat("a.b", json!({"stream": true})));
    read_head(&mut client).expect("a head");
    read_chunk(&mut client).expect("a chunk");
    drop(client);
    assert!(wait.recv_timeout(Duration::from_secs(10)).expect("the end"));
    wait_until(|| ask(relay.port, "GET /toolwire/metrics HTTP/1.1", b"").text().contains("toolwire_open_requests 0\n"));
}

pub(crate) fn wait_until(what: impl FnMut() -> bool) {
    wait_at_most(Duration::from_secs(20), what);
}

pub(crate) fn wait_at_most(limit: Duration, mut what: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !what() {
        assert!(Instant::now() < end, "expected a result in time, found none");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_failure_of_the_api_is_reported_at_every_point() {
    let port = api(|request, stream| {
        let how = request.header("x-how").unwrap_or_default().to_string();
        if how == "silent" {
            return thread::sleep(Duration::from_secs(5));
        }
        if how.starts_with("stream") {
            write(stream, &format!("{STREAM}\r\n"));
            chunk(stream, event(&json!({"content": "first"})).as_bytes());
        } else if how != "reset" {
            write(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{");
        }
        if how.ends_with("silent") {
            thread::sleep(Duration::from_secs(5));
        }
        let _ = stream.shutdown(Shutdown::Both);
    });
    let relay = relay(port, &["--timeout", "1"]);
    for (how, status, words) in [
        ("reset", 502, "found none (ECONNRESET)"),
        ("silent", 504, "nothing was received for 1 seconds"),
        ("half", 502, "found none (ECONNRESET)"),
        ("half-silent", 504, "nothing was received for 1 seconds"),
        ("stream", 200, "relay_error"),
        ("stream-silent", 200, "nothing was received for 1 seconds"),
    ] {
        let found = ask(relay.port, &format!("{CHAT}\r\nX-How: {how}"), &chat("a.b", json!({"stream": true})));
        assert_eq!(found.status(), status, "{how}: {}", found.text());
        assert!(found.text().contains(words), "{how}: {}", found.text());
        assert_eq!(found.text().contains("first"), status == 200, "{how}: {}", found.text());
    }
    // A reply that passes unchanged: the client must notice that it is truncated.
    for how in ["half", "half-silent"] {
        let mut client = connect(relay.port);
        send(&mut client, &format!("GET /v1/models HTTP/1.1\r\nX-How: {how}"), b"");
        assert!(read_message(&mut client).is_none(), "{how}");
    }
    let refused = Running::relay(program(), 1, &[]);
    let found = ask(refused.port, CHAT, &chat("a.b", json!({})));
    assert!(found.status() == 502 && found.text().contains("(ECONNREFUSED)"), "{}", found.text());
}

#[test]
fn bodies_above_the_limit_are_refused_also_if_they_were_compressed_or_are_chunked() {
    let port = api(|request, stream| {
        let length = request.body.len();
        reply(
            stream,
            "Content-Type: application/json\r\n",
            json!({"length": length, "choices": []}).to_string().as_bytes(),
        );
    });
    let relay = relay(port, &[]);
    let large = chat("a_b", json!({"user": "x".repeat(50_000_000)}));
    assert_eq!(ask(relay.port, CHAT, &large).json()["length"], large.len());
    let larger = chat("a_b", json!({"user": "x".repeat(70_000_000)}));
    assert_eq!(ask(relay.port, CHAT, &larger).status(), 413);
    for encoding in ["gzip", "deflate", "zstd"] {
        let bomb = packed(encoding, &vec![b' '; 100_000_000]);
        assert!(bomb.len() < 200_000);
        assert_eq!(
            ask(relay.port, &format!("{CHAT}\r\nContent-Encoding: {encoding}"), &bomb).status(),
            413,
            "{encoding}"
        );
        let found = ask(relay.port, &format!("{CHAT}\r\nContent-Encoding: {encoding}"), b"not packed");
        assert_eq!(found.status(), 400, "{encoding}");
    }
    let mut client = connect(relay.port);
    write(client.get_mut(), &format!("{CHAT}\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
    let mut writer = client.get_ref().try_clone().expect("a connection");
    thread::spawn(move || {
        for _ in 0..70 {
            chunk(&mut writer, &[b' '; 1 << 20]);
        }
        write(&mut writer, "0\r\n\r\n");
    });
    assert_eq!(read_message(&mut client).expect("a reply").status(), 413);
}

#[test]
fn small_requests_do_not_wait_for_a_large_one() {
    let port = api(|_, stream| reply(stream, "Content-Type: application/json\r\n", b"{\"choices\":[]}"));
    let relay = relay(port, &[]);
    let messages: Vec<Value> =
        (0..60_000).map(|at| json!({"role": "user", "content": format!("message {at}")})).collect();
    let large = chat("a.b", json!({"messages": messages}));
    let (at, is_over) = (relay.port, Arc::new(AtomicUsize::new(0)));
    let over = is_over.clone();
    let upload = thread::spawn(move || {
        let found = ask(at, CHAT, &large);
        over.store(1, Ordering::Relaxed);
        found.status()
    });
    let mut count = 0;
    while is_over.load(Ordering::Relaxed) == 0 {
        assert_eq!(ask(relay.port, CHAT, &chat("a.b", json!({}))).status(), 200);
        count += 1 - is_over.load(Ordering::Relaxed);
    }
    assert_eq!(upload.join().expect("a reply"), 200);
    // Figures belong to the benchmark: this only proves that a small request can overtake the large one.
    assert!(count > 0, "no small request was answered before the large one");
}

#[test]
fn no_request_is_sent_twice() {
    let posts = Arc::new(AtomicUsize::new(0));
    let seen = posts.clone();
    let port = api(move |_, stream| {
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            let _ = stream.shutdown(Shutdown::Both);
        } else {
            reply(stream, "", b"{}");
        }
    });
    let relay = relay(port, &[]);
    let embed = "POST /v1/embeddings HTTP/1.1\r\nContent-Type: application/json";
    assert_eq!(ask(relay.port, embed, b"{}").status(), 200);
    assert_eq!(ask(relay.port, embed, b"{}").status(), 502);
    assert_eq!(posts.load(Ordering::Relaxed), 2);
}

#[test]
fn a_connection_that_the_api_has_closed_is_not_used() {
    let port = api(|_, stream| {
        reply(stream, "", b"{}");
        let _ = stream.shutdown(Shutdown::Both);
    });
    let relay = relay(port, &[]);
    for _ in 0..20 {
        assert_eq!(ask(relay.port, "GET /v1/models HTTP/1.1", b"").status(), 200);
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_early_reply_to_an_upload_ends_it() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.expect("a connection"));
            read_head(&mut reader).expect("a head");
            write(reader.get_mut(), "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
            // Reads nothing more.
            thread::sleep(Duration::from_secs(20));
        }
    });
    let relay = relay(port, &[]);
    let mut client = connect(relay.port);
    let head =
        "POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: 50000000\r\n\r\n";
    write(client.get_mut(), head);
    client.get_mut().write_all(&vec![0; 1_000_000]).expect("a connection");
    let found = read_message(&mut client).expect("a reply");
    assert_eq!((found.status(), found.text().as_str()), (413, "too large"));
    // The rest is read, and the connection accepts another request.
    client.get_mut().write_all(&vec![0; 49_000_000]).expect("a connection");
    send(&mut client, "GET /toolwire/health HTTP/1.1", b"");
    assert_eq!(read_message(&mut client).expect("a reply").text(), "ok\n");
}

#[test]
fn concurrent_streams_are_independent_of_each_other() {
    let port = api(|request, stream| {
        let user = request.json()["user"].as_str().unwrap_or_default().to_string();
        let name = request.json()["tools"][0]["function"]["name"].as_str().unwrap_or_default().to_string();
        write(stream, &format!("{STREAM}\r\n"));
        for piece in [&user, "-", &user] {
            chunk(stream, event(&json!({"content": piece})).as_bytes());
            thread::sleep(Duration::from_millis(5));
        }
        let call = calls(&name, &json!({"n": user}).to_string());
        chunk(stream, event(&json!({"tool_calls": call})).as_bytes());
        write(stream, "0\r\n\r\n");
    });
    let relay = relay(port, &[]);
    let at = relay.port;
    let clients: Vec<_> = (0..200)
        .map(|number| {
            thread::spawn(move || {
                let body = chat(&format!("tool.{number}"), json!({"stream": true, "user": number.to_string()}));
                let text = ask(at, CHAT, &body).text();
                let count = text.matches(&format!(r#""content":"{number}""#)).count();
                assert_eq!(count, 2, "{text}");
                assert!(text.contains(&format!(r#""name":"tool.{number}""#)), "{text}");
                assert!(text.contains(&format!(r#"{{\"n\":{number}}}"#)), "{text}");
            })
        })
        .collect();
    for client in clients {
        client.join().expect("a stream");
    }
    let metrics = ask(relay.port, "GET /toolwire/metrics HTTP/1.1", b"").text();
    assert!(metrics.contains("toolwire_requests_total{outcome=\"adapted\"} 200\n"), "{metrics}");
    wait_until(|| ask(relay.port, "GET /toolwire/metrics HTTP/1.1", b"").text().contains("toolwire_open_requests 0\n"));
}

#[cfg(unix)]
#[test]
fn shutting_down_lets_open_requests_finish_and_accepts_no_more() {
    let (go, wait) = channel();
    let wait = std::sync::Mutex::new(wait);
    let port = api(move |_, stream| {
        write(stream, &format!("{STREAM}\r\n"));
        chunk(stream, event(&json!({"content": "first"})).as_bytes());
        wait.lock().expect("no panic").recv().expect("the test continues");
        chunk(stream, event(&json!({"content": "last"})).as_bytes());
        write(stream, "0\r\n\r\n");
    });
    let mut relay = relay(port, &[]);
    let mut client = connect(relay.port);
    send(&mut client, CHAT, &chat("a.b", json!({"stream": true})));
    read_head(&mut client).expect("a head");
    assert!(String::from_utf8_lossy(&read_chunk(&mut client).expect("a chunk")).contains("first"));
    relay.signal("TERM");
    let at = relay.port;
    wait_until(|| TcpStream::connect(("127.0.0.1", at)).is_err());
    go.send(()).expect("the API waits");
    assert!(String::from_utf8_lossy(&read_chunk(&mut client).expect("a chunk")).contains("last"));
    assert_eq!(relay.exit_code(), Some(143));
}

#[cfg(unix)]
#[test]
fn requests_that_are_cut_at_the_end_are_in_the_report() {
    let port = api(move |_, stream| {
        write(stream, &format!("{STREAM}\r\n"));
        chunk(stream, event(&json!({"content": "first"})).as_bytes());
        thread::sleep(Duration::from_secs(60));
    });
    let folder = crate::command::Folder::new();
    let report = folder.0.join("r.jsonl");
    let mut relay = relay(port, &["--report", report.to_str().expect("a path")]);
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let mut client = connect(relay.port);
            send(&mut client, CHAT, &chat("a.b", json!({"stream": true})));
            read_head(&mut client).expect("a head");
            read_chunk(&mut client).expect("a chunk");
            client
        })
        .collect();
    relay.signal("TERM");
    assert_eq!(relay.exit_code(), Some(143));
    let lines = std::fs::read_to_string(&report).expect("a report");
    assert_eq!(lines.lines().count(), clients.len(), "{lines}");
}

#[test]
fn the_authority_of_http2_is_the_host() {
    use http_body_util::{BodyExt as _, Empty};
    use hyper::{body::Bytes, client::conn::http2, Request};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let port = api(|request, stream| {
        assert_eq!(request.start, "GET /v1/models HTTP/1.1");
        reply(stream, "", b"{}");
    });
    let relay = relay(port, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let status = |authority: &str, host: Option<&str>| {
        let mut request = Request::get(format!("http://{authority}/v1/models"));
        if let Some(host) = host {
            request = request.header("Host", host);
        }
        let request = request.body(Empty::<Bytes>::new()).expect("a request");
        runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(("127.0.0.1", relay.port)).await.expect("a connection");
            let (mut sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
            tokio::spawn(connection);
            let reply = sender.send_request(request).await.expect("a reply");
            let status = reply.status().as_u16();
            reply.into_body().collect().await.expect("a body");
            status
        })
    };
    let own = format!("127.0.0.1:{}", relay.port);
    assert_eq!(status(&own, None), 200);
    assert_eq!(status(&own, Some(&own)), 200);
    assert_eq!(status(&own, Some("evil.example")), 400);
    assert_eq!(status("evil.example", None), 403);
    assert_eq!(status("evil.example", Some("127.0.0.1")), 400);
}

#[cfg(unix)]
#[test]
fn a_relay_ends_with_a_signal_although_nobody_reads_its_log() {
    let mut relay = Running::relay(program(), 1, &[]);
    let log = relay.read_log();
    let unread = log.lock().expect("no panic");
    let chat = chat("a.b", json!({}));
    // A pipe holds 64 KiB.
    for _ in 0..1_000 {
        assert_eq!(ask(relay.port, CHAT, &chat).status(), 502);
    }
    relay.signal("TERM");
    let end = Instant::now() + Duration::from_secs(20);
    let status = loop {
        match relay.child.try_wait().expect("a status") {
            Some(status) => break status,
            None => assert!(Instant::now() < end, "expected the end of the relay, found it running"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(143));
    drop(unread);
}
