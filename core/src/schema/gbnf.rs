//! A regular expression in the escapes that GBNF knows, the grammars that llama.cpp makes of schemas.
//!
//! Source: llama.cpp, common/json-schema-to-grammar.cpp, which copies what it does not know, and llama-grammar.cpp,
//! which then fails: `Failed to initialize samplers: failed to parse grammar` (llama.cpp#25895).

use alloc::string::String;
use core::{iter::Peekable, str::Chars};

const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
/// What `\s` is by ECMA-262; GBNF reads UTF-8.
const SPACE: &str =
    " \\t\\n\\r\\x0B\\x0C\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// The same pattern in the escapes that GBNF knows; `None` if it has something that they cannot say.
pub(crate) fn respelled(pattern: &str) -> Option<String> {
    let mut written = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => escape(&mut rest, &mut written)?,
            '[' => class(&mut rest, &mut written)?,
            other => written.push(other),
        }
    }
    Some(written)
}

fn escape(rest: &mut Peekable<Chars<'_>>, written: &mut String) -> Option<()> {
    let character = rest.next()?;
    match character {
        'd' | 'w' | 's' | 'D' | 'W' | 'S' => {
            written.push('[');
            if character.is_ascii_uppercase() {
                written.push('^');
            }
            written.push_str(members(character.to_ascii_lowercase()));
            written.push(']');
        }
        'x' => hexadecimal(rest, written)?,
        'f' => written.push_str("\\x0C"),
        'v' => written.push_str("\\x0B"),
        'n' | 'r' | 't' | '\\' | '"' => written.extend(['\\', character]),
        '^' | '$' | '.' | '[' | ']' | '(' | ')' | '|' | '{' | '}' | '*' | '+' | '?' => {
            written.extend(['\\', character])
        }
        // Boundaries, references, properties and code points.
        other if other.is_alphanumeric() => return None,
        other => written.push(other),
    }
    Some(())
}

/// What stands in brackets.
fn class(rest: &mut Peekable<Chars<'_>>, written: &mut String) -> Option<()> {
    written.push('[');
    if rest.next_if_eq(&'^').is_some() {
        written.push('^');
    }
    let begins = written.len();
    // Where they cannot be taken for a range, or for the sign of a complement.
    let (mut hyphen, mut caret) = (false, false);
    let mut after_set = false;
    loop {
        let character = rest.next()?;
        let was_set = core::mem::take(&mut after_set);
        match character {
            ']' => break,
            '-' if was_set => hyphen = true,
            '\\' => match rest.next()? {
                '-' => hyphen = true,
                '^' if written.len() == begins => caret = true,
                set @ ('d' | 'w' | 's') => {
                    written.push_str(members(set));
                    after_set = true;
                }
                'x' => hexadecimal(rest, written)?,
                'b' => written.push_str("\\x08"),
                'f' => written.push_str("\\x0C"),
                'v' => written.push_str("\\x0B"),
                kept @ ('n' | 'r' | 't' | '\\' | ']' | '[') => written.extend(['\\', kept]),
                other if other.is_alphanumeric() => return None,
                other => written.push(other),
            },
            // As itself it would begin a class to some readers.
            '[' => written.push_str("\\["),
            other => written.push(other),
        }
    }
    if caret && written.len() == begins && !hyphen {
        // Nothing but `^`: as itself it would say a complement.
        written.push_str("\\x5E");
    } else if caret {
        written.push('^');
    }
    if hyphen {
        written.push('-');
    }
    written.push(']');
    Some(())
}

fn hexadecimal(rest: &mut Peekable<Chars<'_>>, written: &mut String) -> Option<()> {
    let digits = [rest.next()?, rest.next()?];
    digits.iter().all(char::is_ascii_hexdigit).then(|| {
        written.push_str("\\x");
        written.extend(digits);
    })
}

fn members(set: char) -> &'static str {
    match set {
        'd' => DIGIT,
        'w' => WORD,
        _ => SPACE,
    }
}

#[cfg(test)]
mod tests {
    use super::respelled;

    #[test]
    fn escapes_become_classes_and_characters() {
        for (pattern, expected) in [
            (r"^\d+\/\w*$", "^[0-9]+/[A-Za-z0-9_]*$"),
            (r"^[\w.\-]+@\D$", "^[A-Za-z0-9_.-]+@[^0-9]$"),
            (r"^[\w-.]$", "^[A-Za-z0-9_.-]$"),
            (r"^[\^a]\.\\$", r"^[a^]\.\\$"),
            (r"^[\^]$", r"^[\x5E]$"),
            (r"^[^\d\]]$", r"^[^0-9\]]$"),
            (r"^\x41\-\:$", r"^\x41-:$"),
            ("^[a-z]{2,3}$", "^[a-z]{2,3}$"),
        ] {
            assert_eq!(respelled(pattern).as_deref(), Some(expected), "{pattern}");
            assert_eq!(respelled(expected).as_deref(), Some(expected), "{expected} twice");
        }
    }

    #[test]
    fn what_cannot_be_said() {
        for pattern in [r"^\bword$", r"^(a)\1$", r"^\p{L}$", r"^[\W]$", r"^\u0041$", r"\", "[a", r"^\x4$"] {
            assert_eq!(respelled(pattern), None, "{pattern}");
        }
    }
}
