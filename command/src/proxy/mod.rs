//! `toolwire proxy`: sits between an MCP client and its servers, rewrites the servers' tools, and restores calls.
//!
//! The proxy accepts messages and returns actions for the host, which owns the processes, streams and timers. With one
//! server, messages that do not concern tools are forwarded byte for byte. With several, `routes` finds the server of a
//! message.
//!
//! - *Era*: legacy MCP (before 2026-07-28, with `initialize`) or modern MCP.
//! - *Gathering*: a request that the proxy sends to every server, until all have answered.
//! - *Greeting*: the result of `initialize`.
//! - *Round*: the input that a server asks for before it answers a request.
//! - A message is *whole* if it is all of the line just received. The host then forwards this line byte for byte.

mod catalogue;
mod gathering;
mod lifecycle;
mod listener;
mod message;
mod mirrored;
mod opening;
mod owners;
mod questions;
mod results;
mod rounds;
mod routes;
mod settings;
mod subscriptions;
mod translation;
mod versions;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toolwire::internal::json::{self, Node};

use self::{
    catalogue::Catalogue,
    gathering::{Gathering, What},
    message::{Envelope, Kind, INVALID_REQUEST, PARSE_ERROR, SERVER_ERROR},
    opening::Opening,
    owners::Owners,
    questions::Questions,
    results::Results,
    rounds::Round,
    subscriptions::Listen,
};
use crate::{escaped_lines, terminal::cut};

pub use self::listener::{Listener, ListenerEffect};
pub use self::message::Outline;
pub use self::mirrored::mirrored;
pub(crate) use self::settings::Settings;
pub use self::versions::{discovered, modern_params, Era, DISCOVER, MODERN_ERRORS};
pub(crate) use settings::run;
pub use settings::EVERY_PROGRAM;

/// URI of the resource that reports the changes.
const REPORT: &str = "toolwire://report";
const TOOLS_LIST: &str = "tools/list";
const TOOLS_CALL: &str = "tools/call";
const TASKS_RESULT: &str = "tasks/result";
const TASKS_GET: &str = "tasks/get";
const INITIALIZE: &str = "initialize";
const INITIALIZED: &str = "notifications/initialized";
const CANCELLED: &str = "notifications/cancelled";
const RESULT_TYPE: &str = "resultType";
/// Maximum number of unanswered client requests.
const MAX_PENDING: usize = 10_000;
/// Maximum total size, in bytes, of the calls that wait for the first tool list.
const MAX_WAITING: usize = 64 << 20;
/// Maximum number of remembered entries of each kind: cancelled requests, whose late responses are ignored silently;
/// open requests of a server; and lines that are logged only once.
const REMEMBERED: usize = 1_000;
/// Maximum number of characters of a logged line, which may contain a server's error or the name of a tool.
const MAX_LINE: usize = 2_000;
/// Delay before a server is restarted for the first time, and the maximum delay, in milliseconds.
const FIRST_DELAY: u64 = 500;
const MAX_DELAY: u64 = 30_000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An action for the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Writes a message to the client.
    ToClient(String),
    /// Writes a message to a server.
    ToServer(usize, String),
    /// Names additional headers for the next message to a server, if it is at a URL.
    Headers(usize, Vec<(String, String)>),
    /// Forwards the message just received to the client, byte for byte.
    PassToClient,
    /// Forwards the message just received to a server, byte for byte.
    PassToServer(usize),
    /// Stops a server. The host calls [`Proxy::ended`] afterwards.
    Stop(usize),
    /// Restarts a server after a delay in milliseconds, then calls [`Proxy::started`].
    Start(usize, u64),
    /// Calls [`Proxy::alarm`] with the first number after a delay in milliseconds.
    Alarm(u64, u64),
    /// Writes a line to standard error.
    Log(String),
    /// Appends a line to the report file, if there is one.
    Report(String),
}

impl Effect {
    /// Returns the effect as strings, for the bindings: its kind, a number or an empty string, and a string.
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
            Effect::Headers(server, headers) => {
                let pairs = headers
                    .iter()
                    .map(|(name, value)| Node::array([name, value].map(|text| Node::string(text.as_str())).into()));
                (number, text) = (server.to_string(), json::write(&Node::array(pairs.collect())));
                "headers"
            }
            Effect::PassToClient => "pass-client",
            Effect::PassToServer(server) => {
                number = server.to_string();
                "pass-server"
            }
            Effect::Stop(server) => {
                number = server.to_string();
                "stop"
            }
            Effect::Start(server, delay) => {
                (number, text) = (server.to_string(), delay.to_string());
                "start"
            }
            Effect::Alarm(alarm, delay) => {
                (number, text) = (alarm.to_string(), delay.to_string());
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

/// The state of one client connection.
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
    owners: Owners,
    results: Results,
    /// Client requests that a server has to answer, by the keys of their ids.
    pending: BTreeMap<String, Pending>,
    /// The proxy's own requests, by the keys of their ids: the id as JSON text, and the purpose.
    own_requests: BTreeMap<String, (String, OwnRequest)>,
    /// Open gatherings, by the numbers of their alarms.
    gatherings: BTreeMap<u64, Gathering>,
    /// Restarted servers that have not answered `initialize`, by the numbers of their alarms.
    greetings: BTreeMap<u64, usize>,
    /// Calls received before the first tool list.
    waiting: Vec<Waiting>,
    /// Keys of cancelled requests.
    cancelled: VecDeque<String>,
    /// Parameters of the client's `initialize`, which are sent to restarted servers.
    initialize: Option<String>,
    client: Option<Era>,
    /// `params._meta` of the first modern request, as JSON text.
    envelope: Option<String>,
    /// The log level that the client has set, or that its latest request asks for.
    level: Option<String>,
    openings: BTreeMap<usize, Opening>,
    /// Requests that wait until the era of every server is known, or for the first lists.
    held: Vec<Waiting>,
    /// The lists that the client has requested since their last change. Used only with several servers.
    listed: BTreeSet<&'static str>,
    /// Subscriptions, by the keys of the ids of their requests.
    listens: BTreeMap<String, Listen>,
    /// Requests that wait for input from a client.
    rounds: BTreeMap<u64, Round>,
    /// Requests for input, by the keys of their ids: the round, and the index of the input.
    inputs: BTreeMap<String, (u64, usize)>,
    questions: Questions,
    /// Prefix of the ids of the proxy's own requests.
    prefix: String,
    next: u64,
    /// Lines that `log_once` has written.
    logged: BTreeSet<String>,
    effects: Vec<Effect>,
}

#[derive(Debug)]
struct Server {
    name: String,
    state: State,
    era: Option<Era>,
    /// Why the server cannot be used.
    fault: Option<String>,
    /// Number of consecutive ends of the server without an answer.
    ends: u32,
    /// Number of restarts.
    run: u32,
    /// The level that a modern client asked for and the server received.
    level: Option<String>,
    /// Result of `initialize`, as JSON text.
    greeting: Option<String>,
    /// Ids of the server's requests that the client has not answered, as the client received them, by their keys.
    open_requests: BTreeMap<String, String>,
    /// Number of ignored lines.
    ignored: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// The server was stopped or has ended. It is restarted after its end.
    Down,
    /// The server was restarted, but has not answered `initialize`.
    Greeting,
}

#[derive(Debug)]
struct Pending {
    /// The id as the client spelled it.
    id: String,
    server: usize,
    /// Original name of the called tool.
    tool: Option<String>,
    method: String,
    /// Parameters as the server received them, as JSON text, if the server may ask for input of the client.
    params: Option<String>,
    /// The capabilities of the client that the server may use, if the eras of client and server differ.
    accepts: Vec<&'static str>,
    /// Number of times that the server has asked for input.
    rounds: u32,
    /// The id by which the server knows the request after the server has asked for input, as JSON text.
    retry: Option<String>,
    /// The progress token that the server knows, and the client's latest token, as JSON text, if the tokens differ.
    token: Option<(String, String)>,
}

#[derive(Debug)]
struct Waiting {
    id: String,
    key: String,
    text: String,
}

#[derive(Debug)]
/// What waits for the answer of a server to `initialize`.
enum Waits {
    /// The client's request with this id.
    Client(String),
    /// A gathering with this number.
    Gathering(u64),
}

/// Purpose of one of the proxy's own requests.
#[derive(Debug)]
enum OwnRequest {
    /// Requests a page of a list, or asks one of several servers: the number of the [`Gathering`], and the server.
    Page(u64, usize),
    /// `initialize` after a restart, or with a late answer: the server.
    Greeting(usize),
    /// `server/discover`, to determine the era of a server.
    Discover(usize),
    /// `initialize` for a client that sends none.
    Initialize(usize),
    /// A server's part of a subscription: the key of the [`Listen`], and the server.
    Listen(String, usize),
    /// A request whose answer is ignored: the server.
    Other(usize),
}

impl OwnRequest {
    fn server(&self) -> usize {
        match self {
            OwnRequest::Page(_, server)
            | OwnRequest::Greeting(server)
            | OwnRequest::Discover(server)
            | OwnRequest::Initialize(server)
            | OwnRequest::Listen(_, server)
            | OwnRequest::Other(server) => *server,
        }
    }
}

impl Proxy {
    /// Creates a proxy from the settings in [`Need::Proxy`](crate::Need::Proxy). Unreadable settings keep their
    /// defaults.
    pub fn new(settings: &str) -> Proxy {
        let settings = Settings::read(settings).unwrap_or_default();
        let servers = settings.servers.iter().map(|name| Server {
            name: name.clone(),
            state: State::Up,
            era: None,
            fault: None,
            ends: 0,
            run: 0,
            level: None,
            greeting: None,
            open_requests: BTreeMap::new(),
            ignored: 0,
        });
        Proxy {
            servers: servers.collect(),
            catalogue: Catalogue::new(&settings),
            owners: Owners::default(),
            results: Results::new(&settings),
            questions: Questions::new(settings.counted_ids),
            settings,
            pending: BTreeMap::new(),
            own_requests: BTreeMap::new(),
            gatherings: BTreeMap::new(),
            greetings: BTreeMap::new(),
            waiting: Vec::new(),
            cancelled: VecDeque::new(),
            initialize: None,
            client: None,
            envelope: None,
            level: None,
            openings: BTreeMap::new(),
            held: Vec::new(),
            listed: BTreeSet::new(),
            listens: BTreeMap::new(),
            rounds: BTreeMap::new(),
            inputs: BTreeMap::new(),
            prefix: "toolwire:".into(),
            next: 0,
            logged: BTreeSet::new(),
            effects: Vec::new(),
        }
    }

    /// Handles a message of the client, without its line end.
    pub fn client(&mut self, message: &[u8]) -> Vec<Effect> {
        let Some(unmarked) = message.strip_prefix(BYTE_ORDER_MARK) else {
            self.on_client_line(message);
            return self.take_effects();
        };
        match std::str::from_utf8(unmarked) {
            Ok(text) => {
                self.on_client_line(unmarked);
                without_mark(self.take_effects(), text)
            }
            Err(_) => {
                self.refuse_message(unmarked);
                self.take_effects()
            }
        }
    }

    fn on_client_line(&mut self, message: &[u8]) {
        match std::str::from_utf8(message).ok().and_then(|text| Some((text, json::read(text).ok()?))) {
            Some((text, read)) => match read.as_array() {
                // Until 2025-03-26, a line could be a list of messages.
                Some([]) => self.refuse_message(message),
                Some(list) => {
                    list.iter().for_each(|message| self.on_client_message(message, &json::write(message), false))
                }
                None => match message::ambiguous(message) {
                    Some(name) => {
                        let id = read.get("id").map_or_else(|| "null".into(), json::write);
                        let found = format!(
                            "expected each member once, in the exact spelling; found `{name}` repeated or misspelled"
                        );
                        self.write_client(message::error(&id, INVALID_REQUEST, &found));
                    }
                    None => self.on_client_message(&read, text, true),
                },
            },
            None => self.unreadable_of_client(message),
        }
    }

    /// Handles a message of a server, without its line end.
    pub fn server(&mut self, server: usize, message: &[u8]) -> Vec<Effect> {
        if self.servers.get(server).is_some_and(|server| server.state == State::Down) {
            // The server wrote this before it was stopped.
            return self.take_effects();
        }
        let Some(unmarked) = message.strip_prefix(BYTE_ORDER_MARK) else {
            self.on_server_line(server, message);
            return self.take_effects();
        };
        match std::str::from_utf8(unmarked) {
            Ok(text) => {
                self.on_server_line(server, unmarked);
                without_mark(self.take_effects(), text)
            }
            Err(_) => {
                self.unreadable_of_server(server, unmarked, false);
                self.take_effects()
            }
        }
    }

    fn on_server_line(&mut self, server: usize, message: &[u8]) {
        match std::str::from_utf8(message).ok().and_then(|text| json::read(text).ok()) {
            Some(read) => match read.as_array() {
                Some(list) => list.iter().for_each(|message| self.on_server_message(server, message, false)),
                None => self.on_server_message(server, &read, true),
            },
            None => self.unreadable_of_server(server, message, self.has_one_server()),
        }
    }

    /// Handles a client message that was longer than the host's limit, `bytes`.
    pub fn too_long(&mut self, bytes: usize) -> Vec<Effect> {
        let found = format!("expected a message of at most {bytes} bytes, found a longer one");
        self.log(&found);
        self.write_client(message::error("null", PARSE_ERROR, &found));
        self.take_effects()
    }

    /// Returns the number of unanswered client requests, without subscriptions, which are answered at their end.
    pub fn unanswered(&self) -> usize {
        let listens = self.pending.values().filter(|pending| pending.method == subscriptions::LISTEN).count();
        self.open_requests() - listens - self.listens.len()
    }

    fn open_requests(&self) -> usize {
        self.pending.len()
            + self.listens.len()
            + self.waiting.len()
            + self.held.len()
            + self.waiting_greetings().count()
            + self.gatherings.len()
            + self.rounds.len()
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    fn on_client_message(&mut self, message: &Node<'_>, text: &str, is_whole: bool) {
        let Some(envelope) = Envelope::read(message) else { return self.refuse_message(text.as_bytes()) };
        let method = envelope.method.as_str();
        if envelope.kind == Kind::Request {
            self.avoid_prefix_of(&envelope.id);
            if self.open_requests() >= MAX_PENDING {
                let found = format!("too many unanswered requests: the limit is {MAX_PENDING}");
                return self.write_client(message::error(&envelope.id, SERVER_ERROR, &found));
            }
            if self.is_in_use(&envelope.key) {
                let found = format!("expected a unique id, found {}, whose request is still open", envelope.id);
                return self.write_client(message::error(&envelope.id, INVALID_REQUEST, &found));
            }
            if let Some(version) = versions::stated(message) {
                if Era::of(&version) != Some(Era::Modern) {
                    return self.write_client(versions::unsupported(&envelope.id, &version));
                }
                self.open_all(message);
            }
        }
        if self.hold_if_waiting(&envelope, message, text) || self.answer_for_era(&envelope, message) {
            return;
        }
        match envelope.kind {
            Kind::Request if method == TOOLS_LIST => {
                let params = message::params_without(message, &["cursor"]);
                return self.gather(What::Tools, Some(envelope.id), &params);
            }
            Kind::Request if method == TOOLS_CALL => return self.call(&envelope, message, text, is_whole),
            Kind::Request if method == "resources/read" && is_report(message) => {
                let content = format!(
                    "{{\"contents\":[{{\"uri\":\"{REPORT}\",\"mimeType\":\"application/json\",\"text\":{}}}]}}",
                    message::quoted(&self.report())
                );
                return self.answer_to(method, &envelope.id, &content);
            }
            Kind::Request if method == INITIALIZE => {
                self.client = Some(Era::Legacy);
                self.initialize = Some(message::params_without(message, &[]));
            }
            Kind::Response if self.inputs.contains_key(&envelope.key) => return self.on_input(&envelope.key, message),
            Kind::Notification if method == CANCELLED => {
                let key = message::at(message, &["params", "requestId"]).map(json::canonical).unwrap_or_default();
                if self.cancel_own(&key)
                    || self.cancel_greeting(&key)
                    || self.cancel_listen(&key)
                    || self.cancel_round(&key)
                {
                    return;
                }
            }
            _ => {}
        }
        self.route(&envelope, message, text, is_whole);
    }

    fn on_server_message(&mut self, server: usize, message: &Node<'_>, is_whole: bool) {
        let Some(envelope) = Envelope::read(message) else {
            return self.log_invalid_line(server, "not a JSON-RPC message");
        };
        if envelope.kind != Kind::Response {
            return self.route_back(server, &envelope, message, is_whole);
        }
        if self.own_requests.get(&envelope.key).is_some_and(|(_, request)| request.server() == server) {
            return match self.own_requests.remove(&envelope.key) {
                Some((_, OwnRequest::Page(gathering, server))) => self.add_page(gathering, server, message),
                Some((_, OwnRequest::Greeting(server))) => self.on_greeting(server, message),
                Some((_, OwnRequest::Discover(server))) => self.on_discovery(server, message),
                Some((_, OwnRequest::Initialize(server))) => self.on_initialize_answer(server, message),
                Some((_, OwnRequest::Listen(key, server))) => {
                    self.listen_ended(&key, server, message.get("result").is_some());
                }
                Some((_, OwnRequest::Other(_))) | None => {}
            };
        }
        if self.keep_answer(server, &envelope.key, message) {
            return;
        }
        let Some(pending) = self.take_pending(server, &envelope.key) else { return };
        let id = pending.id.clone();
        let restored = (pending.rounds > 0).then(|| {
            let mut restored = message.clone();
            restored.set("id", json::read(&id).unwrap_or_default());
            restored
        });
        let (message, is_whole) = restored.as_ref().map_or((message, is_whole), |restored| (restored, false));
        if pending.method == INITIALIZE && message.get("result").is_none() {
            return self.discover_after(server, Waits::Client(id.clone()), json::write(message));
        }
        if pending.method == INITIALIZE {
            self.record_greeting(server, message);
        }
        let Some(pending) = self.request_input(pending, message) else { return };
        if let (Some(_), Some(result), false) = (&pending.tool, message.get("result"), self.has_one_server()) {
            self.owners.add_links(server, result);
        }
        let is_call = pending.method == TOOLS_CALL;
        if is_call && !self.has_one_server() {
            self.owners.add_task(server, message);
        }
        let with_uris = self.with_shown_uris(server, &pending.method, message);
        let (message, is_whole) = with_uris.as_ref().map_or((message, is_whole), |with_uris| (with_uris, false));
        match message.get("result") {
            Some(result) if is_call || [TASKS_RESULT, TASKS_GET].contains(&&*pending.method) => {
                self.pass_result(&pending, result, message, is_whole);
            }
            _ => self.pass_answer(server, &pending.method, message, is_whole),
        }
    }

    /// Returns `None` and ignores the line if the request is not open.
    fn take_pending(&mut self, server: usize, key: &str) -> Option<Pending> {
        if self.pending.get(key).is_none_or(|pending| pending.server != server) {
            // The client cancelled the request while the server was already answering.
            if !self.cancelled.iter().any(|known| known == key) {
                self.log_invalid_line(server, "a response that answers no open request");
            }
            return None;
        }
        if let Some(state) = self.servers.get_mut(server) {
            state.ends = 0;
        }
        self.pending.remove(key)
    }

    /// Handles a client message that the JSON reader refuses, because it is nested too deeply or is not valid JSON.
    /// With one server, the message is forwarded, unless it concerns tools.
    fn unreadable_of_client(&mut self, message: &[u8]) {
        let Some(outline) = Outline::read(message).filter(|outline| outline.method.is_some() || outline.answers) else {
            return self.refuse_message(message);
        };
        let method = outline.method.unwrap_or_default();
        let is_about_tools = method == TOOLS_LIST || method == TOOLS_CALL || method == INITIALIZE;
        match outline.id {
            _ if !self.has_one_server() || is_about_tools || self.translates(0) || !self.openings.is_empty() => {
                self.refuse_message(message);
            }
            Some(id) if !outline.answers => {
                let key = message::key_of(&id);
                self.send(&id, &key, 0, &method, None, "", true);
            }
            _ => self.effects.push(Effect::PassToServer(0)),
        }
    }

    /// Handles a server message that the JSON reader refuses. `passes` is true if the message can be forwarded.
    fn unreadable_of_server(&mut self, server: usize, message: &[u8], passes: bool) {
        let Some(outline) = Outline::read(message) else { return self.log_invalid_line(server, "not JSON") };
        let Some(id) = outline.id.filter(|_| outline.answers) else {
            if passes && outline.method.is_some() {
                return self.effects.push(Effect::PassToClient);
            }
            return self.log_invalid_line(server, "JSON that cannot be read");
        };
        let key = message::key_of(&id);
        let found =
            format!("expected JSON of at most 512 levels from the server {}, found something else", self.name(server));
        if self.own_requests.get(&key).is_some_and(|(_, request)| request.server() == server) {
            return match self.own_requests.remove(&key) {
                Some((_, OwnRequest::Page(gathering, server))) => {
                    self.add_failure(gathering, server, &message::error("0", SERVER_ERROR, &found));
                }
                Some((_, request)) => {
                    let error = message::error("0", SERVER_ERROR, &found);
                    let read = json::read(&error).unwrap_or_default();
                    match request {
                        OwnRequest::Discover(server) => self.on_discovery(server, &read),
                        OwnRequest::Initialize(server) => self.on_initialize_answer(server, &read),
                        OwnRequest::Listen(key, server) => self.listen_ended(&key, server, false),
                        OwnRequest::Greeting(server) => self.stop(server),
                        _ => {}
                    }
                }
                None => {}
            };
        }
        let Some(pending) = self.take_pending(server, &key) else { return };
        if passes && pending.rounds == 0 && !self.translates(server) {
            return self.effects.push(Effect::PassToClient);
        }
        self.write_client(message::error(&pending.id, SERVER_ERROR, &found));
    }

    fn refuse_message(&mut self, message: &[u8]) {
        let id = Outline::read(message).and_then(|outline| outline.id).unwrap_or_else(|| "null".into());
        let (code, found) = match std::str::from_utf8(message) {
            Err(_) => (PARSE_ERROR, "expected UTF-8, found other bytes".to_string()),
            Ok(text) => match json::read(text) {
                Err(error) => (PARSE_ERROR, format!("expected a JSON message: {}", error.message())),
                Ok(_) => {
                    let found = "expected a JSON-RPC message with `method`, `result` or `error`, found something else";
                    (INVALID_REQUEST, found.to_string())
                }
            },
        };
        self.write_client(message::error(&id, code, &found));
    }

    fn has_one_server(&self) -> bool {
        self.servers.len() == 1
    }

    fn name(&self, server: usize) -> String {
        self.servers.get(server).map(|server| format!("`{}`", server.name)).unwrap_or_default()
    }

    fn is_in_use(&self, key: &str) -> bool {
        self.pending.contains_key(key)
            || self.waiting.iter().chain(&self.held).any(|waiting| waiting.key == key)
            || self.listens.contains_key(key)
            || self.questions.has(key)
            || self.waiting_greetings().any(|id| message::key_of(id) == key)
            || self.rounds.values().any(|round| message::key_of(&round.pending.id) == key)
            || self.pending.values().any(|pending| pending.rounds > 0 && message::key_of(&pending.id) == key)
            || self.gatherings.values().any(|gathering| gathering.is_for(key))
    }

    /// Changes the prefix if the client uses it for its own ids, because the client may be a proxy itself.
    fn avoid_prefix_of(&mut self, id: &str) {
        while id.get(1..).is_some_and(|id| id.starts_with(&self.prefix)) {
            self.prefix.insert(0, '+');
        }
    }

    fn own_id(&mut self, request: OwnRequest) -> String {
        self.next += 1;
        let id = format!("\"{}{}\"", self.prefix, self.next);
        self.own_requests.insert(message::key_of(&id), (id.clone(), request));
        id
    }

    fn cancel_requests(&mut self, which: impl Fn(&OwnRequest) -> bool, reason: &str) {
        let keys: Vec<String> =
            self.own_requests.iter().filter(|(_, (_, request))| which(request)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let Some((id, request)) = self.own_requests.remove(&key) else { continue };
            remember(&mut self.cancelled, &key);
            self.write_server(request.server(), message::cancelled(&id, reason));
        }
    }

    fn write_client(&mut self, message: String) {
        self.effects.push(Effect::ToClient(message));
    }

    fn write_server(&mut self, server: usize, message: String) {
        self.effects.push(Effect::ToServer(server, message));
    }

    /// Answers a request with a result of the proxy, which is JSON text.
    fn answer(&mut self, id: &str, result: &str) {
        self.answer_to("", id, result);
    }

    fn answer_to(&mut self, method: &str, id: &str, result: &str) {
        let typed = (self.client == Some(Era::Modern)).then(|| translation::modern_result(method, result));
        self.write_client(message::result(id, typed.as_deref().unwrap_or(result)));
    }

    /// Forwards a message, byte for byte if it is a whole line.
    fn pass_client(&mut self, message: &Node<'_>, is_whole: bool) {
        let effect = if is_whole { Effect::PassToClient } else { Effect::ToClient(json::write(message)) };
        self.effects.push(effect);
    }

    /// Logs the first, the tenth, the hundredth (and so on) invalid line of a server, which may write many.
    fn log_invalid_line(&mut self, server: usize, what: &str) {
        let whose = self.name(server);
        let Some(state) = self.servers.get_mut(server) else { return };
        state.ignored += 1;
        let count = state.ignored;
        if count == 1 {
            self.log(&format!("ignored a line from {whose}: {what}"));
        } else if 10_u64.checked_pow(count.ilog10()) == Some(count) {
            self.log(&format!("ignored a line from {whose}: {what} ({count} lines so far)"));
        }
    }

    fn log_once(&mut self, line: &str) {
        if self.logged.len() < REMEMBERED && self.logged.insert(line.to_string()) {
            self.log(line);
        }
    }

    /// Logs a line. It may contain a server's text, so control characters are escaped.
    fn log(&mut self, line: &str) {
        let line = escaped_lines(&format!("toolwire: {}", cut(line, MAX_LINE)));
        self.effects.push(Effect::Log(line));
    }
}

/// Replaces the forwarding of a message after a byte order mark, which JSON does not allow (RFC 8259, 8.1).
/// `message` is the message without the mark.
fn without_mark(effects: Vec<Effect>, message: &str) -> Vec<Effect> {
    let effect = |effect: Effect| match effect {
        Effect::PassToClient => Effect::ToClient(message.into()),
        Effect::PassToServer(server) => Effect::ToServer(server, message.into()),
        effect => effect,
    };
    effects.into_iter().map(effect).collect()
}

fn remember(keys: &mut VecDeque<String>, key: &str) {
    if keys.len() >= REMEMBERED {
        keys.pop_front();
    }
    keys.push_back(key.to_string());
}

fn is_report(message: &Node<'_>) -> bool {
    message::text_at(message, &["params", "uri"]).as_deref() == Some(REPORT)
}
