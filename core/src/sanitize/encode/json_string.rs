//! Values written as JSON text: "anything", and objects of which no property is known, where neither can be said
//! otherwise.
//!
//! A string that holds JSON loses nothing, and `restore_arguments` reads it again.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    dialect::grammar::AnyEncoding,
    json::{Member, Node, Object, Text},
    report::Guidance,
    rules::Rule,
    sanitize::{
        context::PassContext,
        description,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        keyword::{Keyword, Role},
        visit::SchemaPath,
    },
};

/// A string that holds something else is accepted too, and stays a string.
const OBJECT: ChangeKind = ChangeKind::of(Rule::ObjectToJson);

/// What stays beside the type.
const STAYS: [&str; 4] = ["title", "description", "nullable", "default"];

/// What the strings of a schema hold that was written here, which the plan for the way back repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize) enum Holds {
    /// Any JSON.
    Anything,
    /// A JSON object.
    Object,
    /// An integer, one of those listed as strings.
    Integer,
    /// A number, one of those listed as strings.
    Number,
    /// A boolean, listed as a string.
    Boolean,
}

impl Holds {
    const ALL: [Holds; 5] = [Holds::Anything, Holds::Object, Holds::Integer, Holds::Number, Holds::Boolean];

    /// One of the values of this type that a schema lists as strings.
    pub(in crate::sanitize) fn listed(type_name: &str) -> Option<Holds> {
        Holds::ALL.into_iter().find(|holds| holds.is_listed() && holds.name() == type_name)
    }

    /// Is it one of the values that a schema lists as strings? The schema then has their type.
    pub(in crate::sanitize) const fn is_listed(self) -> bool {
        matches!(self, Holds::Integer | Holds::Number | Holds::Boolean)
    }

    /// Remembers it where the schema is, whatever is said beside it later.
    pub(in crate::sanitize) fn mark(self, schema: &mut Node<'_>) {
        schema.mark(1 << self as u8);
    }

    /// How a plan calls it.
    pub(in crate::sanitize) const fn name(self) -> &'static str {
        match self {
            Holds::Anything => "any",
            Holds::Object => "object",
            Holds::Integer => "integer",
            Holds::Number => "number",
            Holds::Boolean => "boolean",
        }
    }

    /// What a plan calls so.
    pub(in crate::sanitize) fn planned(plan: &Node<'_>) -> Option<Holds> {
        let name = plan.get("json")?;
        Holds::ALL.into_iter().find(|holds| name.is_text(holds.name()))
    }

    /// What was remembered, if it still is the schema that it was remembered of.
    pub(in crate::sanitize) fn by(schema: &Node<'_>) -> Option<Holds> {
        let holds = Holds::ALL.into_iter().find(|holds| schema.marks() == 1 << *holds as u8)?;
        let is = |name: &str| schema.get(Keyword::Type).is_some_and(|written| written.is_text(name));
        (is("string") || (holds.is_listed() && is(holds.name()))).then_some(holds)
    }
}

/// Summary an object of which no property is known, where objects must have some.
pub(in crate::sanitize) fn object<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let rule = context.grammar.objects;
    let others = node.get(Keyword::AdditionalProperties);
    if context.grammar.anything != AnyEncoding::JsonText || !rule.needs_properties(others) {
        return;
    }
    let empty = node.get(Keyword::Properties).and_then(Node::as_object).is_none_or(Object::is_empty);
    if !node.get(Keyword::Type).is_some_and(|name| name.is_text("object")) || !empty {
        return;
    }
    let stays = |member: &Member<'a>| STAYS.iter().any(|keyword| member.key.is(keyword));
    let goes =
        |member: &Member<'a>| !stays(member) && !member.key.is(Keyword::Type) && !member.key.is(Keyword::Properties);
    let location = Location::of(node);
    let Some(members) = node.as_object_mut() else { return };
    let (told, left): (Vec<Member<'a>>, Vec<Member<'a>>) =
        core::mem::take(members).into_members().into_iter().partition(goes);
    *members = Object::from_unique(left);
    members.retain(|member| stays(member) || member.key.is(Keyword::Type));
    members.set(Text::literal("type"), Node::literal("string"));
    Holds::Object.mark(node);
    let asserts =
        |member: &Member<'_>| Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Assertion);
    let effect = if told.iter().any(asserts) { OBJECT.guidance(Guidance::Moved) } else { OBJECT };
    context.diagnostics.report(place.polarity, location.clone(), location, effect, || {
        String::from("replaced an object without known properties by a string that holds JSON")
    });
    let names: Vec<(Cow<'_, str>, &Node<'a>)> =
        told.iter().map(|member| (member.key.display(), &member.value)).collect();
    let kind = Node::literal("a JSON object, written as JSON text");
    let mut diagnostics: Vec<(&str, &Node<'a>)> = names.iter().map(|(name, value)| (&**name, *value)).collect();
    diagnostics.push(("value", &kind));
    description::append(node, &diagnostics);
}
