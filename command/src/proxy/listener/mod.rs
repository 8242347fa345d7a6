//! `toolwire proxy --listen`: streamable HTTP in front of proxies, without sockets, processes and timers. The host
//! performs the actions that a [`Listener`] asks for.
//!
//! Each session of a client has its own [`Proxy`](super::Proxy), with its own servers. Since 2026-07-28, MCP has no
//! sessions: requests of that version share one proxy, under ids that the listener generates.

mod message;
mod session;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use toolwire::internal::json::{self, Node};

use super::{
    message::{error, Outline, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, SERVER_ERROR},
    mirrored::VERSION,
    versions::{Era, MODERN_ERRORS},
};
use crate::{
    document::record,
    escaped_lines,
    http::{
        headers::{self, head, Headers},
        own_headers, Door, Listen,
    },
    terminal::cut,
};
use message::{Received, Rejection};
use session::Session;

const PATH: &str = "/mcp";
/// Maximum size of a body, in bytes.
const MAX_BODY: u64 = 4 << 20;
/// Maximum number of open requests, including event streams.
const MAX_REQUESTS: usize = 1_000;
/// Default of the maximum number of sessions. Each session has its own processes.
const MAX_SESSIONS: u64 = 64;
/// Maximum number of sessions that may be ending in addition to the open sessions.
const MAX_ENDING: usize = 8;
/// Default lifetime of a session without an open request, in seconds.
const IDLE: u64 = 1_800;
/// Interval of comments in an event stream, in seconds. They keep the stream open, and reveal disconnected clients.
const PAUSE: u64 = 15;
/// HTTP statuses of JSON-RPC errors since 2026-07-28.
const STATUSES: [(i32, u16); 4] =
    [(PARSE_ERROR, 400), (INVALID_REQUEST, 400), (METHOD_NOT_FOUND, 404), (INVALID_PARAMS, 400)];
const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const SESSION: &str = "Mcp-Session-Id";

/// Sessions of all clients, and their open requests.
///
/// ```
/// use toolwire_command::Listener;
/// let mut listener = Listener::new("{}", None);
/// let head = r#"{"method": "GET", "target": "/", "headers": [["Host", "localhost:8000"]], "id": "a"}"#;
/// let [answer] = &listener.request(1, head)[..] else { panic!("more than an answer") };
/// assert!(answer.clone().words()[1].contains(r#""status":404"#));
/// ```
pub struct Listener {
    door: Door,
    most_sessions: usize,
    /// Number of consecutive alarms after which an idle session ends.
    patience: u64,
    /// Requests without a complete response, by the host's numbers.
    requests: BTreeMap<u64, Request>,
    sessions: BTreeMap<u64, Session>,
    /// Closed sessions whose servers have not ended.
    ending: BTreeSet<u64>,
    /// The session that requests without a session id share.
    shared: Option<u64>,
    last_session: u64,
    /// Number of uses of all sessions.
    uses: u64,
    effects: Vec<ListenerEffect>,
}

#[derive(Debug)]
enum Request {
    /// The body of the request is being read.
    Reading { headers: Headers, id: String, session: Option<u64> },
    /// The request waits for the response to its message.
    Post(Post),
    /// An event stream for messages that belong to no request. The number is the session.
    Get(u64),
}

#[derive(Debug)]
struct Post {
    session: u64,
    /// Key of the message's id in the session.
    key: String,
    /// Session id that the response sends in `Mcp-Session-Id`, if the request opened the session.
    new_session_id: Option<String>,
    /// True if the response is an event stream.
    is_stream: bool,
}

impl Listener {
    /// Creates a listener from the command's settings and the token that clients have to send, if one is required. A
    /// host that replaces a listener adds `lastSession`, the number of its latest session, so that numbers are not
    /// reused.
    pub fn new(settings: &str, token: Option<&str>) -> Listener {
        let settings = json::read(settings).unwrap_or_default();
        let number = |key: &str| settings.u64_at(key);
        let door = Door { is_loopback: Listen::in_settings(&settings).is_loopback(), token: token.map(String::from) };
        Listener {
            door,
            most_sessions: usize::try_from(number("mostSessions").unwrap_or(MAX_SESSIONS)).unwrap_or(usize::MAX),
            patience: number("idle").unwrap_or(IDLE).div_ceil(PAUSE),
            requests: BTreeMap::new(),
            sessions: BTreeMap::new(),
            ending: BTreeSet::new(),
            shared: None,
            last_session: number("lastSession").unwrap_or_default(),
            uses: 0,
            effects: Vec::new(),
        }
    }

    /// Returns the startup message, with the address.
    pub fn started(&self, address: &str) -> String {
        format!("toolwire proxy: listening on http://{address}{PATH}")
    }

    /// Handles the head of a request with the host's number: `{ method, target, headers, id }` as JSON. Each header is
    /// a pair of strings. `id` is a random, unguessable id, which is used if a session starts.
    pub fn request(&mut self, number: u64, head: &str) -> Vec<ListenerEffect> {
        let head = json::read(head).unwrap_or_default();
        let text = |key: &str| head.text_at(key).map(|text| text.display().into_owned());
        let headers = headers::read(head.get("headers"));
        let (method, target) = (text("method").unwrap_or_default(), text("target").unwrap_or_default());
        let accepted = match self.require_admission(&target, &headers) {
            Ok(()) => self.accept(number, &method, headers, text("id").unwrap_or_default()),
            Err(rejection) => Err(rejection),
        };
        if let Err(rejection) = accepted {
            self.reject(number, &rejection);
        }
        self.take_effects()
    }

    /// Handles the body of a request.
    pub fn body(&mut self, number: u64, body: &[u8]) -> Vec<ListenerEffect> {
        if let Some(Request::Reading { headers, id, .. }) = self.requests.remove(&number) {
            if let Err(rejection) = self.receive(number, &headers, id, body) {
                self.reject(number, &rejection);
            }
        }
        self.take_effects()
    }

    /// Handles a request whose body could not be read. `status` is 408, 413 or 503; `why` is a human-readable reason.
    pub fn unread(&mut self, number: u64, status: u16, why: &str) -> Vec<ListenerEffect> {
        if self.requests.remove(&number).is_some() {
            self.reject(number, &Rejection::new(status, INVALID_REQUEST, why));
        }
        self.take_effects()
    }

    /// Handles a request whose connection was closed, or whose response is complete.
    pub fn closed(&mut self, number: u64) -> Vec<ListenerEffect> {
        match self.requests.remove(&number) {
            Some(Request::Post(Post { session, new_session_id: Some(_), is_stream: false, .. })) => {
                // The client never received the session's id.
                self.close_session(session, "the client is gone");
            }
            Some(Request::Post(Post { session, key, .. })) => {
                if let Some(cancelled) = self.sessions.get_mut(&session).and_then(|open| open.on_disconnect(&key)) {
                    self.effects.push(ListenerEffect::Message(session, cancelled));
                }
            }
            Some(Request::Get(session)) => {
                if let Some(open) = self.sessions.get_mut(&session).filter(|open| open.stream == Some(number)) {
                    open.stream = None;
                }
            }
            _ => {}
        }
        self.take_effects()
    }

    /// Handles a message that the proxy of a session has written for its client.
    pub fn message(&mut self, session: u64, message: &[u8]) -> Vec<ListenerEffect> {
        if !self.sessions.contains_key(&session) {
            return Vec::new();
        }
        let text = match std::str::from_utf8(message) {
            Ok(text) => Some(Cow::Borrowed(text)),
            Err(_) => self.not_utf_8(session, message).map(Cow::Owned),
        };
        let Some((open, text)) = self.sessions.get_mut(&session).zip(text) else { return self.take_effects() };
        match open.delivery(&text) {
            session::Delivery::Answer(number, text) => self.answer_post(number, &text),
            session::Delivery::Refused(number, text) => {
                // The client has not received the session's id.
                if let Some(number) = number {
                    self.tell_no_id(number);
                    self.answer_post(number, &text);
                }
                self.close_session(session, "the server has refused `initialize`");
            }
            session::Delivery::Event(number, text) => self.send_event(number, &text),
            session::Delivery::Refuse(answer) => self.effects.push(ListenerEffect::Message(session, answer)),
            session::Delivery::None => {}
        }
        self.take_effects()
    }

    /// Handles a message that is not UTF-8: an HTTP response cannot contain it. If the message is an answer, returns
    /// the error that replaces it.
    fn not_utf_8(&mut self, session: u64, message: &[u8]) -> Option<String> {
        let why = "expected UTF-8 from the server, found other bytes";
        match Outline::read(message) {
            Some(Outline { id: Some(id), method: None, answers: true }) => Some(error(&id, SERVER_ERROR, why)),
            Some(Outline { id: Some(id), .. }) => {
                self.effects.push(ListenerEffect::Message(session, error(&id, SERVER_ERROR, why)));
                None
            }
            _ => {
                self.log(&format!("session {session}: ignored a message: {why}"));
                None
            }
        }
    }

    /// Handles the end of a session's proxy, by itself or after [`ListenerEffect::Close`]. `why` is a
    /// human-readable reason.
    pub fn ended(&mut self, session: u64, why: &str) -> Vec<ListenerEffect> {
        self.ending.remove(&session);
        if self.sessions.contains_key(&session) {
            self.log(&format!("session {session} has ended: {}", why.lines().next().unwrap_or_default()));
            self.end_session(session, why);
        }
        self.take_effects()
    }

    /// Handles the end of the delay of a [`ListenerEffect::Alarm`].
    pub fn alarm(&mut self, session: u64) -> Vec<ListenerEffect> {
        let is_read = self.is_read(session);
        let Some(open) = self.sessions.get_mut(&session) else { return Vec::new() };
        let numbers = open.connections();
        open.idle_alarms = if numbers.is_empty() && !is_read { open.idle_alarms + 1 } else { 0 };
        if open.idle_alarms >= self.patience {
            self.log(&format!("session {session} has ended: it was unused for {} s", self.patience * PAUSE));
            self.close_session(session, "the session was unused");
            return self.take_effects();
        }
        for number in numbers {
            self.begin_stream(number);
            self.write(session, number, ":\n\n".into());
        }
        self.effects.push(ListenerEffect::Alarm(session, PAUSE * 1000));
        self.take_effects()
    }

    fn take_effects(&mut self) -> Vec<ListenerEffect> {
        std::mem::take(&mut self.effects)
    }

    fn require_admission(&self, target: &str, headers: &Headers) -> Result<(), Rejection> {
        if let Some((status, why)) = self.door.refusal(headers) {
            return Err(Rejection::new(status, SERVER_ERROR, &cut(&why, 300)));
        }
        if target.split('?').next() != Some(PATH) {
            return Err(Rejection::new(404, SERVER_ERROR, &format!("expected the path `{PATH}`, found another one")));
        }
        if self.requests.len() >= MAX_REQUESTS {
            let why = format!("expected at most {MAX_REQUESTS} requests at once, found more");
            return Err(Rejection::new(503, SERVER_ERROR, &why));
        }
        Ok(())
    }

    fn accept(&mut self, number: u64, method: &str, headers: Headers, id: String) -> Result<(), Rejection> {
        let session = self.session_of(&headers)?;
        match (method, session) {
            ("POST", _) => {
                demand_readable(&headers)?;
                if let Some(session) = session {
                    self.record_use(session);
                }
                self.requests.insert(number, Request::Reading { headers, id, session });
                self.effects.push(ListenerEffect::Read(number, MAX_BODY));
            }
            ("GET", Some(session)) => {
                require_types(&headers, &[STREAM])?;
                self.open_stream(number, session);
            }
            ("DELETE", Some(session)) => {
                self.close_session(session, "the client has ended the session");
                self.answer(number, 204, &Headers::new(), String::new());
            }
            ("GET" | "DELETE", None) => {
                let why = format!("expected the header `{SESSION}` of a session, found none");
                return Err(Rejection::new(405, SERVER_ERROR, &why));
            }
            _ => return Err(Rejection::new(405, SERVER_ERROR, "expected GET, POST or DELETE, found another method")),
        }
        Ok(())
    }

    fn session_of(&self, headers: &Headers) -> Result<Option<u64>, Rejection> {
        let Some(id) = headers::value(headers, SESSION) else { return Ok(None) };
        let found = self.sessions.iter().find(|(_, open)| open.id.as_deref() == Some(&*id));
        let Some((number, open)) = found.filter(|_| headers::count(headers, SESSION) == 1) else {
            // This status tells a client to start a new session.
            return Err(Rejection::new(404, SERVER_ERROR, "expected the id of an open session, found an unknown id"));
        };
        match (headers::value(headers, VERSION), &open.version) {
            (Some(found), Some(agreed)) if *found != **agreed => {
                let why = format!("expected the protocol version {agreed}, found `{}`", cut(&found, 40));
                Err(Rejection::new(400, INVALID_REQUEST, &why))
            }
            _ => Ok(Some(*number)),
        }
    }

    /// Opens an event stream. Ends the previous one, whose client may be disconnected.
    fn open_stream(&mut self, number: u64, session: u64) {
        self.record_use(session);
        let Some(open) = self.sessions.get_mut(&session) else { return };
        let queued = open.take_queued();
        if let Some(former) = open.stream.replace(number) {
            self.requests.remove(&former);
            self.effects.push(ListenerEffect::End(former));
        }
        self.requests.insert(number, Request::Get(session));
        self.begin(number, 200, &stream_headers(None));
        for text in queued {
            self.write(session, number, as_event(&text));
        }
    }

    fn receive(&mut self, number: u64, headers: &Headers, id: String, body: &[u8]) -> Result<(), Rejection> {
        // The session may have ended while the body was being read.
        let session = self.session_of(headers)?;
        let received = Received::read(body)?;
        if let Some(session) = session {
            return self.receive_in(number, session, &received);
        }
        let is_modern = |version: &str| Era::of(version) == Some(Era::Modern);
        let states_modern = headers::value(headers, VERSION).is_some_and(|version| is_modern(&version));
        match &received {
            Received::Request { method, .. } if method == super::INITIALIZE && states_modern => {
                let why = "expected a method of the version in the header, found `initialize`";
                Err(Rejection::new(404, METHOD_NOT_FOUND, why).for_message(&received))
            }
            Received::Request { version: None, .. } if states_modern => {
                let why = "expected the version in `params._meta`, found none";
                Err(Rejection::new(400, INVALID_PARAMS, why).for_message(&received))
            }
            Received::Request { method, .. } if method == super::INITIALIZE => {
                let session = self.open_session(Some(id.clone()))?;
                self.send_to_session(number, session, &received, Some(id))?;
                self.effects.push(ListenerEffect::Pass(session, number));
                Ok(())
            }
            Received::Request { version: Some(version), .. } => {
                received.require_headers(headers, version)?;
                let session = match self.shared {
                    Some(session) => session,
                    None => self.open_session(None)?,
                };
                if let Some(open) = self.sessions.get(&session) {
                    received.require_parameters(headers, &open.header_schemas)?;
                }
                self.send_to_session(number, session, &received, None)
            }
            // Since 2026-07-28, clients send no notifications. Some SDKs still do, and expect no error.
            Received::Notification { .. } if headers::count(headers, VERSION) > 0 => {
                self.answer(number, 202, &Headers::new(), String::new());
                Ok(())
            }
            _ => {
                let why = format!("expected `initialize`, or the header `{SESSION}`, found neither");
                Err(Rejection::new(400, INVALID_REQUEST, &why).for_message(&received))
            }
        }
    }

    fn receive_in(&mut self, number: u64, session: u64, received: &Received) -> Result<(), Rejection> {
        self.record_use(session);
        match received {
            Received::Request { method, .. } if method == super::INITIALIZE => {
                let why = "expected `initialize` outside a session, found it inside one";
                return Err(Rejection::new(400, INVALID_REQUEST, why).for_message(received));
            }
            Received::Request { .. } => {
                self.send_to_session(number, session, received, None)?;
                self.effects.push(ListenerEffect::Pass(session, number));
                return Ok(());
            }
            _ => self.effects.push(ListenerEffect::Pass(session, number)),
        }
        self.answer(number, 202, &Headers::new(), String::new());
        if let Received::Notification { cancels: Some(key) } = received {
            // The cancelled request will not be answered.
            let waits = self.sessions.get_mut(&session).and_then(|open| open.remove_cancelled(key));
            if let Some(number) = waits {
                self.begin_stream(number);
                self.end(number);
            }
        }
        Ok(())
    }

    fn send_to_session(
        &mut self,
        number: u64,
        session: u64,
        received: &Received,
        new_session_id: Option<String>,
    ) -> Result<(), Rejection> {
        self.record_use(session);
        let Some(open) = self.sessions.get_mut(&session) else { return Ok(()) };
        let (key, rewritten) = open.add_call(number, received)?;
        let queued = if open.stream.is_none() { open.take_queued() } else { Vec::new() };
        if let Some(text) = rewritten {
            self.effects.push(ListenerEffect::Message(session, text));
        }
        self.requests.insert(number, Request::Post(Post { session, key, new_session_id, is_stream: false }));
        for text in queued {
            self.send_event(number, &text);
        }
        Ok(())
    }

    fn open_session(&mut self, id: Option<String>) -> Result<u64, Rejection> {
        if self.sessions.len() + self.ending.len() >= self.most_sessions + MAX_ENDING {
            return Err(Rejection::new(
                503,
                SERVER_ERROR,
                "expected former sessions to have ended, found many that are still ending",
            ));
        }
        if self.sessions.len() >= self.most_sessions {
            let unused = self
                .sessions
                .iter()
                .filter(|(session, open)| open.connections().is_empty() && !self.is_read(**session));
            let Some(oldest) = unused.min_by_key(|(_, open)| open.last_use).map(|(session, _)| *session) else {
                let why = format!("expected at most {} sessions with open requests, found more", self.most_sessions);
                return Err(Rejection::new(503, SERVER_ERROR, &why));
            };
            self.log(&format!("session {oldest} has ended: it was unused for longest, and another one begins"));
            self.close_session(oldest, "another session has begun");
        }
        self.last_session += 1;
        let session = self.last_session;
        if id.is_none() {
            self.shared = Some(session);
        }
        self.sessions.insert(session, Session::new(id));
        self.effects.push(ListenerEffect::Open(session));
        self.effects.push(ListenerEffect::Alarm(session, PAUSE * 1000));
        Ok(session)
    }

    fn is_read(&self, session: u64) -> bool {
        self.requests
            .values()
            .any(|request| matches!(request, Request::Reading { session: Some(of), .. } if *of == session))
    }

    fn record_use(&mut self, session: u64) {
        self.uses += 1;
        if let Some(open) = self.sessions.get_mut(&session) {
            (open.last_use, open.idle_alarms) = (self.uses, 0);
        }
    }

    fn close_session(&mut self, session: u64, why: &str) {
        if self.sessions.contains_key(&session) {
            self.end_session(session, why);
            self.ending.insert(session);
            self.effects.push(ListenerEffect::Close(session));
        }
    }

    fn end_session(&mut self, session: u64, why: &str) {
        let Some(open) = self.sessions.remove(&session) else { return };
        if self.shared == Some(session) {
            self.shared = None;
        }
        for (number, id) in open.unanswered() {
            self.tell_no_id(number);
            self.answer_post(number, &error(&id, SERVER_ERROR, why));
        }
        if let Some(number) = open.stream {
            self.end(number);
        }
    }

    /// Removes the session id from a response whose session has ended.
    fn tell_no_id(&mut self, number: u64) {
        if let Some(Request::Post(post)) = self.requests.get_mut(&number) {
            post.new_session_id = None;
        }
    }

    fn answer_post(&mut self, number: u64, text: &str) {
        let Some(Request::Post(post)) = self.requests.get(&number) else { return };
        if post.is_stream {
            self.send_event(number, text);
            return self.end(number);
        }
        let is_shared = self.shared == Some(post.session);
        let mut headers = own_headers(200, JSON);
        headers.extend(post.new_session_id.clone().map(|id| (SESSION.to_string(), id.into_bytes())));
        let status = if is_shared { status_of(text) } else { 200 };
        self.requests.remove(&number);
        self.answer(number, status, &headers, text.into());
    }

    fn send_event(&mut self, number: u64, text: &str) {
        let session = match self.requests.get(&number) {
            Some(Request::Post(post)) => post.session,
            Some(Request::Get(session)) => *session,
            _ => return,
        };
        self.begin_stream(number);
        self.write(session, number, as_event(text));
    }

    fn write(&mut self, session: u64, number: u64, text: String) {
        let session = if self.shared == Some(session) { 0 } else { session };
        self.effects.push(ListenerEffect::Write(session, number, text));
    }

    fn begin_stream(&mut self, number: u64) {
        let Some(Request::Post(post)) = self.requests.get_mut(&number) else { return };
        if !std::mem::replace(&mut post.is_stream, true) {
            let headers = stream_headers(post.new_session_id.as_deref());
            self.begin(number, 200, &headers);
        }
    }

    fn begin(&mut self, number: u64, status: u16, headers: &Headers) {
        self.effects.push(ListenerEffect::Head(number, json::write(&head(status, headers))));
    }

    fn end(&mut self, number: u64) {
        self.requests.remove(&number);
        self.effects.push(ListenerEffect::End(number));
    }

    fn reject(&mut self, number: u64, rejection: &Rejection) {
        let mut headers = own_headers(rejection.status, JSON);
        if rejection.status == 405 {
            headers.push(("Allow".into(), "GET, POST, DELETE".into()));
        }
        self.answer(number, rejection.status, &headers, rejection.body());
    }

    fn answer(&mut self, number: u64, status: u16, headers: &Headers, body: String) {
        let mut headers = headers.clone();
        if status != 204 {
            headers.push(("Content-Length".into(), body.len().to_string().into_bytes()));
        }
        self.effects.push(ListenerEffect::Answer(number, json::write(&head(status, &headers)), body));
    }

    fn log(&mut self, line: &str) {
        self.effects.push(ListenerEffect::Log(escaped_lines(&format!("toolwire: {line}"))));
    }
}

fn demand_readable(headers: &Headers) -> Result<(), Rejection> {
    require_types(headers, &[JSON, STREAM])?;
    let unsupported = |why| Err(Rejection::new(415, PARSE_ERROR, why));
    if !headers::is_json(headers) {
        return unsupported("expected the content type `application/json`, found another");
    }
    if headers::value(headers, "content-encoding").is_some_and(|found| !found.eq_ignore_ascii_case("identity")) {
        return unsupported("expected a body without a content encoding, found one");
    }
    let length: Option<u64> = headers::value(headers, "content-length").and_then(|text| text.parse().ok());
    if length.is_some_and(|length| length > MAX_BODY) {
        let why = format!("expected a body of at most {MAX_BODY} bytes, found a larger one");
        return Err(Rejection::new(413, INVALID_REQUEST, &why));
    }
    Ok(())
}

fn require_types(headers: &Headers, kinds: &[&str]) -> Result<(), Rejection> {
    let accepted = headers::joined(headers, "accept").unwrap_or_default().to_ascii_lowercase();
    let accepts = |kind: &&str| {
        let range = kind.split('/').next().map(|range| format!("{range}/*")).unwrap_or_default();
        let mut names = accepted.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
        names.any(|name| name == *kind || name == range || name == "*/*")
    };
    match kinds.iter().find(|kind| !accepts(kind)) {
        Some(kind) => {
            let why = format!("expected `Accept` to include {}, found no {kind}", kinds.join(" and "));
            Err(Rejection::new(406, SERVER_ERROR, &why))
        }
        None => Ok(()),
    }
}

fn stream_headers(session: Option<&str>) -> Headers {
    let mut headers = own_headers(200, STREAM);
    // Without this header, some reverse proxies buffer events.
    headers.push(("X-Accel-Buffering".into(), "no".into()));
    headers.extend(session.map(|id| (SESSION.to_string(), id.as_bytes().to_vec())));
    headers
}

/// Returns a message as an event. JSON contains line ends only outside strings, so they become spaces.
fn as_event(text: &str) -> String {
    let line = text.replace(['\r', '\n'], " ");
    format!("event: message\ndata: {line}\n\n")
}

fn status_of(text: &str) -> u16 {
    let read = json::read(text).ok();
    let code = read.as_ref().and_then(|node| node.get("error")?.get("code")?.as_number()?.parse().ok());
    if code.is_some_and(|code| MODERN_ERRORS.contains(&code)) {
        return 400;
    }
    STATUSES.iter().find(|(of, _)| Some(*of) == code).map_or(200, |(_, status)| *status)
}

/// An action for the host. The host numbers requests, and the listener numbers sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenerEffect {
    /// Reads the body of a request of at most this many bytes, then calls [`Listener::body`](super::Listener::body), or
    /// [`Listener::unread`](super::Listener::unread) if that fails.
    Read(u64, u64),
    /// Answers a request: `{ status, headers }` as JSON, and the body.
    Answer(u64, String, String),
    /// Starts the response to a request: `{ status, headers }` as JSON.
    Head(u64, String),
    /// Writes a piece of a response of this session. If the client does not read, the session's servers are paused. The
    /// servers of session 0, which all clients share, are never paused; instead, the response ends if too much of it is
    /// unsent.
    Write(u64, u64, String),
    /// Ends the response.
    End(u64),
    /// Starts a proxy for a new session. Its messages for the client are passed to
    /// [`Listener::message`](super::Listener::message). If it cannot be started, the host calls
    /// [`Listener::ended`](super::Listener::ended).
    Open(u64),
    /// Passes a message to the proxy of a session, as if its client had sent it.
    Message(u64, String),
    /// Passes the body just received to the proxy of a session, byte for byte. The second number is the number of the
    /// request.
    Pass(u64, u64),
    /// Stops the proxy of a session. The host calls [`Listener::ended`](super::Listener::ended) when the proxy's
    /// servers have ended.
    Close(u64),
    /// Calls [`Listener::alarm`](super::Listener::alarm) with this session after a delay in milliseconds.
    Alarm(u64, u64),
    /// Writes a line to standard error.
    Log(String),
}

impl ListenerEffect {
    /// Returns the effect as strings, for the bindings: its kind; the applicable members of `{ request, session, most,
    /// delay, status, headers }` as JSON, or an empty string; and a string.
    pub fn words(self) -> [String; 3] {
        let (kind, about, text) = match self {
            ListenerEffect::Read(request, most) => ("read", numbers([("request", request), ("most", most)]), None),
            ListenerEffect::Answer(request, head, body) => ("answer", with_head(request, &head), Some(body)),
            ListenerEffect::Head(request, head) => ("head", with_head(request, &head), None),
            ListenerEffect::Write(session, request, text) => {
                ("write", numbers([("request", request), ("session", session)]), Some(text))
            }
            ListenerEffect::End(request) => ("end", numbers([("request", request)]), None),
            ListenerEffect::Open(session) => ("open", numbers([("session", session)]), None),
            ListenerEffect::Message(session, text) => ("message", numbers([("session", session)]), Some(text)),
            ListenerEffect::Pass(session, request) => {
                ("pass", numbers([("session", session), ("request", request)]), None)
            }
            ListenerEffect::Close(session) => ("close", numbers([("session", session)]), None),
            ListenerEffect::Alarm(session, delay) => ("alarm", numbers([("session", session), ("delay", delay)]), None),
            ListenerEffect::Log(line) => ("log", String::new(), Some(line)),
        };
        [kind.into(), about, text.unwrap_or_default()]
    }
}

fn numbers<const N: usize>(members: [(&'static str, u64); N]) -> String {
    json::write(&record(members.map(|(name, number)| (name, Node::count(number)))))
}

fn with_head(request: u64, head: &str) -> String {
    let mut about = json::read(head).unwrap_or_default();
    about.set("request", Node::count(request));
    json::write(&about)
}
