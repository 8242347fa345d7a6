//! Removes unreachable definitions from the tables at the root.

use alloc::{format, string::String, vec::Vec};

use super::diagnostics::{Diagnostics, Left, Note};
use crate::{
    collections::Set,
    json::{Node, Pointer, Step, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    schema::{
        definitions::{self, Definition, TABLES},
        visit::Polarity,
    },
};

const NOTE: Note =
    Note { rule: Rule::PruneDefinition, accepts: Accepts::Same, guidance: Guidance::Same, left: Left::Nothing };

/// Removes unreachable definitions, and tables that become empty.
pub(super) fn prune(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) {
    if !TABLES.iter().any(|table| root.get(table).is_some()) {
        return;
    }
    let reached = definitions::reached_by_codex(root, diagnostics.budget);
    for (number, table) in TABLES.iter().enumerate() {
        let is_reached = |name: &Text<'_>| match name.value() {
            Some(value) => reached.contains(&Definition { table: number, name: value.into_owned() }),
            None => false,
        };
        let Some(definitions) = root.object_at(table) else { continue };
        let kept = definitions.iter().filter(|member| is_reached(&member.key)).count();
        if kept == definitions.len() && kept > 0 {
            continue;
        }
        note_pruned(root, table, kept, &is_reached, diagnostics);
        let Some(object) = root.as_object_mut() else { continue };
        if kept == 0 {
            object.remove(table);
        } else if let Some(definitions) = object.get_mut(table).and_then(Node::as_object_mut) {
            definitions.retain(|member| is_reached(&member.key));
        }
    }
}

fn note_pruned(
    root: &Node<'_>,
    table: &'static str,
    kept: usize,
    is_reached: &dyn Fn(&Text<'_>) -> bool,
    diagnostics: &mut Diagnostics<'_>,
) {
    let Some(definitions) = root.get(table).filter(|_| diagnostics.is_on()) else { return };
    let mut pointer = Pointer::root();
    pointer.push(Step::Name(table));
    if kept == 0 {
        diagnostics.retract(&Set::from([pointer.render()]));
        diagnostics.report_at(definitions, &pointer, Polarity::Positive, None, NOTE, || {
            format!("removed `{table}`: nothing refers to it")
        });
        return;
    }
    let pruned: Vec<_> =
        definitions.as_object().into_iter().flatten().filter(|member| !is_reached(&member.key)).collect();
    let gone: Set<String> = pruned.iter().map(|member| pointer.render_with(&member.key.display())).collect();
    diagnostics.retract(&gone);
    for member in pruned {
        pointer.push(Step::Member(member.key.borrowed()));
        diagnostics.report_at(&member.value, &pointer, Polarity::Positive, None, NOTE, || {
            format!("removed the definition `{}`: nothing refers to it", member.key.display())
        });
        pointer.pop();
    }
}
