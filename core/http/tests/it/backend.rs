//! An API on this machine: it records requests, and gives prepared replies.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::{combinators::UnsyncBoxBody, BodyExt as _, Full, StreamBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{json, Value};
use tokio::{net::TcpListener, sync::mpsc};

pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

pub type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;

#[derive(Clone, Default)]
pub struct Backend {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Backend {
    pub async fn start(replies: impl IntoIterator<Item = Reply>) -> (Backend, String) {
        let backend = Backend { replies: Arc::new(Mutex::new(replies.into_iter().collect())), ..Backend::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("an address");
        let address = listener.local_addr().expect("an address");
        let own = backend.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                let answer = service_fn(move |request| own.clone().answer(request));
                tokio::spawn(async move { http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await });
            }
        });
        (backend, format!("http://{address}"))
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Reply, hyper::Error> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let received = Received { path: parts.uri.to_string(), headers: parts.headers, body };
        self.received.lock().expect("no test fails here").push(received);
        let reply = self.replies.lock().expect("no test fails here").pop_front();
        Ok(reply.unwrap_or_else(|| whole(500, json!({"error": {"message": "nothing more to say"}}))))
    }

    pub fn received(&self) -> Vec<Received> {
        std::mem::take(&mut self.received.lock().expect("no test fails here"))
    }
}

pub fn whole(status: u16, reply: Value) -> Reply {
    let body = Full::new(Bytes::from(reply.to_string())).boxed_unsync();
    let head = Response::builder().status(status).header("content-type", "application/json").header("etag", "\"1\"");
    head.body(body).expect("a reply")
}

/// Returns a reply whose pieces a test sends, and the end at which it sends them.
pub fn held() -> (mpsc::UnboundedSender<String>, Reply) {
    let (send, mut receive) = mpsc::unbounded_channel::<String>();
    let pieces = futures_util::stream::poll_fn(move |cx| receive.poll_recv(cx));
    let frames = futures_util::StreamExt::map(pieces, |piece| Ok::<_, Infallible>(Frame::data(Bytes::from(piece))));
    let head = Response::builder().header("content-type", "text/event-stream; charset=utf-8");
    (send, head.body(StreamBody::new(frames).boxed_unsync()).expect("a reply"))
}

pub fn streamed(message: &Value) -> Reply {
    let (send, reply) = held();
    events(message).into_iter().for_each(|event| send.send(event).expect("the reply is read"));
    reply
}

pub fn events(message: &Value) -> Vec<String> {
    let block = &message["content"][0];
    let (mut start, mut opened) = (message.clone(), block.clone());
    (start["content"], start["stop_reason"], opened["input"]) = (json!([]), Value::Null, json!({}));
    let piece = json!({"type": "input_json_delta", "partial_json": block["input"].to_string()});
    [
        json!({"type": "message_start", "message": start}),
        json!({"type": "content_block_start", "index": 0, "content_block": opened}),
        json!({"type": "content_block_delta", "index": 0, "delta": piece}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
    .collect()
}

pub fn events_of(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

pub fn blocks_of(text: &str) -> Vec<String> {
    let starts = events_of(text).into_iter().filter(|event| event["type"] == "content_block_start");
    starts.map(|event| event["content_block"]["type"].as_str().unwrap_or_default().to_owned()).collect()
}

fn message(block: Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"})
}

pub fn searches() -> Value {
    message(json!({"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "meeting room"}}))
}

pub fn calls() -> Value {
    message(json!({"type": "tool_use", "id": "t2", "name": "book_room", "input": {}}))
}

fn request(tools: Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "a room"}], "tools": tools})
}

fn room() -> Value {
    json!({
        "name": "book.room",
        "description": "Books a meeting room",
        "input_schema": {"type": "object", "properties": {}},
    })
}

/// A request with a tool whose name has to be changed.
pub fn loaded() -> Value {
    request(json!([room()]))
}

/// A request whose tool is found by a search.
pub fn asked() -> Value {
    let mut room = room();
    room["defer_loading"] = json!(true);
    request(json!([{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}, room]))
}

/// The blocks that a client sees after a search.
pub const TOLD: [&str; 3] = ["server_tool_use", "tool_search_tool_result", "tool_use"];
