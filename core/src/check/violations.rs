//! The violations found so far. They are put into document order at the end, because rules look at a document in
//! different orders.

use alloc::{string::String, vec::Vec};

use super::Violation;
use crate::{collections, json::Node, report::Severity, rules::Constraint};

#[derive(Default)]
pub(super) struct Found {
    /// Each with its place in the document.
    list: Vec<(u32, Violation)>,
}

impl Found {
    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds what is wrong with `value`.
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

    /// All of them, in document order.
    pub(super) fn finish(self) -> Vec<Violation> {
        collections::by(self.list, |(one, _), (two, _)| one.cmp(two))
            .into_iter()
            .map(|(_, violation)| violation)
            .collect()
    }
}
