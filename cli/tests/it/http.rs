//! Sends the requests of tests/http to `toolwire relay`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

/// Time after which a connection without an answer is considered to wait.
const WAIT: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(20);
/// Number of relays that play the cases at the same time.
const PARTS: usize = 4;
const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg_attr(not(unix), allow(dead_code, reason = "the tests of Unix read the log"))]
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) port: u16,
    log: Arc<Mutex<String>>,
    /// The thread that reads the log until the program ends.
    reading: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn relay(mut command: Command, upstream: u16, more: &[&str]) -> Running {
        command.args(["relay", "--listen", "127.0.0.1:0", "--upstream", &format!("http://127.0.0.1:{upstream}")]);
        command.args(more);
        Running::start(command)
    }

    /// Starts a program whose first line of standard error ends in its port, perhaps with a path.
    pub(crate) fn start(mut command: Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("a line");
        let port = line.trim().rsplit(':').next().and_then(|port| port.split('/').next()?.parse().ok());
        let port = port.unwrap_or_else(|| panic!("expected a port, found {line}"));
        let lines = Arc::new(Mutex::new(line));
        let read = lines.clone();
        let reading = thread::spawn(move || {
            let mut line = String::new();
            while log.read_line(&mut line).is_ok_and(|length| length > 0) {
                read.lock().expect("no panic").push_str(&line);
                line.clear();
            }
        });
        Running { child, port, log: lines, reading: Some(reading) }
    }

    #[cfg(unix)]
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no panic").clone()
    }

    /// Returns the log. While it is locked, the output of the program is not read.
    #[cfg(unix)]
    pub(crate) fn read_log(&self) -> Arc<Mutex<String>> {
        self.log.clone()
    }

    #[cfg(unix)]
    pub(crate) fn end(mut self) -> String {
        self.signal("TERM");
        self.exit_code();
        self.reading.take().expect("a reader").join().expect("no panic");
        self.log()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let sent = crate::kill().args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    #[cfg(unix)]
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().expect("an exit").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the bytes of a text or of a list of texts: one byte for each character.
fn bytes(value: &Value) -> Vec<u8> {
    let text = |text: &str| -> Vec<u8> { text.chars().map(|one| u8::try_from(one).expect("a byte")).collect() };
    match value {
        Value::String(value) => text(value),
        Value::Array(list) => list.iter().flat_map(bytes).collect(),
        value => {
            let times = value["times"].as_u64().and_then(|times| usize::try_from(times).ok()).expect("a number");
            text(value["repeat"].as_str().expect("a text")).repeat(times)
        }
    }
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[derive(Default)]
struct Upstream {
    reply: Vec<u8>,
    seen: Vec<u8>,
}

/// Answers each connection once. Returns the port.
fn upstream(state: Arc<Mutex<Upstream>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, state) = (stream.expect("a connection"), state.clone());
            thread::spawn(move || {
                let mut piece = [0; 1 << 16];
                let mut is_answered = false;
                // Time limit for the remaining pieces of a request.
                stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a time limit");
                loop {
                    match stream.read(&mut piece) {
                        Ok(0) => break,
                        Ok(length) => state.lock().expect("no panic").seen.extend_from_slice(&piece[..length]),
                        Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                        Err(_) => {
                            let reply = {
                                let state = state.lock().expect("no panic");
                                let is_complete = state.seen.windows(4).any(|end| end == b"\r\n\r\n");
                                is_complete.then(|| state.reply.clone())
                            };
                            if let Some(reply) = reply.filter(|_| !is_answered) {
                                is_answered = true;
                                let _ = stream.write_all(&reply);
                                let _ = stream.shutdown(Shutdown::Write);
                            }
                        }
                    }
                }
            });
        }
    });
    port
}

fn exchange(port: u16, request: &[u8], waits: bool) -> (Value, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(if waits { WAIT } else { LIMIT })).expect("a time limit");
    let (mut received, mut piece) = (Vec::new(), [0; 1 << 16]);
    // The program may answer before it has read everything.
    let _ = stream.write_all(request);
    let mut is_closed = false;
    loop {
        match stream.read(&mut piece) {
            Ok(0) => {
                is_closed = true;
                break;
            }
            Ok(length) => {
                received.extend_from_slice(&piece[..length]);
                stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a time limit");
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Err(_) => {
                is_closed = true;
                break;
            }
        }
    }
    let status: Option<u64> =
        received.strip_prefix(b"HTTP/1.").and_then(|rest| std::str::from_utf8(rest.get(2..5)?).ok()?.parse().ok());
    let status = match status {
        Some(status) => Value::from(status),
        None => if is_closed { "closed" } else { "waits" }.into(),
    };
    (status, received)
}

#[test]
fn requests_are_read_as_the_cases_expect() {
    let folder = root().join("tests/http");
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let files = ["framing", "headers", "replies", "targets"];
    let cases: Vec<Value> =
        files.iter().flat_map(|name| read(&format!("{name}.json")).as_array().expect("cases").clone()).collect();
    assert_eq!(read("count.json")["cases"], cases.len(), "tests/http/count.json");
    let failed: Vec<String> = thread::scope(|scope| {
        // Cases mostly wait, so several relays play them at the same time.
        let parts = cases.chunks(cases.len().div_ceil(PARTS));
        let runs: Vec<_> = parts.map(|cases| scope.spawn(move || play_all(cases))).collect();
        runs.into_iter().flat_map(|run| run.join().expect("no panic")).collect()
    });
    assert!(failed.is_empty(), "{} differ\n{}", failed.len(), failed.join("\n"));
    println!("tests/http: {} cases", cases.len());
}

fn play_all(cases: &[Value]) -> Vec<String> {
    let state = Arc::new(Mutex::new(Upstream::default()));
    let port = upstream(state.clone());
    let relay = Running::relay(crate::command::program(), port, &["--timeout", "10", "--dialect", "openai-chat"]);
    cases.iter().flat_map(|case| play(relay.port, &state, case)).collect()
}

fn play(port: u16, state: &Mutex<Upstream>, case: &Value) -> Vec<String> {
    let reply = case.get("reply").map_or_else(|| REPLY.into(), bytes);
    *state.lock().expect("no panic") = Upstream { reply, seen: Vec::new() };
    let request = latin(&bytes(&case["request"])).replace("PORT", &port.to_string());
    let expected = &case["status"];
    let (status, received) = exchange(port, &bytes(&request.into()), *expected == "waits");
    let seen = latin(&state.lock().expect("no panic").seen.clone());
    let mut failed = Vec::new();
    let (name, received) = (&case["name"], latin(&received));
    let start = |text: &str| text.chars().take(300).collect::<String>();
    if status != *expected {
        failed.push(format!("{name}: expected {expected}, found {status}: {:?}", start(&received)));
    }
    let texts = |member: &str| {
        let list = case[member].as_array().into_iter().flatten();
        list.map(|text| text.as_str().expect("a text").to_string()).collect::<Vec<String>>()
    };
    let missing = texts("sees").into_iter().filter(|text| !seen.contains(text.as_str()));
    failed.extend(missing.map(|text| format!("{name}: the upstream does not see {text:?} in {:?}", start(&seen))));
    let missing = texts("contains").into_iter().filter(|text| !received.contains(text.as_str()));
    failed.extend(missing.map(|text| format!("{name}: the client does not see {text:?} in {:?}", start(&received))));
    if case.get("sees").is_none() && case.get("any").is_none() && !seen.is_empty() {
        failed.push(format!("{name}: the upstream sees {:?}", start(&seen)));
    }
    failed
}
