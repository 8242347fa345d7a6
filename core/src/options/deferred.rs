//! Options of `apply_deferred_loading`.

use alloc::{format, string::String, vec::Vec};

use super::{
    lookup::Api,
    read::{choice, Example, Reader},
};
use crate::{
    error::{Code, Error},
    json::Node,
    naming::Naming,
};

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
    /// Whether hidden tools are announced by name.
    pub announce: Announce,
    /// The API to translate the request for, one of `anthropic`, `openai-responses`, `openai-chat` and
    /// `gemini-interactions`; `None`: its own.
    pub target: Option<Api>,
    /// Whether deferred tools are hidden until loaded.
    pub mode: Mode,
    /// Where loaded tools stand.
    pub order: Order,
    /// What a reference to an unknown tool becomes.
    pub unknown_reference: UnknownReference,
    /// What happens if `tool_choice` forces a tool that is not loaded.
    pub forced_tool: ForcedTool,
    /// What becomes of the hosted tool search.
    pub server_tool_search: ServerToolSearch,
    /// What becomes of hosted searches in the history.
    pub server_history: ServerHistory,
    /// Which construct of its own for deferred tools the backend understands.
    pub native: Native,
    /// The client's own functions that search for tools.
    pub search_tools: Vec<String>,
    /// What becomes of `custom` tools; `None`: they stay where OpenAI Responses stays, and else become functions.
    pub custom_tools: Option<CustomTools>,
    /// What becomes of tools that the history takes away.
    pub removals: Removals,
    /// What becomes of calls of tools that are not sent.
    pub unavailable_calls: UnavailableCalls,
    /// What becomes of the model's thoughts in another format.
    pub reasoning: Reasoning,
    /// The most tokens of an answer, where the target wants a number and the request has none.
    pub max_tokens: u64,
    /// What is sent if no tool is visible.
    pub empty_tools: EmptyTools,
    /// Tools that count as loaded whatever the history says, for use after compaction.
    pub loaded_tools: Vec<String>,
    /// Whether a call of a tool in the history counts as a load of it.
    pub load_used_tools: bool,
    /// The name of the function that stands for a tool search.
    pub tool_search_name: String,
    /// Whether the history may change the tools that there are.
    pub tool_changes: ToolChanges,
    /// Bytes of notices that may repeat earlier ones: beyond them a tool is announced again by the first sentence
    /// alone. `None`: as many as all that do not repeat, and 64 KiB at least.
    pub max_repeated_bytes: Option<usize>,
    /// The role of system messages whose directives became text.
    pub system_messages: SystemMessages,
    /// The API that the request is written for, one of those that `target` takes; `None` recognises it.
    pub format: Option<Api>,
    /// Bindings only: return unchanged parts as the caller's own objects instead of copies.
    pub share: bool,
}

impl Default for DeferredOptions {
    fn default() -> Self {
        DeferredOptions {
            announce: Announce::None,
            target: None,
            mode: Mode::Filter,
            order: Order::Catalog,
            unknown_reference: UnknownReference::Notice,
            forced_tool: ForcedTool::Load,
            server_tool_search: ServerToolSearch::LoadAll,
            server_history: ServerHistory::Drop,
            native: Native::None,
            search_tools: Vec::from(["ToolSearch".into()]),
            custom_tools: None,
            removals: Removals::Withdraw,
            unavailable_calls: UnavailableCalls::Keep,
            reasoning: Reasoning::Drop,
            max_tokens: 32_000,
            empty_tools: EmptyTools::Keep,
            loaded_tools: Vec::new(),
            load_used_tools: false,
            tool_search_name: "tool_search".into(),
            tool_changes: ToolChanges::Apply,
            max_repeated_bytes: None,
            system_messages: SystemMessages::Keep,
            format: None,
            share: false,
        }
    }
}

const KNOWN: &[&str] = &[
    "client",
    "announce",
    "target",
    "mode",
    "order",
    "unknownReference",
    "forcedTool",
    "serverToolSearch",
    "serverHistory",
    "native",
    "searchTools",
    "customTools",
    "removals",
    "unavailableCalls",
    "reasoning",
    "maxTokens",
    "emptyTools",
    "loadedTools",
    "loadUsedTools",
    "toolSearchName",
    "toolChanges",
    "maxRepeatedBytes",
    "systemMessages",
    "format",
    "share",
];
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

    /// Reads the options from JSON.
    ///
    /// # Errors
    /// `unknown-option`, `invalid-option`.
    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let reader = Reader::new(node, naming, KNOWN, &EXAMPLE)?;
        let client = reader.choice("client", Client::CHOICES)?;
        let default = client.map_or_else(DeferredOptions::default, DeferredOptions::of_client);
        let options = DeferredOptions {
            announce: reader.choice("announce", Announce::CHOICES)?.unwrap_or(default.announce),
            target: reader.choice("target", Api::WITH_DEFERRAL)?,
            mode: reader.choice("mode", Mode::CHOICES)?.unwrap_or(default.mode),
            order: reader.choice("order", Order::CHOICES)?.unwrap_or(default.order),
            unknown_reference: reader
                .choice("unknownReference", UnknownReference::CHOICES)?
                .unwrap_or(default.unknown_reference),
            forced_tool: reader.choice("forcedTool", ForcedTool::CHOICES)?.unwrap_or(default.forced_tool),
            server_tool_search: reader
                .choice("serverToolSearch", ServerToolSearch::CHOICES)?
                .unwrap_or(default.server_tool_search),
            server_history: reader.choice("serverHistory", ServerHistory::CHOICES)?.unwrap_or(default.server_history),
            native: reader.choice("native", Native::CHOICES)?.unwrap_or(default.native),
            search_tools: reader.names("searchTools")?.unwrap_or(default.search_tools),
            custom_tools: reader.choice("customTools", CustomTools::CHOICES)?,
            removals: reader.choice("removals", Removals::CHOICES)?.unwrap_or(default.removals),
            unavailable_calls: reader
                .choice("unavailableCalls", UnavailableCalls::CHOICES)?
                .unwrap_or(default.unavailable_calls),
            reasoning: reader.choice("reasoning", Reasoning::CHOICES)?.unwrap_or(default.reasoning),
            max_tokens: reader.count("maxTokens")?.map_or(default.max_tokens, |count| count as u64),
            empty_tools: reader.choice("emptyTools", EmptyTools::CHOICES)?.unwrap_or(default.empty_tools),
            loaded_tools: reader.names("loadedTools")?.unwrap_or_default(),
            load_used_tools: reader.flag("loadUsedTools")?.unwrap_or(default.load_used_tools),
            tool_search_name: reader.text("toolSearchName")?.unwrap_or(default.tool_search_name),
            tool_changes: reader.choice("toolChanges", ToolChanges::CHOICES)?.unwrap_or(default.tool_changes),
            max_repeated_bytes: reader.count("maxRepeatedBytes")?,
            system_messages: reader
                .choice("systemMessages", SystemMessages::CHOICES)?
                .unwrap_or(default.system_messages),
            format: reader.choice("format", Api::WITH_DEFERRAL)?.or(default.format),
            share: reader.flag("share")?.unwrap_or(default.share),
        };
        if options.tool_search_name.is_empty() {
            let expected =
                format!("expected `{}` to be a function's name, found an empty string", naming.spell("toolSearchName"));
            return Err(Error::new(Code::InvalidOption, format!("/{}", naming.spell("toolSearchName")), expected));
        }
        Ok(options)
    }
}
