//! Options of `dialect_for` and `deferral_for`.

use alloc::string::String;

use super::{
    table::{choice, options, Example, Reader},
    ToolFormat,
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// Protocol of an API that accepts tools. It determines the format of requests and replies.
    Api {
        /// OpenAI Chat Completions, and the APIs that adopted its format.
        OpenaiChat = "openai-chat",
        /// OpenAI Responses.
        OpenaiResponses = "openai-responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Gemini `generateContent`, with schemas in `parameters`.
        Gemini = "gemini",
        /// Gemini `generateContent`, with schemas in `parametersJsonSchema`.
        GeminiJsonSchema = "gemini-json-schema",
        /// Gemini Interactions.
        GeminiInteractions = "gemini-interactions",
        /// Bedrock Converse.
        Bedrock = "bedrock",
        /// llama.cpp's server and the servers built on it.
        LlamaCpp = "llama-cpp",
    }
    in tests { MadeUp = "made-up" }
}

/// In the order of the documentation.
pub(crate) const APIS_WITH_DEFERRAL: &[(&str, Api)] = &[
    (Api::Anthropic.as_str(), Api::Anthropic),
    (Api::OpenaiResponses.as_str(), Api::OpenaiResponses),
    (Api::OpenaiChat.as_str(), Api::OpenaiChat),
    (Api::GeminiInteractions.as_str(), Api::GeminiInteractions),
    (Api::Bedrock.as_str(), Api::Bedrock),
    (Api::Gemini.as_str(), Api::Gemini),
    #[cfg(test)]
    (Api::MadeUp.as_str(), Api::MadeUp),
];

impl Api {
    /// Reads an option whose value is one of [`APIS_WITH_DEFERRAL`].
    pub(super) fn with_deferral(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Option<Self>>, Error> {
        Ok(reader.choice(name, APIS_WITH_DEFERRAL)?.map(Some))
    }

    pub(crate) fn has_deferral(self) -> bool {
        APIS_WITH_DEFERRAL.iter().any(|(_, api)| *api == self)
    }

    pub(crate) const fn tools(self) -> ToolFormat {
        match self {
            Api::Anthropic => ToolFormat::Anthropic,
            Api::OpenaiResponses => ToolFormat::OpenaiResponses,
            Api::OpenaiChat | Api::LlamaCpp => ToolFormat::OpenaiChat,
            Api::Gemini => ToolFormat::Gemini,
            Api::GeminiJsonSchema => ToolFormat::GeminiJsonSchema,
            Api::GeminiInteractions => ToolFormat::GeminiInteractions,
            Api::Bedrock => ToolFormat::Bedrock,
            #[cfg(test)]
            Api::MadeUp => ToolFormat::OpenaiResponses,
        }
    }
}

options! {
    /// Facts about the API that receives the tools: at least one of protocol, model and host.
    ///
    /// ```
    /// use toolwire::{dialect_for, DialectQuery};
    /// assert_eq!(dialect_for(&DialectQuery::default().host("api.moonshot.ai"))?.dialect, "moonshot");
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DialectQuery {
        /// API protocol.
        "api" api: Option<Api> = None, set(|api: Api| api.into());
        /// Model, as named in the request.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// Host, or a URL on it.
        "host" host: Option<String> = None, set(|host: impl Into<String>| Some(host.into()));
        /// True if the tools are sent with `strict: true`.
        "strict" strict: bool = false;
        /// If true, an unknown API is an error. Otherwise, the result is `portable`.
        "exact" exact: bool = false;
    }
}

options! {
    /// Facts about a backend: at least its host or its model; most constructs depend on both.
    ///
    /// ```
    /// use toolwire::{deferral_for, options::Native, DeferralQuery};
    /// let query = DeferralQuery::default().host("api.moonshot.ai").model("kimi-k3");
    /// assert_eq!(deferral_for(&query)?.native, Native::Kimi);
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DeferralQuery {
        /// Protocol of the requests, if only one is possible: constructs of other protocols are then excluded.
        "api" api: Option<Api> = None, set(|api: Api| api.into());
        /// Model, as named in the request.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// Host, or a URL on it.
        "host" host: Option<String> = None, set(|host: impl Into<String>| Some(host.into()));
    }
}

impl Default for DialectQuery {
    fn default() -> Self {
        Self::at_default()
    }
}

impl Default for DeferralQuery {
    fn default() -> Self {
        Self::at_default()
    }
}

impl DialectQuery {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example<'_> =
            Example { function: "dialectFor", input: "", option: "host", value: "\"api.moonshot.ai\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}

impl DeferralQuery {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example<'_> =
            Example { function: "deferralFor", input: "", option: "host", value: "\"api.moonshot.ai\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}
