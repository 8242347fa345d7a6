//! Finds the ends of JSON strings, 64 bytes at a time.
//!
//! Most bytes of a large request are inside strings (images, files, long text), so this search determines the speed of
//! reading. Blocks without a quote, a backslash or a control character are skipped after one test. In other blocks,
//! escapes are resolved for all 64 bytes at once (as Langdale and Lemire do, "Parsing gigabytes of JSON per second").
//! If all escapes are `\"` or `\n`, one test shows that, too. Measured on 10 MB of prose with three escapes per hundred
//! bytes (x86-64, `--example requests`, all of `apply_deferred_loading_json`, of which copying takes 0.5 ms): escape by
//! escape 4.1 ms, all escapes at once 2.6 ms, runs of blocks 1.9 ms.
//!
//! `memchr` is not used: it searches for three bytes, but here 34 bytes end a run, so a separate pass for control
//! characters would still be needed. Measured 2026-11-22, memchr 2.8.3 with that pass against this module, same tree:
//! reading real MCP tools takes 1.07 times as long (in WebAssembly 1.3 times), and 10 MB of prose, tool calls and
//! images take 2.1, 1.7 and 1.2 times as long (3.1, 4.2 and 4.1 times). `memchr` would save WebAssembly: gzipped, 1.2
//! KB of the tree alone after wasm-opt, 5.4 KB of the whole before wasm-opt. In WebAssembly (not natively), strings
//! full of quotes would be written twice as fast.

use super::block::{self, Block, Kinds, BLOCK};

/// Finds the bytes at which a reader of strings has to stop, block by block.
pub(super) struct Stops<'t> {
    text: &'t [u8],
    /// Start of the current block.
    start: usize,
    block: Significant,
}

/// The bytes of a block that are significant to a reader of strings.
#[derive(Clone, Copy, Default)]
struct Significant {
    /// Bytes that end a string, that no string may contain, or that follow a backslash but form no simple escape.
    stops: u64,
    backslashes: u64,
    /// Bytes that follow a backslash that is not escaped itself.
    escaped: u64,
    /// True if the first byte after the block is escaped.
    carry: bool,
}

/// A position at which a reader of strings has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The position, or the end of the text if nothing ends the string.
    pub(super) at: usize,
    /// True if a backslash precedes the position.
    pub(super) passed_escape: bool,
    /// True if the byte at the position is escaped.
    pub(super) is_escaped: bool,
}

impl<'t> Stops<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        // No block starts here, and no block follows, so the first call always loads a block.
        Stops { text, start: usize::MAX, block: Significant::default() }
    }

    /// Returns the first stop at or after `from`, which must be inside a string but not inside an escape, and must
    /// never decrease.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> Stop {
        let start = from - from % BLOCK;
        if start != self.start {
            // Bytes that were skipped are outside strings, where the reader accepts no backslash.
            let carry = self.block.carry && start == self.start.wrapping_add(BLOCK);
            (self.start, self.block) = (start, Significant::at(self.text, start, carry));
        }
        let mut ahead = u64::MAX << (from % BLOCK);
        let mut passed_escape = false;
        if self.block.stops & ahead == 0 && self.start + BLOCK < self.text.len() {
            passed_escape = self.block.backslashes & ahead != 0;
            passed_escape |= self.advance();
            ahead = u64::MAX;
        }
        let Significant { stops, backslashes, escaped, carry } = self.block;
        let stops = stops & ahead;
        if stops == 0 {
            return Stop {
                at: self.text.len(),
                passed_escape: passed_escape || backslashes & ahead != 0,
                is_escaped: carry,
            };
        }
        let before = ahead & !stops & (stops - 1);
        Stop {
            at: self.start + stops.trailing_zeros() as usize,
            passed_escape: passed_escape || backslashes & before != 0,
            is_escaped: escaped & stops & stops.wrapping_neg() != 0,
        }
    }

    /// Advances to the next block with a stop, or to the last block. Returns true if a skipped block contains a
    /// backslash.
    fn advance(&mut self) -> bool {
        let (mut start, mut block, mut passed) = (self.start, self.block, 0);
        loop {
            start += BLOCK;
            // Plain blocks come in runs, and so do blocks with escapes.
            if block.backslashes == 0 && !block.carry {
                let rest = self.text.get(start..).unwrap_or_default();
                let is_plain = |bytes: &&[u8]| bytes.first_chunk().is_some_and(block::is_plain);
                start += BLOCK * rest.chunks_exact(BLOCK).take_while(is_plain).count();
            } else if let Some(before) =
                self.text.get(start - 1..).filter(|before| block.carry == before.starts_with(b"\\"))
            {
                let (count, any) = block::tame_row(before);
                start += BLOCK * count;
                // Such blocks contain no two adjacent backslashes, so a backslash in the last byte is not escaped
                // itself.
                block.carry = self.text.get(start - 1) == Some(&b'\\');
                passed |= u64::from(any || block.carry);
            }
            block = Significant::at(self.text, start, block.carry);
            if block.stops != 0 || start + BLOCK >= self.text.len() {
                (self.start, self.block) = (start, block);
                return passed != 0;
            }
            passed |= block.backslashes;
        }
    }
}

impl Significant {
    /// Returns the significant bytes of the block that starts here. `carry` is true if its first byte is escaped.
    #[inline(always)]
    fn at(text: &[u8], start: usize, carry: bool) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        match rest.first_chunk() {
            Some(block) => Significant::of(block, carry),
            None => Significant::of_last(rest, carry),
        }
    }

    #[inline(never)]
    fn of_last(rest: &[u8], carry: bool) -> Self {
        Significant::of(&padded(rest), carry)
    }

    #[inline(always)]
    fn of(block: &Block, carry: bool) -> Self {
        let Kinds { quotes, backslashes, controls } = block::kinds(block);
        if backslashes == 0 && !carry {
            return Significant { stops: quotes | controls, ..Significant::default() };
        }
        let (escaped, carry) = escaped(backslashes, carry);
        let mut odd = escaped & !(quotes | backslashes | block::letter_n(block));
        if odd != 0 {
            odd &= !block::escapable(block);
        }
        Significant { stops: (quotes & !escaped) | controls | odd, backslashes, escaped, carry }
    }
}

/// Returns the escaped bytes, and true if the first byte after them is escaped. `carry` is true if the first byte is
/// escaped.
fn escaped(backslashes: u64, carry: bool) -> (u64, bool) {
    const EVEN: u64 = u64::MAX / 3;
    let carry = u64::from(carry);
    let backslashes = backslashes & !carry;
    let behind = backslashes << 1 | carry;
    // In a run of backslashes, every second byte is escaped, and so is the byte after a run of odd length. Which bytes
    // these are depends on whether the run starts at an even position. Adding the first bit of each run that starts at
    // an odd position carries that run away, so that only runs that start at even positions are left.
    let odd_starts = backslashes & !behind & !EVEN;
    let (even_rows, beyond) = backslashes.overflowing_add(odd_starts);
    ((EVEN ^ (even_rows << 1)) & behind, beyond)
}

/// Returns the number of bytes before the first quote, backslash or control character.
pub(super) fn plain_prefix(text: &[u8]) -> usize {
    for (chunk, start) in text.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let kinds = match chunk.first_chunk() {
            Some(block) => block::kinds(block),
            None => block::kinds(&padded(chunk)),
        };
        let special = kinds.quotes | kinds.backslashes | kinds.controls;
        if special != 0 {
            return start + special.trailing_zeros() as usize;
        }
    }
    text.len()
}

/// Returns the last bytes of the text as a block, padded with spaces.
fn padded(rest: &[u8]) -> Block {
    let mut block = [b' '; BLOCK];
    for (place, byte) in block.iter_mut().zip(rest) {
        *place = *byte;
    }
    block
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::{plain_prefix, Stop, Stops};
    use alloc::vec::Vec;

    fn is_special(byte: u8) -> bool {
        matches!(byte, b'"' | b'\\' | 0..=0x1F)
    }

    /// For every byte at every position in the text, the result is that of a simple search.
    #[test]
    fn agrees_with_a_simple_search() {
        for length in [0, 1, 8, 63, 64, 65, 128, 200] {
            for filler in [0x7F, 0x80, 0xFF, 0x20, b'!', b'#', b'[', b']'] {
                let mut text: Vec<u8> = core::iter::repeat_n(filler, length).collect();
                assert_eq!(plain_prefix(&text), length, "{filler} alone, {length} times");
                for place in 0..length {
                    for byte in 0..=255 {
                        let old = core::mem::replace(&mut text[place], byte);
                        let plain = text.iter().position(|byte| is_special(*byte)).unwrap_or(length);
                        assert_eq!(plain_prefix(&text), plain, "{byte} at {place} of {length} times {filler}");
                        text[place] = old;
                    }
                }
            }
        }
    }

    /// Finds the next stop byte by byte, as a reference.
    fn plain_next(text: &[u8], from: usize) -> Stop {
        let (mut at, mut passed_escape) = (from, false);
        loop {
            match (text.get(at), text.get(at + 1)) {
                (Some(b'\\'), Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
                (Some(b'\\'), _) => return Stop { at: at + 1, passed_escape: true, is_escaped: true },
                (Some(byte), _) if !is_special(*byte) => {
                    at += 1;
                    continue;
                }
                _ => return Stop { at, passed_escape, is_escaped: false },
            }
            passed_escape = true;
        }
    }

    /// Reads strings with few and with many escapes, of any length, from stop to stop like a reader, and often skips
    /// some bytes.
    #[test]
    fn agrees_with_a_simple_reader() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..4000 {
            let length = random(400);
            let rarity = [2, 8, 40, 300][round % 4];
            let mut text: Vec<u8> = Vec::new();
            while text.len() < length {
                match random(rarity * 3) {
                    0 => text.push(b'\\'),
                    1 => text.push(b"\\\\\\\"bfnrtu/x\n "[random(14)]),
                    // The most frequent escapes.
                    at if at < 2 * (round % 7) => text.extend([b'\\', b"n\"nt"[random(4)]]),
                    _ => text.push(b'a' + random(26) as u8),
                }
            }
            let (mut stops, mut from) = (Stops::new(&text), 0);
            while from <= text.len() {
                let stop = stops.next(from);
                assert_eq!(stop, plain_next(&text, from), "from {from} of {:?}", text.escape_ascii());
                from = stop.at + 1;
                // A reader leaves strings only at quotes, and there is no backslash outside strings.
                if text.get(stop.at) == Some(&b'"') {
                    from += random(100)
                        .min(text[from..].iter().position(|byte| *byte == b'\\').unwrap_or(text.len() - from));
                }
            }
        }
    }
}
