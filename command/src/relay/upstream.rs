//! The upstream APIs of a relay, and the choice of an API for a request. The protocols of known APIs have known paths;
//! requests to unknown APIs are always sent.

use std::collections::BTreeMap;

use toolwire::{
    internal::{
        self,
        json::{self, Node},
    },
    options::Api,
    reports::Grade,
};
use wildmatch::WildMatch;

use crate::{arguments::RequestOptions, http::Address};

#[derive(Clone, Debug, Default)]
pub(crate) struct Upstream {
    pub(crate) address: Address,
    /// Path prefix of the requests for this API. It is removed before they are sent. If it is empty, the API receives
    /// requests for every path.
    pub(crate) path: String,
    /// Names, or patterns with `*`, of the models whose requests this API receives. If the list is empty, the API
    /// receives requests for every model.
    pub(crate) models: Vec<String>,
    /// Model names of the API, by the names that clients use.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) options: RequestOptions,
}

impl Upstream {
    pub(super) fn has_path(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path.as_str());
        rest.is_some_and(|rest| self.path.is_empty() || rest.is_empty() || rest.starts_with(['/', '?']))
    }

    fn has_model(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| WildMatch::new(pattern).matches(model))
    }

    /// Returns true if a server may normalize the path to a path outside this API. Before that, servers may decode the
    /// path several times, and end it at `?`, `#` or a control character.
    pub(super) fn is_left_by(&self, path: &str) -> bool {
        if self.path.is_empty() && self.address.base.is_empty() {
            return false;
        }
        let path = fully_decoded(path);
        let is_odd = |byte: &u8| matches!(byte, b'\\' | b'?' | b'#') || byte.is_ascii_control();
        // Some servers remove parameters, the part after `;`, before they normalize a path.
        let is_dots = |segment: &[u8]| matches!(segment.split(|byte| *byte == b';').next(), Some(b"." | b".."));
        path.iter().any(is_odd) || path.split(|byte| *byte == b'/').any(is_dots)
    }

    pub(super) fn target(&self, target: &str) -> String {
        let rest = target.strip_prefix(self.path.as_str()).unwrap_or(target);
        let path = format!("{}{rest}", self.address.base);
        if path.starts_with('/') {
            path
        } else {
            format!("/{path}")
        }
    }

    pub(super) fn name_for_model(&self, model: &str) -> Option<&str> {
        self.names.get(model).map(String::as_str)
    }
}

/// Also decodes encoded percent signs: `%252e` becomes `.`.
fn fully_decoded(path: &str) -> Vec<u8> {
    let mut rest = path.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((first, mut after)) = rest.split_first() {
        let mut byte = *first;
        if byte == b'%' {
            let mut code = after;
            while let Some(shorter) = code.strip_prefix(b"25") {
                code = shorter;
            }
            let digits = code.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            if let Some(found) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                (byte, after) = (found, code.get(2..).unwrap_or_default());
            }
        }
        decoded.push(byte);
        rest = after;
    }
    decoded
}

/// Of the APIs with the longest matching path, returns the first API that accepts the model. A request without a model
/// goes to the first API that accepts every model, or to the only API. An API key must not be sent to another provider.
pub(super) fn route<'u>(upstreams: &'u [Upstream], path: &str, model: Option<&str>) -> Option<(usize, &'u Upstream)> {
    let fits = |upstream: &&Upstream| upstream.has_path(path);
    let longest = upstreams.iter().filter(fits).map(|upstream| upstream.path.len()).max()?;
    let mut candidates =
        upstreams.iter().enumerate().filter(|(_, upstream)| upstream.path.len() == longest && upstream.has_path(path));
    match model {
        Some(model) => candidates.find(|(_, upstream)| upstream.has_model(model)),
        None => {
            let all: Vec<(usize, &Upstream)> = candidates.collect();
            let takes_all = all.iter().find(|(_, upstream)| upstream.models.is_empty());
            takes_all.or(all.first().filter(|_| all.len() == 1)).copied()
        }
    }
}

/// Returns the first API with the longest matching path, for a request whose model is not known yet.
pub(super) fn first<'u>(upstreams: &'u [Upstream], path: &str) -> Option<(usize, &'u Upstream)> {
    let longest =
        upstreams.iter().filter(|upstream| upstream.has_path(path)).map(|upstream| upstream.path.len()).max()?;
    upstreams.iter().enumerate().find(|(_, upstream)| upstream.path.len() == longest && upstream.has_path(path))
}

pub(super) fn has_path(upstreams: &[Upstream], path: &str) -> bool {
    upstreams.iter().any(|upstream| upstream.has_path(path))
}

pub(super) fn model_of(body: &Node<'_>) -> Option<String> {
    Some(body.get("model")?.as_text()?.display().into_owned())
}

pub(super) fn with_model(mut body: Node<'_>, model: &str) -> String {
    body.set("model", Node::string(model.to_string()));
    json::write(&body)
}

/// A protocol that an API supports only below one path, or not at all.
struct Fact {
    hosts: &'static [&'static str],
    api: Api,
    /// Path prefix of the protocol. `None` if the API does not support it.
    below: Option<&'static str>,
    /// Protocols that the API supports, in words.
    has: &'static str,
    /// Source of the fact. It was checked on `as_of`. `confidence` is `A` for the provider's documentation or code, and
    /// `B` for a live report.
    source: &'static str,
    as_of: &'static str,
    confidence: Grade,
}

const OPENAI: Fact = Fact {
    hosts: &["api.openai.com"],
    api: Api::Anthropic,
    below: None,
    has: "OpenAI Responses and Chat Completions",
    source: "openai-python 0444895, src/openai/resources: generated from OpenAI's OpenAPI document",
    as_of: "2026-11-27",
    confidence: Grade::A,
};
const FACTS: &[Fact] = &[
    OPENAI,
    Fact { api: Api::Gemini, ..OPENAI },
    Fact { api: Api::GeminiInteractions, ..OPENAI },
    Fact {
        hosts: &["api.anthropic.com"],
        api: Api::OpenaiResponses,
        has: "Anthropic Messages and, for tests, Chat Completions",
        source: "platform.claude.com/docs/cli-sdks-libraries/libraries/openai-sdk",
        ..OPENAI
    },
    Fact {
        hosts: &["generativelanguage.googleapis.com"],
        has: "Gemini `generateContent`, Interactions and, at `/v1beta/openai`, Chat Completions",
        source: "ai.google.dev/api/compatibility",
        ..OPENAI
    },
    Fact {
        hosts: &["api.deepseek.com"],
        below: Some("/anthropic"),
        has: "Anthropic Messages",
        source: "api-docs.deepseek.com/guides/anthropic_api",
        ..OPENAI
    },
    Fact {
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        below: Some("/anthropic"),
        has: "Anthropic Messages",
        source: "kimi-k25.com/blog/kimi-k2-5-claude-code",
        confidence: Grade::B,
        ..OPENAI
    },
];

pub(super) fn protocol_prefix(host: &str, api: Api) -> Option<&'static str> {
    FACTS.iter().find(|fact| fact.api == api && fact.hosts.contains(&host))?.below
}

pub(super) fn protocol_name(api: Api) -> &'static str {
    match api {
        Api::Anthropic => "Anthropic Messages",
        Api::OpenaiResponses => "OpenAI Responses",
        Api::Gemini | Api::GeminiJsonSchema => "Gemini `generateContent`",
        Api::GeminiInteractions => "Gemini Interactions",
        _ => "Chat Completions",
    }
}

/// Returns the alternatives if an API does not support a request's protocol at its path.
pub(super) fn refusal(origin: &str, target: &str) -> Option<String> {
    let api = internal::api_of(target)?;
    if api == Api::Anthropic && !target.contains("/v1/messages") {
        // Another protocol, such as `/v1/threads/…/messages`.
        return None;
    }
    let (_, host) = origin.split_once("://")?;
    // With a lower confidence, the request is sent. If the API refuses it, the log names the likely cause.
    let mut facts = FACTS.iter().filter(|fact| fact.confidence == Grade::A);
    let fact = facts.find(|fact| fact.api == api && fact.hosts.contains(&host))?;
    let protocol = protocol_name(api);
    let source = format!("{} ({}, {})", fact.source, fact.as_of, fact.confidence);
    match fact.below {
        Some(base) if target.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')) => None,
        Some(base) => Some(format!(
            "expected {protocol} below {origin}{base}, found a request elsewhere: start the relay with \
             `--upstream {origin}{base}` (according to {source})"
        )),
        None => Some(format!(
            "expected a protocol that {host} has ({}), found {protocol}: use a client of one of these, or an upstream \
             that has {protocol} (according to {source})",
            fact.has
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    fn upstream(url: &str, path: &str, models: &[&str]) -> Upstream {
        Upstream {
            address: Address::read(url).unwrap_or_default(),
            path: path.into(),
            models: models.iter().map(ToString::to_string).collect(),
            ..Upstream::default()
        }
    }

    #[test]
    fn request_paths_become_upstream_paths() {
        let plain = upstream("https://api.example.com", "", &[]);
        assert_eq!(plain.target("/v1/messages?beta=true"), "/v1/messages?beta=true");
        assert_eq!(plain.target("//evil.example/v1"), "//evil.example/v1");
        let deep = upstream("https://api.example.com/anthropic/", "/kimi", &[]);
        assert_eq!(deep.target("/kimi/v1/messages"), "/anthropic/v1/messages");
        assert_eq!(deep.target("/kimi?a"), "/anthropic?a");
        assert_eq!(upstream("https://a", "/kimi", &[]).target("/kimi"), "/");
        assert!(deep.has_path("/kimi") && !deep.has_path("/kimis/v1"));
        for path in [
            "/kimi/../x",
            "/kimi/%2e%2E/x",
            "/kimi/..%2fx",
            "/kimi/.",
            "/kimi\\..\\x",
            "/kimi/%5c..",
            "/kimi/..;/x",
            "/kimi/%2e.;a=b/x",
            "/kimi/..%3B/x",
            "/kimi/..#/x",
            "/kimi/..%23",
            "/kimi/..%3fx",
            "/kimi/..%00",
            "/kimi/..%0a/x",
            "/kimi/%252e%252E/x",
            "/kimi/..%25252fx",
            "/kimi/x%255c..",
        ] {
            assert!(deep.is_left_by(path) && !plain.is_left_by(path), "{path}");
        }
        for path in ["/kimi/v1/..a/a..b/.x/;../a;..", "/kimi/100%25/%20%", "/kimi/%C3%A9/%2525", "/kimi/models/a%2fb:c"]
        {
            assert!(!deep.is_left_by(path), "{path}");
        }
    }

    #[test]
    fn requests_are_routed_by_the_longest_path_and_then_by_model() {
        let all = [
            upstream("https://a", "", &["deepseek-*"]),
            upstream("https://b", "", &[]),
            upstream("https://c", "/kimi", &[]),
        ];
        let routed = |path: &str, model: Option<&str>| route(&all, path, model).map(|(at, _)| at);
        assert_eq!(routed("/v1/messages", Some("deepseek-chat")), Some(0));
        assert_eq!(routed("/v1/messages", Some("gpt-5")), Some(1));
        assert_eq!(routed("/kimi/v1/messages", Some("deepseek-chat")), Some(2));
        assert_eq!(routed("/v1/models", None), Some(1));
        assert_eq!(routed("/kimi/v1/models", None), Some(2));
        let only_some = [upstream("https://a", "", &["a-*"]), upstream("https://b", "", &["b-*"])];
        assert_eq!(route(&only_some, "/v1/models", None).map(|(at, _)| at), None);
        assert_eq!(route(all.get(..1).unwrap_or_default(), "/v1", Some("gpt-5")).map(|(at, _)| at), None);
    }

    #[test]
    fn only_known_protocol_mismatches_are_refused() {
        let refused = |origin: &str, target: &str| refusal(origin, target).is_some();
        assert!(refused("https://api.openai.com", "/v1/messages?beta=true"));
        assert!(refused("https://api.openai.com", "/v1/messages/batches"));
        assert!(refused("https://api.deepseek.com", "/v1/messages"));
        assert!(refused("https://api.deepseek.com", "/anthropics/v1/messages"));
        for (origin, target) in [
            ("https://api.openai.com", "/v1/responses"),
            ("https://api.deepseek.com", "/anthropic/v1/messages"),
            ("https://api.deepseek.com", "/v1/responses"),
            // A live report alone does not prevent a request.
            ("https://api.moonshot.ai", "/v1/messages"),
            ("https://api.openai.com.example", "/v1/messages"),
            ("http://127.0.0.1:8080", "/v1/messages"),
            ("https://api.openai.com", "/v1/threads/t/messages"),
        ] {
            assert!(!refused(origin, target), "{origin}{target}");
        }
    }

    #[test]
    fn page_lists_every_fact() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/relay.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for Fact { hosts, api, below, source, as_of, confidence, .. } in FACTS {
            let hosts: Vec<String> = hosts.iter().map(|host| format!("`{host}`")).collect();
            let support = below.map_or_else(|| "no".into(), |base| format!("below `{base}`"));
            let (hosts, protocol) = (hosts.join(", "), protocol_name(*api));
            let row = format!("| {hosts} | {protocol} | {support} | {source} ({as_of}, {confidence}) |\n");
            assert!(page.contains(&row), "docs/relay.md: expected the row {row}");
        }
    }
}
