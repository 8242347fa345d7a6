//! Writes counts without fraction and exponent (`1.0` as `1`), for APIs that accept no other spelling.

use alloc::{format, string::String, vec::Vec};

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

const REPAIR: ChangeKind = ChangeKind::of(Rule::RepairKeyword);
const REMOVE: ChangeKind = ChangeKind::of(Rule::RemoveMalformedKeyword);

/// Respells the counts of one schema.
pub(crate) fn spell<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
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
                    .report(place, from.in_place(), REPAIR, || format!("rewrote `{}` as `{plain}`", keyword.name()));
                node.visit(keyword, |value| value.replace(Data::Number(plain.into())));
            }
            None => {
                context.diagnostics.report(place, from.removed(), REMOVE, || {
                    format!("removed `{}`: the number is too large", keyword.name())
                });
                if let Some(object) = node.as_object_mut() {
                    object.remove(keyword);
                }
            }
        }
    }
}

/// Returns an equivalent count in plain digits, or `None` if it exceeds `u64`.
fn plain(keyword: Keyword, number: &str) -> Option<String> {
    let plain = json::plain_number(number);
    if json::is_integral(number) {
        return plain.parse::<u64>().is_ok().then(|| plain.into_owned());
    }
    // A minimum is rounded up, a maximum down: at least 1.5 is at least 2.
    let whole = plain.split_once('.').map_or("0", |(whole, _)| whole).parse::<u64>().ok()?;
    Some(format!("{}", if keyword.name().starts_with("min") { whole.checked_add(1)? } else { whole }))
}
