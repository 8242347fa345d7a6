//! The APIs that requests are written for.

use crate::options::Format;

/// Which API a request is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Gemini `generateContent`.
    Gemini,
}

impl From<Format> for Api {
    fn from(format: Format) -> Api {
        match format {
            Format::Anthropic => Api::Anthropic,
            Format::OpenaiChat => Api::OpenaiChat,
            Format::OpenaiResponses => Api::OpenaiResponses,
        }
    }
}

impl Api {
    /// The format of deferred loading; `None` for an API without it.
    pub(crate) const fn format(self) -> Option<Format> {
        match self {
            Api::Anthropic => Some(Format::Anthropic),
            Api::OpenaiChat => Some(Format::OpenaiChat),
            Api::OpenaiResponses => Some(Format::OpenaiResponses),
            Api::Gemini => None,
        }
    }

    /// The member that holds the history.
    pub(crate) const fn history(self) -> &'static str {
        match self {
            Api::Anthropic | Api::OpenaiChat => "messages",
            Api::OpenaiResponses => "input",
            Api::Gemini => "contents",
        }
    }
}
