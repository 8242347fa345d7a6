//! Recognizes a model's call to the tool search, and answers it in the format of the call: with references, or with
//! definitions if the provider requires them.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::index::{Among, Index};
use crate::{
    collections::{Map, Set},
    error::{Code, Error},
    json::{self, Node, Text},
    options::SearchOptions,
    request::{
        instructions,
        tool::{self, has_type},
    },
};

/// Prefix of a query that selects tools by name, as in Claude's own search: `select:Read,Edit`.
const SELECT: &str = "select:";

/// Answers a call. Mistakes of the model are reported in the answer, so that the model can correct them. Errors are
/// mistakes of the caller.
///
/// # Errors
/// `invalid-option`.
pub(crate) fn answer(call: &Call<'_, '_>, index: &Index, options: &SearchOptions) -> Result<Node<'static>, Error> {
    let found = call.wanted().and_then(|wanted| find(&wanted, index, options));
    if call.shape == CallShape::SearchItem {
        return match found {
            Err(error) if error.code() == Code::InvalidOption => Err(error),
            // The item has no member for a message, so a failed search returns an empty list, as in Codex.
            found => Ok(search_output(call, definitions(&found.unwrap_or_default(), index)?)),
        };
    }
    let content = match found {
        Ok(names) if names.is_empty() => AnswerContent::Text(instructions::NO_MATCH.into()),
        Ok(names) if call.shape == CallShape::Step => AnswerContent::Functions(definitions(&names, index)?),
        Ok(names) => AnswerContent::References(names),
        Err(error) if error.code() == Code::InvalidOption => return Err(error),
        Err(error) => AnswerContent::Failure(format!("Tool search failed: {}", error.message())),
    };
    Ok(write(call, content))
}

/// Returns the tools that the queries of a call find. Results of several queries are interleaved, best match first.
fn find<'i>(wanted: &Wanted, index: &'i Index, options: &SearchOptions) -> Result<Vec<&'i Text<'static>>, Error> {
    let limit = wanted.limit.map_or(options.limit, |limit| limit.min(options.limit));
    let options = SearchOptions { limit, ..options.clone() };
    let (mut names, mut seen) = (Vec::new(), Set::new());
    let mut ranked: Vec<alloc::vec::IntoIter<&Text<'static>>> = Vec::new();
    for query in &wanted.queries {
        match selection(query) {
            Some(list) => {
                let found = list.split(',').filter_map(|name| index.named(name.trim()));
                names
                    .extend(found.filter(|name| !name.is(&options.tool_search_name)).filter(|name| seen.insert(*name)));
            }
            None => ranked.push(index.search(query, &options, Among::Deferred)?.into_iter()),
        }
    }
    // Tools that are selected by name are never cut off. Search results fill the answer up to the limit.
    for _ in 0..limit {
        for list in &mut ranked {
            names.extend(list.next().filter(|name| names.len() < limit && seen.insert(*name)));
        }
    }
    Ok(names)
}

fn selection(query: &str) -> Option<&str> {
    let query = query.trim_start();
    query.get(..SELECT.len()).filter(|start| start.eq_ignore_ascii_case(SELECT)).and_then(|_| query.get(SELECT.len()..))
}

/// Content of an answer.
enum AnswerContent<'i> {
    References(Vec<&'i Text<'static>>),
    Functions(Vec<Node<'static>>),
    Text(String),
    Failure(String),
}

fn write(call: &Call<'_, '_>, answer: AnswerContent<'_>) -> Node<'static> {
    let id = id(call);
    let failed = matches!(answer, AnswerContent::Failure(_));
    if matches!(call.shape, CallShape::ToolUse | CallShape::Part) {
        return write_json(call, id, answer);
    }
    let content = match answer {
        AnswerContent::References(names) => Node::array(names.into_iter().map(reference).collect()),
        AnswerContent::Functions(mut functions) => {
            functions.iter_mut().for_each(|function| tool::clean(function, true));
            Node::array(functions)
        }
        AnswerContent::Text(text) | AnswerContent::Failure(text) if call.shape == CallShape::Block => {
            Node::array(alloc::vec![Node::record([("type", Node::literal("text")), ("text", Node::string(text))])])
        }
        AnswerContent::Text(text) | AnswerContent::Failure(text) => Node::string(text),
    };
    match call.shape {
        CallShape::Block if failed => Node::record([
            ("type", Node::literal("tool_result")),
            ("tool_use_id", id),
            ("is_error", Node::bool(true)),
            ("content", content),
        ]),
        CallShape::Block => {
            Node::record([("type", Node::literal("tool_result")), ("tool_use_id", id), ("content", content)])
        }
        CallShape::Item | CallShape::SearchItem => {
            Node::record([("type", Node::literal("function_call_output")), ("call_id", id), ("output", content)])
        }
        CallShape::Step => {
            let name = call.name.map(Node::detached).unwrap_or_default();
            let mut result = Node::record([
                ("type", Node::literal("function_result")),
                ("name", name),
                ("call_id", id),
                ("result", content),
            ]);
            if failed {
                result.set("is_error", Node::bool(true));
            }
            result
        }
        // These shapes are written above.
        CallShape::ToolUse | CallShape::Part => Node::default(),
        CallShape::Entry => Node::record([("role", Node::literal("tool")), ("tool_call_id", id), ("content", content)]),
    }
}

/// Writes the answer for Bedrock Converse and Gemini, whose results are JSON. The references are a member of this JSON,
/// so that the result is valid in these APIs before the references become text.
fn write_json(call: &Call<'_, '_>, id: Node<'static>, answer: AnswerContent<'_>) -> Node<'static> {
    let is_part = call.shape == CallShape::Part;
    let (content, status) = match answer {
        AnswerContent::References(names) => {
            let references = Node::array(names.into_iter().map(reference).collect());
            let found = Node::record([("tool_references", references)]);
            (if is_part { found } else { Node::record([("json", found)]) }, None)
        }
        AnswerContent::Text(text) => {
            (Node::record([(if is_part { "output" } else { "text" }, Node::string(text))]), None)
        }
        AnswerContent::Failure(text) if is_part => (Node::record([("error", Node::string(text))]), None),
        AnswerContent::Failure(text) => (Node::record([("text", Node::string(text))]), Some(Node::literal("error"))),
        AnswerContent::Functions(_) => (Node::default(), None),
    };
    if is_part {
        let name = call.name.map(Node::detached).unwrap_or_default();
        let mut response = Node::record([("name", name), ("response", content)]);
        if !id.is_null() {
            response.set("id", id);
        }
        return Node::record([("functionResponse", response)]);
    }
    let mut result = Node::record([("toolUseId", id), ("content", Node::array(alloc::vec![content]))]);
    if let Some(status) = status {
        result.set("status", status);
    }
    Node::record([("toolResult", result)])
}

/// Returns the id by which the answer refers to the call. It is a new node, so that it does not count as one of the
/// caller's nodes.
fn id(call: &Call<'_, '_>) -> Node<'static> {
    call.id.and_then(Node::as_text).map(|id| Node::string(id.clone().into_owned())).unwrap_or_default()
}

fn search_output(call: &Call<'_, '_>, tools: Vec<Node<'static>>) -> Node<'static> {
    Node::record([
        ("type", Node::literal("tool_search_output")),
        ("call_id", id(call)),
        ("execution", Node::literal("client")),
        ("status", Node::literal("completed")),
        ("tools", Node::array(tools)),
    ])
}

/// Returns the definitions of these tools, best match first. Tools of the same namespace are combined in one entry, at
/// the position of the best match.
fn definitions(names: &[&Text<'static>], index: &Index) -> Result<Vec<Node<'static>>, Error> {
    let mut out: Vec<Node<'static>> = Vec::with_capacity(names.len());
    let mut places: Map<Option<Text<'static>>, usize> = Map::new();
    for name in names {
        let Some(mut found) = index.definition(name)? else { continue };
        if !has_type(&found, "namespace") {
            out.push(found);
            continue;
        }
        let own = found.text_at("name").map(|name| name.clone().into_owned());
        let place = *places.entry(own).or_insert(out.len());
        match out.get_mut(place) {
            Some(namespace) => {
                let members = found
                    .visit("tools", |tools| tools.as_array_mut().map(core::mem::take))
                    .flatten()
                    .unwrap_or_default();
                namespace.visit("tools", |tools| tools.as_array_mut().map(|tools| tools.extend(members)));
            }
            None => out.push(found),
        }
    }
    Ok(out)
}

fn reference(name: &Text<'static>) -> Node<'static> {
    Node::record([("type", Node::literal("tool_reference")), ("tool_name", Node::string(name.clone()))])
}

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
    queries: Vec<String>,
    /// Maximum number of tools that the model requests.
    pub(super) limit: Option<usize>,
}

impl<'n, 'a> Call<'n, 'a> {
    /// Recognizes a call: a `tool_use` block of Anthropic, a `function_call` of OpenAI Responses or Gemini
    /// Interactions, an entry of `tool_calls` of Chat Completions, a block with `toolUse` of Bedrock Converse, a part
    /// with `functionCall` of Gemini, and, regardless of the function's name, a `tool_search_call` of OpenAI Responses
    /// that the caller has to answer. Returns `None` for anything else, such as a call to another tool.
    pub(crate) fn recognize(call: &'n Node<'a>, options: &SearchOptions) -> Option<Self> {
        // A call to a tool of a server, or in a namespace, is a call to another tool, unless the API created the
        // namespace for the search. A restored call has the tool's own name, which may be that of the search.
        let is_search = |call: &Node<'a>| {
            let text = |key| call.text_at(key).filter(|text| !text.is_empty());
            let own = text("namespace").is_none_or(|namespace| text("name") == Some(namespace));
            let of_server = call.get("server").is_some_and(|server| !server.is_null());
            own && !of_server && text("name").is_some_and(|name| name.is(&options.tool_search_name))
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
    /// Reads arguments. The function that `apply_deferred_loading` adds has the parameter `query`. A search that the
    /// caller provides has its own parameters, such as `queries`, `paths` or `goal`, so each string in its arguments is
    /// a query.
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
