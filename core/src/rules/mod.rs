//! Names of findings and changes: the list of constraints and the list of rules.
//!
//! A *constraint* is a requirement of an API on a schema or a tool; `check` reports violations. A *rule* is a kind of
//! change; every change in a report names its rule. Each rule lists the constraints that it serves, which link a change
//! to the fact behind it.

mod constraint;
mod fix;
mod rule;
#[cfg(test)]
mod tests;

pub use constraint::Constraint;
pub use rule::{Phase, Rule};
