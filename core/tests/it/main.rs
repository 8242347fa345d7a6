//! Every test of the crate that needs no process of its own, in one program: an edit of the core links it once.
//! `cargo test -p toolwire --test it fixtures::` runs one module.

use std::io::Write as _;

mod architecture;
mod closed_types;
mod conversations;
mod corpus;
mod data;
mod deferred_conversations;
mod deferred_data;
mod every_option;
mod exchange;
mod fixtures;
mod format_words;
mod frames;
mod history_pairs;
mod issue_cases;
mod lists_data;
mod malformed_requests;
mod marks;
mod matrix;
mod moonshot;
mod native;
mod native_data;
mod options;
mod patterns;
mod plain;
mod pointers;
mod prose;
mod reference;
mod repair_data;
mod repair_recovery;
mod repeated_lists;
mod report_soundness;
mod reports;
mod request_members;
mod routing;
mod schema_comparison;
mod search;
mod streams;
mod strict;
mod tables;
mod unpaid_loops;
mod unsafe_code;
mod untouched;
mod walle;

#[allow(clippy::expect_used, reason = "a test fails by panicking")]
fn dialect_id(name: &str) -> toolwire::DialectId {
    name.parse().expect("a known dialect")
}

/// Prints a line without the test harness, which would capture it: the number of cases must be visible even if
/// everything passes.
fn print_uncaptured(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
