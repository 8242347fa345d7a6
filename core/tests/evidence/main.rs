//! Every dialect held to what real APIs answered: schemas that they accepted, and rejections that users quoted.
//!
//! Precedence: an authority's validator (walle.rs), then accepted schemas, then quoted rejections, then the tables. Each row of
//! the data is mapped to a dialect or named as one that says nothing about any; a row that is neither fails.
//!
//! The data lies beside the checkout (`../shared/data`, not part of the project); where it is absent, a line says so.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

mod accepted;
mod reported;

use std::{fs, io::Write as _, path::PathBuf};

use serde_json::Value;
use toolwire::{check, SanitizeOptions, Violation};

/// Said past the test harness, which would swallow it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn rows(name: &str) -> Option<Vec<Value>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    let Ok(text) = fs::read_to_string(path) else {
        say(&format!("skipped: ../shared/data/{name} is not there"));
        return None;
    };
    let row = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}"));
    Some(text.lines().filter(|line| !line.is_empty()).map(row).collect())
}

fn violations(schema: &Value, dialect: &str) -> Vec<Violation> {
    check(schema, &SanitizeOptions::new(dialect)).unwrap_or_else(|error| panic!("{dialect}: {schema}: {error}"))
}

fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap_or_default()
}
