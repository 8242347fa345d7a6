//! Regular expressions as the hosted search accepts them: in the syntax of Python's `re.search`.

use alloc::format;

use crate::{
    budget::Budget,
    error::{Code, Error},
    pattern::{Flaw, Spelling},
};

/// Maximum length of a pattern in the hosted search, in characters.
const MAX_PATTERN: usize = 200;
/// Maximum number of steps of one search: about a second of work.
const STEPS: usize = 20_000_000;

/// A compiled pattern, and the budget for its searches.
pub(super) struct Pattern {
    pattern: crate::pattern::Pattern,
    budget: Budget,
}

impl Pattern {
    /// # Errors
    /// `empty-query`, `pattern-too-long`, `invalid-pattern`.
    pub(super) fn new(pattern: &str) -> Result<Self, Error> {
        if pattern.trim().is_empty() {
            return Err(Error::new(Code::EmptyQuery, "/query", "expected a pattern, found none"));
        }
        let length = pattern.chars().count();
        if length > MAX_PATTERN {
            let found = format!("expected a pattern of at most {MAX_PATTERN} characters, found {length}");
            return Err(Error::new(Code::PatternTooLong, "/query", found));
        }
        let budget = Budget::new(0, Some(STEPS));
        match crate::pattern::Pattern::new(pattern, Spelling::Python, &budget) {
            Ok(read) => Ok(Pattern { pattern: read, budget }),
            Err(flaw) => Err(refused(pattern, flaw)),
        }
    }

    /// Returns true if the pattern matches anywhere in a string.
    ///
    /// # Errors
    /// `invalid-pattern` if the search takes too long.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, Error> {
        self.pattern.find(text, &self.budget).ok_or_else(|| {
            let found =
                format!("expected a pattern that needs at most {STEPS} steps to search, found one that needs more");
            Error::new(Code::InvalidPattern, "/query", found)
        })
    }
}

fn refused(pattern: &str, flaw: Flaw) -> Error {
    let found =
        format!("expected a regular expression without lookaround or backreferences, found `{pattern}`: {flaw}");
    Error::new(Code::InvalidPattern, "/query", found)
}
