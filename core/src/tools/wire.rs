//! The formats of requests: where each keeps its history, and how it writes its tools.

use super::tool_format::{family, Family};
use crate::options::ToolFormat;

/// The format of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

impl Wire {
    /// The member that holds the history.
    pub(super) const fn history(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::Chat => "messages",
            Wire::Responses => "input",
            Wire::Gemini => "contents",
        }
    }

    /// The shape of its tools, for a dialect whose own is `home`.
    pub(super) fn tools(self, home: ToolFormat) -> ToolFormat {
        match self {
            Wire::Anthropic => ToolFormat::Anthropic,
            Wire::Chat => ToolFormat::OpenaiChat,
            Wire::Responses => ToolFormat::OpenaiResponses,
            Wire::Gemini if family(home) == Family::Gemini => home,
            Wire::Gemini => ToolFormat::GeminiJsonSchema,
        }
    }
}
