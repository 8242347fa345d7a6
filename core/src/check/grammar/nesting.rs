//! Computes the depth of nested `properties` below a reference, with the references in it followed.
//!
//! The depth is defined as by the provider: through `properties`, `additionalProperties` and `anyOf` but not `items`,
//! and along a chain of references in which each occurs once. In a dense graph of references, the longest such chain is
//! expensive to find, so the search has a budget; beyond it, an upper bound is used.

use alloc::{vec, vec::Vec};

use super::reference_table::References;
use crate::{collections::Set, json::Node, schema::keyword::Keyword};

/// Maximum number of repeated visits to references in a document. Without cycles, no repeated visits are necessary.
const STEPS: usize = 20_000;

pub(super) struct Nesting {
    /// Contents of the target of each reference, computed when first needed.
    below: Vec<Option<Below>>,
    /// Depths that do not depend on the path, because no cycle is involved.
    settled: Vec<Option<usize>>,
    /// Depths of references from outside of a chain.
    depths: Vec<Option<usize>>,
    /// References that are followed from some definition.
    followed: Option<Set<usize>>,
    visited: Set<usize>,
    steps: usize,
    /// Number of references included in the upper bound, and the sum of their depths.
    in_all: (usize, usize),
}

impl Default for Nesting {
    fn default() -> Self {
        Nesting {
            below: Vec::new(),
            settled: Vec::new(),
            depths: Vec::new(),
            followed: None,
            visited: Set::new(),
            steps: STEPS,
            in_all: (0, 0),
        }
    }
}

#[derive(Clone, Default)]
struct Below {
    /// Maximum depth without following references.
    deepest: usize,
    /// References in the target, with their depths.
    references: Vec<(usize, usize)>,
}

/// State of the search at one reference.
struct Frame {
    number: usize,
    /// Depth of the reference in the schema above.
    at: usize,
    next: usize,
    deepest: usize,
    /// True if a reference below it leads back into the current chain.
    is_cut: bool,
}

impl Nesting {
    /// Returns the depth to which a reference leads.
    pub(super) fn depth(&mut self, number: usize, reference: &str, references: &mut References<'_, '_>) -> usize {
        // The provider measures definitions first. A target that is neither in a definition nor followed from one has
        // no depth.
        let is_measured = is_within_a_definition(reference);
        if !is_measured && !self.followed(references).contains(&number) {
            return 0;
        }
        if let Some(Some(depth)) = self.depths.get(number) {
            return *depth;
        }
        // A definition is measured without a reference to it, so its own reference may occur once more below.
        let on_the_way = if is_measured { Set::new() } else { Set::from([number]) };
        let depth = self.search(number, on_the_way, references).unwrap_or_else(|| self.bound(number, references));
        set(&mut self.depths, number, depth);
        depth
    }

    fn below(&mut self, number: usize, references: &mut References<'_, '_>) -> &Below {
        if self.below.get(number).is_none_or(Option::is_none) {
            let below = references.target(number).map(|target| measure(target, references)).unwrap_or_default();
            set(&mut self.below, number, below);
        }
        const NOTHING: &Below = &Below { deepest: 0, references: Vec::new() };
        self.below.get(number).and_then(Option::as_ref).unwrap_or(NOTHING)
    }

    /// Returns the depth of the longest chain from a reference that avoids those on the way; `None` if the budget does
    /// not suffice.
    fn search(
        &mut self,
        start: usize,
        mut on_the_way: Set<usize>,
        references: &mut References<'_, '_>,
    ) -> Option<usize> {
        if let Some(Some(depth)) = self.settled.get(start) {
            return Some(*depth);
        }
        let mut frames = vec![Frame {
            number: start,
            at: 0,
            next: 0,
            deepest: self.below(start, references).deepest,
            is_cut: false,
        }];
        while let Some(frame) = frames.last_mut() {
            let edge = self.below(frame.number, references).references.get(frame.next).copied();
            frame.next += 1;
            if let Some((number, at)) = edge {
                if let Some(Some(depth)) = self.settled.get(number) {
                    frame.deepest = frame.deepest.max(at.saturating_add(*depth));
                } else if on_the_way.contains(&number) {
                    frame.is_cut = true;
                } else {
                    if !self.visited.insert(number) {
                        self.steps = self.steps.checked_sub(1)?;
                    }
                    let deepest = self.below(number, references).deepest;
                    on_the_way.insert(number);
                    frames.push(Frame { number, at, next: 0, deepest, is_cut: false });
                }
                continue;
            }
            let done = frames.pop()?;
            if !done.is_cut {
                set(&mut self.settled, done.number, done.deepest);
            }
            let Some(parent) = frames.last_mut() else { return Some(done.deepest) };
            on_the_way.remove(&done.number);
            parent.is_cut |= done.is_cut;
            parent.deepest = parent.deepest.max(done.at.saturating_add(done.deepest));
        }
        None
    }

    /// Returns an upper bound: the depth of a chain in which each reference occurs once and the first one twice.
    fn bound(&mut self, start: usize, references: &mut References<'_, '_>) -> usize {
        // Measuring a reference may discover others.
        let mut next = self.in_all.0;
        while next < references.count() {
            self.in_all.1 = self.in_all.1.saturating_add(self.below(next, references).deepest);
            next += 1;
        }
        self.in_all.0 = next;
        self.in_all.1.saturating_add(self.below(start, references).deepest)
    }

    fn followed(&mut self, references: &mut References<'_, '_>) -> &Set<usize> {
        if self.followed.is_none() {
            let mut found = Set::new();
            let mut open = references.number_definitions();
            let mut seen: Set<usize> = open.iter().copied().collect();
            while let Some(number) = open.pop() {
                for (target, _) in self.below(number, references).references.clone() {
                    found.insert(target);
                    if seen.insert(target) {
                        open.push(target);
                    }
                }
            }
            self.followed = Some(found);
        }
        const NONE: &Set<usize> = &Set::new();
        self.followed.as_ref().unwrap_or(NONE)
    }
}

/// Returns true if a reference leads to a definition, or from there only through members.
fn is_within_a_definition(reference: &str) -> bool {
    let Some(path) = reference.strip_prefix("#/$defs/") else { return false };
    let mut parts = path.split('/').skip(1);
    while let Some(part) = parts.next() {
        let is_member = match part {
            "properties" => parts.next().is_some(),
            part => part == "additionalProperties",
        };
        if !is_member {
            return false;
        }
    }
    true
}

fn measure(target: &Node<'_>, references: &mut References<'_, '_>) -> Below {
    let mut below = Below::default();
    let mut open = vec![(target, 0_usize)];
    while let Some((schema, depth)) = open.pop() {
        below.deepest = below.deepest.max(depth);
        below.references.extend(references.number_of(schema).map(|number| (number, depth)));
        if let Some(table) = schema.get(Keyword::Properties).and_then(Node::as_object) {
            below.deepest = below.deepest.max(depth + 1);
            open.extend(table.iter().map(|member| (&member.value, depth + 1)));
        }
        open.extend(schema.get(Keyword::AdditionalProperties).map(|schema| (schema, depth)));
        open.extend(
            schema
                .get(Keyword::AnyOf)
                .and_then(Node::as_array)
                .unwrap_or_default()
                .iter()
                .map(|branch| (branch, depth)),
        );
    }
    below
}

fn set<T: Clone>(list: &mut Vec<Option<T>>, number: usize, value: T) {
    if list.len() <= number {
        list.resize(number + 1, None);
    }
    if let Some(place) = list.get_mut(number) {
        *place = Some(value);
    }
}
