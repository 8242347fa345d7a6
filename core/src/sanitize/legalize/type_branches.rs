//! Splits a list of types: one branch for each type, with the keywords that apply to it.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    json::{Member, Node, Object, Text},
    schema::keyword::{is_annotation, InstanceType, Keyword},
};

/// Parts of a schema with a list of types.
pub(crate) struct TypeBranches<'a> {
    /// Position of `type`.
    pub(crate) at: usize,
    /// Keywords that apply to all types, and annotations.
    pub(crate) shared: Object<'a>,
    /// One branch per type.
    pub(crate) branches: Vec<Node<'a>>,
}

/// Splits a schema whose `type` is a list.
pub(crate) fn take<'a>(node: &mut Node<'a>, budget: &Budget) -> TypeBranches<'a> {
    let origin = node.origin();
    let object = node.as_object_mut().map(core::mem::take).unwrap_or_default();
    let at = object.position(Keyword::Type).unwrap_or_default();
    let (mut names, mut shared, mut own): (Vec<Text<'a>>, Vec<Member<'a>>, Vec<Member<'a>>) = Default::default();
    for member in object.into_members() {
        let of_one_type = Keyword::named(&member.key).and_then(Keyword::applies_to).is_some();
        match member.key.is(Keyword::Type) {
            true => names.extend(member.value.as_array().unwrap_or_default().iter().filter_map(Node::as_text).cloned()),
            false if of_one_type && !is_annotation(&member) => own.push(member),
            false => shared.push(member),
        }
    }
    let branches = names.into_iter().map(|name| {
        let types = InstanceType::named(&name);
        let is_its = |member: &&Member<'a>| {
            types.is_some() && Keyword::named(&member.key).and_then(Keyword::applies_to) == types
        };
        let own = own.iter().filter(is_its).map(|member| member.copy(budget));
        let members = core::iter::once(Member { key: Text::literal("type"), value: Node::string(name) }).chain(own);
        Node::object(Object::from_unique(members.collect())).with_origin(origin)
    });
    TypeBranches { at, branches: branches.collect(), shared: Object::from_unique(shared) }
}
