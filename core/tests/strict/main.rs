//! The strict dialects over real schemas: everything is accepted, what is encoded comes back, and the report says what
//! was lost.
//!
//! A model's answer is made by [`answer`], which follows the *sanitized* schema and knows nothing of how it came about.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test stops where it cannot go on, and `value[\"name\"]` of serde_json gives null instead of panicking"
)]

mod answer;
#[path = "../honest/named.rs"]
mod named;
mod random;
mod real;
#[path = "../reference/mod.rs"]
mod reference;

use std::io::Write as _;

const DIALECTS: [&str; 3] = ["openai-strict", "anthropic-strict", "deepseek-strict"];

/// Said past the test harness, which would swallow it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
