//! Finds matches of regular expressions in strings. JSON Schema's `pattern` has the syntax of ECMA-262; patterns for a
//! hosted tool search have the syntax of Python's `re`.
//!
//! A pattern is compiled (`read`) directly into a program (`program`), which runs on all of its states at once. It
//! never backtracks. Every step that is visited between two characters is paid for, even if it consumes none.
//! Constructs that such a machine cannot support (lookaround, backreferences) are refused, and so are syntax errors.
//!
//! No existing crate is used, because none meets all requirements. `regex` (1.13) and `regex-lite` (0.1.9) take time
//! proportional to the length of the pattern times the length of the text. They cannot be interrupted, so no budget can
//! limit them. `regex-lite` needs the standard library and, unlike Python, supports no letters beyond ASCII. Neither
//! crate gives `\w`, `\s`, `.` and `[a&&b]` the meaning of ECMA-262 or the meaning of Python. The tests compare this
//! engine with `regex`, JavaScript's engine and Python's.
//!
//! Sources: ECMA-262, 22.2 and annex B.1.2; experiments with `re` of Python 3.11 and its parser; K. Thompson, "Regular
//! expression search algorithm", 1968.

mod program;
mod read;
mod sample;

use alloc::vec::Vec;

use crate::budget::Budget;
use program::{Part, Set, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// ECMA-262, with or without the flag `u`. Patterns with a different meaning in the two modes are refused.
    /// Exceptions are escapes of punctuation, hyphens next to sets, a `]` or `}` that closes nothing (all literal), and
    /// `\u{41}` (a character).
    Ecma,
    /// Python's `re`, on strings.
    Python,
}

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    steps: Vec<Step>,
    sets: Vec<Set>,
    spelling: Spelling,
    /// Maximum cost of comparing a character with a step.
    cost: usize,
}

/// Reason why a pattern is refused, as the end of a sentence.
pub(crate) type Flaw = &'static str;

impl Pattern {
    pub(crate) fn new(pattern: &str, spelling: Spelling, budget: &Budget) -> Result<Pattern, Flaw> {
        let (steps, sets) = read::read(pattern, spelling, budget)?;
        let longest = sets.iter().map(Set::len).max().unwrap_or(0);
        Ok(Pattern { steps, sets, spelling, cost: 1 + longest / 4 })
    }

    pub(crate) fn shrunk(mut self) -> Pattern {
        self.steps.shrink_to_fit();
        self.sets.shrink_to_fit();
        self
    }

    pub(crate) fn bytes(&self) -> usize {
        let sets = self.sets.iter().map(|set| size_of::<Set>() + set.parts.capacity() * size_of::<Part>());
        size_of::<Pattern>() + self.steps.capacity() * size_of::<Step>() + sets.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Spelling};
    use crate::budget::Budget;

    fn found(pattern: &str, text: &str, spelling: Spelling) -> Result<bool, &'static str> {
        let budget = Budget::new(0, Some(1_000_000));
        Pattern::new(pattern, spelling, &budget)?.find(text, &budget).ok_or("it takes too long")
    }

    #[test]
    fn patterns_follow_ecma_262() {
        for (pattern, text, expected) in [
            ("^a*$", "aaa", true),
            ("b", "abc", true),
            ("", "", true),
            (r"^\d+$", "12", true),
            (r"^\d+$", "\u{7ff}1", false),
            (r"^\w$", "é", false),
            (r"^\W$", "é", true),
            (r"^\s$", "\u{feff}", true),
            (r"^\s$", "\u{85}", false),
            (r"^\S$", "\u{a0}", false),
            (r"^[\w.-]+$", "a-b.c", true),
            (r"^[\w-.]+$", "a-b.c", true),
            (r"^[^\s]+$", "a b", false),
            (r"^[\D]$", "x", true),
            (r"\bab\b", "éab!", true),
            (r"a\Bb", "ab", true),
            ("^.$", "\r", false),
            ("^.$", "🐲", true),
            ("^[^]$", "\n", true),
            ("[]", "a", false),
            ("^[[a]$", "[", true),
            ("^[a&&b]$", "&", true),
            ("^[+--]$", ",", true),
            (r"^\/a\-$", "/a-", true),
            (r"^\cM$", "\r", true),
            (r"^\uD83D\uDC32*$", "🐲🐲", true),
            (r"^\u{1F432}$", "🐲", true),
            (r"^\x41\u0042\0$", "AB\0", true),
            ("^(?<y>[0-9]{4})$", "2026", true),
            ("^(?:a|bc|)d$", "bcd", true),
            ("^(?:a|bc|)d$", "d", true),
            ("^(?:a|bc|)d$", "abd", false),
            ("^(a{2}|b){2,3}$", "baab", true),
            ("^(a{2}|b){2,3}$", "baa", true),
            ("^(a{2}|b){2,3}$", "aa", false),
            ("^(a{2}|b){2,3}$", "bbbb", false),
            ("^a{0}b{0,2}$", "bb", true),
            ("^a{0}b{0,2}$", "bbb", false),
            ("^(a*)*$", "aaab", false),
            ("^(?:){4}(|a)+$", "aa", true),
            ("^a??b+?$", "abb", true),
            ("a$", "a\n", false),
            (r"\<", "<", true),
            (r"^[\b]$", "\u{8}", true),
            ("^[-a]$", "-", true),
            ("x^a|b", "ab", true),
        ] {
            assert_eq!(found(pattern, text, Spelling::Ecma), Ok(expected), "{pattern} in {text:?}");
        }
    }

    #[test]
    fn patterns_follow_python() {
        for (pattern, text, expected) in [
            (r"^get_.*_data\Z", "get_user_data", true),
            ("(?i)slack", "Slack", true),
            ("(?i)[^a-z]", "A", false),
            ("(?i)ÉCOLE", "école", true),
            ("(?i:S)k", "ſk", true),
            ("(?i:S)k", "sK", false),
            ("(?i)(?-i:a)b", "aB", true),
            ("(?i)(?-i:a)b", "Ab", false),
            ("slack", "Slack", false),
            ("(?P<verb>get|list)_", "list_users", true),
            ("[[]x", "[x", true),
            ("[]x]y", "]y", true),
            ("[]-a]", "^", true),
            ("[^]]z", "]z", false),
            ("[a&&b]", "&", true),
            (r"\<b\>", "a <b> c", true),
            (r"\d{3}\.\w", "123.x", true),
            (r"^\w+$", "naïve", true),
            (r"\bé", "aé", false),
            (r"^\s$", "\u{1f}", true),
            ("a$", "a\n", true),
            ("a$", "a\n\n", false),
            ("(?m)^b$", "a\nb\nc", true),
            ("(?s)a.b", "a\nb", true),
            ("a.b", "a\nb", false),
            ("^.$", "\r", true),
            ("(?x) a b # a comment", "ab", true),
            ("(?#a comment)(?i)A", "a", true),
            ("^a{,2}$", "aa", true),
            ("^a{,}$", "aaa", true),
            ("a{x}", "a{x}", true),
            ("a{}", "a{}", true),
            (r"\U0001F432\u00e9\xe9\a", "🐲éé\u{7}", true),
        ] {
            assert_eq!(found(pattern, text, Spelling::Python), Ok(expected), "{pattern} in {text:?}");
        }
    }

    #[test]
    fn invalid_and_nonportable_patterns_are_refused() {
        let both = [
            "(?=a)",
            "(?<!a)b",
            r"(a)\1",
            "(",
            ")",
            "(a",
            "[a",
            "*a",
            "a**",
            "a{3,1}",
            "^*",
            r"(\w{1000}){1000}",
            "a\\",
        ];
        let ecma = [
            "(?i)a",
            "a{,5}",
            "{",
            r"\p{L}",
            r"\Aa",
            r"\z",
            r"\uD83D",
            r"\u{}",
            r"\01",
            "[z-a]",
            "(?<a>b)(?<a>c)",
            "(?P<a>b)",
        ];
        let python = [
            "(?<a>b)", r"[\w-a]", "[]", "a++", "a(?i)", r"\p{L}", r"\z", r"\x1", r"\k", "(?P<1>a)", "(?P>a)", "(?q:a)",
        ];
        for pattern in both.iter().chain(&ecma) {
            assert!(found(pattern, "", Spelling::Ecma).is_err(), "{pattern}");
        }
        for pattern in both.iter().chain(&python) {
            assert!(found(pattern, "", Spelling::Python).is_err(), "{pattern}");
        }
    }

    #[test]
    fn search_ends_when_the_budget_is_spent() {
        let budget = Budget::new(0, Some(100_000));
        let pattern = Pattern::new("(?:a|b|ab){0,2000}c", Spelling::Ecma, &budget);
        let text = "ab".repeat(20_000);
        assert_eq!(pattern.map(|pattern| pattern.find(&text, &budget)).ok(), Some(None));
    }

    /// All steps are visited at every position of a string of `a`, most without consuming a character.
    const HARD: [&str; 7] = [
        "(?:||){8000}x",
        "(?:|){4000}(?:|a|){2000}x",
        "(?:\\B|\\b){6000}x",
        "(?:(?:){9}|(?:$|)|b?){3000}x",
        "(?:(?:a?b?){20}){250}x",
        "(?:(?:(?:|){16}){16}){16}x",
        "(?:a?|b?|c?){3000}x",
    ];

    #[test]
    fn every_visited_step_is_charged() {
        let text = "a".repeat(100);
        for spelling in [Spelling::Ecma, Spelling::Python] {
            for pattern in HARD {
                let budget = Budget::new(0, Some(10_000_000));
                let read = Pattern::new(pattern, spelling, &budget);
                let (before, steps) = (budget.spent(), read.as_ref().map_or(0, |read| read.steps.len()));
                assert!(steps > 8_000, "`{pattern}` has {steps} steps");
                assert_eq!(read.map(|read| read.find(&text, &budget)), Ok(Some(false)), "{pattern}");
                let (paid, looked_at) = (budget.spent() - before, steps as u64 * 100);
                // One step of the budget pays for sixteen visits. At least half of that cost is required here.
                assert!(paid >= looked_at / 32, "`{pattern}`: {paid} steps charged, {looked_at} visited");
            }
        }
    }

    #[test]
    fn long_text_ends_when_the_budget_is_spent() {
        let text = "a".repeat(80_000);
        for pattern in HARD {
            let budget = Budget::new(0, Some(100_000));
            let found = Pattern::new(pattern, Spelling::Ecma, &budget).map(|read| read.find(&text, &budget));
            assert_eq!(found, Ok(None), "{pattern}");
        }
    }
}
