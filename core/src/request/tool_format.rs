//! The shapes of tools: recognising one, finding its parts, and writing another.

use alloc::{string::String, vec::Vec};

use crate::{
    dialect::{surface::StrictFlag, Dialect},
    json::{push_token, Member, Node, Object, Text},
    options::{Api, ToolFormat},
};

/// What an entry of a tool list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A tool that the caller runs.
    Tool(Shape),
    /// Something that the API runs, or a setting: passed on as it is.
    Hosted,
    /// No object, or one in which nothing is known.
    Unknown,
}

/// How a tool is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `None`: a name without a schema, as several APIs write a tool without arguments.
    format: Option<ToolFormat>,
    /// The member that holds the definition; `None`: the entry does.
    holder: Option<&'static str>,
    /// The member of the definition that holds the schema, if there is one.
    key: Option<&'static str>,
}

const STRICT: &str = "strict";
const FUNCTION: &str = "function";
const TOOL_SPEC: &str = "toolSpec";
/// Where Bedrock keeps the schema, inside the member that others call by the same name.
const BEDROCK_INNER: &str = "json";

/// The members that hold a schema, and whose tool it is where one stands on the entry itself.
const KEYS: [(&str, ToolFormat); 5] = [
    ("inputSchema", ToolFormat::Mcp),
    ("input_schema", ToolFormat::Anthropic),
    ("parametersJsonSchema", ToolFormat::GeminiJsonSchema),
    ("parameters_json_schema", ToolFormat::GeminiJsonSchema),
    ("parameters", ToolFormat::Gemini),
];

/// The names of the members that hold a schema.
pub(crate) fn schema_members() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, _)| *key)
}

/// The member that holds the definition in a format.
const fn holder_of(format: ToolFormat) -> Option<&'static str> {
    match format {
        ToolFormat::OpenaiChat => Some(FUNCTION),
        ToolFormat::Bedrock => Some(TOOL_SPEC),
        _ => None,
    }
}

/// The member of a definition that holds the schema in a format.
const fn key_of(format: ToolFormat) -> &'static str {
    match format {
        ToolFormat::Mcp | ToolFormat::Bedrock => "inputSchema",
        ToolFormat::Anthropic => "input_schema",
        ToolFormat::GeminiJsonSchema => "parametersJsonSchema",
        ToolFormat::OpenaiChat | ToolFormat::OpenaiResponses | ToolFormat::Gemini => "parameters",
    }
}

/// The API whose flags and other members a tool of a format has: OpenAI's two have the same, MCP is no model API.
pub(crate) const fn api_of(format: ToolFormat) -> Option<Api> {
    match format {
        ToolFormat::Mcp => None,
        ToolFormat::Anthropic => Some(Api::Anthropic),
        ToolFormat::OpenaiChat | ToolFormat::OpenaiResponses => Some(Api::OpenaiChat),
        ToolFormat::Gemini | ToolFormat::GeminiJsonSchema => Some(Api::Gemini),
        ToolFormat::Bedrock => Some(Api::Bedrock),
    }
}

/// The shape of the tools in a request for an API; `home`: that of the dialect's own API.
pub(crate) fn sent_to(api: Api, home: ToolFormat) -> ToolFormat {
    match api {
        Api::Gemini if api_of(home) == Some(Api::Gemini) => home,
        Api::Gemini => ToolFormat::GeminiJsonSchema,
        api => api.tools(),
    }
}

/// What the flag `strict` has to say in a tool of this format.
pub(crate) fn strict_in(dialect: &Dialect, format: ToolFormat) -> Option<bool> {
    let at_home = api_of(format) == api_of(dialect.tools.format);
    match dialect.tools.strict {
        StrictFlag::True if at_home => Some(true),
        StrictFlag::False if at_home => Some(false),
        // There an omitted flag means true.
        _ if format == ToolFormat::OpenaiResponses => Some(false),
        _ => None,
    }
}

/// What an entry is. Each tool says itself in which API's shape it is written; lists may mix them.
pub(crate) fn recognise(entry: &Node<'_>) -> Entry {
    let Some(object) = entry.as_object() else { return Entry::Unknown };
    let kind = entry.get("type").filter(|kind| !kind.is_null());
    let is_function = kind.is_some_and(|kind| kind.is_text(FUNCTION));
    if kind.is_none() || is_function {
        for (holder, format) in [(FUNCTION, ToolFormat::OpenaiChat), (TOOL_SPEC, ToolFormat::Bedrock)] {
            if let Some(definition) = entry.get(holder).filter(|inner| inner.as_object().is_some()) {
                let key = KEYS.iter().map(|(key, _)| *key).find(|key| definition.get(key).is_some());
                return Entry::Tool(Shape { format: Some(format), holder: Some(holder), key });
            }
        }
    }
    let found = KEYS.iter().find(|(key, _)| object.has(key));
    match (kind, found) {
        _ if is_function => Entry::Tool(Shape {
            format: Some(ToolFormat::OpenaiResponses),
            holder: None,
            key: found.map(|(key, _)| *key),
        }),
        // Anthropic writes `type: "custom"` for tools of the caller; OpenAI's custom tools have a grammar, and no
        // schema.
        (Some(kind), Some((key, format))) if kind.is_text("custom") => {
            Entry::Tool(Shape { format: Some(*format), holder: None, key: Some(key) })
        }
        (Some(_), _) => Entry::Hosted,
        (None, Some((key, format))) => Entry::Tool(Shape { format: Some(*format), holder: None, key: Some(key) }),
        (None, None) if object.has("name") => Entry::Tool(Shape { format: None, holder: None, key: None }),
        // `{"googleSearch": {}}`, `{"cachePoint": {"type": "default"}}`
        (None, None) if !object.is_empty() && object.iter().all(|member| member.value.as_object().is_some()) => {
            Entry::Hosted
        }
        (None, None) => Entry::Unknown,
    }
}

/// The shape of a tool that is written in a format.
pub(crate) const fn written(format: ToolFormat, without_schema: bool) -> Shape {
    Shape {
        format: Some(format),
        holder: holder_of(format),
        key: if without_schema { None } else { Some(key_of(format)) },
    }
}

/// What is to change about a tool, its schema aside.
pub(crate) struct Edits {
    /// Another name.
    pub(crate) name: Option<String>,
    /// Another description, or none.
    pub(crate) description: Option<Option<String>>,
    /// What the flag says; `None`: it is left out.
    pub(crate) strict: Option<bool>,
    /// Leave the schema out.
    pub(crate) omit: bool,
}

impl Shape {
    fn definition<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.holder.map_or(Some(entry), |holder| entry.get(holder))
    }

    fn edit_definition<'a, R>(self, entry: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        match self.holder {
            Some(holder) => entry.visit(holder, edit),
            None => Some(edit(entry)),
        }
    }

    /// Whose shape it has, where that can be told.
    pub(crate) fn format(self) -> Option<ToolFormat> {
        self.format
    }

    /// A member of the definition.
    pub(crate) fn part<'n, 'a>(self, entry: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
        self.definition(entry)?.get(key)
    }

    /// The name, unless it is empty or no string.
    pub(crate) fn name<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Text<'a>> {
        self.part(entry, "name").and_then(Node::as_text).filter(|name| !name.is_empty())
    }

    /// Gives the tool another name.
    pub(crate) fn rename<'a>(self, entry: &mut Node<'a>, name: Text<'a>) {
        self.edit_definition(entry, |definition| definition.set("name", Node::string(name)));
    }

    /// What the flag says, if there is one.
    pub(crate) fn strict<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.part(entry, STRICT)
    }

    /// The schema. Null is none.
    pub(crate) fn schema<'n, 'a>(self, entry: &'n Node<'a>) -> Option<&'n Node<'a>> {
        let schema = self.part(entry, self.key?)?;
        let schema = if self.format == Some(ToolFormat::Bedrock) { schema.get(BEDROCK_INNER)? } else { schema };
        Some(schema).filter(|schema| !schema.is_null())
    }

    /// Lets `edit` change the schema where it stands.
    pub(crate) fn edit_schema<'a, R>(self, entry: &mut Node<'a>, edit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        let key = self.key?;
        let in_bedrock = self.format == Some(ToolFormat::Bedrock);
        self.edit_definition(entry, |definition| {
            definition
                .visit(key, |schema| if in_bedrock { schema.visit(BEDROCK_INNER, edit) } else { Some(edit(schema)) })
                .flatten()
        })?
    }

    /// Where the schema stands in the entry, or the entry itself if it has none.
    pub(crate) fn pointer_to_schema(self) -> Vec<&'static str> {
        let inner = (self.format == Some(ToolFormat::Bedrock)).then_some(BEDROCK_INNER);
        match self.key {
            Some(key) => [self.holder, Some(key), inner].into_iter().flatten().collect(),
            None => Vec::new(),
        }
    }

    /// Where the definition stands.
    pub(crate) fn path(self) -> Vec<&'static str> {
        self.holder.into_iter().collect()
    }

    /// Where a member of the definition stands.
    pub(crate) fn pointer_to(self, key: &'static str) -> Vec<&'static str> {
        [self.holder, Some(key)].into_iter().flatten().collect()
    }

    /// Whether an entry stays with its API, as it is written there.
    pub(crate) fn stays(self, written: Shape) -> bool {
        let own = self.format.zip(written.format);
        own.is_some_and(|(own, new)| api_of(own) == api_of(new)) && self.holder == written.holder
    }

    /// Writes an entry in a format. `added` is a schema for a tool that had none. Everything else in an entry is its
    /// API's business: it stays if the entry stays with that API, and is left out otherwise.
    pub(crate) fn settle<'a>(self, entry: &mut Node<'a>, format: ToolFormat, added: Option<Node<'a>>, edits: Edits) {
        if self.stays(written(format, false))
            || (self.format.is_none() && holder_of(format).is_none() && api_of(format) != Some(Api::OpenaiChat))
        {
            self.settle_in_place(entry, format, added, edits);
        } else {
            *entry = self.anew(entry, format, added, edits);
        }
    }

    fn settle_in_place<'a>(self, entry: &mut Node<'a>, format: ToolFormat, added: Option<Node<'a>>, edits: Edits) {
        let key = key_of(format);
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
                Some(own) if edits.omit => drop(definition.remove(own)),
                Some(own) if own != key => rename(definition, own, key),
                _ => {}
            }
            if let Some(schema) = added {
                definition.set(key, in_bedrock(format, schema));
            }
            match edits.strict {
                None if definition.get(STRICT).is_some() => drop(definition.remove(STRICT)),
                Some(value) if definition.get(STRICT).and_then(Node::as_bool) != Some(value) => {
                    definition.set(STRICT, Node::bool(value));
                }
                _ => {}
            }
        });
    }

    fn anew<'a>(self, entry: &mut Node<'a>, format: ToolFormat, added: Option<Node<'a>>, edits: Edits) -> Node<'a> {
        let part = |key: &'static str| self.part(entry, key).cloned();
        let name = edits.name.map(Node::string).or_else(|| part("name"));
        let description = match edits.description {
            Some(text) => text.map(Node::string),
            None => part("description"),
        };
        let schema = if edits.omit { None } else { added.or_else(|| self.edit_schema(entry, core::mem::take)) };
        let schema = schema.map(|schema| (key_of(format), in_bedrock(format, schema)));
        let kind = (format == ToolFormat::OpenaiResponses).then(|| ("type", Node::literal(FUNCTION)));
        let definition = members([
            kind,
            name.map(|name| ("name", name)),
            description.map(|text| ("description", text)),
            schema,
            edits.strict.map(|strict| (STRICT, Node::bool(strict))),
        ]);
        match holder_of(format) {
            Some(FUNCTION) => Node::record([("type", Node::literal(FUNCTION)), (FUNCTION, definition)]),
            Some(holder) => Node::record([(holder, definition)]),
            None => definition,
        }
    }
}

fn in_bedrock(format: ToolFormat, schema: Node<'_>) -> Node<'_> {
    if format == ToolFormat::Bedrock {
        Node::record([(BEDROCK_INNER, schema)])
    } else {
        schema
    }
}

fn members<'a, const N: usize>(list: [Option<(&'static str, Node<'a>)>; N]) -> Node<'a> {
    let members = list.into_iter().flatten().map(|(key, value)| Member { key: Text::literal(key), value });
    Node::object(Object::from_unique(members.collect()))
}

/// Gives a member another name. One that has that name already is gone then.
fn rename(node: &mut Node<'_>, from: &str, to: &'static str) {
    node.remove(to);
    let members = node.as_object_mut().into_iter().flat_map(Object::members_mut);
    if let Some(member) = members.into_iter().find(|member| member.key.is(from)) {
        member.key = Text::literal(to);
    }
}

/// The pointer to a part of an entry.
pub(crate) fn pointer(path: &[&str]) -> String {
    let mut out = String::new();
    path.iter().for_each(|token| push_token(&mut out, token));
    out
}
