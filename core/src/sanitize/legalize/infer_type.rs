//! Adds a type to schemas that have none: from their keywords, otherwise the grammar's "any".

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    dialect::grammar::{Grammar, TypeRequirement},
    error::Error,
    json::{Data, Node, Object, Text},
    options::Untyped,
    report::Accepts,
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
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
const OPEN: ChangeKind = ChangeKind::of(Rule::OpenMap);

/// Keywords next to which a schema needs no type, because they declare it.
const IMPLY_A_TYPE: Keywords =
    Keywords::of(&[Keyword::Ref, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf, Keyword::If, Keyword::DynamicRef]);

/// Adds a type to a schema that needs one.
pub(crate) fn apply<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    inferred: InferenceContext,
    context: &mut PassContext,
) {
    if !context.types_everything {
        return;
    }
    let Some(object) = node.as_object() else { return };
    let must = context.grammar.typed != TypeRequirement::No;
    if must && !context.grammar.walked.reaches(place.pointer) {
        return;
    }
    // A schema that accepts nothing needs no type.
    if is_never(node) && !must {
        return;
    }
    let enough = if must { context.grammar.typed.one_of() } else { IMPLY_A_TYPE };
    if object.has(Keyword::Type)
        || inferred.not_typed
        || (inferred.of_anything && object.is_empty() && !must)
        || Keywords::in_object(object).intersects(enough)
    {
        return;
    }
    if is_open_map(place) && object.is_empty() {
        let location = Location::of(node);
        context.diagnostics.report(place, location.in_place(), OPEN, || {
            String::from("replaced `additionalProperties: {}` with `true`")
        });
        node.replace(Data::Bool(true));
        return;
    }
    let hinted = implied_types(object);
    match (hinted.as_slice(), inferred.types) {
        // The validator does not check this schema.
        ([], _) if place.keyword.is_some_and(|keyword| context.grammar.opaque.contains(keyword)) => {}
        // `string` is not assumed if another schema excludes it.
        ([], Some(known)) if context.untyped == Untyped::String && !InstanceTypes::STRING.within(known) => {
            match TYPE_NAMES.iter().find(|name| known.within(InstanceTypes::of_name(name))) {
                Some(name) => known_to_be(node, place, &[name], context),
                None if must => anything::write(node, place, context),
                None => {}
            }
        }
        ([], _) if must => match of_parts(object) {
            Some(name) => known_to_be(node, place, &[name], context),
            None => anything::write(node, place, context),
        },
        ([], _) => anything::write(node, place, context),
        // The grammar requires a type even if another schema declares it.
        ([name], Some(known)) if must && known.within(InstanceTypes::of_name(name)) => {
            write(node, place, &[name], INFER, context)
        }
        // The keywords apply only to types that the instance cannot have, so they constrain nothing.
        (names, Some(known)) if must && !names.iter().any(|name| InstanceTypes::of_name(name).within(known)) => {
            let known: Vec<&'static str> = known.names().collect();
            known_to_be(node, place, &known, context);
        }
        (names, Some(_)) if must => write(node, place, names, INFER.accepts(Accepts::Narrower), context),
        // The validator does not check this schema, so a type gains nothing.
        (_, Some(_)) if inferred.opaque => {}
        (names, Some(known)) => {
            // Another schema declares the types: writing the same types changes nothing, writing others would change
            // too much.
            if let [name] = names {
                if known.within(InstanceTypes::of_name(name)) {
                    write(node, place, names, INFER, context);
                }
            }
        }
        // The validator does not check this schema, so a guess gains nothing.
        (_, None) if inferred.opaque => {}
        (names, None) => write(node, place, names, INFER.accepts(Accepts::Narrower), context),
    }
}

/// Returns true if a schema has no type although one could be written.
pub(crate) fn has_untyped(root: &Node<'_>, grammar: &Grammar, budget: &Budget) -> Result<bool, Error> {
    let mut found = false;
    // For each enclosing schema, whether it accepts anything.
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
            let is_typed = object.has(Keyword::Type) || Keywords::in_object(object).intersects(IMPLY_A_TYPE);
            let is_left_open = of_anything && object.is_empty();
            !is_typed && !is_left_open
        };
        found |= node.as_object().is_some_and(is_untyped) && !is_never(node);
        Ok(if found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(found)
}

/// Returns the type that a part of `allOf` declares, which applies to the whole schema.
fn of_parts(object: &Object<'_>) -> Option<&'static str> {
    let parts = object.array_at(Keyword::AllOf)?;
    let names = parts
        .iter()
        .filter_map(|part| part.get(Keyword::Type))
        .filter_map(|name| TYPE_NAMES.iter().find(|known| name.is_text(known)));
    names.copied().next()
}

/// Returns the types that the keywords of a schema apply to, in a fixed order.
fn implied_types(object: &Object<'_>) -> Vec<&'static str> {
    let constrains = |kind: InstanceType| {
        object.iter().any(|member| Keyword::named(&member.key).and_then(Keyword::applies_to) == Some(kind))
    };
    [
        (InstanceType::Object, "object"),
        (InstanceType::Array, "array"),
        (InstanceType::String, "string"),
        (InstanceType::Number, "number"),
    ]
    .into_iter()
    .filter_map(|(kind, name)| constrains(kind).then_some(name))
    .collect()
}

/// Formats types for a message.
fn listed(names: &[&str], last: &str) -> String {
    format!("`{}`", names.join(&format!("` {last} `")))
}

/// Writes the types that the keywords apply to.
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

/// Writes the types that another schema declares for the same instance.
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
    context.diagnostics.report(place, Location::of(node).to(Location::under(node, "type")), effect, message);
    let types = match names {
        [name] => Node::literal(name),
        names => Node::array(names.iter().map(|name| Node::literal(name)).collect()),
    };
    if let Some(object) = node.as_object_mut() {
        object.insert_at(0, Text::literal("type"), types);
    }
}
