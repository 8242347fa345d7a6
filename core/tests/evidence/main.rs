//! Every dialect held to what real APIs answered: schemas that they accepted, and rejections that users quoted.
//!
//! Precedence: an authority's validator (walle.rs), then accepted schemas, then quoted rejections, then the tables.
//! Each row of the data is mapped to a dialect or named as one that says nothing about any; a row that is neither
//! fails.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

mod accepted;
#[path = "../reference/mod.rs"]
mod reference;
mod reported;

use std::io::Write as _;

use reference::sources;
use serde_json::Value;
use toolwire::{check, SanitizeOptions, Severity, Violation};

/// Said past the test harness, which would swallow it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The rows of the sample, and those of all there is, which is said beside them.
fn rows(name: &str) -> impl Iterator<Item = (Vec<Value>, bool)> + '_ {
    let row = move |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}"));
    sources(name).map(move |source| (source.text.lines().map(row).collect(), source.is_whole))
}

/// What the dialect's API would refuse; what it takes in another sense, or ignores, was answered 200, too.
fn violations(schema: &Value, dialect: &str) -> Vec<Violation> {
    let found =
        check(schema, &SanitizeOptions::new(dialect)).unwrap_or_else(|error| panic!("{dialect}: {schema}: {error}"));
    found.into_iter().filter(|violation| violation.severity == Severity::Refused).collect()
}

fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap_or_default()
}
