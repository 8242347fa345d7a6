//! Repairs numbers, counts and booleans, and strings that spell one.

use alloc::{borrow::Cow, format};

use crate::{
    json::{self, Data, Node},
    schema::keyword::Keyword,
};

/// Result of checking the value of a keyword.
pub(super) enum RepairedValue<'a> {
    Fine,
    As(Node<'a>),
    Gone,
}

/// Checks a number; reads a string that spells one.
pub(super) fn number<'a>(value: &Node<'a>) -> RepairedValue<'a> {
    if value.as_number().is_some() {
        return RepairedValue::Fine;
    }
    let spelled = value.as_text().and_then(|text| text.value());
    match spelled.as_deref().map(json::read) {
        Some(Ok(read)) => match read.into_data() {
            Data::Number(text) => {
                RepairedValue::As(Node::new(Data::Number(Cow::Owned(text.into_owned()))).with_origin(value.origin()))
            }
            _ => RepairedValue::Gone,
        },
        _ => RepairedValue::Gone,
    }
}

/// Checks a count. A fraction is rounded to the whole number with the same effect: a minimum up, a maximum down.
pub(super) fn count<'a>(keyword: Keyword, value: &Node<'a>) -> RepairedValue<'a> {
    let becomes = number(value);
    let text = match &becomes {
        RepairedValue::As(spelled) => spelled.as_number(),
        _ => value.as_number(),
    };
    let Some(text) = text.filter(|text| !text.starts_with('-')) else { return RepairedValue::Gone };
    if json::is_integral(text) {
        return becomes;
    }
    let Ok(number) = text.parse::<f64>() else { return RepairedValue::Gone };
    let below = number as u64;
    // If rounding to `f64` gives a whole number, it is unknown whether the exact number is above or below it.
    if below as f64 == number && number > 0.0 {
        return RepairedValue::Gone;
    }
    let is_minimum =
        matches!(keyword, Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties | Keyword::MinContains);
    let whole = below + u64::from(is_minimum);
    RepairedValue::As(Node::new(Data::Number(format!("{whole}").into())).with_origin(value.origin()))
}

/// Checks a boolean; reads a string that spells one.
pub(super) fn boolean<'a>(value: &Node<'a>) -> RepairedValue<'a> {
    match value.data() {
        Data::Bool(_) => RepairedValue::Fine,
        _ if value.is_text("true") => RepairedValue::As(Node::bool(true).with_origin(value.origin())),
        _ if value.is_text("false") => RepairedValue::As(Node::bool(false).with_origin(value.origin())),
        _ => RepairedValue::Gone,
    }
}
