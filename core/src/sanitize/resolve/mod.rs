//! Resolve: references become `#/$defs/name`, or are replaced by their targets.
//!
//! Assumes canonical schemas. Guarantees that every remaining reference leads to an entry of the root's `$defs` (or to
//! the root), that recursion ends if the grammar requires an end, and that every definition is used.

pub(in crate::sanitize) mod as_written;
pub(in crate::sanitize) mod break_cycles;
pub(in crate::sanitize) mod dynamic;
pub(in crate::sanitize) mod inline;
pub(in crate::sanitize) mod prune;
pub(in crate::sanitize) mod reference_cutter;
pub(in crate::sanitize) mod reference_marks;
pub(in crate::sanitize) mod specialize;
pub(in crate::sanitize) mod unending;
pub(in crate::sanitize) mod unroll;
