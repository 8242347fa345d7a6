//! An order of numbered things, whatever they are: where each number stands among the others. Everything that a map, a
//! set and a sort do apart from comparing and keeping, compiled once.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// How many numbers a chunk holds at most. Putting one in moves those after it: half a kilobyte at most, so that a
/// hundred thousand keys in the worst order still take no more than n log n.
const CHUNK: usize = 128;

/// Numbers in the order of what they stand for, in chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    chunks: Vec<Vec<u32>>,
}

/// Where in the order a number stands, or would stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    chunk: usize,
    at: usize,
}

impl Places {
    /// No numbers.
    pub(crate) const fn new() -> Self {
        Places { chunks: Vec::new() }
    }

    /// The number that compares as equal and its spot, or the spot where it would have to stand. (`dyn`, so that there
    /// is one search and not one for each type of key.)
    pub(crate) fn find(&self, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<(Spot, usize), Spot> {
        // The last chunk whose first number is not greater: the others are either wholly before or wholly after.
        let (mut chunk, mut end) = (0, self.chunks.len());
        while chunk + 1 < end {
            let middle = usize::midpoint(chunk, end);
            match compare(self.number(middle, 0)) {
                Ordering::Equal => return Ok((Spot { chunk: middle, at: 0 }, self.number(middle, 0))),
                Ordering::Less => chunk = middle,
                Ordering::Greater => end = middle,
            }
        }
        let (mut at, mut end) = (0, self.chunks.get(chunk).map_or(0, Vec::len));
        while at < end {
            let middle = usize::midpoint(at, end);
            let number = self.number(chunk, middle);
            match compare(number) {
                Ordering::Equal => return Ok((Spot { chunk, at: middle }, number)),
                Ordering::Less => at = middle + 1,
                Ordering::Greater => end = middle,
            }
        }
        Err(Spot { chunk, at })
    }

    /// Puts a number where [`Places::find`] did not find it.
    pub(crate) fn insert(&mut self, spot: Spot, number: usize) {
        // There are as many numbers as things in memory, so they fit: a thing is no smaller than a byte.
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let Some(chunk) = self.chunks.get_mut(spot.chunk) else {
            self.chunks.push(alloc::vec![number]);
            return;
        };
        chunk.insert(spot.at.min(chunk.len()), number);
        if chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK / 2);
            self.chunks.insert(spot.chunk + 1, rest);
        }
    }

    /// Puts another number at a spot.
    pub(crate) fn replace(&mut self, spot: Spot, number: usize) {
        if let Some(place) = self.chunks.get_mut(spot.chunk).and_then(|chunk| chunk.get_mut(spot.at)) {
            *place = u32::try_from(number).unwrap_or(u32::MAX);
        }
    }

    /// Takes the number at a spot out.
    pub(crate) fn remove(&mut self, spot: Spot) {
        let Some(chunk) = self.chunks.get_mut(spot.chunk) else { return };
        if spot.at < chunk.len() {
            chunk.remove(spot.at);
        }
        if chunk.is_empty() {
            self.chunks.remove(spot.chunk);
        }
    }

    /// The number at a spot, or the next one after it.
    pub(crate) fn at_or_after(&self, spot: Spot) -> Option<usize> {
        let here = self.chunks.get(spot.chunk).and_then(|chunk| chunk.get(spot.at));
        here.or_else(|| self.chunks.get(spot.chunk + 1)?.first()).map(|number| *number as usize)
    }

    /// The numbers in order.
    pub(crate) fn iter(&self) -> Numbers<'_> {
        Numbers { chunks: self.chunks.iter(), chunk: [].iter() }
    }

    fn number(&self, chunk: usize, at: usize) -> usize {
        self.chunks.get(chunk).and_then(|chunk| chunk.get(at)).map_or(usize::MAX, |number| *number as usize)
    }
}

/// Numbers in order.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'p> {
    chunks: core::slice::Iter<'p, Vec<u32>>,
    chunk: core::slice::Iter<'p, u32>,
}

impl Iterator for Numbers<'_> {
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
