//! The server of the relay and of `proxy --listen`: accepts connections, and ends them when the program ends.

use std::{env, future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{
    body::{Body, Incoming},
    server::conn::{http1, http2},
    service::service_fn,
    Request, Response,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{watch, Semaphore},
    time::{sleep, timeout},
};

use super::{
    connection::{is_http2, Busy, Connection, Limits, Open},
    framing::MAX_HEAD,
};
use crate::system::code;

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 1_000;
/// Maximum number of concurrent requests on one connection of HTTP/2.
const MAX_STREAMS: u32 = 250;
/// Delay after an error of `accept`, for instance because there are too many open files.
const RETRY: Duration = Duration::from_millis(100);

/// The client of a request.
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// Keeps the connection from being treated as idle.
    pub(crate) open: Open,
}

/// What answers requests.
pub(crate) trait Service: Send + Sync + 'static {
    type Reply: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;

    /// Returns the response, whose body holds the client's `open`. `None` closes the connection.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        client: Client,
    ) -> impl Future<Output = Option<Response<Self::Reply>>> + Send;
}

/// Returns the token in an environment variable, if there has to be one.
pub(crate) fn token_of(variable: Option<&str>) -> Result<Option<String>, String> {
    let Some(variable) = variable else { return Ok(None) };
    let token = env::var(variable).unwrap_or_default().trim().to_string();
    if token.is_empty() {
        return Err(format!("expected a token in the variable {variable} of the environment, found none"));
    }
    Ok(Some(token))
}

/// A server that accepts connections.
pub(crate) struct Listening {
    listener: TcpListener,
    /// `HOST:PORT`, with the port that the system has chosen.
    pub(crate) address: String,
    connections: Arc<Semaphore>,
}

/// Error of a request without a response, which closes the connection.
#[derive(Debug)]
struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the request has no response")
    }
}

impl std::error::Error for Closed {}

impl Listening {
    /// Begins to listen. `most` is the maximum number of connections.
    pub(crate) async fn begin(host: &str, port: u16, most: usize) -> Result<Listening, String> {
        let shown = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
        let failed = |error: io::Error| {
            format!("expected an address at which it can listen, found {shown}:{port} ({})", code(&error))
        };
        let listener = TcpListener::bind((host, port)).await.map_err(failed)?;
        let address = format!("{shown}:{}", listener.local_addr().map_err(failed)?.port());
        Ok(Listening { listener, address, connections: Arc::new(Semaphore::new(most)) })
    }

    /// Serves clients until `ended` returns the exit code. Open requests then have the time `rest`.
    pub(crate) async fn serve<S: Service>(
        self,
        service: Arc<S>,
        limits: Limits,
        ended: impl Future<Output = u8>,
        rest: Duration,
    ) -> u8 {
        let (stop, stopped) = watch::channel(false);
        let mut ended = pin!(ended);
        let code = loop {
            let accepted = async {
                let permit = self.connections.clone().acquire_owned().await;
                (self.listener.accept().await, permit)
            };
            tokio::select! {
                code = &mut ended => break code,
                (accepted, permit) = accepted => match accepted {
                    Ok((stream, peer)) => {
                        let (service, stopped) = (service.clone(), stopped.clone());
                        tokio::spawn(async move {
                            let _permit = permit;
                            connection(service, stream, peer, limits, stopped).await;
                        });
                    }
                    Err(_) => sleep(RETRY).await,
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

/// Serves one connection until it ends, or until the program is asked to end and its open requests have ended.
async fn connection<S: Service>(
    service: Arc<S>,
    stream: TcpStream,
    peer: SocketAddr,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let is_http2 = tokio::select! {
        found = is_http2(&stream, limits) => match found {
            Ok(found) => found,
            Err(_) => return,
        },
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    let busy = Busy::default();
    let io = TokioIo::new(Connection::new(stream, is_http2, busy.clone(), limits));
    let answer = service_fn(move |request| {
        let (service, client) = (service.clone(), Client { address: peer, open: busy.begin() });
        async move { service.answer(request, client).await.ok_or(Closed) }
    });
    // An error of a connection concerns only its client, which it has disconnected.
    if is_http2 {
        let mut server = http2::Builder::new(TokioExecutor::new());
        server.timer(TokioTimer::new()).auto_date_header(false).max_concurrent_streams(MAX_STREAMS);
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
