//! Measures the native program next to what it is compared with, in one run: a bare pass-through of hyper, the MCP server
//! alone, and LiteLLM's proxy if the variable `LITELLM` contains the path of its command.
//!
//! `cargo build --release -p toolwire-cli --bins --examples && target/release/examples/program` prints the table of
//! `docs/performance.md`. Linux only, because it reads `/proc`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark fails by panicking")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use hyper::{body::Incoming, server::conn::http1, service::service_fn, Request, Response, Uri};
use hyper_util::{
    client::legacy::{connect::HttpConnector, Client},
    rt::{TokioExecutor, TokioIo},
};
use serde_json::{json, Value};
use toolwire_command::{Headers, Relay, RelayEffect, ReplyHead, RequestHead};

const REPLY: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const EVENTS: usize = 200;

/// Returns a number of repetitions or bytes, and a hundredth of it in a test (`TOOLWIRE_BENCH=once`).
fn scaled(usual: usize) -> usize {
    if env::var("TOOLWIRE_BENCH").is_ok_and(|value| value == "once") {
        usual.div_ceil(100)
    } else {
        usual
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["pass-through", upstream] => pass_through(upstream),
        ["server"] => server(),
        _ => measure(),
    }
}

/// Forwards every request, and prints its address.
fn pass_through(upstream: &str) {
    let upstream = upstream.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("an address");
        eprintln!("listening on {}", listener.local_addr().expect("an address"));
        let client: Client<HttpConnector, Incoming> = Client::builder(TokioExecutor::new()).build_http();
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.set_nodelay(true);
            let (client, upstream) = (client.clone(), upstream.clone());
            tokio::spawn(async move {
                let forward = service_fn(move |mut request: Request<Incoming>| {
                    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
                    let uri: Uri = format!("http://{upstream}{path}").parse().expect("a URI");
                    *request.uri_mut() = uri;
                    let sent = client.request(request);
                    async move {
                        let reply: Response<Incoming> = sent.await.expect("a reply");
                        Ok::<_, hyper::Error>(reply)
                    }
                });
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), forward).await;
            });
        }
    });
}

/// An MCP server with 40 tools that have to be rewritten, which answers each call at once.
fn server() {
    let schema = json!({"type": "object", "properties": {"$ref": {"type": "string"}, "mode": {"const": "x"}, "count": {"type": "integer"}}, "required": ["$ref"]});
    let tool = |at: usize| json!({"name": format!("tool.{at}"), "description": "A tool.", "inputSchema": schema});
    let tools: Vec<Value> = (0..40).map(tool).collect();
    for line in std::io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let result = match message["method"].as_str() {
            Some("tools/list") => json!({"tools": tools}),
            Some("initialize") => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}})
            }
            _ => json!({"content": [{"type": "text", "text": "done"}]}),
        };
        if !message["id"].is_null() {
            println!("{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        }
    }
}

/// Starts an API that answers every request at once: with a stream if the request asks for one, and with a stream that
/// does not end if it contains `"hold"`.
fn upstream() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    let reply =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{REPLY}", REPLY.len());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let reply = reply.clone();
            thread::spawn(move || {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let _ = stream.get_ref().set_nodelay(true);
                while let Some(body) = read(&mut stream) {
                    let has = |word: &str| body.windows(word.len()).any(|part| part == word.as_bytes());
                    let to = stream.get_mut();
                    let is_stream = body.len() < 100_000 && has("\"stream\":true");
                    if !is_stream {
                        let _ = to.write_all(reply.as_bytes());
                        continue;
                    }
                    let _ = to.write_all(STREAM.as_bytes());
                    if has("\"hold\"") {
                        let _ = to.write_all(event(0).as_bytes());
                        sleep(Duration::from_secs(60));
                        return;
                    }
                    (0..EVENTS).for_each(|at| {
                        let _ = to.write_all(event(at).as_bytes());
                    });
                    let _ = to.write_all(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
                }
            });
        }
    });
    port
}

/// Returns an event of a stream, as a chunk.
fn event(at: usize) -> String {
    let data = format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\
         \"delta\":{{\"content\":\"word {at}\"}},\"finish_reason\":null}}]}}\n\n"
    );
    format!("{:x}\r\n{data}\r\n", data.len())
}

/// Reads a message. Returns its body, or `None` at the end of the connection.
fn read(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let line = line(stream)?;
        if line.is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        is_chunked |= line.starts_with("transfer-encoding:");
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            let size = usize::from_str_radix(&line(stream)?, 16).expect("a length");
            let start = body.len();
            body.resize(start + size, 0);
            stream.read_exact(&mut body[start..]).ok()?;
            line(stream)?;
            if size == 0 {
                return Some(body);
            }
        }
    }
    body.resize(length, 0);
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    (stream.read_line(&mut line).unwrap_or_default() > 0).then(|| line.trim_end().to_string())
}

/// A program that listens.
struct Running {
    child: Child,
    port: u16,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("a line");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Running { child, port }
    }

    /// Starts LiteLLM's proxy with one worker, which sends all requests to an API.
    fn litellm(program: &str, upstream: u16) -> Running {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("an address").port();
        let file = env::temp_dir().join(format!("toolwire-litellm-{}.yaml", std::process::id()));
        let config = format!(
            "model_list:\n  - model_name: m\n    litellm_params:\n      model: openai/m\n      \
             api_base: http://127.0.0.1:{upstream}/v1\n      api_key: none\n\
             general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
        );
        fs::write(&file, config).expect("a file");
        let mut command = Command::new(program);
        command.arg("--config").arg(&file).args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("LITELLM_LOG", "ERROR");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("LiteLLM");
        let running = Running { child, port };
        let deadline = Instant::now() + Duration::from_secs(90);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "LiteLLM does not listen");
            sleep(Duration::from_millis(200));
        }
        let _ = fs::remove_file(file);
        running
    }

    fn process(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).expect("a process")
    }

    /// Returns true for LiteLLM's proxy.
    fn is_slow(&self) -> bool {
        self.process("comm").starts_with("litellm") || self.process("comm").starts_with("python")
    }

    /// Returns the CPU time of the process so far, in seconds, to 10 ms. It includes threads that have ended.
    fn spent(&self) -> f64 {
        let stat = self.process("stat");
        // The name of the process may contain spaces.
        let (_, fields) = stat.rsplit_once(") ").expect("fields");
        let ticks = fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        ticks.sum::<f64>() / 100.0
    }

    /// Returns a size of the process, in MB: `VmRSS`, or its maximum `VmHWM`.
    fn memory(&self, name: &str) -> f64 {
        let status = self.process("status");
        let line = status.lines().find(|line| line.starts_with(name)).expect("a size");
        line.split_whitespace().nth(1).and_then(|size| size.parse::<f64>().ok()).expect("a number") / 1024.0
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_nodelay(true).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
        BufReader::new(stream)
    }

    /// Sends a request, and returns the milliseconds until the end of its reply.
    fn ask(&self, stream: &mut BufReader<TcpStream>, body: &str) -> f64 {
        let started = Instant::now();
        send(stream, body);
        assert!(read(stream).is_some(), "expected a reply, found none");
        started.elapsed().as_secs_f64() * 1e3
    }

    /// Returns the CPU time for a request in microseconds, and the median time until its reply in milliseconds.
    fn cost(&self, body: &str, count: usize) -> (f64, f64) {
        let (mut stream, count) = (self.connect(), scaled(count));
        (0..count / 4).for_each(|_| {
            self.ask(&mut stream, body);
        });
        let begin = self.spent();
        let times = (0..count).map(|_| self.ask(&mut stream, body)).collect();
        ((self.spent() - begin) * 1e6 / count as f64, median(times))
    }

    /// Returns how many requests the process answers in a second of one core, if several clients ask at once.
    fn rate(&self, body: &str, count: usize) -> f64 {
        const CONNECTIONS: usize = 8;
        self.cost(body, count / 4);
        let begin = self.spent();
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    let mut stream = self.connect();
                    (0..count.div_ceil(CONNECTIONS)).for_each(|_| {
                        self.ask(&mut stream, body);
                    });
                });
            }
        });
        count as f64 / (self.spent() - begin)
    }

    /// Sends 500 requests a second, without waiting for replies. Returns the median of the times until
    /// their replies, in milliseconds.
    fn open_loop(&self, body: &str) -> f64 {
        const CONNECTIONS: u32 = 16;
        let count = scaled(2_000) as u32;
        let begin = Instant::now() + Duration::from_millis(50);
        let times = thread::scope(|scope| {
            let threads: Vec<_> = (0..CONNECTIONS)
                .map(|first| {
                    scope.spawn(move || {
                        let mut stream = self.connect();
                        let mut times = Vec::new();
                        for at in (first..count).step_by(CONNECTIONS as usize) {
                            let due = begin + at * Duration::from_millis(2);
                            sleep(due.saturating_duration_since(Instant::now()));
                            self.ask(&mut stream, body);
                            times.push(due.elapsed().as_secs_f64() * 1e3);
                        }
                        times
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("times")).collect()
        });
        median(times)
    }

    /// Returns the longest time of small requests while a large body is handled, in milliseconds, and the maximum size
    /// of the process, in times of the body.
    fn beside(&self, large: &str, small: &str) -> (f64, f64) {
        let is_done = AtomicBool::new(false);
        let slowest = thread::scope(|scope| {
            let small = scope.spawn(|| {
                let (mut stream, mut slowest) = (self.connect(), 0.0_f64);
                while !is_done.load(Ordering::Relaxed) {
                    slowest = slowest.max(self.ask(&mut stream, small));
                    sleep(Duration::from_millis(2));
                }
                slowest
            });
            self.ask(&mut self.connect(), large);
            is_done.store(true, Ordering::Relaxed);
            small.join().expect("times")
        });
        (slowest, self.memory("VmHWM") * 1_048_576.0 / large.len() as f64)
    }

    /// Returns the size of the process with 200 open streams, in MB.
    fn with_streams(&self, body: &str) -> f64 {
        let streams: Vec<_> = (0..scaled(200))
            .map(|_| {
                let mut stream = self.connect();
                send(&mut stream, body);
                while !line(&mut stream).expect("a line").starts_with("data:") {}
                stream
            })
            .collect();
        let size = self.memory("VmRSS");
        drop(streams);
        size
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(stream: &mut BufReader<TcpStream>, body: &str) {
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
    let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    stream.get_mut().write_all(request.as_bytes()).expect("a connection");
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns a request of about this size: tools that need no change, if it has any, and a history.
fn request(size: usize, tools: usize, more: &str) -> String {
    let tool = |at: usize| {
        json!({"type": "function", "function": {"name": format!("tool_{at}"), "description": "Does something.",
            "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}})
    };
    let tools: Vec<String> = (0..tools).map(|at| tool(at).to_string()).collect();
    let tools = if tools.is_empty() { String::new() } else { format!(",\"tools\":[{}]", tools.join(",")) };
    let message = json!({"role": "user", "content": "some words of a message ".repeat(10)}).to_string();
    let count = size.saturating_sub(tools.len() + 50).div_ceil(message.len() + 1).max(1);
    let messages = vec![message; count].join(",");
    format!("{{\"model\":\"m\",\"messages\":[{messages}]{tools}{more}}}")
}

/// A program that answers messages on its standard output.
struct Peer(Child, ChildStdin, BufReader<ChildStdout>);

impl Peer {
    fn start(words: &[&str]) -> Peer {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Peer(child, input, BufReader::new(output))
    }

    /// Returns the milliseconds until the answer.
    fn ask(&mut self, method: &str, params: &Value) -> f64 {
        let started = Instant::now();
        writeln!(self.1, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).expect("a pipe");
        let mut line = String::new();
        self.2.read_line(&mut line).expect("an answer");
        assert!(line.contains("\"result\""), "{line}");
        started.elapsed().as_secs_f64() * 1e3
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the median time until the first list of a proxy, with the server alone in brackets, and of a call.
fn proxy(program: &str, own: &str) -> (String, String) {
    let (bare, proxied) = (vec![own, "server"], vec![program, "proxy", "--", own, "server"]);
    let first = |words: &[&str]| {
        let once = || {
            let started = Instant::now();
            Peer::start(words).ask("tools/list", &json!({}));
            started.elapsed().as_secs_f64() * 1e3
        };
        median((0..scaled(21)).map(|_| once()).collect())
    };
    let start = format!("{:.1} ms ({:.1})", first(&proxied), first(&bare));
    let (mut one, mut other) = (Peer::start(&bare), Peer::start(&proxied));
    let mut times = [Vec::new(), Vec::new()];
    other.ask("tools/list", &json!({}));
    for _ in 0..scaled(5_000) {
        times[0].push(one.ask("tools/call", &json!({"name": "tool.7", "arguments": {"$ref": "a", "count": 1}})));
        times[1]
            .push(other.ask("tools/call", &json!({"name": "tool_7", "arguments": {"dollar_ref_": "a", "count": "1"}})));
    }
    let [alone, between] = times.map(median);
    (start, format!("{between:.3} ms ({alone:.3})"))
}

/// Returns the CPU time of a request in the relay without sockets, in microseconds.
fn without_sockets(body: &str, count: usize) -> f64 {
    let settings = r#"{"upstreams": [{"url": "http://127.0.0.1:1", "dialect": "openai-chat"}]}"#;
    let relay = Relay::new(settings, None);
    let headers = |pairs: [(&str, &str); 3]| -> Headers {
        pairs.iter().map(|(name, value)| ((*name).into(), value.as_bytes().into())).collect()
    };
    let once = || {
        let length = body.len().to_string();
        let head = RequestHead {
            target: "/v1/chat/completions".into(),
            authority: None,
            method: "POST".into(),
            headers: headers([
                ("Host", "127.0.0.1"),
                ("Content-Type", "application/json"),
                ("Content-Length", &length),
            ]),
            time: "2026-11-27T00:00:00Z".into(),
            is_local: true,
        };
        let length = REPLY.len().to_string();
        let of_reply = [("Date", "today"), ("Content-Type", "application/json"), ("Content-Length", &length)];
        let (mut request, mut effects) = relay.request(head);
        let mut is_answered = false;
        while let Some(effect) = (!effects.is_empty()).then(|| effects.remove(0)) {
            let more = match effect {
                RelayEffect::Read(_) => request.body(body.as_bytes()),
                RelayEffect::Send(..) | RelayEffect::SendBody(_) | RelayEffect::Forward(_) => {
                    request.reply(200, headers(of_reply))
                }
                RelayEffect::Collect(_) => request.whole(REPLY.as_bytes()),
                RelayEffect::Answer(ReplyHead { status, .. }, _) | RelayEffect::Head(ReplyHead { status, .. }) => {
                    is_answered = status == 200;
                    Vec::new()
                }
                _ => Vec::new(),
            };
            effects.splice(0..0, more);
        }
        assert!(is_answered, "expected an answer, found none");
        request.closed(0);
    };
    let spent = || {
        let times = fs::read_to_string("/proc/thread-self/schedstat").expect("a thread");
        times.split(' ').next().and_then(|time| time.parse::<f64>().ok()).expect("a time") / 1e3
    };
    (0..count / 4).for_each(|_| once());
    let begin = spent();
    (0..count).for_each(|_| once());
    (spent() - begin) / count as f64
}

/// Returns the median times of `--version` through npm's launcher and of Node alone, in milliseconds. `None` without
/// Node.
fn launcher(program: &Path) -> Option<(f64, f64)> {
    let node = Command::new("node").args(["-p", "`${process.platform}-${process.arch}`"]).output().ok()?;
    let platform = String::from_utf8(node.stdout).ok()?;
    let folder = env::temp_dir().join(format!("toolwire-figures-{}", std::process::id()));
    let package = folder.join("node_modules/@toolwire").join(format!("cli-{}", platform.trim())).join("bin");
    fs::create_dir_all(&package).expect("a folder");
    fs::copy(program, package.join("toolwire")).expect("a file");
    for name in ["src/program.js", "scripts/platforms.js"] {
        let to = folder.join("toolwire").join(name);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../npm").join(name);
        fs::copy(from, to).expect("a file");
    }
    fs::write(folder.join("toolwire/package.json"), r#"{"type": "module"}"#).expect("a file");
    let start = folder.join("toolwire/src/program.js");
    let times = (process(&["node", start.to_str().expect("a path"), "--version"]), process(&["node", "-e", ""]));
    let _ = fs::remove_dir_all(folder);
    Some(times)
}

/// Returns the median time of a process, in milliseconds.
fn process(words: &[&str]) -> f64 {
    let once = || {
        let started = Instant::now();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("the program");
        started.elapsed().as_secs_f64() * 1e3
    };
    median((0..scaled(41)).map(|_| once()).collect())
}

fn size(program: &Path) -> String {
    let bytes = fs::metadata(program).expect("the program").len() as f64 / 1e6;
    let packed = Command::new("gzip")
        .args([if scaled(100) == 1 { "-1" } else { "-9" }, "--stdout"])
        .arg(program)
        .output()
        .expect("gzip")
        .stdout
        .len();
    format!("{bytes:.2} · {:.2} MB", packed as f64 / 1e6)
}

/// One row of the table: what was measured, a cell for each program, and the goal.
fn row(what: &str, cells: &[String], goal: &str) {
    let cells: Vec<&str> = cells.iter().map(String::as_str).chain(["–", "–"]).take(3).collect();
    println!("| {what} | {} | {goal} |", cells.join(" | "));
}

fn measure() {
    let own_program = env::current_exe().expect("a path");
    let folder = own_program.parent().and_then(Path::parent).expect("a folder");
    let path: PathBuf = folder.join("toolwire");
    let (program, own_program) = (path.to_str().expect("a path"), own_program.to_str().expect("a path"));
    println!("| | toolwire | pass-through, or server alone | LiteLLM's proxy | goal |\n|---|--:|--:|--:|--:|");

    let file = env::temp_dir().join(format!("toolwire-figures-{}.json", std::process::id()));
    fs::write(&file, r#"[{"name": "t", "input_schema": {"type": "object", "properties": {"a": {"const": 1}}}}]"#)
        .expect("a file");
    let check = process(&[program, "check", "-d", "gemini", file.to_str().expect("a path")]);
    let _ = fs::remove_file(file);
    let times = format!("{:.1} · {check:.1} ms", process(&[program, "--version"]));
    row(
        "`--version` · `check` of a file (beside: `true`)",
        &[times, format!("{:.1} ms", process(&["true"]))],
        "3 · 5 ms",
    );
    if let Some((launched, alone)) = launcher(&path) {
        row("`--version` with npm's launcher (Node alone)", &[format!("{launched:.1} ms ({alone:.1})")], "15 ms more");
    }
    let (first, call) = proxy(program, own_program);
    row("proxy: start and first list (server alone)", &[first], "10 ms more");
    row("proxy: a call (server alone)", &[call], "0.1 ms more");

    let api = upstream();
    let address = format!("http://127.0.0.1:{api}");
    let mut command = Command::new(program);
    command.args(["relay", "--listen", "127.0.0.1:0", "--dialect", "openai-chat", "--upstream", &address]);
    let relay = Running::start(command);
    let mut command = Command::new(own_program);
    command.args(["pass-through", &address["http://".len()..]]);
    let mut all = vec![relay, Running::start(command)];
    all.extend(env::var("LITELLM").ok().map(|program| Running::litellm(&program, api)));
    let idle: Vec<f64> = all.iter().map(|relay| relay.memory("VmRSS")).collect();

    let body = request(4_000, 10, "");
    let each = |measured: &dyn Fn(&Running) -> String| all.iter().map(measured).collect::<Vec<String>>();
    row(
        "500 requests of 4 KB a second: median",
        &each(&|relay| {
            if relay.is_slow() {
                format!("{:.1} ms, one after another", relay.cost(&body, 200).1)
            } else {
                format!("{:.2} ms", relay.open_loop(&body))
            }
        }),
        "0.5 ms more",
    );
    for (name, bytes, tools, count) in [
        ("1 KB, 2 known tools", 1_000, 2, 6_000),
        ("4 KB, 10 known tools", 4_000, 10, 6_000),
        ("220 KB, 10 known tools", 220_000, 10, 600),
        ("1 MB, 10 known tools", 1_000_000, 10, 160),
        ("4 KB without tools", 4_000, 0, 6_000),
        ("220 KB without tools", 220_000, 0, 600),
        ("1 MB without tools", 1_000_000, 0, 200),
    ] {
        let body = request(bytes, tools, "");
        let cells = all.iter().enumerate().map(|(at, relay)| {
            let count = if at < 2 { count } else { usize::div_ceil(count, 20) };
            let (spent, median) = relay.cost(&body, count);
            format!("{:.3} · {median:.2}", spent / 1e3)
        });
        row(&format!("CPU · median, ms: {name}"), &cells.collect::<Vec<_>>(), "");
    }
    row(
        "CPU, ms: 4 KB, 10 known tools, in the relay without sockets",
        &[format!("{:.3}", without_sockets(&body, scaled(6_000)) / 1e3)],
        "0.06 above the pass-through without it",
    );
    row(
        "4 KB, 10 known tools: requests for a second of one core, 8 clients",
        &each(&|relay| {
            let count = if relay.is_slow() { 400 } else { 8_000 };
            format!("{:.0}", relay.rate(&body, scaled(count)))
        }),
        "5,000",
    );
    let streamed = request(2_000, 10, ",\"stream\":true");
    row(
        "a stream of 200 events: median",
        &each(&|relay| format!("{:.1} ms", relay.cost(&streamed, 60).1)),
        "2 ms more",
    );
    let held = request(2_000, 10, ",\"stream\":true,\"user\":\"hold\"");
    row(
        "RSS with 200 streams (idle)",
        &all.iter()
            .zip(&idle)
            .map(|(relay, idle)| format!("{:.0} ({idle:.0}) MB", relay.with_streams(&held)))
            .collect::<Vec<_>>(),
        "50 (12) MB",
    );
    let large = request(scaled(54_000_000), 10, "");
    row(
        "beside a body of 54 MB: slowest small request · peak, times the body",
        &all[..2]
            .iter()
            .map(|relay| {
                let (slowest, peak) = relay.beside(&large, &body);
                format!("{slowest:.0} ms · {peak:.1}")
            })
            .collect::<Vec<_>>(),
        "25 ms · 5",
    );
    row("program · gzip", &[size(&path)], "10 · 4.8 MB");
}
