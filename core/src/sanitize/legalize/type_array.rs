//! A list of types with keywords of single ones: one branch a type, each with its own keywords.

use alloc::{format, vec::Vec};

use crate::{
    dialect::grammar::TypeLists,
    json::{Data, Member, Node, Object, Text},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{merge_conflicts::intersected, ChangeKind, Location},
        legalize::{self, required},
    },
    schema::{
        annotations::is_annotation,
        keyword::{InstanceType, Keyword},
        visit::SchemaPath,
    },
};

const SPLIT: ChangeKind = ChangeKind::of(Rule::SplitTypeList);

/// Splits a list of types, if something stands beside it that the grammar does not accept there.
pub(in crate::sanitize) fn apply<'a>(node: &mut Node<'a>, place: &SchemaPath<'_, 'a>, context: &mut PassContext) {
    let Some(object) = node.as_object() else { return };
    let Some(types) = object.get(Keyword::Type).and_then(Node::as_array).filter(|types| types.len() > 1) else {
        return;
    };
    let container = |name: &Node<'_>| name.is_text("object") || name.is_text("array");
    let refused = match context.grammar.type_lists {
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
    // `enum` beside null and one other type has its own rule, and has been said already.
    if object.has(Keyword::Enum) || (!refused && object.iter().all(accepted)) {
        return;
    }
    let names: Vec<Text<'a>> = types.iter().filter_map(|name| name.as_text().cloned()).collect();
    let location = Location::under(node, "type");
    context.diagnostics.report(place.polarity, location, Location::under(node, "anyOf"), SPLIT, || {
        format!("split `type` into {} branches, one for each type", names.len())
    });
    let origin = node.origin();
    let Some(object) = node.as_object_mut() else { return };
    let at = object.position(Keyword::Type).unwrap_or_default();
    let members = core::mem::take(object).into_members();
    let (mut shared, mut own): (Vec<Member<'a>>, Vec<Member<'a>>) = (Vec::new(), Vec::new());
    for member in members {
        let constrains = Keyword::named(&member.key).and_then(Keyword::applies_to).is_some();
        match member.key.is(Keyword::Type) {
            true => {}
            false if constrains && !is_annotation(&member) => own.push(member),
            false => shared.push(member),
        }
    }
    let branches: Vec<Node<'a>> = names
        .into_iter()
        .map(|name| {
            let kind = kind_of(&name);
            let mut branch = Object::new();
            branch.set(Text::literal("type"), Node::string(name));
            for member in own
                .iter()
                .filter(|member| Keyword::named(&member.key).and_then(Keyword::applies_to) == kind && kind.is_some())
            {
                branch.set(member.key.clone(), member.value.copy(&context.budget));
            }
            let mut branch = Node::object(branch).with_origin(origin);
            legalize::container(&mut branch, place, context);
            required::apply(&mut branch, place, context);
            branch
        })
        .collect();
    let branches = Node::array(branches);
    let mut rest = Object::from_unique(shared);
    if !rest.has(Keyword::AnyOf) {
        rest.insert_at(at, Text::literal("anyOf"), branches);
        node.replace(Data::Object(rest));
        return;
    }
    // A value is of one of the types, and in one of the branches that stand there.
    let union = Node::record([("anyOf", branches)]).with_origin(origin);
    *node = intersected((Node::object(rest).with_origin(origin), union), at, place.polarity, None, context);
    node.touch();
}

fn kind_of(name: &Text<'_>) -> Option<InstanceType> {
    [
        ("object", InstanceType::Object),
        ("array", InstanceType::Array),
        ("string", InstanceType::String),
        ("number", InstanceType::Number),
        ("integer", InstanceType::Number),
    ]
    .into_iter()
    .find(|(known, _)| name.is(known))
    .map(|(_, kind)| kind)
}
