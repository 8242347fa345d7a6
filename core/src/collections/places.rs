//! An order of numbered items: the position of each number among the others. This is the part of a map, a set and a
//! sort that does not depend on the type of the items, so that it is compiled once.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Maximum number of entries in a chunk. An insertion moves the entries after it, at most half a kilobyte, so that a
/// hundred thousand keys in the worst order still take no more than n log n.
const CHUNK: usize = 128;

/// Numbers in the order of the items that they identify, in chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    chunks: Vec<Vec<u32>>,
}

/// Position of a number in the order, or position at which it would be inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    chunk: usize,
    at: usize,
}

impl Places {
    /// Returns an empty order.
    pub(crate) const fn new() -> Self {
        Places { chunks: Vec::new() }
    }

    /// Returns the number that compares as equal, with its position, or the position at which it would be inserted.
    /// (`compare` is `dyn`, so that the search is not compiled for each type of key.)
    pub(crate) fn find(&self, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<(Spot, usize), Spot> {
        // Finds the last chunk whose first number is not greater: each other chunk is entirely before or after the
        // position.
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

    /// Inserts a number at a position that [`Places::find`] returned.
    pub(crate) fn insert(&mut self, spot: Spot, number: usize) {
        // Each numbered item takes at least one byte of memory, so the numbers fit.
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

    /// Replaces the number at a position.
    pub(crate) fn replace(&mut self, spot: Spot, number: usize) {
        if let Some(place) = self.chunks.get_mut(spot.chunk).and_then(|chunk| chunk.get_mut(spot.at)) {
            *place = u32::try_from(number).unwrap_or(u32::MAX);
        }
    }

    /// Removes the number at a position.
    pub(crate) fn remove(&mut self, spot: Spot) {
        let Some(chunk) = self.chunks.get_mut(spot.chunk) else { return };
        if spot.at < chunk.len() {
            chunk.remove(spot.at);
        }
        if chunk.is_empty() {
            self.chunks.remove(spot.chunk);
        }
    }

    /// Returns the number at a position, or the next number after it.
    pub(crate) fn at_or_after(&self, spot: Spot) -> Option<usize> {
        let here = self.chunks.get(spot.chunk).and_then(|chunk| chunk.get(spot.at));
        here.or_else(|| self.chunks.get(spot.chunk + 1)?.first()).map(|number| *number as usize)
    }

    /// Returns the numbers in order.
    pub(crate) fn iter(&self) -> Numbers<'_> {
        Numbers { chunks: self.chunks.iter(), chunk: [].iter() }
    }

    fn number(&self, chunk: usize, at: usize) -> usize {
        self.chunks.get(chunk).and_then(|chunk| chunk.get(at)).map_or(usize::MAX, |number| *number as usize)
    }
}

/// Iterator over numbers in order.
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
