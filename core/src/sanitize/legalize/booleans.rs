//! Replaces boolean schemas, if the grammar refuses them: `true` with the grammar's "any", `false` with `{"not": {}}`
//! if possible.

use alloc::{format, string::String};

use crate::{
    json::{Data, Node, Object},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::is_open_map,
        pass::InferenceContext,
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const TRUE: ChangeKind = ChangeKind::of(Rule::BooleanToAny);
const FALSE: ChangeKind = ChangeKind::of(Rule::BooleanToNot);
const FALSE_TO_ANY: ChangeKind = ChangeKind::of(Rule::BooleanToAny).accepts(Accepts::Wider).guidance(Guidance::Lost);

/// Replaces a boolean schema with an object. Returns false if the schema is final.
pub(crate) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) -> bool {
    let Some(value) = node.as_bool() else { return true };
    // If references resolve only to names of definitions, definitions must be objects.
    let definition = place.keyword == Some(Keyword::Defs) && !context.grammar.refs.anywhere;
    let is_plain = !context.grammar.root_booleans
        && place.keyword == Some(Keyword::Properties)
        && place.pointer.steps().len() == 2;
    let is_no_root = place.keyword.is_some() || context.grammar.boolean_root;
    let kept = (is_no_root
        && !is_plain
        && context.grammar.boolean_schemas
        && (value || context.grammar.false_schemas)
        && !definition)
        || (place.keyword == Some(Keyword::Items) && context.grammar.boolean_schemas)
        || is_open_map(place)
        || matches!(place.keyword, Some(Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties))
        || (inferred.opaque && inferred.not_typed);
    if kept {
        return false;
    }
    let location = Location::of(node);
    if value {
        context.diagnostics.report(place, location.in_place(), TRUE, || {
            String::from("replaced `true`, which accepts anything, with an object schema")
        });
        node.replace(Data::Object(Object::new()));
    } else if context.grammar.refuses.contains(Keyword::Not) {
        context.diagnostics.report(place, location.in_place(), FALSE_TO_ANY, || {
            String::from("replaced `false`, which this API cannot express, with a schema that accepts anything")
        });
        node.replace(Data::Object(Object::new()));
        return true;
    } else {
        context.diagnostics.report(place, location.in_place(), FALSE, || {
            format!("replaced `{value}`, which accepts nothing, with `{{\"not\":{{}}}}`")
        });
        node.replace(Node::record([("not", Node::empty_object())]).into_data());
    }
    value
}
