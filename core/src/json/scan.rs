//! Finding where JSON strings end, 64 bytes at a time.
//!
//! Most bytes of a large request stand inside strings (images, files, long texts), so this decides how long it takes.
//! Blocks without a quote, a backslash or a control character are passed over by one test. In the others, escapes are
//! resolved for all 64 bytes at once (as Langdale and Lemire do, "Parsing gigabytes of JSON per second"), and where
//! there are only `\"` and `\n`, one test tells that, too. Measured on 10 MB of prose, three escapes in a hundred bytes
//! (x86-64, `--example requests`, all of `apply_deferred_loading_json`, of which copying takes 0.5 ms): going from
//! escape to escape 4.1 ms, all at once 2.6, rows 1.9.
//!
//! Not `memchr`: it knows three bytes, and here 34 end a run, so a pass of our own for control characters stays beside
//! it. Measured 2026-11-22, memchr 2.8.3 and that pass beside this, same tree: reading real MCP tools takes 1.07 times
//! as long (in WebAssembly 1.3), 10 MB of prose, tool calls and images 2.1, 1.7 and 1.2 times (3.1, 4.2 and 4.1). It
//! would save WebAssembly: gzipped 1.2 KB of the tree alone after wasm-opt, 5.4 KB of the whole before. And writing
//! strings full of quotes would be twice as fast there (not natively).

use super::block::{self, Block, Kinds, BLOCK};

/// The bytes at which a reader of strings has to stop, found block by block.
pub(super) struct Stops<'t> {
    text: &'t [u8],
    /// Where the block at hand starts.
    start: usize,
    block: Seen,
}

/// What a block means to a reader of strings.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Which of its bytes end a string, may be in none, or stand behind a backslash and are no plain escape.
    stops: u64,
    backslashes: u64,
    /// Which of its bytes stand behind a backslash that is no escaped one itself.
    escaped: u64,
    /// Whether the first byte behind the block does.
    carry: bool,
}

/// Where a reader of strings has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Where that is; the end of the text if nothing ends the string.
    pub(super) at: usize,
    /// Whether there is a backslash on the way.
    pub(super) passed_escape: bool,
    /// Whether what stands there is escaped.
    pub(super) is_escaped: bool,
}

impl<'t> Stops<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        // No block starts here, and none follows, so the first look is at another one.
        Stops { text, start: usize::MAX, block: Seen::default() }
    }

    /// The first stop at `from` or after it. `from` is inside a string, no escape is open there, and it never goes
    /// back.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> Stop {
        let start = from - from % BLOCK;
        if start != self.start {
            // Bytes that nobody looked at are outside strings, where no backslash is let through.
            let carry = self.block.carry && start == self.start.wrapping_add(BLOCK);
            (self.start, self.block) = (start, Seen::at(self.text, start, carry));
        }
        let mut ahead = u64::MAX << (from % BLOCK);
        let mut passed_escape = false;
        if self.block.stops & ahead == 0 && self.start + BLOCK < self.text.len() {
            passed_escape = self.block.backslashes & ahead != 0;
            passed_escape |= self.advance();
            ahead = u64::MAX;
        }
        let Seen { stops, backslashes, escaped, carry } = self.block;
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

    /// Goes on to the next block with a stop, or to the last one, and tells whether a backslash is in those it passed.
    fn advance(&mut self) -> bool {
        let (mut start, mut block, mut passed) = (self.start, self.block, 0);
        loop {
            start += BLOCK;
            // Plain blocks come in rows, and so do those with escapes.
            if block.backslashes == 0 && !block.carry {
                let rest = self.text.get(start..).unwrap_or_default();
                let is_plain = |bytes: &&[u8]| bytes.first_chunk().is_some_and(block::is_plain);
                start += BLOCK * rest.chunks_exact(BLOCK).take_while(is_plain).count();
            } else if let Some(before) =
                self.text.get(start - 1..).filter(|before| block.carry == before.starts_with(b"\\"))
            {
                let (count, any) = block::tame_row(before);
                start += BLOCK * count;
                // There are no two backslashes side by side in such blocks: if the last byte is one, it counts.
                block.carry = self.text.get(start - 1) == Some(&b'\\');
                passed |= u64::from(any || block.carry);
            }
            block = Seen::at(self.text, start, block.carry);
            if block.stops != 0 || start + BLOCK >= self.text.len() {
                (self.start, self.block) = (start, block);
                return passed != 0;
            }
            passed |= block.backslashes;
        }
    }
}

impl Seen {
    /// What the block is that starts there. `carry`: its first byte is escaped.
    #[inline(always)]
    fn at(text: &[u8], start: usize, carry: bool) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        match rest.first_chunk() {
            Some(block) => Seen::of(block, carry),
            None => Seen::of_last(rest, carry),
        }
    }

    #[inline(never)]
    fn of_last(rest: &[u8], carry: bool) -> Self {
        Seen::of(&padded(rest), carry)
    }

    #[inline(always)]
    fn of(block: &Block, carry: bool) -> Self {
        let Kinds { quotes, backslashes, controls } = block::kinds(block);
        if backslashes == 0 && !carry {
            return Seen { stops: quotes | controls, ..Seen::default() };
        }
        let (escaped, carry) = escaped(backslashes, carry);
        let mut odd = escaped & !(quotes | backslashes | block::letter_n(block));
        if odd != 0 {
            odd &= !block::escapable(block);
        }
        Seen { stops: (quotes & !escaped) | controls | odd, backslashes, escaped, carry }
    }
}

/// Which bytes are escaped, and whether the one behind them is. `carry`: the first one is.
fn escaped(backslashes: u64, carry: bool) -> (u64, bool) {
    const EVEN: u64 = u64::MAX / 3;
    let carry = u64::from(carry);
    let backslashes = backslashes & !carry;
    let behind = backslashes << 1 | carry;
    // In a row of backslashes every second byte is escaped, and so is the byte behind the row if there is an odd number
    // of them: which these are depends on whether the row starts at an even place. Adding its first one carries a row
    // away, which leaves the rows that start at even places.
    let odd_starts = backslashes & !behind & !EVEN;
    let (even_rows, beyond) = backslashes.overflowing_add(odd_starts);
    ((EVEN ^ (even_rows << 1)) & behind, beyond)
}

/// How many bytes there are before the first quote, backslash or control character.
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

/// The last bytes of a text as a block, filled up with what means nothing.
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

    /// Every byte at every place in a text gives what a plain search gives.
    #[test]
    fn finds_what_a_plain_search_finds() {
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

    /// The same, byte by byte.
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

    /// Texts of few and of many escapes, of every length, read as a reader does: stop by stop, often leaving out some
    /// bytes.
    #[test]
    fn stops_where_a_plain_reader_stops() {
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
                    // What most escapes are.
                    at if at < 2 * (round % 7) => text.extend([b'\\', b"n\"nt"[random(4)]]),
                    _ => text.push(b'a' + random(26) as u8),
                }
            }
            let (mut stops, mut from) = (Stops::new(&text), 0);
            while from <= text.len() {
                let stop = stops.next(from);
                assert_eq!(stop, plain_next(&text, from), "from {from} of {:?}", text.escape_ascii());
                from = stop.at + 1;
                // A reader leaves strings only at quotes, and nothing outside them is a backslash.
                if text.get(stop.at) == Some(&b'"') {
                    from += random(100)
                        .min(text[from..].iter().position(|byte| *byte == b'\\').unwrap_or(text.len() - from));
                }
            }
        }
    }
}
