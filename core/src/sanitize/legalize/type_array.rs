//! Splits a list of types into branches, one per type, each with the keywords for its type.

use alloc::{format, string::String};

use crate::{
    dialect::grammar::TypeLists,
    json::{Data, Member, Node, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, ChangeKind, Location},
        legalize::{
            self,
            type_branches::{self, TypeBranches},
        },
    },
    schema::{keyword::Keyword, visit::SchemaPath},
};

const SPLIT: ChangeKind = ChangeKind::of(Rule::SplitTypeList);

/// Splits a list of types, if the grammar refuses it or one of its siblings.
pub(crate) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(types) = object.array_at(Keyword::Type) else { return };
    let lists = match context.grammar.type_lists {
        TypeLists::Any => TypeLists::Any,
        lists if context.grammar.walked.reaches(place.pointer) => lists,
        _ => TypeLists::Any,
    };
    if let ([name], TypeLists::None) = (types, lists) {
        let name = name.clone();
        let location = Location::under(node, "type");
        context.diagnostics.report(place, location.to(Location::under(node, "type")), SPLIT, || {
            String::from("replaced a list of one type with that type")
        });
        node.set("type", name);
        return;
    }
    if types.len() < 2 {
        return;
    }
    let container = |name: &Node<'_>| name.is_text("object") || name.is_text("array");
    let refused = match lists {
        TypeLists::Any => false,
        TypeLists::Scalars => types.iter().any(container),
        TypeLists::None => true,
    };
    let beside = context.grammar.beside_type_list;
    let accepted = |member: &Member<'_>| {
        member.key.is(Keyword::Type)
            || Keyword::named(&member.key)
                .is_some_and(|keyword| beside.is_none_or(|rule| rule.anywhere.contains(keyword)))
    };
    // `enum` with several types has its own pass, which ran before this one.
    if object.has(Keyword::Enum) || (!refused && object.iter().all(accepted)) {
        return;
    }
    let (location, count) = (Location::under(node, "type"), types.len());
    context.diagnostics.report(place, location.to(Location::under(node, "anyOf")), SPLIT, || {
        format!("split `type` into {count} branches, one for each type")
    });
    let origin = node.origin();
    let TypeBranches { at, shared: mut rest, mut branches } = type_branches::take(node, &context.budget);
    for branch in &mut branches {
        legalize::made(branch, place, context);
    }
    let branches = Node::array(branches);
    if !rest.has(Keyword::AnyOf) {
        rest.insert_at(at, Text::literal("anyOf"), branches);
        node.replace(Data::Object(rest));
        return;
    }
    // A value must have one of the types and match one of the existing branches.
    let union = Node::record([("anyOf", branches)]).with_origin(origin);
    *node = intersected((Node::object(rest).with_origin(origin), union), at, place.polarity, None, context);
    node.touch();
}
