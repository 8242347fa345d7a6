//! Cuts references through which a schema applies to itself at the same instance location, so a validator would never
//! finish.
//!
//! `X = anyOf [X, Y]` accepts what `Y` accepts, and so does `X = allOf [X, Y]`, so such a reference can be removed.
//! Every other recursion passes through a property, an item or the like, and ends with the instance.
//!
//! Also cuts recursion that the API's validator finds endless, so that the rest of the definition can be kept.
//! [`ReferenceCutter`] cuts references: the schema then accepts anything.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    collections::{Map, Set},
    dialect::grammar::Recursion,
    error::Error,
    json::{Data, Node, Object},
    options::Untyped,
    report::Accepts,
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize, resolve,
    },
    schema::{
        definitions::{self, definition_name},
        keyword::{Keyword, Keywords},
        references::{self, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion).accepts(Accepts::Same);
const UNDEFINED: ChangeKind = ChangeKind::of(Rule::CutRecursion);

/// In-place applicators: their subschemas apply to the instance of the enclosing schema.
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

/// Cuts every reference that closes a cycle of schemas for one instance.
pub(crate) fn cut(root: &mut Node<'_>, references: &References, context: &mut PassContext) -> Result<(), Error> {
    let endless = endless(root, references, context)?;
    if endless.is_empty() {
        return Ok(());
    }
    let budget = context.budget.clone();
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Mark { endless: &endless, next: 0 })?;
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Cut { context })
}

/// A schema, identified by its position in the order of the walk.
type Place = usize;

/// Schemas that apply to the same instance as one schema.
#[derive(Default)]
struct Applied {
    /// Subschemas of in-place applicators.
    inside: Vec<Place>,
    /// Target of its reference.
    target: Option<Number>,
}

/// Returns the schemas whose references close a cycle.
fn endless(root: &Node<'_>, references: &References, context: &PassContext) -> Result<Set<Place>, Error> {
    let mut schemas: Vec<Applied> = Vec::new();
    let mut targets: Map<Number, Place> = Map::new();
    // The enclosing schemas.
    let mut around: Vec<Place> = Vec::new();
    let mut survey = |part: &Node<'_>| {
        visit::walk(&context.budget, part, Keywords::ALL, &mut |node, place| {
            around.truncate(place.depth);
            let here = schemas.len();
            if place.keyword.is_some_and(|keyword| IN_PLACE.contains(keyword)) {
                if let Some(outer) = around.last().and_then(|outer| schemas.get_mut(*outer)) {
                    outer.inside.push(here);
                }
            }
            if let Some(target) = references.at(node, place) {
                targets.entry(target).or_insert(here);
            }
            schemas.push(Applied { inside: Vec::new(), target: references.target_of(node) });
            around.push(here);
            Ok(Visit::Descend)
        })
    };
    survey(root)?;
    for target in references.outside(root, &context.budget) {
        survey(target)?;
    }
    Ok(closing(&schemas, &targets))
}

/// Edge to another schema: the schema whose reference leads there (if a reference does), and the target.
type Way = (Option<Place>, Place);

/// Progress of the search at a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    /// On the current path.
    Entered,
    Left,
}

/// Returns the schemas whose references lead back to a schema on the current path, in a search that enters each schema
/// once.
fn closing(schemas: &[Applied], targets: &Map<Number, Place>) -> Set<Place> {
    let mut closing = Set::new();
    let mut progress = vec![Progress::Open; schemas.len()];
    // The current path, and the number of edges that were followed from each schema on it.
    let mut way: Vec<(Place, usize)> = Vec::new();
    for start in 0..schemas.len() {
        let mut next = Some((None, start));
        loop {
            if let Some((reference, place)) = next.take() {
                match progress.get_mut(place) {
                    Some(Progress::Entered) => closing.extend(reference),
                    Some(open @ Progress::Open) => {
                        *open = Progress::Entered;
                        way.push((place, 0));
                    }
                    Some(Progress::Left) | None => {}
                }
            }
            let Some((place, followed)) = way.last_mut() else { break };
            next = successor(*place, *followed, schemas, targets);
            *followed += 1;
            if next.is_none() {
                if let Some(progress) = progress.get_mut(*place) {
                    *progress = Progress::Left;
                }
                way.pop();
            }
        }
    }
    closing
}

/// Returns an edge of a schema by its index: first those to the subschemas, then that of the reference.
fn successor(place: Place, index: usize, schemas: &[Applied], targets: &Map<Number, Place>) -> Option<Way> {
    let applied = schemas.get(place)?;
    if let Some(inner) = applied.inside.get(index) {
        return Some((None, *inner));
    }
    let target = applied.target.filter(|_| index == applied.inside.len())?;
    Some((Some(place), *targets.get(&target)?))
}

/// Marks the references of the schemas in `endless`.
struct Mark<'e> {
    endless: &'e Set<Place>,
    next: Place,
}

impl<'a> VisitorMut<'a> for Mark<'_> {
    fn enter(&mut self, node: &mut Node<'a>, _place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if self.endless.contains(&self.next) {
            for keyword in references::KEYWORDS {
                node.visit(keyword, |reference| resolve::mark(reference, resolve::ENDLESS));
            }
        }
        self.next += 1;
        Ok(Visit::Descend)
    }
}

struct Cut<'c> {
    context: &'c mut PassContext,
}

impl<'a> VisitorMut<'a> for Cut<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        for keyword in ["anyOf", "oneOf"] {
            self.branches(node, place, keyword);
        }
        if is_endless(node) {
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

fn is_endless(node: &Node<'_>) -> bool {
    references::reference(node).is_some_and(|reference| resolve::is_marked(reference, resolve::ENDLESS))
}

impl Cut<'_> {
    fn note(&mut self, node: &Node<'_>, place: &SchemaPath<'_, '_>, effect: ChangeKind) {
        self.context.diagnostics.report(place, Location::of_reference(node).removed(), effect, || {
            let reference = node.text_at(Keyword::Ref).map(|text| text.display().into_owned()).unwrap_or_default();
            format!("removed `$ref: \"{reference}\"`: a schema must not apply to the same value endlessly")
        });
    }

    /// Removes branches that refer to the union itself: the union of the others is equivalent.
    fn branches<'a>(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, keyword: &'static str) {
        let Some(branches) = node.array_at(keyword) else { return };
        let count = branches.iter().filter(|branch| is_endless(branch)).count();
        if count == 0 {
            return;
        }
        let is_all = count == branches.len();
        let effect = if keyword == "anyOf" && !is_all { CUT } else { UNDEFINED };
        let gone: Vec<bool> = branches.iter().map(|branch| is_endless(branch)).collect();
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

const CUT_UNENDING: ChangeKind = ChangeKind::of(Rule::CutRecursion);

/// Cuts references that the validator considers endless. Expects definitions as the other passes have written them.
pub(crate) fn cut_unending(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    if context.grammar.refs.recursion != Recursion::MustEnd || root.get(Keyword::Defs).is_none() {
        return Ok(());
    }
    let endless = definitions::endless(root);
    if endless.is_empty() {
        return Ok(());
    }
    let describe: &dyn Fn(&str) -> String =
        &|name| format!("removed a reference to `{name}`: the API's validator considers the recursion infinite");
    // The first step cuts only references that make their own definition endless. If that is not enough, the second one
    // cuts every reference to a definition that is still endless.
    let forced = definitions::forced_references(root, &endless);
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter {
            context,
            goes: &|_, place| forced.contains(&place.pointer.render()),
            effect: CUT_UNENDING,
            describe,
        },
    )?;
    let still = definitions::endless(root);
    if still.is_empty() {
        return Ok(());
    }
    visit::walk_mut(
        &context.budget.clone(),
        root,
        Keywords::ALL,
        &mut ReferenceCutter { context, goes: &|name, _| still.contains(name), effect: CUT_UNENDING, describe },
    )?;
    if let Some(Data::Object(table)) =
        root.as_object_mut().and_then(|object| object.get_mut(Keyword::Defs)).map(Node::data_mut)
    {
        table.retain(|member| member.key.value().is_none_or(|name| !still.contains(&*name)));
        if table.is_empty() {
            if let Some(object) = root.as_object_mut() {
                object.remove(Keyword::Defs);
            }
        }
    }
    Ok(())
}

/// Visitor that cuts references.
pub(crate) struct ReferenceCutter<'c> {
    pub(crate) context: &'c mut PassContext,
    /// Returns true if the reference to the definition of this name is cut.
    pub(crate) goes: &'c dyn Fn(&str, &SchemaPath<'_, '_>) -> bool,
    pub(crate) effect: ChangeKind,
    pub(crate) describe: &'c dyn Fn(&str) -> String,
}

impl<'a> VisitorMut<'a> for ReferenceCutter<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let Some(name) = definition_name(node).map(String::from) else { return Ok(Visit::Descend) };
        if !(self.goes)(&name, place) {
            return Ok(Visit::Descend);
        }
        self.context.diagnostics.report(
            place,
            Location::under(node, "$ref").to(Location::of(node)),
            self.effect,
            || (self.describe)(&name),
        );
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Ref);
        }
        // In an in-place applicator the next round infers the type from the enclosing schema, so no string is assumed.
        let in_place = place.keyword.is_some_and(|keyword| legalize::IN_PLACE.contains(keyword));
        if !(in_place && self.context.untyped == Untyped::String) {
            anything::write(node, place, self.context);
        }
        Ok(Visit::Skip)
    }
}
