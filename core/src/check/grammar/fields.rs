//! Checks the types of the fields of a protobuf message: string, number, integer, boolean.
//!
//! Source: the JSON mapping of protocol buffers, in which a string may contain a number or a boolean.

use alloc::format;

use super::{seen, Report, Schema};
use crate::{
    dialect::features::COUNTS,
    json::{self, Node},
    rules::Constraint,
    schema::keyword::Keyword,
};

pub(super) fn check(schema: &Schema<'_, '_>, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
    let unless = |fine: bool, expected| if fine || value.is_null() { None } else { Some(expected) };
    let expected = match keyword {
        Keyword::Nullable => unless(is_boolean(value), "a boolean"),
        Keyword::Minimum | Keyword::Maximum => unless(is_number(value, |_| true), "a number"),
        _ if COUNTS.contains(keyword) => unless(is_number(value, json::is_integral), "an integer"),
        _ => unless(value.as_text().is_some(), "a string"),
    };
    if let Some(expected) = expected {
        let expected = format!("{expected} under `{}`", keyword.name());
        report.add(value, Constraint::KeywordValue, schema.at(keyword.name()), &expected, &seen(value));
    }
}

fn is_boolean(value: &Node<'_>) -> bool {
    value.as_bool().is_some() || value.is_text("true") || value.is_text("false")
}

fn is_number(value: &Node<'_>, fits: fn(&str) -> bool) -> bool {
    let spelled = value.as_text().and_then(|text| text.value());
    match (value.as_number(), spelled.as_deref().map(json::read)) {
        (Some(number), _) => fits(number),
        (None, Some(Ok(read))) => read.as_number().is_some_and(fits),
        _ => false,
    }
}
