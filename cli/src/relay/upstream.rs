//! Requests to upstreams.

use hyper::{
    header::{HeaderName, HeaderValue, TRANSFER_ENCODING},
    http::{self, uri::PathAndQuery, Extensions},
    Request, Uri,
};
use toolwire_command::UpstreamHead;

use super::body::Sent;

pub(crate) struct Address {
    pub(crate) is_encrypted: bool,
    /// The host, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Returns a request to an upstream. Errors contain no values.
pub(super) fn request(
    address: &Address,
    head: &UpstreamHead,
    extensions: Extensions,
    is_chunked: bool,
    body: Sent,
) -> Result<Request<Sent>, http::Error> {
    let host = if address.host.contains(':') { format!("[{}]", address.host) } else { address.host.clone() };
    let uri = Uri::builder()
        .scheme(if address.is_encrypted { "https" } else { "http" })
        .authority(format!("{host}:{}", address.port))
        .path_and_query(PathAndQuery::try_from(head.target.as_str())?)
        .build()?;
    let mut request = Request::builder().method(head.method.as_str()).uri(uri).body(body)?;
    for (name, value) in &head.headers {
        let name = HeaderName::try_from(name.as_str())?;
        request.headers_mut().append(name, HeaderValue::try_from(value.as_slice())?);
    }
    if is_chunked && !request.headers().contains_key(http::header::CONTENT_LENGTH) {
        // A chunked request is forwarded chunked, regardless of its method.
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    // They contain the spelling of the names of headers.
    *request.extensions_mut() = extensions;
    Ok(request)
}
