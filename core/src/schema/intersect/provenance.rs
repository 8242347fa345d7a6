//! Result of merging two values, and containers built from merged parts.
//!
//! A container whose parts all come from one side is the container of that side: it keeps its origin and stays intact.

use alloc::vec::Vec;

use crate::{
    collections::Map,
    json::{Data, Member, Node, Object, Shell, Text},
    schema::keyword::Keyword,
};

/// Result of merging two values.
#[derive(Debug)]
pub(super) enum Chosen<'a> {
    /// The outer value, unchanged.
    Outer(Node<'a>),
    /// The inner value, unchanged.
    Inner(Node<'a>),
    /// Both values are equivalent: the one that leaves its container unchanged is used.
    Either(Node<'a>, Node<'a>),
    /// A new value.
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

    /// Rebuilds the container from its own parts.
    fn restored<'a>(self, data: Data<'a>) -> Node<'a> {
        self.shell.around(data)
    }

    /// Rebuilds the container from other parts.
    pub(super) fn changed<'a>(self, data: Data<'a>) -> Node<'a> {
        let mut node = self.shell.around(data);
        node.touch();
        node
    }
}

/// One key in two objects.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    pub(super) keyword: Option<Keyword>,
    pub(super) outer_key: Option<Text<'a>>,
    /// Key in the inner object, with its position.
    pub(super) inner_key: Option<(usize, Text<'a>)>,
    pub(super) value: Value<'a>,
}

/// Value of a key in two objects.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Outer(Node<'a>),
    Inner(Node<'a>),
    Both(Node<'a>, Node<'a>),
    Settled(Chosen<'a>),
    /// Removed.
    Gone,
}

impl<'a> Value<'a> {
    /// Removes and returns the values of both sides.
    pub(super) fn take(&mut self) -> (Option<Node<'a>>, Option<Node<'a>>) {
        match core::mem::replace(self, Value::Gone) {
            Value::Outer(node) => (Some(node), None),
            Value::Inner(node) => (None, Some(node)),
            Value::Both(outer, inner) => (Some(outer), Some(inner)),
            Value::Settled(_) | Value::Gone => (None, None),
        }
    }
}

/// Combines the members of two objects by key: members of the outer one in their positions, new ones of the inner one
/// at `place`, in their order.
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

    /// Returns the key, for the path.
    pub(super) fn name(&self) -> Text<'a> {
        match (&self.outer_key, &self.inner_key) {
            (Some(name), _) | (None, Some((_, name))) => name.clone(),
            (None, None) => Text::literal(""),
        }
    }
}

/// Result for one slot: its key on each side (in the inner object with its position), and its value.
type Named<'a> = (Option<Text<'a>>, Option<(usize, Text<'a>)>, Chosen<'a>);

/// Builds an object from merged slots. Keys that are on one side only are kept.
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

/// Merged item of a list, and the index of the item on each side.
pub(super) struct Item<'a> {
    pub(super) outer: Option<usize>,
    pub(super) inner: Option<usize>,
    pub(super) kept: Chosen<'a>,
}

/// Builds a list from merged items.
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
