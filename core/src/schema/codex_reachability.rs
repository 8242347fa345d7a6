//! Reachability of definitions in the root tables, as Codex computes it.
//!
//! Follows only `#/$defs/name…` and `#/definitions/name…`; `schema/references` resolves references in general.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::{
    keyword::{Keyword, Keywords},
    uri::percent_decoded,
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{unescaped_token, Data, Node, Text},
};

/// Keywords whose subschemas count as outside the tables.
const OUTSIDE: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::AdditionalProperties,
]);

/// Names of the root tables.
pub(crate) const TABLES: [&str; 2] = ["$defs", "definitions"];

/// A definition in a root table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    /// Index into [`TABLES`].
    pub(crate) table: usize,
    pub(crate) name: String,
}

/// Parses a reference to a definition in a root table. The fragment is percent-decoded, then split, then `~1` and `~0`
/// are decoded. Tokens after the name are ignored.
pub(crate) fn definition(reference: &Text<'_>) -> Option<Definition> {
    let reference = reference.value()?;
    let fragment = reference.strip_prefix('#')?;
    let decoded = percent_decoded(fragment)?;
    let mut tokens = decoded.strip_prefix('/')?.split('/');
    let (table, name) = (unescaped_token(tokens.next()?), unescaped_token(tokens.next()?));
    let table = TABLES.iter().position(|known| *known == table)?;
    Some(Definition { table, name: name.into_owned() })
}

/// Returns the definitions that are reachable from schemas outside the tables, following any `$ref` at any depth.
pub(crate) fn reached(root: &Node<'_>, budget: &Budget) -> Set<Definition> {
    reached_except(root, &|_| false, budget)
}

/// Like [`reached`], but ignores objects for which `gone` returns true.
pub(crate) fn reached_except(root: &Node<'_>, gone: &dyn Fn(&Node<'_>) -> bool, budget: &Budget) -> Set<Definition> {
    let mut queue: Vec<Definition> = Vec::new();
    // If the budget is spent, later walks report it.
    let _ = visit::walk(budget, root, OUTSIDE, &mut |node, _| {
        queue.extend(node.text_at(Keyword::Ref).and_then(definition));
        Ok(Visit::Descend)
    });
    let tables = TABLES.map(|table| {
        root.object_at(table).map(|object| {
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

/// Collects every `$ref` in a value, including those that are not in a schema.
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
