//! The share of a request's limits that one tool uses.

use alloc::{format, string::String};

use crate::{
    collections::Set,
    dialect::surface::{Budget, Counted},
    json::Node,
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Visit},
    },
};

/// Keywords whose subschemas are reached without a reference.
const REACHED: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
    Keyword::Items,
    Keyword::PrefixItems,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
]);

/// Returns the message for a tool that exceeds a budget.
pub(super) fn exceeded(budget: Budget, before: usize, takes: usize) -> String {
    let (limit, what) = (budget.limit, budget.counts.words());
    format!("expected at most {limit} {what} per request, found {before} before this tool and {takes} more")
}

/// Returns the amount of a budget that a tool with this schema uses.
pub(super) fn taken(budget: Budget, schema: Option<&Node<'_>>) -> usize {
    let mut count = 0;
    let per_property: fn(&Node<'_>, bool) -> bool = match budget.counts {
        Counted::Tools => return 1,
        Counted::OptionalProperties => |_, required| !required,
        Counted::Properties => |_, _| true,
        Counted::Unions => |property, _| {
            property.get("anyOf").is_some()
                || property.get("type").is_some_and(|types| types.as_array().is_some_and(|types| types.len() > 1))
        },
    };
    let Some(schema) = schema else { return 0 };
    // The visitor never fails, and one walk never exceeds the budget of a call.
    let _ = visit::walk(&crate::budget::Budget::new(schema.values_read(), None), schema, REACHED, &mut |node, _| {
        if let Some(properties) = node.object_at("properties") {
            let required = node.items_at("required");
            let required: Set<_> = required.iter().filter_map(Node::as_text).collect();
            count +=
                properties.iter().filter(|member| per_property(&member.value, required.contains(&member.key))).count();
        }
        Ok(Visit::Descend)
    });
    count
}
