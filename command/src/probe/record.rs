//! Writes answers as rows of evidence, in the format of `answers.jsonl`, without private data: keys, headers, private
//! addresses, names, descriptions, values, and the user's identity.

use toolwire::{
    internal,
    json::{self, Node, Text},
    Dialect,
};

use super::{
    anonymous::{owned, Anonymous},
    endpoints::Endpoint,
    search::{Refusal, Verdict},
    target::{Known, Target},
    tool::{refused, Tool},
};
use crate::document::record;

/// License of the rows, which is that of the project.
const LICENSE: &str = env!("CARGO_PKG_LICENSE");
const SOURCE: &str = concat!("toolwire probe ", env!("CARGO_PKG_VERSION"));
const PLAIN: &str = "tool_1";

/// Data that all rows of a run share.
pub(crate) struct Rows<'p> {
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) dialect: &'static Dialect,
    pub(crate) target: &'p Target,
    pub(crate) model: &'p str,
    pub(crate) date: Option<&'p str>,
    /// True to keep names, descriptions and values.
    pub(crate) keep_names: bool,
}

impl Rows<'_> {
    /// Returns the row of a tool; `None` if the verdict depends on its private parts.
    pub(crate) fn row(&self, tool: &Tool, verdict: &Verdict) -> Option<String> {
        let sent = json::read(&tool.text).ok()?;
        let wire = self.endpoint.wire;
        let schema = wire.schema.iter().try_fold(&sent, |node, key| node.get(*key))?;
        let mut anonymous = Anonymous::default();
        let (name, schema) = if self.keep_names {
            (tool.name.clone(), owned(schema.clone()))
        } else {
            if let Some(name) = &tool.name {
                anonymous.rename(name, PLAIN.into());
            }
            (tool.name.as_ref().map(|_| PLAIN.to_string()), anonymous.schema(schema))
        };
        if !self.keep_names && self.judged(&sent, &schema) != tool.rules {
            return None;
        }
        let (verdict, status, error) = match verdict {
            Verdict::Accepted(status) => ("accepted", *status, Node::default()),
            Verdict::Refused(Refusal { status, text }) => {
                ("rejected", *status, Node::string(anonymous.anonymized(text)))
            }
        };
        let is_strict = tool.strict == Some(true) || internal::strict_member(self.dialect).is_some();
        let (host, model) = self.place();
        let row = record([
            ("surface", Node::string(self.target.known.surface(self.endpoint))),
            ("format", Node::string(wire.format)),
            ("host", Node::string(host)),
            ("model", model.map_or_else(Node::default, Node::string)),
            ("kind", Node::string(if is_strict { "strict-tool" } else { "tool" })),
            ("carrier", Node::string(wire.carrier)),
            ("strict", is_strict.then_some(true).or(tool.strict).map_or_else(Node::default, Node::bool)),
            ("name", name.map_or_else(Node::default, Node::string)),
            ("schema", schema),
            ("verdict", Node::string(verdict)),
            ("status", Node::count(status.into())),
            ("error", error),
            ("evidence", Node::string("recorded")),
            ("seen", Node::count(1)),
            ("source", Node::string(SOURCE)),
            ("license", Node::string(LICENSE)),
            ("recorded", self.date.map_or_else(Node::default, Node::string)),
            ("committed", Node::default()),
        ]);
        Some(json::write(&row) + "\n")
    }

    /// Returns the violations that `check` reports for a tool with a different name and schema.
    fn judged(&self, sent: &Node<'_>, schema: &Node<'_>) -> Vec<&'static str> {
        let mut sent = sent.clone();
        put(&mut sent, self.endpoint.wire.schema, schema);
        put(&mut sent, self.endpoint.wire.name, &Node::string(PLAIN));
        refused(&json::write(&Node::array(Vec::from([sent]))), self.dialect)
    }

    /// Returns the public form of the host and the model.
    fn place(&self) -> (String, Option<String>) {
        let model = match self.model.strip_prefix("ft:") {
            Some(tuned) => format!("ft:{}", tuned.split(':').next().unwrap_or_default()),
            None => self.model.to_string(),
        };
        match self.target.known {
            Known::Api => (self.target.host.clone(), Some(model).filter(|model| !model.starts_with("arn:"))),
            Known::Tenant(host) => (host.into(), None),
            Known::Gateway(gateway) => (gateway.host.into(), Some(model)),
            Known::Elsewhere => ("a server of one's own".into(), None),
        }
    }
}

/// Sets a member that already exists.
fn put(node: &mut Node<'_>, path: &[&str], value: &Node<'_>) {
    let Some((first, rest)) = path.split_first() else { return };
    if node.get(*first).is_none() {
        return;
    }
    match (rest.is_empty(), node.as_object_mut()) {
        (true, Some(object)) => object.set(Text::new((*first).to_string()), owned(value.clone())),
        (false, Some(object)) => {
            if let Some(inner) = object.get_mut(*first) {
                put(inner, rest, value);
            }
        }
        (_, None) => {}
    }
}
