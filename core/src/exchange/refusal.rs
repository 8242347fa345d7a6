//! Errors of this library in the error format of each API. The client's SDK reads them as a bad request, not as a
//! broken connection, which it would retry.

use alloc::{format, string::String};

use super::endpoint;
use crate::{
    error::Error,
    json::{self, Node},
    options::Api,
};

/// Returns the body of a response with status 400.
pub(crate) fn body(url: &str, error: &Error) -> String {
    of(endpoint::of(url).map_or(Api::OpenaiChat, |endpoint| endpoint.api), error)
}

/// Returns the body of a response of an API with status 400.
pub(crate) fn of(api: Api, error: &Error) -> String {
    let (code, pointer) = (error.code().as_str(), error.pointer());
    let at = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
    let message = Node::string(format!("toolwire: {code}{at}: {}", error.message()));
    let (code, pointer) = (Node::literal(code), Node::string(String::from(pointer)));
    let body = match api {
        Api::Anthropic => Node::record([
            ("type", Node::literal("error")),
            (
                "error",
                Node::record([
                    ("type", Node::literal("invalid_request_error")),
                    ("message", message),
                    ("code", code),
                    ("pointer", pointer),
                ]),
            ),
        ]),
        Api::Gemini | Api::GeminiInteractions => {
            let detail = Node::record([
                ("@type", Node::literal("type.googleapis.com/google.rpc.ErrorInfo")),
                ("reason", code),
                ("domain", Node::literal("toolwire")),
                ("metadata", Node::record([("pointer", pointer)])),
            ]);
            Node::record([(
                "error",
                Node::record([
                    ("code", Node::count(400)),
                    ("message", message),
                    ("status", Node::literal("INVALID_ARGUMENT")),
                    ("details", Node::array([detail].into())),
                ]),
            )])
        }
        _ => Node::record([(
            "error",
            Node::record([
                ("message", message),
                ("type", Node::literal("invalid_request_error")),
                ("param", pointer),
                ("code", code),
            ]),
        )]),
    };
    json::write(&body)
}
