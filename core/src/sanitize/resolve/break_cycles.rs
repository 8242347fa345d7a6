//! Cuts references through which a schema applies to itself at the same instance location, so a validator would never
//! finish.
//!
//! `X = anyOf [X, Y]` accepts what `Y` accepts, and so does `X = allOf [X, Y]`, so such a reference can be removed. If
//! `X = anyOf [Z, Y]` and `Z = anyOf [X, W]` are both used, each of them needs the other, so their references are
//! replaced with `true`.
//!
//! Also cuts recursion that the API's validator finds endless, so that the rest of the definition can be kept.
//! [`ReferenceCutter`] cuts references: the schema then accepts anything.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::Map,
    dialect::grammar::Recursion,
    error::Error,
    json::{Data, Node, Object, Text},
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
        cycles::{self, Cycles, Place, Role},
        definitions::{self, definition_name},
        keyword::{Keyword, Keywords},
        references::{self, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const CUT: ChangeKind = ChangeKind::of(Rule::CutRecursion).accepts(Accepts::Same);
const CUT_OPEN: ChangeKind = ChangeKind::of(Rule::CutRecursion);
const FOLLOW: ChangeKind = ChangeKind::of(Rule::RewriteRef);

/// Cuts references until no schema applies to itself at the same instance location.
pub(crate) fn cut(root: &mut Node<'_>, references: &References, context: &mut PassContext) -> Result<(), Error> {
    let budget = context.budget.clone();
    let mut cycles = Cycles::of(root, references, cycles::IN_PLACE, &budget)?;
    if cycles.is_empty() {
        return Ok(());
    }
    let branches = bare_branches(root, references, &cycles, &budget)?;
    if !branches.is_empty() {
        visit::walk_mut(&budget, root, Keywords::ALL, &mut Follow { branches, references, context })?;
        cycles = Cycles::of(root, references, cycles::IN_PLACE, &budget)?;
    }
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Mark { cycles: &cycles, next: 0, context })?;
    visit::walk_mut(&budget, root, Keywords::ALL, &mut Cut { context })
}

/// Returns the targets that are subschemas of in-place applicators, part of a cycle, and only a reference; with the
/// reference at the end of the chain of such targets. Chains without an end are left out.
fn bare_branches<'a>(
    root: &Node<'a>,
    references: &References,
    cycles: &Cycles,
    budget: &Budget,
) -> Result<Map<Number, Node<'a>>, Error> {
    let (mut found, mut next) = (Map::new(), 0);
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        let is_in_place = place.keyword.is_some_and(|keyword| cycles::IN_PLACE.contains(keyword));
        if is_in_place && cycles.contains(next) && node.as_object().is_some_and(|object| object.len() == 1) {
            if let (Some(number), Some(reference)) = (references.at(node, place), node.get(Keyword::Ref)) {
                found.insert(number, reference);
            }
        }
        next += 1;
        Ok(Visit::Descend)
    })?;
    let mut ends: Map<Number, Option<&Node<'a>>> = Map::new();
    for start in found.keys() {
        let (mut chain, mut number) = (Vec::new(), *start);
        let end = loop {
            if let Some(known) = ends.get(&number) {
                break *known;
            }
            let Some(reference) = found.get(&number) else { break None };
            // A chain that returns to this target has no end.
            ends.insert(number, None);
            chain.push(number);
            match references.target(reference).filter(|target| found.contains_key(target)) {
                Some(target) => number = target,
                None => break Some(*reference),
            }
        };
        chain.into_iter().for_each(|number| {
            ends.insert(number, end);
        });
    }
    Ok(ends.iter().filter_map(|(number, end)| Some((*number, (*end)?.copy(budget)))).collect())
}

/// Replaces references to a branch that is only a reference with that reference, because the branch will be removed
/// from its union.
struct Follow<'f, 'a> {
    branches: Map<Number, Node<'a>>,
    references: &'f References,
    context: &'f mut PassContext,
}

impl<'a> VisitorMut<'a> for Follow<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let end = |reference| self.branches.get(&self.references.target(reference)?);
        let Some(end) = node.get(Keyword::Ref).and_then(end) else { return Ok(Visit::Descend) };
        self.context.diagnostics.report(place, Location::of_reference(node).in_place(), FOLLOW, || {
            let spelled = end.as_text().map(|text| text.display().into_owned()).unwrap_or_default();
            format!("replaced the reference with `{spelled}`")
        });
        let end = end.copy(&self.context.budget);
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("$ref"), end);
        }
        Ok(Visit::Descend)
    }
}

/// Removes references that are part of entangled cycles, and marks those that only repeat their target.
struct Mark<'c> {
    cycles: &'c Cycles,
    next: Place,
    context: &'c mut PassContext,
}

impl<'a> VisitorMut<'a> for Mark<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        match self.cycles.role(self.next) {
            Some(Role::Repeats) => {
                for keyword in references::KEYWORDS {
                    node.visit(keyword, |reference| resolve::mark(reference, resolve::ENDLESS));
                }
            }
            Some(Role::Entangled) => {
                note(self.context, node, place, CUT_OPEN);
                remove_reference(node);
            }
            None => {}
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
            note(self.context, node, place, CUT);
            remove_reference(node);
        }
        Ok(Visit::Descend)
    }
}

fn is_endless(node: &Node<'_>) -> bool {
    references::reference(node).is_some_and(|reference| resolve::is_marked(reference, resolve::ENDLESS))
}

fn note(context: &mut PassContext, node: &Node<'_>, place: &SchemaPath<'_, '_>, effect: ChangeKind) {
    context.diagnostics.report(place, Location::of_reference(node).removed(), effect, || {
        let reference = node.text_at(Keyword::Ref).map(|text| text.display().into_owned()).unwrap_or_default();
        format!("removed `$ref: \"{reference}\"`: a schema must not apply to the same value endlessly")
    });
}

/// Removes the reference of a schema: the schema then accepts what its other keywords accept.
fn remove_reference(node: &mut Node<'_>) {
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !references::KEYWORDS.iter().any(|keyword| member.key.is(keyword)));
    }
    if node.as_object().is_some_and(Object::is_empty) {
        node.replace(Data::Bool(true));
    }
}

impl Cut<'_> {
    /// Removes branches that refer to the union itself: the union of the others is equivalent.
    fn branches<'a>(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, keyword: &'static str) {
        let Some(branches) = node.array_at(keyword) else { return };
        let gone: Vec<bool> = branches.iter().map(is_endless).collect();
        if !gone.contains(&true) {
            return;
        }
        let is_all = !gone.contains(&false);
        let effect = if keyword == "anyOf" && !is_all { CUT } else { CUT_OPEN };
        for branch in branches.iter().zip(&gone).filter(|(_, gone)| **gone).map(|(branch, _)| branch) {
            note(self.context, branch, place, effect);
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
