//! Finds references that terminate, that is, that some finite value can satisfy.
//!
//! In the provider's interpretation, a single way to terminate suffices: one required property or one branch. An object
//! without required properties terminates. A non-empty schema without a type does not terminate, nor does an array
//! whose items do not.

use alloc::{vec, vec::Vec};

use super::{combinators::is_annotation, reference_table::References};
use crate::{
    collections::Set,
    dialect::grammar::Grammar,
    json::{Node, Text},
    schema::keyword::Keyword,
};

/// Continuations of a schema.
struct Ways {
    /// True if the schema terminates, or a schema that it leads to without a reference.
    ends: bool,
    /// References through which it continues.
    references: Vec<usize>,
}

/// Finds all continuations of a schema without following references.
fn ways(schema: &Node<'_>, references: &mut References<'_, '_>) -> Ways {
    let mut ways = Ways { ends: false, references: Vec::new() };
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if ends(schema, &mut open) {
            ways.ends = true;
            break;
        }
        ways.references.extend(references.number_of(schema));
    }
    ways
}

/// Returns true if a schema terminates by itself. If not, its continuations are pushed to `open`.
fn ends<'t, 'a>(schema: &'t Node<'a>, open: &mut Vec<&'t Node<'a>>) -> bool {
    let Some(object) = schema.as_object() else { return false };
    let is_container = |value: &Node<'_>| value.is_text("object") || value.is_text("array");
    let container = match object.get(Keyword::Type) {
        // Another check reports an unknown type.
        Some(value) => match value.as_array() {
            Some(list) if !list.iter().all(is_container) => return true,
            Some(list) => list.last(),
            None if value.as_text().is_some() && !is_container(value) => return true,
            None => Some(value),
        },
        None => None,
    };
    if container.is_some_and(|value| value.is_text("array")) {
        match object.get(Keyword::Items) {
            None => return true,
            Some(items) if items.is_null() => return true,
            Some(items) => open.push(items),
        }
    }
    if container.is_some_and(|value| value.is_text("object")) {
        let required = object.get(Keyword::Required).and_then(Node::as_array).unwrap_or_default();
        let properties = object.get(Keyword::Properties).and_then(Node::as_object).filter(|table| !table.is_empty());
        let Some(properties) = properties.filter(|_| !required.is_empty()) else { return true };
        let names: Set<&Text<'_>> = required.iter().filter_map(Node::as_text).collect();
        open.extend(properties.iter().filter(|member| names.contains(&member.key)).map(|member| &member.value));
    }
    match object.get(Keyword::AnyOf).and_then(Node::as_array) {
        Some([]) => return true,
        Some(branches) => open.extend(branches),
        None => {}
    }
    object.is_empty()
}

/// Returns for every reference of the document whether it terminates.
pub(super) fn endings(references: &mut References<'_, '_>) -> Vec<bool> {
    let mut goes_to = Vec::new();
    let mut ending = Vec::new();
    // Visiting a target may discover new references, which get the next numbers.
    while goes_to.len() < references.count() {
        let found = references.target(goes_to.len()).map(|target| ways(target, references));
        if found.as_ref().is_some_and(|ways| ways.ends) {
            ending.push(goes_to.len());
        }
        goes_to.push(found.map(|ways| ways.references).unwrap_or_default());
    }
    let mut comes_from: Vec<Vec<usize>> = vec![Vec::new(); goes_to.len()];
    for (number, targets) in goes_to.iter().enumerate() {
        for target in targets {
            if let Some(list) = comes_from.get_mut(*target) {
                list.push(number);
            }
        }
    }
    let mut can_end = vec![false; goes_to.len()];
    while let Some(number) = ending.pop() {
        match can_end.get_mut(number) {
            Some(known) if !*known => *known = true,
            _ => continue,
        }
        ending.extend(comes_from.get(number).into_iter().flatten());
    }
    can_end
}

/// The end of a chain of bare references.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    /// Last reference of the chain; `None` if the chain is cyclic or leads to no schema.
    pub(super) last: Option<usize>,
    /// True if a schema of the chain has annotations, which the result inherits.
    pub(super) is_annotated: bool,
}

/// The chains of bare references; each is followed only once.
#[derive(Default)]
pub(super) struct Expansions {
    known: Vec<Option<Expansion>>,
}

impl Expansions {
    /// Follows references to references that have no siblings except annotations.
    pub(super) fn of(&mut self, number: usize, references: &mut References<'_, '_>, grammar: &Grammar) -> Expansion {
        let mut way: Vec<(usize, bool)> = Vec::new();
        let mut seen = Set::new();
        let mut here = number;
        let mut end = loop {
            if let Some(Some(known)) = self.known.get(here) {
                break *known;
            }
            if !seen.insert(here) {
                break Expansion { last: None, is_annotated: false };
            }
            let Some(object) = references.target(here).and_then(Node::as_object) else {
                break Expansion { last: None, is_annotated: false };
            };
            let others = object.iter().filter(|member| !member.key.is(Keyword::Ref));
            let is_bare = object.has(Keyword::Ref) && others.clone().all(|member| is_annotation(&member.key, grammar));
            if !is_bare {
                break Expansion { last: Some(here), is_annotated: false };
            }
            way.push((here, others.count() > 0));
            match references.target(here).and_then(|target| references.number_of(target)) {
                Some(next) => here = next,
                None => break Expansion { last: None, is_annotated: false },
            }
        };
        self.keep(here, end);
        for (number, is_annotated) in way.into_iter().rev() {
            end.is_annotated |= is_annotated;
            self.keep(number, end);
        }
        end
    }

    fn keep(&mut self, number: usize, expansion: Expansion) {
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        if let Some(place) = self.known.get_mut(number) {
            *place = Some(expansion);
        }
    }
}
