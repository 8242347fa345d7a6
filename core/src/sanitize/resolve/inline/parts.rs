//! Parts of `allOf` that are references, if the grammar needs parts merged into their schema.

use alloc::{format, vec::Vec};

use crate::{
    json::{Data, Node, Object, Text},
    sanitize::{context::PassContext, diagnostics::Location, legalize::all_of, resolve::inline::siblings},
    schema::{keyword::Keyword, visit::SchemaPath},
};

fn merges(place: &SchemaPath<'_, '_>, context: &PassContext) -> bool {
    context.grammar.merges_all_of(place.keyword.is_none())
}

/// Lifts the parts of nested `allOf` into the outer list.
pub(crate) fn flatten(node: &mut Node<'_>, place: &SchemaPath<'_, '_>, context: &mut PassContext) {
    if !merges(place, context) {
        return;
    }
    // In old drafts, siblings of a reference have no effect.
    let ignores_ref_siblings = context.draft.ignores_ref_siblings();
    let nests = |part: &Node<'_>| {
        part.get(Keyword::AllOf).is_some_and(|parts| parts.as_array().is_some())
            && !(ignores_ref_siblings && part.get(Keyword::Ref).is_some() && !siblings::applies(part))
    };
    if !node.array_at(Keyword::AllOf).is_some_and(|parts| parts.iter().any(nests)) {
        return;
    }
    context.inlined_more = true;
    let Some(object) = node.as_object_mut() else { return };
    let Some(parts) = object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) else { return };
    let mut open: Vec<Node<'_>> = core::mem::take(parts).into_iter().rev().collect();
    while let Some(mut part) = open.pop() {
        let inner =
            if nests(&part) { part.as_object_mut().and_then(|object| object.remove(Keyword::AllOf)) } else { None };
        if let Some(Data::Array(inner)) = inner.map(Node::into_data) {
            open.extend(inner.into_iter().rev());
            if part.as_object().is_some_and(Object::is_empty) {
                continue;
            }
        }
        parts.push(part);
    }
}

/// Moves the reference of a part out of `allOf`, so that it is handled as a reference with siblings: merging it part by
/// part would not end if a definition contains itself as a part. Returns false if no part is a reference.
pub(crate) fn lift<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) -> bool {
    if !merges(place, context) || node.get(Keyword::Ref).is_some() {
        return false;
    }
    let refers = |part: &Node<'_>| part.get(Keyword::Ref).is_some_and(|reference| reference.as_text().is_some());
    let Some(parts) = node.array_at(Keyword::AllOf) else { return false };
    let Some(at) = parts.iter().position(refers) else { return false };
    context.inlined_more = true;
    let (location, count) = (Location::under(node, "allOf"), parts.len());
    let Some(object) = node.as_object_mut() else { return false };
    let place_of_parts = object.position(Keyword::AllOf).unwrap_or_default();
    let Some(parts) = object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) else { return false };
    let Some(part) = parts.get_mut(at) else { return false };
    if context.draft.ignores_ref_siblings() && !siblings::applies(part) {
        siblings::drop(part, place.polarity, context);
    }
    let reference = part.as_object_mut().and_then(|part| part.remove(Keyword::Ref));
    if part.as_object().is_some_and(Object::is_empty) {
        parts.remove(at);
    }
    if parts.is_empty() {
        object.remove(Keyword::AllOf);
    }
    if let Some(reference) = reference {
        object.insert_at(place_of_parts, Text::literal("$ref"), reference);
        siblings::let_apply(node);
    }
    context.diagnostics.report(place, location.to(Location::of(node)), all_of::ALL_OF, || {
        format!("merged the {count} parts of `allOf`")
    });
    true
}
