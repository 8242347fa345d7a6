//! `pattern` and `patternProperties`: regular expressions by ECMA-262. What the engine does not have is unknown.

use crate::{
    budget::Budget,
    collections::Map,
    json::Text,
    pattern::{Pattern, Spelling},
    schema::references::Number,
};

/// The patterns of one validation, each read once.
#[derive(Default)]
pub(super) struct Patterns {
    /// By the number of the schema's value that it belongs to; none for what the engine does not read.
    read: Map<Number, Option<Pattern>>,
}

impl Patterns {
    /// Is a pattern found in a text? `None`: it cannot be told.
    pub(super) fn find(
        &mut self,
        pattern: &Text<'_>,
        number: Option<Number>,
        text: &Text<'_>,
        budget: &Budget,
    ) -> Option<bool> {
        // Half a surrogate pair is no character that the engine knows.
        let (number, text) = (number?, text.value()?);
        if let Some(known) = self.read.get(&number) {
            return known.as_ref()?.find(&text, budget);
        }
        let pattern = pattern.value().and_then(|pattern| Pattern::new(&pattern, Spelling::Ecma, budget).ok());
        let found = pattern.as_ref().and_then(|pattern| pattern.find(&text, budget));
        self.read.insert(number, pattern);
        found
    }
}
