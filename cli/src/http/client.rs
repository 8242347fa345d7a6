//! Connections to servers: pooled, directly or through a proxy of the environment, with the certificates of the system.

use std::{
    error::Error,
    future::{ready, Future, Ready},
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
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tower_service::Service;

use super::framing::MAX_HEAD;
use crate::system::code;

/// Lifetime of an idle connection to an API. Servers keep theirs longer: 5 s in Node and uvicorn.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
const MAX_HEADERS: usize = 1_000;
/// Port of a SOCKS proxy whose URL has none (RFC 1928, 3).
const SOCKS_PORT: u16 = 1080;

/// Values of a proxy variable that mean a direct connection, as in browsers.
const DIRECT: [&str; 2] = ["direct", "direct://"];

type BoxError = Box<dyn Error + Send + Sync>;

pub(crate) struct Clients<B> {
    plain: Client<Limited<HttpConnector>, B>,
    /// Client for HTTPS. The first request makes it, because reading the certificates of the system is slow.
    secure: Arc<OnceLock<Secure<B>>>,
    connector: HttpConnector,
    limit: Duration,
}

type Secure<B> = Client<Limited<HttpsConnector<Route>>, B>;

impl<B> Clients<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    /// `limit` is the time limit for connecting, together with the handshakes of a proxy and of TLS.
    pub(crate) fn new(limit: Duration) -> Clients<B> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.enforce_http(false);
        let plain = builder().build(Limited { inner: connector.clone(), limit });
        Clients { plain, secure: Arc::default(), connector, limit }
    }

    /// Sends a request with an absolute URI. Returns the reply once its head has arrived. Fails with the reason,
    /// without URLs and headers.
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
        let (cell, connector, limit) = (self.secure.clone(), self.connector.clone(), self.limit);
        // A failure is not kept: the next request reads the certificates again.
        let client = spawn_blocking(move || {
            let client = secure_client(connector, limit)?;
            Ok(cell.get_or_init(|| client).clone())
        });
        let client = client.await;
        client.unwrap_or_else(|_| Err("the certificates of the system cannot be read".into()))
    }
}

fn builder() -> Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(KEEP_ALIVE);
    builder.http1_preserve_header_case(true).http1_title_case_headers(true);
    builder.http1_max_buf_size(MAX_HEAD).http1_max_headers(MAX_HEADERS);
    // A request that was sent, even in part, is not sent again: the model may already have run, and both runs would be
    // billed. If the connection was closed before the first byte, the request is sent on another connection.
    builder.retry_canceled_requests(true);
    builder
}

fn secure_client<B>(connector: HttpConnector, limit: Duration) -> Result<Secure<B>, String>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let provider = rustls::crypto::ring::default_provider();
    let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
    let tls = tls.map_err(|error| format!("the certificates of the system cannot be read ({error})"))?;
    let route = Route { direct: connector, proxies: Arc::new(proxies()) };
    let inner = tls.https_only().enable_http1().wrap_connector(route);
    Ok(builder().build(Limited { inner, limit }))
}

/// Returns the name of a system error, or a description without URLs and headers.
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
        // The error of hyper's connector for an unknown host. Its cause has no error kind.
        if error.to_string() == "dns error" {
            return "ENOTFOUND".into();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            reason = Some(code(error));
        }
        if let Some(error) = error.downcast_ref::<ProxyFailure>() {
            return error.to_string();
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return error.to_string();
        }
        cause = error.source();
    }
    reason.unwrap_or_else(|| "ECONNRESET".into())
}

type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

#[derive(Clone)]
struct Limited<S> {
    inner: S,
    limit: Duration,
}

impl<S> Service<Uri> for Limited<S>
where
    S: Service<Uri, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Connecting<S::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = timeout(self.limit, self.inner.call(uri));
        Box::pin(async move {
            let connected = connecting.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
            connected.map_err(Into::into)
        })
    }
}

#[derive(Clone)]
struct Route {
    direct: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for Route {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Connecting<TokioIo<TcpStream>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut direct = self.direct.clone();
        let Some(proxy) = self.proxies.intercept(&uri) else {
            return Box::pin(async move { direct.call(uri).await.map_err(Into::into) });
        };
        let refused = |error: &dyn Error| {
            ProxyFailure(format!("the proxy of the environment has refused the connection ({error})"))
        };
        Box::pin(async move {
            let is_socks = match proxy.uri().scheme_str() {
                Some("http") => false,
                Some("socks5" | "socks5h") => true,
                _ => {
                    let found = "the proxy of the environment is no URL with http:// or socks5://";
                    return Err(ProxyFailure(found.into()).into());
                }
            };
            let address = if is_socks { socks_address(proxy.uri())? } else { proxy.uri().clone() };
            let connected = direct.call(address.clone()).await.map_err(|error| {
                ProxyFailure(format!("the proxy of the environment cannot be reached ({})", why(&error)))
            })?;
            let connected = Connected(Some(connected));
            if is_socks {
                // The proxy resolves the name.
                let mut socks = SocksV5::new(address, connected);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.into(), password.into());
                }
                return socks.call(uri).await.map_err(|error| refused(&error).into());
            }
            let mut tunnel = Tunnel::new(address, connected);
            if let Some(auth) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(auth.clone());
            }
            tunnel.call(uri).await.map_err(|error| refused(&error).into())
        })
    }
}

fn proxies() -> Matcher {
    // A value that is not UTF-8 becomes an invalid URL.
    let text = |name: &&str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let first = |names: [&str; 2]| names.iter().find_map(text).unwrap_or_default();
    let proxies = [["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]].map(first);
    matcher(proxies.into_iter().find(|value| !value.is_empty()), first(["NO_PROXY", "no_proxy"]))
}

fn matcher(proxy: Option<String>, no: String) -> Matcher {
    /// A proxy to which every connection fails. Without it, an unknown kind of proxy would be ignored.
    const UNKNOWN: &str = "socks4://unknown";
    let proxy = proxy.filter(|value| !DIRECT.iter().any(|direct| value.eq_ignore_ascii_case(direct)));
    let proxy = proxy.map(|value| if is_known(&value) { value } else { UNKNOWN.into() });
    Matcher::builder().https(proxy.unwrap_or_default()).no(no).build()
}

fn is_known(value: &str) -> bool {
    let known = [None, Some("http"), Some("https"), Some("socks4"), Some("socks4a"), Some("socks5"), Some("socks5h")];
    let is_url =
        |value: &str| value.parse::<Uri>().is_ok_and(|uri| uri.host().is_some() && known.contains(&uri.scheme_str()));
    // The part after `#` would be dropped. The `#` may belong to a password, before the host.
    !value.contains('#') && is_url(value)
}

fn socks_address(uri: &Uri) -> Result<Uri, hyper::http::Error> {
    let authority = uri.authority().filter(|authority| authority.port().is_none());
    let Some(authority) = authority else { return Ok(uri.clone()) };
    let scheme = uri.scheme_str().unwrap_or_default();
    Uri::builder().scheme(scheme).authority(format!("{authority}:{SOCKS_PORT}")).path_and_query("/").build()
}

/// A connector that returns an existing connection to a proxy.
struct Connected(Option<TokioIo<TcpStream>>);

impl Service<Uri> for Connected {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Ready<io::Result<TokioIo<TcpStream>>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

#[derive(Debug)]
struct ProxyFailure(String);

impl std::fmt::Display for ProxyFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for ProxyFailure {}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use http_body_util::Empty;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// The server writes a text after the first bytes of each connection.
    async fn server(text: &'static [u8], stays: bool) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("an address");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let _ = stream.read(&mut [0; 1000]).await;
                    let _ = stream.write_all(text).await;
                    if stays {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        port
    }

    const LIMIT: Duration = Duration::from_millis(300);
    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn direct_is_no_proxy() {
        let uri: Uri = "https://a.example/".parse().expect("a URI");
        for (value, expected) in [
            (None, None),
            (Some("direct"), None),
            (Some("DIRECT://"), None),
            (Some("directly"), Some("http://directly/")),
            (Some("http://b.example:1"), Some("http://b.example:1/")),
            (Some("ftp://b.example"), Some("socks4://unknown/")),
        ] {
            let found = matcher(value.map(String::from), String::new()).intercept(&uri);
            assert_eq!(found.map(|proxy| proxy.uri().to_string()).as_deref(), expected, "{value:?}");
        }
        let found = matcher(Some("http://b.example:1".into()), "a.example".into()).intercept(&uri);
        assert!(found.is_none());
    }

    #[tokio::test]
    async fn a_proxy_that_fails_or_is_silent_is_named_in_time() {
        let silent = server(b"", true).await;
        let refuses = server(b"HTTP/1.1 407 No\r\n\r\n", true).await;
        let other = server(b"\x05\xff", true).await;
        for (proxy, words) in [
            (format!("http://127.0.0.1:{silent}"), "ETIMEDOUT"),
            (format!("socks5://127.0.0.1:{silent}"), "ETIMEDOUT"),
            (format!("http://127.0.0.1:{refuses}"), "has refused the connection (tunnel error: proxy authorization"),
            (format!("socks5://127.0.0.1:{other}"), "has refused the connection (SOCKS error"),
            ("http://127.0.0.1:9".into(), "cannot be reached (ECONNREFUSED)"),
            ("socks4://127.0.0.1:9".into(), "no URL with http:// or socks5://"),
        ] {
            let proxies = Arc::new(Matcher::builder().all(proxy.as_str()).build());
            let mut direct = HttpConnector::new();
            direct.enforce_http(false);
            let mut connector = Limited { inner: Route { direct, proxies }, limit: LIMIT };
            let connected = timeout(LONG, connector.call(Uri::from_static("https://a.example/"))).await;
            let error = connected.expect("a limit").expect_err("no connection");
            let found = why(error.as_ref());
            assert!(found.contains(words), "{proxy}: {found}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_silent_in_the_handshake_of_tls_is_late() {
        let port = server(b"", true).await;
        let clients = Clients::<Empty<Bytes>>::new(LIMIT);
        let request = Request::get(format!("https://127.0.0.1:{port}/")).body(Empty::new()).expect("a request");
        let sent = timeout(LONG, clients.send(request)).await.expect("a limit");
        assert_eq!(sent.map(|reply| reply.status()), Err("ETIMEDOUT".into()));
    }

    #[test]
    fn a_socks_proxy_has_a_port() {
        for (given, found) in [
            ("socks5://a.example/", "socks5://a.example:1080/"),
            ("socks5h://[::1]/", "socks5h://[::1]:1080/"),
            ("socks5://a.example:9/", "socks5://a.example:9/"),
        ] {
            let address = socks_address(&Uri::from_static(given)).expect("an address");
            assert_eq!(address.to_string(), found);
        }
    }
}
