//! Keys with `/` inside kept definitions, for a validator that splits references at `/` and would not find schemas
//! below such a key: patterns are respelled, other keywords removed. (Properties are renamed by `property_names`.)

use alloc::{format, string::String};

use crate::{
    collections::Set,
    json::{Data, Node, Object, Step, Text},
    report::Accepts,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Role, Subschemas},
        visit::SchemaPath,
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::DropSlashKey);
const CONSTANT: ChangeKind = ChangeKind::of(Rule::DropSlashKey).accepts(Accepts::Wider);
const PATTERN: ChangeKind = ChangeKind::of(Rule::RewritePattern);

/// True if a definition at the root has such a key, at any depth.
pub(crate) fn occur_in_definitions(root: &Node<'_>) -> bool {
    let table = root.object_at(Keyword::Defs.name());
    table.into_iter().flatten().any(|member| holds(&member.value))
}

/// True if an object has such a key, in nested objects or lists.
fn holds(value: &Node<'_>) -> bool {
    match value.data() {
        Data::Object(object) => object.iter().any(|member| has_slash(&member.key) || holds(&member.value)),
        Data::Array(items) => items.iter().any(holds),
        _ => false,
    }
}

fn has_slash(key: &Text<'_>) -> bool {
    key.display().contains('/')
}

/// Removes such keys from one schema of a definition.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.no_slash || place.pointer.steps().first() != Some(&Step::Name(Keyword::Defs.name())) {
        return;
    }
    patterns(node, place, context);
    let mut gone: Set<Text<'a>> = Set::new();
    for member in node.as_object().into_iter().flatten() {
        let keyword = Keyword::named(&member.key);
        // Subschemas are handled on their own, and names of properties by `property_names`.
        let elsewhere = keyword
            .is_some_and(|keyword| keyword.holds() != Subschemas::Value || keyword == Keyword::DependentRequired);
        if elsewhere || !(has_slash(&member.key) || holds(&member.value)) {
            continue;
        }
        let validates = keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
        let name = member.key.display().into_owned();
        let effect = if validates { CONSTANT } else { DROP };
        context.diagnostics.report(place.polarity, Location::of(&member.value), Location::Nowhere, effect, || {
            format!("removed `{name}`: no key inside a definition may contain `/`")
        });
        gone.insert(member.key.clone());
    }
    if gone.is_empty() {
        return;
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !gone.contains(&member.key));
    }
}

/// Respells `a/b` as the equivalent pattern `a\x2fb`.
fn patterns<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(table) = node.object_at(Keyword::PatternProperties) else { return };
    if !table.iter().any(|member| has_slash(&member.key)) {
        return;
    }
    for member in table.iter().filter(|member| has_slash(&member.key)) {
        let (location, name) = (Location::of(&member.value), member.key.display().into_owned());
        context.diagnostics.report(place.polarity, location.clone(), location, PATTERN, || {
            format!("replaced `/` in the pattern `{name}` with `\\x2f`")
        });
    }
    node.visit(Keyword::PatternProperties, |table| {
        for member in
            table.as_object_mut().into_iter().flat_map(Object::members_mut).filter(|member| has_slash(&member.key))
        {
            if let Some(pattern) = member.key.value().map(|pattern| without_slash(&pattern)) {
                member.key = Text::new(pattern);
            }
        }
    });
}

fn without_slash(pattern: &str) -> String {
    let mut spelled = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '/' => spelled.push_str("\\x2f"),
            '\\' => match characters.next() {
                Some('/') => spelled.push_str("\\x2f"),
                escaped => {
                    spelled.push('\\');
                    spelled.extend(escaped);
                }
            },
            other => spelled.push(other),
        }
    }
    spelled
}
