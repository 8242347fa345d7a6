//! Resolve: references become `#/$defs/name`, or are replaced by their targets.
//!
//! Assumes canonical schemas. Guarantees:
//!
//! - Every remaining reference points to an entry of the root's `$defs`, or to the root.
//! - Recursion that the grammar does not accept is expanded to a limited depth.
//! - Every definition is used.
//!
//! Passes set flags of a reference (the value of `$ref`) while they resolve it:
//! [`Flags::REFERENCE`](crate::json::Flags::REFERENCE).

pub(crate) mod break_cycles;
pub(crate) mod definitions;
pub(crate) mod inline;
pub(crate) mod spelling;
pub(crate) mod unroll;
