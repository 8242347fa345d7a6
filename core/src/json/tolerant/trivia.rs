//! What stands between tokens: white space, marks, comments.

use super::{scanner::Scanner, Stop};
use crate::report::{Confidence, LeftReason, RepairRule};

impl Scanner<'_> {
    /// Goes on to the next token.
    pub(super) fn trivia(&mut self) -> Result<(), Stop> {
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else { return Ok(()) };
            match next {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '\u{FEFF}' | '\u{A0}' => {
                    self.note(RepairRule::ByteOrderMark, Confidence::Exact)?;
                    self.at += next.len_utf8();
                }
                '#' => self.line_comment()?,
                '/' if rest.starts_with("//") => self.line_comment()?,
                '/' if rest.starts_with("/*") => {
                    self.note(RepairRule::Comment, Confidence::Exact)?;
                    let Some(end) = rest.find("*/") else { return self.refuse(LeftReason::Truncated) };
                    self.at += end + 2;
                }
                '\\' if ["\\n", "\\t", "\\r"].iter().any(|escape| rest.starts_with(escape)) => {
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
