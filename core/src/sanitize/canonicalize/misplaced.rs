//! Moves a schema that is one level too deep or too high. Reads Zod 4 validators that were serialized with
//! `JSON.stringify` in place of their JSON Schema.
//!
//! A validator repeats its type in `def`, which distinguishes it from a schema. Only validators that list their values
//! are read, because the JSON of others contains too little of their meaning.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::Set,
    effect::Accepts,
    json::{self, Data, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Diagnostics, Location},
    },
    schema::{
        keyword::Keyword,
        misplaced::{find_misplaced, zod_definition, Misplaced},
        visit::{Polarity, SchemaPath},
    },
};

const UNWRAP: ChangeKind = ChangeKind::of(Rule::UnwrapSchema);

/// Moves a misplaced schema to the root. The description of the wrapper is kept if the schema has no description.
/// References are resolved afterwards, because they point into the schema that the author meant.
pub(crate) fn unwrap(root: &mut Node<'_>, diagnostics: &mut Diagnostics) {
    let Some(misplacement) = find_misplaced(root) else { return };
    let to = match misplacement {
        Misplaced::Wrapped(_) => Location::of(root),
        Misplaced::Properties => Location::under(root, "properties"),
    };
    let from = match misplacement {
        Misplaced::Wrapped(name) => Location::under(root, name),
        Misplaced::Properties => Location::of(root),
    };
    diagnostics.report(Polarity::Positive, from.to(to), UNWRAP, || match misplacement {
        Misplaced::Wrapped(name) => format!("replaced the wrapper with the schema under `{name}`"),
        Misplaced::Properties => String::from("moved a map of properties under `properties`"),
    });
    let Some(object) = root.as_object_mut() else { return };
    match misplacement {
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

const MAX_UNIONS: usize = 4;

/// Keys that Zod writes in addition to the keys of the schema.
const ZOD_KEYS: [&str; 4] = ["def", "options", "entries", "values"];

pub(super) fn read_zod<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some((kind, keywords)) = read_validator(node, &context.budget) else { return };
    let from = node.get(Keyword::Type).map_or(Location::Nowhere, Location::of);
    context.diagnostics.report(path, from.to(Location::of(node)), READ, || {
        format!("replaced an internal Zod object of type `{kind}` with the schema that it represents")
    });
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(Keyword::Type).unwrap_or_default();
    let keys_before = object.iter().take(at).filter(|member| is_zod_key(&member.key)).count();
    object.retain(|member| !is_zod_key(&member.key));
    for (offset, (keyword, value)) in keywords.into_iter().enumerate() {
        object.insert_at(at - keys_before + offset, Text::literal(keyword.name()), value);
    }
}

fn is_zod_key(key: &Text<'_>) -> bool {
    ZOD_KEYS.iter().any(|name| key.is(name)) || key.is(Keyword::Type) || key.is(Keyword::Enum)
}

/// Returns the type of a serialized validator, and the equivalent keywords.
fn read_validator<'a>(node: &Node<'a>, budget: &Budget) -> Option<(&'static str, Vec<(Keyword, Node<'a>)>)> {
    let definition = zod_definition(node)?;
    let keywords_for = |kind, from: &Node<'a>, values: Vec<Node<'a>>| {
        (!values.is_empty() && values.iter().all(is_scalar)).then(|| (kind, value_keywords(from, values)))
    };
    if node.get(Keyword::Type)?.is_text("enum") {
        let table = definition.get("entries")?;
        return keywords_for("enum", table, enum_values(table.as_object()?, budget));
    }
    if node.get(Keyword::Type)?.is_text("literal") {
        let list = definition.get("values")?;
        return keywords_for("literal", list, json::copies(list.as_array()?, budget));
    }
    lists_values(node, MAX_UNIONS, budget)
        .then(|| definition.get("options"))
        .flatten()
        .map(|options| ("union", Vec::from([(Keyword::AnyOf, options.copy(budget))])))
}

fn lists_values(node: &Node<'_>, max_unions: usize, budget: &Budget) -> bool {
    let Some(definition) = zod_definition(node).filter(|_| budget.pay(1)) else { return false };
    let has_type = |name: &str| node.get(Keyword::Type).is_some_and(|kind| kind.is_text(name));
    let has_values = |name: &str| {
        definition.get(name).is_some_and(|values| values.as_object().is_some() || values.as_array().is_some())
    };
    match () {
        () if has_type("enum") => has_values("entries"),
        () if has_type("literal") => has_values("values"),
        () if has_type("union") && max_unions > 0 => definition.array_at("options").is_some_and(|options| {
            !options.is_empty() && options.iter().all(|option| lists_values(option, max_unions - 1, budget))
        }),
        () => false,
    }
}

/// Returns the values of an enum. A numeric TypeScript enum also maps each number to its name, which is not a value.
fn enum_values<'a>(enum_values: &Object<'a>, budget: &Budget) -> Vec<Node<'a>> {
    let numbers: Set<&str> = enum_values.iter().filter_map(|entry| entry.value.as_number()).collect();
    let is_value = |key: &Text<'_>| !numbers.contains(&*key.display());
    enum_values.iter().filter(|entry| is_value(&entry.key)).map(|entry| entry.value.copy(budget)).collect()
}

fn is_scalar(value: &Node<'_>) -> bool {
    !value.is_container()
}

fn value_keywords<'a>(from: &Node<'a>, values: Vec<Node<'a>>) -> Vec<(Keyword, Node<'a>)> {
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
