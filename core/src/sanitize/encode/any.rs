//! "Anything", where every schema must say what it is.

use alloc::{string::String, vec, vec::Vec};

use crate::{
    json::{Member, Node, Object, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        encode::{KEY, PAIRS, VALUE},
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const DEFINE: ChangeKind = ChangeKind::of(Rule::DefineAny);
const TEXT: ChangeKind = ChangeKind::of(Rule::AnyToJson);

/// A name for the definition that no other one has.
pub(in crate::sanitize) fn name(root: &Node<'_>) -> String {
    let mut name = String::from("json");
    while root.get(Keyword::Defs).is_some_and(|table| table.get(&name).is_some()) {
        name.push('_');
    }
    name
}

/// Does a keyword hold of some values?
pub(in crate::sanitize) fn asserts(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| keyword.applies_to().is_some())
}

/// Summary that anything goes; `true` if that takes the definition.
pub(in crate::sanitize) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    definition: &str,
    context: &mut PassContext,
) -> bool {
    let location = Location::of(node);
    if node.as_object().is_none() {
        *node = Node::empty_object().with_origin(node.origin());
    }
    let by_definition = context.grammar.defines_any();
    // What is said of one kind of value alone is lost.
    let loses = node.as_object().is_some_and(|object| object.iter().any(asserts));
    let said =
        |effect: ChangeKind| if loses { effect.accepts(Accepts::Wider).guidance(Guidance::Lost) } else { effect };
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| member.key.is(Keyword::Description) || member.key.is(Keyword::Title));
    }
    if by_definition {
        context.diagnostics.report(place.polarity, location.clone(), location, said(DEFINE), || {
            String::from(
                "replaced a schema that accepts anything by a reference to a definition of JSON, in which an \
                object is a list of key-value pairs",
            )
        });
        let reference = Node::string(alloc::format!("#/$defs/{definition}"));
        let Some(object) = node.as_object_mut() else { return true };
        match object.is_empty() {
            true => object.set(Text::literal("$ref"), reference),
            // Nothing may stand beside a reference.
            false => object.set(Text::literal("anyOf"), Node::array(vec![Node::record([("$ref", reference)])])),
        }
    } else {
        context.diagnostics.report(place.polarity, location.clone(), location, said(TEXT), || {
            String::from(
                "replaced a schema that accepts anything by a string that holds JSON: a definition of JSON \
                would refer to itself",
            )
        });
        if let Some(object) = node.as_object_mut() {
            object.insert_at(0, Text::literal("type"), Node::literal("string"));
        }
        description::append(node, &[("value", &Node::literal("any JSON, written as JSON text"))]);
    }
    by_definition
}

/// Adds the definition of any JSON: scalars as they are, arrays, and objects as lists of pairs.
pub(in crate::sanitize) fn define(root: &mut Node<'_>, name: &str) {
    let typed = |name: &'static str| Node::record([("type", Node::literal(name))]);
    let itself = || Node::record([("$ref", Node::string(alloc::format!("#/$defs/{name}")))]);
    let closed = |properties: Vec<(&'static str, Node<'static>)>| {
        let names = properties.iter().map(|(name, _)| Node::literal(name)).collect();
        let table: Object<'static> =
            properties.into_iter().map(|(name, schema)| (Text::literal(name), schema)).collect();
        Node::record([
            ("type", Node::literal("object")),
            ("properties", Node::object(table)),
            ("required", Node::array(names)),
            ("additionalProperties", Node::bool(false)),
        ])
    };
    let list = |items: Node<'static>| Node::record([("type", Node::literal("array")), ("items", items)]);
    let pair = closed(vec![(KEY, typed("string")), (VALUE, itself())]);
    let branches = vec![
        typed("string"),
        typed("number"),
        typed("boolean"),
        typed("null"),
        list(itself()),
        closed(vec![(PAIRS, list(pair))]),
    ];
    let definition = Node::record([
        ("description", Node::literal("Any JSON; an object is a list of its pairs of key and value")),
        ("anyOf", Node::array(branches)),
    ]);
    let Some(object) = root.as_object_mut() else { return };
    match object.get_mut(Keyword::Defs).and_then(Node::as_object_mut) {
        Some(table) => table.set(Text::new(String::from(name)), definition),
        None => object.set(
            Text::literal("$defs"),
            Node::object([(Text::new(String::from(name)), definition)].into_iter().collect()),
        ),
    }
}
