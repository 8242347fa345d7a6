//! Repairs numbers, counts and booleans, and strings that spell one. Writes counts without fraction and exponent (`1.0`
//! as `1`), for APIs that accept no other spelling.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    dialect::features::COUNTS,
    json::{self, Data, Node},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

pub(super) enum RepairedValue<'a> {
    Fine,
    As(Node<'a>),
    Gone,
}

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

/// A fraction is rounded to the whole number with the same effect: a minimum up, a maximum down.
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

pub(super) fn boolean<'a>(value: &Node<'a>) -> RepairedValue<'a> {
    match value.data() {
        Data::Bool(_) => RepairedValue::Fine,
        _ if value.is_text("true") => RepairedValue::As(Node::bool(true).with_origin(value.origin())),
        _ if value.is_text("false") => RepairedValue::As(Node::bool(false).with_origin(value.origin())),
        _ => RepairedValue::Gone,
    }
}

const REPAIR: ChangeKind = ChangeKind::of(Rule::RepairKeyword);
const REMOVE: ChangeKind = ChangeKind::of(Rule::RemoveMalformedKeyword);

pub(crate) fn spell_counts<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let members = node.as_object().into_iter().flatten();
    let spelled = members.filter_map(|member| {
        let keyword = Keyword::named(&member.key).filter(|keyword| COUNTS.contains(*keyword))?;
        let number = member.value.as_number()?;
        let plain = plain(keyword, number);
        (plain.as_deref() != Some(number)).then_some((keyword, plain))
    });
    let spelled: Vec<(Keyword, Option<String>)> = spelled.collect();
    for (keyword, plain) in spelled {
        let from = Location::under(node, keyword.name());
        match plain {
            Some(plain) => {
                context
                    .diagnostics
                    .report(path, from.in_place(), REPAIR, || format!("rewrote `{}` as `{plain}`", keyword.name()));
                node.visit(keyword, |value| value.replace(Data::Number(plain.into())));
            }
            None => {
                context.diagnostics.report(path, from.removed(), REMOVE, || {
                    format!("removed `{}`: the number is too large", keyword.name())
                });
                if let Some(object) = node.as_object_mut() {
                    object.remove(keyword);
                }
            }
        }
    }
}

fn plain(keyword: Keyword, number: &str) -> Option<String> {
    let plain = json::plain_number(number);
    if json::is_integral(number) {
        return plain.parse::<u64>().is_ok().then(|| plain.into_owned());
    }
    // A minimum is rounded up, a maximum down: at least 1.5 is at least 2.
    let whole = plain.split_once('.').map_or("0", |(whole, _)| whole).parse::<u64>().ok()?;
    Some(format!("{}", if keyword.name().starts_with("min") { whole.checked_add(1)? } else { whole }))
}
