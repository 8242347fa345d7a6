//! Writes the schema that accepts every value ("anything") in the form that the grammar requires.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    dialect::grammar::{AnyEncoding, Grammar, OpenRule, PropertiesRule},
    json::{Member, Node, Object, Text},
    options::Untyped,
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        encode::{
            json_string::Holds,
            layout::{KEY, PAIRS, VALUE},
        },
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const EXPAND: ChangeKind = ChangeKind::of(Rule::ExpandAny);
const GUESS: ChangeKind = ChangeKind::of(Rule::AssumeString);
const DEFINE: ChangeKind = ChangeKind::of(Rule::DefineAny);
const TEXT: ChangeKind = ChangeKind::of(Rule::AnyToJson);

/// Excludes `integer`, which `number` includes.
const ALL: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

pub(crate) fn write<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if ["type", "anyOf"].iter().any(|keyword| node.get(keyword).is_some()) {
        return;
    }
    match context.untyped {
        Untyped::Keep => {}
        Untyped::String => {
            context.diagnostics.report(path, Location::of(node).to(Location::under(node, "type")), GUESS, || {
                String::from("added `type: \"string\"`, as the option `untyped` requests")
            });
            if let Some(object) = node.as_object_mut() {
                object.insert_at(0, Text::literal("type"), Node::literal("string"));
            }
        }
        Untyped::Any => all_types(node, path, context),
    }
}

/// Returns the number of bytes that accepting anything adds to a schema, not counting the author's descriptions.
pub(crate) fn length(context: &PassContext) -> usize {
    // The longer of two forms: a string that holds JSON, or a reference to a definition of JSON.
    if context.grammar.encodes() {
        return r#""type":"string","description":"(value: any JSON, written as JSON text)""#.len();
    }
    let key = r#""type":,"#.len();
    match context.untyped {
        Untyped::Keep => 0,
        Untyped::String => key + r#""string""#.len(),
        Untyped::Any => key + 1 + ALL.iter().map(|name| name.len() + 3).sum::<usize>(),
    }
}

fn all_types<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.anything == AnyEncoding::JsonText {
        text(node, path, TEXT, "replaced a schema that accepts anything with a string that contains JSON", context);
        Holds::Anything.mark(node);
        return;
    }
    let Some(object) = node.as_object() else { return };
    let grammar = context.grammar;
    let beside = grammar.beside_type_list;
    let alone = grammar.anything != AnyEncoding::Union
        && object.iter().all(|Member { key, .. }| {
            Keyword::named(key).is_some_and(|keyword| beside.is_none_or(|rule| rule.anywhere.contains(keyword)))
        });
    let location = Location::of(node);
    let to = Location::under(node, if alone { "type" } else { "anyOf" });
    // If the types of `items` must be declared, the items of an array are never arrays, so the result is narrower.
    let ends = alone || !grammar.arrays.needs_items || grammar.arrays.open_items;
    let effect = if ends { EXPAND } else { EXPAND.accepts(Accepts::Narrower) };
    context.diagnostics.report(path, location.to(to), effect, || {
        String::from("expanded a schema that accepts anything into all types")
    });
    let Some(object) = node.as_object_mut() else { return };
    if alone {
        object.insert_at(0, Text::literal("type"), Node::array(ALL.map(Node::literal).into()));
    } else {
        let branches = ALL.map(|name| whatever(name, grammar, true));
        object.set(Text::literal("anyOf"), Node::array(branches.into()));
    }
}

/// Items of an array are never arrays.
fn whatever<'a>(name: &'static str, grammar: &Grammar, nested: bool) -> Node<'a> {
    let mut schema = Object::new();
    schema.set(Text::literal("type"), Node::literal(name));
    if name == "array" && grammar.arrays.needs_items {
        let items = if grammar.arrays.open_items {
            Node::empty_object()
        } else {
            let inner =
                ALL.iter().filter(|inner| nested && **inner != "array").map(|inner| whatever(inner, grammar, false));
            Node::record([("anyOf", Node::array(inner.collect()))])
        };
        schema.set(Text::literal("items"), items);
    }
    if name == "object" {
        if grammar.objects.properties == PropertiesRule::Written {
            schema.set(Text::literal("properties"), Node::empty_object());
        }
        if grammar.objects.open == OpenRule::ClosedByDefault {
            schema.set(Text::literal("additionalProperties"), Node::bool(true));
        }
    }
    Node::object(schema)
}

fn text<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    effect: ChangeKind,
    message: &'static str,
    context: &mut PassContext,
) {
    let location = Location::of(node);
    context.diagnostics.report(path, location.in_place(), effect, || String::from(message));
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("type"), Node::literal("string"));
    }
    description::append(node, &[("value", &Node::literal("any JSON, written as JSON text"))]);
}

pub(crate) fn definition_name(root: &Node<'_>) -> String {
    let mut name = String::from("json");
    while root.get(Keyword::Defs).is_some_and(|table| table.get(&name).is_some()) {
        name.push('_');
    }
    name
}

pub(crate) fn asserts(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| keyword.applies_to().is_some())
}

/// Writes a reference to a definition of JSON, or a string that holds JSON. Returns true if the definition is needed.
pub(crate) fn encode<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    definition: &str,
    context: &mut PassContext,
) -> bool {
    let location = Location::of(node);
    if node.as_object().is_none() {
        *node = Node::empty_object().with_origin(node.origin());
    }
    let by_definition = context.grammar.defines_any();
    // Constraints on values of one type are lost.
    let loses = node.as_object().is_some_and(|object| object.iter().any(asserts));
    let adjusted =
        |effect: ChangeKind| if loses { effect.accepts(Accepts::Wider).guidance(Guidance::Lost) } else { effect };
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| member.key.is(Keyword::Description) || member.key.is(Keyword::Title));
    }
    if by_definition {
        context.diagnostics.report(path, location.in_place(), adjusted(DEFINE), || {
            String::from(
                "replaced a schema that accepts anything with a reference to a definition of JSON, in which an \
                object is a list of key-value pairs",
            )
        });
        let reference = Node::string(format!("#/$defs/{definition}"));
        let Some(object) = node.as_object_mut() else { return true };
        match object.is_empty() {
            true => object.set(Text::literal("$ref"), reference),
            // `$ref` may have no siblings.
            false => object.set(Text::literal("anyOf"), Node::array(vec![Node::record([("$ref", reference)])])),
        }
    } else {
        let message = "replaced a schema that accepts anything with a string that contains JSON: a definition of JSON \
        would refer \
            to itself";
        text(node, path, adjusted(TEXT), message, context);
    }
    by_definition
}

/// The definition accepts scalars, arrays, and objects as lists of key-value pairs.
pub(crate) fn define(root: &mut Node<'_>, name: &str) {
    let typed = |name: &'static str| Node::record([("type", Node::literal(name))]);
    let itself = || Node::record([("$ref", Node::string(format!("#/$defs/{name}")))]);
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
