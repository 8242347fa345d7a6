//! Reads the tools of a list in any format: Anthropic, OpenAI Chat Completions, OpenAI Responses with namespaces,
//! Gemini with groups, Bedrock Converse, MCP.

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

/// Part of a tool whose words are indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    /// Title and description of the tool, and descriptions of its namespaces.
    Description,
    ArgumentName,
    ArgumentDescription,
}

impl Field {
    pub(super) const COUNT: usize = 4;
}

/// One tool of a list.
pub(super) struct Listed<'n, 'a> {
    /// Name by which a reference identifies the tool. It includes the namespace, if there is one.
    pub(super) name: Text<'a>,
    pub(super) deferred: bool,
    tool: &'n Node<'a>,
    /// Name of the enclosing namespace.
    namespace: Option<&'n Text<'a>>,
    /// Descriptions of the enclosing namespaces.
    about: &'n [&'n Text<'a>],
}

/// Returns the entries of a tool list, of an object with a list in `tools`, such as a request or the result of MCP's
/// `tools/list`, or of an object with a list in `toolConfig`, such as a Bedrock Converse request.
///
/// # Errors
/// `invalid-request` for any other input.
pub(super) fn entries<'n, 'a>(list: &'n Node<'a>) -> Result<&'n [Node<'a>], Error> {
    let in_config = || list.get("toolConfig")?.get("tools");
    let (tools, pointer) = match (list.get("tools"), in_config()) {
        (Some(tools), _) => (tools, "/tools"),
        (None, Some(tools)) => (tools, "/toolConfig/tools"),
        (None, None) => (list, ""),
    };
    match tools.data() {
        Data::Array(entries) => Ok(entries),
        // Gemini's `tools` may be a single entry.
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

/// Calls `found` with each tool that has a name, in order. Skips searches and toolsets.
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
        // The API supports only one level of namespaces.
        if outer.is_some() {
            return;
        }
        let none = Text::literal("");
        let namespace = entry.text_at("name").unwrap_or(&none);
        let deferred = deferred || entry.bool_at(tool::FLAG) == Some(true);
        let depth = about.len();
        about.extend(entry.text_at("description"));
        for member in entry.items_at("tools") {
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
    // A tool in a deferred namespace may override the deferral with its own flag.
    let deferred = tool::deferral(entry).0 || deferred && entry.get(tool::FLAG).is_none();
    found(&Listed { name, deferred, tool: entry, namespace: outer, about });
}

impl<'a> Listed<'_, 'a> {
    /// Returns the tool's description.
    pub(super) fn description(&self) -> Option<&Text<'a>> {
        tool::description(self.tool)
    }

    /// Returns the tool in the form of OpenAI Responses, for an answer that contains definitions: unchanged if it
    /// already has this form, otherwise as a function.
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

    /// Calls `found` with each string whose words are indexed.
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
        // The visitor never fails, and one walk never exceeds the budget of a call.
        let _ = visit::walk(&Budget::new(schema.values_read(), None), schema, Keywords::ALL, &mut |node, place| {
            if let (Some(Keyword::Properties), Some(Step::Member(name))) = (place.keyword, place.pointer.steps().last())
            {
                found(Field::ArgumentName, name);
            }
            if let Some(description) = node.text_at("description") {
                found(Field::ArgumentDescription, description);
            }
            Ok(Visit::Descend)
        });
    }
}
