//! The number of steps that calls take, for tests of growth.

use crate::budget;

/// Runs `run` and returns its result and the steps that its calls took. No other thread may make calls meanwhile.
pub fn of<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = budget::taken();
    let result = run();
    (result, budget::taken().wrapping_sub(before))
}
