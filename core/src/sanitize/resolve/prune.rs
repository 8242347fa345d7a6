//! Definitions that nothing refers to: they go, and so does what was said about their insides.

use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

use crate::{
    budget::Budget,
    error::Error,
    json::{Member, Node},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Spot},
    },
    schema::{
        definitions::{numbers, reached, reference_to, TABLES},
        keyword::{Keyword, Keywords},
        references::Number,
        walk::{self, Next, Position},
    },
    sorted::Set,
};

const PRUNE: ChangeKind = ChangeKind::of(Rule::PruneDefinition);

/// The same.
pub(in crate::sanitize) const CONCERNS: Keywords = Keywords::of(&[Keyword::Defs, Keyword::Definitions]);

/// Without a reference anywhere, every definition is unused.
pub(in crate::sanitize) fn drop_tables<'a>(node: &mut Node<'a>, position: Position, rules: &mut PassContext) {
    for table in TABLES {
        let Some(value) = node.get(table) else { continue };
        let spot = Spot::of(value);
        rules.notes.note(position, spot, Spot::Nowhere, PRUNE, || format!("removed `{table}`: nothing refers to it"));
        if let Some(object) = node.as_object_mut() {
            object.remove(table);
        }
    }
}

/// Reports the definitions that nothing refers to, and forgets what was said about their insides.
pub(in crate::sanitize) fn note(source: &Node<'_>, used: &Set<Number>, rules: &mut PassContext) -> Result<(), Error> {
    if !rules.notes.is_on() {
        return Ok(());
    }
    let mut unused: Vec<Range<Number>> = Vec::new();
    let mut names: Vec<(Number, String)> = Vec::new();
    walk::visit(&rules.budget, source, Keywords::ALL, &mut |node, place| {
        let in_table = matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions));
        if in_table {
            let range = numbers(node);
            if used.first_from(&range.start).is_none_or(|first| !range.contains(first)) {
                names.push((range.start, crate::json::Pointer::render(place.pointer)));
                unused.push(range);
                return Ok(Next::Skip);
            }
        }
        Ok(Next::Into)
    })?;
    rules.notes.forget(&unused);
    for (number, pointer) in names {
        rules
            .notes
            .note(Position::Positive, Spot::Node(number), Spot::Nowhere, PRUNE, || format!("removed `{pointer}`: nothing refers to it"));
    }
    Ok(())
}

/// Removes the definitions that are no longer reached, once what referred to them was cut.
pub(in crate::sanitize) fn prune(root: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
    let Some(table) = root.get("$defs").and_then(Node::as_object) else { return Ok(()) };
    let reached = reached(root, budget)?;
    let is_reached = |member: &Member<'_>| reference_to("$defs", member).is_some_and(|reference| reached.contains(&reference));
    if table.iter().all(is_reached) {
        return Ok(());
    }
    let Some(object) = root.as_object_mut() else { return Ok(()) };
    let is_empty = object.get_mut("$defs").and_then(Node::as_object_mut).is_none_or(|table| {
        table.retain(|member| is_reached(member));
        table.is_empty()
    });
    if is_empty {
        object.remove("$defs");
    }
    Ok(())
}
