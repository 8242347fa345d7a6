//! Splits the text of an event stream (`text/event-stream`) into events, and writes events as text. Does not depend on
//! how events are processed.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{self, Node, Text},
    limits::MAX_HELD_BYTES,
    wire::events::kind_of,
};

pub(crate) trait Sink {
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error>;

    /// Returns the events that are still buffered at the end.
    fn finish(&mut self) -> Result<Vec<Node<'static>>, Error>;

    /// Returns true if the end of the stream is hidden from the client, because another stream continues this one.
    fn hides_end(&self) -> bool {
        false
    }
}

/// Text of incomplete events.
///
/// Every byte is scanned once, however the text is cut into pieces: a piece is appended, and only complete events leave
/// the buffer.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    /// Start of the incomplete line.
    line: usize,
    /// Position from which the search for the end of the incomplete line continues.
    searched: usize,
    /// Set if the last piece ended with a CR: how to treat an LF at the beginning of the next piece.
    half: Option<Half>,
    /// Output that was complete when an error occurred. The next call returns it, so that nothing is lost.
    ready: String,
    /// True if the last event was complete but could not be restored. It is passed on unchanged.
    refused: bool,
    /// True if events of this stream have `event:` lines. Some clients then ignore an event without such a line.
    has_names: bool,
    /// True once the stream has received text.
    has_begun: bool,
}

/// A byte order mark at the beginning of a stream is removed, because it is not part of the first line.
/// Source: HTML, server-sent events, "parsing an event stream": one leading U+FEFF is ignored.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Treatment of the LF of a CR LF that is split between two pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// The line is still in the buffer: the LF is kept with it.
    Here,
    /// The line was passed on unchanged: the LF is passed on as well.
    Passed,
    /// The event was rewritten, with its own blank line: the LF is dropped.
    Written,
}

const DONE: &str = "[DONE]";

impl Buffer {
    pub(crate) fn is_at_rest(&self) -> bool {
        self.text.is_empty() && self.ready.is_empty() && self.half.is_none() && !self.refused
    }

    /// # Errors
    /// The errors of the sink, and `limit-exceeded`. The next call returns the event that was refused, unchanged; after
    /// `budget-exceeded`, it is dropped.
    pub(crate) fn feed<'p>(&mut self, piece: &'p str, sink: &mut impl Sink) -> Result<Cow<'p, str>, Error> {
        if self.text.len() > MAX_HELD_BYTES {
            return Err(too_long());
        }
        let (text, mut out) = if self.is_at_rest() && (self.has_begun || !piece.starts_with(BYTE_ORDER_MARK)) {
            self.has_begun |= !piece.is_empty();
            (Cow::Borrowed(piece), Output::of(piece))
        } else {
            self.append(piece);
            (Cow::Owned(core::mem::take(&mut self.text)), Output::from(core::mem::take(&mut self.ready)))
        };
        let mut passed = 0;
        let mut outcome = Ok(());
        while let Some(end) = self.next_event(&text) {
            let raw = text.get(passed..end).unwrap_or_default();
            out.start = passed;
            passed = end;
            let is_unchanged = match pass(raw, sink, &mut self.has_names, &mut out) {
                Ok(is_unchanged) => is_unchanged,
                Err(error) => {
                    // Arguments that cannot be restored are never passed on.
                    if error.code() != Code::BudgetExceeded {
                        out.push_unchanged(raw);
                    }
                    outcome = Err(error);
                    true
                }
            };
            self.half = self.half.map(|_| if is_unchanged { Half::Passed } else { Half::Written });
            if outcome.is_err() {
                break;
            }
        }
        self.keep(text, passed);
        if outcome.is_ok() && self.text.len() > MAX_HELD_BYTES {
            outcome = Err(too_long());
        }
        match outcome {
            Ok(()) => Ok(out.into_text()),
            Err(error) => {
                self.ready = out.into_text().into_owned();
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

    /// Returns the end of the next complete event, including the blank line after it.
    fn next_event(&mut self, text: &str) -> Option<usize> {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        while let Some(length) = text.as_bytes().get(self.searched..).and_then(|rest| rest.iter().position(is_end)) {
            let end = self.searched + length;
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

    /// Stores the text after the last complete event. If any event was complete, this text is shorter than the last
    /// piece.
    fn keep(&mut self, text: Cow<'_, str>, passed: usize) {
        self.text = match text {
            Cow::Borrowed(text) => text.get(passed..).unwrap_or_default().into(),
            Cow::Owned(mut text) => {
                text.drain(..passed);
                text
            }
        };
        self.line = self.line.saturating_sub(passed);
        self.searched = self.searched.saturating_sub(passed);
    }

    /// Ends the stream. The rest is treated as an event if its data is complete, because some servers omit the blank
    /// line after their last event.
    ///
    /// # Errors
    /// The errors of the sink. The next call then returns the buffered text, with the last event unchanged; after
    /// `budget-exceeded`, without it.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) -> Result<String, Error> {
        let out = match self.text.len() > MAX_HELD_BYTES {
            // Already refused by `feed`.
            true => core::mem::take(&mut self.ready),
            false => self.feed("", sink)?.into_owned(),
        };
        let mut out = Output::from(out);
        let is_whole = !self.refused && {
            let (data, _) = parts(&self.text);
            data == DONE || json::read(&data).is_ok()
        };
        if is_whole {
            if let Err(error) = pass(&self.text, sink, &mut self.has_names, &mut out) {
                if error.code() == Code::BudgetExceeded {
                    self.text.clear();
                }
                (self.ready, self.refused) = (out.into_text().into_owned(), true);
                return Err(error);
            }
        }
        let mut out = out.into_text().into_owned();
        let left = match sink.finish() {
            Ok(left) => left,
            Err(error) => {
                if is_whole {
                    self.text.clear();
                }
                (self.ready, self.refused) = (out, true);
                return Err(error);
            }
        };
        for event in left {
            end(&mut out);
            write(&event, &event_line_if_named(&event, self.has_names), &mut out);
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

pub(crate) fn end(out: &mut String) {
    if out.is_empty() || ["\n\n", "\n\r\n", "\r\r"].iter().any(|blank| out.ends_with(blank)) {
        return;
    }
    out.push_str(if out.ends_with(['\n', '\r']) { "\n" } else { "\n\n" });
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Returns the data of an event, and its other lines.
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

/// The text to forward. It is the beginning of the piece until an event changes, so that a stream without calls is
/// not copied.
struct Output<'p> {
    piece: &'p str,
    /// Length of the unchanged beginning of the piece.
    unchanged: usize,
    /// Where the current event starts in the piece.
    start: usize,
    /// The text, once it is not the beginning of the piece.
    text: Option<String>,
}

impl<'p> Output<'p> {
    fn of(piece: &'p str) -> Self {
        Output { piece, unchanged: 0, start: 0, text: None }
    }

    fn push_unchanged(&mut self, event: &str) {
        match self.text {
            None if self.start == self.unchanged => self.unchanged += event.len(),
            _ => self.text().push_str(event),
        }
    }

    fn text(&mut self) -> &mut String {
        self.text.get_or_insert_with(|| self.piece.get(..self.unchanged).unwrap_or_default().into())
    }

    fn into_text(self) -> Cow<'p, str> {
        match self.text {
            Some(text) => Cow::Owned(text),
            None => Cow::Borrowed(self.piece.get(..self.unchanged).unwrap_or_default()),
        }
    }
}

impl From<String> for Output<'_> {
    fn from(text: String) -> Self {
        Output { piece: "", unchanged: 0, start: 0, text: Some(text) }
    }
}

/// Writes the result, including the blank line after it. Returns true if the event is unchanged.
fn pass(raw: &str, sink: &mut impl Sink, has_names: &mut bool, out: &mut Output<'_>) -> Result<bool, Error> {
    let (data, others) = parts(raw);
    *has_names |= others.contains("event:");
    if data == DONE {
        for event in sink.finish()? {
            write(&event, &event_line_if_named(&event, *has_names), out.text());
        }
        if sink.hides_end() {
            return Ok(false);
        }
    }
    let Ok(event) = json::read(&data) else {
        out.push_unchanged(raw);
        return Ok(true);
    };
    let received_name = kind_of(&event).cloned();
    let events = sink.feed(event)?;
    let last = events.len().saturating_sub(1);
    let is_unchanged = events.last().is_some_and(Node::is_intact);
    for (at, event) in events.iter().enumerate() {
        if at > 0 {
            end(out.text());
        }
        match event.is_intact() {
            true => out.push_unchanged(raw),
            false if at == last && !is_renamed(event, received_name.as_ref(), &others) => {
                write(event, &others, out.text())
            }
            false if at == last => write(event, &rename_event(event, &others), out.text()),
            // A delayed event gets its own `event:` line: the lines in `others` belong to the current event.
            false => write(event, &event_line_if_named(event, *has_names), out.text()),
        }
    }
    Ok(is_unchanged)
}

fn is_renamed(event: &Node<'_>, received_name: Option<&Text<'_>>, lines: &str) -> bool {
    lines.contains("event:") && kind_of(event) != received_name
}

fn rename_event(event: &Node<'_>, lines: &str) -> String {
    let others = lines.lines().filter(|line| !line.starts_with("event:"));
    others.fold(event_line(event), |out, line| out + line + "\n")
}

fn event_line(event: &Node<'_>) -> String {
    kind_of(event).map(|kind| format!("event: {}\n", kind.display())).unwrap_or_default()
}

fn event_line_if_named(event: &Node<'_>, has_names: bool) -> String {
    if has_names {
        event_line(event)
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
