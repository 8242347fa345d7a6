//! A JSON object as a vector of members, in order.
//!
//! Schemas have few keys, so linear search is fastest. For many look-ups in an object that may be large (`properties`,
//! `$defs`), callers build an index once (see [`Object::index`]), or keep the order of the names (`Order`).

use alloc::vec::Vec;

use super::{Name, Node, Text};
use crate::{
    budget::Budget,
    collections::{self, Map},
};

/// A member: a name and its value. The struct is closed.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// The name.
    pub key: Text<'a>,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Member<'a> {
    pub(crate) fn copy(&self, budget: &Budget) -> Member<'a> {
        Member { key: self.key.clone(), value: self.value.copy(budget) }
    }
}

/// A JSON object: ordered members with unique names.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<Member<'a>>,
}

impl<'a> Object<'a> {
    /// Returns an object without members.
    pub const fn new() -> Self {
        Object { members: Vec::new() }
    }

    /// Returns an object with these members. A name that occurs twice keeps its first position and its last value.
    pub fn from_members(members: Vec<Member<'a>>) -> Self {
        let mut object = Object { members };
        object.drop_duplicates();
        object
    }

    /// Returns an object with these members, whose names are known to be unique, as in a dict.
    pub fn from_unique(members: Vec<Member<'a>>) -> Self {
        Object { members }
    }

    fn drop_duplicates(&mut self) {
        let members = &mut self.members;
        if members.len() <= 16 {
            let mut at = 1;
            while let Some(key) = members.get(at).map(|member| &member.key) {
                match members.iter().take(at).position(|member| member.key.equals(key)) {
                    None => at += 1,
                    Some(twin) => {
                        let later = members.remove(at);
                        if let Some(twin) = members.get_mut(twin) {
                            twin.value = later.value;
                        }
                    }
                }
            }
            return;
        }
        // Larger objects use an index, so that hostile input takes linear time (times a logarithm).
        let mut positions: Map<Text<'a>, usize> = Map::new();
        let mut kept: Vec<Member<'a>> = Vec::with_capacity(members.len());
        for member in members.drain(..) {
            match positions.get(&member.key) {
                Some(&index) => {
                    if let Some(twin) = kept.get_mut(index) {
                        twin.value = member.value;
                    }
                }
                None => {
                    positions.insert(member.key.clone(), kept.len());
                    kept.push(member);
                }
            }
        }
        *members = kept;
    }

    pub(crate) fn copy(&self, budget: &Budget) -> Object<'a> {
        Object { members: self.members.iter().map(|member| member.copy(budget)).collect() }
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns true if the object has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the members in order.
    pub fn iter(&self) -> core::slice::Iter<'_, Member<'a>> {
        self.members.iter()
    }

    /// Returns the members in order, as a slice.
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// Returns the value of a member.
    #[inline(never)]
    pub fn get(&self, key: impl Name) -> Option<&Node<'a>> {
        self.members.iter().find(|member| key.is_name_of(&member.key)).map(|member| &member.value)
    }

    /// Returns the items of a member that is an array.
    pub fn array_at(&self, key: impl Name) -> Option<&[Node<'a>]> {
        self.get(key)?.as_array()
    }

    /// Returns the items of a member that is an array, and no items for any other value.
    pub fn items_at(&self, key: impl Name) -> &[Node<'a>] {
        self.array_at(key).unwrap_or_default()
    }

    /// Returns a member that is an object.
    pub fn object_at(&self, key: impl Name) -> Option<&Object<'a>> {
        self.get(key)?.as_object()
    }

    /// Returns a member that is a string.
    pub fn text_at(&self, key: impl Name) -> Option<&Text<'a>> {
        self.get(key)?.as_text()
    }

    /// Returns the value of a member whose name is a JSON string.
    #[inline(never)]
    pub fn get_text(&self, key: &Text<'_>) -> Option<&Node<'a>> {
        self.members.iter().find(|member| member.key.equals(key)).map(|member| &member.value)
    }

    /// Returns true if the object has a member with this name.
    pub fn has(&self, key: impl Name) -> bool {
        self.get(key).is_some()
    }

    /// Returns the index of a member.
    #[inline(never)]
    pub fn position(&self, key: impl Name) -> Option<usize> {
        self.members.iter().position(|member| key.is_name_of(&member.key))
    }

    pub(crate) fn index(&self) -> Map<&Text<'a>, usize> {
        self.members.iter().enumerate().map(|(index, member)| (&member.key, index)).collect()
    }

    /// Returns a mutable reference to the value of a member.
    #[inline(never)]
    pub fn get_mut(&mut self, key: impl Name) -> Option<&mut Node<'a>> {
        self.members.iter_mut().find(|member| key.is_name_of(&member.key)).map(|member| &mut member.value)
    }

    /// Returns a mutable reference to the members. Names must stay unique.
    pub fn members_mut(&mut self) -> &mut Vec<Member<'a>> {
        &mut self.members
    }

    /// Sets a member. An existing member keeps its position, and a new member is appended.
    pub fn set(&mut self, key: impl Into<Text<'a>>, value: Node<'a>) {
        self.put(key.into(), value);
    }

    #[inline(never)]
    fn put(&mut self, key: Text<'a>, value: Node<'a>) {
        match self.members.iter_mut().find(|member| member.key.equals(&key)) {
            Some(member) => member.value = value,
            None => self.members.push(Member { key, value }),
        }
    }

    /// Inserts a new member at an index, or at the end if the index is beyond it.
    pub fn insert_at(&mut self, index: usize, key: impl Into<Text<'a>>, value: Node<'a>) {
        self.put_at(index, Member { key: key.into(), value });
    }

    #[inline(never)]
    fn put_at(&mut self, index: usize, member: Member<'a>) {
        self.members.insert(index.min(self.members.len()), member);
    }

    pub(crate) fn set_at(&mut self, index: usize, key: impl Into<Text<'a>>, value: Node<'a>) {
        let key = key.into();
        match self.members.iter_mut().find(|member| member.key.equals(&key)) {
            Some(member) => member.value = value,
            None => self.put_at(index, Member { key, value }),
        }
    }

    /// Removes a member. Returns its value.
    #[inline(never)]
    pub fn remove(&mut self, key: impl Name) -> Option<Node<'a>> {
        let index = self.position(key)?;
        Some(self.members.remove(index).value)
    }

    /// Keeps the members for which `keep` returns true.
    pub fn retain(&mut self, keep: impl FnMut(&mut Member<'a>) -> bool) {
        self.members.retain_mut(keep);
    }

    /// Consumes the object and returns its members.
    pub fn into_members(self) -> Vec<Member<'a>> {
        self.members
    }
}

impl<'o, 'a> IntoIterator for &'o Object<'a> {
    type Item = &'o Member<'a>;
    type IntoIter = core::slice::Iter<'o, Member<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.iter()
    }
}

impl<'a> FromIterator<(Text<'a>, Node<'a>)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (Text<'a>, Node<'a>)>>(pairs: I) -> Self {
        Object::from_members(pairs.into_iter().map(|(key, value)| Member { key, value }).collect())
    }
}

/// Maximum number of members for which linear search is as fast as an index.
const LINEAR_SEARCH_LIMIT: usize = 16;

pub(crate) struct LookUp<'o, 'a> {
    object: &'o Object<'a>,
    positions: Option<Map<&'o Text<'a>, usize>>,
}

impl<'o, 'a> LookUp<'o, 'a> {
    pub(crate) fn of(object: &'o Object<'a>) -> Self {
        LookUp { object, positions: (object.len() > LINEAR_SEARCH_LIMIT).then(|| object.index()) }
    }

    pub(crate) fn get(&self, name: &Text<'_>) -> Option<&'o Node<'a>> {
        match &self.positions {
            Some(positions) => {
                positions.get(&name).and_then(|index| self.object.members().get(*index)).map(|member| &member.value)
            }
            None => self.object.get_text(name),
        }
    }

    pub(crate) fn has(&self, name: &Text<'_>) -> bool {
        self.get(name).is_some()
    }
}

/// Members of an object sorted by name, for repeated look-ups in this object.
pub(crate) struct Order {
    /// Indices of the members; empty if there are few.
    positions: Vec<usize>,
}

impl Order {
    pub(crate) fn of(object: &Object<'_>) -> Self {
        let members = object.members();
        let positions: Vec<usize> =
            if members.len() > LINEAR_SEARCH_LIMIT { (0..members.len()).collect() } else { Vec::new() };
        let key = |index: &usize| members.get(*index).map(|member| &member.key);
        Order { positions: collections::sorted_by(positions, |left, right| key(left).cmp(&key(right))) }
    }

    /// Returns the index of a member. `object` must be the object for which the order was created.
    pub(crate) fn index_of(&self, object: &Object<'_>, name: &Text<'_>) -> Option<usize> {
        let members = object.members();
        if members.len() <= LINEAR_SEARCH_LIMIT {
            return members.iter().position(|member| member.key.equals(name));
        }
        let position = self.positions.binary_search_by(|index| match members.get(*index) {
            Some(member) => member.key.cmp(name),
            None => core::cmp::Ordering::Greater,
        });
        self.positions.get(position.ok()?).copied()
    }

    pub(crate) fn get<'o, 'a>(&self, object: &'o Object<'a>, name: &Text<'_>) -> Option<&'o Node<'a>> {
        object.members().get(self.index_of(object, name)?).map(|member| &member.value)
    }
}
