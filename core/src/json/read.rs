//! Reads JSON text into the tree, and decodes the bytes in which it arrives.
//!
//! The lexer is `hifijson`: it is no_std, keeps numbers as text, and borrows strings. Measured natively over 1,547 real
//! tool schemas of 2.1 KB (`cargo run --release -p toolwire --example reading -- tools.jsonl`, one run, 2026-11-20), µs
//! per schema:
//!
//! | | µs | |
//! |---|---|---|
//! | `serde_json::Value` with `preserve_order` | 8.5 | |
//! | `serde_json` through a `Visitor` into this tree | 4.1 | loses `1.0`, 2^70 and `1e400`, and every escape |
//! | `hifijson` into this tree | 7.4 | keeps them |
//!
//! The visitor is faster, but it loses spellings that this crate promises to keep. The feature for the spelling of
//! numbers (`arbitrary_precision`) would change the behavior of serde_json in our users' programs.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::cell::RefCell;

use hifijson::{
    escape::{self, Lex as _},
    num::LexWrite as _,
    str,
    token::Lex as _,
    Expect, Read as _, SliceLexer,
};

use super::{pointer::push_token, scan::Stops, Data, Flags, Member, Node, Object, Origin, Text};
use crate::{
    error::{Code, Error},
    limits::MAX_DEPTH,
};

/// Reads one JSON value.
///
/// # Errors
/// `invalid-json` with line, column and pointer; `too-deep` beyond [`MAX_DEPTH`] levels.
pub fn read(source: &str) -> Result<Node<'_>, Error> {
    let mut reader = Reader::new(source);
    reader.document(|reader, next| reader.value(next, 0))
}

/// Like [`read`]. The `bool` is true if an object contains a duplicate name. The last value wins.
pub(crate) fn read_and_find_duplicates(source: &str) -> Result<(Node<'_>, bool), Error> {
    let mut reader = Reader::new(source);
    let node = reader.document(|reader, next| reader.value(next, 0))?;
    Ok((node, reader.has_duplicates))
}

/// Checks the whole text, but parses only its outline. The members of the root object stay unparsed text
/// ([`Data::Verbatim`]). An array with a name in `lists` becomes an array of unparsed items.
///
/// `flags_of` is called with every string inside these items (names and values), escaped or not. The item gets all the
/// flags that `flags_of` returns. An item without flags need not be parsed. A root that is not an object is read as
/// [`read`] does.
pub(crate) fn read_outline<'a>(
    source: &'a str,
    lists: &[&str],
    flags_of: impl Fn(&Text<'a>) -> Flags,
) -> Result<Node<'a>, Error> {
    let mut reader = Reader::new(source);
    reader.document(|reader, next| {
        if next != b'{' {
            return reader.value(next, 0);
        }
        let origin = reader.number();
        let members = reader.members(|reader, key, next| {
            if next != b'[' || !lists.iter().any(|name| key.is(name)) {
                return reader.verbatim(next, 1, |_| Flags::NONE);
            }
            let origin = reader.number();
            reader.lexer.take_next();
            let mut items = Vec::new();
            reader.sequence(b']', |reader, next| {
                let item = reader.verbatim(next, 2, &flags_of).inspect_err(|_| reader.record_index(items.len()))?;
                items.push(item);
                Ok(())
            })?;
            Ok(Node::read(Data::Array(items), origin))
        })?;
        Ok(Node::read(Data::Object(reader.object(members)), origin))
    })
}

/// A reason why the text cannot be read. The position of the lexer is the location of the fault.
enum Fault {
    Json(hifijson::Error),
    Depth,
}

impl<E: Into<hifijson::Error>> From<E> for Fault {
    fn from(error: E) -> Self {
        Fault::Json(error.into())
    }
}

/// The names and indices on the path to a fault, innermost first. They are recorded only after a fault, so reading
/// valid text costs nothing.
#[derive(Default)]
struct Trail(RefCell<Vec<String>>);

struct Reader<'a> {
    source: &'a str,
    lexer: SliceLexer<'a>,
    stops: Stops<'a>,
    count: u32,
    /// True if a name occurred twice in an object.
    has_duplicates: bool,
    trail: Trail,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str) -> Self {
        let bytes = source.as_bytes();
        Reader {
            source,
            lexer: SliceLexer::new(bytes),
            stops: Stops::new(bytes),
            count: 0,
            has_duplicates: false,
            trail: Trail::default(),
        }
    }

    fn document(&mut self, value: impl FnOnce(&mut Self, u8) -> Result<Node<'a>, Fault>) -> Result<Node<'a>, Error> {
        let result = match self.peek() {
            Some(next) => value(self, next),
            None => Err(Expect::Value.into()),
        };
        match result {
            Ok(mut node) if self.peek().is_none() => {
                // The last value of a duplicate name replaces the first value, but has a number of its own. So the
                // values are numbered again.
                if self.has_duplicates {
                    node.number_in_order();
                }
                Ok(node)
            }
            Ok(_) => Err(self.error(Expect::Eof.into())),
            Err(fault) => Err(self.error(fault)),
        }
    }

    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        match self.lexer.as_slice().first() {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => self.peek_beyond(),
        }
    }

    #[inline(never)]
    fn peek_beyond(&mut self) -> Option<u8> {
        self.lexer.ws_peek()
    }

    fn position(&self) -> usize {
        self.source.len() - self.lexer.as_slice().len()
    }

    /// Returns the text from `start` to the lexer. Both positions are at ASCII characters, so this never splits a
    /// character.
    fn since(&self, start: usize) -> &'a str {
        self.source.get(start..self.position()).unwrap_or_default()
    }

    fn number(&mut self) -> Origin {
        let number = self.count;
        self.count = number.saturating_add(1);
        Origin::new(number)
    }

    fn value(&mut self, next: u8, depth: usize) -> Result<Node<'a>, Fault> {
        let origin = self.number();
        let data = match next {
            b'a'..=b'z' => match self.lexer.null_or_bool().ok_or(Expect::Value)? {
                None => Data::Null,
                Some(value) => Data::Bool(value),
            },
            b'0'..=b'9' | b'-' => {
                let (text, _) = self.lexer.num_string().validated()?;
                Data::Number(text.into())
            }
            b'"' => {
                self.lexer.take_next();
                Data::String(self.string()?)
            }
            b'[' => {
                if depth >= MAX_DEPTH {
                    return Err(Fault::Depth);
                }
                self.lexer.take_next();
                let mut items = Vec::new();
                self.sequence(b']', |reader, next| {
                    let item = reader.value(next, depth + 1).inspect_err(|_| reader.record_index(items.len()))?;
                    reader.push(&mut items, item, b']');
                    Ok(())
                })?;
                Data::Array(items)
            }
            b'{' => {
                if depth >= MAX_DEPTH {
                    return Err(Fault::Depth);
                }
                let members = self.members(|reader, _, next| reader.value(next, depth + 1))?;
                Data::Object(self.object(members))
            }
            _ => return Err(Expect::Value.into()),
        };
        Ok(Node::read(data, origin))
    }

    fn verbatim(&mut self, next: u8, depth: usize, flags_of: impl Fn(&Text<'a>) -> Flags) -> Result<Node<'a>, Fault> {
        let (origin, start, mut flags) = (self.number(), self.position(), Flags::NONE);
        self.skip(next, depth, &mut |text| flags = flags | flags_of(text))?;
        Ok(Node::verbatim(self.since(start), origin, flags))
    }

    fn skip<W: FnMut(&Text<'a>)>(&mut self, next: u8, depth: usize, watch: &mut W) -> Result<(), Fault> {
        match next {
            b'a'..=b'z' => {
                self.lexer.null_or_bool().ok_or(Expect::Value)?;
            }
            b'0'..=b'9' | b'-' => {
                self.lexer.num_string().validated()?;
            }
            b'"' => {
                self.lexer.take_next();
                watch(&self.string()?);
            }
            b'[' | b'{' if depth >= MAX_DEPTH => return Err(Fault::Depth),
            b'[' => {
                self.lexer.take_next();
                let mut index = 0;
                self.sequence(b']', |reader, next| {
                    reader.skip(next, depth + 1, watch).inspect_err(|_| reader.record_index(index))?;
                    index += 1;
                    Ok(())
                })?;
            }
            b'{' => {
                self.lexer.take_next();
                self.sequence(b'}', |reader, next| {
                    let (key, next) = reader.key(next)?;
                    watch(&key);
                    reader.skip(next, depth + 1, watch).inspect_err(|_| reader.record_key(&key))
                })?;
            }
            _ => return Err(Expect::Value.into()),
        }
        Ok(())
    }

    fn members(
        &mut self,
        mut value: impl FnMut(&mut Self, &Text<'a>, u8) -> Result<Node<'a>, Fault>,
    ) -> Result<Vec<Member<'a>>, Fault> {
        self.lexer.take_next();
        let mut members = Vec::new();
        self.sequence(b'}', |reader, next| {
            let (key, next) = reader.key(next)?;
            let value = value(reader, &key, next).inspect_err(|_| reader.record_key(&key))?;
            reader.push(&mut members, Member { key, value }, b'}');
            Ok(())
        })?;
        Ok(members)
    }

    /// Adds an item. Reserves space for a single item if no other follows, because most objects and arrays of schemas
    /// have one item. Without this, Rust reserves space for four items.
    fn push<T>(&mut self, items: &mut Vec<T>, item: T, end: u8) {
        if items.is_empty() && self.peek() == Some(end) {
            items.reserve_exact(1);
        }
        items.push(item);
    }

    fn object(&mut self, members: Vec<Member<'a>>) -> Object<'a> {
        let count = members.len();
        let object = Object::from_members(members);
        self.has_duplicates |= object.len() != count;
        object
    }

    /// Returns the name, and the first byte of the member's value.
    fn key(&mut self, next: u8) -> Result<(Text<'a>, u8), Fault> {
        if next != b'"' {
            return Err(Expect::String.into());
        }
        self.lexer.take_next();
        let key = self.string()?;
        let next = match self.peek() {
            Some(b':') => {
                self.lexer.take_next();
                self.peek().ok_or(Expect::Value)
            }
            _ => Err(Expect::Colon),
        };
        let next = next.inspect_err(|_| self.record_key(&key))?;
        Ok((key, next))
    }

    /// Reads comma-separated values up to `end`. hifijson's `seq` is not used, because it passes only the lexer to its
    /// callback.
    fn sequence(&mut self, end: u8, mut item: impl FnMut(&mut Self, u8) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut next = self.peek().ok_or(Expect::ValueOrEnd)?;
        if next == end {
            self.lexer.take_next();
            return Ok(());
        }
        loop {
            item(self, next)?;
            match self.peek() {
                Some(byte) if byte == end => {
                    self.lexer.take_next();
                    return Ok(());
                }
                Some(b',') => {
                    self.lexer.take_next();
                    next = self.peek().ok_or(Expect::Value)?;
                }
                _ => return Err(Expect::CommaOrEnd.into()),
            }
        }
    }

    /// Reads a string after its opening quote. hifijson's `str_fold` is not used, because it reads byte by byte. This
    /// function skips to the next significant byte, and skips simple escapes.
    fn string(&mut self) -> Result<Text<'a>, Fault> {
        let bytes = self.source.as_bytes();
        let start = self.position();
        let (mut at, mut escaped) = (start, false);
        let end = loop {
            let stop = self.stops.next(at);
            escaped |= stop.passed_escape;
            // Escapes are checked but not decoded: a lone surrogate is valid JSON, and a string is decoded only when it
            // is compared.
            at = match (bytes.get(stop.at), stop.is_escaped) {
                (Some(b'"'), _) => break stop.at,
                (Some(b'/'), true) => stop.at + 1,
                (_, is_escaped) => self.unicode_escape(stop.at - usize::from(is_escaped))?,
            };
        };
        self.lexer = SliceLexer::new(bytes.get(end + 1..).unwrap_or_default());
        Ok(Text::spelled(self.source.get(start..end).unwrap_or_default(), escaped))
    }

    /// Reads a `\u` escape and returns the position after it. A control character or an invalid escape is a fault.
    #[cold]
    fn unicode_escape(&mut self, at: usize) -> Result<usize, Fault> {
        self.lexer = SliceLexer::new(self.source.as_bytes().get(at..).unwrap_or_default());
        if self.lexer.take_next().ok_or(str::Error::Eof)? != b'\\' {
            return Err(str::Error::Control.into());
        }
        match self.lexer.take_next().ok_or(escape::Error::Eof).map_err(str::Error::from)? {
            b'u' => self.lexer.hex::<u16>().map(|_| ()).map_err(str::Error::from)?,
            kind => return Err(str::Error::from(escape::Error::InvalidKind(kind)).into()),
        }
        Ok(self.position())
    }

    fn record_key(&self, key: &Text<'a>) {
        self.trail.0.borrow_mut().push(key.display().into_owned());
    }

    fn record_index(&self, index: usize) {
        self.trail.0.borrow_mut().push(format!("{index}"));
    }

    fn error(&self, fault: Fault) -> Error {
        let mut pointer = String::new();
        for token in self.trail.0.borrow().iter().rev() {
            push_token(&mut pointer, token);
        }
        let error = match fault {
            Fault::Depth => {
                return Error::new(
                    Code::TooDeep,
                    pointer,
                    format!("expected at most {MAX_DEPTH} levels of nesting, found more"),
                )
            }
            Fault::Json(error) => error,
        };
        let bytes = self.source.as_bytes();
        let at = self.position().min(bytes.len());
        let before = bytes.get(..at).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        // Columns count characters. Every byte that does not continue a character begins one.
        let column =
            before.get(line_start..).unwrap_or_default().iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
        let shown = match self.source.get(at..).and_then(|rest| rest.chars().next()) {
            _ if at >= bytes.len() => "the end of the text".into(),
            Some(character) => format!("`{}`", character.escape_debug()),
            None => "an unreadable character".into(),
        };
        let message = match error {
            hifijson::Error::Token(expect) => format!("expected {expect}, found {shown}"),
            hifijson::Error::Num(error) => format!("expected a number, found a truncated one: {error}"),
            hifijson::Error::Str(error) => format!("expected a string, found {error}"),
            hifijson::Error::Depth => format!("expected at most {MAX_DEPTH} levels of nesting"),
        };
        Error::new(Code::InvalidJson, pointer, format!("{message} (line {line}, column {column})"))
    }
}

/// Returns bytes as text, if they are UTF-8.
///
/// # Errors
/// `invalid-json` at the first byte that is not UTF-8, with pointer, line and column.
pub fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    core::str::from_utf8(bytes).map_err(|error| {
        let (before, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        let before = core::str::from_utf8(before).unwrap_or_default();
        unreadable(before, &format!("expected UTF-8, found the byte `0x{byte:02x}`"))
    })
}

/// Returns the error for text that contains an unpaired surrogate after `before`, as strings of JavaScript and Python
/// may.
pub fn half_a_pair(before: &str) -> Error {
    unreadable(
        before,
        "expected valid Unicode, found half of a surrogate pair; JSON text can only spell it as an escape such as \
         `\\ud83d`",
    )
}

/// Returns the error for text that cannot be read after `before`, or the error of `before` itself if it is invalid.
fn unreadable(before: &str, message: &str) -> Error {
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let position_text = format!("(line {line}, column {column})");
    match read(before) {
        // Reading fails at the end of `before`, so this error has the right pointer.
        Err(error) if error.message().ends_with(&position_text) => {
            Error::new(Code::InvalidJson, error.pointer(), format!("{message} {position_text}"))
        }
        Err(earlier) => earlier,
        Ok(_) => Error::new(Code::InvalidJson, "", format!("{message} {position_text}")),
    }
}

/// Decodes bytes that arrive in pieces. A piece may end within a character. Bytes that are not UTF-8 become U+FFFD, as
/// event streams require (WHATWG, "server-sent events").
#[derive(Debug, Default)]
pub(crate) struct Utf8Pieces {
    /// The first bytes of a character, at most three.
    incomplete: Vec<u8>,
}

impl Utf8Pieces {
    pub(crate) fn text<'p>(&mut self, piece: &'p [u8]) -> Cow<'p, str> {
        match core::str::from_utf8(piece) {
            Ok(text) if self.incomplete.is_empty() => Cow::Borrowed(text),
            _ => Cow::Owned(self.joined(piece)),
        }
    }

    fn joined(&mut self, piece: &[u8]) -> String {
        let mut text = String::with_capacity(piece.len());
        self.incomplete.extend_from_slice(piece);
        let mut at = 0;
        loop {
            let rest = self.incomplete.get(at..).unwrap_or_default();
            let (valid, broken) = match core::str::from_utf8(rest) {
                Ok(all) => {
                    text.push_str(all);
                    self.incomplete.clear();
                    return text;
                }
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            let before = rest.get(..valid).and_then(|bytes| core::str::from_utf8(bytes).ok());
            text.push_str(before.unwrap_or_default());
            at += valid;
            match broken {
                Some(length) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    at += length;
                }
                None => {
                    self.incomplete.drain(..at);
                    return text;
                }
            }
        }
    }

    pub(crate) fn end(&mut self) -> &'static str {
        if core::mem::take(&mut self.incomplete).is_empty() {
            ""
        } else {
            "\u{fffd}"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_split_between_pieces_are_joined() {
        let whole = "a\u{e9}\u{20ac}\u{1f600}b";
        for at in 0..=whole.len() {
            let mut pieces = Utf8Pieces::default();
            let (first, second) = whole.as_bytes().split_at(at);
            assert_eq!(pieces.text(first).into_owned() + &pieces.text(second) + pieces.end(), whole, "{at}");
        }
        let mut pieces = Utf8Pieces::default();
        assert_eq!(pieces.text(b"a\xffb\xf0\x9f"), "a\u{fffd}b");
        assert_eq!(pieces.text(b"c"), "\u{fffd}c");
        assert_eq!((&*pieces.text(b"\xe2\x82"), pieces.end()), ("", "\u{fffd}"));
    }
}
