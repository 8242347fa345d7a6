//! Reproducible pseudorandom inputs, the same in every run and on every machine.

/// Inputs generated from a seed with SplitMix64, whose streams for neighboring seeds are independent.
pub struct Seeds(u64);

impl Seeds {
    /// Returns the inputs for a seed.
    pub const fn new(seed: u64) -> Self {
        Seeds(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns the next input. Most are short: small schemas run faster and reveal as many errors.
    pub fn input(&mut self) -> Vec<u8> {
        let limit = [48, 96, 160, 320, 640][(self.next() % 5) as usize];
        let words = self.next() % (limit / 8) + 2;
        (0..words).flat_map(|_| self.next().to_le_bytes()).collect()
    }
}
