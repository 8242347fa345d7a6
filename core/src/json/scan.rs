//! Finds the ends of JSON strings, 64 bytes at a time. Masks with one bit per byte classify the bytes of a block; the
//! first byte has the lowest bit.
//!
//! Most bytes of a large request are inside strings (images, files, long text), so this search determines the speed of
//! reading. Blocks without a quote, a backslash or a control character are skipped after one test. In other blocks,
//! escapes are resolved for all 64 bytes at once (as Langdale and Lemire do, "Parsing gigabytes of JSON per second").
//! If all escapes are `\"` or `\n`, one test shows that, too. Measured on 10 MB of prose with three escapes per hundred
//! bytes (x86-64, `--example requests`, all of `apply_deferred_loading` on text, of which copying takes 0.5 ms): escape
//! by escape 4.1 ms, all escapes at once 2.6 ms, runs of blocks 1.9 ms.
//!
//! `memchr` is not used: it searches for three bytes, but here 34 bytes end a run, so a separate pass for control
//! characters would still be needed. Measured 2026-11-22, memchr 2.8.3 with that pass against this module, same tree:
//! reading real MCP tools takes 1.07 times as long (in WebAssembly 1.3 times), and 10 MB of prose, tool calls and
//! images take 2.1, 1.7 and 1.2 times as long (3.1, 4.2 and 4.1 times). `memchr` would make the WebAssembly smaller:
//! gzipped, by 1.2 KB for the tree alone (after wasm-opt), and by 5.4 KB for the whole module (before wasm-opt). In
//! WebAssembly (not natively), strings full of quotes would be written twice as fast.
//!
//! Uses SSE2 on x86-64, where every processor has it. Elsewhere, it uses loops that a compiler turns into vector
//! instructions, or processes eight bytes at a time as a word. This module does not know where strings begin or end.

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(super) use portable::{count_simple_blocks, escapable, is_plain, kinds, letter_n};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use sse2::{count_simple_blocks, escapable, is_plain, kinds, letter_n};

/// Finds the bytes at which a reader of strings has to stop, block by block.
pub(super) struct Stops<'t> {
    text: &'t [u8],
    /// Start of the current block.
    start: usize,
    block: Significant,
}

#[derive(Clone, Copy, Default)]
struct Significant {
    /// Bytes at which the reader stops: they end a string, are forbidden in strings, or follow a backslash without
    /// forming a simple escape.
    stops: u64,
    backslashes: u64,
    /// Bytes after an unescaped backslash.
    escaped: u64,
    /// True if the first byte after the block is escaped.
    carry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Position of the byte, or the end of the text if nothing ends the string.
    pub(super) at: usize,
    /// True if a backslash precedes the position.
    pub(super) passed_escape: bool,
    /// True if the byte at the position is escaped.
    pub(super) is_escaped: bool,
}

impl<'t> Stops<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        // `start` is neither the start of a block nor directly before one, so the first call always loads a block.
        Stops { text, start: usize::MAX, block: Significant::default() }
    }

    /// Returns the first stop at or after `from`. `from` must be inside a string but not inside an escape, and must
    /// never decrease.
    #[inline]
    pub(super) fn next(&mut self, from: usize) -> Stop {
        let start = from - from % BLOCK;
        if start != self.start {
            // Only bytes outside strings are skipped, and the reader accepts no backslash there.
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
            // Plain blocks are often adjacent, and so are blocks with escapes.
            if block.backslashes == 0 && !block.carry {
                let rest = self.text.get(start..).unwrap_or_default();
                let is_plain = |bytes: &&[u8]| bytes.first_chunk().is_some_and(is_plain);
                start += BLOCK * rest.chunks_exact(BLOCK).take_while(is_plain).count();
            } else if let Some(before) =
                self.text.get(start - 1..).filter(|before| block.carry == before.starts_with(b"\\"))
            {
                let (count, any) = count_simple_blocks(before);
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
    /// `start` is the first byte of a block. `carry` is true if this byte is escaped.
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
        let Kinds { quotes, backslashes, controls } = kinds(block);
        if backslashes == 0 && !carry {
            return Significant { stops: quotes | controls, ..Significant::default() };
        }
        let (escaped, carry) = escaped(backslashes, carry);
        let mut odd = escaped & !(quotes | backslashes | letter_n(block));
        if odd != 0 {
            odd &= !escapable(block);
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
    // In a run of backslashes, every second byte is escaped, and so is the byte after a run of odd length. The parity
    // of the run's start decides which bytes these are. Adding the first bit of each run with an odd start clears this
    // run by carrying. Only runs with an even start remain.
    let odd_starts = backslashes & !behind & !EVEN;
    let (even_rows, beyond) = backslashes.overflowing_add(odd_starts);
    ((EVEN ^ (even_rows << 1)) & behind, beyond)
}

/// Number of bytes before the first quote, backslash or control character.
pub(super) fn plain_prefix(text: &[u8]) -> usize {
    for (chunk, start) in text.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        let kinds = match chunk.first_chunk() {
            Some(block) => kinds(block),
            None => kinds(&padded(chunk)),
        };
        let special = kinds.quotes | kinds.backslashes | kinds.controls;
        if special != 0 {
            return start + special.trailing_zeros() as usize;
        }
    }
    text.len()
}

fn padded(rest: &[u8]) -> Block {
    let mut block = [b' '; BLOCK];
    for (place, byte) in block.iter_mut().zip(rest) {
        *place = *byte;
    }
    block
}

/// One byte for each bit of a mask.
const BLOCK: usize = 64;

pub(super) type Block = [u8; BLOCK];

/// The bytes of a block that are significant inside a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) quotes: u64,
    backslashes: u64,
    /// Control characters, which strings must not contain.
    controls: u64,
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse2 {
    use safe_arch::{
        bitand_m128i as and, bitandnot_m128i as and_not, bitor_m128i as or, bitxor_m128i as xor,
        cmp_eq_mask_i8_m128i as equal, load_unaligned_m128i as load, m128i, min_u8_m128i as min,
        move_mask_i8_m128i as signs,
    };

    use super::{Block, Kinds, BLOCK};

    const LANES: usize = 16;

    #[inline(always)]
    fn vectors(block: &Block) -> [m128i; BLOCK / LANES] {
        [0, 1, 2, 3].map(|at| block.get(LANES * at..).and_then(<[u8]>::first_chunk).map_or_else(m128i::default, load))
    }

    fn all(byte: u8) -> m128i {
        m128i::from([byte; LANES])
    }

    #[inline(always)]
    fn mask(vectors: [m128i; BLOCK / LANES], test: impl Fn(m128i) -> m128i) -> u64 {
        // The sign of each byte: 16 bits, so the cast loses nothing.
        let [a, b, c, d] = vectors.map(|vector| u64::from(signs(test(vector)) as u16));
        a | b << 16 | c << 32 | d << 48
    }

    #[inline]
    pub(in super::super) fn is_plain(block: &Block) -> bool {
        let vectors = vectors(block);
        let [a, b, c, d] = vectors;
        // A single comparison for all four vectors: the minimum shows if any byte is a control character.
        let smallest = min(min(a, b), min(c, d));
        let [a, b, c, d] = vectors.map(|vector| or(equal(vector, all(b'"')), equal(vector, all(b'\\'))));
        signs(or(or(or(a, b), or(c, d)), equal(min(smallest, all(0x1F)), smallest))) == 0
    }

    /// Returns the number of consecutive blocks that contain only plain characters, `\"` and `\n`, and true if
    /// these blocks or the byte before them contain a backslash. `before` begins one byte before the first block.
    pub(in super::super) fn count_simple_blocks(before: &[u8]) -> (usize, bool) {
        let text = before.get(1..).unwrap_or_default();
        let (mut count, mut any) = (0, m128i::default());
        for (here, before) in text.chunks_exact(BLOCK).zip(before.chunks_exact(BLOCK)) {
            let (Some(here), Some(before)) = (here.first_chunk(), before.first_chunk()) else { break };
            let ([a, b, c, d], [before_a, before_b, before_c, before_d]) = (vectors(here), vectors(before));
            let smallest = min(min(a, b), min(c, d));
            let behind = [before_a, before_b, before_c, before_d].map(|vector| equal(vector, all(b'\\')));
            let [p, q, r, s] = behind;
            // After a backslash, only `n` and quotes are simple; elsewhere, a quote is not simple.
            let wild = |vector, behind| xor(and_not(equal(vector, all(b'n')), behind), equal(vector, all(b'"')));
            let wild = or(or(wild(a, p), wild(b, q)), or(wild(c, r), wild(d, s)));
            if signs(or(wild, equal(min(smallest, all(0x1F)), smallest))) != 0 {
                break;
            }
            any = or(any, or(or(p, q), or(r, s)));
            count += 1;
        }
        (count, signs(any) != 0)
    }

    #[inline]
    pub(in super::super) fn kinds(block: &Block) -> Kinds {
        let vectors = vectors(block);
        let [a, b, c, d] = vectors;
        // Few blocks contain control characters. A single comparison for all four vectors finds out.
        let is_control = |vector| equal(min(vector, all(0x1F)), vector);
        let any_control = signs(is_control(min(min(a, b), min(c, d)))) != 0;
        Kinds {
            quotes: mask(vectors, |vector| equal(vector, all(b'"'))),
            backslashes: mask(vectors, |vector| equal(vector, all(b'\\'))),
            controls: if any_control { mask(vectors, is_control) } else { 0 },
        }
    }

    /// `\n` is by far the most frequent escape of a letter.
    #[inline]
    pub(in super::super) fn letter_n(block: &Block) -> u64 {
        mask(vectors(block), |vector| equal(vector, all(b'n')))
    }

    #[inline]
    pub(in super::super) fn escapable(block: &Block) -> u64 {
        mask(vectors(block), |vector| {
            // `b` and `f` differ in one bit, which this clears.
            let b_or_f = equal(and(vector, all(!0x04)), all(b'b'));
            let n_or_t = or(equal(vector, all(b'n')), equal(vector, all(b't')));
            or(or(b_or_f, n_or_t), equal(vector, all(b'r')))
        })
    }
}

// Tests compile this module even with SSE2, because they compare both implementations.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod portable {
    use super::{Block, Kinds, BLOCK};

    /// True if compilers turn a loop over bytes into vector instructions. Otherwise, eight bytes are combined in a
    /// word.
    const VECTORS: bool = cfg!(any(target_feature = "neon", target_feature = "simd128"));

    pub(in super::super) fn is_plain(block: &Block) -> bool {
        if VECTORS {
            let special = |byte: u8| (byte == b'"') as u8 | (byte == b'\\') as u8 | (byte < 0x20) as u8;
            block.iter().fold(0, |mask, byte| mask | special(*byte)) == 0
        } else {
            let special = |word: u64| below(word, 0x20) | equal(word, b'"') | equal(word, b'\\');
            words(block).fold(0, |mask, word| mask | special(word)) & HIGHS == 0
        }
    }

    pub(in super::super) fn count_simple_blocks(before: &[u8]) -> (usize, bool) {
        let text = before.get(1..).unwrap_or_default();
        let (mut count, mut any) = (0, 0);
        for (here, before) in text.chunks_exact(BLOCK).zip(before.chunks_exact(BLOCK)) {
            let (Some(here), Some(before)) = (here.first_chunk(), before.first_chunk()) else { break };
            let (wild, behind) = words(here).zip(words(before)).fold((0, 0), |(wild, any), (word, before)| {
                let behind = equal(before, b'\\');
                (wild | (behind & !equal(word, b'n')) ^ equal(word, b'"') | below(word, 0x20), any | behind)
            });
            if wild & HIGHS != 0 {
                break;
            }
            any |= behind & HIGHS;
            count += 1;
        }
        (count, any != 0)
    }

    pub(in super::super) fn kinds(block: &Block) -> Kinds {
        Kinds {
            quotes: mask(block, |byte| byte == b'"', |word| equal(word, b'"')),
            backslashes: mask(block, |byte| byte == b'\\', |word| equal(word, b'\\')),
            controls: mask(block, |byte| byte < 0x20, |word| below(word, 0x20)),
        }
    }

    pub(in super::super) fn letter_n(block: &Block) -> u64 {
        mask(block, |byte| byte == b'n', |word| equal(word, b'n'))
    }

    pub(in super::super) fn escapable(block: &Block) -> u64 {
        mask(
            block,
            |byte| (byte & !0x04 == b'b') | (byte == b'n') | (byte == b'r') | (byte == b't'),
            |word| {
                equal(word & (LOWS * !0x04_u8 as u64), b'b') | equal(word, b'n') | equal(word, b'r') | equal(word, b't')
            },
        )
    }

    /// Returns one bit per byte. The expressions have no branches, so that the compiler can vectorize them.
    fn mask(block: &Block, of_byte: impl Fn(u8) -> bool, of_word: impl Fn(u64) -> u64) -> u64 {
        if VECTORS {
            by_vectors(block, of_byte)
        } else {
            by_words(block, of_word)
        }
    }

    pub(super) fn by_vectors(block: &Block, of_byte: impl Fn(u8) -> bool) -> u64 {
        let bits = block.map(|byte| u8::from(of_byte(byte)));
        gather(words(&bits))
    }

    pub(super) fn by_words(block: &Block, of_word: impl Fn(u64) -> u64) -> u64 {
        gather(words(block).map(|word| (of_word(word) & HIGHS) >> 7))
    }

    fn words(block: &Block) -> impl Iterator<Item = u64> + '_ {
        block.chunks_exact(8).map(|bytes| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    /// Each byte of the words must be 0 or 1.
    fn gather(words: impl Iterator<Item = u64>) -> u64 {
        // The multiplication moves the lowest bits of all eight bytes side by side into the highest byte.
        let byte = |word: u64| word.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        words.zip(0_u32..).fold(0, |mask, (word, at)| mask | byte(word) << (8 * at))
    }

    const LOWS: u64 = u64::MAX / 0xFF;
    const HIGHS: u64 = LOWS << 7;

    /// Returns the high bit of each byte that equals `byte`. The other bits are undefined.
    pub(super) const fn equal(word: u64, byte: u8) -> u64 {
        below(word ^ (LOWS * byte as u64), 1)
    }

    /// Returns the high bit of each byte below a limit of at most 128. The other bits are undefined. The addition never
    /// carries into the next byte, because the high bit of each byte is cleared first.
    pub(super) const fn below(word: u64, limit: u8) -> u64 {
        !(((word & !HIGHS) + LOWS * (0x80 - limit as u64)) | word)
    }
}

#[cfg(test)]
mod tests {
    use super::{plain_prefix, portable, Block, Kinds, Stop, Stops, BLOCK};
    use alloc::vec::Vec;

    fn is_special(byte: u8) -> bool {
        matches!(byte, b'"' | b'\\' | 0..=0x1F)
    }

    #[test]
    fn plain_prefix_agrees_with_a_simple_search() {
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

    /// Reads strings of any length, with few or many escapes, from stop to stop like a reader. Often skips some bytes.
    #[test]
    fn stops_agree_with_a_simple_reader() {
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
                // A reader leaves strings only at quotes, and no backslash exists outside strings.
                if text.get(stop.at) == Some(&b'"') {
                    from += random(100)
                        .min(text[from..].iter().position(|byte| *byte == b'\\').unwrap_or(text.len() - from));
                }
            }
        }
    }

    fn plain(block: &Block, is: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(is(*byte)) << at)
    }

    /// Puts every byte at every position among bytes of every kind.
    #[test]
    fn every_implementation_agrees_with_a_simple_search() {
        for beside in [0, 0x1F, 0x20, b'"', b'#', b'\\', b'b', b'n', 0x7F, 0x80, 0xFF] {
            for byte in 0..=255 {
                for place in 0..BLOCK {
                    let mut block = [beside; BLOCK];
                    block[place] = byte;
                    let kinds = Kinds {
                        quotes: plain(&block, |byte| byte == b'"'),
                        backslashes: plain(&block, |byte| byte == b'\\'),
                        controls: plain(&block, |byte| byte < 0x20),
                    };
                    let letters = [plain(&block, |byte| b"bfnrt".contains(&byte)), plain(&block, |byte| byte == b'n')];
                    let is_plain = kinds == Kinds::default();
                    let about = (beside, byte, place);
                    let actual = (
                        super::kinds(&block),
                        [super::escapable(&block), super::letter_n(&block)],
                        super::is_plain(&block),
                    );
                    assert_eq!(actual, (kinds, letters, is_plain), "{about:?}");
                    let actual = (
                        portable::kinds(&block),
                        [portable::escapable(&block), portable::letter_n(&block)],
                        portable::is_plain(&block),
                    );
                    assert_eq!(actual, (kinds, letters, is_plain), "portable: {about:?}");
                    for first in [b'\\', b'a'] {
                        let text: Vec<u8> = [first].into_iter().chain(block).chain([beside; BLOCK]).collect();
                        assert_eq!(
                            super::count_simple_blocks(&text),
                            portable::count_simple_blocks(&text),
                            "{first} and {about:?}"
                        );
                    }
                    let controls = portable::by_vectors(&block, |byte| byte < 0x20);
                    assert_eq!(controls, kinds.controls, "by vectors: {about:?}");
                }
            }
        }
    }
}
