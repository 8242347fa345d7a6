//! Validates `type`, `enum`, `const`, and keywords for numbers and strings. `pattern` and `patternProperties` are
//! regular expressions by ECMA-262; if the engine does not support one, the result is unknown.

use alloc::{format, vec::Vec};
use core::cmp::Ordering;

use super::{admitted, containers::weight, words, At, Run, Verdict};
use crate::{
    budget::Budget,
    collections::Map,
    json::{self, Data, Node, Object, Text},
    pattern::{Pattern, Spelling},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Draft, Keyword},
        references::Number,
    },
};

/// Longer `enum` lists are canonicalized once.
const LINEAR_SEARCH_LIMIT: usize = 32;

impl<'s, 'a> Run<'_, 's, 'a> {
    #[inline(never)]
    pub(super) fn check_type(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(expected) = admitted(keyword_value) else { return Verdict::Unknown };
        let mut actual = InstanceTypes::of_instance(value);
        if let Data::Number(number) = value.data() {
            // In draft 4, only numbers without fraction and exponent are integers.
            let is_plain_integer = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if self.prepared.draft == Draft::Four && !is_plain_integer {
                actual = InstanceTypes::NUMBER.without(InstanceTypes::INTEGER);
            }
        }
        self.verdict_of(Some(actual.is_subset_of(expected)), at, Keyword::Type, || {
            let is_fraction = value.as_number().is_some() && expected.intersects(InstanceTypes::INTEGER);
            let found = if is_fraction { "a non-integer number" } else { value.kind() };
            format!("expected {}, found {found}", words::types(expected))
        })
    }

    #[inline(never)]
    pub(super) fn check_enum(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let Some(values) = keyword_value.as_array() else { return Verdict::Unknown };
        let is_listed = match keyword_value.origin().number().filter(|_| values.len() > LINEAR_SEARCH_LIMIT) {
            Some(number) => self.is_in_canonical_list(values, number, value),
            None => values.iter().any(|known| self.budget.pay(known_cost(known)) && self.same(known, value)),
        };
        if self.budget.is_spent() && !is_listed {
            return Verdict::Unknown;
        }
        self.verdict_of(Some(is_listed), at, Keyword::Enum, || {
            format!("expected {}, found {}", words::values(values), found_kind(value, values))
        })
    }

    /// Returns true if a long list contains the value. The list is canonicalized once, so that many values can be
    /// checked in linear time.
    #[inline(never)]
    fn is_in_canonical_list(&mut self, values: &[Node<'_>], number: Number, value: &Node<'_>) -> bool {
        if self.listed.get(&number).is_none() {
            if !values.iter().all(|known| self.budget.pay(weight(known))) {
                return false;
            }
            self.listed.insert(number, values.iter().map(json::canonical).collect());
        }
        self.budget.pay(weight(value))
            && self.listed.get(&number).is_some_and(|listed| listed.contains(&json::canonical(value)))
    }

    #[inline(never)]
    pub(super) fn check_const(&mut self, keyword_value: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        let is_same = self.same(keyword_value, value);
        if self.budget.is_spent() && !is_same {
            return Verdict::Unknown;
        }
        self.verdict_of(Some(is_same), at, Keyword::Const, || {
            let found = found_kind(value, core::slice::from_ref(keyword_value));
            format!("expected {}, found {found}", words::value(keyword_value))
        })
    }

    fn same(&self, known: &Node<'_>, value: &Node<'_>) -> bool {
        json::same_within(&self.budget, known, value)
    }

    pub(super) fn check_number(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        number: &str,
        at: At<'_>,
    ) -> Verdict {
        // Draft 4 and OpenAPI 3.0: `true` makes the sibling limit exclusive.
        let is_exclusive = |keyword: Keyword| schema.get(keyword).and_then(Node::as_bool) == Some(true);
        if matches!(keyword, Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum) && keyword_value.as_bool().is_some()
        {
            return Verdict::Valid;
        }
        let Some(limit) = keyword_value.as_number().filter(|limit| self.budget.pay((limit.len() + number.len()) / 16))
        else {
            return Verdict::Unknown;
        };
        let order = || json::compare(number, limit);
        let (holds, expected) = match keyword {
            Keyword::Minimum if is_exclusive(Keyword::ExclusiveMinimum) => (Some(order().is_gt()), "more than"),
            Keyword::Minimum => (Some(order().is_ge()), "at least"),
            Keyword::ExclusiveMinimum => (Some(order().is_gt()), "more than"),
            Keyword::Maximum if is_exclusive(Keyword::ExclusiveMaximum) => (Some(order().is_lt()), "less than"),
            Keyword::Maximum => (Some(order().is_le()), "at most"),
            Keyword::ExclusiveMaximum => (Some(order().is_lt()), "less than"),
            Keyword::MultipleOf => {
                let is_positive = json::compare(limit, "0") == Ordering::Greater;
                (json::is_multiple(number, limit).filter(|_| is_positive), "a multiple of")
            }
            _ => return Verdict::Valid,
        };
        self.verdict_of(holds, at, keyword, || {
            format!("expected {expected} {}, found another number", words::short(limit))
        })
    }

    pub(super) fn check_string(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        text: &Text<'_>,
        at: At<'_>,
    ) -> Verdict {
        if !matches!(keyword, Keyword::MinLength | Keyword::MaxLength | Keyword::Pattern) {
            return Verdict::Valid;
        }
        if !self.budget.pay(text.chars().len() / 64) {
            return Verdict::Unknown;
        }
        if keyword == Keyword::Pattern {
            let Some(pattern) = keyword_value.as_text() else { return Verdict::Unknown };
            let matches = self.patterns.find(
                (pattern, keyword_value.origin().number()),
                text,
                self.prepared.patterns,
                &self.budget,
            );
            return self.verdict_of(matches, at, keyword, || {
                format!(
                    "expected a string that matches `{}`, found one that does not",
                    words::short(&pattern.display())
                )
            });
        }
        self.check_count(keyword, keyword_value, text.code_points().count(), ("character", " in the string"), at)
    }

    pub(super) fn check_count(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        count: usize,
        (what, suffix): (&str, &str),
        at: At<'_>,
    ) -> Verdict {
        let is_minimum = matches!(keyword, Keyword::MinLength | Keyword::MinItems | Keyword::MinProperties);
        let order = self.compare_count(count, keyword_value);
        let holds = order.map(|order| if is_minimum { order.is_ge() } else { order.is_le() });
        self.verdict_of(holds, at, keyword, || {
            let (bound, difference) = if is_minimum { ("at least", "fewer") } else { ("at most", "more") };
            let limit = json::plain_number(keyword_value.as_number().unwrap_or_default());
            let plural = if limit == "1" { "" } else { "s" };
            format!("expected {bound} {} {what}{plural}{suffix}, found {difference}", words::short(&limit))
        })
    }
}

/// Returns the cost of comparing a value with this listed value. The cost does not depend on the type of the value.
fn known_cost(listed: &Node<'_>) -> usize {
    match listed.data() {
        Data::String(text) => text.chars().len() / 64,
        Data::Number(number) => number.len() / 16,
        _ => 0,
    }
}

fn found_kind(value: &Node<'_>, expected: &[Node<'_>]) -> alloc::string::String {
    let is_expected = expected.iter().any(|listed| listed.kind() == value.kind());
    if is_expected {
        format!("another {}", value.kind().trim_start_matches("a ").trim_start_matches("an "))
    } else {
        value.kind().into()
    }
}

/// Memory limit for the patterns of a prepared schema, in bytes. [`MAX_BYTES_PER_VALUE`] is added for each value of the
/// schema. A short pattern can be a large program, and a list of tools has many patterns. Patterns that do not fit are
/// compiled again by every validation that needs them.
const MAX_BYTES: usize = 16 << 10;
const MAX_BYTES_PER_VALUE: usize = 512;

/// Compiled patterns, by the number of the value that each pattern belongs to; `None` if the engine does not support
/// it.
pub(super) type ReadPatterns = Map<Number, Option<Pattern>>;

pub(super) fn patterns_of(root: &Node<'_>) -> ReadPatterns {
    let (mut patterns, mut pending) = (ReadPatterns::new(), Vec::from([root]));
    let values = root.values_read();
    let budget = Budget::new(values, None);
    let mut remaining_bytes = MAX_BYTES.saturating_add(MAX_BYTES_PER_VALUE.saturating_mul(values));
    let mut add = |number: Option<Number>, pattern: &Text<'_>| {
        let Some(number) = number.filter(|_| !budget.is_spent()) else { return };
        let pattern = compile(pattern, &budget).map(Pattern::shrunk);
        let bytes = pattern.as_ref().map_or(0, Pattern::bytes);
        if budget.is_spent() {
            return;
        }
        if bytes > remaining_bytes {
            // Limits the number of patterns that are compiled in vain.
            remaining_bytes /= 2;
            return;
        }
        remaining_bytes -= bytes;
        patterns.insert(number, pattern);
    };
    while let Some(node) = pending.pop() {
        match node.data() {
            Data::Array(items) => pending.extend(items),
            Data::Object(object) => {
                for member in object {
                    match (Keyword::named(&member.key), member.value.data()) {
                        (Some(Keyword::Pattern), Data::String(pattern)) => add(member.value.origin().number(), pattern),
                        (Some(Keyword::PatternProperties), Data::Object(table)) => {
                            table.iter().for_each(|inner| add(inner.value.origin().number(), &inner.key));
                        }
                        _ => {}
                    }
                    pending.push(&member.value);
                }
            }
            _ => {}
        }
    }
    patterns
}

fn compile(pattern: &Text<'_>, budget: &Budget) -> Option<Pattern> {
    Pattern::new(&pattern.value()?, Spelling::Ecma, budget).ok()
}

/// Patterns of one validation, each compiled once.
#[derive(Default)]
pub(super) struct Patterns(ReadPatterns);

impl Patterns {
    /// Returns `None` if the result cannot be determined.
    pub(super) fn find(
        &mut self,
        (pattern, number): (&Text<'_>, Option<Number>),
        text: &Text<'_>,
        prepared: Option<&ReadPatterns>,
        budget: &Budget,
    ) -> Option<bool> {
        // The engine has no character for an unpaired surrogate.
        let (number, text) = (number?, text.value()?);
        if let Some(known) = prepared.and_then(|prepared| prepared.get(&number)).or_else(|| self.0.get(&number)) {
            return known.as_ref()?.find(&text, budget);
        }
        let pattern = compile(pattern, budget);
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
        let read = patterns_of(&schema);
        (read.len(), read.values().flatten().map(Pattern::bytes).sum(), schema.values_read())
    }

    #[test]
    fn memory_for_compiled_patterns_is_bounded() {
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
