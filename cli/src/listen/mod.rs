//! Sockets, timers and sessions of `toolwire proxy --listen`. `toolwire_command::Listener` decides the client of each
//! response.

mod reply;

use std::{
    collections::HashMap,
    future::Future,
    panic::{catch_unwind, AssertUnwindSafe},
    pin::pin,
    sync::{
        atomic::{AtomicUsize, Ordering},
        Arc, Mutex, MutexGuard, PoisonError, Weak,
    },
    time::Duration,
};

use hyper::{body::Incoming as Body, Request, Response, Version};
use tokio::{
    runtime::Builder,
    sync::{
        mpsc::{channel, unbounded_channel, Sender, UnboundedReceiver, UnboundedSender},
        oneshot, watch,
    },
    task::JoinSet,
    time::{sleep, timeout},
};
use toolwire::internal::json::{self, Node};
use toolwire_command::{Listener, ListenerEffect, Reading};

use self::reply::{response, Head, Queue, Reply, Room};
use crate::{
    facts::record,
    http::{
        body::{drain, whole, Unread},
        connection::{Limits, RemoteWait},
        server::{target, token_of, Client, Listening, Service},
    },
    logs::{Log, Report},
    mcp::{lines::Line, MAX_MESSAGE},
    proxy::{self, Incoming},
    signals,
    system::code,
};

/// Time limit for receiving the body of a request, and for a client that does not read its response.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum total size of the bodies that are being read, in bytes.
const MAX_BODIES: usize = 512 << 20;
/// Maximum number of unsent bytes of a response whose servers cannot be paused for its client.
const MAX_WAITING: usize = 16 << 20;
/// Number of unsent bytes of a session's responses above which its servers are paused.
const PAUSE: usize = 1 << 16;
/// Maximum number of connections, greater than the maximum number of open requests.
const MAX_CONNECTIONS: usize = 4_000;
/// Number of messages that wait for a session.
const WAITING: usize = 4;
const SILENT: &str = "expected the whole request in time, found a part of it";
const DEFECT: &str = "found a defect in toolwire, please report it";
const FULL: &str = "expected fewer large bodies at once, found more";

pub(crate) fn is_wanted(settings: &str) -> bool {
    let settings = json::read(settings).unwrap_or_default();
    settings.get("listen").is_some_and(|listen| !listen.is_null())
}

pub(crate) fn run(settings: &str) -> Result<u8, String> {
    let parsed = json::read(settings).unwrap_or_default();
    let text = |node: &Node<'_>, key: &str| node.text_at(key).map(|text| text.display().into_owned());
    let token = token_of(text(&parsed, "token").as_deref())?;
    let report = Arc::new(Report::in_settings(&parsed)?);
    let listen = parsed.get("listen").cloned().unwrap_or_default();
    let port = listen.u64_at("port").and_then(|port| u16::try_from(port).ok()).unwrap_or_default();
    let host = text(&listen, "host").unwrap_or_default();
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| code(&error))?;
    let log = Arc::new(Log::new());
    let ended = runtime.block_on(serve(settings, token, (&host, port), (log.clone(), report)));
    // Dropping the runtime would wait for the threads that resolve host names.
    runtime.shutdown_background();
    log.flush();
    ended
}

async fn serve(
    settings: &str,
    token: Option<String>,
    (host, port): (&str, u16),
    (log, report): (Arc<Log>, Arc<Report>),
) -> Result<u8, String> {
    // Until the servers have ended, a signal must not end the program without them.
    let ended = pin!(signals::ended());
    let listening = Listening::begin(host, port, MAX_CONNECTIONS).await?;
    let listener = Listener::new(settings, token.as_deref());
    log.line(&listener.started(&listening.address));
    let (stop, stopped) = watch::channel(None);
    let front = Front::new(listener, (settings, token), (log, report), stopped);
    let code = listening.serve(front.clone(), Limits::new(PATIENCE), ended, Duration::ZERO).await;
    // Every session has a receiver.
    let _ = stop.send(Some(code));
    let mut tasks = std::mem::take(&mut *front.tasks.lock().unwrap_or_else(PoisonError::into_inner));
    while tasks.join_next().await.is_some() {}
    Ok(code)
}

struct Front {
    this: Weak<Front>,
    settings: String,
    token: Option<String>,
    log: Arc<Log>,
    report: Arc<Report>,
    state: Mutex<State>,
    last_request: AtomicUsize,
    /// Total size of the bodies that are being read, in bytes.
    reading: AtomicUsize,
    tasks: Mutex<JoinSet<()>>,
    /// The exit code after a signal.
    stopped: watch::Receiver<Option<u8>>,
}

struct State {
    listener: Listener,
    requests: HashMap<u64, Open>,
    sessions: HashMap<u64, Session>,
    last_session: u64,
}

struct Open {
    body: Option<Body>,
    /// `None` after the response has begun.
    head: Option<oneshot::Sender<Head>>,
    queue: Arc<Queue>,
    remote_wait: RemoteWait,
}

/// The client of a session's proxy.
struct Session {
    /// `None` after the session was closed.
    client: Option<UnboundedSender<Vec<u8>>>,
    /// Bytes that the proxy has not received.
    waiting: Arc<AtomicUsize>,
    room: Arc<Room>,
}

/// Notifies the listener when a response is complete, or its connection has ended.
struct Closing(Arc<Front>, u64);

impl Drop for Closing {
    fn drop(&mut self) {
        let Closing(front, number) = self;
        let open = front.state().requests.remove(number);
        if let Some(body) = open.and_then(|open| open.body) {
            drain(body);
        }
        front.act(None, None, |listener| listener.closed(*number));
    }
}

impl Service for Front {
    type Reply = Reply;

    async fn answer(self: Arc<Self>, request: Request<Body>, client: Client) -> Option<Response<Reply>> {
        let (parts, body) = request.into_parts();
        let number = self.last_request.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        let mut headers: Vec<(&str, &[u8])> =
            parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        if let Some(authority) = parts.uri.authority().filter(|_| parts.version == Version::HTTP_2) {
            // It replaces `Host` (RFC 9113, 8.3.1).
            headers.retain(|(name, _)| *name != "host");
            headers.push(("host", authority.as_str().as_bytes()));
        }
        let latin = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        let pairs = headers.iter().map(|(name, value)| [(*name).to_string(), latin(value)].map(Node::string));
        let pairs: Vec<Node<'_>> = pairs.map(|pair| Node::array(pair.into())).collect();
        let head = json::write(&record(
            [
                ("method", Node::string(parts.method.as_str())),
                ("target", Node::string(target(&parts.uri, parts.version))),
                ("headers", Node::array(pairs)),
                ("id", Node::string(random_id()?)),
            ]
            .into_iter(),
        ));
        let (sender, receiver) = oneshot::channel();
        let queue = Arc::new(Queue::default());
        let open = Open { body: Some(body), head: Some(sender), queue: queue.clone(), remote_wait: client.remote_wait };
        self.state().requests.insert(number, open);
        let closing = Closing(self.clone(), number);
        self.act(None, None, |listener| listener.request(number, &head));
        self.begin_remote_wait(number, |open| open.body.is_some());
        let head = receiver.await.ok()?;
        response(head, Reply::new(queue, closing))
    }
}

impl Front {
    fn new(
        listener: Listener,
        (settings, token): (&str, Option<String>),
        (log, report): (Arc<Log>, Arc<Report>),
        stopped: watch::Receiver<Option<u8>>,
    ) -> Arc<Front> {
        let state = State { listener, requests: HashMap::new(), sessions: HashMap::new(), last_session: 0 };
        Arc::new_cyclic(|front| Front {
            this: front.clone(),
            settings: settings.into(),
            token,
            log,
            report,
            state: Mutex::new(state),
            last_request: AtomicUsize::new(0),
            reading: AtomicUsize::new(0),
            tasks: Mutex::new(JoinSet::new()),
            stopped,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn act(
        &self,
        body: Option<&[u8]>,
        room: Option<&Arc<Room>>,
        decide: impl FnOnce(&mut Listener) -> Vec<ListenerEffect>,
    ) {
        let state = &mut *self.state();
        let Ok(effects) = catch_unwind(AssertUnwindSafe(|| decide(&mut state.listener))) else {
            return self.restart(state);
        };
        for effect in effects {
            self.perform(state, effect, body, room);
        }
    }

    /// Ends all sessions after a defect of the listener. New sessions may start.
    fn restart(&self, state: &mut State) {
        self.log.line(&format!("toolwire: internal: {DEFECT}"));
        let mut settings = json::read(&self.settings).unwrap_or_default();
        settings.set("lastSession", Node::count(state.last_session));
        state.listener = Listener::new(&json::write(&settings), self.token.as_deref());
        state.requests.drain().for_each(|(_, open)| open.queue.abort());
        state.sessions.clear();
    }

    fn perform(&self, state: &mut State, effect: ListenerEffect, body: Option<&[u8]>, room: Option<&Arc<Room>>) {
        match effect {
            ListenerEffect::Read(number, most) => {
                let body = state.requests.get_mut(&number).and_then(|open| open.body.take());
                if let Some((body, front)) = body.zip(self.this.upgrade()) {
                    tokio::spawn(front.read(number, body, most));
                }
            }
            ListenerEffect::Answer(number, head, text) => {
                let Some(open) = state.requests.get_mut(&number) else { return };
                open.queue.push(text, room);
                open.queue.end();
                open.begin(&head);
            }
            ListenerEffect::Head(number, head) => {
                if let Some(open) = state.requests.get_mut(&number) {
                    open.begin(&head);
                }
            }
            ListenerEffect::Write(session_number, number, text) => {
                let Some(open) = state.requests.get(&number) else { return };
                // Clients share session 0, so its servers cannot wait for one of them.
                let is_shared = session_number == 0;
                let room = state.sessions.get(&session_number).map(|session| &session.room);
                open.queue.push(text, room);
                if is_shared && open.queue.length() > MAX_WAITING {
                    open.queue.abort();
                }
            }
            ListenerEffect::End(number) => {
                if let Some(open) = state.requests.get(&number) {
                    open.queue.end();
                }
            }
            ListenerEffect::Open(number) => self.open(state, number),
            ListenerEffect::Message(number, text) => state.send(number, text.into_bytes()),
            ListenerEffect::Pass(number, _) => state.send(number, body.unwrap_or_default().into()),
            ListenerEffect::Close(number) => {
                if let Some(session) = state.sessions.get_mut(&number) {
                    session.client = None;
                }
            }
            ListenerEffect::Alarm(number, delay) => {
                let front = self.this.clone();
                tokio::spawn(async move {
                    sleep(Duration::from_millis(delay)).await;
                    if let Some(front) = front.upgrade() {
                        front.act(None, None, |listener| listener.alarm(number));
                    }
                });
            }
            ListenerEffect::Log(line) => self.log.line(&line),
            _ => {}
        }
    }

    fn begin_remote_wait(&self, number: u64, needs_no_body: impl FnOnce(&Open) -> bool) {
        let state = self.state();
        let open = state.requests.get(&number).filter(|open| !open.queue.has_ended() && needs_no_body(open));
        open.into_iter().for_each(|open| open.remote_wait.begin());
    }

    async fn read(self: Arc<Front>, number: u64, mut body: Body, most: u64) {
        let mut share = BodyShare { total: &self.reading, length: 0 };
        let reading = Reading { most, encoding: None };
        let read = timeout(PATIENCE, whole(&mut body, reading, PATIENCE, |length| share.add(length))).await;
        let (status, why) = match read {
            Ok(Ok(text)) => {
                drop(share);
                self.act(Some(&text), None, |listener| listener.body(number, &text));
                return self.begin_remote_wait(number, |_| true);
            }
            Ok(Err(Unread::Refused(status, why))) => (status, why),
            Ok(Err(Unread::Stopped(()))) => (503, FULL.into()),
            Ok(Err(Unread::Late)) | Err(_) => (408, SILENT.into()),
            // The client has disconnected, or its chunks are malformed.
            Ok(Err(Unread::Gone(_))) => return,
        };
        self.act(None, None, |listener| listener.unread(number, status, &why));
        drain(body);
    }

    fn open(&self, state: &mut State, number: u64) {
        state.last_session = number;
        let (sender, messages) = unbounded_channel();
        let (waiting, room) = (Arc::new(AtomicUsize::new(0)), Arc::new(Room::default()));
        let session = Session { client: Some(sender), waiting: waiting.clone(), room: room.clone() };
        state.sessions.insert(number, session);
        let Some(front) = self.this.upgrade() else { return };
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Removes the tasks of ended sessions.
        while tasks.try_join_next().is_some() {}
        let proxy = front.clone().proxy(number, messages, waiting, room);
        tasks.spawn(front.session(number, proxy));
    }

    /// Runs a session. The proxy is a separate task, so that the session also ends after a defect of the proxy.
    async fn session(
        self: Arc<Front>,
        number: u64,
        proxy: impl Future<Output = Result<Option<u8>, String>> + Send + 'static,
    ) {
        let why = match tokio::spawn(proxy).await {
            Ok(Ok(_)) => "it has ended".to_string(),
            Ok(Err(why)) => why,
            Err(_) => {
                self.log.line(&format!("toolwire: internal: {DEFECT}"));
                DEFECT.into()
            }
        };
        self.state().sessions.remove(&number);
        self.act(None, None, |listener| listener.ended(number, &why));
    }

    async fn proxy(
        self: Arc<Front>,
        number: u64,
        messages: UnboundedReceiver<Vec<u8>>,
        waiting: Arc<AtomicUsize>,
        room: Arc<Room>,
    ) -> Result<Option<u8>, String> {
        let (to_proxy, client) = channel(WAITING);
        let (output, mut answers) = channel::<Vec<u8>>(WAITING);
        tokio::spawn(pass(messages, waiting, to_proxy));
        let front = self.clone();
        tokio::spawn(async move {
            while let Some(message) = answers.recv().await {
                front.act(None, Some(&room), |listener| listener.message(number, &message));
                // While the client does not read, the servers wait.
                room.wait_until_below(PAUSE).await;
            }
        });
        let mut stopped = self.stopped.clone();
        let ended = async move {
            let code = stopped.wait_for(Option::is_some).await;
            code.ok().and_then(|code| *code).unwrap_or_default()
        };
        let host = (self.log.clone(), self.report.clone());
        proxy::serve(&self.settings, (client, output), host, ended).await
    }
}

impl Open {
    fn begin(&mut self, head: &str) {
        if let Some(sender) = self.head.take() {
            // The client may have disconnected.
            let _ = sender.send(Head::read(head));
        }
    }
}

impl State {
    /// Sends a message to a session. Closes the session if its client sends more than its servers read.
    fn send(&mut self, number: u64, message: Vec<u8>) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let waiting = session.waiting.fetch_add(message.len(), Ordering::Relaxed) + message.len();
        if waiting > MAX_MESSAGE {
            session.client = None;
        }
        if let Some(client) = &session.client {
            // The proxy may have ended.
            let _ = client.send(message);
        }
    }
}

async fn pass(mut messages: UnboundedReceiver<Vec<u8>>, waiting: Arc<AtomicUsize>, to_proxy: Sender<Incoming>) {
    while let Some(message) = messages.recv().await {
        let length = message.len();
        if to_proxy.send(Incoming::Line(Line::Text(message))).await.is_err() {
            return;
        }
        waiting.fetch_sub(length, Ordering::Relaxed);
    }
}

/// The part of one body in the total size of all bodies that are being read.
struct BodyShare<'f> {
    total: &'f AtomicUsize,
    length: usize,
}

impl BodyShare<'_> {
    fn add(&mut self, length: u64) -> Result<(), ()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let total = self.total.fetch_add(length, Ordering::Relaxed).saturating_add(length);
        self.length += length;
        if total > MAX_BODIES {
            Err(())
        } else {
            Ok(())
        }
    }
}

impl Drop for BodyShare<'_> {
    fn drop(&mut self) {
        self.total.fetch_sub(self.length, Ordering::Relaxed);
    }
}

/// Returns a random UUID (RFC 9562, version 4); `None` if the system has no random numbers.
fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).ok()?;
    let number = u128::from_be_bytes(bytes);
    let number = number & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let digits = format!("{number:032x}");
    let parts: Vec<&str> =
        [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().filter_map(|range| digits.get(range)).collect();
    Some(parts.join("-"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

    use http_body_util::BodyExt as _;

    use super::*;

    const SETTINGS: &str = r#"{"servers": [{"name": "s"}], "dialects": ["portable"]}"#;

    fn front() -> Arc<Front> {
        let report = Arc::new(Report::open(None).expect("no report"));
        let (_, stopped) = watch::channel(None);
        Front::new(Listener::new(SETTINGS, None), (SETTINGS, None), (Arc::new(Log::new()), report), stopped)
    }

    fn session() -> Session {
        Session { client: None, waiting: Arc::default(), room: Arc::default() }
    }

    fn open(queue: &Arc<Queue>, head: Option<oneshot::Sender<Head>>) -> Open {
        let remote_wait = crate::http::connection::Busy::default().begin().remote_wait();
        Open { body: None, head, queue: queue.clone(), remote_wait }
    }

    fn ask(listener: &mut Listener, number: u64) -> Vec<ListenerEffect> {
        let headers = [
            ("Host", "127.0.0.1"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        let head = serde_json::json!({"method": "POST", "target": "/mcp", "headers": headers, "id": "i"}).to_string();
        let client = serde_json::json!({"name": "c", "version": "1"});
        let parameters = serde_json::json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let hello = serde_json::json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters});
        drop(listener.request(number, &head));
        listener.body(number, hello.to_string().as_bytes())
    }

    #[tokio::test]
    async fn after_a_defect_responses_end_and_no_number_of_a_session_is_used_twice() {
        let front = front();
        let queue = Arc::new(Queue::default());
        {
            let state = &mut *front.state();
            state.last_session = 7;
            state.sessions.insert(7, session());
            state.requests.insert(1, open(&queue, None));
        }
        front.act(None, None, |_| panic!("a defect"));
        let response = Reply::new(queue, Closing(front.clone(), 1));
        assert!(response.collect().await.is_err(), "the response goes on");
        let state = &mut *front.state();
        assert!(state.requests.is_empty() && state.sessions.is_empty());
        let effects = ask(&mut state.listener, 2);
        assert!(matches!(effects.first(), Some(ListenerEffect::Open(8))), "{effects:?}");
    }

    #[tokio::test]
    async fn a_session_ends_after_a_defect_of_its_proxy() {
        let front = front();
        let (sender, head) = oneshot::channel();
        {
            let state = &mut *front.state();
            let effects = ask(&mut state.listener, 1);
            assert!(matches!(effects.first(), Some(ListenerEffect::Open(1))), "{effects:?}");
            state.sessions.insert(1, session());
            state.requests.insert(1, open(&Arc::default(), Some(sender)));
        }
        // The task of a session ends alone, too.
        let _ = tokio::spawn(front.clone().session(1, async { panic!("a defect") })).await;
        assert!(front.state().sessions.is_empty());
        assert!(timeout(PATIENCE, head).await.is_ok_and(|head| head.is_ok()), "the request waits");
    }

    #[test]
    fn bodies_that_are_being_read_have_a_common_limit_and_return_their_part() {
        let total = AtomicUsize::new(MAX_BODIES - 10);
        let mut body = BodyShare { total: &total, length: 0 };
        assert_eq!((body.add(4), body.add(6), body.add(1)), (Ok(()), Ok(()), Err(())));
        drop(body);
        assert_eq!(total.load(Ordering::Relaxed), MAX_BODIES - 10);
    }

    #[test]
    fn ids_are_uuids() {
        let ids: Vec<String> = (0..100).filter_map(|_| random_id()).collect();
        for id in &ids {
            let dashes: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
            assert_eq!((id.len(), dashes.as_slice()), (36, [8, 13, 18, 23].as_slice()), "{id}");
            assert!(id.get(14..15) == Some("4") && id.get(19..20).is_some_and(|one| "89ab".contains(one)), "{id}");
        }
        assert!(ids.len() == 100 && ids.first() != ids.last());
    }
}
