//! Scans one value. Uses a list of open brackets in place of recursion, so that nesting takes no space on the program's
//! stack.

use alloc::{string::String, vec::Vec};

use super::{
    guesses::word_of,
    scanner::{Quotes, Scanner},
    Guessed, Step, Stop,
};
use crate::{
    collections::Map,
    json::{read, same, Text},
    limits::MAX_DEPTH,
    report::{Confidence, LeftReason, RepairRule},
};

struct Open {
    is_object: bool,
    count: usize,
    /// For an object: the range of each member's value in the output.
    names: Map<Text<'static>, (usize, usize)>,
    /// The member that is being read, and the start of its value in the output.
    name: Option<(Text<'static>, usize)>,
}

#[derive(Clone, Copy)]
enum Want {
    /// A member, an item, or the closing bracket. `comma` is the offset of the preceding comma.
    Entry { comma: Option<usize>, is_first: bool },
    /// A value.
    Value,
    /// A comma or the closing bracket. The value before it ended at the offset `ended`.
    Next { ended: usize },
}

impl<'t> Scanner<'t> {
    pub(super) fn value(&mut self) -> Result<(), Stop> {
        let (mut open, mut want): (Vec<Open>, Want) = (Vec::new(), Want::Value);
        loop {
            self.skip_to_token()?;
            let Some(next) = self.rest().chars().next() else { return self.end_of_text(&mut open, want) };
            want = match want {
                Want::Value => self.begin(next, &mut open)?,
                Want::Entry { comma, is_first } => match next {
                    '}' | ']' => {
                        if let Some(comma) = comma {
                            self.record_repair_at(RepairRule::ExtraComma, Confidence::Exact, comma)?;
                        }
                        self.close(next, &mut open)?
                    }
                    ',' if is_first => {
                        self.record_repair(RepairRule::ExtraComma, Confidence::Exact)?;
                        self.at += 1;
                        Want::Entry { comma: None, is_first: false }
                    }
                    _ => self.entry(next, &mut open)?,
                },
                Want::Next { ended } => match next {
                    ',' => {
                        self.at += 1;
                        Want::Entry { comma: Some(self.at - 1), is_first: false }
                    }
                    '}' | ']' => self.close(next, &mut open)?,
                    _ => {
                        self.missing_comma(ended, next, &open)?;
                        Want::Entry { comma: None, is_first: false }
                    }
                },
            };
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn entry(&mut self, next: char, open: &mut [Open]) -> Result<Want, Stop> {
        let Some(top) = open.last_mut() else { return self.refuse(LeftReason::Syntax) };
        if top.count > 0 {
            self.out.push(',');
        }
        top.count += 1;
        if !top.is_object {
            return Ok(Want::Value);
        }
        let start = self.out.len();
        let half_quoted = self.half_quoted_name();
        let is_quoted = half_quoted.is_none() && self.token_string()?;
        let mut rule = half_quoted.is_some().then_some(RepairRule::MissingQuote);
        match Quotes::opened_by(next) {
            _ if is_quoted => {}
            _ if half_quoted.is_some() => {
                self.out.push('"');
                self.out.push_str(&half_quoted.unwrap_or_default());
                self.out.push('"');
            }
            Some(quotes) => self.string(quotes)?,
            None => {
                let word = self.word();
                if word.is_empty() {
                    return self.refuse(LeftReason::Syntax);
                }
                self.record_repair(RepairRule::UnquotedKey, Confidence::Exact)?;
                self.out.push('"');
                self.out.push_str(word);
                self.out.push('"');
                self.at += word.len();
            }
        }
        let spelled = self.out.get(start + 1..self.out.len() - 1).unwrap_or_default();
        let name = Text::spelled(String::from(spelled), spelled.contains('\\'));
        self.skip_to_token()?;
        match self.rest().chars().next() {
            Some(':') => self.at += 1,
            Some(next) if self.lacks_colon(next) => rule = Some(RepairRule::MissingColon),
            Some(_) => return self.refuse(LeftReason::Syntax),
            None => return self.refuse(LeftReason::Truncated),
        }
        self.out.push(':');
        top.name = Some((name, self.out.len()));
        if let Some(rule) = rule {
            self.guess(rule, path_of(open), Guessed::Name)?;
        }
        Ok(Want::Value)
    }

    fn begin(&mut self, next: char, open: &mut Vec<Open>) -> Result<Want, Stop> {
        match next {
            '{' | '[' => {
                if open.len() >= MAX_DEPTH {
                    return self.refuse(LeftReason::TooDeep);
                }
                self.out.push(next);
                self.at += 1;
                open.push(Open { is_object: next == '{', count: 0, names: Map::new(), name: None });
                return Ok(Want::Entry { comma: None, is_first: true });
            }
            '0'..='9' | '-' => {
                let number = self.number();
                if number.is_ok() || !self.word_at(open)? {
                    number?;
                    self.ends_in_number = true;
                }
                return self.end_value(open);
            }
            _ if self.token_string()? => {}
            _ => match Quotes::opened_by(next) {
                Some(quotes) => self.string(quotes)?,
                None => {
                    let literal = self.literal();
                    if literal.is_err() && !self.word_at(open)? {
                        literal?;
                    }
                }
            },
        }
        self.ends_in_number = false;
        self.end_value(open)
    }

    fn word_at(&mut self, open: &[Open]) -> Result<bool, Stop> {
        let Some(guessed) = self.bare_word() else { return Ok(false) };
        self.guess(RepairRule::UnquotedString, path_of(open), guessed)?;
        Ok(true)
    }

    fn number(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let end = rest.find(|next: char| !(next.is_ascii_digit() || "+-.eE".contains(next))).unwrap_or(rest.len());
        let (number, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let ends = behind.chars().next().is_none_or(|next| " \t\n\r,:}]/#`\\\u{FEFF}\u{A0}".contains(next));
        if !ends || read(number).is_err() {
            return self.refuse(LeftReason::Syntax);
        }
        self.out.push_str(number);
        self.at += end;
        Ok(())
    }

    fn literal(&mut self) -> Result<(), Stop> {
        let word = self.word();
        let literal = match word {
            "true" | "false" | "null" => word,
            "True" | "False" | "None" => {
                self.record_repair(RepairRule::PythonLiteral, Confidence::Exact)?;
                match word {
                    "True" => "true",
                    "False" => "false",
                    _ => "null",
                }
            }
            "undefined" => {
                self.record_repair(RepairRule::Undefined, Confidence::Likely)?;
                "null"
            }
            _ => return self.refuse(LeftReason::Syntax),
        };
        self.out.push_str(literal);
        self.at += word.len();
        Ok(())
    }

    fn word(&self) -> &'t str {
        word_of(self.rest())
    }

    /// Ends a value. Records it under its name, and refuses a name with two different values.
    fn end_value(&mut self, open: &mut [Open]) -> Result<Want, Stop> {
        if let Some(top) = open.last_mut() {
            if let Some((name, start)) = top.name.take() {
                let here = (start, self.out.len());
                if let Some(before) = top.names.get(&name).copied() {
                    let value =
                        |(start, end): (usize, usize)| self.out.get(start..end).and_then(|text| read(text).ok());
                    if !matches!((value(before), value(here)), (Some(first), Some(second)) if same(&first, &second)) {
                        return self.refuse(LeftReason::DuplicateName);
                    }
                }
                top.names.insert(name, here);
            }
        }
        Ok(Want::Next { ended: self.at })
    }

    /// Accepts a missing comma. Between members, a name has to follow. Items have to be on separate lines, or enclosed
    /// in brackets.
    fn missing_comma(&mut self, ended: usize, next: char, open: &[Open]) -> Result<(), Stop> {
        let is_object = open.last().is_some_and(|top| top.is_object);
        let begins_name = Quotes::opened_by(next).is_some() || !self.word().is_empty();
        let between = self.text.get(ended..self.at).unwrap_or_default();
        let is_closed = self.text.get(..ended).is_some_and(|before| before.ends_with(['}', ']']));
        let is_separate = between.contains('\n') || (is_closed && matches!(next, '{' | '['));
        let is_missing = if is_object { begins_name && !between.is_empty() } else { is_separate };
        if !is_missing {
            return self.refuse(LeftReason::Syntax);
        }
        self.record_repair(RepairRule::MissingComma, Confidence::Likely)
    }

    fn close(&mut self, bracket: char, open: &mut Vec<Open>) -> Result<Want, Stop> {
        let Some(top) = open.last() else { return self.refuse(LeftReason::Syntax) };
        self.ends_in_number = false;
        if top.is_object == (bracket == '}') {
            self.at += 1;
            self.pop(open);
            return self.end_value(open);
        }
        self.close_mismatched(open)
    }

    fn pop(&mut self, open: &mut Vec<Open>) {
        if let Some(top) = open.pop() {
            self.out.push(if top.is_object { '}' } else { ']' });
        }
    }

    /// Handles a closing bracket that does not match. If only closing brackets follow, closes all open brackets: a
    /// bracket is missing, or is of the wrong kind.
    fn close_mismatched(&mut self, open: &mut Vec<Open>) -> Result<Want, Stop> {
        let rest = self.rest().trim_end();
        let run = rest.strip_suffix("```").unwrap_or(rest);
        if run.contains(|next: char| !(matches!(next, '}' | ']') || next.is_ascii_whitespace())) {
            return self.refuse(LeftReason::Syntax);
        }
        self.record_repair(RepairRule::MisnestedBracket, Confidence::Likely)?;
        let mut left = run.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        for byte in run.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            let is_object = byte == b'}';
            // If fewer brackets follow than are open, one is missing. Otherwise, one is of the wrong kind.
            if left < open.len() {
                while open.last().is_some_and(|top| top.is_object != is_object) {
                    self.pop(open);
                    self.end_value(open)?;
                }
            }
            self.pop(open);
            self.end_value(open)?;
            left -= 1;
        }
        if !open.is_empty() {
            return self.refuse(LeftReason::Truncated);
        }
        self.at += run.len();
        Ok(Want::Next { ended: self.at })
    }

    /// Closes all open brackets if that is requested, unless the last token may be incomplete.
    fn end_of_text(&mut self, open: &mut Vec<Open>, want: Want) -> Result<(), Stop> {
        let is_whole = match want {
            // A comment at the end may hide the rest of the text.
            Want::Next { ended } => {
                !self.ends_in_number && self.text.get(ended..).is_some_and(|behind| behind.trim().is_empty())
            }
            Want::Entry { comma: None, is_first: true } => self.text.trim_end().ends_with(['{', '[']),
            _ => false,
        };
        if !self.tolerance.closes || !is_whole {
            return self.refuse(LeftReason::Truncated);
        }
        self.record_repair(RepairRule::MissingBracket, Confidence::Likely)?;
        while !open.is_empty() {
            self.pop(open);
            self.end_value(open)?;
        }
        Ok(())
    }
}

fn path_of(open: &[Open]) -> Vec<Step> {
    let step = |open: &Open| match &open.name {
        Some((name, _)) => Step::Member(name.clone()),
        None => Step::Item(open.count.saturating_sub(1)),
    };
    open.iter().map(step).collect()
}
