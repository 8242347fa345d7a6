//! A client's request and its reply.

use std::{
    collections::VecDeque,
    panic::{catch_unwind, AssertUnwindSafe},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::{
    body::Incoming,
    header::{HeaderName, HeaderValue, TRANSFER_ENCODING},
    http::{uri::Authority, Extensions},
    Request, Response, StatusCode, Version,
};
use tokio::{
    sync::mpsc::{channel, Sender},
    task::spawn_blocking,
    time::sleep_until,
};
use toolwire_command::{
    ContentEncoding, Headers, Reading, RelayEffect, RelayRequest, ReplyHead, RequestHead, UpstreamHead,
};

use super::{
    body::{counted, Passing, Piece, Reply, Sent, Upload, Whole},
    upstream, Current, Host,
};
use crate::http::{
    body::{whole, Broken, Pieces, Unread},
    client::why,
    connection::RemoteWait,
    server::{target, Client},
};

/// Size in bytes from which a body is rewritten on a separate thread.
const LARGE: usize = 1 << 16;
/// Number of pieces of a reply that wait for the client.
const WAITING: usize = 4;
const SILENT: &str = "expected the whole request in time, found a part of it";

/// An effect on the client.
enum Output {
    Answer(ReplyHead, String),
    Head(ReplyHead),
    Through,
    Feed(Option<ContentEncoding>),
    Write(Vec<u8>),
    End,
    Abort,
}

/// Exists until the request and its reply have ended.
pub(super) struct Exchange {
    host: Arc<Host>,
    /// The settings when the request began.
    current: Arc<Current>,
    /// `None` after a panic.
    request: Option<RelayRequest>,
    /// Time spent in the relay.
    spent: Duration,
    upload: Upload,
    /// The body that was sent last; `None` if it is not a whole body.
    sent: Option<Whole>,
    remote_wait: RemoteWait,
    /// Spelling of the names of the client's headers.
    extensions: Extensions,
    is_chunked: bool,
    /// The client's body; empty before it was read.
    body: Bytes,
    reply: Option<Response<Incoming>>,
    effects: VecDeque<RelayEffect>,
}

/// Serves a request. `None` closes the connection.
pub(super) async fn answer(host: Arc<Host>, request: Request<Incoming>, client: Client) -> Option<Response<Reply>> {
    let (parts, body) = request.into_parts();
    let head = RequestHead {
        target: target(&parts.uri, parts.version),
        authority: parts.uri.authority().filter(|_| parts.version == Version::HTTP_2).map(Authority::to_string),
        method: parts.method.as_str().into(),
        headers: parts.headers.iter().map(|(name, value)| (name.as_str().into(), value.as_bytes().into())).collect(),
        time: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        is_local: client.address.ip().to_canonical().is_loopback(),
    };
    let begin = Instant::now();
    let current = host.current();
    let (request, effects) = current.relay.request(head);
    let mut exchange = Exchange {
        host,
        current,
        request: Some(request),
        spent: begin.elapsed(),
        upload: Upload::new(body),
        sent: None,
        remote_wait: client.remote_wait,
        is_chunked: parts.headers.contains_key(TRANSFER_ENCODING),
        extensions: parts.extensions,
        body: Bytes::new(),
        reply: None,
        effects: effects.into(),
    };
    let Some(output) = exchange.next().await else { return exchange.defect_response() };
    match output {
        Output::Answer(head, body) => {
            let body = exchange.counted(body.into());
            exchange.write_rest();
            response(head, Extensions::new(), Reply::whole(body))
        }
        Output::Head(head) => {
            let (parts, body) = exchange.reply.take()?.into_parts();
            match exchange.next().await? {
                Output::Through => {
                    exchange.write_rest();
                    let patience = exchange.host.timeout;
                    response(head, parts.extensions, Reply::passed(body, exchange, patience))
                }
                Output::Feed(encoding) => {
                    let (sender, receiver) = channel(WAITING);
                    tokio::spawn(exchange.stream(body, encoding, sender));
                    response(head, parts.extensions, Reply::Pieces(receiver))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn response(head: ReplyHead, extensions: Extensions, body: Reply) -> Option<Response<Reply>> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).ok()?;
    for (name, value) in &head.headers {
        let name = HeaderName::try_from(name.as_str()).ok()?;
        response.headers_mut().append(name, HeaderValue::try_from(value.as_slice()).ok()?);
    }
    // They contain the spelling of the names of headers.
    *response.extensions_mut() = extensions;
    Some(response)
}

impl Exchange {
    /// Performs effects until one concerns the client, and returns it. Returns `None` after the last effect.
    async fn next(&mut self) -> Option<Output> {
        while let Some(effect) = self.effects.pop_front() {
            let more = match effect {
                RelayEffect::Answer(head, body) => return Some(Output::Answer(head, body)),
                RelayEffect::Head(head) => return Some(Output::Head(head)),
                RelayEffect::Through => return Some(Output::Through),
                RelayEffect::Feed(encoding) => return Some(Output::Feed(encoding)),
                RelayEffect::Write(bytes) => return Some(Output::Write(bytes)),
                RelayEffect::End => return Some(Output::End),
                RelayEffect::Abort => return Some(Output::Abort),
                RelayEffect::Read(reading) => self.read(reading).await,
                RelayEffect::Forward(head) => {
                    let body = Sent::passed(&self.upload, self.host.timeout);
                    self.send(&head, body).await
                }
                RelayEffect::SendBody(head) => {
                    let body = Sent::whole(std::mem::take(&mut self.body));
                    self.send(&head, body).await
                }
                RelayEffect::Send(head, body) => {
                    self.body = Bytes::new();
                    self.send(&head, Sent::whole(body.into())).await
                }
                RelayEffect::Collect(reading) => self.collect(reading).await,
                other => {
                    self.write(other);
                    Vec::new()
                }
            };
            for effect in more.into_iter().rev() {
                self.effects.push_front(effect);
            }
        }
        None
    }

    fn write(&self, effect: RelayEffect) {
        match effect {
            RelayEffect::Log(line) => self.host.log.line(&line),
            RelayEffect::Report(line) => self.host.report.line(&line, &self.host.log),
            _ => {}
        }
    }

    fn write_rest(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            self.write(effect);
        }
    }

    /// Calls the relay. If the relay panics, only this request ends.
    fn call_relay(&mut self, call: impl FnOnce(&mut RelayRequest) -> Vec<RelayEffect>) -> Vec<RelayEffect> {
        let Some(mut request) = self.request.take() else { return Vec::new() };
        let begin = Instant::now();
        let called = catch_unwind(AssertUnwindSafe(|| {
            let effects = call(&mut request);
            (request, effects)
        }));
        self.spent += begin.elapsed();
        self.restore_request(called.ok())
    }

    /// Calls the relay with a body. A large body is handled on another thread. The number of such threads is limited.
    async fn call_relay_with_body(
        &mut self,
        body: Bytes,
        call: fn(&mut RelayRequest, &[u8]) -> Vec<RelayEffect>,
    ) -> Vec<RelayEffect> {
        if body.len() < LARGE {
            return self.call_relay(|request| call(request, &body));
        }
        let Some(mut request) = self.request.take() else { return Vec::new() };
        let permit = self.host.work.clone().acquire_owned().await;
        let begin = Instant::now();
        let called = spawn_blocking(move || {
            let _permit = permit;
            let effects = call(&mut request, &body);
            (request, effects)
        });
        let called = called.await;
        self.spent += begin.elapsed();
        self.restore_request(called.ok())
    }

    fn restore_request(&mut self, called: Option<(RelayRequest, Vec<RelayEffect>)>) -> Vec<RelayEffect> {
        match called {
            Some((request, effects)) => {
                self.request = Some(request);
                effects
            }
            None => {
                self.host.log.line("toolwire: internal: found a defect in toolwire, please report it");
                self.effects.clear();
                Vec::new()
            }
        }
    }

    /// Answers a request after a panic. If the client has disconnected, the connection closes.
    fn defect_response(&self) -> Option<Response<Reply>> {
        if self.request.is_some() {
            return None;
        }
        let body =
            r#"{"type":"error","error":{"type":"relay_error","message":"toolwire relay: found a defect in toolwire"}}"#;
        let headers = Headers::from([("Content-Type".into(), b"application/json".to_vec())]);
        let head = ReplyHead { status: 500, headers };
        response(head, Extensions::new(), Reply::whole(Bytes::from_static(body.as_bytes())))
    }

    async fn read(&mut self, reading: Reading) -> Vec<RelayEffect> {
        let upload = self.upload.clone();
        let Some(mut body) = upload.take() else { return self.read_body(Bytes::new()).await };
        let patience = self.host.timeout;
        let read = whole(&mut body, reading, patience, |length| self.received(length)).await;
        if read.is_err() {
            upload.put_back(body);
        }
        match read {
            Ok(body) => self.read_body(body.into()).await,
            Err(Unread::Stopped(effects)) => effects,
            Err(Unread::Refused(status, why)) => self.call_relay(|request| request.unread(status, &why)),
            Err(Unread::Late) => self.call_relay(|request| request.unread(408, SILENT)),
            // The client has disconnected, or its chunks are malformed.
            Err(Unread::Gone(_)) => Vec::new(),
        }
    }

    async fn read_body(&mut self, body: Bytes) -> Vec<RelayEffect> {
        self.body = body.clone();
        self.call_relay_with_body(body, RelayRequest::body).await
    }

    /// Counts a piece of a body. Fails with the effects that end the reading.
    fn received(&mut self, length: u64) -> Result<(), Vec<RelayEffect>> {
        let effects = self.call_relay(|request| request.received(length));
        if effects.is_empty() {
            Ok(())
        } else {
            Err(effects)
        }
    }

    async fn send(&mut self, head: &UpstreamHead, body: Sent) -> Vec<RelayEffect> {
        let (host, current) = (self.host.clone(), self.current.clone());
        let Some(address) = current.upstreams.get(head.upstream) else { return Vec::new() };
        self.remote_wait.begin();
        let is_chunked = self.is_chunked && matches!(body, Sent::Passed { .. });
        let begin = tokio::time::Instant::now();
        self.drop_sent_rest();
        if let Sent::Whole(body) = &body {
            self.sent = Some(body.clone());
        }
        let sent = {
            let request = match upstream::request(address, head, self.extensions.clone(), is_chunked, body) {
                Ok(request) => request,
                Err(error) => return self.failed_because(&error.to_string()),
            };
            let mut sending = std::pin::pin!(host.clients.send(request));
            loop {
                let deadline = begin.max(self.upload.last_received()) + host.timeout;
                tokio::select! {
                    sent = &mut sending => break Some(sent),
                    () = sleep_until(deadline) => {}
                }
                if begin.max(self.upload.last_received()) + host.timeout <= deadline {
                    break None;
                }
            }
        };
        match sent {
            Some(Ok(reply)) => {
                let status = reply.status().as_u16();
                let pair = |(name, value): (&HeaderName, &HeaderValue)| (name.as_str().into(), value.as_bytes().into());
                let headers: Headers = reply.headers().iter().map(pair).collect();
                self.reply = Some(reply);
                let effects = self.call_relay(|request| request.reply(status, headers));
                if let (Some(sent), Some(request)) = (&self.sent, &self.request) {
                    sent.count(|length| request.unsent(length));
                }
                effects
            }
            Some(Err(why)) => self.failed_because(&why),
            None => self.failed_late(),
        }
    }

    fn drop_sent_rest(&mut self) {
        if let Some(sent) = self.sent.take() {
            sent.drop_rest();
        }
    }

    fn failed_late(&mut self) -> Vec<RelayEffect> {
        let is_late = true;
        self.upstream_failed(is_late, "")
    }

    fn failed_because(&mut self, why: &str) -> Vec<RelayEffect> {
        let is_late = false;
        self.upstream_failed(is_late, why)
    }

    fn upstream_failed(&mut self, is_late: bool, why: &str) -> Vec<RelayEffect> {
        let seconds = self.host.timeout.as_secs();
        let (is_late, why) = match () {
            () if self.upload.is_silent() => (true, "the client did not send the rest of its request".into()),
            () if is_late => (true, format!("nothing was received for {seconds} seconds")),
            () => (false, why.to_string()),
        };
        self.call_relay(|request| request.failed(is_late, &why))
    }

    async fn collect(&mut self, reading: Reading) -> Vec<RelayEffect> {
        let Some(reply) = self.reply.take() else { return Vec::new() };
        let (mut body, patience) = (reply.into_body(), self.host.timeout);
        match whole(&mut body, reading, patience, |length| self.received(length)).await {
            Ok(body) => self.call_relay_with_body(body.into(), RelayRequest::whole).await,
            Err(Unread::Stopped(effects)) => effects,
            Err(Unread::Refused(_, why)) => self.failed_because(&why),
            Err(Unread::Late) => self.failed_late(),
            Err(Unread::Gone(error)) => self.failed_because(&why(&error)),
        }
    }

    async fn stream(mut self, body: Incoming, encoding: Option<ContentEncoding>, sender: Sender<Piece>) {
        let client = sender.clone();
        let work = async {
            let mut feed = Some(Pieces::new(body, encoding));
            loop {
                match self.next().await {
                    Some(Output::Write(bytes)) => {
                        if !bytes.is_empty() && sender.send(Piece::Data(self.counted(bytes.into()))).await.is_err() {
                            return;
                        }
                    }
                    Some(Output::Feed(encoding)) => {
                        let Some(reply) = self.reply.take() else { return };
                        feed = Some(Pieces::new(reply.into_body(), encoding));
                    }
                    Some(Output::End) => {
                        // If the client has disconnected, nothing is left to do.
                        let _ = sender.send(Piece::End).await;
                        return self.write_rest();
                    }
                    // Without an end, the stream is broken.
                    Some(_) => return self.write_rest(),
                    None if self.request.is_none() => return,
                    None => {
                        let Some(stream) = &mut feed else { return };
                        let next = stream.next(self.host.timeout).await;
                        if !matches!(next, Ok(Some(_))) {
                            feed = None;
                        }
                        let effects = match next {
                            Ok(Some(piece)) => self.call_relay(|request| request.piece(&piece)),
                            Ok(None) => self.call_relay(RelayRequest::end),
                            Err(Broken::Late) => self.failed_late(),
                            Err(Broken::Reason(why)) => self.failed_because(&why),
                        };
                        self.effects.extend(effects);
                    }
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = client.closed() => {}
        }
    }
}

impl Passing for Exchange {
    fn counted(&self, bytes: Bytes) -> Bytes {
        match &self.request {
            Some(request) if !bytes.is_empty() => {
                let unsent = request.unsent(bytes.len());
                counted(bytes, unsent)
            }
            _ => bytes,
        }
    }

    fn fails(&mut self, is_late: bool, why: &str) {
        self.effects = self.upstream_failed(is_late, why).into();
        self.write_rest();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let micros = u64::try_from(self.spent.as_micros()).unwrap_or(u64::MAX);
        for effect in self.call_relay(|request| request.closed(micros)) {
            self.write(effect);
        }
        self.upload.drain();
        self.drop_sent_rest();
    }
}
