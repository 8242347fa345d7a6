//! **Any tool schema, any model, nothing lost on the way without saying so.**
//!
//! Three functions are the product; each takes and returns `serde_json::Value` or JSON text, and has a form with a
//! report.
//!
//! | function | what it does |
//! |---|---|
//! | [`sanitize`] | rewrites a tool's parameter schema into one *dialect*: what one model API accepts |
//! | [`normalize_envelope`] | repairs the tool-parameter envelope only; nested content comes back exactly as it came |
//! | [`apply_deferred_loading`] | makes a request that uses deferred tools work on an API without that feature |
//!
//! Without serde_json's `preserve_order` feature in your own build, `Value` sorts its keys; the text forms keep their
//! order.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_types, clippy::disallowed_methods))]

extern crate alloc;

mod api;
mod budget;
mod check;
mod collections;
mod deferred;
mod dialect;
mod envelope;
mod error;
#[cfg(feature = "search")]
mod exchange;
#[doc(hidden)]
pub mod internal;
pub mod json;
pub mod limits;
mod names;
mod naming;
mod options;
mod report;
mod rules;
mod sanitize;
mod schema;
#[cfg(feature = "search")]
mod search;
mod tools;

pub use api::*;
pub use error::{Code, Error};
pub use options::*;
pub use report::{lossless, Accepts, Allow, Change, Guidance, Severity};
pub use rules::{Constraint, Phase, Rule};

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
