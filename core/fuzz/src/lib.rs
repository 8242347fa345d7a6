//! The targets of the fuzzer, which `make test` also runs with fixed seeds: one function per target, from bytes to a
//! verdict.
//!
//! | target | input | property |
//! |---|---|---|
//! | `reader` | text that is almost JSON | the reader agrees with serde_json |
//! | `sanitize` | a schema, a dialect, options | accepted, idempotent, text and value agree, valid report pointers |
//! | `arguments` | a schema and instances | reported effects and restored arguments agree with a validator |
//! | `answers` | the schema of a response format and instances | as `arguments`, for answers without their wrapper |
//! | `requests` | tool lists and whole requests | as `sanitize`, and every call is restored to its tool |
//! | `replies` | replies in pieces, repaired or not | the pieces do not affect the result or the report |
//! | `validate` | a schema and instances | the verdict agrees with a validator, or is unknown for a valid reason |
//! | `repair` | a schema and damaged instances, any text | valid arguments are kept, idempotent, no values in reports |
//! | `patterns` | patterns in both spellings, and a string | every search ends and agrees with searches for its parts |
//!
//! Every target also requires that nothing panics and that no call exceeds its budget.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the core avoids these to stay small, the fuzzer need not"
)]

mod arguments;
mod circles;
mod grammar;
mod instances;
mod patterns;
mod reader;
mod repair;
mod replies;
mod requests;
mod sanitize;
mod seeds;
mod validate;
mod wire;

use arbitrary::Unstructured;
pub use seeds::Seeds;
use toolwire::options::Use;

/// A target of the fuzzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The reader against serde_json.
    Reader,
    /// `sanitize` and `check`.
    Sanitize,
    /// Reports and `restoreArguments`, compared with a validator.
    Arguments,
    /// Reports and restoring for response formats, whose answers may be any value; compared with a validator.
    Answers,
    /// Tool lists and whole requests.
    Requests,
    /// Replies, complete and in pieces.
    Replies,
    /// `validateArguments`, compared with a validator.
    Validate,
    /// `repairArguments`.
    Repair,
    /// Patterns, in schemas and in tool searches.
    Patterns,
}

impl Target {
    /// Every target.
    pub const ALL: [Target; 9] = [
        Target::Reader,
        Target::Sanitize,
        Target::Arguments,
        Target::Answers,
        Target::Requests,
        Target::Replies,
        Target::Validate,
        Target::Repair,
        Target::Patterns,
    ];

    /// Returns the target's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Reader => "reader",
            Target::Sanitize => "sanitize",
            Target::Arguments => "arguments",
            Target::Answers => "answers",
            Target::Requests => "requests",
            Target::Replies => "replies",
            Target::Validate => "validate",
            Target::Repair => "repair",
            Target::Patterns => "patterns",
        }
    }

    /// Returns the target with this name.
    ///
    /// # Panics
    /// If no target has this name.
    pub fn named(name: &str) -> Target {
        Target::ALL
            .into_iter()
            .find(|target| target.name() == name)
            .unwrap_or_else(|| panic!("no target is called `{name}`"))
    }

    /// Returns the number of verdicts on one input. Every instance counts separately; otherwise the whole input counts
    /// once.
    ///
    /// # Errors
    /// A description of the property that does not hold.
    pub fn verdict(self, data: &[u8]) -> Result<usize, String> {
        match self {
            Target::Reader => reader::verdict(data).map(|()| 1),
            Target::Sanitize => sanitize::verdict(data).map(|()| 1),
            // Too few bytes for an input yield no verdict.
            Target::Arguments => arguments::verdict(&mut Unstructured::new(data), Use::Tool).unwrap_or(Ok(0)),
            Target::Answers => arguments::verdict(&mut Unstructured::new(data), Use::Response).unwrap_or(Ok(0)),
            Target::Requests => requests::verdict(&mut Unstructured::new(data)).unwrap_or(Ok(0)),
            Target::Replies => replies::verdict(&mut Unstructured::new(data)).unwrap_or(Ok(0)),
            Target::Validate => validate::verdict(&mut Unstructured::new(data)).unwrap_or(Ok(0)),
            Target::Repair => repair::verdict(&mut Unstructured::new(data)).unwrap_or(Ok(0)),
            Target::Patterns => patterns::verdict(&mut Unstructured::new(data)).unwrap_or(Ok(0)),
        }
    }
}

/// Returns the text of the schema that a seed generates, for programs other than the targets. Texts that are not JSON
/// (the grammar writes some on purpose) are left out.
pub fn schema(seed: u64) -> Option<String> {
    let input = Seeds::new(seed).input();
    let text = sanitize::schema(&mut Unstructured::new(&input)).ok()?;
    toolwire::internal::json::read(&text).is_ok().then_some(text)
}

/// Runs one input, with the interface that libFuzzer requires.
///
/// # Panics
/// If a property does not hold.
pub fn run(target: Target, data: &[u8]) {
    if let Err(fault) = target.verdict(data) {
        panic!("{}: {fault}", target.name());
    }
}
