//! The example arguments of a tool (`input_examples`). If the API refuses invalid examples, they are encoded as the
//! model has to write its arguments; an example that the rewritten schema refuses is removed.

use alloc::{format, string::String, vec::Vec};

use super::target::change_outside_arguments;
use crate::{
    budget::Budget,
    effect::Guidance,
    json::{self, Node},
    options::ToolFormat,
    report::{Change, Reason},
    request::tool_format::{self, Examples, ToolShape},
    rules::Rule,
    sanitize::decode::Plan,
    schema::validate::{Prepared, Verdict},
};

/// The schema of a tool before and after rewriting, with the plan to restore arguments.
pub(super) struct SchemaPair<'n, 'a> {
    pub(super) before: &'n Node<'a>,
    pub(super) after: &'n Node<'a>,
    pub(super) plan: &'n Plan,
}

/// Encodes the examples of a tool, and removes those that the rewritten schema refuses. `at` is the pointer to the
/// member. All examples of a tool share budgets that grow with their size. When a budget is exhausted, the remaining
/// examples stay unchanged.
pub(super) fn rewrite_examples(
    entry: &mut Node<'_>,
    format_examples: &'static Examples,
    at: &str,
    SchemaPair { before, after, plan }: SchemaPair<'_, '_>,
    changes: &mut Vec<Change>,
) {
    let (Some(before), Some(after)) = (Prepared::new(before), Prepared::new(after)) else { return };
    let member = format_examples.member;
    let reason = || Reason::fact(format_examples.statement, format_examples.confidence, format_examples.source);
    let nodes = entry.items_at(member).iter().map(Node::values_read).sum();
    let budget = Budget::new(nodes, None);
    let encoder = (!plan.is_empty()).then(|| plan.encoder(&budget));
    let (before, after) = (before.validator(), after.validator());
    let (mut before, mut after) =
        (before.judge_within(Budget::new(nodes, None)), after.judge_within(Budget::new(nodes, None)));
    let mut kept = Vec::new();
    let mut is_same = true;
    let mut report = |from: String, to: Option<usize>, guidance, message: &str| {
        let pointers = (from, to.map(|to| format!("{at}/{to}")));
        changes.push(change_outside_arguments(Rule::RewriteExamples, pointers, guidance, reason(), message.into()));
    };
    for (index, example) in entry.items_at(member).iter().enumerate() {
        let from = format!("{at}/{index}");
        let Ok(encoded) =
            encoder.as_ref().map_or_else(|| Ok(Some(example.clone())), |encoder| encoder.encoded(example))
        else {
            let message = "kept an example as it came, because the examples of the tool exceed their budget";
            report(from, Some(kept.len()), Guidance::Same, message);
            kept.push(example.clone());
            continue;
        };
        let mut is_refused = |encoded: &Node<'_>| {
            after.judge_arguments(encoded) == Verdict::Invalid && before.judge_arguments(example) != Verdict::Invalid
        };
        let Some(encoded) = encoded.filter(|encoded| !is_refused(encoded)) else {
            report(from, None, Guidance::Lost, "removed an example that the rewritten schema refuses");
            is_same = false;
            continue;
        };
        if !json::same(&encoded, example) {
            let message = "wrote an example as the model has to write its arguments";
            report(from, Some(kept.len()), Guidance::Same, message);
            is_same = false;
        }
        kept.push(encoded);
    }
    match (is_same, kept.is_empty()) {
        (true, _) => {}
        (false, true) => drop(entry.remove(member)),
        (false, false) => entry.set(member, Node::array(kept)),
    }
}

pub(super) fn report_lost(entry: &Node<'_>, shape: ToolShape, format: ToolFormat) -> Option<Change> {
    let format_examples = shape.format().and_then(tool_format::examples_of)?;
    let examples = shape.part(entry, format_examples.member)?.as_array().unwrap_or_default();
    if examples.is_empty() || tool_format::examples_of(format).is_some() {
        return None;
    }
    let at = tool_format::pointer(&shape.pointer_to(format_examples.member));
    let message = format!("removed `{}`, which tools of this API do not have", format_examples.member);
    let reason = Reason::from("tools in the format of this API have no examples");
    Some(change_outside_arguments(Rule::RewriteExamples, (at, None), Guidance::Lost, reason, message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test fails by panicking")]

    use alloc::{format, string::String, vec::Vec};

    use super::{rewrite_examples, SchemaPair};
    use crate::{json, options::ToolFormat, request::tool_format::examples_of, sanitize::decode::Plan};

    /// No fixture, because a plan with long chains of references needs a schema that is too large for one.
    #[test]
    fn examples_beyond_the_budget_stay_as_they_are_and_are_reported() {
        let links: Vec<String> = (0..60).map(|at| format!("\"d{at}\":{{\"$ref\":\"#/$defs/d{}\"}}", at + 1)).collect();
        let definitions = format!("{},\"d60\":{{\"type\":\"number\"}}", links.join(","));
        let plan = format!("{{\"encoded\":{{\"items\":{{\"$ref\":\"#/$defs/d0\"}},\"$defs\":{{{definitions}}}}}}}");
        let long = vec_of_ones(10_000);
        let text = format!("{{\"input_examples\":[[1],{long},[1]]}}");
        let (Ok(plan), Ok(mut tool), Ok(schema)) = (json::read(&plan), json::read(&text), json::read("{}")) else {
            panic!("JSON");
        };
        let (Ok(plan), Some(format_examples)) = (Plan::from_node(&plan), examples_of(ToolFormat::Anthropic)) else {
            panic!("a plan, and a format with examples");
        };
        let mut changes = Vec::new();
        let rewritten = SchemaPair { before: &schema, after: &schema, plan: &plan };
        rewrite_examples(&mut tool, format_examples, "/input_examples", rewritten, &mut changes);
        assert_eq!(json::write(&tool), text);
        let pointers: Vec<&str> = changes.iter().map(|change| change.pointer.as_str()).collect();
        assert_eq!(pointers, ["/input_examples/1", "/input_examples/2"]);
    }

    fn vec_of_ones(count: usize) -> String {
        let ones: Vec<&str> = core::iter::repeat_n("1", count).collect();
        format!("[{}]", ones.join(","))
    }
}
