//! Compiles a pattern into a program in one pass, with a stack of open groups. Reads the escapes of both syntaxes.

use alloc::{string::String, vec, vec::Vec};
use core::{iter::Peekable, mem, str::Chars};

use super::{
    program::{Assertion, Branches, ClassEscape, Part, Program, Set, Step},
    Flaw, Spelling,
};
use crate::{budget::Budget, collections};

const UNCLOSED: Flaw = "an unclosed group";
const UNOPENED: Flaw = "an unmatched `)`";
const NOTHING_TO_REPEAT: Flaw = "a quantifier with nothing to repeat";
const INVALID_BOUNDS: Flaw = "a repetition whose minimum is above its maximum";
const LOOKAROUND: Flaw = "it has lookaround";
const UNKNOWN_GROUP: Flaw = "a group that begins with an unknown `(?`";
const UNCLOSED_CLASS: Flaw = "an unclosed character class";
const INVALID_RANGE: Flaw = "a class range that is out of order, or that begins or ends with a set";

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// `i`: ignore case.
    ignores_case: bool,
    /// `m`: `^` and `$` match at every line.
    multiline: bool,
    /// `s`: `.` also matches a line feed.
    dot_all: bool,
    /// `x`: ignore spaces and comments.
    verbose: bool,
}

struct Reader<'p> {
    letters: Peekable<Chars<'p>>,
    spelling: Spelling,
    program: Program<'p>,
    sets: Vec<Set>,
    flags: Flags,
    group: Branches,
    /// Enclosing groups, each with the flags that apply outside of it.
    enclosing: Vec<(Branches, Flags)>,
    /// Start of the part that a quantifier would repeat.
    last_part: Option<usize>,
    /// True if only flags were read so far.
    is_first: bool,
    names: collections::Set<String>,
}

pub(super) fn read(pattern: &str, spelling: Spelling, budget: &Budget) -> Result<(Vec<Step>, Vec<Set>), Flaw> {
    let program = Program::new(budget);
    let group = program.start_branches();
    let mut reader = Reader {
        letters: pattern.chars().peekable(),
        spelling,
        program,
        sets: Vec::new(),
        flags: Flags::default(),
        group,
        enclosing: Vec::new(),
        last_part: None,
        is_first: true,
        names: collections::Set::new(),
    };
    while let Some(letter) = reader.letters.next() {
        if !budget.pay(1) {
            return Err("it is too large");
        }
        reader.read_letter(letter)?;
    }
    if !reader.enclosing.is_empty() {
        return Err(UNCLOSED);
    }
    reader.program.end_branches(&reader.group);
    Ok((reader.program.into_steps(), reader.sets))
}

impl Reader<'_> {
    fn is_python(&self) -> bool {
        self.spelling == Spelling::Python
    }

    fn read_letter(&mut self, letter: char) -> Result<(), Flaw> {
        let is_first = mem::take(&mut self.is_first);
        match letter {
            '\\' => match escape(&mut self.letters, false, self.spelling)? {
                Escape::Char(character) => self.push_character(character),
                Escape::Class(kind, is_negated) => {
                    self.push_set(Set { parts: vec![Part::ClassEscape(kind, is_negated)], ..Set::default() })
                }
                Escape::Assertion(assertion) => self.push_assertion(assertion),
            },
            '[' => self.read_class(),
            '(' => self.open_group(is_first),
            ')' => self.close_group(),
            '|' => {
                self.last_part = None;
                self.program.alternate(&mut self.group)
            }
            '^' => self.push_assertion(if self.flags.multiline { Assertion::LineStart } else { Assertion::Start }),
            '$' => self.push_assertion(match (self.spelling, self.flags.multiline) {
                (Spelling::Ecma, _) => Assertion::End,
                (Spelling::Python, true) => Assertion::LineEnd,
                (Spelling::Python, false) => Assertion::LastLine,
            }),
            '.' => {
                let mut parts = Vec::new();
                if !self.flags.dot_all {
                    parts.push(Part::Range('\n', '\n'));
                }
                if !self.is_python() {
                    parts.extend([Part::Range('\r', '\r'), Part::Range('\u{2028}', '\u{2029}')]);
                }
                self.push_set(Set { parts, is_negated: true, ignores_case: false })
            }
            '*' => self.repeat(0, None),
            '+' => self.repeat(1, None),
            '?' => self.repeat(0, Some(1)),
            '{' => self.repeat_counted(),
            ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' if self.flags.verbose => Ok(()),
            '#' if self.flags.verbose => {
                let _ = self.letters.find(|letter| *letter == '\n');
                Ok(())
            }
            other => self.push_character(other),
        }
    }

    fn push_character(&mut self, character: char) -> Result<(), Flaw> {
        if self.flags.ignores_case && character.is_alphabetic() {
            return self.push_set(Set { parts: vec![Part::Range(character, character)], ..Set::default() });
        }
        self.last_part = Some(self.program.end());
        self.program.push(Step::Char(character))
    }

    fn push_set(&mut self, set: Set) -> Result<(), Flaw> {
        self.last_part = Some(self.program.end());
        let index = u32::try_from(self.sets.len()).map_err(|_| "it is too large")?;
        self.sets.push(Set { ignores_case: self.flags.ignores_case, ..set });
        self.program.push(Step::Set(index))
    }

    fn push_assertion(&mut self, assertion: Assertion) -> Result<(), Flaw> {
        self.last_part = None;
        self.program.push(Step::Assertion(assertion))
    }

    fn repeat(&mut self, min: usize, max: Option<usize>) -> Result<(), Flaw> {
        let start = self.last_part.take().ok_or(NOTHING_TO_REPEAT)?;
        // Lazy and greedy quantifiers find the same matches.
        if self.letters.next_if_eq(&'?').is_none() && self.is_python() && self.letters.peek() == Some(&'+') {
            return Err("it has a possessive quantifier");
        }
        self.program.repeat(start, min, max)
    }

    /// Reads `{m}`, `{m,}` and `{m,n}`, in Python also `{,n}` and `{,}`. Any other brace is literal in Python, and an
    /// error or literal in ECMA-262.
    fn repeat_counted(&mut self) -> Result<(), Flaw> {
        let mut lookahead = self.letters.clone();
        let min = number(&mut lookahead);
        let has_comma = lookahead.next_if_eq(&',').is_some();
        let max = if has_comma { number(&mut lookahead) } else { min };
        let is_counted = lookahead.next() == Some('}') && (min.is_some() || (self.is_python() && has_comma));
        if !is_counted {
            return if self.is_python() { self.push_character('{') } else { Err("a `{` that begins no repetition") };
        }
        self.letters = lookahead;
        if max.is_some_and(|max| max < min.unwrap_or(0)) {
            return Err(INVALID_BOUNDS);
        }
        self.repeat(min.unwrap_or(0), max)
    }

    fn open_group(&mut self, is_first: bool) -> Result<(), Flaw> {
        let mut flags = self.flags;
        if self.letters.next_if_eq(&'?').is_some() {
            match self.letters.next().ok_or(UNKNOWN_GROUP)? {
                ':' => {}
                '=' | '!' => return Err(LOOKAROUND),
                '<' if matches!(self.letters.peek(), Some('=' | '!')) => return Err(LOOKAROUND),
                '<' if !self.is_python() => self.read_name()?,
                'P' if self.is_python() => match self.letters.next() {
                    Some('<') => self.read_name()?,
                    Some('=') => return Err("it has a back-reference"),
                    _ => return Err(UNKNOWN_GROUP),
                },
                '#' if self.is_python() => {
                    self.is_first = is_first;
                    return self.letters.find(|letter| *letter == ')').map(|_| ()).ok_or(UNCLOSED);
                }
                letter if self.is_python() => match self.read_flags(letter)? {
                    (group_flags, ':') => flags = group_flags,
                    // Flags for the whole pattern must come first.
                    (pattern_flags, _) if is_first => {
                        (self.flags, self.is_first) = (pattern_flags, true);
                        return Ok(());
                    }
                    _ => return Err("flags for the whole pattern that are not at the start"),
                },
                _ => return Err(UNKNOWN_GROUP),
            }
        }
        let group = mem::replace(&mut self.group, self.program.start_branches());
        self.enclosing.push((group, mem::replace(&mut self.flags, flags)));
        self.last_part = None;
        Ok(())
    }

    fn read_name(&mut self) -> Result<(), Flaw> {
        let mut name = String::new();
        loop {
            match self.letters.next() {
                Some('>') if !name.is_empty() => break,
                Some(letter) if letter == '_' || letter.is_alphabetic() => name.push(letter),
                Some(letter) if letter.is_numeric() && !name.is_empty() => name.push(letter),
                _ => return Err("a group with an invalid name"),
            }
        }
        // (ECMA-262 allows duplicates in different branches.)
        if self.names.insert(name) {
            Ok(())
        } else {
            Err("two groups with the same name")
        }
    }

    /// Returns the flags, and the character that ends them.
    fn read_flags(&mut self, first: char) -> Result<(Flags, char), Flaw> {
        let (mut flags, mut letter, mut is_on) = (self.flags, first, true);
        loop {
            match letter {
                'i' => flags.ignores_case = is_on,
                'm' => flags.multiline = is_on,
                's' => flags.dot_all = is_on,
                'x' => flags.verbose = is_on,
                'u' if is_on => {}
                '-' if is_on => is_on = false,
                ':' | ')' => return Ok((flags, letter)),
                _ => return Err(UNKNOWN_GROUP),
            }
            letter = self.letters.next().ok_or(UNCLOSED)?;
        }
    }

    fn close_group(&mut self) -> Result<(), Flaw> {
        let (group, flags) = self.enclosing.pop().ok_or(UNOPENED)?;
        self.last_part = Some(self.program.end_branches(&self.group));
        (self.group, self.flags) = (group, flags);
        Ok(())
    }

    fn read_class(&mut self) -> Result<(), Flaw> {
        let mut set = Set { is_negated: self.letters.next_if_eq(&'^').is_some(), ..Set::default() };
        // At the start of a class, `]` is literal in Python; in ECMA-262 it ends an empty class.
        if self.is_python() && self.letters.next_if_eq(&']').is_some() {
            self.rest_of_range(Part::Range(']', ']'), &mut set.parts)?;
        }
        while let Some(part) = self.read_part()? {
            self.rest_of_range(part, &mut set.parts)?;
        }
        self.push_set(set)
    }

    fn rest_of_range(&mut self, from: Part, parts: &mut Vec<Part>) -> Result<(), Flaw> {
        let mut lookahead = self.letters.clone();
        let is_range = lookahead.next() == Some('-') && lookahead.next() != Some(']');
        if !is_range {
            parts.push(from);
            return Ok(());
        }
        self.letters.next();
        match (from, self.read_part()?.ok_or(UNCLOSED_CLASS)?) {
            (Part::Range(from, _), Part::Range(to, _)) if from <= to => parts.push(Part::Range(from, to)),
            // Next to a set, a hyphen is literal in ECMA-262 (without the flag `u`).
            (from, to) if !self.is_python() && !matches!((from, to), (Part::Range(..), Part::Range(..))) => {
                parts.extend([from, Part::Range('-', '-'), to]);
            }
            _ => return Err(INVALID_RANGE),
        }
        Ok(())
    }

    /// Returns `None` at the end of the class.
    fn read_part(&mut self) -> Result<Option<Part>, Flaw> {
        match self.letters.next().ok_or(UNCLOSED_CLASS)? {
            ']' => Ok(None),
            '\\' => escape(&mut self.letters, true, self.spelling)?
                .part()
                .map(Some)
                .ok_or("an escape that is not a character"),
            character => Ok(Some(Part::Range(character, character))),
        }
    }
}

/// Returns `None` without a digit. Numbers that are too large saturate.
fn number(letters: &mut Peekable<Chars<'_>>) -> Option<usize> {
    let mut number: Option<usize> = None;
    while let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(10)) {
        letters.next();
        number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
    }
    number
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Escape {
    Char(char),
    Class(ClassEscape, bool),
    Assertion(Assertion),
}

impl Escape {
    pub(super) fn part(self) -> Option<Part> {
        match self {
            Escape::Char(character) => Some(Part::Range(character, character)),
            Escape::Class(kind, is_negated) => Some(Part::ClassEscape(kind, is_negated)),
            Escape::Assertion(_) => None,
        }
    }
}

const UNKNOWN_ESCAPE: Flaw = "an escape without a meaning, or with different meanings in different engines";
const NO_CHARACTER: Flaw = "an escape of an invalid character";
const BACKREFERENCE: Flaw = "it has a back-reference";

fn escape(letters: &mut Peekable<Chars<'_>>, in_class: bool, spelling: Spelling) -> Result<Escape, Flaw> {
    let letter = letters.next().ok_or("a `\\` at the end")?;
    if let Some((kind, is_negated)) = ClassEscape::of(letter) {
        return Ok(Escape::Class(kind, is_negated));
    }
    let is_python = spelling == Spelling::Python;
    let character = match letter {
        'b' if in_class => Some('\u{8}'),
        'b' => return Ok(Escape::Assertion(Assertion::WordEdge)),
        'B' if !in_class => return Ok(Escape::Assertion(Assertion::NoWordEdge)),
        'A' if is_python && !in_class => return Ok(Escape::Assertion(Assertion::Start)),
        'Z' if is_python && !in_class => return Ok(Escape::Assertion(Assertion::End)),
        't' => Some('\t'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        'a' if is_python => Some('\u{7}'),
        // Python reads up to two more octal digits, ECMA-262 none (or an error).
        '0' if !letters.peek().is_some_and(char::is_ascii_digit) => Some('\0'),
        '0' => return Err("an octal escape"),
        '1'..='9' => return Err(BACKREFERENCE),
        'k' if !is_python => return Err(BACKREFERENCE),
        'x' => hex_character(letters, 2),
        'U' if is_python => hex_character(letters, 8),
        'u' if is_python => hex_character(letters, 4),
        'u' => unicode_character(letters),
        'c' if !is_python => {
            let letter = letters.next().filter(char::is_ascii_alphabetic);
            letter.and_then(|letter| char::from_u32(u32::from(letter) % 32))
        }
        other if other.is_ascii_alphabetic() => return Err(UNKNOWN_ESCAPE),
        // ECMA-262 with the flag `u` allows no such escapes beyond ASCII.
        other if !is_python && other.is_alphanumeric() => return Err(UNKNOWN_ESCAPE),
        other => Some(other),
    };
    character.map(Escape::Char).ok_or(NO_CHARACTER)
}

/// Reads ECMA-262's `\u`: four digits, two surrogates of four each, or digits in braces.
fn unicode_character(letters: &mut Peekable<Chars<'_>>) -> Option<char> {
    if letters.next_if_eq(&'{').is_none() {
        let code = hex_code(letters, 4)?;
        let Some(high) = code.checked_sub(0xD800).filter(|high| *high < 0x400) else {
            return char::from_u32(code);
        };
        letters.next_if_eq(&'\\')?;
        letters.next_if_eq(&'u')?;
        let low = hex_code(letters, 4)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        return char::from_u32(0x1_0000 + (high << 10) + low);
    }
    let mut code = None;
    loop {
        match letters.next()? {
            '}' => return char::from_u32(code?),
            digit => code = Some(code.unwrap_or(0_u32).checked_mul(16)?.checked_add(digit.to_digit(16)?)?),
        }
    }
}

fn hex_character(letters: &mut Peekable<Chars<'_>>, count: usize) -> Option<char> {
    hex_code(letters, count).and_then(char::from_u32)
}

fn hex_code(letters: &mut Peekable<Chars<'_>>, count: usize) -> Option<u32> {
    (0..count).try_fold(0_u32, |code, _| code.checked_mul(16)?.checked_add(letters.next()?.to_digit(16)?))
}
