//! The text of an event stream (`text/event-stream`): cut into events, and written again. Knows lines, and nothing of what is done
//! to events.

use alloc::{format, string::String, vec::Vec};

use super::stream::Stream;
use crate::{
    error::{Code, Error},
    json::{self, Node},
    limits::MAX_HELD_BYTES,
};

/// What is done to events.
pub(super) trait Sink {
    /// What is to be passed on for an event.
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error>;

    /// What is still held back at the end.
    fn finish(&mut self) -> Vec<Node<'static>>;
}

/// Text that is no whole event yet.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    text: String,
    /// Where the line begins that is not complete.
    line: usize,
    /// How far it was looked for the end of that line, so that tiny pieces cost no more than large ones.
    searched: usize,
}

impl Buffer {
    /// Adds a piece, and takes out the events that are whole now, each with the blank line behind it.
    fn add(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let mut whole = 0;
        while let Some(found) = self.text.get(self.searched..).and_then(|rest| rest.find('\n')) {
            let end = self.searched + found;
            let line = self.text.get(self.line..end).unwrap_or_default();
            let is_blank = line.is_empty() || line == "\r";
            self.line = end + 1;
            self.searched = self.line;
            if is_blank {
                whole = self.line;
            }
        }
        self.searched = self.text.len();
        let rest = self.text.split_off(whole);
        self.line = self.line.saturating_sub(whole);
        self.searched = self.searched.saturating_sub(whole);
        core::mem::replace(&mut self.text, rest)
    }
}

const DONE: &str = "[DONE]";

impl Stream {
    /// The text to be passed on for a piece of text.
    pub(crate) fn feed_text(&mut self, piece: &str) -> Result<String, Error> {
        let mut lines = core::mem::take(&mut self.text);
        let out = lines.feed(piece, self);
        self.text = lines;
        out
    }

    /// The text that is left at the end of a stream.
    pub(crate) fn finish_text(&mut self) -> String {
        let lines = core::mem::take(&mut self.text);
        let rest = lines.text.clone();
        lines.finish(self).unwrap_or(rest)
    }
}

impl Sink for Stream {
    fn feed<'a>(&mut self, event: Node<'a>) -> Result<Vec<Node<'a>>, Error> {
        Stream::feed(self, event)
    }

    fn finish(&mut self) -> Vec<Node<'static>> {
        Stream::finish(self)
    }
}

impl Buffer {
    /// The text to be passed on for a piece of text.
    pub(super) fn feed(&mut self, piece: &str, sink: &mut impl Sink) -> Result<String, Error> {
        let whole = self.add(piece);
        if self.text.len() > MAX_HELD_BYTES {
            let message = format!("expected events of at most {MAX_HELD_BYTES} bytes, found a longer one");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        let mut out = String::with_capacity(whole.len());
        let mut event = String::new();
        for line in whole.split_inclusive('\n') {
            event.push_str(line);
            if line == "\n" || line == "\r\n" {
                pass(&core::mem::take(&mut event), sink, &mut out)?;
            }
        }
        Ok(out)
    }

    /// The text that is left at the end of a stream. Some servers leave out the blank line behind their last event; it is one
    /// nevertheless, if it is whole.
    pub(super) fn finish(self, sink: &mut impl Sink) -> Result<String, Error> {
        let mut out = String::new();
        let (data, _) = parts(&self.text);
        let is_whole = data == DONE || json::read(&data).is_ok();
        if is_whole {
            pass(&self.text, sink, &mut out)?;
        }
        for event in sink.finish() {
            end(&mut out);
            write(&event, "", &mut out);
        }
        if !is_whole {
            out.push_str(&self.text);
        }
        Ok(out)
    }
}

/// Writes the blank line behind the last event, if it is not there.
pub(super) fn end(out: &mut String) {
    if out.is_empty() || out.ends_with("\n\n") || out.ends_with("\n\r\n") {
        return;
    }
    out.push_str(if out.ends_with('\n') { "\n" } else { "\n\n" });
}

/// The data of an event, and its other lines.
fn parts(raw: &str) -> (String, String) {
    let (mut data, mut others) = (String::new(), String::new());
    for line in raw.lines() {
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

/// One event, with the blank line behind it.
fn pass(raw: &str, sink: &mut impl Sink, out: &mut String) -> Result<(), Error> {
    let (data, others) = parts(raw);
    if data == DONE {
        for event in sink.finish() {
            write(&event, "", out);
        }
    }
    let Ok(event) = json::read(&data) else {
        out.push_str(raw);
        return Ok(());
    };
    let events = sink.feed(event)?;
    let last = events.len().saturating_sub(1);
    for (at, event) in events.iter().enumerate() {
        if at > 0 {
            end(out);
        }
        match event.is_intact() {
            true => out.push_str(raw),
            false if at == last => write(event, &others, out),
            // One that is passed on late stands for itself; its number and name are not this event's.
            false if others.contains("event:") => write(event, &named(event), out),
            false => write(event, "", out),
        }
    }
    Ok(())
}

/// The line that names an event as its `type` does.
fn named(event: &Node<'_>) -> String {
    event.get("type").and_then(Node::as_text).map(|kind| format!("event: {}\n", kind.display())).unwrap_or_default()
}

fn write(event: &Node<'_>, lines: &str, out: &mut String) {
    out.push_str(lines);
    out.push_str("data: ");
    json::write_into(event, out);
    out.push_str("\n\n");
}
