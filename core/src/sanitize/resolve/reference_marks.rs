//! What passes note on a reference, the value of `$ref`, while they settle it.

use crate::json::Node;

/// What stands beside it applies, whatever the draft.
pub(in crate::sanitize) const APPLIES: u8 = 1;

/// It is settled: it names a definition as this pass writes it.
pub(in crate::sanitize) const SETTLED: u8 = 2;

/// It leads back to a schema that is being applied.
pub(in crate::sanitize) const ENDLESS: u8 = 4;

/// Adds a mark to a reference.
pub(in crate::sanitize) fn mark(reference: &mut Node<'_>, mark: u8) {
    reference.mark(reference.marks() | mark);
}

/// Has a reference this mark?
pub(in crate::sanitize) fn is_marked(reference: &Node<'_>, mark: u8) -> bool {
    reference.marks() & mark != 0
}
