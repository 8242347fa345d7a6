//! The MCP servers and APIs of a case of tests/command, as programs and as addresses of a network.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::VecDeque,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::{
        mpsc::{channel, Sender},
        Arc, Mutex,
    },
    time::{Duration, Instant},
};

use serde_json::{json, Value};

use crate::{
    client::initialize_result,
    command::{text, Folder},
    network::{reply, wait_for_end, Connection, Network},
    relay::Message,
};

/// Failures of a request that no API receives.
const UNSENT: [&str; 2] = ["EKEY", "ECONNREFUSED"];
/// The beginning of a failure, to which a server adds its words.
const UNLISTED: &str = "the server did not list its tools: ";
/// The rest of a program that plays a server, which has set `result` or `error`.
const SERVE: &str = r#"
if [ -z "$first" ]; then echo "unexpected: $0 $* in $PWD" >&2; exit 3; fi
while IFS= read -r line; do
  id=${line##*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$first" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$second" ;;
  esac
done
"#;

pub(crate) struct Played {
    programs: Folder,
    network: Network,
    answers: Arc<Mutex<VecDeque<Value>>>,
    /// Differences that were found while the program ran.
    failures: Arc<Mutex<Vec<String>>>,
}

impl Played {
    pub(crate) fn start(case: &Value) -> Played {
        let servers: Vec<(Value, Value)> = match (&case["server"], case["servers"].as_object()) {
            (_, Some(servers)) => servers
                .iter()
                .map(|(request, answer)| (serde_json::from_str(request).expect("a request"), answer.clone()))
                .collect(),
            (Value::Null, None) => Vec::new(),
            (answer, None) => Vec::from([(Value::Null, answer.clone())]),
        };
        let programs = Folder::new();
        write_programs(&programs, &servers);
        let answers = case["answers"].as_array().into_iter().flatten().cloned().collect();
        let answers: Arc<Mutex<VecDeque<Value>>> = Arc::new(Mutex::new(answers));
        let failures = Arc::new(Mutex::new(Vec::new()));
        let api = Api {
            answers: answers.clone(),
            environment: case["environment"].clone(),
            failures: failures.clone(),
            begin: Mutex::new(Instant::now()),
        };
        let events = Mutex::new(None);
        let network = Network::start(move |host, request, connection| {
            if servers.is_empty() {
                api.answer(host, request, connection)
            } else {
                serve(&servers, &events, host, request, connection)
            }
        });
        Played { programs, network, answers, failures }
    }

    pub(crate) fn set(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.programs.0.display()));
        self.network.set(command);
    }

    pub(crate) fn end(&self) -> Vec<String> {
        let mut failures = self.failures.lock().expect("no panic").clone();
        let unused = self.answers.lock().expect("no panic");
        let unused = unused.iter().filter(|answer| answer.as_str().is_none_or(|why| !UNSENT.contains(&why)));
        failures.extend(unused.map(|answer| format!("an unused answer: {answer}")));
        failures
    }
}

/// Returns the answers to `initialize` and `tools/list`.
fn members(answer: &Value) -> [(&'static str, Value); 2] {
    match answer {
        Value::String(why) => {
            let error = json!({"code": -32000, "message": why.strip_prefix(UNLISTED).unwrap_or(why)});
            [("error", error.clone()), ("error", error)]
        }
        list => [("result", initialize_result()), ("result", list.clone())],
    }
}

/// A program checks its arguments, its folder and its variables.
fn write_programs(folder: &Folder, servers: &[(Value, Value)]) {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut scripts: Vec<(String, String)> = Vec::new();
    for (request, answer) in servers {
        let mut conditions = Vec::new();
        let words = |member: &str| -> Vec<String> {
            let list = request[member].as_array().into_iter().flatten();
            list.map(|word| word.as_str().expect("a word").to_string()).collect()
        };
        let command = words("command");
        if let [_, arguments @ ..] = &*command {
            conditions.push(format!("[ \"$*\" = {} ]", quoted(&arguments.join(" "))));
        }
        if let Some(folder) = request["folder"].as_str() {
            let folder = fs::canonicalize(folder).expect("a folder");
            conditions.push(format!("[ \"$PWD\" = {} ]", quoted(&folder.to_string_lossy())));
        }
        for (name, value) in request["environment"].as_object().into_iter().flatten() {
            conditions.push(format!("[ \"${name}\" = {} ]", quoted(value.as_str().expect("a value"))));
        }
        conditions.push("true".into());
        let [first, second] = members(answer).map(|(name, value)| quoted(&format!("\"{name}\":{value}")));
        let script = format!("if {}; then first={first}; second={second}; fi\n", conditions.join(" && "));
        // Without a request, every program is the server.
        let names = if request.is_null() { Vec::from(["npx".into(), "node".into(), "x".into()]) } else { command };
        for name in names.iter().take(if request.is_null() { usize::MAX } else { 1 }) {
            match scripts.iter_mut().find(|(found, _)| found == name) {
                Some((_, content)) => content.push_str(&script),
                None => scripts.push((name.clone(), format!("#!/bin/sh\n{script}"))),
            }
        }
    }
    for (name, content) in scripts {
        folder.write(&name, &(content + SERVE));
        let path: &Path = &folder.0.join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
}

fn serve(
    servers: &[(Value, Value)],
    events: &Mutex<Option<Sender<String>>>,
    host: &str,
    request: &Message,
    connection: &mut Connection,
) -> bool {
    const ENDPOINT: &str = "/messages";
    let mut words = request.start.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let url = format!("https://{host}{target}");
    let is_asked = |(server, _): &&(Value, Value)| {
        let mut headers = server["headers"].as_object().into_iter().flatten();
        let is_same = server["url"] == url || target == ENDPOINT && server["sse"] == true;
        server.is_null() || is_same && headers.all(|(name, value)| request.header(name) == value.as_str())
    };
    let Some((server, answer)) = servers.iter().find(is_asked) else {
        reply(connection.get_mut(), "404 No", &format!("unexpected: {method} {url} {:?}", request.headers));
        return true;
    };
    let is_sse = server["sse"] == true;
    if method == "GET" {
        if !is_sse {
            reply(connection.get_mut(), "405 No", "");
            return true;
        }
        let (sender, receiver) = channel::<String>();
        *events.lock().expect("no panic") = Some(sender);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /messages\n\n";
        let mut written = head.to_string();
        loop {
            use std::io::Write as _;
            let stream = connection.get_mut();
            if stream.write_all(written.as_bytes()).and_then(|()| stream.flush()).is_err() {
                return false;
            }
            match receiver.recv_timeout(Duration::from_secs(60)) {
                Ok(message) => written = format!("data: {message}\n\n"),
                Err(_) => return false,
            }
        }
    }
    let message = request.json();
    let [first, second] = members(answer);
    let (name, value) = match message["method"].as_str() {
        Some("initialize") => first,
        Some("tools/list") => second,
        _ => {
            reply(connection.get_mut(), "202 OK", "");
            return true;
        }
    };
    let said = json!({"jsonrpc": "2.0", "id": message["id"], name: value}).to_string();
    if is_sse {
        reply(connection.get_mut(), "202 OK", "");
        let events = events.lock().expect("no panic");
        events.as_ref().expect("a stream of events").send(said).expect("a stream of events");
    } else {
        reply(connection.get_mut(), "200 OK\r\nContent-Type: application/json", &said);
    }
    true
}

struct Api {
    answers: Arc<Mutex<VecDeque<Value>>>,
    environment: Value,
    failures: Arc<Mutex<Vec<String>>>,
    /// The time of the answer before.
    begin: Mutex<Instant>,
}

impl Api {
    fn answer(&self, host: &str, request: &Message, connection: &mut Connection) -> bool {
        let answer = self.answers.lock().expect("no panic").pop_front();
        let answer = answer.unwrap_or_else(|| "an answer".into());
        if let Some(expected) = answer.get("for") {
            let waited = self.begin.lock().expect("no panic").elapsed();
            let mut failures = self.failures.lock().expect("no panic");
            failures.extend(self.differences(expected, host, request));
            if waited < Duration::from_secs(expected["wait"].as_u64().unwrap_or_default()) {
                failures.push(format!("a request after {waited:?}"));
            }
        }
        *self.begin.lock().expect("no panic") = Instant::now();
        match &answer {
            Value::String(why) => {
                if why == "ETIMEDOUT" {
                    wait_for_end(connection);
                } else if why != "ECONNRESET" {
                    self.failures.lock().expect("no panic").push(format!("expected a failure, {why}, found a request"));
                }
                false
            }
            answer => {
                let more = answer["retryAfter"].as_str().map(|after| format!("\r\nRetry-After: {after}"));
                let head = format!("{} OK{}", answer["status"], more.unwrap_or_default());
                reply(connection.get_mut(), &head, &text(&answer["body"]));
                true
            }
        }
    }

    fn differences(&self, expected: &Value, host: &str, request: &Message) -> Vec<String> {
        let target = request.start.strip_prefix("POST ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let mut pairs = Vec::from([
            (expected["url"].as_str().unwrap_or_default().to_string(), format!("https://{host}{target}")),
            (expected["body"].to_string(), request.text()),
        ]);
        let found = |name: &str| request.header(name).unwrap_or("nothing").to_string();
        for (name, value) in expected["headers"].as_object().into_iter().flatten() {
            pairs.push((value.as_str().expect("a value").into(), found(name)));
        }
        match &expected["key"] {
            Value::Null => pairs.push(("nothing".into(), found("authorization"))),
            key => {
                let word = |member: &str| key[member].as_str().expect("a word");
                let secret = self.environment[word("variable")].as_str().unwrap_or_default();
                pairs.push((format!("{}{secret}", word("before")), found(word("header"))));
            }
        }
        pairs.retain(|(expected, found)| expected != found);
        pairs.iter().map(|(expected, found)| format!("a request:\n  expected {expected}\n  found    {found}")).collect()
    }
}
