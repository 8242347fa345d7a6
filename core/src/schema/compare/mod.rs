//! Compares the values that two schemas accept. A difference is proved by a witness: a value that one schema accepts
//! and the other refuses. Equality is proved by a common normal form. Everything else is undecided.

mod example;
mod normal;
mod search;

use alloc::string::String;

use super::validate::Prepared;
use crate::{
    budget::Budget,
    json::{self, Node},
};
use search::Search;

/// Number of steps of a comparison, for schemas of any size: a validation of a small value takes about ten.
const STEPS: usize = 200_000;
/// Number of further steps for each value of both schemas.
const STEPS_PER_VALUE: usize = 200;
/// Maximum number of steps of the search and of each of its two validators.
const MAX_STEPS: usize = 2_000_000;
/// Number of steps of the normal forms for each value of both schemas.
const NORMAL_STEPS_PER_VALUE: usize = 1_000;

/// Relation between the values that an old and a new schema accept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaComparison {
    /// True if both schemas accept the same values, because their normal forms are equal.
    pub is_equal: bool,
    /// True if both schemas also have the same annotations, such as descriptions.
    pub has_same_annotations: bool,
    /// Value that only the old schema accepts, as JSON; `None` if none was found.
    pub only_old: Option<String>,
    /// Value that only the new schema accepts, as JSON; `None` if none was found.
    pub only_new: Option<String>,
    /// Number of steps that the search for values took.
    pub steps: usize,
}

/// Compares the values that two schemas accept. If `objects_only` is true, only objects are compared, as arguments of
/// tools are. The work is limited by the size of the schemas. The search and each of its validators take at most
/// `max_steps`.
pub fn compare_schemas(old: &Node<'_>, new: &Node<'_>, objects_only: bool, max_steps: usize) -> SchemaComparison {
    let (Some(old), Some(new)) = (Prepared::new(old), Prepared::new(new)) else { return SchemaComparison::default() };
    let values = old.schema().values_read().saturating_add(new.schema().values_read());
    let budget = Budget::new(0, Some(STEPS.saturating_add(NORMAL_STEPS_PER_VALUE.saturating_mul(values))));
    let are_equal = |has_annotations: bool| {
        let form = |schema: &Prepared| normal::normal(schema, has_annotations, &budget);
        form(&old) == form(&new) && !budget.is_spent()
    };
    let is_equal = are_equal(false);
    if is_equal {
        let has_same_annotations = are_equal(true);
        return SchemaComparison { is_equal, has_same_annotations, ..SchemaComparison::default() };
    }
    let steps = STEPS.saturating_add(STEPS_PER_VALUE.saturating_mul(values)).min(MAX_STEPS).min(max_steps);
    let (old_validator, new_validator) = (old.validator(), new.validator());
    let anything = Node::bool(true);
    let judges = [&old_validator, &new_validator].map(|validator| validator.judge_within(Budget::new(0, Some(steps))));
    let search = Search::new(judges, &anything, steps);
    let [only_old, only_new] = search.witnesses(objects_only);
    let written = |value: Option<Node<'_>>| value.as_ref().map(json::write);
    let steps = usize::try_from(search.steps()).unwrap_or(usize::MAX);
    SchemaComparison { only_old: written(only_old), only_new: written(only_new), steps, ..SchemaComparison::default() }
}
