//! `toolwire proxy`: stands between a client of MCP and its servers. It rewrites their tools, and restores the calls.
//!
//! The proxy reads messages and says what is to be done; the host has the processes, the streams and the clock. Of one
//! server, everything that is not about tools passes as it came. Of several servers, `several` says whose a message is.

mod calls;
mod catalogue;
mod clients;
mod gathering;
mod merge;
mod message;
mod routes;
mod run;
mod search;
mod settings;

use std::collections::BTreeMap;

use toolwire::json::{self, Node};

use self::{
    catalogue::Catalogue,
    gathering::{Gathering, What},
    message::{Envelope, Kind, SERVER_ERROR},
    routes::Routes,
};
pub(crate) use self::{clients::names as client_names, run::Run, settings::Settings};
use crate::escaped_lines;

/// The resource in which the proxy says what it changed.
const REPORT: &str = "toolwire://report";
const TOOLS_LIST: &str = "tools/list";
const TOOLS_CALL: &str = "tools/call";
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";
const CANCELLED: &str = "notifications/cancelled";
/// Calls that may wait for an answer at the same time: a client that has more has lost count.
const MOST_PENDING: usize = 10_000;
/// The first pause before a server is started again, and the longest, in milliseconds.
const FIRST_PAUSE: u64 = 500;
const LONGEST_PAUSE: u64 = 30_000;

/// What a host does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Writes a message to the client.
    ToClient(String),
    /// Writes a message to a server.
    ToServer(usize, String),
    /// Writes the message that it has just handed over to the client, byte for byte.
    PassToClient,
    /// The same to a server.
    PassToServer(usize),
    /// Starts a server again, after so many milliseconds, and tells [`Proxy::started`].
    Start(usize, u64),
    /// Tells [`Proxy::alarm`] this number after so many milliseconds.
    Alarm(u64, u64),
    /// Writes a line to standard error.
    Log(String),
    /// Adds a line to the report, if there is a file for it.
    Report(String),
}

impl Effect {
    /// As words, for bindings: what it is, its number or an empty word, and its text.
    pub fn words(self) -> [String; 3] {
        let [mut number, mut text] = [String::new(), String::new()];
        let kind = match self {
            Effect::ToClient(message) => {
                text = message;
                "client"
            }
            Effect::ToServer(server, message) => {
                (number, text) = (server.to_string(), message);
                "server"
            }
            Effect::PassToClient => "pass-client",
            Effect::PassToServer(server) => {
                number = server.to_string();
                "pass-server"
            }
            Effect::Start(server, pause) => {
                (number, text) = (server.to_string(), pause.to_string());
                "start"
            }
            Effect::Alarm(alarm, pause) => {
                (number, text) = (alarm.to_string(), pause.to_string());
                "alarm"
            }
            Effect::Log(line) => {
                text = line;
                "log"
            }
            Effect::Report(line) => {
                text = line;
                "report"
            }
        };
        [kind.into(), number, text]
    }
}

/// The state of one connection of a client.
///
/// ```
/// use toolwire_command::{Effect, Proxy};
/// let mut proxy = Proxy::new(r#"{"servers": [{"name": "files"}], "dialects": ["portable"]}"#);
/// let ping = br#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
/// assert_eq!(proxy.client(ping), [Effect::PassToServer(0)]);
/// ```
pub struct Proxy {
    settings: Settings,
    servers: Vec<Server>,
    catalogue: Catalogue,
    routes: Routes,
    /// Requests of the client that a server has to answer, by their ids.
    pending: BTreeMap<String, Pending>,
    /// Requests of the proxy's own, by their ids.
    own: BTreeMap<String, Own>,
    gatherings: BTreeMap<u64, Gathering>,
    /// Calls that came before the tools were known: the message, as text.
    waiting: Vec<(String, String)>,
    /// The client's `initialize`, for servers that are started again.
    initialize: Option<String>,
    next: u64,
    effects: Vec<Effect>,
}

/// A server, as far as the proxy knows.
#[derive(Debug)]
struct Server {
    name: String,
    state: State,
    /// How often in a row it has ended.
    ends: u32,
    /// The result of its `initialize`, as JSON text.
    greeting: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// It has ended, and is started again.
    Down,
    /// It runs again, and has not answered to `initialize`.
    Greeting,
}

/// A request of the client that a server has to answer.
#[derive(Debug)]
struct Pending {
    server: usize,
    /// The tool that is called, by its own name.
    tool: Option<String>,
    method: String,
}

/// What a request of the proxy's own is for.
#[derive(Debug)]
enum Own {
    /// A page of a list, or the answer to a broadcast.
    Page(u64, usize),
    /// `initialize`, after a server was started again.
    Greeting(usize),
}

impl Own {
    fn server(&self) -> usize {
        match self {
            Own::Page(_, server) | Own::Greeting(server) => *server,
        }
    }
}

impl Proxy {
    /// Takes the settings, as [`Need::Proxy`](crate::Need::Proxy) has them. What cannot be read of them is left out.
    pub fn new(settings: &str) -> Proxy {
        let settings = Settings::read(settings).unwrap_or_default();
        let servers = settings.servers.iter().map(|name| Server {
            name: name.clone(),
            state: State::Up,
            ends: 0,
            greeting: None,
        });
        Proxy {
            servers: servers.collect(),
            catalogue: Catalogue::new(&settings),
            routes: Routes::default(),
            settings,
            pending: BTreeMap::new(),
            own: BTreeMap::new(),
            gatherings: BTreeMap::new(),
            waiting: Vec::new(),
            initialize: None,
            next: 0,
            effects: Vec::new(),
        }
    }

    /// A message of the client, without the end of its line.
    pub fn client(&mut self, message: &[u8]) -> Vec<Effect> {
        let Some(text) = self.text(message, "the client") else {
            self.to_client(message::error("null", message::PARSE_ERROR, "expected UTF-8, found other bytes"));
            return self.done();
        };
        let read = match json::read(&text) {
            Ok(read) => read,
            Err(error) => {
                let found = format!("expected a message as JSON: {}", error.message());
                self.to_client(message::error("null", message::PARSE_ERROR, &found));
                return self.done();
            }
        };
        // Until 2025-03-26, a line could be a list of messages.
        match read.as_array() {
            Some(list) => list.iter().for_each(|one| self.of_client(one, &json::write(one), false)),
            None => self.of_client(&read, &text, true),
        }
        self.done()
    }

    /// A message of a server, without the end of its line.
    pub fn server(&mut self, server: usize, message: &[u8]) -> Vec<Effect> {
        let whose = self.name(server);
        let Some(text) = self.text(message, &whose) else { return self.done() };
        match json::read(&text) {
            Ok(read) => match read.as_array() {
                Some(list) => list.iter().for_each(|one| self.of_server(server, one, false)),
                None => self.of_server(server, &read, true),
            },
            Err(error) => self.log(&format!("{whose} wrote no message of MCP: {}", error.message())),
        }
        self.done()
    }

    /// A server has ended, or was ended: why, in words.
    pub fn ended(&mut self, server: usize, why: &str) -> Vec<Effect> {
        let whose = self.name(server);
        let found = format!("the server {whose} has ended: {why}");
        self.log(&found);
        let open: Vec<String> =
            self.pending.iter().filter(|one| one.1.server == server).map(|one| one.0.clone()).collect();
        for id in open {
            self.pending.remove(&id);
            self.to_client(message::error(&id, SERVER_ERROR, &found));
        }
        let own: Vec<String> =
            self.own.iter().filter(|one| one.1.server() == server).map(|one| one.0.clone()).collect();
        for id in own {
            if let Some(Own::Page(gathering, server)) = self.own.remove(&id) {
                self.failed(gathering, server, &message::error("0", SERVER_ERROR, &found));
            }
        }
        self.routes.forget(server);
        if let Some(state) = self.servers.get_mut(server) {
            let pause = (FIRST_PAUSE << state.ends.min(10)).min(LONGEST_PAUSE);
            state.ends += 1;
            state.state = State::Down;
            self.effects.push(Effect::Start(server, pause));
        }
        self.done()
    }

    /// A server was started again.
    pub fn started(&mut self, server: usize) -> Vec<Effect> {
        let greets = self.initialize.clone();
        let Some(state) = self.servers.get_mut(server) else { return self.done() };
        state.state = if greets.is_some() { State::Greeting } else { State::Up };
        if let Some(params) = greets {
            let id = self.own_id(Own::Greeting(server));
            self.to_server(server, message::request(&id, INITIALIZE, &params));
        }
        self.done()
    }

    /// The time is over that [`Effect::Alarm`] named.
    pub fn alarm(&mut self, alarm: u64) -> Vec<Effect> {
        let Some(gathering) = self.gatherings.get(&alarm) else { return self.done() };
        let seconds = self.settings.timeout;
        for server in gathering.open() {
            self.own.retain(|_, own| !matches!(own, Own::Page(of, by) if *of == alarm && *by == server));
            let found = format!("expected an answer of the server {} in {seconds} s, found none", self.name(server));
            self.log(&found);
            self.failed(alarm, server, &message::error("0", SERVER_ERROR, &found));
        }
        self.done()
    }

    /// A message was longer than the host takes: that of a server ends it, and that of the client is refused.
    pub fn too_long(&mut self, bytes: usize) -> Vec<Effect> {
        let found = format!("expected a message of at most {bytes} bytes, found a longer one");
        self.log(&found);
        self.to_client(message::error("null", message::PARSE_ERROR, &found));
        self.done()
    }

    fn done(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn text(&mut self, message: &[u8], whose: &str) -> Option<String> {
        match std::str::from_utf8(message) {
            Ok(text) => Some(text.to_string()),
            Err(_) => {
                self.log(&format!("expected a message of {whose} in UTF-8, found other bytes"));
                None
            }
        }
    }

    fn of_client(&mut self, message: &Node<'_>, text: &str, is_whole: bool) {
        let Some(envelope) = Envelope::read(message) else {
            let found = "expected a message of JSON-RPC with `method`, `result` or `error`, found something else";
            self.to_client(message::error("null", -32600, found));
            return;
        };
        let method = envelope.method.as_str();
        match envelope.kind {
            Kind::Request if self.pending.len() >= MOST_PENDING => {
                let found = format!("expected fewer than {MOST_PENDING} requests without an answer, found as many");
                self.to_client(message::error(&envelope.id, SERVER_ERROR, &found));
                return;
            }
            Kind::Request if method == TOOLS_LIST => {
                let params = message::params_without(message, &["cursor"]);
                return self.gather(What::Tools, Some(envelope.id), &params);
            }
            Kind::Request if method == TOOLS_CALL => return self.call(&envelope.id, message, text, is_whole),
            Kind::Request if method == "resources/read" && is_report(message) => {
                let report = self.report();
                let content = format!(
                    "{{\"contents\":[{{\"uri\":\"{REPORT}\",\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                    message::quoted(&report)
                );
                return self.to_client(message::result(&envelope.id, &content));
            }
            Kind::Request if method == INITIALIZE => self.initialize = Some(message::params_without(message, &[])),
            Kind::Notification if method == CANCELLED => {
                let cancelled = message::at(message, &["params", "requestId"]).map(json::write).unwrap_or_default();
                self.waiting.retain(|(id, _)| *id != cancelled);
            }
            _ => {}
        }
        self.route(&envelope, message, text, is_whole);
    }

    fn of_server(&mut self, server: usize, message: &Node<'_>, is_whole: bool) {
        let Some(envelope) = Envelope::read(message) else {
            let whose = self.name(server);
            return self.log(&format!("{whose} wrote JSON that is no message of MCP"));
        };
        if envelope.kind != Kind::Response {
            return self.route_back(server, &envelope, message, is_whole);
        }
        if self.own.get(&envelope.id).is_some_and(|own| own.server() == server) {
            return match self.own.remove(&envelope.id) {
                Some(Own::Page(gathering, server)) => self.page(gathering, server, message),
                Some(Own::Greeting(server)) => self.greeted(server, message),
                None => {}
            };
        }
        if !self.pending.get(&envelope.id).is_some_and(|pending| pending.server == server) {
            let whose = self.name(server);
            return self.log(&format!("{whose} answered to a request that it was not asked, or no longer"));
        }
        let Some(pending) = self.pending.remove(&envelope.id) else { return };
        if let Some(state) = self.servers.get_mut(server) {
            state.ends = 0;
        }
        if pending.method == INITIALIZE {
            self.greet(server, message);
        }
        if let (Some(tool), Some(result)) = (&pending.tool, message.get("result")) {
            if let Some(found) = self.breaks(server, tool, result) {
                self.log(&found);
                if self.settings.refuses_results {
                    return self.to_client(message::result(&envelope.id, &message::failed_call(&found)));
                }
            }
        }
        self.routes.note(server, &pending.method, message);
        self.pass_to_client(message, is_whole);
    }

    /// A server that was started again has answered to `initialize`.
    fn greeted(&mut self, server: usize, message: &Node<'_>) {
        if message.get("result").is_none() {
            let whose = self.name(server);
            return self.log(&format!("{whose} refused `{INITIALIZE}` after it was started again"));
        }
        self.greet(server, message);
        self.to_server(server, message::notification(INITIALIZED));
        // What the client knows of the server may no longer be so.
        for list in ["tools", "prompts", "resources"] {
            if self.has(server, list) {
                self.to_client(message::notification(&format!("notifications/{list}/list_changed")));
            }
        }
    }

    fn greet(&mut self, server: usize, message: &Node<'_>) {
        if let (Some(state), Some(result)) = (self.servers.get_mut(server), message.get("result")) {
            state.greeting = Some(json::write(result));
            state.state = State::Up;
        }
    }

    /// Whether a server has said that it has a capability.
    fn has(&self, server: usize, capability: &str) -> bool {
        let greeting = self.servers.get(server).and_then(|server| server.greeting.as_deref());
        let greeting = greeting.and_then(|text| json::read(text).ok());
        greeting.is_some_and(|greeting| message::at(&greeting, &["capabilities", capability]).is_some())
    }

    fn is_one(&self) -> bool {
        self.servers.len() == 1
    }

    fn name(&self, server: usize) -> String {
        self.servers.get(server).map(|server| format!("`{}`", server.name)).unwrap_or_default()
    }

    /// A new id for a request, which none of the client's has.
    fn own_id(&mut self, own: Own) -> String {
        loop {
            self.next += 1;
            let id = format!("\"toolwire:{}\"", self.next);
            if !self.pending.contains_key(&id) {
                self.own.insert(id.clone(), own);
                return id;
            }
        }
    }

    fn to_client(&mut self, message: String) {
        self.effects.push(Effect::ToClient(message));
    }

    fn to_server(&mut self, server: usize, message: String) {
        self.effects.push(Effect::ToServer(server, message));
    }

    /// Hands a message to the client that came from a server: the bytes that came, if it is a whole line.
    fn pass_to_client(&mut self, message: &Node<'_>, is_whole: bool) {
        let effect = if is_whole { Effect::PassToClient } else { Effect::ToClient(json::write(message)) };
        self.effects.push(effect);
    }

    /// Says something on standard error. It may have text of a server in it.
    fn log(&mut self, line: &str) {
        let line = escaped_lines(&format!("toolwire: {line}"));
        self.effects.push(Effect::Log(line));
    }
}

fn is_report(message: &Node<'_>) -> bool {
    message::text_at(message, &["params", "uri"]).as_deref() == Some(REPORT)
}
