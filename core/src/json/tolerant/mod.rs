//! Reads text that a model meant as JSON: notations with only one possible reading, and guesses that lead to only one
//! value.
//!
//! The text is scanned once, and each deviation is recorded as a rule with its offset. The scan writes JSON text, which
//! the strict reader then reads. A deviation without a rule is refused: text is read completely or not at all.
//! Nothing is invented, nothing is executed, and time is linear.

mod document;
mod scanner;
mod strings;
#[cfg(test)]
mod tests;
mod trivia;
mod value;

use alloc::{format, string::String, vec::Vec};

use super::{read, Node};
use crate::report::{Confidence, LeftReason, Permits, RepairRule};
use scanner::Scanner;

/// Permitted deviations from JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tolerance {
    /// The repairs that are permitted.
    pub(crate) permits: Permits,
    /// True if missing brackets at the end are added.
    pub(crate) closes: bool,
    /// True if the text is a string inside the arguments, so that words before a value may be part of that string.
    pub(crate) is_inside: bool,
}

/// A deviation that was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRepair {
    pub(crate) rule: RepairRule,
    pub(crate) confidence: Confidence,
    /// Byte offset of its first occurrence.
    pub(crate) offset: usize,
}

/// Result of reading text.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) node: Node<'static>,
    /// The rules without duplicates, in the order in which they were first needed; empty if the text is JSON.
    pub(crate) repairs: Vec<TextRepair>,
}

/// Reason why the text was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: LeftReason,
    /// Byte offset of the cause.
    pub(crate) offset: usize,
}

impl Refusal {
    /// Returns a human-readable message: what was found, and where.
    pub(crate) fn message(self) -> String {
        let found = match self.reason {
            LeftReason::Truncated => "truncated text",
            LeftReason::SeveralValues => "text with several different values",
            LeftReason::NoJson => "text without JSON",
            LeftReason::AmbiguousEscape => "text with ambiguous backslashes",
            LeftReason::DuplicateName => "text that gives one name two different values",
            LeftReason::NotExact => "text that only a likely repair can read",
            LeftReason::SwitchedOff => "text that only a disabled rule can read",
            LeftReason::TooDeep => "text that is nested too deeply",
            _ => "text that is not JSON",
        };
        format!("expected JSON, found {found} ({}, at byte {})", self.reason.as_str(), self.offset)
    }
}

/// Reads text, strictly if possible.
pub(crate) fn read_tolerant(text: &str, how: Tolerance) -> Result<Reading, Refusal> {
    if let Ok(node) = read(text) {
        return Ok(Reading { node: node.detached(), repairs: Vec::new() });
    }
    let scanned = match Scanner::new(text, how).document() {
        Err(Stop::Escaped(offset)) => unescaped(text, how, offset),
        other => other,
    };
    match scanned {
        Ok((written, repairs)) => match read(&written) {
            Ok(node) => Ok(Reading { node: node.detached(), repairs }),
            Err(_) => Err(Refusal { reason: LeftReason::Syntax, offset: 0 }),
        },
        Err(Stop::Refused(Refusal { reason: LeftReason::Syntax, offset })) if is_open(text) => {
            Err(Refusal { reason: LeftReason::Truncated, offset })
        }
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Escaped(offset)) => Err(Refusal { reason: LeftReason::Syntax, offset }),
    }
}

/// Reason why scanning ended early.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Refused(Refusal),
    /// A quotation mark between tokens follows a backslash: the whole text may have been escaped once too often.
    Escaped(usize),
}

type Scanned = Result<(String, Vec<TextRepair>), Stop>;

/// Removes one level of escapes from the text, and scans the result.
fn unescaped(text: &str, how: Tolerance, offset: usize) -> Scanned {
    let (rule, confidence) = (RepairRule::EscapedText, Confidence::Likely);
    if let Some(reason) = how.permits.refusal(rule, confidence) {
        return Err(Stop::Refused(Refusal { reason, offset }));
    }
    let quoted = format!("\"{}\"", text.trim());
    let read = read(&quoted).ok();
    let once = read.as_ref().and_then(Node::as_text).and_then(|text| text.value());
    let Some(once) = once else { return Err(Stop::Refused(Refusal { reason: LeftReason::Syntax, offset })) };
    let (written, mut repairs) = Scanner::new(&once, how).document()?;
    repairs.insert(0, TextRepair { rule, confidence, offset });
    Ok((written, repairs))
}

/// Returns true if the text ends inside brackets or a string. Any syntax error in such text is reported as truncation.
fn is_open(text: &str) -> bool {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    is_string || depth > 0
}
