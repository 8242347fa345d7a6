//! A request that is not answered yet.

use toolwire::{
    json::{self, Node},
    reports::RepairedCall,
    settle_deferral_betas, Error, Exchange, ExchangeOptions, ToolListCache,
};

use super::{
    answer, decoded, failure, journal::Entry, own_answer, packed, reading, upstream::Upstream, RelayEffect, JSON,
};
use crate::{
    document::record,
    http::headers::{self, head, Headers},
};

const BETAS: &str = "anthropic-beta";

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its body is read.
    Reading,
    /// It was sent, and nothing of the reply was passed on.
    Sent,
    /// The client has the head of a reply whose body is passed on as it comes.
    Passing,
    /// The client has the head of a stream that is restored.
    Streaming,
    Ended,
}

/// One request.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) stage: Stage,
    pub(super) entry: Entry,
    pub(super) upstream: usize,
    /// The path as the client wrote it.
    pub(super) path: String,
    /// Size of the body while it is read and adapted, in bytes.
    pub(super) length: u64,
    client_headers: Headers,
    client_target: String,
    /// As the upstream gets them.
    pub(super) headers: Headers,
    target: String,
    /// The URL of the upstream without path.
    pub(super) origin: String,
    pub(super) exchange: Option<Exchange>,
    /// Whether calls are repaired, so that a reply is read even if the request was not rewritten.
    repairs: bool,
    is_sent: bool,
    /// The head of a reply that is read to its end.
    held: Option<(u16, Headers)>,
}

impl Open {
    pub(super) fn new(method: &str, path: &str, time: String) -> Open {
        let entry = Entry::new(&time, method, path);
        Open {
            stage: Stage::Sent,
            entry,
            upstream: 0,
            path: path.into(),
            length: 0,
            client_headers: Headers::new(),
            client_target: String::new(),
            headers: Headers::new(),
            target: String::new(),
            origin: String::new(),
            exchange: None,
            repairs: false,
            is_sent: false,
            held: None,
        }
    }

    /// Sends it to an upstream.
    pub(super) fn go(&mut self, at: usize, upstream: &Upstream, target: &str, headers: Headers) {
        (self.client_headers, self.client_target) = (headers, target.into());
        self.change(at, upstream);
    }

    /// Sends it to another upstream, once its model is known.
    pub(super) fn change(&mut self, at: usize, upstream: &Upstream) {
        let address = &upstream.address;
        self.upstream = at;
        self.entry.upstream = address.url("");
        self.origin = address.url("");
        self.target = upstream.target(&self.client_target);
        self.headers = headers::of_request(self.client_headers.clone(), &address.authority());
    }

    /// Writes another model into its path.
    pub(super) fn rename(&mut self, model: &str, name: &str) {
        let end = self.target.find('?').unwrap_or(self.target.len());
        let (path, query) = self.target.split_at(end);
        let Some((before, method)) = path.rsplit_once(':') else { return };
        let Some((above, segment)) = before.rsplit_once('/') else { return };
        if above.ends_with("/models") && decoded(segment) == model {
            self.target = format!("{above}/{name}:{method}{query}");
        }
    }

    /// The path and the query at the upstream.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// The whole URL at the upstream.
    pub(super) fn url(&self) -> String {
        format!("{}{}", self.origin, self.target)
    }

    /// Opens the exchange, if the request can have tools.
    pub(super) fn adapt(&mut self, body: &str, options: &ExchangeOptions, lists: &ToolListCache) -> Result<(), Error> {
        self.exchange = Exchange::open_cached(&self.url(), body, options, lists)?;
        self.repairs = options.adapt.tools.repair.is_some();
        self.settle_betas();
        Ok(())
    }

    /// Settles the betas of deferred loading: a backend without native deferred loading rejects them.
    fn settle_betas(&mut self) {
        let Some(exchange) = &self.exchange else { return };
        let needed = exchange.report().deferred.as_ref().map(|report| report.betas.as_slice()).unwrap_or_default();
        let found = headers::joined(&self.headers, BETAS);
        match settle_deferral_betas(found.as_deref(), exchange.native(), needed) {
            Some(settled) if Some(&*settled) != found.as_deref() => {
                let settled = settled.into_owned();
                headers::set(&mut self.headers, BETAS, settled);
            }
            None if found.is_some() => self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(BETAS)),
            _ => {}
        }
    }

    /// Whether a reply to the request as it came needs no restoring.
    pub(super) fn needs_no_restoring(&self) -> bool {
        !self.repairs
    }

    /// `{ upstream, method, target, headers }`.
    pub(super) fn request(&self) -> String {
        self.request_with(&self.headers)
    }

    fn request_with(&self, headers: &Headers) -> String {
        json::write(&record([
            ("upstream", Node::count(self.upstream as u64)),
            ("method", Node::string(self.entry.method.clone())),
            ("target", Node::string(self.target.clone())),
            ("headers", headers::list(headers)),
        ]))
    }

    /// Sends the body that was read.
    pub(super) fn send_body(&self, length: usize) -> RelayEffect {
        let headers = headers::for_body(self.headers.clone(), length, self.exchange.is_some(), false);
        RelayEffect::SendBody(self.request_with(&headers))
    }

    /// Sends another body.
    pub(super) fn send(&self, body: &str) -> RelayEffect {
        let headers = headers::for_body(self.headers.clone(), body.len(), self.exchange.is_some(), self.is_sent);
        RelayEffect::Send(self.request_with(&headers), body.into())
    }

    /// Takes the head of a reply.
    pub(super) fn reply(&mut self, status: u16, came: Headers) -> Vec<RelayEffect> {
        let is_fine = (200..300).contains(&status);
        let encoding = packed(&came);
        if self.stage == Stage::Streaming {
            // A later round of a stream that the client has the beginning of.
            return match encoding {
                Ok(encoding) if is_fine && headers::is_stream(&came) => Vec::from([feeding(encoding)]),
                Ok(encoding) => Vec::from([RelayEffect::Collect(reading(encoding))]),
                Err(found) => self.failed(false, &unpackable(&found)),
            };
        }
        let kind = headers::value(&came, "content-type");
        let is_read = kind.is_none() || headers::is_stream(&came) || headers::is_json(&came);
        if self.exchange.is_none() || !is_fine || !is_read {
            if is_fine && self.exchange.is_some() {
                self.entry.unread(kind.unwrap_or_default());
            }
            self.exchange = None;
            self.stage = Stage::Passing;
            let headers = headers::of_reply(came, false);
            return Vec::from([RelayEffect::Head(json::write(&head(status, &headers))), RelayEffect::Through]);
        }
        let is_stream = headers::is_stream(&came);
        match encoding {
            Err(found) => self.failed(false, &unpackable(&found)),
            Ok(encoding) if is_stream => {
                self.stage = Stage::Streaming;
                let headers = headers::of_reply(came, true);
                Vec::from([RelayEffect::Head(json::write(&head(status, &headers))), feeding(encoding)])
            }
            Ok(encoding) => {
                self.held = Some((status, headers::of_reply(came, true)));
                Vec::from([RelayEffect::Collect(reading(encoding))])
            }
        }
    }

    /// Takes the whole body of a reply.
    pub(super) fn whole(&mut self, text: &str) -> Vec<RelayEffect> {
        let Some(exchange) = &mut self.exchange else { return Vec::new() };
        if self.stage == Stage::Streaming {
            self.stage = Stage::Ended;
            return Vec::from([RelayEffect::Write(exchange.failed_text(text)), RelayEffect::End]);
        }
        match exchange.reply(text) {
            Ok(None) => {
                self.is_sent = true;
                Vec::from([self.asks_again()])
            }
            Ok(Some(reply)) => {
                let reply = reply.into_owned();
                let (status, headers) = self.held.take().unwrap_or((200, Headers::new()));
                self.stage = Stage::Ended;
                Vec::from([answer(status, headers, reply)])
            }
            Err(error) => self.refused(&error),
        }
    }

    /// Takes a piece of a stream.
    pub(super) fn piece(&mut self, piece: &[u8]) -> Vec<RelayEffect> {
        let Some(exchange) = self.exchange.as_mut().filter(|_| self.stage == Stage::Streaming) else {
            return Vec::new();
        };
        match exchange.feed_bytes(piece) {
            Ok(text) if text.is_empty() => Vec::new(),
            Ok(text) => Vec::from([RelayEffect::Write(String::from_utf8(text).unwrap_or_default())]),
            Err(error) => self.broken(&error),
        }
    }

    /// A stream has ended.
    pub(super) fn end(&mut self) -> Vec<RelayEffect> {
        let Some(exchange) = self.exchange.as_mut().filter(|_| self.stage == Stage::Streaming) else {
            return Vec::new();
        };
        let text = match exchange.finish_text() {
            Ok(text) => text,
            Err(error) => return self.broken(&error),
        };
        let asks_again = exchange.asks_again();
        let mut effects = Vec::new();
        if !text.is_empty() {
            effects.push(RelayEffect::Write(text));
        }
        if asks_again {
            self.is_sent = true;
            effects.push(self.asks_again());
        } else {
            self.stage = Stage::Ended;
            effects.push(RelayEffect::End);
        }
        effects
    }

    /// Asks the model again.
    fn asks_again(&mut self) -> RelayEffect {
        self.settle_betas();
        self.send(self.exchange.as_ref().map(Exchange::request).unwrap_or_default())
    }

    /// The upstream failed: an answer with an error, an event, or the end of the connection, by what the client has.
    pub(super) fn failed(&mut self, is_late: bool, why: &str) -> Vec<RelayEffect> {
        let message = format!("expected a reply of {}, found none ({why})", self.origin);
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        self.entry.failed(&message);
        match stage {
            Stage::Reading | Stage::Sent => {
                let status = if is_late { 504 } else { 502 };
                self.entry.status = Some(status);
                Vec::from([own_answer(status, JSON, failure(&message))])
            }
            Stage::Streaming => {
                let text = self.exchange.as_ref().map(|exchange| exchange.failed_text(&failure(&message)));
                Vec::from([RelayEffect::Write(text.unwrap_or_default()), RelayEffect::End])
            }
            Stage::Passing => Vec::from([RelayEffect::Abort]),
            Stage::Ended => Vec::new(),
        }
    }

    /// A reply that cannot be restored.
    fn refused(&mut self, error: &Error) -> Vec<RelayEffect> {
        self.stage = Stage::Ended;
        // Not 400: the request was right.
        self.entry.status = Some(502);
        self.entry.refused(error);
        let body = Exchange::refusal(&self.url(), error);
        Vec::from([own_answer(502, JSON, body)])
    }

    /// A stream that cannot be restored.
    fn broken(&mut self, error: &Error) -> Vec<RelayEffect> {
        self.stage = Stage::Ended;
        self.entry.refused(error);
        let body = Exchange::refusal(&self.url(), error);
        let text = self.exchange.as_ref().map(|exchange| exchange.failed_text(&body)).unwrap_or_default();
        Vec::from([RelayEffect::Write(text), RelayEffect::End])
    }

    /// Takes the calls repaired since the last call of this function.
    pub(super) fn take_repaired(&mut self) -> Vec<RepairedCall> {
        self.exchange.as_mut().map(Exchange::take_repaired_calls).unwrap_or_default()
    }
}

fn unpackable(found: &str) -> String {
    format!("its reply has the content encoding `{found}`, although `identity` was asked for")
}

/// `{ encoding }`.
fn feeding(encoding: Option<String>) -> RelayEffect {
    let encoding = encoding.map_or_else(Node::default, Node::string);
    RelayEffect::Feed(json::write(&record([("encoding", encoding)])))
}
