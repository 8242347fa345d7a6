//! Checks `anyOf`: its branches, and the keywords that are both in a branch and next to `anyOf`.

use alloc::{format, string::String};

use super::{is_schema_value, quoted, seen, Report, Schema};
use crate::{
    collections::Set,
    dialect::grammar::Grammar,
    json::{self, push_token, Node, Text},
    rules::Constraint,
    schema::keyword::Keyword,
};

pub(super) fn any_of(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let rule = report.grammar.any_of;
    let Some(branches) = value.as_array() else {
        report.add(value, Constraint::CombinatorNotList, schema.at("anyOf"), "a list of schemas", value.kind());
        return;
    };
    schema.not_below_braces(Keyword::AnyOf, value, report);
    if branches.is_empty() || branches.len() > rule.max_branches {
        let (expected, found) = (format!("1 to {} branches", rule.max_branches), format!("{}", branches.len()));
        report.add(value, Constraint::AnyOfSize, schema.at("anyOf"), &expected, &found);
    }
    if rule.distinct_first_keys {
        first_keys(schema, branches, report);
    }
    let grammar = report.grammar;
    // Another check reports `type` next to `anyOf` if it is not allowed there.
    let is_free = |key: &Text<'_>| {
        key.is(Keyword::AnyOf) || (rule.no_type_beside && key.is(Keyword::Type)) || is_annotation(key, grammar)
    };
    let beside: Set<&Text<'_>> = schema.object.iter().map(|member| &member.key).filter(|key| !is_free(key)).collect();
    for (index, branch) in branches.iter().enumerate() {
        let at = || format!("{}/{index}", schema.at("anyOf"));
        if !is_schema_value(branch, grammar) {
            report.add(branch, Constraint::NotASchema, at(), "a schema (an object)", &seen(branch));
        }
        if rule.typed_branches && branch.get(Keyword::AnyOf).is_some() && branch.get(Keyword::Type).is_none() {
            report.add(branch, Constraint::UntypedBranch, at(), "a branch with its own `type`", "a union");
        }
        if !rule.no_shared_keywords || beside.is_empty() {
            continue;
        }
        for member in branch.as_object().into_iter().flatten() {
            if beside.contains(&member.key) {
                let mut pointer = at();
                push_token(&mut pointer, &member.key.display());
                let found = format!("`{}` in both", member.key.display());
                report.add(
                    &member.value,
                    Constraint::AnyOfShared,
                    pointer,
                    "a keyword either next to `anyOf` or in its branches",
                    &found,
                );
            }
        }
    }
}

/// Checks `allOf` and `oneOf` for an API that does not validate schemas against the meta-schema: each must nevertheless
/// be a non-empty list of schemas.
pub(super) fn list(schema: &Schema<'_, '_>, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
    let Some(parts) = value.as_array().filter(|parts| !parts.is_empty()) else {
        let found = if value.as_array().is_some() { "an empty one" } else { value.kind() };
        report.add(value, Constraint::CombinatorNotList, schema.at(keyword.name()), "a list of schemas", found);
        return;
    };
    for (index, part) in parts.iter().enumerate() {
        if part.as_object().is_none() && part.as_bool().is_none() {
            report.add(
                part,
                Constraint::NotASchema,
                format!("{}/{index}", schema.at(keyword.name())),
                "a schema (an object)",
                &seen(part),
            );
        }
    }
}

/// Reports branches that cannot be distinguished by their first property or its constant.
fn first_keys(schema: &Schema<'_, '_>, branches: &[Node<'_>], report: &mut Report<'_>) {
    // The constants of each name; `None` for a schema without a constant.
    let (mut names, mut constants) = (Set::new(), Set::new());
    for (index, branch) in branches.iter().enumerate() {
        let first = branch.get(Keyword::Properties).and_then(Node::as_object).and_then(|table| table.iter().next());
        let Some(first) = first else { continue };
        let constant = constant(&first.value);
        let is_new = names.insert(&first.key);
        let differs = constant.is_some() && !constants.contains(&(&first.key, None));
        if !constants.insert((&first.key, constant)) || !(is_new || differs) {
            let pointer = format!("{}/{index}", schema.at("anyOf"));
            let expected = "branches whose first properties have different names, or different constants";
            report.add(branch, Constraint::AnyOfFirstKeys, pointer, expected, &quoted(&first.key));
        }
    }
}

/// Returns the only value that `const` or `enum` allows, as text.
fn constant(schema: &Node<'_>) -> Option<String> {
    match (schema.get(Keyword::Const), schema.get(Keyword::Enum).and_then(Node::as_array)) {
        (Some(value), _) | (None, Some([value])) => Some(json::write_plain(value)),
        _ => None,
    }
}

/// Returns true if a key is an annotation, which conflicts with nothing.
pub(super) fn is_annotation(key: &Text<'_>, grammar: &Grammar) -> bool {
    Keyword::named(key).is_some_and(|keyword| grammar.annotations.contains(keyword))
}
