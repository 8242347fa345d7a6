//! Handles keys that a validator misreads: keys named `$ref` that are not references, and keys with `/` inside kept
//! definitions, because the validator splits references at `/`. Patterns with such a key get an equivalent spelling;
//! other keywords that contain one are removed.
//!
//! Properties whose names the grammar refuses are renamed; `restore_arguments` renames them back.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use super::replacement_names::{contains_refused_keyword, describes_root_instance, Spelling};
use crate::{
    collections::{Map, Set},
    effect::Accepts,
    json::{Data, Member, Node, Object, Step, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Keywords, Role, Subschemas},
        visit::SchemaPath,
    },
};

const PATTERN: ChangeKind = ChangeKind::of(Rule::RewritePattern);

pub(crate) fn handle_ref_keys<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.refs.only_under.is_none() {
        return;
    }
    respell_patterns(
        node,
        path,
        |key| key.is(Keyword::Ref).then(|| String::from("(?:$ref)")),
        |_| String::from("replaced the pattern `$ref` with `(?:$ref)`"),
        context,
    );
    drop_members(
        node,
        path,
        Rule::DropRefLikeKey,
        // Subschemas are handled on their own; lists of values are not searched.
        |keyword, member| {
            keyword.is_none_or(|keyword| keyword.subschemas() == Subschemas::Value) && contains_ref_key(&member.value)
        },
        |name| format!("removed `{name}`: this API mistakes its key `$ref` for a reference"),
        context,
    );
}

pub(crate) fn handle_slash_keys<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if !context.survey.no_slash || path.pointer.steps().first() != Some(&Step::Name(Keyword::Defs.name())) {
        return;
    }
    respell_patterns(
        node,
        path,
        |key| key.value().filter(|_| has_slash(key)).map(|pattern| escape_slashes(&pattern)),
        |name| format!("replaced `/` in the pattern `{name}` with `\\x2f`"),
        context,
    );
    drop_members(
        node,
        path,
        Rule::DropSlashKey,
        |keyword, member| {
            // Subschemas are handled on their own, and names of properties by `rename_properties`.
            keyword.is_none_or(|keyword| {
                keyword.subschemas() == Subschemas::Value && keyword != Keyword::DependentRequired
            }) && (has_slash(&member.key) || contains_slash(&member.value))
        },
        |name| format!("removed `{name}`: no key inside a definition may contain `/`"),
        context,
    );
}

pub(crate) fn slash_occurs_in_definitions(root: &Node<'_>) -> bool {
    root.object_at(Keyword::Defs).into_iter().flatten().any(|member| contains_slash(&member.value))
}

fn drop_members<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    rule: Rule,
    is_removed: impl Fn(Option<Keyword>, &Member<'a>) -> bool,
    message: impl Fn(&str) -> String,
    context: &mut PassContext,
) {
    let mut removed_keys: Set<Text<'a>> = Set::new();
    for member in context.budget.each(node.as_object().into_iter().flatten()) {
        let keyword = Keyword::named(&member.key);
        if !is_removed(keyword, member) {
            continue;
        }
        let validates = keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
        let effect = ChangeKind::of(rule);
        let effect = if validates { effect.accepts(Accepts::Wider) } else { effect };
        context
            .diagnostics
            .report(path, Location::of(&member.value).removed(), effect, || message(&member.key.display()));
        removed_keys.insert(member.key.clone());
    }
    if removed_keys.is_empty() {
        return;
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !removed_keys.contains(&member.key));
    }
}

fn respell_patterns<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    respell: impl Fn(&Text<'_>) -> Option<String>,
    message: impl Fn(&str) -> String,
    context: &mut PassContext,
) {
    let mut needs_respelling = false;
    for member in context.budget.each(node.object_at(Keyword::PatternProperties).into_iter().flatten()) {
        if respell(&member.key).is_some() {
            needs_respelling = true;
            context
                .diagnostics
                .report(path, Location::of(&member.value).in_place(), PATTERN, || message(&member.key.display()));
        }
    }
    if !needs_respelling {
        return;
    }
    node.visit(Keyword::PatternProperties, |table| {
        for member in context.budget.each(table.as_object_mut().into_iter().flat_map(Object::members_mut)) {
            if let Some(pattern) = respell(&member.key) {
                member.key = Text::new(pattern);
            }
        }
    });
}

fn contains_ref_key(value: &Node<'_>) -> bool {
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

fn contains_slash(value: &Node<'_>) -> bool {
    match value.data() {
        Data::Object(object) => object.iter().any(|member| has_slash(&member.key) || contains_slash(&member.value)),
        Data::Array(items) => items.iter().any(contains_slash),
        _ => false,
    }
}

fn has_slash(key: &Text<'_>) -> bool {
    key.display().contains('/')
}

fn escape_slashes(pattern: &str) -> String {
    let mut result = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '/' => result.push_str("\\x2f"),
            '\\' => match characters.next() {
                Some('/') => result.push_str("\\x2f"),
                escaped => {
                    result.push('\\');
                    result.extend(escaped);
                }
            },
            character => result.push(character),
        }
    }
    result
}

pub(crate) const PROPERTY_NAME_KEYWORDS: Keywords =
    Keywords::of(&[Keyword::Properties, Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Required]);

/// Keywords that may match a property differently after it is renamed.
pub(crate) const NAME_CONSTRAINTS: [Keyword; 2] = [Keyword::PatternProperties, Keyword::PropertyNames];

pub(crate) fn rename_properties<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let replacement_names = context.replacement_names.clone();
    let is_root = context.grammar.names.shape.is_some() && describes_root_instance(path);
    let spelling = Spelling { rule: context.grammar.names, no_slash: context.survey.no_slash, is_root };
    let Some(object) = node.as_object().filter(|object| spelling.concerns(object)) else { return };
    replacement_names.extend_from(object);
    let mut renamed: Map<String, String> = Map::new();
    let properties = object.get(Keyword::Properties).and_then(|all| Some((all, all.as_object()?)));
    if let Some((all, table)) = properties {
        for member in context.budget.each(table) {
            let Some(name) = member.key.value() else { continue };
            if !spelling.replaces(&member.key) {
                continue;
            }
            let Some(new) = replacement_names.get(&name) else { continue };
            let has_refused_content =
                || replacement_names.has_refused_content(&name) || contains_refused_keyword(&member.value);
            if !spelling.is_replaced_everywhere(&name) && !spelling.violates_pattern(&name) && !has_refused_content() {
                continue;
            }
            let effect = ChangeKind::of(Rule::RenameProperty);
            let effect = if context.survey.constrains_names { effect.accepts(Accepts::Mixed) } else { effect };
            // The location is the location of the key; the value may come from another schema.
            let (from, to) = (Location::under(all, name.clone().into_owned()), Location::under(all, new.clone()));
            context
                .diagnostics
                .report(path, from.to(to), effect, || format!("renamed the property `{name}` to `{new}`"));
            renamed.insert(name.into_owned(), new);
        }
    }
    // Some names are also replaced in schemas that list them without declaring the property.
    let new_name = |name: &Text<'_>| {
        let name = name.value()?;
        let everywhere =
            || replacement_names.get(&name).filter(|_| replacement_names.is_replaced_where_listed(spelling, &name));
        renamed.get(&*name).cloned().or_else(everywhere)
    };
    // A name without a declared property is reported at the keyword that lists it.
    for keyword in ["dependentRequired", "dependentSchemas", "required"] {
        let Some(value) = node.get(keyword) else { continue };
        let names_in = |list: &Node<'a>| {
            let located = |name: &Node<'a>| Some((Location::of(name), name.as_text()?.clone()));
            list.as_array().into_iter().flatten().filter_map(located).collect::<Vec<_>>()
        };
        let names: Vec<(Location, Text<'a>)> = match value.as_object() {
            Some(table) => {
                let located = |member: &Member<'a>| {
                    (Location::under(value, member.key.display().into_owned()), member.key.clone())
                };
                table
                    .iter()
                    .flat_map(|member| core::iter::once(located(member)).chain(names_in(&member.value)))
                    .collect()
            }
            None => names_in(value),
        };
        let is_new = |(_, name): &&(Location, Text<'a>)| name.value().is_some_and(|name| !renamed.contains_key(&*name));
        for (from, name) in context.budget.each(names.iter().filter(is_new)) {
            let Some(new) = new_name(name) else { continue };
            let (from, to) = (from.clone(), Location::under(node, keyword));
            let effect = ChangeKind::of(Rule::RenameProperty);
            context
                .diagnostics
                .report(path, from.to(to), effect, || format!("renamed the property `{}` to `{new}`", name.display()));
        }
    }
    for keyword in ["properties", "dependentRequired", "dependentSchemas"] {
        let affected = |table: &Object<'_>| {
            table.iter().any(|member| new_name(&member.key).is_some() || lists_replaced_name(&member.value, &new_name))
        };
        if !node.object_at(keyword).is_some_and(affected) {
            continue;
        }
        node.visit(keyword, |table| {
            let Some(known) = table.as_object() else { return };
            // If a new name equals a listed name that is not a property, the key is not changed.
            let mut taken: Set<String> =
                known.iter().filter_map(|member| member.key.value()).map(Cow::into_owned).collect();
            for member in context.budget.each(table.as_object_mut().into_iter().flat_map(Object::members_mut)) {
                if let Some(new) = new_name(&member.key).filter(|new| taken.insert(new.clone())) {
                    member.key = Text::new(new);
                }
                if keyword == "dependentRequired" {
                    rename_list(&mut member.value, &new_name);
                }
            }
        });
    }
    node.visit(Keyword::Required, |names| rename_list(names, &new_name));
}

pub(crate) fn lists_objects(node: &Node<'_>, present: Keywords) -> bool {
    let holds = |keyword: &str| node.get(keyword).is_some_and(contains_object);
    (present.contains(Keyword::Enum) && holds("enum")) || (present.contains(Keyword::Const) && holds("const"))
}

fn contains_object(value: &Node<'_>) -> bool {
    value.as_object().is_some() || value.as_array().is_some_and(|items| items.iter().any(contains_object))
}

fn lists_replaced_name(list: &Node<'_>, new_name: &dyn Fn(&Text<'_>) -> Option<String>) -> bool {
    list.as_array().is_some_and(|names| names.iter().filter_map(Node::as_text).any(|name| new_name(name).is_some()))
}

fn rename_list<'a>(list: &mut Node<'a>, new_name: &dyn Fn(&Text<'_>) -> Option<String>) {
    if !lists_replaced_name(list, new_name) {
        return;
    }
    for name in list.as_array_mut().into_iter().flatten() {
        if let Some(new) = name.as_text().and_then(new_name) {
            name.replace(Data::String(Text::new(new)));
        }
    }
}
