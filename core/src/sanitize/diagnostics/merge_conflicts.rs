//! What joining two schemas could not say, and what it could not prove.

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

/// What two schemas say together, the inner's new keys before the outer's key number `at`; reported where the two met
/// (`None`: at the result) is what that cannot say.
pub(in crate::sanitize) fn intersected<'a>(
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

/// Reports what two schemas together cannot say, at the node where they met.
pub(in crate::sanitize) fn note(merged: &Merged<'_>, polarity: Polarity, met: &Location, context: &mut PassContext) {
    for left in &merged.residual {
        let location = left.value().map_or_else(|| met.clone(), Location::of);
        context.diagnostics.report(polarity, location, Location::Nowhere, CONFLICT, || {
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
        context.diagnostics.report(polarity, met.clone(), met.clone(), DOUBT, || {
            String::from("merged schemas of which one depends on what stands beside it")
        });
    }
    if merged.guidance_lost {
        context.diagnostics.report(polarity, met.clone(), met.clone(), TEXT, || {
            String::from("merged schemas with different texts, and kept one of them")
        });
    }
}
