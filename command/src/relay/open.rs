//! A request without a complete reply.

use toolwire::{internal, reports::RepairedCall, Error, Exchange, ExchangeOptions, ToolListCache};

use super::{
    answer, content_encoding, decoded, failure, journal::Entry, model_range, own_answer, reading, upstream::Upstream,
    usage::Share, RelayEffect, ReplyHead, UpstreamHead, JSON,
};
use crate::http::headers::{self, Headers};

const BETAS: &str = "anthropic-beta";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Reading,
    /// No part of the reply was passed on.
    Sent,
    /// The client has received the head of a reply whose body is forwarded as it arrives.
    Passing,
    /// The client has received the head of a stream that is being restored.
    Streaming,
    Ended,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) stage: Stage,
    pub(super) entry: Entry,
    /// The client's method. The method of `entry` may be truncated.
    method: String,
    pub(super) upstream: usize,
    /// The client's path.
    pub(super) path: String,
    /// Size of the request's body while it is in memory, in bytes: declared or received, whichever is larger.
    pub(super) request_bytes: u64,
    /// Size of the reply's body while it is read whole, in bytes. For a stream, the size of the part that is held back.
    pub(super) reply_bytes: u64,
    /// Number of received bytes of the body that is being read.
    pub(super) received: u64,
    /// Part of this request in the totals of all requests.
    pub(super) share: Option<Share>,
    client_headers: Headers,
    client_target: String,
    /// Headers for the upstream.
    pub(super) headers: Headers,
    target: String,
    /// Base URL of the upstream, without a path.
    pub(super) origin: String,
    pub(super) exchange: Option<Exchange>,
    /// The body is a conversation in the format of the address.
    pub(super) is_conversation: bool,
    /// True if calls are repaired. The reply is then read even if the request was not rewritten.
    repairs: bool,
    is_sent: bool,
    /// Head of a reply whose whole body is being read.
    reply_head: Option<(u16, Headers)>,
}

impl Open {
    pub(super) fn new(method: &str, path: &str, time: String) -> Open {
        let entry = Entry::new(&time, method, path);
        Open {
            stage: Stage::Sent,
            entry,
            method: method.into(),
            upstream: 0,
            path: path.into(),
            request_bytes: 0,
            reply_bytes: 0,
            received: 0,
            share: None,
            client_headers: Headers::new(),
            client_target: String::new(),
            headers: Headers::new(),
            target: String::new(),
            origin: String::new(),
            exchange: None,
            is_conversation: false,
            repairs: false,
            is_sent: false,
            reply_head: None,
        }
    }

    /// Counts the bytes of the bodies. Returns false if the bodies of all requests are too large together.
    pub(super) fn count_bytes(&mut self) -> bool {
        let bytes = self.request_bytes.saturating_add(self.reply_bytes);
        self.share.as_mut().is_none_or(|share| share.count_bytes(bytes))
    }

    pub(super) fn set_client_head(&mut self, at: usize, upstream: &Upstream, target: &str, headers: Headers) {
        (self.client_headers, self.client_target) = (headers, target.into());
        self.set_upstream(at, upstream);
    }

    pub(super) fn set_upstream(&mut self, at: usize, upstream: &Upstream) {
        let address = &upstream.address;
        self.upstream = at;
        self.entry.upstream = address.url("");
        self.origin = address.url("");
        self.target = upstream.target(&self.client_target);
        self.headers = headers::of_request(self.client_headers.clone(), &address.authority());
    }

    pub(super) fn rename(&mut self, model: &str, name: &str) {
        let end = self.target.find('?').unwrap_or(self.target.len());
        let (path, query) = self.target.split_at(end);
        let Some(range) = model_range(path) else { return };
        let (before, rest) = path.split_at(range.start);
        let (spelled, after) = rest.split_at(range.len());
        if decoded(spelled) == model {
            self.target = format!("{before}{name}{after}{query}");
        }
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) fn url(&self) -> String {
        format!("{}{}", self.origin, self.target)
    }

    /// Opens an exchange, unless the request cannot have tools.
    pub(super) fn adapt(&mut self, body: &str, options: &ExchangeOptions, lists: &ToolListCache) -> Result<(), Error> {
        let betas = self.betas();
        self.exchange = match betas.is_empty() {
            true => Exchange::open_cached(&self.url(), body, options, lists)?,
            false => Exchange::open_cached(&self.url(), body, &options.clone().betas(betas), lists)?,
        };
        self.repairs = options.adapt().tools.repair.is_some();
        self.apply_known_betas();
        Ok(())
    }

    fn betas(&self) -> Vec<String> {
        let found = headers::joined(&self.headers, BETAS).unwrap_or_default();
        found.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
    }

    /// Returns true if the backend is known to refuse a beta in the header, or if deferred loading may need a beta.
    pub(super) fn has_known_betas(&self) -> bool {
        self.betas().iter().any(|beta| internal::is_known_beta(&self.origin, beta))
    }

    /// Sends the betas that the request needs and the backend knows.
    fn apply_known_betas(&mut self) {
        let Some(exchange) = &self.exchange else { return };
        let betas = exchange.betas();
        if betas == self.betas() {
            return;
        }
        match betas.join(",") {
            none if none.is_empty() => self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(BETAS)),
            betas => headers::set(&mut self.headers, BETAS, &betas),
        }
    }

    /// The reply to an unchanged request is passed on.
    pub(super) fn needs_no_restoring(&self) -> bool {
        !self.repairs
    }

    pub(super) fn request(&self) -> UpstreamHead {
        self.request_with(self.headers.clone())
    }

    fn request_with(&self, headers: Headers) -> UpstreamHead {
        let (method, target) = (self.method.clone(), self.target.clone());
        UpstreamHead { upstream: self.upstream, method, target, headers }
    }

    pub(super) fn send_body(&self, length: usize) -> RelayEffect {
        let headers = headers::for_body(self.headers.clone(), length, self.exchange.is_some(), false);
        RelayEffect::SendBody(self.request_with(headers))
    }

    pub(super) fn send(&self, body: &str) -> RelayEffect {
        let headers = headers::for_body(self.headers.clone(), body.len(), self.exchange.is_some(), self.is_sent);
        RelayEffect::Send(self.request_with(headers), body.into())
    }

    pub(super) fn reply(&mut self, status: u16, upstream_headers: Headers) -> Vec<RelayEffect> {
        let is_fine = (200..300).contains(&status);
        let encoding = content_encoding(&upstream_headers);
        if self.stage == Stage::Streaming {
            // A later round of a stream. The client has already received the start of the stream.
            return match encoding {
                Ok(encoding) if is_fine && headers::is_stream(&upstream_headers) => {
                    Vec::from([RelayEffect::Feed(encoding)])
                }
                Ok(encoding) => Vec::from([RelayEffect::Collect(reading(encoding))]),
                Err(found) => self.failed_decoding(&found),
            };
        }
        let kind = headers::value(&upstream_headers, "content-type");
        let is_read = kind.is_none() || headers::is_stream(&upstream_headers) || headers::is_json(&upstream_headers);
        if self.exchange.is_none() || !is_fine || !is_read {
            if is_fine && self.exchange.is_some() {
                self.entry.record_unread_reply(&kind.unwrap_or_default());
            }
            self.exchange = None;
            self.request_bytes = 0;
            self.stage = Stage::Passing;
            let headers = headers::of_unchanged_reply(upstream_headers);
            return Vec::from([RelayEffect::Head(ReplyHead { status, headers }), RelayEffect::Through]);
        }
        let is_stream = headers::is_stream(&upstream_headers);
        match encoding {
            Err(found) => self.failed_decoding(&found),
            Ok(encoding) if is_stream => {
                self.stage = Stage::Streaming;
                let headers = headers::of_rewritten_reply(upstream_headers);
                Vec::from([RelayEffect::Head(ReplyHead { status, headers }), RelayEffect::Feed(encoding)])
            }
            Ok(encoding) => {
                self.reply_head = Some((status, headers::of_rewritten_reply(upstream_headers)));
                Vec::from([RelayEffect::Collect(reading(encoding))])
            }
        }
    }

    pub(super) fn whole(&mut self, text: &str) -> Vec<RelayEffect> {
        self.received = 0;
        let Some(exchange) = &mut self.exchange else { return Vec::new() };
        if self.stage == Stage::Streaming {
            self.stage = Stage::Ended;
            return Vec::from([RelayEffect::Write(exchange.failed_bytes(text)), RelayEffect::End]);
        }
        match exchange.reply(text) {
            Ok(None) => {
                self.is_sent = true;
                Vec::from([self.asks_again()])
            }
            Ok(Some(reply)) => {
                let reply = reply.into_owned();
                let (status, headers) = self.reply_head.take().unwrap_or((200, Headers::new()));
                self.stage = Stage::Ended;
                Vec::from([answer(status, headers, reply)])
            }
            Err(error) => self.refuse(&error),
        }
    }

    pub(super) fn piece(&mut self, piece: &[u8]) -> Vec<RelayEffect> {
        let Some(exchange) = self.exchange.as_mut().filter(|_| self.stage == Stage::Streaming) else {
            return Vec::new();
        };
        self.reply_bytes = self.reply_bytes.saturating_add(piece.len() as u64);
        match exchange.feed_bytes(piece) {
            Ok(bytes) if bytes.is_empty() => Vec::new(),
            Ok(bytes) => {
                self.reply_bytes = self.reply_bytes.saturating_sub(bytes.len() as u64);
                Vec::from([RelayEffect::Write(bytes.into_owned())])
            }
            Err(error) => self.end_broken_stream(&error),
        }
    }

    pub(super) fn end(&mut self) -> Vec<RelayEffect> {
        let Some(exchange) = self.exchange.as_mut().filter(|_| self.stage == Stage::Streaming) else {
            return Vec::new();
        };
        let bytes = match exchange.finish_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return self.end_broken_stream(&error),
        };
        let asks_again = exchange.asks_again();
        let mut effects = Vec::new();
        if !bytes.is_empty() {
            effects.push(RelayEffect::Write(bytes));
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

    fn asks_again(&mut self) -> RelayEffect {
        self.apply_known_betas();
        let request = self.exchange.as_ref().map(Exchange::request).unwrap_or_default();
        (self.request_bytes, self.reply_bytes) = (request.len() as u64, 0);
        self.send(request)
    }

    /// Reports the failure of an upstream to the client: as an error response, as an error event in a stream, or by
    /// closing the connection.
    pub(super) fn failed(&mut self, is_late: bool, why: &str) -> Vec<RelayEffect> {
        let message = format!("expected a reply from {}, found none ({why})", self.origin);
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        (self.request_bytes, self.reply_bytes) = (0, 0);
        self.entry.record_failure(&message);
        let exchange = self.exchange.take();
        match stage {
            Stage::Reading | Stage::Sent => {
                let status = if is_late { 504 } else { 502 };
                self.entry.status = Some(status);
                Vec::from([own_answer(status, JSON, failure(&message))])
            }
            Stage::Streaming => {
                let bytes = exchange.map(|exchange| exchange.failed_bytes(&failure(&message)));
                Vec::from([RelayEffect::Write(bytes.unwrap_or_default()), RelayEffect::End])
            }
            Stage::Passing => Vec::from([RelayEffect::Abort]),
            Stage::Ended => Vec::new(),
        }
    }

    fn failed_decoding(&mut self, found: &str) -> Vec<RelayEffect> {
        let is_late = false;
        self.failed(is_late, &unpackable(found))
    }

    /// Answers a request whose reply cannot be restored.
    fn refuse(&mut self, error: &Error) -> Vec<RelayEffect> {
        self.stage = Stage::Ended;
        // The status is not 400, because the request was valid.
        self.entry.status = Some(502);
        self.entry.record_refusal(error);
        let body = Exchange::refusal(&self.url(), error);
        Vec::from([own_answer(502, JSON, body)])
    }

    /// Ends a stream that cannot be restored.
    fn end_broken_stream(&mut self, error: &Error) -> Vec<RelayEffect> {
        self.stage = Stage::Ended;
        self.entry.record_refusal(error);
        let body = Exchange::refusal(&self.url(), error);
        let bytes = self.exchange.as_ref().map(|exchange| exchange.failed_bytes(&body)).unwrap_or_default();
        Vec::from([RelayEffect::Write(bytes), RelayEffect::End])
    }

    pub(super) fn take_repaired(&mut self) -> Vec<RepairedCall> {
        self.exchange.as_mut().map(Exchange::take_repaired_calls).unwrap_or_default()
    }
}

fn unpackable(found: &str) -> String {
    format!("its reply has the content encoding `{found}`, although `identity` was asked for")
}
