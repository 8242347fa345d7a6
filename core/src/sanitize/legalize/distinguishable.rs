//! Describes how the branches of a root union differ, after they were merged into one object.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, LookUp, Member, Node, Object, Text},
    schema::{join::Parts, keyword::Keyword},
};

/// Returns a short description of the branches: the names that each requires in addition to the common ones, and the
/// constant that distinguishes it, if each has one. Returns an empty list if there is no such constant and a branch
/// requires no other names, because the description would then be false.
pub(super) fn discriminators<'a>(
    objects: &[Object<'a>],
    parts: Option<Parts<'_, '_, 'a>>,
    budget: &Budget,
) -> Node<'a> {
    let lists: Vec<Vec<Node<'a>>> =
        objects.iter().map(|object| json::copies(object.items_at(Keyword::Required), budget)).collect();
    // Names required by the common part are required in every branch: branches that are not partial got the whole
    // bundle.
    let common = parts.filter(|parts| parts.which.contains(&true)).map(|parts| parts.common);
    let known: Set<&Text<'a>> =
        common.into_iter().flat_map(|common| common.required).filter_map(Node::as_text).collect();
    let mut times: Map<&Text<'a>, usize> = Map::new();
    for list in &lists {
        for name in list.iter().filter_map(Node::as_text).collect::<Set<_>>() {
            *times.entry(name).or_default() += 1;
        }
    }
    let everywhere = |name: &Node<'a>| {
        name.as_text().is_some_and(|name| known.contains(&name) || times.get(&name) == Some(&lists.len()))
    };
    let own = lists
        .iter()
        .map(|list| list.iter().filter(|name| !everywhere(name)).map(|name| name.copy(budget)).collect::<Vec<_>>());
    let own: Vec<Vec<Node<'a>>> = own.collect();
    if own.iter().all(Vec::is_empty) {
        return Node::array(Vec::new());
    }
    // At most one object may lack a property that distinguishes them.
    let mut named: Map<&Text<'a>, usize> = Map::new();
    let tables: Vec<Option<LookUp<'_, 'a>>> =
        objects.iter().map(|object| object.object_at(Keyword::Properties).map(LookUp::of)).collect();
    for object in objects {
        for member in object.object_at(Keyword::Properties).into_iter().flatten() {
            *named.entry(&member.key).or_default() += 1;
        }
    }
    let is_named = |name: &&Text<'a>| named.get(name).copied().unwrap_or_default() + 1 >= objects.len();
    let beside = common.map(|common| LookUp::of(common.properties));
    let is_part = |at: usize| parts.is_some_and(|parts| parts.which.get(at) == Some(&true));
    let first = common.filter(|_| is_part(0)).map(|common| common.required).unwrap_or_default();
    let own_first = lists.first().into_iter().flatten();
    let is_new = |name: &&Node<'a>| first.is_empty() || !name.as_text().is_some_and(|name| known.contains(&name));
    let shared = first.iter().chain(own_first.filter(is_new)).filter(|name| everywhere(name));
    let shared = shared.filter_map(Node::as_text).filter(is_named);
    let constants_of = |name: &Text<'a>| {
        let property = |(at, table): (usize, &Option<LookUp<'_, 'a>>)| {
            let own = table.as_ref().and_then(|table| table.get(name));
            constant(own.or_else(|| beside.as_ref().filter(|_| is_part(at))?.get(name))?, name, budget)
        };
        tables.iter().enumerate().map(property).collect::<Option<Vec<_>>>()
    };
    let mut candidates = shared.filter_map(constants_of);
    let constants =
        candidates.find(|constants| constants.iter().map(json::canonical).collect::<Set<_>>().len() == objects.len());
    if constants.is_none() && own.iter().any(Vec::is_empty) {
        return Node::array(Vec::new());
    }
    let mut constants = constants.map(Vec::into_iter);
    let descriptions = own.into_iter().map(|own| {
        let constant = constants.as_mut().and_then(Iterator::next);
        let mut members: Vec<Member<'a>> =
            constant.map(|value| Member { key: Text::literal("properties"), value }).into_iter().collect();
        if !own.is_empty() {
            members.push(Member { key: Text::literal("required"), value: Node::array(own) });
        }
        Node::object(Object::from_members(members))
    });
    Node::array(descriptions.collect())
}

/// Returns the listed values of one property, in the form of a `properties` table.
fn constant<'a>(property: &Node<'a>, name: &Text<'a>, budget: &Budget) -> Option<Node<'a>> {
    let (keyword, values) =
        ["const", "enum"].into_iter().find_map(|keyword| Some((keyword, property.get(keyword)?)))?;
    let mut table = Object::new();
    table.set(name.clone(), Node::record([(keyword, values.copy(budget))]));
    Some(Node::object(table))
}
