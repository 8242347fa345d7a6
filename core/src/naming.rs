//! Spelling of option names in the caller's language, and suggestions for misspelled names: "Did you mean …?"

use alloc::{borrow::Cow, format, string::String, vec::Vec};

/// Spelling of option names in the caller's language. Pointers into options have the same spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// `maxBytes`, as in JSON and TypeScript.
    #[default]
    Camel,
    /// `max_bytes`, as in Python.
    Snake,
    /// `max_bytes`, as the field and the setter in Rust.
    Rust,
}

impl Naming {
    /// Returns the spelling of an option name, which is given in camelCase.
    pub(crate) fn spell(self, camel: &str) -> Cow<'_, str> {
        match self {
            Naming::Camel => Cow::Borrowed(camel),
            // `use` is a keyword of Rust.
            Naming::Rust if camel == "use" => Cow::Borrowed("used_as"),
            Naming::Snake | Naming::Rust => {
                let mut snake = String::with_capacity(camel.len() + 4);
                for character in camel.chars() {
                    if character.is_ascii_uppercase() {
                        snake.push('_');
                    }
                    snake.push(character.to_ascii_lowercase());
                }
                Cow::Owned(snake)
            }
        }
    }
}

/// Returns the known name nearest to `written`. It must be equal except for case, `-`, `_`, spaces and dots, or be at
/// most `tolerance(length)` edits away. Returns `None` if no name is near enough.
pub fn nearest<'k>(
    written: &str,
    known: impl IntoIterator<Item = &'k str>,
    tolerance: fn(usize) -> usize,
) -> Option<&'k str> {
    // Longer text is not a misspelled name, and the comparison takes quadratic time.
    const MAX_LENGTH: usize = 40;
    let folded = fold(written);
    if folded.is_empty() || folded.len() > MAX_LENGTH {
        return None;
    }
    let limit = tolerance(folded.len());
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        if name.len() > 8 * MAX_LENGTH {
            continue;
        }
        // The difference in length is a lower bound of the distance.
        let known = fold(name);
        if known.len().abs_diff(folded.len()) > limit {
            continue;
        }
        let distance = distance(&folded, &known);
        if distance <= limit && best.is_none_or(|(lowest, _)| distance < lowest) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Returns `" (did you mean …?)"` to append to a message, or an empty string if no known name is near.
pub fn did_you_mean<'k, T: AsRef<str> + 'k>(written: &str, known: impl IntoIterator<Item = &'k T>) -> String {
    let known = known.into_iter().map(AsRef::as_ref);
    nearest(written, known, |letters| letters.div_ceil(4))
        .map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn fold(name: &str) -> Vec<char> {
    name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// Number of insertions, deletions, replacements and swaps of adjacent letters (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, left) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(last.len());
        next.push(row + 1);
        for (column, right) in b.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&last, column) + usize::from(left != right))
                .min(at(&last, column + 1) + 1)
                .min(at(&next, column) + 1);
            let swapped = row > 0 && column > 0 && a.get(row - 1) == Some(right) && b.get(column - 1) == Some(left);
            if swapped {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            next.push(cost);
        }
        before = core::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_found() {
        let known = ["dialect", "maxNodes", "maxBytes", "openai-strict", "openai-chat"];
        for (written, meant) in [
            ("dialet", Some("dialect")),
            ("diaelct", Some("dialect")),
            ("max_nodes", Some("maxNodes")),
            ("MAXBYTES", Some("maxBytes")),
            ("openai_strict", Some("openai-strict")),
            ("openaistrikt", Some("openai-strict")),
            ("format", None),
            ("", None),
        ] {
            let expected = meant.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
            assert_eq!(did_you_mean(written, &known), expected, "{written}");
        }
        assert_eq!(did_you_mean(&"d".repeat(100_000), &known), "");
        assert_eq!(nearest("dialet", known, |_| 0), None);
    }
}
