//! How deep `properties` nest below a reference, references in it followed.
//!
//! Measured as the provider does it: through `properties`, `additionalProperties` and `anyOf` but not `items`, and
//! along a chain of references in which none stands twice. The longest such chain is hard to find where everything
//! refers to everything, so the search has a budget; beyond it a bound that is never too small is given.

use alloc::{vec, vec::Vec};

use super::reference_table::References;
use crate::{collections::Set, json::Node, schema::keyword::Keyword};

/// Steps of search for all references of a document, beyond the first visit to each: none are needed without cycles.
const STEPS: usize = 20_000;

pub(super) struct Nesting {
    /// What stands below each reference, once it was needed.
    below: Vec<Option<Below>>,
    /// Depths that hold wherever one comes from: no cycle is near.
    settled: Vec<Option<usize>>,
    /// Depths as seen from outside.
    depths: Vec<Option<usize>>,
    /// The references that are followed from some definition.
    followed: Option<Set<usize>>,
    visited: Set<usize>,
    steps: usize,
    /// How many references were added up for the bound, and to what.
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
    /// The deepest place, references not followed.
    deepest: usize,
    /// The references in it, with the depths at which they stand.
    references: Vec<(usize, usize)>,
}

/// Where a search stands.
struct Frame {
    number: usize,
    /// The depth at which the reference to it stands.
    at: usize,
    next: usize,
    deepest: usize,
    /// A reference that is already on the way was met below.
    is_cut: bool,
}

impl Nesting {
    /// How deep a reference leads.
    pub(super) fn depth(&mut self, number: usize, reference: &str, references: &mut References<'_, '_>) -> usize {
        // The provider measures definitions beforehand; what is neither in one nor followed from one counts nothing.
        let is_measured = is_within_a_definition(reference);
        if !is_measured && !self.followed(references).contains(&number) {
            return 0;
        }
        if let Some(Some(depth)) = self.depths.get(number) {
            return *depth;
        }
        // A measured definition was not reached by a reference yet, so its own reference may be met once more below.
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

    /// The longest chain from a reference, after those that are on the way; `None` if the budget does not suffice.
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

    /// As deep as any chain can be in which each reference stands once and the first one twice.
    fn bound(&mut self, start: usize, references: &mut References<'_, '_>) -> usize {
        // Measuring one may bring another.
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

/// Is this a path from the table to a definition, or from there through members only?
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
        below.references.extend(references.held_by(schema).map(|number| (number, depth)));
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
