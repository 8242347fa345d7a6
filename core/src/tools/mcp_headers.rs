//! `x-mcp-header` of MCP 2026-07-28 (SEP-2243): marks a property whose value clients repeat in the header
//! `Mcp-Param-NAME` of a call. Clients drop a tool with an annotation that the specification does not allow.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    collections::Set,
    json::{push_token, Data, Node, Text},
    schema::keyword::{Keyword, Subschemas},
};

const ANNOTATION: &str = "x-mcp-header";
/// Types of properties that may be marked. Numbers are excluded, because their text is not unique.
const ANNOTATED_TYPES: [&str; 3] = ["string", "integer", "boolean"];
/// Characters of a token of RFC 9110 other than ASCII letters and digits.
const TOKEN_SYMBOLS: &[u8] = b"!#$%&'*+-.^_`|~";

/// An annotation that is not allowed.
pub(crate) struct InvalidAnnotation {
    /// JSON Pointer into the schema.
    pub(crate) pointer: String,
    /// Human-readable: what was expected, then what was found.
    pub(crate) message: String,
    /// The positions of the members and items around the annotation, from the outermost inwards.
    path: Vec<usize>,
}

pub(crate) fn find_invalid(schema: &Node<'_>) -> Vec<InvalidAnnotation> {
    let mut scan = Scan::default();
    let is_reachable = true;
    scan.visit(schema, is_reachable);
    scan.invalid
}

pub(crate) fn is_valid(schema: &Node<'_>) -> bool {
    let mut scan = Scan::default();
    let is_reachable = true;
    scan.visit(schema, is_reachable);
    scan.invalid.is_empty() && !scan.names.is_empty()
}

/// Removes the annotations that `find_invalid` found in this schema.
pub(crate) fn remove(schema: &mut Node<'_>, annotations: &[InvalidAnnotation]) {
    // In reverse order, because a removal moves the members after it.
    for annotation in annotations.iter().rev() {
        remove_at(schema, &annotation.path);
    }
}

fn remove_at(node: &mut Node<'_>, path: &[usize]) {
    let Some((position, rest)) = path.split_first() else { return drop(node.remove(ANNOTATION)) };
    match node.data_mut() {
        Data::Array(items) => items.get_mut(*position).into_iter().for_each(|item| remove_at(item, rest)),
        Data::Object(object) => {
            let member = object.members_mut().get_mut(*position);
            member.into_iter().for_each(|member| remove_at(&mut member.value, rest));
        }
        _ => {}
    }
}

enum Token<'n, 'a> {
    Keyword(Keyword),
    Name(&'n Text<'a>),
    Item(usize),
}

#[derive(Default)]
struct Scan<'n, 'a> {
    invalid: Vec<InvalidAnnotation>,
    /// Names in lower case, because headers ignore case.
    names: Set<String>,
    /// The tokens of the pointer to the current schema, each with its position.
    path: Vec<(usize, Token<'n, 'a>)>,
}

impl<'n, 'a> Scan<'n, 'a> {
    /// A schema is reachable if all keywords around it are `properties`, so that the value of a call has one location.
    fn visit(&mut self, schema: &'n Node<'a>, is_reachable: bool) {
        let Some(object) = schema.as_object() else { return };
        if let Some(value) = schema.get(ANNOTATION) {
            if let Some((expected, actual)) = self.violation_of(schema, value, is_reachable && !self.path.is_empty()) {
                let message = format!("expected {expected}, found {actual}");
                let path = self.path.iter().map(|(position, _)| *position).collect();
                self.invalid.push(InvalidAnnotation { pointer: self.pointer(), message, path });
            }
        }
        for (position, member) in object.iter().enumerate() {
            let Some(keyword) = Keyword::named(&member.key) else { continue };
            self.path.push((position, Token::Keyword(keyword)));
            let is_reachable = is_reachable && keyword == Keyword::Properties;
            match (keyword.subschemas(), member.value.as_array()) {
                (Subschemas::Value, _) => {}
                (Subschemas::Schemas | Subschemas::SchemaOrSchemas, Some(list)) => {
                    let is_item_reachable = false;
                    for (index, item) in list.iter().enumerate() {
                        self.path.push((index, Token::Item(index)));
                        self.visit(item, is_item_reachable);
                        self.path.pop();
                    }
                }
                (Subschemas::Named | Subschemas::NamedOrNames, _) => {
                    for (index, inner) in member.value.as_object().into_iter().flatten().enumerate() {
                        self.path.push((index, Token::Name(&inner.key)));
                        self.visit(&inner.value, is_reachable);
                        self.path.pop();
                    }
                }
                _ => {
                    let is_reachable = false;
                    self.visit(&member.value, is_reachable);
                }
            }
            self.path.pop();
        }
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for (_, token) in &self.path {
            match token {
                Token::Keyword(keyword) => push_token(&mut pointer, keyword.name()),
                Token::Name(name) => push_token(&mut pointer, &name.display()),
                Token::Item(index) => push_token(&mut pointer, &index.to_string()),
            }
        }
        push_token(&mut pointer, ANNOTATION);
        pointer
    }

    fn violation_of(
        &mut self,
        schema: &Node<'_>,
        value: &Node<'_>,
        is_reachable: bool,
    ) -> Option<(&'static str, String)> {
        if !is_reachable {
            return Some((
                "`x-mcp-header` in a property of the arguments, or of an object in them",
                "it elsewhere".into(),
            ));
        }
        let name = value.as_text().map(|name| name.display().into_owned()).unwrap_or_default();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || TOKEN_SYMBOLS.contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            let found = if name.is_empty() { value.kind().to_string() } else { format!("`{name}`") };
            return Some(("the name of a header", found));
        }
        let kind = schema.get(Keyword::Type);
        if !kind.is_some_and(|kind| ANNOTATED_TYPES.iter().any(|known| kind.is_text(known))) {
            let found = kind.map_or("no type".into(), |kind| match kind.as_text() {
                Some(name) => format!("`{}`", name.display()),
                None => "a list of types".into(),
            });
            return Some(("`x-mcp-header` next to the type `string`, `integer` or `boolean`", found));
        }
        let is_new = self.names.insert(name.to_ascii_lowercase());
        (!is_new).then(|| ("each header once", format!("a second `{name}`")))
    }
}
