//! Layer and middleware between real clients and an API on this machine.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::indexing_slicing, reason = "`value[\"name\"]` of serde_json returns null instead of panicking")]
#![allow(unreachable_pub, missing_docs, reason = "a test program has no callers")]

mod backend;
mod gateway;
mod middleware;
mod service;
