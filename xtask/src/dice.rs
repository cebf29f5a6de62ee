//! [`Dice`]: numbers that look like chance and come again with the same seed.

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The same seed gives the same numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0, below `end`; 0 where that is 0.
    #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % (end as u64).max(1)) as usize
    }

    /// Once in `times`.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them; they are not empty.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
