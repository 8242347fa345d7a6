//! Checks the value of each keyword against the 2020-12 meta-schema.
//!
//! Source: <https://json-schema.org/draft/2020-12/schema> and the vocabularies that it references. Subschemas are
//! checked when the walk reaches them.

use alloc::format;

use super::{is_schema_value, seen, Report, Schema};
use crate::{
    collections::Set,
    dialect::grammar::Grammar,
    json::{self, push_token, Node},
    rules::Constraint,
    schema::{
        keyword::{Keyword, Subschemas},
        uri::{is_anchor, is_uri, names_vocabularies},
    },
};

/// Up to this number of names, linear search is fast enough.
pub(super) const FEW: usize = 16;

/// Checks the value of one keyword, except for keywords that have a file of their own.
pub(super) fn check(schema: &Schema<'_, '_>, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
    // Draft 2020-12 does not have this keyword.
    if keyword == Keyword::AdditionalItems && !report.grammar.array_items {
        return;
    }
    let expected = match keyword.holds() {
        Subschemas::Value => match expected(keyword, value, report.grammar) {
            None => return,
            Some(expected) => expected,
        },
        Subschemas::Schema if is_schema_value(value, report.grammar) => return,
        // A boolean is the shortest form in which these keywords allow or forbid unevaluated members and items.
        Subschemas::Schema
            if value.as_bool().is_some()
                && matches!(keyword, Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties) =>
        {
            return
        }
        Subschemas::Schema | Subschemas::SchemaOrSchemas => "a schema",
        Subschemas::Schemas => match value.as_array() {
            Some([]) => "at least one schema",
            Some(items) => return items_are_schemas(schema, keyword, items, report),
            None => "a list of schemas",
        },
        Subschemas::Named | Subschemas::NamedOrNames => match value.as_object() {
            Some(_) => return members_are_schemas(schema, keyword, value, report),
            None => "an object of schemas",
        },
    };
    let found = match value.as_array() {
        Some([]) => "an empty list".into(),
        _ => seen(value),
    };
    report.add(
        value,
        Constraint::KeywordValue,
        schema.at(keyword.name()),
        &format!("{expected} under `{}`", keyword.name()),
        &found,
    );
}

/// Returns the expected value of a keyword without subschemas, if the value does not match.
fn expected(keyword: Keyword, value: &Node<'_>, grammar: &Grammar) -> Option<&'static str> {
    let unless = |fine: bool, expected| if fine { None } else { Some(expected) };
    let counts = |value: &Node<'_>| {
        value.as_number().is_some_and(|number| json::is_integral(number) && !number.starts_with('-'))
    };
    match keyword {
        Keyword::Anchor | Keyword::DynamicAnchor | Keyword::RecursiveAnchor => {
            unless(value.as_text().is_some_and(is_anchor), "a name that begins with a letter or `_`")
        }
        // Draft 7 requires a URI.
        Keyword::Schema if grammar.array_items => unless(value.as_text().is_some_and(is_uri), "a URI"),
        Keyword::Comment
        | Keyword::ContentEncoding
        | Keyword::ContentMediaType
        | Keyword::Description
        | Keyword::DynamicRef
        | Keyword::Format
        | Keyword::Pattern
        | Keyword::RecursiveRef
        | Keyword::Schema
        | Keyword::Title => unless(value.as_text().is_some(), "a string"),
        Keyword::Id => unless(
            value.as_text().is_some_and(|text| !text.display().trim_end_matches('#').contains('#')),
            "an identifier without a fragment",
        ),
        Keyword::Deprecated | Keyword::ReadOnly | Keyword::UniqueItems | Keyword::WriteOnly => {
            unless(value.as_bool().is_some(), "a boolean")
        }
        Keyword::Examples => unless(value.as_array().is_some(), "a list"),
        Keyword::ExclusiveMaximum | Keyword::ExclusiveMinimum | Keyword::Maximum | Keyword::Minimum => {
            unless(value.as_number().is_some(), "a number")
        }
        Keyword::MultipleOf => {
            unless(value.as_number().is_some_and(|number| json::compare(number, "0").is_gt()), "a number above 0")
        }
        Keyword::MaxContains
        | Keyword::MaxItems
        | Keyword::MaxLength
        | Keyword::MaxProperties
        | Keyword::MinContains
        | Keyword::MinItems
        | Keyword::MinLength
        | Keyword::MinProperties => unless(counts(value), "a non-negative integer"),
        Keyword::DependentRequired => unless(
            value.as_object().is_some_and(|table| table.iter().all(|member| are_names(&member.value))),
            "an object of lists of names",
        ),
        Keyword::Vocabulary => unless(names_vocabularies(value), "an object of booleans"),
        _ => None,
    }
}

/// Returns true if the value is a list of distinct strings.
pub(super) fn are_names(value: &Node<'_>) -> bool {
    let Some(names) = value.as_array() else { return false };
    if names.len() <= FEW {
        let mut rest = names;
        while let Some((first, others)) = rest.split_first() {
            if first.as_text().is_none_or(|name| others.iter().filter_map(Node::as_text).any(|other| other == name)) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    let distinct: Set<_> = names.iter().filter_map(Node::as_text).collect();
    distinct.len() == names.len()
}

pub(super) fn items_are_schemas(
    schema: &Schema<'_, '_>,
    keyword: Keyword,
    items: &[Node<'_>],
    report: &mut Report<'_>,
) {
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.as_object().is_none()) {
        if !is_schema_value(item, report.grammar) {
            report.add(
                item,
                Constraint::NotASchema,
                format!("{}/{index}", schema.at(keyword.name())),
                "a schema (an object)",
                &seen(item),
            );
        }
    }
}

fn members_are_schemas(schema: &Schema<'_, '_>, keyword: Keyword, table: &Node<'_>, report: &mut Report<'_>) {
    for member in table.as_object().into_iter().flatten() {
        let fine = is_schema_value(&member.value, report.grammar)
            || (keyword.holds() == Subschemas::NamedOrNames && are_names(&member.value));
        if !fine {
            let mut pointer = schema.at(keyword.name());
            push_token(&mut pointer, &member.key.display());
            report.add(&member.value, Constraint::NotASchema, pointer, "a schema (an object)", &seen(&member.value));
        }
    }
}
