//! A set of passes.

/// A set of passes, by their positions in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize) struct PassSet(u64);

impl PassSet {
    pub(in crate::sanitize) const NONE: PassSet = PassSet(0);

    pub(in crate::sanitize) const fn insert(self, position: usize) -> Self {
        PassSet(self.0 | 1 << position)
    }

    pub(in crate::sanitize) const fn contains(self, position: usize) -> bool {
        self.0 & 1 << position != 0
    }

    pub(in crate::sanitize) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
