//! What `dialect_for` and `deferral_for` are asked with.

use alloc::string::String;

use super::{
    read::{Example, Reader},
    table::{choice, options},
    ToolFormat,
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// An API that tools are sent to: what requests and replies look like.
    Api {
        /// OpenAI Chat Completions, and what took it over.
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
        /// llama.cpp's server and what runs on it.
        LlamaCpp = "llama-cpp",
    }
}

impl Api {
    /// The APIs for which deferred loading reads requests, in the order of the documentation.
    pub(crate) const WITH_DEFERRAL: &'static [(&'static str, Api)] = &[
        (Api::Anthropic.as_str(), Api::Anthropic),
        (Api::OpenaiResponses.as_str(), Api::OpenaiResponses),
        (Api::OpenaiChat.as_str(), Api::OpenaiChat),
        (Api::GeminiInteractions.as_str(), Api::GeminiInteractions),
        (Api::Bedrock.as_str(), Api::Bedrock),
        (Api::Gemini.as_str(), Api::Gemini),
    ];

    /// Reads an option that takes these.
    ///
    /// # Errors
    /// `invalid-option` for anything else.
    pub(super) fn with_deferral(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Option<Self>>, Error> {
        Ok(reader.choice(name, Self::WITH_DEFERRAL)?.map(Some))
    }

    /// Whether deferred loading knows its requests.
    pub(crate) fn has_deferral(self) -> bool {
        Self::WITH_DEFERRAL.iter().any(|(_, api)| *api == self)
    }

    /// Returns true if each call in the history is an item of its own, and false if messages hold the calls.
    pub(crate) const fn has_items(self) -> bool {
        matches!(self, Api::OpenaiResponses | Api::GeminiInteractions)
    }

    /// The shape of its tools.
    pub(crate) const fn tools(self) -> ToolFormat {
        match self {
            Api::Anthropic => ToolFormat::Anthropic,
            Api::OpenaiResponses => ToolFormat::OpenaiResponses,
            Api::OpenaiChat | Api::LlamaCpp => ToolFormat::OpenaiChat,
            Api::Gemini => ToolFormat::Gemini,
            Api::GeminiJsonSchema => ToolFormat::GeminiJsonSchema,
            Api::GeminiInteractions => ToolFormat::GeminiInteractions,
            Api::Bedrock => ToolFormat::Bedrock,
        }
    }

    /// The member of a request that holds the history.
    pub(crate) const fn history(self) -> &'static str {
        match self {
            Api::OpenaiResponses | Api::GeminiInteractions => "input",
            Api::Gemini | Api::GeminiJsonSchema => "contents",
            _ => "messages",
        }
    }
}

options! {
    /// What is known about where tools are sent: at least one of protocol, model and host.
    ///
    /// ```
    /// use toolwire::{dialect_for, DialectQuery};
    /// assert_eq!(dialect_for(&DialectQuery::default().host("api.moonshot.ai"))?.dialect, "moonshot");
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DialectQuery {
        /// The protocol.
        "api" api: Option<Api> = None, set(|api: Api| api.into());
        /// The model, as the request names it.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// The host, or a URL on it.
        "host" host: Option<String> = None, set(|host: impl Into<String>| Some(host.into()));
        /// Whether the tools are sent with `strict: true`.
        "strict" strict: bool = false;
        /// Whether an unknown API is an error. Otherwise the answer is `portable`.
        "exact" exact: bool = false;
    }
}

options! {
    /// What is known about a backend: at least its host or the model; most constructs depend on both.
    ///
    /// ```
    /// use toolwire::DeferralQuery;
    /// let query = DeferralQuery { host: Some("api.moonshot.ai".into()), ..DeferralQuery::default() };
    /// # let _ = query;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeferralQuery {
        /// The protocol that the backend is asked in, if only one comes into question: a construct of another does not
        /// fit then.
        "api" api: Option<Api> = None, set(|api: Api| api.into());
        /// The model, as the request names it.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// The host, or a URL on it.
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
    /// Reads the query from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example =
            Example { function: "dialectFor", input: "", option: "host", value: "\"api.moonshot.ai\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}

impl DeferralQuery {
    /// Reads the query from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example =
            Example { function: "deferralFor", input: "", option: "host", value: "\"api.moonshot.ai\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::default())
    }
}
