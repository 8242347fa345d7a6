//! `ToolwireLayer` over a client of hyper.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{
    client::legacy::{connect::HttpConnector, Client},
    rt::TokioExecutor,
};
use serde_json::{json, Value};
use toolwire::{options::RepairOptions, Dialect, ExchangeOptions};
use toolwire_http::{ReplyBody, ToolwireLayer, ToolwireService};
use tower_layer::Layer as _;
use tower_service::Service as _;

use crate::backend::{
    asked, blocks_of, calls, events, events_of, held, loaded, searches, streamed, whole, Backend, TOLD,
};

type Adapted = ToolwireService<Client<HttpConnector, Full<Bytes>>>;

fn options() -> ExchangeOptions {
    ExchangeOptions::default().dialect(Dialect::ANTHROPIC)
}

fn service(layer: &ToolwireLayer) -> Adapted {
    layer.layer(Client::builder(TokioExecutor::new()).build_http())
}

fn layer() -> ToolwireLayer {
    ToolwireLayer::new(options()).expect("the options are valid")
}

fn post(url: &str, body: impl ToString) -> Request<Full<Bytes>> {
    let request = Request::post(url).header("content-type", "application/json");
    request.body(Full::from(body.to_string())).expect("a request")
}

async fn send(service: &mut Adapted, request: Request<Full<Bytes>>) -> Response<ReplyBody> {
    std::future::poll_fn(|cx| service.poll_ready(cx)).await.expect("ready");
    service.call(request).await.expect("a reply")
}

async fn text(reply: Response<ReplyBody>) -> String {
    let bytes = reply.into_body().collect().await.expect("the whole body").to_bytes();
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

async fn value(reply: Response<ReplyBody>) -> Value {
    serde_json::from_str(&text(reply).await).expect("JSON")
}

#[tokio::test]
async fn a_whole_reply_is_restored() {
    let (backend, url) = Backend::start([whole(200, calls())]).await;
    let mut request = post(&format!("{url}/v1/messages"), loaded());
    request.headers_mut().insert("accept-encoding", "gzip".parse().expect("a value"));
    let reply = send(&mut service(&layer()), request).await;
    assert!(reply.headers().get("etag").is_none());
    assert_eq!(value(reply).await["content"][0]["name"], "book.room");
    let [received] = &backend.received()[..] else { panic!("expected one request") };
    assert_eq!(received.json()["tools"][0]["name"], "book_room");
    assert!(received.headers.get("accept-encoding").is_none());
    assert_eq!(received.headers["content-length"], received.body.len().to_string().as_str());
}

#[tokio::test]
async fn searches_are_answered_in_whole_replies() {
    let (backend, url) = Backend::start([whole(200, searches()), whole(200, calls())]).await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reports);
    let layer =
        layer().on_request(move |exchange| seen.lock().expect("no test fails here").push(exchange.request().len()));
    let mut request = post(&format!("{url}/v1/messages"), asked());
    request.headers_mut().insert("idempotency-key", "k".parse().expect("a value"));
    let reply = value(send(&mut service(&layer), request).await).await;
    let blocks: Vec<&Value> = reply["content"].as_array().into_iter().flatten().map(|block| &block["type"]).collect();
    assert_eq!(blocks, TOLD);
    let received = backend.received();
    let keys: Vec<bool> = received.iter().map(|one| one.headers.contains_key("idempotency-key")).collect();
    assert_eq!(keys, [true, false], "to ask the model again is a new request");
    let sizes: Vec<usize> = received.iter().map(|one| one.body.len()).collect();
    assert_eq!(*reports.lock().expect("no test fails here"), sizes);
}

#[tokio::test]
async fn a_stream_is_passed_on_as_it_comes_and_continues_after_a_search() {
    let (first, reply) = held();
    let (backend, url) = Backend::start([reply, streamed(&calls())]).await;
    let reply = send(&mut service(&layer()), post(&format!("{url}/v1/messages"), asked())).await;
    let mut body = reply.into_body();
    let mut events = events(&searches()).into_iter();
    first.send(events.next().expect("an event")).expect("the reply is read");
    let piece = body.frame().await.expect("a piece").expect("no error").into_data().expect("data");
    let mut seen = String::from_utf8(piece.to_vec()).expect("UTF-8");
    assert!(seen.contains("message_start"), "{seen}");
    events.for_each(|event| first.send(event).expect("the reply is read"));
    drop(first);
    seen += std::str::from_utf8(&body.collect().await.expect("the rest").to_bytes()).expect("UTF-8");
    assert_eq!(blocks_of(&seen), TOLD);
    assert_eq!(events_of(&seen).last().expect("an event")["type"], "message_stop");
    assert_eq!(backend.received().len(), 2);
}

#[tokio::test]
async fn an_error_of_a_later_round_ends_the_stream() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}});
    let (_, url) = Backend::start([streamed(&searches()), whole(529, overloaded.clone())]).await;
    let seen = text(send(&mut service(&layer()), post(&format!("{url}/v1/messages"), asked())).await).await;
    assert_eq!(blocks_of(&seen), TOLD[..2]);
    assert_eq!(events_of(&seen).last(), Some(&overloaded));
}

#[tokio::test]
async fn other_requests_and_error_replies_pass() {
    let error = json!({"error": {"message": "no"}});
    let replies = [whole(200, calls()), whole(200, calls()), whole(400, error.clone())];
    let (backend, url) = Backend::start(replies).await;
    let mut service = service(&layer());
    let spelled = r#" { "model": "m",  "messages": [ ], "tools": [] }"#;
    let other = send(&mut service, post(&format!("{url}/v1/embeddings"), spelled)).await;
    assert!(other.headers().contains_key("etag"));
    assert_eq!(value(other).await, calls());
    let get = Request::get(format!("{url}/v1/models?a=b")).body(Full::default()).expect("a request");
    assert_eq!(value(send(&mut service, get).await).await, calls());
    let refused = send(&mut service, post(&format!("{url}/v1/messages"), loaded())).await;
    assert_eq!((refused.status().as_u16(), value(refused).await), (400, error));
    let received = backend.received();
    assert_eq!(received[0].body, spelled);
    assert_eq!(received[1].path, "/v1/models?a=b");
}

#[tokio::test]
async fn a_request_that_cannot_be_adapted_is_not_sent() {
    let (backend, url) = Backend::start([]).await;
    let mut wrong = loaded();
    wrong["tools"] = json!(3);
    let reply = send(&mut service(&layer()), post(&format!("{url}/v1/messages"), wrong)).await;
    assert_eq!(
        (reply.status().as_u16(), &reply.headers()["x-should-retry"]),
        (400, &"false".parse().expect("a value"))
    );
    assert_eq!(value(reply).await["error"]["type"], "invalid_request_error");
    assert_eq!(backend.received().len(), 0);
}

#[tokio::test]
async fn a_compressed_reply_is_an_error() {
    let mut packed = whole(200, calls());
    packed.headers_mut().insert("content-encoding", "gzip".parse().expect("a value"));
    let (_, url) = Backend::start([packed]).await;
    let reply = send(&mut service(&layer()), post(&format!("{url}/v1/messages"), loaded())).await;
    assert_eq!(reply.status(), 502);
    let message = value(reply).await["error"]["message"].to_string();
    assert!(message.contains("expected a reply without `content-encoding`, found `gzip`"), "{message}");
}

#[tokio::test]
async fn repairs_are_reported() {
    let mut call = calls();
    call["content"][0]["input"] = json!({"count": "3"});
    let mut request = loaded();
    request["tools"][0]["input_schema"]["properties"]["count"] = json!({"type": "integer"});
    let (_, url) = Backend::start([whole(200, call)]).await;
    let repairs = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&repairs);
    let layer = ToolwireLayer::new(options().repair(RepairOptions::default())).expect("the options are valid");
    let layer = layer.on_repair(move |calls| *seen.lock().expect("no test fails here") += calls.len());
    let reply = value(send(&mut service(&layer), post(&format!("{url}/v1/messages"), request)).await).await;
    assert_eq!(reply["content"][0]["input"], json!({"count": 3}));
    assert_eq!(*repairs.lock().expect("no test fails here"), 1);
}

#[tokio::test]
async fn betas_are_settled() {
    let (backend, url) = Backend::start([whole(200, calls())]).await;
    let mut request = post(&format!("{url}/v1/messages"), asked());
    let betas = "advanced-tool-use-2025-11-20, output-128k-2025-02-19";
    request.headers_mut().insert("anthropic-beta", betas.parse().expect("a value"));
    let layer =
        ToolwireLayer::new(ExchangeOptions::default().dialect(Dialect::MOONSHOT)).expect("the options are valid");
    send(&mut service(&layer), request).await;
    let [received] = &backend.received()[..] else { panic!("expected one request") };
    let beta = received.headers.get("anthropic-beta").map(|value| value.to_str().unwrap_or_default().to_owned());
    assert!(beta.is_none_or(|beta| !beta.contains("advanced-tool-use")), "the backend does not know this beta");
}

#[test]
fn wrong_options_fail_at_once() {
    let failed = ToolwireLayer::new(ExchangeOptions::default().dialect(Dialect::MOONSHOT).template("chatml"));
    assert_eq!(failed.map(drop).expect_err("an error").code().as_str(), "invalid-option");
}

#[tokio::test]
async fn the_base_url_chooses_the_dialect() {
    let (_, url) = Backend::start([whole(200, json!({"choices": []}))]).await;
    let dialect = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&dialect);
    let layer = ToolwireLayer::new(ExchangeOptions::default()).expect("the options are valid");
    let layer = layer.base_url("https://api.moonshot.ai/").on_request(move |exchange| {
        *seen.lock().expect("no test fails here") = exchange.report().dialect.to_string();
    });
    let tool = json!({"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [tool]});
    send(&mut service(&layer), post(&format!("{url}/v1/chat/completions"), body)).await;
    assert_eq!(*dialect.lock().expect("no test fails here"), "moonshot");
}
