//! Finds constructs in a regular expression that engines treat differently. Nothing is compiled or run; the text is
//! read in one pass.
//!
//! Sources: ECMA-262 (the syntax of JSON Schema), the reference of Python's `re` (which OpenAI and Anthropic compile
//! `pattern` with), RE2's syntax (which constrained decoders approximate).

use alloc::{string::String, vec::Vec};

const LOOKAROUND: &str = "lookaround";
const GROUP: &str = "a group that JavaScript does not have";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Reason why Python's `re` does not compile the pattern.
    pub(crate) not_python: Option<&'static str>,
    /// Reason why JavaScript does not compile the pattern with the flag `u`.
    pub(crate) not_unicode: Option<&'static str>,
    /// The first construct that engines based on automata do not support: lookaround, a backreference, a word boundary
    /// or the like.
    pub(crate) not_regular: Option<&'static str>,
    /// True if the pattern contains such a construct that is not lookaround. (Some engines silently ignore lookaround.)
    pub(crate) beyond_lookaround: bool,
    /// True if the pattern begins with `^` and ends with `$`.
    pub(crate) anchored: bool,
}

pub(crate) fn uses(pattern: &str) -> Uses {
    let scan = scan(pattern);
    let ends = pattern.ends_with('$') && !pattern.strip_suffix('$').is_some_and(ends_in_escape);
    Uses { anchored: pattern.starts_with('^') && ends, ..scan.uses }
}

/// Escapes the hyphens between a set of characters and another item of a class. ECMA-262 (without the flag `u`) reads
/// them literally; other engines refuse a range that begins or ends with a set. Returns `None` if no such hyphen
/// exists.
pub(crate) fn with_plain_hyphens(pattern: &str) -> Option<String> {
    let hyphens = scan(pattern).hyphens;
    if hyphens.is_empty() {
        return None;
    }
    let (mut escaped, mut rest) = (String::with_capacity(pattern.len() + hyphens.len()), pattern);
    for length_from_hyphen in hyphens {
        let (text_before, from_hyphen) = rest.split_at_checked(rest.len().checked_sub(length_from_hyphen)?)?;
        escaped.push_str(text_before);
        escaped.push('\\');
        rest = from_hyphen;
    }
    Some(escaped + rest)
}

fn scan(pattern: &str) -> Scan<'_> {
    let mut scan = Scan {
        rest: pattern,
        open_groups: Vec::new(),
        uses: Uses::default(),
        repeatable: false,
        is_assertion: false,
        hyphens: Vec::new(),
        reading: Reading::Both,
    };
    scan.finish();
    scan
}

/// The engine whose syntax the scan follows. The engines differ after `[]`, which is a class only in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Both,
    Python,
    JavaScript,
}

fn ends_in_escape(text: &str) -> bool {
    text.chars().rev().take_while(|character| *character == '\\').count() % 2 == 1
}

struct Scan<'p> {
    rest: &'p str,
    /// Open groups: true for lookaround.
    open_groups: Vec<bool>,
    uses: Uses,
    /// True if a quantifier may follow.
    repeatable: bool,
    /// True after an assertion, which JavaScript repeats only without the flag `u`.
    is_assertion: bool,
    /// Hyphens next to sets in classes, each as the length of the text that starts with it.
    hyphens: Vec<usize>,
    reading: Reading,
}

#[derive(Clone, Copy)]
enum Atom {
    Character(char),
    /// An escaped character whose value is not needed.
    Escaped,
    Set,
    End,
}

impl Scan<'_> {
    fn not_python(&mut self, why: &'static str) {
        if self.reading != Reading::JavaScript {
            self.uses.not_python.get_or_insert(why);
        }
    }

    fn not_unicode(&mut self, why: &'static str) {
        if self.reading != Reading::Python {
            self.uses.not_unicode.get_or_insert(why);
        }
    }

    fn finish(&mut self) {
        while self.step() {}
        if !self.open_groups.is_empty() {
            self.fails_everywhere("an unclosed group");
        }
    }

    fn fails_everywhere(&mut self, why: &'static str) {
        self.not_python(why);
        self.not_unicode(why);
    }

    fn not_regular(&mut self, why: &'static str) {
        self.uses.beyond_lookaround |= why != LOOKAROUND;
        self.uses.not_regular.get_or_insert(why);
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn step(&mut self) -> bool {
        let Some(character) = self.next() else { return false };
        let was_assertion = core::mem::take(&mut self.is_assertion);
        match character {
            '\\' => self.escape(false),
            '[' => self.class(),
            '(' => self.group(),
            ')' => {
                match self.open_groups.pop() {
                    Some(is_lookaround) => self.is_assertion = is_lookaround,
                    None => self.fails_everywhere("an unmatched `)`"),
                }
                self.repeatable = true;
            }
            '*' | '+' | '?' => self.quantifier(was_assertion),
            '{' => {
                if let Some((length, are_ordered)) = self.repetition_bounds() {
                    if self.rest.starts_with(',') {
                        self.not_unicode("a repetition without a minimum");
                    }
                    self.rest = self.rest.get(length..).unwrap_or_default();
                    if !are_ordered {
                        self.fails_everywhere("a repetition whose minimum is above its maximum");
                    }
                    self.quantifier(was_assertion);
                } else {
                    self.not_unicode("a `{` that begins no repetition");
                    self.repeatable = true;
                }
            }
            '}' | ']' => {
                self.not_unicode("an unmatched bracket");
                self.repeatable = true;
            }
            '^' | '|' => self.repeatable = false,
            '$' => (self.repeatable, self.is_assertion) = (true, true),
            _ => self.repeatable = true,
        }
        true
    }

    fn quantifier(&mut self, of_assertion: bool) {
        if !self.repeatable {
            self.fails_everywhere("a quantifier with nothing to repeat");
        } else if of_assertion {
            self.not_unicode("a quantifier after an assertion");
        }
        // Lazy, or (in Python since 3.11) possessive.
        if !self.take("?") && self.take("+") {
            self.not_unicode("a possessive quantifier");
        }
        self.repeatable = false;
    }

    /// Returns the length of `m}`, `m,}`, `,n}` or `m,n}` at the start of the rest, and true if the bounds are in
    /// order.
    fn repetition_bounds(&self) -> Option<(usize, bool)> {
        // Only digits and commas are scanned, so that the rest is not searched again for every `{`.
        let end = self.rest.find(|character: char| !(character.is_ascii_digit() || character == ','))?;
        let bounds = self.rest.get(..end).filter(|_| self.rest.get(end..).is_some_and(|rest| rest.starts_with('}')))?;
        let (low, high) = bounds.split_once(',').map_or((bounds, None), |(low, high)| (low, Some(high)));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(low) || !high.is_none_or(is_number) || (low.is_empty() && high.is_none_or(str::is_empty)) {
            return None;
        }
        let number = |text: &str| text.parse::<u64>().ok();
        let are_ordered = match (number(low), high.and_then(number)) {
            (Some(low), Some(high)) => low <= high,
            _ => true,
        };
        Some((end + 1, are_ordered))
    }

    fn group(&mut self) {
        self.open_groups.push(false);
        self.repeatable = false;
        if !self.take("?") {
            return;
        }
        if self.take("=") || self.take("!") || self.take("<=") || self.take("<!") {
            self.open_groups.last_mut().into_iter().for_each(|is_lookaround| *is_lookaround = true);
            self.not_regular(LOOKAROUND);
        } else if self.take("<") {
            self.not_python("a named group `(?<…>` (in Python `(?P<…>`)");
        } else if self.take("P=") {
            self.not_unicode(GROUP);
            self.not_regular("a backreference");
        } else if self.take(":") {
            // Supported by all engines.
        } else if self.take("P<") || self.take(">") || self.take("#") {
            // Groups that Python has.
            self.not_unicode(GROUP);
        } else if self.take("(") {
            self.open_groups.push(false);
            self.not_unicode(GROUP);
            self.not_regular("a condition");
        } else {
            self.not_unicode(GROUP);
            let flags = self.rest.find([':', ')']).and_then(|end| self.rest.get(..end));
            match flags {
                Some(flags) if flags.bytes().all(|flag| b"aiLmsux-".contains(&flag)) => {
                    self.not_regular("inline flags")
                }
                _ => self.not_python("a group that begins with an unknown `(?`"),
            }
        }
    }

    fn class(&mut self) {
        self.take("^");
        // As the first character of a class, `]` is literal in Python; in ECMA-262 it ends an empty class.
        if self.take("]") {
            if self.reading == Reading::JavaScript {
                self.repeatable = true;
                return;
            }
            if !self.rest.contains(']') {
                self.not_python("an empty character class");
            }
            if self.reading == Reading::Both {
                let mut javascript_scan = Scan {
                    rest: self.rest,
                    open_groups: self.open_groups.clone(),
                    uses: Uses::default(),
                    repeatable: true,
                    is_assertion: false,
                    hyphens: Vec::new(),
                    reading: Reading::JavaScript,
                };
                javascript_scan.finish();
                if let Some(why) = javascript_scan.uses.not_unicode {
                    self.not_unicode(why);
                }
                self.reading = Reading::Python;
            }
        }
        while let Some(from) = self.atom() {
            if matches!(from, Atom::End) {
                self.repeatable = true;
                return;
            }
            // Before the end of a class, a hyphen is literal.
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                continue;
            }
            let hyphen = self.rest.len();
            self.next();
            match (from, self.atom()) {
                (_, None) => break,
                (Atom::Set, Some(_)) | (_, Some(Atom::Set)) => {
                    self.fails_everywhere("a range in a class that begins or ends at a set of characters");
                    self.hyphens.push(hyphen);
                    // A second hyphen is escaped as well. If only the first hyphen were literal, the second hyphen
                    // would form a range with it.
                    if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                        self.hyphens.push(self.rest.len());
                    }
                }
                (Atom::Character(from), Some(Atom::Character(to))) if from > to => {
                    self.fails_everywhere("a class range that is out of order");
                }
                _ => {}
            }
        }
        self.fails_everywhere("an unclosed character class");
    }

    fn atom(&mut self) -> Option<Atom> {
        match self.next()? {
            ']' => Some(Atom::End),
            '\\' => {
                let escaped = self.rest.chars().next();
                self.escape(true);
                Some(match escaped {
                    Some('d' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P') => Atom::Set,
                    Some(escaped) if !escaped.is_ascii_alphanumeric() => Atom::Character(escaped),
                    _ => Atom::Escaped,
                })
            }
            character => Some(Atom::Character(character)),
        }
    }

    fn escape(&mut self, in_class: bool) {
        self.repeatable = true;
        let Some(character) = self.next() else { return self.fails_everywhere("a `\\` at the end") };
        let is_known = match character {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | 'x' | 'u' | 'p' | 'P' | '0' => true,
            'B' | 'k' | '1'..='9' => !in_class,
            'c' => self.rest.starts_with(|letter: char| letter.is_ascii_alphabetic()),
            '-' => in_class,
            character => "^$\\.*+?()[]{}|/".contains(character),
        };
        if !is_known {
            self.not_unicode("an escape that is invalid with the flag `u`");
        }
        match character {
            'b' if in_class => {}
            'b' | 'B' => {
                self.not_regular("a word boundary");
                self.repeatable = false;
            }
            'A' | 'Z' if !in_class => self.repeatable = false,
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | '0' => {}
            '1'..='9' if in_class => {}
            '1'..='9' => self.not_regular("a backreference"),
            'x' => self.hexadecimal(2),
            'u' if self.take("{") => {
                self.not_python("`\\u{…}`");
                let digits = self.take_braced(|digit| digit.is_ascii_hexdigit());
                if !digits.is_some_and(|digits| u32::from_str_radix(digits, 16).is_ok_and(|code| code <= 0x10_FFFF)) {
                    self.not_unicode("an escape of an invalid character");
                }
            }
            'u' => self.hexadecimal(4),
            'U' => self.hexadecimal(8),
            'N' => {}
            'p' | 'P' => {
                self.not_python("a Unicode property, `\\p{…}`");
                let is_name = |character: char| character.is_ascii_alphanumeric() || "_=".contains(character);
                if !self.take("{") || self.take_braced(is_name).is_none_or(str::is_empty) {
                    self.not_unicode("a Unicode property without a name in braces");
                }
            }
            'k' => {
                self.not_python("a named backreference, `\\k<…>`");
                self.not_regular("a backreference");
            }
            letter if letter.is_ascii_alphabetic() => self.not_python("an escaped letter that Python does not know"),
            _ => {}
        }
    }

    fn take_braced(&mut self, is_allowed: impl Fn(char) -> bool) -> Option<&str> {
        let end = self.rest.find(|character| !is_allowed(character))?;
        let (inside, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.strip_prefix('}')?;
        Some(inside)
    }

    fn hexadecimal(&mut self, digits: usize) {
        let are_digits = self.rest.get(..digits).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if are_digits {
            self.rest = self.rest.get(digits..).unwrap_or_default();
        } else {
            self.fails_everywhere("a character escape with too few digits");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{uses, with_plain_hyphens};

    #[test]
    fn patterns_that_javascript_compiles_are_recognized() {
        for pattern in [
            "^a+$",
            r"^\p{L}{2}$",
            r"\p{Script=Han}+",
            r"[\p{L}x]",
            r"\u{1F600}",
            "^[^]*$",
            "[]",
            "[]a",
            "[]|(?:x)",
            r"^[\-]\d{2}$",
            "(?<n>a)",
            "(?=a)b",
            "a(?!b)",
        ] {
            assert_eq!(uses(pattern).not_unicode, None, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_javascript_does_not_compile_are_recognized() {
        for pattern in [
            r"\-",
            r"\pL",
            r"\p{}",
            r"\u{110000}",
            r"\u{}",
            "[]a]",
            "[](",
            "(?=a)*",
            "(?<!a)+",
            "$*",
            "(?i)a",
            r"a\Z",
            "(?P<n>a)",
            "a{",
            "x++",
        ] {
            assert!(uses(pattern).not_unicode.is_some(), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_python_compiles_are_recognized() {
        for pattern in [
            "^a+$",
            r"\d{3}-\w*?",
            "[]a]",
            "[^]]",
            "a{,3}",
            "{",
            "a{x}",
            "(?:a|b)+",
            "(?P<n>a)(?P=n)",
            r"\.\-\/",
            "x++",
            "^",
            "(?<=a)b",
            "a|b",
            r"\A\Z",
            "(?i)a",
            r"[\w-]",
            r"[-\w]",
            r"[^-\w]",
            r"[\w\-.]",
            r"[!-\-x]",
            "[+--]",
        ] {
            assert_eq!(uses(pattern).not_python, None, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_python_does_not_compile_are_recognized() {
        for pattern in [
            r"\p{L}",
            r"\u{1F600}",
            "(?<n>a)",
            "(a",
            "a)",
            "[a",
            "*a",
            "a**",
            r"\c",
            "a{3,1}",
            r"\k<n>",
            r"\x1",
            r"a\",
            "(?<",
            "(",
            "[]",
            r"[a-zA-Z_-\s]",
            r"[\w-.]",
            r"[--\d]",
            "[z-a]",
            "[a-",
        ] {
            assert!(uses(pattern).not_python.is_some(), "{pattern}");
        }
    }

    #[test]
    fn hyphens_next_to_sets_are_escaped() {
        for (pattern, expected) in [
            (r"^[a-zA-Z_-\s]+$", Some(r"^[a-zA-Z_\-\s]+$")),
            (r"[\w-.][é-\d]", Some(r"[\w\-.][é\-\d]")),
            (r"[\w-\d-x]", Some(r"[\w\-\d\-x]")),
            (r"[--\d]", Some(r"[-\-\d]")),
            (r"[\w-]", None),
            (r"[\w\-.]", None),
            (r"\w-\d", None),
        ] {
            let spelled = with_plain_hyphens(pattern);
            assert_eq!(spelled.as_deref(), expected, "{pattern}");
            assert_eq!(spelled.and_then(|spelled| uses(&spelled).not_python), None, "{pattern}");
        }
    }

    #[test]
    fn irregular_constructs_and_anchors_are_detected() {
        for pattern in ["(?=a)", "(?!a)", "(?<=a)b", r"(a)\1", r"\bword\b", "(?i)a"] {
            assert!(uses(pattern).not_regular.is_some(), "{pattern}");
        }
        assert_eq!(uses(r"^[\b]a$").not_regular, None);
        assert!(uses("^a$").anchored && !uses("a$").anchored && !uses(r"^a\$").anchored && uses(r"^a\\$").anchored);
    }
}
