//! Detects the API of a URL by the end of its path, so a gateway may add any prefix. Writes errors of this library in
//! the format of each API.

use alloc::{borrow::Cow, format, string::String};
use core::ops::Range;

use crate::{
    error::Error,
    json::{self, Node},
    options::Api,
    schema::uri::percent_decoded,
    wire::{
        self,
        endpoint::Refusal,
        routes::{self, Errors, Route},
    },
};

/// A URL for requests that can have tools.
#[derive(Clone, Debug)]
pub(super) struct Endpoint<'u> {
    pub(super) route: &'static Route,
    url: &'u str,
    /// Location of the model's name in the URL; empty if it has none.
    model: Range<usize>,
}

impl<'u> Endpoint<'u> {
    /// Returns the API of the requests at the first location of the body.
    pub(super) fn api(&self) -> Api {
        self.route.parts.first().map_or(wire::COMMON[0].api(), |part| part.api)
    }

    pub(super) fn model(&self) -> Option<Cow<'u, str>> {
        let encoded = self.url.get(self.model_range()?)?;
        Some(percent_decoded(encoded).unwrap_or(Cow::Borrowed(encoded)))
    }

    pub(super) fn model_range(&self) -> Option<Range<usize>> {
        Some(self.model.clone()).filter(|range| !range.is_empty())
    }
}

/// Returns `None` if requests to the URL cannot have tools.
pub(super) fn of(url: &str) -> Option<Endpoint<'_>> {
    routes::of_path(path(url)).map(|(route, model)| Endpoint { route, url, model })
}

pub(super) fn note(method: &str, url: &str) -> Option<&'static str> {
    routes::note(method, path(url))
}

fn path(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/')
}

/// Returns the body of a response with status 400.
pub(crate) fn refusal_body(url: &str, error: &Error) -> String {
    match of(url) {
        Some(endpoint) => refusal((endpoint.api(), endpoint.route.errors), error),
        None => refusal((wire::COMMON[0].api(), Errors::OfApi), error),
    }
}

pub(crate) fn refusal((api, errors): (Api, Errors), error: &Error) -> String {
    let (code, pointer) = (error.code().as_str(), error.pointer());
    let at = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
    let message = Node::string(format!("toolwire: {code}{at}: {}", error.message()));
    let (code, pointer) = (Node::literal(code), Node::string(String::from(pointer)));
    json::write(&match errors {
        Errors::OfApi => wire::of(api).error(Refusal { message, code, pointer }),
        Errors::Message => Node::record([("message", message), ("code", code), ("pointer", pointer)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_determine_the_api() {
        let api = |url: &str| of(url).map(|endpoint| endpoint.api());
        assert_eq!(api("https://api.anthropic.com/v1/messages?beta=true"), Some(Api::Anthropic));
        assert_eq!(api("https://gateway.example/anthropic/v1/messages/"), Some(Api::Anthropic));
        assert_eq!(api("http://localhost:8080/v1/chat/completions"), Some(Api::OpenaiChat));
        assert_eq!(api("https://api.openai.com/v1/responses"), Some(Api::OpenaiResponses));
        let interactions = "https://generativelanguage.googleapis.com/v1beta/interactions";
        assert_eq!(api(interactions), Some(Api::GeminiInteractions));
        let cancel = alloc::format!("{interactions}/v1_abc/cancel");
        assert_eq!(api(&cancel), None);
        for url in [
            "https://api.openai.com/v1/models",
            "https://api.anthropic.com/v1/messages/batches/msgbatch_1/results",
            "https://bedrock-runtime.us-east-1.amazonaws.com/model//apply",
            "http://localhost:8080",
            "",
        ] {
            assert_eq!(api(url), None, "{url}");
        }
    }

    #[test]
    fn some_requests_are_passed_on_with_a_note() {
        let realtime = note("GET", "wss://api.openai.com/v1/realtime?model=gpt-realtime");
        assert!(realtime.is_some_and(|note| note.contains("session")));
        assert!(note("POST", "https://api.openai.com/v1/batches").is_some());
        assert_eq!(note("GET", "https://api.openai.com/v1/batches?limit=9"), None);
        assert_eq!(note("POST", "https://api.anthropic.com/v1/messages/batches"), None);
        assert_eq!(note("POST", "https://api.openai.com/v1/responses"), None);
    }

    #[test]
    fn some_paths_contain_the_model() {
        let api_and_model = |url: &str| of(url).map(|endpoint| (endpoint.api(), endpoint.model().map(Cow::into_owned)));
        let expected = |api: Api, model: &str| Some((api, Some(String::from(model))));
        let google = "https://generativelanguage.googleapis.com/v1beta/models";
        let url = format!("{google}/gemini-3-pro:streamGenerateContent?alt=sse");
        assert_eq!(api_and_model(&url), expected(Api::Gemini, "gemini-3-pro"));
        assert_eq!(api_and_model(&format!("{google}/:countTokens")), Some((Api::Gemini, None)));
        let vertex = "https://x-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models";
        assert_eq!(api_and_model(&format!("{vertex}/claude-4@x:rawPredict")), expected(Api::Anthropic, "claude-4@x"));
        assert_eq!(api_and_model(&format!("{vertex}/count-tokens:rawPredict")), Some((Api::Anthropic, None)));
        let amazon = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-5-v2%3A0";
        for path in ["invoke", "invoke-with-response-stream", "count-tokens"] {
            assert_eq!(
                api_and_model(&format!("{amazon}/{path}")),
                expected(Api::Anthropic, "anthropic.claude-3-5-v2:0")
            );
        }
        assert_eq!(api_and_model("/models/a/invoke"), None);
        assert_eq!(api_and_model("/invoke"), None);
    }
}
