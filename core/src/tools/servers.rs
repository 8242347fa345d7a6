//! Lists of several servers: one list, in which every tool has a name of its own.
//!
//! A tool is its server and its name there. In the list it has one name, from which nobody can tell the two apart: a
//! server `a` with the tool `b__c` and a server `a__b` with the tool `c` would share one. So the names of a list are
//! planned together, and `restore` says whose tool was called.

use alloc::{format, string::String, vec::Vec};

use super::call_sites;
use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    error::{Code, Error},
    json::{lazy, Data, Node, Text},
    names::{cut, digest, folded, Taken, TAIL},
    options::Prefix,
    request::{
        prefilter::NAMES_TOOLS,
        tool_format::{self, Entry},
        tool_list::Listing,
    },
};

const SERVER: &str = "server";
const TOOLS: &str = "tools";
/// What stands between a server and its tool.
const BETWEEN: &str = "__";
/// Levels of a choice of tools.
const CHOICE_DEPTH: usize = 6;

/// A tool of a server.
type Tool = (Text<'static>, Text<'static>);

/// Which server each tool of a list belongs to.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    /// By the name in the list.
    owners: Map<Text<'static>, Owner>,
    /// The names in the list, by the tools.
    names: Map<Tool, Text<'static>>,
    /// Where each entry of the list stood, and at which server.
    places: Vec<(String, Text<'static>)>,
}

/// A tool as its server knows it.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(super) server: Text<'static>,
    /// The name there.
    pub(super) name: Text<'static>,
    /// Where the tool stood in the list of servers.
    pointer: String,
}

impl Owner {
    /// Where the tool stood, and at which server.
    fn place(&self) -> (&str, &Text<'static>) {
        (&self.pointer, &self.server)
    }
}

/// Whether an entry of a list is a server with its tools.
fn is_server(entry: &Node<'_>) -> bool {
    entry.get(SERVER).is_some() && tool_format::recognise(entry) == Entry::Unknown
}

fn has_server(list: &Node<'_>) -> bool {
    list.as_array().unwrap_or_default().iter().any(is_server)
}

fn refused(pointer: String, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidRequest, pointer, message)
}

/// Makes one list of a list of servers. Any other list stays, and there are no servers.
///
/// # Errors
/// `invalid-request` for an entry that is no server with its tools, and for a second one of the same server.
pub(super) fn flatten<'a>(
    mut list: Node<'a>,
    prefix: Prefix,
    shape: NamePattern,
) -> Result<(Node<'a>, Option<Servers>), Error> {
    let is_held = list.get(TOOLS).is_some_and(has_server);
    if !is_held && !has_server(&list) {
        return Ok((list, None));
    }
    let above = if is_held { "/tools" } else { "" };
    if is_held {
        list = list.visit(TOOLS, core::mem::take).unwrap_or_default();
    }
    let Data::Array(entries) = list.into_data() else { return Ok((Node::default(), None)) };
    let (mut tools, mut servers) = (Vec::new(), Servers::default());
    let mut known = Set::new();
    for (at, mut entry) in entries.into_iter().enumerate() {
        let pointer = format!("{above}/{at}");
        let server = server_of(&entry, &pointer)?;
        if !known.insert(server.clone()) {
            let message = format!("expected each server once, found a second `{}`", server.display());
            return Err(refused(pointer + "/server", message));
        }
        let (own, pointer) = tools_of(&mut entry, pointer + "/tools")?;
        for (at, tool) in own.into_iter().enumerate() {
            let pointer = format!("{pointer}/{at}");
            let is_list = ["functionDeclarations", "function_declarations", TOOLS]
                .into_iter()
                .any(|key| tool.get(key).is_some_and(|list| list.as_array().is_some()));
            if is_list {
                return Err(refused(pointer, "expected a tool of the server, found a list of tools"));
            }
            servers.places.push((pointer, server.clone()));
            tools.push(tool);
        }
    }
    servers.plan(&mut tools, prefix, shape);
    Ok((Node::array(tools), Some(servers)))
}

/// Makes one list of a request's list of servers.
///
/// # Errors
/// As [`flatten`].
pub(super) fn take(request: &mut Node<'_>, prefix: Prefix, shape: NamePattern) -> Result<Option<Servers>, Error> {
    let Some(tools) = request.get(TOOLS) else { return Ok(None) };
    // Text that has no such member is not read.
    let may_be = match tools.data() {
        Data::Verbatim(text) => text.contains("\"server\"") || text.contains("\\u"),
        _ => true,
    };
    if !may_be || !has_server(&*lazy::view(tools)?) {
        return Ok(None);
    }
    let Some(list) = lazy::take(request, TOOLS)? else { return Ok(None) };
    let (list, servers) = flatten(list, prefix, shape).map_err(|error| error.below("/tools"))?;
    request.set(TOOLS, list);
    Ok(servers)
}

/// The server of an entry.
fn server_of(entry: &Node<'_>, pointer: &str) -> Result<Text<'static>, Error> {
    const EXPECTED: &str = "expected the name of a server as a string that is not empty, found";
    match entry.get(SERVER) {
        _ if !matches!(tool_format::recognise(entry), Entry::Unknown) => {
            let message = "expected a server with its tools, `{ server, tools }`, as in another entry, found a tool";
            Err(refused(pointer.into(), message))
        }
        None if entry.as_object().is_none() => {
            let message = format!("expected a server with its tools, `{{ server, tools }}`, found {}", entry.kind());
            Err(refused(pointer.into(), message))
        }
        None => Err(refused(format!("{pointer}/server"), format!("{EXPECTED} none"))),
        Some(server) => match server.as_text() {
            Some(name) if !name.is_empty() => Ok(name.clone().into_owned()),
            Some(_) => Err(refused(format!("{pointer}/server"), format!("{EXPECTED} an empty one"))),
            None => Err(refused(format!("{pointer}/server"), format!("{EXPECTED} {}", server.kind()))),
        },
    }
}

/// The tools of an entry: a list, or an object that has one in `tools`, as MCP's `tools/list` answers.
fn tools_of<'a>(entry: &mut Node<'a>, mut pointer: String) -> Result<(Vec<Node<'a>>, String), Error> {
    let mut tools = entry.visit(TOOLS, core::mem::take);
    if let Some(inner) = tools.as_mut().and_then(|tools| tools.visit(TOOLS, core::mem::take)) {
        (tools, pointer) = (Some(inner), pointer + "/tools");
    }
    let found = tools.as_ref().map_or("none", |tools| tools.kind());
    let message = format!("expected the server's list of tools, found {found}");
    match tools.map(Node::into_data) {
        Some(Data::Array(tools)) => Ok((tools, pointer)),
        _ => Err(refused(pointer, message)),
    }
}

impl Servers {
    /// Gives every tool its name in the list.
    fn plan(&mut self, tools: &mut [Node<'_>], prefix: Prefix, shape: NamePattern) {
        let own: Vec<Option<Text<'static>>> = tools.iter().map(name_of).collect();
        let listed = || self.places.iter().zip(&own).filter_map(|((_, server), name)| Some((server, name.as_ref()?)));
        let all: Set<Tool> = listed().map(|(server, name)| (server.clone(), name.clone())).collect();
        let mut count: Map<&Text<'static>, usize> = Map::new();
        all.iter().for_each(|(_, name)| *count.entry(name).or_default() += 1);
        let is_shared = |name: &Text<'static>| count.get(&name) != Some(&1);
        let wanted = |(server, name): &Tool| match prefix {
            Prefix::Auto if !is_shared(name) => None,
            Prefix::Never => None,
            Prefix::Auto | Prefix::Always => Some(format!("{}{BETWEEN}{}", folded(shape, server), name.display())),
        };
        let mut wishes: Map<String, usize> = Map::new();
        let mut taken = Taken::default();
        for tool in &all {
            match wanted(tool) {
                Some(wish) => *wishes.entry(wish).or_default() += 1,
                None if !is_shared(&tool.1) => taken.take(&tool.1),
                None => {}
            }
        }
        // A name that several want is nobody's: which tool came first must not decide.
        let disputed: Set<String> = wishes
            .iter()
            .filter(|(wish, count)| **count > 1 || taken.has(wish))
            .map(|(wish, _)| wish.clone())
            .collect();
        for wish in wishes.into_iter().map(|(wish, _)| wish) {
            taken.take(&Text::new(wish));
        }
        let mut names = Map::new();
        for tool in &all {
            let called = match wanted(tool) {
                None if !is_shared(&tool.1) => tool.1.clone(),
                Some(wish) if !disputed.contains(&wish) && wish.chars().count() <= shape.most => Text::new(wish),
                wish => {
                    let prefix = wish.is_some().then(|| folded(shape, &tool.0));
                    Text::new(taken.free(hashed(shape.most, prefix, tool), shape.most))
                }
            };
            names.insert(tool.clone(), called);
        }
        let mut owners = Map::new();
        self.names = names;
        for (((pointer, server), name), entry) in self.places.iter().zip(own).zip(tools) {
            let Some(name) = name else { continue };
            let tool = (server.clone(), name.clone());
            let Some(called) = self.names.get(&tool) else { continue };
            if *called != name {
                rename(entry, called);
            }
            owners.entry(called.clone()).or_insert_with(|| Owner { server: tool.0, name, pointer: pointer.clone() });
        }
        self.owners = owners;
    }

    /// Notes of every entry of the list whose it is, and where it stood.
    pub(super) fn settle(&self, listing: &mut Listing<'_>) {
        let (count, entries) = listing.entries_mut();
        for listed in entries {
            let owned = name_of(&listed.entry).and_then(|name| self.owner(&name));
            // One without a name is known by its place, unless some were taken out.
            let place = self.place(&listed.pointer, count).or_else(|| owned.map(Owner::place));
            if let Some((pointer, server)) = place {
                (listed.pointer, listed.server) = (pointer.into(), Some(server.clone()));
            }
        }
    }

    /// The tool behind a name of the list.
    pub(super) fn owner(&self, called: &Text<'_>) -> Option<&Owner> {
        self.owners.get(&called.borrowed().into_owned())
    }

    /// Where an entry of the list stood, and at which server; `pointer` is that of an entry of a list of `count`.
    fn place(&self, pointer: &str, count: usize) -> Option<(&str, &Text<'static>)> {
        let at: usize = pointer.strip_prefix('/')?.parse().ok()?;
        let (place, server) = self.places.get(at).filter(|_| count == self.places.len())?;
        Some((place, server))
    }

    /// Every name of the list, with the tool behind it.
    pub(super) fn owners(&self) -> impl Iterator<Item = (&Text<'static>, &Owner)> {
        self.owners.iter()
    }

    /// The name in the list of a tool that something in a request mentions, with its server or alone.
    pub(super) fn called(&self, server: Option<&Text<'_>>, name: &Text<'_>) -> Option<Text<'static>> {
        if let Some(server) = server {
            return self.names.get(&(server.clone().into_owned(), name.clone().into_owned())).cloned();
        }
        if self.owner(name).is_some() {
            return None;
        }
        let mut found = self.names.iter().filter(|((_, own), _)| own == name).map(|(_, called)| called);
        let first = found.next().cloned();
        first.filter(|_| found.next().is_none())
    }

    /// Gives what names a tool, with its server or alone, the name in the list.
    fn rename(&self, node: &mut Node<'_>, key: &'static str) {
        let server = node.get(SERVER).and_then(Node::as_text).cloned();
        let Some(name) = node.get(key).and_then(Node::as_text) else { return };
        let called = self.called(server.as_ref(), name);
        if server.is_some() {
            node.remove(SERVER);
        }
        if let Some(called) = called {
            node.set(key, Node::string(called));
        }
    }

    /// Gives the tools that a request forces, and those of its history, the names in the list.
    pub(super) fn rename_all(&self, request: &mut Node<'_>, history: &str) -> Result<(), Error> {
        for key in ["tool_choice", "toolConfig", "tool_config"] {
            lazy::edit_member(request, key, |choice| {
                self.rename_choice(choice, 0);
                Ok(())
            })?;
        }
        let renamed = request.visit(history, |history| {
            if !matches!(history.data(), Data::Array(_)) {
                return Ok(());
            }
            history.visit_children(|_, message| {
                if !lazy::may_hold(message, NAMES_TOOLS) {
                    return Ok(());
                }
                lazy::edit(message, |message| {
                    call_sites::in_message(message, &mut |site| self.rename(site.node, site.name));
                    Ok(())
                })
            })
        });
        renamed.unwrap_or(Ok(()))
    }

    fn rename_choice(&self, node: &mut Node<'_>, depth: usize) {
        if node.get("name").and_then(Node::as_text).is_some() {
            self.rename(node, "name");
        } else if depth < CHOICE_DEPTH {
            let is_list = node.as_array().is_some();
            let renamed = node.visit_children(|_, inner| {
                match inner.as_text() {
                    // Gemini lists the functions that are allowed by their names.
                    Some(name) if is_list => {
                        if let Some(called) = self.called(None, name) {
                            *inner = Node::string(called);
                        }
                    }
                    Some(_) => {}
                    None => self.rename_choice(inner, depth + 1),
                }
                Ok::<(), Error>(())
            });
            debug_assert!(renamed.is_ok(), "renaming cannot fail");
        }
    }
}

/// The name of a tool of the caller.
fn name_of(tool: &Node<'_>) -> Option<Text<'static>> {
    match tool_format::recognise(tool) {
        Entry::Tool(shape) => shape.name(tool).cloned().map(Text::into_owned),
        Entry::Hosted | Entry::Unknown => None,
    }
}

fn rename(tool: &mut Node<'_>, called: &Text<'static>) {
    let Entry::Tool(shape) = tool_format::recognise(tool) else { return };
    shape.rename(tool, called.clone());
}

/// A name with a digest of the server and the tool. What has to be cut off is cut off the server first.
fn hashed(most: usize, prefix: Option<String>, tool: &Tool) -> String {
    let (server, name) = tool;
    let own = name.display();
    let tail = digest(&[server, name]);
    let fixed = TAIL + own.chars().count();
    let head = match prefix {
        Some(prefix) if fixed + BETWEEN.len() < most => {
            format!("{}{BETWEEN}{own}", cut(&prefix, most - fixed - BETWEEN.len()))
        }
        _ => cut(&own, most.saturating_sub(TAIL)).into(),
    };
    format!("{head}_{tail}")
}
