//! Classifies the bytes of a block of 64 bytes for readers of JSON strings. Masks have one bit per byte; the first byte
//! has the lowest bit.
//!
//! Uses SSE2 on x86-64, where every processor has it; elsewhere, loops that a compiler turns into vector instructions,
//! or words of eight bytes. This module does not know where strings begin or end.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use sse2::{escapable, is_plain, kinds, letter_n, tame_row};

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(super) use portable::{escapable, is_plain, kinds, letter_n, tame_row};

/// Number of bytes in a block: one for each bit of a mask.
pub(super) const BLOCK: usize = 64;

pub(super) type Block = [u8; BLOCK];

/// The bytes of a block that are significant inside a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    /// Control characters, which strings must not contain.
    pub(super) controls: u64,
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

    /// Returns true if no byte of the block is significant.
    #[inline]
    pub(in super::super) fn is_plain(block: &Block) -> bool {
        let vectors = vectors(block);
        let [a, b, c, d] = vectors;
        // One comparison for all four vectors: the minimum shows whether any byte is a control character.
        let smallest = min(min(a, b), min(c, d));
        let [a, b, c, d] = vectors.map(|vector| or(equal(vector, all(b'"')), equal(vector, all(b'\\'))));
        signs(or(or(or(a, b), or(c, d)), equal(min(smallest, all(0x1F)), smallest))) == 0
    }

    /// Returns the number of consecutive blocks that contain only plain characters, `\"` and `\n`, and true if they
    /// contain a backslash. `before` is the text with one more byte in front: the byte before the first block. If that
    /// byte is a backslash, it counts.
    pub(in super::super) fn tame_row(before: &[u8]) -> (usize, bool) {
        let text = before.get(1..).unwrap_or_default();
        let (mut count, mut any) = (0, m128i::default());
        for (here, before) in text.chunks_exact(BLOCK).zip(before.chunks_exact(BLOCK)) {
            let (Some(here), Some(before)) = (here.first_chunk(), before.first_chunk()) else { break };
            let ([a, b, c, d], [before_a, before_b, before_c, before_d]) = (vectors(here), vectors(before));
            let smallest = min(min(a, b), min(c, d));
            let behind = [before_a, before_b, before_c, before_d].map(|vector| equal(vector, all(b'\\')));
            let [p, q, r, s] = behind;
            // After a backslash, a byte that is not n must be a quote; elsewhere, there must be no quote.
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
        // Few blocks contain control characters, and one comparison for all four vectors shows whether one does.
        let is_control = |vector| equal(min(vector, all(0x1F)), vector);
        let any_control = signs(is_control(min(min(a, b), min(c, d)))) != 0;
        Kinds {
            quotes: mask(vectors, |vector| equal(vector, all(b'"'))),
            backslashes: mask(vectors, |vector| equal(vector, all(b'\\'))),
            controls: if any_control { mask(vectors, is_control) } else { 0 },
        }
    }

    /// Returns the positions of the letter n: `\n` is by far the most frequent escape of a letter.
    #[inline]
    pub(in super::super) fn letter_n(block: &Block) -> u64 {
        mask(vectors(block), |vector| equal(vector, all(b'n')))
    }

    /// Returns the positions of letters that may follow a backslash, as in `\n`.
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

// Also compiled for tests with SSE2: both implementations have to agree.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod portable {
    use super::{Block, Kinds, BLOCK};

    /// True if compilers turn a loop over bytes into vector instructions. Otherwise, eight bytes are combined in a
    /// word.
    const VECTORS: bool = cfg!(any(target_feature = "neon", target_feature = "simd128"));

    /// Returns true if no byte of the block is significant.
    pub(in super::super) fn is_plain(block: &Block) -> bool {
        if VECTORS {
            let special = |byte: u8| (byte == b'"') as u8 | (byte == b'\\') as u8 | (byte < 0x20) as u8;
            block.iter().fold(0, |found, byte| found | special(*byte)) == 0
        } else {
            let special = |word: u64| below(word, 0x20) | equal(word, b'"') | equal(word, b'\\');
            words(block).fold(0, |found, word| found | special(word)) & HIGHS == 0
        }
    }

    /// Same as the SSE2 implementation.
    pub(in super::super) fn tame_row(before: &[u8]) -> (usize, bool) {
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

    /// Returns the positions of the letter n.
    pub(in super::super) fn letter_n(block: &Block) -> u64 {
        mask(block, |byte| byte == b'n', |word| equal(word, b'n'))
    }

    /// Returns the positions of letters that may follow a backslash, as in `\n`.
    pub(in super::super) fn escapable(block: &Block) -> u64 {
        mask(
            block,
            |byte| (byte & !0x04 == b'b') | (byte == b'n') | (byte == b'r') | (byte == b't'),
            |word| {
                equal(word & (LOWS * !0x04_u8 as u64), b'b') | equal(word, b'n') | equal(word, b'r') | equal(word, b't')
            },
        )
    }

    /// Returns a mask with one bit per byte. (The expressions have no branches, so that they can be vectorized.)
    fn mask(block: &Block, of_byte: impl Fn(u8) -> bool, of_word: impl Fn(u64) -> u64) -> u64 {
        if VECTORS {
            by_vectors(block, of_byte)
        } else {
            by_words(block, of_word)
        }
    }

    pub(super) fn by_vectors(block: &Block, of_byte: impl Fn(u8) -> bool) -> u64 {
        let found = block.map(|byte| u8::from(of_byte(byte)));
        gather(words(&found))
    }

    pub(super) fn by_words(block: &Block, of_word: impl Fn(u64) -> u64) -> u64 {
        gather(words(block).map(|word| (of_word(word) & HIGHS) >> 7))
    }

    fn words(block: &Block) -> impl Iterator<Item = u64> + '_ {
        block.chunks_exact(8).map(|bytes| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    /// Returns a mask with one bit per byte, from words in which each byte is 0 or 1.
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

    /// Returns the high bit of each byte below a limit of at most 128. The other bits are undefined. No byte borrows
    /// from its neighbor: each has its own high bit to carry into.
    pub(super) const fn below(word: u64, limit: u8) -> u64 {
        !(((word & !HIGHS) + LOWS * (0x80 - limit as u64)) | word)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test fails by panicking")]
mod tests {
    use super::{portable, Block, Kinds, BLOCK};
    use alloc::vec::Vec;

    fn plain(block: &Block, is: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(is(*byte)) << at)
    }

    /// Puts every byte at every position among every kind of byte: each implementation finds what a simple search
    /// finds.
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
                    let found = (
                        super::kinds(&block),
                        [super::escapable(&block), super::letter_n(&block)],
                        super::is_plain(&block),
                    );
                    assert_eq!(found, (kinds, letters, is_plain), "{about:?}");
                    let found = (
                        portable::kinds(&block),
                        [portable::escapable(&block), portable::letter_n(&block)],
                        portable::is_plain(&block),
                    );
                    assert_eq!(found, (kinds, letters, is_plain), "portable: {about:?}");
                    for first in [b'\\', b'a'] {
                        let text: Vec<u8> = [first].into_iter().chain(block).chain([beside; BLOCK]).collect();
                        assert_eq!(super::tame_row(&text), portable::tame_row(&text), "{first} and {about:?}");
                    }
                    let controls = portable::by_vectors(&block, |byte| byte < 0x20);
                    assert_eq!(controls, kinds.controls, "by vectors: {about:?}");
                }
            }
        }
    }
}
