//! What a `custom` tool is called with, out of the arguments of the function that stands for it: `{"input": text}`.
//!
//! A model may write something else. Then the tool gets what was written: the value of `input` as JSON text if it is no
//! string, any other JSON as its text, and text that is no JSON as it is. (Source: what gateways hand to Codex's tools,
//! router-for-me/CLIProxyAPI a7e3596b, tests of `internal/util/responses_tools`.) Whole arguments go through the same
//! machine as pieces do, so that both give the same.

use alloc::string::String;
use core::mem::take;

use crate::{
    json::{self, Data, Node, Text},
    tools::held::append,
};

/// The member that holds the text.
const INPUT: &str = "input";
/// What arguments begin with that can be passed on piece by piece: any blanks may stand before each of these.
const HEAD: [&str; 4] = ["{", "\"input\"", ":", "\""];

/// The input, piece by piece.
#[derive(Debug)]
pub(super) struct CustomInput {
    state: State,
    /// What was written, until it is clear what it is; within the text an escape that is not whole yet.
    kept: String,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So far it is the beginning of `{"input":"`: how many parts of [`HEAD`] are there, and how much of the next.
    Head(usize, usize),
    /// Within the text.
    Inside,
    /// Behind the text.
    Behind,
    /// It is something else: it can be told only as a whole.
    Other,
}

impl CustomInput {
    pub(super) const fn new() -> Self {
        CustomInput { state: State::Head(0, 0), kept: String::new() }
    }

    /// Takes a piece; what of the input is clear by then.
    pub(super) fn feed(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            self.step(letter, &mut out);
        }
        out
    }

    /// Whether nothing was written yet.
    pub(super) fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Head(0, 0)) && self.kept.is_empty()
    }

    /// How much is held back.
    pub(super) fn held(&self) -> usize {
        self.kept.len()
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> String {
        let kept = take(&mut self.kept);
        match self.state {
            // Half an escape is no character.
            State::Inside => unescaped(&kept).unwrap_or(kept),
            State::Behind => String::new(),
            State::Head(..) | State::Other => whole(kept),
        }
    }

    fn step(&mut self, letter: char, out: &mut String) {
        match self.state {
            State::Head(part, at) => {
                self.kept.push(letter);
                self.state = self.head(letter, part, at);
            }
            State::Inside => self.inside(letter, out),
            State::Behind => {}
            State::Other => self.kept.push(letter),
        }
    }

    fn head(&mut self, letter: char, part: usize, at: usize) -> State {
        if at == 0 && matches!(letter, ' ' | '\t' | '\n' | '\r') {
            return State::Head(part, 0);
        }
        let Some(wanted) = HEAD.get(part).filter(|wanted| wanted.chars().nth(at) == Some(letter)) else {
            return State::Other;
        };
        if at + 1 < wanted.len() {
            return State::Head(part, at + 1);
        }
        if part + 1 < HEAD.len() {
            return State::Head(part + 1, 0);
        }
        self.kept.clear();
        State::Inside
    }

    fn inside(&mut self, letter: char, out: &mut String) {
        if self.kept.is_empty() {
            match letter {
                '"' => self.state = State::Behind,
                '\\' => self.kept.push(letter),
                // A line break that should have been escaped is one nevertheless.
                _ => out.push(letter),
            }
            return;
        }
        // What is no half of a pair stands for itself, and so does what comes instead of the other half.
        if is_high(&self.kept) && !continues(&self.kept, letter) {
            self.kept.drain(..HALF);
            out.push(char::REPLACEMENT_CHARACTER);
            return self.inside(letter, out);
        }
        self.kept.push(letter);
        match is_whole(&self.kept) {
            Whole::No => {}
            Whole::Yes if is_high(&self.kept) => {}
            Whole::Yes | Whole::Never => {
                let escape = take(&mut self.kept);
                out.push_str(&unescaped(&escape).unwrap_or(escape));
            }
        }
    }
}

/// How long the escape of half a surrogate pair is.
const HALF: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
    /// It is no escape at all.
    Never,
}

/// Whether an escape, or two of them that are the halves of a pair, is whole.
fn is_whole(escape: &str) -> Whole {
    let last = escape.get(if escape.len() > HALF { HALF } else { 0 }..).unwrap_or_default();
    match last.as_bytes() {
        b"\\" | b"" => Whole::No,
        [b'\\', b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => {
            if digits.len() < 4 {
                Whole::No
            } else {
                Whole::Yes
            }
        }
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'] => Whole::Yes,
        _ => Whole::Never,
    }
}

/// Whether an escape is the first half of a pair, with or without the beginning of the second.
fn is_high(escape: &str) -> bool {
    let digits = escape.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    escape.len() < 2 * HALF
        && escape.starts_with("\\u")
        && digits.is_some_and(|point| (0xd800..0xdc00).contains(&point))
}

/// Whether a letter may follow the first half of a pair.
fn continues(escape: &str, letter: char) -> bool {
    match escape.len() {
        6 => letter == '\\',
        7 => letter == 'u',
        8 => matches!(letter, 'd' | 'D'),
        9 => matches!(letter, 'c'..='f' | 'C'..='F'),
        _ => letter.is_ascii_hexdigit(),
    }
}

/// The characters of escapes; `None`: they are none. Half a pair has no character: U+FFFD stands for it.
fn unescaped(escape: &str) -> Option<String> {
    let quoted = alloc::format!("\"{escape}\"");
    let text = json::read(&quoted).ok()?;
    text.as_text().map(|text| text.code_points().map(character).collect())
}

fn character(point: u32) -> char {
    char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The input of arguments that are whole.
fn whole(written: String) -> String {
    json::read(&written).map_or_else(|_| written.clone(), |value| of_value(&value))
}

/// The input of arguments that are a value.
pub(super) fn of_value(value: &Node<'_>) -> String {
    let text = |text: &Text<'_>| text.code_points().map(character).collect();
    match value.data() {
        Data::String(written) => text(written),
        Data::Object(members) => match members.get(INPUT).map(Node::data) {
            Some(Data::String(input)) => text(input),
            Some(_) => members.get(INPUT).map(json::write).unwrap_or_default(),
            None if members.is_empty() => String::new(),
            None => json::write(value),
        },
        _ => json::write(value),
    }
}

/// The input of arguments that are JSON text.
pub(super) fn of_text(arguments: &Text<'_>) -> String {
    let (mut input, mut written) = (CustomInput::new(), String::new());
    append(&mut written, arguments);
    let mut out = input.feed(&written);
    out.push_str(&input.finish());
    out
}
