//! Options of `sanitize_tools`, and the shapes that tools have.

use alloc::{format, string::String, vec::Vec};

use super::{
    read::{Example, Reader},
    table::{choice, options},
    DeferredOptions, RepairOptions, SanitizeOptions,
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
    /// What becomes of calls in the history without a result, and of results without a call.
    HistoryPairs {
        /// They stay.
        Keep = "keep",
        /// A call without a result gets one that says so. Results in other messages are moved behind their calls. A
        /// result without a call is removed. Gemini Interactions ignores it.
        Complete = "complete",
    }
}

choice! {
    /// What becomes of the `outputSchema` of MCP tools in the format of an API.
    OutputSchemas {
        /// It is left out.
        Drop = "drop",
        /// It is sent as `output_schema` where the API has that.
        Send = "send",
    }
}

choice! {
    /// What becomes of tools of one name in a list that has several definitions for it.
    DuplicateNames {
        /// The first one is sent, and the others are set aside.
        Quarantine = "quarantine",
        /// Each gets a name of its own, and `restore` returns its index in the list. Set it only if your code reads
        /// `index`.
        Rename = "rename",
    }
}

choice! {
    /// What becomes of the tools of a request that has more than the API takes.
    Overflow {
        /// Those past the maximum are set aside.
        Quarantine = "quarantine",
        /// They are deferred: the model finds them with a search, and their names are in the system prompt.
        Defer = "defer",
    }
}

choice! {
    /// How the schema of a response format is sent.
    Formats {
        /// As the API's own response format.
        Native = "native",
        /// As the arguments of a function that the model is forced to call. `restore` returns the call as the text of
        /// the answer.
        Tool = "tool",
        /// In the instructions, with the API's JSON mode if it has one. Nothing holds the answer to the schema.
        Prompt = "prompt",
        /// The first of the others that the API takes in this request.
        Ladder = "ladder",
    }
}

choice! {
    /// What becomes of the arguments of calls in the history that are not JSON objects.
    HistoryArguments {
        /// They are read tolerantly, and become `{}` if that fails.
        Repair = "repair",
        /// They stay.
        Keep = "keep",
    }
}

options! {
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
        /// The shape of the tools. `None` is the one of the dialect's API.
        "format" format: Option<ToolFormat> = None, set(|format: ToolFormat| format.into());
        /// Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits.
        "fallback" fallback: Option<String> = None, set(|dialect: impl Into<String>| Some(dialect.into()));
        /// Maximum number of tools that are rewritten: those after them are set aside. `None` is
        /// [`MAX_TOOLS`](crate::limits::MAX_TOOLS), `Some(None)` no limit but the API's.
        "maxTools" max_tools: Option<Option<usize>> = None, set(|tools: impl Into<Option<usize>>| Some(tools.into()));
        /// Whether and how `restore` repairs the arguments of calls by the tool's own schema, as `repair_arguments`
        /// does. The tool's name is filled in.
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
        "repair" repair: Option<RepairOptions> = None, set(|repair: impl Into<Option<RepairOptions>>| repair.into());
        /// How tools of a list of several servers are called.
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
        "prefix" prefix: Prefix = Prefix::Auto;
        /// What becomes of the `outputSchema` of MCP tools in the format of an API.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::OutputSchemas, sanitize_tools, ToolsOptions};
        /// let schema = json!({"type": "object", "properties": {}});
        /// let tools = json!([{"name": "now", "inputSchema": schema, "outputSchema": schema}]);
        /// let options = ToolsOptions::new("openai-responses").output_schemas(OutputSchemas::Send);
        /// assert_eq!(sanitize_tools(&tools, &options)?.tools[0]["output_schema"], schema);
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "outputSchemas" output_schemas: OutputSchemas = OutputSchemas::Drop;
        /// What becomes of tools of one name in a list that has several definitions for it. Requests ignore it: their
        /// tools are set aside.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::DuplicateNames, sanitize_tools, ToolsOptions};
        /// let tool = |what| json!({"name": "find", "description": what, "inputSchema": {"type": "object"}});
        /// let tools = json!([tool("finds files"), tool("finds people")]);
        /// let options = ToolsOptions::new("anthropic").duplicate_names(DuplicateNames::Rename);
        /// let sanitized = sanitize_tools(&tools, &options)?;
        /// let called = sanitized.tools[1]["name"].as_str().unwrap_or_default();
        /// let call = sanitized.restore.call(called, &json!({}))?;
        /// assert_eq!((call.name.as_str(), call.index), ("find", Some(1)));
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "duplicateNames" duplicate_names: DuplicateNames = DuplicateNames::Quarantine, set(by hand);
        /// What becomes of a list of which tools have to be set aside. Requests ignore it: `adapt_request` reports the
        /// tools, and [`ExchangeOptions`](crate::ExchangeOptions) has its own.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::OnSetAside, sanitize_tools, ToolsOptions};
        /// let tools = json!([{"name": "bad", "inputSchema": {"type": "string"}}]);
        /// let options = ToolsOptions::new("anthropic").on_set_aside(OnSetAside::Error);
        /// let error = sanitize_tools(&tools, &options).expect_err("no tool may be missing");
        /// assert_eq!((error.code().as_str(), error.pointer()), ("not-representable", "/0/inputSchema"));
        /// ```
        "onSetAside" on_set_aside: OnSetAside = OnSetAside::Warn, set(by hand);
    } with {
        /// The dialect of the schemas, and the other options of [`sanitize`](crate::sanitize).
        pub sanitize: SanitizeOptions = SanitizeOptions::at_default(), read(of_schemas);
        /// The dialect for tools without `strict: true`; `None`: the flags do not decide.
        pub(crate) by_flag: Option<&'static str> = None;
        /// The function that stands for a response format. Its schema is wrapped if it describes no object.
        pub(crate) answer: Option<String> = None;
        /// The list is not that of one request: the API's maximum of tools does not apply.
        pub(crate) any_count: bool = false;
    }
    forward ($) list_setters
}

/// The options that only single schemas have: a tool's schema describes arguments.
const OF_SCHEMAS: [&str; 2] = ["use", "wrapper"];
/// The options that only lists have.
const OF_LISTS: [&str; 2] = ["duplicateNames", "onSetAside"];
const EXAMPLE: Example =
    Example { function: "sanitizeTools", input: "tools", option: "dialect", value: "\"moonshot\"" };

/// The options of `sanitize` that hold for the schemas of tools.
fn of_tool_schemas() -> impl Iterator<Item = &'static &'static str> {
    SanitizeOptions::KNOWN.iter().filter(|name| !OF_SCHEMAS.contains(name))
}

fn of_schemas(reader: &Reader<'_, '_>) -> Result<SanitizeOptions, Error> {
    SanitizeOptions::of(reader, SanitizeOptions::at_default())
}

impl ToolsOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        ToolsOptions { sanitize: SanitizeOptions::new(dialect), ..Self::at_default() }
    }

    /// Sets [`Self::duplicate_names`].
    #[must_use]
    pub fn duplicate_names(mut self, outcome: DuplicateNames) -> Self {
        self.duplicate_names = outcome;
        self
    }

    /// Sets [`Self::on_set_aside`].
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
        let known: Vec<&str> = of_tool_schemas().chain(Self::KNOWN).copied().collect();
        Self::of(&Reader::new(node, naming, &known, EXAMPLE)?, Self::at_default())
    }
}

options! {
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
        /// How tools are loaded that are deferred. `None` leaves them as they are, for an API that has the feature.
        "deferred" deferred: Option<DeferredOptions> = Some(DeferredOptions::default()), set(by hand);
        /// How the schema of a response format is sent.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{adapt_request, options::Formats, AdaptOptions};
        /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        /// let request = json!({
        ///     "model": "deepseek-chat",
        ///     "messages": [{"role": "user", "content": "Where?"}],
        ///     "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}},
        /// });
        /// let adapted = adapt_request(&request, &AdaptOptions::new("deepseek").formats(Formats::Ladder))?;
        /// assert_eq!(adapted.request["tool_choice"]["function"]["name"], "give_answer");
        /// let function = json!({"name": "give_answer", "arguments": r#"{"city":"Rome"}"#});
        /// let calls = json!([{"id": "c", "type": "function", "function": function}]);
        /// let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        /// let reply = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        /// let restored = adapted.restore.reply(&reply)?.reply;
        /// assert_eq!(restored["choices"][0]["message"]["content"], r#"{"city":"Rome"}"#);
        /// assert_eq!(restored["choices"][0]["finish_reason"], "stop");
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "formats" formats: Formats = Formats::Native;
        /// What becomes of the arguments of calls in the history that are not JSON objects, for which APIs refuse the
        /// request and every later one.
        "historyArguments" history_arguments: HistoryArguments = HistoryArguments::Repair;
        /// What becomes of calls in the history without a result, and of results without a call, for which APIs refuse
        /// the request and every later one.
        "historyPairs" history_pairs: HistoryPairs = HistoryPairs::Keep;
        /// The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some
        /// models alone.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// What becomes of the tools of a request that has more than the API takes.
        "overflow" overflow: Overflow = Overflow::Quarantine;
    } with {
        /// What becomes of the tools. [`ToolsOptions::format`] is here the format of the request, where its shape does
        /// not tell.
        pub tools: ToolsOptions = ToolsOptions::at_default(), read(of_tools);
    }
    forward ($) request_setters
}

fn of_tools(reader: &Reader<'_, '_>) -> Result<ToolsOptions, Error> {
    ToolsOptions::of(reader, ToolsOptions::at_default())
}

impl AdaptOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        AdaptOptions { tools: ToolsOptions::new(dialect), ..Self::at_default() }
    }

    /// Sets [`Self::deferred`].
    #[must_use]
    pub fn deferred(mut self, deferred: impl Into<Option<DeferredOptions>>) -> Self {
        self.deferred = deferred.into();
        self
    }

    /// Sets [`SanitizeOptions::wrapper`] for the response formats of the request.
    #[must_use]
    pub fn wrapper(mut self, name: impl Into<String>) -> Self {
        self.tools.sanitize.wrapper = name.into();
        self
    }

    /// The names of all options.
    pub(super) fn known() -> impl Iterator<Item = &'static str> {
        let of_tools = ToolsOptions::KNOWN.iter().filter(|name| !OF_LISTS.contains(name));
        // Requests say what their schemas are for.
        let of_schemas = SanitizeOptions::KNOWN.iter().filter(|name| **name != "use");
        of_schemas.chain(of_tools).chain(Self::KNOWN).copied()
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example =
            Example { function: "adaptRequest", input: "request", option: "dialect", value: "\"moonshot\"" };
        let known: Vec<&str> = Self::known().collect();
        let options = Self::of(&Reader::new(node, naming, &known, EXAMPLE)?, Self::at_default())?;
        if matches!(options.tools.format, Some(ToolFormat::Mcp | ToolFormat::GeminiJsonSchema)) {
            let message = "expected `format` to be a format of requests: one of \"anthropic\", \"openai-chat\", \
                \"openai-responses\", \"gemini\", \"gemini-interactions\", \"bedrock\"";
            return Err(Error::new(Code::InvalidOption, "/format", message));
        }
        Ok(options)
    }
}

/// The dialects that `check_tools` is asked about.
///
/// # Errors
/// `unknown-option`, `invalid-option`.
pub(crate) fn dialects(node: &Node<'_>, naming: Naming) -> Result<Vec<String>, Error> {
    const EXAMPLE: Example =
        Example { function: "checkTools", input: "tools", option: "dialects", value: "[\"moonshot\"]" };
    let reader = Reader::new(node, naming, &["dialects"], EXAMPLE)?;
    reader.names("dialects")?.ok_or_else(|| {
        let example = naming.example(&EXAMPLE);
        Error::new(
            Code::InvalidOption,
            "/dialects",
            format!("expected a list of dialects, found none; for example `{example}`"),
        )
    })
}

options! {
    /// Options of `check_request`: the API that a request is for.
    ///
    /// ```
    /// use toolwire::CheckRequestOptions;
    /// let options = CheckRequestOptions::new("gemini").model("gemini-2.0-flash-preview-image-generation");
    /// # let _ = options;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CheckRequestOptions {
        /// The dialect of the API that the request is for.
        "dialect" dialect: String = String::new(), read(super::sanitize::dialect), set(by hand);
        /// The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some
        /// models alone.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
    }
}

impl CheckRequestOptions {
    /// Options for a dialect, everything else at its default.
    pub fn new(dialect: impl Into<String>) -> Self {
        CheckRequestOptions { dialect: dialect.into(), ..Self::at_default() }
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example =
            Example { function: "checkRequest", input: "request", option: "dialect", value: "\"anthropic\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::at_default())
    }
}

impl<T: AsRef<str> + ?Sized> From<&T> for CheckRequestOptions {
    fn from(dialect: &T) -> Self {
        CheckRequestOptions::new(dialect.as_ref())
    }
}
