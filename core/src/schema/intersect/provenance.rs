//! What is left of two values that were merged, and the building of a container from what is left of its parts.
//!
//! A container all of whose parts are one side's own is that side's container: it keeps its origin and stays intact.

use alloc::vec::Vec;

use crate::{
    collections::Map,
    json::{Data, Member, Node, Object, Shell, Text},
    schema::keyword::Keyword,
};

/// What is left of two values.
#[derive(Debug)]
pub(super) enum Chosen<'a> {
    /// The outer one, as it was.
    Outer(Node<'a>),
    /// The inner one, as it was.
    Inner(Node<'a>),
    /// They mean the same: whichever lets its container stay as it was.
    Either(Node<'a>, Node<'a>),
    /// Neither.
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

    pub(super) const fn is_outers(&self) -> bool {
        matches!(self, Chosen::Outer(_) | Chosen::Either(..))
    }

    pub(super) const fn is_inners(&self) -> bool {
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

    /// Around all of its own parts again.
    fn restored<'a>(self, data: Data<'a>) -> Node<'a> {
        self.shell.around(data)
    }

    /// Around other parts.
    pub(super) fn changed<'a>(self, data: Data<'a>) -> Node<'a> {
        let mut node = self.shell.around(data);
        node.touch();
        node
    }
}

/// One name in two objects.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    pub(super) keyword: Option<Keyword>,
    pub(super) outer_key: Option<Text<'a>>,
    /// With the member's place among the inner object's.
    pub(super) inner_key: Option<(usize, Text<'a>)>,
    pub(super) value: Value<'a>,
}

/// What stands under a name in two objects.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Outer(Node<'a>),
    Inner(Node<'a>),
    Both(Node<'a>, Node<'a>),
    Settled(Chosen<'a>),
    /// Nothing, any more.
    Gone,
}

impl<'a> Value<'a> {
    /// What each side has.
    pub(super) fn take(&mut self) -> (Option<Node<'a>>, Option<Node<'a>>) {
        match core::mem::replace(self, Value::Gone) {
            Value::Outer(node) => (Some(node), None),
            Value::Inner(node) => (None, Some(node)),
            Value::Both(outer, inner) => (Some(outer), Some(inner)),
            Value::Settled(_) | Value::Gone => (None, None),
        }
    }
}

/// The members of two objects by name: the outer's in their places, the inner's new ones at `place`, in their order.
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

    /// The name, for the path to it.
    pub(super) fn name(&self) -> Text<'a> {
        match (&self.outer_key, &self.inner_key) {
            (Some(name), _) | (None, Some((_, name))) => name.clone(),
            (None, None) => Text::literal(""),
        }
    }
}

/// What is left of one slot: its name on either side (the inner's with its place there), and its value.
type Named<'a> = (Option<Text<'a>>, Option<(usize, Text<'a>)>, Chosen<'a>);

/// An object of what is left under each name. Names that stand on one side only and were not looked at are kept.
pub(super) fn object<'a>(
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
                    made.mark(shell.shell.marks() | inner.map_or(0, |inner| inner.shell.marks()));
                    Chosen::Made(made)
                }
                (None, None) => Chosen::Made(Node::new(data)),
            }
        }
    }
}

/// What is left at one place of a list, and which item of each side it was merged from.
pub(super) struct Item<'a> {
    pub(super) outer: Option<usize>,
    pub(super) inner: Option<usize>,
    pub(super) kept: Chosen<'a>,
}

/// A list of what is left at each place.
pub(super) fn list<'a>(items: Vec<Item<'a>>, outer: Option<ContainerMeta>, inner: Option<ContainerMeta>) -> Chosen<'a> {
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
