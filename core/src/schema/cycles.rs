//! Cycles of schemas that apply to the same instance location: no validator could finish.
//!
//! Such a cycle passes only through references and in-place applicators. Every other recursion passes through a
//! property, an item or the like, and ends with the instance.

use alloc::{vec, vec::Vec};

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

/// Position of a schema in the list of strongly connected components.
type Component = usize;

/// The role of a reference in the cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// All ways into and around the cycle pass through the target. Without the reference, the target accepts the same
    /// values.
    Repeats,
    /// The reference is part of a cycle that can be entered at several schemas, or of several cycles.
    Entangled,
}

/// Schemas of a document that apply to each other at the same instance location.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    roles: Map<Place, Role>,
    /// All schemas of the cycles.
    members: Set<Place>,
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
        let repeated = graph.repeated(&components, &cyclic);
        let mut roles = Map::new();
        for (place, target) in graph.references().filter(|(place, _)| is_cyclic(place)) {
            if components.get(place) == components.get(target) {
                let repeats = components.get(place).and_then(|component| repeated.get(component));
                match repeats {
                    Some(only) if *only == target => roles.insert(place, Role::Repeats),
                    Some(_) => None,
                    None => roles.insert(place, Role::Entangled),
                };
            }
        }
        let members = (0..graph.schemas.len()).filter(is_cyclic).collect();
        Ok(Cycles { roles, members })
    }

    /// Returns true if there is no cycle.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns true if the schema is part of a cycle.
    pub(crate) fn contains(&self, place: Place) -> bool {
        self.members.contains(&place)
    }

    /// Returns the role of a schema's reference, if the cycles end without it. Without all such references, no cycle
    /// is left.
    pub(crate) fn role(&self, place: Place) -> Option<Role> {
        self.roles.get(&place).copied()
    }
}

/// The schemas that apply to the instance of one schema.
#[derive(Default)]
struct Applied {
    /// Subschemas of in-place applicators.
    inside: Vec<Place>,
    /// Target of its reference.
    target: Option<Place>,
    /// True if the schema applies to an instance without a reference to it, and not as part of another schema of the
    /// graph.
    is_entry: bool,
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
        let mut survey = |part: &Node<'_>, is_root: bool| {
            visit::walk(budget, part, Keywords::ALL, &mut |node, place| {
                around.truncate(place.depth);
                let here = schemas.len();
                let is_in_place = place.keyword.is_some_and(|keyword| through.contains(keyword));
                if is_in_place {
                    if let Some(outer) = around.last().and_then(|outer| schemas.get_mut(*outer)) {
                        outer.inside.push(here);
                    }
                }
                if let Some(target) = references.at(node, place) {
                    targets.entry(target).or_insert(here);
                }
                numbers.extend(references.target_of(node).map(|target| (here, target)));
                let is_applied = match place.keyword {
                    Some(keyword) => !matches!(keyword, Keyword::Defs | Keyword::Definitions),
                    None => is_root,
                };
                schemas.push(Applied { is_entry: is_applied && !is_in_place, ..Applied::default() });
                around.push(here);
                Ok(Visit::Descend)
            })
        };
        survey(root, true)?;
        for target in references.outside(root, budget) {
            survey(target, false)?;
        }
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

    fn references(&self) -> impl Iterator<Item = (Place, Place)> + '_ {
        self.schemas.iter().enumerate().filter_map(|(place, schema)| Some((place, schema.target?)))
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

    /// Returns for each component the schema that all ways into and around it pass through, if there is one and only
    /// references lead to it from inside.
    fn repeated(&self, components: &[Component], cyclic: &Set<Component>) -> Map<Component, Place> {
        let mut entries: Map<Component, Set<Place>> = cyclic.iter().map(|number| (*number, Set::new())).collect();
        let mut is_inner: Set<Place> = Set::new();
        for (place, schema) in self.schemas.iter().enumerate() {
            let Some(here) = components.get(place) else { continue };
            if let Some(entries) = entries.get_mut(here).filter(|_| schema.is_entry) {
                entries.insert(place);
            }
            for target in schema.inside.iter().chain(&schema.target) {
                match components.get(*target) {
                    Some(there) if there == here => {}
                    Some(there) => {
                        if let Some(entries) = entries.get_mut(there) {
                            entries.insert(*target);
                        }
                    }
                    None => {}
                }
            }
            is_inner.extend(schema.inside.iter().copied().filter(|inner| components.get(*inner) == Some(here)));
        }
        // A component that nothing leads into is of unused definitions: then any target will do.
        for (place, target) in self.references() {
            let inner = components.get(place) == components.get(target);
            let component = components.get(place).filter(|_| inner && !is_inner.contains(&target));
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
