//! The paths of requests that can have tools: for each path, the requests in its body, their format, and the kind of
//! reply.
//!
//! Hosts are no part of a route, because a gateway may have any host and may put any prefix before a path.

use core::ops::Range;

use crate::{naming::Naming, options::Api};

#[derive(Debug)]
pub(crate) struct Route {
    /// End of the path. `{model}` is the model's name, without slashes.
    pub(crate) path: &'static str,
    /// Locations of requests in a body. Only the first location that exists in the body is used.
    pub(crate) parts: &'static [Part],
    pub(crate) reply: ReplyKind,
    /// Member of the body with the model's name, if neither the path nor the request contains the name.
    pub(crate) model: Option<&'static str>,
    pub(crate) errors: Errors,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) api: Api,
    /// Members from the body to the request; [`EACH`] is every item of a list. Empty: the body is the request.
    pub(crate) at: &'static [&'static str],
    /// True if the request is JSON text in base64.
    pub(crate) is_base64: bool,
    /// A member that every body of this format has. A body without the member is passed on.
    pub(crate) requires: Option<&'static str>,
    /// Spellings of the members.
    pub(crate) namings: &'static [Naming],
}

/// Every item of a list.
pub(crate) const EACH: &str = "*";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    /// A reply of the model, whole or as server-sent events.
    Model,
    /// A reply of the model in frames, if it is streamed.
    Frames(Framing),
    /// Items of the history, and no reply of the model.
    History,
    /// Nothing that mentions tools, for example a number of tokens.
    NoTools,
    /// Nothing that mentions tools. Responses to other requests contain the replies of the model, and nothing restores
    /// these replies.
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// A member of the payload is the event in base64.
    Base64(&'static str),
    /// The payload is the value of the event's only member, whose name is the type of the frame.
    Named,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// Errors have the format of the API.
    OfApi,
    /// Errors have a member `message`, as in Amazon's services.
    Message,
}

const fn body(api: Api) -> Part {
    Part { api, at: &[], is_base64: false, requires: None, namings: &[Naming::Camel] }
}

const fn inner(api: Api, at: &'static [&'static str]) -> Part {
    Part { at, ..body(api) }
}

/// A location in the JSON of protocol buffers, whose members have two spellings.
///
/// Source: protobuf.dev/programming-guides/json: parsers accept lowerCamelCase and the original name of a field.
const fn proto(api: Api, at: &'static [&'static str]) -> Part {
    Part { namings: &[Naming::Camel, Naming::Snake], ..inner(api, at) }
}

const fn route(path: &'static str, parts: &'static [Part]) -> Route {
    Route { path, parts, reply: ReplyKind::Model, model: None, errors: Errors::OfApi }
}

impl Route {
    const fn replies(self, reply: ReplyKind) -> Route {
        Route { reply, ..self }
    }

    const fn of_amazon(self) -> Route {
        Route { errors: Errors::Message, ..self }
    }

    const fn model_in(self, member: &'static str) -> Route {
        Route { model: Some(member), ..self }
    }

    /// Returns the location of the model's name in a path that ends like this route. The location is empty if the path
    /// has no name. `None` if the path has another end.
    fn matched(&self, path: &str) -> Option<Range<usize>> {
        let Some((above, end)) = self.path.split_once(MODEL) else { return path.ends_with(self.path).then_some(0..0) };
        let before = path.strip_suffix(end)?;
        let start = before.rfind('/').map_or(0, |slash| slash + 1);
        before.get(..start)?.ends_with(above).then_some(start..before.len())
    }
}

const MODEL: &str = "{model}";

const MESSAGES: &[Part] = &[body(Api::Anthropic)];
const RESPONSES: &[Part] = &[body(Api::OpenaiResponses)];
const GEMINI: &[Part] = &[body(Api::Gemini)];
const CONVERSE: &[Part] = &[body(Api::Bedrock)];
/// Bodies of other models have other formats.
///
/// Source: docs.aws.amazon.com/bedrock/latest/userguide, "Anthropic Claude Messages API", request and response:
/// `anthropic_version` is required.
const INVOKE: &[Part] = &[Part { requires: Some("anthropic_version"), ..body(Api::Anthropic) }];

/// Every route. If several routes match a path, the first of them is used.
///
/// Sources, 2026-11-29: anthropic 2.14.0 (`/v1/messages/…`; `lib/bedrock` and `lib/vertex` have the paths of Claude
/// there), openai 3.57.0 (`/responses/…`), mistralai 3.7.0 (`BatchRequest`), google-genai 3.6.1 (`models.py`,
/// `batches.py`), all from PyPI; botocore 1.44.8, `bedrock-runtime` (`InvokeModel…`, `CountTokens`, `ConverseStream`).
pub(crate) const ROUTES: &[Route] = &[
    route("/interactions", &[body(Api::GeminiInteractions)]),
    route("/responses", RESPONSES),
    route("/responses/input_tokens", RESPONSES).replies(ReplyKind::NoTools),
    route("/responses/compact", RESPONSES).replies(ReplyKind::History),
    route("/messages", MESSAGES),
    route("/messages/count_tokens", MESSAGES).replies(ReplyKind::NoTools),
    route("/messages/batches", &[inner(Api::Anthropic, &["requests", EACH, "params"])]).replies(ReplyKind::Later),
    route("/chat/completions", &[body(Api::OpenaiChat)]),
    route("/batch/jobs", &[inner(Api::OpenaiChat, &["requests", EACH, "body"])])
        .replies(ReplyKind::Later)
        .model_in("model"),
    // Claude on Vertex. The request names the model whose tokens are counted.
    route("/count-tokens:rawPredict", MESSAGES).replies(ReplyKind::NoTools),
    route("{model}:rawPredict", MESSAGES),
    route("{model}:streamRawPredict", MESSAGES),
    route("{model}:generateContent", GEMINI),
    route("{model}:streamGenerateContent", GEMINI),
    route("{model}:countTokens", &[proto(Api::Gemini, &["generateContentRequest"]), body(Api::Gemini)])
        .replies(ReplyKind::NoTools),
    route(
        "{model}:batchGenerateContent",
        &[proto(Api::Gemini, &["batch", "inputConfig", "requests", "requests", EACH, "request"])],
    )
    .replies(ReplyKind::Later),
    route("/model/{model}/invoke", INVOKE).of_amazon(),
    route("/model/{model}/invoke-with-response-stream", INVOKE)
        .replies(ReplyKind::Frames(Framing::Base64("bytes")))
        .of_amazon(),
    route("/model/{model}/converse", CONVERSE).of_amazon(),
    route("/model/{model}/converse-stream", CONVERSE).replies(ReplyKind::Frames(Framing::Named)).of_amazon(),
    route(
        "/model/{model}/count-tokens",
        &[
            Part { is_base64: true, ..inner(Api::Anthropic, &["input", "invokeModel", "body"]) },
            inner(Api::Bedrock, &["input", "converse"]),
        ],
    )
    .replies(ReplyKind::NoTools)
    .of_amazon(),
    #[cfg(test)]
    route("/dialogue", &[body(Api::MadeUp)]),
];

/// A path whose requests may have tools but are passed on.
struct NotAdapted {
    path: &'static str,
    /// `None`: any method.
    method: Option<&'static str>,
    note: &'static str,
}

const NOT_ADAPTED: &[NotAdapted] = &[
    // A session begins with a GET that becomes a WebSocket.
    NotAdapted { path: "/realtime", method: None, note: REALTIME },
    NotAdapted { path: "/realtime/client_secrets", method: Some("POST"), note: REALTIME },
    NotAdapted { path: "/realtime/sessions", method: Some("POST"), note: REALTIME },
    // A GET lists the batches.
    NotAdapted { path: "/batches", method: Some("POST"), note: FILES },
];
const FILES: &str = "the tools of requests in an uploaded file are not adapted: adapt each request before the upload";
const REALTIME: &str = "the tools of a Realtime session (`session.update`) are not adapted: adapt them before";

/// Returns a note for the user if requests to the path may have tools that are not adapted.
pub(crate) fn note(method: &str, path: &str) -> Option<&'static str> {
    let is_of = |row: &&NotAdapted| path.ends_with(row.path) && row.method.is_none_or(|only| only == method);
    NOT_ADAPTED.iter().find(is_of).filter(|_| of_path(path).is_none()).map(|row| row.note)
}

pub(crate) fn of_path(path: &str) -> Option<(&'static Route, Range<usize>)> {
    ROUTES.iter().find_map(|route| Some((route, route.matched(path)?)))
}
