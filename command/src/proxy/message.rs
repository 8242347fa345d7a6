//! JSON-RPC messages: their kinds, and the messages that the proxy writes itself.

use toolwire::json::{self, Member, Node, Object, Text};

/// Error code for a message that is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// Error code for JSON that is not a valid request.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// Error code for an unknown method.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// Error code for parameters with an unknown name, URI or id.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// Error code for a server that is not running or does not answer.
pub(super) const SERVER_ERROR: i32 = -32000;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

/// The envelope of a message.
pub(super) struct Envelope {
    pub(super) kind: Kind,
    /// The id as JSON text, in its original spelling. Empty for a notification.
    pub(super) id: String,
    /// Canonical form of the id: `"\u0041"` and `"A"` have the same key, and so do `2.0` and `2`.
    pub(super) key: String,
    /// The method. Empty for a response.
    pub(super) method: String,
}

impl Envelope {
    /// Reads the envelope. Returns `None` if `message` is not a JSON-RPC message.
    pub(super) fn read(message: &Node<'_>) -> Option<Envelope> {
        message.as_object()?;
        let id = message.get("id");
        let method = message.text_at("method").map(|method| method.display().into_owned());
        let kind = match (&method, id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => Kind::Response,
            _ => return None,
        };
        let key = id.map(json::canonical).unwrap_or_default();
        Some(Envelope { kind, id: id.map(json::write).unwrap_or_default(), key, method: method.unwrap_or_default() })
    }
}

/// Returns the string at a path of members.
pub(super) fn text_at(message: &Node<'_>, path: &[&str]) -> Option<String> {
    at(message, path)?.as_text().map(|text| text.display().into_owned())
}

/// Returns the value at a path of members.
pub(super) fn at<'n, 'a>(message: &'n Node<'a>, path: &[&str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(message, |node, key| node.get(*key))
}

/// Returns one of the proxy's own requests. `params` is JSON text; if it is empty, the member is omitted.
pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{}{params}}}", quoted(method))
}

/// Returns the key of an id that is JSON text; see [`Envelope::key`].
pub(super) fn key_of(id: &str) -> String {
    json::read(id).map(|id| json::canonical(&id)).unwrap_or_default()
}

/// Returns a notification that cancels a request. `id` is JSON text.
pub(super) fn cancelled(id: &str, reason: &str) -> String {
    let params = format!("{{\"requestId\":{id},\"reason\":{}}}", quoted(reason));
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}

/// Returns one of the proxy's own notifications.
pub(super) fn notification(method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{}}}", quoted(method))
}

/// Returns the response to a request. `result` is JSON text.
pub(super) fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// Returns an error response to a request.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}", quoted(message))
}

/// Returns the result of a failed call, with a message for the model.
pub(super) fn failed_call(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", quoted(message))
}

/// Returns the result of a call as a single text block.
pub(super) fn text_result(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quoted(text))
}

/// Returns a string as JSON text.
pub(super) fn quoted(text: &str) -> String {
    json::write(&Node::string(text))
}

/// Returns the parameters of a request as JSON text, without the members `names`. Returns an empty string if the
/// request has no parameters.
pub(super) fn params_without(message: &Node<'_>, names: &[&str]) -> String {
    let Some(params) = message.get("params") else { return String::new() };
    let mut params = params.clone();
    for name in names {
        params.remove(name);
    }
    json::write(&params)
}

/// Returns parameters with an additional member, as JSON text.
pub(super) fn params_with<'a>(params: &'a str, name: &'static str, value: Node<'a>) -> String {
    let read = json::read(params).ok().filter(|node| node.as_object().is_some());
    let mut node: Node<'a> = match read {
        Some(node) => node,
        None => empty(),
    };
    node.set(name, value);
    json::write(&node)
}

/// Returns parameters with nothing but the `_meta` of a request, without its `progressToken`: the client must not
/// receive the progress of the proxy's request.
pub(super) fn meta_of(message: &Node<'_>) -> String {
    let Some(meta) = at(message, &["params", "_meta"]) else { return String::new() };
    let mut meta = meta.clone();
    meta.remove("progressToken");
    let members = Vec::from([Member { key: Text::new("_meta"), value: meta }]);
    json::write(&Node::object(Object::from_members(members)))
}

/// Returns an empty object.
pub(super) fn empty<'a>() -> Node<'a> {
    Node::object(Object::from_members(Vec::new()))
}
