//! Skips text between tokens: whitespace, byte order marks, comments.

use super::{scanner::Scanner, Stop};
use crate::report::{Confidence, LeftReason, RepairRule};

impl Scanner<'_> {
    /// Advances to the next token. Skips comments.
    pub(super) fn trivia(&mut self) -> Result<(), Stop> {
        self.skip(true)
    }

    /// Advances to the next token outside the value, where a comment counts as words.
    pub(super) fn space(&mut self) -> Result<(), Stop> {
        self.skip(false)
    }

    fn skip(&mut self, has_comments: bool) -> Result<(), Stop> {
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else { return Ok(()) };
            match next {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '\u{FEFF}' | '\u{A0}' => {
                    self.note(RepairRule::ByteOrderMark, Confidence::Exact)?;
                    self.at += next.len_utf8();
                }
                '#' if has_comments => self.line_comment()?,
                '/' if has_comments && rest.starts_with("//") => self.line_comment()?,
                '/' if has_comments && rest.starts_with("/*") => {
                    self.note(RepairRule::Comment, Confidence::Exact)?;
                    let Some(end) = rest.find("*/") else { return self.refuse(LeftReason::Truncated) };
                    self.at += end + 2;
                }
                '\\' if is_escaped_space(rest) => {
                    self.note(RepairRule::EscapedText, Confidence::Likely)?;
                    self.at += 2;
                }
                '\\' if rest.starts_with("\\\"") => return Err(Stop::Escaped(self.at)),
                _ => return Ok(()),
            }
        }
    }

    fn line_comment(&mut self) -> Result<(), Stop> {
        self.note(RepairRule::Comment, Confidence::Exact)?;
        self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        Ok(())
    }
}

/// Returns true if the text begins with an escape for whitespace, which is two characters. If a letter follows it, it
/// is part of a word.
fn is_escaped_space(text: &str) -> bool {
    let mut rest = text.strip_prefix('\\').unwrap_or_default().chars();
    let is_space = matches!(rest.next(), Some('n' | 't' | 'r'));
    is_space && !rest.next().is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
}
