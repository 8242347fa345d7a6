//! Options of `apply_deferred_loading`.

use alloc::{format, string::String, vec::Vec};

use super::{
    lookup::Api,
    read::{Example, Reader},
    table::{choice, options, Readable, Row},
};
use crate::{error::Error, json::Node, naming::Naming};

choice! {
    /// Whether hidden tools are announced by name.
    Announce {
        /// Nothing is added.
        None = "none",
        /// An `<available-deferred-tools>` block in the system prompt, unless one is there.
        Names = "names",
    }
}

choice! {
    /// Which construct of its own for deferred tools the backend understands. It says nothing of where the request
    /// comes from.
    Native {
        /// None: they are emulated.
        None = "none",
        /// Anthropic: results refer to deferred tools.
        References = "references",
        /// Anthropic: and system messages add and remove tools by name.
        Changes = "changes",
        /// Anthropic: and they may bring definitions.
        Inline = "inline",
        /// OpenAI Responses: items bring tools (`additional_tools`).
        AdditionalTools = "additional-tools",
        /// OpenAI Responses: and searches are items of their own (`tool_search`).
        ToolSearch = "tool-search",
        /// Chat Completions of Kimi K3: system messages bring tools.
        Kimi = "kimi",
        /// Gemini Interactions: searches are steps of their own, and the results of searches hold functions.
        Interactions = "interactions",
        /// Bedrock Converse: system messages add and remove tools of the list by name.
        Converse = "converse",
    }
}

impl Native {
    /// The API that has the construct; `None`: none is needed.
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
    /// What becomes of `custom` tools, which take a text.
    CustomTools {
        /// Functions with one argument, `input`.
        Function = "function",
        /// They stay, where the format has them.
        Keep = "keep",
    }
}

choice! {
    /// What becomes of tools that the history takes away, where the backend has no removals.
    Removals {
        /// No definition is left anywhere.
        Withdraw = "withdraw",
        /// It is only said: what a provider's prompt cache holds stays.
        Notice = "notice",
    }
}

choice! {
    /// What becomes of the model's thoughts in another format.
    Reasoning {
        /// They are left out.
        Drop = "drop",
        /// `reasoning_content`, which Kimi and DeepSeek want beside calls.
        Content = "content",
    }
}

choice! {
    /// What becomes of calls of tools that are not sent.
    UnavailableCalls {
        /// They stay calls.
        Keep = "keep",
        /// They and their results become text, for APIs that refuse undeclared ones.
        Text = "text",
    }
}

choice! {
    /// Whether deferred tools are hidden until they are loaded.
    Mode {
        /// They are.
        Filter = "filter",
        /// All tools are sent: keeps a provider's prompt cache whole.
        LoadAll = "load-all",
    }
}

choice! {
    /// Where loaded tools stand.
    Order {
        /// At their place in the catalogue.
        Catalog = "catalog",
        /// Last, in the order they were loaded: keeps the longest common prefix for a prompt cache.
        Append = "append",
    }
}

choice! {
    /// What a reference to an unknown tool becomes.
    UnknownReference {
        /// A sentence that the tool of this name is no longer available.
        Notice = "notice",
        /// The same without the name, as Anthropic's servers say it.
        Unavailable = "unavailable",
        /// Nothing.
        Drop = "drop",
    }
}

choice! {
    /// What happens if `tool_choice` forces a tool that is not loaded.
    ForcedTool {
        /// It is loaded.
        Load = "load",
        /// The choice becomes automatic.
        Auto = "auto",
        /// The error `forced-deferred-tool`.
        Error = "error",
    }
}

choice! {
    /// What becomes of the hosted tool search, which the backend does not have.
    ServerToolSearch {
        /// Every deferred tool is loaded, because nobody could search for one.
        LoadAll = "load-all",
        /// It is removed and the filter kept.
        Drop = "drop",
        /// An ordinary function takes its place, see `answer_tool_search`.
        Emulate = "emulate",
    }
}

choice! {
    /// What becomes of hosted searches in the history.
    ServerHistory {
        /// They are dropped.
        Drop = "drop",
        /// They become an ordinary exchange of call and result.
        Split = "split",
    }
}

choice! {
    /// What is sent if no tool is visible.
    EmptyTools {
        /// `tools: []`.
        Keep = "keep",
        /// No `tools`, and no `tool_choice`.
        Omit = "omit",
    }
}

choice! {
    /// The role of system messages whose directives became text.
    SystemMessages {
        /// They stay system messages.
        Keep = "keep",
        /// They become user messages, for backends that refuse the role there.
        User = "user",
    }
}

choice! {
    /// Whether the history may change the tools that there are.
    ToolChanges {
        /// Additions and removals in the client's system messages count, and so do items of OpenAI Responses that hold
        /// definitions.
        Apply = "apply",
        /// They are taken out, each with a warning: for a history that is not all the client's own.
        Ignore = "ignore",
    }
}

choice! {
    /// A client whose requests are rewritten: [`DeferredOptions::of_client`] has the options that fit it.
    Client {
        /// Claude Code: Anthropic Messages, with a search of its own. It lists deferred tools in its prompt.
        ClaudeCode = "claude-code",
        /// OpenAI's Codex: Responses, with items for searches and for tools.
        Codex = "codex",
        /// Kimi's own clients: Chat Completions, with tools in system messages.
        Kimi = "kimi",
    }
}

/// The options that fit a client.
struct Profile {
    format: Api,
    announce: Announce,
    /// Its functions that search for tools.
    search_tools: &'static [&'static str],
    /// Source and date.
    source: &'static str,
}

impl Client {
    const fn profile(self) -> Profile {
        match self {
            Client::ClaudeCode => Profile {
                format: Api::Anthropic,
                announce: Announce::None,
                search_tools: &["ToolSearch"],
                source:
                    "requests of Claude Code: `ToolSearch` is an ordinary tool, `<available-deferred-tools>` stands \
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

    /// Where it was read what fits the client.
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
        /// Whether hidden tools are announced by name in the system prompt.
        "announce" announce: Announce = Announce::None;
        /// The format to translate the request into. One of `anthropic`, `openai-responses`, `openai-chat`,
        /// `gemini-interactions` and `bedrock`; `None`: the format stays.
        "target" target: Option<Api> = None,
            read(Api::with_deferral), set(|api: impl Into<Option<Api>>| api.into());
        /// Whether deferred tools are hidden until loaded, or all sent to keep a prompt cache whole.
        "mode" mode: Mode = Mode::Filter;
        /// Where loaded tools stand: in their old places, or last to keep the prefix for a prompt cache.
        "order" order: Order = Order::Catalog;
        /// What a reference to an unknown tool becomes.
        "unknownReference" unknown_reference: UnknownReference = UnknownReference::Notice;
        /// What happens if `tool_choice` forces a tool that is not loaded.
        "forcedTool" forced_tool: ForcedTool = ForcedTool::Load;
        /// What becomes of the hosted tool search, which the backend does not have.
        "serverToolSearch" server_tool_search: ServerToolSearch = ServerToolSearch::LoadAll;
        /// What becomes of hosted searches in the history.
        "serverHistory" server_history: ServerHistory = ServerHistory::Drop;
        /// Which construct of its own for deferred tools the backend understands; it says nothing about where the
        /// request comes from.
        "native" native: Native = Native::None;
        /// Your own functions that search for tools, by name.
        "searchTools" search_tools: Vec<String> = Vec::from(["ToolSearch".into()]),
            set(|names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect());
        /// What happens to OpenAI's `custom` tools, which take a text: `"function"` makes them functions with one
        /// argument, `input`. `None`: they stay where OpenAI Responses stays, and become functions elsewhere.
        "customTools" custom_tools: Option<CustomTools> = None,
            set(|outcome: impl Into<Option<CustomTools>>| outcome.into());
        /// What happens to a tool that the history takes away, where the backend has no removals: `"withdraw"` leaves
        /// no definition anywhere, `"notice"` only says so and keeps the prefix for a prompt cache.
        "removals" removals: Removals = Removals::Withdraw;
        /// What happens to calls of tools that are not sent: some APIs refuse undeclared ones.
        "unavailableCalls" unavailable_calls: UnavailableCalls = UnavailableCalls::Keep;
        /// What happens to the model's reasoning in another format: `"content"` writes `reasoning_content`.
        "reasoning" reasoning: Reasoning = Reasoning::Drop;
        /// The most tokens of an answer, if the target wants a number and the request has none.
        "maxTokens" max_tokens: u64 = 32_000;
        /// What is sent if no tool is visible: `tools: []`, or neither `tools` nor `tool_choice`.
        "emptyTools" empty_tools: EmptyTools = EmptyTools::Keep;
        /// Tools that count as loaded whatever the history says, for use after compaction.
        ///
        /// ```
        /// use toolwire::DeferredOptions;
        /// let options = DeferredOptions::default().loaded_tools(["Read", "Edit"]);
        /// assert_eq!(options.loaded_tools, ["Read", "Edit"]);
        /// ```
        "loadedTools" loaded_tools: Vec<String> = Vec::new(),
            set(|names: impl IntoIterator<Item = impl Into<String>>| names.into_iter().map(Into::into).collect());
        /// Whether a call of a tool in the history counts as a load of it.
        "loadUsedTools" load_used_tools: bool = false;
        /// The name of the function that replaces a tool search. If a tool has that name, the function gets another;
        /// the report says which.
        "toolSearchName" tool_search_name: String = "tool_search".into(),
            read(Reader::function_name), set(|name: impl Into<String>| name.into());
        /// Whether the history may change the tools that there are: by `tool_addition` and `tool_removal` in system
        /// messages, and by items of OpenAI Responses that hold definitions.
        "toolChanges" tool_changes: ToolChanges = ToolChanges::Apply;
        /// Bytes of notices that may repeat earlier ones; beyond them a tool is announced again by the first sentence
        /// alone. `None`: as many as the notices that do not repeat, and 64 KiB at least.
        "maxRepeatedBytes" max_repeated_bytes: Option<usize> = None,
            set(|bytes: impl Into<Option<usize>>| bytes.into());
        /// The role of system messages whose directives became text.
        "systemMessages" system_messages: SystemMessages = SystemMessages::Keep;
        /// The request's format, where its shape does not tell. One of those that `target` takes.
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

/// The option that sets others, and is no field.
const CLIENT: Row = Row {
    name: "client",
    doc: "The client that the request comes from: sets `format`, `announce` and `searchTools` as they fit it, unless \
        they are given.",
    default: None,
};
const EXAMPLE: Example =
    Example { function: "applyDeferredLoading", input: "request", option: "target", value: "\"openai-responses\"" };

impl DeferredOptions {
    /// The options that fit a client, everything else at its default.
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

    /// The options as they are declared, with the one that is no field.
    pub(crate) fn all_rows() -> Vec<Row> {
        [CLIENT].into_iter().chain(Self::rows()).collect()
    }

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let known: Vec<&str> = [CLIENT.name].into_iter().chain(Self::KNOWN.iter().copied()).collect();
        let reader = Reader::new(node, naming, &known, EXAMPLE)?;
        let client = reader.choice(CLIENT.name, Client::CHOICES)?;
        Self::of(&reader, client.map_or_else(Self::default, Self::of_client))
    }
}

/// The option `deferred` of requests: true, false or the options.
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
