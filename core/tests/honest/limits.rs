//! How many faults a dialect may still have; numbers here only fall.

pub(crate) fn of(_: &str) -> usize {
    usize::MAX
}
