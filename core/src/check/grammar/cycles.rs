//! Recursion where an API has none, or has it only through properties that need not be there.

use super::{quoted, Report, Rule};
use crate::{
    budget::Budget,
    dialect::grammar::Recursion,
    error::Error,
    json::{Node, Pointer, Step},
    schema::{
        graph::Graph,
        keyword::{Keyword, Keywords},
        resolve::{self, References},
        walk::{self, Next},
    },
    sorted::Set,
};

pub(super) fn check(root: &Node<'_>, references: &References, report: &mut Report<'_>, budget: &Budget) -> Result<(), Error> {
    let rule = report.grammar.refs.recursion;
    // Where there are no references at all, each is refused as one.
    if references.is_empty() || matches!(rule, Recursion::Free | Recursion::MustEnd) || report.grammar.refuses.has(Keyword::Ref) {
        return Ok(());
    }
    let graph = Graph::of(root, references, budget)?;
    let recursive: Set<_> = graph.all().filter(|target| graph.is_recursive(*target)).collect();
    if recursive.is_empty() {
        return Ok(());
    }
    walk::visit(budget, root, Keywords::ALL, &mut |node, place| {
        let target = resolve::reference_number(node).and_then(|number| references.target(number));
        if !target.is_some_and(|target| recursive.contains(&target)) {
            return Ok(Next::Into);
        }
        let fine = rule == Recursion::OnlyOptional && (leads_in(root, place.pointer, &recursive) || is_optional(root, place.pointer));
        if let Some(reference) = node.get("$ref").filter(|_| !fine) {
            let found = reference.as_text().map(quoted).unwrap_or_default();
            let expected = match rule {
                Recursion::OnlyOptional => "recursion only through properties that are not required",
                _ => "no recursion",
            };
            report.add(reference, Rule::Recursion, place.pointer.render_with("$ref"), expected, &found);
        }
        Ok(Next::Into)
    })
}

/// The nodes on the way from the root to a place, with the step that leads on from each.
fn way<'t, 'a>(root: &'t Node<'a>, pointer: &Pointer<'_>) -> alloc::vec::Vec<&'t Node<'a>> {
    let mut at = Some(root);
    let mut nodes = alloc::vec::Vec::from([root]);
    for step in pointer.steps() {
        at = at.and_then(|node| match step {
            Step::Name(name) => node.get(name),
            Step::Member(name) => node.as_object().and_then(|object| object.get_text(name)),
            Step::Index(index) => node.as_array().and_then(|items| items.get(*index)),
        });
        nodes.extend(at);
    }
    nodes
}

/// Does the reference only lead into the recursion, from a place that is not part of it?
fn leads_in(root: &Node<'_>, pointer: &Pointer<'_>, recursive: &Set<resolve::Number>) -> bool {
    !way(root, pointer).iter().any(|node| node.origin().number().is_some_and(|number| recursive.contains(&number)))
}

/// Is there a property on the way, within its definition, that is not required?
fn is_optional(root: &Node<'_>, pointer: &Pointer<'_>) -> bool {
    let nodes = way(root, pointer);
    let steps = pointer.steps();
    steps.iter().enumerate().rev().take_while(|(_, step)| !matches!(step, Step::Name("$defs" | "definitions"))).any(|(at, step)| {
        let (Step::Name("properties"), Some(Step::Member(name))) = (step, steps.get(at + 1)) else { return false };
        let names = nodes.get(at).and_then(|object| object.get("required")).and_then(Node::as_array).unwrap_or_default();
        !names.iter().any(|required| required.as_text() == Some(name))
    })
}
