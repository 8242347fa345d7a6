//! Tables of definitions at the root: which definitions are reachable, by name and as Codex computes it, and which have
//! no finite instance.
//!
//! Finiteness follows the logic of a validator that searches for an end of the recursion. Optional properties are
//! finite, and one finite required property or branch is enough. An array with items that are not finite is not finite.
//! A schema with keywords but without a type is not finite either.
//!
//! Codex follows only `#/$defs/name…` and `#/definitions/name…`; `schema/references` resolves references in general.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use super::{
    keyword::{Keyword, Keywords},
    uri::percent_decoded,
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{push_token, unescaped_token, Data, Member, Node, Object, Text},
};

pub(crate) const TABLES: [&str; 2] = ["$defs", "definitions"];

pub(crate) fn has_unreached(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    let count: usize = TABLES.iter().filter_map(|table| root.object_at(table)).map(Object::len).sum();
    Ok(count > 0 && reachable_definitions(root, budget)?.len() < count)
}

pub(crate) fn definition_name<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.text_at(Keyword::Ref).and_then(Text::as_plain).and_then(|reference| reference.strip_prefix("#/$defs/"))
}

pub(crate) fn reference_to(table: &str, member: &Member<'_>) -> Option<String> {
    Some(format!("#/{table}/{}", member.key.value()?))
}

pub(crate) fn reachable_definitions(root: &Node<'_>, budget: &Budget) -> Result<Set<String>, Error> {
    let tables = TABLES.iter().filter_map(|table| Some((table, root.get(table)?.as_object()?)));
    let bodies: Map<String, &Node<'_>> = tables
        .flat_map(|(table, members)| {
            members.iter().filter_map(move |member| Some((reference_to(table, member)?, &member.value)))
        })
        .collect();
    let (mut pending, mut reached) = (Vec::new(), Set::new());
    collect_references(root, &mut pending, budget)?;
    while let Some(name) = pending.pop() {
        if let Some(body) = bodies.get(name).filter(|_| !reached.contains(name)) {
            reached.insert(String::from(name));
            collect_references(body, &mut pending, budget)?;
        }
    }
    Ok(reached)
}

fn collect_references<'n>(schema: &'n Node<'_>, texts: &mut Vec<&'n str>, budget: &Budget) -> Result<(), Error> {
    visit::walk(budget, schema, Keywords::ALL, &mut |node, path| {
        if matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
            return Ok(Visit::Skip);
        }
        texts.extend(node.text_at(Keyword::Ref).and_then(Text::as_plain));
        Ok(Visit::Descend)
    })
}

pub(crate) fn without_finite_instance(root: &Node<'_>) -> Set<String> {
    let Some(table) = root.object_at(Keyword::Defs) else { return Set::new() };
    let names = table.iter().filter_map(|member| Some((member.key.value()?.into_owned(), &member.value)));
    let mut references_by_name: Map<String, Vec<String>> = Map::new();
    let mut finite: Vec<String> = Vec::new();
    for (name, body) in names {
        match continuations(LocatedSchema { schema: body, pointer: String::new() }) {
            None => finite.push(name),
            Some(references) => {
                references_by_name.insert(
                    name,
                    references
                        .iter()
                        .filter_map(|reference| definition_name(reference.schema).map(String::from))
                        .collect(),
                );
            }
        }
    }
    let mut users_by_name: Map<&str, Vec<&str>> = Map::new();
    for (name, references) in &references_by_name {
        for reference in references {
            users_by_name.entry(reference).or_default().push(name);
        }
    }
    let mut known_finite: Set<String> = Set::new();
    while let Some(name) = finite.pop() {
        if known_finite.insert(name.clone()) {
            finite.extend(users_by_name.get(name.as_str()).into_iter().flatten().map(|user| String::from(*user)));
        }
    }
    references_by_name.into_iter().map(|(name, _)| name).filter(|name| !known_finite.contains(name)).collect()
}

struct LocatedSchema<'n, 'a> {
    schema: &'n Node<'a>,
    pointer: String,
}

impl<'n, 'a> LocatedSchema<'n, 'a> {
    fn nested(&self, schema: &'n Node<'a>, tokens: &[&str]) -> Self {
        let mut pointer = self.pointer.clone();
        tokens.iter().for_each(|token| push_token(&mut pointer, token));
        LocatedSchema { schema, pointer }
    }
}

/// Returns the references through which a schema can continue, or `None` if it is finite by itself.
fn continuations<'n, 'a>(schema: LocatedSchema<'n, 'a>) -> Option<Vec<LocatedSchema<'n, 'a>>> {
    let mut references = Vec::new();
    let mut pending = vec![schema];
    while let Some(located) = pending.pop() {
        let object = located.schema.as_object()?;
        if definition_name(located.schema).is_some() {
            references.push(located);
            continue;
        }
        if is_finite(&located, object, &mut pending) {
            return None;
        }
    }
    Some(references)
}

fn is_finite<'n, 'a>(
    located: &LocatedSchema<'n, 'a>,
    object: &'n Object<'a>,
    pending: &mut Vec<LocatedSchema<'n, 'a>>,
) -> bool {
    let is_container = |name: &Node<'_>| name.is_text("object") || name.is_text("array");
    let kind = match object.get(Keyword::Type) {
        Some(types) => match types.as_array() {
            Some(names) if !names.iter().all(is_container) => return true,
            Some(names) => names.last(),
            None if !is_container(types) => return true,
            None => Some(types),
        },
        None => None,
    };
    if kind.is_some_and(|name| name.is_text("array")) {
        match object.get(Keyword::Items) {
            None => return true,
            Some(items) => pending.push(located.nested(items, &["items"])),
        }
    }
    if kind.is_some_and(|name| name.is_text("object")) {
        let names: Set<&Text<'_>> = object
            .get(Keyword::Required)
            .and_then(Node::as_array)
            .into_iter()
            .flatten()
            .filter_map(Node::as_text)
            .collect();
        let table = object.get(Keyword::Properties).and_then(Node::as_object);
        let required: Vec<&Member<'a>> =
            table.into_iter().flatten().filter(|member| names.contains(&member.key)).collect();
        if required.is_empty() {
            return true;
        }
        let required = required.into_iter();
        pending.extend(required.map(|member| located.nested(&member.value, &["properties", &member.key.display()])));
    }
    match object.get(Keyword::AnyOf).and_then(Node::as_array) {
        Some([]) => return true,
        Some(branches) => {
            let branches = branches.iter().enumerate();
            pending.extend(branches.map(|(index, branch)| located.nested(branch, &["anyOf", &index.to_string()])));
        }
        None => {}
    }
    object.is_empty()
}

/// Returns the pointers of the references because of which these definitions have no finite instance.
pub(crate) fn forced_references(root: &Node<'_>, endless: &Set<String>) -> Set<String> {
    let document = LocatedSchema { schema: root, pointer: String::new() };
    let Some(table) = root.object_at(Keyword::Defs) else { return Set::new() };
    let bodies = table.iter().filter(|Member { key, .. }| key.value().is_some_and(|name| endless.contains(&*name)));
    let bodies = bodies.map(|member| document.nested(&member.value, &["$defs", &member.key.display()]));
    bodies.filter_map(continuations).flatten().map(|reference| reference.pointer).collect()
}

/// Keywords whose subschemas are treated as outside the tables.
const OUTSIDE_FOR_CODEX: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::AdditionalProperties,
]);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    /// Index into [`TABLES`].
    pub(crate) table: usize,
    pub(crate) name: String,
}

/// Parses a reference to a definition in a root table. The fragment is percent-decoded, then split, then `~1` and `~0`
/// are decoded. Tokens after the name are ignored.
pub(crate) fn codex_definition(reference: &Text<'_>) -> Option<Definition> {
    let reference = reference.value()?;
    let fragment = reference.strip_prefix('#')?;
    let decoded = percent_decoded(fragment)?;
    let mut tokens = decoded.strip_prefix('/')?.split('/');
    let (table, name) = (unescaped_token(tokens.next()?), unescaped_token(tokens.next()?));
    let table = TABLES.iter().position(|known| *known == table)?;
    Some(Definition { table, name: name.into_owned() })
}

pub(crate) fn reached_by_codex(root: &Node<'_>, budget: &Budget) -> Set<Definition> {
    reached_by_codex_except(root, &|_| false, budget)
}

/// Like [`reachable_definitions`], but ignores objects for which `is_removed` returns true.
pub(crate) fn reached_by_codex_except(
    root: &Node<'_>,
    is_removed: &dyn Fn(&Node<'_>) -> bool,
    budget: &Budget,
) -> Set<Definition> {
    let mut queue: Vec<Definition> = Vec::new();
    // If the budget is spent, later walks report it.
    let _ = visit::walk(budget, root, OUTSIDE_FOR_CODEX, &mut |node, _| {
        queue.extend(node.text_at(Keyword::Ref).and_then(codex_definition));
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
            collect_codex_references(target, is_removed, &mut queue, budget);
        }
    }
    reached
}

/// Collects the definitions to which the values of `$ref` refer, even if they are not in a schema.
fn collect_codex_references(
    value: &Node<'_>,
    is_removed: &dyn Fn(&Node<'_>) -> bool,
    definitions: &mut Vec<Definition>,
    budget: &Budget,
) {
    let mut pending = Vec::from([value]);
    while let Some(node) = pending.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::Array(items) => pending.extend(items),
            Data::Object(object) if !is_removed(node) => {
                definitions.extend(object.get(Keyword::Ref).and_then(Node::as_text).and_then(codex_definition));
                pending.extend(object.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
}
