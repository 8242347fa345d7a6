//! The example `gateway`, between a client and an API on this machine.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::Value;
use tokio::net::TcpListener;
use toolwire::{Dialect, ExchangeOptions};

use crate::backend::{calls, loaded, whole, Backend};

#[path = "../../examples/gateway.rs"]
#[allow(dead_code, reason = "`main` is for the program")]
mod example;

#[tokio::test]
async fn the_example_adapts_requests_and_restores_replies() {
    let (backend, url) = Backend::start([whole(200, calls())]).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(example::serve(listener, url, ExchangeOptions::default().dialect(Dialect::ANTHROPIC)));

    let request = Request::post(format!("http://{address}/v1/messages")).header("content-type", "application/json");
    let request = request.body(Full::<Bytes>::from(loaded().to_string())).expect("a request");
    let reply = Client::builder(TokioExecutor::new()).build_http().request(request).await.expect("a reply");
    let reply = reply.into_body().collect().await.expect("the whole body").to_bytes();
    let reply: Value = serde_json::from_slice(&reply).expect("JSON");
    assert_eq!(reply["content"][0]["name"], "book.room");
    assert_eq!(backend.received()[0].json()["tools"][0]["name"], "book_room");
}
