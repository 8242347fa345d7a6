//! Search index of a tool list or of a list of servers. Answers name each tool's server.

use alloc::{sync::Arc, vec::Vec};

use super::{Servers, SERVER};
use crate::{
    dialect::{self, surface::NamePattern},
    error::Error,
    json::{Data, Node, Text},
    options::{Prefix, SearchOptions},
    reply::call_sites,
    request::{carriers::REFERENCES, tool::has_type},
    search::{self, Among, Call, Index, SentNames},
    tools::servers,
};

/// Members of an answer that contain the tools that were found.
const HOLDERS: [&str; 4] = ["content", "output", "result", "tools"];

/// A search index, with the servers of its tools if the list has servers.
#[derive(Clone, Debug)]
pub(crate) struct ServerIndex {
    index: Index,
    servers: Option<Arc<Servers>>,
}

impl ServerIndex {
    /// Reads a list of tools, as [`Index::new`] does.
    ///
    /// # Errors
    /// `invalid-request` if the input is neither a list of tools nor a list of servers.
    pub(crate) fn new(list: &Node<'_>, with_definitions: bool) -> Result<Self, Error> {
        if !servers::is_list(list) {
            return Ok(ServerIndex { index: Index::new(list, with_definitions)?, servers: None });
        }
        let (list, servers) = servers::flatten(list.clone(), Prefix::Auto, NamePattern::ANY)?;
        let mut sent = SentNames::default();
        if let Some(servers) = &servers {
            dialect::name_patterns().into_iter().for_each(|shape| {
                servers.names_sent(shape, &mut |name, called| {
                    sent.add(Some(name), called);
                })
            });
        }
        let index = Index::without_sent_names(&list, with_definitions)?.sent_as(sent);
        Ok(ServerIndex { index, servers: servers.map(Arc::new) })
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns the names of the tools that match, as [`Index::search`] does.
    ///
    /// # Errors
    /// Same as [`Index::search`].
    pub(crate) fn search(&self, query: &str, options: &SearchOptions) -> Result<Vec<&Text<'static>>, Error> {
        self.index.search(query, options, Among::All)
    }

    /// Answers a call to the search function.
    ///
    /// # Errors
    /// `invalid-option`.
    pub(crate) fn answer(&self, call: &Call<'_, '_>, options: &SearchOptions) -> Result<Node<'static>, Error> {
        let mut answer = search::answer(call, &self.index, options)?;
        if let Some(servers) = &self.servers {
            for key in HOLDERS {
                answer.visit(key, |found| name_owners(found, servers));
            }
            // In Gemini and Bedrock Converse, references are a member of a JSON value inside the result.
            let in_json = |json: &mut Node<'static>| json.visit(REFERENCES, |found| name_owners(found, servers));
            answer.visit("functionResponse", |result| result.visit("response", in_json));
            answer.visit("toolResult", |result| {
                call_sites::each(result, "content", &mut |block| {
                    block.visit("json", in_json);
                });
            });
        }
        Ok(answer)
    }
}

/// Sets the original name and the server of each reference and definition in a list.
fn name_owners(found: &mut Node<'_>, servers: &Servers) {
    if !matches!(found.data(), Data::Array(_)) {
        return;
    }
    let _ = found.visit_children::<core::convert::Infallible>(|_, entry| {
        if has_type(entry, "namespace") {
            entry.visit("tools", |tools| name_owners(tools, servers));
            return Ok(());
        }
        let key = if has_type(entry, "tool_reference") { "tool_name" } else { "name" };
        let owner = entry.text_at(key).and_then(|called| servers.owner(called));
        if let Some(owner) = owner {
            let (name, server) = (owner.name.clone(), owner.server().clone());
            entry.set(key, Node::string(name));
            entry.set(SERVER, Node::string(server));
        }
        Ok(())
    });
}
