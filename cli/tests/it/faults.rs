//! Faults, load and attacks: bombs, processes that stop, connections that break, and programs that are killed.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::fs::MetadataExt as _,
    process::Stdio,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
        Mutex,
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    acting::{call, called, listed, text, ACTING},
    client::ProxyProcess,
    command::{program, Folder},
    relay::{
        api, ask, chat, connect, packed, read_chunk, read_head, read_message, relay, reply, send, wait_until, write,
        CHAT,
    },
};

const JSON: &str = "Content-Type: application/json\r\n";
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// 100 MB of spaces, compressed with brotli.
const BROTLI: &str = "cbffff3ff82540e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f0110870500baf77f\
     fcffff835f02200e0b0074effff8ffff07bf04401c1600e8defff1ffff0f7e0980382c00d0bdffe3ffff1ffc1200715800a07bffc7ffff3ff82500e2\
     b00040f7fe8fffff7ff04b00c4610180eefd1fffffffe0970088c30200ddfbbffc07afc32f0110870500bad875";

fn bomb(encoding: &str) -> Vec<u8> {
    if encoding != "br" {
        return packed(encoding, &vec![b' '; 100_000_000]);
    }
    let digits = |at: usize| u8::from_str_radix(&BROTLI[at..at + 2], 16).expect("a byte");
    (0..BROTLI.len()).step_by(2).map(digits).collect()
}

/// Returns the maximum memory of a process so far, in MB, or 0 if the system does not report it.
fn peak(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}

fn signal(id: &str, name: &str) {
    let sent = crate::kill().args([&format!("-{name}"), id]).status();
    assert!(sent.expect("kill").success(), "{name} {id}");
}

/// Returns true if a process is stopped, or if the system does not report it.
fn is_stopped(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/status")).map_or(true, |status| status.contains("\nState:\tT"))
}

fn open_requests(port: u16) -> Option<u64> {
    let page = ask(port, "GET /toolwire/metrics HTTP/1.1", b"").text();
    page.lines().find_map(|line| line.strip_prefix("toolwire_open_requests ")?.parse().ok())
}

#[test]
fn bombs_are_refused_in_requests_replies_and_streams_without_filling_the_memory() {
    let port = api(|request, stream| {
        let encoding = request.header("x-bomb").unwrap_or_default().to_string();
        let kind = if request.header("x-stream").is_some() { "text/event-stream" } else { "application/json" };
        reply(stream, &format!("Content-Type: {kind}\r\nContent-Encoding: {encoding}\r\n"), &bomb(&encoding));
    });
    let relay = relay(port, &[]);
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let bomb = bomb(encoding);
        assert!(bomb.len() < 200_000);
        let found = ask(relay.port, &format!("{CHAT}\r\nContent-Encoding: {encoding}"), &bomb);
        assert_eq!(found.status(), 413, "{encoding}");
        let whole = ask(relay.port, &format!("{CHAT}\r\nX-Bomb: {encoding}"), &chat("a.b", json!({})));
        assert_eq!(whole.status(), 502, "{encoding}: {}", whole.text());
        let head = format!("{CHAT}\r\nX-Bomb: {encoding}\r\nX-Stream: 1");
        let stream = ask(relay.port, &head, &chat("a.b", json!({"stream": true})));
        assert!(stream.body.len() < 70_000_000, "{encoding}: {}", stream.body.len());
        wait_until(|| open_requests(relay.port) == Some(0));
    }
    assert!(peak(relay.child.id()) < 500, "{} MB", peak(relay.child.id()));
}

#[test]
fn streams_next_to_clients_that_break_off_or_do_not_read_arrive_whole() {
    const CLIENTS: usize = 200;
    const EVENTS: usize = 50;
    let port = api(|_, stream| {
        write(stream, STREAM);
        for at in 0..EVENTS {
            let event = json!({"choices": [{"index": 0, "delta": {"content": format!("{at} {}", "x".repeat(2_000))}}]});
            let event = format!("data: {event}\n\n");
            if stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        write(stream, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
    });
    let relay = relay(port, &[]);
    let body = chat("a.b", json!({"stream": true}));
    let (at, body, read) = (relay.port, &body, &AtomicUsize::new(0));
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            scope.spawn(move || {
                let mut client = connect(at);
                send(&mut client, CHAT, body);
                assert_eq!(read_head(&mut client).expect("a reply").status(), 200);
                match number % 4 {
                    // Closing a connection whose data is not read resets it.
                    0 => drop(read_chunk(&mut client)),
                    // The client stays connected until the others have received everything, and reads nothing.
                    1 => {
                        wait_until(|| read.load(Ordering::Relaxed) == CLIENTS / 2);
                        let _ = client.get_ref().shutdown(Shutdown::Both);
                    }
                    _ => {
                        let mut text = Vec::new();
                        while let Some(chunk) = read_chunk(&mut client) {
                            text.extend(chunk);
                        }
                        let text = String::from_utf8(text).expect("text");
                        assert_eq!(text.matches("data: {").count(), EVENTS, "{number}");
                        assert!(text.ends_with("data: [DONE]\n\n"), "{number}");
                        read.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    wait_until(|| open_requests(relay.port) == Some(0));
}

#[test]
fn uploads_that_break_off_leave_nothing_behind() {
    let port = api(|_, stream| reply(stream, JSON, b"{\"choices\":[]}"));
    let relay = relay(port, &[]);
    let body = chat("a.b", json!({"user": "x".repeat(100_000)}));
    for at in 0..100 {
        let mut client = connect(relay.port);
        let head = format!("{CHAT}\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", body.len());
        client.get_mut().write_all(head.as_bytes()).expect("a connection");
        let _ = client.get_mut().write_all(&body[..at * 500]);
    }
    wait_until(|| open_requests(relay.port) == Some(0));
    assert_eq!(ask(relay.port, CHAT, &body).status(), 200);
}

/// `nc -N` and others close their side as soon as they have sent a request. Most clients that do so are gone.
#[test]
fn a_client_that_closes_its_side_receives_answers_of_the_relay_and_costs_nothing_at_an_api() {
    let (event, events) = channel();
    let event = Mutex::new(event);
    let port = api(move |request, stream| {
        let tell = |what: String| drop(event.lock().expect("no panic").send(what));
        tell(request.start.clone());
        // The relay sends nothing more on this connection, and closes it once the client has closed its side.
        tell(format!("{:?}", stream.read(&mut [0; 1]).ok()));
    });
    let relay = relay(port, &[]);
    let chat = chat("a.b", json!({}));
    for _ in 0..50 {
        for (head, status) in [("GET /toolwire/health HTTP/1.1", 200), ("rubbish", 400)] {
            let mut client = connect(relay.port);
            send(&mut client, head, b"");
            client.get_ref().shutdown(Shutdown::Write).expect("a connection");
            let status_of = read_message(&mut client).map(|reply| reply.status());
            assert_eq!(status_of, Some(status), "{head}");
        }
    }
    for (head, body) in [("GET /v1/models HTTP/1.1", &b""[..]), (CHAT, &chat)] {
        let mut client = connect(relay.port);
        send(&mut client, head, body);
        let next = || events.recv_timeout(Duration::from_secs(20)).expect("an event");
        assert!(head.starts_with(&next()), "{head}");
        client.get_ref().shutdown(Shutdown::Write).expect("a connection");
        assert_eq!(next(), "Some(0)", "{head}");
        assert!(read_message(&mut client).is_none());
    }
}

fn acting() -> ProxyProcess {
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", ACTING]);
    ProxyProcess::start(command).initialized()
}

#[test]
fn a_server_that_is_stopped_answers_when_it_goes_on_and_ends_with_the_proxy() {
    let mut proxied = acting();
    listed(&mut proxied);
    let id = text(&called(&mut proxied, "pid", &json!({})));
    signal(&id, "STOP");
    wait_until(|| is_stopped(&id));
    proxied.send(&call("late", "pid", &json!({})).to_string());
    proxied.send(&call("later", "pid", &json!({})).to_string());
    signal(&id, "CONT");
    for name in ["late", "later"] {
        let answer: Value = serde_json::from_str(&proxied.receive().expect("an answer")).expect("JSON");
        assert_eq!((&answer["id"], text(&answer)), (&json!(name), id.clone()));
    }
    // A stopped process does not receive SIGTERM.
    signal(&id, "STOP");
    let begin = Instant::now();
    assert_eq!(proxied.end().1, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(20));
    wait_until(|| !crate::kill().args(["-0", &id]).stderr(Stdio::null()).status().expect("kill").success());
}

#[test]
fn a_proxy_that_is_stopped_loses_nothing() {
    let mut proxied = acting();
    listed(&mut proxied);
    let id = proxied.child.id().to_string();
    signal(&id, "STOP");
    wait_until(|| is_stopped(&id));
    for at in 0..20 {
        proxied.send(&call(at, "pid", &json!({})).to_string());
    }
    signal(&id, "CONT");
    let mut ids: Vec<u64> = (0..20)
        .map(|_| {
            let answer: Value = serde_json::from_str(&proxied.receive().expect("an answer")).expect("JSON");
            answer["id"].as_u64().expect("an id")
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..20).collect::<Vec<u64>>());
}

#[test]
fn a_program_that_is_killed_while_it_writes_leaves_the_old_file_or_the_new_one() {
    let folder = Folder::new();
    let inputs = json!({"type": "object", "properties": {"a": {"enum": []}}});
    let tools: Vec<Value> = (0..1_000).map(|at| json!({"name": format!("bad_{at}"), "inputSchema": inputs})).collect();
    folder.write("t.json", &Value::from(tools).to_string());
    let arguments = ["check", "-d", "openai-chat", "--update-baseline", "t.json", "--baseline", "base.json"];
    let run = || {
        let mut command = program();
        command.args(arguments).current_dir(&folder.0).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program")
    };
    let begin = Instant::now();
    let before = "{\"version\":1,\"findings\":[]}\n";
    folder.write("base.json", before);
    let base = folder.0.join("base.json");
    let inode = || fs::metadata(&base).expect("a file").ino();
    let old = inode();
    assert_eq!(run().wait().expect("an exit").code(), Some(0));
    let time = begin.elapsed();
    // Another file replaces the old one, and no temporary file remains.
    assert_ne!(inode(), old);
    let mut names: Vec<_> = fs::read_dir(&folder.0).expect("a folder").flatten().map(|file| file.file_name()).collect();
    names.sort();
    assert_eq!(names, ["base.json", "t.json"]);
    let after = fs::read_to_string(&base).expect("a file");
    assert!(after.len() > 100_000, "{}", after.len());
    // Most of the writing is in the last third of the run.
    for at in 0..40 {
        folder.write("base.json", before);
        let mut child = run();
        thread::sleep(time * (60 + at) / 100);
        let _ = child.kill();
        let _ = child.wait();
        let found = fs::read_to_string(&base).expect("a file");
        assert!(found == before || found == after, "found {} bytes", found.len());
    }
}

/// A page in a browser whose name is resolved to this machine later, and other origins.
#[test]
fn pages_of_browsers_reach_neither_relay_nor_its_pages() {
    let port = api(|_, stream| reply(stream, JSON, b"{}"));
    let relay = relay(port, &[]);
    for target in ["/v1/models", "/toolwire/last", "/toolwire/metrics"] {
        for header in ["Host: evil.example", "Host: 127.0.0.1\r\nOrigin: https://evil.example"] {
            let mut client = connect(relay.port);
            write(client.get_mut(), &format!("GET {target} HTTP/1.1\r\n{header}\r\n\r\n"));
            assert_eq!(read_message(&mut client).expect("a reply").status(), 403, "{target} {header}");
        }
    }
    let mut rest = String::new();
    let mut client = connect(relay.port);
    write(client.get_mut(), "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    client.read_to_string(&mut rest).expect("a reply");
    assert!(rest.starts_with("HTTP/1.1 200"), "{rest}");
}
