//! Codex's sanitizer, which visits children before parents: booleans become strings, `const` becomes `enum`, and
//! missing types are inferred. Then reduces the schema to Codex's typed model: other keywords are removed; if a value
//! does not fit the model, Codex drops the tool.

use alloc::{format, string::String, vec, vec::Vec};

use super::{modelled_keyword, ChangeKind, Diagnostics, Remainder, APPLICATORS, TYPES};
use crate::{
    collections::Set,
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, Data, Member, Node, Object, Pointer, Step, Text},
    rules::Rule,
    schema::{
        keyword::{Keyword, Keywords, Role},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

/// Keywords that Codex searches for subschemas.
const VISITED_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::Items,
    Keyword::AdditionalProperties,
    Keyword::PrefixItems,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Defs,
    Keyword::Definitions,
]);

/// Keywords from which a type is inferred. The first row with a present keyword wins; its value is not examined.
const HINTS: [(&str, &[&str]); 4] = [
    ("object", &["properties", "required", "additionalProperties"]),
    ("array", &["items", "prefixItems"]),
    ("string", &["enum", "format"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

const DECLARES_TYPE_ELSEWHERE: [&str; 4] = ["$ref", "anyOf", "oneOf", "allOf"];

pub(super) fn repair(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    visit::walk_mut(diagnostics.budget, root, VISITED_KEYWORDS, &mut Repair { diagnostics })
}

struct Repair<'n, 'r> {
    diagnostics: &'n mut Diagnostics<'r>,
}

impl<'a> VisitorMut<'a> for Repair<'_, '_> {
    fn leave(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        match node.data() {
            // Codex does not treat a boolean `additionalProperties` as a schema, but it does treat booleans inside an
            // array there as schemas.
            Data::Bool(value) if path.pointer.steps().last() != Some(&Step::Name("additionalProperties")) => {
                let value = *value;
                self.replace_boolean(node, path, value);
            }
            Data::Object(_) => {
                self.drop_invalid_tables(node, path);
                self.const_to_enum(node, path);
                self.remove_nulls(node, path);
                self.complete_type(node, path);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Repair<'_, '_> {
    fn replace_boolean(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>, value: bool) {
        let accepts = if value { Accepts::Narrower } else { Accepts::Wider };
        let kind =
            ChangeKind { rule: Rule::BooleanToString, accepts, guidance: Guidance::Same, remainder: Remainder::Here };
        self.diagnostics.report(node, path, None, kind, || format!("replaced the schema `{value}` with a string"));
        node.replace(Node::record([("type", Node::literal("string"))]).into_data());
    }

    fn drop_invalid_tables(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>) {
        for table in ["$defs", "definitions"] {
            let Some(found_kind) = node.get(table).filter(|value| value.as_object().is_none()).map(Node::kind) else {
                continue;
            };
            let kind = ChangeKind {
                rule: Rule::DropDefinitionsTable,
                accepts: Accepts::Same,
                guidance: Guidance::Same,
                remainder: Remainder::Nothing,
            };
            self.diagnostics
                .report(node, path, Some(table), kind, || format!("removed `{table}`, which is {found_kind}"));
            if let Some(object) = node.as_object_mut() {
                object.remove(table);
            }
        }
    }

    fn const_to_enum(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>) {
        let Some(value) = node.get(Keyword::Const) else { return };
        let accepts = match node.get(Keyword::Enum) {
            None => Accepts::Same,
            // A value had to match both `const` and `enum`. From now on it has to match only `const`.
            Some(list) if list.as_array().is_some_and(|items| items.iter().any(|item| json::same(item, value))) => {
                Accepts::Same
            }
            Some(_) => Accepts::Wider,
        };
        let kind = ChangeKind {
            rule: Rule::ConstToEnum,
            accepts,
            guidance: Guidance::Same,
            remainder: Remainder::Keyword("enum"),
        };
        self.diagnostics
            .report(node, path, Some("const"), kind, || String::from("replaced `const` with an `enum` of one value"));
        let Some(object) = node.as_object_mut() else { return };
        object.remove(Keyword::Enum);
        if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const)) {
            let value = core::mem::take(&mut member.value);
            *member = Member { key: Text::literal("enum"), value: Node::array(vec![value]) };
        }
    }

    /// Runs before types are inferred. (This is a deviation from Codex, which infers a type from the key first; see the
    /// module's documentation.)
    fn remove_nulls(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>) {
        let is_null = |member: &Member<'_>| member.value.is_null() && modelled_keyword(&member.key).is_some();
        let Some(object) = node.as_object().filter(|object| object.iter().any(is_null)) else { return };
        if self.diagnostics.is_on() {
            for member in object.iter().filter(|member| is_null(member)) {
                let keyword = member.key.display();
                let kind = ChangeKind {
                    rule: Rule::RemoveNullKeyword,
                    accepts: Accepts::Same,
                    guidance: Guidance::Same,
                    remainder: Remainder::Nothing,
                };
                self.diagnostics
                    .report(node, path, Some(&keyword), kind, || format!("removed `{keyword}`, which is null"));
            }
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !is_null(member));
        }
    }

    fn complete_type(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>) {
        let Some(object) = node.as_object() else { return };
        let known_names = known_types(object.get(Keyword::Type));
        let type_names = match known_names.first() {
            Some(_) => {
                self.respell_type(node, path, &known_names);
                known_names
            }
            None if DECLARES_TYPE_ELSEWHERE.iter().any(|keyword| object.has(keyword)) => return,
            None => match HINTS.iter().find(|(_, hints)| hints.iter().any(|hint| object.has(hint))) {
                Some((name, _)) => {
                    self.infer_type(node, path, name);
                    vec![*name]
                }
                None => return self.clear(node, path),
            },
        };
        let Some(object) = node.as_object() else { return };
        let lacks = |name: &str, keyword: &str| type_names.contains(&name) && !object.has(keyword);
        let (lacks_properties, lacks_items) = (lacks("object", "properties"), lacks("array", "items"));
        if lacks_properties {
            let kind = ChangeKind {
                rule: Rule::AddProperties,
                accepts: Accepts::Same,
                guidance: Guidance::Same,
                remainder: Remainder::Keyword("properties"),
            };
            self.diagnostics.report(node, path, None, kind, || {
                String::from("added `properties: {}`, as Codex does for every object")
            });
            if let Some(object) = node.as_object_mut() {
                let index = object.position(Keyword::Type).map_or(0, |at| at + 1);
                object.insert_at(index, Text::literal("properties"), Node::empty_object());
            }
        }
        if lacks_items {
            let kind = ChangeKind {
                rule: Rule::AddItems,
                accepts: Accepts::Narrower,
                guidance: Guidance::Same,
                remainder: Remainder::Keyword("items"),
            };
            self.diagnostics.report(node, path, None, kind, || {
                String::from("added `items: {\"type\":\"string\"}`: Codex assumes strings")
            });
            if let Some(object) = node.as_object_mut() {
                object.set(Text::literal("items"), Node::record([("type", Node::literal("string"))]));
            }
        }
    }

    fn respell_type(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>, listed: &[&'static str]) {
        let (is_name, count) = match node.get(Keyword::Type).map(Node::data) {
            Some(Data::String(_)) => (true, 1),
            Some(Data::Array(names)) => (false, names.len()),
            _ => (false, 0),
        };
        if is_name || (count == listed.len() && count > 1) {
            return;
        }
        // An unknown type name accepts no value, so removing it loses nothing.
        let kind = ChangeKind {
            rule: Rule::RepairType,
            accepts: Accepts::Same,
            guidance: Guidance::Same,
            remainder: Remainder::Keyword("type"),
        };
        self.diagnostics.report(node, path, Some("type"), kind, || {
            String::from(match count == listed.len() {
                true => "replaced a list of one type with that type",
                false => "removed from `type` the names that Codex does not know",
            })
        });
        let value = match listed {
            [name] => Node::literal(name),
            names => Node::array(names.iter().map(|name| Node::literal(name)).collect()),
        };
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("type"), value);
        }
    }

    fn infer_type(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>, name: &'static str) {
        let Some(object) = node.as_object() else { return };
        let all_strings =
            |list: &Node<'_>| list.as_array().is_some_and(|items| items.iter().all(|item| item.as_text().is_some()));
        let is_certain = match name {
            // Arguments are always objects.
            "object" => path.keyword.is_none(),
            "string" => object.get(Keyword::Enum).is_some_and(all_strings),
            _ => false,
        };
        let (rule, at, accepts) = match object.has(Keyword::Type) {
            true => (Rule::RepairType, Some("type"), Accepts::Wider),
            false if is_certain => (Rule::InferType, None, Accepts::Same),
            false => (Rule::InferType, None, Accepts::Narrower),
        };
        let kind = ChangeKind { rule, accepts, guidance: Guidance::Same, remainder: Remainder::Keyword("type") };
        self.diagnostics.report(node, path, at, kind, || {
            format!("added `type: \"{name}\"`, which Codex infers from the keywords next to it")
        });
        let Some(object) = node.as_object_mut() else { return };
        object.set_at(0, Text::literal("type"), Node::literal(name));
    }

    /// Replaces a schema without a type with `{}`. The description is removed as well.
    fn clear(&mut self, node: &mut Node<'_>, path: &SchemaPath<'_, '_>) {
        let Some(object) = node.as_object().filter(|object| !object.is_empty()) else { return };
        let (accepts, guidance) = effect_of_clearing(object, path.keyword.is_none());
        let kind = ChangeKind { rule: Rule::ClearUntyped, accepts, guidance, remainder: Remainder::Here };
        self.diagnostics.forget_latest_below(path);
        self.diagnostics.report(node, path, None, kind, || {
            let names: Vec<String> = object.iter().map(|member| format!("`{}`", member.key.display())).collect();
            format!("replaced a schema from which Codex infers no type with `{{}}`: {}", names.join(", "))
        });
        node.replace(Data::Object(Object::new()));
    }
}

fn known_types(value: Option<&Node<'_>>) -> Vec<&'static str> {
    let known = |node: &Node<'_>| TYPES.iter().copied().find(|name| node.is_text(name));
    match value.map(|node| (node, node.as_array())) {
        Some((_, Some(names))) => names.iter().filter_map(known).collect(),
        Some((name, None)) => known(name).into_iter().collect(),
        None => Vec::new(),
    }
}

fn effect_of_clearing(object: &Object<'_>, is_root: bool) -> (Accepts, Guidance) {
    let (mut accepts, mut guidance) = (Accepts::Same, Guidance::Same);
    for member in object {
        match Keyword::named(&member.key).map(Keyword::role) {
            Some(Role::Meta) => {}
            // References may point to this schema, unless it is the root.
            Some(Role::Identifier | Role::Definitions) if is_root => {}
            Some(Role::Identifier | Role::Definitions) => accepts = Accepts::Mixed,
            Some(Role::Annotation) | None => guidance = Guidance::Lost,
            Some(Role::Assertion) => {
                accepts = accepts.and(Accepts::Wider);
                guidance = Guidance::Lost;
            }
        }
    }
    (accepts, guidance)
}

/// Reduces the schema to the keywords that Codex models.
///
/// # Errors
/// If Codex would drop the tool.
pub(super) fn reduce(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    if root.as_object().is_none() {
        return Err(refusal(String::new(), "a schema (an object or a boolean)", root.kind()));
    }
    if root.get(Keyword::Type).is_some_and(|value| value.is_text("null")) {
        return Err(refusal(String::new(), "parameters that accept something", "the single type `null`"));
    }
    forget_prefix_items(root, diagnostics)?;
    let budget = diagnostics.budget;
    let mut reducer = ModelReducer { diagnostics, first_fault: None };
    visit::walk_mut(budget, root, APPLICATORS, &mut reducer)?;
    reducer.first_fault.map_or(Ok(()), |(_, error)| Err(error))
}

/// Removes the changes inside `prefixItems`: Codex repairs its schemas before it removes the keyword.
fn forget_prefix_items(root: &Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    if !diagnostics.is_on() {
        return Ok(());
    }
    let mut gone = Set::new();
    visit::walk(diagnostics.budget, root, APPLICATORS, &mut |node, path| {
        if node.get(Keyword::PrefixItems).is_some() {
            gone.insert(path.pointer.render_with("prefixItems"));
        }
        Ok(Visit::Descend)
    })?;
    diagnostics.retract(&gone);
    Ok(())
}

fn refusal(pointer: String, expected: &str, found: &str) -> Error {
    Error::new(Code::NotRepresentable, pointer, format!("expected {expected}, found {found}; Codex drops such a tool"))
}

struct ModelReducer<'n, 'r> {
    diagnostics: &'n mut Diagnostics<'r>,
    /// First fault in document order, with the number of its node.
    first_fault: Option<(u32, Error)>,
}

impl<'a> VisitorMut<'a> for ModelReducer<'_, '_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        match node.data() {
            Data::Object(object) => {
                self.refuse_members(object, path.pointer);
                self.drop_unmodelled(node, path);
                Ok(Visit::Descend)
            }
            Data::Bool(_) if path.pointer.steps().last() == Some(&Step::Name("additionalProperties")) => {
                Ok(Visit::Skip)
            }
            _ => {
                self.refuse(node, || path.pointer.render(), "a schema");
                Ok(Visit::Skip)
            }
        }
    }
}

impl<'a> ModelReducer<'_, '_> {
    fn refuse_members(&mut self, object: &Object<'a>, pointer: &Pointer<'a>) {
        for Member { key, value } in object {
            let Some(name) = modelled_keyword(key) else { continue };
            let expected = match name {
                "type" if unknown_type(value) => "a type name that Codex knows, or a list of them",
                "items" if value.as_object().is_none() && value.as_bool().is_none() => "one schema for all items",
                "additionalProperties" if value.as_object().is_none() && value.as_bool().is_none() => {
                    "a schema or a boolean"
                }
                "properties" if value.as_object().is_none() => "an object of schemas",
                "anyOf" | "oneOf" | "allOf" if value.as_array().is_none() => "a list of schemas",
                "required"
                    if !value.as_array().is_some_and(|names| names.iter().all(|name| name.as_text().is_some())) =>
                {
                    "a list of strings"
                }
                "enum" if value.as_array().is_none() => "a list",
                "description" | "$ref" if value.as_text().is_none() => "a string",
                "minItems" if value.as_u64().is_none() => "a non-negative integer",
                "encrypted" if value.as_bool().is_none() => "a boolean",
                _ => continue,
            };
            self.refuse(value, || pointer.render_with(name), expected);
        }
    }

    fn refuse(&mut self, value: &Node<'a>, pointer: impl FnOnce() -> String, expected: &str) {
        let at = value.origin().number().unwrap_or(u32::MAX);
        if self.first_fault.as_ref().is_none_or(|(first, _)| at < *first) {
            self.first_fault = Some((at, refusal(pointer(), expected, value.kind())));
        }
    }

    fn drop_unmodelled(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) {
        let is_modelled = |member: &Member<'_>| modelled_keyword(&member.key).is_some();
        let Some(object) = node.as_object().filter(|object| !object.iter().all(is_modelled)) else { return };
        if self.diagnostics.is_on() {
            for member in object.iter().filter(|member| !is_modelled(member)) {
                let (accepts, guidance) = effect_of_removal(member, object, path.keyword.is_none());
                let name = member.key.display();
                let kind = ChangeKind { rule: Rule::DropKeyword, accepts, guidance, remainder: Remainder::Nothing };
                self.diagnostics
                    .report(node, path, Some(&name), kind, || format!("removed `{name}`: Codex has no field for it"));
            }
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| is_modelled(member));
        }
    }
}

fn unknown_type(value: &Node<'_>) -> bool {
    let unknown = |node: &Node<'_>| !TYPES.iter().any(|name| node.is_text(name));
    match value.as_array() {
        Some(names) => names.iter().any(unknown),
        None => unknown(value),
    }
}

fn effect_of_removal(member: &Member<'_>, siblings: &Object<'_>, is_root: bool) -> (Accepts, Guidance) {
    let Some(keyword) = Keyword::named(&member.key) else { return (Accepts::Same, Guidance::Lost) };
    let accepts = match (keyword.role(), keyword) {
        (Role::Meta, _) => return (Accepts::Same, Guidance::Same),
        // References may point to the removed identifier or definitions; the root's own `$id` changes nothing.
        (Role::Identifier, _) if is_root => return (Accepts::Same, Guidance::Same),
        (Role::Identifier | Role::Definitions, _) => return (Accepts::Mixed, Guidance::Same),
        (Role::Annotation, _) => Accepts::Same,
        // Members or items that the removed keyword matched are now checked against the sibling keyword.
        (_, Keyword::PatternProperties) if narrows(siblings.get(Keyword::AdditionalProperties)) => Accepts::Mixed,
        (_, Keyword::PrefixItems) if narrows(siblings.get(Keyword::Items)) => Accepts::Mixed,
        (_, Keyword::Nullable) if member.value.as_bool() == Some(true) => Accepts::Narrower,
        (_, Keyword::Nullable) => Accepts::Same,
        (Role::Assertion, _) => Accepts::Wider,
    };
    (accepts, Guidance::Lost)
}

fn narrows(schema: Option<&Node<'_>>) -> bool {
    schema.is_some_and(|schema| schema.as_bool() != Some(true) && !schema.as_object().is_some_and(Object::is_empty))
}
