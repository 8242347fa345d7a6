//! Requests and their exchanges, for the layer and the middleware. Contains no rules: [`Exchange`] decides what is
//! sent.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{header, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use toolwire::{reports::RepairedCall, Error, Exchange, ExchangeOptions, ToolListCache};

use crate::body::ReplyBody;

/// Headers that describe the exact bytes of a body.
const BODY_HEADERS: [&str; 6] =
    ["content-length", "transfer-encoding", "content-digest", "repr-digest", "digest", "content-md5"];
/// Headers by which a backend recognizes a repeated request. They are removed from later requests of an exchange.
const RETRY_HEADERS: [&str; 2] = ["idempotency-key", "x-idempotency-key"];
const BETAS: &str = "anthropic-beta";

type OnRequest = dyn Fn(&Exchange) + Send + Sync;
type OnRepair = dyn Fn(&[RepairedCall]) + Send + Sync;

#[derive(Clone)]
pub(crate) struct Adapter {
    options: ExchangeOptions,
    lists: Arc<ToolListCache>,
    pub(crate) base_url: Option<String>,
    pub(crate) on_request: Option<Arc<OnRequest>>,
    pub(crate) on_repair: Option<Arc<OnRepair>>,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Adapter").field("options", &self.options).finish_non_exhaustive()
    }
}

pub(crate) enum Opened {
    /// The request is sent unchanged, and its reply is forwarded unchanged.
    Unchanged(Request<Bytes>),
    /// No request is sent; the client gets this response.
    Refused(Response<ReplyBody>),
    Adapted(Box<Outgoing>),
}

impl Adapter {
    /// # Errors
    /// The errors of options.
    pub(crate) fn new(options: ExchangeOptions) -> Result<Self, Error> {
        // Invalid options fail here instead of at the first request.
        Exchange::open("http://localhost/v1/messages", r#"{"messages":[]}"#, &options)?;
        Ok(Adapter {
            options,
            lists: Arc::new(ToolListCache::default()),
            base_url: None,
            on_request: None,
            on_repair: None,
        })
    }

    pub(crate) fn reads(method: &Method, headers: &HeaderMap) -> bool {
        method == Method::POST && !headers.contains_key(header::CONTENT_ENCODING) && is_json(headers)
    }

    pub(crate) fn open(&self, request: Request<Bytes>) -> Opened {
        let url = self.url(&request);
        let Ok(body) = std::str::from_utf8(request.body()) else { return Opened::Unchanged(request) };
        let client_betas = betas(request.headers());
        let options = match client_betas.is_empty() {
            true => None,
            false => {
                let mut all = self.options.adapt().betas.clone().unwrap_or_default();
                all.extend(client_betas);
                Some(self.options.clone().betas(all))
            }
        };
        let options = options.as_ref().unwrap_or(&self.options);
        let exchange = match Exchange::open_cached(&url, body, options, &self.lists) {
            Ok(Some(exchange)) => exchange,
            Ok(None) => return Opened::Unchanged(request),
            Err(error) => return Opened::Refused(refused(StatusCode::BAD_REQUEST, &url, &error)),
        };
        let is_changed = exchange.request().as_bytes() != request.body();
        let (mut parts, body) = request.into_parts();
        set_betas(&mut parts.headers, &exchange);
        if !is_changed && self.options.adapt().tools.repair.is_none() {
            // If nothing was rewritten, nothing has to be restored.
            self.call_on_request(&exchange);
            return Opened::Unchanged(Request::from_parts(parts, body));
        }
        let adapter = self.clone();
        Opened::Adapted(Box::new(Outgoing { adapter, exchange, url, parts, is_sent: false }))
    }

    /// Returns the URL by which the dialect is chosen: the request's URL, or its path at the base URL.
    fn url<B>(&self, request: &Request<B>) -> String {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        match (&self.base_url, request.uri().authority()) {
            (Some(base), _) => format!("{}{path}", base.trim_end_matches('/')),
            (None, Some(_)) => request.uri().to_string(),
            (None, None) => {
                let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
                format!("http://{}{path}", host.unwrap_or("localhost"))
            }
        }
    }

    fn call_on_request(&self, exchange: &Exchange) {
        if let Some(on_request) = &self.on_request {
            on_request(exchange);
        }
    }
}

/// A request that may have to be sent several times, with different bodies.
pub(crate) struct Outgoing {
    adapter: Adapter,
    pub(crate) exchange: Exchange,
    pub(crate) url: String,
    parts: http::request::Parts,
    is_sent: bool,
}

impl Outgoing {
    pub(crate) fn next(&mut self) -> Request<Bytes> {
        self.adapter.call_on_request(&self.exchange);
        let mut parts = self.parts.clone();
        remove(&mut parts.headers, &BODY_HEADERS);
        // The reply has to be parsed, so it must not be compressed.
        parts.headers.remove(header::ACCEPT_ENCODING);
        if self.is_sent {
            set_betas(&mut parts.headers, &self.exchange);
            remove(&mut parts.headers, &RETRY_HEADERS);
        }
        self.is_sent = true;
        Request::from_parts(parts, Bytes::from(self.exchange.take_request()))
    }

    pub(crate) fn call_on_repair(&mut self) {
        // Taken even without `on_repair`, because the exchange stores the calls until they are taken.
        let calls = self.exchange.take_repaired_calls();
        if let Some(on_repair) = self.adapter.on_repair.as_ref().filter(|_| !calls.is_empty()) {
            on_repair(&calls);
        }
    }
}

pub(crate) fn refused(status: StatusCode, url: &str, error: &Error) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(Exchange::refusal(url, error)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Prevents the SDKs of OpenAI and Anthropic from sending the request again.
    headers.insert(HeaderName::from_static("x-should-retry"), HeaderValue::from_static("false"));
    response
}

pub(crate) fn remove_body_headers(headers: &mut HeaderMap) {
    remove(headers, &BODY_HEADERS);
    headers.remove(header::CONTENT_ENCODING);
    headers.remove(header::ETAG);
}

fn remove(headers: &mut HeaderMap, names: &[&str]) {
    for name in names {
        headers.remove(*name);
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = content_type(headers);
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.split(['/', '+', '-', '.']).any(|word| word.eq_ignore_ascii_case("json"))
}

pub(crate) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = content_type(headers);
    let kind = kind.split(';').next().unwrap_or_default().trim();
    ["text/event-stream", "application/vnd.amazon.eventstream"].iter().any(|known| kind.eq_ignore_ascii_case(known))
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default()
}

fn betas(headers: &HeaderMap) -> Vec<String> {
    let lists = headers.get_all(BETAS).iter().filter_map(|value| value.to_str().ok());
    let names = lists.flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
    names.map(String::from).collect()
}

fn set_betas(headers: &mut HeaderMap, exchange: &Exchange) {
    let adjusted = exchange.betas();
    if adjusted == betas(headers) {
        return;
    }
    match HeaderValue::from_str(&adjusted.join(",")) {
        Ok(value) if !value.is_empty() => drop(headers.insert(BETAS, value)),
        _ => drop(headers.remove(BETAS)),
    }
}
