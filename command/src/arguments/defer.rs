//! The options of `toolwire defer`, and their conversion to the library's options.

use clap::Args;

use toolwire::{
    options::{
        Announce, Api, Client, CustomTools, ForcedTool, Mode, Native, Order, Reasoning, Removals, ServerHistory,
        ServerToolSearch, ToolChanges, UnavailableCalls, UnknownReference,
    },
    DeferredOptions,
};

use super::{choice, words, Layout, Machine};

#[derive(Args, Debug)]
pub(crate) struct DeferArguments {
    /// Request, as JSON; `-` or no file: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Client that sends the request; it determines `--format`, `--announce` and `--search-tool`, unless they are given
    #[arg(long, value_name = "CLIENT", value_parser = words::<Client>())]
    pub(crate) client: Option<String>,
    /// Format to translate the request into
    #[arg(long, value_name = "FORMAT", value_parser = words::<Api>())]
    pub(crate) target: Option<String>,
    /// Native construct for deferred tools that the backend supports
    #[arg(long, value_name = "CONSTRUCT", value_parser = words::<Native>())]
    pub(crate) native: Option<String>,
    /// Name of a function of the client that searches for tools (repeatable; default: `ToolSearch`)
    #[arg(long = "search-tool", value_name = "NAME")]
    pub(crate) search_tools: Vec<String>,
    /// Handling of OpenAI's `custom` tools, whose input is text
    #[arg(long, value_name = "WHAT", value_parser = words::<CustomTools>())]
    pub(crate) custom_tools: Option<String>,
    /// Handling of a tool that the history removes, if the backend does not support removals
    #[arg(long, value_name = "WHAT", value_parser = words::<Removals>())]
    pub(crate) removals: Option<String>,
    /// Handling of calls to tools that are not sent
    #[arg(long, value_name = "WHAT", value_parser = words::<UnavailableCalls>())]
    pub(crate) unavailable_calls: Option<String>,
    /// Handling of the model's reasoning when the format changes
    #[arg(long, value_name = "WHAT", value_parser = words::<Reasoning>())]
    pub(crate) reasoning: Option<String>,
    /// Maximum number of tokens of an answer, if the target requires a maximum and the request has none
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_tokens: Option<u64>,
    /// Format of the request, if its content does not determine it
    #[arg(long, value_name = "FORMAT", value_parser = words::<Api>())]
    pub(crate) format: Option<String>,
    /// Announcement of hidden tools by name in the system prompt
    #[arg(long, value_name = "WHAT", value_parser = words::<Announce>())]
    pub(crate) announce: Option<String>,
    /// Visibility of deferred tools: hidden until loaded, or all sent to keep the prompt cache valid
    #[arg(long, value_name = "MODE", value_parser = words::<Mode>())]
    pub(crate) mode: Option<String>,
    /// Position of loaded tools: their original one, or last to keep the prefix of the prompt cache valid
    #[arg(long, value_name = "ORDER", value_parser = words::<Order>())]
    pub(crate) order: Option<String>,
    /// Tool that counts as loaded regardless of the history (repeatable)
    #[arg(long = "loaded-tool", value_name = "NAME")]
    pub(crate) loaded_tools: Vec<String>,
    /// Treat a call to a tool in the history as loading the tool
    #[arg(long)]
    pub(crate) load_used_tools: bool,
    /// Handling of a `tool_choice` that forces a tool that is not loaded
    #[arg(long, value_name = "WHAT", value_parser = words::<ForcedTool>())]
    pub(crate) forced_tool: Option<String>,
    /// Replacement of a reference to an unknown tool
    #[arg(long, value_name = "WHAT", value_parser = words::<UnknownReference>())]
    pub(crate) unknown_reference: Option<String>,
    /// Handling of a hosted tool search, which the backend does not have
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerToolSearch>())]
    pub(crate) server_tool_search: Option<String>,
    /// Handling of hosted searches in the history
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerHistory>())]
    pub(crate) server_history: Option<String>,
    /// Name of the function that replaces a hosted tool search
    #[arg(long, value_name = "NAME")]
    pub(crate) tool_search_name: Option<String>,
    /// Handling of changes to the tools in the history
    #[arg(long, value_name = "WHAT", value_parser = words::<ToolChanges>())]
    pub(crate) tool_changes: Option<String>,
    /// Maximum total size of notices that repeat earlier ones
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_repeated_bytes: Option<usize>,
    /// Print what the model saw in each turn of the conversation, instead of the request
    #[arg(long, conflicts_with = "compact")]
    pub(crate) turns: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

impl DeferArguments {
    pub(crate) fn options(&self) -> DeferredOptions {
        let client = choice(self.client.as_deref());
        let mut options = client.map_or_else(DeferredOptions::default, DeferredOptions::of_client);
        options.target = choice(self.target.as_deref());
        options.native = choice(self.native.as_deref()).unwrap_or(options.native);
        if !self.search_tools.is_empty() {
            options.search_tools = self.search_tools.clone();
        }
        options.custom_tools = choice(self.custom_tools.as_deref());
        options.removals = choice(self.removals.as_deref()).unwrap_or(options.removals);
        options.unavailable_calls = choice(self.unavailable_calls.as_deref()).unwrap_or(options.unavailable_calls);
        options.reasoning = choice(self.reasoning.as_deref());
        options.max_tokens = self.max_tokens;
        options.format = choice(self.format.as_deref()).or(options.format);
        options.announce = choice(self.announce.as_deref()).unwrap_or(options.announce);
        options.mode = choice(self.mode.as_deref()).unwrap_or(options.mode);
        options.order = choice(self.order.as_deref()).unwrap_or(options.order);
        options.unknown_reference = choice(self.unknown_reference.as_deref()).unwrap_or(options.unknown_reference);
        options.forced_tool = choice(self.forced_tool.as_deref()).unwrap_or(options.forced_tool);
        options.server_tool_search = choice(self.server_tool_search.as_deref());
        options.server_history = choice(self.server_history.as_deref()).unwrap_or(options.server_history);
        options.tool_changes = choice(self.tool_changes.as_deref()).unwrap_or(options.tool_changes);
        options.loaded_tools = self.loaded_tools.clone();
        options.load_used_tools = self.load_used_tools;
        if let Some(name) = &self.tool_search_name {
            options.tool_search_name = name.clone();
        }
        options.max_repeated_bytes = self.max_repeated_bytes;
        options
    }
}
