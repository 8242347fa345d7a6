//! Resolve: references become `#/$defs/name`, or are replaced by their targets.
//!
//! Assumes canonical schemas. Guarantees that every remaining reference leads to an entry of the root's `$defs` (or to
//! the root), that recursion ends if the grammar requires an end, and that every definition is used.

pub(crate) mod as_written;
pub(crate) mod break_cycles;
pub(crate) mod dynamic;
pub(crate) mod inline;
pub(crate) mod prune;
pub(crate) mod reference_cutter;
pub(crate) mod reference_marks;
pub(crate) mod specialize;
pub(crate) mod unending;
pub(crate) mod unroll;
