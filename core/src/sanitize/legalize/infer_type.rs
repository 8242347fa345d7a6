//! A type for schemas that have none: from their keywords where there are any, else the grammar's "any".

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    dialect::grammar::{AnyEncoding, Grammar, OpenRule, PropertiesRule, TypeRequirement},
    error::Error,
    json::{Data, Member, Node, Object, Text},
    options::Untyped,
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::json_string,
        legalize::{self, is_open_map},
        pass::InferenceContext,
    },
    schema::{
        emptiness::is_never,
        instance_types::{InstanceTypes, TYPE_NAMES},
        keyword::{InstanceType, Keyword, Keywords},
        visit::{self, SchemaPath, Visit},
    },
};

const INFER: ChangeKind = ChangeKind::of(Rule::InferType);
const ANY: ChangeKind = ChangeKind::of(Rule::ExpandAny);
const GUESS: ChangeKind = ChangeKind::of(Rule::AssumeString);
const OPEN: ChangeKind = ChangeKind::of(Rule::OpenMap);

/// Beside these a schema needs no type: they say what the instance is.
const SAYS_IT: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "$dynamicRef"];

/// Those of them that are enough where a type must be said.
const ENOUGH: [&str; 2] = ["$ref", "anyOf"];

/// Everything there is.
const ALL: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

/// Types a schema, if it needs a type and has none.
pub(in crate::sanitize) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) {
    if !context.types_everything {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let must = context.grammar.typed == TypeRequirement::TypeOrUnion;
    // What accepts nothing needs no type.
    if is_never(node) && !must {
        return;
    }
    let enough: &[&str] = if must { &ENOUGH } else { &SAYS_IT };
    if object.has(Keyword::Type)
        || inferred.not_typed
        || (inferred.of_anything && object.is_empty() && !must)
        || enough.iter().any(|keyword| object.has(keyword))
    {
        return;
    }
    if is_open_map(place) && object.is_empty() {
        let location = Location::of(node);
        context.diagnostics.report(place.polarity, location.clone(), location, OPEN, || {
            String::from("replaced `additionalProperties: {}` by `true`")
        });
        node.replace(Data::Bool(true));
        return;
    }
    let hinted = implied_types(object);
    match (hinted.as_slice(), inferred.types) {
        // Where nobody looks, there is nobody to tell.
        ([], _) if place.keyword.is_some_and(|keyword| context.grammar.opaque.contains(keyword)) => {}
        // No string is guessed where something else says that it is none.
        ([], Some(known)) if context.untyped == Untyped::String && !InstanceTypes::STRING.within(known) => {
            match TYPE_NAMES.iter().find(|name| known.within(InstanceTypes::of_name(name))) {
                Some(name) => known_to_be(node, place, &[name], context),
                None if must => any(node, place, context),
                None => {}
            }
        }
        ([], _) if must => match of_parts(object) {
            Some(name) => known_to_be(node, place, &[name], context),
            None => any(node, place, context),
        },
        ([], _) => any(node, place, context),
        // A type is wanted, whatever else says it.
        ([name], Some(known)) if must && known.within(InstanceTypes::of_name(name)) => {
            write(node, place, &[name], INFER, context)
        }
        // They speak of what the instance is not, and say nothing.
        (names, Some(known)) if must && !names.iter().any(|name| InstanceTypes::of_name(name).within(known)) => {
            let known: Vec<&'static str> = known.names().collect();
            known_to_be(node, place, &known, context);
        }
        (names, Some(_)) if must => write(node, place, names, INFER.accepts(Accepts::Narrower), context),
        // Where nobody looks, a type gains nothing.
        (_, Some(_)) if inferred.opaque => {}
        (names, Some(known)) => {
            // Something else that applies here names the types already; writing one changes nothing, or too much.
            if let [name] = names {
                if known.within(InstanceTypes::of_name(name)) {
                    write(node, place, names, INFER, context);
                }
            }
        }
        // Where nobody looks, a guess gains nothing.
        (_, None) if inferred.opaque => {}
        (names, None) => write(node, place, names, INFER.accepts(Accepts::Narrower), context),
    }
}

/// Is there a schema without a type, where one could be written?
pub(in crate::sanitize) fn has_untyped(root: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Result<bool, Error> {
    let mut found = false;
    // Of each schema that we are inside of, whether it may be anything.
    let mut around: Vec<bool> = Vec::new();
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        around.truncate(place.depth);
        let of_anything = place.keyword == Some(Keyword::Items) && around.last() == Some(&true);
        around.push(legalize::names_all_types(node));
        if place
            .keyword
            .is_some_and(|keyword| legalize::NOT_TYPED.contains(keyword) || grammar.opaque.contains(keyword))
        {
            return Ok(Visit::Skip);
        }
        let is_untyped = |object: &Object<'_>| {
            let is_said = object.has(Keyword::Type) || SAYS_IT.iter().any(|keyword| object.has(keyword));
            let is_left_open = of_anything && object.is_empty();
            !is_said && !is_left_open
        };
        found |= node.as_object().is_some_and(is_untyped) && !is_never(node);
        Ok(if found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(found)
}

/// The type that a part of `allOf` declares, which holds for the whole.
fn of_parts(object: &Object<'_>) -> Option<&'static str> {
    let parts = object.get(Keyword::AllOf).and_then(Node::as_array)?;
    let names = parts
        .iter()
        .filter_map(|part| part.get(Keyword::Type))
        .filter_map(|name| TYPE_NAMES.iter().find(|known| name.is_text(known)));
    names.copied().next()
}

/// The kinds that a schema's own keywords speak of, in a fixed order.
fn implied_types(object: &Object<'_>) -> Vec<&'static str> {
    let speaks_of = |kind: InstanceType| {
        object.iter().any(|member| Keyword::named(&member.key).and_then(Keyword::applies_to) == Some(kind))
    };
    [
        (InstanceType::Object, "object"),
        (InstanceType::Array, "array"),
        (InstanceType::String, "string"),
        (InstanceType::Number, "number"),
    ]
    .into_iter()
    .filter_map(|(kind, name)| speaks_of(kind).then_some(name))
    .collect()
}

/// Types in a row, as a sentence has them.
fn listed(names: &[&str], last: &str) -> String {
    format!("`{}`", names.join(&format!("` {last} `")))
}

/// Writes the type that keywords speak of.
fn write<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    names: &[&'static str],
    effect: ChangeKind,
    context: &mut PassContext,
) {
    put(node, place, names, effect, context, || {
        format!("added `type`: the keywords here apply to values of type {}", listed(names, "and"))
    });
}

/// Writes the type that something else says that applies here.
fn known_to_be<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, names: &[&'static str], context: &mut PassContext) {
    put(node, place, names, INFER, context, || {
        format!("added `type`: the value is known to be of type {}", listed(names, "or"))
    });
}

fn put<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    names: &[&'static str],
    effect: ChangeKind,
    context: &mut PassContext,
    message: impl FnOnce() -> String,
) {
    context.diagnostics.report(place.polarity, Location::of(node), Location::under(node, "type"), effect, message);
    let types = match names {
        [name] => Node::literal(name),
        names => Node::array(names.iter().map(|name| Node::literal(name)).collect()),
    };
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("type"), types);
    }
}

/// Says that anything goes, in the grammar's way or the caller's.
pub(in crate::sanitize) fn any<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if ["type", "anyOf"].iter().any(|keyword| node.get(keyword).is_some()) {
        return;
    }
    match context.untyped {
        Untyped::Keep => {}
        Untyped::String => {
            context.diagnostics.report(
                place.polarity,
                Location::of(node),
                Location::under(node, "type"),
                GUESS,
                || String::from("added `type: \"string\"`: the option `untyped` asks for it"),
            );
            if let Some(object) = node.as_object_mut() {
                object.insert_at(0, Text::literal("type"), Node::literal("string"));
            }
        }
        Untyped::Any => all_types(node, place, context),
    }
}

/// How many bytes it takes to say that anything goes, beside texts.
pub(in crate::sanitize) fn any_length(context: &PassContext) -> usize {
    let key = r#""type":,"#.len();
    match context.untyped {
        Untyped::Keep => 0,
        Untyped::String => key + r#""string""#.len(),
        Untyped::Any => key + 1 + ALL.iter().map(|name| name.len() + 3).sum::<usize>(),
    }
}

fn all_types<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.anything == AnyEncoding::JsonText {
        json_string::any(node, place, context);
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
    // Lists of lists have no end where items must say what they are.
    let ends = alone || !grammar.arrays.needs_items || grammar.arrays.open_items;
    let effect = if ends { ANY } else { ANY.accepts(Accepts::Narrower) };
    context.diagnostics.report(place.polarity, location, to, effect, || {
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

/// Any value of one type, as the grammar wants its containers said; items of items are not lists again.
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
