//! Maps, sets and sorting with little WebAssembly code: [`Map`], [`Set`] and [`by`].
//!
//! The standard library compiles a whole B-tree for each type of key and value, and a whole sort for each closure.
//! Together, they were a fifth of this crate's WebAssembly. Here, all the work is done on numbers, in [`places`], which
//! is compiled once; each type adds only a comparison and a push. Use these types instead of `BTreeMap`, `BTreeSet` and
//! `sort_by` (clippy enforces that).

mod map;
mod places;
mod set;

use alloc::vec::Vec;
use core::cmp::Ordering;

pub(crate) use map::Map;
pub(crate) use places::Places;
pub(crate) use set::Set;

/// Sorts items by a comparison. Equal items keep their order.
pub(crate) fn by<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut places = Places::default();
    for (number, item) in items.iter().enumerate() {
        let spot = places.find(&mut |other| match items.get(other).map(|other| compare(other, item)) {
            Some(Ordering::Greater) => Ordering::Greater,
            // An equal item stays before the new item.
            _ => Ordering::Less,
        });
        if let Err(spot) = spot {
            places.insert(spot, number);
        }
    }
    in_order(items, &places)
}

fn in_order<T>(items: Vec<T>, places: &Places) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    places.iter().filter_map(|place| items.get_mut(place)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use alloc::{
        collections::{BTreeMap, BTreeSet},
        format,
        string::String,
        vec::Vec,
    };

    use super::{by, Map, Set};

    /// Returns numbers in no particular order, the same in every run.
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
        let (few, fewer): (Set<u32>, BTreeSet<u32>) = (scattered(100).collect(), scattered(100).collect());
        assert!(ours.iter().eq(&theirs));
        assert!(few.is_subset(&ours) && !ours.is_subset(&few) && fewer.is_subset(&theirs));
    }

    #[test]
    fn sorting_is_stable() {
        let numbers: Vec<(u32, usize)> = scattered(5_000).map(|number| number % 50).zip(0..).collect();
        let mut theirs = numbers.clone();
        theirs.sort_by_key(|(number, _)| *number);
        assert_eq!(by(numbers, |(one, _), (two, _)| one.cmp(two)), theirs);
    }

    #[test]
    fn entry_is_created_once() {
        let mut map: Map<String, Vec<u32>> = Map::new();
        map.entry(String::from("a")).or_default().push(1);
        map.entry(String::from("a")).or_default().push(2);
        assert_eq!(map.get("a"), Some(&alloc::vec![1, 2]));
    }
}
