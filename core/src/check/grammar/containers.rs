//! Checks object and array schemas: which keywords they must have (`properties`, `required` for every property,
//! `additionalProperties`, `items`), and the values of these keywords.

use alloc::{format, string::String, vec::Vec};

use super::{
    is_schema_value,
    keywords::{self, LINEAR_SEARCH_LIMIT},
    quoted, seen, types, Extent, Report, Schema,
};
use crate::{
    collections::Set,
    dialect::{
        features::OF_MEMBERS,
        grammar::{Grammar, OpenRule, PropertiesRule, RequiredRule, TypeRequirement},
        name_rules::has_brackets,
    },
    json::{push_token, Node, Object, Step},
    rules::Constraint,
    schema::{
        emptiness,
        keyword::{Keyword, Keywords},
        visit::SchemaPath,
    },
};

/// Keywords with which other schemas may allow further members.
const COMBINING_KEYWORDS: Keywords =
    Keywords::of(&[Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf, Keyword::Ref, Keyword::UnevaluatedProperties]);

/// Keywords whose branches declare the types of the schema.
const COMBINATORS: [Keyword; 2] = [Keyword::OneOf, Keyword::AllOf];

pub(super) fn check(node: &Node<'_>, schema: &Schema<'_, '_>, report: &mut Report<'_>) {
    let grammar = report.grammar;
    let types = schema.get(Keyword::Type);
    let has_type = |name: &str| types.is_some_and(|value| types::contains_type(value, name, grammar));
    // Subschemas of `not`, `if` and the like are conditions on a value, and need no type.
    let is_condition =
        |step: &Step<'_>| matches!(step, Step::Name("not" | "if" | "then" | "else" | "contains" | "propertyNames"));
    let is_walked = schema.is_walked;
    // A refused `oneOf` or `allOf` is already reported, and the schema that replaces it declares the types.
    let is_refused_union =
        COMBINATORS.iter().any(|keyword| schema.present.contains(*keyword) && grammar.refuses.contains(*keyword));
    let must_have_type = is_walked
        && grammar.typed != TypeRequirement::No
        && !schema.present.intersects(grammar.typed.one_of())
        && !is_refused_union;
    if must_have_type && !schema.pointer.steps().iter().any(is_condition) {
        report.add(node, Constraint::Untyped, schema.pointer.render(), grammar.typed.in_words(), "none");
    }
    if has_type("array") {
        check_array(node, schema, is_walked, report);
    }
    if has_type("object") {
        check_object(node, schema, report);
    }
}

/// Returns true if `items` accepts anything, or has a form that is refused.
fn is_refused(items: &Node<'_>, grammar: &Grammar) -> bool {
    let is_true = items.as_bool() == Some(true);
    let is_trivial = is_true || items.as_object().is_some_and(|object| object.is_empty());
    let is_false = items.as_bool() == Some(false);
    (is_trivial && !grammar.arrays.open_items)
        || (is_true && !grammar.true_items)
        || (is_false && grammar.arrays.truthy_items)
}

fn check_array(node: &Node<'_>, schema: &Schema<'_, '_>, is_walked: bool, report: &mut Report<'_>) {
    let rule = report.grammar.arrays;
    match schema.get(Keyword::Items) {
        None if is_walked && rule.needs_items && (rule.truthy_items || schema.get(Keyword::PrefixItems).is_none()) => {
            report.add(
                node,
                Constraint::ArrayWithoutItems,
                schema.pointer.render(),
                "`items` next to `type: \"array\"`",
                "none",
            );
        }
        None if rule.closed_tuples && schema.get(Keyword::PrefixItems).is_some() => {
            report.add(
                node,
                Constraint::ArrayOpenness,
                schema.pointer.render(),
                "`items` next to `prefixItems`, because this API otherwise accepts no further items",
                "none",
            );
        }
        Some(items) if is_refused(items, report.grammar) => {
            report.add(
                items,
                Constraint::OpenItems,
                schema.at("items"),
                "`items` with a specific schema",
                &seen(items),
            );
        }
        _ => {}
    }
}

fn check_object(node: &Node<'_>, schema: &Schema<'_, '_>, report: &mut Report<'_>) {
    let rule = report.grammar.objects;
    let table = schema.get(Keyword::Properties).and_then(Node::as_object);
    let at = || schema.pointer.render();
    let additional = schema.get(Keyword::AdditionalProperties);
    // If `additionalProperties` is a map that is refused, only the map is reported: advice about missing `properties`
    // or openness would produce an object without members.
    let refused_map = additional.filter(|value| !rule.maps && value.as_object().is_some());
    match (rule.properties, schema.get(Keyword::Properties)) {
        (_, None) if refused_map.is_some() => {}
        (PropertiesRule::AtRoot, None) if !schema.is_root() => {}
        (PropertiesRule::NotEmptyBelowRoot, _)
            if !schema.is_root() && !rule.needs_properties(schema.get(Keyword::AdditionalProperties)) => {}
        (PropertiesRule::AtRoot | PropertiesRule::Written | PropertiesRule::NotEmptyBelowRoot, None) => {
            report.add(
                node,
                Constraint::ObjectWithoutProperties,
                at(),
                "`properties` next to `type: \"object\"`",
                "none",
            );
        }
        (PropertiesRule::NotEmptyBelowRoot, Some(value))
            if !schema.is_root() && table.is_some_and(|table| table.is_empty()) =>
        {
            report.add(
                value,
                Constraint::ObjectWithoutProperties,
                schema.at("properties"),
                "at least one property",
                "none",
            );
        }
        _ => {}
    }
    match (rule.open, additional) {
        _ if refused_map.is_some() => {}
        (OpenRule::MustClose, value) if value.and_then(Node::as_bool) != Some(false) => {
            let found = value.map_or_else(|| String::from("none"), seen);
            report.add(
                value.unwrap_or(node),
                Constraint::ObjectNotClosed,
                at(),
                "`additionalProperties: false`",
                &found,
            );
        }
        (open @ (OpenRule::ClosedByDefault | OpenRule::ClosedBesideMembers | OpenRule::Closes), None)
            if !schema.present.intersects(COMBINING_KEYWORDS)
                && (open == OpenRule::ClosedByDefault || schema.present.intersects(OF_MEMBERS))
                // `check` reports the object, but `sanitize` leaves it unchanged.
                && (open != OpenRule::Closes || report.extent != Extent::First) =>
        {
            report.add(
                node,
                Constraint::ObjectOpenness,
                at(),
                "`additionalProperties`, because this API closes objects that do not declare it",
                "none",
            );
        }
        _ => {}
    }
    let admits_others = additional.is_some_and(|value| value.as_bool() != Some(false));
    if report.grammar.names.no_brackets_beside_others && admits_others {
        let table = schema.get(Keyword::Properties).and_then(Node::as_object);
        if let Some(name) = table.into_iter().flatten().find(|member| has_brackets(&member.key)) {
            let expected = format!("no additional properties next to the name {}", quoted(&name.key));
            let at = schema.at("additionalProperties");
            report.add(additional.unwrap_or(node), Constraint::PropertyName, at, &expected, "`additionalProperties`");
        }
    }
    if let Some(value) = refused_map {
        let expected =
            if rule.open == OpenRule::MustClose { "`false`, with every property by its name" } else { "a boolean" };
        report.add(value, Constraint::Map, schema.at("additionalProperties"), expected, "a schema");
    }
    if rule.required == RequiredRule::One {
        let requires = schema.get(Keyword::Required).and_then(Node::as_array).is_some_and(|names| !names.is_empty());
        let is_map = !schema.is_root() && additional.is_some_and(|others| others.as_bool() != Some(false));
        if !requires && !is_map {
            report.add(node, Constraint::NotRequired, at(), "at least one property in `required`", "none");
        }
    }
    if rule.required == RequiredRule::All {
        let names = schema.get(Keyword::Required).and_then(Node::as_array).unwrap_or_default();
        // The names are usually listed in the order of the properties.
        let count = table.map_or(0, Object::len);
        if names.len() == count
            && names.iter().zip(table.into_iter().flatten()).all(|(name, member)| name.as_text() == Some(&member.key))
        {
            return;
        }
        let required: Set<_> = names.iter().filter_map(Node::as_text).collect();
        for member in table.into_iter().flatten().filter(|member| !required.contains(&member.key)) {
            if report.is_decided() {
                return;
            }
            let mut pointer = schema.at("properties");
            push_token(&mut pointer, &member.key.display());
            report.add(
                &member.value,
                Constraint::NotRequired,
                pointer,
                "every property in `required`",
                &format!("no {}", quoted(&member.key)),
            );
        }
    }
}

pub(super) fn depth(path: &SchemaPath<'_, '_>) -> usize {
    path.pointer.steps().iter().filter(|step| **step == Step::Name(Keyword::Properties.name())).count()
}

pub(super) fn check_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let Some(table) = value.as_object() else {
        report.add(
            value,
            Constraint::PropertiesNotObject,
            schema.at("properties"),
            "an object of schemas",
            value.kind(),
        );
        return;
    };
    let previous_count = report.properties;
    report.properties = previous_count.saturating_add(table.len());
    if previous_count <= report.max_properties && report.properties > report.max_properties {
        let (expected, found) =
            (format!("at most {} properties in all", report.max_properties), format!("{} so far", report.properties));
        report.add(value, Constraint::TooManyProperties, schema.at("properties"), &expected, &found);
    }
    for member in table {
        if report.is_decided() {
            return;
        }
        let pointer = || {
            let mut pointer = schema.at("properties");
            push_token(&mut pointer, &member.key.display());
            pointer
        };
        if report.grammar.names.reserved.iter().any(|name| member.key.is(name)) {
            let (expected, found) = ("a name that is not mistaken for a keyword", quoted(&member.key));
            report.add(&member.value, Constraint::ReservedName, pointer(), expected, &found);
        }
        if let Some(shape) = report.grammar.names.shape.filter(|shape| schema.is_root() || !shape.root_only) {
            if !shape.allows(&member.key.display()) {
                report.add(&member.value, Constraint::PropertyName, pointer(), &shape.describe(), &quoted(&member.key));
            }
        }
        let is_refused = schema.is_root() && !report.grammar.root_booleans && member.value.as_bool().is_some();
        if is_refused || !is_schema_value(&member.value, report.grammar) {
            report.add(&member.value, Constraint::NotASchema, pointer(), "a schema (an object)", &seen(&member.value));
        }
    }
}

pub(super) fn check_required(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let names = value.as_array().filter(|names| names.iter().all(|name| name.as_text().is_some()));
    let Some(names) = names else {
        report.add(value, Constraint::RequiredNotStrings, schema.at("required"), "a list of strings", value.kind());
        return;
    };
    let has_properties =
        || schema.get(Keyword::Properties).and_then(Node::as_object).is_some_and(|table| !table.is_empty());
    if report.grammar.required_beside_properties && !has_properties() {
        let (expected, found) = ("non-empty `properties` next to `required`", "none");
        report.add(value, Constraint::RequiredWithoutProperties, schema.at("required"), expected, found);
        return;
    }
    if names.is_empty() {
        return;
    }
    if report.grammar.metaschema && !keywords::are_names(value) {
        let (expected, found) = ("a list of unique strings", "a duplicate");
        report.add(value, Constraint::RequiredNotStrings, schema.at("required"), expected, found);
        return;
    }
    schema.not_below_braces(Keyword::Required, value, report);
    if report.grammar.objects.required_accepts {
        check_required_schemas(schema, names, report);
    }
    if !report.grammar.required_is_known_at(schema.object, schema.pointer) {
        return;
    }
    let table = schema.get(Keyword::Properties).and_then(Node::as_object);
    let is_there =
        |item: &Node<'_>| item.as_text().is_some_and(|name| table.is_some_and(|table| table.get_text(name).is_some()));
    if names.len() <= LINEAR_SEARCH_LIMIT && names.iter().all(is_there) {
        return;
    }
    let known: Set<_> = table.into_iter().flatten().map(|member| &member.key).collect();
    for (index, item) in names.iter().enumerate() {
        let Some(name) = item.as_text().filter(|name| !known.contains(name)) else { continue };
        let pointer = schema.at("required") + &format!("/{index}");
        report.add(
            item,
            Constraint::RequiredUnknown,
            pointer,
            "a name from `properties` in the same schema",
            &quoted(name),
        );
    }
}

fn check_required_schemas(schema: &Schema<'_, '_>, names: &[Node<'_>], report: &mut Report<'_>) {
    let Some(table) = schema.get(Keyword::Properties).and_then(Node::as_object) else { return };
    let never = |name: &Node<'_>| {
        let property = table.get_text(name.as_text()?)?;
        emptiness::branch_admits_nothing(property, report.budget).then_some(property)
    };
    let found: Vec<&Node<'_>> = names.iter().filter_map(never).collect();
    for property in found {
        let (expected, found) = ("a schema that accepts something, because the property is required", seen(property));
        report.add(property, Constraint::NotASchema, schema.at("properties"), expected, &found);
    }
}

pub(super) fn check_additional_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    if value.as_object().is_none() && value.as_bool().is_none() {
        let (rule, pointer) = (Constraint::AdditionalPropertiesNotSchema, schema.at("additionalProperties"));
        report.add(value, rule, pointer, "a boolean or a schema", &seen(value));
    }
}

pub(super) fn check_items(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let (rule, expected) = match value.as_array() {
        Some([]) if report.grammar.array_items && report.grammar.metaschema => {
            let (rule, expected) = (Constraint::KeywordValue, "at least one schema under `items`");
            return report.add(value, rule, schema.at("items"), expected, "an empty list");
        }
        Some(list) if report.grammar.array_items => {
            return keywords::check_items_are_schemas(schema, Keyword::Items, list, report);
        }
        Some(_) => (Constraint::ArrayItems, "one schema for all items"),
        None if is_schema_value(value, report.grammar) => return,
        None if report.grammar.boolean_schemas && value.as_bool().is_some() => return,
        None => (Constraint::ItemsNotSchema, "a schema (an object)"),
    };
    report.add(value, rule, schema.at("items"), expected, &seen(value));
}
