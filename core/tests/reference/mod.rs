//! Reference data, wherever it is: the sample in this repository, and all of it where it lies beside the checkout.
//! Every test runs over both.

use std::{fs, path::PathBuf};

/// One file of reference data.
pub(crate) struct Source {
    pub(crate) text: String,
    /// Whether this is all there is of it, or the sample: counts and limits that a test knows are those of all.
    #[allow(dead_code, reason = "some tests know no counts")]
    pub(crate) is_whole: bool,
}

/// A file of that name, the sample first.
///
/// # Panics
/// Without the sample: it is a part of this repository.
#[allow(clippy::panic, reason = "a test stops where it cannot go on")]
pub(crate) fn sources(name: &str) -> impl Iterator<Item = Source> {
    let read = |folder: &str| fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join(name));
    let sample = read("../tests/sample").unwrap_or_else(|error| panic!("tests/sample/{name}: {error}"));
    let whole = read("../../shared/data").ok();
    let both = [(Some(sample), false), (whole, true)];
    both.into_iter().filter_map(|(text, is_whole)| Some(Source { text: text?, is_whole }))
}
