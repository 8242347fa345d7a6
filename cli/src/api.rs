//! Sends requests to APIs, for `probe`. Only this file handles the key: it inserts the key, and removes it from
//! answers.

use std::{env, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    header::{HeaderName, HeaderValue, CONTENT_ENCODING, RETRY_AFTER},
    Request, Uri,
};
use tokio::time::{sleep, timeout};
use toolwire::internal::json::{self, Node};
use toolwire_command::{ContentEncoding, Request as ApiRequest, Secrets};

use crate::{
    facts::record,
    http::{
        body::{Broken, Pieces},
        client::Clients,
    },
};

/// Maximum size of an answer in bytes, larger than any real one.
const MAX_ANSWER: usize = 1_000_000;

/// Sends a request. Returns `{ status, retryAfter, body }` without the key. Fails with a message, or with the name of a
/// system error.
pub(crate) async fn request_api(request: &ApiRequest) -> Result<Vec<u8>, String> {
    let secret = match &request.key {
        None => String::new(),
        Some(key) => env::var(&key.variable).unwrap_or_default().trim().to_string(),
    };
    // A key with other characters is refused here: the error of the HTTP library would contain the key.
    if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("EKEY".into());
    }
    let placeholder = request.key.as_ref().map(|key| format!("({})", key.variable)).unwrap_or_default();
    let secrets = Secrets::one(&secret, &placeholder);
    sleep(Duration::from_secs(request.wait.into())).await;
    let limit = Duration::from_secs(request.timeout.into());
    let answered = timeout(limit, send(request, &secret, limit)).await;
    let (status, retry_after, body) = answered.map_err(|_| "ETIMEDOUT")?.map_err(|why| secrets.hide(&why))?;
    let answer = [
        ("status", Node::count(status.into())),
        ("retryAfter", retry_after.map_or_else(Node::default, Node::string)),
        ("body", Node::string(secrets.hide(&String::from_utf8_lossy(&body)))),
    ];
    Ok(json::write(&record(answer.into_iter())).into_bytes())
}

type Answer = (u16, Option<String>, Vec<u8>);

async fn send(request: &ApiRequest, secret: &str, limit: Duration) -> Result<Answer, String> {
    let uri: Uri = request.url.parse().map_err(|_| "expected a URL, found something else")?;
    let mut http_request =
        Request::post(uri).body(Full::new(Bytes::from(request.body.clone()))).map_err(|_| "EINVAL")?;
    let key = request.key.as_ref().map(|key| (key.header.clone(), format!("{}{secret}", key.before)));
    for (name, value) in request.headers.iter().cloned().chain(key) {
        let name = HeaderName::try_from(name).map_err(|_| "expected a header, found an invalid name")?;
        let value = HeaderValue::try_from(value).map_err(|_| "expected a header, found an invalid value")?;
        http_request.headers_mut().insert(name, value);
    }
    // A redirect is not followed, because the key and the body are meant for one address.
    let reply = Clients::new(limit).send(http_request).await?;
    let header = |name| reply.headers().get(name).and_then(|value| value.to_str().ok()).map(String::from);
    let (status, retry_after) = (reply.status().as_u16(), header(RETRY_AFTER));
    let encoding = header(CONTENT_ENCODING).and_then(|name| ContentEncoding::read(&name.to_ascii_lowercase()));
    let (mut pieces, mut body) = (Pieces::new(reply.into_body(), encoding), Vec::new());
    // The body may never end.
    while body.len() < MAX_ANSWER {
        match pieces.next(limit).await {
            Ok(Some(piece)) => body.extend(piece),
            Ok(None) => break,
            Err(Broken::Late) => return Err("ETIMEDOUT".into()),
            Err(Broken::Reason(why)) => return Err(why),
        }
    }
    body.truncate(MAX_ANSWER);
    Ok((status, retry_after, body))
}
