//! The number of rounds that `sanitize` takes, for the example that measures them.

pub use crate::sanitize::Rounds;

/// Runs `run` and returns its result and the rounds of its calls. No other thread may make calls meanwhile.
pub fn of<T>(run: impl FnOnce() -> T) -> (T, Rounds) {
    let before = Rounds::taken();
    let result = run();
    (result, Rounds::taken().since(before))
}
