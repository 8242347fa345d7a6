//! Options of functions on tool lists and requests, and the formats of tools. Also the options of `search_tools` and
//! `answer_tool_search`.

use alloc::{format, string::String, vec::Vec};

use super::{
    table::{choice, options, Example, Reader},
    DeferredOptions, Limit, RepairOptions, SanitizeOptions,
};
use crate::{
    dialect::{self, Dialect, DialectId},
    error::{Code, Error},
    json::Node,
    naming::Naming,
};

choice! {
    /// Format of the tools of an API, or of MCP.
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
    /// Handling of a list or a request if some of its tools have to be set aside.
    OnSetAside {
        /// The tools are left out, and a warning names them: in
        /// [`SanitizedTools::warning`](crate::SanitizedTools::warning) for a list, in
        /// [`Exchange::warning`](crate::Exchange::warning) for a request.
        Warn = "warn",
        /// The call fails.
        Error = "error",
    }
}

choice! {
    /// Naming of tools in a list from several servers: with the server's name as a prefix (`server__tool`), or without.
    Prefix {
        /// Only tools that share a name with a tool of another server have the prefix.
        Auto = "auto",
        /// All tools have the prefix, so that no name depends on which other servers are in the list.
        Always = "always",
        /// No tool has the prefix. A name that several servers use gets a digest of the server and the name as a
        /// suffix.
        Never = "never",
    }
}

choice! {
    /// Handling of calls in the history without a result and results without a call.
    HistoryPairs {
        /// [`Self::Complete`] for an API that is known to refuse such calls and results, and [`Self::Keep`] for others.
        Auto = "auto",
        /// Such calls and results are left unchanged.
        Keep = "keep",
        /// A call without a result gets the result `[No result]`. Results in other messages are moved directly after
        /// their calls. A result without a call is removed. This value has no effect in Gemini Interactions.
        Complete = "complete",
    }
}

choice! {
    /// Handling of the `outputSchema` of MCP tools that are sent to an API.
    OutputSchemas {
        /// The schema is removed.
        Drop = "drop",
        /// The schema is sent as `output_schema` if the API supports it.
        Send = "send",
    }
}

choice! {
    /// Handling of tools with the same name but different definitions in one list.
    DuplicateNames {
        /// The first tool is sent, and the others are set aside.
        Quarantine = "quarantine",
        /// Each tool gets a distinct name, and `restore` returns its index in the list. Use this value only if your
        /// code reads `index`.
        Rename = "rename",
    }
}

choice! {
    /// Handling of a request that has more tools than the API accepts.
    Overflow {
        /// The tools beyond the maximum are set aside.
        Quarantine = "quarantine",
        /// The tools beyond the maximum are deferred: the model finds them with a search, and the system prompt lists
        /// their names.
        Defer = "defer",
    }
}

choice! {
    /// Form in which the schema of a response format is sent.
    Formats {
        /// The schema is sent as the API's own response format.
        Native = "native",
        /// The schema is sent as the parameters of a function that the model is forced to call. `restore` returns the
        /// call as the text of the answer.
        Tool = "tool",
        /// The schema is sent in the instructions, with the API's JSON mode if it has one. Nothing enforces it.
        Prompt = "prompt",
        /// The first of the three forms above that the API supports in this request.
        Ladder = "ladder",
    }
}

choice! {
    /// Handling of call arguments in the history that are not JSON objects.
    HistoryArguments {
        /// The arguments are parsed tolerantly, and replaced by `{}` if that fails.
        Repair = "repair",
        /// The arguments are left unchanged.
        Keep = "keep",
    }
}

options! {
    /// Options of `sanitize_tools`.
    ///
    /// ```
    /// use toolwire::{options::ToolFormat, Dialect, ToolsOptions};
    /// let options = ToolsOptions::new(Dialect::MOONSHOT).format(ToolFormat::Anthropic);
    /// # let _ = options;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ToolsOptions {
        /// Format of the tools. `None`: the format of the dialect's API.
        "format" format: Option<ToolFormat> = None, set(|format: ToolFormat| format.into());
        /// Dialect for tools that the first dialect cannot express, or only with more loss than `allow` permits.
        "fallback" fallback: Option<DialectId> = None, set(|dialect: DialectId| Some(dialect));
        /// Maximum number of tools to rewrite; further tools are set aside. The default is
        /// [`MAX_TOOLS`](crate::limits::MAX_TOOLS). The API's own limit always applies.
        "maxTools" max_tools: Limit = Limit::Default, set(|tools: impl Into<Limit>| tools.into());
        /// Options with which `restore` repairs the arguments of calls to fit the tool's own schema, as
        /// `repair_arguments` does. `restore` replaces [`RepairOptions::name`] with the name of the called tool.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{sanitize_tools, Dialect, RepairOptions, ToolsOptions};
        /// let schema = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
        /// let tools = json!([{"name": "search", "inputSchema": schema}]);
        /// let options = ToolsOptions::new(Dialect::ANTHROPIC).repair(RepairOptions::default());
        /// let restored = sanitize_tools(&tools, &options)?.restore.call("search", &json!({"limit": "10"}))?;
        /// assert_eq!(restored.arguments, json!({"limit": 10}));
        /// assert_eq!(restored.repaired.expect("a known tool").repairs[0].rule.as_str(), "string-to-number");
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "repair" repair: Option<RepairOptions> = None, set(|repair: impl Into<Option<RepairOptions>>| repair.into());
        /// If true, schemas also accept text for numbers and booleans, and null for optional properties, and `restore`
        /// repairs such calls: for APIs that refuse a call of their own model before the client sees it (Groq).
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{sanitize_tools, Dialect, ToolsOptions};
        /// let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]});
        /// let tools = json!([{"name": "search", "inputSchema": schema}]);
        /// let sanitized = sanitize_tools(&tools, &ToolsOptions::new(Dialect::GROQ).lenient_types(true))?;
        /// let sent = &sanitized.tools[0]["function"]["parameters"];
        /// assert_eq!(sent["properties"]["count"]["type"], json!(["integer", "string"]));
        /// assert_eq!(sanitized.restore.call("search", &json!({"count": "3"}))?.arguments, json!({"count": 3}));
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "lenientTypes" lenient_types: bool = false;
        /// Naming of tools in a list from several servers.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::Prefix, sanitize_tools, Dialect, ToolsOptions};
        /// let search = json!({"name": "search", "inputSchema": {"type": "object", "properties": {}}});
        /// let servers = json!([{"server": "github", "tools": [search]}]);
        /// let options = ToolsOptions::new(Dialect::ANTHROPIC).prefix(Prefix::Always);
        /// assert_eq!(sanitize_tools(&servers, &options)?.tools[0]["name"], "github__search");
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "prefix" prefix: Prefix = Prefix::Auto;
        /// Handling of the `outputSchema` of MCP tools that are sent to an API.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::OutputSchemas, sanitize_tools, Dialect, ToolsOptions};
        /// let schema = json!({"type": "object", "properties": {}});
        /// let tools = json!([{"name": "now", "inputSchema": schema, "outputSchema": schema}]);
        /// let options = ToolsOptions::new(Dialect::OPENAI_RESPONSES).output_schemas(OutputSchemas::Send);
        /// assert_eq!(sanitize_tools(&tools, &options)?.tools[0]["output_schema"], schema);
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "outputSchemas" output_schemas: OutputSchemas = OutputSchemas::Drop;
        /// Handling of tools with the same name but different definitions in one list. Functions on requests ignore
        /// this option and set the tools aside.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::DuplicateNames, sanitize_tools, Dialect, ToolsOptions};
        /// let tool = |what| json!({"name": "find", "description": what, "inputSchema": {"type": "object"}});
        /// let tools = json!([tool("finds files"), tool("finds people")]);
        /// let options = ToolsOptions::new(Dialect::ANTHROPIC).duplicate_names(DuplicateNames::Rename);
        /// let sanitized = sanitize_tools(&tools, &options)?;
        /// let called = sanitized.tools[1]["name"].as_str().unwrap_or_default();
        /// let call = sanitized.restore.call(called, &json!({}))?;
        /// assert_eq!((call.name.as_str(), call.index), ("find", Some(1)));
        /// # Ok::<(), toolwire::Error>(())
        /// ```
        "duplicateNames" duplicate_names: DuplicateNames = DuplicateNames::Quarantine, set(by hand);
        /// Handling of a list if some of its tools have to be set aside. Functions on requests ignore this option:
        /// `adapt_request` reports the tools, and [`ExchangeOptions`](crate::ExchangeOptions) has an option of the same
        /// name.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{options::OnSetAside, sanitize_tools, Dialect, ToolsOptions};
        /// let tools = json!([{"name": "bad", "inputSchema": {"type": "string"}}]);
        /// let options = ToolsOptions::new(Dialect::ANTHROPIC).on_set_aside(OnSetAside::Error);
        /// let error = sanitize_tools(&tools, &options).expect_err("no tool may be missing");
        /// assert_eq!((error.code().as_str(), error.pointer()), ("not-representable", "/0/inputSchema"));
        /// ```
        "onSetAside" on_set_aside: OnSetAside = OnSetAside::Warn, set(by hand);
    } with {
        /// Dialect of the schemas, and the other options of [`sanitize`](crate::sanitize).
        pub sanitize: SanitizeOptions = SanitizeOptions::at_default(), read(read_schema_options);
        /// Name of the server in the client's configuration, if the client puts it in front of the names of tools.
        pub(crate) server: Option<String> = None;
        /// Dialect for tools without `strict: true`; `None`: the flags of the tools do not affect the dialect.
        pub(crate) by_flag: Option<DialectId> = None;
        /// Name of the function that represents a response format. Its schema is wrapped if it does not describe an
        /// object.
        pub(crate) answer: Option<String> = None;
        /// If true, the API's maximum number of tools does not apply, because the list is not sent in a single request.
        pub(crate) any_count: bool = false;
    }
    forward ($) list_setters
}

/// The schema of a tool always describes arguments, so these options apply only to single schemas.
const OF_SCHEMAS: [&str; 2] = ["use", "wrapper"];
/// Options that apply only to lists.
const OF_LISTS: [&str; 2] = ["duplicateNames", "onSetAside"];
const EXAMPLE: Example<'_> =
    Example { function: "sanitizeTools", input: "tools", option: "dialect", value: "\"moonshot\"" };

fn of_tool_schemas() -> impl Iterator<Item = &'static &'static str> {
    SanitizeOptions::KNOWN.iter().filter(|name| !OF_SCHEMAS.contains(name))
}

fn read_schema_options(reader: &Reader<'_, '_>) -> Result<SanitizeOptions, Error> {
    SanitizeOptions::of(reader, SanitizeOptions::at_default())
}

impl ToolsOptions {
    /// Creates options for a dialect, with all other options at their defaults.
    pub fn new(dialect: DialectId) -> Self {
        ToolsOptions { sanitize: SanitizeOptions::new(dialect), ..Self::at_default() }
    }

    /// Returns the options for repairing calls; `None` if calls are not repaired.
    pub(crate) fn repairs(&self) -> Option<RepairOptions> {
        self.repair.clone().or_else(|| self.lenient_types.then(RepairOptions::default))
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

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let known: Vec<&str> = of_tool_schemas().chain(Self::KNOWN).copied().collect();
        Self::of(&Reader::new(node, naming, &known, EXAMPLE)?, Self::at_default())
    }
}

options! {
    /// Options of `adapt_request`.
    ///
    /// ```
    /// use toolwire::{AdaptOptions, DeferredOptions, Dialect};
    /// let options = AdaptOptions::new(Dialect::MOONSHOT).deferred(None);
    /// # let _ = options;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct AdaptOptions {
        /// Betas in the header `anthropic-beta`, in addition to those in the body. If `None`, the header is not known.
        /// Some APIs accept a member or a construct only with a beta, and refuse betas that they do not know.
        "betas" betas: Option<Vec<String>> = None,
            set(|names: impl IntoIterator<Item = impl Into<String>>| Some(names.into_iter().map(Into::into).collect()));
        /// Handling of deferred tools. `None` leaves them unchanged, for an API that supports deferred loading.
        "deferred" deferred: Option<DeferredOptions> = Some(DeferredOptions::default()), set(by hand);
        /// Form in which the schema of a response format is sent.
        ///
        /// ```
        /// use serde_json::json;
        /// use toolwire::{adapt_request, options::Formats, AdaptOptions, Dialect};
        /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        /// let request = json!({
        ///     "model": "deepseek-chat",
        ///     "messages": [{"role": "user", "content": "Where?"}],
        ///     "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}},
        /// });
        /// let adapted = adapt_request(&request, &AdaptOptions::new(Dialect::DEEPSEEK).formats(Formats::Ladder))?;
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
        /// Handling of call arguments in the history that are not JSON objects: they make APIs refuse this and every
        /// later request.
        "historyArguments" history_arguments: HistoryArguments = HistoryArguments::Repair;
        /// Handling of calls in the history without a result and results without a call: they make APIs refuse this
        /// and every later request.
        "historyPairs" history_pairs: HistoryPairs = HistoryPairs::Auto;
        /// Host of the API, or a URL on it: some facts apply only to some hosts.
        "host" host: Option<String> = None, set(|host: impl Into<String>| Some(host.into()));
        /// Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
        /// Handling of a request that has more tools than the API accepts.
        "overflow" overflow: Overflow = Overflow::Quarantine;
    } with {
        /// Options for rewriting the tools. [`ToolsOptions::format`] is the format of the request here, if its content
        /// does not determine it.
        pub tools: ToolsOptions = ToolsOptions::at_default(), read(read_tools_options);
    }
    forward ($) request_setters
}

fn read_tools_options(reader: &Reader<'_, '_>) -> Result<ToolsOptions, Error> {
    ToolsOptions::of(reader, ToolsOptions::at_default())
}

impl AdaptOptions {
    /// Creates options for a dialect, with all other options at their defaults.
    pub fn new(dialect: DialectId) -> Self {
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

    pub(super) fn known() -> impl Iterator<Item = &'static str> {
        let of_tools = ToolsOptions::KNOWN.iter().filter(|name| !OF_LISTS.contains(name));
        // The purpose of each schema follows from its location in the request.
        let of_schemas = SanitizeOptions::KNOWN.iter().filter(|name| **name != "use");
        of_schemas.chain(of_tools).chain(Self::KNOWN).copied()
    }

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example<'_> =
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

pub(crate) fn dialects(node: &Node<'_>, naming: Naming) -> Result<Vec<&'static Dialect>, Error> {
    const EXAMPLE: Example<'_> =
        Example { function: "checkTools", input: "tools", option: "dialects", value: "[\"moonshot\"]" };
    let reader = Reader::new(node, naming, &["dialects"], EXAMPLE)?;
    let names = reader.names("dialects")?.ok_or_else(|| {
        let example = naming.example(&EXAMPLE);
        Error::new(
            Code::InvalidOption,
            "/dialects",
            format!("expected a list of dialects, found none; for example `{example}`"),
        )
    })?;
    dialects_named(&names)
}

fn dialects_named(names: &[String]) -> Result<Vec<&'static Dialect>, Error> {
    let dialect =
        |(index, name): (usize, &String)| dialect::named(name).map_err(|error| error.at(format!("/dialects/{index}")));
    names.iter().enumerate().map(dialect).collect()
}

options! {
    /// Options of `check_request`.
    ///
    /// ```
    /// use toolwire::{CheckRequestOptions, Dialect};
    /// let options = CheckRequestOptions::new(Dialect::GEMINI).model("gemini-2.0-flash-preview-image-generation");
    /// # let _ = options;
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CheckRequestOptions {
        /// Dialect of the API that the request is for.
        "dialect" dialect: DialectId = Dialect::PORTABLE, read(super::sanitize::dialect), set(by hand);
        /// Betas in the header `anthropic-beta`, in addition to those in the body. If `None`, the header is not known.
        /// Some APIs accept a member or a construct only with a beta, and refuse betas that they do not know.
        "betas" betas: Option<Vec<String>> = None,
            set(|names: impl IntoIterator<Item = impl Into<String>>| Some(names.into_iter().map(Into::into).collect()));
        /// Host of the API, or a URL on it: some facts apply only to some hosts.
        "host" host: Option<String> = None, set(|host: impl Into<String>| Some(host.into()));
        /// Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models.
        "model" model: Option<String> = None, set(|model: impl Into<String>| Some(model.into()));
    } with {
        /// Spelling of option names in messages.
        pub(crate) naming: Naming = Naming::Rust, read(super::sanitize::naming);
    }
}

impl CheckRequestOptions {
    /// Creates options for a dialect, with all other options at their defaults.
    pub fn new(dialect: DialectId) -> Self {
        CheckRequestOptions { dialect, ..Self::at_default() }
    }

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        const EXAMPLE: Example<'_> =
            Example { function: "checkRequest", input: "request", option: "dialect", value: "\"anthropic\"" };
        Self::of(&Reader::new(node, naming, Self::KNOWN, EXAMPLE)?, Self::at_default())
    }
}

impl From<DialectId> for CheckRequestOptions {
    fn from(dialect: DialectId) -> Self {
        CheckRequestOptions::new(dialect)
    }
}

choice! {
    /// Interpretation of a query.
    SearchMode {
        /// The query is a list of words: tools are ranked by their relevance to the words.
        Bm25 = "bm25",
        /// The query is a regular expression, which must match the name or description of a tool.
        Regex = "regex",
    }
}

options! {
    /// Options of `search_tools` and `answer_tool_search`.
    ///
    /// ```
    /// use toolwire::SearchOptions;
    /// let options = SearchOptions::default().limit(8);
    /// # assert_eq!(options.limit, 8);
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SearchOptions {
        /// Interpretation of the query.
        "mode" mode: SearchMode = SearchMode::Bm25;
        /// Maximum number of tools to return.
        "limit" limit: usize = 5;
        /// Name of the function that replaces a hosted tool search. The search never returns this function.
        "toolSearchName" tool_search_name: String = "tool_search".into(),
            read(Reader::function_name), set(|name: impl Into<String>| name.into());
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

const SEARCH_EXAMPLE: Example<'_> =
    Example { function: "searchTools", input: "tools, query", option: "limit", value: "8" };

impl SearchOptions {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, SEARCH_EXAMPLE)?, Self::default())
    }
}
