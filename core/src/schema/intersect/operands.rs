//! Keywords of two schemas during a merge: taken out in groups that depend on each other, and put back merged.
//! Containers are built from merged parts.
//!
//! A container whose parts all come from one side is the container of that side: it keeps its origin and stays intact.

use alloc::vec::Vec;

use super::{accepts_nothing, Impossible, Operand, OWN};
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
            .filter(|merged_member| merged_member.keyword.is_some_and(|keyword| OWN.contains(keyword)))
        {
            merged_member.value = merged_member.value.take().0.map_or(Value::Removed, Value::Outer);
        }
        Operands { merged_members }
    }

    pub(super) fn merged_member(&mut self, keyword: Keyword) -> Option<&mut MergedMember<'a>> {
        self.merged_members.iter_mut().find(|merged_member| merged_member.keyword == Some(keyword))
    }

    /// Ignores keywords that are already merged.
    pub(super) fn has(&self, side: Operand, keywords: Keywords) -> bool {
        self.merged_members.iter().any(|merged_member| {
            let own = matches!(
                (&merged_member.value, side),
                (Value::Both(..), _) | (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner)
            );
            own && merged_member.keyword.is_some_and(|keyword| keywords.contains(keyword))
        })
    }

    /// Returns true if a side has one of these keywords with a value that the other side does not have.
    pub(super) fn adds(&self, side: Operand, keywords: Keywords) -> bool {
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

    /// Values: outer, inner.
    pub(super) fn take(&mut self, keyword: Keyword) -> (Option<Node<'a>>, Option<Node<'a>>) {
        self.merged_member(keyword).map_or((None, None), |merged_member| merged_member.value.take())
    }

    pub(super) fn take_pair(&mut self, keyword: Keyword) -> Option<(Node<'a>, Node<'a>)> {
        let merged_member =
            self.merged_member(keyword).filter(|merged_member| matches!(merged_member.value, Value::Both(..)))?;
        let (outer, inner) = merged_member.value.take();
        outer.zip(inner)
    }

    pub(super) fn set_merged(&mut self, keyword: Keyword, kept: Chosen<'a>) {
        if let Some(merged_member) = self.merged_member(keyword) {
            merged_member.value = Value::Merged(kept);
        }
    }

    pub(super) fn set_merged_all<const N: usize>(
        &mut self,
        keywords: [Keyword; N],
        values: [Option<Node<'a>>; N],
        kept: fn(Node<'a>) -> Chosen<'a>,
    ) {
        for (keyword, value) in keywords.into_iter().zip(values) {
            if let Some(value) = value {
                self.set_merged(keyword, kept(value));
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
                Value::Merged(kept) => Some(kept.node()),
                Value::Both(..) | Value::Removed => None,
            },
        )
    }

    /// Returns true if all present keywords of this set come unchanged from the same side.
    pub(super) fn is_one_sided(&self, keywords: Keywords) -> bool {
        let all = |own: fn(&Value<'a>) -> bool| {
            self.merged_members.iter().all(|merged_member| {
                !merged_member.keyword.is_some_and(|keyword| keywords.contains(keyword)) || own(&merged_member.value)
            })
        };
        all(|value| match value {
            Value::Outer(_) => true,
            Value::Merged(kept) => kept.is_outers(),
            _ => false,
        }) || all(|value| match value {
            Value::Inner(_) => true,
            Value::Merged(kept) => kept.is_inners(),
            _ => false,
        })
    }

    /// Returns an error if the merged schema accepts only objects, and requires a property that it forbids. A
    /// contradiction within one side is kept, because it is a mistake that a repair may fix.
    pub(super) fn requires_what_it_forbids(&self) -> Result<(), Impossible> {
        let get = |keyword| self.get(keyword);
        let objects_only = get(Keyword::Type).and_then(InstanceTypes::of_keyword) == Some(InstanceTypes::OBJECT);
        let Some(required) = get(Keyword::Required).and_then(Node::as_array).filter(|_| objects_only) else {
            return Ok(());
        };
        if self.is_one_sided(OF_MEMBERS) {
            return Ok(());
        }
        let properties = get(Keyword::Properties).and_then(Node::as_object);
        let index = properties.map(Object::index).unwrap_or_default();
        let no_patterns =
            get(Keyword::PatternProperties).is_none_or(|table| table.as_object().is_some_and(Object::is_empty));
        let closed = no_patterns && get(Keyword::AdditionalProperties).is_some_and(accepts_nothing);
        let forbidden = |name: &Node<'a>| match name.data() {
            Data::String(name) => match index.get(name).and_then(|position| properties?.iter().nth(*position)) {
                Some(property) => accepts_nothing(&property.value),
                None => closed,
            },
            _ => false,
        };
        if required.iter().any(forbidden) {
            Err(Impossible)
        } else {
            Ok(())
        }
    }
}

const OF_MEMBERS: Keywords = Keywords::of(&[
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
    /// Both values are equivalent. The value that leaves its container unchanged is used.
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

    const fn is_outers(&self) -> bool {
        matches!(self, Chosen::Outer(_) | Chosen::Either(..))
    }

    const fn is_inners(&self) -> bool {
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

    fn restored<'a>(self, data: Data<'a>) -> Node<'a> {
        self.shell.around(data)
    }

    pub(super) fn changed<'a>(self, data: Data<'a>) -> Node<'a> {
        let mut node = self.shell.around(data);
        node.touch();
        node
    }
}

#[derive(Debug)]
pub(super) struct MergedMember<'a> {
    pub(super) keyword: Option<Keyword>,
    outer_key: Option<Text<'a>>,
    /// With its index in the inner object.
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

/// Result for one slot: its key on each side (in the inner object with its index), and its value.
type Named<'a> = (Option<Text<'a>>, Option<(usize, Text<'a>)>, Chosen<'a>);

pub(super) fn merged_object<'a>(
    merged_members: Vec<MergedMember<'a>>,
    outer: Option<ContainerMeta>,
    inner: Option<ContainerMeta>,
) -> Chosen<'a> {
    let mut members: Vec<Named<'a>> = Vec::with_capacity(merged_members.len());
    for merged_member in merged_members {
        let kept = match merged_member.value {
            Value::Outer(node) => Chosen::Outer(node),
            Value::Inner(node) => Chosen::Inner(node),
            Value::Both(outer, _) => Chosen::New(outer),
            Value::Merged(kept) => kept,
            Value::Removed => continue,
        };
        members.push((merged_member.outer_key, merged_member.inner_key, kept));
    }
    let outer_stays = outer.filter(|shell| {
        shell.len == members.len() && members.iter().all(|(key, _, kept)| key.is_some() && kept.is_outers())
    });
    let inner_stays = inner.filter(|shell| {
        let mut members = members.iter().enumerate();
        shell.len == members.len()
            && members
                .all(|(position, (_, key, kept))| key.as_ref().is_some_and(|key| key.0 == position) && kept.is_inners())
    });
    match (outer_stays, inner_stays) {
        (Some(outer), Some(inner)) => {
            let (mut outers, mut inners) = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
            for member in members {
                if let (Some(outer_key), Some((_, inner_key)), Chosen::Either(outer, inner)) = member {
                    outers.push(Member { key: outer_key, value: outer });
                    inners.push(Member { key: inner_key, value: inner });
                }
            }
            Chosen::Either(
                outer.restored(Data::Object(Object::from_unique(outers))),
                inner.restored(Data::Object(Object::from_unique(inners))),
            )
        }
        (None, Some(shell)) => {
            let members =
                members.into_iter().filter_map(|(_, key, kept)| Some(Member { key: key?.1, value: kept.into_inner() }));
            Chosen::Inner(shell.restored(Data::Object(Object::from_unique(members.collect()))))
        }
        (stays, None) => {
            let members = members.into_iter().filter_map(|(outer, inner, kept)| {
                Some(Member { key: outer.or(inner.map(|key| key.1))?, value: kept.into_node() })
            });
            let data = Data::Object(Object::from_unique(members.collect()));
            match (stays, outer.or(inner)) {
                (Some(shell), _) => Chosen::Outer(shell.restored(data)),
                (None, Some(shell)) => {
                    let mut made = shell.changed(data);
                    made.flag(inner.map_or(Flags::NONE, |inner| inner.shell.flags()).without(Flags::STATE));
                    Chosen::New(made)
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
    pub(super) kept: Chosen<'a>,
}

pub(super) fn merged_list<'a>(
    items: Vec<Item<'a>>,
    outer: Option<ContainerMeta>,
    inner: Option<ContainerMeta>,
) -> Chosen<'a> {
    let stays =
        |shell: Option<ContainerMeta>, position: fn(&Item<'a>) -> Option<usize>, is_own: fn(&Chosen<'a>) -> bool| {
            let own = |(at, item): (usize, &Item<'a>)| position(item) == Some(at) && is_own(&item.kept);
            shell.filter(|shell| shell.len == items.len() && items.iter().enumerate().all(own))
        };
    let outer_stays = stays(outer, |item| item.outer, Chosen::is_outers);
    let inner_stays = stays(inner, |item| item.inner, Chosen::is_inners);
    match (outer_stays, inner_stays) {
        (Some(outer), Some(inner)) => {
            let pairs = items.into_iter().filter_map(|item| match item.kept {
                Chosen::Either(outer, inner) => Some((outer, inner)),
                _ => None,
            });
            let (outers, inners) = pairs.unzip();
            Chosen::Either(outer.restored(Data::Array(outers)), inner.restored(Data::Array(inners)))
        }
        (None, Some(shell)) => {
            Chosen::Inner(shell.restored(Data::Array(items.into_iter().map(|item| item.kept.into_inner()).collect())))
        }
        (stays, None) => {
            let data = Data::Array(items.into_iter().map(|item| item.kept.into_node()).collect());
            match (stays, outer.or(inner)) {
                (Some(shell), _) => Chosen::Outer(shell.restored(data)),
                (None, Some(shell)) => Chosen::New(shell.changed(data)),
                (None, None) => Chosen::New(Node::new(data)),
            }
        }
    }
}
