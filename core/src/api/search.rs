//! `search_tools`, `ToolIndex` and `answer_tool_search`.

use alloc::{string::String, vec::Vec};

use super::Input;
use crate::{
    error::Error,
    json::{self, Node, Text},
    options::SearchOptions,
    search::Call,
    tools::servers::index::ServerIndex,
};

/// Returns the names of the tools that match a query, best match first.
///
/// `tools` is a tool list of any supported format (Anthropic, OpenAI Responses with namespaces, OpenAI Chat
/// Completions, MCP), deferred or not, or an object with such a list in `tools`. In a list of several servers
/// (`{ server, tools }`), tools have the names under which [`adapt_request`](crate::adapt_request) sends them, and an
/// answer contains the server of each.
///
/// ```
/// use serde_json::json;
/// use toolwire::{search_tools, SearchOptions};
/// let tools = json!([
///     {"name": "send_mail", "description": "Sends a mail", "input_schema": {"type": "object"}},
///     {"name": "book_room", "description": "Books a meeting room", "input_schema": {"type": "object"}},
/// ]);
/// assert_eq!(search_tools(&tools, "a room for our meeting", &SearchOptions::default())?, ["book_room"]);
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `empty-query`, `invalid-pattern`, `pattern-too-long`, `invalid-option`, `invalid-json`, `too-deep`;
/// `invalid-request` if `tools` is not a tool list.
pub fn search_tools(tools: impl Input, query: &str, options: &SearchOptions) -> Result<Vec<String>, Error> {
    ToolIndex::for_searches(&tools.given()?.read()?)?.search(query, options)
}

/// Answers a model's call to the tool search, for the next turn. The answer contains `tool_reference` blocks;
/// [`apply_deferred_loading`](crate::apply_deferred_loading) converts them into text and loads the tools. Returns
/// `None` if the call is not a search.
///
/// `call` is a `tool_use` block (Anthropic; the answer is a `tool_result` block), a `function_call` item (OpenAI
/// Responses; a `function_call_output` item) or an entry of `tool_calls` (Chat Completions; a message with the role
/// `tool`). It is a search if it calls `tool_search_name`. `select:Read,Edit` requests tools by name. If the list has
/// deferred tools, the search covers only those, because the model sees the others anyway.
///
/// A `tool_search_call` item of OpenAI Responses with `execution: "client"`, which the client must answer, is also a
/// search. Its answer is a `tool_search_output` item with the definitions of the tools found, as OpenAI requires.
///
/// If a search fails because of the model's input, the answer contains the error, so that the model sees the reason.
///
/// ```
/// use serde_json::json;
/// use toolwire::{answer_tool_search, SearchOptions};
/// let tools = json!([{"name": "send_mail", "description": "Sends a mail", "defer_loading": true}]);
/// let call = json!({"type": "tool_use", "id": "t1", "name": "tool_search", "input": {"query": "write a mail"}});
/// assert_eq!(
///     answer_tool_search(&call, &tools, &SearchOptions::default())?,
///     Some(json!({
///         "type": "tool_result",
///         "tool_use_id": "t1",
///         "content": [{"type": "tool_reference", "tool_name": "send_mail"}],
///     })),
/// );
/// # Ok::<(), toolwire::Error>(())
/// ```
///
/// # Errors
/// `invalid-option`, `invalid-json`, `too-deep`; `invalid-request` if `tools` is not a tool list.
pub fn answer_tool_search<T: Input>(
    call: T,
    tools: impl Input,
    options: &SearchOptions,
) -> Result<Option<T::Output>, Error> {
    let node = call.given()?.read()?;
    let answer =
        answer_node(&node, |with_definitions| ServerIndex::new(&tools.given()?.read()?, with_definitions), options)?;
    answer.map(|answer| call.text(Some(json::write(&answer)))).transpose()
}

/// Answers a call if it is a search. `index` reads the tool list, with its definitions if the answer contains them.
pub(super) fn answer_node(
    call: &Node<'_>,
    index: impl FnOnce(bool) -> Result<ServerIndex, Error>,
    options: &SearchOptions,
) -> Result<Option<Node<'static>>, Error> {
    Call::recognize(call, options).map(|call| index(call.wants_definitions())?.answer(&call, options)).transpose()
}

/// A tool list indexed for many searches. It borrows nothing and can be shared between threads.
///
/// ```
/// use serde_json::json;
/// use toolwire::{SearchOptions, ToolIndex};
/// let index = ToolIndex::new(&json!([{"name": "getUserEmail", "inputSchema": {"type": "object"}}]))?;
/// assert_eq!(index.len(), 1);
/// assert_eq!(index.search("email", &SearchOptions::default())?, ["getUserEmail"]);
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolIndex(ServerIndex);

impl ToolIndex {
    /// Reads a tool list in any form that [`search_tools`] accepts. If several tools have the same name, the first one
    /// is used.
    ///
    /// # Errors
    /// `invalid-json`, `too-deep`; `invalid-request` if `tools` is not a tool list.
    pub fn new(tools: impl Input) -> Result<Self, Error> {
        Self::from_node(&tools.given()?.read()?)
    }

    pub(crate) fn from_node(tools: &Node<'_>) -> Result<Self, Error> {
        ServerIndex::new(tools, true).map(ToolIndex)
    }

    /// Returns an index without definitions, which only answers to calls need.
    pub(super) fn for_searches(tools: &Node<'_>) -> Result<Self, Error> {
        ServerIndex::new(tools, false).map(ToolIndex)
    }

    /// Returns the number of tools in the index.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Like [`search_tools`], but searches this index.
    ///
    /// # Errors
    /// `empty-query`, `invalid-pattern`, `pattern-too-long`, `invalid-option`.
    pub fn search(&self, query: &str, options: &SearchOptions) -> Result<Vec<String>, Error> {
        Ok(self.matches(query, options)?.into_iter().map(|name| name.display().into_owned()).collect())
    }

    pub(crate) fn search_node(&self, query: &str, options: &SearchOptions) -> Result<Node<'static>, Error> {
        Ok(Node::array(self.matches(query, options)?.into_iter().cloned().map(Node::string).collect()))
    }

    fn matches(&self, query: &str, options: &SearchOptions) -> Result<Vec<&Text<'static>>, Error> {
        self.0.search(query, options)
    }

    /// Like [`answer_tool_search`], but searches this index.
    ///
    /// # Errors
    /// `invalid-option`, `invalid-json`, `too-deep`.
    pub fn answer<T: Input>(&self, call: T, options: &SearchOptions) -> Result<Option<T::Output>, Error> {
        let answer = self.answer_node(&call.given()?.read()?, options)?;
        answer.map(|answer| call.text(Some(json::write(&answer)))).transpose()
    }

    pub(crate) fn answer_node(&self, call: &Node<'_>, options: &SearchOptions) -> Result<Option<Node<'static>>, Error> {
        Call::recognize(call, options).map(|call| self.0.answer(&call, options)).transpose()
    }
}
