//! Tests whether some object can be an instance of a schema: arguments are objects, so a tool's schema must accept one.
//!
//! False is a theorem; true only means that no contradiction was found. Works on schemas as read, in any form.

use super::{
    draft::Draft,
    instance_types::InstanceTypes,
    intersect::accepts_nothing,
    references::{self, Form, References},
};
use crate::{
    budget::Budget,
    json::{Node, Object},
    schema::keyword::{Keyword, Keywords},
};

/// Number of schemas after which the answer is true.
const MAX_STEPS: usize = 10_000;

/// Maximum depth. No known tool schema nests ten unions at its root.
const MAX_LEVELS: usize = 64;

/// Returns true if some object may be an instance of this document.
pub(crate) fn admits_object(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> bool {
    ObjectSearch { root, form, draft, budget, references: None, steps: MAX_STEPS }.object(root, MAX_LEVELS)
}

struct ObjectSearch<'s, 'a> {
    root: &'s Node<'a>,
    form: Form,
    draft: Draft,
    budget: &'s Budget,
    /// References are collected on first use, because most roots have no references.
    references: Option<References>,
    steps: usize,
}

impl<'s, 'a> ObjectSearch<'s, 'a> {
    fn object(&mut self, schema: &'s Node<'a>, levels: usize) -> bool {
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.steps = steps;
        self.budget.pay(1);
        if let Some(answer) = schema.as_bool() {
            return answer;
        }
        if schema.as_object().is_none() {
            return true;
        }
        if schema.get(Keyword::Ref).is_some() {
            let admitted = self.target(schema).is_none_or(|target| self.object(target, levels));
            if !admitted || self.draft.ignores_ref_siblings() {
                return admitted;
            }
        }
        if accepts_nothing(schema) || is_of_another_type(schema) || lists_no_object(schema) {
            return false;
        }
        let branches = |keyword: &str| schema.array_at(keyword).filter(|list| !list.is_empty());
        let all = branches("allOf").is_none_or(|parts| parts.iter().all(|part| self.object(part, levels)));
        all && ["anyOf", "oneOf"].into_iter().all(|keyword| {
            branches(keyword).is_none_or(|branches| branches.iter().any(|branch| self.object(branch, levels)))
        })
    }

    fn target(&mut self, schema: &Node<'a>) -> Option<&'s Node<'a>> {
        let (root, draft, budget) = (self.root, self.draft, self.budget);
        let form = self.form;
        // If the budget is spent, later walks report it.
        let references =
            self.references.get_or_insert_with(|| references::of(root, form, draft, budget).unwrap_or_default());
        references.located(root, references.target_of(schema)?)
    }
}

/// Returns true if `type` excludes objects. An invalid `type` will be repaired, and proves nothing.
fn is_of_another_type(schema: &Node<'_>) -> bool {
    let declared =
        schema.get(Keyword::Type).and_then(InstanceTypes::of_keyword).filter(|types| *types != InstanceTypes::NONE);
    declared.is_some_and(|types| !types.meets(InstanceTypes::OBJECT))
}

/// Returns true if `enum` or `const` lists no object. An empty list is malformed, and will be repaired.
fn lists_no_object(schema: &Node<'_>) -> bool {
    let listed = schema.array_at(Keyword::Enum).filter(|values| !values.is_empty());
    listed.is_some_and(|values| values.iter().all(|value| value.as_object().is_none()))
        || schema.get(Keyword::Const).is_some_and(|value| value.as_object().is_none())
}

/// Returns true for `{"not": {}}`, which accepts nothing.
pub(crate) fn is_never(node: &Node<'_>) -> bool {
    node.get(Keyword::Not)
        .is_some_and(|not| not.as_bool() == Some(true) || not.as_object().is_some_and(Object::is_empty))
}

/// Returns true if a schema by itself accepts no instance. False proves nothing: references are not followed, and most
/// contradictions between keywords are not looked for.
pub(crate) fn admits_nothing(schema: &Node<'_>, budget: &Budget) -> bool {
    nothing(schema, MAX_LEVELS, budget)
}

/// Like [`admits_nothing`], for a branch of a union, in which an empty `enum` is intended: generators write it for
/// "never".
pub(crate) fn branch_admits_nothing(branch: &Node<'_>, budget: &Budget) -> bool {
    branch_is_nothing(branch, MAX_LEVELS, budget)
}

fn nothing(schema: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    budget.pay(1);
    // Most schemas have none of these keywords. Older drafts ignore siblings of a reference.
    const CONTRADICT: Keywords = Keywords::of(&[Keyword::Not, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);
    let present = schema.as_object().map(Keywords::in_object);
    if present.is_some_and(|present| !present.intersects(CONTRADICT) || present.contains(Keyword::Ref)) {
        return false;
    }
    if accepts_nothing(schema) {
        return true;
    }
    let list = |keyword| schema.array_at(keyword).filter(|list: &&[_]| !list.is_empty());
    let is_empty_union = |keyword| {
        list(keyword).is_some_and(|branches| branches.iter().all(|branch| branch_is_nothing(branch, levels, budget)))
    };
    is_empty_union(Keyword::AnyOf)
        || is_empty_union(Keyword::OneOf)
        || list(Keyword::AllOf).is_some_and(|parts| parts.iter().any(|part| nothing(part, levels, budget)))
}

fn branch_is_nothing(branch: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let has_no_value = branch.array_at(Keyword::Enum).is_some_and(<[_]>::is_empty);
    (has_no_value && branch.get(Keyword::Ref).is_none()) || nothing(branch, levels, budget)
}
