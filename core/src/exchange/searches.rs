//! Runs the model's tool searches in place of the provider.

use alloc::{string::String, vec::Vec};

use crate::{
    adapt::catalogue,
    collections::Map,
    error::Error,
    json::{lazy, Node, Text},
    names::Names,
    options::{AdaptOptions, SearchOptions, ToolFormat},
    reply::restore::RestoreMap,
    request::tool::{self, has_type},
    search::{self, Call, Index},
    wire::responses::namespaces,
};

/// Runs the searches that the model requests by calling the replacement of a hosted search.
#[derive(Debug)]
pub(crate) struct Searches {
    /// The client's name for the hosted search.
    pub(crate) name: Text<'static>,
    pub(crate) options: SearchOptions,
    adapting: AdaptOptions,
    names: Names,
    /// Built at the first search.
    catalogue: Option<Catalogue>,
}

/// The tools of the client's request, as the model sees them.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) index: Index,
    /// Translates the names of tools back to the client's names.
    pub(crate) restore_map: RestoreMap,
    /// The client's definitions by name, for APIs whose search results are definitions.
    definitions: Map<Text<'static>, Node<'static>>,
}

impl Searches {
    pub(crate) fn new(name: Text<'static>, options: SearchOptions, adapting: AdaptOptions, names: Names) -> Self {
        Searches { name, options, adapting, names, catalogue: None }
    }

    pub(crate) fn is_call(&self, unit: &Node<'_>) -> bool {
        Call::recognize(unit, &self.options).is_some()
    }

    pub(crate) fn answer(&mut self, call: &Node<'_>, client_request: &str) -> Result<Node<'static>, Error> {
        let options = self.options.clone();
        let catalogue = self.catalogue(client_request)?;
        let Some(call) = Call::recognize(call, &options) else { return Ok(Node::default()) };
        search::answer(&call, &catalogue.index, &options, &|reference, key| catalogue.restore_name(reference, key))
    }

    pub(crate) fn catalogue(&mut self, client_request: &str) -> Result<&mut Catalogue, Error> {
        let catalogue = match self.catalogue.take() {
            Some(catalogue) => catalogue,
            None => Catalogue::new(client_request, &self.adapting, &self.names)?,
        };
        Ok(self.catalogue.insert(catalogue))
    }
}

impl Catalogue {
    fn new(client_request: &str, adapting: &AdaptOptions, names: &Names) -> Result<Catalogue, Error> {
        let mut request = crate::request::read(client_request)?;
        let tools = lazy::take(&mut request, "tools")?.unwrap_or_else(|| Node::array(Vec::new()));
        let mut definitions = Map::new();
        if adapting.tools.format == Some(ToolFormat::GeminiInteractions) {
            let name_and_definition =
                |entry: &Node<'_>| Some((tool::name(entry)?.clone().into_owned(), entry.detached()));
            for (name, definition) in tools.as_array().unwrap_or_default().iter().filter_map(name_and_definition) {
                definitions.entry(name).or_insert(definition);
            }
        }
        request.set("tools", tools);
        let (tools, restore_map) = catalogue::catalogue(&mut request, adapting, names.clone())?;
        // The client's list of tools in the prompt uses the client's names, so the model may search for them. A
        // name that several servers use does not identify a tool.
        let mut count: Map<Text<'_>, usize> = Map::new();
        restore_map.names().for_each(|(_, client_name)| *count.entry(client_name).or_default() += 1);
        let alias =
            |(called, client_name): (&str, Text<'_>)| (client_name.into_owned(), Text::new(String::from(called)));
        let aliases =
            restore_map.names().filter(|(_, client_name)| count.get(client_name) == Some(&1)).map(alias).collect();
        Ok(Catalogue {
            index: Index::new(&tools, !definitions.is_empty())?.with_other_names(aliases),
            restore_map,
            definitions,
        })
    }

    fn restore_name(&self, reference: &mut Node<'static>, key: &'static str) {
        let called = reference.text_at(key).cloned();
        let Some(restored) = called.as_ref().and_then(|called| self.restore_map.name(called)) else { return };
        let client_tool_name = namespaces::flat(restored.namespace.as_ref(), &restored.name).into_owned();
        let server = restored.server.map(Text::into_owned);
        if let Some(definition) = self.definitions.get(&client_tool_name).filter(|_| has_type(reference, "function")) {
            *reference = definition.clone();
            return;
        }
        reference.set(key, Node::string(client_tool_name));
        if let Some(server) = server {
            reference.set("server", Node::string(server));
        }
    }
}
