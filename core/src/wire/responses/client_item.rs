//! Items of OpenAI Responses as the client expects them, made from functions that replace a `custom` tool or a search.
//! The input of a `custom` tool is extracted from the arguments of the function that replaces it: `{"input": text}`.
//!
//! A model may write other arguments:
//!
//! - An `input` that is not a string becomes the tool's input as JSON text.
//! - Arguments that are a JSON string become its text. An empty object becomes an empty input. Any other JSON becomes
//!   JSON text. Text that is not JSON remains unchanged.
//!
//! (Source: what gateways pass to Codex's tools,
//! router-for-me/CLIProxyAPI a7e3596b, tests of `internal/util/responses_tools`.) One state
//! machine processes pieces and complete arguments, so the results are equal.

use alloc::string::String;
use core::mem::take;

use super::{as_search, CUSTOM_CALL, FUNCTION_CALL};
use crate::{
    json::{self, Data, Node, Text},
    reply::streams::buffered_calls::append,
    request::report::CallKind,
};

/// Changes a restored call to an item of this kind.
pub(crate) fn retype(item: &mut Node<'_>, kind: CallKind) {
    if kind == CallKind::Function || !item.get("type").is_some_and(|name| name.is_text(FUNCTION_CALL)) {
        return;
    }
    let arguments = item.visit("arguments", core::mem::take).unwrap_or_default();
    item.remove("arguments");
    if kind == CallKind::Custom {
        item.set("type", Node::literal(CUSTOM_CALL));
        item.set("input", Node::string(input(&arguments)));
    } else {
        as_search(item, arguments);
    }
}

pub(crate) fn input(arguments: &Node<'_>) -> String {
    match arguments.as_text() {
        Some(text) => of_text(text),
        None if arguments.is_null() => String::new(),
        None => of_value(arguments),
    }
}

const INPUT: &str = "input";
/// The tokens before the text, in arguments that can be passed on piece by piece. Whitespace may precede each token.
const HEAD: [&str; 4] = ["{", "\"input\"", ":", "\""];

#[derive(Debug)]
pub(crate) struct CustomInput {
    state: State,
    /// All text until the form of the arguments is known; later, an incomplete escape.
    buffered: String,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The text may begin with `{"input":"`. Contains the number of complete tokens of [`HEAD`], and the number of
    /// characters of the next token so far.
    Head(usize, usize),
    Inside,
    Behind,
    /// The arguments have another form, so they can be interpreted only as a whole.
    Other,
}

impl CustomInput {
    pub(crate) const fn new() -> Self {
        CustomInput { state: State::Head(0, 0), buffered: String::new() }
    }

    /// Adds a piece of the arguments. Returns the part of the input that it completes.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            self.step(letter, &mut out);
        }
        out
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        matches!(self.state, State::Head(0, 0)) && self.buffered.is_empty()
    }

    pub(crate) fn buffered(&self) -> usize {
        self.buffered.len()
    }

    pub(crate) fn finish(&mut self) -> String {
        let buffered = take(&mut self.buffered);
        match self.state {
            // An incomplete escape is passed on as text.
            State::Inside => unescape(&buffered).unwrap_or(buffered),
            State::Behind => String::new(),
            State::Head(..) | State::Other => whole(buffered),
        }
    }

    fn step(&mut self, letter: char, out: &mut String) {
        match self.state {
            State::Head(part, at) => {
                self.buffered.push(letter);
                self.state = self.head(letter, part, at);
            }
            State::Inside => self.inside(letter, out),
            State::Behind => {}
            State::Other => self.buffered.push(letter),
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
        self.buffered.clear();
        State::Inside
    }

    fn inside(&mut self, letter: char, out: &mut String) {
        if self.buffered.is_empty() {
            match letter {
                '"' => self.state = State::Behind,
                '\\' => self.buffered.push(letter),
                // An unescaped line break is treated as a line break.
                _ => out.push(letter),
            }
            return;
        }
        // A high surrogate without its low surrogate becomes U+FFFD. The rest is read separately.
        if is_high(&self.buffered) && !continues(&self.buffered, letter) {
            self.buffered.drain(..HALF);
            out.push(char::REPLACEMENT_CHARACTER);
            return self.inside(letter, out);
        }
        self.buffered.push(letter);
        match is_whole(&self.buffered) {
            Whole::No => {}
            Whole::Yes if is_high(&self.buffered) => {}
            Whole::Yes | Whole::Never => {
                let escape = take(&mut self.buffered);
                out.push_str(&unescape(&escape).unwrap_or(escape));
            }
        }
    }
}

/// Length of the escape of one surrogate.
const HALF: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
    /// Not an escape.
    Never,
}

/// Returns the state of an escape, or of the two escapes of a surrogate pair.
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

/// Returns true if an escape is a high surrogate, possibly followed by the beginning of the escape of a low surrogate.
fn is_high(escape: &str) -> bool {
    let digits = escape.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    escape.len() < 2 * HALF
        && escape.starts_with("\\u")
        && digits.is_some_and(|point| (0xd800..0xdc00).contains(&point))
}

fn continues(escape: &str, letter: char) -> bool {
    match escape.len() {
        6 => letter == '\\',
        7 => letter == 'u',
        8 => matches!(letter, 'd' | 'D'),
        9 => matches!(letter, 'c'..='f' | 'C'..='F'),
        _ => letter.is_ascii_hexdigit(),
    }
}

/// Returns `None` if the escapes are invalid. Half of a surrogate pair becomes U+FFFD.
fn unescape(escape: &str) -> Option<String> {
    let quoted = alloc::format!("\"{escape}\"");
    let text = json::read(&quoted).ok()?;
    text.as_text().map(|text| text.code_points().map(character).collect())
}

fn character(point: u32) -> char {
    char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn whole(written: String) -> String {
    json::read(&written).map_or_else(|_| written.clone(), |value| of_value(&value))
}

fn of_value(value: &Node<'_>) -> String {
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

fn of_text(arguments: &Text<'_>) -> String {
    let (mut input, mut written) = (CustomInput::new(), String::new());
    append(&mut written, arguments);
    let mut out = input.feed(&written);
    out.push_str(&input.finish());
    out
}
