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
    options::{Naming, SanitizeOptions},
    sanitize::restore,
};

/// What has to be undone, by the names that the API saw. What is not in here comes back as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    list: Map<String, Way>,
}

/// What has to be undone for one tool.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// As JSON spells it: a lone surrogate survives.
    name: String,
    namespace: Option<String>,
    encoded: Option<Encoded>,
}

#[derive(Clone, Debug)]
struct Encoded {
    options: SanitizeOptions,
    /// The tool's own schema, as JSON text.
    schema: String,
}

/// A call, restored.
pub(crate) struct Restored<'r> {
    pub(crate) name: Text<'r>,
    pub(crate) namespace: Option<Text<'r>>,
}

const VERSION: u64 = 1;

fn spelled(text: &Text<'_>) -> String {
    json::write(&Node::string(text.borrowed()))
}

fn read_text(spelled: &str) -> Text<'_> {
    json::read(spelled).ok().and_then(|node| if let Data::String(text) = node.into_data() { Some(text) } else { None }).unwrap_or("".into())
}

impl Way {
    pub(super) fn new(name: &Text<'_>, namespace: Option<&Text<'_>>, encoded: Option<(&SanitizeOptions, String)>) -> Way {
        let encoded = encoded.map(|(options, schema)| Encoded { options: options.clone(), schema });
        Way { name: spelled(name), namespace: namespace.map(spelled), encoded }
    }
}

impl Ways {
    pub(super) fn add(&mut self, name: String, way: Way) {
        self.list.insert(name, way);
    }

    /// Notes where a tool stood, whatever else has to be undone for it.
    pub(super) fn in_namespace(&mut self, called: String, name: &Text<'_>, namespace: &Text<'_>) {
        let encoded = self.list.remove(&called).and_then(|way| way.encoded);
        self.list.insert(called, Way { name: spelled(name), namespace: Some(spelled(namespace)), encoded });
    }

    /// Whether nothing has to be undone.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn way(&self, name: &Text<'_>) -> Option<&Way> {
        self.list.get(&*name.value()?)
    }

    /// The name of a call.
    pub(crate) fn name(&self, name: &Text<'_>) -> Option<Restored<'_>> {
        let way = self.way(name)?;
        Some(Restored { name: read_text(&way.name), namespace: way.namespace.as_deref().map(read_text) })
    }

    /// Whether arguments of this tool look different from what its server expects.
    pub(crate) fn is_encoded(&self, name: &Text<'_>) -> bool {
        self.way(name).is_some_and(|way| way.encoded.is_some())
    }

    /// Restores arguments in place.
    pub(crate) fn arguments<'a>(&self, name: &Text<'_>, arguments: &mut Node<'a>) -> Result<(), Error> {
        match self.way(name).and_then(|way| way.encoded.as_ref()) {
            Some(Encoded { options, schema }) => restore::restore(arguments, &json::read(schema)?, options),
            None => Ok(()),
        }
    }

    /// Restores arguments that are JSON text. What is no JSON is the model's mistake, and stays: the tool's server tells it.
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
        let Some(called) = site.node.get(site.name).and_then(Node::as_text).map(|name| name.clone().into_owned()) else { return Ok(()) };
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
        let tools = self.list.iter().map(|(name, way)| {
            let mut members = Vec::from([("name", owned(&way.name))]);
            members.extend(way.namespace.as_deref().map(|namespace| ("namespace", owned(namespace))));
            if let Some(Encoded { options, schema }) = &way.encoded {
                members.push(("options", options.to_node()));
                members.push(("schema", json::read(schema).map(own).unwrap_or_default()));
            }
            let members = members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value });
            Member { key: Text::new(name.clone()), value: Node::object(Object::from_unique(members.collect())) }
        });
        Node::record([("version", Node::count(VERSION)), ("tools", Node::object(Object::from_unique(tools.collect())))])
    }

    /// From JSON, as [`Self::to_node`] gives it.
    pub(crate) fn from_node(node: &Node<'_>) -> Result<Ways, Error> {
        let wrong = |pointer: String, expected: &str| {
            Error::new(Code::InvalidValue, pointer, format!("expected {expected}, as `restore` was written; found something else"))
        };
        if node.get("version").and_then(Node::as_u64) != Some(VERSION) {
            return Err(wrong("/version".into(), "the version 1"));
        }
        let tools = node.get("tools").and_then(Node::as_object).ok_or_else(|| wrong("/tools".into(), "an object of tools"))?;
        let mut ways = Ways::default();
        for member in tools {
            let mut at = String::from("/tools");
            json::push_token(&mut at, &member.key.display());
            let text = |key: &str| member.value.get(key).map(|text| text.as_text().map(spelled));
            let name = text("name").flatten().ok_or_else(|| wrong(at.clone() + "/name", "a name"))?;
            let namespace = text("namespace").map(|name| name.ok_or_else(|| wrong(at.clone() + "/namespace", "a name"))).transpose()?;
            let encoded = member.value.get("schema").map(|schema| {
                let options = member.value.get("options").map_or_else(
                    || Err(wrong(at.clone() + "/options", "the options of the dialect")),
                    |options| SanitizeOptions::read(options, Naming::Camel).map_err(|error| error.below(&(at.clone() + "/options"))),
                )?;
                crate::dialect::of(&options).map_err(|error| error.below(&(at.clone() + "/options")))?;
                Ok::<_, Error>(Encoded { options, schema: json::write(schema) })
            });
            ways.add(member.key.display().to_string(), Way { name, namespace, encoded: encoded.transpose()? });
        }
        Ok(ways)
    }
}

fn owned(spelled: &str) -> Node<'static> {
    Node::string(read_text(spelled).into_owned())
}

/// The same tree, borrowing nothing.
pub(super) fn own(node: Node<'_>) -> Node<'static> {
    match node.into_data() {
        Data::Null | Data::Verbatim(_) => Node::default(),
        Data::Bool(value) => Node::bool(value),
        Data::Number(text) => Node::new(Data::Number(text.into_owned().into())),
        Data::String(text) => Node::string(text.into_owned()),
        Data::Array(items) => Node::array(items.into_iter().map(own).collect()),
        Data::Object(object) => {
            let members = object.into_members().into_iter();
            Node::object(Object::from_unique(
                members.map(|member| Member { key: member.key.into_owned(), value: own(member.value) }).collect(),
            ))
        }
    }
}
