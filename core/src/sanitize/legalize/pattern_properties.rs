//! Replaces `patternProperties` with `additionalProperties`, if the grammar refuses the former and encodes maps: the
//! schemas of the patterns then apply to all names that are not in `properties`.
//!
//! Prevents the error ``'patternProperties' is not permitted``, and keeps a schema for the values of a map.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    json::{self, Data, Node, Text},
    options::Hints,
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::PatternsToAdditional);

/// Patterns that match every name.
const ALL_NAMES: [&str; 6] = ["", "^", ".*", "^.*", "^.*$", "^(.*)$"];

/// Replaces `patternProperties` with `additionalProperties`, which is encoded later.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.grammar.encodes() || !context.grammar.refuses.contains(Keyword::PatternProperties) {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let Some(patterns) = object.object_at(Keyword::PatternProperties).filter(|table| !table.is_empty()) else {
        return;
    };
    let every = patterns.iter().any(|member| ALL_NAMES.iter().any(|pattern| member.key.is(pattern)));
    let existing = object.get(Keyword::AdditionalProperties);
    let properties = object.object_at(Keyword::Properties).is_some_and(|table| !table.is_empty());
    let closed = existing.and_then(Node::as_bool) == Some(false);
    // Schema for names that match no pattern, unless a pattern matches every name.
    let rest = existing.filter(|schema| schema.as_object().is_some_and(|object| !object.is_empty())).filter(|_| !every);
    let accepts = match (every && patterns.len() == 1, properties) {
        (true, false) => Accepts::Same,
        (true, true) => Accepts::Wider,
        // Names that match no pattern were unconstrained or forbidden, and now get the schema of the patterns. A name
        // that matches several patterns had to satisfy all of them.
        (false, false) if existing.is_none() && patterns.len() == 1 => Accepts::Narrower,
        (false, _) if existing.is_none() => Accepts::Mixed,
        (false, _) => Accepts::Wider,
    };
    if !closed && existing.is_some() && rest.is_none() && !every {
        // Names that match no pattern may have any value, which one schema for all names would forbid.
        return;
    }
    let names: Vec<Node<'a>> = patterns.iter().map(|member| Node::string(member.key.clone())).collect();
    let mut schemas: Vec<Node<'a>> = Vec::new();
    let mut known: Set<String> = Set::new();
    for schema in patterns.iter().map(|member| &member.value).chain(rest) {
        if known.insert(json::canonical(schema)) {
            schemas.push(schema.copy(&context.budget));
        }
    }
    let described = !every && context.hints == Hints::Describe;
    let guidance = match (every, described) {
        (true, _) => Guidance::Same,
        (false, true) => Guidance::Moved,
        (false, false) => Guidance::Lost,
    };
    let location = Location::under(node, "patternProperties");
    let to = Location::under(node, "additionalProperties");
    context.diagnostics.report(place, location.to(to), RESPELL.accepts(accepts).guidance(guidance), || {
        let shown: Vec<String> =
            names.iter().filter_map(Node::as_text).map(|name| format!("`{}`", name.display())).collect();
        format!("replaced `patternProperties` ({}) with `additionalProperties`", shown.join(", "))
    });
    let schema = match (schemas.len(), schemas.pop()) {
        (1, Some(schema)) => schema,
        (_, last) => {
            schemas.extend(last);
            Node::record([("anyOf", Node::array(core::mem::take(&mut schemas)))])
        }
    };
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::PatternProperties);
        object.set(Text::literal("additionalProperties"), schema);
    }
    if described {
        let mut names = names;
        let pattern = match names.pop() {
            Some(name) if names.is_empty() => name,
            last => {
                names.extend(last);
                Node::new(Data::Array(names))
            }
        };
        description::append(node, &[("patternProperties", &pattern)]);
    }
}
