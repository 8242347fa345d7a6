//! The violations found so far. They are sorted into document order at the end, because rules traverse a document in
//! different orders.

use alloc::{string::String, vec::Vec};

use super::Violation;
use crate::{collections, json::Node, report::Severity, rules::Constraint};

#[derive(Default)]
pub(super) struct Found {
    /// Violations, each with its position in document order.
    list: Vec<(u32, Violation)>,
}

impl Found {
    /// Returns true if there are no violations.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a violation of `value`.
    pub(super) fn add(
        &mut self,
        value: &Node<'_>,
        (constraint, severity): (Constraint, Severity),
        pointer: String,
        message: String,
    ) {
        let violation = Violation { constraint: constraint.id(), severity, pointer, message };
        self.list.push((value.origin().number().unwrap_or_default(), violation));
    }

    /// Returns all violations in document order.
    pub(super) fn finish(self) -> Vec<Violation> {
        collections::by(self.list, |(one, _), (two, _)| one.cmp(two))
            .into_iter()
            .map(|(_, violation)| violation)
            .collect()
    }
}
