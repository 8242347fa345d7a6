//! Merges the tools of several servers into one list with unique names. The names are independent of the order of the
//! servers.
//!
//! A server and a name at the server identify a tool. The *listed name* of a tool is its name in the merged list. It
//! depends on the other tools, so the names of a list are planned together, and `restore` returns the server of a
//! called tool.
//!
//! `server__tool` identifies its server and its tool only if neither name contains `__`, the server's name does not end
//! with `_`, and the tool's name does not begin with `_`. The name of any other tool gets a digest of both names, so
//! that it does not depend on the other servers.

#[cfg(feature = "search")]
pub(crate) mod index;
pub(crate) mod mentions;

use alloc::{format, string::String, sync::Arc, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    error::{Code, Error},
    json::{lazy, Data, Node, Text},
    limits::MAX_SERVER_NAME,
    names::{cut, digest, folded, Taken, TakenDigests, TAIL},
    options::APIS_WITH_DEFERRAL,
    options::{DeferredOptions, Prefix},
    request::{
        carriers, tool,
        tool_format::{self, Entry},
        tool_list::{Entries, EntryRef, Listing},
    },
    wire::{tool_list::locations, GROUPS},
};

pub(crate) const SERVER: &str = "server";
const TOOLS: &str = "tools";

#[derive(Debug)]
pub(crate) struct Servers {
    lists: Vec<ServerList>,
    /// By listed name: the name at the server, and the location.
    owners: Map<Text<'static>, (Text<'static>, ServerLocation)>,
    names: Map<ServerTool, Text<'static>>,
    /// Listed names by the name at the server; `None` if several servers have a tool with that name.
    by_original_name: Map<Text<'static>, Option<Text<'static>>>,
    /// Locations of the tools that the API defines, by name.
    hosted: Map<Text<'static>, ServerLocation>,
    /// The location of each entry of the list, in order, with its listed name.
    locations: Vec<(ServerLocation, Option<Text<'static>>)>,
    digests: TakenDigests,
    prefix: Prefix,
    name_pattern: NamePattern,
}

#[derive(Debug)]
struct ServerList {
    server: Arc<Text<'static>>,
    /// The pointer to its list of tools.
    pointer: String,
}

/// Location of an entry in the lists of the servers. (Its pointer and the name of its server would take most of the
/// memory for a long list.)
#[derive(Clone, Copy, Debug)]
struct ServerLocation {
    list: u32,
    index: u32,
}

impl ServerLocation {
    fn of(list: usize, index: usize) -> Self {
        // Each entry is a value in memory, so its index fits.
        let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
        ServerLocation { list: number(list), index: number(index) }
    }
}

/// A tool at its server.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'s> {
    /// The name at the server.
    pub(crate) name: &'s Text<'static>,
    pub(crate) server: &'s Text<'static>,
}

fn is_server(entry: &Node<'_>) -> bool {
    entry.get(SERVER).is_some() && (list_in(entry).is_some() || tool_format::recognize(entry) == Entry::Unknown)
}

fn list_in<'n, 'a>(entry: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    let tools = entry.get(TOOLS);
    let inner = tools.and_then(|tools| tools.get(TOOLS));
    [tools, inner].into_iter().flatten().find_map(Node::as_array)
}

fn has_server(list: &Node<'_>) -> bool {
    list.as_array().unwrap_or_default().iter().any(is_server)
}

pub(crate) fn is_list(list: &Node<'_>) -> bool {
    has_server(list) || list.get(TOOLS).is_some_and(has_server)
}

pub(crate) fn only_name<'n, 'a>(list: &'n Node<'a>) -> Option<&'n Text<'a>> {
    match list.as_array().or_else(|| list.get(TOOLS)?.as_array())? {
        [server] if is_server(server) => server.text_at(SERVER),
        _ => None,
    }
}

fn refusal(pointer: String, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidRequest, pointer, message)
}

/// Merges a list of servers into one list of tools. Returns any other list unchanged, without servers.
///
/// # Errors
/// `invalid-request` for an entry that is not a server with its tools, and for a repeated server.
pub(crate) fn flatten<'a>(
    list: Node<'a>,
    prefix: Prefix,
    name_pattern: NamePattern,
) -> Result<(Node<'a>, Option<Servers>), Error> {
    flatten_with_reserved(list, prefix, name_pattern, &Set::new())
}

/// Like [`flatten`], but avoids the names in `reserved`, which tools outside the list have.
fn flatten_with_reserved<'a>(
    mut list: Node<'a>,
    prefix: Prefix,
    name_pattern: NamePattern,
    reserved: &Set<Text<'static>>,
) -> Result<(Node<'a>, Option<Servers>), Error> {
    if !is_list(&list) {
        return Ok((list, None));
    }
    let is_wrapped = list.get(TOOLS).is_some_and(has_server);
    let above = if is_wrapped { "/tools" } else { "" };
    if is_wrapped {
        list = list.visit(TOOLS, core::mem::take).unwrap_or_default();
    }
    let Data::Array(entries) = list.into_data() else { return Ok((Node::default(), None)) };
    let count = entries.iter().filter_map(list_in).map(<[_]>::len).sum();
    let (mut tools, mut locations, mut lists) = (Vec::with_capacity(count), Vec::with_capacity(count), Vec::new());
    let mut known_servers = Set::new();
    for (at, mut entry) in entries.into_iter().enumerate() {
        let pointer = format!("{above}/{at}");
        let server = server_of(&entry, &pointer)?;
        if !known_servers.insert(server.clone()) {
            let message = format!("expected each server once, found a second `{}`", server.display());
            return Err(refusal(pointer + "/server", message));
        }
        let (server_tools, pointer) = tools_of(&mut entry, pointer + "/tools")?;
        for (at, tool) in server_tools.into_iter().enumerate() {
            let mut groups = GROUPS.into_iter().chain([TOOLS]);
            let is_list = groups.any(|key| tool.get(key).is_some_and(|list| list.as_array().is_some()));
            if is_list {
                let pointer = format!("{pointer}/{at}");
                return Err(refusal(pointer, "expected a tool of the server, found a list of tools"));
            }
            locations.push(ServerLocation::of(lists.len(), at));
            tools.push(tool);
        }
        lists.push(ServerList { server: Arc::new(server), pointer });
    }
    let servers = Servers::plan(&mut tools, (lists, locations), prefix, name_pattern, reserved);
    Ok((Node::array(tools), Some(servers)))
}

/// Merges a request's list of servers into one list of tools.
pub(crate) fn flatten_request(
    request: &mut Node<'_>,
    (prefix, name_pattern): (Prefix, NamePattern),
    deferred: Option<&DeferredOptions>,
) -> Result<Option<Servers>, Error> {
    let mut has_any = false;
    for (config, _) in locations() {
        let Some(holder) = request.get(config.unwrap_or(TOOLS)).filter(|holder| may_have_server(holder)) else {
            continue;
        };
        let holder = lazy::view(holder)?;
        let tools = if config.is_some() { holder.get(TOOLS).map(lazy::view).transpose()? } else { Some(holder) };
        has_any |= tools.is_some_and(|tools| has_server(&tools));
    }
    if !has_any {
        return Ok(None);
    }
    let reserved = names_in_history(request, deferred)?;
    for (config, pointer) in locations() {
        let servers = match config {
            None => flatten_member(request, pointer, prefix, name_pattern, &reserved)?,
            Some(key) => lazy::edit_member(request, key, |config| {
                flatten_member(config, pointer, prefix, name_pattern, &reserved)
            })?
            .flatten(),
        };
        if servers.is_some() {
            return Ok(servers);
        }
    }
    Ok(None)
}

/// Returns the names of tools in the history that do not change: tools that it adds without `server`, and hosted tools.
fn names_in_history(request: &Node<'_>, deferred: Option<&DeferredOptions>) -> Result<Set<Text<'static>>, Error> {
    let mut names = Set::new();
    // The API cannot be recognized before the list is merged. So messages are read in the formats of all APIs: a
    // message of one format adds no tools in another format.
    for (_, api) in APIS_WITH_DEFERRAL {
        let mut add = |list: &[Node<'_>]| {
            let unchanged = list.iter().filter(|definition| definition.get(SERVER).is_none_or(Node::is_null));
            names.extend(unchanged.filter_map(entry_name).map(EntryName::into_name));
        };
        carriers::each(request, *api, deferred, &mut add)?;
        names.extend(carriers::names_of_hosted(request, *api)?.into_iter().map(Text::into_owned));
    }
    Ok(names)
}

fn flatten_member(
    holder: &mut Node<'_>,
    pointer: &str,
    prefix: Prefix,
    name_pattern: NamePattern,
    reserved: &Set<Text<'static>>,
) -> Result<Option<Servers>, Error> {
    let Some(tools) = holder.get(TOOLS).filter(|tools| may_have_server(tools)) else { return Ok(None) };
    if !has_server(&*lazy::view(tools)?) {
        return Ok(None);
    }
    let Some(list) = lazy::take(holder, TOOLS)? else { return Ok(None) };
    let (list, servers) =
        flatten_with_reserved(list, prefix, name_pattern, reserved).map_err(|error| error.below(pointer))?;
    holder.set(TOOLS, list);
    Ok(servers)
}

fn may_have_server(node: &Node<'_>) -> bool {
    match node.data() {
        Data::Verbatim(text) => text.contains("\"server\"") || text.contains("\\u"),
        _ => true,
    }
}

fn server_of(entry: &Node<'_>, pointer: &str) -> Result<Text<'static>, Error> {
    const EXPECTED: &str = "expected the name of a server to be a non-empty string, found";
    match entry.get(SERVER) {
        _ if !is_server(entry) && tool_format::recognize(entry) != Entry::Unknown => {
            let message = "expected a server with its tools, `{ server, tools }`, like the other entries, found a tool";
            Err(refusal(pointer.into(), message))
        }
        None if entry.as_object().is_none() => {
            let message = format!("expected a server with its tools, `{{ server, tools }}`, found {}", entry.kind());
            Err(refusal(pointer.into(), message))
        }
        None => Err(refusal(format!("{pointer}/server"), format!("{EXPECTED} none"))),
        Some(server) => match server.as_text() {
            Some(name) if name.display().len() > MAX_SERVER_NAME => {
                let length = name.display().len();
                let message =
                    format!("expected the name of a server to have at most {MAX_SERVER_NAME} bytes, found {length}");
                Err(refusal(format!("{pointer}/server"), message))
            }
            Some(name) if !name.is_empty() => Ok(name.clone().into_owned()),
            Some(_) => Err(refusal(format!("{pointer}/server"), format!("{EXPECTED} an empty one"))),
            None => Err(refusal(format!("{pointer}/server"), format!("{EXPECTED} {}", server.kind()))),
        },
    }
}

/// `tools` is a list, or an object whose `tools` is a list, like a result of MCP's `tools/list`.
fn tools_of<'a>(entry: &mut Node<'a>, mut pointer: String) -> Result<(Vec<Node<'a>>, String), Error> {
    let mut tools = entry.visit(TOOLS, core::mem::take);
    if let Some(inner) = tools.as_mut().and_then(|tools| tools.visit(TOOLS, core::mem::take)) {
        (tools, pointer) = (Some(inner), pointer + "/tools");
    }
    let found = tools.as_ref().map_or("none", |tools| tools.kind());
    let message = format!("expected the server's list of tools, found {found}");
    match tools.map(Node::into_data) {
        Some(Data::Array(tools)) => Ok((tools, pointer)),
        _ => Err(refusal(pointer, message)),
    }
}

impl Servers {
    fn plan(
        tools: &mut [Node<'_>],
        (lists, locations): (Vec<ServerList>, Vec<ServerLocation>),
        prefix: Prefix,
        name_pattern: NamePattern,
        reserved: &Set<Text<'static>>,
    ) -> Self {
        let server_of = |location: ServerLocation| {
            lists.get(location.list as usize).map_or_else(|| Arc::new(Text::new("")), |list| Arc::clone(&list.server))
        };
        let (mut all, mut hosted) = (Set::with_capacity(locations.len()), Map::new());
        for (location, tool) in locations.iter().zip(&*tools) {
            match entry_name(tool) {
                Some(EntryName::Defined(name)) => drop(all.insert(ServerTool { server: server_of(*location), name })),
                Some(EntryName::Hosted(name)) => drop(hosted.entry(name).or_insert(*location)),
                None => {}
            }
        }
        let reserved_names = hosted.keys().chain(reserved.iter()).cloned();
        let (names, taken) = plan_names(all, reserved_names, prefix, name_pattern);
        let digests = TakenDigests::of(taken.names());
        drop(taken);
        let (mut owners, mut by_original_name) = (Map::with_capacity(names.len()), Map::new());
        for (ServerTool { name, .. }, listed_name) in names.iter() {
            let is_shared = by_original_name.contains_key(name);
            by_original_name.insert(name.clone(), (!is_shared).then(|| listed_name.clone()));
        }
        let mut listed = Vec::with_capacity(locations.len());
        for (location, entry) in locations.into_iter().zip(tools) {
            let name = match entry_name(entry) {
                Some(EntryName::Defined(name)) => name,
                Some(EntryName::Hosted(name)) => {
                    listed.push((location, Some(name)));
                    continue;
                }
                None => {
                    listed.push((location, None));
                    continue;
                }
            };
            let listed_name =
                names.get(&ServerTool { server: server_of(location), name: name.clone() }).unwrap_or(&name).clone();
            if listed_name != name {
                rename(entry, &listed_name);
            }
            owners.entry(listed_name.clone()).or_insert((name, location));
            listed.push((location, Some(listed_name)));
        }
        Servers { lists, owners, names, by_original_name, hosted, locations: listed, digests, prefix, name_pattern }
    }

    /// Sets the server of each entry, and the pointer in the servers' lists if `sets_pointers` is true.
    pub(crate) fn set_servers(&self, listing: &mut Listing<'_>, sets_pointers: bool) {
        let (count, entries) = listing.entries_mut();
        for listed in entries {
            let index = listed.pointer.strip_prefix('/').and_then(|index| index.parse().ok());
            if let Some((list, index)) = self.listed_at(&listed.entry, index, count) {
                listed.server = Some(Text::clone(&list.server));
                if sets_pointers {
                    listed.pointer = format!("{}/{index}", list.pointer);
                }
            }
        }
    }

    pub(crate) fn owner(&self, listed_name: &Text<'_>) -> Option<Owner<'_>> {
        self.owner_of(self.owners.get(&listed_name.borrowed().into_owned())?)
    }

    fn owner_of<'s>(&'s self, (name, location): &'s (Text<'static>, ServerLocation)) -> Option<Owner<'s>> {
        Some(Owner { name, server: &self.list_of(*location)?.server })
    }

    fn list_of(&self, location: ServerLocation) -> Option<&ServerList> {
        self.lists.get(location.list as usize)
    }

    fn location_of(&self, listed_name: &Text<'static>) -> Option<ServerLocation> {
        self.owners.get(listed_name).map(|(_, location)| location).or_else(|| self.hosted.get(listed_name)).copied()
    }

    fn listed_at(&self, entry: &Node<'_>, index: Option<usize>, count: usize) -> Option<(&ServerList, usize)> {
        let name = entry_name(entry).map(EntryName::into_name);
        let location = index.and_then(|index| self.locations.get(index)).filter(|_| count == self.locations.len());
        // Entries may have been moved or removed, so the index is valid only if it has the entry's name.
        let location = location.filter(|(_, listed_name)| *listed_name == name).map(|(location, _)| *location);
        let location = location.or_else(|| name.as_ref().and_then(|name| self.location_of(name)))?;
        Some((self.list_of(location)?, location.index as usize))
    }

    /// Returns each entry with the pointer to it in the list of servers, and with its server.
    pub(crate) fn located<'n, 'a>(
        servers: Option<&'n Servers>,
        entries: &'n Entries<'a>,
    ) -> impl Iterator<Item = (EntryRef<'n, 'a>, Option<&'n Text<'static>>)> {
        entries.iter().map(move |listed| {
            match servers.and_then(|servers| servers.listed_at(listed.entry, listed.index(), entries.len())) {
                Some((list, index)) => (listed.located_at(&list.pointer, index), Some(&*list.server)),
                None => (listed, None),
            }
        })
    }

    /// Returns the pointer to each tool in a request with a list of servers, and then in the same request with one list
    /// of tools. `list` is the pointer to the list.
    pub(crate) fn pointer_pairs<'s>(&'s self, list: &'s str) -> impl Iterator<Item = (String, String)> + use<'s> {
        self.locations.iter().enumerate().filter_map(move |(index, (location, _))| {
            let (pointer, at) = (&self.list_of(*location)?.pointer, location.index);
            Some((format!("{list}{pointer}/{at}"), format!("{list}/{index}")))
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    pub(crate) fn owners(&self) -> impl Iterator<Item = (&Text<'static>, Owner<'_>)> {
        self.owners.iter().filter_map(|(listed_name, owner)| Some((listed_name, self.owner_of(owner)?)))
    }

    /// Calls `visit` for each tool whose name changes if a request is sent with this pattern of names. The arguments
    /// are the name that is sent, and the name in this list.
    #[cfg(feature = "search")]
    pub(crate) fn names_sent(&self, name_pattern: NamePattern, visit: &mut dyn FnMut(&str, &Text<'static>)) {
        if name_pattern.rules.is_none()
            && self.names.values().all(|listed_name| crate::names::is_legal(name_pattern, listed_name))
        {
            return;
        }
        let tools: Set<ServerTool> = self.names.keys().cloned().collect();
        let (planned, _) = plan_names(tools, self.hosted.keys().cloned(), self.prefix, name_pattern);
        let mut legal = crate::names::Names::default();
        legal.plan(name_pattern, planned.values(), &self.hosted.keys().collect::<Vec<_>>());
        for (tool, name) in planned.iter() {
            let sent = legal.current(name);
            if let Some(listed_name) = self.names.get(tool).filter(|listed_name| listed_name.display() != sent) {
                visit(&sent, listed_name);
            }
        }
    }

    /// Returns the name in the list of a tool that a request mentions by its server and name, or by its name alone.
    /// Returns `None` if the name does not change, or if the server does not have the tool.
    pub(crate) fn name_in_list(&self, server: Option<&Text<'_>>, name: &Text<'_>) -> Option<Text<'static>> {
        let name = name.borrowed().into_owned();
        if let Some(server) = server {
            let server = Arc::new(server.borrowed().into_owned());
            let is_listed =
                self.location_of(&name).and_then(|at| self.list_of(at)).is_some_and(|list| list.server == server);
            let listed_name = self.names.get(&ServerTool { server, name: name.clone() }).cloned();
            return listed_name.or_else(|| is_listed.then_some(name));
        }
        // `server__tool` may be the name of a tool that is no longer in the list.
        let is_prefixed = || self.prefix == Prefix::Always && name.display().contains(SEPARATOR);
        if self.location_of(&name).is_some() || is_prefixed() {
            return None;
        }
        self.by_original_name.get(&name).cloned().flatten()
    }

    pub(crate) fn is_shared(&self, name: &Text<'_>) -> bool {
        let name = name.borrowed().into_owned();
        self.by_original_name.get(&name).is_some_and(Option::is_none) && self.location_of(&name).is_none()
    }

    /// Returns a name for a tool that its server no longer has. No tool in the list has the returned name.
    pub(crate) fn name_of_removed_tool(&self, server: &Text<'_>, name: &Text<'_>) -> Text<'static> {
        let tool = ServerTool { server: Arc::new(server.borrowed().into_owned()), name: name.borrowed().into_owned() };
        removed_tool_name(self.name_pattern, self.prefix != Prefix::Never, &tool, &self.digests)
    }
}

enum EntryName {
    /// The name of a tool that the caller defines.
    Defined(Text<'static>),
    /// The name of a tool that the API defines: it cannot change.
    Hosted(Text<'static>),
}

impl EntryName {
    fn into_name(self) -> Text<'static> {
        match self {
            EntryName::Defined(name) | EntryName::Hosted(name) => name,
        }
    }
}

fn entry_name(entry: &Node<'_>) -> Option<EntryName> {
    let name = |name: &Text<'_>| name.clone().into_owned();
    match tool_format::recognize(entry) {
        Entry::Tool(shape) => shape.name(entry).map(name).map(EntryName::Defined),
        Entry::Hosted if tool::is_custom(entry) => tool::name(entry).map(name).map(EntryName::Defined),
        Entry::Hosted => tool::name(entry).map(name).map(EntryName::Hosted),
        Entry::Unknown => None,
    }
}

pub(crate) fn defined_name(entry: &Node<'_>) -> Option<Text<'static>> {
    match entry_name(entry) {
        Some(EntryName::Defined(name)) => Some(name),
        Some(EntryName::Hosted(_)) | None => None,
    }
}

pub(crate) fn rename(entry: &mut Node<'_>, listed_name: &Text<'static>) {
    match tool_format::recognize(entry) {
        Entry::Tool(shape) => shape.rename(entry, listed_name.clone()),
        _ => tool::rename_custom(entry, listed_name.clone()),
    }
}

const SEPARATOR: &str = "__";

/// A tool, identified by its server and its name at this server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServerTool {
    pub(crate) server: Arc<Text<'static>>,
    pub(crate) name: Text<'static>,
}

/// Plans the name of each tool in the list. `hosted` contains the unchanged names of tools that the API defines. Also
/// returns all names that are taken.
fn plan_names(
    tools: Set<ServerTool>,
    hosted: impl Iterator<Item = Text<'static>>,
    prefix: Prefix,
    name_pattern: NamePattern,
) -> (Map<ServerTool, Text<'static>>, Taken) {
    let mut taken = Taken::default();
    hosted.for_each(|name| taken.take(&name));
    let mut name_counts: Map<&Text<'static>, usize> = Map::new();
    tools.iter().for_each(|tool| *name_counts.entry(&tool.name).or_default() += 1);
    let is_shared = |name: &Text<'static>| name_counts.get(&name) != Some(&1) || taken.has(&name.display());
    let has_prefix = |tool: &ServerTool| match prefix {
        Prefix::Auto => is_shared(&tool.name),
        Prefix::Always => true,
        Prefix::Never => false,
    };
    let preferred = |tool: &ServerTool| match has_prefix(tool) {
        true => name_with_prefix(name_pattern, tool),
        false => (!is_shared(&tool.name)).then(|| tool.name.display().into_owned()),
    };
    let preferences: Vec<Option<String>> = tools.iter().map(preferred).collect();
    let mut preference_counts: Map<&String, usize> = Map::new();
    preferences.iter().flatten().for_each(|preferred| *preference_counts.entry(preferred).or_default() += 1);
    let is_unique = |preferred: &String| preference_counts.get(&preferred) == Some(&1) && !taken.has(preferred);
    let are_unique: Vec<bool> = preferences.iter().map(|preferred| preferred.as_ref().is_some_and(is_unique)).collect();
    drop(preference_counts);
    let mut assigned = taken.clone();
    let reserve = |assigned: &mut Taken, tool: &ServerTool| {
        let name = name_with_digest(name_pattern, has_prefix(tool), tool);
        Text::new(assigned.reserve_unused(name, name_pattern.max_length))
    };
    // Tools without a unique name come first, because each other name may be changed.
    let with_digests: Vec<Option<Text<'static>>> = tools
        .iter()
        .zip(are_unique)
        .map(|(tool, is_unique)| (!is_unique).then(|| reserve(&mut assigned, tool)))
        .collect();
    let mut listed_names = Vec::with_capacity(tools.len());
    for ((tool, preferred), with_digest) in tools.iter().zip(preferences).zip(with_digests) {
        let listed_name = match (with_digest, preferred) {
            (Some(name), _) => name,
            // A tool whose name equals another tool's name with a digest also gets a digest.
            (None, Some(preferred)) if assigned.has(&preferred) => reserve(&mut assigned, tool),
            (None, Some(preferred)) if has_prefix(tool) => Text::new(preferred),
            (None, _) => tool.name.clone(),
        };
        assigned.take(&listed_name);
        listed_names.push(listed_name);
    }
    let names = tools.into_iter().zip(listed_names).collect();
    (names, assigned)
}

fn name_with_prefix(name_pattern: NamePattern, ServerTool { server, name }: &ServerTool) -> Option<String> {
    let (head, tail) = (folded(name_pattern, server), folded(inner_pattern(name_pattern), name));
    let is_same = head == server.display() && tail == name.display();
    let is_clear = ![&head, &tail].iter().any(|part| part.contains(SEPARATOR));
    let joined = format!("{head}{SEPARATOR}{tail}");
    let fits = joined.chars().count() <= name_pattern.max_length;
    (is_same && is_clear && fits && !head.ends_with('_') && !tail.starts_with('_')).then_some(joined)
}

fn inner_pattern(name_pattern: NamePattern) -> NamePattern {
    NamePattern { letter_first: false, ..name_pattern }
}

/// Returns a name that ends with a digest. If it is too long, the server's part is cut first.
fn name_with_digest(name_pattern: NamePattern, has_prefix: bool, ServerTool { server, name }: &ServerTool) -> String {
    let folded_name = folded(inner_pattern(name_pattern), name);
    let (tail, max_length) = (digest(&[server, name]), name_pattern.max_length);
    let fixed = TAIL + folded_name.chars().count() + SEPARATOR.len();
    let head = match has_prefix && fixed < max_length {
        true => format!("{}{SEPARATOR}{folded_name}", cut(&folded(name_pattern, server), max_length - fixed)),
        false => cut(&folded(name_pattern, name), max_length.saturating_sub(TAIL)).into(),
    };
    format!("{head}_{tail}")
}

fn removed_tool_name(
    name_pattern: NamePattern,
    has_prefix: bool,
    tool: &ServerTool,
    digests: &TakenDigests,
) -> Text<'static> {
    let shorter =
        |kept: usize| NamePattern { max_length: name_pattern.max_length.saturating_sub(kept), ..name_pattern };
    Text::new(digests.first_unused(|kept| name_with_digest(shorter(kept), has_prefix, tool)))
}
