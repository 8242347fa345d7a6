//! Widens schemas, for APIs that refuse a call of their own model if its arguments do not match: numbers and booleans
//! admit text, and optional properties admit null.

use alloc::{string::String, vec::Vec};

use super::{quarantine::require_allowed, target::change_outside_arguments};
use crate::{
    check::{self, findings::FindingLimit},
    collections::Set,
    dialect::Dialect,
    effect::{Accepts, Guidance},
    error::Error,
    json::{Child, Data, Node, Text},
    options::{Allow, SanitizeOptions},
    report::{Change, Reason},
    request::tool_format::{pointer, ToolShape},
    rules::Rule,
};

/// Types whose values models write as text.
const TYPES_WRITTEN_AS_TEXT: [&str; 3] = ["integer", "number", "boolean"];

const REASON: &str = "`lenientTypes`: an API that validates the calls of its model refuses them before they can be \
    repaired (Groq: `tool call validation failed: parameters for tool web_search did not match schema: errors: \
    [/count: expected integer, but got string]`; picoclaw#400, laravel/ai#239, OpenHands#10048)";

/// Widens the schema of a tool. Changes nothing if the API refuses the result, or if `allow` forbids the change.
pub(super) fn widen(
    entry: &mut Node<'_>,
    (shape, written): (ToolShape, ToolShape),
    dialect: &'static Dialect,
    (allow, changes): (Allow, &mut Vec<Change>),
) {
    let Some(original_schema) = shape.schema(entry) else { return };
    let mut schema = original_schema.clone();
    if !widen_members(&mut schema) {
        return;
    }
    let violations = check::check(&schema, &SanitizeOptions::new(dialect.id()), FindingLimit::LISTED);
    if !violations.is_ok_and(|violations| violations.is_empty()) {
        return;
    }
    let at = (pointer(&shape.pointer_to_schema()), Some(pointer(&written.pointer_to_schema())));
    let message = "accepted text for numbers and booleans, and null for optional properties; `restore` repairs calls";
    let change = change_outside_arguments(Rule::AdmitText, at, Guidance::Same, Reason::from(REASON), message.into());
    let change = Change { accepts: Accepts::Wider, ..change };
    if require_allowed(allow, core::slice::from_ref(&change)).is_ok() {
        shape.edit_schema(entry, |original| *original = schema.clone());
        changes.push(change);
    }
}

fn widen_members(schema: &mut Node<'_>) -> bool {
    let is_optional = false;
    let names = schema.array_at("required").unwrap_or_default().iter();
    let required: Set<String> = names.filter_map(|name| Some(name.as_text()?.display().into_owned())).collect();
    let mut changed = false;
    schema.visit("properties", |table| {
        let _ = table.visit_children(|child, property| {
            if let Child::Member(name) = child {
                changed |= widen_value(property, !required.contains(&*name.display()));
            }
            Ok::<(), Error>(())
        });
    });
    for key in ["items", "additionalProperties"] {
        schema.visit(key, |inner| changed |= widen_value(inner, is_optional));
    }
    for table in ["$defs", "definitions"] {
        schema.visit(table, |table| {
            let _ = table.visit_children(|_, definition| {
                changed |= widen_value(definition, is_optional);
                Ok::<(), Error>(())
            });
        });
    }
    changed
}

fn widen_value(schema: &mut Node<'_>, is_optional: bool) -> bool {
    let mut changed = widen_members(schema);
    if schema.get("const").is_some() {
        return changed;
    }
    let is_enum = schema.get("enum").is_some();
    if is_enum {
        let accepts_null = |list: &[Node<'_>]| list.iter().any(Node::is_null);
        if !is_optional || schema.array_at("enum").is_none_or(accepts_null) {
            return changed;
        }
        schema.visit("enum", |list| list.as_array_mut().map(|list| list.push(Node::new(Data::Null))));
        changed = true;
    }
    if schema.get("type").is_none() {
        if let Some(is_nullable) = schema.visit("anyOf", |branches| widen_branches(branches, &mut changed)) {
            if is_optional && !is_nullable {
                let null = Node::record([("type", Node::literal("null"))]);
                schema.visit("anyOf", |branches| branches.as_array_mut().map(|list| list.push(null)));
                changed = true;
            }
            return changed;
        }
    }
    let Some(types) = schema.get("type") else { return changed };
    let declared_types: Vec<String> = match (types.as_text(), types.as_array()) {
        (Some(name), _) => Vec::from([name.display().into_owned()]),
        (_, Some(names)) => names.iter().filter_map(|name| Some(name.as_text()?.display().into_owned())).collect(),
        _ => return changed,
    };
    let has = |wanted: &str| declared_types.iter().any(|name| name == wanted);
    // An enumeration restricts values of every type.
    let admits_text = !is_enum && TYPES_WRITTEN_AS_TEXT.iter().any(|name| has(name)) && !has("string");
    let added = [admits_text.then_some("string"), (is_optional && !has("null")).then_some("null")];
    if added.iter().any(Option::is_some) {
        let names = declared_types.iter().map(|name| Text::new(name.clone())).map(Node::string);
        let names = names.chain(added.into_iter().flatten().map(Node::literal)).collect();
        schema.set("type", Node::array(names));
        changed = true;
    }
    changed
}

fn widen_branches(branches: &mut Node<'_>, changed: &mut bool) -> bool {
    let mut is_nullable = false;
    let _ = branches.visit_children(|_, branch| {
        let is_optional = false;
        *changed |= widen_value(branch, is_optional);
        let types = branch.get("type");
        let accepts_any_type = || ["$ref", "enum", "const", "anyOf"].iter().all(|key| branch.get(*key).is_none());
        is_nullable |= types.map_or_else(accepts_any_type, |types| {
            types.is_text("null") || types.as_array().is_some_and(|list| list.iter().any(|name| name.is_text("null")))
        });
        Ok::<(), Error>(())
    });
    is_nullable
}
