//! The text of an event stream (`text/event-stream`): cut into events, and written again. Knows lines, and nothing of
//! what is done to events.

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
};

/// What is done to events.
pub(crate) trait Sink {
    /// What is to be passed on for an event.
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error>;

    /// What is still held back at the end.
    fn finish(&mut self) -> Vec<Node<'static>>;
}

/// Text that is no whole event yet.
///
/// Every byte is looked at once, whatever the pieces are: a piece is appended, and only whole events leave the buffer.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    /// Where the line begins that is not complete.
    line: usize,
    /// How far the end of that line was looked for.
    searched: usize,
    /// The last line ended with a CR at the very end of a piece: what becomes of an LF that comes next and belongs to
    /// it.
    half: Option<Half>,
    /// What was ready to be passed on when an error came: the next call hands it out, so that nothing is lost.
    ready: String,
    /// The last event was whole and could not be restored: it passes as it came.
    refused: bool,
    /// Events of this stream have lines that name them: some clients pass over an event without one.
    has_names: bool,
    /// Text of this stream came.
    has_begun: bool,
}

/// A stream may begin with a byte order mark, which belongs to no line and is left out.
/// Source: HTML, server-sent events, "parsing an event stream": one leading U+FEFF is ignored.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What becomes of the second half of a CR LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// It stays with its line, which is still here.
    Here,
    /// Its line was passed on as it came, and so is this.
    Passed,
    /// Its event was written anew, with a blank line of its own.
    Written,
}

const DONE: &str = "[DONE]";

impl Buffer {
    /// Returns true if no state is buffered.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.text.is_empty() && self.ready.is_empty() && self.half.is_none() && !self.refused
    }

    /// The text to be passed on for a piece of text.
    ///
    /// # Errors
    /// Those of the sink, and `limit-exceeded`. An event that cannot be restored passes as it came, with the next call.
    pub(crate) fn feed(&mut self, piece: &str, sink: &mut impl Sink) -> Result<String, Error> {
        if self.text.len() > MAX_HELD_BYTES {
            return Err(too_long());
        }
        self.append(piece);
        let text = core::mem::take(&mut self.text);
        let mut out = core::mem::take(&mut self.ready);
        let mut passed = 0;
        let mut outcome = Ok(());
        while let Some(end) = self.next_event(&text) {
            let raw = text.get(passed..end).unwrap_or_default();
            passed = end;
            let as_it_came = match pass(raw, sink, &mut self.has_names, &mut out) {
                Ok(as_it_came) => as_it_came,
                Err(error) => {
                    outcome = Err(error);
                    out.push_str(raw);
                    true
                }
            };
            self.half = self.half.map(|_| if as_it_came { Half::Passed } else { Half::Written });
            if outcome.is_err() {
                break;
            }
        }
        self.keep(text, passed);
        if outcome.is_ok() && self.text.len() > MAX_HELD_BYTES {
            outcome = Err(too_long());
        }
        match outcome {
            Ok(()) => Ok(out),
            Err(error) => {
                self.ready = out;
                Err(error)
            }
        }
    }

    fn append(&mut self, piece: &str) {
        let is_first = !self.has_begun;
        self.has_begun |= !piece.is_empty();
        let piece = piece.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(piece);
        if piece.is_empty() {
            return;
        }
        match (self.half.take(), piece.strip_prefix('\n')) {
            (Some(Half::Here), Some(_)) => {
                self.text.push_str(piece);
                self.line = self.searched + 1;
                self.searched = self.line;
            }
            (Some(half), Some(rest)) => {
                self.text.push_str(rest);
                if half == Half::Passed {
                    self.ready.push('\n');
                }
            }
            _ => self.text.push_str(piece),
        }
    }

    /// Where the next whole event ends, the blank line behind it included.
    fn next_event(&mut self, text: &str) -> Option<usize> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        while let Some(found) = text.as_bytes().get(self.searched..).and_then(|rest| rest.iter().position(is_end)) {
            let end = self.searched + found;
            let is_blank = end == self.line;
            // A line ends with LF, CR LF or CR.
            let is_return = text.as_bytes().get(end) == Some(&b'\r');
            let after = text.as_bytes().get(end + 1);
            self.line = end + if is_return && after == Some(&b'\n') { 2 } else { 1 };
            self.half = (is_return && after.is_none()).then_some(Half::Here);
            self.searched = self.line;
            if is_blank {
                return Some(self.line);
            }
        }
        self.searched = text.len();
        None
    }

    /// Keeps what is behind the events that were passed on. That is less than the last piece, unless none was whole.
    fn keep(&mut self, mut text: String, passed: usize) {
        text.drain(..passed);
        self.text = text;
        self.line = self.line.saturating_sub(passed);
        self.searched = self.searched.saturating_sub(passed);
    }

    /// The text that is left at the end of a stream. Some servers leave out the blank line behind their last event; it
    /// is one nevertheless, if it is whole.
    ///
    /// # Errors
    /// Those of the sink. The next call then gives what was held back, and the last event as it came.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) -> Result<String, Error> {
        let mut out = match self.text.len() > MAX_HELD_BYTES {
            // Refused when it came.
            true => core::mem::take(&mut self.ready),
            false => self.feed("", sink)?,
        };
        let is_whole = !self.refused && {
            let (data, _) = parts(&self.text);
            data == DONE || json::read(&data).is_ok()
        };
        if is_whole {
            if let Err(error) = pass(&self.text, sink, &mut self.has_names, &mut out) {
                (self.ready, self.refused) = (out, true);
                return Err(error);
            }
        }
        for event in sink.finish() {
            end(&mut out);
            write(&event, &own_name(&event, self.has_names), &mut out);
        }
        if !is_whole {
            out.push_str(&self.text);
        }
        *self = Buffer::default();
        Ok(out)
    }
}

fn too_long() -> Error {
    let message = format!("expected events of at most {MAX_HELD_BYTES} bytes, found a longer one");
    Error::new(Code::LimitExceeded, "", message)
}

/// Writes the blank line behind the last event, if it is not there.
pub(crate) fn end(out: &mut String) {
    if out.is_empty() || ["\n\n", "\n\r\n", "\r\r"].iter().any(|blank| out.ends_with(blank)) {
        return;
    }
    out.push_str(if out.ends_with(['\n', '\r']) { "\n" } else { "\n\n" });
}

/// The lines of a text, each without its end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// The data of an event, and its other lines.
fn parts(raw: &str) -> (String, String) {
    let (mut data, mut others) = (String::new(), String::new());
    for line in lines(raw) {
        match line.strip_prefix("data:") {
            Some(rest) => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(rest.strip_prefix(' ').unwrap_or(rest));
            }
            None if line.is_empty() => {}
            None => {
                others.push_str(line);
                others.push('\n');
            }
        }
    }
    (data, others)
}

/// One event, with the blank line behind it. Tells whether it passed as it came.
fn pass(raw: &str, sink: &mut impl Sink, has_names: &mut bool, out: &mut String) -> Result<bool, Error> {
    let (data, others) = parts(raw);
    *has_names |= others.contains("event:");
    if data == DONE {
        for event in sink.finish() {
            write(&event, &own_name(&event, *has_names), out);
        }
    }
    let Ok(event) = json::read(&data) else {
        out.push_str(raw);
        return Ok(true);
    };
    let came = event.get("type").and_then(Node::as_text).cloned();
    let events = sink.feed(event)?;
    let last = events.len().saturating_sub(1);
    let as_it_came = events.last().is_some_and(Node::is_intact);
    for (at, event) in events.iter().enumerate() {
        if at > 0 {
            end(out);
        }
        match event.is_intact() {
            true => out.push_str(raw),
            false if at == last && !is_renamed(event, came.as_ref(), &others) => write(event, &others, out),
            false if at == last => write(event, &renamed(event, &others), out),
            // One that is passed on late stands for itself; its number and name are not this event's.
            false => write(event, &own_name(event, *has_names), out),
        }
    }
    Ok(as_it_came)
}

/// Whether an event has another type than it came with, and a line that says so.
fn is_renamed(event: &Node<'_>, came: Option<&Text<'_>>, lines: &str) -> bool {
    lines.contains("event:") && event.get("type").and_then(Node::as_text) != came
}

/// An event's other lines, with the one that names it as its `type` does now.
fn renamed(event: &Node<'_>, lines: &str) -> String {
    let others = lines.lines().filter(|line| !line.starts_with("event:"));
    others.fold(named(event), |out, line| out + line + "\n")
}

/// The line that names an event as its `type` does.
fn named(event: &Node<'_>) -> String {
    event.get("type").and_then(Node::as_text).map(|kind| format!("event: {}\n", kind.display())).unwrap_or_default()
}

/// The line that names an event in a stream whose events have one.
fn own_name(event: &Node<'_>, has_names: bool) -> String {
    if has_names {
        named(event)
    } else {
        String::new()
    }
}

fn write(event: &Node<'_>, lines: &str, out: &mut String) {
    out.push_str(lines);
    out.push_str("data: ");
    json::write_into(event, out);
    out.push_str("\n\n");
}
