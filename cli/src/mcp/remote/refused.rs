//! Replies with an error status. Their body may be a JSON-RPC error, which is the answer to a request.
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation>

use hyper::StatusCode;
use toolwire::internal::json::{self, Node};
use toolwire_command::MODERN_ERRORS;

/// Maximum size of the body of an error reply, in bytes.
pub(super) const MOST: usize = 1 << 16;
/// Status and code of an unknown method.
const UNKNOWN_METHOD: (StatusCode, &str) = (StatusCode::NOT_FOUND, "-32601");

fn code<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.get("error")?.get("code")?.as_number()
}

/// Returns an error about the version, which only servers of MCP since 2026-07-28 send.
pub(super) fn version_error(status: StatusCode, body: &str) -> Option<String> {
    let node = json::read(body).ok()?;
    let code = code(&node)?;
    let is_modern = code.parse().is_ok_and(|code| MODERN_ERRORS.contains(&code));
    (is_modern || (status, code) == UNKNOWN_METHOD).then(|| code.into())
}

/// Returns the body if it is an answer to the request. `id` is JSON text. A server that has not read the id writes an
/// answer without id.
pub(super) fn answer(status: StatusCode, body: &str, id: &str) -> Option<Vec<u8>> {
    let mut node = json::read(body).ok().filter(|node| status.is_client_error() && code(node).is_some())?;
    let id_node = json::read(id).ok()?;
    let is_same = match node.get("id").filter(|id| !id.is_null()) {
        Some(found) => json::same(found, &id_node),
        None => version_error(status, body).is_some(),
    };
    node.set("id", id_node);
    is_same.then(|| json::write(&node).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_with_the_id_of_the_request_is_its_answer() {
        for (status, body, expected) in [
            (400, r#"{"id":1.0,"error":{"code":-32000}}"#, Some(r#"{"id":1,"error":{"code":-32000}}"#)),
            (400, r#"{"id":2,"error":{"code":-32022}}"#, None),
            (400, r#"{"id":null,"error":{"code":-32022}}"#, Some(r#"{"id":1,"error":{"code":-32022}}"#)),
            (404, r#"{"error":{"code":-32601}}"#, Some(r#"{"error":{"code":-32601},"id":1}"#)),
            (400, r#"{"error":{"code":-32601}}"#, None),
            (500, r#"{"id":1,"error":{"code":-32022}}"#, None),
            (400, r#"{"id":1,"result":{}}"#, None),
            (400, "no", None),
        ] {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            let found = answer(status, body, "1").map(|found| String::from_utf8_lossy(&found).into_owned());
            assert_eq!(found.as_deref(), expected, "{body}");
        }
    }
}
