//! Writes compact JSON text. Unchanged strings and numbers keep their spelling, except in text for descriptions and
//! measurements, which has one spelling regardless of the input.
//!
//! For example, a hint such as `(enum: ["é"])` must not depend on the form of the input. JSON text may contain escapes;
//! a value of the caller's language has none.

use alloc::{borrow::Cow, format, string::String};
use core::{fmt::Write as _, ops::Range, ptr};

use super::{number, scan::plain_prefix, Data, Node, Text};

/// Output of the writer. One implementation only counts the bytes.
pub(super) trait Sink {
    fn put(&mut self, text: &str);

    fn put_quoted(&mut self, spelling: &str);
}

/// Output that shares large parts with `source`, in the order of `source`. Adjacent parts are copied in one piece.
/// (Copying 10 MB in pieces of 5 KB took twice as long.)
struct Copied<'o> {
    out: &'o mut String,
    source: &'o str,
    /// The part of the source that will be copied next.
    pending: Range<usize>,
}

impl Copied<'_> {
    fn flush(&mut self) {
        self.out.push_str(self.source.get(self.pending.clone()).unwrap_or_default());
        self.pending = 0..0;
    }
}

impl Sink for Copied<'_> {
    fn put(&mut self, text: &str) {
        if !self.pending.is_empty() {
            let end = self.pending.end.saturating_add(text.len());
            let next = self.source.get(self.pending.end..end);
            // The text is this part of the source in memory, or is a comma, a bracket or a quote that equals the source
            // here.
            if next.is_some_and(|next| {
                ptr::eq(next, text) || text.len() == 1 && next.bytes().next() == text.bytes().next()
            }) {
                self.pending.end = end;
                return;
            }
            self.flush();
        }
        let start = (text.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize);
        let range = start..start.saturating_add(text.len());
        if start < self.source.len() && self.source.get(range.clone()).is_some_and(|part| ptr::eq(part, text)) {
            self.pending = range;
        } else {
            self.out.push_str(text);
        }
    }

    fn put_quoted(&mut self, spelling: &str) {
        // In the source, the string usually has its quotes as well.
        let start = (spelling.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize);
        let around = start.wrapping_sub(1)..start.saturating_add(spelling.len()).saturating_add(1);
        match self.source.get(around) {
            Some(quoted) if quoted.bytes().next() == Some(b'"') && quoted.bytes().next_back() == Some(b'"') => {
                self.put(quoted)
            }
            _ => {
                self.put("\"");
                self.put(spelling);
                self.put("\"");
            }
        }
    }
}

struct Length(pub(super) usize);

impl Sink for Length {
    fn put(&mut self, text: &str) {
        self.0 += text.len();
    }

    fn put_quoted(&mut self, spelling: &str) {
        self.0 += spelling.len() + 2;
    }
}

/// Returns the compact JSON text of a value.
pub fn write(node: &Node<'_>) -> String {
    let mut out = String::new();
    write_into(node, &mut out);
    out
}

/// Appends the compact JSON text of a value.
pub fn write_into(node: &Node<'_>, out: &mut String) {
    write_from("", node, out);
}

/// Like [`write_into`], for a tree whose large parts were read from `source`.
fn write_from(source: &str, node: &Node<'_>, out: &mut String) {
    let mut copied = Copied { out, source, pending: 0..0 };
    emit::<AsRead>(node, &mut copied);
    copied.flush();
}

/// Returns the text of a tree that was read from `source`, or the source itself if nothing changed.
pub(crate) fn text_of<'a>(source: &'a str, node: &Node<'a>) -> Cow<'a, str> {
    if node.is_intact() {
        Cow::Borrowed(source)
    } else {
        let mut text = String::with_capacity(source.len());
        write_from(source, node, &mut text);
        Cow::Owned(text)
    }
}

/// Returns the length in bytes of the compact JSON text, without writing it.
pub fn length(node: &Node<'_>) -> usize {
    let mut length = Length(0);
    emit::<AsRead>(node, &mut length);
    length.0
}

pub(super) trait Spelling {
    fn number(text: &str, out: &mut impl Sink);

    /// Writes the string with its quotes.
    fn string(text: &Text<'_>, out: &mut impl Sink);
}

/// The spelling in the input, if the value was read.
struct AsRead;

impl Spelling for AsRead {
    fn number(text: &str, out: &mut impl Sink) {
        out.put(text);
    }

    fn string(text: &Text<'_>, out: &mut impl Sink) {
        match text.spelling() {
            Some(spelling) => out.put_quoted(spelling),
            None => {
                out.put("\"");
                escape(text.chars(), out);
                out.put("\"");
            }
        }
    }
}

fn emit<S: Spelling>(node: &Node<'_>, out: &mut impl Sink) {
    match node.data() {
        Data::Null => out.put("null"),
        Data::Bool(true) => out.put("true"),
        Data::Bool(false) => out.put("false"),
        Data::Number(text) => S::number(text, out),
        Data::String(text) => S::string(text, out),
        Data::Verbatim(text) => out.put(text),
        Data::Array(items) => {
            let mut before = "[";
            for item in items {
                out.put(before);
                emit::<S>(item, out);
                before = ",";
            }
            out.put(if items.is_empty() { "[]" } else { "]" });
        }
        Data::Object(object) => {
            let mut before = "{";
            for member in object {
                out.put(before);
                S::string(&member.key, out);
                out.put(":");
                emit::<S>(&member.value, out);
                before = ",";
            }
            out.put(if object.is_empty() { "{}" } else { "}" });
        }
    }
}

/// Uses the shortest escapes, like `JSON.stringify` and serde_json.
fn escape(value: &str, out: &mut impl Sink) {
    let mut rest = value;
    loop {
        // The plain part ends at an ASCII character, so this never splits a character.
        let (plain, special) = rest.split_at_checked(plain_prefix(rest.as_bytes())).unwrap_or((rest, ""));
        out.put(plain);
        let Some(byte) = special.bytes().next() else { return };
        match byte {
            b'"' => out.put("\\\""),
            b'\\' => out.put("\\\\"),
            b'\n' => out.put("\\n"),
            b'\r' => out.put("\\r"),
            b'\t' => out.put("\\t"),
            0x08 => out.put("\\b"),
            0x0C => out.put("\\f"),
            _ => {
                let mut long = String::new();
                // Writing into a String cannot fail.
                let _ = write!(long, "\\u{byte:04x}");
                out.put(&long);
            }
        }
        rest = special.get(1..).unwrap_or_default();
    }
}

/// Writes numbers as `JSON.stringify` does, and strings with the fewest escapes.
pub(crate) fn write_plain(node: &Node<'_>) -> String {
    let mut out = String::new();
    emit::<Plain>(node, &mut out);
    out
}

/// Writes strings with the fewest escapes, and numbers as in the input.
pub(crate) fn write_compact(node: &Node<'_>, out: &mut String) {
    emit::<Compact>(node, out);
}

/// Length in bytes of [`write_compact`], without writing the text.
pub(crate) fn compact_length(node: &Node<'_>) -> usize {
    let mut length = Length(0);
    emit::<Compact>(node, &mut length);
    length.0
}

/// Length in bytes of a string in [`write_compact`], with its quotes.
pub(crate) fn compact_text_length(text: &Text<'_>) -> usize {
    let mut length = Length(0);
    Compact::string(text, &mut length);
    length.0
}

pub(crate) fn plain_length(node: &Node<'_>) -> usize {
    let mut length = Length(0);
    emit::<Plain>(node, &mut length);
    length.0
}

/// Upper bound of the length in bytes of [`write_plain`]. Needs a quarter of the time of [`plain_length`], because it
/// does not read the strings.
pub(crate) fn plain_length_at_most(node: &Node<'_>) -> usize {
    // Maximum number of bytes by which the plain spelling lengthens a number such as `1e20`.
    const DIGITS: usize = 24;
    match node.data() {
        Data::Null | Data::Bool(_) => 5,
        Data::Number(text) => text.len() + DIGITS,
        Data::String(text) => plain_text_length_at_most(text),
        Data::Array(items) => 2 + items.iter().map(|item| 1 + plain_length_at_most(item)).sum::<usize>(),
        Data::Object(object) => {
            let lengths = object
                .iter()
                .map(|member| 2 + plain_text_length_at_most(&member.key) + plain_length_at_most(&member.value));
            2 + lengths.sum::<usize>()
        }
        Data::Verbatim(text) => text.len().saturating_mul(6),
    }
}

/// Upper bound of the length in bytes of a string in [`write_plain`], with its quotes.
pub(crate) fn plain_text_length_at_most(text: &Text<'_>) -> usize {
    // The spelling in the input is never shorter than the spelling with the fewest escapes. Without a spelling, each
    // byte may need an escape.
    2 + text.spelling().map_or_else(|| text.chars().len().saturating_mul(6), str::len)
}

impl Sink for String {
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }

    fn put_quoted(&mut self, spelling: &str) {
        self.push('"');
        self.push_str(spelling);
        self.push('"');
    }
}

/// One spelling for each string, regardless of the input.
struct Compact;

impl Spelling for Compact {
    fn number(text: &str, out: &mut impl Sink) {
        out.put(text);
    }

    fn string(text: &Text<'_>, out: &mut impl Sink) {
        Plain::string(text, out);
    }
}

/// One spelling for each value, regardless of the input.
struct Plain;

impl Spelling for Plain {
    fn number(text: &str, out: &mut impl Sink) {
        out.put(&number::plain(text));
    }

    fn string(text: &Text<'_>, out: &mut impl Sink) {
        if let Some(spelling) = text.spelling().filter(|spelling| has_fewest_escapes(spelling)) {
            out.put_quoted(spelling);
            return;
        }
        match text.value() {
            Some(value) => {
                out.put("\"");
                escape(&value, out);
                out.put("\"");
            }
            // The only spelling of a lone surrogate is its escape.
            None => {
                let mut spelled = String::new();
                for point in text.code_points() {
                    match char::from_u32(point) {
                        Some(character) => escape(character.encode_utf8(&mut [0; 4]), &mut spelled),
                        None => spelled.push_str(&format!("\\u{point:04x}")),
                    }
                }
                out.put_quoted(&spelled);
            }
        }
    }
}

/// Returns true if a string is spelled with short escapes only, and has no escape that JSON does not require. Most
/// strings are.
fn has_fewest_escapes(spelling: &str) -> bool {
    // No early exit, so that the compiler compares many bytes at a time. With an early exit, this loop accounted for a
    // tenth of the total time for long schemas.
    if !spelling.bytes().fold(false, |has_backslash, byte| has_backslash | (byte == b'\\')) {
        return true;
    }
    let mut rest = spelling.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        if !rest.get(at + 1).is_some_and(|next| b"\"\\bfnrt".contains(next)) {
            return false;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    true
}
