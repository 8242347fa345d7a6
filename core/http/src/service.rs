//! The layer for tower.

use std::{
    future::{poll_fn, Future},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use toolwire::{reports::RepairedCall, Error, Exchange, ExchangeOptions};
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    adapter::{Adapter, Opened},
    body::{BoxError, ReplyBody},
    round::{step, stream_rounds, Sender, Sent, Step},
};

/// A layer that adapts every request with tools to its backend, and restores the reply, whole or streamed.
///
/// The wrapped service sends requests of type `http::Request<B>`, where `B` can be made of [`Bytes`]: a client of hyper
/// with `Full<Bytes>`, or a service of axum. It is cloned for each request, because a request may be sent several
/// times.
///
/// The host, the path and the model determine the dialect, unless the options name one. All requests of a layer share a
/// cache of tool lists.
#[derive(Clone, Debug)]
pub struct ToolwireLayer(Adapter);

impl ToolwireLayer {
    /// Creates a layer.
    ///
    /// # Errors
    /// `invalid-option`.
    pub fn new(options: ExchangeOptions) -> Result<Self, Error> {
        Adapter::new(options).map(ToolwireLayer)
    }

    /// Sets the URL at which the wrapped service sends requests, for a server whose requests have only a path, or whose
    /// clients name the server itself. It chooses the dialect; it does not change where requests are sent.
    ///
    /// ```
    /// # use toolwire::ExchangeOptions;
    /// # use toolwire_http::ToolwireLayer;
    /// let layer = ToolwireLayer::new(ExchangeOptions::default())?.base_url("https://api.moonshot.ai");
    /// # let _ = layer;
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.0.base_url = Some(url.into());
        self
    }

    /// Sets a function that is called before each request is sent: for reports, and for tools that were set aside
    /// ([`Exchange::warning`]).
    #[must_use]
    pub fn on_request(mut self, call: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        self.0.on_request = Some(Arc::new(call));
        self
    }

    /// Sets a function that is called with the repairs of the calls in a reply, once their arguments are complete.
    #[must_use]
    pub fn on_repair(mut self, call: impl Fn(&[RepairedCall]) + Send + Sync + 'static) -> Self {
        self.0.on_repair = Some(Arc::new(call));
        self
    }
}

impl<S> Layer<S> for ToolwireLayer {
    type Service = ToolwireService<S>;

    fn layer(&self, inner: S) -> ToolwireService<S> {
        ToolwireService { inner, adapter: self.0.clone() }
    }
}

/// The service of a [`ToolwireLayer`].
#[derive(Clone, Debug)]
pub struct ToolwireService<S> {
    inner: S,
    adapter: Adapter,
}

impl<S, B, R> Service<Request<B>> for ToolwireService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data: Send, Error: Into<BoxError>> + From<Bytes> + Send + 'static,
    R: Body<Data: Send, Error: Into<BoxError> + Send> + Send + Unpin + 'static,
{
    type Response = Response<ReplyBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ReplyBody>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The service that was polled to be ready sends the first request.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        if !Adapter::reads(request.method(), request.headers()) {
            let sent = inner.call(request);
            return Box::pin(async move { Ok(sent.await.map_err(Into::into)?.map(ReplyBody::new)) });
        }
        let adapter = self.adapter.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            let mut outgoing = match adapter.open(Request::from_parts(parts, body)) {
                Opened::Refused(response) => return Ok(response),
                Opened::Unchanged(request) => {
                    return Ok(inner.call(request.map(B::from)).await.map_err(Into::into)?.map(ReplyBody::new));
                }
                Opened::Adapted(outgoing) => outgoing,
            };
            let mut response = inner.call(outgoing.next().map(B::from)).await.map_err(Into::into)?;
            let mut sender = Again { inner, body: std::marker::PhantomData };
            loop {
                response = match step(&mut outgoing, response).await? {
                    Step::Done(response) => return Ok(response),
                    Step::Stream(response) => return Ok(stream_rounds(outgoing, response, sender)),
                    Step::Again => sender.send(outgoing.next()).await?,
                };
            }
        })
    }
}

/// Sends the later requests through the wrapped service.
struct Again<S, B> {
    inner: S,
    body: std::marker::PhantomData<fn(B)>,
}

impl<S, B, R> Sender for Again<S, B>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: From<Bytes> + Send + 'static,
    R: Body<Data: Send, Error: Into<BoxError> + Send> + Send + Unpin + 'static,
{
    type Body = R;

    fn send(&mut self, request: Request<Bytes>) -> Sent<R> {
        let mut inner = self.inner.clone();
        Box::pin(async move {
            poll_fn(|cx| inner.poll_ready(cx)).await.map_err(Into::into)?;
            inner.call(request.map(B::from)).await.map_err(Into::into)
        })
    }
}
