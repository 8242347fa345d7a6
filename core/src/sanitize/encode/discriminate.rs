//! Makes the branches of `anyOf` distinguishable for APIs that distinguish them by the name of the first property:
//! reorders properties, and merges branches that no order distinguishes.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{self, Data, Node, Object, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::layout::{self, Members, Shape, Typed},
    },
    schema::{join, keyword::Keyword, visit::SchemaPath},
};

const ORDER: ChangeKind = ChangeKind::of(Rule::ReorderProperties);
const JOIN: ChangeKind = ChangeKind::of(Rule::MergeBranches);

/// Maximum number of branches that get distinct first names by search. Any further branch is merged if it has
/// properties.
const MAX_BRANCHES: usize = 256;

/// Makes sure that no two branches begin with the same name. Returns true if branches were merged.
pub(crate) fn distinguish<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> Result<bool, Error> {
    if !context.grammar.any_of.distinct_first_keys {
        return Ok(false);
    }
    let Shape::Union(branches) = layout::of(node, false, context.grammar) else { return Ok(false) };
    if are_apart(branches) {
        return Ok(false);
    }
    let names: Vec<Vec<Text<'a>>> = branches.iter().map(|branch| names(branch, context)).collect();
    let chosen = discriminator(branches, &names).unwrap_or_else(|| choose(&names));
    let spots: Vec<Location> = branches.iter().map(Location::of).collect();
    for (at, name) in chosen.iter().enumerate() {
        let (Some(name), Some(own), Some(location)) = (name, names.get(at), spots.get(at)) else { continue };
        if own.first() == Some(name) {
            continue;
        }
        let shown = name.display().into_owned();
        context.diagnostics.report(place, location.clone().in_place(), ORDER, || {
            format!("moved the property `{shown}` to the front: branches must begin with different names")
        });
        node.visit(Keyword::AnyOf, |branches| {
            if let Some(branch) = branches.as_array_mut().and_then(|branches| branches.get_mut(at)) {
                branch.visit(Keyword::Properties, |table| put_first(table, name));
            }
        });
    }
    let left: Vec<usize> = (0..names.len())
        .filter(|at| names.get(*at).is_some_and(|own| !own.is_empty()) && chosen.get(*at).is_none_or(Option::is_none))
        .collect();
    if left.is_empty() {
        return Ok(false);
    }
    join(node, place, &names, &chosen, &left, context);
    Ok(true)
}

/// True if all branches begin with different names, or with different constants under the same name.
fn are_apart(branches: &[Node<'_>]) -> bool {
    // For each first name, the constants of the branches that begin with it; `None` if a branch has no constant.
    let mut begun: Map<&Text<'_>, Option<Set<String>>> = Map::new();
    branches.iter().filter_map(|branch| branch.get(Keyword::Properties)?.as_object()?.iter().next()).all(|first| {
        let constant = constant(&first.value);
        match (begun.get_mut(&first.key), constant) {
            (Some(Some(others)), Some(constant)) => others.insert(constant),
            (Some(_), _) => false,
            (None, constant) => {
                begun.insert(&first.key, constant.map(|constant| Set::from([constant])));
                true
            }
        }
    })
}

/// Returns the only value that a schema accepts, if it declares one.
fn constant(schema: &Node<'_>) -> Option<String> {
    match (schema.get(Keyword::Const), schema.array_at(Keyword::Enum)) {
        (Some(value), _) | (None, Some([value])) => Some(json::canonical(value)),
        _ => None,
    }
}

/// Finds a property with a different constant in every branch that has properties, and returns it for each of these
/// branches.
fn discriminator<'a>(branches: &[Node<'a>], names: &[Vec<Text<'a>>]) -> Option<Vec<Option<Text<'a>>>> {
    let with: Vec<bool> = names.iter().map(|own| !own.is_empty()).collect();
    let of = |branch: &Node<'a>, name: &Text<'a>| {
        branch.get(Keyword::Properties)?.as_object()?.get_text(name).and_then(constant)
    };
    let distinguishes = |name: &&Text<'a>| {
        let mut seen = Set::new();
        branches
            .iter()
            .zip(&with)
            .filter(|(_, with)| **with)
            .all(|(branch, _)| of(branch, name).is_some_and(|constant| seen.insert(constant)))
    };
    let name = names.iter().find(|own| !own.is_empty())?.iter().find(distinguishes)?.clone();
    Some(with.into_iter().map(|with| with.then(|| name.clone())).collect())
}

/// Returns the property names of a branch, if it is an object with properties.
fn names<'a>(branch: &Node<'a>, context: &PassContext) -> Vec<Text<'a>> {
    let Shape::Typed(Typed { object: Some(Members::Record { .. }), .. }) = layout::of(branch, false, context.grammar)
    else {
        return Vec::new();
    };
    branch.object_at(Keyword::Properties).into_iter().flatten().map(|member| member.key.clone()).collect()
}

/// Chooses distinct first names for as many branches as possible (bipartite matching). A branch keeps its first name
/// unless another one helps.
fn choose<'a>(names: &[Vec<Text<'a>>]) -> Vec<Option<Text<'a>>> {
    let mut chosen: Vec<Option<Text<'a>>> = vec![None; names.len()];
    let mut holder: Map<Text<'a>, usize> = Map::new();
    for start in 0..names.len().min(MAX_BRANCHES) {
        // Augmenting path from this branch to a free name.
        let mut from: Map<Text<'a>, usize> = Map::new();
        let mut open = Vec::from([start]);
        let mut free = None;
        let mut next = 0;
        while let Some(at) = open.get(next).copied().filter(|_| free.is_none()) {
            next += 1;
            for name in names
                .get(at)
                .into_iter()
                .flatten()
                .filter(|name| from.get(*name).is_none())
                .cloned()
                .collect::<Vec<_>>()
            {
                from.insert(name.clone(), at);
                match holder.get(&name) {
                    Some(other) => open.push(*other),
                    None => {
                        free = Some(name);
                        break;
                    }
                }
            }
        }
        while let Some(name) = free.take() {
            let Some(at) = from.get(&name).copied() else { break };
            holder.insert(name.clone(), at);
            let before = chosen.get_mut(at).and_then(|place| place.replace(name));
            if at != start {
                free = before;
            }
        }
    }
    chosen
}

fn put_first<'a>(table: &mut Node<'a>, name: &Text<'a>) {
    let Some(table) = table.as_object_mut() else { return };
    let members = table.members_mut();
    if let Some(at) = members.iter().position(|member| member.key == *name) {
        let member = members.remove(at);
        members.insert(0, member);
    }
}

/// Merges each remaining branch with the one that begins with one of its names.
fn join<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    names: &[Vec<Text<'a>>],
    chosen: &[Option<Text<'a>>],
    left: &[usize],
    context: &mut PassContext,
) {
    let beginning = |name: &Text<'a>| chosen.iter().position(|first| first.as_ref() == Some(name));
    let mut groups: Map<usize, Vec<usize>> = Map::new();
    for at in left {
        let with = names.get(*at).into_iter().flatten().find_map(beginning);
        groups.entry(with.unwrap_or(*at)).or_default().push(*at);
    }
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    let mut branches: Vec<Option<Node<'a>>> =
        branches.iter().map(|branch| Some(branch.copy(&context.budget))).collect();
    for (with, others) in groups.iter() {
        let members = core::iter::once(with).chain(others.iter().filter(|other| *other != with));
        let joined: Vec<Node<'a>> = members.filter_map(|at| branches.get_mut(*at).and_then(Option::take)).collect();
        let objects: Vec<Object<'a>> =
            joined.iter().filter_map(|branch| Some(branch.as_object()?.copy(&context.budget))).collect();
        let effect = match differs_in_one(&objects, &context.budget) {
            true => JOIN,
            false if join::narrows(&objects, None) => JOIN.accepts(Accepts::Mixed).guidance(Guidance::Lost),
            false => JOIN.accepts(Accepts::Wider).guidance(Guidance::Lost),
        };
        let Some(first) = joined.first() else { continue };
        let (origin, count) = (first.origin(), joined.len());
        let location = Location::of(first);
        context.diagnostics.report(place, location.in_place(), effect, || {
            format!("merged {count} branches of `anyOf`: branches must begin with different names")
        });
        context.diagnostics.join_names(&objects, None, origin);
        if let Some(slot) = branches.get_mut(*with) {
            *slot = Some(
                Node::object(Object::from_members(join::flat(objects, None, &context.budget))).with_origin(origin),
            );
        }
    }
    let branches: Vec<Node<'a>> = branches.into_iter().flatten().collect();
    if branches.len() > 1 {
        node.visit(Keyword::AnyOf, |list| list.replace(Data::Array(branches)));
        return;
    }
    // A union of one branch is replaced by the branch.
    let Some(object) = node.as_object_mut() else { return };
    object.remove(Keyword::AnyOf);
    for member in branches
        .into_iter()
        .filter_map(|branch| match branch.into_data() {
            Data::Object(object) => Some(object),
            _ => None,
        })
        .flat_map(Object::into_members)
    {
        if object.get_text(&member.key).is_none() {
            object.members_mut().push(member);
        }
    }
}

/// True if the objects differ only in the schema of one property, so the merged object is equivalent.
fn differs_in_one(objects: &[Object<'_>], budget: &Budget) -> bool {
    let Some((first, others)) = objects.split_first() else { return true };
    let mut differing: Option<String> = None;
    others.iter().all(|other| {
        let keys = first.len() == other.len()
            && first.iter().all(|member| match (other.get_text(&member.key), member.key.is(Keyword::Properties)) {
                (Some(_), true) => true,
                (Some(value), false) => json::same_within(budget, value, &member.value),
                (None, _) => false,
            });
        let (Some(one), Some(two)) = (first.object_at(Keyword::Properties), other.object_at(Keyword::Properties))
        else {
            return keys;
        };
        keys && one.len() == two.len()
            && one.iter().all(|member| match two.get_text(&member.key) {
                None => false,
                Some(schema) if json::same_within(budget, schema, &member.value) => true,
                Some(_) => {
                    let name = member.key.display().into_owned();
                    let is_it = differing.as_ref().is_none_or(|known| *known == name);
                    differing = Some(name);
                    is_it
                }
            })
    })
}
