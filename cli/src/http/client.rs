//! Connections to servers: pooled, directly or through a proxy of the environment, with the certificates of the system.

use std::{
    error::Error,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    body::{Body, Incoming},
    Request, Response, Uri,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            connect::{
                proxy::{SocksV5, Tunnel},
                HttpConnector,
            },
            Builder, Client,
        },
        proxy::matcher::Matcher,
    },
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::{net::TcpStream, task::spawn_blocking};
use tower_service::Service;

use super::framing::MAX_HEAD;
use crate::system::code;

/// Lifetime of an idle connection to an API. Servers keep theirs longer: 5 s in Node and uvicorn.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// Maximum number of headers of a reply.
const MAX_HEADERS: usize = 1_000;

type BoxError = Box<dyn Error + Send + Sync>;

/// Clients for `http` and `https`.
pub(crate) struct Clients<B> {
    plain: Client<HttpConnector, B>,
    /// Made for the first request, because reading the certificates of the system takes time.
    secure: Arc<OnceLock<Secure<B>>>,
    connector: HttpConnector,
}

type Secure<B> = Client<HttpsConnector<Route>, B>;

impl<B> Clients<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    /// `timeout` is the time limit for connecting.
    pub(crate) fn new(timeout: Duration) -> Clients<B> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeout));
        connector.enforce_http(false);
        Clients { plain: builder().build(connector.clone()), secure: Arc::default(), connector }
    }

    /// Sends a request with an absolute URI, and returns the reply once its head has arrived.
    ///
    /// # Errors
    /// Fails with the reason, without URLs and headers.
    pub(crate) async fn send(&self, request: Request<B>) -> Result<Response<Incoming>, String> {
        let reply = if request.uri().scheme_str() == Some("https") {
            self.secure().await?.request(request).await
        } else {
            self.plain.request(request).await
        };
        let reply = reply.map_err(|error| why(&error))?;
        // hyper limits its buffer, which may contain a longer head.
        let length = reply.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
        if length > MAX_HEAD {
            return Err("the head of its reply is too large".into());
        }
        Ok(reply)
    }

    async fn secure(&self) -> Result<Secure<B>, String> {
        if let Some(client) = self.secure.get() {
            return Ok(client.clone());
        }
        let (cell, connector) = (self.secure.clone(), self.connector.clone());
        // A failure is not kept: the next request reads the certificates again.
        let made = spawn_blocking(move || {
            let made = secure(connector)?;
            Ok(cell.get_or_init(|| made).clone())
        });
        let made = made.await;
        made.unwrap_or_else(|_| Err("the certificates of the system cannot be read".into()))
    }
}

fn builder() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(KEEP_ALIVE);
    builder.http1_preserve_header_case(true).http1_title_case_headers(true);
    builder.http1_max_buf_size(MAX_HEAD).http1_max_headers(MAX_HEADERS);
    // A request that was sent, even in part, is not sent again, because the model may already have run, and both runs
    // would be billed. One that found its connection closed before its first byte is sent on another one.
    builder.retry_canceled_requests(true);
    builder
}

fn secure<B>(connector: HttpConnector) -> Result<Secure<B>, String>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let provider = rustls::crypto::ring::default_provider();
    let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
    let tls = tls.map_err(|error| format!("the certificates of the system cannot be read ({error})"))?;
    let route = Route { direct: connector, proxies: Arc::new(Matcher::from_env()) };
    Ok(builder().build(tls.https_only().enable_http1().wrap_connector(route)))
}

/// Returns the reason for a failure: the name of a system error, or a description without URLs and headers.
pub(crate) fn why(error: &(dyn Error + 'static)) -> String {
    let mut reason = None;
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
                reason = Some("ECONNRESET".to_string());
            } else if error.is_parse() {
                reason = Some("its reply is not one of HTTP/1.1".into());
            }
        }
        // The error of hyper's connector, whose cause has no kind.
        if error.to_string() == "dns error" {
            return "ENOTFOUND".into();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            reason = Some(code(error));
        }
        if let Some(error) = error.downcast_ref::<UnknownProxy>() {
            return error.to_string();
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return error.to_string();
        }
        cause = error.source();
    }
    reason.unwrap_or_else(|| "ECONNRESET".into())
}

/// Connects directly, or through a proxy of the environment.
#[derive(Clone)]
struct Route {
    direct: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for Route {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut direct = self.direct.clone();
        let Some(proxy) = self.proxies.intercept(&uri) else {
            return Box::pin(async move { direct.call(uri).await.map_err(Into::into) });
        };
        let address = proxy.uri().clone();
        match address.scheme_str() {
            Some("http") => {
                let mut tunnel = Tunnel::new(address, direct);
                if let Some(auth) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(auth.clone());
                }
                Box::pin(async move { tunnel.call(uri).await.map_err(Into::into) })
            }
            // The proxy resolves the name.
            Some("socks5" | "socks5h") => {
                let mut socks = SocksV5::new(address, direct);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.into(), password.into());
                }
                Box::pin(async move { socks.call(uri).await.map_err(Into::into) })
            }
            _ => Box::pin(async { Err(UnknownProxy.into()) }),
        }
    }
}

/// The environment names a proxy that is not supported.
#[derive(Debug)]
struct UnknownProxy;

impl std::fmt::Display for UnknownProxy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the proxy of the environment is neither http:// nor socks5://")
    }
}

impl Error for UnknownProxy {}
