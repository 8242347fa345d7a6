//! Keys that a validator takes for references, or that no reference could address: keys named `$ref` that are not
//! references, and keys with `/` inside kept definitions, for a validator that splits references at `/`.
//!
//! Patterns are respelled and other keywords removed. (Properties are renamed by `property_names`.)

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    json::{Data, Member, Node, Object, Step, Text},
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

const PATTERN: ChangeKind = ChangeKind::of(Rule::RewritePattern);

/// Removes keys named `$ref` that are not references from one schema.
pub(crate) fn ref_like<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.refs.only_under.is_none() {
        return;
    }
    respell_patterns(
        node,
        place,
        |key| key.is(Keyword::Ref).then(|| String::from("(?:$ref)")),
        |_| String::from("replaced the pattern `$ref` with `(?:$ref)`"),
        context,
    );
    drop_members(
        node,
        place,
        Rule::DropRefLikeKey,
        // Subschemas are handled on their own; lists of values are not searched.
        |keyword, member| keyword.is_none_or(|keyword| keyword.holds() == Subschemas::Value) && has_ref(&member.value),
        |name| format!("removed `{name}`: this API mistakes its key `$ref` for a reference"),
        context,
    );
}

/// Removes keys with `/` from one schema of a definition.
pub(crate) fn with_slash<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.no_slash || place.pointer.steps().first() != Some(&Step::Name(Keyword::Defs.name())) {
        return;
    }
    respell_patterns(
        node,
        place,
        |key| key.value().filter(|_| has_slash(key)).map(|pattern| without_slash(&pattern)),
        |name| format!("replaced `/` in the pattern `{name}` with `\\x2f`"),
        context,
    );
    drop_members(
        node,
        place,
        Rule::DropSlashKey,
        |keyword, member| {
            // Subschemas are handled on their own, and names of properties by `property_names`.
            keyword.is_none_or(|keyword| keyword.holds() == Subschemas::Value && keyword != Keyword::DependentRequired)
                && (has_slash(&member.key) || holds_slash(&member.value))
        },
        |name| format!("removed `{name}`: no key inside a definition may contain `/`"),
        context,
    );
}

/// True if a definition at the root has a key with `/`, at any depth.
pub(crate) fn slash_occurs_in_definitions(root: &Node<'_>) -> bool {
    root.object_at(Keyword::Defs).into_iter().flatten().any(|member| holds_slash(&member.value))
}

/// Removes the members of a schema that `goes` chooses.
fn drop_members<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    rule: Rule,
    goes: impl Fn(Option<Keyword>, &Member<'a>) -> bool,
    message: impl Fn(&str) -> String,
    context: &mut PassContext,
) {
    let mut gone: Set<Text<'a>> = Set::new();
    for member in node.as_object().into_iter().flatten() {
        let keyword = Keyword::named(&member.key);
        if !goes(keyword, member) {
            continue;
        }
        let validates = keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
        let effect = ChangeKind::of(rule);
        let effect = if validates { effect.accepts(Accepts::Wider) } else { effect };
        context
            .diagnostics
            .report(place, Location::of(&member.value).removed(), effect, || message(&member.key.display()));
        gone.insert(member.key.clone());
    }
    if gone.is_empty() {
        return;
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !gone.contains(&member.key));
    }
}

/// Replaces the patterns of `patternProperties` for which `respell` has an equivalent spelling.
fn respell_patterns<'a>(
    node: &mut Node<'a>,
    place: &SchemaPath<'_, 'a>,
    respell: impl Fn(&Text<'_>) -> Option<String>,
    message: impl Fn(&str) -> String,
    context: &mut PassContext,
) {
    let mut found = false;
    for member in node.object_at(Keyword::PatternProperties).into_iter().flatten() {
        if respell(&member.key).is_some() {
            found = true;
            context
                .diagnostics
                .report(place, Location::of(&member.value).in_place(), PATTERN, || message(&member.key.display()));
        }
    }
    if !found {
        return;
    }
    node.visit(Keyword::PatternProperties, |table| {
        for member in table.as_object_mut().into_iter().flat_map(Object::members_mut) {
            if let Some(pattern) = respell(&member.key) {
                member.key = Text::new(pattern);
            }
        }
    });
}

/// True if an object has a key `$ref`, in nested objects or lists of branches.
fn has_ref(value: &Node<'_>) -> bool {
    // Most values are not objects and need no stack.
    if value.as_object().is_none() {
        return false;
    }
    let mut open = Vec::from([value]);
    while let Some(value) = open.pop() {
        for member in value.as_object().into_iter().flatten() {
            if member.key.is(Keyword::Ref) {
                return true;
            }
            match member.value.data() {
                Data::Array(items) if member.key.is(Keyword::AnyOf) => open.extend(items),
                Data::Object(_) => open.push(&member.value),
                _ => {}
            }
        }
    }
    false
}

/// True if an object has a key with `/`, in nested objects or lists.
fn holds_slash(value: &Node<'_>) -> bool {
    match value.data() {
        Data::Object(object) => object.iter().any(|member| has_slash(&member.key) || holds_slash(&member.value)),
        Data::Array(items) => items.iter().any(holds_slash),
        _ => false,
    }
}

fn has_slash(key: &Text<'_>) -> bool {
    key.display().contains('/')
}

/// Respells `a/b` as the equivalent pattern `a\x2fb`.
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
