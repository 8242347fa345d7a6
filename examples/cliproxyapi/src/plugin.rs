//! The methods of the plugin: a request is adapted once its upstream is known, and its reply is restored, whole or in
//! chunks.
//!
//! The plugin uses `request.intercept_after`, not `request.normalize`: only interceptors receive the `RequestID`, which
//! identifies the request of a chunk. They see the client's format, before the host translates the request and after it
//! has translated the reply.

use std::{
    collections::{HashMap, VecDeque},
    panic::catch_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{engine::general_purpose::STANDARD, Engine};
use serde_json::{json, Value};
use toolwire_core::{
    adapt_request, dialect_for, AdaptOptions, Code, DialectId, DialectQuery, Error, Exchange, RepairOptions,
    ReplyRestorer, Restore,
};

/// Maximum number of requests whose replies are expected. Beyond it, the oldest is forgotten, and its reply is passed
/// on unchanged.
const OPEN: usize = 4096;
/// Second version of the host's JSON. Since this version, requests have ids, and the host reports when a request is
/// complete.
const SCHEMA_VERSION: u64 = 2;

/// Beginnings of the text of an event.
const FIELDS: [&str; 5] = ["data:", "event:", "id:", "retry:", ":"];

/// A request whose reply is expected.
struct Open {
    /// Dialect and model that the request was adapted for.
    target: (DialectId, String),
    /// The client's body.
    received: String,
    /// The adapted body.
    sent: String,
    restore: Restore,
    stream: Option<ReplyRestorer>,
    /// True if a part of the stream could not be restored. The client received an error, and receives no more chunks.
    is_failed: bool,
}

#[derive(Default)]
struct State {
    /// Dialect for all models, if the configuration names one.
    dialect: Option<DialectId>,
    open: HashMap<String, Arc<Mutex<Open>>>,
    /// Ids in `open`, oldest first.
    order: VecDeque<String>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Why a method has no result.
enum Failure {
    /// The host's call is wrong: a code and a message.
    Call(&'static str, String),
    /// A request cannot be adapted, or its reply cannot be restored.
    Request(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Request(error)
    }
}

/// Answers a method with an envelope.
pub(crate) fn answer(method: &str, request: &[u8]) -> String {
    let request = match request {
        [] => Value::Null,
        bytes => match serde_json::from_slice(bytes) {
            Ok(request) => request,
            Err(error) => return failure("invalid_request", &error.to_string()),
        },
    };
    // A panic refuses its request, like an error.
    let answered = catch_unwind(|| answered(method, &request));
    let result = match answered
        .unwrap_or_else(|_| Err(Error::new(Code::Internal, "", "expected a result or an error, found a panic").into()))
    {
        Ok(result) => result,
        Err(Failure::Call(code, message)) => return failure(code, &message),
        Err(Failure::Request(error)) => match refused(method, &request, &error) {
            Some(result) => result,
            None => return failure(error.code().as_str(), &error.to_string()),
        },
    };
    json!({"ok": true, "result": result}).to_string()
}

/// Returns the envelope of an error.
pub(crate) fn failure(code: &str, message: &str) -> String {
    json!({"ok": false, "error": {"code": code, "message": message}}).to_string()
}

/// Forgets all requests, when the host ends or unloads the plugin.
pub(crate) fn forget_all() {
    *lock(&STATE) = None;
}

fn answered(method: &str, request: &Value) -> Result<Value, Failure> {
    match method {
        "plugin.register" | "plugin.reconfigure" => register(request),
        "request.intercept_after" => adapt(request),
        "response.intercept_after" => restore_whole(request),
        "response.intercept_stream_chunk" => restore_chunk(request),
        "request.complete" => {
            with_state(|state| state.forget(id_of(request)));
            Ok(json!({}))
        }
        "request.intercept_before" | "plugin.quiesce" | "plugin.shutdown" => Ok(json!({})),
        _ => Err(Failure::Call("unknown_method", format!("expected a method of this plugin, found `{method}`"))),
    }
}

/// Answers a hook whose request cannot be adapted, or whose reply cannot be restored: the client receives an error of
/// its API. CLIProxyAPI would only log an error of the envelope, and forward the body that it has. (Read in
/// `internal/pluginhost/adapters_interceptors.go`, 0602b53.)
fn refused(method: &str, request: &Value, error: &Error) -> Option<Value> {
    let format = request["SourceFormat"].as_str().unwrap_or_default();
    let path = match format {
        "claude" => "/v1/messages",
        "gemini" | "gemini-cli" => "/v1beta/models/m:generateContent",
        "openai-response" => "/v1/responses",
        _ => "/v1/chat/completions",
    };
    let body = Exchange::refusal(path, error);
    let result = match method {
        "request.intercept_after" => {
            with_state(|state| state.forget(id_of(request)));
            // 0602b53 has both ways to refuse a request; `sdk/pluginapi/types.go` of 026a762 has only `Terminate`.
            json!({
                "Reject": true,
                "RejectReason": error.to_string(),
                "Terminate": true,
                "StatusCode": 400,
                "ResponseHeaders": {"Content-Type": ["application/json"]},
                "ResponseBody": STANDARD.encode(body),
            })
        }
        // The hook cannot change the status.
        "response.intercept_after" => json!({"Body": STANDARD.encode(body)}),
        "response.intercept_stream_chunk" => {
            if let Some(open) = with_state(|state| state.open.get(id_of(request)).cloned()) {
                lock(&open).is_failed = true;
            }
            let chunk = text_of(request, "Body").unwrap_or_default();
            let Chunk { is_bare, end, .. } = Chunk::of(&chunk);
            let name = if path == "/v1/messages" { "event: error\n" } else { "" };
            let event = if is_bare { body } else { format!("{name}data: {body}") };
            json!({"Body": STANDARD.encode(event + end)})
        }
        _ => return None,
    };
    eprintln!("toolwire: {error}");
    Some(result)
}

fn register(request: &Value) -> Result<Value, Failure> {
    let yaml = bytes_of(request, "config_yaml").unwrap_or_default();
    let parse = |name: String| {
        let message = format!("expected the name of a dialect, found `{name}`");
        name.parse().map_err(|_| Failure::Call("invalid_config", message))
    };
    let dialect = configured_dialect(&String::from_utf8_lossy(&yaml)).map(parse).transpose()?;
    with_state(|state| state.dialect = dialect);
    let version = request["schema_version"].as_u64().unwrap_or(1).min(SCHEMA_VERSION);
    Ok(json!({
        "schema_version": version,
        "metadata": {
            "Name": "toolwire",
            "Version": env!("CARGO_PKG_VERSION"),
            "Author": "toolwire",
            "GitHubRepository": "https://github.com/toolwire/toolwire",
            "ConfigFields": [{
                "Name": "dialect",
                "Type": "string",
                "Description": "Dialect for all requests. Without it, the model determines the dialect.",
            }],
        },
        "capabilities": {
            "request_interceptor": true,
            "request_lifecycle_plugin": true,
            "response_interceptor": true,
            "response_stream_interceptor": true,
        },
    }))
}

/// Reads `dialect: NAME`, the only setting. Use a library for YAML if you add others.
fn configured_dialect(yaml: &str) -> Option<String> {
    let value = yaml.lines().find_map(|line| line.trim().strip_prefix("dialect:"))?;
    let name = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Adapts a request. Without an id, its reply could not be restored, so the request is passed on unchanged.
fn adapt(request: &Value) -> Result<Value, Failure> {
    let id = id_of(request);
    let Some(body) = text_of(request, "Body").filter(|_| !id.is_empty()) else { return Ok(json!({})) };
    let (dialect, known) = with_state(|state| (state.dialect, state.open.get(id).cloned()));
    let model = request["Model"].as_str().unwrap_or_default();
    let dialect = match dialect {
        Some(name) => name,
        None => dialect_for(&DialectQuery::default().model(model))?.dialect,
    };
    let target = (dialect, model.to_owned());
    let mut received = body.clone();
    // The host repeats the hook when it tries another credential or model, perhaps with the body that this hook
    // returned.
    if let Some(known) = known {
        let mut known = lock(&known);
        if known.sent == body && known.target == target {
            known.stream = None;
            known.is_failed = false;
            return Ok(json!({}));
        }
        if known.sent == body {
            received.clone_from(&known.received);
        }
    }
    let mut options = AdaptOptions::new(target.0).model(model);
    options.tools = options.tools.repair(RepairOptions::default());
    let adapted = adapt_request(received.as_str(), &options)?;
    for tool in &adapted.report.quarantined {
        eprintln!("toolwire: left out `{}`: {}", tool.name.as_deref().unwrap_or("a tool"), tool.message);
    }
    let sent = adapted.request.into_owned();
    let answer = if sent == body { json!({}) } else { json!({"Body": STANDARD.encode(&sent)}) };
    let restore = adapted.restore;
    let open = Open { target, received, sent, restore, stream: None, is_failed: false };
    with_state(|state| state.remember(id, open));
    Ok(answer)
}

fn restore_whole(request: &Value) -> Result<Value, Failure> {
    let open = with_state(|state| state.open.get(id_of(request)).cloned());
    let (Some(open), Some(body)) = (open, text_of(request, "Body")) else { return Ok(json!({})) };
    let restored = lock(&open).restore.reply(body.as_str())?.reply;
    Ok(if restored == body { json!({}) } else { json!({"Body": STANDARD.encode(restored.as_bytes())}) })
}

/// A chunk of a stream: the text of an event, or its JSON alone, which the host writes into an event.
struct Chunk<'c> {
    event: &'c str,
    /// White space after the event.
    end: &'c str,
    is_bare: bool,
}

impl Chunk<'_> {
    fn of(body: &str) -> Chunk<'_> {
        let (event, end) = body.split_at(body.trim_end().len());
        let is_bare = !FIELDS.iter().any(|field| event.starts_with(field));
        Chunk { event, end, is_bare }
    }
}

fn restore_chunk(request: &Value) -> Result<Value, Failure> {
    let open = with_state(|state| state.open.get(id_of(request)).cloned());
    // -1 (`StreamChunkHeaderInitIndex`) is the beginning of a stream, without a chunk.
    let is_chunk = request["ChunkIndex"].as_i64().is_some_and(|index| index >= 0);
    let (Some(open), Some(body), true) = (open, text_of(request, "Body"), is_chunk) else { return Ok(json!({})) };
    let mut open = lock(&open);
    let Open { restore, stream, is_failed, .. } = &mut *open;
    if *is_failed {
        return Ok(json!({"DropChunk": true}));
    }
    let stream = stream.get_or_insert_with(|| restore.stream());
    let Chunk { event, end, is_bare } = Chunk::of(&body);
    let prefix = if is_bare { "data: " } else { "" };
    let piece = format!("{prefix}{event}\n\n");
    let events = stream.feed_text(&piece)?;
    let events = events.trim_end();
    if events.is_empty() {
        return Ok(json!({"DropChunk": true}));
    }
    // Further events keep their own prefix: the host adds one only at the beginning.
    let text = if is_bare { events.strip_prefix(prefix).unwrap_or(events) } else { events };
    Ok(if text == event { json!({}) } else { json!({"Body": STANDARD.encode(format!("{text}{end}"))}) })
}

impl State {
    fn remember(&mut self, id: &str, open: Open) {
        if self.open.insert(id.to_owned(), Arc::new(Mutex::new(open))).is_none() {
            self.order.push_back(id.to_owned());
        }
        while self.order.len() > OPEN {
            let oldest = self.order.pop_front().unwrap_or_default();
            self.open.remove(&oldest);
        }
    }

    fn forget(&mut self, id: &str) {
        if self.open.remove(id).is_some() {
            self.order.retain(|other| other != id);
        }
    }
}

/// Locks also after a panic: an `Open` is then marked as failed, and its restorer is not used again. `State` is only
/// locked for single changes of its collections, which do not panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_state<T>(what: impl FnOnce(&mut State) -> T) -> T {
    what(lock(&STATE).get_or_insert_with(State::default))
}

fn id_of(request: &Value) -> &str {
    request["RequestID"].as_str().unwrap_or_default().trim()
}

/// Returns a member of bytes, which JSON has as base64.
fn bytes_of(request: &Value, name: &str) -> Option<Vec<u8>> {
    STANDARD.decode(request[name].as_str()?).ok().filter(|bytes| !bytes.is_empty())
}

fn text_of(request: &Value, name: &str) -> Option<String> {
    String::from_utf8(bytes_of(request, name)?).ok()
}
