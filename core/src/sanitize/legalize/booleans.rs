//! Boolean schemas, where the grammar has none: `true` is its "any", `false` is `{"not": {}}` where that can be said.

use alloc::{format, string::String};

use crate::{
    json::{Data, Node, Object},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Spot},
        legalize::is_open_map,
        pass::InferenceContext,
    },
    schema::{keyword::Keyword, walk::Place},
};

const TRUE: ChangeKind = ChangeKind::of(Rule::BooleanToAny);
const FALSE: ChangeKind = ChangeKind::of(Rule::BooleanToNot);
const UNSAID: ChangeKind = ChangeKind::of(Rule::BooleanToAny).accepts(Accepts::Wider).guidance(Guidance::Lost);

/// Says a boolean schema as an object; `false` if it stays what it is.
pub(in crate::sanitize) fn say<'a>(node: &mut Node<'a>, place: &Place<'_, 'a>, context: InferenceContext, rules: &mut PassContext) -> bool {
    let Some(value) = node.as_bool() else { return true };
    // Where references lead to definitions by their names alone, the definitions are objects.
    let definition = place.keyword == Some(Keyword::Defs) && !rules.grammar.refs.anywhere;
    let kept = (rules.grammar.boolean_schemas && !definition)
        || is_open_map(place)
        || matches!(place.keyword, Some(Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties))
        || (context.opaque && context.not_typed);
    if kept {
        return false;
    }
    let spot = Spot::of(node);
    if value {
        rules.notes.note(place.position, spot.clone(), spot, TRUE, || String::from("said `true`, which accepts anything, as a schema"));
        node.replace(Data::Object(Object::new()));
    } else if rules.grammar.refuses.has(Keyword::Not) {
        rules
            .notes
            .note(place.position, spot.clone(), spot, UNSAID, || String::from("said `false`, which this API cannot say, as anything"));
        node.replace(Data::Object(Object::new()));
        return true;
    } else {
        rules
            .notes
            .note(place.position, spot.clone(), spot, FALSE, || format!("said `{value}`, which accepts nothing, as `{{\"not\":{{}}}}`"));
        node.replace(Node::record([("not", Node::empty_object())]).into_data());
    }
    value
}
