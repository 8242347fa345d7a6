//! Repairs values that are not schemas, and invalid values of keywords. Every shape here occurs in real tools.
//!
//! A schema that violates its metaschema has no meaning to preserve, so these repairs guess what the author meant.
//! Lists of names (`required`, and the lists of `dependentRequired`) may contain only distinct strings.

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    misplaced,
    scalars::{boolean, count, number, RepairedValue},
};
use crate::{
    budget::Budget,
    collections::Set,
    effect::Accepts,
    json::{self, Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        instance_types::{type_of_number, TYPE_NAMES},
        keyword::{Keyword, Subschemas},
        uri::names_vocabularies,
        visit::SchemaPath,
    },
};

const NOT_A_SCHEMA: ChangeKind = ChangeKind::of(Rule::ReplaceNonSchema);
const BARE_TYPE: ChangeKind = ChangeKind::of(Rule::TypeNameToSchema);
const NULL: ChangeKind = ChangeKind::of(Rule::RemoveNullKeyword);
const REPAIR: ChangeKind = ChangeKind::of(Rule::RepairKeyword);
const REMOVE: ChangeKind = ChangeKind::of(Rule::RemoveMalformedKeyword);
const TYPE_NAME: ChangeKind = ChangeKind::of(Rule::RepairType).accepts(Accepts::Same);
const UNKNOWN_TYPE: ChangeKind = ChangeKind::of(Rule::RepairType);
const UNNEST: ChangeKind = ChangeKind::of(Rule::UnnestProperties);

/// Type names of other languages. `None` is any type.
const ALIASES: [(&str, Option<&str>); 17] = [
    ("any", None),
    ("unknown", None),
    ("mixed", None),
    ("int", Some("integer")),
    ("int32", Some("integer")),
    ("int64", Some("integer")),
    ("long", Some("integer")),
    ("float", Some("number")),
    ("double", Some("number")),
    ("decimal", Some("number")),
    ("dict", Some("object")),
    ("map", Some("object")),
    ("list", Some("array")),
    ("tuple", Some("array")),
    ("str", Some("string")),
    ("bool", Some("boolean")),
    ("none", Some("null")),
];

pub(crate) fn repair<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    match node.data() {
        Data::Object(_) => {}
        Data::Bool(_) => return,
        _ => return replace_non_schema(node, path, context),
    }
    if node.as_object().is_some_and(|object| is_well_formed(object, &context.budget)) {
        return;
    }
    // Only validators that list values are read. Arguments are objects, so the root of a tool's schema lists no values.
    if path.keyword.is_some() || !context.grammar.object_root {
        misplaced::read_zod(node, path, context);
    }
    remove_nulls(node, path, context);
    repair_types(node, path, context);
    repair_properties(node, path, context);
    repair_required(node, path, context);
    repair_values(node, path, context);
}

/// Returns true if the object needs no repair. This is true for most objects, and requires only one scan.
fn is_well_formed(object: &Object<'_>, budget: &Budget) -> bool {
    object.iter().all(|Member { key, value }| match Keyword::named(key) {
        None | Some(Keyword::Default | Keyword::Const) => true,
        Some(_) if value.is_null() => false,
        Some(Keyword::Type) => contains_distinct_types(value),
        Some(Keyword::Properties) => value.as_object().is_some_and(|table| {
            table.get(Keyword::Type).is_none_or(|name| name.as_text().is_none()) && !table.iter().any(has_required_flag)
        }),
        Some(Keyword::Required) => value.as_array().is_some_and(are_distinct_names),
        Some(keyword) => matches!(repair_value(keyword, value, budget), RepairedValue::Valid),
    })
}

fn contains_distinct_types(value: &Node<'_>) -> bool {
    let is_type_name = |value: &Node<'_>| match value.as_text().and_then(Text::as_plain) {
        Some(plain) => TYPE_NAMES.contains(&plain),
        None => TYPE_NAMES.iter().any(|name| value.is_text(name)),
    };
    match value.data() {
        Data::String(_) => is_type_name(value),
        Data::Array(names) => {
            let differs = |(at, name): (usize, &Node<'_>)| {
                !names.iter().take(at).any(|before| before.as_text() == name.as_text())
            };
            !names.is_empty()
                && names.len() <= TYPE_NAMES.len()
                && names.iter().all(is_type_name)
                && names.iter().enumerate().all(differs)
        }
        _ => false,
    }
}

fn replace_non_schema<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let location = Location::of(node);
    if let Some(known) = node.as_text().and_then(|text| text.value()).as_deref().and_then(known_type) {
        context.diagnostics.report(path, location.in_place(), BARE_TYPE, || {
            String::from("replaced a bare type name with a schema of that type")
        });
        node.replace(match known {
            Some(name) => Node::record([("type", Node::literal(name))]).into_data(),
            None => Data::Bool(true),
        });
        return;
    }
    let kind = node.kind();
    context.diagnostics.report(path, location.in_place(), NOT_A_SCHEMA, || {
        format!("replaced {kind} with a schema that accepts anything")
    });
    node.replace(Data::Bool(true));
}

/// Returns the type that a name means. Returns `Some(None)` for any type, and `None` for an unknown name.
pub(crate) fn known_type(name: &str) -> Option<Option<&'static str>> {
    let lower = name.to_ascii_lowercase();
    if let Some(known) = TYPE_NAMES.iter().find(|known| **known == lower) {
        return Some(Some(known));
    }
    ALIASES.iter().find(|(alias, _)| *alias == lower).map(|(_, meant)| *meant)
}

fn remove_nulls<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let is_null = |member: &Member<'_>| {
        member.value.is_null()
            && Keyword::named(&member.key)
                .is_some_and(|keyword| !matches!(keyword, Keyword::Const | Keyword::Default | Keyword::Examples))
    };
    let Some(object) = node.as_object().filter(|object| object.iter().any(is_null)) else { return };
    for member in context.budget.each(object).filter(|member| is_null(member)) {
        let keyword = member.key.display().into_owned();
        context.diagnostics.report(path, Location::of(&member.value).removed(), NULL, || {
            format!("removed `{keyword}`, which is null")
        });
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !is_null(member));
    }
}

/// Repairs `type: "any" | "int" | "String" | 6 | {} | []`, and lists of these.
fn repair_types<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(value) = node.get(Keyword::Type) else { return };
    if contains_distinct_types(value) {
        return;
    }
    let listed = match value.data() {
        Data::Array(names) => names.iter().collect(),
        _ => vec![value],
    };
    let mut type_names: Vec<&'static str> = Vec::new();
    let (mut accepts_any, mut has_unknown_name) = (listed.is_empty(), false);
    for name in &listed {
        let by_name = name.as_text().and_then(|text| text.value()).as_deref().map(known_type);
        match by_name.or_else(|| Some(Some(Some(type_of_number(name)?)))) {
            Some(Some(Some(name))) if type_names.contains(&name) => {}
            Some(Some(Some(name))) => type_names.push(name),
            Some(Some(None)) => accepts_any = true,
            _ => has_unknown_name = true,
        }
    }
    let location = Location::of(value);
    let written = json::write_plain(value);
    let (replacement, effect) = match type_names.as_slice() {
        [] => (None, if has_unknown_name { UNKNOWN_TYPE } else { TYPE_NAME }),
        _ if accepts_any => (None, TYPE_NAME),
        [name] => (Some(Node::literal(name)), TYPE_NAME),
        names => (Some(Node::array(names.iter().map(|name| Node::literal(name)).collect())), TYPE_NAME),
    };
    context.diagnostics.report(path, location.to(Location::under(node, "type")), effect, || match &replacement {
        Some(types) => format!("replaced `type: {written}` with {}", json::write_plain(types)),
        None => format!("removed `type: {written}`, which is not a type name"),
    });
    let Some(object) = node.as_object_mut() else { return };
    match replacement {
        Some(types) => object.set(Text::literal("type"), types),
        None => {
            object.remove(Keyword::Type);
        }
    }
}

/// Repairs `properties: []`, and a whole schema under `properties`.
fn repair_properties<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(value) = node.get(Keyword::Properties) else { return };
    let Some(table) = value.as_object() else {
        let location = Location::of(value);
        let is_empty = value.as_array().is_some_and(<[_]>::is_empty);
        let kind = value.kind();
        let to = Location::under(node, "properties");
        context.diagnostics.report(path, location.to(to), if is_empty { REPAIR } else { REMOVE }, || {
            format!("replaced {kind} under `properties` with `{{}}`")
        });
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("properties"), Node::empty_object());
        }
        return;
    };
    let is_schema = |member: &Member<'_>| member.value.as_object().is_some() || member.value.as_bool().is_some();
    let is_nested_schema = table.get(Keyword::Type).is_some_and(|name| name.as_text().is_some())
        && table.object_at(Keyword::Properties).is_some_and(|inner| inner.iter().all(is_schema));
    if !is_nested_schema {
        return;
    }
    let location = Location::of(value);
    context.diagnostics.report(path, location.to(Location::under(node, "properties")), UNNEST, || {
        String::from("moved the schema inside `properties` up to the object")
    });
    let Some(object) = node.as_object_mut() else { return };
    let Some(Data::Object(inner)) = object.remove(Keyword::Properties).map(Node::into_data) else { return };
    for Member { key, value } in context.budget.each(inner.into_members()) {
        if object.get_text(&key).is_none() || key.is(Keyword::Properties) {
            object.set(key, value);
        }
    }
}

fn repair_values<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let mut repairs: Vec<(Keyword, RepairedValue<'a>)> = Vec::new();
    for member in object {
        let Some(keyword) = Keyword::named(&member.key) else { continue };
        match repair_value(keyword, &member.value, &context.budget) {
            RepairedValue::Valid => {}
            repair => repairs.push((keyword, repair)),
        }
    }
    for (keyword, repair) in repairs {
        let name = keyword.name();
        let Some(value) = node.get(name) else { continue };
        let (location, kind) = (Location::of(value), value.kind());
        match repair {
            RepairedValue::Valid => {}
            RepairedValue::Repaired(value) => {
                context.diagnostics.report(path, location.to(Location::under(node, name)), REPAIR, || {
                    format!("repaired {kind} under `{name}`")
                });
                if let Some(object) = node.as_object_mut() {
                    object.set(Text::literal(name), value);
                }
            }
            RepairedValue::Removed => {
                context
                    .diagnostics
                    .report(path, location.removed(), REMOVE, || format!("removed {kind} under `{name}`"));
                if let Some(object) = node.as_object_mut() {
                    object.remove(name);
                }
            }
        }
    }
}

fn repair_value<'a>(keyword: Keyword, value: &Node<'a>, budget: &Budget) -> RepairedValue<'a> {
    let keep_if = |fine: bool| if fine { RepairedValue::Valid } else { RepairedValue::Removed };
    match keyword {
        Keyword::Enum => repair_enum(value, budget),
        Keyword::Description | Keyword::Title => match value.data() {
            Data::String(_) => RepairedValue::Valid,
            Data::Number(_) | Data::Bool(_) => {
                RepairedValue::Repaired(Node::string(json::write_plain(value)).with_origin(value.origin()))
            }
            _ => RepairedValue::Removed,
        },
        Keyword::Pattern
        | Keyword::Format
        | Keyword::Ref
        | Keyword::Id
        | Keyword::Anchor
        | Keyword::DynamicRef
        | Keyword::RecursiveRef
        | Keyword::Schema
        | Keyword::Comment
        | Keyword::ContentEncoding
        | Keyword::ContentMediaType => keep_if(value.as_text().is_some()),
        Keyword::Minimum | Keyword::Maximum => number(value),
        Keyword::MultipleOf => match number(value) {
            RepairedValue::Valid => keep_if(is_positive(value)),
            RepairedValue::Repaired(number) if is_positive(&number) => RepairedValue::Repaired(number),
            _ => RepairedValue::Removed,
        },
        // Booleans come from draft 4; a later pass respells them.
        Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum if value.as_bool().is_some() => RepairedValue::Valid,
        Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum => number(value),
        Keyword::MinLength
        | Keyword::MaxLength
        | Keyword::MinItems
        | Keyword::MaxItems
        | Keyword::MinProperties
        | Keyword::MaxProperties
        | Keyword::MinContains
        | Keyword::MaxContains => count(keyword, value),
        Keyword::UniqueItems | Keyword::Nullable | Keyword::Deprecated | Keyword::ReadOnly | Keyword::WriteOnly => {
            boolean(value)
        }
        Keyword::Examples => match value.data() {
            Data::Array(_) => RepairedValue::Valid,
            _ => RepairedValue::Repaired(Node::array(vec![value.copy(budget)]).with_origin(value.origin())),
        },
        Keyword::Vocabulary => keep_if(names_vocabularies(value)),
        // Handled elsewhere.
        Keyword::Properties | Keyword::Items | Keyword::Required | Keyword::Type => RepairedValue::Valid,
        Keyword::DependentRequired | Keyword::Dependencies => match repair_dependencies(keyword, value, budget) {
            RepairedLists::Valid => RepairedValue::Valid,
            RepairedLists::Repaired(value) => RepairedValue::Repaired(value),
            RepairedLists::Malformed => RepairedValue::Removed,
        },
        _ => match keyword.subschemas() {
            Subschemas::Schemas => match value.data() {
                Data::Array(items) => keep_if(!items.is_empty()),
                Data::Object(_) => RepairedValue::Repaired(Node::array(vec![value.copy(budget)])),
                _ => RepairedValue::Removed,
            },
            Subschemas::Named | Subschemas::NamedOrNames => keep_if(value.as_object().is_some()),
            _ => RepairedValue::Valid,
        },
    }
}

fn is_positive(value: &Node<'_>) -> bool {
    value.as_number().is_some_and(|number| json::compare(number, "0").is_gt())
}

/// Repairs `enum`. An empty list, which accepts nothing but was meant as no constraint, is removed, and an object is
/// removed. Any other single value is wrapped in a list. Duplicates are removed.
fn repair_enum<'a>(value: &Node<'a>, budget: &Budget) -> RepairedValue<'a> {
    match value.data() {
        Data::Array(items) if items.is_empty() => RepairedValue::Removed,
        Data::Array(items) if are_distinct_plain_strings(items) => RepairedValue::Valid,
        Data::Array(items) => {
            let mut seen: Set<String> = Set::new();
            let unique: Vec<Node<'a>> =
                items.iter().filter(|item| seen.insert(json::canonical(item))).map(|item| item.copy(budget)).collect();
            if unique.len() == items.len() {
                RepairedValue::Valid
            } else {
                RepairedValue::Repaired(Node::array(unique).with_origin(value.origin()))
            }
        }
        Data::Object(_) => RepairedValue::Removed,
        _ => RepairedValue::Repaired(Node::array(vec![value.copy(budget)]).with_origin(value.origin())),
    }
}

fn has_required_flag(member: &Member<'_>) -> bool {
    member.value.get(Keyword::Required).and_then(Node::as_bool).is_some()
}

/// Repairs `required: "name"` and `required: [1]`, and moves `required: true` of a property to the object that has the
/// property.
fn repair_required<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let mut required_properties: Vec<Text<'a>> = Vec::new();
    let has_flags = node.object_at(Keyword::Properties).is_some_and(|table| table.iter().any(has_required_flag));
    if has_flags {
        node.visit(Keyword::Properties, |table| {
            for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
                let Some(flag) = member.value.get(Keyword::Required).and_then(Node::as_bool) else { continue };
                let location = member.value.get(Keyword::Required).map(Location::of).unwrap_or(Location::Nowhere);
                context
                    .diagnostics
                    .report(path, location.removed(), REPAIR, || format!("moved `required: {flag}` to the object"));
                if flag {
                    required_properties.push(member.key.clone());
                }
                if let Some(object) = member.value.as_object_mut() {
                    object.remove(Keyword::Required);
                }
            }
        });
    }
    let Some(value) = node.get(Keyword::Required) else {
        if required_properties.is_empty() {
            return;
        }
        if let Some(object) = node.as_object_mut() {
            object.set(
                Text::literal("required"),
                Node::array(required_properties.into_iter().map(Node::string).collect()),
            );
        }
        return;
    };
    let is_name = |name: &Node<'_>| name.as_text().is_some();
    if value.as_array().is_some_and(are_distinct_names) && required_properties.is_empty() {
        return;
    }
    let mut seen: Set<Text<'a>> = Set::new();
    let mut names: Vec<Node<'a>> = match value.data() {
        Data::Array(names) => distinct_names(names, &mut seen, &context.budget),
        Data::String(name) => {
            seen.insert(name.clone());
            vec![value.copy(&context.budget)]
        }
        _ => Vec::new(),
    };
    let location = Location::of(value);
    let are_all_names = value.as_array().is_some_and(|names| names.iter().all(is_name));
    context.diagnostics.report(path, location.to(Location::under(node, "required")), REPAIR, || {
        String::from(match (are_all_names, required_properties.is_empty()) {
            (true, true) => "removed duplicates from `required`",
            (true, false) => "added to `required` the properties with `required: true`",
            (false, _) => "removed values from `required` that are not strings",
        })
    });
    names.extend(required_properties.into_iter().filter(|name| !seen.contains(name)).map(Node::string));
    let Some(object) = node.as_object_mut() else { return };
    if names.is_empty() {
        object.remove(Keyword::Required);
    } else {
        object.set(Text::literal("required"), Node::array(names));
    }
}

pub(super) enum RepairedLists<'a> {
    Valid,
    Repaired(Node<'a>),
    Malformed,
}

fn repair_dependencies<'a>(keyword: Keyword, value: &Node<'a>, budget: &Budget) -> RepairedLists<'a> {
    let Some(table) = value.as_object() else { return RepairedLists::Malformed };
    let lists = || table.iter().filter_map(|member| member.value.as_array());
    let is_fine = |value: &Node<'_>| match value.as_array() {
        Some(names) => names.iter().all(|name| name.as_text().is_some()),
        None => keyword == Keyword::Dependencies,
    };
    if !table.iter().all(|member| is_fine(&member.value)) {
        return RepairedLists::Malformed;
    }
    if lists().all(are_distinct_names) {
        return RepairedLists::Valid;
    }
    let mut table = value.copy(budget);
    for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
        let Some(names) = member.value.as_array() else { continue };
        let names = distinct_names(names, &mut Set::new(), budget);
        member.value = Node::array(names).with_origin(member.value.origin());
    }
    RepairedLists::Repaired(table)
}

fn are_distinct_names(names: &[Node<'_>]) -> bool {
    let different = || names.iter().filter_map(Node::as_text).collect::<Set<_>>().len();
    are_distinct_plain_strings(names)
        || (names.iter().all(|name| name.as_text().is_some()) && different() == names.len())
}

fn distinct_names<'a>(names: &[Node<'a>], known: &mut Set<Text<'a>>, budget: &Budget) -> Vec<Node<'a>> {
    let is_new = |name: &&Node<'a>| name.as_text().is_some_and(|name| known.insert(name.clone()));
    names.iter().filter(is_new).map(|name| name.copy(budget)).collect()
}

/// Returns true if all items are different strings. Returns false if the list is too long to compare pairwise.
fn are_distinct_plain_strings(items: &[Node<'_>]) -> bool {
    const FEW: usize = 16;
    let is_plain_string = |item: &Node<'_>| item.as_text().and_then(Text::as_plain).is_some();
    let differs =
        |(at, item): (usize, &Node<'_>)| items.iter().take(at).all(|before| before.as_text() != item.as_text());
    items.len() <= FEW && items.iter().all(is_plain_string) && items.iter().enumerate().all(differs)
}
