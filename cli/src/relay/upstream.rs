//! Connections to upstreams.

use std::{
    error::Error,
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use hyper::{
    body::Incoming,
    header::{HeaderName, HeaderValue, TRANSFER_ENCODING},
    http::{self, uri::PathAndQuery, Extensions},
    Request, Response, Uri,
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            connect::{proxy::Tunnel, HttpConnector},
            Builder, Client,
        },
        proxy::matcher::Matcher,
    },
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::{net::TcpStream, task::spawn_blocking};
use toolwire_command::UpstreamHead;
use tower_service::Service;

use super::{body::Sent, failure::why};
use crate::http::framing::MAX_HEAD;

/// Lifetime of an idle connection to an API. Servers keep theirs longer: 5 s in Node and uvicorn.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// Maximum number of headers of a reply.
const MAX_HEADERS: usize = 1_000;

type BoxError = Box<dyn Error + Send + Sync>;

/// Address of an upstream.
pub(crate) struct Address {
    pub(crate) is_encrypted: bool,
    /// The host, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The clients of all upstreams.
pub(crate) struct Clients {
    plain: Client<HttpConnector, Sent>,
    /// Made for the first request, because reading the certificates of the system takes time.
    secure: Arc<OnceLock<Result<Secure, String>>>,
    connector: HttpConnector,
}

type Secure = Client<HttpsConnector<Route>, Sent>;

impl Clients {
    /// `timeout` is the time limit for connecting.
    pub(crate) fn new(timeout: Duration) -> Clients {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeout));
        connector.enforce_http(false);
        Clients { plain: builder().build(connector.clone()), secure: Arc::default(), connector }
    }

    /// Sends a request, and returns the reply once its head has arrived.
    ///
    /// # Errors
    /// Fails with the reason, without URLs and headers.
    pub(crate) async fn send(
        &self,
        address: &Address,
        head: &UpstreamHead,
        extensions: Extensions,
        is_chunked: bool,
        body: Sent,
    ) -> Result<Response<Incoming>, String> {
        let request = request(address, head, extensions, is_chunked, body).map_err(|error| error.to_string())?;
        let reply = if address.is_encrypted {
            self.secure().await?.request(request).await
        } else {
            self.plain.request(request).await
        };
        reply.map_err(|error| why(&error))
    }

    async fn secure(&self) -> Result<Secure, String> {
        if let Some(client) = self.secure.get() {
            return client.clone();
        }
        let (cell, connector) = (self.secure.clone(), self.connector.clone());
        let made = spawn_blocking(move || cell.get_or_init(|| secure(connector)).clone()).await;
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

fn secure(connector: HttpConnector) -> Result<Secure, String> {
    let provider = rustls::crypto::ring::default_provider();
    let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
    let tls = tls.map_err(|error| format!("the certificates of the system cannot be read ({error})"))?;
    let route = Route { direct: connector, proxies: Arc::new(Matcher::from_env()) };
    Ok(builder().build(tls.https_only().enable_http1().wrap_connector(route)))
}

/// Returns an error of HTTP's types, which contain no values.
fn request(
    address: &Address,
    head: &UpstreamHead,
    extensions: Extensions,
    is_chunked: bool,
    body: Sent,
) -> Result<Request<Sent>, http::Error> {
    let host = if address.host.contains(':') { format!("[{}]", address.host) } else { address.host.clone() };
    let uri = Uri::builder()
        .scheme(if address.is_encrypted { "https" } else { "http" })
        .authority(format!("{host}:{}", address.port))
        .path_and_query(PathAndQuery::try_from(head.target.as_str())?)
        .build()?;
    let mut request = Request::builder().method(head.method.as_str()).uri(uri).body(body)?;
    for (name, value) in &head.headers {
        let name = HeaderName::try_from(name.as_str())?;
        request.headers_mut().append(name, HeaderValue::try_from(value.as_slice())?);
    }
    if is_chunked && !request.headers().contains_key(http::header::CONTENT_LENGTH) {
        // A chunked request is forwarded chunked, regardless of its method.
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    // They contain the spelling of the names of headers.
    *request.extensions_mut() = extensions;
    Ok(request)
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
        let mut tunnel = Tunnel::new(proxy.uri().clone(), direct);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        Box::pin(async move { tunnel.call(uri).await.map_err(Into::into) })
    }
}
