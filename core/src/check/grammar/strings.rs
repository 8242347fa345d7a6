//! What is said of strings in languages of their own: `pattern` and `format`.

use alloc::format;

use super::{quoted, seen, types, Report, Schema};
use crate::{
    dialect::grammar::PatternRule,
    json::{push_token, Node, Text},
    rules::Constraint,
    schema::{gbnf, keyword::Keyword, regex},
};

pub(super) fn pattern(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let is_read = report.grammar.patterns.reads(Keyword::Pattern, schema.object);
    let Some(text) = value.as_text().filter(|_| is_read) else { return };
    if let Some(why) = fault(text, report.grammar.patterns) {
        report.add(value, Constraint::Pattern, schema.at("pattern"), why, &quoted(text));
    }
}

/// The keys of `patternProperties` are patterns too.
pub(super) fn pattern_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    if !report.grammar.patterns.reads(Keyword::PatternProperties, schema.object) {
        return;
    }
    for member in value.as_object().into_iter().flatten() {
        if let Some(why) = fault(&member.key, report.grammar.patterns) {
            let mut pointer = schema.at("patternProperties");
            push_token(&mut pointer, &member.key.display());
            report.add(&member.value, Constraint::Pattern, pointer, why, &quoted(&member.key));
        }
    }
}

fn fault(pattern: &Text<'_>, rule: PatternRule) -> Option<&'static str> {
    let uses = regex::uses(&pattern.display());
    match rule {
        _ if uses.not_python.is_some() => Some("a regular expression that Python's `re` compiles"),
        PatternRule::Any | PatternRule::Python => None,
        _ if uses.not_regular.is_some() => {
            Some("a regular expression without lookaround, backreferences and word boundaries")
        }
        PatternRule::Gbnf if !uses.anchored => Some("a regular expression from `^` to `$`"),
        PatternRule::Gbnf if gbnf::respelled(&pattern.display()).is_none_or(|known| !pattern.is(&known)) => {
            Some("a regular expression with the escapes of GBNF only")
        }
        PatternRule::Regular | PatternRule::Gbnf => None,
    }
}

pub(super) fn format(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let (Some(known), Some(text)) = (report.grammar.formats, value.as_text()) else { return };
    let of_type = |name: &str| schema.get(Keyword::Type).is_some_and(|value| types::is(value, name, report.grammar));
    // Without a type it is a string that a format speaks of.
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
