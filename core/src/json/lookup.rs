//! Looks up members by name, for callers that look up many: linear searches would take quadratic time.

use alloc::vec::Vec;

use super::{Node, Object, Text};
use crate::collections::{self, Map};

/// Up to this number of members, linear search is as fast.
const LINEAR_SEARCH_LIMIT: usize = 16;

/// The members of an object by name.
pub(crate) struct LookUp<'o, 'a> {
    object: &'o Object<'a>,
    places: Option<Map<&'o Text<'a>, usize>>,
}

impl<'o, 'a> LookUp<'o, 'a> {
    pub(crate) fn of(object: &'o Object<'a>) -> Self {
        LookUp { object, places: (object.len() > LINEAR_SEARCH_LIMIT).then(|| object.index()) }
    }

    /// Returns the value of a member.
    pub(crate) fn get(&self, name: &Text<'_>) -> Option<&'o Node<'a>> {
        match &self.places {
            Some(places) => {
                places.get(&name).and_then(|place| self.object.members().get(*place)).map(|member| &member.value)
            }
            None => self.object.get_text(name),
        }
    }

    /// Returns true if the object has a member with this name.
    pub(crate) fn has(&self, name: &Text<'_>) -> bool {
        self.get(name).is_some()
    }
}

/// Order of an object's members by name, which is kept to look up members of the same object again.
pub(crate) struct Order {
    /// Indices of the members; empty if there are few.
    places: Vec<usize>,
}

impl Order {
    pub(crate) fn of(object: &Object<'_>) -> Self {
        let members = object.members();
        let places: Vec<usize> =
            if members.len() > LINEAR_SEARCH_LIMIT { (0..members.len()).collect() } else { Vec::new() };
        let key = |place: &usize| members.get(*place).map(|member| &member.key);
        Order { places: collections::by(places, |one, two| key(one).cmp(&key(two))) }
    }

    /// Returns the index of a member of the object that has this order.
    pub(crate) fn place(&self, object: &Object<'_>, name: &Text<'_>) -> Option<usize> {
        let members = object.members();
        if members.len() <= LINEAR_SEARCH_LIMIT {
            return members.iter().position(|member| member.key.is_twin(name));
        }
        let found = self.places.binary_search_by(|place| match members.get(*place) {
            Some(member) => member.key.cmp(name),
            None => core::cmp::Ordering::Greater,
        });
        self.places.get(found.ok()?).copied()
    }

    /// Returns the value of a member of the object that has this order.
    pub(crate) fn get<'o, 'a>(&self, object: &'o Object<'a>, name: &Text<'_>) -> Option<&'o Node<'a>> {
        object.members().get(self.place(object, name)?).map(|member| &member.value)
    }
}
