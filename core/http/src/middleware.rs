//! The middleware for reqwest.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Extensions, Request};
use http_body_util::BodyExt as _;
use reqwest::ResponseBuilderExt as _;
use reqwest_middleware::{Middleware, Next, Result};
use toolwire::{reports::RepairedCall, Error, Exchange, ExchangeOptions};

use crate::{
    adapter::{Adapter, Opened},
    body::BoxError,
    round::{step, stream_rounds, Sender, Sent, Step},
};

/// A middleware of `reqwest-middleware` that adapts every request with tools to its backend, and restores the reply,
/// whole or streamed.
///
/// The host, the path and the model determine the dialect, unless the options name one. All requests of a middleware
/// share a cache of tool lists.
///
/// ```
/// use toolwire::ExchangeOptions;
/// use toolwire_http::ToolwireMiddleware;
///
/// let client = reqwest::Client::new();
/// let toolwire = ToolwireMiddleware::new(client.clone(), ExchangeOptions::default())?;
/// let client = reqwest_middleware::ClientBuilder::new(client).with(toolwire).build();
/// # let _ = client;
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolwireMiddleware {
    client: reqwest::Client,
    adapter: Adapter,
}

impl ToolwireMiddleware {
    /// Creates a middleware. If a stream ends with a search for tools, the client asks the model again, without other
    /// middlewares: they end before a stream is read.
    ///
    /// # Errors
    /// `invalid-option`.
    pub fn new(client: reqwest::Client, options: ExchangeOptions) -> std::result::Result<Self, Error> {
        Ok(ToolwireMiddleware { client, adapter: Adapter::new(options)? })
    }

    /// Sets a function that is called before each request is sent: for reports, and for tools that were set aside
    /// ([`Exchange::warning`]).
    #[must_use]
    pub fn on_request(mut self, call: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        self.adapter.on_request = Some(Arc::new(call));
        self
    }

    /// Sets a function that is called with the repairs of the calls in a reply, once their arguments are complete.
    #[must_use]
    pub fn on_repair(mut self, call: impl Fn(&[RepairedCall]) + Send + Sync + 'static) -> Self {
        self.adapter.on_repair = Some(Arc::new(call));
        self
    }

    async fn handle_adapted(
        &self,
        request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> std::result::Result<reqwest::Response, Failure> {
        let (timeout, version) = (request.timeout().copied(), request.version());
        let to_reqwest = |request: Request<Bytes>| -> std::result::Result<reqwest::Request, Failure> {
            let mut request = reqwest::Request::try_from(request.map(reqwest::Body::from))?;
            *request.timeout_mut() = timeout;
            *request.version_mut() = version;
            Ok(request)
        };
        let (parts, body) = Request::<reqwest::Body>::try_from(request)?.into_parts();
        let body = body.collect().await?.to_bytes();
        let mut outgoing = match self.adapter.open(Request::from_parts(parts, body)) {
            Opened::Refused(response) => return Ok(response.map(reqwest::Body::wrap).into()),
            Opened::Unchanged(request) => return Ok(next.run(to_reqwest(request)?, extensions).await?),
            Opened::Adapted(outgoing) => outgoing,
        };
        loop {
            let response = next.clone().run(to_reqwest(outgoing.next())?, extensions).await?;
            let url = response.url().clone();
            let response = match step(&mut outgoing, response.into()).await.map_err(Failure::Other)? {
                Step::Done(response) => response,
                Step::Stream(response) => {
                    stream_rounds(outgoing, response, LaterRequests { client: self.client.clone(), timeout })
                }
                Step::Again => continue,
            };
            let mut response = response.map(reqwest::Body::wrap);
            response.extensions_mut().extend(extensions_with(url));
            return Ok(response.into());
        }
    }
}

#[async_trait::async_trait]
impl Middleware for ToolwireMiddleware {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<reqwest::Response> {
        if !Adapter::reads(request.method(), request.headers()) {
            return next.run(request, extensions).await;
        }
        self.handle_adapted(request, extensions, next).await.map_err(Failure::into_error)
    }
}

/// Returns the extensions with the URL of a response, which reqwest reads from there.
fn extensions_with(url: reqwest::Url) -> Extensions {
    let response = http::Response::builder().url(url).body(());
    response.map(|response| response.extensions().clone()).unwrap_or_default()
}

/// Sends the later requests of a stream.
struct LaterRequests {
    client: reqwest::Client,
    timeout: Option<std::time::Duration>,
}

impl Sender for LaterRequests {
    type Body = reqwest::Body;

    fn send(&mut self, request: Request<Bytes>) -> Sent<reqwest::Body> {
        let request = reqwest::Request::try_from(request.map(reqwest::Body::from));
        let (client, timeout) = (self.client.clone(), self.timeout);
        Box::pin(async move {
            let mut request = request?;
            *request.timeout_mut() = timeout;
            Ok(client.execute(request).await?.into())
        })
    }
}

#[derive(Debug)]
struct BodyError(BoxError);

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for BodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

enum Failure {
    Middleware(reqwest_middleware::Error),
    Other(BoxError),
}

impl Failure {
    fn into_error(self) -> reqwest_middleware::Error {
        match self {
            Failure::Middleware(error) => error,
            Failure::Other(error) => match error.downcast::<reqwest::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => reqwest_middleware::Error::middleware(BodyError(error)),
            },
        }
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        Failure::Middleware(error.into())
    }
}

impl From<reqwest_middleware::Error> for Failure {
    fn from(error: reqwest_middleware::Error) -> Self {
        Failure::Middleware(error)
    }
}
