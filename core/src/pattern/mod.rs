//! Regular expressions: whether a pattern is found in a text, in the two spellings that are asked for here. One is
//! ECMA-262's, in which JSON Schema's `pattern` is written, the other is that of Python's `re`, in which a hosted tool
//! search takes its patterns.
//!
//! A pattern is read (`read`, escapes in `escape`, classes in `class`) straight into a program (`program`), which runs
//! on all of its states at once (`find`): never backwards, and every step that is looked at between two characters is
//! paid for, also one that takes none. What no such machine can do (lookaround, backreferences) is refused, and so is
//! what the two spellings call an error.
//!
//! Our own, because no crate has all of what is needed here: `regex` (1.13) and `regex-lite` (0.1.9) run for as long as
//! pattern times text takes, whoever waits for it, so no budget holds; `regex-lite` needs the standard library and
//! knows no letter beyond ASCII, which Python does; and what either means by `\w`, `\s`, `.` and `[a&&b]` is neither
//! spelling's. `regex`, JavaScript's engine and Python's judge this one in the tests.
//!
//! Sources: ECMA-262, 22.2 and annex B.1.2; Python 3.11, `re` and its parser, run; K. Thompson, "Regular expression
//! search algorithm", 1968.

mod class;
mod escape;
mod find;
mod program;
mod read;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::budget::Budget;
use class::{Part, Set};
use program::Step;

/// In which language a pattern is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// ECMA-262, with the flag `u` or without: what the two read differently is refused, but for escapes of
    /// punctuation, hyphens beside sets, and a `]` or `}` that closes nothing, which are themselves, and for `\u{41}`,
    /// which is a character.
    Ecma,
    /// Python's `re`, on strings.
    Python,
}

/// A pattern, ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    steps: Vec<Step>,
    sets: Vec<Set>,
    spelling: Spelling,
    /// What a state costs at a character, at most.
    cost: usize,
}

/// Why a pattern is not read, for the end of a sentence.
pub(crate) type Flaw = &'static str;

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, or what of it this engine does not have.
    pub(crate) fn new(pattern: &str, spelling: Spelling, budget: &Budget) -> Result<Pattern, Flaw> {
        let (steps, sets) = read::read(pattern, spelling, budget)?;
        let longest = sets.iter().map(Set::len).max().unwrap_or(0);
        Ok(Pattern { steps, sets, spelling, cost: 1 + longest / 4 })
    }

    /// The same in no more memory than it needs, to be kept.
    pub(crate) fn shrunk(mut self) -> Pattern {
        self.steps.shrink_to_fit();
        self.sets.shrink_to_fit();
        self
    }

    /// The memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let sets = self.sets.iter().map(|set| size_of::<Set>() + set.parts.capacity() * size_of::<Part>());
        size_of::<Pattern>() + self.steps.capacity() * size_of::<Step>() + sets.sum::<usize>()
    }
}
