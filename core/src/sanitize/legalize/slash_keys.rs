//! Keys with `/` inside definitions that stay, where a validator splits references there and would never find what lies
//! below: patterns are spelled another way, values go. (Properties are renamed with all the others.)

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

/// Does a definition at the root have such a key, at whatever depth?
pub(in crate::sanitize) fn stand_in_definitions(root: &Node<'_>) -> bool {
    let table = root.get(Keyword::Defs.name()).and_then(Node::as_object);
    table.into_iter().flatten().any(|member| holds(&member.value))
}

/// Is there an object with such a key, in objects and in lists?
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

/// Says one schema of a definition without them.
pub(in crate::sanitize) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.no_slash || place.pointer.steps().first() != Some(&Step::Name(Keyword::Defs.name())) {
        return;
    }
    patterns(node, place, context);
    let mut gone: Set<Text<'a>> = Set::new();
    for member in node.as_object().into_iter().flatten() {
        let keyword = Keyword::named(&member.key);
        // What holds schemas was said by itself, and names of properties by their own rule.
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

/// `a/b` and `a\x2fb` are the same pattern.
fn patterns<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(table) = node.get(Keyword::PatternProperties).and_then(Node::as_object) else { return };
    if !table.iter().any(|member| has_slash(&member.key)) {
        return;
    }
    for member in table.iter().filter(|member| has_slash(&member.key)) {
        let (location, name) = (Location::of(&member.value), member.key.display().into_owned());
        context.diagnostics.report(place.polarity, location.clone(), location, PATTERN, || {
            format!("replaced `/` in the pattern `{name}` by `\\x2f`")
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
