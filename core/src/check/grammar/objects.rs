//! Checks the keywords that contain the schemas of members and items: `properties`, `required`, `additionalProperties`,
//! `items`.

use alloc::{format, vec::Vec};

use super::{
    is_schema_value,
    metaschema::{self, FEW},
    quoted, seen, Report, Schema,
};
use crate::{
    collections::Set,
    json::{push_token, Node, Step},
    rules::Constraint,
    schema::{emptiness, keyword::Keyword, visit::SchemaPath},
};

/// Returns the number of enclosing `properties`.
pub(super) fn depth(place: &SchemaPath<'_, '_>) -> usize {
    place.pointer.steps().iter().filter(|step| **step == Step::Name(Keyword::Properties.name())).count()
}

pub(super) fn properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
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
    let before = report.properties;
    report.properties = before.saturating_add(table.len());
    if before <= report.max_properties && report.properties > report.max_properties {
        let (expected, found) =
            (format!("at most {} properties in all", report.max_properties), format!("{} so far", report.properties));
        report.add(value, Constraint::TooManyProperties, schema.at("properties"), &expected, &found);
    }
    for member in table {
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

pub(super) fn required(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
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
    if report.grammar.metaschema && !metaschema::are_names(value) {
        let (expected, found) = ("a list of unique strings", "a duplicate");
        report.add(value, Constraint::RequiredNotStrings, schema.at("required"), expected, found);
        return;
    }
    schema.not_below_braces(Keyword::Required, value, report);
    if report.grammar.objects.required_accepts {
        required_accepts(schema, names, report);
    }
    if !report.grammar.required_is_known_at(schema.object, schema.pointer) {
        return;
    }
    let table = schema.get(Keyword::Properties).and_then(Node::as_object);
    let is_there =
        |item: &Node<'_>| item.as_text().is_some_and(|name| table.is_some_and(|table| table.get_text(name).is_some()));
    if names.len() <= FEW && names.iter().all(is_there) {
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

/// Reports required properties that accept no value.
fn required_accepts(schema: &Schema<'_, '_>, names: &[Node<'_>], report: &mut Report<'_>) {
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

pub(super) fn additional_properties(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    if value.as_object().is_none() && value.as_bool().is_none() {
        let (rule, pointer) = (Constraint::AdditionalPropertiesNotSchema, schema.at("additionalProperties"));
        report.add(value, rule, pointer, "a boolean or a schema", &seen(value));
    }
}

pub(super) fn items(schema: &Schema<'_, '_>, value: &Node<'_>, report: &mut Report<'_>) {
    let (rule, expected) = match value.as_array() {
        Some([]) if report.grammar.array_items && report.grammar.metaschema => {
            let (rule, expected) = (Constraint::KeywordValue, "at least one schema under `items`");
            return report.add(value, rule, schema.at("items"), expected, "an empty list");
        }
        Some(list) if report.grammar.array_items => {
            return metaschema::items_are_schemas(schema, Keyword::Items, list, report);
        }
        Some(_) => (Constraint::ArrayItems, "one schema for all items"),
        None if is_schema_value(value, report.grammar) => return,
        None if report.grammar.boolean_schemas && value.as_bool().is_some() => return,
        None => (Constraint::ItemsNotSchema, "a schema (an object)"),
    };
    report.add(value, rule, schema.at("items"), expected, &seen(value));
}
