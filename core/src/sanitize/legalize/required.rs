//! Limits `required` to declared properties, if the grammar demands it.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    effect::{Accepts, Guidance},
    json::{LookUp, Node, Object, Pointer, Text},
    options::Hints,
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
        encode::layout,
    },
    schema::{
        keyword::Keyword,
        visit::{Polarity, SchemaPath},
    },
};

const UNKNOWN: ChangeKind = ChangeKind::of(Rule::DropUnknownRequired);
const DECLARE: ChangeKind = ChangeKind::of(Rule::DeclareRequiredProperty);

pub(crate) struct Declared<'o, 'a>(Option<LookUp<'o, 'a>>);

impl<'o, 'a> Declared<'o, 'a> {
    pub(crate) fn of(schema: &'o Object<'a>) -> Self {
        Declared(schema.object_at(Keyword::Properties).map(LookUp::of))
    }

    pub(crate) fn has(&self, name: &Text<'_>) -> bool {
        self.0.as_ref().is_some_and(|table| table.has(name))
    }
}

pub(crate) fn apply<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    if !context.grammar.required_is_known_at(object, path.pointer) {
        return;
    }
    let Some(names) = object.array_at(Keyword::Required) else { return };
    let applies = !object.has(Keyword::Type) || layout::declares(object, "object");
    let is_closed = object.get(Keyword::AdditionalProperties).is_some_and(|others| others.as_bool() == Some(false));
    // Encoding declares such names as properties of an open object.
    if context.grammar.encodes() && applies && !is_closed {
        return;
    }
    let declared = Declared::of(object);
    let undeclared: Vec<Node<'a>> = names
        .iter()
        .filter(|name| name.as_text().is_none_or(|name| !declared.has(name)))
        .map(|name| name.copy(&context.budget))
        .collect();
    if undeclared.is_empty() {
        return;
    }
    let remaining = names.len() - undeclared.len();
    let is_described = applies && context.hints == Hints::Describe;
    let effect = match (applies, is_described) {
        (false, _) => UNKNOWN.accepts(Accepts::Same),
        (true, true) => UNKNOWN.guidance(Guidance::Moved),
        (true, false) => UNKNOWN.guidance(Guidance::Lost),
    };
    let to = if remaining > 0 { Location::under(node, "required") } else { Location::Nowhere };
    context.diagnostics.report(path, Location::under(node, "required").to(to), effect, || {
        let names: Vec<String> =
            undeclared.iter().filter_map(Node::as_text).map(|name| format!("`{}`", name.display())).collect();
        format!("removed from `required` names that are not properties here: {}", names.join(", "))
    });
    let removed: Vec<Text<'a>> = undeclared.iter().filter_map(|name| name.as_text().cloned()).collect();
    let removed: Set<&Text<'_>> = removed.iter().collect();
    if remaining == 0 {
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Required);
        }
    } else {
        node.visit(Keyword::Required, |list| {
            if let Some(names) = list.as_array_mut() {
                names.retain(|name| name.as_text().is_some_and(|name| !removed.contains(name)));
            }
        });
    }
    if is_described {
        description::append(node, &[("required", &Node::array(undeclared))]);
    }
}

/// Declares the names in `required` as properties if the schema has no `properties`, or removes `required`.
///
/// A declared property accepts anything, so nothing changes, unless a keyword constrains the properties that are not
/// declared.
pub(crate) fn beside_properties<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(names) = object.array_at(Keyword::Required) else { return };
    if object.object_at(Keyword::Properties).is_some_and(|table| !table.is_empty()) {
        return;
    }
    let location = Location::under(node, "required");
    let applies = !object.has(Keyword::Type) || layout::declares(object, "object");
    if names.is_empty() || !applies {
        let effect = UNKNOWN.accepts(Accepts::Same);
        context
            .diagnostics
            .report(path, location.removed(), effect, || String::from("removed `required`, which has no effect here"));
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::Required);
        }
        return;
    }
    // Encoding declares such names as properties.
    if context.grammar.encodes() {
        return;
    }
    let others = object.get(Keyword::AdditionalProperties);
    let constrains_others = others.is_some_and(|others| {
        others.as_bool() == Some(false) || others.as_object().is_some_and(|schema| !schema.is_empty())
    });
    // Properties that are evaluated inside `not` are not evaluated outside it.
    let is_counted = object.has(Keyword::UnevaluatedProperties)
        || (path.keyword != Some(Keyword::Not) && context.survey.keywords.contains(Keyword::UnevaluatedProperties));
    if constrains_others || is_counted {
        let is_described = context.hints == Hints::Describe;
        let effect = UNKNOWN.guidance(if is_described { Guidance::Moved } else { Guidance::Lost });
        context.diagnostics.report(path, location.removed(), effect, || {
            String::from("removed `required`: there are no `properties` next to it")
        });
        let Some(names) = node.as_object_mut().and_then(|object| object.remove(Keyword::Required)) else { return };
        if is_described {
            description::append(node, &[("required", &names)]);
        }
        return;
    }
    let mut properties = Object::new();
    for name in context.budget.each(names).filter_map(Node::as_text) {
        properties.set(name.clone(), Node::empty_object());
    }
    context.diagnostics.report(path, location.to(Location::under(node, "properties")), DECLARE, || {
        String::from("added required names to `properties`")
    });
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("properties"), Node::object(properties));
    }
}

/// The root must already have the properties of its branches.
pub(crate) fn at_root(root: &mut Node<'_>, context: &mut PassContext) {
    if context.grammar.object_root {
        let pointer = Pointer::root();
        let path = SchemaPath { pointer: &pointer, keyword: None, depth: 0, polarity: Polarity::Positive };
        apply(root, &path, context);
    }
}
