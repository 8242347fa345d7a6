//! Maps and sets from iterators, one insertion at a time.
//!
//! `collect` sorts first, and the standard library's sort is some 8 KB of WebAssembly for every type of key.

use alloc::collections::{BTreeMap, BTreeSet};

/// What `collect` does, in less code.
pub(crate) trait Gather: Iterator + Sized {
    /// A set of the items.
    fn into_set(self) -> BTreeSet<Self::Item>
    where
        Self::Item: Ord,
    {
        let mut set = BTreeSet::new();
        for item in self {
            set.insert(item);
        }
        set
    }

    /// A map of the pairs; the last of equal keys wins.
    fn into_map<K: Ord, V>(self) -> BTreeMap<K, V>
    where
        Self: Iterator<Item = (K, V)>,
    {
        let mut map = BTreeMap::new();
        for (key, value) in self {
            map.insert(key, value);
        }
        map
    }
}

impl<I: Iterator> Gather for I {}
