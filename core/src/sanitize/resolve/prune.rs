//! Definitions that nothing refers to: they go, and so does what was said about their insides.

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

/// The same.
pub(in crate::sanitize) const CONCERNS: Keywords = Keywords::of(&[Keyword::Defs, Keyword::Definitions]);

/// Without a reference anywhere, every definition is unused.
pub(in crate::sanitize) fn drop_tables<'a>(node: &mut Node<'a>, polarity: Polarity, context: &mut PassContext) {
    for table in TABLES {
        let Some(value) = node.get(table) else { continue };
        let location = Location::of(value);
        context.diagnostics.report(polarity, location, Location::Nowhere, PRUNE, || {
            format!("removed `{table}`: nothing refers to it")
        });
        if let Some(object) = node.as_object_mut() {
            object.remove(table);
        }
    }
}

/// Reports the definitions that nothing refers to, and forgets what was said about their insides.
pub(in crate::sanitize) fn note(
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
    // What has been written since may hold copies of what other parts of the input say.
    if context.form == Form::Read {
        context.diagnostics.retract(&unused);
    }
    for (location, pointer) in names {
        context.diagnostics.report(Polarity::Positive, location, Location::Nowhere, PRUNE, || {
            format!("removed `{pointer}`: nothing refers to it")
        });
    }
    Ok(())
}

/// Removes the definitions that are no longer reached, once what referred to them was cut.
pub(in crate::sanitize) fn prune(root: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
    let Some(table) = root.get(Keyword::Defs).and_then(Node::as_object) else { return Ok(()) };
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
