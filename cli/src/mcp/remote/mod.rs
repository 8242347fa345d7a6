//! A server at a URL: streamable HTTP, or SSE if the server has nothing else.
//!
//! Messages are sent with the client's own bytes. Line ends in the server's messages become spaces, because a message
//! is one line for the client; in JSON, they occur only between tokens.

mod cancellation;
mod refused;
mod streams;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{
        atomic::{AtomicUsize, Ordering},
        Arc, Mutex, MutexGuard, PoisonError,
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    body::Incoming,
    header::{HeaderName, HeaderValue, ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
    http::uri::Authority,
    Method, Request, Response, StatusCode, Uri,
};
use tokio::{
    sync::{
        mpsc::{unbounded_channel, Sender, UnboundedReceiver, UnboundedSender},
        oneshot, Notify,
    },
    task::AbortHandle,
    time::timeout,
};
use toolwire::internal::json;
use toolwire_command::{mirrored, ContentEncoding, Outline, Reading};

use self::{refused::answer, streams::Position};
use super::{
    calls::{cancelled, Answers, Done, Tasks, QUOTED},
    Event, MAX_MESSAGE,
};
use crate::http::{
    body::{whole, Pieces, Unread},
    client::Clients,
};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
const INITIALIZED: &str = "notifications/initialized";
/// Time limit for connecting, and for the end of a session.
const CONNECT: Duration = Duration::from_secs(30);
const END: Duration = Duration::from_secs(1);
/// Time limit for the delivery of a notification or an answer. The next message waits for this delivery. Servers
/// receive requests on different connections in any order, and some refuse a request before
/// `notifications/initialized`.
const DELIVERY: Duration = Duration::from_secs(5);
/// Maximum silence of a stream. A server may have nothing to say for hours.
const SILENCE: Duration = Duration::from_secs(24 * 3600);
/// Maximum delay before a stream is opened again, unless the server asks for more.
const MAX_DELAY: Duration = Duration::from_secs(30);
const UNANSWERED: &str = "the server has ended its reply without an answer";
const REDIRECTS: usize = 5;
const DEFECT: &str = "found a defect in toolwire, please report it";
/// Maximum number of messages whose replies have not ended, greater than the maximum of open calls of a client. Each
/// such message has a connection with its buffers.
const MAX_OPEN: usize = 1 << 14;

/// Error for a URL that cannot be requested.
pub(crate) const NO_ADDRESS: &str = "expected an address, found something else";
/// Error for a URL with a user, whose meaning differs between clients.
const USER: &str = "expected an address without a user, whose key belongs in a header, found one with a user";

pub(crate) struct Remote {
    shared: Arc<Shared>,
    messages: UnboundedSender<Waiting>,
}

/// A message that the server has not received.
struct Waiting {
    text: Bytes,
    headers: Mirrored,
    sent: Sent,
}

/// Headers that repeat parts of a message.
type Mirrored = Vec<(HeaderName, HeaderValue)>;

/// Exists until the request of the message is written or has failed. hyper may write it after the head of the reply.
struct Text {
    bytes: Vec<u8>,
    shared: Arc<Shared>,
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.shared.unread.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Exists until the reply to the message has ended.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Shared {
    clients: Clients<Full<Bytes>>,
    address: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    number: usize,
    events: Sender<(usize, Event)>,
    state: Mutex<State>,
    /// Number of bytes that all answers together may still have.
    rest: AtomicUsize,
    total: usize,
    /// Number of bytes that the server has not received.
    unread: AtomicUsize,
    /// Number of messages whose replies have not ended.
    open: AtomicUsize,
    stops: Notify,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The URL to which messages are sent over SSE.
    endpoint: Option<Uri>,
    /// True if a message was delivered.
    has_arrived: bool,
    /// True if the connection has ended, or is ending.
    is_over: bool,
    /// The reason, if this program has ended the connection.
    overload: Option<String>,
    has_stream: bool,
    /// True if the server's own messages are being read.
    is_listening: bool,
    /// Open calls, by the keys of their ids.
    calls: BTreeMap<String, Call>,
}

struct Call {
    /// The id as JSON text.
    id: String,
    /// True if the answer is expected among the server's own messages.
    is_late: bool,
    is_cancelled: bool,
    /// True if the end of its stream cancels the call, as in MCP since 2026-07-28.
    is_modern: bool,
    task: Option<AbortHandle>,
}

enum Undelivered {
    /// The server's status, and a part of its answer.
    Status(StatusCode, String),
    Reason(String),
    /// The connection or the stream has ended before the answer, or has failed. It can be continued.
    Ended(String),
    /// An answer is too large, which ends the connection.
    TooLarge(String),
}

impl Undelivered {
    fn reason(self) -> String {
        match self {
            Undelivered::Status(status, body) => {
                format!("HTTP {}: {}", status.as_u16(), body.chars().take(QUOTED).collect::<String>())
            }
            Undelivered::Reason(why) | Undelivered::Ended(why) | Undelivered::TooLarge(why) => why,
        }
    }
}

impl Remote {
    /// Opens a connection, which begins with the first message. All answers together may have `total` bytes.
    pub(crate) fn open(
        (url, headers, is_sse): (&str, &[(String, String)], bool),
        number: usize,
        events: Sender<(usize, Event)>,
        total: Option<usize>,
    ) -> Result<Remote, String> {
        let url = url.split('#').next().unwrap_or_default();
        let address: Uri = url.parse().map_err(|_| NO_ADDRESS.to_string())?;
        let is_known = matches!(address.scheme_str(), Some("http" | "https"));
        if address.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(USER.into());
        }
        let is_host = |authority: &Authority| {
            let (_, port) = authority.as_str().split_at(authority.host().len());
            port.is_empty() || authority.port_u16().is_some()
        };
        if !is_known || !address.authority().is_some_and(is_host) {
            return Err(NO_ADDRESS.into());
        }
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| "a header has an invalid name".to_string())?;
            let value = HeaderValue::try_from(value.trim()).map_err(|_| "a header has an invalid value".to_string())?;
            Ok::<_, String>((name, value))
        };
        let shared = Arc::new(Shared {
            clients: Clients::new(CONNECT),
            address,
            headers: headers.iter().map(header).collect::<Result<_, _>>()?,
            number,
            events,
            state: Mutex::default(),
            rest: AtomicUsize::new(total.unwrap_or(usize::MAX)),
            total: total.unwrap_or(MAX_MESSAGE),
            unread: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            stops: Notify::new(),
        });
        let (messages, inbox) = unbounded_channel();
        tokio::spawn(shared.clone().run(inbox, is_sse));
        Ok(Remote { shared, messages })
    }

    pub(crate) fn write(&self, message: &[u8], headers: &[(String, String)]) {
        let shared = &self.shared;
        let headers = with_mirrored(message, headers);
        let unread = shared.unread.fetch_add(message.len(), Ordering::Relaxed);
        let open = shared.open.fetch_add(1, Ordering::Relaxed);
        let text = Bytes::from_owner(Text { bytes: message.into(), shared: shared.clone() });
        let (sent, id) = Sent::new(message, Open(shared.clone()));
        if let Some((key, id)) = sent.key.clone().zip(id) {
            let is_modern = !headers.is_empty();
            let call = Call { id, is_late: false, is_cancelled: false, is_modern, task: None };
            shared.state().calls.insert(key, call);
        }
        if sent.cancels.as_ref().is_some_and(|key| shared.cancel(key)) {
            return;
        }
        // The connection may have ended, which another event reports.
        let _ = self.messages.send(Waiting { text, headers, sent });
        // One message may have the maximum size, so it is not counted itself.
        if unread > MAX_MESSAGE || open >= MAX_OPEN {
            shared.state().overload.get_or_insert_with(|| {
                if unread > MAX_MESSAGE {
                    format!("it has not read {MAX_MESSAGE} bytes")
                } else {
                    format!("it has not answered {MAX_OPEN} messages")
                }
            });
            self.stop();
        }
    }

    pub(crate) fn stop(&self) {
        self.shared.stops.notify_one();
    }

    /// Ends the session, which the server would otherwise keep.
    pub(crate) async fn close(&self) {
        let session = {
            let mut state = self.shared.state();
            state.is_over = true;
            state.session.clone()
        };
        if session.is_some() {
            let ended = self.shared.request(&Method::DELETE, &self.shared.address, (BOTH, None, &[]), Bytes::new());
            // The server may not answer, or not know the method.
            let _ = timeout(END, ended).await;
        }
        self.shared.stops.notify_one();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.shared.stops.notify_one();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send_event(&self, event: Event) {
        // Fails only if the receiver is dropped, which ends the connection.
        let _ = self.events.send((self.number, event)).await;
    }

    async fn run(self: Arc<Shared>, mut inbox: UnboundedReceiver<Waiting>, is_sse: bool) {
        let mut tasks = Tasks::default();
        let mut is_sse = is_sse;
        // The delivery of a message that has no answer. The next message is sent after it.
        let mut delivery = None;
        let why = loop {
            tokio::select! {
                () = self.stops.notified() => break self.stop_reason(),
                Some(_) = async { Some(Option::as_mut(&mut delivery)?.await) } => delivery = None,
                Some(done) = tasks.next() => match done {
                    Done::Whole => continue,
                    Done::Failed(why) => break why,
                    Done::Panicked(None) => break DEFECT.into(),
                    Done::Panicked(key) => {
                        let shared = self.clone();
                        tasks.spawn(None, async move {
                            shared.fail(key.as_deref(), DEFECT.into()).await;
                            Ok(())
                        });
                    }
                },
                message = inbox.recv(), if delivery.is_none() => {
                    let Some(message) = message else { break "the connection was closed".into() };
                    let key = message.sent.key.clone();
                    if self.forget_cancelled(key.as_deref()) {
                        continue;
                    }
                    if self.state().has_arrived {
                        let (delivered, end) = oneshot::channel::<Infallible>();
                        delivery = key.is_none().then(|| Box::pin(timeout(DELIVERY, end)));
                        let task = tasks.spawn(key.clone(), self.clone().deliver(message, is_sse, delivered));
                        self.keep(key, task);
                        continue;
                    }
                    // Until a first message is delivered, the transport is unknown, so messages are sent one at a time.
                    tokio::select! {
                        () = self.stops.notified() => break self.stop_reason(),
                        first = self.deliver_first(message, &mut is_sse, &mut tasks) => match first {
                            Ok(()) => {}
                            Err(why) => break why,
                        }
                    }
                }
            }
        };
        drop(tasks);
        self.state().is_over = true;
        self.send_event(Event::Ended(why)).await;
    }

    fn stop_reason(&self) -> String {
        self.state().overload.clone().unwrap_or_else(|| "it was ended".into())
    }

    /// Reports a message that was not delivered, or a call without an answer. Does nothing if the call has an answer.
    async fn fail(&self, key: Option<&str>, why: String) {
        let message = match key {
            Some(key) => match self.state().calls.remove(key) {
                Some(Call { id, .. }) => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":""}}"#),
                None => return,
            },
            None => "{}".into(),
        };
        self.send_event(Event::Undelivered(message.into(), why)).await;
    }

    async fn deliver_first(
        self: &Arc<Shared>,
        Waiting { text, headers, sent }: Waiting,
        is_sse: &mut bool,
        tasks: &mut Tasks,
    ) -> Result<(), String> {
        let mut result = Err(Undelivered::Reason(String::new()));
        if !*is_sse {
            result = self.post(&text, &headers, *is_sse).await;
            if let Err(Undelivered::Status(status, body)) = &result {
                let may_be_sse = status.is_client_error() && !matches!(status.as_u16(), 401 | 403 | 429);
                let may_be_sse = may_be_sse && refused::version_error(*status, body).is_none();
                *is_sse = may_be_sse && self.connect(tasks).await.is_ok();
            }
        } else if let Err(why) = self.connect(tasks).await {
            result = Err(why);
        }
        if self.state().endpoint.is_some() {
            let over_sse = true;
            result = self.post(&text, &headers, over_sse).await;
        }
        match result {
            Ok(reply) => {
                self.state().has_arrived = true;
                let key = sent.key.clone();
                let task = tasks.spawn(key.clone(), self.clone().pass_on_reply(reply, sent));
                self.keep(key, task);
                Ok(())
            }
            Err(why) => self.report_undelivered(&sent, why).await,
        }
    }

    /// Sends a message, and passes on the server's answer. Drops `delivered` when the server has received the message.
    /// Fails if the connection has to end.
    async fn deliver(
        self: Arc<Shared>,
        Waiting { text, headers, sent }: Waiting,
        is_sse: bool,
        delivered: oneshot::Sender<Infallible>,
    ) -> Result<(), String> {
        let reply = self.post(&text, &headers, is_sse).await;
        drop(delivered);
        match reply {
            Ok(reply) => {
                drop(text);
                self.pass_on_reply(reply, sent).await
            }
            Err(Undelivered::Status(StatusCode::NOT_FOUND, _)) if self.state().session.is_some() => {
                Err("the server does not know the session".into())
            }
            Err(why) => self.report_undelivered(&sent, why).await,
        }
    }

    /// Reports why a message was not delivered, or passes on the answer to it. Fails if the connection has to end.
    async fn report_undelivered(&self, sent: &Sent, why: Undelivered) -> Result<(), String> {
        let refusal = match &why {
            Undelivered::TooLarge(why) => return Err(why.clone()),
            Undelivered::Status(status, body) => {
                let id = sent.key.as_ref().and_then(|key| Some(self.state().calls.get(key)?.id.clone()));
                id.and_then(|id| answer(*status, body, &id))
            }
            _ => None,
        };
        match refusal {
            Some(message) => drop(self.pass_on_message(message).await),
            None => self.fail(sent.key.as_deref(), why.reason()).await,
        }
        Ok(())
    }

    async fn post(&self, message: &Bytes, headers: &Mirrored, is_sse: bool) -> Result<Response<Incoming>, Undelivered> {
        let endpoint = self.state().endpoint.clone().filter(|_| is_sse);
        let address = endpoint.as_ref().unwrap_or(&self.address);
        let reply = self.request(&Method::POST, address, (BOTH, None, headers), message.clone()).await?;
        if let Some(session) = reply.headers().get(SESSION) {
            self.state().session = Some(session.clone());
        }
        Ok(reply)
    }

    /// `last` is the id of the last event of a stream, `mirrored` are parts of the message. Redirects within the same
    /// origin are followed, because some servers add or remove a slash.
    async fn request(
        &self,
        method: &Method,
        address: &Uri,
        (accept, last, mirrored): (&'static str, Option<&HeaderValue>, &[(HeaderName, HeaderValue)]),
        body: Bytes,
    ) -> Result<Response<Incoming>, Undelivered> {
        let mut address = address.clone();
        for _ in 0..=REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = address.clone();
            for (name, value) in &self.headers {
                request.headers_mut().append(name.clone(), value.clone());
            }
            let headers = request.headers_mut();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            if let Some(last) = last {
                headers.insert(LAST_EVENT, last.clone());
            }
            if method == Method::POST {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            }
            for (name, value) in mirrored {
                headers.insert(name.clone(), value.clone());
            }
            if mirrored.is_empty() {
                let state = self.state();
                let session_headers = [(SESSION, &state.session), (VERSION, &state.version)];
                for (name, value) in
                    session_headers.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)))
                {
                    headers.insert(name, value);
                }
            }
            let sent = timeout(SILENCE, self.clients.send(request)).await;
            // The failure of a connection does not concern the event after which a stream is continued.
            let sent = sent.map_err(|_| Undelivered::Ended("the server did not answer".into()))?;
            let reply = sent.map_err(Undelivered::Ended)?;
            let status = reply.status();
            if status.is_success() {
                return Ok(reply);
            }
            let location = reply.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = location.filter(|_| matches!(status.as_u16(), 307 | 308)).and_then(|to| resolve(&address, to));
            match next {
                Some(next) => address = next,
                None => return Err(Undelivered::Status(status, self.quote_beginning(reply).await)),
            }
        }
        Err(Undelivered::Reason(format!("expected at most {REDIRECTS} redirects, found more")))
    }

    async fn quote_beginning(&self, reply: Response<Incoming>) -> String {
        let Ok(encoding) = encoding(&reply) else { return String::new() };
        let mut pieces = Pieces::new(reply.into_body(), encoding);
        let mut body = Vec::new();
        while body.len() < refused::MOST {
            match pieces.next(CONNECT).await {
                Ok(Some(piece)) => body.extend(piece),
                _ => break,
            }
        }
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Passes on the messages of a reply. Fails if the connection has to end.
    async fn pass_on_reply(self: Arc<Shared>, reply: Response<Incoming>, sent: Sent) -> Result<(), String> {
        let kind = reply.headers().get(CONTENT_TYPE);
        let (is_json, is_stream) = (is_of_type(kind, JSON), is_of_type(kind, STREAM));
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_empty = reply.status() == StatusCode::ACCEPTED || reply.status() == StatusCode::NO_CONTENT;
        // Over SSE, the answer is in the stream of all messages.
        let is_sse = self.state().endpoint.is_some();
        if let Some(key) = sent.key.as_ref().filter(|_| is_sse) {
            self.state().calls.remove(key);
        }
        let unanswered_key = sent.key.as_deref().filter(|_| !is_sse);
        let unexpected = format!("expected an answer of the type {JSON} or {STREAM}, found `{}`", truncate(kind));
        let result = match encoding(&reply) {
            _ if is_empty && unanswered_key.is_some_and(|key| !self.expects_late_answer(key, reply.status())) => {
                Err(Undelivered::Reason(UNANSWERED.into()))
            }
            _ if is_empty => Ok(()),
            _ if !is_json && !is_stream && unanswered_key.is_some() => Err(Undelivered::Reason(unexpected)),
            _ if !is_json && !is_stream => Ok(()),
            Err(why) => Err(Undelivered::Reason(why)),
            Ok(encoding) if is_stream => self.continue_reply(reply.into_body(), encoding, unanswered_key).await,
            Ok(encoding) => self.pass_on_whole(reply.into_body(), encoding, unanswered_key).await,
        };
        match result {
            Ok(()) => {}
            Err(Undelivered::TooLarge(why)) => return Err(why),
            Err(why) => self.fail(sent.key.as_deref(), why.reason()).await,
        }
        let opens = sent.is_initialized && !self.state().has_stream && !is_sse;
        drop(sent);
        if opens {
            self.state().has_stream = true;
            return self.listen().await;
        }
        Ok(())
    }

    /// Returns true if the answer to the call can be among the server's own messages.
    fn expects_late_answer(&self, key: &str, status: StatusCode) -> bool {
        let mut state = self.state();
        let expects = status == StatusCode::ACCEPTED && state.is_listening;
        if let Some(call) = state.calls.get_mut(key) {
            call.is_late = expects;
        }
        expects
    }

    fn is_unanswered(&self, key: Option<&str>) -> bool {
        key.is_some_and(|key| self.state().calls.contains_key(key))
    }

    /// Passes on a message that is a whole body. Fails if the call `unanswered_key` is still unanswered.
    async fn pass_on_whole(
        &self,
        mut body: Incoming,
        encoding: Option<ContentEncoding>,
        unanswered_key: Option<&str>,
    ) -> Result<(), Undelivered> {
        let most = MAX_MESSAGE.min(self.rest.load(Ordering::Relaxed)) as u64;
        let read = whole(&mut body, Reading { most, encoding }, SILENCE, |_| Ok::<(), ()>(())).await;
        match read {
            Ok(bytes) => {
                self.spend(bytes.len())?;
                let refusal = self.pass_on_message(bytes).await;
                if self.is_unanswered(unanswered_key) {
                    Err(Undelivered::Reason(refusal.unwrap_or_else(|| UNANSWERED.into())))
                } else {
                    Ok(())
                }
            }
            Err(Unread::Refused(413, _)) => Err(self.too_large()),
            Err(Unread::Refused(_, why)) => Err(Undelivered::Reason(why)),
            Err(Unread::Gone(_) | Unread::Late | Unread::Stopped(())) => {
                Err(Undelivered::Reason("the connection was closed".into()))
            }
        }
    }

    fn spend(&self, length: usize) -> Result<(), Undelivered> {
        let less = |rest: usize| rest.checked_sub(length);
        let spent = self.rest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        spent.map(|_| ()).map_err(|_| self.too_large())
    }

    fn too_large(&self) -> Undelivered {
        Undelivered::TooLarge(format!("expected at most {} MiB from the server, found more", self.total >> 20))
    }

    /// Passes on a message, and remembers the protocol version, which is a header of every later request. Returns the
    /// message of an error without an id.
    async fn pass_on_message(&self, mut message: Vec<u8>) -> Option<String> {
        let Answers { keys, refusal } = Answers::read(&message);
        self.state().calls.retain(|key, _| !keys.contains(key));
        if self.state().version.is_none() {
            let read = std::str::from_utf8(&message).ok().and_then(|text| json::read(text).ok());
            let version = read.as_ref().and_then(|node| node.get("result")?.text_at("protocolVersion"));
            let version = version.and_then(|version| HeaderValue::try_from(version.display().as_ref()).ok());
            self.state().version = version;
        }
        message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        if !message.trim_ascii().is_empty() {
            self.send_event(Event::Message(message)).await;
        }
        refusal
    }

    /// Opens the stream of SSE, and waits for the endpoint to which messages are sent.
    async fn connect(self: &Arc<Shared>, tasks: &mut Tasks) -> Result<(), Undelivered> {
        let reply = self.request(&Method::GET, &self.address, (STREAM, None, &[]), Bytes::new()).await?;
        let encoding = encoding(&reply).map_err(Undelivered::Reason)?;
        let (shared, found) = (self.clone(), Arc::new(Notify::new()));
        let notify_found = found.clone();
        let task = tasks.spawn(None, async move {
            // This transport has no ids.
            let mut position = Position::default();
            let read = shared.read_stream((reply.into_body(), encoding), None, &mut position, |event| {
                let to = std::str::from_utf8(&event.data).ok().filter(|_| event.name == "endpoint")?;
                // Messages may contain keys, so they are sent only to the server itself.
                let endpoint = resolve(&shared.address, to)?;
                shared.state().endpoint = Some(endpoint);
                notify_found.notify_one();
                Some(())
            });
            let result = read.await;
            notify_found.notify_one();
            if shared.state().endpoint.is_none() {
                // The attempt has failed, which does not end the connection.
                return Ok(());
            }
            Err(result.map_or_else(Undelivered::reason, |()| "the connection was closed".into()))
        });
        let waited = timeout(CONNECT, found.notified()).await;
        if waited.is_ok() && self.state().endpoint.is_some() {
            return Ok(());
        }
        task.abort();
        Err(Undelivered::Reason("expected the event `endpoint` from the server, found none".into()))
    }
}

/// The expectations of a message's sender, without the message, which may have megabytes.
struct Sent {
    /// Key of the id of a request.
    key: Option<String>,
    is_initialized: bool,
    /// Key of the call that the message cancels.
    cancels: Option<String>,
    _open: Open,
}

impl Sent {
    fn new(message: &[u8], open: Open) -> (Sent, Option<String>) {
        let outline = Outline::read(message).filter(|outline| outline.method.is_some());
        let is_initialized = outline.as_ref().is_some_and(|found| found.method.as_deref() == Some(INITIALIZED));
        let key = outline.as_ref().and_then(Outline::key);
        let cancels = cancelled(outline.as_ref().and_then(|outline| outline.method.as_deref()), message);
        (Sent { key, is_initialized, cancels, _open: open }, outline.and_then(|outline| outline.id))
    }
}

/// Returns the headers of a message. A value that a header cannot have is omitted.
fn with_mirrored(message: &[u8], headers: &[(String, String)]) -> Mirrored {
    let all = mirrored(message).into_iter().map(|(name, value)| (name.to_string(), value));
    let read =
        |(name, value): (String, String)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?));
    all.chain(headers.iter().cloned()).filter_map(read).collect()
}

fn truncate(text: &str) -> String {
    text.chars().take(60).collect()
}

fn is_of_type(found: Option<&HeaderValue>, wanted: &str) -> bool {
    found.is_some_and(|found| found.as_bytes().starts_with(wanted.as_bytes()))
}

fn encoding(reply: &Response<Incoming>) -> Result<Option<ContentEncoding>, String> {
    let name = reply.headers().get(CONTENT_ENCODING).map(|name| name.to_str().unwrap_or("?").to_ascii_lowercase());
    match name.as_deref() {
        None | Some("" | "identity") => Ok(None),
        Some(name) => match ContentEncoding::read(name) {
            Some(encoding) => Ok(Some(encoding)),
            None => Err("its answer has an unknown content encoding".into()),
        },
    }
}

/// Returns true if a reference has a scheme (RFC 3986, 3.1 and 4.1).
fn has_scheme(reference: &str) -> bool {
    let scheme = reference.split_once(':').map(|(scheme, _)| scheme.as_bytes());
    scheme.is_some_and(|scheme| {
        scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

/// Resolves a reference. Returns `None` if it has another origin.
fn resolve(base: &Uri, to: &str) -> Option<Uri> {
    let to = to.split('#').next().unwrap_or_default();
    let origin = format!("{}://{}", base.scheme_str()?, base.authority()?);
    let absolute = if has_scheme(to) {
        to.to_string()
    } else if to.starts_with('/') && !to.starts_with("//") {
        format!("{origin}{to}")
    } else if to.starts_with("//") {
        return None;
    } else if to.starts_with('?') {
        format!("{origin}{}{to}", base.path())
    } else {
        let (folder, _) = base.path().rsplit_once('/')?;
        format!("{origin}{folder}/{to}")
    };
    let found: Uri = absolute.parse().ok()?;
    (found.scheme() == base.scheme() && found.authority() == base.authority()).then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn references_stay_within_the_origin() {
        let base: Uri = "https://a.example:8/b/mcp?c".parse().expect("a URI");
        for (to, found) in [
            ("/m?d", Some("https://a.example:8/m?d")),
            ("m", Some("https://a.example:8/b/m")),
            ("/m?to=http://b/", Some("https://a.example:8/m?to=http://b/")),
            ("m?to=http://b/", Some("https://a.example:8/b/m?to=http://b/")),
            ("mailto:a", None),
            ("?e", Some("https://a.example:8/b/mcp?e")),
            ("https://a.example:8/m#f", Some("https://a.example:8/m")),
            ("https://a.example/m", None),
            ("http://a.example:8/m", None),
            ("//evil.example/m", None),
            ("https://a.example:8@evil.example/m", None),
        ] {
            assert_eq!(resolve(&base, to).map(|uri| uri.to_string()).as_deref(), found, "{to}");
        }
    }
}
