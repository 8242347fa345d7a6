//! Copies the siblings of a large `anyOf` into its branches. A branch gets only the properties and required names that
//! it mentions itself, at any depth: the others are the same in every branch, and copying them into each would take
//! quadratic time.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    json::{Data, LookUp, Member, Node, Object, Text},
    schema::{
        join::Common,
        keyword::{is_annotation, Keyword, Keywords},
    },
};

/// Up to this many properties and required names, every branch gets all of them.
const FEW: usize = 16;

/// A branch with one of these keywords gets the whole bundle: they constrain properties without naming them, compare
/// whole objects, or refer to another schema.
const NEEDS_WHOLE: Keywords = Keywords::of(&[
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
    Keyword::UnevaluatedProperties,
    Keyword::PropertyNames,
    Keyword::Enum,
    Keyword::Const,
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Ref,
    Keyword::DynamicRef,
    Keyword::RecursiveRef,
    Keyword::Id,
]);

/// Keywords that constrain properties which `properties` does not list.
const OF_OTHERS: Keywords =
    Keywords::of(&[Keyword::PatternProperties, Keyword::UnevaluatedProperties, Keyword::AnyOf, Keyword::Ref]);

/// A bundle whose properties need not go into every branch.
pub(super) struct Beside<'b, 'a> {
    bundle: &'b Object<'a>,
    common: Common<'b, 'a>,
    properties: Map<&'b Text<'a>, usize>,
    required: Map<&'b Text<'a>, usize>,
    /// Names that may be both required and forbidden.
    contradictory: Vec<&'b Text<'a>>,
}

impl<'b, 'a> Beside<'b, 'a> {
    /// Returns `None` if every branch must get the whole bundle.
    pub(super) fn of(bundle: &'b Node<'a>) -> Option<Self> {
        let bundle = bundle.as_object()?;
        let is_about_others = |member: &Member<'_>| {
            Keyword::named(&member.key).is_some_and(|keyword| OF_OTHERS.contains(keyword))
                || member.key.is(Keyword::AdditionalProperties) && member.value.as_bool().is_none()
        };
        if bundle.iter().any(is_about_others) {
            return None;
        }
        let properties = bundle.get(Keyword::Properties)?.as_object()?;
        let required = bundle.get(Keyword::Required).map_or(Some(&[][..]), Node::as_array)?;
        if properties.len() + required.len() <= FEW || required.iter().any(|name| name.as_text().is_none()) {
            return None;
        }
        let names = required.iter().enumerate().filter_map(|(at, name)| Some((name.as_text()?, at)));
        let names: Map<&Text<'a>, usize> = names.collect();
        // An index by name needs distinct names.
        if names.len() < required.len() {
            return None;
        }
        let index = properties.index();
        let is_closed = bundle.get(Keyword::AdditionalProperties).is_some();
        let may_contradict = |name: &&&Text<'a>| match index.get(**name).and_then(|at| properties.members().get(*at)) {
            Some(member) => member.value.as_bool() == Some(false) || member.value.get(Keyword::Not).is_some(),
            None => is_closed,
        };
        let contradictory: Vec<&Text<'a>> = names.keys().filter(may_contradict).copied().collect();
        if contradictory.len() > FEW {
            return None;
        }
        let origin = bundle.get(Keyword::Required).map(Node::origin);
        let common = Common { properties, index: LookUp::of(properties), required, origin };
        Some(Beside { bundle, common, properties: index, required: names, contradictory })
    }

    /// Returns the properties and required names that apply to every branch that got only a part of the bundle.
    pub(super) const fn common(&self) -> &Common<'b, 'a> {
        &self.common
    }

    /// Returns the part of the bundle for one branch, or `None` if the branch must get all of it.
    pub(super) fn part_for(&self, branch: &Node<'a>, budget: &Budget) -> Option<Node<'a>> {
        let branch = branch.as_object()?;
        let needs_whole =
            |member: &Member<'_>| Keyword::named(&member.key).is_some_and(|keyword| NEEDS_WHOLE.contains(keyword));
        if branch.iter().any(needs_whole) {
            return None;
        }
        if branch.get(Keyword::Properties).is_some_and(|table| table.as_object().is_none()) {
            return None;
        }
        let names = branch.get(Keyword::Required).map_or(Some(&[][..]), Node::as_array)?;
        // If the branch's own `required` is at least as long as that of the bundle, it could be mistaken for it.
        let is_as_long = !self.required.is_empty() && names.len() >= self.required.len();
        if is_as_long || names.iter().any(|name| name.as_text().is_none()) {
            return None;
        }
        let table = branch.object_at(Keyword::Properties);
        let mentioned =
            table.into_iter().flatten().map(|member| &member.key).chain(names.iter().filter_map(Node::as_text));
        let mut mentioned: Vec<&Text<'a>> = mentioned.chain(self.contradictory.iter().copied()).collect();
        let is_other = |member: &&Member<'a>| {
            !is_annotation(member) && !member.key.is(Keyword::Properties) && !member.key.is(Keyword::Required)
        };
        let others = branch.iter().filter(is_other).map(|member| &member.value);
        others.for_each(|value| texts(value, &mut mentioned));
        if !budget.pay(1 + mentioned.len()) {
            return None;
        }
        let places = |known: &Map<&'b Text<'a>, usize>| {
            let mut places: Set<usize> = mentioned.iter().filter_map(|name| known.get(name).copied()).collect();
            // Adds an entry that the branch does not mention. Otherwise a part that contains only the branch's own
            // members could be mistaken for the branch's own table.
            places.extend((0..known.len()).find(|place| !places.contains(place)));
            collections::by(places.into_iter().collect::<Vec<_>>(), usize::cmp)
        };
        let mut part = Object::new();
        for member in self.bundle {
            let value = if member.key.is(Keyword::Properties) {
                let members =
                    places(&self.properties).into_iter().filter_map(|at| self.common.properties.members().get(at));
                Node::object(Object::from_unique(members.map(|member| member.copy(budget)).collect()))
                    .with_origin(member.value.origin())
            } else if member.key.is(Keyword::Required) {
                let names = places(&self.required).into_iter().filter_map(|at| self.common.required.get(at));
                Node::array(names.map(|name| name.copy(budget)).collect()).with_origin(member.value.origin())
            } else {
                member.value.copy(budget)
            };
            part.members_mut().push(Member { key: member.key.clone(), value });
        }
        Some(Node::object(part))
    }
}

/// Appends every key and every string in a value.
fn texts<'n, 'a>(value: &'n Node<'a>, found: &mut Vec<&'n Text<'a>>) {
    let mut open = Vec::from([value]);
    while let Some(node) = open.pop() {
        match node.data() {
            Data::String(text) => found.push(text),
            Data::Array(items) => open.extend(items),
            Data::Object(object) => {
                found.extend(object.iter().map(|member| &member.key));
                open.extend(object.iter().map(|member| &member.value));
            }
            _ => {}
        }
    }
}
