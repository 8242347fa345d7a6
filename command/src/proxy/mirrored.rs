//! The headers of modern HTTP requests that repeat parts of the body, for intermediaries.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata>

use toolwire::internal::json::{self, is_integral, Node};

use super::{message, versions};

/// The headers with the version and the method, and the header with the parameter that names a request's target.
pub(super) const VERSION: &str = "mcp-protocol-version";
pub(super) const METHOD: &str = "mcp-method";
pub(super) const NAME: &str = "mcp-name";
/// Methods whose parameter is repeated in [`NAME`], and the name of the parameter.
pub(super) const NAMED: [(&str, &str); 3] =
    [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];
/// Beginning of the headers with arguments of a call.
const PARAMETER: &str = "mcp-param-";
/// Member of a property's schema with the rest of the header's name.
pub(super) const ANNOTATION: &str = "x-mcp-header";
/// Characters of a token of RFC 9110 other than ASCII letters and digits.
const TOKEN: &[u8] = b"!#$%&'*+-.^_`|~";
/// A part of the member that states the version. No encoder escapes it.
const MARK: &[u8] = b"modelcontextprotocol";
/// Beginning and end of a value in base64.
const ENCODED: (&str, &str) = ("=?base64?", "?=");
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the headers of a message that states its version. Other messages have none.
pub fn mirrored(message: &[u8]) -> Vec<(&'static str, String)> {
    // Most legacy messages need not be read.
    let is_marked = message.windows(MARK.len()).any(|part| part == MARK);
    let read = std::str::from_utf8(message).ok().filter(|_| is_marked).and_then(|text| json::read(text).ok());
    let Some((message, version)) = read.as_ref().and_then(|read| Some((read, versions::stated(read)?))) else {
        return Vec::new();
    };
    let method = message::text_at(message, &["method"]).unwrap_or_default();
    let parameter = NAMED.iter().find(|(named, _)| *named == method).map(|(_, parameter)| *parameter);
    let name = parameter.and_then(|parameter| message::text_at(message, &["params", parameter]));
    let headers = [(VERSION, Some(version)), (METHOD, Some(method)), (NAME, name)];
    headers.into_iter().filter_map(|(header, value)| Some((header, encoded(&value?)))).collect()
}

pub(super) fn parameters(schema: &Node<'_>, arguments: &Node<'_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    add_parameters(schema, arguments, &mut headers);
    headers
}

fn add_parameters(schema: &Node<'_>, arguments: &Node<'_>, headers: &mut Vec<(String, String)>) {
    for property in schema.object_at("properties").into_iter().flatten() {
        let Some(value) = arguments.as_object().and_then(|object| object.get_text(&property.key)) else { continue };
        let name = property.value.text_at(ANNOTATION).map(|name| name.display().to_ascii_lowercase());
        let is_token = |name: &String| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || TOKEN.contains(&byte))
        };
        if let Some((name, value)) = name.filter(is_token).zip(shown(value)) {
            let header = format!("{PARAMETER}{name}");
            if !headers.iter().any(|(known, _)| *known == header) {
                headers.push((header, encoded(&value)));
            }
        }
        add_parameters(&property.value, value, headers);
    }
}

fn shown(value: &Node<'_>) -> Option<String> {
    if let Some(text) = value.as_text() {
        return Some(text.display().into_owned());
    }
    if let Some(number) = value.as_number() {
        let is_plain = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        let short = (!is_plain && is_integral(number)).then(|| number.parse::<f64>().ok()).flatten();
        // MCP allows only integers below 2^53. A larger `f64` may be inexact, so its own text stays.
        let short = short.filter(|number| number.abs() < 9_007_199_254_740_992.0);
        return Some(short.map_or_else(|| number.into(), |number| format!("{number:.0}")));
    }
    value.as_bool().map(|value| value.to_string())
}

fn encoded(value: &str) -> String {
    let (start, end) = ENCODED;
    let is_visible = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value;
    if is_visible && !(value.starts_with(start) && value.ends_with(end)) {
        return value.into();
    }
    let mut text = String::from(start);
    for three in value.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_usize {
            let digit = DIGITS.get((bits >> (18 - 6 * at) & 63) as usize).filter(|_| at <= three.len());
            text.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    text + end
}

/// Returns true if two header values are equal: numbers by value, text after decoding. Base64 needs its padding.
pub(super) fn is_same(header: &str, expected: &str) -> bool {
    let (start, end) = ENCODED;
    let inner = |value: &'_ str| value.strip_prefix(start)?.strip_suffix(end).map(str::len);
    if [header, expected].into_iter().filter_map(inner).any(|length| length % 4 != 0) {
        return false;
    }
    match (header.parse::<f64>(), expected.parse::<f64>()) {
        (Ok(header), Ok(expected)) => header.total_cmp(&expected).is_eq(),
        _ => decoded(header).is_some_and(|header| decoded(expected) == Some(header)),
    }
}

/// Decodes `=?base64?…?=`, and returns every other value unchanged. Returns `None` for invalid base64 or UTF-8.
pub(super) fn decoded(value: &str) -> Option<String> {
    let (start, end) = ENCODED;
    let Some(inner) = value.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)) else {
        return Some(value.into());
    };
    let digits = inner.trim_end_matches('=');
    let (mut bytes, mut buffer, mut bits) = (Vec::new(), 0_u32, 0_u32);
    for digit in digits.bytes() {
        let at = DIGITS.iter().position(|known| *known == digit)?;
        buffer = (buffer << 6 | u32::try_from(at).ok()?) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(buffer >> bits & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_encoded_and_decoded() {
        for (value, header) in [
            ("files_read", "files_read"),
            ("a b", "a b"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), header);
            assert_eq!(decoded(header).as_deref(), Some(value));
        }
        assert!(is_same("=?base64?SGVsbG8=?=", "Hello") && is_same("42.0", "42") && !is_same("a", "b"));
        assert!(!is_same("=?base64?SGVsbG8?=", "Hello") && !is_same("=?base64?SGVs!!!bG8=?=", "Hello"));
        assert_eq!(decoded("=?base64?YQ?=").as_deref(), Some("a"));
        assert_eq!(decoded("=?base64?_?="), None);
    }

    #[test]
    fn marked_arguments_become_headers() {
        let schema = r#"{"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "again": {"type": "string", "x-mcp-header": "region"},
            "no": {"type": "string", "x-mcp-header": "X Y"},
            "none": {"type": "string", "x-mcp-header": "None"},
            "list": {"items": {"properties": {"a": {"x-mcp-header": "Item"}}}},
            "deep": {"properties": {"count": {"x-mcp-header": "Count"}, "on": {"x-mcp-header": "On"}}}}}"#;
        let arguments = r#"{"region": "us-west1", "again": "b", "no": "c", "none": null, "list": [{"a": "b"}],
            "deep": {"count": 4.20e1, "on": true}}"#;
        let headers = json::read(schema).ok().zip(json::read(arguments).ok());
        let headers = headers.map(|(schema, arguments)| parameters(&schema, &arguments)).unwrap_or_default();
        let expected = [("mcp-param-region", "us-west1"), ("mcp-param-count", "42"), ("mcp-param-on", "true")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_string(), value.to_string())));
    }

    #[test]
    fn a_request_that_states_its_version_has_headers() {
        let message = |version: &str| {
            format!(
                "{{\"method\":\"resources/read\",\"params\":{{\"uri\":\"a:ä\",\"_meta\":{{\"{}\":{version}}}}}}}",
                versions::VERSION
            )
        };
        let expected = [(VERSION, "2026-07-28"), (METHOD, "resources/read"), (NAME, "=?base64?YTrDpA==?=")];
        assert_eq!(
            mirrored(message("\"2026-07-28\"").as_bytes()),
            expected.map(|(name, value)| (name, value.to_string()))
        );
        assert!(mirrored(message("1").as_bytes()).is_empty() && mirrored(b"\xff").is_empty());
    }
}
