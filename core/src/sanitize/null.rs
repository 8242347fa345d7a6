//! Makes a schema accept null, in the form that the grammar has for it.

use alloc::{vec, vec::Vec};

use crate::{
    dialect::grammar::{Grammar, Null, TypeLists},
    json::{Data, Member, Node, Object, Text},
    sanitize::encode::layout::{self, Shape},
    schema::keyword::{Keyword, Role},
};

/// Makes a schema accept null too, in the shortest form that the grammar has. Null must not be one of its values yet.
pub(crate) fn admit(node: &mut Node<'_>, grammar: &Grammar) {
    if grammar.null == Null::Nullable {
        return flag(node);
    }
    if node.as_object().is_none() {
        node.replace(Data::Object(Object::new()));
    }
    match layout::of(node, false, grammar) {
        Shape::Union(_) if !has_siblings_that_assert(node) => {
            node.visit(Keyword::AnyOf, |branches| {
                if let Some(branches) = branches.as_array_mut() {
                    branches.push(null_schema());
                }
            });
        }
        Shape::Typed(_) if may_be_listed(node, grammar) => listed(node),
        _ => union(node),
    }
}

/// True if a sibling of `anyOf` may refuse null, which a branch could not undo.
fn has_siblings_that_assert(node: &Node<'_>) -> bool {
    node.as_object().into_iter().flatten().any(|member| {
        Keyword::named(&member.key).is_some_and(|keyword| {
            keyword != Keyword::AnyOf && keyword.role() == Role::Assertion && keyword.applies_to().is_none()
        })
    })
}

fn null_schema<'a>() -> Node<'a> {
    Node::record([("type", Node::literal("null"))])
}

/// True if `null` may be added to the types of this schema.
fn may_be_listed(node: &Node<'_>, grammar: &Grammar) -> bool {
    let Some(object) = node.as_object() else { return false };
    // Null would have to be added to both.
    if object.has(Keyword::Const) && object.has(Keyword::Enum) {
        return false;
    }
    let is_container = layout::declares(object, "object") || layout::declares(object, "array");
    match grammar.type_lists {
        TypeLists::Any => true,
        TypeLists::Scalars => !is_container,
        TypeLists::None => false,
    }
}

/// Adds null to `type`, and to the values of `const` or `enum`.
fn listed(node: &mut Node<'_>) {
    let Some(object) = node.as_object_mut() else { return };
    if let Some(types) = object.get_mut(Keyword::Type).filter(|types| !types.is_text("null")) {
        match types.as_array_mut() {
            Some(names) if names.iter().any(|name| name.is_text("null")) => {}
            Some(names) => names.push(Node::literal("null")),
            None => {
                let name = Node::new(core::mem::replace(types.data_mut(), Data::Null));
                types.replace(Data::Array(vec![name, Node::literal("null")]));
            }
        }
    }
    if let Some(Member { key, value }) = object.members_mut().iter_mut().find(|member| member.key.is(Keyword::Const)) {
        *key = Text::literal("enum");
        let constant = core::mem::take(value);
        let origin = constant.origin();
        *value = Node::array(vec![constant, Node::new(Data::Null)]).with_origin(origin);
    } else if let Some(values) = object.get_mut(Keyword::Enum).and_then(Node::as_array_mut) {
        values.push(Node::new(Data::Null));
    }
}

/// Moves the schema into a union with null; its title and description stay outside.
fn union(node: &mut Node<'_>) {
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return };
    let (outside, inside): (Vec<_>, Vec<_>) = core::mem::take(object)
        .into_members()
        .into_iter()
        .partition(|member| member.key.is(Keyword::Description) || member.key.is(Keyword::Title));
    let inner = Node::object(Object::from_unique(inside)).with_origin(origin);
    let mut members = Object::from_unique(outside);
    members.set(Text::literal("anyOf"), Node::array(vec![inner, null_schema()]));
    node.replace(Data::Object(members));
}

/// Writes `nullable: true` in a schema, or in each branch of its union.
fn flag(node: &mut Node<'_>) {
    if node.get(Keyword::AnyOf).is_some() {
        node.visit(Keyword::AnyOf, |branches| {
            for branch in branches.as_array_mut().into_iter().flatten() {
                flag(branch);
            }
        });
        return;
    }
    if node.get(Keyword::Type).is_some_and(|name| name.is_text("null")) {
        return;
    }
    let Some(object) = node.as_object_mut() else { return };
    match object.get_mut(Keyword::Nullable) {
        Some(flag) => flag.replace(Data::Bool(true)),
        None => {
            let at = object.position(Keyword::Type).map_or(0, |place| place + 1);
            object.insert_at(at, Text::literal("nullable"), Node::bool(true));
        }
    }
}
