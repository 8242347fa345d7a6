//! Cycles of schemas that apply to the same instance location: no validator could finish.
//!
//! Such a cycle passes only through references and in-place applicators. Every other recursion passes through a
//! property, an item or the like, and ends with the instance.

use alloc::{vec, vec::Vec};

use super::{
    keyword::{Draft, Keyword, Keywords},
    references::{self, Number, References},
    visit::{self, SchemaPath, Visit},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::Node,
};

/// In-place applicators: their subschemas apply to the instance of the enclosing schema.
pub(crate) const IN_PLACE: Keywords = Keywords::of(&[
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Not,
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
]);

/// A schema: its index in the order of the walk.
pub(crate) type SchemaIndex = usize;

type Component = usize;

/// What has to be removed so that a cycle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The schema is a branch of a union, and the other branches accept the same values.
    Branch,
    /// The schema is a branch of a union. The cycle has other keywords than `anyOf`, so the values may differ.
    InexactBranch,
    /// The reference of the schema. The schema is a part of `allOf` or a definition, and accepts the same values
    /// without the reference.
    Part,
    /// The reference of the schema. Without it, the schema accepts more values.
    Inexact,
}

/// Schemas of a document that apply to each other at the same instance location.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    /// Roles by schema and by the index of the reference's keyword in [`references::KEYWORDS`].
    roles: Map<(SchemaIndex, usize), Role>,
    /// Targets outside of subschemas that contain a reference to remove, each with its first schema.
    parts: Vec<(Number, SchemaIndex)>,
    /// All schemas of the cycles.
    members: Set<SchemaIndex>,
    /// The members that are in unused definitions.
    unused: Set<SchemaIndex>,
}

impl Cycles {
    /// Finds cycles through these keywords, which must all be in-place applicators.
    pub(crate) fn of(
        root: &Node<'_>,
        references: &References,
        through: Keywords,
        draft: Draft,
        budget: &Budget,
    ) -> Result<Cycles, Error> {
        let graph = Graph::of(root, references, through, draft, budget)?;
        let components = graph.components(&Set::new());
        let cyclic = graph.cyclic_components(&components, &Set::new());
        if cyclic.is_empty() {
            return Ok(Cycles::default());
        }
        let is_cyclic =
            |vertex: &SchemaIndex| components.get(*vertex).is_some_and(|component| cyclic.contains(component));
        let used = graph.used_definitions();
        let single_entries = graph.single_entries(&components, &cyclic, &used);
        let applicators = graph.applicators_by_component(&components);
        let mut roles = Map::new();
        for (vertex, keyword, target) in graph.references().filter(|(vertex, ..)| is_cyclic(vertex)) {
            let reference = (vertex, keyword);
            let Some(component) = components.get(vertex) else { continue };
            if components.get(target) != Some(component) {
                continue;
            }
            let Some(entry) = single_entries.get(component) else {
                roles.insert(reference, Role::Inexact);
                continue;
            };
            if *entry != target {
                continue;
            }
            let applicators = applicators.get(component).copied().unwrap_or(Keywords::NONE);
            let only = |keywords: &[Keyword]| applicators.difference(Keywords::of(keywords)) == Keywords::NONE;
            let is_branch =
                graph.enclosing_schema(vertex).is_some_and(|outer| components.get(outer) == Some(component));
            roles.insert(
                reference,
                match is_branch {
                    true if only(&[Keyword::AnyOf]) => Role::Branch,
                    true if only(&[Keyword::AnyOf, Keyword::OneOf]) => Role::InexactBranch,
                    _ if only(&[Keyword::AllOf]) => Role::Part,
                    _ => Role::Inexact,
                },
            );
        }
        let members: Set<SchemaIndex> = (0..graph.schemas.len()).filter(is_cyclic).collect();
        let unused = members.iter().copied().filter(|vertex| !graph.is_used(*vertex, &used)).collect();
        let mut parts = graph.parts;
        parts.retain(|(_, first, end)| roles.first_key_from(&(*first, 0)).is_some_and(|(vertex, _)| vertex < end));
        let parts = parts.into_iter().map(|(number, first, _)| (number, first)).collect();
        Ok(Cycles { roles, parts, members, unused })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn contains(&self, vertex: SchemaIndex) -> bool {
        self.members.contains(&vertex)
    }

    pub(crate) fn is_unused(&self, vertex: SchemaIndex) -> bool {
        self.unused.contains(&vertex)
    }

    /// Returns the role of a reference. If all references with a role are removed, no cycle remains. `keyword` is the
    /// index of the reference's keyword in [`references::KEYWORDS`].
    pub(crate) fn role(&self, vertex: SchemaIndex, keyword: usize) -> Option<Role> {
        self.roles.get(&(vertex, keyword)).copied()
    }

    pub(crate) fn parts(&self) -> &[(Number, SchemaIndex)] {
        &self.parts
    }
}

/// Part of a document: the root, or a target that is not in the position of a subschema.
#[derive(Clone, Copy)]
pub(crate) struct Part<'p> {
    /// `None` for the root.
    pub(crate) number: Option<Number>,
    pub(crate) pointer: &'p str,
}

/// Visits the schemas of the root in document order, then the targets that are not in the position of a subschema.
pub(crate) fn walk<'t, 'a>(
    root: &'t Node<'a>,
    references: &References,
    budget: &Budget,
    visit: &mut dyn FnMut(&'t Node<'a>, &SchemaPath<'_, 'a>, Part<'_>) -> Result<Visit, Error>,
) -> Result<(), Error> {
    let part = Part { number: None, pointer: "" };
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| visit(node, path, part))?;
    let outside = references.targets_outside_subschemas(root, budget);
    if outside.is_empty() {
        return Ok(());
    }
    let targets = references.targets(root, budget);
    let numbers: Set<Number> = outside.iter().filter_map(|target| target.origin().number()).collect();
    let mut visited: Set<Number> = Set::new();
    for target in outside {
        let Some(number) = target.origin().number().filter(|number| !visited.contains(number)) else { continue };
        let Some((_, pointer)) = targets.get(&number) else { continue };
        let part = Part { number: Some(number), pointer };
        visit::walk(budget, target, Keywords::ALL, &mut |node, path| {
            visited.extend(node.origin().number().filter(|number| numbers.contains(number)));
            visit(node, path, part)
        })?;
    }
    Ok(())
}

/// The schemas that apply to the instance of one schema.
#[derive(Default)]
struct Applied {
    inside: Vec<SchemaIndex>,
    /// The references of the schema: index of the keyword in [`references::KEYWORDS`], and target.
    targets: Vec<(usize, SchemaIndex)>,
    /// The enclosing schema and its applicator, if the schema applies to the same instance.
    outer: Option<(SchemaIndex, Keyword)>,
    /// The definition that contains the schema, or is the schema. Siblings that the draft ignores are treated as
    /// definitions.
    definition: Option<SchemaIndex>,
}

struct Graph {
    schemas: Vec<Applied>,
    /// Targets outside of subschemas, each with the range of its schemas: the first index and the end.
    parts: Vec<(Number, SchemaIndex, SchemaIndex)>,
}

impl Graph {
    fn of(
        root: &Node<'_>,
        references: &References,
        through: Keywords,
        draft: Draft,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let mut schemas: Vec<Applied> = Vec::new();
        let mut parts: Vec<(Number, SchemaIndex, SchemaIndex)> = Vec::new();
        let mut numbers: Vec<(SchemaIndex, usize, Number)> = Vec::new();
        let mut targets: Map<Number, SchemaIndex> = Map::new();
        // The enclosing schemas, each with true if its subschemas have no effect.
        let mut enclosing_schemas: Vec<(SchemaIndex, bool)> = Vec::new();
        walk(root, references, budget, &mut |node, path, part| {
            enclosing_schemas.truncate(path.depth);
            let index = schemas.len();
            let enclosing = enclosing_schemas.last().copied();
            let is_ignored = enclosing.is_some_and(|(_, ignores)| ignores);
            let applicator = path.keyword.filter(|keyword| through.contains(*keyword) && !is_ignored);
            let outer = enclosing.map(|(vertex, _)| vertex).zip(applicator);
            if let Some(schema) = outer.and_then(|(outer, _)| schemas.get_mut(outer)) {
                schema.inside.push(index);
            }
            let is_definition = match path.keyword {
                Some(keyword) => matches!(keyword, Keyword::Defs | Keyword::Definitions) || is_ignored,
                None => part.number.is_some(),
            };
            let definition = match is_definition {
                true => Some(index),
                false => enclosing.and_then(|(outer, _)| schemas.get(outer)?.definition),
            };
            if let Some(target) = references.number_at(node, path) {
                targets.entry(target).or_insert(index);
            }
            for (keyword, name) in references::KEYWORDS.iter().enumerate() {
                let target = node.get(*name).and_then(|reference| references.target(reference));
                numbers.extend(target.map(|target| (index, keyword, target)));
            }
            schemas.push(Applied { outer, definition, ..Applied::default() });
            enclosing_schemas.push((index, draft.ignores_ref_siblings() && node.text_at(Keyword::Ref).is_some()));
            match (part.number, parts.last_mut()) {
                (Some(number), Some((known, _, end))) if *known == number => *end = index + 1,
                (Some(number), _) => parts.push((number, index, index + 1)),
                (None, _) => {}
            }
            Ok(Visit::Descend)
        })?;
        for (vertex, keyword, number) in numbers {
            if let (Some(schema), Some(target)) = (schemas.get_mut(vertex), targets.get(&number)) {
                schema.targets.push((keyword, *target));
            }
        }
        Ok(Graph { schemas, parts })
    }

    /// Returns an edge of a schema by its index, which is less than `edge_count`: the edges to subschemas, then the
    /// references. Returns `None` instead of an edge to a schema in `without`.
    fn edge(&self, vertex: SchemaIndex, index: usize, without: &Set<SchemaIndex>) -> Option<SchemaIndex> {
        let schema = self.schemas.get(vertex)?;
        let target_at = || schema.targets.get(index.checked_sub(schema.inside.len())?);
        let reference = || target_at().map(|(_, target)| *target).filter(|target| !without.contains(target));
        schema.inside.get(index).copied().or_else(reference)
    }

    fn edge_count(&self, vertex: SchemaIndex) -> usize {
        self.schemas.get(vertex).map_or(0, |schema| schema.inside.len() + schema.targets.len())
    }

    fn enclosing_schema(&self, vertex: SchemaIndex) -> Option<SchemaIndex> {
        Some(self.schemas.get(vertex)?.outer?.0)
    }

    fn references(&self) -> impl Iterator<Item = (SchemaIndex, usize, SchemaIndex)> + '_ {
        self.schemas.iter().enumerate().flat_map(|(vertex, schema)| {
            schema.targets.iter().map(move |(keyword, target)| (vertex, *keyword, *target))
        })
    }

    fn applicators_by_component(&self, components: &[Component]) -> Map<Component, Keywords> {
        let mut applicators: Map<Component, Keywords> = Map::new();
        for (vertex, schema) in self.schemas.iter().enumerate() {
            let (Some((outer, keyword)), Some(component)) = (schema.outer, components.get(vertex)) else { continue };
            if components.get(outer) == Some(component) {
                let known = applicators.entry(*component).or_insert(Keywords::NONE);
                *known = known.insert(keyword);
            }
        }
        applicators
    }

    fn used_definitions(&self) -> Set<SchemaIndex> {
        let definition_of = |vertex: SchemaIndex| self.schemas.get(vertex).and_then(|schema| schema.definition);
        let mut references_by_definition: Map<SchemaIndex, Vec<SchemaIndex>> = Map::new();
        let mut pending: Vec<SchemaIndex> = Vec::new();
        for (vertex, _, target) in self.references() {
            match (definition_of(vertex), definition_of(target)) {
                (None, to) => pending.extend(to),
                (Some(from), Some(to)) => references_by_definition.entry(from).or_default().push(to),
                (Some(_), None) => {}
            }
        }
        let mut used = Set::new();
        while let Some(definition) = pending.pop() {
            if used.insert(definition) {
                pending.extend(references_by_definition.get(&definition).into_iter().flatten());
            }
        }
        used
    }

    /// Returns the component of each schema, by Tarjan's algorithm, without references to the schemas in `without`.
    fn components(&self, without: &Set<SchemaIndex>) -> Vec<Component> {
        const UNSET: usize = usize::MAX;
        let count = self.schemas.len();
        let (mut components, mut component_count) = (vec![UNSET; count], 0);
        // For each schema: its index in the order of the search, and the lowest index on the stack that it reaches.
        let (mut order, mut lowest_reachable, mut next) = (vec![UNSET; count], vec![UNSET; count], 0);
        let mut stack: Vec<SchemaIndex> = Vec::new();
        // The current path, and the number of edges that were followed from each schema on it.
        let mut path: Vec<(SchemaIndex, usize)> = Vec::new();
        let at = |list: &[usize], vertex: SchemaIndex| list.get(vertex).copied().unwrap_or(UNSET);
        let set = |list: &mut [usize], vertex: SchemaIndex, value: usize| {
            if let Some(entry) = list.get_mut(vertex) {
                *entry = value;
            }
        };
        for start in 0..count {
            let mut entered = Some(start).filter(|start| at(&order, *start) == UNSET);
            loop {
                if let Some(vertex) = entered.take() {
                    set(&mut order, vertex, next);
                    set(&mut lowest_reachable, vertex, next);
                    next += 1;
                    stack.push(vertex);
                    path.push((vertex, 0));
                }
                let Some((vertex, followed)) = path.last_mut() else { break };
                let (vertex, index) = (*vertex, *followed);
                *followed += 1;
                if index < self.edge_count(vertex) {
                    let Some(target) = self.edge(vertex, index, without) else { continue };
                    if at(&order, target) == UNSET {
                        entered = Some(target);
                    } else if at(&components, target) == UNSET {
                        let low = at(&lowest_reachable, vertex).min(at(&order, target));
                        set(&mut lowest_reachable, vertex, low);
                    }
                    continue;
                }
                path.pop();
                if let Some((above, _)) = path.last() {
                    let low = at(&lowest_reachable, *above).min(at(&lowest_reachable, vertex));
                    set(&mut lowest_reachable, *above, low);
                }
                if at(&lowest_reachable, vertex) == at(&order, vertex) {
                    while let Some(member) = stack.pop() {
                        set(&mut components, member, component_count);
                        if member == vertex {
                            break;
                        }
                    }
                    component_count += 1;
                }
            }
        }
        components
    }

    /// Returns the components with a cycle. Subschemas cannot contain each other, so every cycle contains a reference.
    fn cyclic_components(&self, components: &[Component], without: &Set<SchemaIndex>) -> Set<Component> {
        let inner = |(vertex, _, target): &(SchemaIndex, usize, SchemaIndex)| {
            components.get(*vertex) == components.get(*target)
        };
        let references = self.references().filter(|(.., target)| !without.contains(target));
        references.filter(inner).filter_map(|(vertex, ..)| components.get(vertex).copied()).collect()
    }

    fn is_used(&self, vertex: SchemaIndex, used: &Set<SchemaIndex>) -> bool {
        let definition = self.schemas.get(vertex).and_then(|schema| schema.definition);
        definition.is_none_or(|definition| used.contains(&definition))
    }

    /// Returns the only entry of each component: every cycle of the component and every path into it pass through this
    /// schema. Components with several entries are omitted. So are components whose entry is one of their in-place
    /// subschemas.
    fn single_entries(
        &self,
        components: &[Component],
        cyclic: &Set<Component>,
        used: &Set<SchemaIndex>,
    ) -> Map<Component, SchemaIndex> {
        let mut entries: Map<Component, Set<SchemaIndex>> = cyclic.iter().map(|number| (*number, Set::new())).collect();
        let mut add = |component: &Component, vertex: SchemaIndex| {
            if let Some(entries) = entries.get_mut(component) {
                entries.insert(vertex);
            }
        };
        let mut has_inner_parent: Set<SchemaIndex> = Set::new();
        for (vertex, schema) in self.schemas.iter().enumerate() {
            let Some(component) = components.get(vertex) else { continue };
            has_inner_parent
                .extend(schema.inside.iter().copied().filter(|inner| components.get(*inner) == Some(component)));
            if !self.is_used(vertex, used) {
                continue;
            }
            if schema.outer.is_none() && schema.definition != Some(vertex) {
                add(component, vertex);
            }
            for target in schema.inside.iter().chain(schema.targets.iter().map(|(_, target)| target)) {
                if let Some(target_component) =
                    components.get(*target).filter(|target_component| *target_component != component)
                {
                    add(target_component, *target);
                }
            }
        }
        // Unused definitions have no entry. Any target is then used as the entry.
        for (vertex, _, target) in self.references() {
            let is_inside = components.get(vertex) == components.get(target) && !has_inner_parent.contains(&target);
            let component = components.get(vertex).filter(|_| is_inside);
            if let Some(entries) = component.and_then(|component| entries.get_mut(component)) {
                if entries.is_empty() {
                    entries.insert(target);
                }
            }
        }
        let single_entry = |(component, entries): (&Component, &Set<SchemaIndex>)| {
            let entry =
                entries.iter().next().filter(|entry| entries.len() == 1 && !has_inner_parent.contains(*entry))?;
            Some((*component, *entry))
        };
        let mut single_entries: Map<Component, SchemaIndex> = entries.iter().filter_map(single_entry).collect();
        // If cycles remain without the references to the entry, they do not pass through it.
        let removed_targets: Set<SchemaIndex> = single_entries.values().copied().collect();
        let remaining = self.components(&removed_targets);
        let still_cyclic = self.cyclic_components(&remaining, &removed_targets);
        for (remaining, original) in remaining.iter().zip(components) {
            if still_cyclic.contains(remaining) {
                single_entries.remove(original);
            }
        }
        single_entries
    }
}
