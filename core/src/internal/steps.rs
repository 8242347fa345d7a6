//! The steps that calls take: what the tests of growth read. Nobody else needs it.

use crate::budget;

/// The result of a piece of work, and the steps that its calls took. Other threads must not call meanwhile.
pub fn of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = budget::taken();
    let result = run();
    (result, budget::taken().wrapping_sub(before))
}
