//! Counts without a fraction and an exponent, where the API reads nothing else: `1.0` is `1`.

use alloc::{format, string::String};

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

/// Spells the counts of one schema.
pub(in crate::sanitize) fn spell<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let members = node.as_object().into_iter().flatten();
    let spelled = members.filter_map(|member| {
        let keyword = Keyword::named(&member.key).filter(|keyword| COUNTS.contains(*keyword))?;
        let number = member.value.as_number().filter(|number| json::is_integral(number))?;
        let plain = json::plain_number(number);
        (plain != number).then(|| (keyword, String::from(plain)))
    });
    let spelled: alloc::vec::Vec<(Keyword, String)> = spelled.collect();
    for (keyword, plain) in spelled {
        let location = Location::under(node, keyword.name());
        context.diagnostics.report(place.polarity, location.clone(), location, REPAIR, || {
            format!("spelled `{}` as `{plain}`", keyword.name())
        });
        node.visit(keyword, |value| value.replace(Data::Number(plain.into())));
    }
}
