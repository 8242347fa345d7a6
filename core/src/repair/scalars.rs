//! Numbers, booleans and names in the spellings of models.

use alloc::{format, string::String};

use crate::{
    json::{self, plain_number, Text},
    report::Confidence,
};

/// Largest whole number that all programs read exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_SAFE_INTEGER: &str = "9007199254740991";

/// Number that a string spells.
pub(super) enum Spelled {
    Number(String, Confidence),
    /// A whole number that some programs would round.
    Inexact,
    Nothing,
}

/// Reads the number that a string spells. `is_whole` is set if the schema accepts only integers.
pub(super) fn number(text: &str, is_whole: bool) -> Spelled {
    if text.len() > MAX_LENGTH {
        return Spelled::Nothing;
    }
    let strict = json::read(text).is_ok_and(|read| read.as_number().is_some());
    let (spelling, confidence) = match strict {
        true => (String::from(text), Confidence::Exact),
        false => match respelled(text) {
            Some(spelling) => (spelling, Confidence::Likely),
            None => return Spelled::Nothing,
        },
    };
    if json::is_integral(&spelling) {
        let size = spelling.strip_prefix('-').unwrap_or(&spelling);
        if json::compare(size, MAX_SAFE_INTEGER).is_gt() {
            return Spelled::Inexact;
        }
        if is_whole {
            return Spelled::Number(plain_number(&spelling).into_owned(), confidence);
        }
    } else if is_whole {
        return Spelled::Nothing;
    }
    Spelled::Number(spelling, confidence)
}

/// Returns the JSON spelling of `+3`, `007`, `.5` and `5.`.
fn respelled(text: &str) -> Option<String> {
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => ("-", rest),
        Some(("+", rest)) => ("", rest),
        _ => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let dot = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{dot}{fraction}"))
}

/// Maximum length of a name or a listed value that is compared with others.
const MAX_LENGTH: usize = 256;

/// Folds a name or a listed value: ignores case, surrounding quotes and spaces, and spaces, `_` and `-` between
/// letters. Returns `None` if nothing is left.
pub(super) fn folded(name: &Text<'_>) -> Option<String> {
    let value = name.value().filter(|value| value.len() <= MAX_LENGTH)?;
    let is_around = |letter: char| {
        letter.is_whitespace() || matches!(letter, '_' | '"' | '\'' | '`' | '\\' | '“' | '”' | '‘' | '’')
    };
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, '_' | '-');
    let mut folded = String::new();
    let mut gap = false;
    for letter in value.trim_matches(is_around).chars() {
        if is_between(letter) && folded.ends_with(char::is_alphanumeric) {
            gap = true;
            continue;
        }
        // A separator between two digits, or next to a symbol, may be significant: 1-0 is not 10.
        let is_kept = |before: char| !letter.is_alphanumeric() || (before.is_numeric() && letter.is_numeric());
        if core::mem::take(&mut gap) && folded.chars().next_back().is_some_and(is_kept) {
            folded.push('-');
        }
        folded.extend(letter.to_lowercase());
    }
    if gap {
        folded.push('-');
    }
    Some(folded).filter(|folded| !folded.is_empty())
}

/// Returns true for words that mean null.
pub(super) fn means_null(text: &str) -> bool {
    ["null", "none", "undefined"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns true if a string may be the only item of an array: not if it may be a list, or JSON text that could not be
/// read.
pub(super) fn is_one_item(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || means_null(text) {
        return false;
    }
    let (mut depth, mut has_bracket) = (0_usize, false);
    let mut before = ' ';
    for next in text.chars() {
        match next {
            '[' | '{' => (depth, has_bracket) = (depth + 1, true),
            ']' | '}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            ',' | ';' | '\n' | '\r' if depth == 0 => return false,
            '"' | '\'' if matches!(before, '[' | '{') => return false,
            _ => {}
        }
        before = next;
    }
    let is_bracketed = text.starts_with(['[', '{']) && text.ends_with([']', '}']);
    depth == 0 && !(has_bracket && is_bracketed)
}
