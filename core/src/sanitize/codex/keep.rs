//! Reduces a schema to Codex's typed model. Other keywords are removed; if a value does not fit the model, Codex drops
//! the tool.

use alloc::{format, string::String};

use super::{
    diagnostics::{Diagnostics, Left, Note},
    model::{modelled, APPLICATORS, TYPES},
};
use crate::{
    collections::Set,
    error::{Code, Error},
    json::{Data, Member, Node, Object, Pointer, Step},
    report::{Accepts, Guidance},
    rules::Rule,
    schema::{
        keyword::{Keyword, Role},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

/// Removes keywords that Codex has no field for, and returns an error if Codex would drop the tool.
pub(super) fn keep(root: &mut Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    if root.as_object().is_none() {
        return Err(refused(String::new(), "a schema (an object or a boolean)", root.kind()));
    }
    if root.get(Keyword::Type).is_some_and(|value| value.is_text("null")) {
        return Err(refused(String::new(), "parameters that accept something", "the single type `null`"));
    }
    forget_dropped(root, diagnostics)?;
    let budget = diagnostics.budget;
    let mut keep = Keep { diagnostics, first: None };
    visit::walk_mut(budget, root, APPLICATORS, &mut keep)?;
    keep.first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Retracts changes inside `prefixItems`, which Codex repairs before it removes the keyword.
fn forget_dropped(root: &Node<'_>, diagnostics: &mut Diagnostics<'_>) -> Result<(), Error> {
    if !diagnostics.is_on() {
        return Ok(());
    }
    let mut gone = Set::new();
    visit::walk(diagnostics.budget, root, APPLICATORS, &mut |node, place| {
        if node.get(Keyword::PrefixItems).is_some() {
            gone.insert(place.pointer.render_with("prefixItems"));
        }
        Ok(Visit::Descend)
    })?;
    diagnostics.retract(&gone);
    Ok(())
}

fn refused(pointer: String, expected: &str, found: &str) -> Error {
    Error::new(Code::NotRepresentable, pointer, format!("expected {expected}, found {found}; Codex drops such a tool"))
}

struct Keep<'n, 'r> {
    diagnostics: &'n mut Diagnostics<'r>,
    /// First fault in document order, with the number of its node.
    first: Option<(u32, Error)>,
}

impl<'a> VisitorMut<'a> for Keep<'_, '_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        match node.data() {
            Data::Object(object) => {
                self.refuse_members(object, place.pointer);
                self.drop_unmodelled(node, place);
                Ok(Visit::Descend)
            }
            Data::Bool(_) if place.pointer.steps().last() == Some(&Step::Name("additionalProperties")) => {
                Ok(Visit::Skip)
            }
            _ => {
                self.refuse(node, || place.pointer.render(), "a schema");
                Ok(Visit::Skip)
            }
        }
    }
}

impl<'a> Keep<'_, '_> {
    /// Records a fault for each member of a schema whose value does not fit the field.
    fn refuse_members(&mut self, object: &Object<'a>, pointer: &Pointer<'a>) {
        for Member { key, value } in object {
            let Some(name) = modelled(key) else { continue };
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

    /// Records a fault if it precedes the recorded one.
    fn refuse(&mut self, value: &Node<'a>, pointer: impl FnOnce() -> String, expected: &str) {
        let at = value.origin().number().unwrap_or(u32::MAX);
        if self.first.as_ref().is_none_or(|(first, _)| at < *first) {
            self.first = Some((at, refused(pointer(), expected, value.kind())));
        }
    }

    /// Removes the keywords that Codex has no field for.
    fn drop_unmodelled(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) {
        let modelled = |member: &Member<'_>| modelled(&member.key).is_some();
        let Some(object) = node.as_object().filter(|object| !object.iter().all(modelled)) else { return };
        if self.diagnostics.is_on() {
            for member in object.iter().filter(|member| !modelled(member)) {
                let (accepts, guidance) = lost(member, object, place.keyword.is_none());
                let name = member.key.display();
                let note = Note { rule: Rule::DropKeyword, accepts, guidance, left: Left::Nothing };
                self.diagnostics
                    .report(node, place, Some(&name), note, || format!("removed `{name}`: Codex has no field for it"));
            }
        }
        if let Some(object) = node.as_object_mut() {
            object.retain(|member| modelled(member));
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

/// Returns the effect of removing one keyword.
fn lost(member: &Member<'_>, beside: &Object<'_>, is_root: bool) -> (Accepts, Guidance) {
    let Some(keyword) = Keyword::named(&member.key) else { return (Accepts::Same, Guidance::Lost) };
    let accepts = match (keyword.role(), keyword) {
        (Role::Meta, _) => return (Accepts::Same, Guidance::Same),
        // References may lead to the removed identifier or definitions; the root's own `$id` changes nothing.
        (Role::Identifier, _) if is_root => return (Accepts::Same, Guidance::Same),
        (Role::Identifier | Role::Definitions, _) => return (Accepts::Mixed, Guidance::Same),
        (Role::Annotation, _) => Accepts::Same,
        // Members or items that the removed keyword matched are now checked against the sibling keyword.
        (_, Keyword::PatternProperties) if narrows(beside.get(Keyword::AdditionalProperties)) => Accepts::Mixed,
        (_, Keyword::PrefixItems) if narrows(beside.get(Keyword::Items)) => Accepts::Mixed,
        (_, Keyword::Nullable) if member.value.as_bool() == Some(true) => Accepts::Narrower,
        (_, Keyword::Nullable) => Accepts::Same,
        (Role::Assertion, _) => Accepts::Wider,
    };
    (accepts, Guidance::Lost)
}

/// True if a schema is present and is neither `true` nor `{}`, so it may refuse something.
fn narrows(schema: Option<&Node<'_>>) -> bool {
    schema.is_some_and(|schema| schema.as_bool() != Some(true) && !schema.as_object().is_some_and(Object::is_empty))
}
