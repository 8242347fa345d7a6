//! Codex's sanitizer, which visits children before parents: booleans become strings, `const` becomes `enum`, and
//! missing types are inferred.

use alloc::{format, string::String, vec, vec::Vec};

use super::{
    diagnostics::{Diagnostics, Left, Note},
    model::{modelled, TYPES},
};
use crate::{
    error::Error,
    json::{self, Data, Member, Node, Object, Step, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    schema::{
        keyword::{Keyword, Keywords, Role},
        visit::{self, SchemaPath, VisitorMut},
    },
};

/// Keywords in which Codex looks for subschemas.
const VISITED: Keywords = Keywords::of(&[
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

/// Keywords that prevent type inference.
const DECLARES_TYPE_ELSEWHERE: [&str; 4] = ["$ref", "anyOf", "oneOf", "allOf"];

/// Applies the repairs below to every schema, children first.
pub(super) fn repair(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    visit::walk_mut(diagnostics.budget, root, VISITED, &mut Repair { diagnostics })
}

struct Repair<'n, 'r> {
    diagnostics: &'n mut Diagnostics<'r>,
}

impl<'a> VisitorMut<'a> for Repair<'_, '_> {
    fn leave(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<(), Error> {
        match node.data() {
            // Codex does not treat a boolean `additionalProperties` as a schema, but it does treat booleans inside an
            // array there as schemas.
            Data::Bool(value) if place.pointer.steps().last() != Some(&Step::Name("additionalProperties")) => {
                let value = *value;
                self.boolean(node, place, value);
            }
            Data::Object(_) => {
                self.tables(node, place);
                self.constant(node, place);
                self.nulls(node, place);
                self.types(node, place);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Repair<'_, '_> {
    /// Replaces a boolean schema with `{type: "string"}`.
    fn boolean(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>, value: bool) {
        let accepts = if value { Accepts::Narrower } else { Accepts::Wider };
        let note = Note { rule: Rule::BooleanToString, accepts, guidance: Guidance::Same, left: Left::Here };
        self.diagnostics.report(node, place, None, note, || format!("replaced the schema `{value}` with a string"));
        node.replace(Node::record([("type", Node::literal("string"))]).into_data());
    }

    /// Removes a table of definitions that is not an object.
    fn tables(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>) {
        for table in ["$defs", "definitions"] {
            let Some(kind) = node.get(table).filter(|value| value.as_object().is_none()).map(Node::kind) else {
                continue;
            };
            let note = Note {
                rule: Rule::DropDefinitionsTable,
                accepts: Accepts::Same,
                guidance: Guidance::Same,
                left: Left::Nothing,
            };
            self.diagnostics.report(node, place, Some(table), note, || format!("removed `{table}`, which is {kind}"));
            if let Some(object) = node.as_object_mut() {
                object.remove(table);
            }
        }
    }

    /// Replaces `const` with an `enum` of one value.
    fn constant(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>) {
        let Some(value) = node.get(Keyword::Const) else { return };
        let accepts = match node.get(Keyword::Enum) {
            None => Accepts::Same,
            // A value had to match both `const` and `enum`; now only the value of `const` counts.
            Some(list) if list.as_array().is_some_and(|items| items.iter().any(|item| json::same(item, value))) => {
                Accepts::Same
            }
            Some(_) => Accepts::Wider,
        };
        let note = Note { rule: Rule::ConstToEnum, accepts, guidance: Guidance::Same, left: Left::Keyword("enum") };
        self.diagnostics
            .report(node, place, Some("const"), note, || String::from("replaced `const` with an `enum` of one value"));
        let Some(object) = node.as_object_mut() else { return };
        object.remove(Keyword::Enum);
        if let Some(member) = object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const)) {
            let value = core::mem::take(&mut member.value);
            *member = Member { key: Text::literal("enum"), value: Node::array(vec![value]) };
        }
    }

    /// Removes modelled keywords that are null, before types are inferred. (This is a deviation from Codex, which
    /// infers a type from the key first; see the module's documentation.)
    fn nulls(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>) {
        let is_null = |member: &Member<'_>| member.value.is_null() && modelled(&member.key).is_some();
        let Some(object) = node.as_object().filter(|object| object.iter().any(is_null)) else { return };
        if self.diagnostics.is_on() {
            for member in object.iter().filter(|member| is_null(member)) {
                let keyword = member.key.display();
                let note = Note {
                    rule: Rule::RemoveNullKeyword,
                    accepts: Accepts::Same,
                    guidance: Guidance::Same,
                    left: Left::Nothing,
                };
                self.diagnostics
                    .report(node, place, Some(&keyword), note, || format!("removed `{keyword}`, which is null"));
            }
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| !is_null(member));
        }
    }

    /// Repairs, infers or clears the type, and adds `properties` or `items`.
    fn types(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>) {
        let Some(object) = node.as_object() else { return };
        let listed = recognized(object.get(Keyword::Type));
        let named = match listed.first() {
            Some(_) => {
                self.respell_type(node, place, &listed);
                listed
            }
            None if DECLARES_TYPE_ELSEWHERE.iter().any(|keyword| object.has(keyword)) => return,
            None => match HINTS.iter().find(|(_, hints)| hints.iter().any(|hint| object.has(hint))) {
                Some((name, _)) => {
                    self.infer_type(node, place, name);
                    vec![*name]
                }
                None => return self.clear(node, place),
            },
        };
        let Some(object) = node.as_object() else { return };
        let lacks = |name: &str, keyword: &str| named.contains(&name) && !object.has(keyword);
        let (lacks_properties, lacks_items) = (lacks("object", "properties"), lacks("array", "items"));
        if lacks_properties {
            let note = Note {
                rule: Rule::AddProperties,
                accepts: Accepts::Same,
                guidance: Guidance::Same,
                left: Left::Keyword("properties"),
            };
            self.diagnostics.report(node, place, None, note, || {
                String::from("added `properties: {}`, as Codex does for every object")
            });
            if let Some(object) = node.as_object_mut() {
                let place = object.position(Keyword::Type).map_or(0, |place| place + 1);
                object.insert_at(place, Text::literal("properties"), Node::empty_object());
            }
        }
        if lacks_items {
            let note = Note {
                rule: Rule::AddItems,
                accepts: Accepts::Narrower,
                guidance: Guidance::Same,
                left: Left::Keyword("items"),
            };
            self.diagnostics.report(node, place, None, note, || {
                String::from("added `items: {\"type\":\"string\"}`: Codex assumes strings")
            });
            if let Some(object) = node.as_object_mut() {
                object.set(Text::literal("items"), Node::record([("type", Node::literal("string"))]));
            }
        }
    }

    /// Removes unknown names from an existing type, and replaces a list of one type with that type.
    fn respell_type(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>, listed: &[&'static str]) {
        let (is_name, count) = match node.get(Keyword::Type).map(Node::data) {
            Some(Data::String(_)) => (true, 1),
            Some(Data::Array(names)) => (false, names.len()),
            _ => (false, 0),
        };
        if is_name || (count == listed.len() && count > 1) {
            return;
        }
        // An unknown type name accepts no value, so removing it loses nothing.
        let note = Note {
            rule: Rule::RepairType,
            accepts: Accepts::Same,
            guidance: Guidance::Same,
            left: Left::Keyword("type"),
        };
        self.diagnostics.report(node, place, Some("type"), note, || {
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

    /// Sets the inferred type in a schema whose type is missing or unknown.
    fn infer_type(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>, name: &'static str) {
        let Some(object) = node.as_object() else { return };
        let all_strings =
            |list: &Node<'_>| list.as_array().is_some_and(|items| items.iter().all(|item| item.as_text().is_some()));
        let proved = match name {
            // Arguments are always objects.
            "object" => place.keyword.is_none(),
            "string" => object.get(Keyword::Enum).is_some_and(all_strings),
            _ => false,
        };
        let (rule, at, accepts) = match object.has(Keyword::Type) {
            true => (Rule::RepairType, Some("type"), Accepts::Wider),
            false if proved => (Rule::InferType, None, Accepts::Same),
            false => (Rule::InferType, None, Accepts::Narrower),
        };
        let note = Note { rule, accepts, guidance: Guidance::Same, left: Left::Keyword("type") };
        self.diagnostics.report(node, place, at, note, || {
            format!("added `type: \"{name}\"`, which Codex infers from the keywords next to it")
        });
        let Some(object) = node.as_object_mut() else { return };
        object.set_at(0, Text::literal("type"), Node::literal(name));
    }

    /// Empties a schema from which no type can be inferred. Its description is removed as well.
    fn clear(&mut self, node: &mut Node<'_>, place: &SchemaPath<'_, '_>) {
        let Some(object) = node.as_object().filter(|object| !object.is_empty()) else { return };
        let (accepts, guidance) = emptied(object, place.keyword.is_none());
        let note = Note { rule: Rule::ClearUntyped, accepts, guidance, left: Left::Here };
        self.diagnostics.forget_latest_below(place);
        self.diagnostics.report(node, place, None, note, || {
            let names: Vec<String> = object.iter().map(|member| format!("`{}`", member.key.display())).collect();
            format!("replaced a schema from which Codex infers no type with `{{}}`: {}", names.join(", "))
        });
        node.replace(Data::Object(Object::new()));
    }
}

/// Returns the known names in a `type`, in order, with duplicates.
fn recognized(value: Option<&Node<'_>>) -> Vec<&'static str> {
    let known = |node: &Node<'_>| TYPES.iter().copied().find(|name| node.is_text(name));
    match value.map(|node| (node, node.as_array())) {
        Some((_, Some(names))) => names.iter().filter_map(known).collect(),
        Some((name, None)) => known(name).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns the effect of removing all members of a schema.
fn emptied(object: &Object<'_>, is_root: bool) -> (Accepts, Guidance) {
    let (mut accepts, mut guidance) = (Accepts::Same, Guidance::Same);
    for member in object {
        match Keyword::named(&member.key).map(Keyword::role) {
            Some(Role::Meta) => {}
            // References may lead to this schema, unless it is the root.
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
