//! What is found and what is done, by the names that callers see: one list of constraints, one of rules.
//!
//! A *constraint* is what an API demands of a schema or a tool; `check` reports those that are violated. A *rule* is
//! one kind of change; every change in a report names its rule. A rule says which constraints it serves, so that a
//! change finds the fact behind it.

mod constraint;
mod fix;
mod rule;
#[cfg(test)]
mod tests;

pub use constraint::Constraint;
pub use rule::{Phase, Rule};
