//! Which definitions of the root tables are reached by references, as Codex counts it.
//!
//! Sees `#/$defs/name…` and `#/definitions/name…` alone; general resolution of references is another matter.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    keyword::{Keyword, Keywords},
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{Data, Node, Text},
};

/// The keywords whose schemas count as being outside the tables.
const OUTSIDE: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::AdditionalProperties,
]);

/// The root tables, by their names.
pub(crate) const TABLES: [&str; 2] = ["$defs", "definitions"];

/// A definition of a root table: which table, and its name there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    /// An index into [`TABLES`].
    pub(crate) table: usize,
    pub(crate) name: String,
}

/// Reads a reference to a definition of a root table: after `#`, percent-decoded first, then split, then `~1` and `~0`
/// decoded. Tokens after the name are ignored.
pub(crate) fn definition(reference: &Text<'_>) -> Option<Definition> {
    let reference = reference.value()?;
    let fragment = reference.strip_prefix('#')?;
    let decoded = percent_decoded(fragment)?;
    let mut tokens = decoded.strip_prefix('/')?.split('/');
    let (table, name) = (token(tokens.next()?), token(tokens.next()?));
    let table = TABLES.iter().position(|known| *known == table)?;
    Some(Definition { table, name: name.into_owned() })
}

/// Every definition that is reached: from the schemas outside the tables, and from there on through any `$ref`
/// anywhere.
pub(crate) fn reached(root: &Node<'_>, budget: &Budget) -> Set<Definition> {
    reached_except(root, &|_| false, budget)
}

/// As [`reached`], not looking into the values that are `gone`.
pub(crate) fn reached_except(root: &Node<'_>, gone: &dyn Fn(&Node<'_>) -> bool, budget: &Budget) -> Set<Definition> {
    let mut queue: Vec<Definition> = Vec::new();
    // Where the budget is spent, the walks after this one say so.
    let _ = visit::walk(budget, root, OUTSIDE, &mut |node, _| {
        queue.extend(node.get(Keyword::Ref).and_then(Node::as_text).and_then(definition));
        Ok(Visit::Descend)
    });
    let tables = TABLES.map(|table| {
        root.get(table).and_then(Node::as_object).map(|object| {
            let index: Map<Cow<'_, str>, &Node<'_>> =
                object.iter().filter_map(|member| Some((member.key.value()?, &member.value))).collect();
            index
        })
    });
    let mut reached = Set::new();
    while let Some(next) = queue.pop() {
        let target = tables.get(next.table).and_then(Option::as_ref).and_then(|table| table.get(next.name.as_str()));
        let Some(target) = target else { continue };
        if reached.insert(next) {
            references(target, gone, &mut queue, budget);
        }
    }
    reached
}

/// Every `$ref` anywhere in a value, whether a schema stands there or not.
fn references(value: &Node<'_>, gone: &dyn Fn(&Node<'_>) -> bool, found: &mut Vec<Definition>, budget: &Budget) {
    let mut open = Vec::from([value]);
    while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) if !gone(node) => {
                found.extend(object.get(Keyword::Ref).and_then(Node::as_text).and_then(definition));
                open.extend(object.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
}

/// `None` if the bytes are no UTF-8 in the end.
pub(crate) fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit))
            .and_then(|hex| u8::from_str_radix(core::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// A token of a JSON Pointer, decoded.
pub(crate) fn token(spelled: &str) -> Cow<'_, str> {
    if spelled.contains('~') {
        Cow::Owned(spelled.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(spelled)
    }
}
