//! The scanner: its position in the text, the JSON text written so far, and the repairs.

use alloc::{string::String, vec::Vec};

use super::{Refusal, Stop, TextRepair, Tolerance};
use crate::report::{Confidence, LeftReason, RepairRule};

/// Scans text, and writes JSON text for it.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) repairs: Vec<TextRepair>,
    pub(super) how: Tolerance,
    /// True if the last token is a number, which may be incomplete at the end of the text.
    pub(super) ends_in_number: bool,
    /// Offsets of the first escape with a letter, such as `\n`, and of the first backslash that does not begin an
    /// escape. If the text has both, the meaning of its backslashes is ambiguous.
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

    /// Returns the text that has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn refuse<T>(&self, reason: LeftReason) -> Result<T, Stop> {
        Err(Stop::Refused(Refusal { reason, offset: self.at }))
    }

    /// Records a deviation, if its repair is permitted.
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
