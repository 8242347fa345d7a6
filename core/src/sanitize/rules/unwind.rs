//! Definitions that are no longer recursive, or no longer needed, once something in them was cut: they go, as they would have
//! gone in the first place.

use alloc::{format, string::String, vec::Vec};

use super::{
    notes::{Effect, Spot},
    Rules,
};
use crate::{
    error::Error,
    json::{Data, Node, Text},
    schema::{
        graph,
        keyword::Keywords,
        merge,
        walk::{self, Next, Place, Rewrite},
    },
    sorted::{Map, Set},
};

const INLINE: Effect = Effect::same("inline-ref");

/// Inlines and removes definitions; `true` if any was inlined.
pub(super) fn unwind<'a>(root: &mut Node<'a>, rules: &mut Rules) -> Result<bool, Error> {
    let Some(table) = root.get("$defs").and_then(Node::as_object) else { return Ok(false) };
    let bodies: Map<String, Node<'a>> =
        table.iter().filter_map(|member| Some((member.key.value()?.into_owned(), member.value.clone()))).collect();
    let recursive = if rules.keeps_definitions { bodies.keys().cloned().collect() } else { recursive(&bodies) };
    let mut settle = Settle { bodies: &bodies, recursive: &recursive, inlined: false, rules };
    walk::rewrite(root, Keywords::ALL, &mut settle)?;
    let inlined = settle.inlined;
    let needed = needed(root);
    let unneeded = |name: &Text<'_>| name.value().is_none_or(|name| !needed.contains(&*name));
    if bodies.keys().all(|name| needed.contains(name)) {
        return Ok(inlined);
    }
    if let Some(object) = root.as_object_mut() {
        if let Some(table) = object.get_mut("$defs").and_then(Node::as_object_mut) {
            table.retain(|member| !unneeded(&member.key));
        }
        if needed.is_empty() {
            object.remove("$defs");
        }
    }
    Ok(inlined)
}

/// The name of the definition that a kept reference names.
pub(super) fn named<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.get("$ref").and_then(Node::as_text).and_then(Text::as_plain).and_then(|reference| reference.strip_prefix("#/$defs/"))
}

/// The names that a schema refers to.
fn references(schema: &Node<'_>) -> Set<String> {
    let mut names = Set::new();
    let _ = walk::visit(schema, Keywords::ALL, &mut |node, _| {
        names.extend(named(node).map(String::from));
        Ok(Next::Into)
    });
    names
}

fn recursive(bodies: &Map<String, Node<'_>>) -> Set<String> {
    let names: Vec<&String> = bodies.keys().collect();
    let numbers: Map<&str, u32> = (0..).zip(&names).map(|(number, name)| (name.as_str(), number)).collect();
    let edges = bodies.iter().filter_map(|(name, body)| {
        let to = references(body).iter().filter_map(|name| numbers.get(name.as_str()).copied()).collect();
        Some((*numbers.get(name.as_str())?, to))
    });
    let recursive = graph::recursive(&edges.collect());
    recursive.into_iter().filter_map(|number| names.get(number as usize).map(|name| (*name).clone())).collect()
}

/// The definitions that are reached from outside the table.
fn needed(root: &Node<'_>) -> Set<String> {
    let mut without = root.clone();
    let table = without.as_object_mut().and_then(|object| object.remove("$defs"));
    let mut open: Vec<String> = references(&without).into_iter().collect();
    let mut needed = Set::new();
    while let Some(name) = open.pop() {
        if let Some(body) = table.as_ref().and_then(|table| table.get(&name)) {
            if needed.insert(name) {
                open.extend(references(body));
            }
        }
    }
    needed
}

struct Settle<'s, 'a> {
    bodies: &'s Map<String, Node<'a>>,
    recursive: &'s Set<String>,
    inlined: bool,
    rules: &'s mut Rules,
}

impl<'a> Rewrite<'a> for Settle<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        // A definition may be nothing but a reference to the next one.
        while let Some((name, body)) =
            named(node).filter(|name| !self.recursive.contains(*name)).and_then(|name| self.bodies.get_key_value(name))
        {
            let reference_at = node.as_object().and_then(|object| object.position("$ref")).unwrap_or_default();
            self.rules.notes.note(place.position, Spot::under(node, "$ref"), Spot::of(node), INLINE, || {
                format!("put `{name}` where it is referred to")
            });
            if let Some(object) = node.as_object_mut() {
                object.remove("$ref");
            }
            self.inlined = true;
            let rest = core::mem::replace(node, Node::new(Data::Null));
            *node = match rest.as_object().is_some_and(|object| object.is_empty()) {
                true => body.clone(),
                // Beside a kept reference stand only texts.
                false => merge::both_at(rest, body.clone(), reference_at).node,
            };
            node.touch();
        }
        Ok(Next::Into)
    }
}
