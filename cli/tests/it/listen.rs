//! `toolwire proxy --listen` with real sockets and servers: what transcripts cannot show.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{io::Write as _, thread, time::Duration};

use serde_json::{json, Value};

use crate::{
    command::{program, Folder},
    http::Running,
    mcp::SERVER,
    relay::{connect, read_head, read_message, send, wait_until, Message},
};

const POST: &str =
    "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream";

fn listen(folder: &Folder) -> Running {
    let mut command = program();
    command.args(["proxy", "--listen", "127.0.0.1:0", "--dialect", "openai-chat", "--env", "ENDED"]);
    command.args(["--", "sh", "-c", SERVER]).env("ENDED", folder.0.join("ended"));
    Running::start(command)
}

fn post(port: u16, session: &str, message: &Value) -> Message {
    let mut client = connect(port);
    send(&mut client, &format!("{POST}{session}"), message.to_string().as_bytes());
    read_message(&mut client).expect("an answer")
}

/// Begins a session, and returns the header with its id.
fn begin(port: u16) -> String {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = post(port, "", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
    assert_eq!(answer.json()["result"]["serverInfo"]["name"], "f", "{}", answer.text());
    format!("\r\nMcp-Session-Id: {}", answer.header("mcp-session-id").expect("an id"))
}

fn list(port: u16, session: &str) -> Message {
    post(port, session, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
}

#[test]
fn a_session_has_its_own_server_which_ends_with_it() {
    let folder = Folder::new();
    let running = listen(&folder);
    let session = begin(running.port);
    assert_eq!(list(running.port, &session).json()["result"]["tools"][0]["name"], "a_b");
    assert_eq!(list(running.port, "\r\nMcp-Session-Id: guessed").status(), 404);
    let mut client = connect(running.port);
    send(&mut client, &format!("DELETE /mcp HTTP/1.1{session}"), b"");
    assert_eq!(read_head(&mut client).expect("an answer").status(), 204);
    wait_until(|| folder.0.join("ended").exists());
    assert_eq!(list(running.port, &session).status(), 404);
}

#[test]
fn clients_that_disconnect_while_their_next_request_arrives_leave_nothing_behind() {
    let folder = Folder::new();
    let running = listen(&folder);
    let session = begin(running.port);
    let hang = json!({"jsonrpc": "2.0", "id": 0, "method": "hang"});
    // More requests than may be open at the same time.
    for turn in 0..11 {
        let clients: Vec<_> = (0..100)
            .map(|at| {
                let mut client = connect(running.port);
                let mut hang = hang.clone();
                hang["id"] = json!(format!("{turn} {at}"));
                send(&mut client, &format!("{POST}{session}"), hang.to_string().as_bytes());
                write!(client.get_mut(), "{POST}{session}\r\nContent-Length: 1000\r\n\r\n{{").expect("a connection");
                client
            })
            .collect();
        thread::sleep(Duration::from_millis(100));
        drop(clients);
    }
    wait_until(|| list(running.port, &session).status() == 200);
}

#[test]
fn a_signal_ends_the_program_and_its_servers() {
    let folder = Folder::new();
    let mut running = listen(&folder);
    let session = begin(running.port);
    assert_eq!(list(running.port, &session).status(), 200);
    running.signal("TERM");
    assert_eq!(running.exit_code(), Some(143));
}
