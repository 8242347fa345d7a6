//! Graph of the targets of references: which targets are recursive, and how large the schema becomes when all other
//! targets are inlined.

use alloc::vec::Vec;

use super::{
    keyword::{Keyword, Keywords},
    references::{Number, References, KEYWORDS},
    visit::{self, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::Node,
};

pub(crate) struct Graph {
    targets: Map<Number, Target>,
    /// Targets that can reach themselves, or are on a path between two such targets.
    recursive: Set<Number>,
    /// Number of nodes after inlining all targets that are not recursive, including the tables of definitions.
    pub(crate) produced: usize,
    /// Like `produced`, without the tables of definitions.
    inlined: usize,
    /// Maximum nesting after inlining.
    pub(crate) depth: usize,
    /// The schema without its tables of definitions.
    outside: Target,
    /// Targets that are not recursive, each after the targets that it refers to; then the recursive targets.
    order: Vec<Number>,
}

/// Maximum nesting in a truncated result. Deeper schemas help no model, and each level requires another pass.
const MAX_LEVELS: usize = 64;

#[derive(Clone, Debug, Default)]
struct Target {
    /// Number of references to this target.
    users: usize,
    /// Number of schemas and unknown members in the target, including itself.
    nodes: usize,
    /// Targets of the references in this target, one entry per reference, with the depth of the reference.
    refers: Vec<(Number, usize)>,
    /// Maximum nesting without inlining.
    depth: usize,
}

impl Graph {
    pub(crate) fn of(root: &Node<'_>, references: &References, budget: &Budget) -> Result<Graph, Error> {
        let targets = references.all_targets().map(|number| (number, Target::default())).collect();
        let mut survey = Survey { budget, references, targets, root: Target::default(), outside: Target::default() };
        survey.part(root, Part::Root)?;
        for target in references.outside(root, budget) {
            // A target inside another one was surveyed with it.
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
        let (order, recursive) = order_and_recursive(&edges);
        // Each target comes after the targets that it refers to, so one pass computes the sizes. Sums saturate, because
        // a chain of definitions that each double the size overflows.
        let mut sizes: Map<Number, (usize, usize)> = Map::new();
        for number in &order {
            if let Some(target) = targets.get(number) {
                let size = inlined(target, &sizes);
                sizes.insert(*number, size);
            }
        }
        let order = order.into_iter().chain(recursive.iter().copied()).collect();
        let mut graph = Graph { targets, recursive, produced: 0, depth: 0, inlined: 0, outside, order };
        (graph.produced, graph.depth) = graph.size_with_recursive(&root, &sizes);
        graph.inlined = graph.size_with_recursive(&graph.outside, &sizes).0;
        Ok(graph)
    }

    /// Returns nodes and depth of a root and of every recursive target, after inlining all targets of known size.
    fn size_with_recursive(&self, root: &Target, sizes: &Map<Number, (usize, usize)>) -> (usize, usize) {
        let (mut nodes, mut depth) = inlined(root, sizes);
        for target in self.recursive.iter().filter_map(|number| self.targets.get(number)) {
            let size = inlined(target, sizes);
            nodes = nodes.saturating_add(size.0);
            depth = depth.max(size.1);
        }
        (nodes, depth)
    }

    /// Number of schemas that inlining all targets that are not recursive would add.
    pub(crate) fn added(&self) -> usize {
        let current = self.targets.values().map(|target| target.nodes).fold(self.outside.nodes, usize::saturating_add);
        self.inlined.saturating_sub(current)
    }

    /// Returns the maximum nesting of `counted` targets at which the inlined result stays within these limits. Deeper
    /// targets are cut. Returns `None` if cutting all of them is not enough.
    pub(crate) fn levels(&self, counted: &Set<Number>, max_nodes: usize, max_depth: usize) -> Option<usize> {
        let is_counted = |number: &Number| counted.contains(number);
        // A target that is cut is treated as one schema.
        let mut cut_sizes: Map<Number, (usize, usize)> =
            self.targets.keys().filter(|number| is_counted(number)).map(|number| (*number, (1, 0))).collect();
        let mut affordable_level = None;
        for level in 0..=MAX_LEVELS {
            let mut sizes = cut_sizes.clone();
            for number in self.order.iter().filter(|number| !is_counted(number) && !self.recursive.contains(number)) {
                if let Some(target) = self.targets.get(number) {
                    let size = inlined(target, &sizes);
                    sizes.insert(*number, size);
                }
            }
            let (nodes, depth) = self.size_with_recursive(&self.outside, &sizes);
            if nodes > max_nodes || depth > max_depth {
                break;
            }
            affordable_level = Some(level);
            let next_size = |number: &Number| Some((*number, inlined(self.targets.get(number)?, &sizes)));
            let larger: Map<Number, (usize, usize)> = cut_sizes.keys().filter_map(next_size).collect();
            if larger.iter().all(|(number, size)| cut_sizes.get(number) == Some(size)) {
                break;
            }
            cut_sizes = larger;
        }
        affordable_level
    }

    pub(crate) fn is_recursive(&self, number: Number) -> bool {
        self.recursive.contains(&number)
    }

    pub(crate) fn is_shared(&self, number: Number) -> bool {
        self.targets.get(&number).is_some_and(|target| target.users > 1)
    }

    pub(crate) fn reach(&self, from: Number, reached: &mut Set<Number>) {
        let mut pending = Vec::from([from]);
        while let Some(target) = pending.pop().and_then(|number| self.targets.get(&number)) {
            pending.extend(target.refers.iter().map(|(to, _)| *to).filter(|to| reached.insert(*to)));
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.keys().copied()
    }
}

/// Returns nodes and depth of a target after inlining all targets of known size; other references are kept.
fn inlined(target: &Target, sizes: &Map<Number, (usize, usize)>) -> (usize, usize) {
    let (mut nodes, mut depth) = (target.nodes, target.depth);
    for (to, reference_depth) in &target.refers {
        if let Some((target_nodes, target_depth)) = sizes.get(to) {
            nodes = nodes.saturating_add(*target_nodes);
            depth = depth.max(reference_depth.saturating_add(*target_depth));
        }
    }
    (nodes, depth)
}

struct Survey<'b, 'r> {
    budget: &'b Budget,
    references: &'r References,
    targets: Map<Number, Target>,
    root: Target,
    /// The schema without its tables of definitions.
    outside: Target,
}

/// A target that encloses the current schema.
struct OpenTarget {
    number: Number,
    /// Number of enclosing schemas.
    depth: usize,
    /// Number of enclosing levels of JSON.
    level: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Root,
    /// A target that is not at the position of a subschema.
    Outside,
}

impl Survey<'_, '_> {
    fn part(&mut self, part: &Node<'_>, what: Part) -> Result<(), Error> {
        // Enclosing targets and tables of definitions, with the depth of each.
        let (mut open_targets, mut tables): (Vec<OpenTarget>, Vec<usize>) = (Vec::new(), Vec::new());
        visit::walk(self.budget, part, Keywords::ALL, &mut |node, path| {
            let level = path.pointer.steps().len();
            while open_targets.last().is_some_and(|enclosing| enclosing.depth >= path.depth) {
                open_targets.pop();
            }
            while tables.last().is_some_and(|enclosing| *enclosing >= path.depth) {
                tables.pop();
            }
            if matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
                tables.push(path.depth);
            }
            if let Some(number) = self.references.at(node, path).filter(|number| self.targets.contains_key(number)) {
                open_targets.push(OpenTarget { number, depth: path.depth, level });
            }
            self.budget.pay(open_targets.len());
            let object = node.as_object();
            let unknown = object.into_iter().flatten().filter(|member| Keyword::named(&member.key).is_none()).count();
            let written = KEYWORDS.iter().filter_map(|keyword| node.get(keyword));
            let refers = written.filter_map(|reference| self.references.target(reference));
            let add = |target: &mut Target, relative_depth: usize| {
                target.nodes += 1 + unknown;
                target.depth = target.depth.max(relative_depth);
                target.refers.extend(refers.clone().map(|to| (to, relative_depth)));
            };
            if what == Part::Root {
                add(&mut self.root, level);
                if tables.is_empty() {
                    add(&mut self.outside, level);
                }
            }
            for enclosing in &open_targets {
                if let Some(target) = self.targets.get_mut(&enclosing.number) {
                    add(target, level - enclosing.level);
                }
            }
            Ok(Visit::Descend)
        })
    }
}

pub(crate) fn recursive(edges: &Map<Number, Set<Number>>) -> Set<Number> {
    order_and_recursive(edges).1
}

/// Returns an order with every node after the nodes that it refers to, and the recursive nodes, which have no such
/// order.
fn order_and_recursive(edges: &Map<Number, Set<Number>>) -> (Vec<Number>, Set<Number>) {
    let (order, stuck) = peel(edges);
    // Some of the remaining nodes only point to a cycle. Peeling the graph in the opposite direction finds them.
    let mut backward: Map<Number, Set<Number>> = stuck.iter().map(|number| (*number, Set::new())).collect();
    for (from, to) in edges.iter().filter(|(from, _)| stuck.contains(from)) {
        for to in to {
            if let Some(users) = backward.get_mut(to) {
                users.insert(*from);
            }
        }
    }
    let (mut leading, recursive) = peel(&backward);
    // These nodes were peeled in the opposite direction, so their order is reversed.
    leading.reverse();
    (order.into_iter().chain(leading).collect(), recursive)
}

/// Repeatedly removes nodes that refer to no remaining node. Returns them in that order, and the nodes that remain.
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
