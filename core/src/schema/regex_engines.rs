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

/// A pattern that matches any text in all engines.
const ANY_TEXT: &str = "[\\s\\S]*";

/// Returns true if all branches are anchored at both ends. Searching and matching are then equivalent.
pub(crate) fn is_whole(pattern: &str) -> bool {
    top_level_branches(pattern).is_some_and(|branches| {
        branches.iter().all(|branch| branch.starts_anchored && branch.ends_anchored && !branch.is_anchored_inside)
    })
}

/// Returns true if any branch has an anchor, or the pattern does not compile.
pub(crate) fn is_anchored(pattern: &str) -> bool {
    let is_anchored = |branch: &Branch<'_>| branch.starts_anchored || branch.ends_anchored || branch.is_anchored_inside;
    top_level_branches(pattern).is_none_or(|branches| branches.iter().any(is_anchored))
}

/// Returns an equivalent pattern that matches the whole string; `None` if the position of an anchor is not supported.
pub(crate) fn anchored_pattern(pattern: &str) -> Option<String> {
    complete_branches(pattern).map(|body| format!("^{body}$"))
}

/// Like [`anchored_pattern`], but returns a pattern without anchors, for engines that always match the whole string.
pub(crate) fn unanchored_pattern(pattern: &str) -> Option<String> {
    complete_branches(pattern)
}

fn complete_branches(pattern: &str) -> Option<String> {
    let branches = top_level_branches(pattern)?;
    if branches.iter().any(|branch| branch.is_anchored_inside) {
        return None;
    }
    let complete = |branch: &Branch<'_>| {
        let before = if branch.starts_anchored { "" } else { ANY_TEXT };
        let after = if branch.ends_anchored { "" } else { ANY_TEXT };
        format!("{before}{}{after}", branch.body)
    };
    let bodies: Vec<String> = branches.iter().map(complete).collect();
    match bodies.as_slice() {
        [body] => Some(body.clone()),
        _ => Some(format!("(?:{})", bodies.join("|"))),
    }
}

/// A top-level alternative of a pattern.
struct Branch<'p> {
    /// The alternative without the anchors at its ends.
    body: &'p str,
    /// True if the alternative begins with `^`.
    starts_anchored: bool,
    /// True if the alternative ends with `$`.
    ends_anchored: bool,
    /// True if the alternative contains another anchor.
    is_anchored_inside: bool,
}

fn top_level_branches(pattern: &str) -> Option<Vec<Branch<'_>>> {
    let mut branches = Vec::new();
    let (mut branch_start, mut depth, mut in_class, mut is_escaped) = (0, 0_usize, false, false);
    // Byte offsets of the anchors in the branch.
    let mut anchors: Vec<usize> = Vec::new();
    for (index, character) in pattern.char_indices().chain([(pattern.len(), '|')]) {
        let is_end = index == pattern.len();
        if !is_end && core::mem::take(&mut is_escaped) {
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            // Engines disagree about `]` as the first character of a class.
            '[' if !in_class => {
                let class = pattern.get(index + 1..)?;
                if class.strip_prefix('^').unwrap_or(class).starts_with(']') {
                    return None;
                }
                in_class = true;
            }
            ']' => in_class = false,
            _ if in_class && !is_end => {}
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '^' | '$' => anchors.push(index),
            '|' if is_end && (depth > 0 || in_class || is_escaped) => return None,
            '|' if depth == 0 => {
                let text = pattern.get(branch_start..index)?;
                let starts_anchored = anchors.first() == Some(&branch_start) && text.starts_with('^');
                let ends_anchored = anchors.last().is_some_and(|last| last + 1 == index) && text.ends_with('$');
                let body = text.get(usize::from(starts_anchored)..text.len() - usize::from(ends_anchored))?;
                let is_anchored_inside = anchors.len() > usize::from(starts_anchored) + usize::from(ends_anchored);
                branches.push(Branch { body, starts_anchored, ends_anchored, is_anchored_inside });
                anchors.clear();
                branch_start = index + 1;
            }
            _ => {}
        }
    }
    Some(branches)
}

/// Maximum number of repetitions of a part. More repetitions are an error.
const MAX_REPETITIONS: u32 = 2_000;

/// Maximum nesting of groups. A pattern with deeper nesting is not enforced.
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
    let mut reader = Reader { rest: inner.chars().peekable(), depth: 0, is_repeatable: false, enclosing: 0 };
    match reader.read_all() {
        Ok(()) if reader.depth > 0 => Reading::Refused("it has an unclosed parenthesis"),
        Ok(()) => Reading::Enforced,
        Err(reading) => reading,
    }
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
    depth: usize,
    /// True if a quantifier may follow, in the innermost group.
    is_repeatable: bool,
    /// The values of `is_repeatable` for the enclosing groups, one bit each.
    enclosing: u128,
}

impl Reader<'_> {
    fn read_all(&mut self) -> Result<(), Reading> {
        while let Some(character) = self.rest.next() {
            match character {
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '[' => self.read_class()?,
                '*' | '+' | '?' if !self.is_repeatable => return Err(NOTHING_TO_REPEAT),
                '*' | '+' | '?' => {}
                '{' => self.read_repetitions()?,
                '\\' => {
                    let in_class = false;
                    self.read_escape(in_class)?;
                }
                '^' | '$' => return Err(Reading::NotEnforced("it has an anchor in the middle")),
                ']' | '}' => return Err(Reading::NotEnforced("it has an unmatched bracket")),
                _ => {}
            }
            self.is_repeatable = self.is_repeatable || !matches!(character, '(');
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), Reading> {
        if self.rest.next_if_eq(&'?').is_some() && self.rest.next_if_eq(&':').is_none() {
            return Err(Reading::NotEnforced("it has lookaround, a named group or flags"));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Reading::NotEnforced("its groups nest too deeply"));
        }
        self.enclosing = self.enclosing << 1 | u128::from(self.is_repeatable);
        self.is_repeatable = false;
        Ok(())
    }

    fn close_group(&mut self) -> Result<(), Reading> {
        if self.depth == 0 {
            return Err(Reading::Refused("it has an unmatched closing parenthesis"));
        }
        self.depth -= 1;
        self.is_repeatable = true;
        self.enclosing >>= 1;
        Ok(())
    }

    fn read_class(&mut self) -> Result<(), Reading> {
        loop {
            match self.rest.next() {
                None => return Err(Reading::Refused("it has an unclosed character class")),
                Some(']') => return Ok(()),
                Some('\\') => {
                    let in_class = true;
                    self.read_escape(in_class)?;
                }
                Some(_) => {}
            }
        }
    }

    fn read_escape(&mut self, in_class: bool) -> Result<(), Reading> {
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

    fn read_repetitions(&mut self) -> Result<(), Reading> {
        let mut bounds = [None::<u32>; 2];
        let (mut bound_index, mut is_number) = (0, true);
        loop {
            match self.rest.next() {
                None => return Err(Reading::NotEnforced("it has an unclosed brace")),
                Some('}') => break,
                Some(',') => bound_index += 1,
                Some(character) => match (character.to_digit(10), bounds.get_mut(bound_index)) {
                    (Some(digit), Some(bound)) => {
                        *bound = Some(bound.unwrap_or_default().saturating_mul(10).saturating_add(digit));
                    }
                    _ => is_number = false,
                },
            }
        }
        let [low, high] = bounds;
        if !is_number || bound_index > 1 || (bound_index == 0 && low.is_none()) {
            return Err(Reading::NotEnforced("its braces contain no numbers"));
        }
        if !self.is_repeatable {
            return Err(NOTHING_TO_REPEAT);
        }
        let high = if bound_index == 0 { low } else { high };
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
    use super::{anchored_pattern, is_anchored, is_whole, unanchored_pattern};

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
            assert_eq!(anchored_pattern(pattern).as_deref(), expected, "{pattern}");
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
        assert_eq!(unanchored_pattern("^a$").as_deref(), Some("a"));
        assert_eq!(unanchored_pattern("^a").as_deref(), Some(r"a[\s\S]*"));
        assert_eq!(unanchored_pattern("^a$|^b$").as_deref(), Some("(?:a|b)"));
    }
}
