//! Checks which keys are allowed, and the value of each keyword: against the 2020-12 meta-schema, and the branches of
//! `anyOf`, `allOf` and `oneOf`.
//!
//! Source: <https://json-schema.org/draft/2020-12/schema> and the vocabularies that it references. Subschemas are
//! checked when the walk reaches them.

use alloc::{format, string::String};

use super::{is_schema_value, quoted, seen, types, Report, Schema};
use crate::{
    check::Extent,
    collections::Set,
    dialect::{features::COUNTS, grammar::Grammar},
    json::{self, push_token, Member, Node, Text},
    report::Severity,
    rules::Constraint,
    schema::{
        keyword::{Keyword, Role, Subschemas},
        uri::{is_anchor, is_uri, names_vocabularies},
    },
};

/// A serialized Zod validator, for messages.
const ZOD: &str = "`def` of a serialized Zod validator; `z.toJSONSchema()` writes its schema";

/// Returns the usual replacement of a refused keyword, if the grammar accepts it there.
fn replacement(keyword: Keyword, is_root: bool, grammar: &Grammar) -> Option<&'static str> {
    let accepts = |other| !(grammar.refuses.contains(other) || is_root && grammar.root_refuses.contains(other));
    match keyword {
        Keyword::OneOf if accepts(Keyword::AnyOf) => Some("`anyOf`"),
        Keyword::AllOf => Some("one schema with the keywords of the branches"),
        Keyword::Const if accepts(Keyword::Enum) => Some("`enum` with one value"),
        _ => None,
    }
}

/// Returns false if the key is not allowed, so its value is not checked.
pub(super) fn check_key(
    schema: &Schema<'_, '_>,
    member: &Member<'_>,
    keyword: Option<Keyword>,
    report: &mut Report<'_>,
) -> bool {
    let grammar = report.grammar;
    let at = || schema.at(&member.key.display());
    let Some(keyword) = keyword else {
        let Some(accepted_names) = grammar.unknown else {
            if schema.is_zod && member.key.is("def") && report.extent != Extent::First {
                report.add(&member.value, Constraint::IgnoredKeyword, at(), "a JSON Schema", ZOD);
            }
            return true;
        };
        if accepted_names.iter().any(|name| member.key.is(name)) {
            return true;
        }
        let key = quoted(&member.key);
        report.add(
            &member.value,
            Constraint::UnknownKeyword,
            at(),
            "only keys that this API knows",
            if schema.is_zod && member.key.is("def") { ZOD } else { &key },
        );
        return false;
    };
    let is_left = report.extent == Extent::First && grammar.leaves_unread(keyword, &member.value, schema.object);
    if grammar.refuses.contains(keyword) && !is_left {
        let name = quoted(&member.key);
        let (expected, found) = match replacement(keyword, schema.is_root(), grammar) {
            Some(replacement) => (format!("{replacement} instead of {name}"), name.as_str()),
            None => (format!("no {name}"), "it"),
        };
        report.add(&member.value, Constraint::RefusedKeyword, at(), &expected, found);
        // A keyword that the API reinterprets is still refused if it is malformed.
        let is_read = report.dialect.severity_of(Constraint::RefusedKeyword, &at()) == Severity::Reinterpreted;
        if is_read && matches!(keyword, Keyword::AllOf | Keyword::OneOf) {
            check_all_of_or_one_of(schema, keyword, &member.value, report);
        }
        return false;
    }
    if let Some(conflict) =
        grammar.conflicts.iter().find(|conflict| conflict.refuses(keyword, &member.value, schema.object))
    {
        let expected = format!("no `{}` next to {}", keyword.name(), conflict.in_words(schema.object));
        report.add(&member.value, Constraint::RefusedKeyword, at(), &expected, "it");
        return false;
    }
    // Ignored keywords need no rewriting, so they are reported only if all violations are requested.
    if report.extent != Extent::First {
        let missing = || grammar.effects.missing((keyword, &member.value), schema.object, schema.present);
        if grammar.ignores.contains(keyword) {
            let expected = format!("no `{}`", keyword.name());
            report.add(&member.value, Constraint::IgnoredKeyword, at(), &expected, "it, which has no effect here");
        } else if let Some(expected) = missing().filter(|_| schema.is_read(grammar)) {
            let found = format!("`{}`, which has no effect here", keyword.name());
            report.add(&member.value, Constraint::IgnoredKeyword, at(), &expected, &found);
        }
    }
    if grammar.is_below_minimum(keyword, &member.value, schema.object) {
        let (expected, found) = ("a maximum that is not below the minimum", super::seen(&member.value));
        report.add(&member.value, Constraint::MaximumBelowMinimum, at(), expected, &found);
    }
    if schema.is_root() && grammar.refuses_at_root(keyword, &member.value) {
        report.add(&member.value, Constraint::RootKeyword, at(), &format!("no `{}` at the root", keyword.name()), "it");
        return false;
    }
    if let (Keyword::Schema, Some(drafts)) = (keyword, grammar.drafts) {
        let is_known_draft = |text: &Text<'_>| drafts.iter().any(|draft| text.display().contains(draft));
        if !member.value.as_text().is_none_or(is_known_draft) {
            let expected = format!("`$schema` of {}", drafts.join(" or "));
            report.add(&member.value, Constraint::UnknownDraft, at(), &expected, &super::seen(&member.value));
        }
    }
    if grammar.beside_their_type.contains(keyword) {
        check_sibling_type(schema, member, keyword, report);
    }
    if let Some(limit) = member.value.as_number().and_then(|number| grammar.too_large(keyword, number)) {
        let (expected, found) = (format!("`{}` of at most {limit}", keyword.name()), super::seen(&member.value));
        report.add(&member.value, Constraint::KeywordTooLarge, at(), &expected, &found);
    }
    if grammar.plain_counts && COUNTS.contains(keyword) {
        let is_plain = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
        if !member.value.as_number().is_some_and(is_plain) {
            let found = super::seen(&member.value);
            report.add(&member.value, Constraint::KeywordValue, at(), "an integer without a fractional part", &found);
        }
    }
    let beside = grammar.refs.beside;
    if keyword != Keyword::Ref
        && grammar.refs.nothing_else_beside
        && !beside.contains(keyword)
        && schema.present.contains(Keyword::Ref)
    {
        // Tables of definitions have no effect by themselves.
        if keyword.role() != Role::Definitions {
            report.add(
                &member.value,
                Constraint::BesideRef,
                at(),
                &format!("no `{}` next to `$ref`", keyword.name()),
                "it",
            );
        }
    }
    let beside = grammar.any_of.beside;
    if keyword != Keyword::AnyOf
        && !beside.contains(keyword)
        && schema.present.contains(Keyword::AnyOf)
        // A union that is refused at the root is reported once.
        && !(schema.is_root() && grammar.root_refuses.contains(Keyword::AnyOf))
        && keyword.role() != Role::Definitions
    {
        report.add(
            &member.value,
            Constraint::BesideAnyOf,
            at(),
            &format!("no `{}` next to `anyOf`", keyword.name()),
            "it",
        );
    }
    true
}

fn check_sibling_type(schema: &Schema<'_, '_>, member: &Member<'_>, keyword: Keyword, report: &mut Report<'_>) {
    let (Some(types), Some(applies_to)) = (schema.get(Keyword::Type), keyword.applies_to()) else { return };
    let required_type = applies_to.name();
    if types::is_name(types, required_type, report.grammar) {
        return;
    }
    let names = types::known_names(types, report.grammar.types, report.grammar);
    let includes = |name: &&str| *name == required_type || (required_type == "number" && *name == "integer");
    if names.is_some_and(|names| !names.iter().any(includes)) {
        let expected = format!("`{}` only next to `type: \"{required_type}\"`", keyword.name());
        report.add(&member.value, Constraint::BesideOtherType, schema.at(keyword.name()), &expected, "another type");
    }
}

/// Maximum number of names for a linear search.
pub(super) const LINEAR_SEARCH_LIMIT: usize = 16;

/// Checks the value of a keyword, unless another file checks it.
pub(super) fn check_value(schema: &Schema<'_, '_>, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
    // Draft 2020-12 does not have this keyword.
    if keyword == Keyword::AdditionalItems && !report.grammar.array_items {
        return;
    }
    let expected = match keyword.subschemas() {
        Subschemas::Value => match expected_value(keyword, value, report.grammar) {
            None => return,
            Some(expected) => expected,
        },
        Subschemas::Schema if is_schema_value(value, report.grammar) => return,
        // Under these keywords, booleans are accepted even if the grammar refuses boolean schemas elsewhere.
        Subschemas::Schema
            if value.as_bool().is_some()
                && matches!(keyword, Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties) =>
        {
            return
        }
        Subschemas::Schema | Subschemas::SchemaOrSchemas => "a schema",
        Subschemas::Schemas => match value.as_array() {
            Some([]) => "at least one schema",
            Some(items) => return check_items_are_schemas(schema, keyword, items, report),
            None => "a list of schemas",
        },
        Subschemas::Named | Subschemas::NamedOrNames => match value.as_object() {
            Some(_) => return check_members_are_schemas(schema, keyword, value, report),
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

/// Describes the expected value of a keyword without subschemas; `None` if the value matches.
fn expected_value(keyword: Keyword, value: &Node<'_>, grammar: &Grammar) -> Option<&'static str> {
    let expected_unless = |is_valid: bool, expected| if is_valid { None } else { Some(expected) };
    let is_count = |value: &Node<'_>| {
        value.as_number().is_some_and(|number| json::is_integral(number) && !number.starts_with('-'))
    };
    match keyword {
        Keyword::Anchor | Keyword::DynamicAnchor | Keyword::RecursiveAnchor => {
            expected_unless(value.as_text().is_some_and(is_anchor), "a name that begins with a letter or `_`")
        }
        // Draft 7 requires a URI.
        Keyword::Schema if grammar.array_items => expected_unless(value.as_text().is_some_and(is_uri), "a URI"),
        Keyword::Comment
        | Keyword::ContentEncoding
        | Keyword::ContentMediaType
        | Keyword::Description
        | Keyword::DynamicRef
        | Keyword::Format
        | Keyword::Pattern
        | Keyword::RecursiveRef
        | Keyword::Schema
        | Keyword::Title => expected_unless(value.as_text().is_some(), "a string"),
        Keyword::Id => expected_unless(
            value.as_text().is_some_and(|text| !text.display().trim_end_matches('#').contains('#')),
            "an identifier without a fragment",
        ),
        Keyword::Deprecated | Keyword::ReadOnly | Keyword::UniqueItems | Keyword::WriteOnly => {
            expected_unless(value.as_bool().is_some(), "a boolean")
        }
        Keyword::Examples => expected_unless(value.as_array().is_some(), "a list"),
        Keyword::ExclusiveMaximum | Keyword::ExclusiveMinimum | Keyword::Maximum | Keyword::Minimum => {
            expected_unless(value.as_number().is_some(), "a number")
        }
        Keyword::MultipleOf => expected_unless(
            value.as_number().is_some_and(|number| json::compare(number, "0").is_gt()),
            "a number above 0",
        ),
        Keyword::MaxContains
        | Keyword::MaxItems
        | Keyword::MaxLength
        | Keyword::MaxProperties
        | Keyword::MinContains
        | Keyword::MinItems
        | Keyword::MinLength
        | Keyword::MinProperties => expected_unless(is_count(value), "a non-negative integer"),
        Keyword::DependentRequired => expected_unless(
            value.as_object().is_some_and(|table| table.iter().all(|member| are_names(&member.value))),
            "an object of lists of names",
        ),
        Keyword::Vocabulary => expected_unless(names_vocabularies(value), "an object of booleans"),
        _ => None,
    }
}

pub(super) fn are_names(value: &Node<'_>) -> bool {
    let Some(names) = value.as_array() else { return false };
    if names.len() <= LINEAR_SEARCH_LIMIT {
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

pub(super) fn check_items_are_schemas(
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

fn check_members_are_schemas(schema: &Schema<'_, '_>, keyword: Keyword, table: &Node<'_>, report: &mut Report<'_>) {
    for member in table.as_object().into_iter().flatten() {
        let is_valid = is_schema_value(&member.value, report.grammar)
            || (keyword.subschemas() == Subschemas::NamedOrNames && are_names(&member.value));
        if !is_valid {
            let mut pointer = schema.at(keyword.name());
            push_token(&mut pointer, &member.key.display());
            report.add(&member.value, Constraint::NotASchema, pointer, "a schema (an object)", &seen(&member.value));
        }
    }
}

pub(super) fn check_any_of(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
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
        if let Some(null) = branch.get(Keyword::Type).filter(|name| rule.no_null && name.is_text("null")) {
            report.add(null, Constraint::UnknownType, at() + "/type", "no branch for null in a union", "`null`");
        }
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

/// Checks `allOf` or `oneOf` for an API that requires a non-empty list of schemas, but does not validate schemas
/// against the meta-schema.
pub(super) fn check_all_of_or_one_of(
    schema: &Schema<'_, '_>,
    keyword: Keyword,
    value: &Node<'_>,
    report: &mut Report<'_>,
) {
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

pub(super) fn is_annotation(key: &Text<'_>, grammar: &Grammar) -> bool {
    Keyword::named(key).is_some_and(|keyword| grammar.annotations.contains(keyword))
}
