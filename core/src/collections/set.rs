//! A sorted set, with the part of `BTreeSet`'s interface that this crate uses.

use core::borrow::Borrow;

use super::Map;

/// A sorted set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set<T> {
    items: Map<T, ()>,
}

impl<T> Set<T> {
    /// Returns an empty set.
    pub(crate) const fn new() -> Self {
        Set { items: Map::new() }
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the items in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.keys()
    }
}

impl<T: Ord> Set<T> {
    /// Returns true if the set contains an item.
    pub(crate) fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.items.contains_key(item)
    }

    /// Returns the first item that is not less than `item`.
    pub(crate) fn first_from(&self, item: &T) -> Option<&T> {
        self.items.first_key_from(item)
    }

    /// Inserts an item. Returns false if the set already contained it.
    pub(crate) fn insert(&mut self, item: T) -> bool {
        self.items.insert(item, ()).is_none()
    }

    /// Removes an item. Returns false if the set did not contain it.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.items.remove(item).is_some()
    }

    /// Returns true if every item is in another set.
    pub(crate) fn is_subset(&self, other: &Set<T>) -> bool {
        self.len() <= other.len() && self.iter().all(|item| other.contains(item))
    }
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Set::new()
    }
}

impl<T: Ord> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Set::new();
        set.extend(items);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for Set<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Ord> Extend<T> for Set<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = core::iter::Map<alloc::vec::IntoIter<(T, ())>, fn((T, ())) -> T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter().map(|(item, ())| item)
    }
}

impl<'s, T> IntoIterator for &'s Set<T> {
    type Item = &'s T;
    type IntoIter = core::iter::Map<super::map::Entries<'s, T, ()>, fn((&'s T, &'s ())) -> &'s T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter().map(|(item, ())| item)
    }
}
