//! Simulates llama.cpp's conversion of a regular expression: it becomes a part of the grammar, any string, or an error.
//!
//! Source: llama.cpp b11434, `_pattern_to_rule` in common/json-schema-to-grammar.cpp, and the limit of repetitions in
//! src/llama-grammar.cpp. The converter reads from left to right and stops at the first construct that it does not
//! know, so errors after that are not detected.

use core::{iter::Peekable, str::Chars};

/// Maximum number of repetitions of a part; more are an error.
const MAX_REPETITIONS: u32 = 2_000;

/// Maximum nesting of groups; deeper patterns are not enforced.
const MAX_DEPTH: usize = 100;

/// Result of converting a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The pattern becomes a part of the grammar.
    Enforced,
    /// Any string is accepted, for this reason.
    NotEnforced(&'static str),
    /// The request is refused, for this reason.
    Refused(&'static str),
}

/// Reads a pattern like the converter.
pub(crate) fn reading(pattern: &str) -> Reading {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    let Some(inner) = inner else { return Reading::NotEnforced("it does not begin with `^` and end with `$`") };
    let mut reader = Reader { rest: inner.chars().peekable(), depth: 0, repeatable: false, outer: 0 };
    match reader.read() {
        Ok(()) if reader.depth > 0 => Reading::Refused("it has an unclosed parenthesis"),
        Ok(()) => Reading::Enforced,
        Err(reading) => reading,
    }
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
    /// Number of open groups.
    depth: usize,
    /// True if a quantifier may follow, in the innermost group.
    repeatable: bool,
    /// The values of `repeatable` for the enclosing groups, one bit each.
    outer: u128,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Reading> {
        while let Some(character) = self.rest.next() {
            match character {
                '(' => self.open()?,
                ')' => self.close()?,
                '[' => self.class()?,
                '*' | '+' | '?' if !self.repeatable => return Err(NOTHING_TO_REPEAT),
                '*' | '+' | '?' => {}
                '{' => self.repetitions()?,
                '\\' => self.escape(false)?,
                '^' | '$' => return Err(Reading::NotEnforced("it has an anchor in the middle")),
                ']' | '}' => return Err(Reading::NotEnforced("it has an unmatched bracket")),
                _ => {}
            }
            self.repeatable = self.repeatable || !matches!(character, '(');
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Reading> {
        if self.rest.next_if_eq(&'?').is_some() && self.rest.next_if_eq(&':').is_none() {
            return Err(Reading::NotEnforced("it has lookaround, a named group or flags"));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Reading::NotEnforced("its groups nest too deeply"));
        }
        self.outer = self.outer << 1 | u128::from(self.repeatable);
        self.repeatable = false;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Reading> {
        if self.depth == 0 {
            return Err(Reading::Refused("it has an unmatched closing parenthesis"));
        }
        self.depth -= 1;
        self.repeatable = true;
        self.outer >>= 1;
        Ok(())
    }

    /// Reads a character class.
    fn class(&mut self) -> Result<(), Reading> {
        loop {
            match self.rest.next() {
                None => return Err(Reading::Refused("it has an unclosed character class")),
                Some(']') => return Ok(()),
                Some('\\') => self.escape(true)?,
                Some(_) => {}
            }
        }
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self, in_class: bool) -> Result<(), Reading> {
        let unknown = Err(Reading::NotEnforced("it has an escape that grammars do not support"));
        let digits = match self.rest.next() {
            None if in_class => return Err(Reading::Refused("it has an unclosed character class")),
            None => return Err(Reading::Refused("it ends with a backslash")),
            Some('^' | '$' | '.' | '(' | ')' | '|' | '{' | '}' | '*' | '+' | '?') if !in_class => 0,
            Some('t' | 'r' | 'n' | '\\' | '"' | '[' | ']' | '-') => 0,
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(_) => return unknown,
        };
        for _ in 0..digits {
            if self.rest.next_if(char::is_ascii_hexdigit).is_none() {
                return unknown;
            }
        }
        Ok(())
    }

    /// Reads `{low,high}`.
    fn repetitions(&mut self) -> Result<(), Reading> {
        let mut bounds = [None::<u32>; 2];
        let (mut at, mut is_number) = (0, true);
        loop {
            match self.rest.next() {
                None => return Err(Reading::NotEnforced("it has an unclosed brace")),
                Some('}') => break,
                Some(',') => at += 1,
                Some(character) => match (character.to_digit(10), bounds.get_mut(at)) {
                    (Some(digit), Some(bound)) => {
                        *bound = Some(bound.unwrap_or_default().saturating_mul(10).saturating_add(digit));
                    }
                    _ => is_number = false,
                },
            }
        }
        let [low, high] = bounds;
        if !is_number || at > 1 || (at == 0 && low.is_none()) {
            return Err(Reading::NotEnforced("its braces contain no numbers"));
        }
        if !self.repeatable {
            return Err(NOTHING_TO_REPEAT);
        }
        let high = if at == 0 { low } else { high };
        if low.max(high).is_some_and(|bound| bound > MAX_REPETITIONS) {
            return Err(Reading::Refused("it repeats a part more than 2,000 times"));
        }
        // The server never answers such a request.
        if high.is_some_and(|high| low.unwrap_or_default() > high) {
            return Err(Reading::Refused("it has a repetition whose maximum is below its minimum"));
        }
        Ok(())
    }
}

const NOTHING_TO_REPEAT: Reading = Reading::Refused("it has a quantifier with nothing to repeat");
