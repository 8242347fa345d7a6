//! Detects the API of a URL by the end of its path, so a gateway may add any prefix. Writes errors of this library in
//! the format of each API.

use alloc::{format, string::String};

use crate::{
    error::Error,
    json::{self, Node},
    options::Api,
    wire::{
        self,
        endpoint::{of_method, of_path, Refusal},
    },
};

/// A URL for requests that can have tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoint<'u> {
    pub(super) api: Api,
    /// The model, if the path contains it.
    pub(super) model: Option<&'u str>,
}

/// Returns the API of a URL, or `None` if requests to it cannot have tools.
pub(super) fn of(url: &str) -> Option<Endpoint<'_>> {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if let Some((before, method)) = path.rsplit_once(':') {
        if let Some(api) = of_method(method) {
            let model = before.rsplit('/').next().filter(|model| !model.is_empty());
            return Some(Endpoint { api, model });
        }
    }
    of_path(path).map(|api| Endpoint { api, model: None })
}

/// Returns the body of a response with status 400.
pub(crate) fn refusal_body(url: &str, error: &Error) -> String {
    refusal(of(url).map_or(Api::OpenaiChat, |endpoint| endpoint.api), error)
}

/// Returns the body of a response of an API with status 400.
pub(crate) fn refusal(api: Api, error: &Error) -> String {
    let (code, pointer) = (error.code().as_str(), error.pointer());
    let at = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
    let message = Node::string(format!("toolwire: {code}{at}: {}", error.message()));
    let (code, pointer) = (Node::literal(code), Node::string(String::from(pointer)));
    json::write(&wire::of(api).error(Refusal { message, code, pointer }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_determine_the_api() {
        let api = |url: &str| of(url).map(|found| found.api);
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
            "https://api.anthropic.com/v1/messages/batches",
            "http://localhost:8080",
            "",
        ] {
            assert_eq!(api(url), None, "{url}");
        }
    }

    #[test]
    fn google_names_the_model_in_the_path() {
        let found =
            of("https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
        assert_eq!(found, Some(Endpoint { api: Api::Gemini, model: Some("gemini-3-pro") }));
        let claude = of("https://x-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/\
            claude-4@x:rawPredict");
        assert_eq!(claude.map(|found| (found.api, found.model)), Some((Api::Anthropic, Some("claude-4@x"))));
    }
}
