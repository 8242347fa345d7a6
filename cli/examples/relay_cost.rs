//! Measures the CPU time that `toolwire relay` uses for a request, next to a bare pass-through of hyper, in one run.
//!
//! `cargo build --release -p toolwire-cli --bins --examples && target/release/examples/relay_cost` prints a row for each
//! size of a request: microseconds of the relay and of the pass-through, and the median times that clients wait. Linux
//! only, because it reads `/proc`.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a benchmark fails by panicking")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use hyper::{body::Incoming, server::conn::http1, service::service_fn, Request, Response, Uri};
use hyper_util::{
    client::legacy::{connect::HttpConnector, Client},
    rt::{TokioExecutor, TokioIo},
};

/// Clock ticks of `/proc/PID/stat` in a second, on every Linux of today.
const TICKS: f64 = 100.0;
const REPLY: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"choices\":[]}";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [mode, upstream] if mode == "pass-through" => pass_through(upstream),
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

/// Starts an API that answers every request at once.
fn upstream() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let _ = stream.get_ref().set_nodelay(true);
                while read(&mut stream) {
                    let _ = stream.get_mut().write_all(REPLY.as_bytes());
                }
            });
        }
    });
    port
}

/// Reads a message with a length. Returns false at the end of the connection.
fn read(stream: &mut BufReader<TcpStream>) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or_default() == 0 {
            return false;
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
    }
    stream.read_exact(&mut vec![0; length]).is_ok()
}

struct Running(Child, u16);

impl Running {
    fn start(mut command: Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        log.read_line(&mut line).expect("a line");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Running(child, port)
    }

    /// Returns the CPU time of the process so far.
    fn spent(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("a process");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
        (ticks(11) + ticks(12)) / TICKS
    }

    /// Returns the CPU time for a request, and the median time until its reply, in microseconds.
    fn cost(&self, body: &str, count: usize) -> (f64, f64) {
        let stream = TcpStream::connect(("127.0.0.1", self.1)).expect("a connection");
        stream.set_nodelay(true).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
        let mut stream = BufReader::new(stream);
        let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let (mut begin, mut times) = (0.0, Vec::new());
        for at in 0..count + count / 4 {
            if at == count / 4 {
                begin = self.spent();
            }
            let started = Instant::now();
            stream.get_mut().write_all(request.as_bytes()).expect("a connection");
            assert!(read(&mut stream), "expected a reply, found none");
            times.push(started.elapsed());
        }
        times.sort();
        let spent = (self.spent() - begin) * 1e6 / count as f64;
        (spent, times[times.len() / 2].as_secs_f64() * 1e6)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a request of about this size: ten tools that need no change, and a history.
fn request(size: usize) -> String {
    let tool = |at: usize| {
        format!(
            "{{\"type\":\"function\",\"function\":{{\"name\":\"tool_{at}\",\"description\":\"Does something.\",\
             \"parameters\":{{\"type\":\"object\",\"properties\":{{\"n\":{{\"type\":\"integer\"}}}},\"required\":[\"n\"]}}}}}}"
        )
    };
    let tools: Vec<String> = (0..if size < 2_000 { 2 } else { 10 }).map(tool).collect();
    let tools = tools.join(",");
    let mut messages = Vec::new();
    let mut length = tools.len() + 50;
    while length < size {
        messages.push(format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "some words of a message ".repeat(10)));
        length += messages[0].len() + 1;
    }
    format!("{{\"model\":\"m\",\"messages\":[{}],\"tools\":[{tools}]}}", messages.join(","))
}

fn measure() {
    let own = env::current_exe().expect("a path");
    let program = own.parent().and_then(|folder| folder.parent()).expect("a folder").join("toolwire");
    let port = upstream();
    let mut command = Command::new(program);
    let address = format!("127.0.0.1:{port}");
    command.args(["relay", "--listen", "127.0.0.1:0", "--dialect", "openai-chat"]);
    command.args(["--upstream", &format!("http://{address}")]);
    let relay = Running::start(command);
    let mut command = Command::new(&own);
    command.args(["pass-through", &address]);
    let bare = Running::start(command);
    println!("bytes   relay: CPU µs, median µs   pass-through: CPU µs, median µs");
    for (size, count) in [(1_000, 8_000), (4_000, 8_000), (220_000, 800), (1_000_000, 200)] {
        let body = request(size);
        let ((spent, median), (bare_spent, bare_median)) = (relay.cost(&body, count), bare.cost(&body, count));
        println!("{:>7} {spent:>10.0} {median:>10.0} {bare_spent:>20.0} {bare_median:>10.0}", body.len());
    }
}
