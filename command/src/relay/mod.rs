//! `toolwire relay`: sits between an agent and a model API, adapts requests, and restores replies.
//!
//! The relay accepts requests, replies and pieces of both, and returns actions for the host, which owns the sockets and
//! timers. The relay decides what a client receives. It also decides the upstream and the headers of each request. Each
//! request is a value of its own, so that a large body, or a panic, does not stop other requests.

pub(crate) mod clients;
mod effect;
mod journal;
mod metrics;
mod open;
mod request;
mod settings;
mod upstream;
mod usage;

use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use toolwire::{
    internal::{
        self,
        json::{self, Node},
    },
    ToolListCache,
};

use self::{journal::Journal, metrics::Metrics, usage::Usage};
use super::http::Door;
use crate::{
    document::record,
    escaped_lines,
    http::{
        headers::{self, Headers},
        own_headers,
    },
    terminal::{cut, shown},
};

pub(crate) use self::settings::{run, Settings};
pub use self::{
    effect::{ContentEncoding, Reading, RelayEffect, ReplyHead, RequestHead, UpstreamHead},
    request::RelayRequest,
    usage::Unsent,
};

/// Maximum size of a body, in bytes.
const MAX_BODY: u64 = 64 << 20;
/// Maximum length of a model name, in bytes.
const MAX_NAME: usize = 256;
const JSON: &str = "application/json";

/// A relay. After a request, only counters and the names of changed items are kept.
///
/// ```
/// use toolwire_command::{Relay, RelayEffect, RequestHead};
/// let relay = Relay::new(r#"{"upstreams": [{"url": "http://localhost:8080"}]}"#, None);
/// let mut head = RequestHead::default();
/// (head.method, head.target) = ("GET".into(), "/v1/models".into());
/// head.headers.push(("Host".into(), b"localhost:8787".to_vec()));
/// let (_request, effects) = relay.request(head);
/// let [RelayEffect::Forward(upstream)] = effects.as_slice() else { panic!("{effects:?}") };
/// assert_eq!(upstream.headers, [("Host".to_string(), b"localhost:8080".to_vec())]);
/// ```
#[derive(Clone)]
pub struct Relay(Arc<Shared>);

/// State that all requests of a relay share. Both locks are held only for short, constant times.
struct Shared {
    settings: Arc<Settings>,
    /// The settings with which the relay was started.
    start: Arc<Settings>,
    door: Door,
    /// Options of each upstream, by its index.
    options: Vec<toolwire::ExchangeOptions>,
    lists: ToolListCache,
    counts: Counts,
}

/// The part of a relay that is kept when the settings change.
#[derive(Clone, Default)]
struct Counts {
    usage: Arc<Usage>,
    metrics: Arc<Mutex<Metrics>>,
    journal: Arc<Mutex<Journal>>,
}

impl Shared {
    fn metrics(&self) -> MutexGuard<'_, Metrics> {
        self.counts.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.counts.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Relay {
    /// Creates a relay from the command's settings and the token that clients have to send, if one is required.
    pub fn new(settings: &str, token: Option<&str>) -> Relay {
        let settings = Arc::new(Settings::read(settings));
        Relay::from_parts((settings.clone(), settings), token, Counts::default())
    }

    /// Creates a relay with other settings. It shares the counters, the list of requests and the address of this relay.
    ///
    /// # Errors
    /// A message if other machines can reach the address and no token is required, or if the relay is its own upstream.
    /// Also a message if the required token has changed since the start, or if the key of the started client would be
    /// sent to a new address.
    pub fn with_settings(&self, settings: &str, token: Option<&str>) -> Result<Relay, String> {
        let mut settings = Settings::read(settings);
        settings.listen = self.0.settings.listen.clone();
        settings.check(token)?;
        settings.check_change(&self.0.start)?;
        Ok(Relay::from_parts((Arc::new(settings), self.0.start.clone()), token, self.0.counts.clone()))
    }

    fn from_parts((settings, start): (Arc<Settings>, Arc<Settings>), token: Option<&str>, counts: Counts) -> Relay {
        let door = Door { is_loopback: settings.listen.is_loopback(), token: token.map(String::from) };
        let options = settings.upstreams.iter().map(|upstream| upstream.options.exchange_options()).collect();
        Relay(Arc::new(Shared { settings, start, door, options, lists: ToolListCache::default(), counts }))
    }

    /// Begins a request with its head.
    pub fn request(&self, head: RequestHead) -> (RelayRequest, Vec<RelayEffect>) {
        RelayRequest::begin(self.0.clone(), head)
    }

    /// Returns the startup message, with the address.
    pub fn started(&self, address: &str) -> String {
        self.0.settings.greeting(address)
    }
}

const NO_MODEL: &str =
    "expected a request with a model of an upstream, found none: the upstreams here are chosen only by model";

fn no_model(model: &str) -> String {
    format!("expected a model of an upstream, found `{}`", cut(model, 100))
}

/// Escapes the line so that terminals and CI runners interpret no part of it as a command.
fn log(line: &str) -> RelayEffect {
    RelayEffect::Log(escaped_lines(&format!("toolwire: {}", shown(line))))
}

fn may_have_tools(headers: &Headers) -> bool {
    headers::is_json(headers) || headers::value(headers, "content-type").is_none()
}

/// The body of an error that does not concern a request's content. The SDKs of all APIs find its message.
fn failure(message: &str) -> String {
    let error = record([
        ("type", Node::string("relay_error")),
        ("message", Node::string(format!("toolwire relay: {message}"))),
    ]);
    json::write(&record([("type", Node::string("error")), ("error", error)]))
}

fn own_answer(status: u16, kind: &str, body: String) -> RelayEffect {
    let mut list = own_headers(status, kind);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    if kind.starts_with("text/html") {
        list.push(("Content-Security-Policy".into(), policy.into()));
    }
    answer(status, list, body)
}

fn answer(status: u16, mut headers: Headers, body: String) -> RelayEffect {
    headers.push(("Content-Length".into(), body.len().to_string().into_bytes()));
    RelayEffect::Answer(ReplyHead { status, headers }, body)
}

fn content_encoding(headers: &Headers) -> Result<Option<ContentEncoding>, String> {
    let all = headers::joined(headers, "content-encoding").unwrap_or_default().to_ascii_lowercase();
    let mut codings = all.split(',').map(str::trim).filter(|coding| !coding.is_empty() && *coding != "identity");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(None),
        (Some(name), None) => match ContentEncoding::read(name) {
            Some(encoding) => Ok(Some(encoding)),
            None => Err(cut(&all, 60).into_owned()),
        },
        _ => Err(cut(&all, 60).into_owned()),
    }
}

fn reading(encoding: Option<ContentEncoding>) -> Reading {
    Reading { most: MAX_BODY, encoding }
}

/// Returns the range of the model in a path. Google's API has a model also in paths of requests without tools, such as
/// `…/models/NAME:embedContent`.
fn model_range(path: &str) -> Option<Range<usize>> {
    let of_method = || {
        let (before, _) = path.rsplit_once(':')?;
        let (above, name) = before.rsplit_once('/')?;
        (above.ends_with("/models") && !name.is_empty()).then_some(above.len() + 1..before.len())
    };
    internal::model_range(path).or_else(of_method)
}

fn model_in(path: &str) -> Option<String> {
    let model = path.get(model_range(path)?).filter(|model| model.len() <= MAX_NAME)?;
    Some(decoded(model).into_owned())
}

/// Decodes percent signs. A segment that is not UTF-8 stays encoded.
fn decoded(segment: &str) -> Cow<'_, str> {
    internal::percent_decoded(segment).unwrap_or(Cow::Borrowed(segment))
}
