//! Distributes the siblings of `anyOf` into its branches, if `type` or a keyword that the branches use is among them.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{self, Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::{self, distribute},
    },
    schema::{
        definitions::definition_name,
        keyword::{is_annotation, Keyword},
        visit::SchemaPath,
    },
};

const DISTRIBUTE: ChangeKind = ChangeKind::of(Rule::DistributeIntoAnyOf);
const SHARED: ChangeKind = ChangeKind::of(Rule::DropSharedAnnotation);
const TOO_MANY: ChangeKind = ChangeKind::of(Rule::DropLongUnion);
const IMPOSSIBLE: ChangeKind = ChangeKind::of(Rule::DropImpossibleBranch);

/// Maximum nesting of unions directly in branches of unions; deeper ones are removed.
const DEEPEST: usize = 32;

/// Distributes the siblings of `anyOf` into its branches, if the grammar refuses them.
pub(in crate::sanitize) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> Result<(), Error> {
    distribute(node, place, context, 0)?;
    drop_shared(node, place, context);
    Ok(())
}

/// Removes annotations from branches that are also siblings of `anyOf`.
fn drop_shared<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.grammar.any_of.no_shared_keywords {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let may_repeat = |member: &Member<'_>| {
        Keyword::named(&member.key).is_some_and(|keyword| context.grammar.annotations.contains(keyword))
    };
    let beside: Set<Text<'a>> = object
        .iter()
        .filter(|member| is_annotation(member) && !may_repeat(member))
        .map(|member| member.key.clone())
        .collect();
    let is_shared = |branch: &Node<'_>| {
        branch.as_object().is_some_and(|object| object.iter().any(|member| beside.contains(&member.key)))
    };
    if beside.is_empty()
        || !object.get(Keyword::AnyOf).and_then(Node::as_array).is_some_and(|branches| branches.iter().any(is_shared))
    {
        return;
    }
    node.visit(Keyword::AnyOf, |branches| {
        for branch in branches.as_array_mut().into_iter().flatten().filter(|branch| is_shared(branch)) {
            for member in branch.as_object().into_iter().flatten().filter(|member| beside.contains(&member.key)) {
                let name = member.key.display().into_owned();
                context.diagnostics.report(
                    place.polarity,
                    Location::of(&member.value),
                    Location::Nowhere,
                    SHARED,
                    || format!("removed `{name}` from a branch of `anyOf`: it is also set next to `anyOf`"),
                );
            }
            if let Some(object) = branch.as_object_mut() {
                object.retain(|member| !beside.contains(&member.key));
            }
        }
    });
}

fn distribute<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
    depth: usize,
) -> Result<(), Error> {
    let rule = context.grammar.any_of;
    let Some(object) = node.as_object() else { return Ok(()) };
    let Some(branches) = object.get(Keyword::AnyOf).and_then(Node::as_array) else { return Ok(()) };
    let count = branches.len();
    let bundled =
        |member: &Member<'_>| !member.key.is(Keyword::AnyOf) && !is_annotation(member) && !is_bookkeeping(member);
    let weight: usize =
        object.iter().filter(|member| bundled(member)).map(|member| json::size(&member.value, &context.budget)).sum();
    let shares = |key: &Keyword| branches.iter().any(|branch| branch.get(key.name()).is_some());
    let typed = rule.no_type_beside && object.has(Keyword::Type);
    let shared = rule.no_shared_keywords
        && object
            .iter()
            .filter(|member| bundled(member))
            .any(|member| Keyword::named(&member.key).is_none_or(|keyword| shares(&keyword)));
    let is_judged = |branch: &Node<'_>| {
        branch.as_object().is_some_and(|branch| context.grammar.required_is_known_at(branch, place.pointer))
    };
    let homeless =
        object.has(Keyword::Properties) && branches.iter().any(|branch| names_unknown(branch) && is_judged(branch));
    // If every object is closed, each branch must list all properties.
    let closes = context.grammar.encodes() && object.iter().any(bundled);
    let joins = typed || shared || homeless || closes;
    if count > rule.max_branches || (joins && (weight.saturating_mul(count) > context.max_nodes || depth > DEEPEST)) {
        let max_branches = rule.max_branches;
        context.diagnostics.report(place.polarity, Location::under(node, "anyOf"), Location::Nowhere, TOO_MANY, || {
            format!(
                "removed an `anyOf` of {count} branches: at most {max_branches} are accepted, and keywords can be \
                    copied into them only up to a limit"
            )
        });
        let union = node.as_object_mut().and_then(|object| object.remove(Keyword::AnyOf));
        for branch in union.iter().filter_map(Node::as_array).flatten() {
            context.diagnostics.remove_names(branch, &context.budget)?;
        }
        return Ok(());
    }
    if !joins {
        node.visit(Keyword::AnyOf, |branches| {
            // The visitor never fails.
            let _ = branches.visit_children::<()>(|_, branch| {
                settled(branch, place, context);
                Ok(())
            });
        });
        return Ok(());
    }
    context.diagnostics.report(
        place.polarity,
        Location::under(node, "anyOf"),
        Location::under(node, "anyOf"),
        DISTRIBUTE,
        || format!("distributed the keywords next to `anyOf` into its {count} branches"),
    );
    let Some(object) = node.as_object_mut() else { return Ok(()) };
    let mut bundle = Object::new();
    let mut rest: Vec<Member<'a>> = Vec::new();
    let mut branches = Vec::new();
    for member in core::mem::take(object).into_members() {
        if member.key.is(Keyword::AnyOf) {
            let Member { key, value } = member;
            let origin = value.origin();
            if let Data::Array(items) = value.into_data() {
                branches = items;
            }
            rest.push(Member { key, value: Node::array(Vec::new()).with_origin(origin) });
        } else if bundled(&member) {
            bundle.set(member.key, member.value);
        } else {
            rest.push(member);
        }
    }
    let origin = node.origin();
    let bundle = Node::object(bundle).with_origin(origin);
    let mut joined: Vec<Node<'a>> = Vec::new();
    for branch in branches {
        let mut branch = match distribute::into_branch(&bundle, branch, place.polarity, context) {
            Ok(branch) => branch,
            Err(location) => {
                context.diagnostics.report(place.polarity, location, Location::Nowhere, IMPOSSIBLE, || {
                    String::from("removed a branch of `anyOf` that contradicts the keywords next to `anyOf`")
                });
                continue;
            }
        };
        // A reference that is kept is merged with its siblings into a definition in the next round.
        if definition_name(&branch).is_some() {
            joined.push(branch);
            continue;
        }
        distribute(&mut branch, place, context, depth + 1)?;
        legalize::made(&mut branch, place, context);
        joined.push(branch);
    }
    if joined.is_empty() {
        node.replace(Node::record([("not", Node::empty_object())]).into_data());
        return Ok(());
    }
    if let Some(member) = rest.iter_mut().find(|member| member.key.is(Keyword::AnyOf)) {
        member.value = Node::array(joined).with_origin(member.value.origin());
    }
    node.replace(Data::Object(Object::from_unique(rest)));
    Ok(())
}

/// Completes `required` in a branch, and in branches of unions in it, once nothing more is merged into them.
fn settled<'a>(branch: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    legalize::requires(branch, place, context);
    branch.visit(Keyword::AnyOf, |branches| {
        // The visitor never fails.
        let _ = branches.visit_children::<()>(|_, branch| {
            legalize::requires(branch, place, context);
            Ok(())
        });
    });
}

/// True for keywords that stay next to the union: they do not constrain the instance.
fn is_bookkeeping(member: &Member<'_>) -> bool {
    ["$defs", "definitions", "$id", "$anchor", "$dynamicAnchor"].iter().any(|keyword| member.key.is(keyword))
}

/// True if a branch requires properties that it does not declare itself.
fn names_unknown(branch: &Node<'_>) -> bool {
    let Some(names) = branch.get(Keyword::Required).and_then(Node::as_array) else { return false };
    let properties = branch.get(Keyword::Properties).and_then(Node::as_object);
    names.iter().filter_map(Node::as_text).any(|name| properties.is_none_or(|table| table.get_text(name).is_none()))
}
