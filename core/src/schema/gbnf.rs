//! A regular expression as llama.cpp's converter reads it, which makes grammars (GBNF) of patterns.
//!
//! Source: llama.cpp, common/json-schema-to-grammar.cpp@011c6c3c, which copies escapes that it does not know, and
//! llama-grammar.cpp, which then fails: `Failed to initialize samplers: failed to parse grammar` (llama.cpp#25895). The
//! converter cuts the first `^` and the last `$`, and lets a quantifier behind an escape repeat all literals before it.

use alloc::{format, string::String};
use core::{iter::Peekable, str::Chars};

const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
/// What `\s` is by ECMA-262; GBNF reads UTF-8.
const SPACE: &str =
    " \\t\\n\\r\\x0B\\x0C\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// More repetitions are no grammar.
const MOST: u32 = 1_999;

/// The same pattern as the converter reads it rightly; `None` if it cannot. Patterns that are not `^…$` have none.
pub(crate) fn respelled(pattern: &str) -> Option<String> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let mut writer = Writer { rest: inner.chars().peekable(), written: String::from("^"), depth: 0 };
    while let Some(character) = writer.rest.next() {
        writer.one(character)?;
    }
    (writer.depth == 0).then(|| writer.written + "$")
}

struct Writer<'p> {
    rest: Peekable<Chars<'p>>,
    written: String,
    /// How many groups are open.
    depth: usize,
}

impl Writer<'_> {
    fn one(&mut self, character: char) -> Option<()> {
        match character {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => {
                // Groups of other kinds are left out.
                if self.rest.next_if_eq(&'?').is_some() {
                    self.rest.next_if_eq(&':')?;
                    self.written.push_str("(?:");
                } else {
                    self.written.push('(');
                }
                self.depth += 1;
                // A quantifier here repeats nothing.
                return (!self.is_quantified()).then_some(());
            }
            ')' => {
                self.depth = self.depth.checked_sub(1)?;
                self.written.push(')');
            }
            // Outside a group the anchors would belong to one branch.
            '|' if self.depth > 0 => {
                self.written.push('|');
                return (!self.is_quantified()).then_some(());
            }
            '|' | '^' | '$' | ']' | '{' | '}' | '*' | '+' | '?' => return None,
            other => self.written.push(other),
        }
        self.quantifier()
    }

    fn is_quantified(&mut self) -> bool {
        matches!(self.rest.peek(), Some('*' | '+' | '?' | '{'))
    }

    /// One, greedy, if there is any.
    fn quantifier(&mut self) -> Option<()> {
        if !self.is_quantified() {
            return Some(());
        }
        let first = self.rest.next()?;
        self.written.push(first);
        if first == '{' {
            let low = self.number()?;
            let high = match self.rest.next_if_eq(&',') {
                None => low,
                Some(_) => {
                    self.written.push(',');
                    if self.rest.peek() == Some(&'}') {
                        low
                    } else {
                        self.number()?
                    }
                }
            };
            self.rest.next_if_eq(&'}')?;
            self.written.push('}');
            if low > high || high > MOST {
                return None;
            }
        }
        // Lazy and possessive ones are not known.
        (!self.is_quantified()).then_some(())
    }

    fn number(&mut self) -> Option<u32> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        self.written.push_str(&digits);
        digits.parse().ok()
    }

    fn escape(&mut self) -> Option<()> {
        let character = self.rest.next()?;
        let spelled = match character {
            'd' | 'w' | 's' => format!("[{}]", members(character)),
            'D' | 'W' | 'S' => format!("[^{}]", members(character.to_ascii_lowercase())),
            'x' => format!("[\\x{}]", self.hexadecimal()?),
            'f' => String::from("[\\x0C]"),
            'v' => String::from("[\\x0B]"),
            // Behind an escape a quantifier would repeat all literals before it, too.
            'n' | 'r' | 't' | '\\' if self.is_quantified() => format!("[\\{character}]"),
            'n' | 'r' | 't' | '\\' => format!("\\{character}"),
            '"' | '.' | '(' | ')' | '|' | '{' | '}' | '*' | '+' | '?' | '$' if self.is_quantified() => {
                format!("[{character}]")
            }
            '[' | ']' | '^' if self.is_quantified() => format!("[\\x{:02X}]", u32::from(character)),
            '"' | '.' | '(' | ')' | '|' | '{' | '}' | '*' | '+' | '?' | '$' | '[' | ']' | '^' => {
                format!("\\{character}")
            }
            // Boundaries, references, properties and code points.
            other if other.is_alphanumeric() => return None,
            other => String::from(other),
        };
        self.written.push_str(&spelled);
        Some(())
    }

    fn hexadecimal(&mut self) -> Option<String> {
        let digits: String = [self.rest.next()?, self.rest.next()?].into_iter().collect();
        digits.chars().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)
    }

    /// What stands in brackets.
    fn class(&mut self) -> Option<()> {
        self.written.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.written.push('^');
        }
        // Readers differ about what `]` is there.
        if self.rest.peek() == Some(&']') {
            return None;
        }
        loop {
            let from = match self.rest.next()? {
                ']' => break,
                character => self.atom(character)?,
            };
            self.written.push_str(from.spelled());
            let is_range = self.rest.peek() == Some(&'-') && {
                let mut ahead = self.rest.clone();
                ahead.next();
                ahead.next().is_some_and(|next| next != ']')
            };
            if !is_range {
                continue;
            }
            self.rest.next();
            let next = self.rest.next()?;
            let to = self.atom(next)?;
            // A set begins and ends no range, so that the hyphen is one.
            let hyphen = if from.is_set() || to.is_set() { "\\x2D" } else { "-" };
            self.written.push_str(hyphen);
            self.written.push_str(to.spelled());
        }
        self.written.push(']');
        Some(())
    }

    /// A character in brackets, or a set of them.
    fn atom(&mut self, character: char) -> Option<Atom> {
        if character != '\\' {
            return Some(Atom::Character(String::from(character)));
        }
        let escaped = self.rest.next()?;
        Some(Atom::Character(match escaped {
            'd' | 'w' | 's' => return Some(Atom::Set(members(escaped))),
            'x' => format!("\\x{}", self.hexadecimal()?),
            'b' => String::from("\\x08"),
            'f' => String::from("\\x0C"),
            'v' => String::from("\\x0B"),
            '-' => String::from("\\x2D"),
            '^' => String::from("\\x5E"),
            'n' | 'r' | 't' | '\\' | ']' | '[' => format!("\\{escaped}"),
            other if other.is_alphanumeric() => return None,
            other => String::from(other),
        }))
    }
}

/// What a class is made of.
enum Atom {
    /// As it is written.
    Character(String),
    /// All of them.
    Set(&'static str),
}

impl Atom {
    fn spelled(&self) -> &str {
        match self {
            Atom::Character(text) => text,
            Atom::Set(text) => text,
        }
    }

    const fn is_set(&self) -> bool {
        matches!(self, Atom::Set(_))
    }
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
    fn what_is_read_otherwise_is_spelled_anew() {
        for (pattern, expected) in [
            (r"^\d+\/\w*$", "^[0-9]+/[A-Za-z0-9_]*$"),
            (r"^[\w.\-]+@\D$", r"^[A-Za-z0-9_.\x2D]+@[^0-9]$"),
            (r"^[\w-.]$", r"^[A-Za-z0-9_\x2D.]$"),
            (r"^[\w-]$", "^[A-Za-z0-9_-]$"),
            (r"^[a-\d]$", r"^[a\x2D0-9]$"),
            (r"^[\^-z]$", r"^[\x5E-z]$"),
            (r"^[\--9]+$", r"^[\x2D-9]+$"),
            (r"^[!-\-x]$", r"^[!-\x2Dx]$"),
            (r"^[+-\d]+$", r"^[+\x2D0-9]+$"),
            (r"^[\^]$", r"^[\x5E]$"),
            (r"^[^\d\]]$", r"^[^0-9\]]$"),
            (r"^\x41\-\:$", r"^[\x41]-:$"),
            (r"^\f+$", r"^[\x0C]+$"),
            (r"^a\.+$", "^a[.]+$"),
            (r"^\++\^*$", r"^[+]+[\x5E]*$"),
        ] {
            assert_eq!(respelled(pattern).as_deref(), Some(expected), "{pattern}");
            assert_eq!(respelled(expected).as_deref(), Some(expected), "{expected} twice");
        }
    }

    #[test]
    fn what_is_read_rightly_stays() {
        for pattern in [
            "^[a-z]{2,3}$",
            "^(a|b)+c{2,}$",
            r"^(?:[0-9]{4})-\.\$$",
            "^[A-Za-z0-9_-]$",
            "^[0-9-.]$",
            "^[-a]$",
            "^[[]$",
            "^$",
            "^.*$",
        ] {
            assert_eq!(respelled(pattern).as_deref(), Some(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_said() {
        for pattern in [
            r"^\bword$",
            r"^(a)\1$",
            r"^\p{L}$",
            r"^[\W]$",
            r"^\u0041$",
            "^[a$",
            r"^\x4$",
            r"^a\$",
            "a",
            "^a|b$",
            "^(a$|b)$",
            "^a$b$",
            "^]$",
            "^[]a]$",
            "^[^]$",
            "^x{$",
            "^{a}$",
            "^}$",
            "^a+?b$",
            "^(?P<n>a)$",
            "^(?=a)$",
            "^a{5000}$",
            "^a{3,2}$",
            "^(a$",
            "^a)$",
            "^*$",
            "^(|a)?+$",
        ] {
            assert_eq!(respelled(pattern), None, "{pattern}");
        }
    }
}
