//! The protocols of known APIs, and their paths. Requests to unknown APIs are always sent.

use toolwire::{internal, options::Api};

/// A protocol that an API supports only below one path, or not at all.
struct Fact {
    hosts: &'static [&'static str],
    api: Api,
    /// Path prefix of the protocol; `None` if the API does not support it.
    below: Option<&'static str>,
    /// Protocols that the API supports, in words.
    has: &'static str,
    /// Source of the fact. It was checked on `as_of`. `confidence` is `A` for the provider's documentation or code, and
    /// `B` for a live report.
    source: &'static str,
    as_of: &'static str,
    confidence: char,
}

const OF_OPENAI: Fact = Fact {
    hosts: &["api.openai.com"],
    api: Api::Anthropic,
    below: None,
    has: "OpenAI Responses and Chat Completions",
    source: "openai-python 0444895, src/openai/resources: made from OpenAI's OpenAPI document",
    as_of: "2026-11-27",
    confidence: 'A',
};
const FACTS: &[Fact] = &[
    OF_OPENAI,
    Fact { api: Api::Gemini, ..OF_OPENAI },
    Fact { api: Api::GeminiInteractions, ..OF_OPENAI },
    Fact {
        hosts: &["api.anthropic.com"],
        api: Api::OpenaiResponses,
        has: "Anthropic Messages and, for tests, Chat Completions",
        source: "platform.claude.com/docs/cli-sdks-libraries/libraries/openai-sdk",
        ..OF_OPENAI
    },
    Fact {
        hosts: &["generativelanguage.googleapis.com"],
        has: "Gemini `generateContent`, Interactions and, at `/v1beta/openai`, Chat Completions",
        source: "ai.google.dev/api/compatibility",
        ..OF_OPENAI
    },
    Fact {
        hosts: &["api.deepseek.com"],
        below: Some("/anthropic"),
        has: "Anthropic Messages",
        source: "api-docs.deepseek.com/guides/anthropic_api",
        ..OF_OPENAI
    },
    Fact {
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        below: Some("/anthropic"),
        has: "Anthropic Messages",
        source: "kimi-k25.com/blog/kimi-k2-5-claude-code",
        confidence: 'B',
        ..OF_OPENAI
    },
];

/// Returns the name of a protocol.
fn name(api: Api) -> &'static str {
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
        // This is another API, such as `/v1/threads/…/messages`.
        return None;
    }
    let (_, host) = origin.split_once("://")?;
    // With a lower confidence, the request is sent. If the API refuses it, the log names the likely cause.
    let mut facts = FACTS.iter().filter(|fact| fact.confidence == 'A');
    let fact = facts.find(|fact| fact.api == api && fact.hosts.contains(&host))?;
    let protocol = name(api);
    let source = format!("{} ({}, {})", fact.source, fact.as_of, fact.confidence);
    match fact.below {
        Some(base) if target.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')) => None,
        Some(base) => Some(format!(
            "expected {protocol} below {origin}{base}, found a request elsewhere: start the relay with \
             `--upstream {origin}{base}` (by {source})"
        )),
        None => Some(format!(
            "expected a protocol that {host} has ({}), found {protocol}: use a client of one of these, or an upstream \
             that has {protocol} (by {source})",
            fact.has
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn only_known_mismatches_are_refused() {
        let refused = |origin: &str, target: &str| refusal(origin, target).is_some();
        assert!(refused("https://api.openai.com", "/v1/messages?beta=true"));
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
            ("https://api.openai.com", "/v1/messages/batches"),
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
            let place = below.map_or_else(|| "no".into(), |base| format!("below `{base}`"));
            let (hosts, protocol) = (hosts.join(", "), name(*api));
            let row = format!("| {hosts} | {protocol} | {place} | {source} ({as_of}, {confidence}) |\n");
            assert!(page.contains(&row), "docs/relay.md: expected the row {row}");
        }
    }
}
