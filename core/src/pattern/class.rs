//! Sets of characters in regular expressions.

use alloc::vec::Vec;

use super::Spelling;

/// A character class escape, such as `\d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Digit,
    Word,
    Space,
}

impl Kind {
    /// Returns the class of an escape letter, and whether it is negated.
    pub(super) fn of(letter: char) -> Option<(Kind, bool)> {
        let kind = match letter.to_ascii_lowercase() {
            'd' => Kind::Digit,
            'w' => Kind::Word,
            's' => Kind::Space,
            _ => return None,
        };
        Some((kind, letter.is_ascii_uppercase()))
    }

    /// Returns true if a character is in the class. Python's classes are Unicode's, of which `core` knows letters and
    /// numbers: beyond ASCII every number counts as a digit, even if Python excludes it (`²`).
    pub(super) fn has(self, character: char, spelling: Spelling) -> bool {
        match (self, spelling) {
            (Kind::Digit, Spelling::Ecma) => character.is_ascii_digit(),
            (Kind::Digit, Spelling::Python) => character.is_numeric(),
            (Kind::Word, Spelling::Ecma) => character.is_ascii_alphanumeric() || character == '_',
            (Kind::Word, Spelling::Python) => character.is_alphanumeric() || character == '_',
            (Kind::Space, Spelling::Ecma) => {
                (character.is_whitespace() && character != '\u{85}') || character == '\u{feff}'
            }
            (Kind::Space, Spelling::Python) => character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character),
        }
    }
}

/// Part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A range of characters, inclusive.
    Range(char, char),
    /// A class, or its complement if true.
    Kind(Kind, bool),
}

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) parts: Vec<Part>,
    /// True if the set is a complement.
    pub(super) is_negated: bool,
    /// True if the case of letters is ignored.
    pub(super) folds: bool,
}

impl Set {
    /// Returns the number of parts.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Returns true if a character is in the set.
    pub(super) fn takes(&self, character: char, spelling: Spelling) -> bool {
        let is_in = self.has(character, spelling) || (self.folds && self.has_other_case(character, spelling));
        is_in != self.is_negated
    }

    fn has(&self, character: char, spelling: Spelling) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Range(from, to) => (*from..=*to).contains(&character),
            Part::Kind(kind, is_negated) => kind.has(character, spelling) != *is_negated,
        })
    }

    fn has_other_case(&self, character: char, spelling: Spelling) -> bool {
        let upper = only(character.to_uppercase()).unwrap_or(character);
        let lower = only(character.to_lowercase()).unwrap_or(character);
        // `ſ` matches `s` only through its capital.
        let again = only(upper.to_lowercase()).unwrap_or(upper);
        [upper, lower, again].iter().any(|one| *one != character && self.has(*one, spelling))
    }
}

/// Returns the only item; `None` if there are more.
fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}
