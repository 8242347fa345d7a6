//! Cycles of schemas that apply to the same instance location: no validator could finish.
//!
//! Such a cycle passes only through references and in-place applicators. Every other recursion passes through a
//! property, an item or the like, and ends with the instance.

use alloc::{vec, vec::Vec};

use super::{
    keyword::{Keyword, Keywords},
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

/// A schema, identified by its position in the order of the walk.
pub(crate) type Place = usize;

/// Number of a strongly connected component.
type Component = usize;

/// What has to be removed so that a cycle ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The schema, which is a branch of a union: the other branches accept the same values.
    Branch,
    /// The schema, which is a branch of a union. The cycle has other keywords than `anyOf`, so the values may differ.
    InexactBranch,
    /// The reference of the schema, which is a part of `allOf` or a definition: the rest accepts the same values.
    Part,
    /// The reference of the schema, which then accepts more values.
    Inexact,
}

/// Schemas of a document that apply to each other at the same instance location.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    roles: Map<Place, Role>,
    /// All schemas of the cycles.
    members: Set<Place>,
    /// Those of them that are in unused definitions.
    unused: Set<Place>,
}

impl Cycles {
    /// Finds the cycles through references and the keywords in `through`, which must be in-place applicators.
    ///
    /// # Errors
    /// The errors of the walk.
    pub(crate) fn of(
        root: &Node<'_>,
        references: &References,
        through: Keywords,
        budget: &Budget,
    ) -> Result<Cycles, Error> {
        let graph = Graph::of(root, references, through, budget)?;
        let components = graph.components(&Set::new());
        let cyclic = graph.cyclic(&components, &Set::new());
        if cyclic.is_empty() {
            return Ok(Cycles::default());
        }
        let is_cyclic = |place: &Place| components.get(*place).is_some_and(|component| cyclic.contains(component));
        let used = graph.used_definitions();
        let repeated = graph.repeated(&components, &cyclic, &used);
        let applicators = graph.applicators(&components);
        let mut roles = Map::new();
        for (place, target) in graph.references().filter(|(place, _)| is_cyclic(place)) {
            let Some(component) = components.get(place) else { continue };
            if components.get(target) != Some(component) {
                continue;
            }
            let Some(repeated) = repeated.get(component) else {
                roles.insert(place, Role::Inexact);
                continue;
            };
            if *repeated != target {
                continue;
            }
            let applicators = applicators.get(component).copied().unwrap_or(Keywords::NONE);
            let only = |keywords: &[Keyword]| applicators.difference(Keywords::of(keywords)) == Keywords::NONE;
            let is_branch = graph.outer(place).is_some_and(|outer| components.get(outer) == Some(component));
            roles.insert(
                place,
                match is_branch {
                    true if only(&[Keyword::AnyOf]) => Role::Branch,
                    true if only(&[Keyword::AnyOf, Keyword::OneOf]) => Role::InexactBranch,
                    _ if only(&[Keyword::AllOf]) => Role::Part,
                    _ => Role::Inexact,
                },
            );
        }
        let members: Set<Place> = (0..graph.schemas.len()).filter(is_cyclic).collect();
        let unused = members.iter().copied().filter(|place| !graph.is_used(*place, &used)).collect();
        Ok(Cycles { roles, members, unused })
    }

    /// Returns true if there is no cycle.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns true if the schema is part of a cycle.
    pub(crate) fn contains(&self, place: Place) -> bool {
        self.members.contains(&place)
    }

    /// Returns true if the schema is in an unused definition.
    pub(crate) fn is_unused(&self, place: Place) -> bool {
        self.unused.contains(&place)
    }

    /// Returns the role of a schema's reference if it must be removed. Once all of these are removed, no cycle is left.
    pub(crate) fn role(&self, place: Place) -> Option<Role> {
        self.roles.get(&place).copied()
    }
}

/// Visits the schemas of the root in document order, and then those of targets that are not in the position of a
/// subschema. Passes the pointer of such a target, or an empty one for the root.
///
/// # Errors
/// The errors of `visit` and of the walk.
pub(crate) fn walk<'t, 'a>(
    root: &'t Node<'a>,
    references: &References,
    budget: &Budget,
    visit: &mut dyn FnMut(&'t Node<'a>, &SchemaPath<'_, 'a>, &str) -> Result<Visit, Error>,
) -> Result<(), Error> {
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| visit(node, place, ""))?;
    let outside = references.outside(root, budget);
    if outside.is_empty() {
        return Ok(());
    }
    let targets = references.targets(root, budget);
    let mut end = 0;
    for target in outside {
        let Some((number, (_, pointer))) =
            target.origin().number().and_then(|number| Some((number, targets.get(&number)?)))
        else {
            continue;
        };
        // A target inside another one is visited with it.
        if number >= end {
            end = references::numbers(target).end;
            visit::walk(budget, target, Keywords::ALL, &mut |node, place| visit(node, place, pointer))?;
        }
    }
    Ok(())
}

/// The schemas that apply to the instance of one schema.
#[derive(Default)]
struct Applied {
    /// Subschemas of in-place applicators.
    inside: Vec<Place>,
    /// Target of its reference.
    target: Option<Place>,
    /// The enclosing schema and its applicator, if the schema applies to the same instance.
    outer: Option<(Place, Keyword)>,
    /// The definition that contains the schema, or is the schema.
    definition: Option<Place>,
}

struct Graph {
    schemas: Vec<Applied>,
}

impl Graph {
    fn of(root: &Node<'_>, references: &References, through: Keywords, budget: &Budget) -> Result<Self, Error> {
        let mut schemas: Vec<Applied> = Vec::new();
        let mut numbers: Vec<(Place, Number)> = Vec::new();
        let mut targets: Map<Number, Place> = Map::new();
        // The enclosing schemas.
        let mut around: Vec<Place> = Vec::new();
        walk(root, references, budget, &mut |node, place, part| {
            around.truncate(place.depth);
            let here = schemas.len();
            let enclosing = around.last().copied();
            let outer = enclosing.zip(place.keyword.filter(|keyword| through.contains(*keyword)));
            if let Some(schema) = outer.and_then(|(outer, _)| schemas.get_mut(outer)) {
                schema.inside.push(here);
            }
            let is_definition = match place.keyword {
                Some(keyword) => matches!(keyword, Keyword::Defs | Keyword::Definitions),
                None => !part.is_empty(),
            };
            let around_it = enclosing.and_then(|outer| schemas.get(outer)?.definition);
            let definition = if is_definition { Some(here) } else { around_it };
            if let Some(target) = references.at(node, place) {
                targets.entry(target).or_insert(here);
            }
            numbers.extend(references.target_of(node).map(|target| (here, target)));
            schemas.push(Applied { outer, definition, ..Applied::default() });
            around.push(here);
            Ok(Visit::Descend)
        })?;
        for (place, number) in numbers {
            if let Some(schema) = schemas.get_mut(place) {
                schema.target = targets.get(&number).copied();
            }
        }
        Ok(Graph { schemas })
    }

    /// Returns an edge of a schema by its index: first those to the subschemas, then that of the reference, unless it
    /// leads to one of the schemas in `without`.
    fn edge(&self, place: Place, index: usize, without: &Set<Place>) -> Option<Place> {
        let schema = self.schemas.get(place)?;
        if let Some(inner) = schema.inside.get(index) {
            return Some(*inner);
        }
        schema.target.filter(|target| index == schema.inside.len() && !without.contains(target))
    }

    /// Returns the enclosing schema, if this schema applies to the same instance.
    fn outer(&self, place: Place) -> Option<Place> {
        Some(self.schemas.get(place)?.outer?.0)
    }

    fn references(&self) -> impl Iterator<Item = (Place, Place)> + '_ {
        self.schemas.iter().enumerate().filter_map(|(place, schema)| Some((place, schema.target?)))
    }

    /// Returns the applicators through which the schemas of each component apply to each other.
    fn applicators(&self, components: &[Component]) -> Map<Component, Keywords> {
        let mut applicators: Map<Component, Keywords> = Map::new();
        for (place, schema) in self.schemas.iter().enumerate() {
            let (Some((outer, keyword)), Some(component)) = (schema.outer, components.get(place)) else { continue };
            if components.get(outer) == Some(component) {
                let known = applicators.entry(*component).or_insert(Keywords::NONE);
                *known = known.insert(keyword);
            }
        }
        applicators
    }

    /// Returns the definitions to which references lead from the schemas outside of definitions, also through other
    /// definitions.
    fn used_definitions(&self) -> Set<Place> {
        let definition = |place: Place| self.schemas.get(place).and_then(|schema| schema.definition);
        let mut leads: Map<Place, Vec<Place>> = Map::new();
        let mut open: Vec<Place> = Vec::new();
        for (place, target) in self.references() {
            match (definition(place), definition(target)) {
                (None, to) => open.extend(to),
                (Some(from), Some(to)) => leads.entry(from).or_default().push(to),
                (Some(_), None) => {}
            }
        }
        let mut used = Set::new();
        while let Some(definition) = open.pop() {
            if used.insert(definition) {
                open.extend(leads.get(&definition).into_iter().flatten());
            }
        }
        used
    }

    /// Returns the strongly connected component of each schema (Tarjan's algorithm), without references to the schemas
    /// in `without`.
    fn components(&self, without: &Set<Place>) -> Vec<Component> {
        const OPEN: usize = usize::MAX;
        let count = self.schemas.len();
        let (mut components, mut found) = (vec![OPEN; count], 0);
        // For each schema, its position in the order of the search, and the lowest one on the stack that it reaches.
        let (mut order, mut lowest, mut next) = (vec![OPEN; count], vec![OPEN; count], 0);
        let mut stack: Vec<Place> = Vec::new();
        // The current path, and the number of edges that were followed from each schema on it.
        let mut path: Vec<(Place, usize)> = Vec::new();
        let at = |list: &[usize], place: Place| list.get(place).copied().unwrap_or(OPEN);
        let set = |list: &mut [usize], place: Place, value: usize| {
            if let Some(entry) = list.get_mut(place) {
                *entry = value;
            }
        };
        for start in 0..count {
            let mut entered = Some(start).filter(|start| at(&order, *start) == OPEN);
            loop {
                if let Some(place) = entered.take() {
                    set(&mut order, place, next);
                    set(&mut lowest, place, next);
                    next += 1;
                    stack.push(place);
                    path.push((place, 0));
                }
                let Some((place, followed)) = path.last_mut() else { break };
                let (place, edge) = (*place, self.edge(*place, *followed, without));
                *followed += 1;
                if let Some(target) = edge {
                    if at(&order, target) == OPEN {
                        entered = Some(target);
                    } else if at(&components, target) == OPEN {
                        let low = at(&lowest, place).min(at(&order, target));
                        set(&mut lowest, place, low);
                    }
                    continue;
                }
                path.pop();
                if let Some((above, _)) = path.last() {
                    let low = at(&lowest, *above).min(at(&lowest, place));
                    set(&mut lowest, *above, low);
                }
                if at(&lowest, place) == at(&order, place) {
                    while let Some(member) = stack.pop() {
                        set(&mut components, member, found);
                        if member == place {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        components
    }

    /// Returns the components that contain a cycle. Subschemas cannot contain each other, so every cycle contains a
    /// reference.
    fn cyclic(&self, components: &[Component], without: &Set<Place>) -> Set<Component> {
        let inner = |(place, target): &(Place, Place)| components.get(*place) == components.get(*target);
        let references = self.references().filter(|(_, target)| !without.contains(target));
        references.filter(inner).filter_map(|(place, _)| components.get(place).copied()).collect()
    }

    /// Returns true unless the schema is in an unused definition.
    fn is_used(&self, place: Place, used: &Set<Place>) -> bool {
        let definition = self.schemas.get(place).and_then(|schema| schema.definition);
        definition.is_none_or(|definition| used.contains(&definition))
    }

    /// Returns for each component the schema that all ways into and around it pass through, if there is one and only
    /// references lead to it from inside.
    fn repeated(&self, components: &[Component], cyclic: &Set<Component>, used: &Set<Place>) -> Map<Component, Place> {
        let mut entries: Map<Component, Set<Place>> = cyclic.iter().map(|number| (*number, Set::new())).collect();
        let mut add = |component: &Component, place: Place| {
            if let Some(entries) = entries.get_mut(component) {
                entries.insert(place);
            }
        };
        let mut is_inner: Set<Place> = Set::new();
        for (place, schema) in self.schemas.iter().enumerate() {
            let Some(here) = components.get(place) else { continue };
            is_inner.extend(schema.inside.iter().copied().filter(|inner| components.get(*inner) == Some(here)));
            if !self.is_used(place, used) {
                continue;
            }
            if schema.outer.is_none() && schema.definition != Some(place) {
                add(here, place);
            }
            for target in schema.inside.iter().chain(&schema.target) {
                if let Some(there) = components.get(*target).filter(|there| *there != here) {
                    add(there, *target);
                }
            }
        }
        // Unused definitions have no entry: then any target will do.
        for (place, target) in self.references() {
            let is_inside = components.get(place) == components.get(target) && !is_inner.contains(&target);
            let component = components.get(place).filter(|_| is_inside);
            if let Some(entries) = component.and_then(|component| entries.get_mut(component)) {
                if entries.is_empty() {
                    entries.insert(target);
                }
            }
        }
        let only = |(component, entries): (&Component, &Set<Place>)| {
            let entry = entries.iter().next().filter(|entry| entries.len() == 1 && !is_inner.contains(*entry))?;
            Some((*component, *entry))
        };
        let mut repeated: Map<Component, Place> = entries.iter().filter_map(only).collect();
        // Cycles that do not pass through the entry remain without the references to it.
        let without: Set<Place> = repeated.values().copied().collect();
        let left = self.components(&without);
        let still_cyclic = self.cyclic(&left, &without);
        for (left, original) in left.iter().zip(components) {
            if still_cyclic.contains(left) {
                repeated.remove(original);
            }
        }
        repeated
    }
}
