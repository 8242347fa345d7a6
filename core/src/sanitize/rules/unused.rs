//! Definitions that nothing refers to: they go, and so does what was said about their insides.

use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

use super::{
    context::PassContext,
    notes::{Effect, Spot},
};
use crate::{
    budget::Budget,
    error::Error,
    json::{Data, Member, Node, Object, Text},
    schema::{
        keyword::{Keyword, Keywords},
        resolve::Number,
        walk::{self, Next, Position},
    },
    sorted::{Map, Set},
};

const PRUNE: Effect = Effect::same("prune-definition");

/// The tables of definitions, which go once everything that is needed stands where it is used.
pub(super) const TABLES: [&str; 2] = ["$defs", "definitions"];

/// The same.
pub(super) const CONCERNS: Keywords = Keywords::of(&[Keyword::Defs, Keyword::Definitions]);

/// Without a reference anywhere, every definition is unused.
pub(super) fn drop_tables<'a>(node: &mut Node<'a>, position: Position, rules: &mut PassContext) {
    for table in TABLES {
        let Some(value) = node.get(table) else { continue };
        let spot = Spot::of(value);
        rules.notes.note(position, spot, Spot::Nowhere, PRUNE, || format!("removed `{table}`: nothing refers to it"));
        if let Some(object) = node.as_object_mut() {
            object.remove(table);
        }
    }
}

/// Reports the definitions that nothing refers to, and forgets what was said about their insides.
pub(super) fn note(source: &Node<'_>, used: &Set<Number>, rules: &mut PassContext) -> Result<(), Error> {
    if !rules.notes.is_on() {
        return Ok(());
    }
    let mut unused: Vec<Range<Number>> = Vec::new();
    let mut names: Vec<(Number, String)> = Vec::new();
    walk::visit(&rules.budget, source, Keywords::ALL, &mut |node, place| {
        let in_table = matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions));
        if in_table {
            let range = numbers(node);
            if used.first_from(&range.start).is_none_or(|first| !range.contains(first)) {
                names.push((range.start, crate::json::Pointer::render(place.pointer)));
                unused.push(range);
                return Ok(Next::Skip);
            }
        }
        Ok(Next::Into)
    })?;
    rules.notes.forget(&unused);
    for (number, pointer) in names {
        rules
            .notes
            .note(Position::Positive, Spot::Node(number), Spot::Nowhere, PRUNE, || format!("removed `{pointer}`: nothing refers to it"));
    }
    Ok(())
}

/// Removes the definitions that are no longer reached, once what referred to them was cut.
pub(super) fn prune(root: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
    let Some(table) = root.get("$defs").and_then(Node::as_object) else { return Ok(()) };
    let reached = reached(root, budget)?;
    let is_reached = |member: &Member<'_>| reference("$defs", member).is_some_and(|reference| reached.contains(&reference));
    if table.iter().all(is_reached) {
        return Ok(());
    }
    let Some(object) = root.as_object_mut() else { return Ok(()) };
    let is_empty = object.get_mut("$defs").and_then(Node::as_object_mut).is_none_or(|table| {
        table.retain(|member| is_reached(member));
        table.is_empty()
    });
    if is_empty {
        object.remove("$defs");
    }
    Ok(())
}

/// Does something stand in the root's tables that no schema outside leads to?
pub(super) fn any(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    let count: usize = TABLES.iter().filter_map(|table| root.get(table).and_then(Node::as_object)).map(Object::len).sum();
    Ok(count > 0 && reached(root, budget)?.len() < count)
}

/// The name of the definition that a kept reference names.
pub(super) fn named<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.get("$ref").and_then(Node::as_text).and_then(Text::as_plain).and_then(|reference| reference.strip_prefix("#/$defs/"))
}

/// How a definition is referred to.
pub(super) fn reference(table: &str, member: &Member<'_>) -> Option<String> {
    Some(format!("#/{table}/{}", member.key.value()?))
}

/// The references to definitions that are reached from outside the tables.
fn reached(root: &Node<'_>, budget: &Budget) -> Result<Set<String>, Error> {
    let tables = TABLES.iter().filter_map(|table| Some((table, root.get(table)?.as_object()?)));
    let bodies: Map<String, &Node<'_>> = tables
        .flat_map(|(table, members)| members.iter().filter_map(move |member| Some((reference(table, member)?, &member.value))))
        .collect();
    let (mut open, mut reached) = (Vec::new(), Set::new());
    references(root, &mut open, budget)?;
    while let Some(name) = open.pop() {
        if let Some(body) = bodies.get(&name) {
            if reached.insert(name) {
                references(body, &mut open, budget)?;
            }
        }
    }
    Ok(reached)
}

/// What a schema refers to, tables of definitions left out.
fn references(schema: &Node<'_>, found: &mut Vec<String>, budget: &Budget) -> Result<(), Error> {
    walk::visit(budget, schema, Keywords::ALL, &mut |node, place| {
        if matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
            return Ok(Next::Skip);
        }
        found.extend(node.get("$ref").and_then(Node::as_text).and_then(Text::as_plain).map(String::from));
        Ok(Next::Into)
    })
}

/// The numbers of a node and everything in it.
pub(super) fn numbers(node: &Node<'_>) -> Range<Number> {
    fn last(node: &Node<'_>) -> Number {
        let own = node.origin().number().unwrap_or_default();
        match node.data() {
            Data::Array(items) => items.iter().map(last).fold(own, Number::max),
            Data::Object(object) => object.iter().map(|member| last(&member.value)).fold(own, Number::max),
            _ => own,
        }
    }
    let first = node.origin().number().unwrap_or_default();
    first..last(node).saturating_add(1)
}
