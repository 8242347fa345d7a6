//! `x-mcp-header` of MCP 2026-07-28 (SEP-2243): marks a property whose value clients repeat in the header
//! `Mcp-Param-NAME` of a call. Clients drop a tool with an annotation that the specification does not allow.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    collections::Set,
    json::{push_token, Node},
    schema::keyword::{Keyword, Subschemas},
};

const KEY: &str = "x-mcp-header";
/// Types of properties that may be marked. Numbers are excluded, because their text is not unique.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];
/// Characters of a token of RFC 9110 other than ASCII letters and digits.
const TOKEN: &[u8] = b"!#$%&'*+-.^_`|~";

/// An annotation that is not allowed.
pub(crate) struct Invalid {
    /// JSON Pointer into the schema.
    pub(crate) pointer: String,
    /// For people: what was expected, then what was found.
    pub(crate) message: String,
}

/// Returns the annotations of a tool's schema that are not allowed.
pub(crate) fn invalid(schema: &Node<'_>) -> Vec<Invalid> {
    let mut scan = Scan::default();
    scan.visit(schema, "", true);
    scan.found
}

/// Returns true if a schema has annotations, and all of them are allowed.
pub(crate) fn is_valid(schema: &Node<'_>) -> bool {
    let mut scan = Scan::default();
    scan.visit(schema, "", true);
    scan.found.is_empty() && !scan.names.is_empty()
}

/// Removes an annotation.
pub(crate) fn remove(schema: &mut Node<'_>, pointer: &str) {
    let mut tokens = pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
    remove_at(schema, &mut tokens);
}

fn remove_at(node: &mut Node<'_>, tokens: &mut impl Iterator<Item = String>) {
    let Some(token) = tokens.next() else { return };
    if token == KEY {
        node.remove(KEY);
    } else if let Some(list) = node.as_array_mut() {
        let item = token.parse().ok().and_then(|at: usize| list.get_mut(at));
        item.into_iter().for_each(|item| remove_at(item, tokens));
    } else {
        node.visit(token.as_str(), |inner| remove_at(inner, tokens));
    }
}

#[derive(Default)]
struct Scan {
    found: Vec<Invalid>,
    /// Names in lower case, because headers ignore case.
    names: Set<String>,
}

impl Scan {
    /// Visits a schema. It is reachable if only `properties` lead to it, so that every call has its value at one place.
    fn visit(&mut self, schema: &Node<'_>, pointer: &str, is_reachable: bool) {
        let Some(object) = schema.as_object() else { return };
        if let Some(value) = schema.get(KEY) {
            if let Some((expected, found)) = self.fault(schema, value, is_reachable && !pointer.is_empty()) {
                let message = format!("expected {expected}, found {found}");
                self.found.push(Invalid { pointer: format!("{pointer}/{KEY}"), message });
            }
        }
        for member in object.iter() {
            let Some(keyword) = Keyword::named(&member.key) else { continue };
            let at = format!("{pointer}/{}", keyword.name());
            let is_reachable = is_reachable && keyword == Keyword::Properties;
            match (keyword.holds(), member.value.as_array()) {
                (Subschemas::Value, _) => {}
                (Subschemas::Schemas | Subschemas::SchemaOrSchemas, Some(list)) => {
                    list.iter().enumerate().for_each(|(index, one)| self.visit(one, &format!("{at}/{index}"), false));
                }
                (Subschemas::Named | Subschemas::NamedOrNames, _) => {
                    for inner in member.value.as_object().into_iter().flatten() {
                        let mut at = at.clone();
                        push_token(&mut at, &inner.key.display());
                        self.visit(&inner.value, &at, is_reachable);
                    }
                }
                _ => self.visit(&member.value, &at, false),
            }
        }
    }

    fn fault(&mut self, schema: &Node<'_>, value: &Node<'_>, is_reachable: bool) -> Option<(&'static str, String)> {
        if !is_reachable {
            return Some((
                "`x-mcp-header` in a property of the arguments, or of an object in them",
                "it elsewhere".into(),
            ));
        }
        let name = value.as_text().map(|name| name.display().into_owned()).unwrap_or_default();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || TOKEN.contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            let found = if name.is_empty() { value.kind().to_string() } else { format!("`{name}`") };
            return Some(("the name of a header", found));
        }
        let kind = schema.get(Keyword::Type);
        if !kind.is_some_and(|kind| TYPES.iter().any(|known| kind.is_text(known))) {
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
