//! Marks that passes set on a reference (the value of `$ref`) while they resolve it.

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
