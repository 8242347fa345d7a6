//! What became of the messages of the turn before: which are as they were, which changed, and which are new.

use std::collections::BTreeMap;

/// So many messages with the same words are looked at before the place of one, and as many behind: all of them would
/// be a square.
const NEAR: usize = 4;

/// A message, as far as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    /// Who speaks.
    pub(super) who: u64,
    /// What is said.
    pub(super) print: u64,
}

/// A message that the turn before did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fresh {
    /// Its number in the list.
    pub(super) at: usize,
    /// It stands where the same speaker said something else.
    pub(super) is_changed: bool,
}

/// The differences between two lists of messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    pub(super) fresh: Vec<Fresh>,
    /// How many messages are no longer there, and nothing of the same speaker in their place.
    pub(super) gone: usize,
}

impl News {
    pub(super) fn between(before: &[Spoken], now: &[Spoken]) -> News {
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, one) in before.iter().enumerate() {
            places.entry(one.print).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for (at, one) in now.iter().enumerate() {
            let same = places.get(&one.print).map(Vec::as_slice).unwrap_or_default();
            let first = same.partition_point(|place| *place < at).saturating_sub(NEAR);
            // From the last on: of those of one message, at most one is in order.
            pairs.extend(same.iter().skip(first).take(2 * NEAR).rev().map(|place| (at, *place)));
        }
        let mut news = News::default();
        let (mut from, mut past) = (0, 0);
        for (at, place) in in_order(&pairs).into_iter().chain([(now.len(), before.len())]) {
            let old = before.get(past..place).unwrap_or_default();
            news.gap(old, now.get(from..at).unwrap_or_default(), from);
            (from, past) = (at + 1, place + 1);
        }
        news
    }

    /// What stands between two messages that are as they were.
    fn gap(&mut self, mut old: &[Spoken], now: &[Spoken], from: usize) {
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

/// Most of the pairs whose second numbers grow as the first do.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let place = |pair: usize| pairs.get(pair).map(|(_, place)| *place);
    // The pair that ends the best run of each length so far, and for each pair the one before it in its run.
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
    use super::{Fresh, News, Spoken};

    /// Letters are speakers, digits what they say.
    fn list(text: &str) -> Vec<Spoken> {
        let spoken = |word: &str| {
            let mut letters = word.bytes();
            let who = letters.next().map_or(0, u64::from);
            Spoken { who, print: letters.fold(who, |print, letter| print * 256 + u64::from(letter)) }
        };
        text.split_whitespace().map(spoken).collect()
    }

    #[test]
    fn messages_are_told_apart_from_those_before() {
        let cases: [(&str, &str, &str, usize); 10] = [
            ("", "s1 u1", "+0 +1", 0),
            ("s1 u1", "s1 u1 a1 u2", "+2 +3", 0),
            // The first message changes, and only that is said.
            ("s1 u1 a1", "s2 u1 a1 u2", "~0 +3", 0),
            // One is gone, and those behind it are not new.
            ("u1 s1 a1 t1", "u1 a1 t1 u2", "+3", 1),
            // One has come before others.
            ("u1 a1", "u1 s1 a1 u2", "+1 +3", 0),
            // The same words twice.
            ("u1 a1 u1 a1", "u1 a1 u1 a1 u1", "+4", 0),
            ("u1 a1 u1", "u2 a1 u1 a2", "~0 +3", 0),
            // What stood at the end stands there still, and says something else.
            ("u1 s1", "u1 a1 t1 s2", "+1 +2 ~3", 0),
            ("u1 a1", "", "", 2),
            // An order that nobody expects.
            ("u1 a1 t1", "t1 u1 a1", "+0", 1),
        ];
        for (before, now, expected, gone) in cases {
            let news = News::between(&list(before), &list(now));
            let word = |fresh: &Fresh| format!("{}{}", if fresh.is_changed { '~' } else { '+' }, fresh.at);
            let found = news.fresh.iter().map(word).collect::<Vec<_>>().join(" ");
            assert_eq!((found.as_str(), news.gone), (expected, gone), "{before} -> {now}");
        }
    }
}
