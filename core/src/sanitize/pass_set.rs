//! A set of passes.

/// A set of passes, by their positions in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassSet(u64);

impl PassSet {
    pub(crate) const NONE: PassSet = PassSet(0);

    pub(crate) const fn insert(self, position: usize) -> Self {
        PassSet(self.0 | 1 << position)
    }

    pub(crate) const fn contains(self, position: usize) -> bool {
        self.0 & 1 << position != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
