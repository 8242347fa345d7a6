//! Options of `sanitize_tools`, and the shapes that tools have.

use alloc::{format, string::String, vec::Vec};

use super::{
    read::{choice, Example, Reader},
    sanitize, DeferredOptions, RepairOptions, SanitizeOptions,
};
use crate::{
    error::{Code, Error},
    json::Node,
    naming::Naming,
};

choice! {
    /// The shape of a tool in a list: which API's.
    ToolFormat {
        /// MCP `tools/list`: `{ name, description, inputSchema }`.
        Mcp = "mcp",
        /// Anthropic Messages: `{ name, description, input_schema }`.
        Anthropic = "anthropic",
        /// OpenAI Chat Completions: `{ type: "function", function: { name, description, parameters } }`.
        OpenaiChat = "openai-chat",
        /// OpenAI Responses: `{ type: "function", name, description, parameters }`.
        OpenaiResponses = "openai-responses",
        /// Gemini: `{ name, description, parameters }`, all in one `functionDeclarations`.
        Gemini = "gemini",
        /// Gemini: `{ name, description, parametersJsonSchema }`, all in one `functionDeclarations`.
        GeminiJsonSchema = "gemini-json-schema",
        /// Gemini Interactions: `{ type: "function", name, description, parameters }`.
        GeminiInteractions = "gemini-interactions",
        /// Bedrock Converse: `{ toolSpec: { name, description, inputSchema: { json } } }`.
        Bedrock = "bedrock",
    }
}

choice! {
    /// What becomes of a list or a request if tools have to be set aside.
    OnSetAside {
        /// They are left out, and a warning names them: for a list in
        /// [`SanitizedTools::warning`](crate::SanitizedTools::warning), for a request in
        /// [`Exchange::warning`](crate::Exchange::warning).
        Warn = "warn",
        /// The call fails.
        Error = "error",
    }
}

choice! {
    /// Whether tools of several servers have the name of their server in front of theirs: `server__tool`.
    Prefix {
        /// Only tools whose name several servers have.
        Auto = "auto",
        /// All: no name depends on which servers there are.
        Always = "always",
        /// None. A name that several servers have gets a digest of the server and the name.
        Never = "never",
    }
}

choice! {
    /// What becomes of the arguments of calls in the history that are no JSON object.
    HistoryArguments {
        /// They are read tolerantly, and become `{}` if that fails.
        Repair = "repair",
        /// They stay.
        Keep = "keep",
    }
}

/// Options of `sanitize_tools`.
///
/// ```
/// use toolwire::{ToolsOptions, options::ToolFormat};
/// let options = ToolsOptions::new("moonshot").format(ToolFormat::Anthropic);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsOptions {
    /// The dialect of the schemas, and the other options of [`sanitize`](crate::sanitize).
    pub sanitize: SanitizeOptions,
    /// The shape of the tools; `None` is the one of the dialect's API.
    pub format: Option<ToolFormat>,
    /// Another dialect, for tools that the first one cannot say, or only with more loss than is allowed.
    pub fallback: Option<String>,
    /// The most tools that are rewritten: those after them are set aside. `None` is
    /// [`MAX_TOOLS`](crate::limits::MAX_TOOLS), `Some(None)` no limit but the API's.
    pub max_tools: Option<Option<usize>>,
    /// How the arguments of calls are repaired when they are restored; `None`: they are not. Their name is filled in.
    pub repair: Option<RepairOptions>,
    /// How tools of a list of several servers are called.
    pub prefix: Prefix,
    /// What becomes of a list if tools have to be set aside. Requests ignore it: `adapt_request` reports the
    /// tools, and [`ExchangeOptions`](crate::ExchangeOptions) has its own.
    pub on_set_aside: OnSetAside,
    /// The dialect for tools without `strict: true`; `None`: the flags do not decide.
    pub(crate) by_flag: Option<&'static str>,
}

/// The option that only lists have.
const OF_LISTS: &str = "onSetAside";
pub(super) const KNOWN: [&str; 5] = ["format", "fallback", "maxTools", "repair", "prefix"];
const EXAMPLE: Example =
    Example { function: "sanitizeTools", input: "tools", option: "dialect", value: "\"moonshot\"" };

impl ToolsOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        let sanitize = SanitizeOptions::new(dialect);
        ToolsOptions {
            sanitize,
            format: None,
            fallback: None,
            max_tools: None,
            repair: None,
            prefix: Prefix::Auto,
            on_set_aside: OnSetAside::Warn,
            by_flag: None,
        }
    }

    /// Sets [`Self::format`].
    #[must_use]
    pub fn format(mut self, format: ToolFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets [`Self::fallback`].
    #[must_use]
    pub fn fallback(mut self, dialect: impl Into<String>) -> Self {
        self.fallback = Some(dialect.into());
        self
    }

    /// Sets [`Self::max_tools`]; `None` is no limit but the API's.
    #[must_use]
    pub fn max_tools(mut self, tools: impl Into<Option<usize>>) -> Self {
        self.max_tools = Some(tools.into());
        self
    }

    /// Sets [`Self::repair`].
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{sanitize_tools, RepairOptions, ToolsOptions};
    /// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
    /// let tools = json!([{"name": "search", "inputSchema": schema}]);
    /// let options = ToolsOptions::new("anthropic").repair(RepairOptions::default());
    /// let restored = sanitize_tools(&tools, &options)?.restore.call("search", &json!({"limit": "10"}))?;
    /// assert_eq!(restored.arguments, json!({"limit": 10}));
    /// assert_eq!(restored.repaired.expect("a known tool").repairs[0].rule.as_str(), "string-to-number");
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn repair(mut self, repair: impl Into<Option<RepairOptions>>) -> Self {
        self.repair = repair.into();
        self
    }

    /// Sets [`Self::prefix`].
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{options::Prefix, sanitize_tools, ToolsOptions};
    /// let search = json!({"name": "search", "inputSchema": {"type": "object", "properties": {}}});
    /// let servers = json!([{"server": "github", "tools": [search]}]);
    /// let options = ToolsOptions::new("anthropic").prefix(Prefix::Always);
    /// assert_eq!(sanitize_tools(&servers, &options)?.tools[0]["name"], "github__search");
    /// # Ok::<(), toolwire::Error>(())
    /// ```
    #[must_use]
    pub fn prefix(mut self, prefix: Prefix) -> Self {
        self.prefix = prefix;
        self
    }

    /// Sets [`Self::on_set_aside`].
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwire::{options::OnSetAside, sanitize_tools, ToolsOptions};
    /// let tools = json!([{"name": "bad", "inputSchema": {"type": "string"}}]);
    /// let options = ToolsOptions::new("anthropic").on_set_aside(OnSetAside::Error);
    /// let error = sanitize_tools(&tools, &options).expect_err("no tool may be missing");
    /// assert_eq!((error.code().as_str(), error.pointer()), ("not-representable", "/0/inputSchema"));
    /// ```
    #[must_use]
    pub fn on_set_aside(mut self, outcome: OnSetAside) -> Self {
        self.on_set_aside = outcome;
        self
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let known: Vec<&str> = sanitize::KNOWN.iter().copied().chain(KNOWN).chain([OF_LISTS]).collect();
        let reader = Reader::new(node, naming, &known, &EXAMPLE)?;
        let on_set_aside = reader.choice(OF_LISTS, OnSetAside::CHOICES)?.unwrap_or(OnSetAside::Warn);
        Ok(ToolsOptions { on_set_aside, ..ToolsOptions::of(&reader, naming, &EXAMPLE)? })
    }

    /// The options among those of a function that has more.
    pub(super) fn of(reader: &Reader<'_, '_>, naming: Naming, example: &Example) -> Result<Self, Error> {
        Ok(ToolsOptions {
            sanitize: SanitizeOptions::of(reader, naming, example)?,
            format: reader.choice("format", ToolFormat::CHOICES)?,
            fallback: reader.text("fallback")?,
            max_tools: reader.limit("maxTools")?,
            repair: RepairOptions::of_calls(reader.node("repair"), naming)?,
            prefix: reader.choice("prefix", Prefix::CHOICES)?.unwrap_or(Prefix::Auto),
            by_flag: None,
            on_set_aside: OnSetAside::Warn,
        })
    }
}

/// The options of requests that lists of tools do not have.
pub(super) const OF_REQUESTS: [&str; 3] = ["deferred", "historyArguments", "model"];

/// Options of `adapt_request`.
///
/// ```
/// use toolwire::{AdaptOptions, DeferredOptions};
/// let options = AdaptOptions::new("moonshot").deferred(None);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdaptOptions {
    /// What becomes of the tools. [`ToolsOptions::format`] is here the format of the request, where its shape does not
    /// tell.
    pub tools: ToolsOptions,
    /// How tools are loaded that are deferred; `None`: they stay as they are, for an API that has the feature.
    pub deferred: Option<DeferredOptions>,
    /// What becomes of the arguments of calls in the history that are no JSON object, for which APIs refuse the request
    /// and every later one.
    pub history_arguments: HistoryArguments,
    /// The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some
    /// models alone.
    pub model: Option<String>,
}

impl AdaptOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        AdaptOptions {
            tools: ToolsOptions::new(dialect),
            deferred: Some(DeferredOptions::default()),
            history_arguments: HistoryArguments::Repair,
            model: None,
        }
    }

    /// Sets [`Self::model`].
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets [`Self::history_arguments`].
    #[must_use]
    pub fn history_arguments(mut self, outcome: HistoryArguments) -> Self {
        self.history_arguments = outcome;
        self
    }

    /// Sets [`Self::deferred`].
    #[must_use]
    pub fn deferred(mut self, deferred: impl Into<Option<DeferredOptions>>) -> Self {
        self.deferred = deferred.into();
        self
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example =
            Example { function: "adaptRequest", input: "request", option: "dialect", value: "\"moonshot\"" };
        let known: Vec<&str> = sanitize::KNOWN.iter().copied().chain(KNOWN).chain(OF_REQUESTS).collect();
        let reader = Reader::new(node, naming, &known, &EXAMPLE)?;
        let tools = ToolsOptions::of(&reader, naming, &EXAMPLE)?;
        if matches!(tools.format, Some(ToolFormat::Mcp | ToolFormat::GeminiJsonSchema)) {
            let message =
                "expected `format` to be one of \"anthropic\", \"openai-chat\", \"openai-responses\", \"gemini\", \
                    \"gemini-interactions\", \"bedrock\", which requests have";
            return Err(Error::new(Code::InvalidOption, "/format", message));
        }
        let deferred = match reader.node("deferred") {
            None => Some(DeferredOptions::default()),
            Some(node) => match node.as_bool() {
                Some(true) => Some(DeferredOptions::default()),
                Some(false) => None,
                None => Some(DeferredOptions::read(node, naming).map_err(|error| error.below("/deferred"))?),
            },
        };
        let history_arguments =
            reader.choice("historyArguments", HistoryArguments::CHOICES)?.unwrap_or(HistoryArguments::Repair);
        Ok(AdaptOptions { tools, deferred, history_arguments, model: reader.text("model")? })
    }
}

/// The dialects that `check_tools` is asked about.
///
/// # Errors
/// `unknown-option`, `invalid-option`.
pub(crate) fn dialects(node: &Node<'_>, naming: Naming) -> Result<Vec<String>, Error> {
    const EXAMPLE: Example =
        Example { function: "checkTools", input: "tools", option: "dialects", value: "[\"moonshot\"]" };
    let reader = Reader::new(node, naming, &["dialects"], &EXAMPLE)?;
    reader.names("dialects")?.ok_or_else(|| {
        let example = naming.example(&EXAMPLE);
        Error::new(
            Code::InvalidOption,
            "/dialects",
            format!("expected a list of dialects, found none; for example `{example}`"),
        )
    })
}

/// The dialect that `check_request` is asked about.
///
/// # Errors
/// `unknown-option`, `invalid-option`.
pub(crate) fn dialect(node: &Node<'_>, naming: Naming) -> Result<String, Error> {
    const EXAMPLE: Example =
        Example { function: "checkRequest", input: "request", option: "dialect", value: "\"anthropic\"" };
    let reader = Reader::new(node, naming, &["dialect"], &EXAMPLE)?;
    Ok(SanitizeOptions::of(&reader, naming, &EXAMPLE)?.dialect)
}
