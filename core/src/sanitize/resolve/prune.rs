//! Removes definitions that are not referenced, along with reported changes inside them.

use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

use crate::{
    budget::Budget,
    collections::Set,
    error::Error,
    json::{Member, Node},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        definitions::{reached, reference_to, TABLES},
        keyword::{Keyword, Keywords},
        references::{numbers, Form, Number, References},
        visit::{self, Polarity, Visit},
    },
};

const PRUNE: ChangeKind = ChangeKind::of(Rule::PruneDefinition);

/// Keywords of the tables in `TABLES`.
pub(crate) const CONCERNS: Keywords = Keywords::of(&[Keyword::Defs, Keyword::Definitions]);

/// Removes all tables of definitions; used if the document has no references.
pub(crate) fn drop_tables<'a>(node: &mut Node<'a>, polarity: Polarity, context: &mut PassContext) {
    for table in TABLES {
        let Some(value) = node.get(table) else { continue };
        let location = Location::of(value);
        context
            .diagnostics
            .report(polarity, location.removed(), PRUNE, || format!("removed `{table}`: nothing refers to it"));
        if let Some(object) = node.as_object_mut() {
            object.remove(table);
        }
    }
}

/// Reports definitions that are not referenced, and retracts the changes reported inside them.
pub(crate) fn note(
    source: &Node<'_>,
    references: &References,
    used: &Set<Number>,
    context: &mut PassContext,
) -> Result<(), Error> {
    if !context.diagnostics.is_on() {
        return Ok(());
    }
    let mut unused: Vec<Range<Number>> = Vec::new();
    let mut names: Vec<(Location, String)> = Vec::new();
    visit::walk(&context.budget, source, Keywords::ALL, &mut |node, place| {
        let in_table = matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions));
        if in_table && !references.leads_into(node, place, used) {
            names.push((Location::of(node), crate::json::Pointer::render(place.pointer)));
            unused.push(numbers(node));
            return Ok(Visit::Skip);
        }
        Ok(Visit::Descend)
    })?;
    // In later rounds, definitions may contain copies of other parts of the input.
    if context.form == Form::Read {
        context.diagnostics.retract(&unused);
    }
    for (location, pointer) in names {
        context.diagnostics.report(Polarity::Positive, location.removed(), PRUNE, || {
            format!("removed `{pointer}`: nothing refers to it")
        });
    }
    Ok(())
}

/// Removes definitions that are no longer reachable after references were cut.
pub(crate) fn prune(root: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
    let Some(table) = root.object_at(Keyword::Defs) else { return Ok(()) };
    let reached = reached(root, budget)?;
    let is_reached =
        |member: &Member<'_>| reference_to("$defs", member).is_some_and(|reference| reached.contains(&reference));
    if table.iter().all(is_reached) {
        return Ok(());
    }
    let Some(object) = root.as_object_mut() else { return Ok(()) };
    let is_empty = object.get_mut(Keyword::Defs).and_then(Node::as_object_mut).is_none_or(|table| {
        table.retain(|member| is_reached(member));
        table.is_empty()
    });
    if is_empty {
        object.remove(Keyword::Defs);
    }
    Ok(())
}
