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
    wire::anthropic::mentions,
    wire::responses,
    wire::{
        searches::{search_item, SearchContent, SearchItem, SearchResult},
        units::{call_of_part, FoundCall},
        Wire,
    },
};

/// Prefix of a query that selects tools by name, as in Claude's own search: `select:Read,Edit`.
const SELECT: &str = "select:";

/// Answers a call to the search. The answer reports mistakes of the model, so that the model can correct them. An error
/// is a mistake of the caller.
///
/// `edit` edits each reference or definition; its second argument is the member with the tool's name in the index.
pub(crate) fn answer(
    call: &Call<'_, '_>,
    index: &Index,
    options: &SearchOptions,
    edit: &dyn Fn(&mut Node<'static>, &'static str),
) -> Result<Node<'static>, Error> {
    let matches = call.search_arguments().and_then(|search_arguments| find(&search_arguments, index, options));
    let wire = match call.shape {
        CallShape::Function(wire) => wire,
        CallShape::Item(item) => {
            return match matches {
                Err(error) if error.code() == Code::InvalidOption => Err(error),
                // The item has no member for a message, so a failed search returns an empty list, as in Codex.
                matches => Ok((item.write)(id(call), definitions(&matches.unwrap_or_default(), index, edit)?)),
            };
        }
    };
    let searches = wire.searches();
    let content = match matches {
        Ok(names) if names.is_empty() => SearchContent::Text(instructions::NO_MATCH.into()),
        Ok(names) if searches.has_definitions => {
            let mut definitions = definitions(&names, index, edit)?;
            definitions.iter_mut().for_each(|function| tool::clean(function, true));
            SearchContent::Definitions(definitions)
        }
        Ok(names) => SearchContent::References(names.into_iter().map(|name| reference(name, edit)).collect()),
        Err(error) if error.code() == Code::InvalidOption => return Err(error),
        Err(error) => SearchContent::Failure(format!("Tool search failed: {}", error.message())),
    };
    let function_name = call.name.map(Node::detached).unwrap_or_default();
    Ok((searches.write)(SearchResult { id: id(call), name: function_name, content }))
}

/// Returns the names of matching tools, best match first. The results of several queries are interleaved.
fn find<'i>(
    search_arguments: &SearchArguments,
    index: &'i Index,
    options: &SearchOptions,
) -> Result<Vec<&'i Text<'static>>, Error> {
    let limit = search_arguments.limit.map_or(options.limit, |limit| limit.min(options.limit));
    let options = SearchOptions { limit, ..options.clone() };
    let (mut names, mut seen) = (Vec::new(), Set::new());
    let mut ranked: Vec<alloc::vec::IntoIter<&Text<'static>>> = Vec::new();
    for query in &search_arguments.queries {
        match selection(query) {
            Some(list) => {
                let found = list.split(',').filter_map(|name| index.resolve_name(name.trim()));
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

/// Returns a new node, which is not counted among the caller's nodes.
fn id(call: &Call<'_, '_>) -> Node<'static> {
    call.id.and_then(Node::as_text).map(|id| Node::string(id.clone().into_owned())).unwrap_or_default()
}

/// Returns the definitions of tools. All tools of a namespace are in one entry, at the position of the best match.
fn definitions(
    names: &[&Text<'static>],
    index: &Index,
    edit: &dyn Fn(&mut Node<'static>, &'static str),
) -> Result<Vec<Node<'static>>, Error> {
    let mut out: Vec<Node<'static>> = Vec::with_capacity(names.len());
    let mut positions: Map<Option<Text<'static>>, usize> = Map::new();
    for name in names {
        let Some(mut definition) = index.definition(name)? else { continue };
        if !has_type(&definition, "namespace") {
            edit(&mut definition, "name");
            out.push(definition);
            continue;
        }
        definition.visit("tools", |tools| {
            tools.as_array_mut().into_iter().flatten().for_each(|tool| edit(tool, "name"));
        });
        let name = definition.text_at("name").map(|name| name.clone().into_owned());
        let position = *positions.entry(name).or_insert(out.len());
        match out.get_mut(position) {
            Some(namespace) => {
                let members = definition
                    .visit("tools", |tools| tools.as_array_mut().map(core::mem::take))
                    .flatten()
                    .unwrap_or_default();
                namespace.visit("tools", |tools| tools.as_array_mut().map(|tools| tools.extend(members)));
            }
            None => out.push(definition),
        }
    }
    Ok(out)
}

fn reference(name: &Text<'static>, edit: &dyn Fn(&mut Node<'static>, &'static str)) -> Node<'static> {
    let mut reference = mentions::reference(name.clone());
    edit(&mut reference, "tool_name");
    reference
}

/// Maximum number of queries in one call, because each query needs a pass over the index.
const MAX_QUERIES: usize = 16;

#[derive(Clone, Copy)]
pub(super) enum CallShape {
    Function(&'static Wire),
    Item(&'static SearchItem),
}

pub(crate) struct Call<'n, 'a> {
    pub(super) shape: CallShape,
    pub(super) name: Option<&'n Node<'a>>,
    pub(super) id: Option<&'n Node<'a>>,
    arguments: Option<&'n Node<'a>>,
}

pub(super) struct SearchArguments {
    queries: Vec<String>,
    pub(super) limit: Option<usize>,
}

impl<'n, 'a> Call<'n, 'a> {
    /// Recognizes a call in any format: a block, an entry, an item or a step. An item with which the model asks the
    /// client to search is recognized regardless of the function's name.
    pub(crate) fn recognize(call: &'n Node<'a>, options: &SearchOptions) -> Option<Self> {
        if let Some(item) = search_item(call) {
            let (id, arguments) = (call.get(item.id), call.get(item.arguments));
            let shape = CallShape::Item(item);
            return responses::is_client_search(call).then_some(Call { shape, name: None, id, arguments });
        }
        // A call to a tool of a server, or in a namespace, is a call to another tool, unless the API created the
        // namespace for the search. A restored call has the tool's original name, which may equal the name of the
        // search.
        let is_search = |found_call: &FoundCall<'n, 'a>| {
            let text = |key| found_call.node.text_at(key).filter(|text| !text.is_empty());
            let name = text(found_call.name_key());
            let has_own_namespace = text("namespace").is_none_or(|namespace| name == Some(namespace));
            let has_server = found_call.node.get("server").is_some_and(|server| !server.is_null());
            has_own_namespace && !has_server && name.is_some_and(|name| name.is(&options.tool_search_name))
        };
        let found_call = call_of_part(call).filter(|found_call| found_call.has_arguments() && is_search(found_call))?;
        let (shape, name) = (CallShape::Function(found_call.wire), found_call.node.get(found_call.name_key()));
        Some(Call { shape, name, id: found_call.id(call), arguments: found_call.arguments().0 })
    }

    pub(crate) fn wants_definitions(&self) -> bool {
        match self.shape {
            CallShape::Function(wire) => wire.searches().has_definitions,
            CallShape::Item(_) => true,
        }
    }

    pub(super) fn search_arguments(&self) -> Result<SearchArguments, Error> {
        let Some(arguments) = self.arguments else { return SearchArguments::read(&Node::default()) };
        match arguments.as_text().map(Text::value) {
            Some(Some(Cow::Borrowed(text))) => SearchArguments::read(&json::read(text)?),
            Some(Some(Cow::Owned(text))) => SearchArguments::read(&json::read(&text)?),
            // In valid JSON text, a lone surrogate occurs only inside strings, as an escape.
            Some(None) => Err(Error::new(
                Code::InvalidJson,
                "",
                "expected arguments as JSON, found half a surrogate pair outside a string",
            )),
            None => SearchArguments::read(arguments),
        }
    }
}

impl SearchArguments {
    /// The function that `apply_deferred_loading` adds has the parameter `query`. A search that the caller provides has
    /// its own parameters, such as `queries`, `paths` or `goal`, so each string in its arguments is a query.
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
        Ok(SearchArguments { queries, limit: limit.and_then(|limit| usize::try_from(limit).ok()) })
    }
}

fn collect(node: &Node<'_>, queries: &mut Vec<String>) {
    let items = node.as_array().unwrap_or(core::slice::from_ref(node));
    queries.extend(items.iter().filter_map(Node::as_text).map(|text| text.display().into_owned()));
}
