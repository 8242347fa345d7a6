//! JSON-RPC messages: what kind they are, and the ones that the proxy writes itself.

use toolwire::json::{self, Member, Node, Object, Text};

/// The code of an error for a message that is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// The code of an error for JSON that is no request.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The code for an unknown method.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The code for parameters that name nothing known.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The code for a server that is not there, or does not answer.
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
    /// The id as JSON text, spelled as it came. Empty for a notification.
    pub(super) id: String,
    /// The canonical form of the id: `"\u0041"` and `"A"` have one key, `2.0` and `2` have one.
    pub(super) key: String,
    /// Empty for a response.
    pub(super) method: String,
}

impl Envelope {
    /// `None` if it is no message of JSON-RPC.
    pub(super) fn read(message: &Node<'_>) -> Option<Envelope> {
        message.as_object()?;
        let id = message.get("id");
        let method = message.get("method").and_then(Node::as_text).map(|method| method.display().into_owned());
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

/// Returns the text at a path of members.
pub(super) fn text_at(message: &Node<'_>, path: &[&str]) -> Option<String> {
    at(message, path)?.as_text().map(|text| text.display().into_owned())
}

/// Returns the value at a path of members.
pub(super) fn at<'n, 'a>(message: &'n Node<'a>, path: &[&str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(message, |node, key| node.get(*key))
}

/// Writes a request of the proxy's own. `params` is JSON text; if it is empty, the member is left out.
pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{}{params}}}", quoted(method))
}

/// The key of an id that is JSON text: see [`Envelope::key`].
pub(super) fn key_of(id: &str) -> String {
    json::read(id).map(|id| json::canonical(&id)).unwrap_or_default()
}

/// The cancellation of a request. `id` is JSON text.
pub(super) fn cancelled(id: &str, reason: &str) -> String {
    let params = format!("{{\"requestId\":{id},\"reason\":{}}}", quoted(reason));
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}

/// A notification of the proxy's own.
pub(super) fn notification(method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{}}}", quoted(method))
}

/// The answer to a request. `result` is JSON text.
pub(super) fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// The refusal of a request.
pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}", quoted(message))
}

/// Writes the result of a call that failed, with a message for the model.
pub(super) fn failed_call(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", quoted(message))
}

/// Writes the result of a call that is a text.
pub(super) fn text_result(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quoted(text))
}

/// A string as JSON text.
pub(super) fn quoted(text: &str) -> String {
    json::write(&Node::string(text))
}

/// Returns the parameters of a request as JSON text, without the members of these names. The text is empty if the
/// request has no parameters.
pub(super) fn params_without(message: &Node<'_>, names: &[&str]) -> String {
    let Some(params) = message.get("params") else { return String::new() };
    let mut params = params.clone();
    for name in names {
        params.remove(name);
    }
    json::write(&params)
}

/// Returns parameters with one more member, as JSON text.
pub(super) fn params_with<'a>(params: &'a str, name: &'static str, value: Node<'a>) -> String {
    let read = json::read(params).ok().filter(|node| node.as_object().is_some());
    let mut node: Node<'a> = match read {
        Some(node) => node,
        None => empty(),
    };
    node.set(name, value);
    json::write(&node)
}

/// Returns parameters that have only the `_meta` of a request, without its `progressToken`: progress of another request
/// is not for the client.
pub(super) fn meta_of(message: &Node<'_>) -> String {
    let Some(meta) = at(message, &["params", "_meta"]) else { return String::new() };
    let mut meta = meta.clone();
    meta.remove("progressToken");
    let members = Vec::from([Member { key: Text::new("_meta"), value: meta }]);
    json::write(&Node::object(Object::from_members(members)))
}

/// An empty object.
pub(super) fn empty<'a>() -> Node<'a> {
    Node::object(Object::from_members(Vec::new()))
}
