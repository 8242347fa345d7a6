//! `ToolwireMiddleware` in a client of reqwest.

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use serde_json::{json, Value};
use toolwire::{Dialect, ExchangeOptions};
use toolwire_http::ToolwireMiddleware;

use crate::backend::{asked, blocks_of, calls, events, held, loaded, searches, streamed, whole, Backend, TOLD};

fn client() -> ClientWithMiddleware {
    let client = reqwest::Client::new();
    let options = ExchangeOptions::default().dialect(Dialect::ANTHROPIC);
    let toolwire = ToolwireMiddleware::new(client.clone(), options).expect("the options are valid");
    ClientBuilder::new(client).with(toolwire).build()
}

async fn post(url: &str, body: &Value) -> reqwest::Response {
    let request = client().post(format!("{url}/v1/messages")).header("content-type", "application/json");
    request.body(body.to_string()).send().await.expect("a reply")
}

#[tokio::test]
async fn whole_replies_are_restored() {
    let (backend, url) = Backend::start([whole(200, searches()), whole(200, calls())]).await;
    let reply = post(&url, &asked()).await;
    assert_eq!(reply.url().as_str(), format!("{url}/v1/messages"));
    let reply: Value = serde_json::from_str(&reply.text().await.expect("the whole body")).expect("JSON");
    assert_eq!(reply["content"][2]["name"], "book.room");
    let names: Vec<usize> =
        backend.received().iter().map(|one| one.json()["tools"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(names, [1, 2]);
}

#[tokio::test]
async fn streams_are_passed_on_as_they_come_and_continue_after_a_search() {
    let (first, reply) = held();
    let (backend, url) = Backend::start([reply, streamed(&calls())]).await;
    let mut reply = post(&url, &asked()).await;
    let mut events = events(&searches()).into_iter();
    first.send(events.next().expect("an event")).expect("the reply is read");
    let mut seen = reply.chunk().await.expect("no error").expect("a piece").to_vec();
    assert!(String::from_utf8_lossy(&seen).contains("message_start"));
    events.for_each(|event| first.send(event).expect("the reply is read"));
    drop(first);
    while let Some(piece) = reply.chunk().await.expect("no error") {
        seen.extend(piece);
    }
    assert_eq!(blocks_of(&String::from_utf8_lossy(&seen)), TOLD);
    assert_eq!(backend.received().len(), 2);
}

#[tokio::test]
async fn other_requests_pass_and_wrong_ones_are_refused() {
    let (backend, url) = Backend::start([whole(200, calls())]).await;
    let reply = client().get(format!("{url}/v1/models")).send().await.expect("a reply");
    assert_eq!(reply.text().await.expect("the whole body"), calls().to_string());
    assert_eq!(backend.received().len(), 1);
    let mut wrong = loaded();
    wrong["tools"] = json!(3);
    assert_eq!(post(&url, &wrong).await.status(), 400);
    assert_eq!(backend.received().len(), 0);
}

#[tokio::test]
async fn a_failed_connection_is_an_error_of_reqwest() {
    let request = client().post("http://127.0.0.1:1/v1/messages").header("content-type", "application/json");
    let error = request.body(loaded().to_string()).send().await.expect_err("no server");
    assert!(error.is_connect(), "{error:?}");
}
