//! Removes keys named `$ref` that are not references, if the validator mistakes every such key for a reference.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Map,
    json::{Data, Node, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Role, Subschemas},
        visit::SchemaPath,
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::DropRefLikeKey);
const CONSTANT: ChangeKind = ChangeKind::of(Rule::DropRefLikeKey).accepts(Accepts::Wider);
const PATTERN: ChangeKind = ChangeKind::of(Rule::RewritePattern);

/// Removes such keys from one schema.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.refs.only_under.is_none() {
        return;
    }
    pattern(node, place, context);
    let mut goes: Map<Text<'a>, ChangeKind> = Map::new();
    for member in node.as_object().into_iter().flatten() {
        let keyword = Keyword::named(&member.key);
        // Subschemas are handled on their own; lists of values are not searched.
        if keyword.is_some_and(|keyword| keyword.holds() != Subschemas::Value) || !holds(&member.value) {
            continue;
        }
        let validates = keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
        let name = member.key.display().into_owned();
        let effect = if validates { CONSTANT } else { DROP };
        context.diagnostics.report(place.polarity, Location::of(&member.value), Location::Nowhere, effect, || {
            format!("removed `{name}`: this API mistakes its key `$ref` for a reference")
        });
        goes.insert(member.key.clone(), effect);
    }
    if goes.is_empty() {
        return;
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !goes.contains_key(&member.key));
    }
}

/// Respells the pattern `$ref` as an equivalent pattern.
fn pattern<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(schema) = node.get(Keyword::PatternProperties).and_then(|table| table.get(Keyword::Ref)) else { return };
    let location = Location::of(schema);
    context.diagnostics.report(place.polarity, location.clone(), location, PATTERN, || {
        String::from("replaced the pattern `$ref` with `(?:$ref)`")
    });
    node.visit(Keyword::PatternProperties, |table| {
        for member in table
            .as_object_mut()
            .into_iter()
            .flat_map(crate::json::Object::members_mut)
            .filter(|member| member.key.is(Keyword::Ref))
        {
            member.key = Text::literal("(?:$ref)");
        }
    });
}

/// True if an object has this key, in nested objects or lists of branches.
fn holds(value: &Node<'_>) -> bool {
    // Most values are not objects and need no stack.
    if value.as_object().is_none() {
        return false;
    }
    let mut open = Vec::from([value]);
    while let Some(value) = open.pop() {
        for member in value.as_object().into_iter().flatten() {
            if member.key.is(Keyword::Ref) {
                return true;
            }
            match member.value.data() {
                Data::Array(items) if member.key.is(Keyword::AnyOf) => open.extend(items),
                Data::Object(_) => open.push(&member.value),
                _ => {}
            }
        }
    }
    false
}
