//! Options of `apply_deferred_loading` and `strip_deferral_betas`.

use alloc::{format, string::String, vec::Vec};

use super::{
    lookup::Api,
    table::{choice, options, Example, Readable, Reader, Row},
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// Announcement of hidden tools by name.
    Announce {
        /// Nothing is added.
        None = "none",
        /// An `<available-deferred-tools>` block is added to the system prompt, unless the prompt already has one.
        Names = "names",
    }
}

choice! {
    /// Native construct for deferred tools that the backend supports, regardless of the client that sent the request.
    Native {
        /// No construct: deferred tools are emulated.
        None = "none",
        /// Anthropic: results reference deferred tools.
        References = "references",
        /// Anthropic: in addition, system messages add and remove tools by name.
        Changes = "changes",
        /// Anthropic: in addition, system messages may contain definitions of tools.
        Inline = "inline",
        /// OpenAI Responses: items add tools (`additional_tools`).
        AdditionalTools = "additional-tools",
        /// OpenAI Responses: in addition, searches are separate items (`tool_search`).
        ToolSearch = "tool-search",
        /// Chat Completions of Kimi K3: system messages add tools.
        Kimi = "kimi",
        /// Gemini Interactions: searches are separate steps, and their results contain functions.
        Interactions = "interactions",
        /// Bedrock Converse: system messages add and remove tools of the list by name.
        Converse = "converse",
    }
}

impl Native {
    pub(crate) const fn api(self) -> Option<Api> {
        match self {
            Native::None => None,
            Native::References | Native::Changes | Native::Inline => Some(Api::Anthropic),
            Native::AdditionalTools | Native::ToolSearch => Some(Api::OpenaiResponses),
            Native::Kimi => Some(Api::OpenaiChat),
            Native::Interactions => Some(Api::GeminiInteractions),
            Native::Converse => Some(Api::Bedrock),
        }
    }
}

choice! {
    /// Handling of `custom` tools, whose input is text.
    CustomTools {
        /// `custom` tools become functions with one argument, `input`.
        Function = "function",
        /// `custom` tools are kept if the format supports them.
        Keep = "keep",
    }
}

choice! {
    /// Handling of tools that the history removes, if the backend does not support removals.
    Removals {
        /// Every definition of the tool is removed.
        Withdraw = "withdraw",
        /// A notice announces the removal, and the definition is kept, so that the prefix in a provider's prompt cache
        /// remains valid.
        Notice = "notice",
    }
}

choice! {
    /// Handling of the model's reasoning when the format changes.
    Reasoning {
        /// The reasoning is removed.
        Drop = "drop",
        /// The reasoning becomes `reasoning_content`, which Kimi and DeepSeek require in messages with calls.
        Content = "content",
    }
}

choice! {
    /// Handling of calls to tools that are not sent.
    UnavailableCalls {
        /// The calls remain.
        Keep = "keep",
        /// The calls and their results become text, for APIs that refuse calls to undeclared tools.
        Text = "text",
    }
}

choice! {
    /// Visibility of deferred tools.
    Mode {
        /// Deferred tools are hidden until they are loaded.
        Filter = "filter",
        /// All deferred tools are sent, which keeps the whole content of a provider's prompt cache valid.
        LoadAll = "load-all",
    }
}

choice! {
    /// Position of loaded tools.
    Order {
        /// Loaded tools keep their position in the catalog.
        Catalog = "catalog",
        /// Loaded tools come last, in the order in which they were loaded, which keeps the longest common prefix for a
        /// prompt cache.
        Append = "append",
    }
}

choice! {
    /// Replacement of a reference to an unknown tool.
    UnknownReference {
        /// A sentence which states that the tool of this name is no longer available.
        Notice = "notice",
        /// The same sentence without the name, as Anthropic's servers write it.
        Unavailable = "unavailable",
        /// The reference is removed.
        Drop = "drop",
    }
}

choice! {
    /// Handling of a `tool_choice` that forces a tool that is not loaded.
    ForcedTool {
        /// The tool is loaded.
        Load = "load",
        /// The choice becomes automatic.
        Auto = "auto",
        /// The call fails with `forced-deferred-tool`.
        Error = "error",
    }
}

choice! {
    /// Handling of a hosted tool search, which the backend does not have.
    ServerToolSearch {
        /// Every deferred tool is loaded, because the model could not search for any.
        LoadAll = "load-all",
        /// The search is removed, and deferred tools remain hidden.
        Drop = "drop",
        /// An ordinary function replaces the search; see `answer_tool_search`.
        Emulate = "emulate",
    }
}

choice! {
    /// Handling of hosted searches in the history.
    ServerHistory {
        /// Hosted searches are removed.
        Drop = "drop",
        /// A hosted search becomes an ordinary call and its result.
        Split = "split",
    }
}

choice! {
    /// Handling of changes to the tools in the history.
    ToolChanges {
        /// Tools are added and removed by the client's system messages, and by items of OpenAI Responses that contain
        /// definitions.
        Apply = "apply",
        /// The changes are removed, each with a warning: for a history that the client does not fully control.
        Ignore = "ignore",
    }
}

choice! {
    /// A client whose requests are rewritten: [`DeferredOptions::of_client`] returns the options that fit it.
    Client {
        /// Claude Code: Anthropic Messages, with a client-side search. Its prompt lists deferred tools.
        ClaudeCode = "claude-code",
        /// OpenAI's Codex: Responses, with items for searches and for added tools.
        Codex = "codex",
        /// Kimi's own clients: Chat Completions, with tools in system messages.
        Kimi = "kimi",
    }
}

struct Profile {
    format: Api,
    announce: Announce,
    /// The client's functions that search for tools.
    search_tools: &'static [&'static str],
    /// With its date.
    source: &'static str,
}

impl Client {
    const fn profile(self) -> Profile {
        match self {
            Client::ClaudeCode => Profile {
                format: Api::Anthropic,
                announce: Announce::None,
                search_tools: &["ToolSearch"],
                source: "requests of Claude Code: `ToolSearch` is an ordinary tool, `<available-deferred-tools>` is \
                    in the system prompt (2026-11)",
            },
            Client::Codex => Profile {
                format: Api::OpenaiResponses,
                announce: Announce::None,
                search_tools: &[],
                source: "openai/codex, codex-rs: `tool_search_call` items that the client answers, `additional_tools` \
                    items, namespaces (2026-11)",
            },
            Client::Kimi => Profile {
                format: Api::OpenaiChat,
                announce: Announce::None,
                search_tools: &[],
                source:
                    "Kimi's documentation of dynamic tool loading; MoonshotAI/Kimi-Vendor-Verifier@3dad65a: system \
                    messages with `tools` (2026-08)",
            },
        }
    }

    /// Returns the source of the options that fit the client.
    pub const fn source(self) -> &'static str {
        self.profile().source
    }
}

options! {
    /// Options of `apply_deferred_loading`.
    ///
    /// ```
    /// use toolwire::DeferredOptions;
    /// let mut options = DeferredOptions::default();
    /// options.loaded_tools = vec!["Read".into()];
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DeferredOptions {
        /// Announcement of hidden tools by name in the system prompt.
        "announce" announce: Announce = Announce::None;
        /// Format to translate the request into. One of `anthropic`, `openai-responses`, `openai-chat`,
        /// `gemini-interactions`, `bedrock` and `gemini`; `None` keeps the format.
        "target" target: Option<Api> = None,
            read(Api::with_deferral), set(|api: impl Into<Option<Api>>| api.into());
        /// Visibility of deferred tools: hidden until loaded, or all sent to keep the prompt cache valid.
        "mode" mode: Mode = Mode::Filter;
        /// Position of loaded tools: their original one, or last to keep the prefix of the prompt cache valid.
        "order" order: Order = Order::Catalog;
        /// Replacement of a reference to an unknown tool.
        "unknownReference" unknown_reference: UnknownReference = UnknownReference::Notice;
        /// Handling of a `tool_choice` that forces a tool that is not loaded.
        "forcedTool" forced_tool: ForcedTool = ForcedTool::Load;
        /// Handling of a hosted tool search, which the backend does not have. `None` is [`ServerToolSearch::LoadAll`],
        /// and in an [`Exchange`](crate::Exchange) in Anthropic's format, whose replies can contain searches that the
        /// client did not make, [`ServerToolSearch::Emulate`].
        "serverToolSearch" server_tool_search: Option<ServerToolSearch> = None,
            set(|outcome: impl Into<Option<ServerToolSearch>>| outcome.into());
        /// Handling of hosted searches in the history.
        "serverHistory" server_history: ServerHistory = ServerHistory::Drop;
        /// Native construct for deferred tools that the backend supports, regardless of the client that sent the
        /// request.
        "native" native: Native = Native::None;
        /// Names of your own functions that search for tools.
        "searchTools" search_tools: Vec<String> = Vec::from(["ToolSearch".into()]),
            set(|names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect());
        /// Handling of OpenAI's `custom` tools, whose input is text: `"function"` makes them functions with one
        /// argument, `input`. `None`: they are kept if the request stays in the format of OpenAI Responses, and
        /// otherwise become functions.
        "customTools" custom_tools: Option<CustomTools> = None,
            set(|outcome: impl Into<Option<CustomTools>>| outcome.into());
        /// Handling of a tool that the history removes, if the backend does not support removals: `"withdraw"` removes
        /// every definition, `"notice"` only announces the removal and keeps the prefix of the prompt cache valid.
        "removals" removals: Removals = Removals::Withdraw;
        /// Handling of calls to tools that are not sent: some APIs refuse calls to undeclared tools.
        "unavailableCalls" unavailable_calls: UnavailableCalls = UnavailableCalls::Keep;
        /// Handling of the model's reasoning when the format changes: `"content"` writes `reasoning_content`. `None`:
        /// `"content"` in a request to an API that is known to read it, and otherwise `"drop"`.
        "reasoning" reasoning: Option<Reasoning> = None, set(|outcome: impl Into<Option<Reasoning>>| outcome.into());
        /// Maximum number of tokens of an answer, if the target requires a maximum and the request has none. `None`:
        /// 32,000, or the maximum of a model that is known to accept fewer.
        "maxTokens" max_tokens: Option<u64> = None, set(|tokens: impl Into<Option<u64>>| tokens.into());
        /// Tools that are treated as loaded regardless of the history, for use after compaction.
        ///
        /// ```
        /// use toolwire::DeferredOptions;
        /// let options = DeferredOptions::default().loaded_tools(["Read", "Edit"]);
        /// assert_eq!(options.loaded_tools, ["Read", "Edit"]);
        /// ```
        "loadedTools" loaded_tools: Vec<String> = Vec::new(),
            set(|names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect());
        /// If true, a call in the history is treated as loading its tool.
        "loadUsedTools" load_used_tools: bool = false;
        /// Name of the function that replaces a hosted tool search. If a tool already has the name, the function gets
        /// another name, which the report contains.
        "toolSearchName" tool_search_name: String = "tool_search".into(),
            read(Reader::function_name), set(|name: impl Into<String>| name.into());
        /// Handling of changes to the tools in the history: `tool_addition` and `tool_removal` in system messages, and
        /// items of OpenAI Responses that contain definitions.
        "toolChanges" tool_changes: ToolChanges = ToolChanges::Apply;
        /// Maximum total size in bytes of notices that repeat earlier ones; beyond it, only the first sentence of a
        /// notice is repeated. `None`: the total size of the first notices, but at least 64 KiB.
        "maxRepeatedBytes" max_repeated_bytes: Option<usize> = None,
            set(|bytes: impl Into<Option<usize>>| bytes.into());
        /// Format of the request, if its content does not determine it. Accepts the same values as `target`.
        "format" format: Option<Api> = None,
            read(Api::with_deferral), set(|api: impl Into<Option<Api>>| api.into());
        /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
        "share" share: bool = false,
            set(by hand);
    }
}

impl Default for DeferredOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

/// The option `client` sets other options and has no field.
const CLIENT: Row = Row {
    name: "client",
    doc: "Client that sends the request; it determines `format`, `announce` and `searchTools`, unless they are given.",
    default: None,
};
const EXAMPLE: Example<'_> =
    Example { function: "applyDeferredLoading", input: "request", option: "target", value: "\"openai-responses\"" };

impl DeferredOptions {
    /// Returns the options that fit a client, with all other options at their defaults.
    ///
    /// ```
    /// use toolwire::{options::Client, DeferredOptions};
    /// let options = DeferredOptions::of_client(Client::Codex).load_used_tools(true);
    /// assert!(options.search_tools.is_empty());
    /// assert!(Client::Codex.source().starts_with("openai/codex"));
    /// ```
    pub fn of_client(client: Client) -> Self {
        let Profile { format, announce, search_tools, .. } = client.profile();
        let search_tools = search_tools.iter().map(|name| String::from(*name)).collect();
        DeferredOptions { format: Some(format), announce, search_tools, ..DeferredOptions::default() }
    }

    pub(crate) fn hosted_search(&self) -> ServerToolSearch {
        self.server_tool_search.unwrap_or(ServerToolSearch::LoadAll)
    }

    pub(crate) fn emulates_search(&self) -> bool {
        self.hosted_search() == ServerToolSearch::Emulate
    }

    /// Includes the option that has no field.
    pub(crate) fn all_rows() -> Vec<Row> {
        [CLIENT].into_iter().chain(Self::rows()).collect()
    }

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let known: Vec<&str> = [CLIENT.name].into_iter().chain(Self::KNOWN.iter().copied()).collect();
        let reader = Reader::new(node, naming, &known, EXAMPLE)?;
        let client = reader.choice(CLIENT.name, Client::CHOICES)?;
        Self::of(&reader, client.map_or_else(Self::default, Self::of_client))
    }
}

/// The option `deferred` of requests: true, false, or an object of options.
impl Readable for Option<DeferredOptions> {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        let Some(node) = reader.node(name) else { return Ok(None) };
        Ok(Some(match node.as_bool() {
            Some(is_on) => is_on.then(DeferredOptions::default),
            None => {
                let options = DeferredOptions::read(node, reader.naming());
                Some(options.map_err(|error| error.below(&format!("/{name}")))?)
            }
        }))
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

options! {
    /// Options of `strip_deferral_betas`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct BetaOptions {
        /// Native construct for deferred tools that the backend supports.
        "native" native: Native = Native::None, set(by hand);
        /// Betas that the request needs: `betas` of its report.
        "betas" betas: Vec<String> = Vec::new(), set(by hand);
    }
}

const BETAS_EXAMPLE: Example<'_> =
    Example { function: "stripDeferralBetas", input: "value", option: "native", value: "\"inline\"" };

impl BetaOptions {
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        Self::of(&Reader::new(node, naming, Self::KNOWN, BETAS_EXAMPLE)?, Self::at_default())
    }
}
