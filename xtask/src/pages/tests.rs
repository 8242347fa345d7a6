//! Checks that the generated pages are up to date with the tables, and that every entry of the cookbook is true.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fs};

use super::cookbook::{self, Entry};
use crate::root;

#[test]
fn pages_are_fresh() {
    let pages = super::pages();
    let stale: Vec<&String> = pages
        .iter()
        .filter(|(path, text)| fs::read_to_string(root().join(path)).ok().as_ref() != Some(*text))
        .map(|(path, _)| path)
        .collect();
    assert!(stale.is_empty(), "stale: {stale:?}; write them with `cargo xtask pages`, and read what changed");
    let left: Vec<String> = ["docs/dialects"]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
            entries.map(move |entry| format!("{folder}/{}", entry.file_name().to_string_lossy()))
        })
        .filter(|path| !pages.contains_key(path))
        .collect();
    assert!(left.is_empty(), "pages of dialects that no longer exist: {left:?}");
}

#[test]
fn cookbook_examples_fix_the_errors_that_they_name() {
    let entries = Entry::all(&root());
    assert!(entries.len() >= 20, "expected at least twenty errors, found {}", entries.len());
    let faults = cookbook::faults(&entries);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let headings: BTreeSet<String> = entries.iter().map(Entry::heading).collect();
    assert_eq!(headings.len(), entries.len(), "two entries have the same heading");
}
