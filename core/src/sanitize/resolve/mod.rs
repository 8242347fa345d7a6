//! Resolve: references become `#/$defs/name`, or are replaced by their targets.
//!
//! Assumes canonical schemas. Guarantees that every remaining reference leads to an entry of the root's `$defs` (or to
//! the root), that recursion which the grammar does not accept is expanded to a limited depth, and that every
//! definition is used.
//!
//! Passes set marks on a reference (the value of `$ref`) while they resolve it.

pub(crate) mod break_cycles;
pub(crate) mod definitions;
pub(crate) mod inline;
pub(crate) mod spelling;
pub(crate) mod unroll;

use crate::json::Node;

/// Siblings apply, regardless of the draft.
pub(crate) const APPLIES: u8 = 1;

/// The reference is resolved: it names a definition in the form that this pass writes.
pub(crate) const SETTLED: u8 = 2;

/// The reference closes a cycle at the same instance location.
pub(crate) const ENDLESS: u8 = 4;

/// Adds a mark to a reference.
pub(crate) fn mark(reference: &mut Node<'_>, mark: u8) {
    reference.mark(reference.marks() | mark);
}

/// True if a reference has this mark.
pub(crate) fn is_marked(reference: &Node<'_>, mark: u8) -> bool {
    reference.marks() & mark != 0
}
