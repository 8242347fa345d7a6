//! Rules for the names of properties, and patterns for the names of tools and of response formats.

use alloc::{format, string::String};
use core::fmt;

use crate::json::Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    /// Names that the API mistakes for keywords.
    pub(crate) reserved: &'static [&'static str],
    /// Below a property whose name contains `{` and `}`, schemas must not have `enum`, `required`, `anyOf` or a `$ref`
    /// other than `#`.
    pub(crate) no_braces: bool,
    /// An object with a property whose name contains `[` or `]` must not allow additional properties.
    pub(crate) no_brackets_beside_others: bool,
    /// The characters of a name; `None` if any name is accepted.
    pub(crate) shape: Option<PropertyPattern>,
}

impl NameRule {
    pub(crate) const OPEN: NameRule =
        NameRule { reserved: &[], no_braces: false, no_brackets_beside_others: false, shape: None };
}

/// Returns true for a name that breaks grammars for additional names.
pub(crate) fn has_brackets(name: &Text<'_>) -> bool {
    name.display().contains(['[', ']'])
}

/// ASCII letters, digits, and the listed characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyPattern {
    /// Accepted characters other than letters and digits.
    pub(crate) also: &'static str,
    /// The first character must be a letter or one of these, not a digit; `None` if any accepted character may be
    /// first.
    pub(crate) first: Option<&'static str>,
    /// Maximum number of characters. The minimum is one.
    pub(crate) max_length: usize,
    /// The pattern applies only to properties of the root.
    pub(crate) root_only: bool,
}

impl PropertyPattern {
    pub(crate) fn allows(&self, name: &str) -> bool {
        // All accepted characters are ASCII, so comparing bytes suffices.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || self.also.as_bytes().contains(&byte);
        let begins = |first_symbols: &str| {
            name.bytes()
                .next()
                .is_some_and(|first| first.is_ascii_alphabetic() || first_symbols.as_bytes().contains(&first))
        };
        !name.is_empty() && name.len() <= self.max_length && name.bytes().all(fits) && self.first.is_none_or(begins)
    }

    pub(crate) fn describe(&self) -> String {
        let first = self
            .first
            .map_or_else(String::new, |first_symbols| format!(" that begins with a letter or `{first_symbols}`"));
        format!("a name of 1 to {} letters, digits or `{}`{first}", self.max_length, self.also)
    }
}

/// ASCII letters, digits and a few more characters.
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
    /// `^[a-zA-Z0-9_-]+$`, the pattern of the ids of calls in Anthropic's format.
    pub(crate) const ANTHROPIC_ID: NamePattern = NamePattern { also: Some("_-"), ..NamePattern::ANY };
}

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
                also.chars().enumerate().try_for_each(|(index, symbol)| {
                    write!(f, "{} `{symbol}`", if index == last { " and" } else { "," })
                })?;
            }
        }
        f.write_str(if letter_first { ", beginning with a letter or `_`" } else { "" })?;
        rules.unwrap_or_default().iter().try_for_each(|rule| write!(f, ", not `{rule}`"))
    }
}
