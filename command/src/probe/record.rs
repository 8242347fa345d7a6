//! Writes answers as rows of evidence, in the format of `answers.jsonl`, without private data: keys, headers, private
//! addresses, names, descriptions, values, and the user's identity. A schema keeps its keywords and its structure,
//! which determine the verdict of an API.

use std::collections::BTreeMap;

use toolwire::{
    internal::{
        self,
        json::{self, Data, Member, Node, Object, Text},
    },
    Dialect,
};

use super::{
    endpoints::Endpoint,
    search::{Refusal, Verdict},
    target::{refused, Known, Target, Tool},
};
use crate::document::record;

/// License of the rows: the project's license.
const LICENSE: &str = env!("CARGO_PKG_LICENSE");
const SOURCE: &str = concat!("toolwire probe ", env!("CARGO_PKG_VERSION"));
const PLAIN: &str = "tool_1";

pub(crate) struct Rows<'p> {
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) dialect: &'static Dialect,
    pub(crate) target: &'p Target,
    pub(crate) model: &'p str,
    pub(crate) date: Option<&'p str>,
    /// True if names, descriptions and values are kept.
    pub(crate) keep_names: bool,
}

impl Rows<'_> {
    /// Returns `None` if anonymizing the tool changes the violations that `check` reports.
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
        if !self.keep_names && self.violated_rules(&sent, &schema) != tool.rules {
            return None;
        }
        let (verdict, status, error) = match verdict {
            Verdict::Accepted(status) => ("accepted", *status, Node::default()),
            Verdict::Refused(Refusal { status, text }) => {
                ("rejected", *status, Node::string(anonymous.anonymized(text)))
            }
        };
        let is_strict = tool.strict == Some(true) || internal::strict_member(self.dialect).is_some();
        let (host, model) = self.host_and_model();
        let row = record([
            ("surface", Node::string(self.target.known.surface(self.endpoint))),
            ("format", Node::string(wire.format)),
            ("host", Node::string(host)),
            ("model", model.map_or_else(Node::default, Node::string)),
            ("kind", Node::string(if is_strict { "strict-tool" } else { "tool" })),
            ("carrier", Node::string(wire.schema_member)),
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

    fn violated_rules(&self, sent: &Node<'_>, schema: &Node<'_>) -> Vec<&'static str> {
        let mut sent = sent.clone();
        put(&mut sent, self.endpoint.wire.schema, schema);
        put(&mut sent, self.endpoint.wire.name, &Node::string(PLAIN));
        refused(&json::write(&Node::array(Vec::from([sent]))), self.dialect)
    }

    /// The public form of the host and the model.
    fn host_and_model(&self) -> (String, Option<String>) {
        let model = match self.model.strip_prefix("ft:") {
            Some(tuned) => format!("ft:{}", tuned.split(':').next().unwrap_or_default()),
            None => self.model.to_string(),
        };
        match self.target.known {
            Known::Api => (self.target.host.clone(), Some(model).filter(|model| !model.starts_with("arn:"))),
            Known::Tenant(host) => (host.into(), None),
            Known::Gateway(gateway) => (gateway.host.into(), Some(model)),
            Known::Elsewhere => ("a self-hosted server".into(), None),
        }
    }
}

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

/// Keywords whose value is human-readable text.
const TEXTS: [&str; 5] = ["title", "description", "$comment", "markdownDescription", "errorMessage"];
/// Keywords whose members have user-defined names and schemas as values.
const TABLES: [&str; 5] = ["properties", "$defs", "definitions", "dependentSchemas", "patternProperties"];
/// Keywords with data, which contain no schemas.
const DATA: [&str; 5] = ["default", "const", "enum", "examples", "example"];
/// Keywords with lists of names, or tables of such lists.
const NAMES: [&str; 4] = ["required", "dependentRequired", "propertyOrdering", "dependencies"];
/// Keywords with predefined values.
const WORDS: [&str; 4] = ["type", "format", "contentEncoding", "contentMediaType"];
/// Names of keywords and common names. They are kept, because an API may treat them specially, and they reveal nothing.
const COMMON: [&str; 32] = [
    "type",
    "name",
    "id",
    "title",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "default",
    "format",
    "pattern",
    "not",
    "if",
    "then",
    "else",
    "examples",
    "key",
    "value",
    "function",
    "tool",
    "object",
    "array",
    "string",
    "number",
    "integer",
    "boolean",
    "null",
    "schema",
    "parameters",
    "property",
];
const TEXT: &str = "text";
const ADDRESS: &str = "https://example.com/schema";

#[derive(Debug, Default)]
struct Anonymous {
    names: BTreeMap<String, String>,
    values: BTreeMap<String, String>,
    texts: Vec<String>,
}

impl Anonymous {
    pub(crate) fn rename(&mut self, name: &str, new: String) {
        self.names.insert(name.into(), new);
    }

    pub(crate) fn schema(&mut self, node: &Node<'_>) -> Node<'static> {
        match node.data() {
            Data::Array(items) => Node::array(items.iter().map(|item| self.schema(item)).collect()),
            Data::Object(object) => {
                let members = object.iter().map(|member| {
                    let key = member.key.display();
                    let value = self.member(&key, &member.value);
                    let key = if key.starts_with("x-") { self.name(&key) } else { key.into_owned() };
                    Member { key: Text::new(key), value }
                });
                Node::object(Object::from_members(members.collect()))
            }
            _ => self.value(node),
        }
    }

    fn member(&mut self, key: &str, value: &Node<'_>) -> Node<'static> {
        let text = value.as_text().map(|text| text.display().into_owned());
        match (text, value.as_object()) {
            (Some(text), _) if TEXTS.contains(&key) => {
                self.texts.push(text.clone());
                Node::string(if text.is_empty() { "" } else { TEXT })
            }
            (Some(text), _) if WORDS.contains(&key) => Node::string(text),
            (Some(text), _) if matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef") => {
                Node::string(self.reference(&text))
            }
            (Some(text), _) if key == "$schema" && text.contains("//json-schema.org/") => Node::string(text),
            (Some(_), _) if matches!(key, "$schema" | "$id" | "id") => Node::string(ADDRESS),
            (Some(text), _) if key == "pattern" => Node::string(pattern(&text)),
            (Some(text), _) if matches!(key, "propertyName" | "$anchor" | "$dynamicAnchor") => {
                Node::string(self.name(&text))
            }
            (_, Some(table)) if TABLES.contains(&key) => {
                let members = table.iter().map(|member| {
                    let name = member.key.display();
                    let name = if key == "patternProperties" { pattern(&name) } else { self.name(&name) };
                    let value = self.schema(&member.value);
                    Member { key: Text::new(name), value }
                });
                Node::object(Object::from_members(members.collect()))
            }
            _ if NAMES.contains(&key) => self.list(value),
            _ if DATA.contains(&key) => self.value(value),
            _ if key == "type" => owned(value.clone()),
            _ => self.schema(value),
        }
    }

    fn list(&mut self, node: &Node<'_>) -> Node<'static> {
        match node.data() {
            Data::String(text) => Node::string(self.name(&text.display())),
            Data::Array(items) => Node::array(items.iter().map(|item| self.list(item)).collect()),
            Data::Object(table) => {
                let members = table.iter().map(|member| {
                    let value = match member.value.as_array() {
                        Some(_) => self.list(&member.value),
                        None => self.schema(&member.value),
                    };
                    Member { key: Text::new(self.name(&member.key.display())), value }
                });
                Node::object(Object::from_members(members.collect()))
            }
            _ => self.value(node),
        }
    }

    /// Each non-empty string gets a unique replacement. Other scalars are kept.
    fn value(&mut self, node: &Node<'_>) -> Node<'static> {
        match node.data() {
            Data::Array(items) => Node::array(items.iter().map(|item| self.value(item)).collect()),
            Data::Object(object) => {
                let members = object.iter().map(|member| Member {
                    key: Text::new(self.name(&member.key.display())),
                    value: self.value(&member.value),
                });
                Node::object(Object::from_members(members.collect()))
            }
            Data::String(text) => {
                let text = text.display().into_owned();
                if text.is_empty() {
                    return Node::string("");
                }
                let number = self.values.len() + 1;
                Node::string(self.values.entry(text).or_insert_with(|| format!("value_{number}")).clone())
            }
            Data::Number(_) | Data::Bool(_) | Data::Null => owned(node.clone()),
            _ => Node::default(),
        }
    }

    /// Anonymizes a name. An identifier becomes an identifier; other names keep their special characters.
    fn name(&mut self, name: &str) -> String {
        if COMMON.contains(&name) || name.is_empty() || name.starts_with('$') {
            return name.into();
        }
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let is_plain = name.bytes().all(|character| character.is_ascii_alphanumeric() || character == b'_')
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name.len() <= 64;
        let number = self.names.len() + 1;
        let new = match name.strip_prefix("x-") {
            Some(_) => format!("x-{number}"),
            None if is_plain => format!("name_{number}"),
            None => {
                let masked =
                    name.chars().map(|character| if character.is_ascii_alphabetic() { 'n' } else { character });
                format!("{}{number}", masked.collect::<String>())
            }
        };
        self.names.insert(name.into(), new.clone());
        new
    }

    fn reference(&mut self, text: &str) -> String {
        let (address, fragment) = text.split_once('#').map_or((text, None), |(address, rest)| (address, Some(rest)));
        let address = if address.is_empty() { "" } else { ADDRESS };
        let steps: Option<Vec<String>> = fragment.map(|fragment| {
            let is_own =
                |step: &&str| TABLES.contains(step) || toolwire::internal::schema_members().any(|key| key == *step);
            fragment
                .split('/')
                .map(|step| if is_own(&step) || step.parse::<usize>().is_ok() { step.into() } else { self.name(step) })
                .collect()
        });
        format!("{address}{}", steps.map(|steps| format!("#{}", steps.join("/"))).unwrap_or_default())
    }

    pub(crate) fn anonymized(&self, text: &str) -> String {
        let mut out = String::from(text);
        for text in self.texts.iter().filter(|text| text.len() > 3) {
            out = out.replace(text.as_str(), TEXT);
        }
        let is_word = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
        let mut words: Vec<(&String, &String)> = self.names.iter().chain(&self.values).collect();
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        for (word, new) in words {
            if COMMON.contains(&word.as_str()) {
                continue;
            }
            let (mut replaced, mut rest) = (String::with_capacity(out.len()), out.as_str());
            while let Some((before, after)) = rest.split_once(word.as_str()) {
                let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
                replaced.push_str(before);
                replaced.push_str(if is_whole { new } else { word });
                rest = after;
            }
            replaced.push_str(rest);
            out = replaced;
        }
        // The API may quote a part of a description: the rest of the error from there on is dropped.
        let parts = self.texts.iter().flat_map(|text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.windows(3).map(|three| three.join(" ")).collect::<Vec<_>>()
        });
        match parts.filter_map(|part| out.find(&part)).min() {
            Some(at) => format!("{}…", out.get(..at).unwrap_or_default()),
            None => out,
        }
    }
}

fn pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        // `\d`, `\p{Letter}`, `(?<name>` are syntax.
        let is_syntax = ["\\", "\\p{", "\\P{", "(?<", "(?P<", "(?"].iter().any(|prefix| out.ends_with(prefix));
        match word.len() {
            0..=2 => out.push_str(word),
            _ if is_syntax => out.push_str(word),
            long => (0..long).for_each(|_| out.push('n')),
        }
        let mut others = after.chars();
        out.extend(others.next());
        rest = others.as_str();
    }
    out
}

fn owned(node: Node<'_>) -> Node<'static> {
    match node.into_data() {
        Data::Array(items) => Node::array(items.into_iter().map(owned).collect()),
        Data::Object(object) => {
            let members = object.into_members().into_iter();
            let members = members.map(|member| Member { key: member.key.into_owned(), value: owned(member.value) });
            Node::object(Object::from_members(members.collect()))
        }
        Data::String(text) => Node::string(text.into_owned()),
        Data::Number(number) => Node::new(Data::Number(number.into_owned().into())),
        Data::Bool(value) => Node::bool(value),
        _ => Node::default(),
    }
}
