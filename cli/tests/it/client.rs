//! A client of `toolwire proxy`, on its standard input and output.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{channel, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::command::program;

const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn initialize_request() -> String {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}).to_string()
}

pub(crate) fn initialize_result() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "f"}})
}

pub(crate) struct ProxyProcess {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl ProxyProcess {
    pub(crate) fn start(command: Command) -> ProxyProcess {
        ProxyProcess::start_with(command, Stdio::null())
    }

    pub(crate) fn start_with(mut command: Command, stderr: Stdio) -> ProxyProcess {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().expect("the program");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, receiver) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        ProxyProcess { child, input, output: receiver }
    }

    pub(crate) fn start_for_server(port: u16) -> ProxyProcess {
        let mut command = program();
        command.args(["proxy", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
        ProxyProcess::start(command).initialized()
    }

    pub(crate) fn initialized(mut self) -> ProxyProcess {
        let answer = self.ask(&initialize_request());
        assert!(answer["result"]["serverInfo"]["name"].is_string(), "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(format!("{line}\n").as_bytes()).expect("a pipe");
    }

    pub(crate) fn receive(&mut self) -> Option<String> {
        self.receive_until(Instant::now() + LIMIT)
    }

    fn receive_until(&mut self, end: Instant) -> Option<String> {
        match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => panic!("expected a message in time, found none"),
            line => line.ok(),
        }
    }

    /// Sends a request, and returns the answer. Skips notifications.
    pub(crate) fn ask(&mut self, line: &str) -> Value {
        let id = serde_json::from_str::<Value>(line).expect("JSON")["id"].clone();
        self.send(line);
        let end = Instant::now() + LIMIT;
        loop {
            let line = self.receive_until(end).expect("an answer");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id && answer.get("method").is_none() {
                return answer;
            }
        }
    }

    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        drop(self.input.take());
        let rest: Vec<String> = std::iter::from_fn(|| self.receive()).collect();
        (rest.join("\n"), self.child.wait().expect("an exit").code())
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
