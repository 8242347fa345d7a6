//! What the fuzzer runs, and what `make test` runs over fixed seeds: one function per target, from bytes to a verdict.
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | `reader` | text that is nearly JSON | the reader agrees with serde_json |
//! | `sanitize` | a schema, a dialect, options | accepted, idempotent, text and value agree, the report points somewhere |
//! | `arguments` | a schema and instances | what the report says of accepted arguments, and restoring, against a validator |
//! | `answers` | a schema of a response format and instances | the same, of answers out of their wrapper |
//! | `requests` | tool lists and whole requests | as `sanitize`, and every call arrives where it belongs |
//! | `replies` | replies and how they are cut, repaired or not | any cut gives the same, and tells the same |
//! | `validate` | a schema and instances | the verdict is a validator's, or unknown for a reason that there is |
//! | `repair` | a schema and spoiled instances, any text | valid arguments stay, a second run changes nothing, no value is told |
//! | `patterns` | patterns in both spellings, and a text | every search ends, and what is found follows from the parts |
//!
//! In each: no panic, and no call outlives its budget.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "what the core does without for its size is fine here"
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
    /// The report and `restoreArguments` against a validator.
    Arguments,
    /// The same of response formats, whose answers may be anything.
    Answers,
    /// Tool lists and whole requests.
    Requests,
    /// Replies, whole and in pieces.
    Replies,
    /// `validateArguments` against a validator.
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

    /// The target's name on the command line.
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

    /// The target of that name.
    ///
    /// # Panics
    /// If there is none.
    pub fn named(name: &str) -> Target {
        Target::ALL
            .into_iter()
            .find(|target| target.name() == name)
            .unwrap_or_else(|| panic!("no target is called `{name}`"))
    }

    /// What one input shows: how many verdicts were given on it. Instances count one by one, everything else as a
    /// whole.
    ///
    /// # Errors
    /// What does not hold, for a person to read.
    pub fn verdict(self, data: &[u8]) -> Result<usize, String> {
        match self {
            Target::Reader => reader::verdict(data).map(|()| 1),
            Target::Sanitize => sanitize::verdict(data).map(|()| 1),
            // Bytes that are too few for an input are none.
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

/// Runs one input, as libFuzzer wants it.
///
/// # Panics
/// If something does not hold.
pub fn run(target: Target, data: &[u8]) {
    if let Err(fault) = target.verdict(data) {
        panic!("{}: {fault}", target.name());
    }
}
