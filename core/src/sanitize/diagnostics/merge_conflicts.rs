//! Reports what merging two schemas could not express or prove.

use alloc::{format, string::String};

use crate::{
    json::Node,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        intersect::{self, Merged, Operand},
        visit::Polarity,
    },
};

const CONFLICT: ChangeKind = ChangeKind::of(Rule::MergeConflict);
const DOUBT: ChangeKind = ChangeKind::of(Rule::MergeInexact);
const TEXT: ChangeKind = ChangeKind::of(Rule::MergeAnnotations);

/// Merges two schemas and reports what the result cannot express, at `met` or else at the result. New keys of the inner
/// schema are inserted before key number `at` of the outer one.
pub(crate) fn intersected<'a>(
    (outer, inner): (Node<'a>, Node<'a>),
    at: usize,
    polarity: Polarity,
    met: Option<&Location>,
    context: &mut PassContext,
) -> Node<'a> {
    let merged = intersect::both_at(&context.budget, outer, inner, at);
    note(&merged, polarity, &met.cloned().unwrap_or_else(|| Location::of(&merged.node)), context);
    merged.node
}

/// Reports what a merged schema cannot express, at the location where the two schemas met.
pub(crate) fn note(merged: &Merged<'_>, polarity: Polarity, met: &Location, context: &mut PassContext) {
    for left in &merged.residual {
        let location = left.value().map_or_else(|| met.clone(), Location::of);
        context.diagnostics.report(polarity, location.removed(), CONFLICT, || {
            let (keyword, at) = (left.keyword.name(), left.at.render());
            let side = match left.side {
                Operand::Outer => "outer",
                Operand::Inner => "inner",
            };
            let at = if at.is_empty() { at } else { format!(" at `{at}`") };
            format!("removed the {side} `{keyword}`{at} of two merged schemas: no keyword expresses both")
        });
    }
    if merged.inexact {
        context.diagnostics.report(polarity, met.clone().in_place(), DOUBT, || {
            String::from("merged schemas, one of which depends on its sibling keywords")
        });
    }
    if merged.guidance_lost {
        context.diagnostics.report(polarity, met.clone().in_place(), TEXT, || {
            String::from("merged schemas with different annotations, and kept one of each")
        });
    }
}
