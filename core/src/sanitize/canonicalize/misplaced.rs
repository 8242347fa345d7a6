//! Moves a schema that is one level too deep or too high. Reads Zod 4 validators that were serialized with
//! `JSON.stringify` in place of their JSON Schema.
//!
//! A validator repeats its type in `def`, which distinguishes it from a schema. Only validators that list their values
//! are read, because the JSON of others contains too little of their meaning.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::Set,
    json::{self, Data, Node, Object, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Diagnostics, Location},
    },
    schema::{
        keyword::Keyword,
        misplaced::{misplaced, zod_definition, Misplaced},
        visit::{Polarity, SchemaPath},
    },
};

const UNWRAP: ChangeKind = ChangeKind::of(Rule::UnwrapSchema);

/// The description of the wrapper is kept if the schema has none. References are resolved afterwards, because they
/// point into the schema that the author meant.
pub(crate) fn unwrap(root: &mut Node<'_>, diagnostics: &mut Diagnostics) {
    let Some(found) = misplaced(root) else { return };
    let to = match found {
        Misplaced::Wrapped(_) => Location::of(root),
        Misplaced::Properties => Location::under(root, "properties"),
    };
    let from = match found {
        Misplaced::Wrapped(name) => Location::under(root, name),
        Misplaced::Properties => Location::of(root),
    };
    diagnostics.report(Polarity::Positive, from.to(to), UNWRAP, || match found {
        Misplaced::Wrapped(name) => format!("replaced the wrapper with the schema under `{name}`"),
        Misplaced::Properties => String::from("moved a map of properties under `properties`"),
    });
    let Some(object) = root.as_object_mut() else { return };
    match found {
        Misplaced::Wrapped(name) => {
            let description = object.remove(Keyword::Description).filter(|text| text.as_text().is_some());
            let Some(Data::Object(mut inner)) = object.remove(name).map(Node::into_data) else { return };
            if let Some(description) = description.filter(|_| !inner.has(Keyword::Description)) {
                inner.set(Text::literal("description"), description);
            }
            *object = inner;
        }
        Misplaced::Properties => {
            let properties = core::mem::take(object);
            object.set(Text::literal("type"), Node::literal("object"));
            object.set(Text::literal("properties"), Node::object(properties));
        }
    }
}

const READ: ChangeKind = ChangeKind::of(Rule::RepairType).accepts(Accepts::Same);

const DEEPEST: usize = 4;

/// Keys that Zod writes in addition to the keys of the schema.
const OWN: [&str; 4] = ["def", "options", "entries", "values"];

pub(super) fn read_zod<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some((kind, meant)) = meant(node, &context.budget) else { return };
    let from = node.get(Keyword::Type).map_or(Location::Nowhere, Location::of);
    context.diagnostics.report(path, from.to(Location::of(node)), READ, || {
        format!("replaced an internal Zod object of type `{kind}` with the schema that it represents")
    });
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(Keyword::Type).unwrap_or_default();
    let before = object.iter().take(at).filter(|member| is_own(&member.key)).count();
    object.retain(|member| !is_own(&member.key));
    for (offset, (keyword, value)) in meant.into_iter().enumerate() {
        object.insert_at(at - before + offset, Text::literal(keyword.name()), value);
    }
}

fn is_own(key: &Text<'_>) -> bool {
    OWN.iter().any(|own| key.is(own)) || key.is(Keyword::Type) || key.is(Keyword::Enum)
}

/// Returns the type of a serialized validator, and the equivalent keywords.
fn meant<'a>(node: &Node<'a>, budget: &Budget) -> Option<(&'static str, Vec<(Keyword, Node<'a>)>)> {
    let definition = zod_definition(node)?;
    let listed = |kind, from: &Node<'a>, values: Vec<Node<'a>>| {
        (!values.is_empty() && values.iter().all(is_scalar)).then(|| (kind, of_values(from, values)))
    };
    if node.get(Keyword::Type)?.is_text("enum") {
        let table = definition.get("entries")?;
        return listed("enum", table, entries(table.as_object()?, budget));
    }
    if node.get(Keyword::Type)?.is_text("literal") {
        let list = definition.get("values")?;
        return listed("literal", list, json::copies(list.as_array()?, budget));
    }
    lists_values(node, DEEPEST, budget)
        .then(|| definition.get("options"))
        .flatten()
        .map(|options| ("union", Vec::from([(Keyword::AnyOf, options.copy(budget))])))
}

fn lists_values(node: &Node<'_>, deepest: usize, budget: &Budget) -> bool {
    let Some(definition) = zod_definition(node).filter(|_| budget.pay(1)) else { return false };
    let is = |name: &str| node.get(Keyword::Type).is_some_and(|kind| kind.is_text(name));
    let lists =
        |of: &str| definition.get(of).is_some_and(|values| values.as_object().is_some() || values.as_array().is_some());
    match () {
        () if is("enum") => lists("entries"),
        () if is("literal") => lists("values"),
        () if is("union") && deepest > 0 => definition.array_at("options").is_some_and(|options| {
            !options.is_empty() && options.iter().all(|option| lists_values(option, deepest - 1, budget))
        }),
        () => false,
    }
}

/// A numeric TypeScript enum also maps each number back to its name; those names are not values.
fn entries<'a>(entries: &Object<'a>, budget: &Budget) -> Vec<Node<'a>> {
    let numbers: Set<&str> = entries.iter().filter_map(|entry| entry.value.as_number()).collect();
    let is_value = |key: &Text<'_>| !numbers.contains(&*key.display());
    entries.iter().filter(|entry| is_value(&entry.key)).map(|entry| entry.value.copy(budget)).collect()
}

fn is_scalar(value: &Node<'_>) -> bool {
    !value.is_container()
}

fn of_values<'a>(from: &Node<'a>, values: Vec<Node<'a>>) -> Vec<(Keyword, Node<'a>)> {
    let kind = |value: &Node<'_>| match value.data() {
        Data::String(_) => "string",
        Data::Number(number) if json::is_integral(number) => "integer",
        Data::Number(_) => "number",
        Data::Bool(_) => "boolean",
        _ => "null",
    };
    let kinds: Set<&str> = values.iter().map(kind).collect();
    let single = match (kinds.len(), values.first().map(kind)) {
        (1, Some(kind)) => Some(kind),
        (2, _) if kinds.contains(&"integer") && kinds.contains(&"number") => Some("number"),
        _ => None,
    };
    let kind = single.map(|kind| (Keyword::Type, Node::literal(kind)));
    kind.into_iter().chain([(Keyword::Enum, Node::array(values).with_origin(from.origin()))]).collect()
}
