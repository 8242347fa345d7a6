//! Writes null as `nullable: true`, for grammars with no other form: lists of types and unions that include null are
//! folded.

use alloc::{format, string::String, vec::Vec};

use crate::{
    dialect::grammar::Null,
    json::{Member, Node, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        null,
    },
    schema::{
        keyword::{is_annotation, Keyword},
        visit::SchemaPath,
    },
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::NullToNullable);

/// Folds null in `type` and `anyOf` of one schema.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.null != Null::Nullable {
        return;
    }
    list(node, place, context);
    union(node, place, context);
}

/// Folds `type: ["string", "null"]`.
fn list<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(names) = node.array_at(Keyword::Type) else { return };
    let mut others: Vec<Node<'a>> =
        names.iter().filter(|name| !name.is_text("null")).map(|name| name.copy(&context.budget)).collect();
    if names.len() > 1 && others.len() == names.len() {
        return;
    }
    let location = Location::under(node, "type");
    let nullable = others.len() < names.len() && !others.is_empty();
    context.diagnostics.report(place, location.in_place(), RESPELL, || match nullable {
        true => String::from("replaced null in `type` with `nullable: true`"),
        false => String::from("replaced a list of one type with that type"),
    });
    let kinds = match (others.pop(), others.is_empty()) {
        (None, _) => Node::literal("null"),
        (Some(only), true) => only,
        (Some(last), false) => {
            others.push(last);
            Node::array(others)
        }
    };
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("type"), kinds);
    }
    if nullable {
        null::admit(node, context.grammar);
    }
}

/// Folds a branch of `anyOf` that accepts only null.
fn union<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    let Some(branch) = branches.iter().find(|branch| is_null(branch)) else { return };
    // A branch that another rule wrote has been reported by that rule.
    if branch.origin().number().is_some() {
        let location = Location::of(branch);
        context.diagnostics.report(place, location.to(Location::under(node, "anyOf")), RESPELL, || {
            format!(
                "replaced the null branch of `anyOf` with `nullable: true` in the other {}",
                branches.len().saturating_sub(1)
            )
        });
    }
    if branches.iter().all(is_null) {
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::AnyOf);
            object.insert_at(0, Text::literal("type"), Node::literal("null"));
        }
        return;
    }
    let grammar = context.grammar;
    node.visit(Keyword::AnyOf, |list| {
        for branch in list.as_array_mut().into_iter().flat_map(|branches| {
            branches.retain(|branch| !is_null(branch));
            branches
        }) {
            null::admit(branch, grammar);
        }
    });
}

fn is_null(branch: &Node<'_>) -> bool {
    let admits_only_null = |member: &Member<'_>| {
        is_annotation(member)
            || (member.key.is(Keyword::Type) && member.value.is_text("null"))
            || (member.key.is(Keyword::Enum)
                && member.value.as_array().is_some_and(|values| values.iter().all(Node::is_null)))
            || member.key.is(Keyword::Nullable)
    };
    let names_it = ["type", "enum"].iter().any(|keyword| branch.get(keyword).is_some());
    names_it && branch.as_object().is_some_and(|object| object.iter().all(admits_only_null))
}
