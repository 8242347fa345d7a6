//! `toolwire proxy --listen` with real sockets and servers: what transcripts cannot show.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{Read as _, Write as _},
    process::Stdio,
    thread,
    time::Duration,
};

use serde_json::{json, Value};

use crate::{
    acting::{call, text, ACTING},
    command::{program, ran, Folder},
    http::Running,
    mcp::SERVER,
    relay::{connect, read_chunk, read_head, read_message, send, wait_at_most, wait_until, Message},
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

fn begin(port: u16) -> String {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = post(port, "", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
    assert!(answer.json()["result"]["serverInfo"]["name"].is_string(), "{}", answer.text());
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
        // The server has received all calls.
        wait_until(|| fs::metadata(folder.0.join("ended.hung")).is_ok_and(|file| file.len() == 100 * (turn + 1)));
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

fn acting(more: &[&str]) -> Running {
    let mut command = program();
    command.args(["proxy", "--listen", "127.0.0.1:0"]).args(more).args(["--", "sh", "-c", ACTING]);
    Running::start(command)
}

fn seen() -> (Folder, Running) {
    let folder = Folder::new();
    let mut command = program();
    command.args(["proxy", "--listen", "127.0.0.1:0", "--env", "SEEN", "--", "sh", "-c", ACTING]);
    command.env("SEEN", folder.0.join("seen"));
    (folder, Running::start(command))
}

fn has_seen(folder: &Folder, what: &str) -> bool {
    fs::read_to_string(folder.0.join("seen")).is_ok_and(|seen| seen.contains(what))
}

fn messages(answer: &Message) -> Vec<Value> {
    let text = answer.text();
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> =
        events.filter(|data| !data.is_empty()).filter_map(|data| serde_json::from_str(data).ok()).collect();
    if events.is_empty() {
        Vec::from([answer.json()])
    } else {
        events
    }
}

fn called(port: u16, session: &str, name: &str, arguments: &Value) -> Value {
    let answer = post(port, session, &call(name, name, arguments));
    messages(&answer).pop().unwrap_or_else(|| panic!("no answer: {} {}", answer.status(), answer.text()))
}

fn opened(port: u16) -> String {
    let session = begin(port);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(port, &session, &ready).status(), 202);
    assert_eq!(list(port, &session).status(), 200);
    session
}

fn is_running(pid: &str) -> bool {
    crate::kill().args(["-0", pid]).stderr(Stdio::null()).status().expect("kill").success()
}

#[test]
fn calls_are_restored_repaired_or_refused() {
    let running = acting(&[]);
    let session = opened(running.port);
    let id = session.rsplit(' ').next().expect("an id");
    assert!(id.len() == 36 && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()), "{id}");
    let answer = called(running.port, &session, "files_read", &json!({"dollar_ref_": "a", "count": "2"}));
    let expected = json!({"name": "files.read", "arguments": {"$ref": "a", "count": 2}});
    assert_eq!(answer["result"]["said"]["params"], expected, "{answer}");
    let refused = text(&called(running.port, &session, "files_read", &json!({"count": 1})));
    assert!(refused.contains("expected the member `dollar_ref_`"), "{refused}");
}

#[test]
fn clients_with_equal_ids_have_servers_of_their_own_of_which_one_may_die() {
    let running = acting(&[]);
    let (port, one, two) = (running.port, opened(running.port), opened(running.port));
    let pid = |session: &str| text(&called(port, session, "pid", &json!({})));
    assert_ne!(pid(&one), pid(&two));
    for round in 0..3 {
        thread::scope(|scope| {
            for session in [&one, &two] {
                scope.spawn(move || {
                    let says = format!("{} {round}", session.trim());
                    assert_eq!(text(&called(port, session, "slow", &json!({"says": says}))), says);
                });
            }
        });
    }
    thread::scope(|scope| {
        let slow = scope.spawn(|| text(&called(port, &two, "slow", &json!({"says": "still there"}))));
        let answer = called(port, &one, "die", &json!({}));
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(why.contains("has ended: exit code 3"), "{answer}");
        assert_eq!(slow.join().expect("an answer"), "still there");
    });
    wait_until(|| called(port, &one, "pid", &json!({})).get("result").is_some());
}

#[test]
fn progress_and_a_request_to_the_client_arrive_in_the_middle_of_a_call() {
    let running = acting(&[]);
    let session = opened(running.port);
    let mut steps = call(1, "steps", &json!({}));
    steps["params"]["_meta"] = json!({"progressToken": "p"});
    let found = messages(&post(running.port, &session, &steps));
    let progress: Vec<&Value> = found.iter().map(|message| &message["params"]["progress"]).collect();
    assert_eq!(progress, [&json!(1), &json!(2), &Value::Null], "{found:?}");
    assert_eq!(text(found.last().expect("an answer")), "there");
    let mut client = connect(running.port);
    send(&mut client, &format!("{POST}{session}"), call(2, "ask", &json!({})).to_string().as_bytes());
    read_head(&mut client).expect("a head");
    let mut received = String::new();
    while !received.contains("sampling/createMessage") {
        received += &String::from_utf8_lossy(&read_chunk(&mut client).expect("a question"));
    }
    let question = received.lines().find_map(|line| line.strip_prefix("data: {")).expect("a question");
    let question: Value = serde_json::from_str(&format!("{{{question}")).expect("JSON");
    let content = json!({"type": "text", "text": "the answer"});
    let result = json!({"model": "m", "role": "assistant", "content": content});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(post(running.port, &session, &answer).status(), 202);
    let mut rest = String::new();
    while let Some(chunk) = read_chunk(&mut client) {
        rest += &String::from_utf8_lossy(&chunk);
    }
    assert!(rest.contains("the answer"), "{rest}");
}

#[test]
fn a_client_may_disconnect_during_a_call_and_its_server_ends_with_its_session() {
    let (folder, running) = seen();
    let session = opened(running.port);
    let pid = text(&called(running.port, &session, "pid", &json!({})));
    let mut client = connect(running.port);
    let slow = call("left", "slow", &json!({"says": "x"}));
    send(&mut client, &format!("{POST}{session}"), slow.to_string().as_bytes());
    wait_until(|| has_seen(&folder, "began"));
    drop(client);
    wait_until(|| has_seen(&folder, "answered"));
    assert_eq!(text(&called(running.port, &session, "slow", &json!({"says": "heard"}))), "heard");
    assert_eq!(post(running.port, &session, &call("left", "pid", &json!({}))).status(), 200);
    let mut client = connect(running.port);
    send(&mut client, &format!("DELETE /mcp HTTP/1.1{session}"), b"");
    assert_eq!(read_head(&mut client).expect("an answer").status(), 204);
    wait_until(|| !is_running(&pid));
    assert_eq!(list(running.port, &session).status(), 404);
}

#[test]
fn a_message_of_20_mb_passes() {
    let running = acting(&[]);
    let session = opened(running.port);
    assert_eq!(text(&called(running.port, &session, "big", &json!({}))).len(), 20 << 20);
}

#[test]
fn every_signal_ends_all_servers() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let mut running = acting(&[]);
        let session = opened(running.port);
        let pid = text(&called(running.port, &session, "pid", &json!({})));
        running.signal(name);
        assert_eq!(running.exit_code(), Some(code));
        wait_until(|| !is_running(&pid));
    }
}

#[test]
fn a_command_that_does_not_exist_is_an_error_for_the_client_and_in_the_log() {
    let mut command = program();
    command.args(["proxy", "--listen", "127.0.0.1:0", "--", "no-such-command"]);
    let running = Running::start(command);
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = post(running.port, "", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
    let why = "no-such-command: expected a command, found none with this name";
    assert!(answer.text().contains(why), "{}", answer.text());
    wait_until(|| running.log().contains("session 1 has ended: no-such-command"));
}

#[test]
fn pages_of_others_other_paths_and_wrong_bodies_are_refused() {
    let running = acting(&[]);
    let initialize = crate::client::initialize_request();
    let status = |head: &str, body: &[u8]| {
        let mut client = connect(running.port);
        send(&mut client, head, body);
        read_head(&mut client).expect("an answer").status()
    };
    let refused = |more: &str| status(&format!("{POST}\r\n{more}"), initialize.as_bytes());
    assert_eq!(refused("Origin: https://evil.example"), 403);
    assert_eq!(refused("Sec-Fetch-Site: cross-site"), 403);
    assert_eq!(status(&POST.replace("application/json\r\n", "text/plain\r\n"), initialize.as_bytes()), 415);
    assert_eq!(status(&POST.replace("/mcp", "/"), initialize.as_bytes()), 404);
    assert_eq!(status(POST, b"{"), 400);
    assert_eq!(list(running.port, "").status(), 400);
    assert_eq!(list(running.port, "\r\nMcp-Session-Id: guessed").status(), 404);
    assert_eq!(status(&POST.replace("POST", "PUT"), b""), 405);
    assert_eq!(status(POST, &vec![b' '; (4 << 20) + 1]), 413);
    let mut client = connect(running.port);
    write!(client.get_mut(), "{POST}\r\nHost: evil.example:8000\r\nContent-Length: 2\r\n\r\n{{}}")
        .expect("a connection");
    assert_eq!(read_head(&mut client).expect("an answer").status(), 403);
    let mut client = connect(running.port);
    let head = format!("{POST}\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n400001\r\n");
    client.get_mut().write_all(head.as_bytes()).expect("a connection");
    let _ = client.get_mut().write_all(&vec![b' '; (4 << 20) + 1]);
    assert_eq!(read_head(&mut client).expect("an answer").status(), 413);
    // The program still serves other clients.
    assert_eq!(refused("Origin: http://localhost:6274"), 200);
}

#[test]
fn an_answer_to_head_has_no_body() {
    let running = acting(&[]);
    let mut client = connect(running.port);
    write!(client.get_mut(), "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("a connection");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 405") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn another_address_needs_a_token_which_clients_have_to_send() {
    let arguments = ["proxy", "--listen", "0.0.0.0:0", "--", "true"];
    let (_, stderr, code) = ran(program().args(arguments), "");
    let why = "expected `--token-env NAME` because programs on other machines can connect";
    assert!(code == Some(2) && stderr.contains(why), "{stderr}");
    let mut command = program();
    command.args(["proxy", "--listen", "0.0.0.0:0", "--token-env", "PROXY_TOKEN", "--", "sh", "-c", ACTING]);
    let running = Running::start({
        command.env("PROXY_TOKEN", "secret");
        command
    });
    assert_eq!(list(running.port, "").status(), 401);
    assert_eq!(list(running.port, "\r\nX-Toolwire-Token: Secret").status(), 401);
    let token = "\r\nX-Toolwire-Token: secret";
    let answer = post(running.port, token, &serde_json::from_str(&crate::client::initialize_request()).expect("JSON"));
    assert_eq!(answer.status(), 200);
}

#[test]
fn an_address_that_is_in_use_is_an_error() {
    let running = acting(&[]);
    let listen = format!("127.0.0.1:{}", running.port);
    let (_, stderr, code) = ran(program().args(["proxy", "--listen", &listen, "--", "true"]), "");
    let why = format!("expected an address at which it can listen, found {listen} (EADDRINUSE)");
    assert!(code == Some(2) && stderr.contains(&why), "{stderr}");
}

#[test]
fn sessions_that_have_ended_leave_room_for_others() {
    let running = acting(&[]);
    for _ in 0..80 {
        let session = begin(running.port);
        let mut client = connect(running.port);
        send(&mut client, &format!("DELETE /mcp HTTP/1.1{session}"), b"");
        assert_eq!(read_head(&mut client).expect("an answer").status(), 204);
    }
}

fn modern(name: &str) -> String {
    format!("\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}")
}

fn modern_call(name: &str, arguments: &Value) -> Value {
    let mut message = call(7, name, arguments);
    message["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": "p"});
    message
}

#[test]
fn requests_without_a_session_share_a_server_and_each_receives_its_own_answer() {
    let running = acting(&[]);
    let port = running.port;
    thread::scope(|scope| {
        for says in ["one", "two", "three"] {
            scope.spawn(move || {
                let answer = post(port, &modern("slow"), &modern_call("slow", &json!({"says": says})));
                assert_eq!(answer.header("mcp-session-id"), None);
                let message = messages(&answer).pop().expect("an answer");
                assert_eq!((&message["id"], text(&message).as_str()), (&json!(7), says));
            });
        }
    });
}

#[test]
fn a_client_without_a_session_that_does_not_read_does_not_block_others() {
    let (folder, running) = seen();
    let mut unread = connect(running.port);
    let many = modern_call("many", &json!({})).to_string();
    send(&mut unread, &format!("{POST}{}", modern("many")), many.as_bytes());
    read_head(&mut unread).expect("a head");
    // The proxy has read more than it keeps, from a server that is slow on a busy machine.
    wait_at_most(Duration::from_secs(120), || has_seen(&folder, "25 MB"));
    let answer = post(running.port, &modern("pid"), &modern_call("pid", &json!({})));
    assert!(text(&messages(&answer).pop().expect("an answer")).parse::<u32>().is_ok());
    // The response was aborted, because too much of it was unread.
    let mut rest = Vec::new();
    let _ = unread.read_to_end(&mut rest);
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("\"there\"") && !rest.ends_with("0\r\n\r\n"));
}

#[test]
fn bodies_that_are_being_read_have_a_common_limit() {
    let running = acting(&[]);
    let session = opened(running.port);
    let most = 4 << 20;
    // Each lacks its last byte, so that the proxy waits for it.
    let body = vec![b' '; most - 1];
    let mut clients: Vec<_> = (0..130)
        .map(|_| {
            let mut client = connect(running.port);
            let head = format!("{POST}{session}\r\nHost: 127.0.0.1\r\nContent-Length: {most}\r\n\r\n");
            client.get_mut().write_all(head.as_bytes()).expect("a connection");
            let _ = client.get_mut().write_all(&body);
            client
        })
        .collect();
    // The order in which the proxy reads them is not known.
    let refused = clients.iter_mut().filter_map(|client| {
        client.get_mut().set_read_timeout(Some(Duration::from_millis(20))).expect("a time limit");
        read_head(client).map(|head| head.status())
    });
    let refused: Vec<u16> = refused.collect();
    assert!((1..10).contains(&refused.len()) && refused.iter().all(|status| *status == 503), "{refused:?}");
    drop(clients);
    wait_until(|| list(running.port, &session).status() == 200);
}

#[test]
fn only_the_client_of_a_server_that_was_restarted_is_told() {
    let running = acting(&[]);
    let sessions = [opened(running.port), opened(running.port)];
    let mut streams = sessions.clone().map(|session| {
        let mut client = connect(running.port);
        send(&mut client, &format!("GET /mcp HTTP/1.1\r\nAccept: text/event-stream{session}"), b"");
        assert_eq!(read_head(&mut client).expect("a head").status(), 200);
        client
    });
    assert!(called(running.port, &sessions[0], "die", &json!({})).get("error").is_some());
    let mut received = String::new();
    while !received.contains("notifications/tools/list_changed") {
        received += &String::from_utf8_lossy(&read_chunk(&mut streams[0]).expect("a notification"));
    }
    streams[1].get_mut().set_read_timeout(Some(Duration::from_millis(500))).expect("a time limit");
    while let Some(chunk) = read_chunk(&mut streams[1]) {
        assert!(!String::from_utf8_lossy(&chunk).contains("list_changed"));
    }
}
