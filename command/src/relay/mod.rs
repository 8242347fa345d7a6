//! `toolwire relay`: sits between an agent and a model API, adapts requests, and restores replies.
//!
//! The relay takes requests, replies and pieces of both, and returns actions for the host, which owns the sockets and
//! timers. The relay decides what a client receives, and which upstream each request is sent to, with which headers.

mod journal;
mod metrics;
mod open;
mod settings;
mod upstream;

use std::{borrow::Cow, collections::BTreeMap};

use toolwire::{
    internal,
    json::{self, Node},
    Code, ToolListCache,
};

use self::{
    journal::Journal,
    metrics::{Metrics, Outcome},
    open::{Open, Stage},
    upstream::{first, has_path, model_of, route, with_model},
};
use super::http::Door;
use crate::{
    document::record,
    escaped_lines,
    http::{
        headers::{self, head, Headers},
        own_headers,
    },
    terminal::{cut, shown},
};

pub(crate) use self::{
    settings::{run, Settings},
    upstream::Upstream,
};

/// Maximum size of a body that is read, in bytes.
const MAX_BODY: u64 = 64 << 20;
/// Prefix of the relay's own pages.
const OWN: &str = "/toolwire/";
const HEALTH: &str = "/toolwire/health";
/// Maximum total size of the bodies in memory, in bytes.
const MAX_BODIES: u64 = 512 << 20;
/// Maximum length of a model name, in bytes.
const MAX_NAME: usize = 256;
const BYTE_ORDER_MARK: char = '\u{feff}';
const JSON: &str = "application/json";
/// Supported content encodings of bodies.
const ENCODINGS: [&str; 5] = ["gzip", "x-gzip", "deflate", "br", "zstd"];

/// An action for the host, about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayEffect {
    /// Answers the client, and closes the request: `{ status, headers }` as JSON, and the body.
    Answer(String, String),
    /// Reads the client's body to its end, then calls [`Relay::body`]: `{ most, encoding }` as JSON. Calls
    /// [`Relay::received`] after each piece. If the body has more bytes than `most`, compressed or not, or cannot be
    /// decompressed, calls [`Relay::unread`] instead.
    Read(String),
    /// Sends the request to an upstream, with the client's body as it arrives: `{ upstream, method, target, headers }`
    /// as JSON. After the head of the reply, [`Relay::reply`] is called.
    Forward(String),
    /// Same as [`RelayEffect::Forward`], with the body that was given to [`Relay::body`], byte for byte.
    SendBody(String),
    /// Same as [`RelayEffect::Forward`], with this body.
    Send(String, String),
    /// Starts the reply to the client: `{ status, headers }` as JSON.
    Head(String),
    /// Forwards the body of the reply as it arrives, byte for byte, and then closes the request.
    Through,
    /// Reads the body of the reply to its end, then calls [`Relay::whole`]: `{ most, encoding }` as JSON. Calls
    /// [`Relay::received`] after each piece.
    Collect(String),
    /// Calls [`Relay::piece`] with each piece of the body, and then [`Relay::end`]: `{ encoding }` as JSON.
    Feed(String),
    /// Writes a piece of the reply to the client.
    Write(String),
    /// Ends the reply, and closes the request.
    End,
    /// Aborts the client's connection, so that the client does not consider the partial reply complete.
    Abort,
    /// Writes a line to standard error.
    Log(String),
    /// Appends a line to the report file, if there is one.
    Report(String),
}

impl RelayEffect {
    /// Returns the effect as strings, for the bindings: its kind, JSON or an empty string, and a string.
    pub fn words(self) -> [String; 3] {
        let (kind, about, text) = match self {
            RelayEffect::Answer(head, body) => ("answer", head, body),
            RelayEffect::Read(how) => ("read", how, String::new()),
            RelayEffect::Forward(request) => ("forward", request, String::new()),
            RelayEffect::SendBody(request) => ("send-body", request, String::new()),
            RelayEffect::Send(request, body) => ("send", request, body),
            RelayEffect::Head(head) => ("head", head, String::new()),
            RelayEffect::Through => ("through", String::new(), String::new()),
            RelayEffect::Collect(how) => ("collect", how, String::new()),
            RelayEffect::Feed(how) => ("feed", how, String::new()),
            RelayEffect::Write(text) => ("write", String::new(), text),
            RelayEffect::End => ("end", String::new(), String::new()),
            RelayEffect::Abort => ("abort", String::new(), String::new()),
            RelayEffect::Log(line) => ("log", String::new(), line),
            RelayEffect::Report(line) => ("report", String::new(), line),
        };
        [kind.into(), about, text]
    }
}

/// The state of a relay. After a request, only counters and the names of changed items are kept.
///
/// ```
/// use toolwire_command::{Relay, RelayEffect};
/// let mut relay = Relay::new(r#"{"upstreams": [{"url": "http://localhost:8080"}]}"#, None);
/// let head = r#"{"method": "GET", "target": "/v1/models", "headers": [["Host", "localhost:8787"]]}"#;
/// let forward = r#"{"upstream":0,"method":"GET","target":"/v1/models","headers":[["Host","localhost:8080"]]}"#;
/// assert_eq!(relay.request(1, head), [RelayEffect::Forward(forward.into())]);
/// ```
pub struct Relay {
    settings: Settings,
    door: Door,
    /// Options for the requests of each upstream.
    options: Vec<toolwire::ExchangeOptions>,
    lists: ToolListCache,
    /// Requests without a complete reply, by the host's numbers.
    open: BTreeMap<u64, Open>,
    metrics: Metrics,
    journal: Journal,
}

impl Relay {
    /// Creates a relay from the command's settings and the token that clients have to send, if one is required.
    pub fn new(settings: &str, token: Option<&str>) -> Relay {
        let settings = Settings::read(settings);
        let door = Door { is_loopback: settings.listen.is_loopback(), token: token.map(String::from) };
        let options = settings.upstreams.iter().map(Upstream::options).collect();
        let (lists, open) = (ToolListCache::default(), BTreeMap::new());
        Relay { settings, door, options, lists, open, metrics: Metrics::default(), journal: Journal::default() }
    }

    /// Handles the head of a request with the host's number: `{ method, target, headers, time, local }` as JSON. Each
    /// header is a pair of strings; each byte of a value is one character. `time` is shown to people. `local` is true
    /// if the client runs on this machine.
    pub fn request(&mut self, number: u64, head: &str) -> Vec<RelayEffect> {
        let head = json::read(head).unwrap_or_default();
        let text = |key: &str| head.text_at(key).map(|text| text.display().into_owned());
        let (method, target) = (text("method").unwrap_or_default(), text("target").unwrap_or_default());
        let headers = headers::read(head.get("headers"));
        let path = target.split('?').next().unwrap_or_default();
        let mut open = Open::new(&method, path, text("time").unwrap_or_default());
        if path == HEALTH && method == "GET" {
            // An orchestrator's probes come from other machines, without a token. The answer reveals nothing.
            return Vec::from([own_answer(200, "text/plain; charset=utf-8", "ok\n".into())]);
        }
        if let Some((status, message)) = self.door.refusal(&headers) {
            // Refused requests are only counted, because they must not fill the page or the report.
            self.metrics.count(Outcome::Refused);
            return Vec::from([own_answer(status, JSON, failure(&cut(&message, 300)))]);
        }
        if !target.starts_with('/') {
            return self.refused(open, 400, "expected a path, found another target: URLs are not forwarded");
        }
        if let Some(page) = path.strip_prefix(OWN) {
            // A request with forwarding headers did not originate on this machine. With a token, requests are allowed
            // from anywhere.
            let is_forwarded = ["forwarded", "x-forwarded-for"].iter().any(|name| headers::count(&headers, name) > 0);
            let is_local = head.bool_at("local") == Some(true) && !is_forwarded;
            return self.own(open, page, is_local || self.door.token.is_some());
        }
        if self.open.len() >= self.settings.most_clients {
            let message = format!("expected at most {} requests at once, found more", self.settings.most_clients);
            return self.refused(open, 503, &message);
        }
        let of_path = model_in(path);
        // Some clients send JSON with another content type.
        let is_read = method == "POST" && (may_have_tools(&headers) || internal::api_of(&target).is_some());
        let upstreams = &self.settings.upstreams;
        // The model may be in the body.
        let routed = route(upstreams, path, of_path.as_deref()).or_else(|| first(upstreams, path).filter(|_| is_read));
        let Some((at, upstream)) = routed else {
            let message = match &of_path {
                _ if !has_path(upstreams, path) => {
                    format!("expected a path of an upstream, found `{}`", cut(path, 100))
                }
                Some(model) => no_model(model),
                None => NO_MODEL.into(),
            };
            return self.refused(open, 404, &message);
        };
        if upstream.is_left_by(path) {
            return self.refused(
                open,
                400,
                "expected a path without `.`, `..` and `\\` between its slashes, found one",
            );
        }
        open.go(at, upstream, &target, headers);
        if is_read {
            let how = match packed(&open.headers) {
                Ok(encoding) => reading(encoding),
                Err(found) => {
                    let message = format!("expected the content encoding gzip, deflate, br or zstd, found `{found}`");
                    return self.refused(open, 415, &message);
                }
            };
            open.stage = Stage::Reading;
            let length = headers::value(&open.headers, "content-length").and_then(|text| text.parse().ok());
            open.request_bytes = length.unwrap_or_default();
            if open.request_bytes > MAX_BODY {
                let message = format!("expected a body of at most {MAX_BODY} bytes, found a larger one");
                return self.refused(open, 413, &message);
            }
            if self.is_full(open.request_bytes) {
                return self.refused(open, 503, FULL);
            }
            self.open.insert(number, open);
            return Vec::from([RelayEffect::Read(how)]);
        }
        open.stage = Stage::Sent;
        self.metrics.count(Outcome::Passed);
        let effect = RelayEffect::Forward(open.request());
        self.open.insert(number, open);
        Vec::from([effect])
    }

    /// Counts `length` decompressed bytes of the body that is being read, of the request or of the reply. If the result
    /// has effects, the host stops reading and performs them.
    pub fn received(&mut self, number: u64, length: u64) -> Vec<RelayEffect> {
        let Some(open) = self.open.get_mut(&number).filter(|open| open.stage != Stage::Ended) else {
            return Vec::new();
        };
        let is_request = open.stage == Stage::Reading;
        open.received += length;
        if is_request {
            // Until the body is longer than declared, its room is already reserved.
            open.request_bytes = open.request_bytes.max(open.received);
        } else {
            open.reply_bytes = open.received;
        }
        if !self.is_full(0) {
            return Vec::new();
        }
        if is_request {
            return self.open.remove(&number).map(|open| self.refused(open, 503, FULL)).unwrap_or_default();
        }
        self.failed(number, false, FULL_REPLY)
    }

    /// Handles the decompressed body of a request.
    pub fn body(&mut self, number: u64, body: &[u8]) -> Vec<RelayEffect> {
        let Some(mut open) = self.open.remove(&number) else { return Vec::new() };
        open.request_bytes = body.len() as u64;
        open.received = 0;
        if self.is_full(open.request_bytes) {
            return self.refused(open, 503, FULL);
        }
        let text = std::str::from_utf8(body).ok().map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
        let node = text.and_then(|text| json::read(text).ok());
        let is_json_text = node.is_some();
        let model = node.as_ref().and_then(model_of).or_else(|| model_in(&open.path));
        let model = model.filter(|model| model.len() <= MAX_NAME);
        open.entry.model = model.as_deref().map(|model| cut(model, 100).into_owned()).unwrap_or_default();
        let Some((at, upstream)) = route(&self.settings.upstreams, &open.path, model.as_deref()) else {
            return self.refused(open, 404, &model.as_deref().map_or(NO_MODEL.into(), no_model));
        };
        open.change(at, upstream);
        let mut renamed = None;
        if let Some((model, name)) = model.as_deref().and_then(|model| Some((model, upstream.renamed(model)?))) {
            open.rename(model, name);
            renamed = node.filter(|node| node.get("model").is_some()).map(|node| with_model(node, name));
        }
        if let Some(why) = upstream::refusal(&open.origin, open.target()) {
            let error = toolwire::Error::new(Code::InvalidRequest, "", why);
            return self.refused_as(open, &error);
        }
        // A body that says that it is something else than JSON, and is, passes as it came.
        let is_json = may_have_tools(&open.headers) || renamed.is_some() || is_json_text;
        let request = renamed.as_deref().or(text).filter(|_| is_json);
        let options = self.options.get(open.upstream);
        let opened = match request.zip(options) {
            Some((text, options)) => open.adapt(text, options, &self.lists),
            None => Ok(()),
        };
        if let Err(error) = opened {
            return self.refused_as(open, &error);
        }
        let mut effects = self.note_changes(&mut open);
        let changed = open.exchange.as_ref().is_some_and(|exchange| Some(exchange.request()) != request);
        self.metrics.count(match (&open.exchange, changed) {
            (None, _) => Outcome::Passed,
            (Some(_), true) => Outcome::Adapted,
            (Some(_), false) => Outcome::Unchanged,
        });
        if open.exchange.is_some() && !changed && open.needs_no_restoring() {
            open.exchange = None;
        }
        open.stage = Stage::Sent;
        effects.push(match (&open.exchange, renamed) {
            (Some(exchange), _) if changed => open.send(exchange.request()),
            (_, Some(renamed)) => open.send(&renamed),
            _ => open.send_body(body.len()),
        });
        self.open.insert(number, open);
        effects
    }

    /// Handles a request whose body could not be read. `status` is 408, 413 or 415; `why` is the reason, for people.
    pub fn unread(&mut self, number: u64, status: u16, why: &str) -> Vec<RelayEffect> {
        let Some(open) = self.open.remove(&number) else { return Vec::new() };
        self.refused(open, status, why)
    }

    /// Handles the head of a reply: its status, and its headers as JSON.
    pub fn reply(&mut self, number: u64, status: u16, headers: &str) -> Vec<RelayEffect> {
        if !(200..=999).contains(&status) {
            // Hosts cannot send such a status.
            return self.failed(number, false, &format!("the status of its reply is {status}"));
        }
        *self.metrics.replies.entry(status).or_default() += 1;
        let Some(open) = self.open.get_mut(&number) else { return Vec::new() };
        let headers = headers::read(json::read(headers).ok().as_ref());
        open.entry.status = Some(status);
        let has_no_path = matches!(status, 404 | 405) && open.exchange.is_some();
        let hint = format!("{} has no {}: does it support this protocol?", open.origin, open.entry.path);
        let mut effects = open.reply(status, headers);
        if has_no_path && self.journal.is_new(&hint) {
            effects.insert(0, log(&hint));
        }
        effects
    }

    /// Handles the complete body of a reply.
    pub fn whole(&mut self, number: u64, body: &[u8]) -> Vec<RelayEffect> {
        let Some(open) = self.open.get_mut(&number) else { return Vec::new() };
        let effects = open.whole(&String::from_utf8_lossy(body));
        self.go_on(number, effects)
    }

    /// Handles a piece of a streamed reply.
    pub fn piece(&mut self, number: u64, piece: &[u8]) -> Vec<RelayEffect> {
        let Some(open) = self.open.get_mut(&number) else { return Vec::new() };
        let effects = open.piece(piece);
        self.go_on(number, effects)
    }

    /// Handles the end of a streamed reply.
    pub fn end(&mut self, number: u64) -> Vec<RelayEffect> {
        let Some(open) = self.open.get_mut(&number) else { return Vec::new() };
        let effects = open.end();
        self.go_on(number, effects)
    }

    /// Handles the failure of an upstream, before or during its reply. `is_late` is true after a timeout.
    pub fn failed(&mut self, number: u64, is_late: bool, why: &str) -> Vec<RelayEffect> {
        self.metrics.failures += 1;
        let Some(open) = self.open.get_mut(&number) else { return Vec::new() };
        let effects = open.failed(is_late, &escaped_lines(why));
        let line = open.entry.error.as_ref().map(|error| log(&format!("{}: {error}", open.entry.path)));
        line.into_iter().chain(effects).collect()
    }

    /// Handles the end of a request. `spent` is the latency that the relay added, in microseconds.
    pub fn closed(&mut self, number: u64, spent: u64) -> Vec<RelayEffect> {
        let Some(open) = self.open.remove(&number) else { return Vec::new() };
        self.metrics.spent(spent);
        self.noted(open)
    }

    /// Returns the startup message, with the address.
    pub fn started(&self, address: &str) -> String {
        self.settings.greeting(address)
    }

    /// Returns true if another body of this length exceeds the limit, together with the bodies in memory.
    fn is_full(&self, length: u64) -> bool {
        let held = self.open.values().map(|open| open.request_bytes.saturating_add(open.reply_bytes));
        held.fold(length, u64::saturating_add) > MAX_BODIES
    }

    /// Counts and records the repaired calls of a step.
    fn go_on(&mut self, number: u64, effects: Vec<RelayEffect>) -> Vec<RelayEffect> {
        let Some(open) = self.open.get_mut(&number) else { return effects };
        let calls = open.take_repaired();
        self.metrics.repaired += calls.iter().filter(|call| !call.repairs.is_empty()).count() as u64;
        self.metrics.invalid += calls.iter().filter(|call| call.valid == Some(false)).count() as u64;
        open.entry.repaired(&calls);
        let asks_again = effects.iter().any(|effect| matches!(effect, RelayEffect::Send(..)));
        self.metrics.searches += u64::from(asks_again);
        effects
    }

    /// Counts and records the changes to a request, and returns the log lines.
    fn note_changes(&mut self, open: &mut Open) -> Vec<RelayEffect> {
        let Some(exchange) = &open.exchange else { return Vec::new() };
        let report = exchange.report();
        let mut effects = Vec::new();
        let mut tools: Vec<(&Option<String>, &str)> =
            report.changes.iter().map(|about| (&about.server, about.tool.as_str())).collect();
        tools.dedup();
        self.metrics.rewritten += tools.len() as u64;
        self.metrics.quarantined += report.quarantined.len() as u64;
        if let Some(warning) = exchange.warning() {
            if self.journal.is_new(&warning.key) {
                effects.push(log(&warning.message));
            }
        }
        if self.settings.verbose {
            effects.extend(self.journal.lines(report).iter().map(|line| log(line)));
        }
        open.entry.adapted(report);
        effects
    }

    /// Answers a request with the relay's own error.
    fn refused(&mut self, mut open: Open, status: u16, message: &str) -> Vec<RelayEffect> {
        open.entry.failed(message);
        self.answered(open, status, failure(message))
    }

    /// Refuses a request before it is sent, with an error in the format of its API.
    fn refused_as(&mut self, mut open: Open, error: &toolwire::Error) -> Vec<RelayEffect> {
        let refusal = toolwire::Exchange::refusal(&open.url(), error);
        open.entry.refused(error);
        self.answered(open, 400, refusal)
    }

    fn answered(&mut self, mut open: Open, status: u16, body: String) -> Vec<RelayEffect> {
        self.metrics.count(Outcome::Refused);
        open.entry.status = Some(status);
        let mut effects = self.noted(open);
        effects.insert(0, own_answer(status, JSON, body));
        effects
    }

    /// Records a finished request for the page, and returns its line of the report.
    fn noted(&mut self, open: Open) -> Vec<RelayEffect> {
        let line = self.settings.reports.then(|| RelayEffect::Report(open.entry.line()));
        self.journal.add(open.entry);
        line.into_iter().collect()
    }

    /// Answers a request for one of the relay's own pages.
    fn own(&mut self, open: Open, page: &str, is_local: bool) -> Vec<RelayEffect> {
        let is_read = open.entry.method == "GET" || open.entry.method == "HEAD";
        let (kind, body) = match page {
            _ if !is_read => return self.refused(open, 405, "expected GET, found another method"),
            "metrics" if is_local => ("text/plain; version=0.0.4; charset=utf-8", self.metrics.text(self.open.len())),
            "last" if is_local => ("text/html; charset=utf-8", self.journal.page()),
            "metrics" | "last" => return self.refused(open, 403, "expected a program on this machine, found another"),
            _ => {
                let message =
                    "expected `/toolwire/health`, `/toolwire/metrics` or `/toolwire/last`, found another path";
                return self.refused(open, 404, message);
            }
        };
        Vec::from([own_answer(200, kind, body)])
    }
}

const NO_MODEL: &str =
    "expected a request with a model of an upstream, found none: the upstreams here are chosen only by model";
const FULL: &str = "expected fewer large requests at once, found more";
const FULL_REPLY: &str = "it is too large while other large requests are open";

fn no_model(model: &str) -> String {
    format!("expected a model of an upstream, found `{}`", cut(model, 100))
}

/// Returns a log line, escaped so that terminals and CI runners do not interpret any of it as a command.
fn log(line: &str) -> RelayEffect {
    RelayEffect::Log(escaped_lines(&format!("toolwire: {}", shown(line))))
}

/// Returns true if a request with these headers may have tools: its body is JSON, or has no content type.
fn may_have_tools(headers: &Headers) -> bool {
    headers::is_json(headers) || headers::value(headers, "content-type").is_none()
}

/// Returns the body of an error that does not concern a request's content. The SDKs of all APIs find its message.
fn failure(message: &str) -> String {
    let error = record([
        ("type", Node::string("relay_error")),
        ("message", Node::string(format!("toolwire relay: {message}"))),
    ]);
    json::write(&record([("type", Node::string("error")), ("error", error)]))
}

/// Returns an answer that the relay itself writes.
fn own_answer(status: u16, kind: &str, body: String) -> RelayEffect {
    let mut list = own_headers(status, kind);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    if kind.starts_with("text/html") {
        list.push(("Content-Security-Policy".into(), policy.into()));
    }
    answer(status, list, body)
}

/// Returns an answer with its complete body.
fn answer(status: u16, mut list: Headers, body: String) -> RelayEffect {
    list.push(("Content-Length".into(), body.len().to_string()));
    RelayEffect::Answer(json::write(&head(status, &list)), body)
}

/// Returns the content encoding of a body. Fails if hosts cannot decode it.
fn packed(headers: &Headers) -> Result<Option<String>, String> {
    let all = headers::joined(headers, "content-encoding").unwrap_or_default().to_ascii_lowercase();
    let mut codings = all.split(',').map(str::trim).filter(|coding| !coding.is_empty() && *coding != "identity");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(None),
        (Some(one), None) if ENCODINGS.contains(&one) => Ok(Some(one.into())),
        _ => Err(cut(&all, 60).into_owned()),
    }
}

/// Returns `{ most, encoding }` as JSON.
fn reading(encoding: Option<String>) -> String {
    let encoding = encoding.map_or_else(Node::default, Node::string);
    json::write(&record([("most", Node::count(MAX_BODY)), ("encoding", encoding)]))
}

/// Returns the model in a path of Google's API: `…/models/NAME:generateContent`.
fn model_in(path: &str) -> Option<String> {
    let (before, _) = path.rsplit_once(':')?;
    let (above, name) = before.rsplit_once('/')?;
    (above.ends_with("/models") && !name.is_empty() && name.len() <= MAX_NAME).then(|| decoded(name).into_owned())
}

/// Decodes the percent-encoding of a path segment. A segment that is not UTF-8 stays encoded.
fn decoded(segment: &str) -> Cow<'_, str> {
    internal::percent_decoded(segment).unwrap_or(Cow::Borrowed(segment))
}
