//! Every public enum, and every public struct with public fields, is `#[non_exhaustive]`, or its documentation states
//! that it is closed: users of the crate may otherwise match or construct it, and a new variant or field breaks them.

use std::{collections::BTreeSet, fs, path::Path};

use crate::architecture::{files, source};

/// The names of the types of `core/public-api.txt` that a user can match or construct without a rest.
fn exhaustive(listing: &str) -> BTreeSet<&str> {
    let path = |line| str::split(line, ['<', '(', ' ']).next().unwrap_or_default();
    let declared = |start: &'static str| listing.lines().filter_map(move |line| line.strip_prefix(start)).map(path);
    let has_field = |path: &&str| listing.lines().any(|line| line.starts_with(&format!("pub {path}::")));
    let structs = declared("pub struct ").filter(has_field);
    declared("pub enum ").chain(structs).filter_map(|path| path.rsplit("::").next()).collect()
}

fn documentation(name: &str, code: &str) -> Option<String> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let declares = |line: &str| {
        let line = line.trim_start_matches("pub ").trim_start_matches("enum ").trim_start_matches("struct ");
        line.strip_prefix(name).is_some_and(|rest| rest == " {" || rest.starts_with('<') && rest.ends_with('{'))
    };
    let is_above = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    lines.iter().enumerate().filter(|(_, line)| declares(line)).find_map(|(at, _)| {
        let above: Vec<&str> = lines.iter().take(at).rev().copied().take_while(is_above).collect();
        let text = above.into_iter().rev().map(|line| line.trim_start_matches('/').trim()).collect::<Vec<_>>();
        (!text.is_empty()).then(|| text.join(" "))
    })
}

#[allow(clippy::expect_used, reason = "a test fails by panicking")]
fn listing() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("public-api.txt");
    fs::read_to_string(path).expect("the listing of the public API")
}

#[test]
fn every_report_can_be_serialized() {
    // A `Fact` alone lacks the day on which its dialect was checked.
    // The listing names `Confidence` by its other path, in `options`.
    const EXCEPTIONS: [&str; 2] = ["Fact", "Confidence"];
    let listing = listing();
    let named = |before: &str| -> BTreeSet<&str> {
        let rest = listing.lines().filter_map(|line| line.split_once(before)).map(|(_, rest)| rest);
        rest.filter_map(|rest| rest.split(|character: char| !character.is_alphanumeric()).next()).collect()
    };
    let mut types = &named("pub enum toolwire::reports::") | &named("pub struct toolwire::reports::");
    types.retain(|name| !EXCEPTIONS.contains(name));
    let impls = named("Serialize for toolwire::reports::");
    assert!(types.contains("Change"), "the listing has its usual form");
    assert!(types.is_subset(&impls), "these cannot be serialized: {:?}", types.difference(&impls).collect::<Vec<_>>());
}

#[test]
fn every_public_type_is_non_exhaustive_or_stated_as_closed() {
    let listing = listing();
    let mut paths = Vec::new();
    files(&source(), &mut paths);
    let code: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).expect("the file is text")).collect();
    let is_closed =
        |name: &&str| code.iter().any(|code| documentation(name, code).is_some_and(|text| text.contains("closed")));
    let known = exhaustive(&listing);
    assert!(known.contains("Allow"), "the listing has its usual form");
    let faults: Vec<&str> = known.into_iter().filter(|name| !is_closed(name)).collect();
    assert!(
        faults.is_empty(),
        "expected `#[non_exhaustive]`, or \"closed\" in the documentation, of these types: {faults:?}"
    );
}
