//! The tools of a list, one by one, whatever format the list has: Anthropic, OpenAI Chat Completions, OpenAI Responses
//! with namespaces, Gemini with groups, Bedrock Converse, MCP.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    envelope,
    error::{Code, Error},
    json::{Data, Node, Step, Text},
    report::Recorder,
    request::{
        tool::{self, has_type, type_of, Kind},
        tool_list::GROUPS,
    },
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Visit},
    },
};

/// A part of a tool in which words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    /// What the tool says about itself, and what its namespace does.
    Description,
    ArgumentName,
    ArgumentDescription,
}

impl Field {
    pub(super) const COUNT: usize = 4;
}

/// One tool of a list.
pub(super) struct Listed<'n, 'a> {
    /// The name a reference has: with its namespace, where it has one.
    pub(super) name: Text<'a>,
    pub(super) deferred: bool,
    tool: &'n Node<'a>,
    /// The flat name of the namespace it is in.
    namespace: Option<&'n Text<'a>>,
    /// Descriptions of the namespaces around it.
    about: &'n [&'n Text<'a>],
}

/// The entries of a tool list, or of an object that has one in `tools`, such as a request or the answer to MCP's
/// `tools/list`, or in `toolConfig`, such as a request of Bedrock Converse.
///
/// # Errors
/// `invalid-request` if it is neither.
pub(super) fn entries<'n, 'a>(list: &'n Node<'a>) -> Result<&'n [Node<'a>], Error> {
    let in_config = || list.get("toolConfig")?.get("tools");
    let (tools, pointer) = match (list.get("tools"), in_config()) {
        (Some(tools), _) => (tools, "/tools"),
        (None, Some(tools)) => (tools, "/toolConfig/tools"),
        (None, None) => (list, ""),
    };
    match tools.data() {
        Data::Array(entries) => Ok(entries),
        // Gemini's `tools` may be one entry.
        Data::Object(_) if GROUPS.iter().any(|group| tools.get(group).is_some()) => Ok(core::slice::from_ref(tools)),
        Data::Null => Ok(&[]),
        _ => {
            let found = alloc::format!(
                "expected a list of tools, or an object with one in `tools` or `toolConfig.tools`, found {}",
                tools.kind()
            );
            Err(Error::new(Code::InvalidRequest, pointer, found))
        }
    }
}

/// Gives every tool that has a name to `found`, in order. Searches and toolsets are no tools to be found.
pub(super) fn each<'a>(entries: &[Node<'a>], found: &mut dyn FnMut(&Listed<'_, 'a>)) {
    let mut about = Vec::new();
    for entry in entries {
        let groups = GROUPS.iter().filter_map(|group| entry.get(group)?.as_array());
        groups.flatten().for_each(|function| one(function, None, false, &mut about, found));
        one(entry, None, false, &mut about, found);
    }
}

fn one<'n, 'a>(
    entry: &'n Node<'a>,
    outer: Option<&Text<'a>>,
    deferred: bool,
    about: &mut Vec<&'n Text<'a>>,
    found: &mut dyn FnMut(&Listed<'_, 'a>),
) {
    if has_type(entry, "namespace") {
        // The API knows one level of them.
        if outer.is_some() {
            return;
        }
        let none = Text::literal("");
        let namespace = entry.get("name").and_then(Node::as_text).unwrap_or(&none);
        let deferred = deferred || entry.get(tool::FLAG).and_then(Node::as_bool) == Some(true);
        let depth = about.len();
        about.extend(entry.get("description").and_then(Node::as_text));
        for member in entry.get("tools").and_then(Node::as_array).unwrap_or_default() {
            one(member, Some(namespace), deferred, about, found);
        }
        about.truncate(depth);
        return;
    }
    if tool::kind(entry) != Kind::Tool || tool::is_placeholder(entry) {
        return;
    }
    let Some(name) = tool::name(entry) else { return };
    let name = crate::request::namespaces::flat(outer, name);
    // In a namespace that defers, a member may say for itself that it does not.
    let deferred = tool::deferral(entry).0 || deferred && entry.get(tool::FLAG).is_none();
    found(&Listed { name, deferred, tool: entry, namespace: outer, about });
}

impl<'a> Listed<'_, 'a> {
    /// What the tool says about itself.
    pub(super) fn description(&self) -> Option<&Text<'a>> {
        tool::description(self.tool)
    }

    /// The tool as OpenAI Responses lists it, for an answer that holds definitions: as it is, if that is how it came,
    /// else as a function.
    pub(super) fn definition(&self) -> Node<'a> {
        let listed_so =
            type_of(self.tool).is_some() && self.tool.get("name").is_some() && self.tool.get("input_schema").is_none();
        let tool = if listed_so { self.tool.clone() } else { self.function() };
        let Some(namespace) = self.namespace.filter(|name| !name.is_empty()) else { return tool };
        let mut around =
            Node::record([("type", Node::literal("namespace")), ("name", Node::string(namespace.clone()))]);
        if let Some(object) = around.as_object_mut() {
            if let Some(about) = self.about.last() {
                object.set("description", Node::string((*about).clone()));
            }
            object.set("tools", Node::array(alloc::vec![tool]));
        }
        around
    }

    fn function(&self) -> Node<'a> {
        let mut schema = self.schema().cloned().unwrap_or_default();
        envelope::normalize(&mut schema, &mut Recorder::off());
        if schema.get("$schema").is_some() {
            schema.remove("$schema");
        }
        let mut function =
            Node::record([("type", Node::literal("function")), ("name", Node::string(self.name.clone()))]);
        if let Some(object) = function.as_object_mut() {
            if let Some(description) = self.description() {
                object.set("description", Node::string(description.clone()));
            }
            object.set("parameters", schema);
            object.set("strict", Node::bool(false));
            object.set(tool::FLAG, Node::bool(true));
        }
        function
    }

    fn schema(&self) -> Option<&Node<'a>> {
        tool::schema(self.tool).or_else(|| self.tool.get("inputSchema"))
    }

    /// Gives every text in which words are looked for.
    pub(super) fn texts(&self, found: &mut dyn FnMut(Field, &Text<'_>)) {
        found(Field::Name, &self.name);
        let titles = [Some(self.tool), self.tool.get("annotations")]
            .into_iter()
            .flatten()
            .filter_map(|node| node.get("title")?.as_text());
        for text in titles.chain(self.description()).chain(self.about.iter().copied()) {
            found(Field::Description, text);
        }
        let Some(schema) = self.schema() else { return };
        // The visitor never fails, so neither does the walk.
        // One walk never takes more than the budget of a call.
        let _ = visit::walk(&Budget::new(schema.values_read(), None), schema, Keywords::ALL, &mut |node, place| {
            if let (Some(Keyword::Properties), Some(Step::Member(name))) = (place.keyword, place.pointer.steps().last())
            {
                found(Field::ArgumentName, name);
            }
            if let Some(description) = node.get("description").and_then(Node::as_text) {
                found(Field::ArgumentDescription, description);
            }
            Ok(Visit::Descend)
        });
    }
}
