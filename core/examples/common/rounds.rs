//! The number of rounds of a benchmark.

/// Returns true if a test runs the benchmark, to see that it works: `TOOLWIRE_BENCH=once`.
pub(crate) fn once() -> bool {
    std::env::var("TOOLWIRE_BENCH").is_ok_and(|value| value == "once")
}

/// Returns the given number of rounds, or 1 if the benchmark runs in a test.
pub(crate) fn rounds(usual: u32) -> u32 {
    if once() {
        1
    } else {
        usual
    }
}
