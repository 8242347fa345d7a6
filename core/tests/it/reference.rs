//! Reference data: the sample in this repository, and the complete data if it exists next to the checkout. Every test
//! runs with both.

use std::{fs, path::PathBuf};

pub(crate) struct Source {
    pub(crate) text: String,
    /// True for the complete data, false for the sample. Counts and limits in tests apply to the complete data.
    #[allow(dead_code, reason = "some tests do not compare counts")]
    pub(crate) is_whole: bool,
}

/// The sample comes first.
#[allow(clippy::panic, reason = "a test fails by panicking")]
pub(crate) fn sources(name: &str) -> impl Iterator<Item = Source> {
    let read = |folder: &str| fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(name));
    let sample = read("../tests/sample").unwrap_or_else(|error| panic!("tests/sample/{name}: {error}"));
    let whole = read("../../shared/data").ok();
    let both = [(Some(sample), false), (whole, true)];
    both.into_iter().filter_map(|(text, is_whole)| Some(Source { text: text?, is_whole }))
}
