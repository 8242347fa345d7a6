//! Spellings that metaschemas require of anchors, URIs and vocabularies.

use crate::json::{Node, Text};

/// Returns true for the name of an anchor: a letter or `_`, then letters, digits, `-`, `_` and `.`.
pub(crate) fn is_anchor(text: &Text<'_>) -> bool {
    let text = text.display();
    let is_letter = |character: char| character.is_ascii_alphabetic() || character == '_';
    text.starts_with(is_letter) && text.chars().all(|one| is_letter(one) || one.is_ascii_digit() || "-.".contains(one))
}

/// Returns true for an object that maps vocabularies to booleans.
pub(crate) fn names_vocabularies(value: &Node<'_>) -> bool {
    value.as_object().is_some_and(|table| table.iter().all(|member| member.value.as_bool().is_some()))
}

/// Returns true if the text has a scheme.
pub(crate) fn is_uri(text: &Text<'_>) -> bool {
    let text = text.display();
    let is_of_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|one: char| one.is_ascii_alphabetic())
            && scheme.chars().all(is_of_scheme)
            && !rest.is_empty()
    })
}
