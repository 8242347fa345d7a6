//! Recognizes a model's call to the tool search, and reads its queries and its shape, which the answer must have as
//! well.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{self, Node, Text},
    options::SearchOptions,
    request::tool::{self, has_type},
};

/// Maximum number of queries in one call: each query takes a pass over the index.
const MAX_QUERIES: usize = 16;

/// Shape of a call, which is also the shape of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallShape {
    /// A `tool_use` block of Anthropic.
    Block,
    /// A `function_call` item of OpenAI Responses.
    Item,
    /// A `tool_search_call` item of OpenAI Responses, for a search that the caller runs. Its answer contains
    /// definitions.
    SearchItem,
    /// A `function_call` step of Gemini Interactions. Its answer contains definitions.
    Step,
    /// An entry of `tool_calls` of Chat Completions.
    Entry,
    /// A block of Bedrock Converse with `toolUse`.
    ToolUse,
    /// A part of Gemini with `functionCall`.
    Part,
}

/// A call to the search, as the model wrote it.
pub(crate) struct Call<'n, 'a> {
    pub(super) shape: CallShape,
    /// The name of the called function.
    pub(super) name: Option<&'n Node<'a>>,
    /// Id by which the answer refers to the call.
    pub(super) id: Option<&'n Node<'a>>,
    arguments: Option<&'n Node<'a>>,
}

/// The queries of a call, and the limit that it sets.
pub(super) struct Wanted {
    pub(super) queries: Vec<String>,
    /// Maximum number of tools that the model requests.
    pub(super) limit: Option<usize>,
}

impl<'n, 'a> Call<'n, 'a> {
    /// Recognizes a call: a `tool_use` block of Anthropic, a `function_call` of OpenAI Responses or Gemini
    /// Interactions, an entry of `tool_calls` of Chat Completions, a block with `toolUse` of Bedrock Converse, a part
    /// with `functionCall` of Gemini, and, regardless of the function's name, a `tool_search_call` of OpenAI Responses
    /// that the caller has to answer. Returns `None` for anything else, such as a call to another tool.
    pub(crate) fn recognize(call: &'n Node<'a>, options: &SearchOptions) -> Option<Self> {
        // A call in a namespace is a call to another tool, unless the API created the namespace for the search.
        let is_search = |call: &Node<'a>| {
            let text = |key| call.text_at(key).filter(|text| !text.is_empty());
            let own = text("namespace").is_none_or(|namespace| text("name") == Some(namespace));
            own && text("name").is_some_and(|name| name.is(&options.tool_search_name))
        };
        if has_type(call, "tool_use") {
            return is_search(call).then(|| Call {
                shape: CallShape::Block,
                name: call.get("name"),
                id: call.get("id"),
                arguments: call.get("input"),
            });
        }
        if has_type(call, "function_call") {
            // A step of Gemini Interactions has only an `id`, and arguments that are a value.
            let is_value = call.get("arguments").is_none_or(|arguments| arguments.as_text().is_none());
            let is_step = call.get("call_id").is_none() && call.get("id").is_some() && is_value;
            return is_search(call).then(|| Call {
                shape: if is_step { CallShape::Step } else { CallShape::Item },
                name: call.get("name"),
                id: call.get("call_id").or_else(|| call.get("id")),
                arguments: call.get("arguments"),
            });
        }
        if has_type(call, "tool_search_call") {
            return tool::is_client_search(call).then(|| Call {
                shape: CallShape::SearchItem,
                name: None,
                id: call.get("call_id"),
                arguments: call.get("arguments"),
            });
        }
        let inner = [
            ("toolUse", CallShape::ToolUse, "toolUseId", "input"),
            ("functionCall", CallShape::Part, "id", "args"),
            ("function_call", CallShape::Part, "id", "args"),
        ];
        // Old messages of Chat Completions also have `function_call`.
        let is_message = |inner: &Node<'a>| call.get("role").is_some() || inner.get("arguments").is_some();
        for (key, shape, id, arguments) in inner {
            if let Some(inner) = call.get(key).filter(|inner| !is_message(inner)) {
                return is_search(inner).then(|| Call {
                    shape,
                    name: inner.get("name"),
                    id: inner.get(id),
                    arguments: inner.get(arguments),
                });
            }
        }
        let function = call.get("function")?;
        is_search(function).then(|| Call {
            shape: CallShape::Entry,
            name: function.get("name"),
            id: call.get("id"),
            arguments: function.get("arguments"),
        })
    }

    /// Returns true if the answer contains the definitions of the tools, not only their names.
    pub(crate) fn wants_definitions(&self) -> bool {
        matches!(self.shape, CallShape::SearchItem | CallShape::Step)
    }

    /// Returns the queries and the limit in the arguments.
    ///
    /// # Errors
    /// `invalid-json` if the arguments are text that is not JSON, `empty-query` if they contain no query.
    pub(super) fn wanted(&self) -> Result<Wanted, Error> {
        let Some(arguments) = self.arguments else { return Wanted::read(&Node::default()) };
        match arguments.as_text().map(Text::value) {
            Some(Some(Cow::Borrowed(text))) => Wanted::read(&json::read(text)?),
            Some(Some(Cow::Owned(text))) => Wanted::read(&json::read(&text)?),
            // In valid JSON text, a lone surrogate occurs only inside strings, as an escape.
            Some(None) => Err(Error::new(
                Code::InvalidJson,
                "",
                "expected arguments as JSON, found half a surrogate pair outside a string",
            )),
            None => Wanted::read(arguments),
        }
    }
}

impl Wanted {
    /// Reads arguments. The function that `apply` offers has the parameter `query`. A search that the caller provides
    /// has its own parameters, such as `queries`, `paths` or `goal`, so each string in its arguments is a query.
    fn read(arguments: &Node<'_>) -> Result<Self, Error> {
        let mut queries = Vec::new();
        match arguments.get("query") {
            Some(query) => collect(query, &mut queries),
            None if arguments.as_object().is_some() => {
                arguments.as_object().into_iter().flatten().for_each(|member| collect(&member.value, &mut queries));
            }
            None => collect(arguments, &mut queries),
        }
        queries.retain(|query| !query.trim().is_empty());
        queries.truncate(MAX_QUERIES);
        if queries.is_empty() {
            return Err(Error::new(
                Code::EmptyQuery,
                "/query",
                "expected a query that describes what a tool has to do, found none",
            ));
        }
        let limit =
            ["limit", "max_results"].iter().find_map(|key| arguments.get(key)?.as_u64()).filter(|limit| *limit > 0);
        Ok(Wanted { queries, limit: limit.and_then(|limit| usize::try_from(limit).ok()) })
    }
}

fn collect(node: &Node<'_>, queries: &mut Vec<String>) {
    let items = node.as_array().unwrap_or(core::slice::from_ref(node));
    queries.extend(items.iter().filter_map(Node::as_text).map(|text| text.display().into_owned()));
}
