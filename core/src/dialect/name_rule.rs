//! Rules for the names of properties.

use alloc::{format, string::String};

use crate::json::Text;

/// Accepted property names.
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
    /// Accepts any name.
    pub(crate) const OPEN: NameRule =
        NameRule { reserved: &[], no_braces: false, no_brackets_beside_others: false, shape: None };
}

/// Returns true for a name that breaks a grammar that enumerates all other names.
pub(crate) fn has_brackets(name: &Text<'_>) -> bool {
    name.display().contains(['[', ']'])
}

/// Pattern of a property name: ASCII letters, digits, and the listed characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyPattern {
    /// Accepted characters other than letters and digits.
    pub(crate) also: &'static str,
    /// The first character must be a letter or one of these, not a digit; `None` if it has no rule of its own.
    pub(crate) first: Option<&'static str>,
    /// Maximum number of characters. The minimum is one.
    pub(crate) max_length: usize,
    /// The pattern applies only to properties of the root.
    pub(crate) root_only: bool,
}

impl PropertyPattern {
    /// Returns true if a name matches the pattern.
    pub(crate) fn allows(&self, name: &str) -> bool {
        // All accepted characters are ASCII, so comparing bytes suffices.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || self.also.as_bytes().contains(&byte);
        let begins = |also: &str| {
            name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || also.as_bytes().contains(&first))
        };
        !name.is_empty() && name.len() <= self.max_length && name.bytes().all(fits) && self.first.is_none_or(begins)
    }

    /// Describes the pattern for messages.
    pub(crate) fn describe(&self) -> String {
        let first = self.first.map_or_else(String::new, |also| format!(" that begins with a letter or `{also}`"));
        format!("a name of 1 to {} letters, digits or `{}`{first}", self.max_length, self.also)
    }
}
