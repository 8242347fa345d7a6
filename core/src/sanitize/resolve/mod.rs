//! Resolve: references become `#/$defs/name`, or are replaced by their targets.
//!
//! Assumes canonical schemas. Guarantees that every remaining reference leads to an entry of the root's `$defs` (or to
//! the root), that recursion which the grammar does not accept is expanded to a limited depth, and that every
//! definition is used.
//!
//! Passes set flags of a reference (the value of `$ref`) while they resolve it: [`Flags::REFERENCE`].

pub(crate) mod break_cycles;
pub(crate) mod definitions;
pub(crate) mod inline;
pub(crate) mod spelling;
pub(crate) mod unroll;

use crate::json::{Flags, Node};

pub(crate) const ENDLESS: Flags = Flags::ENDLESS;

pub(crate) fn mark(reference: &mut Node<'_>, flag: Flags) {
    reference.flag(flag);
}

pub(crate) fn is_marked(reference: &Node<'_>, flag: Flags) -> bool {
    reference.flags().intersects(flag)
}
