//! Clients, servers and APIs that hold what others need, and signals.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[cfg(unix)]
use std::{fs, process::Stdio};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    client::{initialize_result, ProxyProcess},
    command::{program, Folder},
    relay::{api, ask, chat, connect, relay, reply, send, wait_until, write, Message, CHAT},
};

const JSON: &str = "Content-Type: application/json\r\n";
const EVENTS: &str = "Content-Type: text/event-stream\r\n";

fn metric(port: u16, name: &str) -> Option<u64> {
    let text = ask(port, "GET /toolwire/metrics HTTP/1.1", b"").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name).map(String::from))?;
    line.trim().parse().ok()
}

#[test]
fn a_whole_answer_is_an_open_request_until_the_client_has_read_it() {
    let large = json!({"choices": [], "more": "x".repeat(30_000_000)}).to_string();
    let port = api(move |_, stream| reply(stream, "Content-Type: application/json\r\n", large.as_bytes()));
    let relay = relay(port, &[]);
    let mut client = connect(relay.port);
    send(&mut client, CHAT, &chat("a.b", json!({})));
    let mut line = String::new();
    client.read_line(&mut line).expect("a reply");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(metric(relay.port, "toolwire_open_requests "), Some(1));
    let mut rest = Vec::new();
    client.get_mut().set_read_timeout(Some(Duration::from_secs(5))).expect("a time limit");
    let _ = client.read_to_end(&mut rest);
    assert!(rest.len() > 30_000_000);
    wait_until(|| metric(relay.port, "toolwire_open_requests ") == Some(0));
}

#[test]
fn a_reply_that_passes_over_http2_is_counted_until_the_client_reads_it() {
    use http_body_util::{BodyExt as _, Empty};
    use hyper::{body::Bytes, client::conn::http2::Builder, Request};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let port = api(|_, stream| reply(stream, "", &[b'x'; 5_000]));
    let relay = relay(port, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", relay.port)).await.expect("a connection");
        let mut client = Builder::new(TokioExecutor::new());
        client.initial_stream_window_size(1);
        let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.expect("HTTP/2");
        tokio::spawn(connection);
        let request = Request::get(format!("http://127.0.0.1:{}/v1/models", relay.port)).body(Empty::<Bytes>::new());
        let mut body = sender.send_request(request.expect("a request")).await.expect("a reply").into_body();
        assert_eq!(body.frame().await.expect("a part").expect("a part").into_data().expect("a part").len(), 1);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(metric(relay.port, "toolwire_open_requests "), Some(1));
    });
    drop(runtime);
    wait_until(|| metric(relay.port, "toolwire_open_requests ") == Some(0));
}

#[test]
fn an_early_reply_ends_the_connection_to_the_api_although_the_client_goes_on() {
    let (ended, wait) = std::sync::mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream);
        crate::relay::read_head(&mut reader).expect("a head");
        write(reader.get_mut(), "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
        let _ = reader.read_to_end(&mut Vec::new());
        ended.send(()).expect("the test waits");
    });
    let relay = relay(port, &[]);
    let mut client = connect(relay.port);
    let head = "POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 50000000\r\n\r\n";
    write(client.get_mut(), &head.replace("Host: a", "Host: 127.0.0.1"));
    client.get_mut().write_all(b"a part").expect("a connection");
    assert_eq!(crate::relay::read_message(&mut client).expect("a reply").status(), 413);
    // The client sends nothing more, and stays connected.
    wait.recv_timeout(Duration::from_secs(20)).expect("the end of the connection");
}

#[test]
fn a_request_ends_with_its_reply_although_the_api_has_not_read_it() {
    let (ended, wait) = std::sync::mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let mut reader = BufReader::new(stream);
        crate::relay::read_head(&mut reader).expect("a head");
        write(reader.get_mut(), "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
        thread::sleep(Duration::from_millis(500));
        // The rest of the request that is in the system's buffers.
        let mut rest = Vec::new();
        let _ = reader.read_to_end(&mut rest);
        ended.send(rest.len()).expect("the test waits");
    });
    let relay = relay(port, &[]);
    let large = chat("a.b", json!({"user": "x".repeat(20_000_000)}));
    assert_eq!(ask(relay.port, CHAT, &large).status(), 413);
    let length = wait.recv_timeout(Duration::from_secs(20)).expect("the end of the connection");
    assert!(length < 15_000_000, "{length}");
}

/// Starts a server, and returns its port. `more` handles the methods that the server does not know.
fn server(more: impl Fn(&Message, &str, &mut TcpStream) + Send + Sync + 'static) -> u16 {
    api(move |request, stream| {
        let message = request.json();
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => reply(stream, JSON, answer(initialize_result()).as_bytes()),
            "tools/list" => {
                let tools = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]});
                reply(stream, JSON, answer(tools).as_bytes());
            }
            method => more(request, method, stream),
        }
    })
}

#[test]
fn an_answer_that_answers_nothing_ends_the_call() {
    const CASES: [(&str, &str, &str, &str); 10] = [
        ("html", "200 OK", "Content-Type: text/html\r\n", "<p>log in"),
        ("nothing", "200 OK", JSON, "{}"),
        ("an id", "200 OK", JSON, r#"{"jsonrpc":"2.0","id":ID}"#),
        ("a request", "200 OK", JSON, r#"{"jsonrpc":"2.0","id":ID,"method":"ping"}"#),
        ("another id", "200 OK", JSON, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
        ("no id", "200 OK", JSON, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"said"}}"#),
        ("no event", "200 OK", EVENTS, ": nothing\n\n"),
        ("no id in an event", "200 OK", EVENTS, "data: {\"id\":null,\"error\":{\"message\":\"said\"}}\n\n"),
        ("204", "204 OK", "", ""),
        ("202", "202 OK", "", ""),
    ];
    let port = server(|request, method, stream| match CASES.iter().find(|(name, ..)| *name == method) {
        Some((_, status, headers, body)) => {
            let body = body.replace("ID", &request.json()["id"].to_string());
            let length =
                if *status == "204 OK" { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
            write(stream, &format!("HTTP/1.1 {status}\r\n{headers}{length}\r\n{body}"));
        }
        None => write(stream, "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n"),
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    for (id, (method, ..)) in CASES.iter().enumerate() {
        let answer = proxied.ask(&json!({"jsonrpc": "2.0", "id": id + 1, "method": method}).to_string());
        let why = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{method}: {answer}"));
        assert_eq!(why.contains("said"), method.starts_with("no id"), "{method}: {answer}");
    }
    // A refused notification is not the failure of a list.
    let url = format!("http://127.0.0.1:{port}/mcp");
    let output = program().args(["check", "-d", "openai-chat", "--url", &url]).output().expect("the program");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_servers_own_messages_may_contain_an_answer_until_they_end() {
    let own = Mutex::new(None::<TcpStream>);
    let port = server(move |request, method, stream| {
        if request.start.starts_with("GET") {
            *own.lock().expect("no panic") = Some(stream.try_clone().expect("a connection"));
            return write(stream, &format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n: open\n\n"));
        }
        let empty = "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n";
        match method {
            "later" | "sooner" => {
                let answer = json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": {}});
                if method == "later" {
                    write(stream, empty);
                }
                if let Some(own) = &mut *own.lock().expect("no panic") {
                    write(own, &format!("data: {answer}\n\n"));
                }
                if method == "sooner" {
                    thread::sleep(Duration::from_millis(50));
                    write(stream, empty);
                }
            }
            "end" => {
                write(stream, empty);
                thread::sleep(Duration::from_millis(50));
                let _ = own.lock().expect("no panic").take().expect("a stream").shutdown(std::net::Shutdown::Both);
            }
            _ => write(stream, empty),
        }
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    // The stream opens after the notification.
    let mut id = 0;
    let mut ask = |method: &str| {
        id += 1;
        proxied.ask(&json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string())
    };
    let end = Instant::now() + Duration::from_secs(20);
    while ask("later").get("result").is_none() {
        assert!(Instant::now() < end, "the stream does not open");
    }
    assert!(ask("sooner").get("result").is_some());
    assert!(ask("end").get("error").is_some());
}

#[test]
fn an_attempt_with_sse_that_fails_is_only_an_attempt() {
    let port = api(|request, stream| {
        if request.start.starts_with("GET") {
            return reply(stream, "Content-Type: text/event-stream\r\n", b": no endpoint\n\n");
        }
        let text = "only for members";
        write(stream, &format!("HTTP/1.1 404 No\r\nContent-Length: {}\r\n\r\n{text}", text.len()));
    });
    let url = format!("http://127.0.0.1:{port}/mcp");
    let output = program().args(["check", "--url", &url]).output().expect("the program");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("HTTP 404: only for members"), "{stderr}");
}

#[test]
fn a_server_at_a_url_that_does_not_read_cannot_fill_the_memory() {
    // Also if its reply begins before it reads the request.
    for begin in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.expect("a connection"));
                thread::spawn(move || {
                    let head = crate::relay::read_head(&mut reader).expect("a head");
                    let length: usize = head.header("content-length").expect("a length").parse().expect("a length");
                    if length > 1 << 20 {
                        write(reader.get_mut(), begin);
                        return thread::sleep(Duration::from_secs(60));
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).expect("a body");
                    let id = serde_json::from_slice::<Value>(&body).expect("JSON")["id"].clone();
                    let answer = json!({"jsonrpc": "2.0", "id": id, "result": initialize_result()}).to_string();
                    reply(reader.get_mut(), &format!("Connection: close\r\n{JSON}"), answer.as_bytes());
                });
            }
        });
        let mut proxied = ProxyProcess::start_for_server(port);
        let large = "x".repeat(10 << 20);
        for id in 1..9 {
            proxied.send(&json!({"jsonrpc": "2.0", "id": id, "method": "large", "params": {"a": large}}).to_string());
        }
        let answer = proxied.ask(&json!({"jsonrpc": "2.0", "id": 9, "method": "large", "params": {}}).to_string());
        assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("has not read")), "{answer}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_without_an_answer_does_not_hold_its_message() {
    let (read, has_read) = std::sync::mpsc::channel();
    let port = server(move |_, method, stream| match method {
        "large" => {
            write(stream, &format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n"));
            read.send(()).expect("the test waits");
        }
        _ => write(stream, "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n"),
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    let status = format!("/proc/{}/status", proxied.child.id());
    let large = "x".repeat(10 << 20);
    for id in 1..18 {
        proxied.send(&json!({"jsonrpc": "2.0", "id": id, "method": "large", "params": {"a": large}}).to_string());
        has_read.recv_timeout(Duration::from_secs(20)).expect("a request");
    }
    let memory = || -> usize {
        let text = fs::read_to_string(&status).expect("the program runs");
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").parse().expect("a size")
    };
    let found = proxied.ask(r#"{"jsonrpc":"2.0","id":30,"method":"tools/list"}"#);
    assert!(found.get("result").is_some(), "{found}");
    assert!(memory() < 150_000, "{} kB", memory());
}

#[test]
fn a_refused_notification_and_a_message_of_the_maximum_size_do_not_end_the_connection() {
    let port = server(|_, method, stream| {
        if method == "wait" {
            // A reply without an end, on a connection that the program closes.
            return write(stream, &format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n"));
        }
        write(stream, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    });
    let mut proxied = ProxyProcess::start_for_server(port);
    // Without a session, a refused notification does not end the connection.
    proxied.send(r#"{"jsonrpc":"2.0","method":"notifications/other"}"#);
    let refused = proxied.ask(r#"{"jsonrpc":"2.0","id":1,"method":"other"}"#);
    assert!(refused["error"]["message"].as_str().is_some_and(|why| why.contains("HTTP 404")), "{refused}");
    let list = proxied.ask(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert!(list.get("result").is_some(), "{list}");
    // One message has the maximum size.
    let most = (64 << 20) - json!({"jsonrpc": "2.0", "id": 3, "method": "wait", "params": {"a": ""}}).to_string().len();
    let large = json!({"jsonrpc": "2.0", "id": 3, "method": "wait", "params": {"a": "x".repeat(most)}}).to_string();
    assert_eq!(large.len(), 64 << 20);
    proxied.send(&large);
    let list = proxied.ask(r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#);
    assert!(list.get("result").is_some(), "{list}");
}

#[test]
fn a_proxy_of_the_environment_that_is_unknown_is_an_error() {
    let folder = Folder::new();
    folder.write("t.json", r#"[{"name": "now", "inputSchema": {"type": "object"}}]"#);
    let arguments = ["probe", "-d", "openai-chat", "--model", "m", "--url", "https://api.example/v1", "--key-env", "K"];
    let odd = [
        "socks4://127.0.0.1:9",
        "ftp://127.0.0.1:9",
        "https://127.0.0.1:9",
        "http:///",
        "/",
        " http://127.0.0.1:9",
        "http://u:p#x@127.0.0.1:9",
    ];
    for proxy in odd {
        let mut command = program();
        command.args(arguments).arg("t.json").current_dir(&folder.0);
        command.env("K", "secret").env("ALL_PROXY", proxy);
        for name in ["HTTPS_PROXY", "https_proxy", "all_proxy", "NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        let output = command.output().expect("the program");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(stderr.contains("no URL with http:// or socks5://"), "{proxy}: {stderr}");
    }
}

/// The program has waited for a server, and now waits for a reader of its output.
#[cfg(unix)]
#[test]
fn signals_end_the_program_also_after_it_has_waited_for_a_server() {
    use std::os::unix::process::ExitStatusExt as _;
    let script = r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([^,}]*\).*/\1/p')
        case $line in
          *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}' ;;
          *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[' $id
            for at in $(seq 1 400); do printf '{"name":"a.%s","inputSchema":{"type":"object"}},' $at; done
            echo '{"name":"b.","inputSchema":{"type":"object"}}]}}' ;;
        esac
      done"#;
    let mut command = program();
    command.args(["check", "--format", "json", "--", "sh", "-c", script]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program");
    let mut first = [0];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("an output");
    // The program fills the pipe.
    thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().expect("a status").is_none(), "the output fits into the pipe");
    let sent = crate::kill().arg(child.id().to_string()).status().expect("kill");
    assert!(sent.success());
    let end = Instant::now() + Duration::from_secs(10);
    while child.try_wait().expect("a status").is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            panic!("expected the end after a signal, found none");
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().expect("a status").signal(), Some(15));
}

#[cfg(unix)]
#[test]
fn a_full_file_is_an_error_of_every_command() {
    let folder = Folder::new();
    let tool = |at: u32| json!({"name": format!("a.{at}"), "inputSchema": {"type": "object"}});
    folder.write("t.json", &Value::from((0..200).map(tool).collect::<Vec<Value>>()).to_string());
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_toolwire")]);
    limited.args(["check", "-d", "openai-chat", "t.json", "--baseline", "base.json", "--update-baseline"]);
    let output = limited.current_dir(&folder.0).stdin(Stdio::null()).output().expect("the program");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{:?} {stderr}", output.status);
    assert!(stderr.contains("(EFBIG)"), "{stderr}");
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 1);
}

#[cfg(target_os = "linux")]
fn limited(soft: u32, hard: u32) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let script = format!("ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_toolwire")]);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn idle_connections_end_before_the_open_files_run_out() {
    use crate::{http::Running, relay::read_message};
    let port = api(|_, stream| reply(stream, JSON, b"{}"));
    let relay = Running::relay(limited(200, 200), port, &["--dialect", "openai-chat"]);
    let open: Vec<_> = (0..220)
        .map(|at| {
            let mut client = connect(relay.port);
            send(&mut client, "GET /toolwire/health HTTP/1.1", b"");
            assert_eq!(read_message(&mut client).expect("a reply").status(), 200, "connection {at}");
            client
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(ask(relay.port, CHAT, &chat("a", json!({}))).status(), 200);
    }
    drop(open);
}

#[cfg(target_os = "linux")]
#[test]
fn servers_of_connections_raise_their_own_limit_of_open_files() {
    let folder = Folder::new();
    let script = "sleep 0.2; ulimit -Sn; grep 'Max open files' /proc/$PPID/limits";
    let mut command = limited(200, 2_000);
    command
        .args(["run", "--upstream", "http://127.0.0.1:1/v1", "--variable", "A", "--", "sh", "-c", script])
        .current_dir(&folder.0);
    let output = command.stdin(Stdio::null()).output().expect("the program");
    let found = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found, "200 Max open files 2000 2000 files", "{output:?}");
}
