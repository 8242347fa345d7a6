//! A pattern by ECMA-262 in the spelling of the crate `regex`.

use alloc::{format, string::String};
use core::{iter::Peekable, str::Chars};

use crate::schema::regex::with_plain_hyphens;

/// The most memory a compiled pattern may take.
const SIZE: usize = 1 << 18;

/// What stands for a set, in and outside of classes. The engine's own sets are Unicode's, ECMA's are not.
const DIGITS: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\t\n\x0B\x0C\r\x20\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF";

/// The pattern, ready to be looked for; `None`: no engine here reads it as ECMA-262 does.
pub(super) fn compiled(pattern: &str) -> Option<regex::Regex> {
    let plain = with_plain_hyphens(pattern);
    let spelled = respelled(plain.as_deref().unwrap_or(pattern))?;
    regex::RegexBuilder::new(&spelled).size_limit(SIZE).build().ok()
}

fn respelled(pattern: &str) -> Option<String> {
    let (mut out, mut letters, mut in_class) =
        (String::with_capacity(pattern.len() + 16), pattern.chars().peekable(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => escape(&mut letters, in_class, &mut out)?,
            '[' if in_class => out.push_str(r"\["),
            '&' | '~' if in_class => out.extend(['\\', letter]),
            '[' => match (letters.next_if_eq(&'^').is_some(), letters.next_if_eq(&']').is_some()) {
                // `[]` takes nothing, `[^]` any character.
                (false, true) => out.push_str(r"[^\x{0}-\x{10FFFF}]"),
                (true, true) => out.push_str(r"[\x{0}-\x{10FFFF}]"),
                (is_negated, false) => {
                    in_class = true;
                    out.push_str(if is_negated { "[^" } else { "[" });
                    // First of all a hyphen is one.
                    if letters.next_if_eq(&'-').is_some() {
                        out.push_str(r"\-");
                    }
                }
            },
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Two hyphens are a difference of sets elsewhere.
            '-' if in_class && letters.peek() == Some(&'-') => out.push_str(r"\-"),
            '.' if !in_class => out.push_str(r"[^\n\r\u2028\u2029]"),
            // What ECMA-262 calls an error or a literal, the engine may call a repetition.
            '{' if !in_class && !letters.peek().is_some_and(char::is_ascii_digit) => return None,
            '(' if !in_class && letters.peek() == Some(&'?') => {
                letters.next();
                match letters.next()? {
                    ':' => out.push_str("(?:"),
                    '<' if !matches!(letters.peek(), Some('=' | '!')) => out.push_str("(?<"),
                    // Lookaround; flags, which other engines have.
                    _ => return None,
                }
            }
            other => out.push(other),
        }
    }
    Some(out)
}

/// What a backslash begins.
fn escape(letters: &mut Peekable<Chars<'_>>, in_class: bool, out: &mut String) -> Option<()> {
    let letter = letters.next()?;
    let mut set = |set: &str| {
        out.push_str(&if in_class { String::from(set) } else { format!("[{set}]") });
        Some(())
    };
    match letter {
        'd' => set(DIGITS),
        'w' => set(WORD),
        's' => set(SPACE),
        'D' | 'W' | 'S' => {
            let of = match letter {
                'D' => DIGITS,
                'W' => WORD,
                _ => SPACE,
            };
            // A class inside a class is the engine's own, and means what it should.
            out.push_str(&format!("[^{of}]"));
            Some(())
        }
        'b' if in_class => {
            out.push_str(r"\x08");
            Some(())
        }
        'b' => {
            out.push_str(r"(?-u:\b)");
            Some(())
        }
        't' | 'n' | 'r' | 'f' | 'v' => {
            out.extend(['\\', letter]);
            Some(())
        }
        '0' if !letters.peek().is_some_and(char::is_ascii_digit) => {
            out.push_str(r"\x00");
            Some(())
        }
        'x' => character(hex(letters, 2)?, out),
        'u' if letters.peek() == Some(&'{') => {
            letters.next();
            let mut code = 0_u32;
            loop {
                match letters.next()? {
                    '}' => return character(code, out),
                    digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                }
            }
        }
        'u' => match hex(letters, 4)? {
            high @ 0xD800..=0xDBFF => {
                letters.next_if_eq(&'\\')?;
                letters.next_if_eq(&'u')?;
                let low = hex(letters, 4).filter(|low| (0xDC00..=0xDFFF).contains(low))?;
                character(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), out)
            }
            code => character(code, out),
        },
        'c' => {
            let letter = letters.next().filter(char::is_ascii_alphabetic)?;
            character(u32::from(letter) % 32, out)
        }
        // Everything that is no letter and no digit stands for itself.
        other if !other.is_alphanumeric() && other != '_' => character(u32::from(other), out),
        _ => None,
    }
}

fn character(code: u32, out: &mut String) -> Option<()> {
    char::from_u32(code)?;
    out.push_str(&format!(r"\x{{{code:X}}}"));
    Some(())
}

fn hex(letters: &mut Peekable<Chars<'_>>, count: usize) -> Option<u32> {
    (0..count).try_fold(0, |code, _| Some(code * 16 + letters.next()?.to_digit(16)?))
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::compiled;

    #[test]
    fn patterns_mean_what_ecma_262_says() {
        for (pattern, text, expected) in [
            ("^a*$", "aaa", true),
            ("b", "abc", true),
            (r"^\d+$", "12", true),
            (r"^\d+$", "\u{7ff}1", false),
            (r"^\w$", "é", false),
            (r"^\W$", "é", true),
            (r"^\s$", "\u{feff}", true),
            (r"^\S$", "\u{a0}", false),
            (r"^[\w.-]+$", "a-b.c", true),
            (r"^[^\s]+$", "a b", false),
            (r"^[\D]$", "x", true),
            (r"\bab\b", "éab!", true),
            ("^.$", "\r", false),
            ("^[^]$", "\n", true),
            ("[]", "a", false),
            ("^[[a]$", "[", true),
            ("^[a&&b]$", "&", true),
            ("^[a--]$", "-", true),
            (r"^\/a\-$", "/a-", true),
            (r"^\cM$", "\r", true),
            (r"^\uD83D\uDC32*$", "🐲🐲", true),
            (r"^\u{1F432}$", "🐲", true),
            (r"^\x41\u0042\0$", "AB\0", true),
            ("^(?<y>[0-9]{4})$", "2026", true),
            ("a$", "a\n", false),
            (r"\<", "<", true),
            (r"^[\b]$", "\u{8}", true),
            ("^[-a]$", "-", true),
        ] {
            let regex = compiled(pattern).unwrap_or_else(|| panic!("{pattern} is read"));
            assert_eq!(regex.is_match(text), expected, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn what_means_something_else_elsewhere_is_not_read() {
        for pattern in [
            "(?=a)",
            "(?<!a)b",
            r"(a)\1",
            "(?i)a",
            "a{,5}",
            r"\p{L}",
            r"\Aa",
            r"\z",
            "(",
            r"(\w{1000}){1000}",
            r"\uD83D",
            r"\B",
        ] {
            assert!(compiled(pattern).is_none(), "{pattern}");
        }
    }
}
