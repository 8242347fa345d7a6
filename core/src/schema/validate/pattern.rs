//! `pattern` and `patternProperties`: regular expressions by ECMA-262, as far as an engine that never backtracks has
//! them. What it has not is unknown, and so is every pattern in a build without the engine (feature `regex`).
//!
//! Sources: ECMA-262, 22.2 (Unicode mode, as JSON Schema asks); the syntax of the crate `regex`.

#[cfg(feature = "regex")]
mod ecma;

#[cfg(feature = "regex")]
use crate::collections::Map;
use crate::{budget::Budget, json::Text, schema::references::Number};

/// The steps that compiling a pattern takes.
#[cfg(feature = "regex")]
const COMPILING: usize = 100;

/// The patterns of one validation, each compiled once.
#[derive(Default)]
pub(super) struct Patterns {
    /// By the number of the schema's value that it belongs to; none for what no engine reads.
    #[cfg(feature = "regex")]
    compiled: Map<Number, Option<regex::Regex>>,
}

impl Patterns {
    /// Is a pattern found in a text? `None`: it cannot be told.
    #[cfg(feature = "regex")]
    pub(super) fn find(
        &mut self,
        pattern: &Text<'_>,
        number: Option<Number>,
        text: &Text<'_>,
        budget: &Budget,
    ) -> Option<bool> {
        // Half a surrogate pair is no character that the engine knows.
        let (number, text) = (number?, text.value()?);
        if let Some(known) = self.compiled.get(&number) {
            return known.as_ref().map(|regex| regex.is_match(&text));
        }
        let regex = pattern.value().filter(|_| budget.pay(COMPILING)).and_then(|pattern| ecma::compiled(&pattern));
        let found = regex.as_ref().map(|regex| regex.is_match(&text));
        self.compiled.insert(number, regex);
        found
    }

    /// As above, without an engine.
    #[cfg(not(feature = "regex"))]
    pub(super) fn find(&mut self, _: &Text<'_>, _: Option<Number>, _: &Text<'_>, _: &Budget) -> Option<bool> {
        None
    }
}
