//! Resolve: references become `#/$defs/name`, or what they refer to takes their place.
//!
//! Assumes canonical schemas. Guarantees that every reference that is left leads to an entry of the root's `$defs` (or
//! to the root), that recursion ends where the grammar wants an end, and that every definition is used.

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
