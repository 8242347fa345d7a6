//! `anyOf` next to keywords that the grammar refuses there: assertions are merged into every branch, annotations are
//! moved into a branch or removed.
//!
//! If the grammar accepts no assertions as siblings of `anyOf`, they are distributed before other legalization
//! ([`join_siblings`]), and annotations follow afterwards ([`annotations`]). Otherwise each schema is rewritten after
//! its subschemas ([`apply`]).

use alloc::{format, string::String, vec::Vec};

use super::all_of::intersected;
use crate::{
    budget::Budget,
    collections::Set,
    effect::{Accepts, Guidance},
    error::Error,
    json::{self, Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        canonicalize::never::with_guidance_lost,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize,
    },
    schema::{
        definitions::definition_name,
        emptiness::is_never,
        keyword::{is_annotation, Keyword, Keywords, Role},
        references,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const DISTRIBUTE: ChangeKind = ChangeKind::of(Rule::DistributeIntoAnyOf);
const DROP_SIBLINGS: ChangeKind =
    ChangeKind::of(Rule::DistributeIntoAnyOf).accepts(Accepts::Wider).guidance(Guidance::Lost);
const DROP_SHARED: ChangeKind = ChangeKind::of(Rule::DropSharedAnnotation);
const TOO_MANY: ChangeKind = ChangeKind::of(Rule::DropLongUnion);
const IMPOSSIBLE: ChangeKind = ChangeKind::of(Rule::DropImpossibleBranch);
const UNWRAP: ChangeKind = ChangeKind::of(Rule::UnwrapSingleBranch);
const MOVE_ANNOTATION: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations);
const DROP_ANNOTATION: ChangeKind = ChangeKind::of(Rule::DistributeAnnotations).guidance(Guidance::Lost);

/// Keywords that may become `anyOf`.
const UNIONS: Keywords = Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);

/// Maximum nesting of unions directly in branches of unions; deeper ones are removed.
const MAX_NESTING: usize = 32;

pub(crate) fn apply<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> Result<(), Error> {
    distribute(node, path, context, 0)?;
    drop_shared(node, path, context);
    Ok(())
}

fn distribute<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
    depth: usize,
) -> Result<(), Error> {
    let rule = context.grammar.any_of;
    let Some(object) = node.as_object() else { return Ok(()) };
    let Some(branches) = object.array_at(Keyword::AnyOf) else { return Ok(()) };
    let count = branches.len();
    let is_copied =
        |member: &Member<'_>| !member.key.is(Keyword::AnyOf) && !is_annotation(member) && !is_bookkeeping(member);
    let copied_size: usize =
        object.iter().filter(|member| is_copied(member)).map(|member| json::size(&member.value, &context.budget)).sum();
    let is_in_a_branch = |key: &Keyword| branches.iter().any(|branch| branch.get(key.name()).is_some());
    let is_typed = rule.no_type_beside && object.has(Keyword::Type);
    let is_shared = rule.no_shared_keywords
        && object
            .iter()
            .filter(|member| is_copied(member))
            .any(|member| Keyword::named(&member.key).is_none_or(|keyword| is_in_a_branch(&keyword)));
    let requires_declared = |branch: &Node<'_>| {
        branch.as_object().is_some_and(|branch| context.grammar.required_is_known_at(branch, path.pointer))
    };
    let requires_undeclared = object.has(Keyword::Properties)
        && branches.iter().any(|branch| requires_undeclared_name(branch) && requires_declared(branch));
    // If every object is closed, each branch must list all properties.
    let must_close = context.grammar.encodes() && object.iter().any(is_copied);
    let needs_copies = is_typed || is_shared || requires_undeclared || must_close;
    if count > rule.max_branches
        || (needs_copies && (copied_size.saturating_mul(count) > context.max_nodes || depth > MAX_NESTING))
    {
        let max_branches = rule.max_branches;
        context.diagnostics.report(path, Location::under(node, "anyOf").removed(), TOO_MANY, || {
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
    if !needs_copies {
        node.visit(Keyword::AnyOf, |branches| {
            // The visitor never fails.
            let _ = branches.visit_children::<()>(|_, branch| {
                complete_required(branch, path, context);
                Ok(())
            });
        });
        return Ok(());
    }
    into_branches(node, path, context, is_copied, |branch, context| {
        // A reference that is kept is merged with its siblings into a definition in the next round.
        if definition_name(branch).is_none() {
            distribute(branch, path, context, depth + 1)?;
            legalize::run_remaining_passes(branch, path, context);
        }
        Ok(())
    })
}

/// Limits `required` in a branch and its branches, once nothing more is merged into them.
fn complete_required<'a>(branch: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    legalize::limit_required(branch, path, context);
    branch.visit(Keyword::AnyOf, |branches| {
        // The visitor never fails.
        let _ = branches.visit_children::<()>(|_, branch| {
            legalize::limit_required(branch, path, context);
            Ok(())
        });
    });
}

/// Returns true for keywords that stay next to the union, because they do not constrain the instance.
fn is_bookkeeping(member: &Member<'_>) -> bool {
    ["$defs", "definitions", "$id", "$anchor", "$dynamicAnchor"].iter().any(|keyword| member.key.is(keyword))
}

fn requires_undeclared_name(branch: &Node<'_>) -> bool {
    let Some(names) = branch.array_at(Keyword::Required) else { return false };
    let properties = branch.object_at(Keyword::Properties);
    names.iter().filter_map(Node::as_text).any(|name| properties.is_none_or(|table| table.get_text(name).is_none()))
}

fn drop_shared<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.grammar.any_of.no_shared_keywords {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let may_repeat = |member: &Member<'_>| {
        Keyword::named(&member.key).is_some_and(|keyword| context.grammar.annotations.contains(keyword))
    };
    let shared_names: Set<Text<'a>> = object
        .iter()
        .filter(|member| is_annotation(member) && !may_repeat(member))
        .map(|member| member.key.clone())
        .collect();
    let is_shared = |branch: &Node<'_>| {
        branch.as_object().is_some_and(|object| object.iter().any(|member| shared_names.contains(&member.key)))
    };
    if shared_names.is_empty()
        || !object.array_at(Keyword::AnyOf).is_some_and(|branches| branches.iter().any(is_shared))
    {
        return;
    }
    node.visit(Keyword::AnyOf, |branches| {
        for branch in
            context.budget.each(branches.as_array_mut().into_iter().flatten()).filter(|branch| is_shared(branch))
        {
            let members = context.budget.each(branch.as_object().into_iter().flatten());
            for member in members.filter(|member| shared_names.contains(&member.key)) {
                let name = member.key.display().into_owned();
                context.diagnostics.report(path, Location::of(&member.value).removed(), DROP_SHARED, || {
                    format!("removed `{name}` from a branch of `anyOf`: it is also set next to `anyOf`")
                });
            }
            if let Some(object) = branch.as_object_mut() {
                object.retain(|member| !shared_names.contains(&member.key));
            }
        }
    });
}

/// Returns true if the grammar accepts no assertions as siblings of `anyOf`.
fn refuses_siblings(context: &PassContext) -> bool {
    !context.grammar.any_of.beside.contains(Keyword::Type)
}

pub(crate) fn concerns(context: &PassContext) -> bool {
    refuses_siblings(context) && context.survey.keywords.intersects(UNIONS)
}

pub(crate) fn join_siblings<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    // After references were inlined, the schema may have any keyword.
    if !references::mentions(root, Keywords::of(&[Keyword::AnyOf])) {
        return Ok(());
    }
    let copyable_nodes = context.max_nodes;
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut SiblingDistributor { context, copyable_nodes })
}

struct SiblingDistributor<'r> {
    context: &'r mut PassContext,
    copyable_nodes: usize,
}

impl<'a> VisitorMut<'a> for SiblingDistributor<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        self.distribute(node, path)?;
        Ok(Visit::Descend)
    }
}

impl SiblingDistributor<'_> {
    fn distribute<'a>(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        let Some(object) = node.as_object() else { return Ok(()) };
        let Some(count) = object.array_at(Keyword::AnyOf).map(<[_]>::len) else { return Ok(()) };
        if !object.iter().any(applies) {
            return Ok(());
        }
        let weight: usize = object
            .iter()
            .filter(|member| applies(member))
            .map(|member| json::size(&member.value, &self.context.budget))
            .sum();
        if let Some(remaining) = self.copyable_nodes.checked_sub(weight.saturating_mul(count)) {
            self.copyable_nodes = remaining;
            return into_branches(node, path, self.context, applies, |_, _| Ok(()));
        }
        self.context.diagnostics.report(path, Location::under(node, "anyOf").in_place(), DROP_SIBLINGS, || {
            format!(
                "removed the keywords next to `anyOf`: repeating them in {count} branches would make the schema too \
                    large"
            )
        });
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !applies(member));
        }
        Ok(())
    }
}

/// Merges the siblings of `anyOf` for which `moves` is true into each branch. Branches that contradict them are
/// removed. `finish` runs on each new branch. If no branch remains, `not` replaces the union.
fn into_branches<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
    moves: impl Fn(&Member<'a>) -> bool,
    finish: impl Fn(&mut Node<'a>, &mut PassContext) -> Result<(), Error>,
) -> Result<(), Error> {
    let count = node.items_at(Keyword::AnyOf).len();
    context.diagnostics.report(path, Location::under(node, "anyOf").in_place(), DISTRIBUTE, || {
        format!("distributed the keywords next to `anyOf` into its {count} branches")
    });
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return Ok(()) };
    let (bundle, mut remaining): (Vec<Member<'a>>, Vec<Member<'a>>) =
        core::mem::take(object).into_members().into_iter().partition(|member| moves(member));
    let bundle = Node::object(Object::from_unique(bundle)).with_origin(origin);
    for member in remaining.iter_mut().filter(|member| member.key.is(Keyword::AnyOf)) {
        let list_origin = member.value.origin();
        let Data::Array(branches) = core::mem::take(&mut member.value).into_data() else { continue };
        let mut merged_branches: Vec<Node<'a>> = Vec::new();
        for branch in branches {
            let impossible = with_guidance_lost(IMPOSSIBLE, &branch);
            match into_branch(&bundle, branch, path.polarity, context) {
                Ok(mut branch) => {
                    finish(&mut branch, context)?;
                    merged_branches.push(branch);
                }
                Err(location) => context.diagnostics.report(path, location.removed(), impossible, || {
                    String::from("removed a branch of `anyOf` that contradicts the keywords next to `anyOf`")
                }),
            }
        }
        if merged_branches.is_empty() {
            *member = Member { key: Text::literal("not"), value: Node::empty_object() };
        } else {
            member.value = Node::array(merged_branches).with_origin(list_origin);
        }
    }
    node.replace(Data::Object(Object::from_unique(remaining)));
    Ok(())
}

/// Merges the bundle (the siblings of the union) into a branch, which keeps its origin.
///
/// # Errors
/// The location of the branch, if it contradicts the bundle.
pub(super) fn into_branch<'a>(
    bundle: &Node<'a>,
    branch: Node<'a>,
    polarity: Polarity,
    context: &mut PassContext,
) -> Result<Node<'a>, Location> {
    let (location, origin) = (Location::of(&branch), branch.origin());
    let bundle = bundle.copy(&context.budget);
    let branch = intersected((bundle, branch), usize::MAX, polarity, Some(&location), context);
    if is_never(&branch) {
        return Err(location);
    }
    Ok(if origin.number().is_some() { branch.with_origin(origin) } else { branch })
}

fn applies(member: &Member<'_>) -> bool {
    !member.key.is(Keyword::AnyOf)
        && Keyword::named(&member.key)
            .is_some_and(|keyword| keyword.role() == Role::Assertion || keyword.applies_to().is_some())
}

pub(crate) fn annotations<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !refuses_siblings(context) {
        return;
    }
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    if branches.len() == 1 {
        flatten_single_branch(node, path, context);
        return;
    }
    let accepted_siblings = context.grammar.any_of.beside;
    let moves = |member: &Member<'_>| {
        !member.key.is(Keyword::AnyOf)
            && Keyword::named(&member.key).is_none_or(|keyword| !accepted_siblings.contains(keyword))
            && !is_table(member)
    };
    let Some(object) = node.as_object().filter(|object| object.iter().any(moves)) else { return };
    let mut results: Vec<(String, bool)> = Vec::new();
    let (texts, rest): (Vec<Member<'a>>, Vec<Member<'a>>) =
        object.copy(&context.budget).into_members().into_iter().partition(moves);
    node.replace(Data::Object(Object::from_unique(rest)));
    node.visit(Keyword::AnyOf, |list| {
        for text in texts {
            let was_moved =
                list.as_array_mut().is_some_and(|branches| move_annotation(&text, branches, &context.budget));
            results.push((text.key.display().into_owned(), was_moved));
        }
    });
    for (name, was_moved) in results {
        let to = if was_moved { Location::under(node, "anyOf") } else { Location::Nowhere };
        context.diagnostics.report(
            path,
            Location::under(node, name.clone()).to(to),
            if was_moved { MOVE_ANNOTATION } else { DROP_ANNOTATION },
            || match was_moved {
                true => format!("moved `{name}` into the branches of `anyOf`"),
                false => format!("removed `{name}`: it is not allowed next to `anyOf`"),
            },
        );
    }
}

fn is_table(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| matches!(keyword.role(), Role::Definitions))
}

fn flatten_single_branch<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let (origin, location) = (node.origin(), Location::of(node));
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(Keyword::AnyOf).unwrap_or_default();
    let Some(Data::Array(mut branches)) = object.remove(Keyword::AnyOf).map(Node::into_data) else { return };
    let Some(branch) = branches.pop() else { return };
    context.diagnostics.report(path, Location::of(&branch).to(location.clone()), UNWRAP, || {
        String::from("replaced an `anyOf` of one branch with the branch")
    });
    let siblings = core::mem::take(node);
    *node = intersected((siblings, branch), at, path.polarity, Some(&location), context).with_origin(origin);
    node.touch();
}

/// Moves an annotation into the branches. Returns false if no branch can have it.
pub(crate) fn move_annotation<'a>(text: &Member<'a>, branches: &mut [Node<'a>], budget: &Budget) -> bool {
    let is_description = text.key.is(Keyword::Description);
    let mut was_set = false;
    for branch in branches.iter_mut() {
        if let Some(object) =
            branch.as_object_mut().filter(|object| !object.has(Keyword::AnyOf) && object.get_text(&text.key).is_none())
        {
            // A description is repeated in every branch; any other annotation is written once.
            if was_set && !is_description {
                break;
            }
            object.set(text.key.clone(), text.value.copy(budget));
            was_set = true;
        }
    }
    if was_set || !is_description {
        return was_set;
    }
    // Every branch has a description, so the outer description is put before the description of the first branch.
    let outer = text.value.as_text().and_then(Text::value);
    let Some(inner_description) =
        branches.first_mut().and_then(|branch| branch.as_object_mut()?.get_mut(Keyword::Description))
    else {
        return false;
    };
    let (Some(outer), Some(inner)) = (outer, inner_description.as_text().and_then(Text::value)) else { return false };
    let joined = format!("{outer}\n{inner}");
    inner_description.replace(Data::String(Text::new(joined)));
    true
}
