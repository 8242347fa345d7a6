//! What names an API takes, of tools and of response formats.

use core::fmt;

/// What a tool may be called: ASCII letters, digits and a few more characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamePattern {
    /// The characters beside ASCII letters and digits; `None`: any character, at any place.
    pub(crate) also: Option<&'static str>,
    /// The first character is a letter or `_`.
    pub(crate) letter_first: bool,
    /// The fewest characters.
    pub(crate) least: usize,
    /// Maximum number of characters.
    pub(crate) most: usize,
    /// The names become rules of one grammar, where everything but ASCII letters, digits and `-` becomes one `-`: two
    /// tools may not become one rule. The grammar has these rules itself. `None`: no grammar is made of the names.
    pub(crate) rules: Option<&'static [&'static str]>,
}

impl NamePattern {
    /// Any name that is not empty.
    pub(crate) const ANY: NamePattern =
        NamePattern { also: None, letter_first: false, least: 1, most: usize::MAX, rules: None };
    /// `^[a-zA-Z0-9_-]{1,64}$`, which OpenAI has and most others took over.
    pub(crate) const OPENAI: NamePattern = NamePattern { also: Some("_-"), most: 64, ..NamePattern::ANY };
}

/// In words, for messages.
impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NamePattern { also, letter_first, least, most, rules } = *self;
        if most == usize::MAX {
            write!(f, "{least} or more")?;
        } else {
            write!(f, "{least} to {most}")?;
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
