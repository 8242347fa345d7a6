//! Checks which keys are allowed: at the root, anywhere, and keys that are not keywords of JSON Schema.

use alloc::format;

use super::{super::Extent, combinators, quoted, types, Report, Schema};
use crate::{
    dialect::{features::COUNTS, grammar::Grammar},
    json::{Member, Text},
    report::Severity,
    rules::Constraint,
    schema::keyword::{Keyword, Role},
};

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

/// Checks a member by its key. Returns false if the key is not allowed, so its value is not checked.
pub(super) fn check(
    schema: &Schema<'_, '_>,
    member: &Member<'_>,
    keyword: Option<Keyword>,
    report: &mut Report<'_>,
) -> bool {
    let grammar = report.grammar;
    let at = || schema.at(&member.key.display());
    let Some(keyword) = keyword else {
        let Some(known) = grammar.unknown else { return true };
        if known.iter().any(|name| member.key.is(name)) {
            return true;
        }
        report.add(
            &member.value,
            Constraint::UnknownKeyword,
            at(),
            "only keys that this API knows",
            &quoted(&member.key),
        );
        return false;
    };
    if grammar.refuses.contains(keyword) {
        let name = quoted(&member.key);
        let (expected, found) = match replacement(keyword, schema.is_root(), grammar) {
            Some(replacement) => (format!("{replacement} instead of {name}"), name.as_str()),
            None => (format!("no {name}"), "it"),
        };
        report.add(&member.value, Constraint::RefusedKeyword, at(), &expected, found);
        // A keyword that the API reinterprets is still refused if it is malformed.
        let is_read = report.dialect.severity_of(Constraint::RefusedKeyword.id(), &at()) == Severity::Reinterpreted;
        if is_read && matches!(keyword, Keyword::AllOf | Keyword::OneOf) {
            combinators::list(schema, keyword, &member.value, report);
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
    if report.extent == Extent::All {
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
        let is_taken = |text: &Text<'_>| drafts.iter().any(|draft| text.display().contains(draft));
        if !member.value.as_text().is_none_or(is_taken) {
            let expected = format!("`$schema` of {}", drafts.join(" or "));
            report.add(&member.value, Constraint::UnknownDraft, at(), &expected, &super::seen(&member.value));
        }
    }
    if grammar.beside_their_type.contains(keyword) {
        beside_its_type(schema, member, keyword, report);
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

/// Reports a keyword that is allowed only next to a type to which it applies.
fn beside_its_type(schema: &Schema<'_, '_>, member: &Member<'_>, keyword: Keyword, report: &mut Report<'_>) {
    let (Some(types), Some(applies_to)) = (schema.get(Keyword::Type), keyword.applies_to()) else { return };
    let wanted = applies_to.name();
    if types::is_name(types, wanted, report.grammar) {
        return;
    }
    let known = types::names(types, report.grammar.types, report.grammar);
    let is_of = |name: &&str| *name == wanted || (wanted == "number" && *name == "integer");
    if known.is_some_and(|names| !names.iter().any(is_of)) {
        let expected = format!("`{}` only next to `type: \"{wanted}\"`", keyword.name());
        report.add(&member.value, Constraint::BesideOtherType, schema.at(keyword.name()), &expected, "another type");
    }
}
