//! `pattern` and `patternProperties`: regular expressions by ECMA-262. What the engine does not have is unknown.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::Map,
    json::{Data, Node, Text},
    pattern::{Pattern, Spelling},
    schema::{keyword::Keyword, references::Number},
};

/// The memory of the patterns of a schema that is kept, in bytes: so much, and so much for each of its values. A short
/// pattern can be a large program, and a list of tools has many patterns; what does not fit is read again by every
/// validation that needs it.
const KEPT: usize = 16 << 10;
const KEPT_FOR_A_VALUE: usize = 512;

/// Patterns that were read, by the number of the schema's value that each belongs to; none for what the engine does not
/// read.
pub(super) type Read = Map<Number, Option<Pattern>>;

/// The patterns of a schema that is kept, as far as they fit.
pub(super) fn of(root: &Node<'_>) -> Read {
    let (mut read, mut open) = (Read::new(), Vec::from([root]));
    let values = root.values_read();
    let budget = Budget::new(values, None);
    let mut left = KEPT.saturating_add(KEPT_FOR_A_VALUE.saturating_mul(values));
    let mut add = |number: Option<Number>, pattern: &Text<'_>| {
        let Some(number) = number.filter(|_| !budget.is_spent()) else { return };
        let pattern = compiled(pattern, &budget).map(Pattern::shrunk);
        let bytes = pattern.as_ref().map_or(0, Pattern::bytes);
        if budget.is_spent() {
            return;
        }
        if bytes > left {
            // Few are read for nothing.
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

/// The patterns of one validation, each read once.
#[derive(Default)]
pub(super) struct Patterns(Read);

impl Patterns {
    /// Is a pattern found in a text? `None`: it cannot be determined.
    pub(super) fn find(
        &mut self,
        (pattern, number): (&Text<'_>, Option<Number>),
        text: &Text<'_>,
        kept: Option<&Read>,
        budget: &Budget,
    ) -> Option<bool> {
        // Half a surrogate pair is no character that the engine knows.
        let (number, text) = (number?, text.value()?);
        if let Some(known) = kept.and_then(|kept| kept.get(&number)).or_else(|| self.0.get(&number)) {
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

    fn kept(patterns: &[&str]) -> (usize, usize, usize) {
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
        let (count, bytes, values) = kept(&[large; 2_000]);
        assert!(bytes <= KEPT + KEPT_FOR_A_VALUE * values, "{bytes} bytes for {values} values");
        assert!(count < 2_000, "{count} are kept");
        // Those of usual size all fit, also beside one that does not.
        let mut usual = Vec::from(["^[a-z]{1,64}$"; 200]);
        usual.insert(0, "^.{1,10000}$");
        assert_eq!(kept(&usual).0, 200);
    }
}
