//! Finds the branches of a union that a value can match, by a property for which the branches list scalar values. Large
//! arguments of large unions are thus restored in linear time.

use alloc::{rc::Rc, string::String, vec::Vec};
use core::cell::RefCell;

use crate::{
    budget::Budget,
    collections::{self, Map},
    json::{self, Data, Node, Object, Text},
};

/// Each discriminator is determined when it is first needed.
#[derive(Default)]
pub(super) struct Discriminators<'p, 'n> {
    by_union: RefCell<Map<*const Node<'n>, Option<Rc<Discriminator<'p, 'n>>>>>,
}

struct Discriminator<'p, 'n> {
    property: Text<'n>,
    /// Branches by [`key`] of the property's value, with their indices.
    branches: Map<String, Vec<(usize, &'p Node<'n>)>>,
    /// Branches that do not describe objects by their properties: any value may match them.
    others: Vec<(usize, &'p Node<'n>)>,
}

impl<'p, 'n> Discriminators<'p, 'n> {
    /// Keeps the order of the branches. `resolve` returns the target of a branch that is a reference.
    pub(super) fn candidates(
        &self,
        value: &Node<'_>,
        branches: &'p [Node<'n>],
        budget: &Budget,
        resolve: impl Fn(&'p Node<'n>) -> Option<&'p Node<'n>>,
    ) -> Vec<&'p Node<'n>> {
        let all_branches = || branches.iter().collect();
        let Some(members) = value.as_object().filter(|_| branches.len() > 1) else { return all_branches() };
        let Some(discriminator) = self.of(branches, budget, resolve) else { return all_branches() };
        let Some(key) = members.get_text(&discriminator.property).and_then(key) else { return all_branches() };
        let listed_branches = discriminator.branches.get(&key).map_or(&[][..], Vec::as_slice);
        let matching: Vec<(usize, &Node<'n>)> = listed_branches.iter().chain(&discriminator.others).copied().collect();
        budget.pay(matching.len());
        let matching = collections::sorted_by(matching, |(left, _), (right, _)| left.cmp(right));
        matching.into_iter().map(|(_, branch)| branch).collect()
    }

    fn of(
        &self,
        branches: &'p [Node<'n>],
        budget: &Budget,
        resolve: impl Fn(&'p Node<'n>) -> Option<&'p Node<'n>>,
    ) -> Option<Rc<Discriminator<'p, 'n>>> {
        let mut known = self.by_union.borrow_mut();
        let key = branches.as_ptr();
        if let Some(discriminator) = known.get(&key) {
            return discriminator.clone();
        }
        let discriminator = Discriminator::of(branches, budget, resolve).map(Rc::new);
        known.insert(key, discriminator.clone());
        discriminator
    }
}

impl<'p, 'n> Discriminator<'p, 'n> {
    /// Returns the first property for which every branch that describes an object lists values.
    fn of(
        branches: &'p [Node<'n>],
        budget: &Budget,
        resolve: impl Fn(&'p Node<'n>) -> Option<&'p Node<'n>>,
    ) -> Option<Self> {
        let (mut tables, mut others) = (Vec::new(), Vec::new());
        for (index, branch) in branches.iter().enumerate() {
            if !budget.pay(1) {
                return None;
            }
            let has = |node: &Node<'_>, key: &str| node.get(key).is_some();
            let target = resolve(branch).filter(|target| {
                !has(branch, "wrapper") && !["wrapper", "anyOf", "json"].iter().any(|key| has(target, key))
            });
            match target.and_then(|target| target.get("properties")).and_then(Node::as_object) {
                Some(table) => tables.push((index, branch, table)),
                None => others.push((index, branch)),
            }
        }
        let (_, _, first) = tables.first()?;
        let mut lists_values = first.iter().filter(|member| listed_values(&member.value).is_some());
        let found =
            lists_values.find_map(|member| Some((&member.key, branches_by_value(&member.key, &tables, budget)?)));
        found.map(|(property, branches)| Discriminator { property: property.clone(), branches, others })
    }
}

fn listed_values<'p, 'n>(schema: &'p Node<'n>) -> Option<&'p [Node<'n>]> {
    match schema.get("const") {
        _ if schema.get("json").is_some() => None,
        Some(value) => Some(core::slice::from_ref(value)),
        None => schema.array_at("enum"),
    }
}

/// Returns a key that is the same for equal strings, numbers or booleans. Other values have no key.
fn key(value: &Node<'_>) -> Option<String> {
    matches!(value.data(), Data::String(_) | Data::Number(_) | Data::Bool(_)).then(|| json::canonical(value))
}

/// Returns `None` if a branch does not list scalars.
fn branches_by_value<'p, 'n>(
    property: &Text<'_>,
    tables: &[(usize, &'p Node<'n>, &Object<'n>)],
    budget: &Budget,
) -> Option<Map<String, Vec<(usize, &'p Node<'n>)>>> {
    let mut branches: Map<String, Vec<(usize, &'p Node<'n>)>> = Map::new();
    for (index, branch, table) in tables {
        // Looking up the property may compare it with every other one.
        if !budget.pay(1 + table.len()) {
            return None;
        }
        let listed = table.get_text(property).and_then(listed_values)?;
        if !budget.pay(listed.len()) {
            return None;
        }
        for value in listed {
            let branches_of_value = branches.entry(key(value)?).or_default();
            if branches_of_value.last().is_none_or(|(last, _)| last != index) {
                branches_of_value.push((*index, *branch));
            }
        }
    }
    Some(branches)
}
