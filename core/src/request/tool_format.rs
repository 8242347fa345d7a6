//! Shapes of tool definitions: detects a shape, finds its parts and converts it to another.

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{surface::StrictFlag, Dialect},
    json::{push_token, Member, Node, Object, Text},
    options::{Api, ToolFormat},
    report::Grade,
    wire::{
        self,
        tool_list::{holder, of_format},
        Wire,
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A tool that the caller runs.
    Tool(ToolShape),
    /// A hosted tool or a setting, which is passed through unchanged.
    Hosted,
    /// An entry that is not an object, or an object without known members.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolShape {
    /// `None` if the tool has a name but no schema. Several APIs use such entries for tools without arguments.
    format: Option<ToolFormat>,
    /// Member that contains the definition; `None` if the entry itself is the definition.
    holder: Option<&'static str>,
    /// Member of the definition that contains the schema, if it has one.
    key: Option<&'static str>,
}

const STRICT: &str = "strict";
const FUNCTION: &str = "function";
/// Member of `inputSchema` in which Bedrock nests the schema.
const BEDROCK_INNER: &str = "json";

/// Members that contain a schema, each with the format of tools that have the member in the entry itself.
const SCHEMA_MEMBERS: [(&str, ToolFormat); 5] = [
    ("inputSchema", ToolFormat::Mcp),
    ("input_schema", ToolFormat::Anthropic),
    ("parametersJsonSchema", ToolFormat::GeminiJsonSchema),
    ("parameters_json_schema", ToolFormat::GeminiJsonSchema),
    ("parameters", ToolFormat::Gemini),
];

pub(crate) fn schema_members() -> impl Iterator<Item = &'static str> {
    SCHEMA_MEMBERS.iter().map(|(key, _)| *key)
}

const fn schema_member_of(format: ToolFormat) -> &'static str {
    match format {
        ToolFormat::Mcp | ToolFormat::Bedrock => "inputSchema",
        ToolFormat::Anthropic => "input_schema",
        ToolFormat::GeminiJsonSchema => "parametersJsonSchema",
        ToolFormat::OpenaiChat | ToolFormat::OpenaiResponses | ToolFormat::Gemini | ToolFormat::GeminiInteractions => {
            "parameters"
        }
    }
}

pub(crate) struct Examples {
    pub(crate) member: &'static str,
    pub(crate) statement: &'static str,
    pub(crate) confidence: Grade,
    pub(crate) source: &'static str,
}

const ANTHROPIC_EXAMPLES: Examples = Examples {
    member: "input_examples",
    statement: "the examples of a tool are valid against its schema",
    confidence: Grade::A,
    source:
        "Anthropic, tool use, `input_examples`: each example must be valid according to the tool's `input_schema`; \
        invalid examples return a 400 error (documentation, read 2026-11)",
};

pub(crate) const fn examples_of(format: ToolFormat) -> Option<&'static Examples> {
    match format {
        ToolFormat::Anthropic => Some(&ANTHROPIC_EXAMPLES),
        _ => None,
    }
}

/// Returns the API that defines the other members of tools in this format, such as flags. Both OpenAI formats belong to
/// one API; MCP belongs to none, because it is not a model API.
pub(crate) fn api_of(format: ToolFormat) -> Option<Api> {
    of_format(format).map(|wire| wire.tools().family())
}

pub(crate) fn request_api_of(format: ToolFormat) -> Option<Api> {
    of_format(format).map(Wire::api)
}

/// Returns true for formats whose functions have `type: "function"` and no inner definition. Such an entry does not
/// show its format.
const fn is_flat_function(format: ToolFormat) -> bool {
    matches!(format, ToolFormat::OpenaiResponses | ToolFormat::GeminiInteractions)
}

pub(crate) fn sent_to(api: Api, home: ToolFormat) -> ToolFormat {
    wire::of(api).tools().format(home)
}

pub(crate) fn strict_in(dialect: &Dialect, format: ToolFormat) -> Option<bool> {
    let at_home = api_of(format) == api_of(dialect.tools.format);
    match dialect.tools.strict {
        StrictFlag::True if at_home => Some(true),
        StrictFlag::False if at_home => Some(false),
        // In this format, an omitted flag means true.
        _ if format == ToolFormat::OpenaiResponses => Some(false),
        _ => None,
    }
}

/// Recognizes the format of a single entry, because lists may mix formats.
pub(crate) fn recognize(entry: &Node<'_>) -> Entry {
    let Some(object) = entry.as_object() else { return Entry::Unknown };
    let kind = entry.get("type").filter(|kind| !kind.is_null());
    let is_function = kind.is_some_and(|kind| kind.is_text(FUNCTION));
    if kind.is_none() || is_function {
        for format in [ToolFormat::OpenaiChat, ToolFormat::Bedrock] {
            let Some(holder) = holder(format) else { continue };
            if let Some(definition) = entry.get(holder).filter(|inner| inner.as_object().is_some()) {
                let key = SCHEMA_MEMBERS.iter().map(|(key, _)| *key).find(|key| definition.get(key).is_some());
                return Entry::Tool(ToolShape { format: Some(format), holder: Some(holder), key });
            }
        }
    }
    let schema_member = SCHEMA_MEMBERS.iter().find(|(key, _)| object.has(key));
    match (kind, schema_member) {
        _ if is_function => Entry::Tool(ToolShape {
            format: Some(ToolFormat::OpenaiResponses),
            holder: None,
            key: schema_member.map(|(key, _)| *key),
        }),
        // Anthropic uses `type: "custom"` for tools that the caller runs. OpenAI's `custom` tools have a grammar and no
        // schema.
        (Some(kind), Some((key, format))) if kind.is_text("custom") => {
            Entry::Tool(ToolShape { format: Some(*format), holder: None, key: Some(key) })
        }
        // Only MCP uses `inputSchema` in the entry itself, and its servers run all their tools themselves.
        (Some(_), Some((key, format))) if matches!(format, ToolFormat::Mcp) => {
            Entry::Tool(ToolShape { format: Some(*format), holder: None, key: Some(key) })
        }
        (Some(_), _) => Entry::Hosted,
        (None, Some((key, format))) => Entry::Tool(ToolShape { format: Some(*format), holder: None, key: Some(key) }),
        (None, None) if object.has("name") => Entry::Tool(ToolShape { format: None, holder: None, key: None }),
        // For example, `{"googleSearch": {}}` or `{"cachePoint": {"type": "default"}}`.
        (None, None) if !object.is_empty() && object.iter().all(|member| member.value.as_object().is_some()) => {
            Entry::Hosted
        }
        (None, None) => Entry::Unknown,
    }
}

pub(crate) const fn shape_in(format: ToolFormat, without_schema: bool) -> ToolShape {
    ToolShape {
        format: Some(format),
        holder: holder(format),
        key: if without_schema { None } else { Some(schema_member_of(format)) },
    }
}

pub(crate) struct Edits {
    pub(crate) name: Option<String>,
    /// `Some(None)` removes the description.
    pub(crate) description: Option<Option<String>>,
    /// `None` removes the flag.
    pub(crate) strict: Option<bool>,
    pub(crate) removes_schema: bool,
}

impl ToolShape {
    /// Returns the shape of any entry. An entry that the API defines may also have a name, a description and a schema.
    pub(crate) fn of(entry: &Node<'_>) -> ToolShape {
        if let Entry::Tool(shape) = recognize(entry) {
            return shape;
        }
        let holder = Some("custom").filter(|holder| entry.get(holder).is_some_and(|inner| inner.as_object().is_some()));
        let definition = holder.map_or(Some(entry), |holder| entry.get(holder));
        let key = SCHEMA_MEMBERS
            .iter()
            .map(|(key, _)| *key)
            .find(|key| definition.is_some_and(|inner| inner.get(key).is_some()));
        ToolShape { format: None, holder, key }
    }

    fn definition<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.holder.map_or(Some(entry), |holder| entry.get(holder))
    }

    fn edit_definition<'a, R>(self, entry: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        match self.holder {
            Some(holder) => entry.visit(holder, edit),
            None => Some(edit(entry)),
        }
    }

    pub(crate) fn format(self) -> Option<ToolFormat> {
        self.format
    }

    pub(crate) fn format_at(self, home: ToolFormat) -> Option<ToolFormat> {
        self.format.map(|format| if is_flat_function(format) && is_flat_function(home) { home } else { format })
    }

    pub(crate) fn part<'n, 'a>(self, entry: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
        self.definition(entry)?.get(key)
    }

    pub(crate) fn name<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Text<'a>> {
        self.part(entry, "name").and_then(Node::as_text).filter(|name| !name.is_empty())
    }

    pub(crate) fn rename<'a>(self, entry: &mut Node<'a>, name: Text<'a>) {
        self.edit_definition(entry, |definition| definition.set("name", Node::string(name)));
    }

    pub(crate) fn strict<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.part(entry, STRICT)
    }

    pub(crate) fn schema<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let schema = self.part(entry, self.key?)?;
        let schema = if self.format == Some(ToolFormat::Bedrock) { schema.get(BEDROCK_INNER)? } else { schema };
        Some(schema).filter(|schema| !schema.is_null())
    }

    pub(crate) fn edit_schema<'a, R>(self, entry: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        let key = self.key?;
        let in_bedrock = self.format == Some(ToolFormat::Bedrock);
        self.edit_definition(entry, |definition| {
            definition
                .visit(key, |schema| if in_bedrock { schema.visit(BEDROCK_INNER, edit) } else { Some(edit(schema)) })
                .flatten()
        })?
    }

    pub(crate) fn pointer_to_schema(self) -> Vec<&'static str> {
        let inner = (self.format == Some(ToolFormat::Bedrock)).then_some(BEDROCK_INNER);
        match self.key {
            Some(key) => [self.holder, Some(key), inner].into_iter().flatten().collect(),
            None => Vec::new(),
        }
    }

    /// Returns the path to the member that should contain the schema, or to the definition if it lacks the member.
    pub(crate) fn pointer_to_missing_schema(self, entry: &Node<'_>) -> Vec<&'static str> {
        let key = self.key.filter(|key| self.part(entry, key).is_some());
        key.map_or_else(|| self.path(), |key| self.pointer_to(key))
    }

    pub(crate) fn path(self) -> Vec<&'static str> {
        self.holder.into_iter().collect()
    }

    pub(crate) fn pointer_to(self, key: &'static str) -> Vec<&'static str> {
        [self.holder, Some(key)].into_iter().flatten().collect()
    }

    /// Returns the shape of the tool in another format. A member with several spellings in that format keeps its
    /// spelling.
    pub(crate) fn shape_in(self, format: ToolFormat, without_schema: bool) -> ToolShape {
        let written = shape_in(format, without_schema);
        ToolShape { key: written.key.map(|key| self.spelling(format).unwrap_or(key)), ..written }
    }

    fn spelling(self, format: ToolFormat) -> Option<&'static str> {
        self.key.filter(|key| self.format == Some(format) && SCHEMA_MEMBERS.contains(&(key, format)))
    }

    /// Returns true if an entry with this shape needs no conversion to a target shape: the APIs and the members that
    /// contain the definition are equal.
    pub(crate) fn needs_no_conversion(self, written: ToolShape) -> bool {
        let old = self.format.zip(written.format);
        let is_same = |old, new| api_of(old) == api_of(new) || is_flat_function(old) && is_flat_function(new);
        old.is_some_and(|(old, new)| is_same(old, new)) && self.holder == written.holder
    }

    /// Converts an entry. `added_schema` is a schema for a tool without a schema. All other members are specific to the
    /// API: they are removed if the API changes.
    pub(crate) fn convert_entry<'a>(
        self,
        entry: &mut Node<'a>,
        format: ToolFormat,
        added_schema: Option<Node<'a>>,
        edits: Edits,
    ) {
        let without_schema = false;
        if self.needs_no_conversion(shape_in(format, without_schema))
            || (self.format.is_none() && holder(format).is_none() && !is_flat_function(format))
        {
            self.edit_in_place(entry, format, added_schema, edits);
        } else {
            *entry = self.rebuild(entry, format, added_schema, edits);
        }
    }

    fn edit_in_place<'a>(self, entry: &mut Node<'a>, format: ToolFormat, added_schema: Option<Node<'a>>, edits: Edits) {
        let key = self.spelling(format).unwrap_or(schema_member_of(format));
        self.edit_definition(entry, |definition| {
            if let Some(name) = edits.name {
                definition.set("name", Node::string(name));
            }
            match edits.description {
                None => {}
                Some(None) => drop(definition.remove("description")),
                Some(Some(text)) => definition.set("description", Node::string(text)),
            }
            match self.key {
                Some(old_key) if edits.removes_schema => drop(definition.remove(old_key)),
                Some(old_key) if old_key != key => rename_member(definition, old_key, key),
                _ => {}
            }
            if let Some(schema) = added_schema {
                definition.set(key, nest_for_bedrock(format, schema));
            }
            match edits.strict {
                None if definition.get(STRICT).is_some() => drop(definition.remove(STRICT)),
                Some(value) if definition.bool_at(STRICT) != Some(value) => {
                    definition.set(STRICT, Node::bool(value));
                }
                _ => {}
            }
        });
    }

    fn rebuild<'a>(
        self,
        entry: &mut Node<'a>,
        format: ToolFormat,
        added_schema: Option<Node<'a>>,
        edits: Edits,
    ) -> Node<'a> {
        let part = |key: &'static str| self.part(entry, key).cloned();
        let name = edits.name.map(Node::string).or_else(|| part("name"));
        let description = match edits.description {
            Some(text) => text.map(Node::string),
            None => part("description"),
        };
        let schema =
            if edits.removes_schema { None } else { added_schema.or_else(|| self.edit_schema(entry, core::mem::take)) };
        let schema = schema.map(|schema| (schema_member_of(format), nest_for_bedrock(format, schema)));
        let kind = is_flat_function(format).then(|| ("type", Node::literal(FUNCTION)));
        let definition = record_of([
            kind,
            name.map(|name| ("name", name)),
            description.map(|text| ("description", text)),
            schema,
            edits.strict.map(|strict| (STRICT, Node::bool(strict))),
        ]);
        match holder(format) {
            Some(FUNCTION) => Node::record([("type", Node::literal(FUNCTION)), (FUNCTION, definition)]),
            Some(holder) => Node::record([(holder, definition)]),
            None => definition,
        }
    }
}

fn nest_for_bedrock(format: ToolFormat, schema: Node<'_>) -> Node<'_> {
    if format == ToolFormat::Bedrock {
        Node::record([(BEDROCK_INNER, schema)])
    } else {
        schema
    }
}

fn record_of<'a, const N: usize>(list: [Option<(&'static str, Node<'a>)>; N]) -> Node<'a> {
    let members = list.into_iter().flatten().map(|(key, value)| Member { key: Text::literal(key), value });
    Node::object(Object::from_unique(members.collect()))
}

fn rename_member(node: &mut Node<'_>, from: &str, to: &'static str) {
    node.remove(to);
    let members = node.as_object_mut().into_iter().flat_map(Object::members_mut);
    if let Some(member) = members.into_iter().find(|member| member.key.is(from)) {
        member.key = Text::literal(to);
    }
}

pub(crate) fn pointer(path: &[&str]) -> String {
    let mut out = String::new();
    path.iter().for_each(|token| push_token(&mut out, token));
    out
}
