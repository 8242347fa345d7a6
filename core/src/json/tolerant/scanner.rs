//! A text that is being read: how far, what was written for it, and what was read over.

use alloc::{string::String, vec::Vec};

use super::{Refusal, Stop, TextRepair, Tolerance};
use crate::report::{Confidence, LeftReason, RepairRule};

/// A text that is being read, and the JSON that was written for it.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) repairs: Vec<TextRepair>,
    pub(super) how: Tolerance,
    /// The last token is a number, which may be half of one at the end of a text.
    pub(super) ends_in_number: bool,
    /// Where the first escape stands that makes a control character, and the first backslash that begins none: with
    /// both in one text nobody can tell which was meant.
    pub(super) escapes: (Option<usize>, Option<usize>),
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, how: Tolerance) -> Self {
        Scanner {
            text,
            at: 0,
            out: String::new(),
            repairs: Vec::new(),
            how,
            ends_in_number: false,
            escapes: (None, None),
        }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn refuse<T>(&self, reason: LeftReason) -> Result<T, Stop> {
        Err(Stop::Refused(Refusal { reason, offset: self.at }))
    }

    /// Notes a deviation, if it may be read over.
    pub(super) fn note(&mut self, rule: RepairRule, confidence: Confidence) -> Result<(), Stop> {
        self.note_at(rule, confidence, self.at)
    }

    pub(super) fn note_at(&mut self, rule: RepairRule, confidence: Confidence, offset: usize) -> Result<(), Stop> {
        if let Some(reason) = self.how.permits.refusal(rule, confidence) {
            return Err(Stop::Refused(Refusal { reason, offset }));
        }
        if !self.has(rule) {
            self.repairs.push(TextRepair { rule, confidence, offset });
        }
        Ok(())
    }

    pub(super) fn has(&self, rule: RepairRule) -> bool {
        self.repairs.iter().any(|repair| repair.rule == rule)
    }
}
