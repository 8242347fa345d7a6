//! Maps, sets and sorting with little WebAssembly code: [`Map`], [`Set`] and [`sorted_by`].
//!
//! The standard library compiles a whole B-tree for each type of key and value, and a whole sort for each closure.
//! Together, they were a fifth of this crate's WebAssembly. Here, all the work is done on indices, in
//! [`SortedIndices`], which is compiled once; each type adds only a comparison and a push. Use these types instead of
//! `BTreeMap`, `BTreeSet` and `sort_by` (clippy enforces that).

use alloc::vec::Vec;
use core::{borrow::Borrow, cmp::Ordering};

/// Sorts items. Equal items keep their order.
pub(crate) fn sorted_by<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut order = SortedIndices::default();
    for (number, item) in items.iter().enumerate() {
        let position = order.find(&mut |other| match items.get(other).map(|other| compare(other, item)) {
            Some(Ordering::Greater) => Ordering::Greater,
            // An equal item stays before the new item.
            _ => Ordering::Less,
        });
        if let Err(position) = position {
            order.insert(position, number);
        }
    }
    in_order(items, &order)
}

fn in_order<T>(items: Vec<T>, order: &SortedIndices) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|number| items.get_mut(number)?.take()).collect()
}

/// A map sorted by key.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    /// `order` refers to the entries by index.
    entries: Vec<(K, V)>,
    order: SortedIndices,
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K, V> Map<K, V> {
    pub(crate) const fn new() -> Self {
        Map { entries: Vec::new(), order: SortedIndices::new() }
    }

    pub(crate) fn with_capacity(count: usize) -> Self {
        Map { entries: Vec::with_capacity(count), order: SortedIndices::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries, sorted by key.
    pub(crate) fn iter(&self) -> Entries<'_, K, V> {
        Entries { indices: self.order.iter(), entries: &self.entries }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, sorted by key.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Returns the stored key, which equals `key`, and its value.
    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (_, number) = find(&self.entries, &self.order, key).ok()?;
        self.entries.get(number).map(|(key, value)| (key, value))
    }

    /// Returns the first key that is not less than `key`.
    pub(crate) fn first_key_from(&self, key: &K) -> Option<&K> {
        let number = match find(&self.entries, &self.order, key) {
            Ok((_, number)) => number,
            Err(position) => self.order.at_or_after(position)?,
        };
        self.entries.get(number).map(|(key, _)| key)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (_, number) = find(&self.entries, &self.order, key).ok()?;
        self.entries.get_mut(number).map(|(_, value)| value)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        find(&self.entries, &self.order, key).is_ok()
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match find(&self.entries, &self.order, &key) {
            Ok((_, number)) => self.entries.get_mut(number).map(|(_, old)| core::mem::replace(old, value)),
            Err(position) => {
                self.order.insert(position, self.entries.len());
                self.entries.push((key, value));
                None
            }
        }
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (position, number) = find(&self.entries, &self.order, key).ok()?;
        let last = self.entries.len().saturating_sub(1);
        // The last entry gets the index of the removed entry.
        if let Some((key, _)) = self.entries.get(last).filter(|_| number < last) {
            if let Ok((last_position, _)) = find(&self.entries, &self.order, key.borrow()) {
                self.order.replace(last_position, number);
            }
        }
        self.order.remove(position);
        Some(self.entries.swap_remove(number).1)
    }

    pub(crate) fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { map: self, key }
    }
}

/// Returns the position and index of the entry of a key, or the position at which it would be inserted.
fn find<K: Borrow<Q>, V, Q: Ord + ?Sized>(
    entries: &[(K, V)],
    order: &SortedIndices,
    key: &Q,
) -> Result<(Position, usize), Position> {
    order.find(&mut |number| entries.get(number).map_or(Ordering::Greater, |(other, _)| other.borrow().cmp(key)))
}

/// The entry of a key, which may be vacant.
pub(crate) struct Entry<'m, K, V> {
    map: &'m mut Map<K, V>,
    key: K,
}

impl<'m, K: Ord, V> Entry<'m, K, V> {
    pub(crate) fn or_insert_with(self, make: impl FnOnce() -> V) -> &'m mut V {
        let Map { entries, order } = self.map;
        let number = match find(entries, order, &self.key) {
            Ok((_, number)) => number,
            Err(position) => {
                order.insert(position, entries.len());
                entries.push((self.key, make()));
                entries.len() - 1
            }
        };
        #[allow(clippy::indexing_slicing, reason = "the number was found or just given to a new entry")]
        &mut entries[number].1
    }

    pub(crate) fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

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
        let entries = entries.into_iter();
        self.entries.reserve(entries.size_hint().0);
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = alloc::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        in_order(self.entries, &self.order).into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Entries<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[derive(Debug)]
pub(crate) struct Entries<'m, K, V> {
    indices: Indices<'m>,
    entries: &'m [(K, V)],
}

impl<'m, K, V> Iterator for Entries<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.get(self.indices.next()?).map(|(key, value)| (key, value))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set<T> {
    items: Map<T, ()>,
}

impl<T> Set<T> {
    pub(crate) const fn new() -> Self {
        Set { items: Map::new() }
    }

    pub(crate) fn with_capacity(count: usize) -> Self {
        Set { items: Map::with_capacity(count) }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the items in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.keys()
    }
}

impl<T: Ord> Set<T> {
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

    /// Returns false if the set already contained the item.
    pub(crate) fn insert(&mut self, item: T) -> bool {
        self.items.insert(item, ()).is_none()
    }

    /// Returns false if the set did not contain the item.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.items.remove(item).is_some()
    }

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
    type IntoIter = core::iter::Map<Entries<'s, T, ()>, fn((&'s T, &'s ())) -> &'s T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter().map(|(item, ())| item)
    }
}

/// Maximum number of entries in a chunk. An insertion moves the entries after it, at most half a kilobyte, so even a
/// hundred thousand keys in the worst order are inserted in time proportional to n log n.
const CHUNK: usize = 128;

/// Indices of items, in the order of the items. Stored in chunks.
#[derive(Clone, Debug, Default)]
struct SortedIndices {
    chunks: Vec<Vec<u32>>,
}

/// Position of a number in the order, or position at which it would be inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    chunk: usize,
    at: usize,
}

impl SortedIndices {
    pub(crate) const fn new() -> Self {
        SortedIndices { chunks: Vec::new() }
    }

    /// Returns the number that compares as equal, with its position, or the position at which it would be inserted.
    /// (`compare` is `dyn`, so that the search is not compiled for each type of key.)
    pub(crate) fn find(&self, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<(Position, usize), Position> {
        // Finds the last chunk whose first number does not compare as greater: only that chunk can contain the
        // position.
        let (mut chunk, mut end) = (0, self.chunks.len());
        while chunk + 1 < end {
            let middle = usize::midpoint(chunk, end);
            match compare(self.number(middle, 0)) {
                Ordering::Equal => return Ok((Position { chunk: middle, at: 0 }, self.number(middle, 0))),
                Ordering::Less => chunk = middle,
                Ordering::Greater => end = middle,
            }
        }
        let (mut at, mut end) = (0, self.chunks.get(chunk).map_or(0, Vec::len));
        while at < end {
            let middle = usize::midpoint(at, end);
            let number = self.number(chunk, middle);
            match compare(number) {
                Ordering::Equal => return Ok((Position { chunk, at: middle }, number)),
                Ordering::Less => at = middle + 1,
                Ordering::Greater => end = middle,
            }
        }
        Err(Position { chunk, at })
    }

    /// Inserts a number at a position that [`SortedIndices::find`] returned.
    pub(crate) fn insert(&mut self, position: Position, number: usize) {
        // Each numbered item takes at least one byte of memory, so the numbers fit.
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let Some(chunk) = self.chunks.get_mut(position.chunk) else {
            self.chunks.push(alloc::vec![number]);
            return;
        };
        chunk.insert(position.at.min(chunk.len()), number);
        if chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK / 2);
            self.chunks.insert(position.chunk + 1, rest);
        }
    }

    pub(crate) fn replace(&mut self, position: Position, number: usize) {
        if let Some(entry) = self.chunks.get_mut(position.chunk).and_then(|chunk| chunk.get_mut(position.at)) {
            *entry = u32::try_from(number).unwrap_or(u32::MAX);
        }
    }

    pub(crate) fn remove(&mut self, position: Position) {
        let Some(chunk) = self.chunks.get_mut(position.chunk) else { return };
        if position.at < chunk.len() {
            chunk.remove(position.at);
        }
        if chunk.is_empty() {
            self.chunks.remove(position.chunk);
        }
    }

    /// Returns the number at a position, or the next number after it.
    pub(crate) fn at_or_after(&self, position: Position) -> Option<usize> {
        let here = self.chunks.get(position.chunk).and_then(|chunk| chunk.get(position.at));
        here.or_else(|| self.chunks.get(position.chunk + 1)?.first()).map(|number| *number as usize)
    }

    pub(crate) fn iter(&self) -> Indices<'_> {
        Indices { chunks: self.chunks.iter(), chunk: [].iter() }
    }

    fn number(&self, chunk: usize, at: usize) -> usize {
        self.chunks.get(chunk).and_then(|chunk| chunk.get(at)).map_or(usize::MAX, |number| *number as usize)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Indices<'p> {
    chunks: core::slice::Iter<'p, Vec<u32>>,
    chunk: core::slice::Iter<'p, u32>,
}

impl Iterator for Indices<'_> {
    type Item = usize;

    #[inline(never)]
    fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(number) = self.chunk.next() {
                return Some(*number as usize);
            }
            self.chunk = self.chunks.next()?.iter();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{
        collections::{BTreeMap, BTreeSet},
        format,
        string::String,
        vec::Vec,
    };

    use super::{sorted_by, Map, Set};

    /// Returns numbers in an arbitrary order, which is equal in every run.
    fn scattered(count: u32) -> impl Iterator<Item = u32> {
        (0..count).map(|number| number.wrapping_mul(2_654_435_761) >> 12)
    }

    #[test]
    fn map_agrees_with_b_tree_map() {
        let (mut ours, mut theirs) = (Map::new(), BTreeMap::new());
        for (number, key) in scattered(20_000).map(|key| key % 5_000).enumerate() {
            let key = format!("{key}");
            if number % 3 == 2 {
                assert_eq!(ours.remove(key.as_str()), theirs.remove(key.as_str()));
            } else {
                assert_eq!(ours.insert(key.clone(), number), theirs.insert(key, number));
            }
            assert_eq!(ours.len(), theirs.len());
        }
        assert!(ours.iter().eq(theirs.iter()));
        assert!(theirs.iter().all(|(key, value)| ours.get(key) == Some(value)));
        assert!(ours.into_iter().eq(theirs));
    }

    #[test]
    fn set_agrees_with_b_tree_set() {
        let (ours, theirs): (Set<u32>, BTreeSet<u32>) = (scattered(3_000).collect(), scattered(3_000).collect());
        let (our_few, their_few): (Set<u32>, BTreeSet<u32>) = (scattered(100).collect(), scattered(100).collect());
        assert!(ours.iter().eq(&theirs));
        assert!(our_few.is_subset(&ours) && !ours.is_subset(&our_few) && their_few.is_subset(&theirs));
    }

    #[test]
    fn sorting_is_stable() {
        let numbers: Vec<(u32, usize)> = scattered(5_000).map(|number| number % 50).zip(0..).collect();
        let mut theirs = numbers.clone();
        theirs.sort_by_key(|(number, _)| *number);
        assert_eq!(sorted_by(numbers, |(one, _), (two, _)| one.cmp(two)), theirs);
    }

    #[test]
    fn entry_is_created_once() {
        let mut map: Map<String, Vec<u32>> = Map::new();
        map.entry(String::from("a")).or_default().push(1);
        map.entry(String::from("a")).or_default().push(2);
        assert_eq!(map.get("a"), Some(&alloc::vec![1, 2]));
    }
}
