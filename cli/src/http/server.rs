//! The server of the relay and of `proxy --listen`: accepts connections, and ends them when the program ends.

use std::{
    collections::BTreeMap,
    env,
    future::Future,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    body::{Body, Incoming},
    server::conn::{http1, http2},
    service::service_fn,
    Request, Response, Uri, Version,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{watch, Notify, OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};

use super::{
    connection::{beginning, is_http2, Busy, Connection, Limits, RemoteWait},
    framing::MAX_HEAD,
    unread::Watched,
};
use crate::{descriptors, system::code};

const MAX_HEADERS: usize = 1_000;
/// Maximum number of concurrent requests on one connection of HTTP/2.
const MAX_STREAMS: u32 = 250;
/// Size of the part of each reply over HTTP/2 that is buffered before the client reads it, in bytes.
const MAX_SEND: usize = 1 << 16;
/// Errors of `accept` if this program or the system has too many open files.
const EXHAUSTED: [&str; 2] = ["EMFILE", "ENFILE"];
/// Delay after an error of `accept`.
const RETRY: Duration = Duration::from_millis(100);

pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) remote_wait: RemoteWait,
}

pub(crate) trait Service: Send + Sync + 'static {
    type Reply: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + Unpin + 'static;

    /// Answers a request. `None` closes the connection.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        client: Client,
    ) -> impl Future<Output = Option<Response<Self::Reply>>> + Send;
}

pub(crate) fn token_of(variable: Option<&str>) -> Result<Option<String>, String> {
    let Some(variable) = variable else { return Ok(None) };
    let token = env::var(variable).unwrap_or_default().trim().to_string();
    if token.is_empty() {
        return Err(format!("expected a token in the variable {variable} of the environment, found none"));
    }
    Ok(Some(token))
}

/// Returns the target as in the request line.
pub(crate) fn target(uri: &Uri, version: Version) -> String {
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    match (uri.scheme_str(), uri.authority()) {
        // In HTTP/2, a target always has a scheme.
        (Some(scheme), Some(authority)) if version != Version::HTTP_2 => format!("{scheme}://{authority}{path}"),
        (None, Some(authority)) if version != Version::HTTP_2 => authority.to_string(),
        _ => path.into(),
    }
}

pub(crate) struct Listening {
    listener: TcpListener,
    /// `HOST:PORT`, with the port that the system has chosen.
    pub(crate) address: String,
    connections: Arc<Connections>,
}

struct Connections {
    room: Arc<Semaphore>,
    /// Connections that may be closed while they are idle, by increasing numbers.
    open: Mutex<BTreeMap<u64, OpenConnection>>,
}

struct OpenConnection {
    busy: Busy,
    end: Arc<Notify>,
}

impl Connections {
    /// Waits for room for another connection. Idle connections end to make room, the oldest first, so that clients
    /// without requests do not block others.
    async fn acquire_permit(&self) -> OwnedSemaphorePermit {
        if let Ok(permit) = self.room.clone().try_acquire_owned() {
            return permit;
        }
        loop {
            self.end_idle();
            if let Ok(Ok(permit)) = timeout(RETRY, self.room.clone().acquire_owned()).await {
                return permit;
            }
        }
    }

    fn end_idle(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = open.iter().filter_map(|(number, ends)| Some((ends.busy.idle_since()?, *number)));
        if let Some(ends) = idle.min().and_then(|(_, number)| open.remove(&number)) {
            ends.end.notify_one();
        }
    }

    fn add(&self, number: u64, busy: Busy, end: Arc<Notify>) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, OpenConnection { busy, end });
    }

    fn remove(&self, number: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }
}

#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the request has no response")
    }
}

impl std::error::Error for Closed {}

impl Listening {
    /// Listens at an address. `most` is the maximum number of connections, unless fewer files may be open.
    pub(crate) async fn begin(host: &str, port: u16, most: usize) -> Result<Listening, String> {
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
        let failed = |error: io::Error| {
            format!("expected an address at which it can listen, found {shown}:{port} ({})", code(&error))
        };
        let listener = TcpListener::bind((host, port)).await.map_err(failed)?;
        let address = format!("{shown}:{}", listener.local_addr().map_err(failed)?.port());
        let connections =
            Connections { room: Arc::new(Semaphore::new(descriptors::for_clients(most))), open: Mutex::default() };
        Ok(Listening { listener, address, connections: Arc::new(connections) })
    }

    /// Serves clients until `ended` returns the exit code. Open requests may then continue for the time `rest`.
    pub(crate) async fn serve<S: Service>(
        self,
        service: Arc<S>,
        limits: Limits,
        ended: impl Future<Output = u8>,
        rest: Duration,
    ) -> u8 {
        let (stop, stopped) = watch::channel(false);
        let (mut ended, mut number) = (pin!(ended), 0);
        let code = loop {
            let accepted = async {
                let accepted = self.listener.accept().await;
                (accepted, self.connections.acquire_permit().await)
            };
            tokio::select! {
                code = &mut ended => break code,
                (accepted, permit) = accepted => match accepted {
                    Ok((stream, peer)) => {
                        number += 1;
                        let (service, mut stopped) = (service.clone(), stopped.clone());
                        let (connections, number) = (self.connections.clone(), number);
                        tokio::spawn(async move {
                            let _permit = permit;
                            let (busy, end) = (Busy::default(), Arc::new(Notify::new()));
                            connections.add(number, busy.clone(), end.clone());
                            // An error of a connection concerns only its client, which it has disconnected.
                            tokio::select! {
                                () = connection(service, stream, peer, &busy, limits, &mut stopped) => {}
                                () = busy.wait_until_stuck(limits.unread) => {}
                                () = end.notified() => {}
                            }
                            connections.remove(number);
                        });
                    }
                    Err(error) => {
                        if EXHAUSTED.contains(&code(&error).as_str()) {
                            self.connections.end_idle();
                        }
                        sleep(RETRY).await;
                    }
                },
            }
        };
        drop((self.listener, stopped));
        let _ = stop.send(true);
        // Every connection has a receiver.
        let _ = timeout(rest, stop.closed()).await;
        code
    }
}

async fn connection<S: Service>(
    service: Arc<S>,
    mut stream: TcpStream,
    peer: SocketAddr,
    busy: &Busy,
    limits: Limits,
    stopped: &mut watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let begin = tokio::select! {
        begin = beginning(&mut stream, limits) => match begin {
            Ok(begin) => begin,
            Err(_) => return,
        },
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    let is_http2 = is_http2(&begin);
    let io = TokioIo::new(Connection::new(stream, &begin, busy.clone(), limits));
    // A connection of HTTP/1 has one reply at a time, so the time limit of the connection is enough.
    let watch = is_http2.then(|| busy.clone());
    let answer = service_fn(|request| {
        let (service, open) = (service.clone(), busy.begin());
        let client = Client { address: peer, remote_wait: open.remote_wait() };
        let watch = watch.clone();
        async move {
            let response = service.answer(request, client).await.ok_or(Closed)?;
            Ok::<_, Closed>(response.map(|body| Watched::new(body, open, watch)))
        }
    });
    if is_http2 {
        let mut server = http2::Builder::new(TokioExecutor::new());
        server.timer(TokioTimer::new()).auto_date_header(false).max_concurrent_streams(MAX_STREAMS);
        server.max_send_buf_size(MAX_SEND);
        server.max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX));
        let mut serving = pin!(server.serve_connection(io, answer));
        tokio::select! {
            _ = serving.as_mut() => return,
            _ = stopped.wait_for(|stopped| *stopped) => serving.as_mut().graceful_shutdown(),
        }
        let _ = serving.await;
    } else {
        let mut server = http1::Builder::new();
        server.auto_date_header(false).preserve_header_case(true).title_case_headers(true);
        server.max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD);
        let mut serving = pin!(server.serve_connection(io, answer));
        tokio::select! {
            _ = serving.as_mut() => return,
            _ = stopped.wait_for(|stopped| *stopped) => serving.as_mut().graceful_shutdown(),
        }
        let _ = serving.await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use std::future::pending;

    use http_body_util::Full;
    use hyper::client::conn::http2::Builder;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    struct Sized(usize);

    impl Service for Sized {
        type Reply = Full<Bytes>;

        async fn answer(
            self: Arc<Self>,
            _request: Request<Incoming>,
            _client: Client,
        ) -> Option<Response<Full<Bytes>>> {
            Some(Response::new(Full::new(Bytes::from(vec![b'x'; self.0]))))
        }
    }

    const SHORT: Duration = Duration::from_millis(500);
    const LONG: Duration = Duration::from_secs(30);
    /// More than the buffers of sockets.
    const LARGE: usize = 50_000_000;
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    async fn serving(size: usize, most: usize, limits: Limits) -> SocketAddr {
        let listening = Listening::begin("127.0.0.1", 0, most).await.expect("an address");
        let address = listening.listener.local_addr().expect("an address");
        tokio::spawn(listening.serve(Arc::new(Sized(size)), limits, pending(), LONG));
        address
    }

    /// Sends two requests on a connection that gets at most `window` bytes of each reply. The first reply is not read.
    /// Returns true if the connection ends early.
    async fn ends_early(address: SocketAddr, window: u32, reads: bool) -> bool {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let mut client = Builder::new(TokioExecutor::new());
        client.initial_stream_window_size(window).initial_connection_window_size(10_000_000);
        let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await.expect("HTTP/2");
        let connection = tokio::spawn(connection);
        let request = || Request::get("http://a/").body(Full::new(Bytes::new())).expect("a request");
        let _unread = sender.send_request(request()).await.expect("a reply");
        if reads {
            let mut body = sender.send_request(request()).await.expect("a reply").into_body();
            let mut length = 0;
            while let Some(Ok(frame)) = http_body_util::BodyExt::frame(&mut body).await {
                length += frame.data_ref().map_or(0, Bytes::len);
                sleep(Duration::from_millis(40)).await;
            }
            return length < 2_000_000;
        }
        timeout(LONG, connection).await.is_ok()
    }

    #[tokio::test]
    async fn a_client_of_http2_that_reads_nothing_is_disconnected() {
        let address = serving(2_000_000, 10, Limits { head: LONG, idle: LONG, unread: SHORT }).await;
        assert!(ends_early(address, 0, false).await);
        assert!(ends_early(address, 70_000, false).await);
    }

    #[tokio::test]
    async fn a_client_of_http2_that_reads_one_reply_slowly_is_not_disconnected() {
        // Reading the whole reply takes longer than the limit.
        let address = serving(2_000_000, 10, Limits { head: LONG, idle: LONG, unread: 4 * SHORT }).await;
        assert!(!ends_early(address, 70_000, true).await);
    }

    #[tokio::test]
    async fn a_connection_is_not_idle_before_its_answer_is_written() {
        let address = serving(LARGE, 1, Limits { head: LONG, idle: LONG, unread: LONG }).await;
        let mut first = TcpStream::connect(address).await.expect("a connection");
        first.write_all(REQUEST).await.expect("a connection");
        first.read_exact(&mut [0; 12]).await.expect("an answer");
        let mut second = TcpStream::connect(address).await.expect("a connection");
        second.write_all(REQUEST).await.expect("a connection");
        sleep(SHORT).await;
        let mut rest = vec![0; LARGE];
        timeout(LONG, first.read_exact(&mut rest)).await.expect("the answer").expect("the answer");
        let begin = timeout(LONG, second.read_exact(&mut [0; 12])).await;
        begin.expect("an answer").expect("an answer");
    }

    #[tokio::test]
    async fn idle_connections_and_half_requests_do_not_keep_others_out() {
        let address = serving(10, 3, Limits { head: LONG, idle: LONG, unread: LONG }).await;
        let mut held = Vec::new();
        for begin in [&b""[..], b"PRI *", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"PRI * HTTP/2.0"] {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.write_all(begin).await.expect("a connection");
            held.push(stream);
        }
        for _ in 0..5 {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("a connection");
            let mut found = [0; 12];
            timeout(LONG / 2, stream.read_exact(&mut found)).await.expect("an answer").expect("an answer");
            assert_eq!(&found, b"HTTP/1.1 200");
            held.push(stream);
        }
    }
}
