//! Merges `allOf` into one schema and replaces `oneOf` with `anyOf`, if the grammar refuses them.
//!
//! Visits each schema before its subschemas, after references are resolved and before other legalization: later passes
//! see a merged schema. Also merges two schemas for other passes, and reports what the merge could not express or
//! prove.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    effect::{Accepts, Guidance},
    error::Error,
    json::{Data, Node, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        definitions,
        emptiness::are_disjoint,
        intersect::{self, Merged, Operand},
        keyword::{Keyword, Keywords},
        references,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

pub(crate) const ALL_OF: ChangeKind = ChangeKind::of(Rule::MergeAllOf);
const ONE_OF: ChangeKind = ChangeKind::of(Rule::OneOfToAnyOf);
const LOST: ChangeKind = ChangeKind::of(Rule::MergeAllOf).accepts(Accepts::Wider).guidance(Guidance::Lost);

/// Maximum number of parts that are merged sequentially. More parts are merged pairwise.
const MAX_SEQUENTIAL: usize = 16;

/// Maximum number of pairs of branches that are compared to prove that no two overlap.
const MAX_PAIRS: usize = 2_000;

pub(crate) fn join<'a>(root: &mut Node<'a>, context: &mut PassContext) -> Result<(), Error> {
    let (refused, at_root) = (context.grammar.refuses, context.grammar.root_refuses);
    let merges = context.grammar.encodes();
    let concerned = |keyword| refused.contains(keyword) || at_root.contains(keyword) || merges;
    let wanted: Vec<Keyword> = [Keyword::AllOf, Keyword::OneOf]
        .into_iter()
        .filter(|keyword| context.survey.keywords.contains(*keyword) && concerned(*keyword))
        .collect();
    // After references were inlined, the schema may have any keyword.
    if wanted.is_empty() || !references::mentions(root, Keywords::of(&wanted)) {
        return Ok(());
    }
    let definitions = definitions(root, context)?;
    visit::walk_mut(&context.budget.clone(), root, Keywords::ALL, &mut Merger { context, definitions })
}

fn definitions<'a>(root: &Node<'a>, context: &PassContext) -> Result<Map<String, Node<'a>>, Error> {
    let mut referenced: Set<String> = Set::new();
    if context.survey.mentions_references && references::mentions(root, Keywords::of(&[Keyword::OneOf])) {
        visit::walk(&context.budget, root, Keywords::ALL, &mut |node, _| {
            let branches = node.items_at(Keyword::OneOf);
            referenced.extend(branches.iter().filter_map(reference));
            Ok(Visit::Descend)
        })?;
    }
    if referenced.is_empty() {
        return Ok(Map::new());
    }
    let tables = definitions::TABLES
        .iter()
        .flat_map(|table| root.object_at(table).into_iter().flatten().map(move |member| (table, member)));
    let named_members = tables.filter_map(|(table, member)| {
        Some((definitions::reference_to(table, member).filter(|name| referenced.contains(name))?, member))
    });
    Ok(named_members.map(|(name, member)| (name, member.value.copy(&context.budget))).collect())
}

fn reference(branch: &Node<'_>) -> Option<String> {
    Some(branch.get(Keyword::Ref)?.as_text()?.value()?.into_owned())
}

struct Merger<'r, 'a> {
    context: &'r mut PassContext,
    /// Targets of references in branches of `oneOf`, by reference.
    definitions: Map<String, Node<'a>>,
}

impl<'a> VisitorMut<'a> for Merger<'_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let grammar = self.context.grammar;
        // Encoding needs all constraints of a value in one schema.
        let merges = grammar.encodes();
        let refused = |keyword: Keyword, node: &Node<'_>| {
            let at_root = || node.get(keyword).is_some_and(|value| grammar.refuses_at_root(keyword, value));
            grammar.refuses.contains(keyword) || (path.keyword.is_none() && at_root()) || merges
        };
        // A part may itself contain `allOf`.
        while refused(Keyword::AllOf, node) && node.get(Keyword::AllOf).is_some_and(|parts| parts.as_array().is_some())
        {
            self.all_of(node, path);
        }
        if refused(Keyword::OneOf, node)
            && node.get(Keyword::OneOf).is_some_and(|branches| branches.as_array().is_some())
        {
            self.one_of(node, path);
        }
        Ok(Visit::Descend)
    }
}

impl<'a> Merger<'_, 'a> {
    fn all_of(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let location = Location::under(node, "allOf");
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(Keyword::AllOf).unwrap_or_default();
        let Some(Data::Array(parts)) = object.remove(Keyword::AllOf).map(Node::into_data) else { return };
        let to = Location::of(node);
        // The effect of `unevaluated…` depends on the part that it occurs in.
        let has_unevaluated = |part: &Node<'_>| {
            ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| part.get(keyword).is_some())
        };
        let effect = if parts.iter().any(has_unevaluated) { ALL_OF.accepts(Accepts::Mixed) } else { ALL_OF };
        self.context
            .diagnostics
            .report(path, location.to(to), effect, || format!("merged the {} parts of `allOf`", parts.len()));
        let mut remaining: Vec<Node<'a>> = Vec::with_capacity(parts.len());
        for part in self.context.budget.each(parts) {
            // References in parts were resolved together with their siblings. A part that is still a reference exceeded
            // the limits.
            if part.get(Keyword::Ref).is_some() {
                self.context.diagnostics.report(path, Location::of(&part).removed(), LOST, || {
                    String::from("removed a part of `allOf` that refers to itself and cannot be merged")
                });
            } else {
                remaining.push(part);
            }
        }
        // Many parts are merged pairwise: sequentially, each would be merged with the sum of all before it.
        while remaining.len() > MAX_SEQUENTIAL {
            let mut merged = Vec::with_capacity(remaining.len().div_ceil(2));
            let mut parts = remaining.into_iter();
            while let Some(first) = parts.next() {
                merged.push(match parts.next() {
                    Some(second) => self.merge_part(first, second, 0, path),
                    None => first,
                });
            }
            remaining = merged;
        }
        for part in remaining {
            let whole = core::mem::take(node);
            let origin = whole.origin();
            *node = self.merge_part(whole, part, at, path).with_origin(origin);
            node.touch();
        }
    }

    fn merge_part(&mut self, whole: Node<'a>, part: Node<'a>, at: usize, path: &SchemaPath<'_, 'a>) -> Node<'a> {
        let met = Location::of(&part);
        intersected((whole, part), at, path.polarity, Some(&met), self.context)
    }

    fn one_of(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let Some(branches) = node.array_at(Keyword::OneOf) else { return };
        let effect = if self.are_exclusive(branches) { ONE_OF } else { ONE_OF.accepts(Accepts::Wider) };
        let (from, to) = (Location::under(node, "oneOf"), Location::under(node, "anyOf"));
        self.context
            .diagnostics
            .report(path, from.clone().to(to), effect, || String::from("replaced `oneOf` with `anyOf`"));
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(Keyword::OneOf).unwrap_or_default();
        let Some(branches) = object.remove(Keyword::OneOf) else { return };
        if object.has(Keyword::AnyOf) {
            let whole = core::mem::take(node);
            let origin = whole.origin();
            let union = Node::record([("anyOf", branches)]);
            *node = intersected((whole, union), at, path.polarity, Some(&from), self.context).with_origin(origin);
            node.touch();
        } else {
            object.insert_at(at, Text::literal("anyOf"), branches);
        }
    }

    /// Returns true only if it is proved that no instance is valid against two of these branches.
    fn are_exclusive(&self, branches: &[Node<'a>]) -> bool {
        let resolved = |branch| reference(branch).and_then(|name| self.definitions.get(&name)).unwrap_or(branch);
        let branches: Vec<&Node<'a>> = branches.iter().map(resolved).collect();
        let pairs = branches.len().saturating_mul(branches.len().saturating_sub(1)) / 2;
        let are_disjoint = |(at, left): (usize, &&Node<'a>)| {
            branches.iter().skip(at + 1).all(|right| are_disjoint(&self.context.budget, left, right))
        };
        pairs <= MAX_PAIRS && branches.iter().enumerate().all(are_disjoint)
    }
}

const CONFLICT: ChangeKind = ChangeKind::of(Rule::MergeConflict);
const INEXACT: ChangeKind = ChangeKind::of(Rule::MergeInexact);
const ANNOTATIONS: ChangeKind = ChangeKind::of(Rule::MergeAnnotations);

/// Merges two schemas, and reports what the result cannot express, at `met` or else at the result. New keys of the
/// inner schema are inserted at index `at` of the outer schema.
pub(crate) fn intersected<'a>(
    (outer, inner): (Node<'a>, Node<'a>),
    at: usize,
    polarity: Polarity,
    met: Option<&Location>,
    context: &mut PassContext,
) -> Node<'a> {
    let merged = intersect::both_at(&context.budget, outer, inner, at);
    report_conflicts(&merged, polarity, &met.cloned().unwrap_or_else(|| Location::of(&merged.node)), context);
    merged.node
}

pub(crate) fn report_conflicts(merged: &Merged<'_>, polarity: Polarity, source: &Location, context: &mut PassContext) {
    for lost in &merged.residual {
        let source = lost.value().map_or_else(|| source.clone(), Location::of);
        context.diagnostics.report(polarity, source.removed(), CONFLICT, || {
            let (keyword, at) = (lost.keyword.name(), lost.at.render());
            let side = match lost.side {
                Operand::Outer => "outer",
                Operand::Inner => "inner",
            };
            let at = if at.is_empty() { at } else { format!(" at `{at}`") };
            format!("removed the {side} `{keyword}`{at} of two merged schemas: no keyword expresses both")
        });
    }
    if merged.inexact {
        context.diagnostics.report(polarity, source.clone().in_place(), INEXACT, || {
            String::from("merged schemas, one of which depends on its sibling keywords")
        });
    }
    if merged.guidance_lost {
        context.diagnostics.report(polarity, source.clone().in_place(), ANNOTATIONS, || {
            String::from("merged schemas with different annotations, and kept one of each")
        });
    }
}
