//! `pattern` and `patternProperties`: regular expressions by ECMA-262. If the engine does not support one, the result
//! is unknown.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::Map,
    json::{Data, Node, Text},
    pattern::{Pattern, Spelling},
    schema::{keyword::Keyword, references::Number},
};

/// Memory limit for the patterns of a prepared schema, in bytes, plus an amount for each of its values. A short pattern
/// can be a large program, and a list of tools has many patterns. Patterns that do not fit are compiled again by every
/// validation that needs them.
const MAX_BYTES: usize = 16 << 10;
const MAX_BYTES_PER_VALUE: usize = 512;

/// Compiled patterns, by the number of the value that each belongs to; `None` if the engine does not support it.
pub(super) type Read = Map<Number, Option<Pattern>>;

/// Compiles the patterns of a prepared schema, as far as they fit.
pub(super) fn of(root: &Node<'_>) -> Read {
    let (mut read, mut open) = (Read::new(), Vec::from([root]));
    let values = root.values_read();
    let budget = Budget::new(values, None);
    let mut left = MAX_BYTES.saturating_add(MAX_BYTES_PER_VALUE.saturating_mul(values));
    let mut add = |number: Option<Number>, pattern: &Text<'_>| {
        let Some(number) = number.filter(|_| !budget.is_spent()) else { return };
        let pattern = compiled(pattern, &budget).map(Pattern::shrunk);
        let bytes = pattern.as_ref().map_or(0, Pattern::bytes);
        if budget.is_spent() {
            return;
        }
        if bytes > left {
            // Limits the number of patterns that are compiled in vain.
            left /= 2;
            return;
        }
        left -= bytes;
        read.insert(number, pattern);
    };
    while let Some(node) = open.pop() {
        match node.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) => {
                for member in object {
                    match (Keyword::named(&member.key), member.value.data()) {
                        (Some(Keyword::Pattern), Data::String(pattern)) => add(member.value.origin().number(), pattern),
                        (Some(Keyword::PatternProperties), Data::Object(table)) => {
                            table.iter().for_each(|inner| add(inner.value.origin().number(), &inner.key));
                        }
                        _ => {}
                    }
                    open.push(&member.value);
                }
            }
            _ => {}
        }
    }
    read
}

fn compiled(pattern: &Text<'_>, budget: &Budget) -> Option<Pattern> {
    Pattern::new(&pattern.value()?, Spelling::Ecma, budget).ok()
}

/// Patterns of one validation, each compiled once.
#[derive(Default)]
pub(super) struct Patterns(Read);

impl Patterns {
    /// Returns true if a pattern matches a string; `None` if that cannot be determined.
    pub(super) fn find(
        &mut self,
        (pattern, number): (&Text<'_>, Option<Number>),
        text: &Text<'_>,
        prepared: Option<&Read>,
        budget: &Budget,
    ) -> Option<bool> {
        // The engine has no character for an unpaired surrogate.
        let (number, text) = (number?, text.value()?);
        if let Some(known) = prepared.and_then(|prepared| prepared.get(&number)).or_else(|| self.0.get(&number)) {
            return known.as_ref()?.find(&text, budget);
        }
        let pattern = compiled(pattern, budget);
        let found = pattern.as_ref().and_then(|pattern| pattern.find(&text, budget));
        self.0.insert(number, pattern);
        found
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use super::*;
    use crate::json;

    fn compiled_sizes(patterns: &[&str]) -> (usize, usize, usize) {
        let members = patterns
            .iter()
            .enumerate()
            .map(|(index, pattern)| format!(r#""p{index}": {{"type": "string", "pattern": "{pattern}"}}"#));
        let members: Vec<_> = members.collect();
        let text = format!(r#"{{"properties": {{{}}}}}"#, members.join(", "));
        let mut schema = json::read(&text).expect("it is JSON");
        schema.number_in_order();
        let read = of(&schema);
        (read.len(), read.values().flatten().map(Pattern::bytes).sum(), schema.values_read())
    }

    #[test]
    fn short_patterns_do_not_take_much_memory() {
        let large = "(?:(?:a{100}){16}){20}";
        let (count, bytes, values) = compiled_sizes(&[large; 2_000]);
        assert!(bytes <= MAX_BYTES + MAX_BYTES_PER_VALUE * values, "{bytes} bytes for {values} values");
        assert!(count < 2_000, "{count} are kept");
        // Patterns of usual size all fit, even together with a large one.
        let mut usual = Vec::from(["^[a-z]{1,64}$"; 200]);
        usual.insert(0, "^.{1,10000}$");
        assert_eq!(compiled_sizes(&usual).0, 200);
    }
}
