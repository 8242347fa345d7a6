//! The errors of an API.

use alloc::{format, string::String};

use super::Wire;
use crate::{
    json::{self, Node},
    options::Api,
};

#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) api: Api,
    /// True if the paths of other services end in the same way.
    pub(super) is_shared: bool,
    pub(super) error: for<'a> fn(Refusal<'a>) -> Node<'a>,
    /// Returns the event of a stream that reports an error, from the body of a response with an error.
    pub(super) error_event: fn(&str) -> String,
}

/// Content of the body of a response with status 400.
pub(crate) struct Refusal<'a> {
    pub(crate) message: Node<'a>,
    pub(crate) code: Node<'a>,
    pub(crate) pointer: Node<'a>,
}

impl Wire {
    pub(crate) const fn shares_addresses(&self) -> bool {
        self.endpoint.is_shared
    }

    pub(crate) fn error_event(&self, body: &str) -> String {
        (self.endpoint.error_event)(body)
    }

    pub(crate) fn error<'a>(&self, refusal: Refusal<'a>) -> Node<'a> {
        (self.endpoint.error)(refusal)
    }
}

pub(super) fn error_event(body: &str) -> String {
    let error = json::read(body).ok().filter(|error| error.get("error").is_some_and(|error| !error.is_null()));
    let error = error.unwrap_or_else(|| Node::record([("error", Node::record([("message", Node::string(body))]))]));
    format!("data: {}\n\n", json::write(&error))
}

pub(super) fn of_openai(refusal: Refusal<'_>) -> Node<'_> {
    let error = Node::record([
        ("message", refusal.message),
        ("type", Node::literal("invalid_request_error")),
        ("param", refusal.pointer),
        ("code", refusal.code),
    ]);
    Node::record([("error", error)])
}

pub(super) fn of_google(refusal: Refusal<'_>) -> Node<'_> {
    let detail = Node::record([
        ("@type", Node::literal("type.googleapis.com/google.rpc.ErrorInfo")),
        ("reason", refusal.code),
        ("domain", Node::literal("toolwire")),
        ("metadata", Node::record([("pointer", refusal.pointer)])),
    ]);
    let error = Node::record([
        ("code", Node::count(400)),
        ("message", refusal.message),
        ("status", Node::literal("INVALID_ARGUMENT")),
        ("details", Node::array([detail].into())),
    ]);
    Node::record([("error", error)])
}
