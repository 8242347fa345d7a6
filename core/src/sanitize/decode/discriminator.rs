//! Finds the branches of a union that a value can match, by a property for which the branches list texts. Large
//! arguments of large unions are thus restored in linear time.

use alloc::{rc::Rc, string::String, vec::Vec};
use core::cell::RefCell;

use crate::{
    budget::Budget,
    collections::{self, Map},
    json::{Node, Object, Text},
};

/// Up to this number of branches, trying each of them is as fast.
const MAX_TRIED: usize = 4;

/// The discriminators of the unions in a plan, each determined when it is first needed.
#[derive(Default)]
pub(super) struct Discriminators<'p, 'n> {
    known: RefCell<Map<*const Node<'n>, Option<Rc<Discriminator<'p, 'n>>>>>,
}

/// A property that distinguishes the branches of a union.
struct Discriminator<'p, 'n> {
    property: Text<'n>,
    /// Branches by value of the property, with their indices.
    branches: Map<String, Vec<(usize, &'p Node<'n>)>>,
    /// Branches that do not describe objects by their properties: any value may match them.
    others: Vec<(usize, &'p Node<'n>)>,
}

impl<'p, 'n> Discriminators<'p, 'n> {
    /// Returns the branches that a value can match, in order. `resolve` returns the target of a branch that is a
    /// reference.
    pub(super) fn candidates(
        &self,
        value: &Node<'_>,
        branches: &'p [Node<'n>],
        budget: &Budget,
        resolve: impl Fn(&'p Node<'n>) -> Option<&'p Node<'n>>,
    ) -> Vec<&'p Node<'n>> {
        let all = || branches.iter().collect();
        let Some(members) = value.as_object().filter(|_| branches.len() > MAX_TRIED) else { return all() };
        let Some(discriminator) = self.of(branches, budget, resolve) else { return all() };
        let Some(text) = members.get_text(&discriminator.property).and_then(Node::as_text).and_then(Text::value) else {
            return all();
        };
        let listed = discriminator.branches.get(&*text).map_or(&[][..], Vec::as_slice);
        let found: Vec<(usize, &Node<'n>)> = listed.iter().chain(&discriminator.others).copied().collect();
        budget.pay(found.len());
        let found = collections::by(found, |(left, _), (right, _)| left.cmp(right));
        found.into_iter().map(|(_, branch)| branch).collect()
    }

    fn of(
        &self,
        branches: &'p [Node<'n>],
        budget: &Budget,
        resolve: impl Fn(&'p Node<'n>) -> Option<&'p Node<'n>>,
    ) -> Option<Rc<Discriminator<'p, 'n>>> {
        let mut known = self.known.borrow_mut();
        let key = branches.as_ptr();
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        let found = Discriminator::of(branches, budget, resolve).map(Rc::new);
        known.insert(key, found.clone());
        found
    }
}

impl<'p, 'n> Discriminator<'p, 'n> {
    /// Returns the first property for which every branch that describes an object lists texts alone.
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
            let is_other = |key: &&str| branch.get(*key).is_some();
            let target = resolve(branch).filter(|_| !["wrapper", "anyOf", "json"].iter().any(|key| is_other(key)));
            match target.and_then(|target| target.get("properties")).and_then(Node::as_object) {
                Some(table) => tables.push((index, branch, table)),
                None => others.push((index, branch)),
            }
        }
        let (_, _, first) = tables.first()?;
        let found = first.iter().find_map(|member| Some((&member.key, by(&member.key, &tables, budget)?)));
        found.map(|(property, branches)| Discriminator { property: property.clone(), branches, others })
    }
}

/// Returns the branches by the texts that they list for a property, or `None` if one of them does not list texts.
fn by<'p, 'n>(
    property: &Text<'_>,
    tables: &[(usize, &'p Node<'n>, &Object<'n>)],
    budget: &Budget,
) -> Option<Map<String, Vec<(usize, &'p Node<'n>)>>> {
    let mut found: Map<String, Vec<(usize, &'p Node<'n>)>> = Map::new();
    for (index, branch, table) in tables {
        let schema = table.get_text(property).filter(|schema| schema.get("json").is_none())?;
        let listed = match schema.get("const") {
            Some(value) => core::slice::from_ref(value),
            None => schema.get("enum").and_then(Node::as_array)?,
        };
        if !budget.pay(1 + listed.len()) {
            return None;
        }
        for value in listed {
            let text = value.as_text()?.value()?.into_owned();
            let of_text = found.entry(text).or_default();
            if of_text.last().is_none_or(|(last, _)| last != index) {
                of_text.push((*index, *branch));
            }
        }
    }
    Some(found)
}
