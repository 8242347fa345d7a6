//! Which names properties may have.

use alloc::{format, string::String};

use crate::json::Text;

/// Which property names may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    /// Names that are taken for keywords.
    pub(crate) reserved: &'static [&'static str],
    /// Below a name with `{` and `}` no schema may have `enum`, `required`, `anyOf` or a `$ref` other than `#`.
    pub(crate) no_braces: bool,
    /// Beside a name with `[` or `]` no other properties may be admitted.
    pub(crate) no_brackets_beside_others: bool,
    /// What a name is made of; `None`: anything.
    pub(crate) shape: Option<PropertyPattern>,
}

impl NameRule {
    /// Any name.
    pub(crate) const OPEN: NameRule =
        NameRule { reserved: &[], no_braces: false, no_brackets_beside_others: false, shape: None };
}

/// True for a name that breaks a grammar which spells out all other names.
pub(crate) fn has_brackets(name: &Text<'_>) -> bool {
    name.display().contains(['[', ']'])
}

/// What a property's name is made of: ASCII letters, digits, and what is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PropertyPattern {
    /// Characters beyond letters and digits.
    pub(crate) also: &'static str,
    /// The first character is a letter or one of these, never a digit; `None`: it is like any other.
    pub(crate) first: Option<&'static str>,
    /// Maximum number of characters; at least one.
    pub(crate) most: usize,
    /// It holds for properties of the root only.
    pub(crate) root_only: bool,
}

impl PropertyPattern {
    /// Is a name of this shape?
    pub(crate) fn allows(&self, name: &str) -> bool {
        // All that is allowed is ASCII, so bytes will do.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || self.also.as_bytes().contains(&byte);
        let begins = |also: &str| {
            name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || also.as_bytes().contains(&first))
        };
        !name.is_empty() && name.len() <= self.most && name.bytes().all(fits) && self.first.is_none_or(begins)
    }

    /// In words, for messages.
    pub(crate) fn describe(&self) -> String {
        let first = self.first.map_or_else(String::new, |also| format!(" that begins with a letter or `{also}`"));
        format!("a name of 1 to {} letters, digits or `{}`{first}", self.most, self.also)
    }
}
