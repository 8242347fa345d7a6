//! Keywords of two schemas during a merge. Groups that depend on each other are removed, and restored as merged values.
//! Containers are built from merged parts.
//!
//! A container whose parts all come from one side is the container of that side: it keeps its origin and stays intact.

use alloc::vec::Vec;

use super::{accepts_nothing, Impossible, Operand, IDENTIFYING};
use crate::{
    collections::Map,
    json::{self, Data, Flags, Member, Node, Object, Shell, Text},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords},
    },
};

pub(super) struct Operands<'a> {
    pub(super) merged_members: Vec<MergedMember<'a>>,
}

impl<'a> Operands<'a> {
    /// Drops keywords that only identify the inner schema. `position` is the index for new keys of the inner schema.
    pub(super) fn of(outer: Object<'a>, inner: Object<'a>, position: usize) -> Self {
        let mut merged_members = merged_members(outer, inner, position);
        for merged_member in merged_members
            .iter_mut()
            .filter(|merged_member| merged_member.keyword.is_some_and(|keyword| IDENTIFYING.contains(keyword)))
        {
            merged_member.value = merged_member.value.take().0.map_or(Value::Removed, Value::Outer);
        }
        Operands { merged_members }
    }

    pub(super) fn merged_member(&mut self, keyword: Keyword) -> Option<&mut MergedMember<'a>> {
        self.merged_members.iter_mut().find(|merged_member| merged_member.keyword == Some(keyword))
    }

    /// Returns true if a side has one of these keywords. Ignores keywords that are already merged.
    pub(super) fn has_any(&self, side: Operand, keywords: Keywords) -> bool {
        self.merged_members.iter().any(|merged_member| {
            let belongs_to_side = matches!(
                (&merged_member.value, side),
                (Value::Both(..), _) | (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner)
            );
            belongs_to_side && merged_member.keyword.is_some_and(|keyword| keywords.contains(keyword))
        })
    }

    /// Returns true if a side has one of these keywords with a value that the other side does not have.
    pub(super) fn adds_any(&self, side: Operand, keywords: Keywords) -> bool {
        let mut merged_members = self
            .merged_members
            .iter()
            .filter(|merged_member| merged_member.keyword.is_some_and(|keyword| keywords.contains(keyword)));
        merged_members.any(|merged_member| match (&merged_member.value, side) {
            (Value::Both(outer, inner), _) => !json::same(outer, inner),
            (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner) => true,
            _ => false,
        })
    }

    /// Removes and returns the values of the outer and the inner schema.
    pub(super) fn take(&mut self, keyword: Keyword) -> (Option<Node<'a>>, Option<Node<'a>>) {
        self.merged_member(keyword).map_or((None, None), |merged_member| merged_member.value.take())
    }

    pub(super) fn take_pair(&mut self, keyword: Keyword) -> Option<(Node<'a>, Node<'a>)> {
        let merged_member =
            self.merged_member(keyword).filter(|merged_member| matches!(merged_member.value, Value::Both(..)))?;
        let (outer, inner) = merged_member.value.take();
        outer.zip(inner)
    }

    pub(super) fn set_merged(&mut self, keyword: Keyword, chosen: Chosen<'a>) {
        if let Some(merged_member) = self.merged_member(keyword) {
            merged_member.value = Value::Merged(chosen);
        }
    }

    pub(super) fn set_merged_all<const N: usize>(
        &mut self,
        keywords: [Keyword; N],
        values: [Option<Node<'a>>; N],
        chosen: fn(Node<'a>) -> Chosen<'a>,
    ) {
        for (keyword, value) in keywords.into_iter().zip(values) {
            if let Some(value) = value {
                self.set_merged(keyword, chosen(value));
            }
        }
    }

    pub(super) fn restore(&mut self, keyword: Keyword, outer: Option<Node<'a>>, inner: Option<Node<'a>>) {
        let value = match (outer, inner) {
            (Some(outer), Some(inner)) => Value::Both(outer, inner),
            (Some(outer), None) => Value::Outer(outer),
            (None, Some(inner)) => Value::Inner(inner),
            (None, None) => return,
        };
        if let Some(merged_member) = self.merged_member(keyword) {
            merged_member.value = value;
        }
    }

    /// Returns `None` also if both sides have a value that is not yet merged.
    pub(super) fn get(&self, keyword: Keyword) -> Option<&Node<'a>> {
        self.merged_members.iter().find(|merged_member| merged_member.keyword == Some(keyword)).and_then(
            |merged_member| match &merged_member.value {
                Value::Outer(node) | Value::Inner(node) => Some(node),
                Value::Merged(chosen) => Some(chosen.node()),
                Value::Both(..) | Value::Removed => None,
            },
        )
    }

    /// Returns true if all present keywords of this set come unchanged from the same side.
    pub(super) fn is_one_sided(&self, keywords: Keywords) -> bool {
        let all_from = |is_from_side: fn(&Value<'a>) -> bool| {
            self.merged_members.iter().all(|merged_member| {
                !merged_member.keyword.is_some_and(|keyword| keywords.contains(keyword))
                    || is_from_side(&merged_member.value)
            })
        };
        all_from(|value| match value {
            Value::Outer(_) => true,
            Value::Merged(chosen) => chosen.is_from_outer(),
            _ => false,
        }) || all_from(|value| match value {
            Value::Inner(_) => true,
            Value::Merged(chosen) => chosen.is_from_inner(),
            _ => false,
        })
    }

    /// Returns an error if the merged schema accepts only objects, and requires a property that it forbids. A
    /// contradiction within one side is kept, because it is a mistake that a repair may fix.
    pub(super) fn refuse_contradictory_required(&self) -> Result<(), Impossible> {
        let get = |keyword| self.get(keyword);
        let accepts_only_objects =
            get(Keyword::Type).and_then(InstanceTypes::of_keyword) == Some(InstanceTypes::OBJECT);
        let Some(required) = get(Keyword::Required).and_then(Node::as_array).filter(|_| accepts_only_objects) else {
            return Ok(());
        };
        if self.is_one_sided(MEMBER_KEYWORDS) {
            return Ok(());
        }
        let properties = get(Keyword::Properties).and_then(Node::as_object);
        let index = properties.map(Object::index).unwrap_or_default();
        let has_no_patterns =
            get(Keyword::PatternProperties).is_none_or(|table| table.as_object().is_some_and(Object::is_empty));
        let is_closed = has_no_patterns && get(Keyword::AdditionalProperties).is_some_and(accepts_nothing);
        let is_forbidden = |name: &Node<'a>| match name.data() {
            Data::String(name) => match index.get(name).and_then(|position| properties?.iter().nth(*position)) {
                Some(property) => accepts_nothing(&property.value),
                None => is_closed,
            },
            _ => false,
        };
        if required.iter().any(is_forbidden) {
            Err(Impossible)
        } else {
            Ok(())
        }
    }
}

const MEMBER_KEYWORDS: Keywords = Keywords::of(&[
    Keyword::Type,
    Keyword::Required,
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
]);

#[derive(Debug)]
pub(super) enum Chosen<'a> {
    Outer(Node<'a>),
    Inner(Node<'a>),
    /// Both values are equivalent. The value is used whose container can stay unchanged.
    Either(Node<'a>, Node<'a>),
    New(Node<'a>),
}

impl<'a> Chosen<'a> {
    pub(super) fn into_node(self) -> Node<'a> {
        match self {
            Chosen::Outer(node) | Chosen::Inner(node) | Chosen::Either(node, _) | Chosen::New(node) => node,
        }
    }

    pub(super) const fn node(&self) -> &Node<'a> {
        match self {
            Chosen::Outer(node) | Chosen::Inner(node) | Chosen::Either(node, _) | Chosen::New(node) => node,
        }
    }

    const fn is_from_outer(&self) -> bool {
        matches!(self, Chosen::Outer(_) | Chosen::Either(..))
    }

    const fn is_from_inner(&self) -> bool {
        matches!(self, Chosen::Inner(_) | Chosen::Either(..))
    }

    fn into_inner(self) -> Node<'a> {
        match self {
            Chosen::Either(_, node) => node,
            other => other.into_node(),
        }
    }
}

/// A container without its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerMeta {
    shell: Shell,
    len: usize,
}

impl ContainerMeta {
    pub(super) fn of(node: &Node<'_>) -> Self {
        let len = match node.data() {
            Data::Array(items) => items.len(),
            Data::Object(object) => object.len(),
            _ => 0,
        };
        ContainerMeta { shell: node.shell(), len }
    }

    fn with_data<'a>(self, data: Data<'a>) -> Node<'a> {
        self.shell.around(data)
    }

    pub(super) fn with_changed_data<'a>(self, data: Data<'a>) -> Node<'a> {
        let mut node = self.shell.around(data);
        node.touch();
        node
    }
}

#[derive(Debug)]
pub(super) struct MergedMember<'a> {
    pub(super) keyword: Option<Keyword>,
    outer_key: Option<Text<'a>>,
    /// The key with its index in the inner object.
    inner_key: Option<(usize, Text<'a>)>,
    pub(super) value: Value<'a>,
}

#[derive(Debug)]
pub(super) enum Value<'a> {
    Outer(Node<'a>),
    Inner(Node<'a>),
    Both(Node<'a>, Node<'a>),
    Merged(Chosen<'a>),
    Removed,
}

impl<'a> Value<'a> {
    pub(super) fn take(&mut self) -> (Option<Node<'a>>, Option<Node<'a>>) {
        match core::mem::replace(self, Value::Removed) {
            Value::Outer(node) => (Some(node), None),
            Value::Inner(node) => (None, Some(node)),
            Value::Both(outer, inner) => (Some(outer), Some(inner)),
            Value::Merged(_) | Value::Removed => (None, None),
        }
    }
}

/// Members of the outer object keep their positions. New members of the inner object follow at `position`, in their
/// order.
pub(super) fn merged_members<'a>(outer: Object<'a>, inner: Object<'a>, position: usize) -> Vec<MergedMember<'a>> {
    let mut merged_members: Vec<MergedMember<'a>> = outer.into_members().into_iter().map(MergedMember::outer).collect();
    let positions: Map<Text<'a>, usize> = merged_members
        .iter()
        .enumerate()
        .filter_map(|(position, merged_member)| Some((merged_member.outer_key.clone()?, position)))
        .collect();
    let mut added = Vec::new();
    for (at, member) in inner.into_members().into_iter().enumerate() {
        match positions.get(&member.key).and_then(|position| merged_members.get_mut(*position)) {
            Some(merged_member) => {
                merged_member.inner_key = Some((at, member.key));
                if let (Some(outer), _) = merged_member.value.take() {
                    merged_member.value = Value::Both(outer, member.value);
                }
            }
            None => added.push(MergedMember {
                keyword: Keyword::named(&member.key),
                outer_key: None,
                inner_key: Some((at, member.key)),
                value: Value::Inner(member.value),
            }),
        }
    }
    let position = position.min(merged_members.len());
    merged_members.splice(position..position, added);
    merged_members
}

impl<'a> MergedMember<'a> {
    fn outer(member: Member<'a>) -> Self {
        MergedMember {
            keyword: Keyword::named(&member.key),
            outer_key: Some(member.key),
            inner_key: None,
            value: Value::Outer(member.value),
        }
    }

    pub(super) fn name(&self) -> Text<'a> {
        match (&self.outer_key, &self.inner_key) {
            (Some(name), _) | (None, Some((_, name))) => name.clone(),
            (None, None) => Text::literal(""),
        }
    }
}

/// A merged value with its key on each side (in the inner object with its index).
type KeyedValue<'a> = (Option<Text<'a>>, Option<(usize, Text<'a>)>, Chosen<'a>);

pub(super) fn merged_object<'a>(
    merged_members: Vec<MergedMember<'a>>,
    outer: Option<ContainerMeta>,
    inner: Option<ContainerMeta>,
) -> Chosen<'a> {
    let mut members: Vec<KeyedValue<'a>> = Vec::with_capacity(merged_members.len());
    for merged_member in merged_members {
        let chosen = match merged_member.value {
            Value::Outer(node) => Chosen::Outer(node),
            Value::Inner(node) => Chosen::Inner(node),
            Value::Both(outer, _) => Chosen::New(outer),
            Value::Merged(chosen) => chosen,
            Value::Removed => continue,
        };
        members.push((merged_member.outer_key, merged_member.inner_key, chosen));
    }
    let unchanged_outer = outer.filter(|shell| {
        shell.len == members.len() && members.iter().all(|(key, _, chosen)| key.is_some() && chosen.is_from_outer())
    });
    let unchanged_inner = inner.filter(|shell| {
        let mut members = members.iter().enumerate();
        shell.len == members.len()
            && members.all(|(position, (_, key, chosen))| {
                key.as_ref().is_some_and(|key| key.0 == position) && chosen.is_from_inner()
            })
    });
    match (unchanged_outer, unchanged_inner) {
        (Some(outer), Some(inner)) => {
            let (mut outers, mut inners) = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
            for member in members {
                if let (Some(outer_key), Some((_, inner_key)), Chosen::Either(outer, inner)) = member {
                    outers.push(Member { key: outer_key, value: outer });
                    inners.push(Member { key: inner_key, value: inner });
                }
            }
            Chosen::Either(
                outer.with_data(Data::Object(Object::from_unique(outers))),
                inner.with_data(Data::Object(Object::from_unique(inners))),
            )
        }
        (None, Some(shell)) => {
            let members = members
                .into_iter()
                .filter_map(|(_, key, chosen)| Some(Member { key: key?.1, value: chosen.into_inner() }));
            Chosen::Inner(shell.with_data(Data::Object(Object::from_unique(members.collect()))))
        }
        (stays, None) => {
            let members = members.into_iter().filter_map(|(outer, inner, chosen)| {
                Some(Member { key: outer.or(inner.map(|key| key.1))?, value: chosen.into_node() })
            });
            let data = Data::Object(Object::from_unique(members.collect()));
            match (stays, outer.or(inner)) {
                (Some(shell), _) => Chosen::Outer(shell.with_data(data)),
                (None, Some(shell)) => {
                    let mut node = shell.with_changed_data(data);
                    node.flag(inner.map_or(Flags::NONE, |inner| inner.shell.flags()).without(Flags::STATE));
                    Chosen::New(node)
                }
                (None, None) => Chosen::New(Node::new(data)),
            }
        }
    }
}

/// A merged item, with its index on each side.
pub(super) struct Item<'a> {
    pub(super) outer: Option<usize>,
    pub(super) inner: Option<usize>,
    pub(super) chosen: Chosen<'a>,
}

pub(super) fn merged_list<'a>(
    items: Vec<Item<'a>>,
    outer: Option<ContainerMeta>,
    inner: Option<ContainerMeta>,
) -> Chosen<'a> {
    let unchanged = |shell: Option<ContainerMeta>,
                     position: fn(&Item<'a>) -> Option<usize>,
                     is_from_side: fn(&Chosen<'a>) -> bool| {
        let is_unchanged = |(at, item): (usize, &Item<'a>)| position(item) == Some(at) && is_from_side(&item.chosen);
        shell.filter(|shell| shell.len == items.len() && items.iter().enumerate().all(is_unchanged))
    };
    let unchanged_outer = unchanged(outer, |item| item.outer, Chosen::is_from_outer);
    let unchanged_inner = unchanged(inner, |item| item.inner, Chosen::is_from_inner);
    match (unchanged_outer, unchanged_inner) {
        (Some(outer), Some(inner)) => {
            let pairs = items.into_iter().filter_map(|item| match item.chosen {
                Chosen::Either(outer, inner) => Some((outer, inner)),
                _ => None,
            });
            let (outers, inners) = pairs.unzip();
            Chosen::Either(outer.with_data(Data::Array(outers)), inner.with_data(Data::Array(inners)))
        }
        (None, Some(shell)) => Chosen::Inner(
            shell.with_data(Data::Array(items.into_iter().map(|item| item.chosen.into_inner()).collect())),
        ),
        (unchanged, None) => {
            let data = Data::Array(items.into_iter().map(|item| item.chosen.into_node()).collect());
            match (unchanged, outer.or(inner)) {
                (Some(shell), _) => Chosen::Outer(shell.with_data(data)),
                (None, Some(shell)) => Chosen::New(shell.with_changed_data(data)),
                (None, None) => Chosen::New(Node::new(data)),
            }
        }
    }
}
