//! The way back: a call by the name and with the arguments that the API saw, as the tool's own server expects it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    call_sites::{self, Site},
    tool_format::set,
};
use crate::{
    collections::Map,
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Text},
    sanitize::decode::{version, Plan},
};

/// What has to be undone, by the names that the API saw. What is not in here comes back as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct RestoreMap {
    list: Map<String, RestoreEntry>,
}

/// What has to be undone for one tool.
#[derive(Clone, Debug)]
pub(crate) struct RestoreEntry {
    /// As JSON spells it: a lone surrogate survives.
    name: String,
    namespace: Option<String>,
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
        RestoreEntry { name: spelled(name), namespace: namespace.map(spelled), plan }
    }
}

impl RestoreMap {
    pub(super) fn add(&mut self, name: String, entry: RestoreEntry) {
        self.list.insert(name, entry);
    }

    /// Notes where a tool stood, whatever else has to be undone for it.
    pub(super) fn in_namespace(&mut self, called: String, name: &Text<'_>, namespace: &Text<'_>) {
        let plan = self.list.remove(&called).map(|entry| entry.plan).unwrap_or_default();
        self.list.insert(called, RestoreEntry { name: spelled(name), namespace: Some(spelled(namespace)), plan });
    }

    /// The names that the API saw, with the tools' own.
    #[cfg(feature = "search")]
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Text<'_>)> {
        self.list.iter().map(|(called, entry)| (called.as_str(), read_text(&entry.name)))
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
        Some(Restored { name: read_text(&entry.name), namespace: entry.namespace.as_deref().map(read_text) })
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
        outcome
    }

    /// Gives a call its own name, and its namespace.
    pub(super) fn rename(&self, called: &Text<'_>, node: &mut Node<'_>, key: &'static str) {
        let Some(Restored { name, namespace }) = self.name(called) else { return };
        if name != *called {
            set(node, key, Node::string(name.into_owned()));
        }
        if let Some(namespace) = namespace {
            set(node, "namespace", Node::string(namespace.into_owned()));
        }
    }

    /// As JSON, to be kept for a later turn.
    pub(crate) fn to_node(&self) -> Node<'static> {
        let tools = self.list.iter().map(|(name, entry)| {
            let mut members = Vec::from([("name", owned(&entry.name))]);
            members.extend(entry.namespace.as_deref().map(|namespace| ("namespace", owned(namespace))));
            if !entry.plan.is_empty() {
                members.push(("plan", entry.plan.to_node()));
            }
            let members = members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value });
            Member { key: Text::new(name.clone()), value: Node::object(Object::from_unique(members.collect())) }
        });
        Node::record([
            ("version", Node::count(version::VERSION)),
            ("tools", Node::object(Object::from_unique(tools.collect()))),
        ])
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
        let mut restore_map = RestoreMap::default();
        for member in tools {
            let mut at = String::from("/tools");
            json::push_token(&mut at, &member.key.display());
            let text = |key: &str| member.value.get(key).map(|text| text.as_text().map(spelled));
            let name = text("name").flatten().ok_or_else(|| wrong(at.clone() + "/name", "a name"))?;
            let namespace = text("namespace")
                .map(|name| name.ok_or_else(|| wrong(at.clone() + "/namespace", "a name")))
                .transpose()?;
            let plan = member
                .value
                .get("plan")
                .map(|plan| Plan::from_node(plan).map_err(|error| error.below(&(at.clone() + "/plan"))));
            restore_map.add(
                member.key.display().to_string(),
                RestoreEntry { name, namespace, plan: plan.transpose()?.unwrap_or_default() },
            );
        }
        Ok(restore_map)
    }
}

fn owned(spelled: &str) -> Node<'static> {
    Node::string(read_text(spelled).into_owned())
}
