//! Answers the model's searches instead of the provider. The client receives them in the provider's form, as
//! `server_tool_use` and `tool_search_tool_result` blocks, which it stores in its history and sends with later
//! requests.

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Map,
    error::Error,
    json::{lazy, Data, Node, Text},
    names::Names,
    options::{AdaptOptions, SearchOptions, ToolFormat},
    request::{namespaces, tool},
    search::{self, Call, Index},
    tools::{request as sent, restore::RestoreMap},
};

/// Answers the calls to the function that replaces a hosted search.
#[derive(Debug)]
pub(super) struct Searches {
    /// The client's name for the hosted search.
    name: Text<'static>,
    options: SearchOptions,
    /// The options with which tools are adapted, and their names.
    adapting: AdaptOptions,
    names: Names,
    /// Built at the first search.
    catalogue: Option<Catalogue>,
}

/// The tools of the client's request, as the model sees them.
#[derive(Debug)]
struct Catalogue {
    index: Index,
    /// Translates the names of tools back to the client's names.
    restore_map: RestoreMap,
    /// The client's definitions by name, for APIs whose search results are definitions.
    definitions: Map<Text<'static>, Node<'static>>,
}

impl Searches {
    pub(super) fn new(name: Text<'static>, options: SearchOptions, adapting: AdaptOptions, names: Names) -> Self {
        Searches { name, options, adapting, names, catalogue: None }
    }

    /// Returns true if the block calls the search function.
    pub(super) fn is_search(&self, block: &Node<'_>) -> bool {
        is(block, "tool_use") && Call::recognize(block, &self.options).is_some()
    }

    /// Returns true if a call in the format of any API calls the search function.
    pub(super) fn is_call(&self, unit: &Node<'_>) -> bool {
        Call::recognize(unit, &self.options).is_some()
    }

    /// Answers a call in the format of its API. `client_request` is the client's request, which contains the tools.
    ///
    /// # Errors
    /// `invalid-option`.
    pub(super) fn answer(&mut self, call: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
        let options = self.options.clone();
        let catalogue = self.catalogue(client_request)?;
        let Some(call) = Call::recognize(call, &options) else { return Ok(Node::default()) };
        let mut answer = search::answer(&call, &catalogue.index, &options)?;
        catalogue.name_found(&mut answer);
        Ok(answer)
    }

    fn catalogue(&mut self, client_request: &str) -> Result<&mut Catalogue, Error> {
        let catalogue = match self.catalogue.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::new(client_request, &self.adapting, &self.names)?,
        };
        Ok(self.catalogue.insert(catalogue))
    }

    /// Rewrites a call into a call to the hosted search.
    pub(super) fn rewrite_call(&self, block: &mut Node<'_>) {
        let id = block.text_at("id").map(|id| server_id(&id.display())).unwrap_or_default();
        block.set("type", Node::literal("server_tool_use"));
        block.set("id", Node::string(id));
        block.set("name", Node::string(self.name.clone()));
    }

    /// Returns the result block for a call that [`Self::rewrite_call`] rewrote. `client_request` is the client's
    /// request, which contains the tools.
    ///
    /// # Errors
    /// `invalid-option`.
    pub(super) fn result(&mut self, rewritten: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
        let mut call = rewritten.detached();
        call.set("type", Node::literal("tool_use"));
        call.set("name", Node::string(self.options.tool_search_name.clone()));
        let options = self.options.clone();
        let Catalogue { index, restore_map, .. } = self.catalogue(client_request)?;
        let answer = match Call::recognize(&call, &options) {
            Some(call) => search::answer(&call, index, &options)?,
            None => Node::default(),
        };
        let content = if answer.get("is_error").is_some() {
            Node::record([
                ("type", Node::literal("tool_search_tool_result_error")),
                ("error_code", Node::literal("invalid_tool_input")),
            ])
        } else {
            let found = answer.items_at("content");
            let reference = |block: &Node<'_>| {
                let mut reference = block.detached();
                let called = block.text_at("tool_name");
                if let Some(found) = called.and_then(|called| restore_map.name(called)) {
                    reference.set("tool_name", Node::string(found.name.into_owned()));
                    if let Some(server) = found.server {
                        reference.set("server", Node::string(server.into_owned()));
                    }
                }
                reference
            };
            let references = found.iter().filter(|block| is(block, "tool_reference")).map(reference).collect();
            Node::record([
                ("type", Node::literal("tool_search_tool_search_result")),
                ("tool_references", Node::array(references)),
            ])
        };
        let id = rewritten.get("id").map(Node::detached).unwrap_or_default();
        Ok(Node::record([
            ("type", Node::literal("tool_search_tool_result")),
            ("tool_use_id", id),
            ("content", content),
        ]))
    }
}

impl Catalogue {
    fn new(client_request: &str, adapting: &AdaptOptions, names: &Names) -> Result<Catalogue, Error> {
        let mut request = crate::request::read(client_request)?;
        let tools = lazy::take(&mut request, "tools")?.unwrap_or_else(|| Node::array(Vec::new()));
        let mut definitions = Map::new();
        if adapting.tools.format == Some(ToolFormat::GeminiInteractions) {
            let named = |entry: &Node<'_>| Some((tool::name(entry)?.clone().into_owned(), entry.detached()));
            for (name, definition) in tools.as_array().unwrap_or_default().iter().filter_map(named) {
                definitions.entry(name).or_insert(definition);
            }
        }
        request.set("tools", tools);
        let (tools, restore_map) = sent::catalogue(&mut request, adapting, names.clone())?;
        // The client's list of tools in the prompt uses the client's names, so the model may search for those. A
        // name that several servers use does not identify a tool.
        let mut count: Map<Text<'_>, usize> = Map::new();
        restore_map.names().for_each(|(_, own)| *count.entry(own).or_default() += 1);
        let own = |(called, own): (&str, Text<'_>)| (own.into_owned(), Text::new(String::from(called)));
        let also = restore_map.names().filter(|(_, own)| count.get(own) == Some(&1)).map(own).collect();
        Ok(Catalogue {
            index: Index::new(&tools, !definitions.is_empty())?.also_called(also),
            restore_map,
            definitions,
        })
    }

    /// Replaces the names of the tools in an answer with the client's names, or the tools with the client's
    /// definitions.
    fn name_found(&self, answer: &mut Node<'static>) {
        let name_one = |found: &mut Node<'static>| {
            let key = if is(found, "function") { "name" } else { "tool_name" };
            let called = found.text_at(key).cloned();
            let Some(own) = called.as_ref().and_then(|called| self.restore_map.name(called)) else { return };
            let name = namespaces::flat(own.namespace.as_ref(), &own.name).into_owned();
            let server = own.server.map(Text::into_owned);
            if let Some(definition) = self.definitions.get(&name).filter(|_| is(found, "function")) {
                *found = definition.clone();
                tool::clean(found, true);
                return;
            }
            found.set(key, Node::string(name));
            if let Some(server) = server {
                found.set("server", Node::string(server));
            }
        };
        let each = |list: &mut Node<'static>| list.as_array_mut().into_iter().flatten().for_each(name_one);
        for key in ["content", "output", "result"] {
            answer.visit(key, each);
        }
        answer.visit("functionResponse", |result| {
            result.visit("response", |response| response.visit("tool_references", each))
        });
    }
}

pub(super) fn is(node: &Node<'_>, kind: &str) -> bool {
    node.get("type").is_some_and(|found| found.is_text(kind))
}

/// Returns an id in the form of Anthropic's server tools: `srvtoolu_`, then letters, digits and underscores.
fn server_id(id: &str) -> String {
    let own = ["srvtoolu_", "toolu_"].iter().find_map(|prefix| id.strip_prefix(prefix)).unwrap_or(id);
    let legal = own.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    "srvtoolu_".chars().chain(legal).collect()
}

/// Returns the token usage of two rounds. Counts are added; other values are those of the later round, unless null.
pub(super) fn total(before: Option<&Node<'static>>, now: &Node<'static>) -> Node<'static> {
    let Some(before) = before.and_then(Node::as_object) else { return now.clone() };
    let mut sum = Node::object(before.clone());
    for member in now.as_object().into_iter().flatten() {
        let old = before.get_text(&member.key);
        let added = old
            .and_then(Node::as_u64)
            .zip(member.value.as_u64())
            .map(|(one, two)| Node::count(one.saturating_add(two)));
        let value = match added {
            Some(added) => added,
            None if member.value.is_null() => continue,
            None => member.value.clone(),
        };
        if let Some(object) = sum.as_object_mut() {
            object.set(member.key.clone(), value);
        }
    }
    sum
}

/// Returns the token usage of one round, from its first and its last event.
pub(super) fn overlay(first: Option<Node<'static>>, last: &Node<'static>) -> Node<'static> {
    let Some(mut used) = first.filter(|used| used.as_object().is_some()) else { return last.clone() };
    for member in last.as_object().into_iter().flatten() {
        if let (false, Some(object)) = (matches!(member.value.data(), Data::Null), used.as_object_mut()) {
            object.set(member.key.clone(), member.value.clone());
        }
    }
    used
}
