//! The scanner: its position in the text, the JSON text written so far, and the repairs. Skips text between tokens
//! (whitespace, byte order marks, comments), and scans strings in all notations.

use alloc::{string::String, vec::Vec};

use super::{Guess, Refusal, Stop, TextRepair, Tolerance};
use crate::report::{Confidence, LeftReason, RepairRule};

pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) repairs: Vec<TextRepair>,
    pub(super) tolerance: Tolerance,
    /// True if the last token is a number, which may be incomplete at the end of the text.
    pub(super) ends_in_number: bool,
    /// Offsets of the first escape with a letter, such as `\n`, and of the first backslash that does not begin an
    /// escape. If the text has both, the meaning of its backslashes is ambiguous.
    pub(super) escapes: (Option<usize>, Option<usize>),
    /// The guesses that the schema has to confirm.
    pub(super) guesses: Vec<Guess>,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, tolerance: Tolerance) -> Self {
        Scanner {
            text,
            at: 0,
            out: String::new(),
            repairs: Vec::new(),
            tolerance,
            ends_in_number: false,
            escapes: (None, None),
            guesses: Vec::new(),
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn refuse<T>(&self, reason: LeftReason) -> Result<T, Stop> {
        Err(Stop::Refused(Refusal { reason, offset: self.at }))
    }

    pub(super) fn record_repair(&mut self, rule: RepairRule, confidence: Confidence) -> Result<(), Stop> {
        self.record_repair_at(rule, confidence, self.at)
    }

    pub(super) fn record_repair_at(
        &mut self,
        rule: RepairRule,
        confidence: Confidence,
        offset: usize,
    ) -> Result<(), Stop> {
        if let Some(reason) = self.tolerance.permits.refusal(rule, confidence) {
            return Err(Stop::Refused(Refusal { reason, offset }));
        }
        if !self.has(rule) {
            self.repairs.push(TextRepair { rule, confidence, offset });
        }
        Ok(())
    }

    pub(super) fn has(&self, rule: RepairRule) -> bool {
        self.repairs.iter().any(|repair| repair.rule == rule)
    }
}

impl Scanner<'_> {
    pub(super) fn skip_to_token(&mut self) -> Result<(), Stop> {
        self.skip(true)
    }

    /// Advances to the next token outside the value, where a comment is treated as words.
    pub(super) fn skip_to_text(&mut self) -> Result<(), Stop> {
        self.skip(false)
    }

    fn skip(&mut self, has_comments: bool) -> Result<(), Stop> {
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else { return Ok(()) };
            match next {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '\u{FEFF}' | '\u{A0}' => {
                    self.record_repair(RepairRule::ByteOrderMark, Confidence::Exact)?;
                    self.at += next.len_utf8();
                }
                '#' if has_comments => self.line_comment()?,
                '/' if has_comments && rest.starts_with("//") => self.line_comment()?,
                '/' if has_comments && rest.starts_with("/*") => {
                    self.record_repair(RepairRule::Comment, Confidence::Exact)?;
                    let Some(end) = rest.find("*/") else { return self.refuse(LeftReason::Truncated) };
                    self.at += end + 2;
                }
                '\\' if is_escaped_space(rest) => {
                    self.record_repair(RepairRule::EscapedText, Confidence::Likely)?;
                    self.at += 2;
                }
                '\\' if rest.starts_with("\\\"") => return Err(Stop::Escaped(self.at)),
                _ => return Ok(()),
            }
        }
    }

    fn line_comment(&mut self) -> Result<(), Stop> {
        self.record_repair(RepairRule::Comment, Confidence::Exact)?;
        self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        Ok(())
    }
}

/// Returns true if the text begins with an escape of white space, such as `\n`, in two characters. If a letter follows,
/// the escape is part of a word.
fn is_escaped_space(text: &str) -> bool {
    let mut rest = text.strip_prefix('\\').unwrap_or_default().chars();
    let is_space = matches!(rest.next(), Some('n' | 't' | 'r'));
    is_space && !rest.next().is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    Double,
    Single,
    Smart,
}

impl Quotes {
    pub(super) const fn opened_by(character: char) -> Option<Quotes> {
        match character {
            '"' => Some(Quotes::Double),
            '\'' => Some(Quotes::Single),
            '“' | '”' | '„' | '‟' => Some(Quotes::Smart),
            _ => None,
        }
    }

    const fn is_closed_by(self, character: char) -> bool {
        match self {
            Quotes::Double => character == '"',
            Quotes::Single => character == '\'',
            Quotes::Smart => matches!(character, '“' | '”' | '‟'),
        }
    }
}

impl Scanner<'_> {
    pub(super) fn string(&mut self, quotes: Quotes) -> Result<(), Stop> {
        match quotes {
            Quotes::Double => {}
            Quotes::Single => self.record_repair(RepairRule::SingleQuotes, Confidence::Exact)?,
            Quotes::Smart => self.record_repair(RepairRule::SmartQuotes, Confidence::Likely)?,
        }
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        self.out.push('"');
        loop {
            let Some(next) = self.rest().chars().next() else { return self.refuse(LeftReason::Truncated) };
            match next {
                _ if quotes.is_closed_by(next) => {
                    self.at += next.len_utf8();
                    break;
                }
                '\\' => self.escape()?,
                '"' => {
                    self.out.push_str("\\\"");
                    self.at += 1;
                }
                control if control < ' ' => {
                    self.record_repair(RepairRule::ControlCharacter, Confidence::Exact)?;
                    self.control(control);
                    self.at += 1;
                }
                _ => self.plain(quotes),
            }
        }
        self.out.push('"');
        if quotes != Quotes::Double {
            // A string may contain an apostrophe. Its end is certain only if a token follows that may follow a string.
            let rest = self.rest().trim_start();
            if !(rest.is_empty() || rest.starts_with([',', ':', '}', ']', '`'])) {
                return self.refuse(LeftReason::Syntax);
            }
        }
        Ok(())
    }

    fn plain(&mut self, quotes: Quotes) {
        let rest = self.rest();
        let needs_look = |character: char| {
            character < ' ' || character == '\\' || character == '"' || quotes.is_closed_by(character)
        };
        let end = rest.find(needs_look).unwrap_or(rest.len());
        self.out.push_str(rest.get(..end).unwrap_or_default());
        self.at += end;
    }

    fn escape(&mut self) -> Result<(), Stop> {
        let (at, mut rest) = (self.at, self.rest().chars());
        rest.next();
        let Some(kind) = rest.next() else { return self.refuse(LeftReason::Truncated) };
        let length = match kind {
            '"' | '\\' | '/' => 2,
            'b' | 'f' | 'n' | 'r' | 't' => {
                self.escapes.0.get_or_insert(at);
                2
            }
            'u' if rest.as_str().bytes().take(4).filter(u8::is_ascii_hexdigit).count() == 4 => {
                self.escapes.0.get_or_insert(at);
                6
            }
            '\'' => {
                self.record_repair(RepairRule::EscapedApostrophe, Confidence::Exact)?;
                self.out.push('\'');
                self.at += 2;
                return Ok(());
            }
            _ => {
                self.record_repair(RepairRule::InvalidEscape, Confidence::Likely)?;
                self.escapes.1.get_or_insert(at);
                self.out.push_str("\\\\");
                self.at += 1;
                return Ok(());
            }
        };
        let escape = self.rest().get(..length).unwrap_or_default();
        self.out.push_str(escape);
        self.at += length;
        Ok(())
    }

    fn control(&mut self, control: char) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        match control {
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            other => {
                let code = other as usize;
                self.out.push_str("\\u00");
                for digit in [code >> 4, code & 0xF] {
                    self.out.push(DIGITS.get(digit).copied().map_or('0', char::from));
                }
            }
        }
    }
}
