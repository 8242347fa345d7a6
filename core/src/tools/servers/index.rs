//! Search index of a tool list or of a list of servers. Answers name each tool's server.

use alloc::{sync::Arc, vec::Vec};

use super::{Servers, SERVER};
use crate::{
    dialect::{self, surface::NamePattern},
    error::Error,
    json::{Node, Text},
    options::{Prefix, SearchOptions},
    search::{self, Among, Call, Index, SentNames},
    tools::servers,
};

#[derive(Clone, Debug)]
pub(crate) struct ServerIndex {
    index: Index,
    servers: Option<Arc<Servers>>,
}

impl ServerIndex {
    pub(crate) fn new(list: &Node<'_>, with_definitions: bool) -> Result<Self, Error> {
        if !servers::is_list(list) {
            return Ok(ServerIndex { index: Index::new(list, with_definitions)?, servers: None });
        }
        let (list, servers) = servers::flatten(list.clone(), Prefix::Auto, NamePattern::ANY)?;
        let mut sent = SentNames::default();
        if let Some(servers) = &servers {
            dialect::name_patterns().into_iter().for_each(|name_pattern| {
                servers.names_sent(name_pattern, &mut |name, called| {
                    sent.add(Some(name), called);
                })
            });
        }
        let index = Index::without_sent_names(&list, with_definitions)?.with_sent_names(sent);
        Ok(ServerIndex { index, servers: servers.map(Arc::new) })
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn search(&self, query: &str, options: &SearchOptions) -> Result<Vec<&Text<'static>>, Error> {
        self.index.search(query, options, Among::All)
    }

    pub(crate) fn answer(&self, call: &Call<'_, '_>, options: &SearchOptions) -> Result<Node<'static>, Error> {
        let name = |result: &mut Node<'static>, key: &'static str| {
            let Some(servers) = &self.servers else { return };
            let owner = result.text_at(key).and_then(|called| servers.owner(called));
            if let Some(owner) = owner {
                let (name, server) = (owner.name.clone(), owner.server.clone());
                result.set(key, Node::string(name));
                result.set(SERVER, Node::string(server));
            }
        };
        search::answer(call, &self.index, options, &name)
    }
}
