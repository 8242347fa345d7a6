//! References of a schema that passes have rewritten: each leads to the root or to an entry in its tables of
//! definitions.

use alloc::{string::String, vec::Vec};

use super::{reference, Number, References};
use crate::{
    budget::Budget,
    collections::Map,
    error::Error,
    json::{self, unescaped_token, Member, Node, Step, Text},
    schema::{
        definitions::TABLES,
        keyword::Keywords,
        uri::percent_decoded,
        visit::{self, SchemaPath, Visit},
    },
};

/// Definitions by name, and the targets of references.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// For each of [`TABLES`], numbers by name. The root is 0; definitions are numbered in document order.
    definitions: [Map<String, Number>; TABLES.len()],
    /// Target of each reference.
    uses: Vec<Number>,
}

/// Resolves every reference of a rewritten schema.
///
/// # Errors
/// The errors of the walk.
pub(crate) fn by_name(root: &Node<'_>, budget: &Budget) -> Result<References, Error> {
    let mut names = Names { definitions: TABLES.map(|_| Map::new()), uses: Vec::new() };
    let definitions = entries(root).filter_map(|(table, member)| Some((table, member.key.value()?.into_owned())));
    for ((table, name), number) in definitions.zip(1..) {
        if let Some((_, numbers)) = TABLES.iter().zip(&mut names.definitions).find(|(known, _)| **known == table) {
            numbers.insert(name, number);
        }
    }
    visit::walk(budget, root, Keywords::ALL, &mut |schema, _| {
        let target = reference(schema).and_then(|reference| names.target(reference));
        names.uses.extend(target);
        Ok(Visit::Descend)
    })?;
    Ok(References::Written(names))
}

/// Returns the entries in the root's tables of definitions, in document order.
fn entries<'n, 'a>(root: &'n Node<'a>) -> impl Iterator<Item = (&'static str, &'n Member<'a>)> {
    root.as_object().into_iter().flatten().flat_map(|member| {
        let table = TABLES.iter().find(|table| member.key.is(table));
        let entries = table.and_then(|_| member.value.as_object()).into_iter().flatten();
        entries.filter_map(move |entry| Some((*table?, entry)))
    })
}

impl Names {
    fn definition(&self, table: &str, name: &str) -> Option<Number> {
        let (_, numbers) = TABLES.iter().zip(&self.definitions).find(|(known, _)| **known == table)?;
        numbers.get(name).copied()
    }

    pub(super) fn target(&self, reference: &Node<'_>) -> Option<Number> {
        let reference = reference.as_text().and_then(Text::value)?;
        let fragment = percent_decoded(reference.strip_prefix('#')?)?;
        if fragment.is_empty() {
            return Some(0);
        }
        let mut tokens = fragment.strip_prefix('/')?.split('/').map(unescaped_token);
        let (table, name) = (tokens.next()?, tokens.next()?);
        if tokens.next().is_some() {
            return None;
        }
        self.definition(&table, &name)
    }

    pub(super) fn at(&self, place: &SchemaPath<'_, '_>) -> Option<Number> {
        let target = match place.pointer.steps() {
            [] => 0,
            [Step::Name(table), Step::Member(name)] => self.definition(table, &name.value()?)?,
            _ => return None,
        };
        Some(target)
    }

    pub(super) fn located<'s, 'a>(&self, root: &'s Node<'a>, target: Number) -> Option<&'s Node<'a>> {
        match target.checked_sub(1) {
            None => Some(root),
            Some(before) => entries(root).nth(before as usize).map(|(_, member)| &member.value),
        }
    }

    pub(super) fn uses(&self) -> impl Iterator<Item = Number> + '_ {
        self.uses.iter().copied()
    }

    pub(super) fn targets<'s, 'a>(&self, root: &'s Node<'a>, budget: &Budget) -> Map<Number, (&'s Node<'a>, String)> {
        let definitions = entries(root).filter(|_| budget.pay(1)).filter_map(|(table, member)| {
            let mut pointer = String::from("/");
            pointer.push_str(table);
            json::push_token(&mut pointer, &member.key.display());
            Some((self.definition(table, &member.key.value()?)?, (&member.value, pointer)))
        });
        core::iter::once((0, (root, String::new()))).chain(definitions).collect()
    }
}
