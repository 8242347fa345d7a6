//! Escapes after a backslash.

use core::{iter::Peekable, str::Chars};

use super::{
    class::{Kind, Part},
    program::Look,
    Flaw, Spelling,
};

/// Meaning of an escape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Escape {
    Char(char),
    Kind(Kind, bool),
    Look(Look),
}

impl Escape {
    /// Returns the escape as a part of a class; `None` for an assertion.
    pub(super) fn part(self) -> Option<Part> {
        match self {
            Escape::Char(character) => Some(Part::Range(character, character)),
            Escape::Kind(kind, is_negated) => Some(Part::Kind(kind, is_negated)),
            Escape::Look(_) => None,
        }
    }
}

const UNKNOWN: Flaw = "an escape without a meaning, or with different meanings in different engines";
const NO_CHARACTER: Flaw = "an escape of an invalid character";
const BACKREFERENCE: Flaw = "it has a back-reference";

/// Reads the escape after a backslash.
pub(super) fn escape(letters: &mut Peekable<Chars<'_>>, in_class: bool, spelling: Spelling) -> Result<Escape, Flaw> {
    let letter = letters.next().ok_or("a `\\` at the end")?;
    if let Some((kind, is_negated)) = Kind::of(letter) {
        return Ok(Escape::Kind(kind, is_negated));
    }
    let is_python = spelling == Spelling::Python;
    let found = match letter {
        'b' if in_class => Some('\u{8}'),
        'b' => return Ok(Escape::Look(Look::WordEdge)),
        'B' if !in_class => return Ok(Escape::Look(Look::NoWordEdge)),
        'A' if is_python && !in_class => return Ok(Escape::Look(Look::Start)),
        'Z' if is_python && !in_class => return Ok(Escape::Look(Look::End)),
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
        'x' => hex(letters, 2),
        'U' if is_python => hex(letters, 8),
        'u' if is_python => hex(letters, 4),
        'u' => unicode(letters),
        'c' if !is_python => {
            let letter = letters.next().filter(char::is_ascii_alphabetic);
            letter.and_then(|letter| char::from_u32(u32::from(letter) % 32))
        }
        other if other.is_ascii_alphabetic() => return Err(UNKNOWN),
        // ECMA-262 with the flag `u` allows no such escapes beyond ASCII.
        other if !is_python && other.is_alphanumeric() => return Err(UNKNOWN),
        other => Some(other),
    };
    found.map(Escape::Char).ok_or(NO_CHARACTER)
}

/// Reads ECMA-262's `\u`: four digits, two surrogates of four each, or digits in braces.
fn unicode(letters: &mut Peekable<Chars<'_>>) -> Option<char> {
    if letters.next_if_eq(&'{').is_none() {
        let code = digits(letters, 4)?;
        let Some(high) = code.checked_sub(0xD800).filter(|high| *high < 0x400) else {
            return char::from_u32(code);
        };
        letters.next_if_eq(&'\\')?;
        letters.next_if_eq(&'u')?;
        let low = digits(letters, 4)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
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

fn hex(letters: &mut Peekable<Chars<'_>>, count: usize) -> Option<char> {
    digits(letters, count).and_then(char::from_u32)
}

fn digits(letters: &mut Peekable<Chars<'_>>, count: usize) -> Option<u32> {
    (0..count).try_fold(0_u32, |code, _| code.checked_mul(16)?.checked_add(letters.next()?.to_digit(16)?))
}
