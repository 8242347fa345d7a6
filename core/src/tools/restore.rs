//! The way back: a call by the name and with the arguments that the API saw, as the tool's own server expects it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    call_sites::{self, Site},
    client_item,
    tool_format::{remove, set},
};
use crate::{
    collections::Map,
    deferred::{CallKind, Client, ClientTool, DeferredReport},
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Text},
    options::Format,
    sanitize::decode::{version, Plan},
};

/// What has to be undone, by the names that the API saw. What is not in here comes back as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestoreMap {
    list: Map<String, RestoreEntry>,
    /// Who called, if that is known.
    client: Option<Client>,
}

/// What has to be undone for one tool.
#[derive(Clone, Debug)]
pub(crate) struct RestoreEntry {
    /// As JSON spells it: a lone surrogate survives.
    name: String,
    namespace: Option<String>,
    kind: CallKind,
    plan: Plan,
}

/// A call, restored.
pub(crate) struct Restored<'r> {
    pub(crate) name: Text<'r>,
    pub(crate) namespace: Option<Text<'r>>,
}

fn spelled(text: &Text<'_>) -> String {
    json::write(&Node::string(text.borrowed()))
}

fn read_text(spelled: &str) -> Text<'_> {
    json::read(spelled)
        .ok()
        .and_then(|node| if let Data::String(text) = node.into_data() { Some(text) } else { None })
        .unwrap_or("".into())
}

impl RestoreEntry {
    pub(super) fn new(name: &Text<'_>, namespace: Option<&Text<'_>>, plan: Plan) -> RestoreEntry {
        RestoreEntry { name: spelled(name), namespace: namespace.map(spelled), kind: CallKind::Function, plan }
    }
}

impl RestoreMap {
    pub(super) fn add(&mut self, name: String, entry: RestoreEntry) {
        self.list.insert(name, entry);
    }

    /// What has to be undone where only deferred loading was applied.
    pub(crate) fn of(client: Client, report: &DeferredReport) -> RestoreMap {
        let mut restore_map = RestoreMap { list: Map::default(), client: Some(client) };
        report.name_map.iter().for_each(|(called, tool)| restore_map.is_client_tool(called.clone(), tool));
        restore_map
    }

    /// Notes what a tool is to the client, whatever else has to be undone for it.
    pub(super) fn is_client_tool(&mut self, called: String, tool: &ClientTool) {
        let plan = self.list.remove(&called).map(|entry| entry.plan).unwrap_or_default();
        let name = spelled(&Text::new(tool.name.as_str()));
        let namespace = tool.namespace.as_deref().map(|namespace| spelled(&Text::new(namespace)));
        self.list.insert(called, RestoreEntry { name, namespace, kind: tool.kind, plan });
    }

    /// Notes who called.
    pub(super) fn comes_from(&mut self, client: Option<Client>) {
        self.client = client;
    }

    /// The format that the client speaks, if that is known.
    pub(super) fn client(&self) -> Option<Format> {
        self.client.as_ref().map(|client| client.format)
    }

    /// The client's own search function, where the backend's stands for it.
    pub(super) fn own_search(&self) -> Option<&str> {
        self.client.as_ref()?.search.as_deref()
    }

    /// What a call of this tool is to the client.
    pub(super) fn kind(&self, name: &Text<'_>) -> CallKind {
        self.entry(name).map_or(CallKind::Function, |entry| entry.kind)
    }

    /// What a call of this tool becomes in a reply of OpenAI Responses whose client speaks that, too.
    pub(super) fn item_kind(&self, name: &Text<'_>) -> CallKind {
        if self.client() == Some(Format::OpenaiResponses) {
            self.kind(name)
        } else {
            CallKind::Function
        }
    }

    /// The names that the API saw, with the tools' own.
    #[cfg(feature = "search")]
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Text<'_>)> {
        self.list.iter().map(|(called, entry)| (called.as_str(), read_text(&entry.name)))
    }

    /// What has to be undone for one tool, and nothing else.
    pub(super) fn only(&self, name: &Text<'_>) -> RestoreMap {
        let entry = name.value().and_then(|name| Some((name.clone().into_owned(), self.list.get(&*name)?.clone())));
        RestoreMap { list: entry.into_iter().collect(), client: self.client.clone() }
    }

    /// The names that the API saw, with the namespaces and names of the tools that stood in one.
    pub(super) fn names_in_namespaces(&self) -> impl Iterator<Item = (&str, Text<'_>, Text<'_>)> {
        self.list.iter().filter_map(|(called, entry)| {
            Some((called.as_str(), read_text(entry.namespace.as_deref()?), read_text(&entry.name)))
        })
    }

    /// Takes in what another one undoes.
    pub(super) fn extend(&mut self, other: RestoreMap) {
        self.list.extend(other.list);
    }

    /// Whether nothing has to be undone.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn entry(&self, name: &Text<'_>) -> Option<&RestoreEntry> {
        self.list.get(&*name.value()?)
    }

    /// The name of a call.
    pub(crate) fn name(&self, name: &Text<'_>) -> Option<Restored<'_>> {
        let entry = self.entry(name)?;
        let namespace = entry.namespace.as_deref().map(read_text);
        Some(Restored { name: read_text(&entry.name), namespace })
    }

    /// Whether arguments of this tool look different from what its server expects.
    pub(crate) fn is_encoded(&self, name: &Text<'_>) -> bool {
        self.entry(name).is_some_and(|entry| !entry.plan.is_empty())
    }

    /// Restores arguments in place.
    pub(crate) fn arguments(&self, name: &Text<'_>, arguments: &mut Node<'_>) -> Result<(), Error> {
        self.entry(name).map_or(Ok(()), |entry| entry.plan.restore(arguments))
    }

    /// Restores arguments that are JSON text. What is no JSON is the model's mistake, and stays: the tool's server
    /// tells it.
    pub(crate) fn text(&self, name: &Text<'_>, arguments: &str) -> Option<String> {
        if !self.is_encoded(name) {
            return None;
        }
        let mut node = json::read(arguments).ok()?;
        self.arguments(name, &mut node).ok()?;
        (!node.is_intact()).then(|| json::write(&node))
    }

    /// Restores arguments that are a value, or JSON text in a string.
    pub(crate) fn any(&self, name: &Text<'_>, arguments: &mut Node<'_>) -> Result<(), Error> {
        match arguments.as_text().map(Text::value) {
            None => self.arguments(name, arguments),
            Some(text) => {
                if let Some(restored) = text.and_then(|text| self.text(name, &text)) {
                    *arguments = Node::string(restored);
                }
                Ok(())
            }
        }
    }

    /// Restores every call in a reply.
    pub(crate) fn reply(&self, reply: &mut Node<'_>) -> Result<(), Error> {
        if let Data::Array(_) = reply.data() {
            return reply.visit_children(|_, one| self.reply_object(one));
        }
        self.reply_object(reply)
    }

    fn reply_object(&self, reply: &mut Node<'_>) -> Result<(), Error> {
        let mut outcome = Ok(());
        call_sites::in_reply(reply, &mut |site| {
            let restored = self.site(site);
            if outcome.is_ok() {
                outcome = restored;
            }
        });
        outcome
    }

    /// Restores a block or an item, if it is a call.
    pub(super) fn item(&self, item: &mut Node<'_>) -> Result<(), Error> {
        let arguments = match item.get("type").and_then(Node::as_text) {
            Some(kind) if kind.is("tool_use") => Some("input"),
            Some(kind) if kind.is("function_call") => Some("arguments"),
            Some(kind) if kind.is("custom_tool_call") => None,
            _ => return Ok(()),
        };
        self.site(Site { node: item, name: "name", arguments })
    }

    /// Restores one call where it stands.
    pub(super) fn site(&self, site: Site<'_, '_>) -> Result<(), Error> {
        let Some(called) = site.node.get(site.name).and_then(Node::as_text).map(|name| name.clone().into_owned())
        else {
            return Ok(());
        };
        let outcome = match site.arguments {
            Some(key) => site.node.visit(key, |arguments| self.any(&called, arguments)).unwrap_or(Ok(())),
            None => Ok(()),
        };
        self.rename(&called, site.node, site.name);
        client_item::retype(site.node, self.item_kind(&called));
        outcome
    }

    /// Gives a call its own name, and its namespace.
    pub(super) fn rename(&self, called: &Text<'_>, node: &mut Node<'_>, key: &'static str) {
        let Some(Restored { name, namespace }) = self.name(called) else { return };
        if name != *called {
            set(node, key, Node::string(name.into_owned()));
        }
        match namespace {
            Some(namespace) => set(node, "namespace", Node::string(namespace.into_owned())),
            // The API's own, of a tool that it has loaded.
            None if node.get("namespace").and_then(Node::as_text) == Some(called) => remove(node, "namespace"),
            None => {}
        }
    }

    /// As JSON, to be kept for a later turn.
    pub(crate) fn to_node(&self) -> Node<'static> {
        let tools = self.list.iter().map(|(name, entry)| {
            let mut members = Vec::from([("name", owned(&entry.name))]);
            members.extend(entry.namespace.as_deref().map(|namespace| ("namespace", owned(namespace))));
            if entry.kind != CallKind::Function {
                members.push(("kind", Node::literal(entry.kind.as_str())));
            }
            if !entry.plan.is_empty() {
                members.push(("plan", entry.plan.to_node()));
            }
            let members = members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value });
            Member { key: Text::new(name.clone()), value: Node::object(Object::from_unique(members.collect())) }
        });
        let mut members = Vec::from([
            ("version", Node::count(version::VERSION)),
            ("tools", Node::object(Object::from_unique(tools.collect()))),
        ]);
        if let Some(client) = &self.client {
            members.push(("format", Node::literal(client.format.as_str())));
            members.extend(client.search.as_ref().map(|search| ("search", Node::string(search.clone()))));
        }
        Node::object(members.into_iter().map(|(key, value)| (Text::literal(key), value)).collect())
    }

    /// From JSON, as [`Self::to_node`] gives it.
    pub(crate) fn from_node(node: &Node<'_>) -> Result<RestoreMap, Error> {
        let wrong = |pointer: String, expected: &str| {
            Error::new(
                Code::InvalidValue,
                pointer,
                format!("expected {expected}, as `restore` was written; found something else"),
            )
        };
        version::check(node, "a `restore`", "sanitize the tools again")?;
        let tools =
            node.get("tools").and_then(Node::as_object).ok_or_else(|| wrong("/tools".into(), "an object of tools"))?;
        let mut restore_map = RestoreMap { list: Map::default(), client: client_of(node, &wrong)? };
        for member in tools {
            let mut at = String::from("/tools");
            json::push_token(&mut at, &member.key.display());
            let text = |key: &str| member.value.get(key).map(|text| text.as_text().map(spelled));
            let name = text("name").flatten().ok_or_else(|| wrong(at.clone() + "/name", "a name"))?;
            let namespace = text("namespace")
                .map(|name| name.ok_or_else(|| wrong(at.clone() + "/namespace", "a name")))
                .transpose()?;
            let kind = match text_at(&member.value, "kind") {
                None => CallKind::Function,
                Some(kind) => kind
                    .and_then(CallKind::named)
                    .ok_or_else(|| wrong(at.clone() + "/kind", "`function`, `custom` or `search`"))?,
            };
            let plan = member
                .value
                .get("plan")
                .map(|plan| Plan::from_node(plan).map_err(|error| error.below(&(at.clone() + "/plan"))));
            restore_map.add(
                member.key.display().to_string(),
                RestoreEntry { name, namespace, kind, plan: plan.transpose()?.unwrap_or_default() },
            );
        }
        Ok(restore_map)
    }
}

/// A member that is to be a string, if it is there.
fn text_at<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<Option<&'n Text<'a>>> {
    node.get(key).map(Node::as_text)
}

/// Who called, as it was kept.
fn client_of(node: &Node<'_>, wrong: &dyn Fn(String, &str) -> Error) -> Result<Option<Client>, Error> {
    let Some(format) = text_at(node, "format") else { return Ok(None) };
    let format = format
        .and_then(|format| Format::CHOICES.iter().find(|(name, _)| format.is(name)))
        .map(|(_, format)| *format)
        .ok_or_else(|| wrong("/format".into(), "`anthropic`, `openai-chat` or `openai-responses`"))?;
    let search = text_at(node, "search")
        .map(|search| search.ok_or_else(|| wrong("/search".into(), "a name")))
        .transpose()?
        .map(|search| search.display().into_owned());
    Ok(Some(Client { format, search }))
}

fn owned(spelled: &str) -> Node<'static> {
    Node::string(read_text(spelled).into_owned())
}
