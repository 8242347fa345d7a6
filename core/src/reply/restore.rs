//! Restores calls: replaces names and arguments in an API's reply by the names and arguments that the tool's server
//! expects. The restore map can be stored as JSON for a later turn.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use super::{
    answer::{
        reply::answer_in_reply,
        text::{self, Answer, Content},
    },
    call_repair::{CallReports, Repairing, Schemas},
};
use crate::{
    collections::{Map, Set},
    deferred::Client,
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Text},
    options::APIS_WITH_DEFERRAL,
    options::{Api, RepairOptions},
    report::AnswerChange,
    request::report::{CallKind, ClientTool, DeferredReport},
    sanitize::decode::{version, Plan},
    schema::validate::Prepared,
    wire,
    wire::responses::client_item,
    wire::responses::namespaces::is_default,
    wire::{
        alternatives::alternatives_of,
        reply,
        units::{self, NamedUnit, Role},
    },
};

/// Names and arguments to restore in calls, keyed by the tools' names as sent to the API. Calls to other tools are left
/// unchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestoreMap {
    pub(crate) list: Map<String, RestoreEntry>,
    /// For each tool in a namespace, the name that was sent to the API, keyed by the namespace and the original name
    /// (both as JSON strings).
    in_namespaces: Map<(String, String), String>,
    pub(crate) client: Option<Client>,
    /// Options for repairing arguments; `None` if arguments are not repaired.
    pub(crate) repair: Option<RepairOptions>,
    /// True if tools with equal names are renamed. Restoring then removes every `index` that it did not set itself.
    pub(crate) has_indices: bool,
    /// Plan for restoring the structured output; `None` if it need not be restored.
    pub(crate) answer: Option<Arc<Answer>>,
}

#[derive(Clone, Debug)]
pub(crate) struct RestoreEntry {
    /// The tool's name as a JSON string, so that a lone surrogate survives.
    pub(crate) name: String,
    /// The tool's server, if the list has several servers.
    pub(crate) server: Option<String>,
    /// The tool's index in the list, if another tool in the list has its name.
    pub(crate) index: Option<usize>,
    pub(crate) namespace: Option<String>,
    /// True if the client has the tool outside of the namespace into which the API puts a tool that it loads.
    is_outside: bool,
    pub(crate) kind: CallKind,
    pub(crate) plan: Plan,
    /// The schemas for repairing the tool's arguments; `None` if they are not repaired.
    pub(crate) schemas: Option<Arc<Schemas>>,
}

pub(crate) struct Restored<'r> {
    pub(crate) server: Option<Text<'r>>,
    pub(crate) index: Option<usize>,
    pub(crate) name: Text<'r>,
    pub(crate) namespace: Option<Text<'r>>,
    /// True if the call must not be in the namespace into which the API puts a tool that it loads.
    is_outside: bool,
}

fn json_string(text: &Text<'_>) -> String {
    json::write(&Node::string(text.borrowed()))
}

fn read_text(json_string: &str) -> Text<'_> {
    // Fast path: most names contain no escapes.
    let plain = json_string.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    if let Some(plain) = plain.filter(|plain| !plain.contains('\\')) {
        return plain.into();
    }
    json::read(json_string)
        .ok()
        .and_then(|node| if let Data::String(text) = node.into_data() { Some(text) } else { None })
        .unwrap_or("".into())
}

impl RestoreEntry {
    pub(crate) fn new(name: &Text<'_>, namespace: Option<&Text<'_>>, plan: Plan) -> RestoreEntry {
        let (name, namespace) = (json_string(name), namespace.map(json_string));
        let (kind, schemas) = (CallKind::Function, None);
        RestoreEntry { name, server: None, index: None, namespace, is_outside: false, kind, plan, schemas }
    }

    /// Returns true if the entry exists only because the client has the tool outside of the API's namespace.
    fn must_be_outside(&self, called: &str) -> bool {
        let changes_nothing = self.plan.is_empty() && self.schemas.is_none() && self.server.is_none();
        let is_function = self.kind == CallKind::Function;
        self.namespace.is_none() && (!is_function || changes_nothing && *read_text(&self.name).display() == *called)
    }

    pub(crate) fn at_index(self, index: Option<usize>) -> RestoreEntry {
        RestoreEntry { index, ..self }
    }

    pub(crate) fn of_server(self, server: Option<&Text<'_>>) -> RestoreEntry {
        RestoreEntry { server: server.map(json_string), ..self }
    }

    pub(crate) fn with_schemas(self, schemas: Option<Schemas>) -> RestoreEntry {
        RestoreEntry { schemas: schemas.map(Arc::new), ..self }
    }
}

impl RestoreMap {
    pub(crate) fn add(&mut self, name: String, entry: RestoreEntry) {
        if let Some(namespace) = &entry.namespace {
            self.in_namespaces.insert((namespace.clone(), entry.name.clone()), name.clone());
        }
        self.has_indices |= entry.index.is_some();
        self.list.insert(name, entry);
    }

    pub(crate) fn key_of(&self, tool: &ClientTool) -> Option<String> {
        let namespace = tool.namespace.as_deref().filter(|namespace| *namespace != tool.name)?;
        let spell = |name: &str| json_string(&Text::new(String::from(name)));
        self.in_namespaces.get(&(spell(namespace), spell(&tool.name))).cloned()
    }

    /// Returns the key of a called tool. Returns `None` if its namespace is not in this map: such a call need not be
    /// restored.
    pub(crate) fn key<'a>(&self, namespace: Option<&Text<'a>>, name: &Text<'a>) -> Option<Text<'a>> {
        // The API puts each tool that it loads into a namespace that has the tool's name.
        let Some(namespace) = namespace.filter(|namespace| *namespace != name) else { return Some(name.clone()) };
        match self.in_namespaces.get(&(json_string(namespace), json_string(name))) {
            Some(key) => Some(Text::new(key.clone())),
            None => is_default(namespace).then(|| name.clone()),
        }
    }

    pub(crate) fn called<'a>(&self, call: &Node<'a>, name: &str) -> Option<Text<'a>> {
        self.key(call.text_at("namespace"), call.get(name)?.as_text()?)
    }

    /// Returns the map for a request to which only deferred loading was applied.
    pub(crate) fn of(client: Client, report: &DeferredReport) -> RestoreMap {
        let mut restore_map = RestoreMap { client: Some(client), ..RestoreMap::default() };
        report.name_map.iter().for_each(|(called, tool)| restore_map.add_client_tool(called.clone(), tool));
        restore_map
    }

    pub(crate) fn add_client_tool(&mut self, called: String, tool: &ClientTool) {
        let (plan, schemas) = self.list.remove(&called).map(|entry| (entry.plan, entry.schemas)).unwrap_or_default();
        // A `custom` tool has text as its input, and the client runs a search itself: neither has arguments to repair.
        let schemas = schemas.filter(|_| tool.kind == CallKind::Function);
        let name = json_string(&Text::new(tool.name.as_str()));
        let namespace = tool.namespace.as_deref().map(|namespace| json_string(&Text::new(namespace)));
        let (kind, is_outside) = (tool.kind, namespace.is_none());
        let (server, index) = (None, None);
        self.add(called, RestoreEntry { name, server, index, namespace, is_outside, kind, plan, schemas });
    }

    pub(crate) fn add_server_tool(&mut self, called: String, server: &Text<'_>, name: &Text<'_>) {
        let entry = self.list.entry(called).or_insert_with(|| RestoreEntry::new(name, None, Plan::default()));
        // A tool that the history adds is in a namespace that has the tool's name.
        if entry.namespace.as_ref() == Some(&entry.name) {
            entry.namespace = Some(json_string(name));
        }
        (entry.name, entry.server) = (json_string(name), Some(json_string(server)));
    }

    pub(crate) fn set_repairs(&mut self, options: Option<&RepairOptions>) {
        self.repair = options.cloned();
    }

    pub(crate) fn plan_of(&self, name: &str) -> Plan {
        let json_name = json_string(&Text::new(name));
        let mut entries = self.list.values();
        let entry =
            entries.find(|entry| entry.name == json_name && entry.server.is_none() && entry.namespace.is_none());
        entry.map(|entry| entry.plan.clone()).unwrap_or_default()
    }

    pub(crate) fn called_answer(&self) -> Option<&Answer> {
        self.answer.as_deref().filter(|answer| answer.tool.is_some())
    }

    pub(crate) fn set_answer(&mut self, answer: Option<Answer>) {
        self.answer = answer.map(Arc::new);
    }

    /// Turns off repairs for this tool, because this library handles its calls itself.
    #[cfg(feature = "exchange")]
    pub(crate) fn turn_off_repairs(&mut self, called: &str) {
        if let Some(entry) = self.list.get_mut(called) {
            entry.schemas = None;
        }
    }

    pub(crate) fn set_client(&mut self, client: Option<Client>) {
        self.client = client;
    }

    pub(crate) fn client(&self) -> Option<Api> {
        self.client.as_ref().map(|client| client.format)
    }

    /// Returns the name of the client's search function if the backend's search replaces it.
    pub(crate) fn own_search(&self) -> Option<&str> {
        self.client.as_ref()?.search.as_deref()
    }

    pub(crate) fn kind(&self, name: &Text<'_>) -> CallKind {
        self.entry(name).map_or(CallKind::Function, |entry| entry.kind)
    }

    /// Returns the kind of a call's item for a client of OpenAI Responses. For any other client, returns `Function`.
    pub(crate) fn item_kind(&self, name: &Text<'_>) -> CallKind {
        if self.client().is_some_and(|client| wire::of(client).tools().has_namespaces()) {
            self.kind(name)
        } else {
            CallKind::Function
        }
    }

    #[cfg(feature = "exchange")]
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Text<'_>)> {
        self.list.iter().map(|(called, entry)| (called.as_str(), read_text(&entry.name)))
    }

    pub(crate) fn only(&self, name: &Text<'_>) -> RestoreMap {
        let entry = name.value().and_then(|name| Some((name.clone().into_owned(), self.list.get(&*name)?.clone())));
        RestoreMap { list: entry.into_iter().collect(), ..self.without_tools() }
    }

    fn without_tools(&self) -> RestoreMap {
        let RestoreMap { client, repair, has_indices, .. } = self;
        let (client, repair, has_indices) = (client.clone(), repair.clone(), *has_indices);
        RestoreMap { client, repair, has_indices, ..RestoreMap::default() }
    }

    pub(crate) fn names_in_namespaces(&self) -> impl Iterator<Item = (&str, Text<'_>, Text<'_>)> {
        self.list.iter().filter_map(|(called, entry)| {
            Some((called.as_str(), read_text(entry.namespace.as_deref()?), read_text(&entry.name)))
        })
    }

    pub(crate) fn extend(&mut self, other: RestoreMap, sent: &Set<String>) {
        self.list.extend(other.list.into_iter().filter(|(called, _)| !sent.contains(called)));
        self.in_namespaces.extend(other.in_namespaces.into_iter().filter(|(_, called)| !sent.contains(called)));
        self.has_indices |= other.has_indices;
        self.repair = self.repair.take().or(other.repair);
    }

    pub(crate) fn forget(&mut self, called: &str) {
        self.list.remove(called);
    }

    pub(crate) fn bytes(&self) -> usize {
        let entry = |(called, entry): (&String, &RestoreEntry)| {
            let texts = [Some(&entry.name), entry.server.as_ref(), entry.namespace.as_ref()];
            let names = called.len() + 2 * texts.into_iter().flatten().map(String::len).sum::<usize>();
            let plan = if entry.plan.is_empty() { 0 } else { json::weight(&entry.plan.to_node()) };
            let schemas = entry.schemas.as_ref().map_or(0, |schemas| schemas.bytes());
            2 * size_of::<RestoreEntry>() + names + plan + schemas
        };
        self.list.iter().map(entry).sum()
    }

    pub(crate) fn renames(&self, called: &str) -> bool {
        self.list.get(called).is_some_and(|entry| {
            entry.namespace.is_some() || entry.server.is_some() || &*read_text(&entry.name).display() != called
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.answer.is_none()
    }

    fn entry(&self, name: &Text<'_>) -> Option<&RestoreEntry> {
        self.list.get(&*name.value()?)
    }

    pub(crate) fn name(&self, name: &Text<'_>) -> Option<Restored<'_>> {
        let entry = self.entry(name)?;
        let [server, namespace] = [&entry.server, &entry.namespace].map(|text| text.as_deref().map(read_text));
        let (index, is_outside) = (entry.index, entry.is_outside);
        Some(Restored { server, index, name: read_text(&entry.name), namespace, is_outside })
    }

    pub(crate) fn is_buffered(&self, name: &Text<'_>) -> bool {
        self.entry(name).is_some_and(|entry| !entry.plan.is_empty() || self.is_repaired(entry))
    }

    pub(crate) fn repairs(&self, name: &Text<'_>) -> bool {
        self.entry(name).is_some_and(|entry| self.is_repaired(entry))
    }

    fn is_repaired(&self, entry: &RestoreEntry) -> bool {
        self.repair.is_some() && entry.schemas.is_some()
    }

    fn repairing<'r>(&'r self, called: &'r Text<'r>, id: Option<String>) -> Option<Repairing<'r>> {
        let (entry, options) = (self.entry(called)?, self.repair.as_ref()?);
        let schemas = entry.schemas.as_deref()?;
        let name = read_text(&entry.name).display().into_owned();
        Some(Repairing { schemas, plan: &entry.plan, options, called, name, id })
    }

    /// Restores arguments that are JSON text. Returns `None` if the text stays unchanged. Invalid JSON that is not
    /// repaired also stays unchanged: the tool's server reports the model's mistake.
    pub(crate) fn text(
        &self,
        name: &Text<'_>,
        arguments: &str,
        id: Option<String>,
        reports: &mut CallReports,
    ) -> Result<Option<String>, Error> {
        if let Some(repairing) = self.repairing(name, id) {
            return repairing.text(arguments, reports);
        }
        let Some(entry) = self.entry(name).filter(|entry| !entry.plan.is_empty()) else { return Ok(None) };
        let Ok(mut node) = json::read(arguments) else { return Ok(None) };
        entry.plan.restore(&mut node)?;
        Ok((!node.is_intact()).then(|| json::write(&node)))
    }

    /// Restores arguments. A string stays JSON text, unless the API expects a value (`has_text` is false) and the
    /// arguments are repaired.
    pub(crate) fn arguments(
        &self,
        name: &Text<'_>,
        arguments: &mut Node<'_>,
        (id, has_text): (Option<String>, bool),
        reports: &mut CallReports,
    ) -> Result<(), Error> {
        if let Some(repairing) = self.repairing(name, id.clone()) {
            return repairing.value(arguments, has_text, reports);
        }
        match arguments.as_text().map(Text::value) {
            None => self.entry(name).map_or(Ok(()), |entry| entry.plan.restore(arguments)),
            Some(text) => {
                let restored = text.map(|text| self.text(name, &text, id, reports)).transpose()?;
                if let Some(restored) = restored.flatten() {
                    *arguments = Node::string(restored);
                }
                Ok(())
            }
        }
    }

    /// Restores a whole reply. Returns true if a call contained the structured output.
    pub(crate) fn whole_reply(&self, reply: &mut Node<'_>, reports: &mut CallReports) -> Result<bool, Error> {
        self.reply(reply, reports)?;
        if alternatives_of(reply).is_some_and(|alternatives| alternatives.write_arguments(reply)) {
            reports.push_changes([AnswerChange::TextArguments]);
        }
        let Some(answer) = self.answer.as_deref() else { return Ok(false) };
        if answer.tool.is_some() {
            let calls = answer_in_reply(reply, answer);
            if calls.has_answer {
                reports.push_changes(calls.dropped.changes());
                return Ok(true);
            }
        }
        // A model that does not call the function may write the structured output as text.
        answer.reply(reply, reports);
        reports.take_failure().map(|()| false)
    }

    pub(crate) fn content(&self, text: &str) -> Content {
        text::restore_text(self.answer.as_deref(), text)
    }

    /// Restores structured output in an event. A truncated part is restored only if this event ends it.
    pub(crate) fn contents(&self, event: &mut Node<'_>, is_end: bool, reports: &mut CallReports) {
        if let Some(answer) = self.answer.as_ref().filter(|answer| answer.restores_text()) {
            answer.event(event, is_end, reports);
        }
    }

    pub(crate) fn reply(&self, reply: &mut Node<'_>, reports: &mut CallReports) -> Result<(), Error> {
        if let Data::Array(_) = reply.data() {
            return reply.visit_children(|_, part| self.reply_object(part, reports));
        }
        self.reply_object(reply, reports)
    }

    fn reply_object(&self, reply: &mut Node<'_>, reports: &mut CallReports) -> Result<(), Error> {
        let was = (reports.is_cut, reports.is_limited);
        reports.is_limited |= self.repair.is_some() && reply::is_cut(reply);
        reports.is_cut |= reports.is_limited;
        let outcome = self.sites(reports, |visit| reply::visit_sites(reply, visit));
        (reports.is_cut, reports.is_limited) = was;
        outcome
    }

    pub(crate) fn message(&self, message: &mut Node<'_>, reports: &mut CallReports) -> Result<(), Error> {
        self.sites(reports, |visit| units::visit(message, None, visit))
    }

    fn sites(
        &self,
        reports: &mut CallReports,
        walk: impl FnOnce(&mut dyn FnMut(NamedUnit<'_, '_>)),
    ) -> Result<(), Error> {
        let mut outcome = Ok(());
        walk(&mut |site| {
            let restored = self.site(site, reports);
            if outcome.is_ok() {
                outcome = restored;
            }
        });
        outcome
    }

    /// Like [`Self::reply`], for a single block, item or step.
    pub(crate) fn item(&self, item: &mut Node<'_>, reports: &mut CallReports) -> Result<(), Error> {
        let was_limited = reports.is_limited;
        reports.is_limited |= reply::is_cut(item);
        let outcome = self.sites(reports, |visit| units::visit_part(item, visit));
        reports.is_limited = was_limited;
        outcome
    }

    pub(crate) fn site(&self, site: NamedUnit<'_, '_>, reports: &mut CallReports) -> Result<(), Error> {
        let Some(called) = self.called(site.node, site.name).map(Text::into_owned) else { return Ok(()) };
        if site.role == Role::Search {
            // Tools of servers and of namespaces keep the name that was sent, because it also identifies the server or
            // the namespace.
            let restored = self.name(&called).filter(|restored| restored.server.is_none() && restored.index.is_none());
            if let Some(Restored { name, namespace: None, .. }) = restored.filter(|restored| restored.name != called) {
                site.node.set(site.name, Node::string(name.into_owned()));
            }
            return Ok(());
        }
        let outcome = match site.arguments {
            Some((key, has_text)) => {
                let id = site.id.map(|id| id.display().into_owned());
                if site.node.get(key).is_none() && self.repairs(&called) {
                    self.no_arguments(&called, site.node, (key, has_text), id, reports)
                } else {
                    let restored = site.node.visit(key, |node| {
                        let was_null = node.is_null();
                        self.arguments(&called, node, (id, has_text), reports)?;
                        // The call had no arguments, and the API expects text for them.
                        if was_null && has_text && !node.is_null() {
                            *node = Node::string(json::write(node));
                        }
                        Ok(())
                    });
                    restored.unwrap_or(Ok(()))
                }
            }
            None => Ok(()),
        };
        self.rename(&called, site.node, site.name);
        client_item::retype(site.node, self.item_kind(&called));
        outcome
    }

    /// Handles a call without arguments. Adds arguments only if the repair adds defaults of the schema. If the API
    /// sends arguments as text, a length limit may have cut the arguments off.
    fn no_arguments(
        &self,
        called: &Text<'_>,
        call: &mut Node<'_>,
        (key, has_text): (&'static str, bool),
        id: Option<String>,
        reports: &mut CallReports,
    ) -> Result<(), Error> {
        if has_text && reports.is_limited {
            return self.arguments(called, &mut Node::default(), (id, true), reports);
        }
        let mut none = Node::empty_object();
        self.arguments(called, &mut none, (id, false), reports)?;
        if !none.as_object().is_some_and(json::Object::is_empty) {
            let filled = if has_text { Node::string(json::write(&none)) } else { none.detached() };
            call.set(key, filled);
        }
        Ok(())
    }

    pub(crate) fn remove_index(&self, call: &mut Node<'_>) {
        if self.has_indices && call.get("index").is_some() {
            call.remove("index");
        }
    }

    pub(crate) fn rename(&self, called: &Text<'_>, node: &mut Node<'_>, key: &'static str) {
        self.remove_index(node);
        let Some(restored) = self.name(called) else { return };
        let is_loaded = node.text_at("namespace") == Some(called);
        let namespace = Self::namespace_of(&restored, is_loaded);
        let Restored { server, index, name, .. } = restored;
        if node.text_at(key) != Some(&name) {
            node.set(key, Node::string(name.into_owned()));
        }
        if let Some(server) = server {
            node.set("server", Node::string(server.into_owned()));
        }
        if let Some(index) = index {
            node.set("index", Node::count(index as u64));
        }
        match namespace {
            Some(namespace) if node.text_at("namespace") == Some(&namespace) => {}
            Some(namespace) => node.set("namespace", Node::string(namespace.into_owned())),
            None if is_loaded => drop(node.remove("namespace")),
            None => {}
        }
    }

    /// Returns the client's namespace of a called tool. `is_loaded` is true if the call is in a namespace with the name
    /// that was sent. OpenAI puts each tool that it loads into such a namespace. It refuses the next request if the
    /// namespace is missing (400, `Missing namespace for function_call`; recorded 2026-10).
    pub(crate) fn namespace_of<'r>(restored: &Restored<'r>, is_loaded: bool) -> Option<Text<'r>> {
        let own_namespace = || (is_loaded && !restored.is_outside).then(|| restored.name.clone());
        restored.namespace.clone().or_else(own_namespace)
    }
}

/// Member of `answer` with the name of the function that replaces the response format.
const TOOL: &str = "tool";
/// Member of `answer` that is true if the model may call only this function.
const ONLY: &str = "only";
/// Member of `answer` with the schema, if only the instructions contain it.
const SCHEMA: &str = "schema";
/// Member of a tool that is true if [`RestoreEntry::is_outside`] does not follow from the other members.
const OUTSIDE: &str = "outside";

impl RestoreMap {
    pub(crate) fn to_node(&self) -> Node<'static> {
        let tools = self.list.iter().map(|(name, entry)| {
            let mut members = Vec::from([("name", owned(&entry.name))]);
            members.extend(entry.server.as_deref().map(|server| ("server", owned(server))));
            members.extend(entry.index.map(|index| ("index", Node::count(index as u64))));
            members.extend(entry.namespace.as_deref().map(|namespace| ("namespace", owned(namespace))));
            if entry.is_outside && !entry.must_be_outside(name) {
                members.push((OUTSIDE, Node::bool(true)));
            }
            if entry.kind != CallKind::Function {
                members.push(("kind", Node::literal(entry.kind.as_str())));
            }
            if !entry.plan.is_empty() {
                members.push(("plan", entry.plan.to_node()));
            }
            if let Some((tool_schema, sent_schema)) = entry.schemas.as_ref().map(|schemas| schemas.parts()) {
                members.push(("schema", tool_schema.clone()));
                members.extend(sent_schema.map(|sent_schema| ("sent", sent_schema.clone())));
            }
            let members = members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value });
            Member { key: Text::new(name.clone()), value: Node::object(Object::from_unique(members.collect())) }
        });
        let newest = match (&self.answer, &self.repair) {
            (Some(answer), _) if answer.instructed.is_some() => version::INSTRUCTED,
            (Some(answer), _) if answer.tool.is_some() => version::CALLING,
            (Some(_), _) => version::ANSWERING,
            (None, Some(_)) => version::REPAIRING,
            (None, None) => version::VERSION,
        };
        let mut members = Vec::from([
            ("version", Node::count(newest)),
            ("tools", Node::object(Object::from_unique(tools.collect()))),
        ]);
        if let Some(client) = &self.client {
            members.push(("format", Node::literal(client.format.as_str())));
            members.extend(client.search.as_ref().map(|search| ("search", Node::string(search.clone()))));
        }
        // Omitted if an entry has an `index`, because the `index` implies this member.
        if self.has_indices && self.list.values().all(|entry| entry.index.is_none()) {
            members.push(("indices", Node::bool(true)));
        }
        members.extend(self.repair.as_ref().map(|options| ("repair", options.to_node())));
        members.extend(self.answer.as_ref().map(|answer| {
            let mut kept = answer.plan.to_node();
            if let Some(tool) = &answer.tool {
                kept.set(TOOL, Node::string(tool.clone()));
                if answer.is_only {
                    kept.set(ONLY, Node::bool(true));
                }
            }
            if let Some(schema) = &answer.instructed {
                kept.set(SCHEMA, schema.schema().clone());
            }
            ("answer", kept)
        }));
        Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Result<RestoreMap, Error> {
        let wrong = |pointer: String, expected: &str| {
            Error::new(
                Code::InvalidValue,
                pointer,
                format!("expected {expected} in an unchanged `restore`, found something else"),
            )
        };
        version::check(node, version::INSTRUCTED, "a `restore`", "sanitize the tools again")?;
        let tools = node.object_at("tools").ok_or_else(|| wrong("/tools".into(), "an object of tools"))?;
        let repair = node.get("repair").map(RepairOptions::from_node).transpose();
        let repair = repair.map_err(|error| wrong(String::from("/repair") + error.pointer(), "options of a repair"))?;
        let has_indices = node.bool_at("indices") == Some(true);
        let answer = node.get("answer").map(Plan::from_node).transpose().map_err(|error| error.below("/answer"))?;
        let tool = node.get("answer").and_then(|answer| text_at(answer, TOOL));
        let tool = tool.map(|tool| tool.ok_or_else(|| wrong("/answer/tool".into(), "a name"))).transpose()?;
        let tool = tool.map(|tool| tool.display().into_owned());
        let is_only = node.get("answer").and_then(|answer| answer.get(ONLY)?.as_bool()) == Some(true);
        let instructed = node.get("answer").and_then(|answer| answer.get(SCHEMA));
        let instructed =
            instructed.map(|schema| Prepared::new(schema).ok_or_else(|| wrong("/answer/schema".into(), "a schema")));
        let instructed = instructed.transpose()?;
        let answer = answer.map(|plan| Arc::new(Answer { plan, tool, is_only, instructed }));
        let mut restore_map =
            RestoreMap { client: client_of(node, &wrong)?, repair, has_indices, answer, ..RestoreMap::default() };
        for member in tools {
            let mut at = String::from("/tools");
            json::push_token(&mut at, &member.key.display());
            let text = |key: &str| member.value.get(key).map(|text| text.as_text().map(json_string));
            let name = text("name").flatten().ok_or_else(|| wrong(at.clone() + "/name", "a name"))?;
            let optional = |key: &str| {
                text(key).map(|name| name.ok_or_else(|| wrong(format!("{at}/{key}"), "a name"))).transpose()
            };
            let (server, namespace) = (optional("server")?, optional("namespace")?);
            let index = member.value.get("index").map(|index| {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                index.ok_or_else(|| wrong(at.clone() + "/index", "an index"))
            });
            let kind = match text_at(&member.value, "kind") {
                None => CallKind::Function,
                Some(kind) => kind
                    .and_then(CallKind::from_name)
                    .ok_or_else(|| wrong(at.clone() + "/kind", "`function`, `custom` or `search`"))?,
            };
            let plan = member
                .value
                .get("plan")
                .map(|plan| Plan::from_node(plan).map_err(|error| error.below(&(at.clone() + "/plan"))));
            let schemas = member.value.get("schema").map(|tool_schema| {
                Schemas::new(tool_schema, member.value.get("sent"))
                    .map(Arc::new)
                    .ok_or_else(|| wrong(at.clone() + "/schema", "a schema"))
            });
            let (plan, schemas) = (plan.transpose()?.unwrap_or_default(), schemas.transpose()?);
            let index = index.transpose()?;
            let called = member.key.display().to_string();
            let is_outside = member.value.bool_at(OUTSIDE) == Some(true);
            let mut entry = RestoreEntry { name, server, index, namespace, is_outside, kind, plan, schemas };
            entry.is_outside |= entry.must_be_outside(&called);
            restore_map.add(called, entry);
        }
        Ok(restore_map)
    }
}

/// Returns a member that has to be a string: `None` if it is absent, `Some(None)` if it is not a string.
fn text_at<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<Option<&'n Text<'a>>> {
    node.get(key).map(Node::as_text)
}

fn client_of(node: &Node<'_>, wrong: &dyn Fn(String, &str) -> Error) -> Result<Option<Client>, Error> {
    let Some(format) = text_at(node, "format") else { return Ok(None) };
    let format = format
        .and_then(|format| APIS_WITH_DEFERRAL.iter().find(|(name, _)| format.is(name)))
        .map(|(_, format)| *format)
        .ok_or_else(|| {
            wrong(
                "/format".into(),
                "`anthropic`, `openai-chat`, `openai-responses`, `gemini-interactions` or `bedrock`",
            )
        })?;
    let search = text_at(node, "search")
        .map(|search| search.ok_or_else(|| wrong("/search".into(), "a name")))
        .transpose()?
        .map(|search| search.display().into_owned());
    Ok(Some(Client { format, search }))
}

fn owned(json_string: &str) -> Node<'static> {
    Node::string(read_text(json_string).into_owned())
}
