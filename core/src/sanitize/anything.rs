//! Writes the schema that accepts every value ("anything") in the form that the grammar requires.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    dialect::grammar::{AnyEncoding, Grammar, OpenRule, PropertiesRule},
    effect::{Accepts, Guidance},
    json::{Member, Node, Object, Text},
    options::Untyped,
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
const TO_JSON: ChangeKind = ChangeKind::of(Rule::AnyToJson);

/// Excludes `integer`, which `number` includes.
const ALL_TYPES: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

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
        Untyped::Any => write_all_types(node, path, context),
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
        Untyped::Any => key + 1 + ALL_TYPES.iter().map(|name| name.len() + 3).sum::<usize>(),
    }
}

fn write_all_types<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.anything == AnyEncoding::JsonText {
        write_json_string(
            node,
            path,
            TO_JSON,
            "replaced a schema that accepts anything with a string that contains JSON",
            context,
        );
        Holds::Anything.mark(node);
        return;
    }
    let Some(object) = node.as_object() else { return };
    let grammar = context.grammar;
    let sibling_rule = grammar.beside_type_list;
    let fits_in_type_list = grammar.anything != AnyEncoding::Union
        && object.iter().all(|Member { key, .. }| {
            Keyword::named(key).is_some_and(|keyword| sibling_rule.is_none_or(|rule| rule.anywhere.contains(keyword)))
        });
    let location = Location::of(node);
    let to = Location::under(node, if fits_in_type_list { "type" } else { "anyOf" });
    // If the types of `items` must be declared, items are never arrays, so the result is narrower.
    let is_exact = fits_in_type_list || !grammar.arrays.needs_items || grammar.arrays.open_items;
    let effect = if is_exact { EXPAND } else { EXPAND.accepts(Accepts::Narrower) };
    context.diagnostics.report(path, location.to(to), effect, || {
        String::from("expanded a schema that accepts anything into all types")
    });
    let Some(object) = node.as_object_mut() else { return };
    if fits_in_type_list {
        object.insert_at(0, Text::literal("type"), Node::array(ALL_TYPES.map(Node::literal).into()));
    } else {
        let branches = ALL_TYPES.map(|name| schema_of_type(name, grammar, true));
        object.set(Text::literal("anyOf"), Node::array(branches.into()));
    }
}

/// Returns a schema for all values of a type, except arrays whose items are arrays.
fn schema_of_type<'a>(name: &'static str, grammar: &Grammar, allows_containers: bool) -> Node<'a> {
    let mut schema = Object::new();
    schema.set(Text::literal("type"), Node::literal(name));
    if name == "array" && grammar.arrays.needs_items {
        let items = if grammar.arrays.open_items {
            Node::empty_object()
        } else {
            let inner = ALL_TYPES
                .iter()
                .filter(|inner| allows_containers && **inner != "array")
                .map(|inner| schema_of_type(inner, grammar, false));
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

fn write_json_string<'a>(
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
    let loses_assertions = node.as_object().is_some_and(|object| object.iter().any(asserts));
    let with_loss = |effect: ChangeKind| {
        if loses_assertions {
            effect.accepts(Accepts::Wider).guidance(Guidance::Lost)
        } else {
            effect
        }
    };
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| member.key.is(Keyword::Description) || member.key.is(Keyword::Title));
    }
    if by_definition {
        context.diagnostics.report(path, location.in_place(), with_loss(DEFINE), || {
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
        write_json_string(node, path, with_loss(TO_JSON), message, context);
    }
    by_definition
}

/// Adds the definition of "anything", which accepts scalars, arrays, and objects as lists of key-value pairs.
pub(crate) fn add_definition(root: &mut Node<'_>, name: &str) {
    let typed = |name: &'static str| Node::record([("type", Node::literal(name))]);
    let self_reference = || Node::record([("$ref", Node::string(format!("#/$defs/{name}")))]);
    let closed_object = |properties: Vec<(&'static str, Node<'static>)>| {
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
    let array_of = |items: Node<'static>| Node::record([("type", Node::literal("array")), ("items", items)]);
    let pair = closed_object(vec![(KEY, typed("string")), (VALUE, self_reference())]);
    let branches = vec![
        typed("string"),
        typed("number"),
        typed("boolean"),
        typed("null"),
        array_of(self_reference()),
        closed_object(vec![(PAIRS, array_of(pair))]),
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
