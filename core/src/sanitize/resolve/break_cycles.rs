//! References through which a schema applies to itself without looking at a part of the instance: a validator would go
//! round for ever.
//!
//! `X = anyOf [X, Y]` accepts what `Y` accepts, and `X = allOf [X, Y]` too, so such a reference can go. Every other
//! recursion goes through a property, an item or the like, and ends with the instance.

use alloc::{format, vec::Vec};

use crate::{
    collections::{Map, Set},
    error::Error,
    json::{Data, Node, Object},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Keywords},
        references::{self, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion).accepts(Accepts::Same);
const UNDEFINED: ChangeKind = ChangeKind::of(Rule::CutRecursion);

/// Keywords whose schemas apply to the very instance that the schema around them applies to.
const IN_PLACE: Keywords = Keywords::of(&[
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Not,
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
]);

/// Cuts every reference that closes a circle of schemas for one instance.
pub(in crate::sanitize) fn cut(
    root: &mut Node<'_>,
    references: &References,
    context: &mut PassContext,
) -> Result<(), Error> {
    let endless = endless(root, references, context)?;
    if endless.is_empty() {
        return Ok(());
    }
    let budget = context.budget.clone();
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Cut { endless: &endless, context })
}

/// What applies to the same instance as one schema does.
#[derive(Default)]
struct Applied {
    /// Schemas inside it.
    inside: Vec<Number>,
    /// The reference that it holds: the number of its value, and its target.
    reference: Option<(Number, Number)>,
}

/// The references that close a circle, by the numbers of their values.
fn endless(root: &Node<'_>, references: &References, context: &PassContext) -> Result<Set<Number>, Error> {
    let mut schemas: Map<Number, Applied> = Map::new();
    // The schemas that we are inside of.
    let mut around: Vec<Option<Number>> = Vec::new();
    let mut survey = |part: &Node<'_>| {
        visit::walk(&context.budget, part, Keywords::ALL, &mut |node, place| {
            around.truncate(place.depth);
            let number = node.origin().number();
            let is_in_place = place.keyword.is_some_and(|keyword| IN_PLACE.contains(keyword));
            if let (Some(number), Some(Some(outer)), true) = (number, around.last(), is_in_place) {
                schemas.entry(*outer).or_default().inside.push(number);
            }
            if let (Some(number), Some(reference)) = (number, references::reference_number(node)) {
                let target = references.target(reference);
                schemas.entry(number).or_default().reference = target.map(|target| (reference, target));
            }
            around.push(number);
            Ok(Visit::Descend)
        })
    };
    survey(root)?;
    for target in crate::schema::graph::located(root, references.outside(), &context.budget) {
        survey(target)?;
    }
    Ok(closing(&schemas))
}

/// From one schema to the next: by which reference, and where to.
type Way = (Option<Number>, Number);

/// The references that lead back to a schema that is being applied, in a search that goes into each schema once.
fn closing(schemas: &Map<Number, Applied>) -> Set<Number> {
    let mut closing = Set::new();
    let mut done: Set<Number> = Set::new();
    for start in schemas.keys().copied() {
        // The schemas on the way, and what is still to be gone into of each.
        let mut way: Vec<(Number, Vec<Way>)> = Vec::new();
        let mut on_the_way: Set<Number> = Set::new();
        let mut next = Some((None, start));
        loop {
            if let Some((reference, number)) = next.take() {
                if on_the_way.contains(&number) {
                    closing.extend(reference);
                } else if done.insert(number) {
                    on_the_way.insert(number);
                    way.push((number, schemas.get(&number).map(successors).unwrap_or_default()));
                }
            }
            let Some((number, open)) = way.last_mut() else { break };
            next = open.pop();
            if next.is_none() {
                on_the_way.remove(number);
                way.pop();
            }
        }
    }
    closing
}

fn successors(applied: &Applied) -> Vec<(Option<Number>, Number)> {
    let inside = applied.inside.iter().rev().map(|number| (None, *number));
    applied.reference.iter().map(|(value, target)| (Some(*value), *target)).chain(inside).collect()
}

struct Cut<'c> {
    endless: &'c Set<Number>,
    context: &'c mut PassContext,
}

impl<'a> VisitorMut<'a> for Cut<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        for keyword in ["anyOf", "oneOf"] {
            self.branches(node, place, keyword);
        }
        if self.is_endless(node) {
            self.note(node, place, CUT);
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| !references::KEYWORDS.iter().any(|keyword| member.key.is(keyword)));
            }
            if node.as_object().is_some_and(Object::is_empty) {
                node.replace(Data::Bool(true));
            }
        }
        Ok(Visit::Descend)
    }
}

impl Cut<'_> {
    fn is_endless(&self, node: &Node<'_>) -> bool {
        references::reference_number(node).is_some_and(|number| self.endless.contains(&number))
    }

    fn note(&mut self, node: &Node<'_>, place: &SchemaPath<'_, '_>, effect: ChangeKind) {
        self.context.diagnostics.report(
            place.polarity,
            Location::of_reference(node),
            Location::Nowhere,
            effect,
            || {
                let reference = node
                    .get("$ref")
                    .and_then(Node::as_text)
                    .map(|text| text.display().into_owned())
                    .unwrap_or_default();
                format!("removed `$ref: \"{reference}\"`: a schema cannot be a part of itself for the same value")
            },
        );
    }

    /// A union that is one of its own branches is the union of the others.
    fn branches<'a>(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, keyword: &'static str) {
        let Some(branches) = node.get(keyword).and_then(Node::as_array) else { return };
        let count = branches.iter().filter(|branch| self.is_endless(branch)).count();
        if count == 0 {
            return;
        }
        let is_all = count == branches.len();
        let effect = if keyword == "anyOf" && !is_all { CUT } else { UNDEFINED };
        let gone: Vec<bool> = branches.iter().map(|branch| self.is_endless(branch)).collect();
        for branch in branches.iter().zip(&gone).filter(|(_, gone)| **gone).map(|(branch, _)| branch) {
            self.note(branch, place, effect);
        }
        let Some(object) = node.as_object_mut() else { return };
        if is_all {
            object.remove(keyword);
            return;
        }
        let mut gone = gone.into_iter();
        if let Some(branches) = object.get_mut(keyword).and_then(Node::as_array_mut) {
            branches.retain(|_| !gone.next().unwrap_or_default());
        }
    }
}
