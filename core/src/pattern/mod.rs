//! Regular expressions: whether a pattern matches somewhere in a string, in two syntaxes. ECMA-262 is the syntax of
//! JSON Schema's `pattern`; Python's `re` is that of patterns for a hosted tool search.
//!
//! A pattern is compiled (`read`) directly into a program (`program`), which runs on all of its states at once. It
//! never backtracks, and every step that is visited between two characters is paid for, even if it consumes none.
//! Constructs that such a machine cannot support (lookaround, backreferences) are refused, and so are errors of the
//! respective syntax.
//!
//! No existing crate is used, because none meets all requirements. `regex` (1.13) and `regex-lite` (0.1.9) run for time
//! proportional to pattern times text and cannot be interrupted, so no budget holds. `regex-lite` needs the standard
//! library and supports no letters beyond ASCII, which Python does. Their meaning of `\w`, `\s`, `.` and `[a&&b]` is
//! that of neither syntax. The tests compare this engine with `regex`, JavaScript's engine and Python's.
//!
//! Sources: ECMA-262, 22.2 and annex B.1.2; Python 3.11, `re` and its parser, run; K. Thompson, "Regular expression
//! search algorithm", 1968.

mod program;
mod read;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::budget::Budget;
use program::{Part, Set, Step};

/// Syntax of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// ECMA-262, with or without the flag `u`. Patterns that the two modes read differently are refused, except for
    /// escapes of punctuation, hyphens next to sets, and a `]` or `}` that closes nothing (all literal), and `\u{41}`
    /// (a character).
    Ecma,
    /// Python's `re`, on strings.
    Python,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    steps: Vec<Step>,
    sets: Vec<Set>,
    spelling: Spelling,
    /// Maximum cost of a state per character.
    cost: usize,
}

/// Reason why a pattern is refused, as the end of a sentence.
pub(crate) type Flaw = &'static str;

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The reason why the pattern is invalid, or the construct that this engine does not support.
    pub(crate) fn new(pattern: &str, spelling: Spelling, budget: &Budget) -> Result<Pattern, Flaw> {
        let (steps, sets) = read::read(pattern, spelling, budget)?;
        let longest = sets.iter().map(Set::len).max().unwrap_or(0);
        Ok(Pattern { steps, sets, spelling, cost: 1 + longest / 4 })
    }

    /// Frees unused memory, for a pattern that is kept.
    pub(crate) fn shrunk(mut self) -> Pattern {
        self.steps.shrink_to_fit();
        self.sets.shrink_to_fit();
        self
    }

    /// Returns the memory of the pattern, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let sets = self.sets.iter().map(|set| size_of::<Set>() + set.parts.capacity() * size_of::<Part>());
        size_of::<Pattern>() + self.steps.capacity() * size_of::<Step>() + sets.sum::<usize>()
    }
}
