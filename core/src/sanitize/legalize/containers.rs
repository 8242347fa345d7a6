//! Adds the members that objects and arrays must have: `properties`, `items`, and `additionalProperties: true`.

use alloc::{format, string::String, vec::Vec};

use crate::{
    dialect::{
        features::OF_MEMBERS,
        grammar::{OpenRule, PropertiesRule},
        name_rules::has_brackets,
    },
    effect::{Accepts, Guidance},
    json::{Member, Node, Text},
    rules::Rule,
    sanitize::{
        anything,
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode,
    },
    schema::{
        keyword::{InstanceType, Keyword, Keywords, Subschemas},
        visit::SchemaPath,
    },
};

const PROPERTIES: ChangeKind = ChangeKind::of(Rule::AddProperties);
const ITEMS: ChangeKind = ChangeKind::of(Rule::AddItems);
const OPEN: ChangeKind = ChangeKind::of(Rule::DeclareOpen);
const DROP: ChangeKind = ChangeKind::of(Rule::DropKeyword);

/// Keywords next to which `additionalProperties: true` has too little effect, or too much (it makes all properties
/// evaluated).
const NOT_NEXT_TO_OPEN: [&str; 5] = ["anyOf", "oneOf", "allOf", "$ref", "unevaluatedProperties"];

pub(crate) fn apply<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let has_type = |node: &Node<'_>, name: &str| {
        node.get(Keyword::Type).is_some_and(|types| {
            types.is_text(name) || types.as_array().is_some_and(|names| names.iter().any(|known| known.is_text(name)))
        })
    };
    let is_root = path.keyword.is_none();
    let grammar = context.grammar;
    if (grammar.encodes() || grammar.beside_their_type != Keywords::NONE) && node.get(Keyword::Type).is_some() {
        drop_keywords_of_other_types(node, path, context);
    }
    if has_type(node, "array") {
        add_items(node, path, context);
    }
    if !has_type(node, "object") {
        return;
    }
    let must_write = match grammar.objects.properties {
        PropertiesRule::Optional | PropertiesRule::Unneeded => false,
        PropertiesRule::AtRoot => is_root,
        PropertiesRule::Written => true,
        PropertiesRule::NotEmptyBelowRoot => {
            is_root || grammar.objects.needs_properties(node.get(Keyword::AdditionalProperties))
        }
    };
    // Encoding handles objects without declared properties.
    let must_write = must_write && (is_root || !grammar.encodes());
    if must_write && node.get(Keyword::Properties).is_none() {
        let (from, to) = (Location::of(node), Location::under(node, "properties"));
        context.diagnostics.report(path, from.to(to), PROPERTIES, || String::from("added `properties: {}`"));
        if let Some(object) = node.as_object_mut() {
            let after = object.position(Keyword::Type).map_or(0, |index| index + 1);
            object.insert_at(after, Text::literal("properties"), Node::empty_object());
        }
    }
    if grammar.names.no_brackets_beside_others {
        close_beside_brackets(node, path, context);
    }
    let closes = match grammar.objects.open {
        OpenRule::ClosedByDefault => true,
        OpenRule::ClosedBesideMembers => {
            node.as_object().is_some_and(|object| Keywords::in_object(object).intersects(OF_MEMBERS))
        }
        OpenRule::AsJsonSchema | OpenRule::Closes | OpenRule::Listed | OpenRule::Unread | OpenRule::MustClose => false,
    };
    if closes
        && node.get(Keyword::AdditionalProperties).is_none()
        && !NOT_NEXT_TO_OPEN.iter().any(|keyword| node.get(keyword).is_some())
    {
        let (from, to) = (Location::of(node), Location::under(node, "additionalProperties"));
        context.diagnostics.report(
            path,
            from.to(to),
            with_wider_effect(OPEN, Keyword::UnevaluatedProperties, context),
            || String::from("added `additionalProperties: true`: this API closes objects that do not declare it"),
        );
        if let Some(object) = node.as_object_mut() {
            object.set(Text::literal("additionalProperties"), Node::bool(true));
        }
    }
}

/// The API accepts no additional properties in an object with brackets in the name of a property.
fn close_beside_brackets<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let admits_others = node.get(Keyword::AdditionalProperties).is_some_and(|others| others.as_bool() != Some(false));
    let table = node.object_at(Keyword::Properties);
    if !admits_others || !table.into_iter().flatten().any(|member| has_brackets(&member.key)) {
        return;
    }
    let (from, effect) = (Location::under(node, "additionalProperties"), DROP.accepts(Accepts::Narrower));
    context.diagnostics.report(path, from.removed(), effect, || {
        String::from(
            "removed `additionalProperties`: this API accepts no additional properties next to a name with `[` or `]`",
        )
    });
    if let Some(object) = node.as_object_mut() {
        object.remove(Keyword::AdditionalProperties);
    }
}

/// Removes keywords for other types, which constrain nothing, because the API would check them.
fn drop_keywords_of_other_types<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let grammar = context.grammar;
    let is_checked = |keyword: &Keyword| match grammar.encodes() {
        true => keyword.subschemas() != Subschemas::Value,
        false => grammar.beside_their_type.contains(*keyword),
    };
    let has_subject =
        |member: &Member<'_>| match Keyword::named(&member.key).filter(is_checked).and_then(Keyword::applies_to) {
            Some(InstanceType::Object) => encode::layout::declares(object, "object"),
            Some(InstanceType::Array) => encode::layout::declares(object, "array"),
            _ => true,
        };
    if object.iter().all(has_subject) {
        return;
    }
    let dropped: Vec<String> =
        object.iter().filter(|member| !has_subject(member)).map(|member| member.key.display().into_owned()).collect();
    for name in &dropped {
        let location = Location::under(node, name.clone());
        context.diagnostics.report(path, location.removed(), DROP, || {
            format!("removed `{name}`: it has no effect on values of this type")
        });
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !dropped.iter().any(|name| member.key.is(name)));
    }
}

/// An added keyword makes all members or items evaluated, so `unevaluated…` no longer applies to them.
fn with_wider_effect(effect: ChangeKind, evaluating_keyword: Keyword, context: &PassContext) -> ChangeKind {
    if context.enclosing_keywords.contains(evaluating_keyword) {
        effect.accepts(Accepts::Wider)
    } else {
        effect
    }
}

fn add_items<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let rule = context.grammar.arrays;
    let accepts_anything =
        |items: &Node<'_>| items.as_bool() == Some(true) || items.as_object().is_some_and(|object| object.is_empty());
    let needs_items = match node.get(Keyword::Items) {
        None if node.get(Keyword::PrefixItems).is_some() => {
            rule.closed_tuples || (rule.needs_items && rule.truthy_items)
        }
        None => rule.needs_items,
        Some(items) if rule.truthy_items && items.as_bool() == Some(false) => true,
        Some(items) if !context.grammar.true_items && items.as_bool() == Some(true) => true,
        // Encoding handles schemas that accept anything.
        Some(items) => !rule.open_items && accepts_anything(items) && !context.grammar.encodes(),
    };
    // The grammar decides which values of `items` are accepted. A prompt template may only require the keyword.
    let is_read = node.get(Keyword::Items).is_some() || rule.closed_tuples;
    if !needs_items || (!is_read && !context.grammar.walked.reaches(path.pointer)) {
        return;
    }
    let (from, to) = (Location::of(node), Location::under(node, "items"));
    let effect = with_wider_effect(ITEMS, Keyword::UnevaluatedItems, context);
    let accepts_nothing = node.get(Keyword::Items).is_some_and(|items| items.as_bool() == Some(false));
    let effect = if accepts_nothing { effect.accepts(Accepts::Wider).guidance(Guidance::Lost) } else { effect };
    context.diagnostics.report(path, from.to(to), effect, || String::from("added `items` that accept anything"));
    let mut any = Node::empty_object().with_origin(node.origin());
    if !rule.open_items {
        anything::write(&mut any, path, context);
    }
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("items"), any);
    }
}
