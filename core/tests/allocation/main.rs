//! What large and hostile inputs cost in memory, and so in work: an allocator counts every byte that is given out.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../examples/requests/content.rs"]
mod content;
mod counting;
mod lists;
mod requests;
mod streams;
