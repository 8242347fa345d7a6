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
    pub(super) slots: Vec<Slot<'a>>,
}

impl<'a> Operands<'a> {
    /// Drops keywords that only identify the inner schema. `place` is the index for new keys of the inner schema.
    pub(super) fn of(outer: Object<'a>, inner: Object<'a>, place: usize) -> Self {
        let mut slots = slots(outer, inner, place);
        for slot in slots.iter_mut().filter(|slot| slot.keyword.is_some_and(|keyword| OWN.contains(keyword))) {
            slot.value = slot.value.take().0.map_or(Value::Gone, Value::Outer);
        }
        Operands { slots }
    }

    pub(super) fn slot(&mut self, keyword: Keyword) -> Option<&mut Slot<'a>> {
        self.slots.iter_mut().find(|slot| slot.keyword == Some(keyword))
    }

    /// Ignores keywords that are already merged.
    pub(super) fn has(&self, side: Operand, keywords: Keywords) -> bool {
        self.slots.iter().any(|slot| {
            let own = matches!(
                (&slot.value, side),
                (Value::Both(..), _) | (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner)
            );
            own && slot.keyword.is_some_and(|keyword| keywords.contains(keyword))
        })
    }

    /// Returns true if a side has one of these keywords with a value that the other side does not have.
    pub(super) fn adds(&self, side: Operand, keywords: Keywords) -> bool {
        let mut slots = self.slots.iter().filter(|slot| slot.keyword.is_some_and(|keyword| keywords.contains(keyword)));
        slots.any(|slot| match (&slot.value, side) {
            (Value::Both(outer, inner), _) => !json::same(outer, inner),
            (Value::Outer(_), Operand::Outer) | (Value::Inner(_), Operand::Inner) => true,
            _ => false,
        })
    }

    /// Values: outer, inner.
    pub(super) fn take(&mut self, keyword: Keyword) -> (Option<Node<'a>>, Option<Node<'a>>) {
        self.slot(keyword).map_or((None, None), |slot| slot.value.take())
    }

    pub(super) fn take_pair(&mut self, keyword: Keyword) -> Option<(Node<'a>, Node<'a>)> {
        let slot = self.slot(keyword).filter(|slot| matches!(slot.value, Value::Both(..)))?;
        let (outer, inner) = slot.value.take();
        outer.zip(inner)
    }

    pub(super) fn settle(&mut self, keyword: Keyword, kept: Chosen<'a>) {
        if let Some(slot) = self.slot(keyword) {
            slot.value = Value::Settled(kept);
        }
    }

    pub(super) fn settle_all<const N: usize>(
        &mut self,
        keywords: [Keyword; N],
        values: [Option<Node<'a>>; N],
        kept: fn(Node<'a>) -> Chosen<'a>,
    ) {
        for (keyword, value) in keywords.into_iter().zip(values) {
            if let Some(value) = value {
                self.settle(keyword, kept(value));
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
        if let Some(slot) = self.slot(keyword) {
            slot.value = value;
        }
    }

    /// Returns `None` also if both sides have a value that is not yet merged.
    pub(super) fn get(&self, keyword: Keyword) -> Option<&Node<'a>> {
        self.slots.iter().find(|slot| slot.keyword == Some(keyword)).and_then(|slot| match &slot.value {
            Value::Outer(node) | Value::Inner(node) => Some(node),
            Value::Settled(kept) => Some(kept.node()),
            Value::Both(..) | Value::Gone => None,
        })
    }

    /// Returns true if all present keywords of this set come unchanged from the same side.
    pub(super) fn is_one_sided(&self, keywords: Keywords) -> bool {
        let all = |own: fn(&Value<'a>) -> bool| {
            self.slots
                .iter()
                .all(|slot| !slot.keyword.is_some_and(|keyword| keywords.contains(keyword)) || own(&slot.value))
        };
        all(|value| match value {
            Value::Outer(_) => true,
            Value::Settled(kept) => kept.is_outers(),
            _ => false,
        }) || all(|value| match value {
            Value::Inner(_) => true,
            Value::Settled(kept) => kept.is_inners(),
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
            Data::String(name) => match index.get(name).and_then(|place| properties?.iter().nth(*place)) {
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
    Made(Node<'a>),
}

impl<'a> Chosen<'a> {
    pub(super) fn into_node(self) -> Node<'a> {
        match self {
            Chosen::Outer(node) | Chosen::Inner(node) | Chosen::Either(node, _) | Chosen::Made(node) => node,
        }
    }

    pub(super) const fn node(&self) -> &Node<'a> {
        match self {
            Chosen::Outer(node) | Chosen::Inner(node) | Chosen::Either(node, _) | Chosen::Made(node) => node,
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
pub(super) struct Slot<'a> {
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
    Settled(Chosen<'a>),
    Gone,
}

impl<'a> Value<'a> {
    pub(super) fn take(&mut self) -> (Option<Node<'a>>, Option<Node<'a>>) {
        match core::mem::replace(self, Value::Gone) {
            Value::Outer(node) => (Some(node), None),
            Value::Inner(node) => (None, Some(node)),
            Value::Both(outer, inner) => (Some(outer), Some(inner)),
            Value::Settled(_) | Value::Gone => (None, None),
        }
    }
}

/// Members of the outer object keep their positions. New members of the inner object follow at `place`, in their order.
pub(super) fn slots<'a>(outer: Object<'a>, inner: Object<'a>, place: usize) -> Vec<Slot<'a>> {
    let mut slots: Vec<Slot<'a>> = outer.into_members().into_iter().map(Slot::outer).collect();
    let places: Map<Text<'a>, usize> =
        slots.iter().enumerate().filter_map(|(place, slot)| Some((slot.outer_key.clone()?, place))).collect();
    let mut added = Vec::new();
    for (at, member) in inner.into_members().into_iter().enumerate() {
        match places.get(&member.key).and_then(|place| slots.get_mut(*place)) {
            Some(slot) => {
                slot.inner_key = Some((at, member.key));
                if let (Some(outer), _) = slot.value.take() {
                    slot.value = Value::Both(outer, member.value);
                }
            }
            None => added.push(Slot {
                keyword: Keyword::named(&member.key),
                outer_key: None,
                inner_key: Some((at, member.key)),
                value: Value::Inner(member.value),
            }),
        }
    }
    let place = place.min(slots.len());
    slots.splice(place..place, added);
    slots
}

impl<'a> Slot<'a> {
    fn outer(member: Member<'a>) -> Self {
        Slot {
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
    slots: Vec<Slot<'a>>,
    outer: Option<ContainerMeta>,
    inner: Option<ContainerMeta>,
) -> Chosen<'a> {
    let mut members: Vec<Named<'a>> = Vec::with_capacity(slots.len());
    for slot in slots {
        let kept = match slot.value {
            Value::Outer(node) => Chosen::Outer(node),
            Value::Inner(node) => Chosen::Inner(node),
            Value::Both(outer, _) => Chosen::Made(outer),
            Value::Settled(kept) => kept,
            Value::Gone => continue,
        };
        members.push((slot.outer_key, slot.inner_key, kept));
    }
    let outer_stays = outer.filter(|shell| {
        shell.len == members.len() && members.iter().all(|(key, _, kept)| key.is_some() && kept.is_outers())
    });
    let inner_stays = inner.filter(|shell| {
        let mut members = members.iter().enumerate();
        shell.len == members.len()
            && members.all(|(place, (_, key, kept))| key.as_ref().is_some_and(|key| key.0 == place) && kept.is_inners())
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
                    Chosen::Made(made)
                }
                (None, None) => Chosen::Made(Node::new(data)),
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
        |shell: Option<ContainerMeta>, place: fn(&Item<'a>) -> Option<usize>, is_own: fn(&Chosen<'a>) -> bool| {
            let own = |(at, item): (usize, &Item<'a>)| place(item) == Some(at) && is_own(&item.kept);
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
                (None, Some(shell)) => Chosen::Made(shell.changed(data)),
                (None, None) => Chosen::Made(Node::new(data)),
            }
        }
    }
}
