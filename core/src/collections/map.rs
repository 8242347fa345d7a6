//! A map sorted by key, with the part of `BTreeMap`'s interface that this crate uses.

use alloc::vec::Vec;
use core::{borrow::Borrow, cmp::Ordering};

use super::{
    in_order,
    places::{Numbers, Places, Spot},
};

/// A map sorted by key.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    /// The entries, which `places` refers to by index.
    entries: Vec<(K, V)>,
    places: Places,
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K, V> Map<K, V> {
    /// Returns an empty map.
    pub(crate) const fn new() -> Self {
        Map { entries: Vec::new(), places: Places::new() }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the map is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries, sorted by key.
    pub(crate) fn iter(&self) -> Entries<'_, K, V> {
        Entries { numbers: self.places.iter(), entries: &self.entries }
    }

    /// Returns the keys in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, sorted by key.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    /// Returns the value of a key.
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Returns the stored key that equals `key`, and its value.
    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (_, number) = find(&self.entries, &self.places, key).ok()?;
        self.entries.get(number).map(|(key, value)| (key, value))
    }

    /// Returns the first key that is not less than `key`.
    pub(crate) fn first_key_from(&self, key: &K) -> Option<&K> {
        let number = match find(&self.entries, &self.places, key) {
            Ok((_, number)) => number,
            Err(spot) => self.places.at_or_after(spot)?,
        };
        self.entries.get(number).map(|(key, _)| key)
    }

    /// Returns a mutable reference to the value of a key.
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (_, number) = find(&self.entries, &self.places, key).ok()?;
        self.entries.get_mut(number).map(|(_, value)| value)
    }

    /// Returns true if the map has an entry for a key.
    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        find(&self.entries, &self.places, key).is_ok()
    }

    /// Sets the value of a key. Returns the previous value.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match find(&self.entries, &self.places, &key) {
            Ok((_, number)) => self.entries.get_mut(number).map(|(_, old)| core::mem::replace(old, value)),
            Err(spot) => {
                self.places.insert(spot, self.entries.len());
                self.entries.push((key, value));
                None
            }
        }
    }

    /// Removes the entry of a key. Returns its value.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (spot, number) = find(&self.entries, &self.places, key).ok()?;
        let last = self.entries.len().saturating_sub(1);
        // The last entry gets the index of the removed entry.
        if let Some((key, _)) = self.entries.get(last).filter(|_| number < last) {
            if let Ok((its, _)) = find(&self.entries, &self.places, key.borrow()) {
                self.places.replace(its, number);
            }
        }
        self.places.remove(spot);
        Some(self.entries.swap_remove(number).1)
    }

    /// Returns the entry of a key, which may be vacant.
    pub(crate) fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { map: self, key }
    }
}

/// Returns the position and index of the entry of a key, or the position at which it would be inserted.
fn find<K: Borrow<Q>, V, Q: Ord + ?Sized>(entries: &[(K, V)], places: &Places, key: &Q) -> Result<(Spot, usize), Spot> {
    places.find(&mut |number| entries.get(number).map_or(Ordering::Greater, |(other, _)| other.borrow().cmp(key)))
}

/// The entry of a key in a map, which may be vacant.
pub(crate) struct Entry<'m, K, V> {
    map: &'m mut Map<K, V>,
    key: K,
}

impl<'m, K: Ord, V> Entry<'m, K, V> {
    /// Returns the value. Inserts the result of `make` if the entry is vacant.
    pub(crate) fn or_insert_with(self, make: impl FnOnce() -> V) -> &'m mut V {
        let Map { entries, places } = self.map;
        let number = match find(entries, places, &self.key) {
            Ok((_, number)) => number,
            Err(spot) => {
                places.insert(spot, entries.len());
                entries.push((self.key, make()));
                entries.len() - 1
            }
        };
        #[allow(clippy::indexing_slicing, reason = "the number was found or just given to a new entry")]
        &mut entries[number].1
    }

    /// Returns the value. Inserts `value` if the entry is vacant.
    pub(crate) fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// Returns the value. Inserts the default if the entry is vacant.
    pub(crate) fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Map::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = alloc::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        in_order(self.entries, &self.places).into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Entries<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterator over entries, sorted by key.
#[derive(Debug)]
pub(crate) struct Entries<'m, K, V> {
    numbers: Numbers<'m>,
    entries: &'m [(K, V)],
}

impl<'m, K, V> Iterator for Entries<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.get(self.numbers.next()?).map(|(key, value)| (key, value))
    }
}
