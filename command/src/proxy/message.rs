//! JSON-RPC messages: their kinds, the messages that the proxy writes itself, and the outline of a message.
//!
//! The outline is read from the bytes of a message without building a tree. It is used for messages that the JSON
//! reader refuses (nested too deeply, `NaN`, not UTF-8). It also finds members that two readers could interpret
//! differently.

use std::ops::Range;

use toolwire::internal::json::{self, Member, Node, Object, Text};

/// The message is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// The message is JSON, but not a valid request.
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters have an unknown name, URI or id.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The server is not running, or does not answer.
pub(super) const SERVER_ERROR: i32 = -32000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

pub(super) struct Envelope {
    pub(super) kind: Kind,
    /// The id as JSON text in its original spelling; empty for a notification.
    pub(super) id: String,
    /// Canonical form of the id: `"\u0041"` and `"A"` have the same key, and so do `2.0` and `2`.
    pub(super) key: String,
    /// The method; empty for a response.
    pub(super) method: String,
}

impl Envelope {
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

pub(super) fn text_at(message: &Node<'_>, path: &[&str]) -> Option<String> {
    at(message, path)?.as_text().map(|text| text.display().into_owned())
}

pub(super) fn at<'n, 'a>(message: &'n Node<'a>, path: &[&str]) -> Option<&'n Node<'a>> {
    path.iter().try_fold(message, |node, key| node.get(*key))
}

pub(super) fn set_at(message: &mut Node<'_>, path: &[&'static str], key: &'static str, text: &str) {
    match path {
        [] => message.set(key, Node::string(text.to_string())),
        [first, rest @ ..] => {
            message.visit(*first, |inner| set_at(inner, rest, key, text));
        }
    }
}

/// Writes a request. `params` is JSON text; if it is empty, the member is omitted.
pub(super) fn request(id: &str, method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{}{params}}}", quoted(method))
}

/// Returns the key of an id, which is JSON text. See [`Envelope::key`].
pub(super) fn key_of(id: &str) -> String {
    json::read(id).map(|id| json::canonical(&id)).unwrap_or_default()
}

/// Writes a cancellation. `id` is JSON text.
pub(super) fn cancelled(id: &str, reason: &str) -> String {
    let params = format!("{{\"requestId\":{id},\"reason\":{}}}", quoted(reason));
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}")
}

pub(super) fn notification(method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{}}}", quoted(method))
}

/// Writes a response. `result` is JSON text.
pub(super) fn result(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

pub(super) fn error(id: &str, code: i32, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}", quoted(message))
}

pub(super) fn failed_call(message: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true}}", quoted(message))
}

pub(super) fn text_result(text: &str) -> String {
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quoted(text))
}

pub(super) fn quoted(text: &str) -> String {
    json::write(&Node::string(text))
}

/// Returns JSON text, or an empty string if the request has no parameters.
pub(super) fn params_without(message: &Node<'_>, names: &[&str]) -> String {
    let Some(params) = message.get("params") else { return String::new() };
    let mut params = params.clone();
    for name in names {
        params.remove(name);
    }
    json::write(&params)
}

pub(super) fn params_with<'a>(params: &'a str, name: &'static str, value: Node<'a>) -> String {
    let read = json::read(params).ok().filter(|node| node.as_object().is_some());
    let mut node: Node<'a> = match read {
        Some(node) => node,
        None => empty(),
    };
    node.set(name, value);
    json::write(&node)
}

/// Returns parameters with nothing but the `_meta` of a request. The `progressToken` is removed, because the client
/// must not receive the progress of the proxy's request.
pub(super) fn meta_of(message: &Node<'_>) -> String {
    let Some(meta) = at(message, &["params", "_meta"]) else { return String::new() };
    let mut meta = meta.clone();
    meta.remove("progressToken");
    let members = Vec::from([Member { key: Text::new("_meta"), value: meta }]);
    json::write(&Node::object(Object::from_members(members)))
}

pub(super) fn empty<'a>() -> Node<'a> {
    Node::object(Object::from_members(Vec::new()))
}

/// Members in order: the name, and the byte range of the value.
pub(super) type Members = Vec<(String, Range<usize>)>;

/// Members that determine the kind and the destination of a message.
const DECISIVE: [&str; 8] = ["jsonrpc", "id", "method", "params", "result", "error", "name", "arguments"];

/// Returns the members of the object at the start of the range, or `None` if the range starts with no object. The
/// contents of the values are skipped and not checked.
fn members(bytes: &[u8], within: Range<usize>) -> Option<Members> {
    let mut at = space(bytes, within.start);
    let mut found = Vec::new();
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return Some(found);
    }
    loop {
        let end = string(bytes, at)?;
        let name = std::str::from_utf8(bytes.get(at..end)?).ok()?;
        let name = json::read(name).ok()?.as_text()?.display().into_owned();
        at = space(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        let start = space(bytes, at + 1);
        let end = value(bytes, start)?;
        found.push((name, start..end));
        at = space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1),
            Some(b'}') => return Some(found),
            _ => return None,
        }
    }
}

/// Returns true if an object, which is JSON text, has the member.
pub(super) fn has_member(object: &str, name: &str) -> bool {
    members(object.as_bytes(), 0..object.len()).is_some_and(|members| members.iter().any(|(found, _)| found == name))
}

/// Returns the name of a member that occurs twice, or differs from a decisive member only in case. Two JSON readers
/// could choose different members, so the server could run a call that the proxy has not checked.
pub(super) fn ambiguous(bytes: &[u8]) -> Option<String> {
    let top = members(bytes, 0..bytes.len())?;
    let params = top.iter().find(|(name, _)| name == "params").and_then(|(_, at)| members(bytes, at.clone()));
    doubtful(&top).or_else(|| doubtful(params.as_ref()?))
}

fn doubtful(members: &Members) -> Option<String> {
    let is_decisive = |name: &str| DECISIVE.iter().any(|decisive| decisive.eq_ignore_ascii_case(name));
    let mut seen: Vec<&str> = Vec::new();
    for (name, _) in members.iter().filter(|(name, _)| is_decisive(name)) {
        if !DECISIVE.contains(&name.as_str()) || seen.contains(&name.as_str()) {
            return Some(name.clone());
        }
        seen.push(name);
    }
    None
}

/// Envelope of a JSON-RPC message that need not be readable as a whole.
pub struct Outline {
    /// The id as JSON text.
    pub id: Option<String>,
    /// The method of a request or notification.
    pub method: Option<String>,
    /// True if the message has `result` or `error`.
    pub answers: bool,
}

impl Outline {
    /// Returns the key of an id other than `null`. All spellings of an id have the same key.
    pub fn key(&self) -> Option<String> {
        self.id.as_deref().map(key_of).filter(|key| key != "null")
    }

    /// Returns the envelope of the object with which the bytes begin.
    pub fn read(bytes: &[u8]) -> Option<Outline> {
        let members = members(bytes, 0..bytes.len())?;
        let at = |key: &str| members.iter().find(|(name, _)| name == key).and_then(|(_, at)| bytes.get(at.clone()));
        let text = |key: &str| std::str::from_utf8(at(key)?).ok();
        let id = text("id").filter(|id| json::read(id).is_ok()).map(String::from);
        let method = text("method").and_then(|method| json::read(method).ok());
        let method = method.as_ref().and_then(Node::as_text).map(|method| method.display().into_owned());
        Some(Outline { id, method, answers: at("result").is_some() || at("error").is_some() })
    }
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Returns the end of the string.
fn string(bytes: &[u8], start: usize) -> Option<usize> {
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the end of the value. Brackets are counted, without recursion.
fn value(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = string(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 0 => return (at > start).then_some(at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' if depth == 0 => return (at > start).then_some(at),
            _ => at += 1,
        }
        if depth == 0 && matches!(bytes.get(at - 1), Some(b'"' | b'}' | b']')) {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ambiguous, members, Outline};

    fn names(text: &str) -> Option<Vec<(String, String)>> {
        let found = members(text.as_bytes(), 0..text.len())?;
        Some(found.into_iter().map(|(name, at)| (name, text.get(at).unwrap_or_default().trim().to_string())).collect())
    }

    #[test]
    fn members_are_found_in_objects_that_readers_refuse() {
        let deep = format!("{{\"id\" : 7, \"result\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
        let found = names(&deep).unwrap_or_default();
        assert_eq!((found[0].0.as_str(), found[0].1.as_str(), found[1].0.as_str()), ("id", "7", "result"));
        let not_a_number = names(r#"{"id":1,"result":{"x":NaN,"s":"}\"]"}}"#).unwrap_or_default();
        assert_eq!(not_a_number[1].1, r#"{"x":NaN,"s":"}\"]"}"#);
        assert_eq!(names(r#" {"\u0069d": "a,b"} "#), Some(Vec::from([("id".into(), r#""a,b""#.into())])));
        for broken in ["", "[]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":}", "{a:1}", "{\"a\":\"", "{\"a\":1,}"] {
            assert_eq!(names(broken), None, "{broken}");
        }
        assert_eq!(names("{}"), Some(Vec::new()));
    }

    #[test]
    fn outline_has_the_id_and_the_method() {
        let outline = Outline::read(b"{\"id\":\"a\",\"method\":\"x/y\",\"params\":{\"t\":\"\xff\"}}");
        let outline = outline.map(|outline| (outline.id, outline.method, outline.answers));
        assert_eq!(outline, Some((Some("\"a\"".into()), Some("x/y".into()), false)));
    }

    #[test]
    fn members_that_two_readers_could_read_differently_are_found() {
        let found = |text: &str| ambiguous(text.as_bytes());
        assert_eq!(
            found(r#"{"id":1,"method":"tools/call","params":{"name":"read","name":"rm"}}"#),
            Some("name".into())
        );
        assert_eq!(found(r#"{"method":"ping","Method":"tools/call"}"#), Some("Method".into()));
        assert_eq!(found(r#"{"id":1,"params":{"n\u0061me":"a","name":"b"}}"#), Some("name".into()));
        assert_eq!(found(r#"{"id":1,"method":"x","params":{"other":1,"other":2}}"#), None);
        assert_eq!(found(r#"{"id":1,"params":{"name":"a","arguments":{"name":1,"Name":2}}}"#), None);
    }
}
