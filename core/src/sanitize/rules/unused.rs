//! Definitions that nothing refers to: they go, and so does what was said about their insides.

use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

use super::{
    notes::{Effect, Spot},
    Rules,
};
use crate::{
    json::{Data, Node},
    schema::{
        keyword::{Keyword, Keywords},
        resolve::Number,
        walk::{self, Next, Position},
    },
    sorted::Set,
};

const PRUNE: Effect = Effect::same("prune-definition");

/// The tables of definitions, which go once everything that is needed stands where it is used.
pub(super) const TABLES: [&str; 2] = ["$defs", "definitions"];

/// Without a reference anywhere, every definition is unused.
pub(super) fn drop_tables<'a>(node: &mut Node<'a>, position: Position, rules: &mut Rules) {
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
pub(super) fn note(source: &Node<'_>, used: &Set<Number>, rules: &mut Rules) {
    if !rules.notes.is_on() {
        return;
    }
    let mut unused: Vec<Range<Number>> = Vec::new();
    let mut names: Vec<(Number, String)> = Vec::new();
    let _ = walk::visit(source, Keywords::ALL, &mut |node, place| {
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
    });
    rules.notes.forget(&unused);
    for (number, pointer) in names {
        rules
            .notes
            .note(Position::Positive, Spot::Node(number), Spot::Nowhere, PRUNE, || format!("removed `{pointer}`: nothing refers to it"));
    }
}

/// The numbers of a node and everything in it.
fn numbers(node: &Node<'_>) -> Range<Number> {
    fn last(node: &Node<'_>) -> Number {
        let own = node.origin().number().unwrap_or_default();
        match node.data() {
            Data::Array(items) => items.iter().map(last).fold(own, Number::max),
            Data::Object(object) => object.iter().map(|member| last(&member.value)).fold(own, Number::max),
            _ => own,
        }
    }
    let first = node.origin().number().unwrap_or_default();
    first..last(node).saturating_add(1)
}
