//! Rewrites a regular expression for engines that match it against the whole string, and simulates llama.cpp's
//! conversion of one to a grammar.
//!
//! In JSON Schema, a regular expression may match any part of the string. Sources for other engines: xgrammar 0.2.8,
//! regex_converter.cc, run: `b` matches only `b`, and an anchor that does not begin or end a branch is ignored with a
//! warning; Cohere, structured outputs: `^` and `$` are not supported.
//!
//! llama.cpp turns a regular expression into a part of the grammar or into any string, or refuses it. Source: llama.cpp
//! b11434, `_pattern_to_rule` in common/json-schema-to-grammar.cpp, and the limit of repetitions in
//! src/llama-grammar.cpp. The converter reads from left to right and stops at the first construct that it does not
//! support, so errors after that are not detected.

use alloc::{format, string::String, vec::Vec};
use core::{iter::Peekable, str::Chars};

/// Any text, in a form that all engines read alike.
const ANY: &str = "[\\s\\S]*";

/// If all branches are anchored at both ends, searching and matching are equivalent.
pub(crate) fn is_whole(pattern: &str) -> bool {
    branches(pattern).is_some_and(|branches| {
        branches.iter().all(|branch| branch.begins && branch.ends && !branch.is_anchored_inside)
    })
}

/// True also if the pattern does not compile.
pub(crate) fn is_anchored(pattern: &str) -> bool {
    let is_anchored = |branch: &Branch<'_>| branch.begins || branch.ends || branch.is_anchored_inside;
    branches(pattern).is_none_or(|branches| branches.iter().any(is_anchored))
}

/// Returns an equivalent pattern that matches the whole string; `None` if the position of an anchor is not supported.
pub(crate) fn whole(pattern: &str) -> Option<String> {
    completed(pattern).map(|body| format!("^{body}$"))
}

/// Like [`whole`], but returns a pattern without anchors, for engines that always match the whole string.
pub(crate) fn unanchored(pattern: &str) -> Option<String> {
    completed(pattern)
}

fn completed(pattern: &str) -> Option<String> {
    let branches = branches(pattern)?;
    if branches.iter().any(|branch| branch.is_anchored_inside) {
        return None;
    }
    let complete = |branch: &Branch<'_>| {
        let before = if branch.begins { "" } else { ANY };
        let after = if branch.ends { "" } else { ANY };
        format!("{before}{}{after}", branch.body)
    };
    let completed: Vec<String> = branches.iter().map(complete).collect();
    match completed.as_slice() {
        [one] => Some(one.clone()),
        _ => Some(format!("(?:{})", completed.join("|"))),
    }
}

/// A top-level alternative of a pattern.
struct Branch<'p> {
    /// The alternative without the anchors at its ends.
    body: &'p str,
    /// True if the alternative begins with `^`.
    begins: bool,
    /// True if the alternative ends with `$`.
    ends: bool,
    /// True if the alternative contains another anchor.
    is_anchored_inside: bool,
}

fn branches(pattern: &str) -> Option<Vec<Branch<'_>>> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut in_class, mut is_escaped) = (0, 0_usize, false, false);
    // Byte offsets of the anchors in the branch.
    let mut anchors: Vec<usize> = Vec::new();
    for (at, character) in pattern.char_indices().chain([(pattern.len(), '|')]) {
        let ends_all = at == pattern.len();
        if !ends_all && core::mem::take(&mut is_escaped) {
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            // Engines disagree about `]` as the first character of a class.
            '[' if !in_class => {
                let inside = pattern.get(at + 1..)?;
                if inside.strip_prefix('^').unwrap_or(inside).starts_with(']') {
                    return None;
                }
                in_class = true;
            }
            ']' => in_class = false,
            _ if in_class && !ends_all => {}
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '^' | '$' => anchors.push(at),
            '|' if ends_all && (depth > 0 || in_class || is_escaped) => return None,
            '|' if depth == 0 => {
                let text = pattern.get(start..at)?;
                let begins = anchors.first() == Some(&start) && text.starts_with('^');
                let ends = anchors.last().is_some_and(|last| last + 1 == at) && text.ends_with('$');
                let body = text.get(usize::from(begins)..text.len() - usize::from(ends))?;
                let is_anchored_inside = anchors.len() > usize::from(begins) + usize::from(ends);
                found.push(Branch { body, begins, ends, is_anchored_inside });
                anchors.clear();
                start = at + 1;
            }
            _ => {}
        }
    }
    Some(found)
}

/// More repetitions of a part are an error.
const MAX_REPETITIONS: u32 = 2_000;

/// Deeper nesting of groups is not enforced.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The pattern becomes a part of the grammar.
    Enforced,
    /// Any string is accepted, for this reason.
    NotEnforced(&'static str),
    /// The request is refused, for this reason.
    Refused(&'static str),
}

pub(crate) fn gbnf_reading(pattern: &str) -> Reading {
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

#[cfg(test)]
mod tests {
    use super::{is_anchored, is_whole, unanchored, whole};

    #[test]
    fn search_patterns_are_rewritten_to_match_the_whole_text() {
        for (pattern, expected) in [
            ("b", Some(r"^[\s\S]*b[\s\S]*$")),
            ("^b", Some(r"^b[\s\S]*$")),
            ("b$", Some(r"^[\s\S]*b$")),
            ("^a|b$", Some(r"^(?:a[\s\S]*|[\s\S]*b)$")),
            ("^(a|b)", Some(r"^(a|b)[\s\S]*$")),
            (r"\^[$^|]\$", Some(r"^[\s\S]*\^[$^|]\$[\s\S]*$")),
            ("", Some(r"^[\s\S]*[\s\S]*$")),
            ("(^a)b", None),
            ("a$b", None),
            ("^^a", None),
            ("[a", None),
            ("[]a|b]", None),
            ("[^]|a]", None),
            ("[[|]a", Some(r"^[\s\S]*[[|]a[\s\S]*$")),
            ("(a", None),
            ("a)", None),
            (r"a\", None),
        ] {
            assert_eq!(whole(pattern).as_deref(), expected, "{pattern}");
            assert!(expected.is_none_or(is_whole), "{pattern} twice");
        }
    }

    #[test]
    fn patterns_anchored_at_both_ends_match_the_whole_text() {
        for pattern in ["^a$", "^(?:a|b)$", "^a$|^b$", r"^\$$", "^$", "^[$]$"] {
            assert!(is_whole(pattern), "{pattern}");
        }
        for pattern in ["a", "^a", "a$", "^a|b$", "^(^a)$", r"^a\$", "^"] {
            assert!(!is_whole(pattern), "{pattern}");
        }
    }

    #[test]
    fn anchors_are_removed() {
        assert!(is_anchored("^a") && is_anchored("(a$)") && !is_anchored(r"\^[$]"));
        assert_eq!(unanchored("^a$").as_deref(), Some("a"));
        assert_eq!(unanchored("^a").as_deref(), Some(r"a[\s\S]*"));
        assert_eq!(unanchored("^a$|^b$").as_deref(), Some("(?:a|b)"));
    }
}
