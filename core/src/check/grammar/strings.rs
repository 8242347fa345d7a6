//! Checks keywords for strings whose values have their own syntax: `pattern` and `format`.

use alloc::format;

use super::{quoted, seen, types, Extent, Report, Schema};
use crate::{
    dialect::grammar::PatternRule,
    json::{push_token, Node, Text},
    rules::Constraint,
    schema::{
        keyword::Keyword,
        regex,
        regex_engines::{self, Reading},
    },
};

pub(super) fn pattern(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let is_read = report.grammar.patterns.reads(Keyword::Pattern, schema.object);
    let Some(text) = value.as_text().filter(|_| is_read) else { return };
    if let Some((rule, why)) = fault(text, report.grammar.patterns) {
        report.add(value, rule, schema.at("pattern"), why, &quoted(text));
    }
    // A pattern that is merely not enforced needs no rewriting, so it does not count as a first violation.
    if report.grammar.patterns == PatternRule::Gbnf && report.extent == Extent::All {
        if let Reading::NotEnforced(why) = regex_engines::gbnf_reading(&text.display()) {
            let found = format!("{}: {why}", quoted(text));
            let expected = "a pattern that this API enforces";
            report.add(value, Constraint::PatternNotEnforced, schema.at("pattern"), expected, &found);
        }
    }
}

/// Checks the keys of `patternProperties`, which are patterns, too.
pub(super) fn pattern_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    if !report.grammar.patterns.reads(Keyword::PatternProperties, schema.object) {
        return;
    }
    for member in value.as_object().into_iter().flatten() {
        if let Some((rule, why)) = fault(&member.key, report.grammar.patterns) {
            let mut pointer = schema.at("patternProperties");
            push_token(&mut pointer, &member.key.display());
            report.add(&member.value, rule, pointer, why, &quoted(&member.key));
        }
    }
}

fn fault(pattern: &Text<'_>, rule: PatternRule) -> Option<(Constraint, &'static str)> {
    let text = pattern.display();
    if rule == PatternRule::Gbnf {
        return match regex_engines::gbnf_reading(&text) {
            Reading::Refused(_) => {
                Some((Constraint::Pattern, "a regular expression that llama.cpp's converter supports"))
            }
            Reading::Enforced | Reading::NotEnforced(_) => None,
        };
    }
    let uses = regex::uses(&text);
    let does_not_compile = |expected| Some((Constraint::Pattern, expected));
    match rule {
        PatternRule::Unicode if uses.not_unicode.is_some() => {
            does_not_compile("a regular expression that JavaScript compiles with the flag `u`")
        }
        PatternRule::Unicode => None,
        _ if uses.not_python.is_some() => does_not_compile("a regular expression that Python's `re` compiles"),
        PatternRule::Any | PatternRule::Python => None,
        // For a pattern with characters beyond ASCII, the API uses another engine, which does not support lookaround.
        PatternRule::Whole if uses.not_regular.is_some() && !uses.beyond_lookaround && text.is_ascii() => {
            Some((Constraint::PatternAnchors, "a regular expression without lookaround, which this API ignores"))
        }
        _ if uses.not_regular.is_some() => {
            does_not_compile("a regular expression without lookaround, backreferences and word boundaries")
        }
        PatternRule::Whole if !regex_engines::is_whole(&text) => Some((
            Constraint::PatternAnchors,
            "a regular expression that begins with `^` and ends with `$`, because this API matches the whole string",
        )),
        PatternRule::Unanchored if regex_engines::is_anchored(&text) => {
            Some((Constraint::PatternAnchors, "a regular expression without `^` and `$`"))
        }
        PatternRule::Regular | PatternRule::Gbnf | PatternRule::Whole | PatternRule::Unanchored => None,
    }
}

pub(super) fn format(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let (Some(known), Some(text)) = (report.grammar.formats, value.as_text()) else { return };
    let of_type = |name: &str| schema.get(Keyword::Type).is_some_and(|value| types::is(value, name, report.grammar));
    // Without a type, `format` applies to strings.
    let untyped = schema.get(Keyword::Type).is_none();
    let accepted = known.iter().any(|(kind, formats)| {
        (of_type(kind) || (untyped && *kind == "string"))
            && (formats.is_empty() || formats.iter().any(|name| text.is(name)))
    });
    if !accepted {
        let expected = format!(
            "a `format` that this API knows for {}",
            schema.get(Keyword::Type).map_or_else(|| "`string`".into(), seen)
        );
        report.add(value, Constraint::Format, schema.at("format"), &expected, &quoted(text));
    }
}
