//! Merges nested unions into the enclosing union.

use alloc::{format, string::String, vec::Vec};

use crate::{
    json::{Data, Node},
    report::Guidance,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::layout::{self, Members, Shape},
        legalize::any_of,
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const FLATTEN: ChangeKind = ChangeKind::of(Rule::FlattenUnion);
const TEXTS: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Moved);
const TEXTS_LOST: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Lost);

/// Replaces nested unions with their branches, if every branch must have a type. (Unions below these are already flat.)
pub(super) fn typed<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let is_union = |branch: &Node<'_>| branch.get(Keyword::AnyOf).is_some_and(|inner| inner.as_array().is_some());
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if !context.grammar.any_of.typed_branches || !branches.iter().any(is_union) {
        return;
    }
    let to = Location::under(node, "anyOf");
    let mut moved: Vec<(Location, ChangeKind, String)> = Vec::new();
    let budget = context.budget.clone();
    node.visit(Keyword::AnyOf, |union| {
        let Some(branches) = union.as_array_mut() else { return };
        for mut branch in core::mem::take(branches) {
            let from = Location::of(&branch);
            let inner = branch.as_object_mut().filter(|object| object.has(Keyword::AnyOf));
            let Some(object) = inner else {
                branches.push(branch);
                continue;
            };
            let Some(Data::Array(mut inner)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { continue };
            for text in core::mem::take(object).into_members() {
                let found = any_of::settle(&text, &mut inner, &budget);
                let name = text.key.display().into_owned();
                let location = Location::of(&text.value);
                match found {
                    true => moved.push((location, TEXTS, format!("moved `{name}` into the branches of `anyOf`"))),
                    false => moved.push((
                        location,
                        TEXTS_LOST,
                        format!("removed `{name}`: its union was merged into another"),
                    )),
                }
            }
            moved.push((from, FLATTEN, String::from("merged the branches of a union into the union around it")));
            branches.append(&mut inner);
        }
    });
    for (from, kind, message) in moved {
        context.diagnostics.report(place, from.to(to.clone()), kind, || message);
    }
}

/// Replaces nested unions with their branches, if a list of pairs in one could be mistaken for an array in
/// another: only branches of the same union are distinguished.
pub(super) fn of_containers(node: &mut Node<'_>, context: &PassContext) {
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if !branches.iter().any(is_bare_union) {
        return;
    }
    let (mut lists, mut maps) = (0, 0);
    let mut open: Vec<&Node<'_>> = branches.iter().collect();
    while let Some(branch) = open.pop().filter(|_| context.budget.pay(1)) {
        match layout::of(branch, false, context.grammar) {
            Shape::Union(branches) => open.extend(branches),
            Shape::Typed(typed) if matches!(typed.object, Some(Members::Map(_))) => maps += 1,
            Shape::Typed(typed) if typed.array => lists += 1,
            _ => {}
        }
    }
    if maps == 0 || maps + lists < 2 {
        return;
    }
    node.visit(Keyword::AnyOf, |union| {
        let Some(branches) = union.as_array_mut() else { return };
        let mut open: Vec<Node<'_>> = core::mem::take(branches).into_iter().rev().collect();
        while let Some(mut branch) = open.pop() {
            if !is_bare_union(&branch) {
                branches.push(branch);
            } else if let Some(Data::Array(inner)) =
                branch.as_object_mut().and_then(|object| object.remove(Keyword::AnyOf)).map(Node::into_data)
            {
                open.extend(inner.into_iter().rev());
            }
        }
    });
}

/// True for a schema with no keyword but `anyOf`.
fn is_bare_union(node: &Node<'_>) -> bool {
    node.as_object().is_some_and(|object| object.len() == 1)
        && node.get(Keyword::AnyOf).is_some_and(|branches| branches.as_array().is_some())
}
