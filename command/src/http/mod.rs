//! The HTTP code that `toolwire relay` and `toolwire proxy --listen` share: addresses, headers and access control.

pub(crate) mod address;
pub(crate) mod door;
pub(crate) mod headers;

use address::Listen;
use headers::Headers;

/// Returns an error if programs on other machines could connect without a token.
pub(crate) fn demand_token(listen: &Listen, token: Option<&str>) -> Result<(), String> {
    if listen.is_loopback() || token.is_some() {
        return Ok(());
    }
    Err(format!(
        "expected `--token-env NAME` because programs on other machines can connect, found none for `{}`: name the \
         variable of the environment that holds the token which clients send",
        listen.host
    ))
}

/// Returns the headers of a response that the program itself writes. They prevent scripts, framing and caching.
pub(crate) fn own_headers(status: u16, kind: &str) -> Headers {
    let mut list: Headers =
        [("Content-Type", kind), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .into();
    if status == 503 {
        list.push(("Retry-After".into(), "1".into()));
    } else if (400..500).contains(&status) {
        // This header tells the SDKs of OpenAI and Anthropic not to retry.
        list.push(("X-Should-Retry".into(), "false".into()));
    }
    list
}
