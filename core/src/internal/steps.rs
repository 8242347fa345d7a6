//! The steps that calls take, for the tests of growth.

use crate::budget;

/// Runs some work; returns its result and the steps that its calls took. No other thread may make calls meanwhile.
pub fn of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = budget::taken();
    let result = run();
    (result, budget::taken().wrapping_sub(before))
}
