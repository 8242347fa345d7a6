//! Regular expressions, as the hosted search takes them: in the spelling of Python's `re.search`, as far as an engine
//! that never backtracks has it.

use alloc::{format, string::String};

use regex::{Regex, RegexBuilder};

use crate::error::{Code, Error};

/// The longest pattern the hosted search takes, in characters.
const LONGEST: usize = 200;
/// The most memory a compiled pattern may take: `(\w{1000}){1000}` is short, too.
const SIZE: usize = 1 << 20;

pub(super) struct Pattern(Regex);

impl Pattern {
    /// # Errors
    /// `empty-query`, `pattern-too-long`, `invalid-pattern`.
    pub(super) fn new(pattern: &str) -> Result<Self, Error> {
        if pattern.trim().is_empty() {
            return Err(Error::new(Code::EmptyQuery, "/query", "expected a pattern, found none"));
        }
        let length = pattern.chars().count();
        if length > LONGEST {
            let found = format!("expected a pattern of at most {LONGEST} characters, found {length}");
            return Err(Error::new(Code::PatternTooLong, "/query", found));
        }
        match RegexBuilder::new(&respelled(pattern)).size_limit(SIZE).build() {
            Ok(regex) => Ok(Pattern(regex)),
            Err(error) => {
                let found = format!(
                    "expected a regular expression without look-around or back-references, found `{pattern}`: {error}"
                );
                Err(Error::new(Code::InvalidPattern, "/query", found))
            }
        }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The few things Python spells differently: `\Z` is the end, `\<` is a mere `<`, a `[` or `&&` inside a class means
/// itself.
fn respelled(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    let mut class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('Z') if !class => out.push_str("\\z"),
                Some(plain @ ('<' | '>')) => out.push(plain),
                Some(other) => out.extend([letter, other]),
                None => out.push(letter),
            },
            '[' if class => out.push_str("\\["),
            '&' | '~' if class => out.extend(['\\', letter]),
            '[' => {
                class = true;
                out.push(letter);
                // A `]` right at the start is one of the class.
                for first in ['^', ']'] {
                    if letters.as_str().starts_with(first) {
                        letters.next();
                        out.push_str(if first == ']' { "\\]" } else { "^" });
                    }
                }
            }
            ']' => {
                class = false;
                out.push(letter);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::{respelled, Pattern};

    #[test]
    fn python_spelling_is_understood() {
        for (python, text, matches) in [
            (r"^get_.*_data\Z", "get_user_data", true),
            ("(?i)slack", "Slack", true),
            ("slack", "Slack", false),
            ("(?P<verb>get|list)_", "list_users", true),
            ("[[]x", "[x", true),
            ("[]x]y", "]y", true),
            ("[^]]z", "]z", false),
            ("[a&&b]", "&", true),
            (r"\<b\>", "a <b> c", true),
            (r"\d{3}\.\w", "123.x", true),
        ] {
            let pattern = Pattern::new(python).unwrap_or_else(|error| panic!("{python}: {error}"));
            assert_eq!(pattern.is_in(text), matches, "{python} in {text}");
        }
        assert_eq!(respelled("a\\"), "a\\");
    }

    #[test]
    fn what_cannot_be_matched_in_linear_time_is_refused() {
        for pattern in ["(?=x)", r"(a)\1", "(", r"(\w{1000}){1000}", "a\\"] {
            let error = Pattern::new(pattern).err().unwrap_or_else(|| panic!("{pattern} is refused"));
            assert_eq!(error.code().as_str(), "invalid-pattern", "{pattern}");
        }
    }
}
