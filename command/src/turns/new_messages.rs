//! Compares the messages of two turns: unchanged, changed and new ones.

use std::collections::BTreeMap;

/// Maximum number of equal messages that are considered before the place of a message, and after it. Considering all of
/// them would take quadratic time.
const NEAR: usize = 4;

/// Hashes of a message, for comparing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageHash {
    /// Hash of the author.
    pub(super) who: u64,
    /// Hash of the content.
    pub(super) print: u64,
}

/// A message that the previous turn did not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fresh {
    /// Index in the list.
    pub(super) at: usize,
    /// True if it replaces a message of the same author.
    pub(super) is_changed: bool,
}

/// The differences between two lists of messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NewMessages {
    pub(super) fresh: Vec<Fresh>,
    /// Number of messages that were removed without a replacement by the same author.
    pub(super) gone: usize,
}

impl NewMessages {
    pub(super) fn between(before: &[MessageHash], now: &[MessageHash]) -> NewMessages {
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, one) in before.iter().enumerate() {
            places.entry(one.print).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for (at, one) in now.iter().enumerate() {
            let same = places.get(&one.print).map(Vec::as_slice).unwrap_or_default();
            let first = same.partition_point(|place| *place < at).saturating_sub(NEAR);
            // In descending order, so that at most one place of a message is in an increasing sequence.
            pairs.extend(same.iter().skip(first).take(2 * NEAR).rev().map(|place| (at, *place)));
        }
        let mut changes = NewMessages::default();
        let (mut from, mut past) = (0, 0);
        for (at, place) in in_order(&pairs).into_iter().chain([(now.len(), before.len())]) {
            let old = before.get(past..place).unwrap_or_default();
            changes.gap(old, now.get(from..at).unwrap_or_default(), from);
            (from, past) = (at + 1, place + 1);
        }
        changes
    }

    /// Compares the messages between two unchanged ones.
    fn gap(&mut self, mut old: &[MessageHash], now: &[MessageHash], from: usize) {
        for (at, one) in now.iter().enumerate() {
            let same = old.iter().position(|other| other.who == one.who);
            if let Some(place) = same {
                self.gone += place;
                old = old.get(place + 1..).unwrap_or_default();
            }
            self.fresh.push(Fresh { at: from + at, is_changed: same.is_some() });
        }
        self.gone += old.len();
    }

    pub(super) fn changed(&self) -> usize {
        self.fresh.iter().filter(|fresh| fresh.is_changed).count()
    }
}

/// Returns a longest subsequence of pairs whose second numbers increase.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let place = |pair: usize| pairs.get(pair).map(|(_, place)| *place);
    // For each length, the pair that ends the best sequence so far; for each pair, its predecessor in the sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut earlier: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for pair in 0..pairs.len() {
        let length = ends.partition_point(|end| place(*end) < place(pair));
        earlier.push(length.checked_sub(1).and_then(|last| ends.get(last).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = pair,
            None => ends.push(pair),
        }
    }
    let run = std::iter::successors(ends.last().copied(), |pair| earlier.get(*pair).copied().flatten());
    let mut run: Vec<_> = run.filter_map(|pair| pairs.get(pair).copied()).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::{Fresh, MessageHash, NewMessages};

    /// Letters are authors, digits their messages.
    fn list(text: &str) -> Vec<MessageHash> {
        let hash = |word: &str| {
            let mut letters = word.bytes();
            let who = letters.next().map_or(0, u64::from);
            MessageHash { who, print: letters.fold(who, |print, letter| print * 256 + u64::from(letter)) }
        };
        text.split_whitespace().map(hash).collect()
    }

    #[test]
    fn new_messages_are_found() {
        let cases: [(&str, &str, &str, usize); 10] = [
            ("", "s1 u1", "+0 +1", 0),
            ("s1 u1", "s1 u1 a1 u2", "+2 +3", 0),
            // The first message changes, and only that is reported.
            ("s1 u1 a1", "s2 u1 a1 u2", "~0 +3", 0),
            // One message is removed, and those after it are not new.
            ("u1 s1 a1 t1", "u1 a1 t1 u2", "+3", 1),
            // One message is inserted before others.
            ("u1 a1", "u1 s1 a1 u2", "+1 +3", 0),
            // Repeated messages.
            ("u1 a1 u1 a1", "u1 a1 u1 a1 u1", "+4", 0),
            ("u1 a1 u1", "u2 a1 u1 a2", "~0 +3", 0),
            // The last message keeps its place, but its content changes.
            ("u1 s1", "u1 a1 t1 s2", "+1 +2 ~3", 0),
            ("u1 a1", "", "", 2),
            // An unusual order.
            ("u1 a1 t1", "t1 u1 a1", "+0", 1),
        ];
        for (before, now, expected, gone) in cases {
            let changes = NewMessages::between(&list(before), &list(now));
            let word = |fresh: &Fresh| format!("{}{}", if fresh.is_changed { '~' } else { '+' }, fresh.at);
            let found = changes.fresh.iter().map(word).collect::<Vec<_>>().join(" ");
            assert_eq!((found.as_str(), changes.gone), (expected, gone), "{before} -> {now}");
        }
    }
}
