//! Checks `enum`: the number of its values, and whether they match the sibling `type`.

use alloc::{format, string::String};

use super::{seen, types, Report, Schema};
use crate::{
    collections::Set,
    json::{self, Data, Node},
    rules::Constraint,
    schema::keyword::Keyword,
};

pub(super) fn check(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let rule = report.grammar.enums;
    schema.not_below_braces(Keyword::Enum, value, report);
    let Some(values) = value.as_array() else {
        report.add(value, Constraint::EnumNotList, schema.at("enum"), "a list of values", value.kind());
        return;
    };
    // The root must accept some arguments.
    if values.is_empty() && (!rule.empty || schema.is_root()) {
        report.add(value, Constraint::EnumEmpty, schema.at("enum"), "at least one value", "none");
    }
    if rule.distinct && !are_distinct(values) {
        let (expected, found) = ("unique values under `enum`", "a duplicate");
        report.add(value, Constraint::KeywordValue, schema.at("enum"), expected, found);
    }
    if values.len() > rule.max_values {
        let (expected, found) = (format!("at most {} values", rule.max_values), format!("{}", values.len()));
        report.add(value, Constraint::EnumTooLong, schema.at("enum"), &expected, &found);
    }
    for (index, item) in values.iter().enumerate() {
        let at = || schema.at("enum") + &format!("/{index}");
        if !rule.kinds.iter().any(|name| is_of(item, name)) {
            let expected = format!("values of type `{}` only", rule.kinds.join("` or `"));
            report.add(item, Constraint::EnumKind, at(), &expected, &seen(item));
        } else if !rule.empty_string && item.as_text().is_some_and(|text| text.is_empty()) {
            report.add(item, Constraint::EnumKind, at(), "no empty string among the values", "one");
        } else if let Some(refused) =
            rule.without.filter(|refused| item.as_text().is_some_and(|text| text.display().contains(*refused)))
        {
            report.add(item, Constraint::EnumKind, at(), &format!("values without `{refused}`"), &seen(item));
        }
    }
    let Some(beside) = schema.get(Keyword::Type) else {
        if rule.needs_type {
            report.add(value, Constraint::EnumWithoutType, schema.at("enum"), "a `type` next to `enum`", "none");
        }
        return;
    };
    // Another check reports an unknown type.
    let Some(names) = types::names(beside, report.grammar.types, report.grammar) else { return };
    if rule.nullable_scalar_only && names.len() > 1 && !is_nullable_scalar(&names) {
        let (expected, found) =
            ("one type, or `null` and one scalar type, next to `enum`", format!("`{}`", names.join("`, `")));
        report.add(beside, Constraint::EnumTypeList, schema.at("type"), expected, &found);
        return;
    }
    if rule.agrees && !values.is_empty() && !values.iter().any(|item| names.iter().any(|name| is_of(item, name))) {
        let expected = format!("`enum` with a value of type `{}`", names.join("` or `"));
        report.add(value, Constraint::EnumContradicts, schema.at("enum"), &expected, "none");
    }
    if !rule.needs_type {
        return;
    }
    for (index, item) in values.iter().enumerate() {
        if !names.iter().any(|name| is_of(item, name)) {
            let (expected, found) = (format!("a value of type `{}`", names.join("` or `")), seen(item));
            report.add(item, Constraint::EnumValue, schema.at("enum") + &format!("/{index}"), &expected, &found);
        }
    }
    let numeric_first = names.first().is_some_and(|name| matches!(*name, "number" | "integer"));
    if rule.null_first && numeric_first && names.len() > 1 && values.iter().any(Node::is_null) {
        let (expected, found) =
            ("`null` first in the list of types, because `enum` contains null", format!("`{}`", names.join("`, `")));
        report.add(beside, Constraint::EnumNullFirst, schema.at("type"), expected, &found);
    }
}

fn are_distinct(values: &[Node<'_>]) -> bool {
    let mut seen: Set<String> = Set::new();
    values.iter().all(|value| seen.insert(json::canonical(value)))
}

fn is_nullable_scalar(names: &[&str]) -> bool {
    let is_scalar = |name: &str| matches!(name, "string" | "integer" | "number" | "boolean");
    match names {
        [one, two] => (*one == "null" && is_scalar(two)) || (*two == "null" && is_scalar(one)),
        _ => false,
    }
}

fn is_of(value: &Node<'_>, name: &str) -> bool {
    match value.data() {
        Data::Null => name == "null",
        Data::Bool(_) => name == "boolean",
        // The API reads the number as a 64-bit float, so that 1.00000000000000000001 is an integer.
        Data::Number(text) => {
            name == "number" || (name == "integer" && text.parse::<f64>().is_ok_and(|number| number % 1.0 == 0.0))
        }
        Data::String(_) => name == "string",
        Data::Array(_) => name == "array",
        Data::Object(_) => name == "object",
        Data::Verbatim(_) => false,
    }
}
