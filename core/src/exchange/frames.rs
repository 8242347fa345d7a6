//! Frames of binary event streams (`application/vnd.amazon.eventstream`): reads events from frames, and writes events
//! as frames.
//!
//! A frame begins with its length and the length of its headers (32 bits each, big-endian), and the CRC-32 of these
//! eight bytes. The headers, the payload, and the CRC-32 of all preceding bytes follow.
//!
//! Source: docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html; botocore 1.44.8, `eventstream.py`.

use alloc::{format, string::String, vec::Vec};

use super::base64;
use crate::{
    error::{Code, Error},
    json::{self, Node, Object, Text},
    limits::MAX_HELD_BYTES,
    reply::streams::sse::Sink,
    wire::routes::Framing,
};

/// Length of the two lengths and their checksum.
const PRELUDE: usize = 12;
/// Length of the prelude and of the checksum at the end.
const AROUND: usize = PRELUDE + 4;
/// Type of a header whose value is text.
const TEXT: u8 = 7;

const MESSAGE_TYPE: &str = ":message-type";
const EVENT_TYPE: &str = ":event-type";

#[derive(Debug)]
pub(super) struct Frames {
    framing: Framing,
    bytes: Vec<u8>,
    /// Output that was complete when an error occurred. The next call returns it.
    ready: Vec<u8>,
    /// Type of the frames with events, for events without a frame.
    event_type: String,
    /// Set after bytes that are not a frame, because the start of the next frame is unknown.
    failure: Option<Error>,
}

impl Frames {
    pub(super) const fn new(framing: Framing) -> Frames {
        Frames { framing, bytes: Vec::new(), ready: Vec::new(), event_type: String::new(), failure: None }
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.bytes.is_empty() && self.ready.is_empty() && self.failure.is_none()
    }

    /// # Errors
    /// The errors of the sink; `invalid-value` for bytes that are not a frame; `limit-exceeded`. The next call returns
    /// the output that was complete. After `budget-exceeded`, the frame is dropped. After other errors of the sink, the
    /// frame is passed on unchanged. After bytes that are not a frame, nothing more is read, and later calls return the
    /// error again.
    pub(super) fn feed(&mut self, piece: &[u8], sink: &mut impl Sink) -> Result<Vec<u8>, Error> {
        let mut out = core::mem::take(&mut self.ready);
        if let Some(error) = &self.failure {
            return if out.is_empty() { Err(error.clone()) } else { Ok(out) };
        }
        let mut bytes = core::mem::take(&mut self.bytes);
        bytes.extend_from_slice(piece);
        let mut passed = 0;
        let outcome = loop {
            let rest = bytes.get(passed..).unwrap_or_default();
            let frame = match Frame::read(rest) {
                Ok(Some(frame)) => frame,
                Ok(None) => break Ok(()),
                Err(error) => {
                    self.failure = Some(error.clone());
                    break Err(error);
                }
            };
            passed += frame.raw.len();
            if let Err(error) = self.pass(&frame, sink, &mut out) {
                // Arguments that cannot be restored are never passed on.
                if error.code() != Code::BudgetExceeded {
                    out.extend_from_slice(frame.raw);
                }
                break Err(error);
            }
        };
        if self.failure.is_none() {
            bytes.drain(..passed);
            self.bytes = bytes;
        }
        match outcome {
            Ok(()) => Ok(out),
            Err(error) => {
                self.ready = out;
                Err(error)
            }
        }
    }

    pub(super) fn finish(&mut self, sink: &mut impl Sink) -> Result<Vec<u8>, Error> {
        if self.failure.is_some() {
            return Ok(core::mem::take(&mut self.ready));
        }
        let left = sink.finish()?;
        let mut out = core::mem::take(&mut self.ready);
        left.iter().for_each(|event| self.write(event, &mut out));
        out.append(&mut self.bytes);
        Ok(out)
    }

    fn pass(&mut self, frame: &Frame<'_>, sink: &mut impl Sink, out: &mut Vec<u8>) -> Result<(), Error> {
        let kind = frame.header(EVENT_TYPE).filter(|_| frame.header(MESSAGE_TYPE) == Some("event"));
        let event = kind.and_then(|kind| self.read(kind, frame.payload));
        let (Some(kind), Some(text)) = (kind, event) else {
            out.extend_from_slice(frame.raw);
            return Ok(());
        };
        let Ok(event) = json::read(&text) else {
            out.extend_from_slice(frame.raw);
            return Ok(());
        };
        if kind != self.event_type {
            self.event_type = kind.into();
        }
        for event in sink.feed(event)? {
            match event.is_intact() {
                true => out.extend_from_slice(frame.raw),
                false => self.write(&event, out),
            }
        }
        Ok(())
    }

    fn read(&self, kind: &str, payload: &[u8]) -> Option<String> {
        let payload = core::str::from_utf8(payload).ok()?;
        match self.framing {
            Framing::Base64(member) => {
                let payload = json::read(payload).ok()?;
                let bytes = base64::decode(&payload.text_at(member)?.display())?;
                String::from_utf8(bytes).ok()
            }
            Framing::Named => {
                // A payload of two members would become two members of the event.
                json::read(payload).ok()?;
                Some(format!("{{{}:{payload}}}", json::write(&Node::string(kind))))
            }
        }
    }

    fn write(&self, event: &Node<'_>, out: &mut Vec<u8>) {
        let (kind, payload) = match self.framing {
            Framing::Base64(member) => {
                let bytes = base64::encode(json::write(event).as_bytes());
                (self.event_type.clone(), Node::record([(member, Node::string(bytes))]))
            }
            Framing::Named => {
                let Some(member) = event.as_object().and_then(|event| event.iter().next()) else { return };
                (member.key.display().into_owned(), member.value.detached())
            }
        };
        let headers = [(EVENT_TYPE, &*kind), (":content-type", "application/json"), (MESSAGE_TYPE, "event")];
        write_frame(&headers, json::write(&payload).as_bytes(), out);
    }
}

/// Returns a frame that reports an error, from the body of a response with an error.
pub(super) fn error_frame(body: &str) -> Vec<u8> {
    let error = json::read(body).ok();
    let message = error.as_ref().and_then(|error| {
        let inner = error.get("error").unwrap_or(error);
        inner.text_at("message").or_else(|| inner.text_at("Message")).map(|text| text.display().into_owned())
    });
    let message = Node::string(message.unwrap_or_else(|| body.into()));
    let mut payload = Object::new();
    payload.set(Text::literal("message"), message);
    let headers = [
        (":exception-type", "modelStreamErrorException"),
        (":content-type", "application/json"),
        (MESSAGE_TYPE, "exception"),
    ];
    let mut out = Vec::new();
    write_frame(&headers, json::write(&Node::object(payload)).as_bytes(), &mut out);
    out
}

struct Frame<'b> {
    raw: &'b [u8],
    headers: &'b [u8],
    payload: &'b [u8],
}

impl<'b> Frame<'b> {
    fn read(bytes: &'b [u8]) -> Result<Option<Frame<'b>>, Error> {
        let Some(prelude) = bytes.get(..PRELUDE) else { return Ok(None) };
        let number = |at: usize| number_at(prelude, at);
        let (length, headers) = (number(0) as usize, number(4) as usize);
        let is_frame = prelude.get(..8).is_some_and(|lengths| crc32(lengths) == number(8));
        if !is_frame || length < AROUND || headers > length - AROUND {
            return Err(malformed_frame("whose first checksum is wrong"));
        }
        if length > MAX_HELD_BYTES {
            let message = format!("expected events of at most {MAX_HELD_BYTES} bytes, found a longer one");
            return Err(Error::new(Code::LimitExceeded, "", message));
        }
        let Some(raw) = bytes.get(..length) else { return Ok(None) };
        let (checked, checksum) = raw.split_at(length - 4);
        if crc32(checked) != number_at(checksum, 0) {
            return Err(malformed_frame("whose last checksum is wrong"));
        }
        let (headers, payload) = checked.get(PRELUDE..).unwrap_or_default().split_at(headers);
        Ok(Some(Frame { raw, headers, payload }))
    }

    fn header(&self, name: &str) -> Option<&'b str> {
        let mut rest = self.headers;
        while let Some((length, after)) = rest.split_first() {
            let (key, after) = after.split_at_checked(usize::from(*length))?;
            let (kind, after) = after.split_first()?;
            // Lengths of the values of each type: true, false, byte, short, integer, long, bytes, text, time, uuid.
            let (length, after) = match kind {
                0 | 1 => (0, after),
                2 => (1, after),
                3 => (2, after),
                4 => (4, after),
                5 | 8 => (8, after),
                6 | &TEXT => {
                    let (length, after) = after.split_at_checked(2)?;
                    (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), after)
                }
                9 => (16, after),
                _ => return None,
            };
            let (value, after) = after.split_at_checked(length)?;
            if key == name.as_bytes() {
                return core::str::from_utf8(value).ok().filter(|_| *kind == TEXT);
            }
            rest = after;
        }
        None
    }
}

fn malformed_frame(why: &str) -> Error {
    Error::new(Code::InvalidValue, "", format!("expected frames of an event stream, found one {why}"))
}

fn write_frame(headers: &[(&str, &str)], payload: &[u8], out: &mut Vec<u8>) {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(name.len() as u8);
        block.extend_from_slice(name.as_bytes());
        block.push(TEXT);
        // Types of events are names of members.
        let value = value.as_bytes().get(..usize::from(u16::MAX)).unwrap_or(value.as_bytes());
        block.extend_from_slice(&(value.len() as u16).to_be_bytes());
        block.extend_from_slice(value);
    }
    let start = out.len();
    let length = AROUND + block.len() + payload.len();
    out.extend_from_slice(&(length as u32).to_be_bytes());
    out.extend_from_slice(&(block.len() as u32).to_be_bytes());
    let prelude = crc32(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&prelude.to_be_bytes());
    out.extend_from_slice(&block);
    out.extend_from_slice(payload);
    let checksum = crc32(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&checksum.to_be_bytes());
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes.iter().skip(at).take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// The CRC-32 of IEEE 802.3, four bits at a time: a table of 16 numbers instead of 256.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..2 {
            sum = sum >> 4 ^ NIBBLES.get((sum & 15) as usize).copied().unwrap_or_default();
        }
    }
    !sum
}

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const NIBBLES: [u32; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let mut sum = index as u32;
        let mut bit = 0;
        while bit < 4 {
            sum = sum >> 1 ^ (0xEDB8_8320 * (sum & 1));
            bit += 1;
        }
        table[index] = sum;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn incomplete_and_broken_frames_are_found() {
        let mut bytes = Vec::new();
        write_frame(&[(MESSAGE_TYPE, "event"), (EVENT_TYPE, "chunk")], b"{}", &mut bytes);
        for end in 0..bytes.len() {
            assert!(matches!(Frame::read(&bytes[..end]), Ok(None)), "{end}");
        }
        assert!(matches!(Frame::read(&bytes), Ok(Some(Frame { payload: b"{}", .. }))));
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert!(!matches!(Frame::read(&broken), Ok(Some(_))), "{at}");
        }
    }
}
