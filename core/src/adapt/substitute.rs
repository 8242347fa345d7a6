//! The replacement of a response format that is not sent as a response format.

use alloc::{format, string::String};

use super::report::AdaptReport;
use crate::{
    dialect::formats::JsonMode,
    error::{Code, Error},
    json::Node,
};

/// The error that stopped the rewriting, and what it means for the next form of the response format.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error that every form of the response format would have.
    Request(Error),
    /// The format cannot be sent in this form, but another form may be possible.
    Format(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Request(error)
    }
}

/// Classifies an error: if the format cannot be expressed, the next form may succeed.
pub(super) fn to_stop(error: Error) -> Stop {
    match error.code() {
        Code::NotRepresentable | Code::TooLossy => Stop::Format(error),
        _ => Stop::Request(error),
    }
}

/// Replacement for the response format of a request.
pub(super) struct Substitute {
    /// JSON Pointer to the schema of the format in the original request.
    pub(super) from: String,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A function with this name, at this JSON Pointer in the request.
    Tool {
        name: String,
        at: String,
        /// True if the model may call no other function.
        is_only: bool,
        /// True if the request has other tools.
        has_others: bool,
        /// True if the request asked for arguments in pieces.
        was_in_parts: bool,
        /// The member that was set to forbid more than one call.
        limit: Option<Limit>,
    },
    Prompt {
        /// The instructions.
        text: String,
        mode: Option<&'static JsonMode>,
        /// Property that wraps an answer that is not an object.
        wrapper: Option<String>,
        schema: Node<'static>,
        /// True if the instructions are put into the input, because JSON mode requires the word JSON there.
        is_input: bool,
    },
    /// The model must call a tool of the client, so it returns no structured output.
    NoAnswer,
}

/// Member of a request that forbids more than one call.
pub(super) struct Limit {
    /// JSON Pointer to the member in a request of the client's API.
    pub(super) at: &'static str,
    /// True if the request already had the member, with a different value.
    pub(super) was_given: bool,
}

/// Advice if the API cannot be made to call a function.
pub(super) const NEXT_IS_PROMPT: &str = "; with `formats: \"prompt\"`, the schema is sent in the instructions";

impl Substitute {
    /// Returns the name of the function that replaces the format.
    pub(super) fn tool(&self) -> Option<&str> {
        match &self.kind {
            Kind::Tool { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns an error if the function was quarantined. Called before the choice that forces the function is reported.
    ///
    /// # Errors
    /// `not-representable`.
    pub(super) fn require_sent(&self, report: &AdaptReport) -> Result<(), Stop> {
        let Some(name) = self.tool() else { return Ok(()) };
        let refused =
            report.quarantined.iter().find(|tool| tool.server.is_none() && tool.name.as_deref() == Some(name));
        let Some(tool) = refused else { return Ok(()) };
        let message = format!("{}{NEXT_IS_PROMPT}", tool.message);
        Err(Stop::Format(Error::new(Code::NotRepresentable, self.from.as_str(), message)))
    }
}
