//! Names of findings and changes: the list of constraints and the list of rules.
//!
//! A *constraint* is a requirement of an API on a schema or a tool; `check` reports violations. A *rule* is a kind of
//! change; every change in a report names its rule. Each rule lists the constraints that it serves, which link a change
//! to the fact behind it.

mod constraint;
mod rule;

pub use constraint::Constraint;
pub use rule::{Phase, Rule};

#[cfg(test)]
mod tests {
    //! Consistency of the tables of rules and constraints.

    extern crate std;

    use alloc::{format, vec::Vec};
    use std::collections::BTreeSet;

    use super::{Phase, Rule};

    /// Rules that no single constraint requires: they repair values that are not schemas in any dialect, clean up after
    /// other rules, or go beyond the requirements of any validator.
    const GENERAL: &[Rule] = &[
        Rule::DropIdentifier,
        Rule::DropImpossibleBranch,
        Rule::LoosenUniqueItems,
        Rule::MergeConflict,
        Rule::MergeInexact,
        Rule::MergeAnnotations,
        Rule::PruneDefinition,
        Rule::SplitDependencies,
        Rule::UpdateSchemaUri,
    ];

    #[test]
    fn rule_ids_are_unique() {
        let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        assert!(Rule::ALL.is_sorted_by_key(|rule| rule.phase()), "the table is in the order of the phases");
    }

    #[test]
    fn every_rule_serves_a_constraint_or_is_general() {
        let of_dialects = |rule: &&Rule| !matches!(rule.phase(), Phase::Envelope | Phase::Codex | Phase::List);
        let faults: Vec<_> = Rule::ALL
            .iter()
            .filter(of_dialects)
            .filter(|rule| rule.serves().is_empty() != GENERAL.contains(rule))
            .map(|rule| format!("`{}` serves {:?}", rule.id(), rule.serves()))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
