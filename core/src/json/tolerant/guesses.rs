//! Notations whose meaning only a schema can decide: names without a quotation mark or colon, and bare words as
//! strings.
//!
//! The scanner records the location of each guess, and the caller checks the guess against the schema. A name has to be
//! declared, and the schema has to allow a string at a bare word. Quote tokens and doubled braces are never JSON, but
//! they are also accepted only if the result is valid.
//!
//! Sources: hermes-agent#7449, LiteRT-LM#2172, vllm#48678 (the quote token of Gemma 4). json_repair, jsonrepair and
//! BAML read the other notations.

use alloc::{string::String, vec::Vec};

use super::{
    scanner::{Quotes, Scanner},
    Guess, Guessed, Step, Stop,
};
use crate::{
    json::{self, read, Node},
    report::{Confidence, LeftReason, RepairRule},
};

/// Limits the memory of guesses, because each guess contains a path.
const MAX_GUESSES: usize = 64;

/// Special tokens with which models quote strings. They remain in the text if a server does not know them.
const QUOTE_TOKENS: [&str; 2] = ["<|\"|>", "<escape>"];

/// Words that are numbers in some languages.
const NOT_WORDS: [&str; 5] = ["NaN", "nan", "Infinity", "inf", "undefined"];

/// Returns two candidates: the text without the outer pair of braces, and the text without any doubled braces.
pub(super) fn without_doubled_braces(text: &str) -> [Option<String>; 2] {
    let inner = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let Some(inner) = inner else { return [None, None] };
    let (mut single, mut is_string, mut is_escaped) = (String::with_capacity(text.len()), false, false);
    let mut rest = text.trim();
    while let Some(next) = rest.chars().next() {
        let doubled = ["{{", "}}"].into_iter().find(|pair| !is_string && rest.starts_with(pair));
        let length = if doubled.is_some() { 2 } else { next.len_utf8() };
        single.push(next);
        match next {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_string,
            '"' => is_string = !is_string,
            _ => {}
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    let outer = String::from("{") + inner + "}";
    [Some(outer), Some(single)]
}

impl<'t> Scanner<'t> {
    pub(super) fn guess(&mut self, rule: RepairRule, path: Vec<Step>, guessed: Guessed) -> Result<(), Stop> {
        if self.guesses.len() >= MAX_GUESSES {
            return self.refuse(LeftReason::Syntax);
        }
        self.record_repair(rule, Confidence::Likely)?;
        self.guesses.push(Guess { path, guessed });
        Ok(())
    }

    /// Scans a member's name without its opening or closing quotation mark. Returns `None` for any other text.
    pub(super) fn half_quoted_name(&mut self) -> Option<String> {
        if !self.tolerance.guesses {
            return None;
        }
        let rest = self.rest();
        if let Some(inside) = rest.strip_prefix('"') {
            // A name with a colon is a name, too.
            let mut string = Scanner::new(rest, super::Tolerance::default());
            if string.string(Quotes::Double).is_ok() && string.rest().trim_start().starts_with(':') {
                return None;
            }
            let name = word_of(inside);
            let is_name = !name.is_empty() && inside.get(name.len()..)?.trim_start().starts_with(':');
            return is_name.then(|| {
                self.at += 1 + name.len();
                name.into()
            });
        }
        let name = word_of(rest);
        let behind = rest.get(name.len()..)?.strip_prefix('"')?;
        (!name.is_empty() && behind.trim_start().starts_with(':')).then(|| {
            self.at += name.len() + 1;
            name.into()
        })
    }

    pub(super) fn lacks_colon(&self, next: char) -> bool {
        self.tolerance.guesses && matches!(next, '"' | '{' | '[' | '0'..='9' | '-' | 't' | 'f' | 'n')
    }

    pub(super) fn token_string(&mut self) -> Result<bool, Stop> {
        if !self.tolerance.guesses {
            return Ok(false);
        }
        let rest = self.rest();
        let (begin, is_quoted) = rest.strip_prefix('"').map_or((rest, false), |inside| (inside, true));
        let Some(token) = QUOTE_TOKENS.into_iter().find(|token| begin.starts_with(token)) else { return Ok(false) };
        let inside = begin.get(token.len()..).unwrap_or_default();
        // A token inside the string is a quotation mark.
        let ends = |at: usize| {
            let behind = inside.get(at + token.len()..).unwrap_or_default();
            let behind = if is_quoted { behind.strip_prefix('"') } else { Some(behind) };
            behind.is_some_and(|behind| behind.trim_start().starts_with([',', ':', '}', ']']))
        };
        let Some((end, _)) = inside.match_indices(token).find(|(at, _)| ends(*at)) else {
            return self.refuse(LeftReason::Syntax);
        };
        let text = inside.get(..end).unwrap_or_default();
        if text.contains('\\') {
            // Inside quote tokens, backslashes are not escapes, but a server may have added some.
            return self.refuse(LeftReason::AmbiguousEscape);
        }
        self.record_repair(RepairRule::QuoteToken, Confidence::Likely)?;
        json::write_into(&Node::string(text.replace(token, "\"")), &mut self.out);
        self.at += usize::from(is_quoted) * 2 + 2 * token.len() + end;
        Ok(true)
    }

    /// Scans a bare word as a string. Returns the kind of guess, or `None` if no bare word follows.
    pub(super) fn bare_word(&mut self) -> Option<Guessed> {
        if !self.tolerance.guesses {
            return None;
        }
        let rest = self.rest();
        let is_end = |next: char| next.is_whitespace() || ",{}[]()\"'`\\#<>“”„‟".contains(next);
        let word = rest.get(..rest.find(is_end).unwrap_or(rest.len())).unwrap_or_default();
        let behind = rest.get(word.len()..).unwrap_or_default().trim_start();
        let is_word = word.contains(char::is_alphanumeric)
            && behind.starts_with([',', '}', ']'])
            && !word.ends_with([':', '='])
            && !NOT_WORDS.contains(&word.trim_start_matches(['-', '+']));
        let is_number = |text: &str| text.starts_with(|next: char| next.is_ascii_digit()) && read(text).is_ok();
        let guessed = match word.strip_prefix('+') {
            Some(number) if is_number(number) => Guessed::Number,
            // `007`, `3.` and `1_000` are numbers that JSON does not have.
            _ if !word.contains(|next: char| !(next.is_ascii_digit() || "+-._eE".contains(next)))
                && word.matches(['.', '-', '_']).count() < 2 =>
            {
                return None;
            }
            _ => Guessed::Word,
        };
        if !is_word {
            return None;
        }
        json::write_into(&Node::string(word), &mut self.out);
        self.at += word.len();
        Some(guessed)
    }
}

pub(super) fn word_of(text: &str) -> &str {
    let starts = |next: char| next.is_ascii_alphabetic() || next == '_' || next == '$';
    if !text.starts_with(starts) {
        return "";
    }
    let goes_on = |next: char| starts(next) || next.is_ascii_digit() || next == '-';
    text.get(..text.find(|next| !goes_on(next)).unwrap_or(text.len())).unwrap_or_default()
}
