//! Definitions of which no instance ends, as a validator reads them that looks for a way out.
//!
//! What is optional ends, and one required property or one branch that ends is enough; an array whose items do not end
//! does not, and neither does a schema that says something but has no type.

use alloc::{string::String, vec, vec::Vec};

use super::definitions::definition_name;
use crate::{
    collections::{Map, Set},
    json::{Member, Node, Object, Text},
};

/// Tells reference nodes apart while the tree stands still.
pub(crate) fn place_of(node: &Node<'_>) -> (Option<u32>, Option<String>) {
    (node.origin().number(), definition_name(node).map(String::from))
}

/// The names of the definitions that cannot end.
pub(crate) fn endless(root: &Node<'_>) -> Set<String> {
    let Some(table) = root.get("$defs").and_then(Node::as_object) else { return Set::new() };
    let names = table.iter().filter_map(|member| Some((member.key.value()?.into_owned(), &member.value)));
    let mut open: Map<String, Vec<String>> = Map::new();
    let mut ended: Vec<String> = Vec::new();
    for (name, body) in names {
        match ways(body) {
            None => ended.push(name),
            Some(references) => {
                open.insert(
                    name,
                    references.iter().filter_map(|reference| definition_name(reference).map(String::from)).collect(),
                );
            }
        }
    }
    let mut users: Map<&str, Vec<&str>> = Map::new();
    for (name, references) in &open {
        for reference in references {
            users.entry(reference).or_default().push(name);
        }
    }
    let mut done: Set<String> = Set::new();
    while let Some(name) = ended.pop() {
        if done.insert(name.clone()) {
            ended.extend(users.get(name.as_str()).into_iter().flatten().map(|user| String::from(*user)));
        }
    }
    open.into_iter().map(|(name, _)| name).filter(|name| !done.contains(name)).collect()
}

/// The references a schema can only go on through; `None` if it ends by itself.
fn ways<'n, 'a>(schema: &'n Node<'a>) -> Option<Vec<&'n Node<'a>>> {
    let mut references = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let object = schema.as_object()?;
        if definition_name(schema).is_some() {
            references.push(schema);
            continue;
        }
        if ends(object, &mut open) {
            return None;
        }
    }
    Some(references)
}

fn ends<'n, 'a>(object: &'n Object<'a>, open: &mut Vec<&'n Node<'a>>) -> bool {
    let is_container = |name: &Node<'_>| name.is_text("object") || name.is_text("array");
    let kind = match object.get("type") {
        Some(types) => match types.as_array() {
            Some(names) if !names.iter().all(is_container) => return true,
            Some(names) => names.last(),
            None if !is_container(types) => return true,
            None => Some(types),
        },
        None => None,
    };
    if kind.is_some_and(|name| name.is_text("array")) {
        match object.get("items") {
            None => return true,
            Some(items) => open.push(items),
        }
    }
    if kind.is_some_and(|name| name.is_text("object")) {
        let names: Set<&Text<'_>> =
            object.get("required").and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_text).collect();
        let table = object.get("properties").and_then(Node::as_object);
        let required: Vec<&Node<'a>> = table
            .into_iter()
            .flatten()
            .filter(|member| names.contains(&member.key))
            .map(|member| &member.value)
            .collect();
        if required.is_empty() {
            return true;
        }
        open.extend(required);
    }
    match object.get("anyOf").and_then(Node::as_array) {
        Some([]) => return true,
        Some(branches) => open.extend(branches),
        None => {}
    }
    object.is_empty()
}

/// The references on the endless way of each definition that does not end.
pub(crate) fn forced_references(root: &Node<'_>, endless: &Set<String>) -> Set<(Option<u32>, Option<String>)> {
    let Some(table) = root.get("$defs").and_then(Node::as_object) else { return Set::new() };
    let bodies = table.iter().filter(|Member { key, .. }| key.value().is_some_and(|name| endless.contains(&*name)));
    bodies.filter_map(|member| ways(&member.value)).flatten().map(place_of).collect()
}
