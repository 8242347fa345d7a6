//! Reports recursion that an API does not support: all recursion, or recursion that does not pass through an optional
//! property.

use alloc::vec::Vec;

use super::{quoted, Report};
use crate::{
    budget::Budget,
    collections::Set,
    dialect::grammar::Recursion,
    error::Error,
    json::{Node, Step, Text},
    rules::Constraint,
    schema::{
        graph::Graph,
        keyword::{Keyword, Keywords},
        references::References,
        visit::{self, Visit},
    },
};

pub(super) fn check(
    root: &Node<'_>,
    references: &References,
    report: &mut Report<'_>,
    budget: &Budget,
) -> Result<(), Error> {
    let rule = report.grammar.refs.recursion;
    // If references are refused altogether, each of them is reported as such.
    if references.is_empty()
        || matches!(rule, Recursion::Free | Recursion::MustEnd)
        || report.grammar.refuses.contains(Keyword::Ref)
    {
        return Ok(());
    }
    let graph = Graph::of(root, references, budget)?;
    let recursive: Set<_> = graph.all().filter(|target| graph.is_recursive(*target)).collect();
    if recursive.is_empty() {
        return Ok(());
    }
    // The schemas that enclose the current one.
    let mut way: Vec<Passed<'_, '_>> = Vec::new();
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        way.truncate(place.depth);
        let is_optional = match (place.keyword, place.pointer.steps().last(), way.last()) {
            (Some(Keyword::Properties), Some(Step::Member(name)), Some(outer)) => !outer.required.contains(name),
            _ => false,
        };
        way.push(Passed {
            is_recursive: references.at(node, place).is_some_and(|target| recursive.contains(&target)),
            is_optional,
            is_definition: matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)),
            required: node
                .get(Keyword::Required)
                .and_then(Node::as_array)
                .into_iter()
                .flatten()
                .filter_map(Node::as_text)
                .collect(),
        });
        let target = references.target_of(node);
        if !target.is_some_and(|target| recursive.contains(&target)) {
            return Ok(Visit::Descend);
        }
        // A reference outside of the cycle leads into it, but is not part of the recursion.
        let leads_in = !way.iter().any(|passed| passed.is_recursive);
        let in_definition = way.iter().rposition(|passed| passed.is_definition).map_or(0, |at| at + 1);
        let is_optional = way.iter().skip(in_definition).any(|passed| passed.is_optional);
        let fine = rule == Recursion::OnlyOptional && (leads_in || is_optional);
        if let Some(reference) = node.get(Keyword::Ref).filter(|_| !fine) {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = match rule {
                Recursion::OnlyOptional => "recursion only through properties that are not required",
                _ => "no recursion",
            };
            report.add(reference, Constraint::Recursion, place.pointer.render_with("$ref"), expected, &found);
        }
        Ok(Visit::Descend)
    })
}

/// A schema on the path to a reference.
struct Passed<'t, 'a> {
    /// True if a reference leads back to the schema.
    is_recursive: bool,
    /// True if the schema is an optional property.
    is_optional: bool,
    is_definition: bool,
    /// Names of the required properties.
    required: Set<&'t Text<'a>>,
}
