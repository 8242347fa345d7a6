//! Removes schemas that accept nothing: branches of a union, which generators write for optional values (`{"anyOf":
//! [{"not": {}}, …]}`), and, if the grammar cannot express them, optional properties.

use alloc::{format, vec::Vec};

use crate::{
    collections::Set,
    dialect::grammar::{Grammar, TypeRequirement},
    effect::{Accepts, Guidance},
    json::{Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        emptiness::{admits_nothing, branch_admits_nothing},
        keyword::{is_annotation, Keyword, Keywords, Role},
        references::Form,
        visit::SchemaPath,
    },
};

const BRANCH: ChangeKind = ChangeKind::of(Rule::DropImpossibleBranch);
const UNWRAP: ChangeKind = ChangeKind::of(Rule::UnwrapSingleBranch);
const PROPERTY: ChangeKind = ChangeKind::of(Rule::DropNeverProperty);

/// Keywords whose subschemas may be removed.
pub(crate) const KEYWORDS: Keywords = Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::Properties]);

pub(crate) fn drop_never<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    for (keyword, name) in [(Keyword::AnyOf, "anyOf"), (Keyword::OneOf, "oneOf")] {
        drop_never_branches(node, path, (keyword, name), context);
    }
    if !accepts_not(context.grammar) {
        drop_never_properties(node, path, context);
    }
}

fn accepts_not(grammar: &Grammar) -> bool {
    !grammar.refuses.contains(Keyword::Not) && grammar.typed == TypeRequirement::No
}

fn drop_never_branches<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    (keyword, name): (Keyword, &'static str),
    context: &mut PassContext,
) {
    let Some(branches) = node.array_at(keyword) else { return };
    let is_never: Vec<bool> = branches.iter().map(|branch| branch_admits_nothing(branch, &context.budget)).collect();
    let remaining = is_never.iter().filter(|never| !**never).count();
    // A union of branches that all accept nothing accepts nothing itself, and is left unchanged.
    if remaining == 0 || remaining == is_never.len() {
        return;
    }
    for (branch, _) in branches.iter().zip(&is_never).filter(|(_, never)| **never) {
        let effect = with_guidance_lost(BRANCH, branch);
        context.diagnostics.report(path, Location::of(branch).removed(), effect, || {
            format!("removed a branch of `{name}` that accepts nothing")
        });
    }
    let mut never = is_never.into_iter();
    node.visit(keyword, |list| {
        if let Some(branches) = list.as_array_mut() {
            branches.retain(|_| never.next() == Some(false));
        }
    });
    if remaining == 1 {
        flatten_single_branch(node, path, (keyword, name), context);
    }
}

pub(crate) fn with_guidance_lost(effect: ChangeKind, gone: &Node<'_>) -> ChangeKind {
    match gone.as_object().is_some_and(|object| object.iter().any(is_annotation)) {
        true => effect.guidance(Guidance::Lost),
        false => effect,
    }
}

/// Replaces a union of one branch with the branch, unless both have a keyword in common or the union has other
/// assertions.
fn flatten_single_branch<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    (keyword, name): (Keyword, &'static str),
    context: &mut PassContext,
) {
    let Some(object) = node.as_object() else { return };
    let Some(branch) = object.array_at(keyword).and_then(<[_]>::first) else { return };
    // A branch that references point to is not moved.
    let is_target = context.form == Form::Read
        && context.references.as_ref().is_some_and(|references| references.number_at(branch, path).is_some());
    if is_target {
        return;
    }
    let empty = Object::new();
    let Some(inner) = branch.as_object().or_else(|| (branch.as_bool() == Some(true)).then_some(&empty)) else {
        return;
    };
    let can_be_merged = object.iter().filter(|member| !member.key.is(keyword)).all(|member| {
        let is_redundant = is_annotation(member)
            || Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Definitions);
        is_redundant && inner.get_text(&member.key).is_none()
    });
    if !can_be_merged {
        return;
    }
    context.diagnostics.report(path, Location::of(branch).to(Location::of(node)), UNWRAP, || {
        format!("replaced `{name}` of one branch with the branch")
    });
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(keyword).unwrap_or_default();
    let Some(Data::Array(mut branches)) = object.remove(keyword).map(Node::into_data) else { return };
    if let Some(Data::Object(inner)) = branches.pop().map(Node::into_data) {
        let mut members = core::mem::take(object).into_members();
        members.splice(at..at, inner.into_members());
        *object = Object::from_unique(members);
    }
}

fn drop_never_properties<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(table) = object.object_at(Keyword::Properties) else { return };
    let is_never = |member: &Member<'_>| admits_nothing(&member.value, &context.budget);
    if !table.iter().any(is_never) {
        return;
    }
    let mut is_removed: Vec<bool> = table.iter().map(is_never).collect();
    // If such a property is required, the schema itself accepts nothing.
    let required = object.items_at(Keyword::Required);
    let required: Set<&Text<'_>> = required.iter().filter_map(Node::as_text).collect();
    for (is_removed, member) in is_removed.iter_mut().zip(table) {
        *is_removed = *is_removed && !required.contains(&member.key);
    }
    // A property that is no longer listed becomes an additional property, unless `additionalProperties` is false.
    let is_closed = object.get(Keyword::AdditionalProperties).and_then(Node::as_bool) == Some(false);
    let is_exact = is_closed && !object.has(Keyword::PatternProperties);
    let effect = if is_exact { PROPERTY } else { PROPERTY.accepts(Accepts::Wider).guidance(Guidance::Lost) };
    for (member, _) in table.iter().zip(&is_removed).filter(|(_, is_removed)| **is_removed) {
        let effect = with_guidance_lost(effect, &member.value);
        context.diagnostics.report(path, Location::of(&member.value).removed(), effect, || {
            format!("removed the optional property `{}`, which accepts no value", member.key.display())
        });
    }
    let mut is_removed = is_removed.into_iter();
    node.visit(Keyword::Properties, |table| {
        if let Some(table) = table.as_object_mut() {
            table.retain(|_| is_removed.next() == Some(false));
        }
    });
}
