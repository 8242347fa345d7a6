//! The example arguments of a tool (`input_examples`). An API that refuses invalid examples gets them as the model has
//! to write them; an example that the rewritten schema refuses is removed.

use alloc::{format, string::String, vec::Vec};

use super::target::about;
use crate::{
    json::{self, Node},
    report::{Change, Guidance, Reason},
    rules::Rule,
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

const REASON: Reason = Reason::fact(
    "the examples of a tool are valid against its schema",
    'A',
    "Anthropic, tool use, `input_examples`: each example must be valid according to the tool's `input_schema`; invalid \
        examples return a 400 error (documentation)",
);

/// The schema of a tool before and after it was rewritten, and the plan for its arguments.
pub(super) struct Rewritten<'n, 'a> {
    pub(super) before: &'n Node<'a>,
    pub(super) after: &'n Node<'a>,
    pub(super) plan: &'n Plan,
}

/// Rewrites the examples in a member of a tool. `at` is the pointer to the member.
pub(super) fn rewrite(
    entry: &mut Node<'_>,
    member: &'static str,
    at: &str,
    Rewritten { before, after, plan }: Rewritten<'_, '_>,
    changes: &mut Vec<Change>,
) {
    let (Some(before), Some(after)) = (Prepared::new(before), Prepared::new(after)) else { return };
    let mut kept = Vec::new();
    let mut is_same = true;
    for (place, example) in entry.items_at(member).iter().enumerate() {
        let from = format!("{at}/{place}");
        let sent = if plan.is_empty() { Some(example.clone()) } else { plan.encoded(example) };
        let is_refused = |sent: &Node<'_>| {
            after.validator().takes(sent) == Verdict::Invalid && before.validator().takes(example) != Verdict::Invalid
        };
        let Some(sent) = sent.filter(|sent| !is_refused(sent)) else {
            let message = "removed an example that the rewritten schema refuses".into();
            changes.push(about(Rule::RewriteExamples, (from, None), Guidance::Lost, REASON, message));
            is_same = false;
            continue;
        };
        if !json::same(&sent, example) {
            let to = format!("{at}/{}", kept.len());
            let message = String::from("wrote an example as the model has to write its arguments");
            changes.push(about(Rule::RewriteExamples, (from, Some(to)), Guidance::Same, REASON, message));
            is_same = false;
        }
        kept.push(sent);
    }
    match (is_same, kept.is_empty()) {
        (true, _) => {}
        (false, true) => drop(entry.remove(member)),
        (false, false) => entry.set(member, Node::array(kept)),
    }
}
