//! Reads text that a model meant as JSON. Accepts notations that can be read in only one way, and guesses if only one
//! guess gives a value. This file scans the document: the value, and the text around it.
//!
//! The text is scanned once, and each deviation is recorded as a rule with its offset. The scan writes JSON text, which
//! the strict reader then reads. A deviation without a rule is refused: text is read completely or not at all.
//! Nothing is invented, nothing is executed, and time is linear.

mod guesses;
mod scanner;
mod value;

use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

use super::{read, same, Node, Text};
use crate::report::{Confidence, LeftReason, Permits, RepairRule};
use scanner::Scanner;

/// Permitted deviations from JSON.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tolerance {
    pub(crate) permits: Permits,
    /// True if missing brackets at the end are added.
    pub(crate) closes: bool,
    /// True if the text is a string inside the arguments. Words before a value may then be part of that string.
    pub(crate) is_inside: bool,
    /// True if notations are read that only a schema can decide.
    pub(crate) guesses: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextRepair {
    pub(crate) rule: RepairRule,
    pub(crate) confidence: Confidence,
    /// Byte offset of the first occurrence.
    pub(crate) offset: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Member(Text<'static>),
    Item(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guessed {
    /// The last step is the name of a member.
    Name,
    /// The value at the path is a string.
    Word,
    /// The value at the path is a number, written as a string.
    Number,
}

#[derive(Clone, Debug)]
pub(crate) struct Guess {
    pub(crate) path: Vec<Step>,
    pub(crate) guessed: Guessed,
}

#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) node: Node<'static>,
    /// The rules without duplicates, in the order of their first use; empty if the text is JSON.
    pub(crate) repairs: Vec<TextRepair>,
    /// The guesses that the schema has to confirm.
    pub(crate) guesses: Vec<Guess>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: LeftReason,
    /// Byte offset of the cause.
    pub(crate) offset: usize,
}

impl Refusal {
    pub(crate) fn message(self) -> String {
        let problem = match self.reason {
            LeftReason::Truncated => "truncated text",
            LeftReason::SeveralValues => "text with several different values",
            LeftReason::NoJson => "text without JSON",
            LeftReason::AmbiguousEscape => "text with ambiguous backslashes",
            LeftReason::DuplicateName => "text that gives one name two different values",
            LeftReason::NotExact => "text that only a likely repair can read",
            LeftReason::SwitchedOff => "text that only a disabled rule can read",
            LeftReason::TooDeep => "text that is nested too deeply",
            _ => "text that is not JSON",
        };
        format!("expected JSON, found {problem} ({}, at byte {})", self.reason.as_str(), self.offset)
    }
}

pub(crate) fn read_tolerant(text: &str, tolerance: Tolerance) -> Result<Reading, Refusal> {
    if let Ok(node) = read(text) {
        return Ok(Reading { node: node.detached(), repairs: Vec::new(), guesses: Vec::new() });
    }
    let scanned = match Scanner::new(text, tolerance).document() {
        Err(Stop::Escaped(offset)) => read_unescaped(text, tolerance, offset),
        other => other,
    };
    match scanned {
        Ok(Written { text, repairs, guesses }) => match read(&text) {
            Ok(node) => Ok(Reading { node: node.detached(), repairs, guesses }),
            Err(_) => Err(Refusal { reason: LeftReason::Syntax, offset: 0 }),
        },
        Err(Stop::Refused(Refusal { reason: LeftReason::Syntax, offset })) if is_open(text) => {
            Err(Refusal { reason: LeftReason::Truncated, offset })
        }
        Err(Stop::Refused(refusal)) => Err(refusal),
        Err(Stop::Escaped(offset)) => Err(Refusal { reason: LeftReason::Syntax, offset }),
    }
}

/// Reads text that [`read_tolerant`] refuses, with notations whose meaning depends on a schema.
///
/// # Errors
/// The reason why such a notation does not help.
pub(crate) fn read_guessing(text: &str, tolerance: Tolerance) -> Result<Reading, Refusal> {
    let tolerance = Tolerance { guesses: true, ..tolerance };
    let refused = match read_tolerant(text, tolerance) {
        Ok(reading) => return Ok(reading),
        Err(refused) => refused,
    };
    let (rule, confidence) = (RepairRule::DoubledBraces, Confidence::Likely);
    for single in guesses::without_doubled_braces(text).into_iter().flatten() {
        let Ok(mut reading) = read_tolerant(&single, tolerance) else { continue };
        if let Some(reason) = tolerance.permits.refusal(rule, confidence) {
            return Err(Refusal { reason, offset: 0 });
        }
        reading.repairs.insert(0, TextRepair { rule, confidence, offset: 0 });
        return Ok(reading);
    }
    Err(refused)
}

#[derive(Clone, Copy, Debug)]
enum Stop {
    Refused(Refusal),
    /// A quotation mark between tokens follows a backslash, so the whole text may be escaped twice.
    Escaped(usize),
}

struct Written {
    text: String,
    repairs: Vec<TextRepair>,
    guesses: Vec<Guess>,
}

type Scanned = Result<Written, Stop>;

fn read_unescaped(text: &str, tolerance: Tolerance, offset: usize) -> Scanned {
    let (rule, confidence) = (RepairRule::EscapedText, Confidence::Likely);
    if let Some(reason) = tolerance.permits.refusal(rule, confidence) {
        return Err(Stop::Refused(Refusal { reason, offset }));
    }
    let quoted = format!("\"{}\"", text.trim());
    let parsed = read(&quoted).ok();
    let once = parsed.as_ref().and_then(Node::as_text).and_then(|text| text.value());
    let Some(once) = once else { return Err(Stop::Refused(Refusal { reason: LeftReason::Syntax, offset })) };
    let mut written = Scanner::new(&once, tolerance).document()?;
    written.repairs.insert(0, TextRepair { rule, confidence, offset });
    Ok(written)
}

/// Returns true if the text ends inside brackets or a string. Any syntax error in such text is reported as truncation.
fn is_open(text: &str) -> bool {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    is_string || depth > 0
}

const FENCE: &str = "```";

impl Scanner<'_> {
    pub(crate) fn document(mut self) -> Scanned {
        let mut is_fenced = self.skip_to_bracket()?;
        self.value()?;
        let mut kept = 0..self.out.len();
        loop {
            self.skip_to_text()?;
            let rest = self.rest();
            if rest.is_empty() {
                break;
            }
            if is_fenced && rest.starts_with(FENCE) {
                self.at += FENCE.len();
                is_fenced = false;
                continue;
            }
            if rest.starts_with(['{', '[']) || self.begins_fence() {
                let start = self.out.len();
                is_fenced |= self.skip_to_bracket()?;
                self.value()?;
                kept = self.choose_value(kept, start..self.out.len())?;
                continue;
            }
            self.text_after(&kept)?;
            break;
        }
        if let (Some(_), Some(offset)) = self.escapes {
            return Err(Stop::Refused(Refusal { reason: LeftReason::AmbiguousEscape, offset }));
        }
        let text = self.out.get(kept).unwrap_or_default().into();
        Ok(Written { text, repairs: self.repairs, guesses: self.guesses })
    }

    fn skip_to_bracket(&mut self) -> Result<bool, Stop> {
        self.skip_to_text()?;
        let (mut is_fenced, begin) = (false, self.at);
        if self.rest().starts_with(FENCE) {
            is_fenced = true;
            self.at += FENCE.len();
            let is_language = |next: char| next.is_ascii_alphanumeric() || "_+.-".contains(next);
            self.at += self.rest().find(|next| !is_language(next)).unwrap_or(self.rest().len());
            self.record_repair_at(RepairRule::Fence, Confidence::Exact, begin)?;
            self.skip_to_text()?;
        }
        if self.rest().starts_with(['{', '[']) {
            return Ok(is_fenced);
        }
        let bracket = self.rest().find(['{', '[', '}', ']']).filter(|_| !self.tolerance.is_inside);
        let words = bracket.and_then(|bracket| self.rest().get(..bracket)).unwrap_or_default();
        match bracket {
            // Brackets after `(` or after a member's name are not JSON between words.
            Some(_) if words.trim_end().ends_with('(') || has_member(words) => self.refuse(LeftReason::Syntax),
            Some(bracket) if self.text.get(self.at + bracket..).is_some_and(starts) => {
                self.record_repair(RepairRule::SurroundingText, Confidence::Likely)?;
                self.at += bracket;
                Ok(is_fenced)
            }
            _ => self.refuse(LeftReason::NoJson),
        }
    }

    fn begins_fence(&self) -> bool {
        self.rest().strip_prefix(FENCE).is_some_and(|inside| inside.contains(['{', '[']))
    }

    /// Returns the value to keep. The values must be equal, or one must be empty.
    fn choose_value(&mut self, first: Range<usize>, second: Range<usize>) -> Result<Range<usize>, Stop> {
        let [first_text, second_text] = [&first, &second].map(|range| self.out.get(range.clone()).unwrap_or_default());
        let are_same = || matches!((read(first_text), read(second_text)), (Ok(left), Ok(right)) if same(&left, &right));
        let (kept, rule, confidence) = match () {
            () if first_text == second_text => (first, RepairRule::RepeatedValue, Confidence::Exact),
            () if is_empty(second_text) => (first, RepairRule::EmptyValue, Confidence::Likely),
            () if is_empty(first_text) => (second, RepairRule::EmptyValue, Confidence::Likely),
            // Compared only once. Otherwise, a long first value would be parsed again for each of many short values.
            () if !self.has(RepairRule::RepeatedValue) && are_same() => {
                (first, RepairRule::RepeatedValue, Confidence::Exact)
            }
            () => return self.refuse(LeftReason::SeveralValues),
        };
        self.record_repair(rule, confidence)?;
        Ok(kept)
    }

    fn text_after(&mut self, kept: &Range<usize>) -> Result<(), Stop> {
        let rest = self.rest();
        let behind_comma = rest.strip_prefix(',').map(str::trim_start);
        if behind_comma.is_some_and(str::is_empty) {
            self.record_repair(RepairRule::ExtraComma, Confidence::Exact)?;
        } else if behind_comma.is_some_and(starts) {
            return self.refuse(LeftReason::SeveralValues);
        } else if is_closing(rest.trim_end().strip_suffix(FENCE).unwrap_or(rest)) {
            if !self.has(RepairRule::MisnestedBracket) {
                self.record_repair(RepairRule::ExtraBracket, Confidence::Likely)?;
            }
        } else if rest.contains(['{', '[', '}', ']']) || behind_comma.is_some() || has_member(rest) {
            // Members after an extra bracket are not words.
            return self.refuse(LeftReason::Syntax);
        } else if self.out.get(kept.clone()).is_some_and(is_empty) {
            // The text contains only words.
            return self.refuse(LeftReason::NoJson);
        } else {
            self.record_repair(RepairRule::SurroundingText, Confidence::Likely)?;
        }
        self.at = self.text.len();
        Ok(())
    }
}

fn is_empty(written: &str) -> bool {
    matches!(written, "{}" | "[]")
}

fn starts(text: &str) -> bool {
    text.starts_with(['{', '['])
}

fn is_closing(text: &str) -> bool {
    text.starts_with(['}', ']']) && text.chars().all(|next| matches!(next, '}' | ']') || next.is_ascii_whitespace())
}

fn has_member(text: &str) -> bool {
    let mut quotes = text.match_indices(['"', '\'', '”']);
    quotes.any(|(at, quote)| text.get(at + quote.len()..).is_some_and(|rest| rest.trim_start().starts_with(':')))
}

#[cfg(test)]
mod tests {
    //! Tests properties that fixtures do not show: time is linear, and spellings are preserved.

    use alloc::{format, string::String};

    use super::{read_tolerant, Tolerance};
    use crate::{json::write, limits::MAX_DEPTH, report::LeftReason};

    fn reason(text: &str) -> Option<LeftReason> {
        read_tolerant(text, Tolerance::default()).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn any_depth_ends_without_a_panic() {
        let deep = |levels: usize| format!("{}'x'{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(reason(&deep(MAX_DEPTH)), None);
        assert_eq!(reason(&deep(MAX_DEPTH + 1)), Some(LeftReason::TooDeep));
        assert_eq!(reason(&"[".repeat(200_000)), Some(LeftReason::TooDeep));
        assert_eq!(reason(&"{'a':[".repeat(200_000)), Some(LeftReason::TooDeep));
        assert_eq!(reason(&"{'a':1}".repeat(50_000)), None);
    }

    #[test]
    fn spelling_of_numbers_and_escapes_is_kept() {
        let text = "{a: 1.10, b: 1e400, c: '\\ud800 \\u00e9 \"x\"', \"d\": \"\\/\",}";
        let text = read_tolerant(text, Tolerance::default()).map(|reading| write(&reading.node));
        let expected = r#"{"a":1.10,"b":1e400,"c":"\ud800 \u00e9 \"x\"","d":"\/"}"#;
        assert_eq!(text.as_deref().ok(), Some(expected));
    }

    #[test]
    fn truncated_text_is_not_read() {
        let whole = "```json\n{'a': [1, 'b', {\"c\": True}], d: null}\n```";
        for (end, _) in whole.char_indices() {
            let half: String = whole.chars().take(end).collect();
            let reason = reason(&half);
            // Only the closing fence may be missing.
            assert!(reason.is_some() || half.trim_end_matches('`').ends_with("}\n") || half.ends_with('}'), "{half}");
        }
    }
}
