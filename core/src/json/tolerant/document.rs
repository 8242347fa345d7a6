//! Scans a document: the value, and the text around it.

use core::ops::Range;

use super::{scanner::Scanner, Refusal, Scanned, Stop};
use crate::{
    json::{read, same},
    report::{Confidence, LeftReason, RepairRule},
};

const FENCE: &str = "```";

impl Scanner<'_> {
    /// Scans the text. Returns its only value, as JSON text.
    pub(super) fn document(mut self) -> Scanned {
        let mut is_fenced = self.start()?;
        self.value()?;
        let mut kept = 0..self.out.len();
        loop {
            self.space()?;
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
                is_fenced |= self.start()?;
                self.value()?;
                kept = self.one_of(kept, start..self.out.len())?;
                continue;
            }
            self.behind(&kept)?;
            break;
        }
        if let (Some(_), Some(offset)) = self.escapes {
            return Err(Stop::Refused(Refusal { reason: LeftReason::AmbiguousEscape, offset }));
        }
        let written = self.out.get(kept).unwrap_or_default().into();
        Ok((written, self.repairs))
    }

    /// Advances to the first bracket. Returns true if a fence was opened.
    fn start(&mut self) -> Result<bool, Stop> {
        self.space()?;
        let (mut is_fenced, begin) = (false, self.at);
        if self.rest().starts_with(FENCE) {
            is_fenced = true;
            self.at += FENCE.len();
            let is_language = |next: char| next.is_ascii_alphanumeric() || "_+.-".contains(next);
            self.at += self.rest().find(|next| !is_language(next)).unwrap_or(self.rest().len());
            self.note_at(RepairRule::Fence, Confidence::Exact, begin)?;
            self.space()?;
        }
        if self.rest().starts_with(['{', '[']) {
            return Ok(is_fenced);
        }
        let found = self.rest().find(['{', '[', '}', ']']).filter(|_| !self.how.is_inside);
        let words = found.and_then(|found| self.rest().get(..found)).unwrap_or_default();
        match found {
            // The arguments of a call in a programming language, and the value of a member, are not JSON between words.
            Some(_) if words.trim_end().ends_with('(') || has_member(words) => self.refuse(LeftReason::Syntax),
            Some(found) if self.text.get(self.at + found..).is_some_and(starts) => {
                self.note(RepairRule::SurroundingText, Confidence::Likely)?;
                self.at += found;
                Ok(is_fenced)
            }
            _ => self.refuse(LeftReason::NoJson),
        }
    }

    /// Returns true if a fence with a value follows.
    fn begins_fence(&self) -> bool {
        self.rest().strip_prefix(FENCE).is_some_and(|inside| inside.contains(['{', '[']))
    }

    /// Chooses one of two values that are the same, or of which one is empty.
    fn one_of(&mut self, first: Range<usize>, second: Range<usize>) -> Result<Range<usize>, Stop> {
        let [one, two] = [&first, &second].map(|range| self.out.get(range.clone()).unwrap_or_default());
        let are_same = || matches!((read(one), read(two)), (Ok(one), Ok(two)) if same(&one, &two));
        let (kept, rule, confidence) = match () {
            () if one == two => (first, RepairRule::RepeatedValue, Confidence::Exact),
            () if is_empty(two) => (first, RepairRule::EmptyValue, Confidence::Likely),
            () if is_empty(one) => (second, RepairRule::EmptyValue, Confidence::Likely),
            // Compared only once: a short second text may be compared with a long first one.
            () if !self.has(RepairRule::RepeatedValue) && are_same() => {
                (first, RepairRule::RepeatedValue, Confidence::Exact)
            }
            () => return self.refuse(LeftReason::SeveralValues),
        };
        self.note(rule, confidence)?;
        Ok(kept)
    }

    /// Scans the text after the value.
    fn behind(&mut self, kept: &Range<usize>) -> Result<(), Stop> {
        let rest = self.rest();
        let behind_comma = rest.strip_prefix(',').map(str::trim_start);
        if behind_comma.is_some_and(str::is_empty) {
            self.note(RepairRule::ExtraComma, Confidence::Exact)?;
        } else if behind_comma.is_some_and(starts) {
            return self.refuse(LeftReason::SeveralValues);
        } else if is_closing(rest.trim_end().strip_suffix(FENCE).unwrap_or(rest)) {
            if !self.has(RepairRule::MisnestedBracket) {
                self.note(RepairRule::ExtraBracket, Confidence::Likely)?;
            }
        } else if rest.contains(['{', '[', '}', ']']) || behind_comma.is_some() || has_member(rest) {
            // Members after an extra bracket are not words.
            return self.refuse(LeftReason::Syntax);
        } else if self.out.get(kept.clone()).is_some_and(is_empty) {
            // The text contains only words.
            return self.refuse(LeftReason::NoJson);
        } else {
            self.note(RepairRule::SurroundingText, Confidence::Likely)?;
        }
        self.at = self.text.len();
        Ok(())
    }
}

/// Returns true if a written value is empty.
fn is_empty(written: &str) -> bool {
    matches!(written, "{}" | "[]")
}

/// Returns true if the text begins with an opening bracket.
fn starts(text: &str) -> bool {
    text.starts_with(['{', '['])
}

/// Returns true if the text consists of closing brackets.
fn is_closing(text: &str) -> bool {
    text.starts_with(['}', ']']) && text.chars().all(|next| matches!(next, '}' | ']') || next.is_ascii_whitespace())
}

/// Returns true if the text contains a name in quotes, followed by a colon.
fn has_member(text: &str) -> bool {
    let mut quotes = text.match_indices(['"', '\'', '”']);
    quotes.any(|(at, quote)| text.get(at + quote.len()..).is_some_and(|rest| rest.trim_start().starts_with(':')))
}
