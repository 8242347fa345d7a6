//! Checks `type`: its names, and the keywords next to it.

use alloc::{format, string::String, vec::Vec};

use super::{seen, Report, Schema};
use crate::{
    dialect::grammar::{Grammar, TypeLists},
    json::{Node, Text},
    rules::Constraint,
    schema::{instance_types::protocol_type, keyword::Keyword},
};

/// Returns the types in a `type`, if it is a known name or a list of known names.
pub(super) fn names(value: &Node<'_>, types: &[&'static str], grammar: &Grammar) -> Option<Vec<&'static str>> {
    let known = |value: &Node<'_>| types.iter().copied().find(|name| is_name(value, name, grammar));
    match value.as_array() {
        Some([]) => None,
        Some(list) => list.iter().map(known).collect(),
        None => known(value).map(|name| [name].into()),
    }
}

/// Returns true if a `type` contains this name, alone or in a list.
pub(super) fn is(value: &Node<'_>, name: &str, grammar: &Grammar) -> bool {
    is_name(value, name, grammar)
        || value.as_array().is_some_and(|names| names.iter().any(|known| is_name(known, name, grammar)))
}

/// Returns true if a value is this type name, in a spelling that the grammar accepts.
pub(super) fn is_name(value: &Node<'_>, name: &str, grammar: &Grammar) -> bool {
    // The names are ASCII, so a string of a different length is a different name.
    let in_upper_case = |text: &Text<'_>| {
        let text = text.display();
        text.len() == name.len() && text.bytes().eq(name.bytes().map(|byte| byte.to_ascii_uppercase()))
    };
    let in_protocol = || match value.as_text() {
        Some(text) => in_upper_case(text),
        None => protocol_type(value) == Some(name),
    };
    value.is_text(name) || (grammar.protocol_types && in_protocol())
}

pub(super) fn check(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let grammar = report.grammar;
    let walked = schema.is_walked;
    // Names in a list are checked against those of JSON Schema, because `type_lists` determines which lists are
    // allowed.
    let types = if walked && value.as_array().is_none() { grammar.types } else { Grammar::OPEN.types };
    if grammar.any_of.no_type_beside && schema.present.contains(Keyword::AnyOf) {
        report.add(
            value,
            Constraint::TypeBesideAnyOf,
            schema.at("type"),
            "`type` in the branches of `anyOf`",
            "it next to `anyOf`",
        );
    }
    if grammar.refs.no_type_beside && schema.present.contains(Keyword::Ref) {
        report.add(
            value,
            Constraint::TypeBesideRef,
            schema.at("type"),
            "`type` in the definition",
            "it next to `$ref`",
        );
    }
    // Most types are a single known name, which needs no further checks.
    let is_plain_name = || value.as_text().and_then(Text::as_plain).is_some_and(|plain| types.contains(&plain));
    if is_plain_name() || types.iter().any(|name| is_name(value, name, grammar)) {
        return;
    }
    // Most lists are a type and null.
    if let Some([one, two]) = value.as_array() {
        let known = |value: &Node<'_>| types.iter().find(|name| is_name(value, name, grammar));
        if let (TypeLists::Any, None, Some(one), Some(two)) =
            (grammar.type_lists, grammar.beside_type_list, known(one), known(two))
        {
            if one != two {
                return;
            }
        }
    }
    match names(value, types, grammar) {
        None => {
            let known: Vec<String> = types.iter().map(|name| format!("`{name}`")).collect();
            let expected = format!("one of {}, or a list of them", known.join(", "));
            let found = match value.as_array() {
                Some([]) => "an empty list".into(),
                Some(_) => "a list with other values".into(),
                None => seen(value),
            };
            report.add(value, Constraint::UnknownType, schema.at("type"), &expected, &found);
        }
        Some(names) if walked && value.as_array().is_some() && !list_is_fine(&names, grammar.type_lists) => {
            let expected = match grammar.type_lists {
                TypeLists::Scalars => "a list of scalar types and `null` only",
                _ => "one type, not a list",
            };
            report.add(value, Constraint::TypeList, schema.at("type"), expected, &format!("`{}`", names.join("`, `")));
        }
        Some(names) if grammar.metaschema && !are_different(&names) => {
            let (expected, found) = ("a list of unique types", format!("`{}`", names.join("`, `")));
            report.add(value, Constraint::KeywordValue, schema.at("type"), expected, &found);
        }
        Some(names) if names.len() > 1 => beside_list(schema, &names, report),
        Some(_) => {}
    }
}

/// Returns true if all names differ. The search is short, because more than seven known names contain duplicates.
fn are_different(names: &[&str]) -> bool {
    names.iter().enumerate().all(|(at, name)| at < 7 && !names.iter().take(at).any(|before| before == name))
}

fn list_is_fine(names: &[&str], rule: TypeLists) -> bool {
    match rule {
        TypeLists::Any => true,
        TypeLists::Scalars => !names.iter().any(|name| matches!(*name, "object" | "array")),
        TypeLists::None => false,
    }
}

fn beside_list(schema: &Schema<'_, '_>, names: &[&str], report: &mut Report<'_>) {
    let Some(rule) = report.grammar.beside_type_list else { return };
    // Another check covers a nullable enum, next to which all keywords are allowed.
    if names.len() == 2 && schema.get(Keyword::Enum).is_some_and(|values| !values.is_null()) {
        return;
    }
    for member in schema.object {
        let keyword = Keyword::named(&member.key);
        let allowed = keyword.is_some_and(|keyword| {
            keyword == Keyword::Type
                || rule.anywhere.contains(keyword)
                || (schema.is_root() && rule.at_root.contains(keyword))
        });
        if !allowed {
            let name = member.key.display();
            let (expected, found) = ("only annotations next to a list of several types", format!("`{name}`"));
            report.add(&member.value, Constraint::BesideTypeList, schema.at(&name), expected, &found);
        }
    }
}
