//! A session: the HTTP request that waits for each answer, and the destination of other messages.

use std::collections::{BTreeMap, VecDeque};

use toolwire::internal::json::{self, Node};

use super::message::{Received, Rejection};
use crate::proxy::{
    message::{self, Envelope, Kind, Outline, INVALID_REQUEST, METHOD_NOT_FOUND, SERVER_ERROR},
    mirrored::ANNOTATION,
    versions::SUBSCRIPTION,
};

/// Maximum number, and maximum total size in bytes, of messages that wait until a stream opens.
const MAX_QUEUED: usize = 1_000;
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// Maximum number of unanswered requests, including those whose clients disconnected.
const MAX_UNANSWERED: usize = 10_000;
const PROGRESS: &str = "notifications/progress";

#[derive(Debug)]
pub(super) struct Session {
    /// Value of `Mcp-Session-Id`. `None` in the session that requests without a session id share.
    pub(super) id: Option<String>,
    /// Protocol version that client and server agreed on.
    pub(super) version: Option<String>,
    /// The HTTP request whose response is the stream for messages without a request.
    pub(super) stream: Option<u64>,
    /// Number of consecutive alarms without an open request.
    pub(super) idle_alarms: u64,
    /// Schemas of tools that mark arguments for headers, as JSON text, by the names of the tools. Only in the session
    /// that requests without a session id share.
    pub(super) header_schemas: BTreeMap<String, String>,
    /// Time of the last use: a number that increases with each use of any session.
    pub(super) last_use: u64,
    /// Requests that the server has not answered, by the keys of their ids in this session.
    calls: BTreeMap<String, Call>,
    /// Messages that wait for a stream.
    queued: VecDeque<String>,
    next: u64,
}

#[derive(Debug)]
struct Call {
    /// The HTTP request of the call; `None` if the client disconnected.
    request: Option<u64>,
    /// Number of the call in the order of arrival.
    order: u64,
    /// The id as the client wrote it.
    id: String,
    /// The progress token as the client wrote it, and its key.
    token: Option<(String, String)>,
    is_initialize: bool,
}

#[derive(Debug)]
pub(super) enum Delivery {
    /// The message answers this HTTP request.
    Answer(u64, String),
    /// The message refuses `initialize`, which this HTTP request sent. The session is not opened.
    Refused(Option<u64>, String),
    /// The message becomes an event in the stream of this HTTP request.
    Event(u64, String),
    /// No client can read the message, so the server receives this answer.
    Refuse(String),
    /// The message waits until a stream opens, or is discarded because no client wants it.
    None,
}

impl Session {
    pub(super) fn new(id: Option<String>) -> Session {
        Session {
            id,
            version: None,
            stream: None,
            idle_alarms: 0,
            header_schemas: BTreeMap::new(),
            last_use: 0,
            calls: BTreeMap::new(),
            queued: VecDeque::new(),
            next: 0,
        }
    }

    /// Returns the key of the request's id in this session, and the text of the request if it differs from the text of
    /// the client.
    pub(super) fn add_call(&mut self, number: u64, received: &Received) -> Result<(String, Option<String>), Rejection> {
        let Received::Request { id, key, method, token, .. } = received else { return Ok((String::new(), None)) };
        self.next += 1;
        let (key, text) = if self.id.is_some() {
            if self.calls.contains_key(key) || self.calls.len() >= MAX_UNANSWERED {
                let why = format!("expected a unique id, found {id}, whose request is still open");
                return Err(Rejection::new(400, INVALID_REQUEST, &why).for_message(received));
            }
            (key.clone(), None)
        } else {
            let why = "expected JSON of at most 512 levels, found more";
            let text = received.with_id(self.next);
            let text = text.ok_or_else(|| Rejection::new(400, INVALID_REQUEST, why).for_message(received))?;
            (message::key_of(&self.next.to_string()), Some(text))
        };
        let is_initialize = method == crate::proxy::INITIALIZE;
        let token = token.as_ref().map(|token| (token.clone(), message::key_of(token)));
        let call = Call { request: Some(number), order: self.next, id: id.clone(), token, is_initialize };
        self.calls.insert(key.clone(), call);
        Ok((key, text))
    }

    /// Handles the disconnection of a request's client. Since 2026-07-28, a disconnection cancels the request, and the
    /// result is the cancellation. In earlier versions, it cancels nothing.
    pub(super) fn on_disconnect(&mut self, key: &str) -> Option<String> {
        if self.id.is_some() {
            self.calls.get_mut(key)?.request = None;
            return None;
        }
        let call = self.calls.remove(key)?;
        Some(message::cancelled(&call.order.to_string(), "the client is gone"))
    }

    pub(super) fn remove_cancelled(&mut self, key: &str) -> Option<u64> {
        self.calls.remove(key)?.request
    }

    pub(super) fn connections(&self) -> Vec<u64> {
        self.calls.values().filter_map(|call| call.request).chain(self.stream).collect()
    }

    pub(super) fn unanswered(&self) -> Vec<(u64, String)> {
        self.calls.values().filter_map(|call| Some((call.request?, call.id.clone()))).collect()
    }

    pub(super) fn take_queued(&mut self) -> Vec<String> {
        std::mem::take(&mut self.queued).into()
    }

    pub(super) fn delivery(&mut self, text: &str) -> Delivery {
        let Some(outline) = Outline::read(text.as_bytes()) else { return self.deliver_unrelated(text, None) };
        if outline.method.is_none() && outline.answers {
            return self.answer(&outline.id.unwrap_or_default(), text);
        }
        let method = outline.method.unwrap_or_default();
        if self.id.is_none() {
            return self.deliver_shared(text);
        }
        if method == PROGRESS {
            let read = json::read(text).ok();
            let token = read.as_ref().and_then(|node| message::at(node, &["params", "progressToken"]));
            let token = token.map(json::canonical);
            let call = self.calls.values().find(|call| call.token.as_ref().map(|(_, key)| key) == token.as_ref());
            if let Some(number) = call.filter(|_| token.is_some()).and_then(|call| call.request) {
                return Delivery::Event(number, text.into());
            }
        }
        self.deliver_unrelated(text, outline.id)
    }

    fn answer(&mut self, id: &str, text: &str) -> Delivery {
        let Some(call) = self.calls.remove(&message::key_of(id)) else { return Delivery::None };
        let read = json::read(text).ok();
        if call.is_initialize {
            let version = read.as_ref().and_then(|node| message::text_at(node, &["result", "protocolVersion"]));
            self.version = version;
            if read.as_ref().is_some_and(|node| node.get("result").is_none()) {
                return Delivery::Refused(call.request, text.into());
            }
        }
        let Some(number) = call.request else { return Delivery::None };
        if self.id.is_some() {
            return Delivery::Answer(number, text.into());
        }
        if let Some(tools) = read.as_ref().and_then(|node| message::at(node, &["result", "tools"])?.as_array()) {
            self.header_schemas = schemas_with_headers(tools);
        }
        let why = "expected JSON of at most 512 levels, found more";
        let restored = read.map_or_else(
            || message::error(&call.id, SERVER_ERROR, why),
            |mut node| {
                node.set("id", json::read(&call.id).unwrap_or_default());
                json::write(&restored_subscription(node, &call))
            },
        );
        Delivery::Answer(number, restored)
    }

    /// Delivers a message of the shared session, other than a response, to the client whose request the message names.
    /// The message receives the ids of the client. A message that names no request is discarded.
    fn deliver_shared(&self, text: &str) -> Delivery {
        let Ok(mut node) = json::read(text) else { return Delivery::None };
        let progress = message::at(&node, &["params", "progressToken"]).map(json::canonical);
        let subscription = message::at(&node, &["params", "_meta", SUBSCRIPTION]).map(json::canonical);
        match Envelope::read(&node) {
            Some(Envelope { kind: Kind::Request, id, .. }) => {
                let why = "expected no request: since 2026-07-28, servers send none";
                return Delivery::Refuse(message::error(&id, METHOD_NOT_FOUND, why));
            }
            Some(Envelope { kind: Kind::Notification, .. }) => {}
            _ => return Delivery::None,
        }
        let Some(call) = progress.or(subscription).and_then(|key| self.calls.get(&key)) else { return Delivery::None };
        let Some(number) = call.request else { return Delivery::None };
        let token = call.token.as_ref().and_then(|(token, _)| json::read(token).ok());
        if let (Some(params), Some(token)) = (member(&mut node, "params"), token) {
            if params.get("progressToken").is_some() {
                params.set("progressToken", token);
            }
        }
        Delivery::Event(number, json::write(&restored_subscription(node, call)))
    }

    /// Delivers a message that belongs to no known request to the stream for such messages. Without this stream,
    /// delivers it to the latest open request, or keeps it for the next stream.
    fn deliver_unrelated(&mut self, text: &str, id: Option<String>) -> Delivery {
        let open = self.calls.values().filter_map(|call| Some((call.order, call.request?)));
        if let Some(number) = self.stream.or_else(|| open.max().map(|(_, number)| number)) {
            return Delivery::Event(number, text.into());
        }
        let size: usize = self.queued.iter().map(String::len).sum();
        if self.queued.len() < MAX_QUEUED && size + text.len() <= MAX_QUEUED_BYTES {
            self.queued.push_back(text.into());
            return Delivery::None;
        }
        id.map_or(Delivery::None, |id| {
            let why = "expected the client to read its messages, found that it does not";
            Delivery::Refuse(message::error(&id, SERVER_ERROR, why))
        })
    }
}

fn schemas_with_headers(tools: &[Node<'_>]) -> BTreeMap<String, String> {
    let schema = |tool: &Node<'_>| {
        let schema = json::write(tool.get("inputSchema")?);
        schema.contains(ANNOTATION).then_some((message::text_at(tool, &["name"])?, schema))
    };
    tools.iter().filter_map(schema).collect()
}

fn restored_subscription<'a>(mut node: Node<'a>, call: &'a Call) -> Node<'a> {
    let id = json::read(&call.id).unwrap_or_default();
    for holder in ["params", "result"] {
        let meta = member(&mut node, holder).and_then(|holder| member(holder, "_meta"));
        if let Some(meta) = meta.filter(|meta| meta.get(SUBSCRIPTION).is_some()) {
            meta.set(SUBSCRIPTION, id.clone());
        }
    }
    node
}

fn member<'n, 'a>(node: &'n mut Node<'a>, key: &'static str) -> Option<&'n mut Node<'a>> {
    node.as_object_mut()?.get_mut(key)
}
