//! Requests to every server: lists with all their pages, and requests that concern every server, such as `initialize`.
//! The answers of several servers are merged into one.

use std::collections::{BTreeMap, BTreeSet};

use toolwire::internal::json::{self, Member, Node, Object, Text};

use super::{
    catalogue::List,
    message::{self, at, empty, quoted, text_at, Envelope, SERVER_ERROR},
    versions::SERVER,
    Effect, OwnRequest, Proxy, State, Waiting, Waits, INITIALIZE, TOOLS_LIST,
};
use crate::document::record;

/// A list has a maximum number of pages, because cursors may form a cycle.
const PAGES: usize = 10_000;
/// Maximum number and total size in bytes of a list's entries from one server, over all its pages.
const ENTRIES: usize = 100_000;
const ENTRY_BYTES: usize = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Tools,
    /// Any other list: its method, and the member that contains its entries.
    List(String, &'static str),
    Initialize,
    /// `server/discover`, which replaces `initialize` since 2026-07-28.
    Discover,
    /// Another request that is sent to every server; the first answer is returned.
    All(String),
}

/// The answers of the servers to one request, until all have answered.
#[derive(Debug)]
pub(super) struct Gathering {
    what: What,
    /// Id of the client request that waits for the result. `None` if calls wait for the result.
    id: Option<String>,
    params: String,
    /// Servers that have not answered.
    open: BTreeSet<usize>,
    /// The first answer of each server, without the entries of the list.
    first: BTreeMap<usize, String>,
    /// The entries of each server, from all pages.
    entries: BTreeMap<usize, Vec<String>>,
    pages: BTreeMap<usize, usize>,
    /// Size of the entries of each server, in bytes.
    bytes: BTreeMap<usize, usize>,
    /// The error of each server, as a complete message.
    errors: BTreeMap<usize, String>,
}

impl Gathering {
    pub(super) fn open(&self) -> Vec<usize> {
        self.open.iter().copied().collect()
    }

    fn key(&self) -> Option<&'static str> {
        match &self.what {
            What::Tools => Some("tools"),
            What::List(_, key) => Some(key),
            What::Initialize | What::Discover | What::All(_) => None,
        }
    }

    pub(super) fn is_for(&self, key: &str) -> bool {
        self.id.as_deref().is_some_and(|id| message::key_of(id) == key)
    }

    /// Returns true if requests wait for the entries of the list.
    pub(super) fn is_first_list(&self) -> bool {
        self.id.is_none() && matches!(self.what, What::List(..) | What::Tools)
    }

    pub(super) fn is_first_list_of(&self, what: &What) -> bool {
        self.id.is_none() && self.what == *what
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.what == What::Initialize
    }

    fn method(&self) -> &str {
        match &self.what {
            What::Tools => TOOLS_LIST,
            What::List(method, _) | What::All(method) => method,
            What::Initialize => INITIALIZE,
            What::Discover => "server/discover",
        }
    }
}

impl Proxy {
    /// Sends the request to every server that can answer it. `params` are JSON text.
    pub(super) fn gather(&mut self, what: What, id: Option<String>, params: &str) {
        let (needs, asks_all) = match &what {
            What::Tools => (Some("tools"), self.has_one_server()),
            What::List(_, "resourceTemplates") => (Some("resources"), false),
            What::List(_, key) => (Some(*key), false),
            What::Initialize | What::Discover => (None, true),
            What::All(method) if method == "logging/setLevel" => (Some("logging"), false),
            What::All(_) => (None, true),
        };
        let can_answer = |server: usize| match needs {
            // Without `initialize`, the servers' capabilities are unknown.
            Some("logging") if self.translates(server) => false,
            Some(needs) => asks_all || !self.is_known(server) || self.has_capability(server, needs),
            None => true,
        };
        let (mut open, mut errors) = (BTreeSet::new(), BTreeMap::new());
        for (at, server) in self.servers.iter().enumerate().filter(|(at, _)| can_answer(*at)) {
            if server.state == State::Up {
                open.insert(at);
            } else {
                let found = self.servers.get(at).and_then(|server| server.fault.clone());
                let found = found
                    .unwrap_or_else(|| format!("expected the server {} to run, found it restarting", self.name(at)));
                errors.insert(at, message::error("0", SERVER_ERROR, &found));
            }
        }
        self.next += 1;
        let number = self.next;
        let gathering = Gathering {
            what,
            id,
            params: params.to_string(),
            open: open.clone(),
            first: BTreeMap::new(),
            entries: BTreeMap::new(),
            pages: BTreeMap::new(),
            bytes: BTreeMap::new(),
            errors,
        };
        let method = gathering.method().to_string();
        self.gatherings.insert(number, gathering);
        for server in &open {
            let id = self.own_id(OwnRequest::Page(number, *server));
            self.write_request(*server, message::request(&id, &method, params));
        }
        if open.is_empty() {
            return self.finish_gathering(number);
        }
        let pause = u64::from(self.settings.timeout) * 1000;
        self.effects.push(Effect::Alarm(number, pause));
    }

    pub(super) fn add_page(&mut self, number: u64, server: usize, answer: &Node<'_>) {
        let Some(gathering) = self.gatherings.get_mut(&number) else { return };
        let Some(result) = answer.get("result").filter(|result| result.as_object().is_some()) else {
            return self.no_page(number, server, &json::write(answer));
        };
        let key = gathering.key();
        let mut cursor = None;
        if let Some(key) = key {
            let Some(list) = result.array_at(key) else {
                let found = format!("expected a list in `{key}`, found none");
                return self.add_failure(number, server, &message::error("0", SERVER_ERROR, &found));
            };
            let entries = gathering.entries.entry(server).or_default();
            let bytes = gathering.bytes.entry(server).or_default();
            let pages = gathering.pages.entry(server).or_default();
            *pages += 1;
            // The last page should have no cursor, but some servers send `null` or an empty string.
            cursor = result.get("nextCursor").filter(|cursor| !cursor.is_null() && !cursor.is_text(""));
            let is_long = cursor.is_some() && *pages >= PAGES || list.len() > ENTRIES - entries.len();
            if is_long || !add_entries(entries, bytes, list) {
                let found = format!(
                    "expected at most {PAGES} pages with {ENTRIES} entries of {} MiB, found more",
                    ENTRY_BYTES >> 20
                );
                return self.add_failure(number, server, &message::error("0", SERVER_ERROR, &found));
            }
        }
        gathering.first.entry(server).or_insert_with(|| {
            let mut first = result.clone();
            for name in key.into_iter().chain(["nextCursor"]) {
                first.remove(name);
            }
            json::write(&first)
        });
        if let Some(cursor) = cursor {
            let params = message::params_with(&gathering.params, "cursor", cursor.clone());
            let method = gathering.method().to_string();
            let id = self.own_id(OwnRequest::Page(number, server));
            return self.write_request(server, message::request(&id, &method, &params));
        }
        gathering.open.remove(&server);
        if gathering.what == What::Initialize && !self.is_modern(server) {
            self.record_greeting(server, answer);
        }
        self.finish_if_complete(number);
    }

    /// Records that a server returned no page. `error` is a complete error message.
    pub(super) fn no_page(&mut self, number: u64, server: usize, error: &str) {
        let is_up = self.servers.get(server).is_some_and(|server| server.state == State::Up);
        match self.gatherings.get(&number) {
            Some(gathering) if gathering.is_initialize() && is_up => {
                self.discover_after(server, Waits::Gathering(number), error.into());
            }
            _ => self.add_failure(number, server, error),
        }
    }

    /// Records a server that did not answer, or answered with an error. `error` is a complete error message.
    pub(super) fn add_failure(&mut self, number: u64, server: usize, error: &str) {
        let Some(gathering) = self.gatherings.get_mut(&number) else { return };
        gathering.open.remove(&server);
        gathering.entries.remove(&server);
        gathering.first.remove(&server);
        gathering.errors.insert(server, error.to_string());
        self.finish_if_complete(number);
    }

    fn finish_if_complete(&mut self, number: u64) {
        if self.gatherings.get(&number).is_some_and(|gathering| gathering.open.is_empty()) {
            self.finish_gathering(number);
        }
    }

    fn finish_gathering(&mut self, number: u64) {
        let Some(mut gathering) = self.gatherings.remove(&number) else { return };
        let id = gathering.id.take();
        if matches!(gathering.what, What::List(..) | What::Tools) {
            self.listed.extend(gathering.key());
        }
        if gathering.first.is_empty() {
            if let Some((_, error)) = gathering.errors.first_key_value() {
                let error = json::read(error).ok().and_then(|error| error.get("error").map(json::write));
                let error = error.unwrap_or_else(|| format!("{{\"code\":{SERVER_ERROR},\"message\":\"no answer\"}}"));
                self.refuse_waiting(id, &error, &gathering.what);
                return;
            }
        }
        for (server, error) in std::mem::take(&mut gathering.errors) {
            let error = json::read(&error).ok().and_then(|error| message::text_at(&error, &["error", "message"]));
            let (whose, method) = (self.name(server), gathering.method().to_string());
            self.log(&format!("{whose} is left out of `{method}`: {}", error.unwrap_or_default()));
        }
        let name = |at: &usize| self.servers.get(*at).map(|server| server.name.as_str()).unwrap_or_default();
        let names: Vec<&str> = gathering.first.keys().map(name).collect();
        let result = match &gathering.what {
            What::Tools => return self.replace_tools(id, gathering),
            What::List(method, key) => {
                let lists: Vec<(usize, &[String])> =
                    gathering.entries.iter().map(|(server, entries)| (*server, entries.as_slice())).collect();
                let entries = self.owners.list(method, key, &lists, &self.servers);
                if entries.1 > 0 {
                    self.log(&format!(
                        "{} entries of `{method}` are left out: they could belong to another server",
                        entries.1
                    ));
                }
                merged_list(&gathering.first, key, &entries.0)
            }
            What::Initialize => {
                merged_greetings(names.iter().copied().zip(gathering.first.values().map(String::as_str)))
            }
            What::Discover => {
                let servers: Vec<(&str, String)> =
                    names.iter().copied().zip(gathering.first.values().cloned()).collect();
                merged_discoveries(&servers)
            }
            What::All(_) => gathering.first.values().next().cloned().unwrap_or_else(|| "{}".into()),
        };
        match id {
            Some(id) => self.answer_to(gathering.method(), &id, &result),
            None => self.resume_held(),
        }
    }

    /// Cancels a client request that was sent to every server, or a call that waits for the first tool list. Returns
    /// false if no such request is open.
    pub(super) fn cancel_own(&mut self, key: &str) -> bool {
        let waiting = self.waiting.len();
        self.waiting.retain(|waiting| waiting.key != key);
        if self.waiting.len() < waiting {
            return true;
        }
        let Some(number) = self.gatherings.iter().find(|(_, gathering)| gathering.is_for(key)).map(|(at, _)| *at)
        else {
            return false;
        };
        self.gatherings.remove(&number);
        let is_of = |request: &OwnRequest| matches!(request, OwnRequest::Page(of, _) if *of == number);
        self.cancel_requests(is_of, "cancelled by the client");
        true
    }

    fn replace_tools(&mut self, id: Option<String>, gathering: Gathering) {
        let Gathering { first, mut entries, .. } = gathering;
        if !self.has_one_server() {
            self.rename_pages(&mut entries);
        }
        let names: Vec<String> = self.servers.iter().map(|server| server.name.clone()).collect();
        let lists = entries.into_iter().map(|(server, tools)| List {
            server,
            name: names.get(server).map(String::as_str).unwrap_or_default(),
            tools,
        });
        let lists: Vec<List<'_>> = lists.collect();
        let before = self.catalogue.report();
        if let Err(error) = self.catalogue.replace_tools(&lists, !self.has_one_server()) {
            let found = format!("{}: {}", error.code().as_str(), error.message());
            self.log(&format!("the tools cannot be read: {found}"));
            let error = format!("{{\"code\":{SERVER_ERROR},\"message\":{}}}", message::quoted(&found));
            return self.refuse_waiting(id, &error, &What::Tools);
        }
        let report = self.catalogue.report();
        if report != before {
            self.log_report(&report);
        }
        if let Some(id) = id {
            let result = merged_list_text(&first, "tools", self.catalogue.list());
            self.answer_to(TOOLS_LIST, &id, &result);
        }
        self.resume_calls();
        self.resume_held();
    }

    fn rename_pages(&mut self, entries: &mut BTreeMap<usize, Vec<String>>) {
        for (server, tools) in entries {
            for tool in tools {
                let Some(changed) = self.owners.tool_with_page(*server, &self.servers, tool) else { continue };
                let name = json::read(tool).ok().and_then(|tool| text_at(&tool, &["name"])).unwrap_or_default();
                let line = format!(
                    "{name} of {}: its page has a new URI, because another server uses its own",
                    self.name(*server)
                );
                self.report_line("changed", &line);
                *tool = changed;
            }
        }
    }

    /// `id` is the client's request. Without `id`, the calls that wait for the tools are refused. `error` is JSON text.
    fn refuse_waiting(&mut self, id: Option<String>, error: &str, what: &What) {
        let is_first = id.is_none();
        let waiting = if is_first && *what == What::Tools { std::mem::take(&mut self.waiting) } else { Vec::new() };
        for id in id.into_iter().chain(waiting.into_iter().map(|waiting| waiting.id)) {
            self.write_client(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}"));
        }
        if is_first {
            self.resume_held();
        }
    }

    fn resume_calls(&mut self) {
        for Waiting { text, .. } in std::mem::take(&mut self.waiting) {
            let Ok(message) = json::read(&text) else { continue };
            if let Some(envelope) = Envelope::read(&message) {
                self.call(&envelope, &message, &text, false);
            }
        }
    }
}

/// Returns false if the entries exceed the limit on their total size, `bytes`.
fn add_entries(entries: &mut Vec<String>, bytes: &mut usize, page: &[Node<'_>]) -> bool {
    for entry in page.iter().map(json::write) {
        *bytes += entry.len();
        if *bytes > ENTRY_BYTES {
            return false;
        }
        entries.push(entry);
    }
    true
}

/// Merges lists: the entries of all servers, and the other members of the first server's result.
fn merged_list(first: &BTreeMap<usize, String>, key: &'static str, entries: &[String]) -> String {
    merged_list_text(first, key, &format!("[{}]", entries.join(",")))
}

fn merged_list_text(first: &BTreeMap<usize, String>, key: &'static str, entries: &str) -> String {
    let mut result = merged_frame(first.values().map(String::as_str));
    if let Ok(entries) = json::read(entries) {
        result.set(key, entries);
        return json::write(&result);
    }
    json::write(&result)
}

/// Returns the members of the first result except for the list, with the strictest cache rules of all servers.
fn merged_frame<'s>(results: impl Iterator<Item = &'s str>) -> Node<'s> {
    let read: Vec<Node<'s>> = results.filter_map(|text| json::read(text).ok()).collect();
    let least = read.iter().map(|result| result.u64_at("ttlMs").unwrap_or_default()).min();
    let is_public = read.iter().all(|result| result.get("cacheScope").is_some_and(|scope| scope.is_text("public")));
    let several = read.len() > 1;
    let mut frame = read.into_iter().next().unwrap_or_else(empty);
    if let (true, Some(least), true) = (several, least, frame.get("ttlMs").is_some()) {
        frame.set("ttlMs", Node::count(least));
    }
    if several && !is_public && frame.get("cacheScope").is_some() {
        frame.set("cacheScope", Node::string("private"));
    }
    frame
}

/// Merges results of `server/discover`: the versions that all servers support, and the union of their capabilities.
pub(super) fn merged_discoveries(servers: &[(&str, String)]) -> String {
    const VERSIONS: &str = "supportedVersions";
    let read: Vec<Node<'_>> = servers.iter().filter_map(|(_, text)| json::read(text).ok()).collect();
    let by_name: Vec<(&str, &Node<'_>)> = servers.iter().map(|(name, _)| *name).zip(&read).collect();
    let has = |discovery: &Node<'_>, version: &Node<'_>| {
        discovery.items_at(VERSIONS).iter().any(|other| json::same(other, version))
    };
    let versions =
        read.first().and_then(|discovery| discovery.get(VERSIONS)).and_then(Node::as_array).unwrap_or_default();
    let versions: Vec<Node<'_>> =
        versions.iter().filter(|version| read.iter().all(|discovery| has(discovery, version))).cloned().collect();
    let mut result = merged_frame(servers.iter().map(|(_, text)| text.as_str()));
    result.set("capabilities", capabilities(&read));
    if result.remove("_meta").is_some() {
        let server_info = [("name", Node::string("toolwire")), ("version", Node::string(env!("CARGO_PKG_VERSION")))];
        result.set("_meta", record([(SERVER, record(server_info))]));
    }
    result.set(VERSIONS, Node::array(versions));
    if let Some(instructions) = instructions(&by_name) {
        result.set("instructions", Node::string(instructions));
    }
    json::write(&result)
}

/// Merges results of `initialize`: the oldest version, which all servers support, the union of the capabilities, and
/// the instructions of every server.
fn merged_greetings<'s>(servers: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let read = servers.filter_map(|(name, greeting)| Some((name, json::read(greeting).ok()?)));
    let read: Vec<(&str, Node<'s>)> = read.collect();
    let version = read.iter().filter_map(|(_, greeting)| text_at(greeting, &["protocolVersion"])).min();
    let greetings: Vec<Node<'_>> = read.iter().map(|(_, greeting)| greeting.clone()).collect();
    let capabilities = json::write(&capabilities(&greetings));
    let by_name: Vec<(&str, &Node<'_>)> = read.iter().map(|(name, greeting)| (*name, greeting)).collect();
    let instructions = instructions(&by_name).map(|text| format!(",\"instructions\":{}", quoted(&text)));
    let instructions = instructions.unwrap_or_default();
    format!(
        "{{\"protocolVersion\":{},\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"toolwire\",\"version\":\
         \"{}\"}}{instructions}}}",
        quoted(version.as_deref().unwrap_or_default()),
        env!("CARGO_PKG_VERSION")
    )
}

fn instructions(servers: &[(&str, &Node<'_>)]) -> Option<String> {
    let texts = servers
        .iter()
        .filter_map(|(name, greeting)| Some(format!("# {name}\n\n{}", text_at(greeting, &["instructions"])?)));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn capabilities<'a>(greetings: &[Node<'a>]) -> Node<'a> {
    let mut capabilities: Vec<Member<'a>> = Vec::new();
    for greeting in greetings {
        let found = at(greeting, &["capabilities"]).and_then(Node::as_object);
        for member in found.into_iter().flat_map(Object::iter) {
            match capabilities.iter_mut().find(|known| known.key == member.key) {
                Some(known) => unite(&mut known.value, &member.value),
                None => capabilities.push(member.clone()),
            }
        }
    }
    Node::object(Object::from_members(capabilities))
}

fn unite<'a>(known: &mut Node<'a>, other: &Node<'a>) {
    let Some(other) = other.as_object() else { return };
    let Some(object) = known.as_object_mut() else { return };
    for member in other.iter() {
        let key = member.key.display().into_owned();
        if object.get(key.as_str()).and_then(Node::as_bool) != Some(true) {
            object.set(Text::new(key), member.value.clone());
        }
    }
}
