//! The strict dialects with real schemas: everything is accepted, encoded arguments are restored, and the report states
//! every loss.
//!
//! A model's answer is simulated by [`answer`], which only uses the *sanitized* schema.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

mod answer;
mod random;
mod real;

use crate::print_uncaptured;

const DIALECTS: [&str; 3] = ["openai-strict", "anthropic-strict", "deepseek-strict"];
