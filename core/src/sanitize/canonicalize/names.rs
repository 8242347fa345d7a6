//! Lists of names: `required`, and the lists of `dependentRequired`. Their items must be distinct strings.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    budget::Budget,
    collections::Set,
    json::{Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const REPAIR: ChangeKind = ChangeKind::of(Rule::RepairKeyword);

/// True if a property has a boolean `required`.
pub(super) fn is_flagged(member: &Member<'_>) -> bool {
    member.value.get(Keyword::Required).and_then(Node::as_bool).is_some()
}

/// Repairs `required: "name"` and `required: [1]`, and moves `required: true` of a property to the object that has the
/// property.
pub(super) fn required<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let mut hoisted: Vec<Text<'a>> = Vec::new();
    let any_flagged = node.object_at(Keyword::Properties).is_some_and(|table| table.iter().any(is_flagged));
    if any_flagged {
        node.visit(Keyword::Properties, |table| {
            for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
                let Some(flag) = member.value.get(Keyword::Required).and_then(Node::as_bool) else { continue };
                let location = member.value.get(Keyword::Required).map(Location::of).unwrap_or(Location::Nowhere);
                context
                    .diagnostics
                    .report(place, location.removed(), REPAIR, || format!("moved `required: {flag}` to the object"));
                if flag {
                    hoisted.push(member.key.clone());
                }
                if let Some(object) = member.value.as_object_mut() {
                    object.remove(Keyword::Required);
                }
            }
        });
    }
    let Some(value) = node.get(Keyword::Required) else {
        if hoisted.is_empty() {
            return;
        }
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("required"), Node::array(hoisted.into_iter().map(Node::string).collect()));
        }
        return;
    };
    let is_name = |name: &Node<'_>| name.as_text().is_some();
    if value.as_array().is_some_and(are_different_names) && hoisted.is_empty() {
        return;
    }
    let mut known: Set<Text<'a>> = Set::new();
    let mut names: Vec<Node<'a>> = match value.data() {
        Data::Array(names) => different_names(names, &mut known, &context.budget),
        Data::String(name) => {
            known.insert(name.clone());
            vec![value.copy(&context.budget)]
        }
        _ => Vec::new(),
    };
    let location = Location::of(value);
    let only_twice = value.as_array().is_some_and(|names| names.iter().all(is_name));
    context.diagnostics.report(place, location.to(Location::under(node, "required")), REPAIR, || {
        String::from(match (only_twice, hoisted.is_empty()) {
            (true, true) => "removed duplicates from `required`",
            (true, false) => "added to `required` the properties with `required: true`",
            (false, _) => "removed values from `required` that are not strings",
        })
    });
    names.extend(hoisted.into_iter().filter(|name| !known.contains(name)).map(Node::string));
    let Some(object) = node.as_object_mut() else { return };
    if names.is_empty() {
        object.remove(Keyword::Required);
    } else {
        object.set(Text::literal("required"), Node::array(names));
    }
}

/// Result of checking lists of names.
pub(super) enum Lists<'a> {
    Fine,
    As(Node<'a>),
    Malformed,
}

/// Removes duplicates from the lists in `dependentRequired` and `dependencies`; in `dependencies` the values may also
/// be schemas.
pub(super) fn dependencies<'a>(keyword: Keyword, value: &Node<'a>, budget: &Budget) -> Lists<'a> {
    let Some(table) = value.as_object() else { return Lists::Malformed };
    let lists = || table.iter().filter_map(|member| member.value.as_array());
    let is_fine = |value: &Node<'_>| match value.as_array() {
        Some(names) => names.iter().all(|name| name.as_text().is_some()),
        None => keyword == Keyword::Dependencies,
    };
    if !table.iter().all(|member| is_fine(&member.value)) {
        return Lists::Malformed;
    }
    if lists().all(are_different_names) {
        return Lists::Fine;
    }
    let mut table = value.copy(budget);
    for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
        let Some(names) = member.value.as_array() else { continue };
        let names = different_names(names, &mut Set::new(), budget);
        member.value = Node::array(names).with_origin(member.value.origin());
    }
    Lists::As(table)
}

/// True if all items are strings, and distinct.
pub(super) fn are_different_names(names: &[Node<'_>]) -> bool {
    let different = || names.iter().filter_map(Node::as_text).collect::<Set<_>>().len();
    are_different_words(names) || (names.iter().all(|name| name.as_text().is_some()) && different() == names.len())
}

/// Returns the names of a list without duplicates.
fn different_names<'a>(names: &[Node<'a>], known: &mut Set<Text<'a>>, budget: &Budget) -> Vec<Node<'a>> {
    let is_new = |name: &&Node<'a>| name.as_text().is_some_and(|name| known.insert(name.clone()));
    names.iter().filter(is_new).map(|name| name.copy(budget)).collect()
}

/// True if all items are plain strings, distinct, and few enough to compare pairwise. This holds for most lists of
/// values.
pub(super) fn are_different_words(items: &[Node<'_>]) -> bool {
    const FEW: usize = 16;
    let word = |item: &Node<'_>| item.as_text().and_then(Text::as_plain).is_some();
    let differs =
        |(at, item): (usize, &Node<'_>)| items.iter().take(at).all(|before| before.as_text() != item.as_text());
    items.len() <= FEW && items.iter().all(word) && items.iter().enumerate().all(differs)
}
