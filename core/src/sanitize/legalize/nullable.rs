//! The forms of null. Makes a schema accept null, in the shortest form that the grammar has. For grammars that have
//! only `nullable: true`, replaces lists of types and unions that include null with it.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    dialect::grammar::{Grammar, Null, TypeLists},
    json::{Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::layout::{self, Shape},
    },
    schema::{
        keyword::{is_annotation, Keyword, Role},
        visit::SchemaPath,
    },
};

const RESPELL: ChangeKind = ChangeKind::of(Rule::NullToNullable);

pub(crate) fn apply<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    if context.grammar.null != Null::Nullable {
        return;
    }
    type_list_to_nullable(node, path, context);
    union_to_nullable(node, path, context);
}

fn type_list_to_nullable<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(names) = node.array_at(Keyword::Type) else { return };
    let mut non_null: Vec<Node<'a>> =
        names.iter().filter(|name| !name.is_text("null")).map(|name| name.copy(&context.budget)).collect();
    if names.len() > 1 && non_null.len() == names.len() {
        return;
    }
    let location = Location::under(node, "type");
    let nullable = non_null.len() < names.len() && !non_null.is_empty();
    context.diagnostics.report(path, location.in_place(), RESPELL, || match nullable {
        true => String::from("replaced null in `type` with `nullable: true`"),
        false => String::from("replaced a list of one type with that type"),
    });
    let types = match (non_null.pop(), non_null.is_empty()) {
        (None, _) => Node::literal("null"),
        (Some(only), true) => only,
        (Some(last), false) => {
            non_null.push(last);
            Node::array(non_null)
        }
    };
    if let Some(object) = node.as_object_mut() {
        object.set(Text::literal("type"), types);
    }
    if nullable {
        admit_null(node, context.grammar);
    }
}

fn union_to_nullable<'a>(node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(branches) = node.array_at(Keyword::AnyOf) else { return };
    let Some(branch) = branches.iter().find(|branch| is_null(branch)) else { return };
    // A branch that another rule wrote has been reported by that rule.
    if branch.origin().number().is_some() {
        let location = Location::of(branch);
        context.diagnostics.report(path, location.to(Location::under(node, "anyOf")), RESPELL, || {
            format!(
                "replaced the null branch of `anyOf` with `nullable: true` in the other {}",
                branches.len().saturating_sub(1)
            )
        });
    }
    if branches.iter().all(is_null) {
        if let Some(object) = node.as_object_mut() {
            object.remove(Keyword::AnyOf);
            object.insert_at(0, Text::literal("type"), Node::literal("null"));
        }
        return;
    }
    let grammar = context.grammar;
    node.visit(Keyword::AnyOf, |list| {
        for branch in list.as_array_mut().into_iter().flat_map(|branches| {
            branches.retain(|branch| !is_null(branch));
            branches
        }) {
            admit_null(branch, grammar);
        }
    });
}

fn is_null(branch: &Node<'_>) -> bool {
    let admits_only_null = |member: &Member<'_>| {
        is_annotation(member)
            || (member.key.is(Keyword::Type) && member.value.is_text("null"))
            || (member.key.is(Keyword::Enum)
                && member.value.as_array().is_some_and(|values| values.iter().all(Node::is_null)))
            || member.key.is(Keyword::Nullable)
    };
    let declares_values = ["type", "enum"].iter().any(|keyword| branch.get(keyword).is_some());
    declares_values && branch.as_object().is_some_and(|object| object.iter().all(admits_only_null))
}

/// Makes a schema accept null, which it must not accept yet.
pub(crate) fn admit_null(node: &mut Node<'_>, grammar: &Grammar) {
    if grammar.null == Null::Nullable {
        return set_nullable(node);
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
        Shape::Typed(_) if may_list_null(node, grammar) => add_null_to_lists(node),
        _ => union_with_null(node),
    }
}

/// Returns true if a sibling of `anyOf` may refuse null, even if a branch accepts it.
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

fn may_list_null(node: &Node<'_>, grammar: &Grammar) -> bool {
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

fn add_null_to_lists(node: &mut Node<'_>) {
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

fn union_with_null(node: &mut Node<'_>) {
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

fn set_nullable(node: &mut Node<'_>) {
    if node.get(Keyword::AnyOf).is_some() {
        node.visit(Keyword::AnyOf, |branches| {
            for branch in branches.as_array_mut().into_iter().flatten() {
                set_nullable(branch);
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
            let at = object.position(Keyword::Type).map_or(0, |index| index + 1);
            object.insert_at(at, Text::literal("nullable"), Node::bool(true));
        }
    }
}
