//! `pattern` and `patternProperties`: regular expressions by ECMA-262. What the engine does not have is unknown.

use alloc::vec::Vec;

use crate::{
    budget::Budget,
    collections::Map,
    json::{Data, Node, Text},
    pattern::{Pattern, Spelling},
    schema::{keyword::Keyword, references::Number},
};

/// Patterns that were read, by the number of the schema's value that each belongs to; none for what the engine does not
/// read.
pub(super) type Read = Map<Number, Option<Pattern>>;

/// The patterns of a schema that is kept.
pub(super) fn of(root: &Node<'_>) -> Read {
    let (mut read, mut open) = (Read::new(), Vec::from([root]));
    let budget = Budget::new(root.values_read(), None);
    let mut add = |number: Option<Number>, pattern: &Text<'_>| {
        if let Some(number) = number {
            read.insert(number, compiled(pattern, &budget));
        }
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
    /// Is a pattern found in a text? `None`: it cannot be told.
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
