//! Faults for which Codex drops a tool: values that its typed model of a schema cannot represent after its sanitizer
//! has run.
//!
//! Only faults that remain after Codex's sanitizer are reported. A fault is ignored under a keyword that is dropped, in
//! a schema that is emptied, or in a definition that is pruned. Null is not a fault if Codex treats it as absence.

use alloc::{format, string::String, vec::Vec};

use super::{Extent, Found, Violation};
use crate::{
    budget::Budget,
    collections::Set,
    error::Error,
    json::{Data, Member, Node, Object, Step},
    report::Severity,
    rules::Constraint,
    schema::{
        definitions::{self, Definition, TABLES},
        keyword::{Keyword, Keywords},
        visit::{self, SchemaPath, Visit},
    },
};

/// Keywords whose subschemas Codex keeps.
const SCHEMA_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Defs,
    Keyword::Definitions,
]);

/// Keywords that prevent Codex from emptying a schema without a type, regardless of their values.
const KEEPS_A_SCHEMA: [&str; 18] = [
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "type",
];

/// Keywords for which Codex treats null as absence.
const NULL_IS_ABSENT: [&str; 10] =
    ["$ref", "anyOf", "oneOf", "allOf", "properties", "required", "additionalProperties", "items", "enum", "type"];

const TYPE_NAMES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

pub(super) fn check(root: &Node<'_>, extent: Extent, budget: &Budget) -> Result<Vec<Violation>, Error> {
    let mut faults = Faults { found: Found::new(extent), budget };
    match root.data() {
        Data::Bool(_) => return Ok(Vec::new()),
        Data::Object(_) => {}
        _ => faults.add(root, String::new(), Constraint::RootNotSchema, "a schema (an object or a boolean)"),
    }
    if accepts_only_null(root) {
        faults.add_found(
            root,
            String::new(),
            Constraint::RootNull,
            "parameters that accept something",
            "the single type `null`",
        );
    }
    let emptied_numbers = emptied_schemas(root, budget)?;
    let reached = definitions::reached_by_codex_except(
        root,
        &|node| node.origin().number().is_some_and(|number| emptied_numbers.contains(&number)),
        budget,
    );
    visit::walk(budget, root, SCHEMA_KEYWORDS, &mut |node, path| {
        if is_pruned(path, &reached) {
            return Ok(Visit::Skip);
        }
        let Data::Object(object) = node.data() else {
            // Codex replaces boolean schemas with `type: "string"`, except in `additionalProperties`. Any other value
            // directly under a keyword is reported as a fault of the keyword; as a property, a definition or a branch,
            // it is a fault itself.
            let belongs_to_parent = matches!(path.pointer.steps().last(), None | Some(Step::Name(_)));
            if node.as_bool().is_none() && !belongs_to_parent {
                faults.add(node, path.pointer.render(), Constraint::NotASchema, "a schema");
            }
            return Ok(Visit::Skip);
        };
        if is_emptied(object) {
            return Ok(Visit::Skip);
        }
        check_members(object, path, &mut faults);
        Ok(Visit::Descend)
    })?;
    Ok(faults.found.finish())
}

struct Faults<'b> {
    found: Found,
    budget: &'b Budget,
}

impl Faults<'_> {
    fn add(&mut self, value: &Node<'_>, pointer: String, rule: Constraint, expected: &str) {
        self.add_found(value, pointer, rule, expected, value.kind());
    }

    fn add_found(&mut self, value: &Node<'_>, pointer: String, rule: Constraint, expected: &str, found: &str) {
        let message = format!("expected {expected}, found {found}; Codex drops such a tool");
        // Codex drops the tool.
        self.found.add(value, (rule, Severity::Refused), (pointer, message), self.budget);
    }
}

fn accepts_only_null(root: &Node<'_>) -> bool {
    let Some(value) = root.get(Keyword::Type) else { return false };
    // A list of one type becomes that type, after unknown type names are removed.
    let is_type = |node: &&Node<'_>| TYPE_NAMES.iter().any(|name| node.is_text(name));
    match value.as_array() {
        Some(names) => {
            let mut known_names = names.iter().filter(is_type);
            known_names.next().is_some_and(|name| name.is_text("null")) && known_names.next().is_none()
        }
        None => value.is_text("null"),
    }
}

fn is_pruned(path: &SchemaPath<'_, '_>, reached: &Set<Definition>) -> bool {
    let [Step::Name(table), Step::Member(name)] = path.pointer.steps() else { return false };
    let Some(table) = TABLES.iter().position(|known| known == table) else { return false };
    name.value().is_none_or(|name| !reached.contains(&Definition { table, name: name.into_owned() }))
}

/// Returns the numbers of the schemas that Codex empties before it determines which definitions are reached.
fn emptied_schemas(root: &Node<'_>, budget: &Budget) -> Result<Set<u32>, Error> {
    let mut emptied = Set::new();
    visit::walk(budget, root, SCHEMA_KEYWORDS.insert(Keyword::PrefixItems), &mut |node, _| match node.as_object() {
        Some(object) if is_emptied(object) => {
            emptied.extend(node.origin().number());
            Ok(Visit::Skip)
        }
        _ => Ok(Visit::Descend),
    })?;
    Ok(emptied)
}

/// Returns true if Codex empties the schema: if it has no type, no hint of a type, no reference and no combinator.
fn is_emptied(object: &Object<'_>) -> bool {
    !KEEPS_A_SCHEMA.iter().any(|keyword| match object.get(keyword) {
        None => false,
        Some(value) if value.is_null() => !NULL_IS_ABSENT.contains(keyword),
        Some(value) if *keyword == "type" => match value.as_array() {
            Some(names) => names.iter().any(|name| TYPE_NAMES.iter().any(|known| name.is_text(known))),
            None => TYPE_NAMES.iter().any(|known| value.is_text(known)),
        },
        Some(_) => true,
    })
}

fn check_members(object: &Object<'_>, path: &SchemaPath<'_, '_>, faults: &mut Faults<'_>) {
    let has_reference_or_combinator = ["$ref", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|keyword| object.get(keyword).is_some_and(|value| !value.is_null()));
    for Member { key, value } in object {
        if value.is_null() {
            continue;
        }
        let Some(name) = key.value() else { continue };
        let is_schema = value.as_object().is_some() || value.as_bool().is_some();
        let (rule, expected) = match &*name {
            "items" if value.as_array().is_some() => (Constraint::ArrayItems, "one schema for all items"),
            "items" if !is_schema => (Constraint::ItemsNotSchema, "a schema or a boolean"),
            "additionalProperties" if !is_schema => {
                (Constraint::AdditionalPropertiesNotSchema, "a schema or a boolean")
            }
            "properties" if value.as_object().is_none() => (Constraint::PropertiesNotObject, "an object of schemas"),
            "anyOf" | "oneOf" | "allOf" if value.as_array().is_none() => {
                (Constraint::CombinatorNotList, "a list of schemas")
            }
            "required" if !value.as_array().is_some_and(|names| names.iter().all(|name| name.as_text().is_some())) => {
                (Constraint::RequiredNotStrings, "a list of strings")
            }
            // `const` replaces `enum`, regardless of its value.
            "enum" if value.as_array().is_none() && !object.has(Keyword::Const) => (Constraint::EnumNotList, "a list"),
            "description" if value.as_text().is_none() => (Constraint::DescriptionNotString, "a string"),
            "$ref" if value.as_text().is_none() => (Constraint::RefNotString, "a string"),
            "minItems" if value.as_u64().is_none() => (Constraint::MinItemsNotCount, "a non-negative integer"),
            "encrypted" if value.as_bool().is_none() => (Constraint::EncryptedNotBoolean, "a boolean"),
            "type" if has_reference_or_combinator && contains_no_known_type(value) => {
                (Constraint::UnknownType, "a type name that Codex knows, or a list of them")
            }
            _ => continue,
        };
        faults.add(value, path.pointer.render_with(&name), rule, expected);
    }
}

/// Returns true if a `type` contains no type name that Codex knows. Codex keeps such a keyword next to a reference or a
/// combinator. An empty list is valid.
fn contains_no_known_type(value: &Node<'_>) -> bool {
    let known = |node: &Node<'_>| TYPE_NAMES.iter().any(|name| node.is_text(name));
    match value.as_array() {
        Some(names) => !names.is_empty() && !names.iter().any(known),
        None => !known(value),
    }
}
