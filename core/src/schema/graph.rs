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
    pub(crate) nodes_after_inlining: usize,
    /// Like `nodes_after_inlining`, without the tables of definitions.
    nodes_without_tables: usize,
    /// Maximum nesting after inlining.
    pub(crate) depth: usize,
    /// The schema without its tables of definitions.
    without_tables: Target,
    /// Targets that are not recursive, each after the targets that it refers to; then the recursive targets.
    order: Vec<Number>,
}

/// Size of a target, with the targets that are inlined into it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Size {
    nodes: usize,
    depth: usize,
}

/// Maximum nesting in a truncated result. Deeper schemas help no model, and each level requires another pass.
const MAX_LEVELS: usize = 64;

#[derive(Clone, Debug, Default)]
struct Target {
    /// Number of references to this target.
    reference_count: usize,
    /// Number of schemas and unknown members in the target, including itself.
    nodes: usize,
    /// Targets of the references in this target, one entry per reference, with the depth of the reference.
    references: Vec<(Number, usize)>,
    /// Maximum nesting if no reference is inlined.
    depth: usize,
}

impl Graph {
    pub(crate) fn of(root: &Node<'_>, references: &References, budget: &Budget) -> Result<Graph, Error> {
        let targets = references.all_targets().map(|number| (number, Target::default())).collect();
        let mut survey =
            Survey { budget, references, targets, root: Target::default(), without_tables: Target::default() };
        survey.survey_part(root, PartKind::Root)?;
        for target in references.targets_outside_subschemas(root, budget) {
            // A target inside another target was surveyed with that target.
            let is_known = |number| survey.targets.get(&number).is_some_and(|target| target.nodes > 0);
            if !target.origin().number().is_some_and(is_known) {
                survey.survey_part(target, PartKind::Outside)?;
            }
        }
        let Survey { mut targets, root, without_tables, .. } = survey;
        for number in references.referenced_targets() {
            if let Some(target) = targets.get_mut(&number) {
                target.reference_count += 1;
            }
        }
        let edges: Map<Number, Set<Number>> = targets
            .iter()
            .map(|(number, target)| (*number, target.references.iter().map(|(to, _)| *to).collect()))
            .collect();
        let (order, recursive) = order_and_recursive(&edges);
        // Each target comes after the targets that it refers to, so one pass computes the sizes. Sums saturate,
        // because a chain of definitions that each double the size overflows.
        let mut sizes: Map<Number, Size> = Map::new();
        for number in &order {
            if let Some(target) = targets.get(number) {
                let size = size_after_inlining(target, &sizes);
                sizes.insert(*number, size);
            }
        }
        let order = order.into_iter().chain(recursive.iter().copied()).collect();
        let mut graph = Graph {
            targets,
            recursive,
            nodes_after_inlining: 0,
            depth: 0,
            nodes_without_tables: 0,
            without_tables,
            order,
        };
        Size { nodes: graph.nodes_after_inlining, depth: graph.depth } = graph.size_with_recursive(&root, &sizes);
        graph.nodes_without_tables = graph.size_with_recursive(&graph.without_tables, &sizes).nodes;
        Ok(graph)
    }

    /// Returns the size of a root with every recursive target, after inlining all targets of known size.
    fn size_with_recursive(&self, root: &Target, sizes: &Map<Number, Size>) -> Size {
        let mut total = size_after_inlining(root, sizes);
        for target in self.recursive.iter().filter_map(|number| self.targets.get(number)) {
            let size = size_after_inlining(target, sizes);
            total.nodes = total.nodes.saturating_add(size.nodes);
            total.depth = total.depth.max(size.depth);
        }
        total
    }

    /// Returns the number of schemas that inlining of the other targets adds. Recursive targets are not inlined.
    pub(crate) fn added_by_inlining(&self) -> usize {
        let current =
            self.targets.values().map(|target| target.nodes).fold(self.without_tables.nodes, usize::saturating_add);
        self.nodes_without_tables.saturating_sub(current)
    }

    /// Returns the maximum nesting of `counted` targets at which the inlined schema stays within these limits, if
    /// deeper targets are cut. Returns `None` if the schema exceeds the limits even if all these targets are cut.
    pub(crate) fn affordable_levels(&self, counted: &Set<Number>, max_nodes: usize, max_depth: usize) -> Option<usize> {
        let is_counted = |number: &Number| counted.contains(number);
        // A target that is cut is treated as one schema.
        let mut cut_sizes: Map<Number, Size> = self
            .targets
            .keys()
            .filter(|number| is_counted(number))
            .map(|number| (*number, Size { nodes: 1, depth: 0 }))
            .collect();
        let mut affordable_level = None;
        for level in 0..=MAX_LEVELS {
            let mut sizes = cut_sizes.clone();
            for number in self.order.iter().filter(|number| !is_counted(number) && !self.recursive.contains(number)) {
                if let Some(target) = self.targets.get(number) {
                    let size = size_after_inlining(target, &sizes);
                    sizes.insert(*number, size);
                }
            }
            let Size { nodes, depth } = self.size_with_recursive(&self.without_tables, &sizes);
            if nodes > max_nodes || depth > max_depth {
                break;
            }
            affordable_level = Some(level);
            let next_size = |number: &Number| Some((*number, size_after_inlining(self.targets.get(number)?, &sizes)));
            let larger: Map<Number, Size> = cut_sizes.keys().filter_map(next_size).collect();
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
        self.targets.get(&number).is_some_and(|target| target.reference_count > 1)
    }

    pub(crate) fn collect_reachable(&self, from: Number, reached: &mut Set<Number>) {
        let mut pending = Vec::from([from]);
        while let Some(target) = pending.pop().and_then(|number| self.targets.get(&number)) {
            pending.extend(target.references.iter().map(|(to, _)| *to).filter(|to| reached.insert(*to)));
        }
    }

    pub(crate) fn target_numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.targets.keys().copied()
    }
}

/// Inlines all targets of known size; keeps the other references.
fn size_after_inlining(target: &Target, sizes: &Map<Number, Size>) -> Size {
    let mut size = Size { nodes: target.nodes, depth: target.depth };
    for (to, reference_depth) in &target.references {
        if let Some(inlined) = sizes.get(to) {
            size.nodes = size.nodes.saturating_add(inlined.nodes);
            size.depth = size.depth.max(reference_depth.saturating_add(inlined.depth));
        }
    }
    size
}

struct Survey<'b, 'r> {
    budget: &'b Budget,
    references: &'r References,
    targets: Map<Number, Target>,
    root: Target,
    /// The schema without its tables of definitions.
    without_tables: Target,
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
enum PartKind {
    Root,
    /// A target that is not at the position of a subschema.
    Outside,
}

impl Survey<'_, '_> {
    fn survey_part(&mut self, part: &Node<'_>, kind: PartKind) -> Result<(), Error> {
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
            if let Some(number) =
                self.references.number_at(node, path).filter(|number| self.targets.contains_key(number))
            {
                open_targets.push(OpenTarget { number, depth: path.depth, level });
            }
            self.budget.pay(open_targets.len());
            let object = node.as_object();
            let unknown = object.into_iter().flatten().filter(|member| Keyword::named(&member.key).is_none()).count();
            let reference_values = KEYWORDS.iter().filter_map(|keyword| node.get(keyword));
            let references = reference_values.filter_map(|reference| self.references.target(reference));
            let add = |target: &mut Target, relative_depth: usize| {
                target.nodes += 1 + unknown;
                target.depth = target.depth.max(relative_depth);
                target.references.extend(references.clone().map(|to| (to, relative_depth)));
            };
            if kind == PartKind::Root {
                add(&mut self.root, level);
                if tables.is_empty() {
                    add(&mut self.without_tables, level);
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

pub(crate) fn recursive_nodes(edges: &Map<Number, Set<Number>>) -> Set<Number> {
    order_and_recursive(edges).1
}

/// Returns an order with every node after the nodes that it refers to, and the recursive nodes, which have no such
/// order.
fn order_and_recursive(edges: &Map<Number, Set<Number>>) -> (Vec<Number>, Set<Number>) {
    let (order, remaining) = order_acyclic(edges);
    // Some of the remaining nodes are in no cycle, but refer to one. Removing nodes without users finds them.
    let mut backward: Map<Number, Set<Number>> = remaining.iter().map(|number| (*number, Set::new())).collect();
    for (from, to) in edges.iter().filter(|(from, _)| remaining.contains(from)) {
        for to in to {
            if let Some(users) = backward.get_mut(to) {
                users.insert(*from);
            }
        }
    }
    let (mut before_cycles, recursive) = order_acyclic(&backward);
    // These nodes were removed in the opposite order.
    before_cycles.reverse();
    (order.into_iter().chain(before_cycles).collect(), recursive)
}

/// Repeatedly removes nodes that refer to no remaining node. Returns them in that order, and the nodes that remain.
fn order_acyclic(edges: &Map<Number, Set<Number>>) -> (Vec<Number>, Set<Number>) {
    let mut users: Map<Number, Vec<Number>> = Map::new();
    // For each node, the number of its references to nodes without an order.
    let mut unordered_counts: Map<Number, usize> = Map::new();
    for (from, to) in edges {
        let known: Vec<Number> = to.iter().copied().filter(|to| edges.contains_key(to)).collect();
        unordered_counts.insert(*from, known.len());
        known.into_iter().for_each(|to| users.entry(to).or_default().push(*from));
    }
    let mut order: Vec<Number> =
        unordered_counts.iter().filter(|(_, count)| **count == 0).map(|(number, _)| *number).collect();
    let mut remaining: Set<Number> = edges.keys().copied().collect();
    let mut next = 0;
    while let Some(number) = order.get(next).copied() {
        next += 1;
        remaining.remove(&number);
        for user in users.get(&number).into_iter().flatten() {
            if let Some(count) = unordered_counts.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    order.push(*user);
                }
            }
        }
    }
    (order, remaining)
}
