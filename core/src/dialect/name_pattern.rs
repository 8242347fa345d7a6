//! Patterns for the names of tools and of response formats.

use core::fmt;

/// Pattern of a tool name: ASCII letters, digits and a few more characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamePattern {
    /// Accepted characters other than ASCII letters and digits; `None` accepts any character in any position.
    pub(crate) also: Option<&'static str>,
    /// The first character must be a letter or `_`.
    pub(crate) letter_first: bool,
    /// Minimum number of characters.
    pub(crate) min_length: usize,
    /// Maximum number of characters.
    pub(crate) max_length: usize,
    /// Names of rules that the grammar already has, if tool names become rules of one grammar. There, every character
    /// except ASCII letters, digits and `-` becomes `-`, and two tools must not become the same rule. `None` if names
    /// do not become rules of a grammar.
    pub(crate) rules: Option<&'static [&'static str]>,
}

impl NamePattern {
    /// Any non-empty name.
    pub(crate) const ANY: NamePattern =
        NamePattern { also: None, letter_first: false, min_length: 1, max_length: usize::MAX, rules: None };
    /// `^[a-zA-Z0-9_-]{1,64}$`, the pattern of OpenAI and of most other APIs.
    pub(crate) const OPENAI: NamePattern = NamePattern { also: Some("_-"), max_length: 64, ..NamePattern::ANY };
}

/// Describes the pattern for messages.
impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamePattern { also, letter_first, min_length, max_length, rules } = *self;
        if max_length == usize::MAX {
            write!(f, "{min_length} or more")?;
        } else {
            write!(f, "{min_length} to {max_length}")?;
        }
        match also {
            None => f.write_str(" characters")?,
            Some(also) => {
                f.write_str(" ASCII letters, digits")?;
                let last = also.chars().count().saturating_sub(1);
                also.chars()
                    .enumerate()
                    .try_for_each(|(place, one)| write!(f, "{} `{one}`", if place == last { " and" } else { "," }))?;
            }
        }
        f.write_str(if letter_first { ", beginning with a letter or `_`" } else { "" })?;
        rules.unwrap_or_default().iter().try_for_each(|rule| write!(f, ", not `{rule}`"))
    }
}
