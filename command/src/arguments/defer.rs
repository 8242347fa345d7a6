//! The options of `toolwire defer`, as the library's.

use clap::Args;

use toolwire::{
    options::{
        Announce, Api, Client, CustomTools, EmptyTools, ForcedTool, Mode, Native, Order, Reasoning, Removals,
        ServerHistory, ServerToolSearch, SystemMessages, ToolChanges, UnavailableCalls, UnknownReference,
    },
    DeferredOptions,
};

use super::{choice, words, Layout, Machine};

#[derive(Args, Debug)]
pub(crate) struct DeferArguments {
    /// The request, as JSON; `-` or none: standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// The client that the request comes from: sets the options that fit it, unless they are given
    #[arg(long, value_name = "CLIENT", value_parser = words::<Client>())]
    pub(crate) client: Option<String>,
    /// The format to translate the request into
    #[arg(long, value_name = "FORMAT", value_parser = words::<Api>())]
    pub(crate) target: Option<String>,
    /// The construct of its own for deferred tools that the backend understands
    #[arg(long, value_name = "CONSTRUCT", value_parser = words::<Native>())]
    pub(crate) native: Option<String>,
    /// A function of the client that searches for tools; may be repeated (default: `ToolSearch`)
    #[arg(long = "search-tool", value_name = "NAME")]
    pub(crate) search_tools: Vec<String>,
    /// What to do with OpenAI's `custom` tools
    #[arg(long, value_name = "WHAT", value_parser = words::<CustomTools>())]
    pub(crate) custom_tools: Option<String>,
    /// What to do with removed tools, where the backend has no removals
    #[arg(long, value_name = "WHAT", value_parser = words::<Removals>())]
    pub(crate) removals: Option<String>,
    /// What to do with calls of tools that are not sent
    #[arg(long, value_name = "WHAT", value_parser = words::<UnavailableCalls>())]
    pub(crate) unavailable_calls: Option<String>,
    /// What to do with reasoning in another format
    #[arg(long, value_name = "WHAT", value_parser = words::<Reasoning>())]
    pub(crate) reasoning: Option<String>,
    /// The limit for a target that needs one, if the request has none
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_tokens: Option<u64>,
    /// The request's format, where its shape does not tell
    #[arg(long, value_name = "FORMAT", value_parser = words::<Api>())]
    pub(crate) format: Option<String>,
    /// Whether hidden tools are announced by name
    #[arg(long, value_name = "WHAT", value_parser = words::<Announce>())]
    pub(crate) announce: Option<String>,
    /// Whether deferred tools are hidden until they are loaded
    #[arg(long, value_name = "MODE", value_parser = words::<Mode>())]
    pub(crate) mode: Option<String>,
    /// Where loaded tools stand
    #[arg(long, value_name = "ORDER", value_parser = words::<Order>())]
    pub(crate) order: Option<String>,
    /// A tool that counts as loaded whatever the history says (repeatable)
    #[arg(long = "loaded-tool", value_name = "NAME")]
    pub(crate) loaded_tools: Vec<String>,
    /// A call of a tool in the history counts as a load of it
    #[arg(long)]
    pub(crate) load_used_tools: bool,
    /// What happens if `tool_choice` forces a tool that is not loaded
    #[arg(long, value_name = "WHAT", value_parser = words::<ForcedTool>())]
    pub(crate) forced_tool: Option<String>,
    /// What a reference to an unknown tool becomes
    #[arg(long, value_name = "WHAT", value_parser = words::<UnknownReference>())]
    pub(crate) unknown_reference: Option<String>,
    /// What becomes of the hosted tool search
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerToolSearch>())]
    pub(crate) server_tool_search: Option<String>,
    /// What becomes of hosted searches in the history
    #[arg(long, value_name = "WHAT", value_parser = words::<ServerHistory>())]
    pub(crate) server_history: Option<String>,
    /// The name of the function that stands for a tool search
    #[arg(long, value_name = "NAME")]
    pub(crate) tool_search_name: Option<String>,
    /// What is sent if no tool is visible
    #[arg(long, value_name = "WHAT", value_parser = words::<EmptyTools>())]
    pub(crate) empty_tools: Option<String>,
    /// Whether the history may change the tools that there are
    #[arg(long, value_name = "WHAT", value_parser = words::<ToolChanges>())]
    pub(crate) tool_changes: Option<String>,
    /// Bytes of notices that may repeat earlier ones
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_repeated_bytes: Option<usize>,
    /// The role of system messages whose directives became text
    #[arg(long, value_name = "WHAT", value_parser = words::<SystemMessages>())]
    pub(crate) system_messages: Option<String>,
    /// Instead of the request, what the model saw in each turn of its conversation
    #[arg(long, conflicts_with = "compact")]
    pub(crate) turns: bool,
    #[command(flatten)]
    pub(crate) layout: Layout,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

impl DeferArguments {
    /// Converts the arguments to the library's options.
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
        options.reasoning = choice(self.reasoning.as_deref()).unwrap_or(options.reasoning);
        options.max_tokens = self.max_tokens.unwrap_or(options.max_tokens);
        options.format = choice(self.format.as_deref()).or(options.format);
        options.announce = choice(self.announce.as_deref()).unwrap_or(options.announce);
        options.mode = choice(self.mode.as_deref()).unwrap_or(options.mode);
        options.order = choice(self.order.as_deref()).unwrap_or(options.order);
        options.unknown_reference = choice(self.unknown_reference.as_deref()).unwrap_or(options.unknown_reference);
        options.forced_tool = choice(self.forced_tool.as_deref()).unwrap_or(options.forced_tool);
        options.server_tool_search = choice(self.server_tool_search.as_deref()).unwrap_or(options.server_tool_search);
        options.server_history = choice(self.server_history.as_deref()).unwrap_or(options.server_history);
        options.empty_tools = choice(self.empty_tools.as_deref()).unwrap_or(options.empty_tools);
        options.system_messages = choice(self.system_messages.as_deref()).unwrap_or(options.system_messages);
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
