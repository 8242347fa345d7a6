//! Scans strings in all notations, and writes them as JSON strings.

use super::{scanner::Scanner, Stop};
use crate::report::{Confidence, LeftReason, RepairRule};

/// Quotation marks of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    Double,
    Single,
    Smart,
}

impl Quotes {
    /// Returns the quotation marks of a string that begins with this character.
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
    /// Scans a string, beginning at its opening mark.
    pub(super) fn string(&mut self, quotes: Quotes) -> Result<(), Stop> {
        match quotes {
            Quotes::Double => {}
            Quotes::Single => self.note(RepairRule::SingleQuotes, Confidence::Exact)?,
            Quotes::Smart => self.note(RepairRule::SmartQuotes, Confidence::Likely)?,
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
                    self.note(RepairRule::ControlCharacter, Confidence::Exact)?;
                    self.control(control);
                    self.at += 1;
                }
                _ => self.plain(quotes),
            }
        }
        self.out.push('"');
        if quotes != Quotes::Double {
            // The end of a string that may contain an apostrophe is a guess, unless it is followed by a token that may
            // follow a string.
            let rest = self.rest().trim_start();
            if !(rest.is_empty() || rest.starts_with([',', ':', '}', ']', '`'])) {
                return self.refuse(LeftReason::Syntax);
            }
        }
        Ok(())
    }

    /// Copies everything up to the next special character.
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
                self.note(RepairRule::EscapedApostrophe, Confidence::Exact)?;
                self.out.push('\'');
                self.at += 2;
                return Ok(());
            }
            _ => {
                self.note(RepairRule::InvalidEscape, Confidence::Likely)?;
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
