//! Values encoded as JSON text: "anything", and objects without known properties, if the grammar has no other form for
//! them.
//!
//! A string that holds JSON loses nothing, and `restore_arguments` parses it.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    dialect::grammar::AnyEncoding,
    effect::Guidance,
    json::{Flags, Member, Node, Object, Text},
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

/// The encoded schema also accepts strings without an object. They are not decoded.
const OBJECT_TO_JSON: ChangeKind = ChangeKind::of(Rule::ObjectToJson);

/// Keywords that are kept in addition to `type`.
const KEPT_KEYWORDS: [&str; 4] = ["title", "description", "nullable", "default"];

/// The values that a string holds as JSON text. The restore plan contains their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Anything,
    Object,
    /// An integer of an `enum` that was rewritten as strings.
    Integer,
    /// A number of an `enum` that was rewritten as strings.
    Number,
    /// A boolean of an `enum` that was rewritten as strings.
    Boolean,
}

impl Holds {
    const ALL: [Holds; 5] = [Holds::Anything, Holds::Object, Holds::Integer, Holds::Number, Holds::Boolean];

    pub(crate) fn of_enum_type(type_name: &str) -> Option<Holds> {
        Holds::ALL.into_iter().find(|holds| holds.is_from_enum() && holds.name() == type_name)
    }

    /// Returns true if the strings come from an `enum`. Such a schema keeps the type of the values.
    pub(crate) const fn is_from_enum(self) -> bool {
        matches!(self, Holds::Integer | Holds::Number | Holds::Boolean)
    }

    const fn flag(self) -> Flags {
        match self {
            Holds::Anything => Flags::HOLDS_ANYTHING,
            Holds::Object => Flags::HOLDS_OBJECT,
            Holds::Integer => Flags::HOLDS_INTEGER,
            Holds::Number => Flags::HOLDS_NUMBER,
            Holds::Boolean => Flags::HOLDS_BOOLEAN,
        }
    }

    /// Keywords that are added later do not affect the flag.
    pub(crate) fn mark(self, schema: &mut Node<'_>) {
        schema.unflag(Flags::ENCODING);
        schema.flag(self.flag());
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Holds::Anything => "any",
            Holds::Object => "object",
            Holds::Integer => "integer",
            Holds::Number => "number",
            Holds::Boolean => "boolean",
        }
    }

    pub(crate) fn of_plan(plan: &Node<'_>) -> Option<Holds> {
        let name = plan.get("json")?;
        Holds::ALL.into_iter().find(|holds| name.is_text(holds.name()))
    }

    pub(crate) fn of_schema(schema: &Node<'_>) -> Option<Holds> {
        let holds =
            Holds::ALL.into_iter().find(|holds| schema.flags().intersection(Flags::ENCODING) == holds.flag())?;
        let is_of_type = |name: &str| schema.get(Keyword::Type).is_some_and(|type_name| type_name.is_text(name));
        (is_of_type("string") || (holds.is_from_enum() && is_of_type(holds.name()))).then_some(holds)
    }
}

pub(crate) fn encode_object<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let rule = context.grammar.objects;
    let additional = node.get(Keyword::AdditionalProperties);
    if context.grammar.anything != AnyEncoding::JsonText || !rule.needs_properties(additional) {
        return;
    }
    let has_no_properties = node.object_at(Keyword::Properties).is_none_or(Object::is_empty);
    if !node.get(Keyword::Type).is_some_and(|name| name.is_text("object")) || !has_no_properties {
        return;
    }
    let is_kept = |member: &Member<'a>| KEPT_KEYWORDS.iter().any(|keyword| member.key.is(keyword));
    let is_described =
        |member: &Member<'a>| !is_kept(member) && !member.key.is(Keyword::Type) && !member.key.is(Keyword::Properties);
    let location = Location::of(node);
    let Some(members) = node.as_object_mut() else { return };
    let (described_members, remaining): (Vec<Member<'a>>, Vec<Member<'a>>) =
        core::mem::take(members).into_members().into_iter().partition(is_described);
    *members = Object::from_unique(remaining);
    members.retain(|member| is_kept(member) || member.key.is(Keyword::Type));
    members.set(Text::literal("type"), Node::literal("string"));
    Holds::Object.mark(node);
    let is_assertion =
        |member: &Member<'_>| Keyword::named(&member.key).is_some_and(|keyword| keyword.role() == Role::Assertion);
    let effect = if described_members.iter().any(is_assertion) {
        OBJECT_TO_JSON.guidance(Guidance::Moved)
    } else {
        OBJECT_TO_JSON
    };
    context.diagnostics.report(path, location.in_place(), effect, || {
        String::from("replaced an object without known properties with a string that contains JSON")
    });
    let names: Vec<(Cow<'_, str>, &Node<'a>)> =
        described_members.iter().map(|member| (member.key.display(), &member.value)).collect();
    let kind = Node::literal("a JSON object, written as JSON text");
    let mut diagnostics: Vec<(&str, &Node<'a>)> = names.iter().map(|(name, value)| (&**name, *value)).collect();
    diagnostics.push(("value", &kind));
    description::append(node, &diagnostics);
}
