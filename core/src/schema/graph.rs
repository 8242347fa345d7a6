//! Who refers to whom among the targets of references: what is recursive, and how large the rest becomes when inlined.

use alloc::vec::Vec;

use super::{
    keyword::{Keyword, Keywords},
    references::{Number, References},
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::Node,
};

/// The targets of a schema's references, and what is known of each.
pub(crate) struct Graph {
    /// Every target that is referred to.
    targets: Map<Number, Target>,
    /// The targets that can reach themselves, or lie between two that can.
    recursive: Set<Number>,
    /// What inlining everything that is not recursive would produce, in the tables of definitions too.
    pub(crate) produced: usize,
    /// The same without these tables.
    inlined: usize,
    /// How deep inlining would nest.
    pub(crate) depth: usize,
    /// The schema without its tables of definitions.
    outside: Target,
    /// Each target that is not recursive after everything it refers to, then those that are.
    order: Vec<Number>,
}

/// A result of inlining that is too large ends at this many levels in any case: nobody reads deeper, and each is one
/// more pass.
const MOST_LEVELS: usize = 64;

#[derive(Clone, Debug, Default)]
struct Target {
    /// How many references lead here.
    users: usize,
    /// Schemas and members in it, itself included.
    nodes: usize,
    /// The targets of the references in it, one entry a reference, with the depth at which each stands.
    refers: Vec<(Number, usize)>,
    /// How deep it nests by itself.
    depth: usize,
}

impl Graph {
    /// Surveys a schema in one walk, and every target that stands outside of it in one more.
    ///
    /// # Errors
    /// Those of the walk.
    pub(crate) fn of(root: &Node<'_>, references: &References, budget: &Budget) -> Result<Graph, Error> {
        let targets = references.all_targets().map(|number| (number, Target::default())).collect();
        let mut survey = Survey { budget, references, targets, root: Target::default(), outside: Target::default() };
        survey.part(root, Part::Root)?;
        for target in references.outside(root, budget) {
            // One inside another was met with that.
            let is_known = |number| survey.targets.get(&number).is_some_and(|target| target.nodes > 0);
            if !target.origin().number().is_some_and(is_known) {
                survey.part(target, Part::Outside)?;
            }
        }
        let Survey { mut targets, root, outside, .. } = survey;
        for number in references.uses() {
            if let Some(target) = targets.get_mut(&number) {
                target.users += 1;
            }
        }
        let edges: Map<Number, Set<Number>> = targets
            .iter()
            .map(|(number, target)| (*number, target.refers.iter().map(|(to, _)| *to).collect()))
            .collect();
        let (order, recursive) = settle(&edges);
        // Each after everything it refers to, so that one pass adds up; saturating, because a chain that doubles at
        // each of its 40 definitions is longer than any number here.
        let mut sizes: Map<Number, (usize, usize)> = Map::new();
        for number in &order {
            if let Some(target) = targets.get(number) {
                let size = inlined(target, &sizes);
                sizes.insert(*number, size);
            }
        }
        let order = order.into_iter().chain(recursive.iter().copied()).collect();
        let mut graph = Graph { targets, recursive, produced: 0, depth: 0, inlined: 0, outside, order };
        (graph.produced, graph.depth) = graph.whole(&root, &sizes);
        graph.inlined = graph.whole(&graph.outside, &sizes).0;
        Ok(graph)
    }

    /// Nodes and depth of a root and of every recursive target, with everything inlined whose size is known.
    fn whole(&self, root: &Target, sizes: &Map<Number, (usize, usize)>) -> (usize, usize) {
        let (mut nodes, mut depth) = inlined(root, sizes);
        for target in self.recursive.iter().filter_map(|number| self.targets.get(number)) {
            let size = inlined(target, sizes);
            nodes = nodes.saturating_add(size.0);
            depth = depth.max(size.1);
        }
        (nodes, depth)
    }

    /// How many schemas there would be more if everything was inlined that is not recursive.
    pub(crate) fn added(&self) -> usize {
        let standing = self.targets.values().map(|target| target.nodes).fold(self.outside.nodes, usize::saturating_add);
        self.inlined.saturating_sub(standing)
    }

    /// How many of `counted` may stand in one another, so that what inlining produces stays within these limits; what
    /// stands deeper is left out. `None` where even leaving all of them out is not enough.
    pub(crate) fn levels(&self, counted: &Set<Number>, most_nodes: usize, most_depth: usize) -> Option<usize> {
        let counted = |number: &Number| counted.contains(number);
        // What is left out says no more than one schema.
        let mut ends: Map<Number, (usize, usize)> =
            self.targets.keys().filter(|number| counted(number)).map(|number| (*number, (1, 0))).collect();
        let mut best = None;
        for level in 0..=MOST_LEVELS {
            let mut sizes = ends.clone();
            for number in self.order.iter().filter(|number| !counted(number) && !self.recursive.contains(number)) {
                if let Some(target) = self.targets.get(number) {
                    let size = inlined(target, &sizes);
                    sizes.insert(*number, size);
                }
            }
            let (nodes, depth) = self.whole(&self.outside, &sizes);
            if nodes > most_nodes || depth > most_depth {
                break;
            }
            best = Some(level);
            let next = |number: &Number| Some((*number, inlined(self.targets.get(number)?, &sizes)));
            let larger: Map<Number, (usize, usize)> = ends.keys().filter_map(next).collect();
            if larger.iter().all(|(number, size)| ends.get(number) == Some(size)) {
                break;
            }
            ends = larger;
        }
        best
    }

    /// Can it reach itself?
    pub(crate) fn is_recursive(&self, number: Number) -> bool {
        self.recursive.contains(&number)
    }

    /// Is it referred to more than once?
    pub(crate) fn is_shared(&self, number: Number) -> bool {
        self.targets.get(&number).is_some_and(|target| target.users > 1)
    }

    /// Adds what a target refers to, directly or through others.
    pub(crate) fn reach(&self, from: Number, reached: &mut Set<Number>) {
        let mut open = Vec::from([from]);
        while let Some(target) = open.pop().and_then(|number| self.targets.get(&number)) {
            open.extend(target.refers.iter().map(|(to, _)| *to).filter(|to| reached.insert(*to)));
        }
    }

    /// Every target.
    pub(crate) fn all(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.keys().copied()
    }
}

/// Nodes and depth of a target with everything inlined whose size is known; the rest stay references.
fn inlined(target: &Target, sizes: &Map<Number, (usize, usize)>) -> (usize, usize) {
    let (mut nodes, mut depth) = (target.nodes, target.depth);
    for (to, at) in &target.refers {
        if let Some((inner, below)) = sizes.get(to) {
            nodes = nodes.saturating_add(*inner);
            depth = depth.max(at.saturating_add(*below));
        }
    }
    (nodes, depth)
}

struct Survey<'b, 'r> {
    budget: &'b Budget,
    references: &'r References,
    targets: Map<Number, Target>,
    /// The schema as a whole.
    root: Target,
    /// The same without its tables of definitions.
    outside: Target,
}

/// A target that the survey is inside of.
struct Open {
    number: Number,
    /// How many schemas stand above it.
    depth: usize,
    /// How many levels of JSON stand above it.
    level: usize,
}

/// Which part of the document is surveyed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it.
    Root,
    /// A target that stands where no schema stands.
    Outside,
}

impl Survey<'_, '_> {
    fn part(&mut self, part: &Node<'_>, what: Part) -> Result<(), Error> {
        // The targets we are inside of, and the tables of definitions, with how many schemas stand above each.
        let (mut open, mut tables): (Vec<Open>, Vec<usize>) = (Vec::new(), Vec::new());
        visit::walk(self.budget, part, Keywords::ALL, &mut |node, place| {
            let level = place.pointer.steps().len();
            while open.last().is_some_and(|known| known.depth >= place.depth) {
                open.pop();
            }
            while tables.last().is_some_and(|known| *known >= place.depth) {
                tables.pop();
            }
            if matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
                tables.push(place.depth);
            }
            if let Some(number) = self.references.at(node, place).filter(|number| self.targets.contains_key(number)) {
                open.push(Open { number, depth: place.depth, level });
            }
            self.budget.pay(open.len());
            let object = node.as_object();
            let unknown = object.into_iter().flatten().filter(|member| Keyword::named(&member.key).is_none()).count();
            let refers = self.references.target_of(node);
            let add = |target: &mut Target, below: usize| {
                target.nodes += 1 + unknown;
                target.depth = target.depth.max(below);
                target.refers.extend(refers.map(|to| (to, below)));
            };
            if what == Part::Root {
                add(&mut self.root, level);
                if tables.is_empty() {
                    add(&mut self.outside, level);
                }
            }
            for around in &open {
                if let Some(target) = self.targets.get_mut(&around.number) {
                    add(target, level - around.level);
                }
            }
            Ok(Visit::Descend)
        })
    }
}

/// Who can reach themselves, or lies between two that can.
pub(crate) fn recursive(edges: &Map<Number, Set<Number>>) -> Set<Number> {
    settle(edges).1
}

/// An order in which everything comes after what it refers to, and what has no place in it because it is recursive.
fn settle(edges: &Map<Number, Set<Number>>) -> (Vec<Number>, Set<Number>) {
    let (order, stuck) = peel(edges);
    // What is left may merely lead into a cycle; peel from the other end too.
    let mut backward: Map<Number, Set<Number>> = stuck.iter().map(|number| (*number, Set::new())).collect();
    for (from, to) in edges.iter().filter(|(from, _)| stuck.contains(from)) {
        for to in to {
            if let Some(users) = backward.get_mut(to) {
                users.insert(*from);
            }
        }
    }
    let (mut leading, recursive) = peel(&backward);
    // Peeled from the other end, so the last comes first.
    leading.reverse();
    (order.into_iter().chain(leading).collect(), recursive)
}

/// Takes away, again and again, whoever refers to nobody that is left: in that order, and who remains.
fn peel(edges: &Map<Number, Set<Number>>) -> (Vec<Number>, Set<Number>) {
    let mut users: Map<Number, Vec<Number>> = Map::new();
    let mut open: Map<Number, usize> = Map::new();
    for (from, to) in edges {
        let known: Vec<Number> = to.iter().copied().filter(|to| edges.contains_key(to)).collect();
        open.insert(*from, known.len());
        known.into_iter().for_each(|to| users.entry(to).or_default().push(*from));
    }
    let mut order: Vec<Number> = open.iter().filter(|(_, count)| **count == 0).map(|(number, _)| *number).collect();
    let mut left: Set<Number> = edges.keys().copied().collect();
    let mut next = 0;
    while let Some(number) = order.get(next).copied() {
        next += 1;
        left.remove(&number);
        for user in users.get(&number).into_iter().flatten() {
            if let Some(count) = open.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    order.push(*user);
                }
            }
        }
    }
    (order, left)
}
