//! Headers of requests and replies: the forwarded headers, and the headers of a connection or a body.

use std::borrow::Cow;

use toolwire::internal::json::Node;

use crate::document::record;

/// Names and values in their original order. A value is bytes, which need not be text.
pub type Headers = Vec<(String, Vec<u8>)>;

/// Header with the program's own token, which is never forwarded.
pub(crate) const TOKEN: &str = "x-toolwire-token";
/// Headers that belong to one connection (RFC 9110, 7.6.1). `Connection` names further headers.
const OF_CONNECTION: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];
/// Headers that describe the exact bytes of a body, and do not apply to a rewritten body.
const OF_BODY: [&str; 6] =
    ["content-length", "content-digest", "repr-digest", "digest", "content-md5", "content-encoding"];
/// Idempotency keys. A follow-up request must not repeat them, because its body differs.
const OF_REQUEST: [&str; 2] = ["idempotency-key", "x-idempotency-key"];
const ENTITY_TAG: &str = "etag";

/// Reads headers. Each character of a value is one byte.
pub(crate) fn read(node: Option<&Node<'_>>) -> Headers {
    let text = |node: &Node<'_>| node.as_text().map(|text| text.display().into_owned());
    let pair = |pair: &Node<'_>| match pair.as_array() {
        Some([name, value]) => text(name).zip(text(value).map(|value| bytes(&value))),
        _ => None,
    };
    printable(node.and_then(Node::as_array).unwrap_or_default().iter().filter_map(pair).collect())
}

/// Replaces control characters in values with spaces (RFC 9110, 5.5), because hosts cannot send them.
pub(crate) fn printable(mut headers: Headers) -> Headers {
    let bytes = headers.iter_mut().flat_map(|(_, value)| value);
    bytes.filter(|byte| byte.is_ascii_control() && **byte != b'\t').for_each(|byte| *byte = b' ');
    headers
}

/// Returns a text with one character for each byte.
fn text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(value.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// The reverse of [`text`]. Text with other characters is encoded as UTF-8.
fn bytes(text: &str) -> Vec<u8> {
    let narrow: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    narrow.unwrap_or_else(|_| text.into())
}

pub(crate) fn list(headers: &Headers) -> Node<'_> {
    let pair = |(name, value): &(String, Vec<u8>)| {
        Node::array(Vec::from([Node::string(name.clone()), Node::string(text(value).into_owned())]))
    };
    Node::array(headers.iter().map(pair).collect())
}

pub(crate) fn value<'h>(headers: &'h Headers, name: &str) -> Option<Cow<'h, str>> {
    headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| text(value))
}

/// Joins the values of all headers with this name into one list (RFC 9110, 5.3).
pub(crate) fn joined(headers: &Headers, name: &str) -> Option<String> {
    let values = headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
    let values: Vec<Cow<'_, str>> = values.map(|(_, value)| text(value)).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

pub(crate) fn count(headers: &Headers, name: &str) -> usize {
    headers.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name)).count()
}

fn remove(headers: &mut Headers, names: &[&str]) {
    headers.retain(|(found, _)| !names.iter().any(|name| found.eq_ignore_ascii_case(name)));
}

pub(crate) fn set(headers: &mut Headers, name: &str, value: &str) {
    let at = headers.iter().position(|(found, _)| found.eq_ignore_ascii_case(name));
    remove(headers, &[name]);
    let at = at.unwrap_or(headers.len()).min(headers.len());
    headers.insert(at, (name.into(), bytes(value)));
}

fn without_connection(mut headers: Headers) -> Headers {
    let listed_names: Vec<String> = headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| value.split(|byte| *byte == b','))
        .map(|name| text(name.trim_ascii()).into_owned())
        // `Connection` cannot name headers that the request needs.
        .filter(|name| !["host", "content-length", "authorization"].iter().any(|kept| name.eq_ignore_ascii_case(kept)))
        .collect();
    remove(&mut headers, &OF_CONNECTION);
    headers.retain(|(name, _)| !listed_names.iter().any(|listed| name.eq_ignore_ascii_case(listed)));
    headers
}

/// Returns the headers of a request for an upstream, without `Content-Length` if the body is chunked.
pub(crate) fn of_request(headers: Headers, host: &str) -> Headers {
    let has_pieces = value(&headers, "transfer-encoding").is_some();
    let mut headers = without_connection(headers);
    remove(&mut headers, &[TOKEN, "expect"]);
    if has_pieces {
        // If both headers are present, `Content-Length` is not the body's length (RFC 9112, 6.3).
        remove(&mut headers, &["content-length"]);
    }
    set(&mut headers, "Host", host);
    headers
}

/// Returns the headers for a body that was read and may have been rewritten. With `asks_again`, the request is repeated
/// with a new body.
pub(crate) fn for_body(mut headers: Headers, length: usize, is_plain: bool, asks_again: bool) -> Headers {
    remove(&mut headers, &OF_BODY);
    if asks_again {
        remove(&mut headers, &OF_REQUEST);
    }
    if is_plain {
        // The reply will be read, so it should not be compressed.
        set(&mut headers, "Accept-Encoding", "identity");
    }
    set(&mut headers, "Content-Length", &length.to_string());
    headers
}

pub(crate) fn of_unchanged_reply(headers: Headers) -> Headers {
    // Next to a transfer encoding, the length is not the length of the body (RFC 9112, 6.3).
    let is_chunked = value(&headers, "transfer-encoding").is_some();
    let mut headers = without_connection(headers);
    if is_chunked {
        remove(&mut headers, &["content-length"]);
    }
    headers
}

pub(crate) fn of_rewritten_reply(headers: Headers) -> Headers {
    let mut headers = of_unchanged_reply(headers);
    remove(&mut headers, &OF_BODY);
    remove(&mut headers, &[ENTITY_TAG]);
    headers
}

pub(crate) fn head(status: u16, headers: &Headers) -> Node<'_> {
    record([("status", Node::count(status.into())), ("headers", list(headers))])
}

pub(crate) fn is_json(headers: &Headers) -> bool {
    let kind = value(headers, "content-type").unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind == "text/json" || kind.ends_with("+json")
}

/// Content types of event streams: text, and the frames of Amazon's services.
const STREAMS: [&str; 2] = ["text/event-stream", "application/vnd.amazon.eventstream"];

pub(crate) fn is_stream(headers: &Headers) -> bool {
    let kind = value(headers, "content-type").unwrap_or_default();
    let is_kind = |stream: &str| kind.get(..stream.len()).is_some_and(|start| start.eq_ignore_ascii_case(stream));
    STREAMS.iter().any(|stream| is_kind(stream))
}

#[cfg(test)]
mod tests {
    use toolwire::internal::json;

    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Headers {
        list.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn connection_headers_are_not_forwarded() {
        let came = pairs(&[
            ("Host", "localhost:8787"),
            ("Connection", "close, X-Hop, Host, Authorization"),
            ("X-Hop", "1"),
            ("X-Toolwire-Token", "t"),
            ("Authorization", "Bearer k"),
            ("Transfer-Encoding", "chunked"),
        ]);
        let sent = of_request(came, "api.example.com");
        assert_eq!(sent, pairs(&[("Host", "api.example.com"), ("Authorization", "Bearer k")]));
    }

    #[test]
    fn headers_are_replaced_if_the_body_is_rewritten() {
        let came = pairs(&[("Content-Length", "9"), ("Content-Encoding", "zstd"), ("Idempotency-Key", "i")]);
        let sent = pairs(&[("Accept-Encoding", "identity"), ("Content-Length", "3")]);
        assert_eq!(for_body(came, 3, true, true), sent);
    }

    #[test]
    fn values_are_bytes() {
        let came = json::read(r#"[["a", "\u00e4\u0000\u0009"], ["b", "\u20ac"]]"#).unwrap_or_default();
        let headers = read(Some(&came));
        assert_eq!(headers, [("a".to_string(), b"\xe4 \t".to_vec()), ("b".into(), "\u{20ac}".into())]);
        assert_eq!(value(&headers, "A").as_deref(), Some("\u{e4} \t"));
    }

    #[test]
    fn content_types_are_recognized() {
        assert!(is_json(&pairs(&[("content-type", "Application/JSON; charset=utf-8")])));
        assert!(is_json(&pairs(&[("content-type", "application/problem+json")])));
        assert!(!is_json(&pairs(&[("content-type", "application/jsonl")])));
        assert!(is_stream(&pairs(&[("Content-Type", "text/event-stream;charset=utf-8")])));
        assert!(is_stream(&pairs(&[("Content-Type", "application/vnd.amazon.eventstream")])));
        assert!(!is_stream(&[].into()));
    }
}
