//! Resolves the names of several servers' tools outside the list: in the choice, the history and the options of a
//! request.
//!
//! This library defines the member `server` next to a name: `restore` writes it, and no API accepts it.

use alloc::{collections::VecDeque, format};

use super::{ServerTool, Servers, SERVER};
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{lazy, Data, Flags, Node, Text},
    options::{Api, DeferredOptions},
    reply::call_sites::{self, rename},
    request::{
        carriers::{self, Carriers, REFERENCES},
        tool,
    },
    tools::servers,
    wire::{
        self,
        additions::Additions,
        anthropic::mentions::is_reference,
        choice::{locations, Location},
        searches,
        units::{self, NamedUnit, Role},
    },
};

/// Maximum nesting depth of a choice of tools.
const CHOICE_DEPTH: usize = 6;

/// Tools of servers that the history defines and that are not in the list, by their names in the request.
pub(crate) type Added = Map<Text<'static>, ServerTool>;

/// Replaces names of tools in the choice and the history with their names in the list, and removes `server` there.
/// Returns the tools that only the history defines.
///
/// # Errors
/// `invalid-request` if the choice names a tool that its server does not have.
pub(crate) fn resolve_tool_names(
    request: &mut Node<'_>,
    api: Api,
    servers: Option<&Servers>,
    deferred: Option<&DeferredOptions>,
) -> Result<Added, Error> {
    if servers.is_some_and(Servers::is_empty) {
        let wire = wire::of(api);
        if let (Some(_), Some(pointer)) = (wire.tools().config(), wire.choice().pointer_to_demand(request)?) {
            let message = "expected tools that the choice can force, found servers without tools";
            return Err(Error::new(Code::InvalidRequest, pointer, message));
        }
        wire.tools().remove(request);
    }
    let mentions = Mentions { servers };
    for Location { outer, inner, pointer } in locations() {
        if !request.get(outer).is_some_and(|choice| mentions.may_be_in(choice)) {
            continue;
        }
        lazy::edit_member(request, outer, |holder| match inner {
            Some(inner) => {
                holder.visit(inner, |choice| mentions.resolve_in_choice(choice, pointer, 0)).unwrap_or(Ok(()))
            }
            None => mentions.resolve_in_choice(holder, pointer, 0),
        })?;
    }
    let (mut calls, mut added) = (Calls::default(), Added::new());
    let messages = request.items_at(wire::of(api).history());
    if !messages.iter().any(|message| mentions.may_be_in(message)) {
        return Ok(added);
    }
    let mut carriers = Carriers::of(request, api, deferred)?;
    let visited = request.visit(wire::of(api).history(), |history| {
        history.visit_children(|_, message| {
            if !lazy::may_hold(message, Flags::NAMES_TOOLS | Flags::CARRIER | Flags::DEFERRAL) {
                return Ok(());
            }
            if !mentions.may_be_in(message) {
                if matches!(wire::of(api).additions(), Additions::Results { .. }) {
                    // The call may be a search, whose result adds tools.
                    carriers.adds_tools(&*lazy::view(message)?);
                }
                return Ok(());
            }
            lazy::edit(message, |message| {
                calls.is_new_message = true;
                units::visit(message, None, &mut |site| calls.resolve_name(&mentions, site));
                // Any tool may return JSON with this member, but only results of searches have typed references.
                let in_json = |json: &mut Node<'_>| {
                    call_sites::each(json, REFERENCES, &mut |reference| {
                        if is_reference(reference) {
                            mentions.resolve_in_history(reference, "tool_name");
                        }
                    });
                };
                for (list, form) in searches::in_json() {
                    call_sites::each(message, list, &mut |block| (form.visit)(block, &mut { in_json }));
                }
                if carriers.adds_tools(message) {
                    carriers::visit_definitions(message, api, &mut |definition| {
                        mentions.resolve_in_definition(definition, &mut added);
                    });
                }
                Ok(())
            })
        })
    });
    visited.unwrap_or(Ok(()))?;
    Ok(added)
}

pub(crate) fn resolve_in_options(options: &mut DeferredOptions, servers: Option<&Servers>) {
    let Some(servers) = servers else { return };
    for name in options.search_tools.iter_mut().chain(&mut options.loaded_tools) {
        if let Some(listed_name) = servers.name_in_list(None, &Text::new(name.as_str())) {
            *name = listed_name.display().into_owned();
        }
    }
}

/// The calls of a history, to resolve results that name their tool without its server.
#[derive(Default)]
struct Calls {
    /// Names in the list, by the ids of the calls.
    by_id: Map<Text<'static>, Text<'static>>,
    /// Names in the list of the last calls without an id, by their names in the history.
    without_id: Map<Text<'static>, VecDeque<Text<'static>>>,
    /// True until the current message has a call without an id.
    is_new_message: bool,
}

impl Calls {
    fn resolve_name(&mut self, mentions: &Mentions<'_>, site: NamedUnit<'_, '_>) {
        let NamedUnit { node, name, id, role, .. } = site;
        if role == Role::Search {
            // Hosted searches contain names that are already names in the list.
            return;
        }
        let is_result = role == Role::Result;
        let is_paired = is_result || role == Role::Call;
        let Some(original_name) = node.text_at(name).filter(|_| is_paired && mentions.servers.is_some()) else {
            return mentions.resolve_in_history(node, name);
        };
        let original_name = original_name.clone().into_owned();
        let id = id.map(Text::into_owned);
        if is_result && node.get(SERVER).is_none_or(Node::is_null) {
            let listed_name = match &id {
                Some(id) => self.by_id.get(id).cloned(),
                None => self.without_id.get_mut(&original_name).and_then(VecDeque::pop_front),
            };
            if let Some(listed_name) = listed_name {
                node.remove(SERVER);
                if listed_name != original_name {
                    rename(node, name, listed_name);
                }
                return;
            }
        }
        mentions.resolve_in_history(node, name);
        let listed_name = node.text_at(name).cloned().filter(|_| !is_result);
        let Some(listed_name) = listed_name.map(Text::into_owned) else { return };
        match id {
            Some(id) => drop(self.by_id.insert(id, listed_name)),
            None => {
                if core::mem::take(&mut self.is_new_message) {
                    self.without_id = Map::new();
                }
                self.without_id.entry(original_name).or_default().push_back(listed_name);
            }
        }
    }
}

struct Mentions<'s> {
    servers: Option<&'s Servers>,
}

enum NameLookup<'a> {
    Unchanged,
    Renamed(Text<'static>),
    /// The server does not have the tool.
    Absent(Text<'a>, Text<'a>),
    /// Several servers have a tool with this name.
    Shared(Text<'a>),
}

impl Mentions<'_> {
    fn may_be_in(&self, node: &Node<'_>) -> bool {
        match node.data() {
            Data::Verbatim(text) => self.servers.is_some() || text.contains("\"server\""),
            _ => true,
        }
    }

    fn find<'a>(&self, node: &mut Node<'a>, key: &str) -> NameLookup<'a> {
        let Some(name) = node.text_at(key).cloned() else { return NameLookup::Unchanged };
        let server = node.text_at(SERVER).cloned();
        if server.is_some() || node.get(SERVER).is_some_and(Node::is_null) {
            node.remove(SERVER);
        }
        let namespace = node.text_at("namespace");
        let Some(servers) = self.servers.filter(|_| namespace.is_none_or(|namespace| *namespace == name)) else {
            return NameLookup::Unchanged;
        };
        match (servers.name_in_list(server.as_ref(), &name), server) {
            (Some(listed_name), _) if listed_name == name => NameLookup::Unchanged,
            (Some(listed_name), _) => NameLookup::Renamed(listed_name),
            (None, Some(server)) => NameLookup::Absent(server, name),
            (None, None) if servers.is_shared(&name) => NameLookup::Shared(name),
            (None, None) => NameLookup::Unchanged,
        }
    }

    fn resolve_in_history(&self, node: &mut Node<'_>, key: &'static str) {
        match self.find(node, key) {
            NameLookup::Unchanged | NameLookup::Shared(_) => {}
            NameLookup::Renamed(listed_name) => rename(node, key, listed_name),
            NameLookup::Absent(server, name) => {
                if let Some(servers) = self.servers {
                    rename(node, key, servers.name_of_removed_tool(&server, &name));
                }
            }
        }
    }

    /// Sets the name of a server's tool in its definition to its name in the list, or to a new name if the list lacks
    /// the tool. A definition without `server` stays unchanged.
    fn resolve_in_definition(&self, definition: &mut Node<'_>, added: &mut Added) {
        let server = match definition.get(SERVER) {
            Some(server) if server.is_null() => None,
            Some(server) => match server.as_text() {
                Some(server) => Some(server.clone().into_owned()),
                None => return,
            },
            None => return,
        };
        definition.remove(SERVER);
        let (Some(servers), Some(server)) = (self.servers, server) else { return };
        let Some(name) = servers::defined_name(definition) else { return };
        let listed_name = servers.name_in_list(Some(&server), &name).unwrap_or_else(|| {
            let listed_name = servers.name_of_removed_tool(&server, &name);
            added.insert(listed_name.clone(), ServerTool { server: server.into(), name: name.clone() });
            listed_name
        });
        if listed_name != name {
            servers::rename(definition, &listed_name);
        }
    }

    fn resolve_in_choice(&self, node: &mut Node<'_>, pointer: &str, depth: usize) -> Result<(), Error> {
        if node.text_at("name").is_some() {
            // Namespaces and MCP servers also have names.
            let is_tool = node.get("type").is_none()
                || ["tool", "function", "custom"].iter().any(|kind| tool::has_type(node, kind));
            if !is_tool {
                return Ok(());
            }
            match self.find(node, "name") {
                NameLookup::Unchanged => {}
                NameLookup::Renamed(listed_name) => node.set("name", Node::string(listed_name)),
                NameLookup::Shared(name) => {
                    let name = name.display();
                    let message =
                        format!("expected a choice of one tool, found `{name}`, which exists on several servers");
                    return Err(Error::new(Code::InvalidRequest, pointer, message));
                }
                NameLookup::Absent(server, name) => {
                    let (server, name) = (server.display(), name.display());
                    let message = format!(
                        "expected a choice of a listed tool, found `{name}`, which the list of `{server}` does not \
                            contain"
                    );
                    return Err(Error::new(Code::InvalidRequest, pointer, message));
                }
            }
            return Ok(());
        }
        if depth >= CHOICE_DEPTH {
            return Ok(());
        }
        let is_list = node.as_array().is_some();
        node.visit_children(|_, inner| match inner.as_text() {
            // Gemini lists the allowed functions by name.
            Some(name) if is_list => {
                if let Some(listed_name) = self.servers.and_then(|servers| servers.name_in_list(None, name)) {
                    *inner = Node::string(listed_name);
                }
                Ok(())
            }
            Some(_) => Ok(()),
            None => self.resolve_in_choice(inner, pointer, depth + 1),
        })
    }
}
