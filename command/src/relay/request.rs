//! A request of a client, from its head to the end of its reply.

use std::sync::Arc;

use toolwire::{
    internal::{self, json},
    Code,
};

use super::{
    content_encoding,
    effect::{RelayEffect, RequestHead},
    failure, journal, log, may_have_tools,
    metrics::Outcome,
    model_in, no_model,
    open::{Open, Stage},
    own_answer, reading,
    upstream::{self, first, has_path, model_of, route, with_model},
    usage::{Share, Unsent},
    Shared, JSON, MAX_BODY, MAX_NAME, NO_MODEL,
};
use crate::{
    escaped_lines,
    http::{
        headers::{self, Headers},
        Refusal,
    },
    terminal::cut,
};

/// Prefix of the relay's own pages.
const OWN: &str = "/toolwire/";
const HEALTH: &str = "/toolwire/health";
const BYTE_ORDER_MARK: char = '\u{feff}';
const OUTSIDE_PATH: &str =
    "expected a path without `.` and `..` between its slashes and without `\\`, `?`, `#` and control \
    characters, even encoded; found one";
const FULL: &str = "expected fewer large requests at once, found more";
const FULL_REPLY: &str = "it is too large while other large requests are open";

/// A request that a host serves. It contains its whole state, so that a host may call it on any thread, and drop it
/// after a panic.
pub struct RelayRequest {
    shared: Arc<Shared>,
    /// `None` after the relay's own answer, and after the end of the reply.
    open: Option<Box<Open>>,
}

impl RelayRequest {
    pub(super) fn begin(shared: Arc<Shared>, head: RequestHead) -> (RelayRequest, Vec<RelayEffect>) {
        let mut request = RelayRequest { shared, open: None };
        let effects = request.head(head);
        (request, effects)
    }

    fn head(&mut self, head: RequestHead) -> Vec<RelayEffect> {
        let RequestHead { method, target, authority, headers, time, is_local } = head;
        let path = target.split('?').next().unwrap_or_default();
        if path == HEALTH && method == "GET" {
            // An orchestrator's probes come from other machines, without a token. The answer reveals nothing.
            return Vec::from([own_answer(200, "text/plain; charset=utf-8", "ok\n".into())]);
        }
        let allowed = with_host(headers::printable(headers), authority.as_deref());
        let allowed = allowed.and_then(|headers| match self.shared.door.refusal(&headers) {
            Some(refusal) => Err(refusal),
            None => Ok(headers),
        });
        let headers = match allowed {
            Ok(headers) => headers,
            Err((status, message)) => {
                // Refused requests are only counted, because they must not fill the page or the report.
                self.shared.metrics().count(Outcome::Refused);
                return Vec::from([own_answer(status, JSON, failure(&cut(&message, 300)))]);
            }
        };
        let mut open = Box::new(Open::new(&method, path, time));
        if !target.starts_with('/') {
            return self.refuse(*open, 400, "expected a path, found another target: URLs are not forwarded");
        }
        if let Some(page) = path.strip_prefix(OWN) {
            // A request with forwarding headers did not originate on this machine. With a token, requests are allowed
            // from anywhere.
            let is_forwarded = ["forwarded", "x-forwarded-for"].iter().any(|name| headers::count(&headers, name) > 0);
            let is_local = is_local && !is_forwarded;
            return self.own_page(*open, page, is_local || self.shared.door.token.is_some());
        }
        let most = self.shared.settings.most_clients;
        open.share = Share::of(&self.shared.counts.usage, most);
        if open.share.is_none() {
            return self.refuse(*open, 503, &format!("expected at most {most} requests at once, found more"));
        }
        let of_path = model_in(path);
        // Some clients send JSON with another content type.
        let is_read = method == "POST" && (may_have_tools(&headers) || internal::api_of(&target).is_some());
        let shared = self.shared.clone();
        let upstreams = &shared.settings.upstreams;
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
            return self.refuse(*open, 404, &message);
        };
        if upstream.is_left_by(path) {
            return self.refuse(*open, 400, OUTSIDE_PATH);
        }
        open.set_client_head(at, upstream, &target, headers);
        let note = internal::note(&method, &target).filter(|note| self.shared.journal().record_if_new(note));
        let mut effects: Vec<RelayEffect> = note.into_iter().map(log).collect();
        if is_read {
            let how = match content_encoding(&open.headers) {
                Ok(encoding) => reading(encoding),
                Err(found) => {
                    let message = format!("expected the content encoding gzip, deflate, br or zstd, found `{found}`");
                    return self.refuse(*open, 415, &message);
                }
            };
            open.stage = Stage::Reading;
            let length = headers::value(&open.headers, "content-length").and_then(|text| text.parse().ok());
            open.request_bytes = length.unwrap_or_default();
            if open.request_bytes > MAX_BODY {
                let message = format!("expected a body of at most {MAX_BODY} bytes, found a larger one");
                return self.refuse(*open, 413, &message);
            }
            if !open.count_bytes() {
                return self.refuse(*open, 503, FULL);
            }
            self.open = Some(open);
            effects.push(RelayEffect::Read(how));
            return effects;
        }
        open.stage = Stage::Sent;
        self.shared.metrics().count(Outcome::Passed);
        effects.push(RelayEffect::Forward(open.request()));
        self.open = Some(open);
        effects
    }

    /// Returns false after the relay's own answer, and after the end.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Counts `length` decompressed bytes of the body that is being read, of the request or of the reply. If the result
    /// has effects, the host stops reading and performs them.
    pub fn received(&mut self, length: u64) -> Vec<RelayEffect> {
        let Some(open) = self.open.as_mut().filter(|open| open.stage != Stage::Ended) else {
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
        if open.count_bytes() {
            return Vec::new();
        }
        if is_request {
            return self.open.take().map(|open| self.refuse(*open, 503, FULL)).unwrap_or_default();
        }
        let is_late = false;
        self.failed(is_late, FULL_REPLY)
    }

    /// Handles the decompressed body of a request.
    pub fn body(&mut self, body: &[u8]) -> Vec<RelayEffect> {
        let Some(mut open) = self.open.take() else { return Vec::new() };
        let shared = self.shared.clone();
        open.request_bytes = body.len() as u64;
        open.received = 0;
        if !open.count_bytes() {
            return self.refuse(*open, 503, FULL);
        }
        let text = std::str::from_utf8(body).ok().map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
        let outline = text.and_then(|text| internal::outline(&open.path, text));
        let is_plain = outline.as_ref().is_some_and(|outline| outline.is_plain);
        let mut node = text.filter(|_| outline.is_none()).and_then(|text| json::read(text).ok());
        let body_model = outline.and_then(|outline| outline.model).or_else(|| node.as_ref().and_then(model_of));
        let model = body_model.or_else(|| model_in(&open.path));
        let model = model.filter(|model| model.len() <= MAX_NAME);
        open.entry.model = model.as_deref().map(|model| cut(model, 100).into_owned()).unwrap_or_default();
        let Some((at, upstream)) = route(&shared.settings.upstreams, &open.path, model.as_deref()) else {
            return self.refuse(*open, 404, &model.as_deref().map_or(NO_MODEL.into(), no_model));
        };
        if upstream.is_left_by(&open.path) {
            // The upstream that was known before the model may have had no base path.
            return self.refuse(*open, 400, OUTSIDE_PATH);
        }
        open.set_upstream(at, upstream);
        let mut renamed = None;
        if let Some((model, name)) = model.as_deref().and_then(|model| Some((model, upstream.name_for_model(model)?))) {
            open.rename(model, name);
            node = node.or_else(|| json::read(text?).ok());
            renamed = node.take().filter(|node| node.get("model").is_some()).map(|node| with_model(node, name));
        }
        if let Some(why) = upstream::refusal(&open.origin, open.target()) {
            let error = toolwire::Error::new(Code::InvalidRequest, "", why);
            return self.refuse_as(*open, &error);
        }
        open.is_conversation = is_plain;
        if is_plain && renamed.is_none() && !open.has_known_betas() {
            return self.forward_unchanged(open, body.len());
        }
        // A body with another content type than JSON, which is not JSON, is forwarded unchanged.
        let is_json = may_have_tools(&open.headers)
            || renamed.is_some()
            || node.is_some()
            || text.is_some_and(|text| json::read(text).is_ok());
        let request = renamed.as_deref().or(text).filter(|_| is_json);
        let options = shared.options.get(open.upstream);
        let opened = match request.zip(options) {
            Some((text, options)) => open.adapt(text, options, &shared.lists),
            None => Ok(()),
        };
        if let Err(error) = opened {
            return self.refuse_as(*open, &error);
        }
        open.is_conversation |= open.exchange.is_some();
        let mut effects = self.record_changes(&mut open);
        let changed = open.exchange.as_ref().is_some_and(|exchange| Some(exchange.request()) != request);
        shared.metrics().count(match (&open.exchange, changed) {
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
        self.open = Some(open);
        effects
    }

    /// Forwards the body and the reply unchanged.
    fn forward_unchanged(&mut self, mut open: Box<Open>, length: usize) -> Vec<RelayEffect> {
        self.shared.metrics().count(Outcome::Passed);
        open.stage = Stage::Sent;
        let effect = open.send_body(length);
        self.open = Some(open);
        Vec::from([effect])
    }

    /// Handles a request whose body could not be read. `status` is 408, 413 or 415; `why` is a human-readable reason.
    pub fn unread(&mut self, status: u16, why: &str) -> Vec<RelayEffect> {
        let Some(open) = self.open.take() else { return Vec::new() };
        self.refuse(*open, status, why)
    }

    /// Handles the head of a reply.
    pub fn reply(&mut self, status: u16, headers: Headers) -> Vec<RelayEffect> {
        if !(200..=999).contains(&status) {
            // Hosts cannot send such a status.
            let is_late = false;
            return self.failed(is_late, &format!("the status of its reply is {status}"));
        }
        *self.shared.metrics().replies.entry(status).or_default() += 1;
        let Some(open) = &mut self.open else { return Vec::new() };
        open.entry.status = Some(status);
        // Without a conversation, a resource may be missing instead of the path, for example a thread.
        let has_no_path = matches!(status, 404 | 405) && open.is_conversation;
        let hint = format!("{} has no {}: does it support this protocol?", open.origin, open.entry.path);
        let mut effects = open.reply(status, headers::printable(headers));
        open.count_bytes();
        if has_no_path && self.shared.journal().record_if_new(&hint) {
            effects.insert(0, log(&hint));
        }
        effects
    }

    /// Handles the complete body of a reply.
    pub fn whole(&mut self, body: &[u8]) -> Vec<RelayEffect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        // An effect is text, which cannot contain these bytes.
        let Ok(body) = std::str::from_utf8(body) else {
            let is_late = false;
            return self.failed(is_late, "its reply is not UTF-8");
        };
        let effects = open.whole(body);
        self.go_on(effects)
    }

    /// Handles a piece of a streamed reply.
    pub fn piece(&mut self, piece: &[u8]) -> Vec<RelayEffect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let effects = open.piece(piece);
        self.go_on(effects)
    }

    /// Handles the end of a streamed reply.
    pub fn end(&mut self) -> Vec<RelayEffect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let effects = open.end();
        self.go_on(effects)
    }

    /// Handles the failure of an upstream, before or during its reply. `is_late` is true after a timeout.
    pub fn failed(&mut self, is_late: bool, why: &str) -> Vec<RelayEffect> {
        self.shared.metrics().failures += 1;
        let Some(open) = &mut self.open else { return Vec::new() };
        let effects = open.failed(is_late, &escaped_lines(why));
        open.count_bytes();
        let line = open.entry.error.as_ref().map(|error| log(&format!("{}: {error}", open.entry.path)));
        line.into_iter().chain(effects).collect()
    }

    /// Counts bytes of the reply until the client has read them. The host drops the result when the client has.
    pub fn unsent(&self, length: usize) -> Unsent {
        Unsent::new(&self.shared.counts.usage, self.open.as_ref().and_then(|open| open.share.as_ref()), length)
    }

    /// Handles the end of a request. `spent` is the latency that the relay added, in microseconds.
    pub fn closed(&mut self, spent: u64) -> Vec<RelayEffect> {
        let Some(open) = self.open.take() else { return Vec::new() };
        self.shared.metrics().record_latency(spent);
        self.finish(*open)
    }

    /// Counts repairs and searches after a step. Ends the request if its reply is too large.
    fn go_on(&mut self, mut effects: Vec<RelayEffect>) -> Vec<RelayEffect> {
        let Some(open) = &mut self.open else { return effects };
        let calls = open.take_repaired();
        let is_full = !open.count_bytes() && open.stage != Stage::Ended;
        if is_full {
            // The model is not asked again.
            effects.retain(|effect| !matches!(effect, RelayEffect::Send(..)));
        }
        let asks_again = effects.iter().any(|effect| matches!(effect, RelayEffect::Send(..)));
        if !calls.is_empty() || asks_again {
            let mut metrics = self.shared.metrics();
            metrics.repaired += calls.iter().filter(|call| !call.repairs.is_empty()).count() as u64;
            metrics.invalid += calls.iter().filter(|call| call.valid == Some(false)).count() as u64;
            metrics.searches += u64::from(asks_again);
            open.entry.record_repairs(&calls);
        }
        if is_full {
            let is_late = false;
            effects.extend(self.failed(is_late, FULL_REPLY));
        }
        effects
    }

    fn record_changes(&mut self, open: &mut Open) -> Vec<RelayEffect> {
        let Some(exchange) = &open.exchange else { return Vec::new() };
        let report = exchange.report();
        let mut effects = Vec::new();
        let mut tools: Vec<(&Option<String>, &str)> =
            report.changes.iter().map(|about| (&about.server, about.tool.as_str())).collect();
        tools.dedup();
        let mut metrics = self.shared.metrics();
        metrics.rewritten += tools.len() as u64;
        metrics.quarantined += report.quarantined.len() as u64;
        drop(metrics);
        if let Some(warning) = exchange.warning() {
            if self.shared.journal().record_if_new(&warning.key) {
                effects.push(log(&warning.message));
            }
        }
        if self.shared.settings.verbose {
            let mut lines = journal::log_lines(report);
            let mut journal = self.shared.journal();
            lines.retain(|line| journal.record_if_new(line));
            drop(journal);
            effects.extend(lines.iter().map(|line| log(line)));
        }
        open.entry.record_changes(report);
        effects
    }

    fn refuse(&mut self, mut open: Open, status: u16, message: &str) -> Vec<RelayEffect> {
        open.entry.record_failure(message);
        self.answer_with(open, status, failure(message))
    }

    /// Refuses a request that was not sent. The error has the format of the request's API.
    fn refuse_as(&mut self, mut open: Open, error: &toolwire::Error) -> Vec<RelayEffect> {
        let refusal = toolwire::Exchange::refusal(&open.url(), error);
        open.entry.record_refusal(error);
        self.answer_with(open, 400, refusal)
    }

    fn answer_with(&mut self, mut open: Open, status: u16, body: String) -> Vec<RelayEffect> {
        self.shared.metrics().count(Outcome::Refused);
        open.entry.status = Some(status);
        let mut effects = self.finish(open);
        effects.insert(0, own_answer(status, JSON, body));
        effects
    }

    fn finish(&mut self, open: Open) -> Vec<RelayEffect> {
        let line = self.shared.settings.reports.then(|| RelayEffect::Report(open.entry.report_line()));
        self.shared.journal().add(open.entry);
        line.into_iter().collect()
    }

    fn own_page(&mut self, open: Open, page: &str, is_local: bool) -> Vec<RelayEffect> {
        let is_read = open.entry.method == "GET" || open.entry.method == "HEAD";
        let (kind, body) = match page {
            _ if !is_read => return self.refuse(open, 405, "expected GET, found another method"),
            "metrics" if is_local => (
                "text/plain; version=0.0.4; charset=utf-8",
                self.shared.metrics().text(self.shared.counts.usage.requests()),
            ),
            "last" if is_local => ("text/html; charset=utf-8", {
                let entries = self.shared.journal().entries();
                journal::html_page(&entries)
            }),
            "metrics" | "last" => return self.refuse(open, 403, "expected a program on this machine, found another"),
            _ => {
                let message =
                    "expected `/toolwire/health`, `/toolwire/metrics` or `/toolwire/last`, found another path";
                return self.refuse(open, 404, message);
            }
        };
        Vec::from([own_answer(200, kind, body)])
    }
}

/// Adds `Host` for the authority of HTTP/2 (RFC 9113, 8.3.1), or refuses a `Host` that differs from it.
fn with_host(mut headers: Headers, authority: Option<&str>) -> Result<Headers, Refusal> {
    let Some(authority) = authority else { return Ok(headers) };
    match headers::value(&headers, "host") {
        None => headers.insert(0, ("Host".into(), authority.into())),
        Some(host) if host.eq_ignore_ascii_case(authority) => {}
        Some(_) => return Err((400, "expected `Host` to be the authority of the request, found another".into())),
    }
    Ok(headers)
}
