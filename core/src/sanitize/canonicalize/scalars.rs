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
    Valid,
    Repaired(Node<'a>),
    Removed,
}

pub(super) fn number<'a>(value: &Node<'a>) -> RepairedValue<'a> {
    if value.as_number().is_some() {
        return RepairedValue::Valid;
    }
    let text = value.as_text().and_then(|text| text.value());
    match text.as_deref().map(json::read) {
        Some(Ok(parsed)) => match parsed.into_data() {
            Data::Number(text) => RepairedValue::Repaired(
                Node::new(Data::Number(Cow::Owned(text.into_owned()))).with_origin(value.origin()),
            ),
            _ => RepairedValue::Removed,
        },
        _ => RepairedValue::Removed,
    }
}

/// Repairs a count. A fraction is rounded to an equivalent whole number: a minimum up, a maximum down.
pub(super) fn count<'a>(keyword: Keyword, value: &Node<'a>) -> RepairedValue<'a> {
    let repaired = number(value);
    let text = match &repaired {
        RepairedValue::Repaired(repaired_number) => repaired_number.as_number(),
        _ => value.as_number(),
    };
    let Some(text) = text.filter(|text| !text.starts_with('-')) else { return RepairedValue::Removed };
    if json::is_integral(text) {
        return repaired;
    }
    let Ok(number) = text.parse::<f64>() else { return RepairedValue::Removed };
    let floor = number as u64;
    // If rounding to `f64` gives a whole number, it is unknown whether the exact number is above or below it.
    if floor as f64 == number && number > 0.0 {
        return RepairedValue::Removed;
    }
    let is_minimum =
        matches!(keyword, Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties | Keyword::MinContains);
    let whole = floor + u64::from(is_minimum);
    RepairedValue::Repaired(Node::new(Data::Number(format!("{whole}").into())).with_origin(value.origin()))
}

pub(super) fn boolean<'a>(value: &Node<'a>) -> RepairedValue<'a> {
    match value.data() {
        Data::Bool(_) => RepairedValue::Valid,
        _ if value.is_text("true") => RepairedValue::Repaired(Node::bool(true).with_origin(value.origin())),
        _ if value.is_text("false") => RepairedValue::Repaired(Node::bool(false).with_origin(value.origin())),
        _ => RepairedValue::Removed,
    }
}

const REPAIR: ChangeKind = ChangeKind::of(Rule::RepairKeyword);
const REMOVE: ChangeKind = ChangeKind::of(Rule::RemoveMalformedKeyword);

pub(crate) fn spell_counts<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let members = node.as_object().into_iter().flatten();
    let respelled = members.filter_map(|member| {
        let keyword = Keyword::named(&member.key).filter(|keyword| COUNTS.contains(*keyword))?;
        let number = member.value.as_number()?;
        let plain = plain_count(keyword, number);
        (plain.as_deref() != Some(number)).then_some((keyword, plain))
    });
    let respelled: Vec<(Keyword, Option<String>)> = respelled.collect();
    for (keyword, plain) in respelled {
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

fn plain_count(keyword: Keyword, number: &str) -> Option<String> {
    let plain = json::plain_number(number);
    if json::is_integral(number) {
        return plain.parse::<u64>().is_ok().then(|| plain.into_owned());
    }
    // A minimum is rounded up and a maximum down: a minimum of 1.5 is equivalent to a minimum of 2.
    let whole = plain.split_once('.').map_or("0", |(whole, _)| whole).parse::<u64>().ok()?;
    Some(format!("{}", if keyword.name().starts_with("min") { whole.checked_add(1)? } else { whole }))
}
