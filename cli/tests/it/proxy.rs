//! `toolwire proxy` between a client and servers that fail: what transcripts cannot show.

#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        Arc,
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    acting::{call, called, listed, text, ACTING, TOOLS},
    client::{initialize_result, ProxyProcess},
    command::{program, Folder},
    relay::{api, packed, reply, wait_until, write},
};

fn acting(options: &[&str], log: &Path) -> ProxyProcess {
    let mut command = program();
    command.arg("proxy").args(options).args(["--", "sh", "-c", ACTING]);
    ProxyProcess::start_with(command, File::create(log).expect("a log").into()).initialized()
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error in {answer}"))
}

fn is_running(pid: &str) -> bool {
    crate::kill().args(["-0", pid]).stderr(Stdio::null()).status().expect("kill").success()
}

#[test]
fn calls_are_restored_repaired_or_refused_and_all_of_it_is_reported() {
    let folder = Folder::new();
    let report = folder.0.join("report.jsonl");
    let mut proxied = acting(&["--report", report.to_str().expect("a path")], &folder.0.join("log"));
    let tools = listed(&mut proxied);
    assert_eq!(tools[0]["name"], "files_read");
    let properties = tools[0]["inputSchema"]["properties"].as_object().expect("properties");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["dollar_ref_", "count"]);
    let answer = called(&mut proxied, "files_read", &json!({"dollar_ref_": "a", "count": "2"}));
    let expected = json!({"name": "files.read", "arguments": {"$ref": "a", "count": 2}});
    assert_eq!(answer["result"]["said"]["params"], expected);
    let answer = called(&mut proxied, "files_read", &json!({"count": 1}));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("expected the member `dollar_ref_`"), "{answer}");
    let read = r#"{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"toolwire://report"}}"#;
    let answer = proxied.ask(read);
    let shown = answer["result"]["contents"][0]["text"].as_str().expect("a report");
    assert_eq!(serde_json::from_str::<Value>(shown).expect("JSON")["tools"], TOOLS);
    assert_eq!(proxied.end().1, Some(0));
    let lines = fs::read_to_string(report).expect("a report");
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|line| line.as_object().and_then(|line| line.keys().next().cloned()).expect("a kind"))
        .collect();
    assert_eq!(kinds, ["changed", "changed", "repaired", "refused"]);
}

#[test]
fn a_server_that_dies_during_a_call_is_restarted_and_the_client_is_told() {
    let folder = Folder::new();
    let log = folder.0.join("log");
    for how in ["die", "leave"] {
        let mut proxied = acting(&[], &log);
        listed(&mut proxied);
        let begin = Instant::now();
        assert!(message(&called(&mut proxied, how, &json!({}))).contains("has ended: exit code 3"));
        assert!(begin.elapsed() < Duration::from_secs(15), "a process outside the group keeps the output open");
        while !proxied.receive().expect("a notification").contains("notifications/tools/list_changed") {}
        let answer = called(&mut proxied, "files_read", &json!({"dollar_ref_": "b"}));
        assert_eq!(answer["result"]["said"]["params"]["arguments"], json!({"$ref": "b"}));
        wait_until(|| fs::read_to_string(&log).expect("a log").contains("has ended: exit code 3"));
    }
}

#[test]
fn a_server_that_hangs_writes_rubbish_or_answers_wrongly_can_still_be_used() {
    let folder = Folder::new();
    let log = folder.0.join("log");
    let mut proxied = acting(&[], &log);
    listed(&mut proxied);
    proxied.send(&call(1, "hang", &json!({})).to_string());
    assert_eq!(text(&called(&mut proxied, "rubbish", &json!({}))), "fine");
    assert_eq!(text(&called(&mut proxied, "wrong-id", &json!({}))), "yours");
    assert_eq!(text(&called(&mut proxied, "twice", &json!({}))), "first");
    let answer = called(&mut proxied, "files_read", &json!({"dollar_ref_": "c"}));
    assert_eq!(answer["result"]["said"]["params"]["arguments"], json!({"$ref": "c"}));
    // A thread writes the log.
    let read = || fs::read_to_string(&log).expect("a log");
    wait_until(|| read().contains("ignored a line from") && read().contains(": not JSON"));
    assert!(!read().contains('\u{1b}'), "a control sequence of a server reaches the terminal");
}

#[test]
fn a_message_of_20_mb_passes_and_one_above_the_limit_ends_its_server() {
    let folder = Folder::new();
    let mut proxied = acting(&[], &folder.0.join("log"));
    listed(&mut proxied);
    assert_eq!(text(&called(&mut proxied, "big", &json!({}))).len(), 20 << 20);
    let answer = called(&mut proxied, "flood", &json!({}));
    assert!(message(&answer).contains("wrote a message of more than"), "{answer}");
}

#[test]
fn a_server_that_does_not_read_is_stopped_before_it_fills_the_memory() {
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", "exec sleep 60"]);
    let mut proxied = ProxyProcess::start_with(command, Stdio::null());
    let text = "x".repeat(20 << 20);
    let request = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "vendor/own", "params": text}).to_string();
    (0..5).for_each(|id| proxied.send(&request(id)));
    let answer = proxied.receive().expect("an answer");
    assert!(answer.contains("it has not read 67108864 bytes"), "{answer:.300}");
}

#[test]
fn two_servers_appear_as_one_and_one_that_does_not_exist_is_reported() {
    let folder = Folder::new();
    // Not as an argument, in which `${…}` would be a variable.
    folder.write("server.sh", ACTING);
    let server = json!({"command": "sh", "args": ["server.sh"]});
    let servers = json!({"mcpServers": {"one": server, "two": server, "gone": {"command": "no-such-command"}}});
    folder.write("mcp.json", &servers.to_string());
    let mut command = program();
    command.args(["proxy", "--servers", "mcp.json"]).current_dir(&folder.0);
    let log = folder.0.join("log");
    let mut proxied = ProxyProcess::start_with(command, File::create(&log).expect("a log").into()).initialized();
    let tools = listed(&mut proxied);
    assert_eq!(tools.len(), 2 * TOOLS);
    let mut names = tools.iter().map(|tool| tool["name"].as_str().expect("a name"));
    let name = names.find(|name| name.starts_with("two__files_read")).expect("a name").to_string();
    let answer = called(&mut proxied, &name, &json!({"dollar_ref_": "x"}));
    let expected = json!({"name": "files.read", "arguments": {"$ref": "x"}});
    assert_eq!(answer["result"]["said"]["params"], expected);
    assert!(message(&called(&mut proxied, "one__die", &json!({}))).contains("`one` has ended"));
    assert_eq!(text(&called(&mut proxied, "two__twice", &json!({}))), "first");
    let line = "`gone` has ended: expected a command, found none with this name";
    wait_until(|| fs::read_to_string(&log).expect("a log").contains(line));
}

#[test]
fn deferred_tools_are_found_and_called() {
    let folder = Folder::new();
    let mut proxied = acting(&["--defer", "5"], &folder.0.join("log"));
    let tools = listed(&mut proxied);
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["search_tools", "call_tool"]);
    let found = text(&called(&mut proxied, "search_tools", &json!({"query": "read files"})));
    assert!(found.contains("files_read"), "{found}");
    let inner = json!({"name": "files_read", "arguments": {"dollar_ref_": "z"}});
    let answer = called(&mut proxied, "call_tool", &inner);
    assert_eq!(answer["result"]["said"]["params"]["arguments"], json!({"$ref": "z"}));
}

#[test]
fn every_end_is_the_end_of_the_processes_that_a_server_has_started() {
    let folder = Folder::new();
    for (name, code) in [(None, 0), (Some("HUP"), 129), (Some("INT"), 130), (Some("QUIT"), 131), (Some("TERM"), 143)] {
        if name == Some("HUP") && crate::ignores_hangup() {
            continue;
        }
        let mut proxied = acting(&[], &folder.0.join("log"));
        listed(&mut proxied);
        let child = text(&called(&mut proxied, "child", &json!({})));
        assert!(is_running(&child));
        if let Some(name) = name {
            let sent = crate::kill().args([&format!("-{name}"), &proxied.child.id().to_string()]).status();
            assert!(sent.expect("kill").success());
            assert_eq!(crate::exit_code(&mut proxied.child), Some(code), "{name:?}");
        } else {
            assert_eq!(proxied.end().1, Some(code));
        }
        wait_until(|| !is_running(&child));
    }
}

#[test]
fn a_client_that_does_not_read_the_log_receives_answers() {
    let script = r#"
        line=$(head -c 200 /dev/zero | tr '\0' x); at=0
        while [ $at -lt 20000 ]; do at=$((at + 1)); printf '\033[31m%s\n' "$line" >&2; done
        while IFS= read -r line; do printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{}}'; done"#;
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", script]);
    let mut proxied = ProxyProcess::start_with(command, Stdio::piped());
    proxied.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(proxied.receive().expect("an answer"), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let mut piece = [0; 4096];
    let length = std::io::Read::read(proxied.child.stderr.as_mut().expect("a pipe"), &mut piece).expect("a log");
    assert!(length > 0 && !piece.contains(&0x1b), "a control sequence of a server reaches the terminal");
}

#[test]
fn lines_that_a_server_writes_for_people_arrive_as_they_are() {
    let folder = Folder::new();
    let log = folder.0.join("log");
    let mut command = program();
    command.args([
        "proxy",
        "--",
        "sh",
        "-c",
        r"printf 'ready: 5 %% \303\274 [info]\n\033[1mbold\n' >&2; cat >/dev/null",
    ]);
    let proxied = ProxyProcess::start_with(command, File::create(&log).expect("a log").into());
    let read = || fs::read_to_string(&log).expect("a log");
    wait_until(|| read().contains("bold"));
    let lines: Vec<String> = read().lines().map(String::from).collect();
    assert!(lines.iter().any(|line| line == "ready: 5 % \u{fc} [info]"), "{lines:?}");
    assert!(!read().contains('\u{1b}'), "{lines:?}");
    assert_eq!(proxied.end().1, Some(0));
}

#[test]
fn numbers_and_spaces_pass_byte_for_byte_in_both_directions() {
    let script = r#"while IFS= read -r line; do printf '%s\r\n' '{"jsonrpc": "2.0", "id": 12345678901234567890, "result": {"n": 1.0e400}}'; printf '%s\n' "$line" >>seen; done"#;
    let folder = Folder::new();
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", script]).current_dir(&folder.0);
    let mut proxied = ProxyProcess::start(command);
    let line =
        r#"{"jsonrpc":"2.0",  "id":12345678901234567890,"method":"vendor/own","params":{"n":0.10,"s":"\u00e9"}}"#;
    proxied.send(line);
    let answer = proxied.receive().expect("an answer");
    assert_eq!(answer, r#"{"jsonrpc": "2.0", "id": 12345678901234567890, "result": {"n": 1.0e400}}"#);
    assert_eq!(proxied.end().1, Some(0));
    assert_eq!(fs::read_to_string(folder.0.join("seen")).expect("a line"), format!("{line}\n"));
}

#[test]
fn servers_may_write_before_any_request_and_leave_processes_behind() {
    let script = r#"
        echo 'Listening on port 3000'
        echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}'
        while IFS= read -r line; do
          id=${line##*\"id\":}; id=${id%%[,\}]*}
          case $line in
            *tools/list*) sleep 1000 & exit 3 ;;
            *) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}' ;;
          esac
        done"#;
    let folder = Folder::new();
    folder.write("server.sh", script);
    let server = json!({"command": "sh", "args": ["server.sh"]});
    folder.write("mcp.json", &json!({"mcpServers": {"one": server, "two": server}}).to_string());
    let mut command = program();
    command.args(["proxy", "--servers", "mcp.json"]).current_dir(&folder.0);
    let mut proxied = ProxyProcess::start(command).initialized();
    let answer = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(message(&answer).contains("has ended: exit code 3"), "{answer}");
    assert_eq!(proxied.end().1, Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn restarts_leave_no_descriptors_open() {
    let mut command = program();
    command.args(["proxy", "--", "sh", "-c", "read -r line; setsid sleep 30 & exit 3"]);
    let mut proxied = ProxyProcess::start(command);
    let (mut counts, end) = (Vec::new(), Instant::now() + Duration::from_secs(40));
    while counts.len() < 3 {
        assert!(Instant::now() < end, "the server does not restart");
        let answer = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        if message(&answer).contains("has ended") {
            // The first restart begins after half a second.
            thread::sleep(Duration::from_millis(250));
            counts.push(fs::read_dir(format!("/proc/{}/fd", proxied.child.id())).expect("descriptors").count());
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(counts[0], counts[2], "{counts:?}");
}

#[test]
fn a_session_that_a_server_at_a_url_has_forgotten_is_opened_again() {
    let is_forgotten = Arc::new(AtomicBool::new(false));
    let forgotten = is_forgotten.clone();
    let port = api(move |request, stream| {
        // The header is sent with every request, also after the session is opened again.
        if request.header("x-key") != Some("k") {
            return write(stream, "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
        }
        let message = request.json();
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        let json = "Content-Type: application/json\r\nMcp-Session-Id: s\r\n";
        match message["method"].as_str() {
            Some("initialize") => {
                forgotten.store(false, Ordering::Relaxed);
                reply(stream, json, answer(initialize_result()).as_bytes());
            }
            // As a server answers after a restart.
            Some(_) if forgotten.load(Ordering::Relaxed) => {
                write(stream, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
            }
            Some("vendor/own") => reply(stream, json, answer(json!({"said": "own"})).as_bytes()),
            _ => write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n"),
        }
    });
    let folder = Folder::new();
    let log = folder.0.join("log");
    let mut command = program();
    command.args(["proxy", "--url", &format!("http://127.0.0.1:{port}/mcp?token=secret-token")]);
    command.args(["--header", "X-Key: k"]);
    let mut proxied = ProxyProcess::start_with(command, File::create(&log).expect("a log").into()).initialized();
    let own = r#"{"jsonrpc":"2.0","id":1,"method":"vendor/own"}"#;
    assert_eq!(proxied.ask(own)["result"]["said"], "own");
    is_forgotten.store(true, Ordering::Relaxed);
    assert!(message(&proxied.ask(own)).contains("has ended"));
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let answer = proxied.ask(own);
        if answer["result"]["said"] == "own" {
            break;
        }
        assert!(Instant::now() < end && message(&answer).contains("is restarting"), "{answer}");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!fs::read_to_string(&log).expect("a log").contains("secret-token"));
}

#[test]
fn many_events_together_may_exceed_the_limit_of_one_message() {
    let port = api(|request, stream| {
        let message = request.json();
        let event = |message: Value| format!("data: {message}\r\n\r\n");
        let said = |size: usize| {
            event(json!({"jsonrpc": "2.0", "method": "vendor/said", "params": {"large": "x".repeat(size)}}))
        };
        let mut body = match message["method"].as_str() {
            Some("vendor/many") => said(9 << 20).repeat(8),
            Some("vendor/large") => said(72 << 20),
            _ => String::new(),
        };
        let result = if message["method"] == "initialize" { initialize_result() } else { json!({}) };
        body += &event(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        let headers = "Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n";
        reply(stream, headers, &packed("gzip", body.as_bytes()));
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    assert_eq!(proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"vendor/many"}"#)["result"], json!({}));
    let answer = proxied.ask(r#"{"jsonrpc":"2.0","id":2,"method":"vendor/large"}"#);
    assert!(message(&answer).contains("expected at most 64 MiB from the server, found more"), "{answer}");
}

#[test]
fn a_server_at_a_url_that_does_not_listen_is_an_error() {
    let mut command = program();
    command.args(["proxy", "--url", "http://127.0.0.1:9/mcp"]);
    let mut proxied = ProxyProcess::start(command);
    let answer = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    assert!(message(&answer).contains("could not be reached: ECONNREFUSED"), "{answer}");
}

/// Returns the answers in the order of the requests.
fn seen(command: Command) -> Vec<Value> {
    let mut client = ProxyProcess::start(command);
    let capabilities = json!({"sampling": {}, "elicitation": {}, "roots": {"listChanged": true}});
    let about = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": about});
    let request = |id: usize, method: &str, params: &Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let mut answers = Vec::from([client.ask(&request(0, "initialize", &params))]);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let long = json!({"name": "trigger-long-running-operation", "arguments": {"duration": 0.2, "steps": 2},
        "_meta": {"progressToken": "p"}});
    for (id, (method, params)) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "simple-prompt"})),
        ("resources/read", json!({"uri": "demo://nothing"})),
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "debug"})),
        ("tools/call", long),
        tool("echo", json!({"message": "hi"})),
        tool("get-sum", json!({"a": 1, "b": 2})),
        tool("get-structured-content", json!({"location": "Chicago"})),
        tool("get-resource-links", json!({"count": 2})),
        tool("get-tiny-image", json!({})),
        tool("trigger-sampling-request", json!({"prompt": "p", "maxTokens": 5})),
        tool("trigger-elicitation-request", json!({})),
        tool("get-roots-list", json!({})),
        tool("nothing-of-that-name", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        client.send(&request(id + 1, method, &params));
        loop {
            let line = client.receive().expect("an answer");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            let result = match message["method"].as_str() {
                None if message["id"] == id + 1 => {
                    answers.push(message);
                    break;
                }
                Some("sampling/createMessage") => {
                    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled"}})
                }
                Some("elicitation/create") => json!({"action": "decline"}),
                Some("roots/list") => json!({"roots": [{"uri": "file:///a", "name": "a"}]}),
                _ => continue,
            };
            client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string());
        }
    }
    answers
}

#[test]
fn a_real_server_behaves_the_same_with_the_proxy_and_without_it() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../demo/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !server.exists() {
        return println!("skipped: `make demo` installs server-everything");
    }
    let mut bare = Command::new("node");
    bare.arg(&server);
    let mut through = program();
    through.args(["proxy", "--", "node"]).arg(&server);
    let (expected, found) = (seen(bare), seen(through));
    assert!(expected[1]["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{}", expected[1]);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found);
    }
}
