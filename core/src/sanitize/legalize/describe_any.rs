//! `{}` where it would not be read as anything: with a text beside it, it is.

use alloc::string::String;

use crate::{
    json::{Data, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::is_open_map,
        pass::InferenceContext,
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const DESCRIBE: ChangeKind = ChangeKind::of(Rule::DescribeAny);
const OPEN: ChangeKind = ChangeKind::of(Rule::OpenMap);

/// What the text says.
const ANY: &str = "Any value";

/// Says that an empty schema accepts anything.
pub(in crate::sanitize) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) {
    let asks = inferred.not_typed || matches!(place.keyword, Some(Keyword::Then | Keyword::Else));
    let is_judged = place.keyword.is_some() && !asks;
    if context.grammar.empty_schemas || !is_judged || !node.as_object().is_some_and(Object::is_empty) {
        return;
    }
    let location = Location::of(node);
    if is_open_map(place) {
        context.diagnostics.report(place.polarity, location.clone(), location, OPEN, || {
            String::from("replaced `additionalProperties: {}` by `true`")
        });
        node.replace(Data::Bool(true));
        return;
    }
    context.diagnostics.report(
        place.polarity,
        location.clone(),
        Location::under(node, "description"),
        DESCRIBE,
        || String::from("described `{}`, which this API does not read as a schema that accepts anything"),
    );
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("description"), Node::literal(ANY));
    }
}
