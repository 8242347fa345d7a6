//! The memory (and therefore the work) that large and hostile inputs cost, measured by counting allocated bytes.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod check;
#[path = "../../examples/requests/content.rs"]
mod content;
mod counting;
mod lists;
mod requests;
mod streams;
