//! Tables of definitions at the root, and which definitions are reachable by name.

use super::{
    keyword::{Keyword, Keywords},
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{Member, Node, Object, Text},
};
use alloc::{format, string::String, vec::Vec};

/// Names of the tables of definitions.
pub(crate) const TABLES: [&str; 2] = ["$defs", "definitions"];

/// Returns true if a definition is not reachable from outside the tables.
pub(crate) fn has_unreached(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    let count: usize = TABLES.iter().filter_map(|table| root.object_at(table)).map(Object::len).sum();
    Ok(count > 0 && reached(root, budget)?.len() < count)
}

/// Returns the name of the definition that a kept reference leads to.
pub(crate) fn definition_name<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.text_at(Keyword::Ref).and_then(Text::as_plain).and_then(|reference| reference.strip_prefix("#/$defs/"))
}

/// Returns the reference to a definition.
pub(crate) fn reference_to(table: &str, member: &Member<'_>) -> Option<String> {
    Some(format!("#/{table}/{}", member.key.value()?))
}

/// Returns the references to definitions that are reachable from outside the tables.
pub(crate) fn reached(root: &Node<'_>, budget: &Budget) -> Result<Set<String>, Error> {
    let tables = TABLES.iter().filter_map(|table| Some((table, root.get(table)?.as_object()?)));
    let bodies: Map<String, &Node<'_>> = tables
        .flat_map(|(table, members)| {
            members.iter().filter_map(move |member| Some((reference_to(table, member)?, &member.value)))
        })
        .collect();
    let (mut open, mut reached) = (Vec::new(), Set::new());
    references(root, &mut open, budget)?;
    while let Some(name) = open.pop() {
        if let Some(body) = bodies.get(name).filter(|_| !reached.contains(name)) {
            reached.insert(String::from(name));
            references(body, &mut open, budget)?;
        }
    }
    Ok(reached)
}

/// Collects the references in a schema, except those in tables of definitions.
fn references<'n>(schema: &'n Node<'_>, found: &mut Vec<&'n str>, budget: &Budget) -> Result<(), Error> {
    visit::walk(budget, schema, Keywords::ALL, &mut |node, place| {
        if matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
            return Ok(Visit::Skip);
        }
        found.extend(node.text_at(Keyword::Ref).and_then(Text::as_plain));
        Ok(Visit::Descend)
    })
}
