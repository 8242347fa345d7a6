//! A gateway: each request goes to one backend, in a form that it accepts. Clients receive the reply to their own
//! request. Whole replies and streams need no code.
//!
//! `cargo run -p toolwire-http --example gateway -- http://localhost:11434 127.0.0.1:8080`
#![allow(clippy::print_stderr, reason = "a gateway reports what it does")]

use std::{env, future::poll_fn, io};

use bytes::Bytes;
use http::{header, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{connect::HttpConnector, Client},
    rt::{TokioExecutor, TokioIo},
};
use tokio::net::TcpListener;
use toolwire::ExchangeOptions;
use toolwire_http::{BoxError, ReplyBody, ToolwireLayer, ToolwireService};
use tower_layer::Layer as _;
use tower_service::Service as _;

type Backend = ToolwireService<Client<HttpConnector, Full<Bytes>>>;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut arguments = env::args().skip(1);
    let backend = arguments.next().ok_or("expected the URL of a backend, found no argument")?;
    let address = arguments.next().unwrap_or_else(|| String::from("127.0.0.1:8080"));
    serve(TcpListener::bind(address).await?, backend, ExchangeOptions::default()).await
}

/// Serves until the listener fails. The dialect of the backend is looked up unless the options name one.
pub async fn serve(listener: TcpListener, backend: String, options: ExchangeOptions) -> Result<(), BoxError> {
    let layer = ToolwireLayer::new(options)?.on_request(|exchange| {
        for tool in &exchange.report().quarantined {
            eprintln!("{} is not sent: {}", tool.name.as_deref().unwrap_or("a tool"), tool.message);
        }
    });
    // One service for all connections, because requests that repeat their tools share a cache.
    let service = layer.layer(Client::builder(TokioExecutor::new()).build_http());
    loop {
        let (stream, _) = listener.accept().await?;
        let (service, backend) = (service.clone(), backend.clone());
        tokio::spawn(async move {
            let forward = service_fn(move |request| forward(service.clone(), backend.clone(), request));
            let served = http1::Builder::new().serve_connection(TokioIo::new(stream), forward).await;
            served.unwrap_or_else(|error| eprintln!("a connection failed: {error}"));
        });
    }
}

async fn forward(
    mut service: Backend,
    backend: String,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, BoxError> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = format!("{}{path}", backend.trim_end_matches('/')).parse().map_err(io::Error::other)?;
    parts.headers.remove(header::HOST);
    let body = Full::new(body.collect().await?.to_bytes());
    poll_fn(|cx| service.poll_ready(cx)).await?;
    service.call(Request::from_parts(parts, body)).await
}
