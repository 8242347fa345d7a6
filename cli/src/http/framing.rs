//! Finds the heads of requests on a connection of HTTP/1, and refuses ambiguous heads.
//!
//! hyper accepts more than is safe in front of another server: line ends without a carriage return, `Content-Length`
//! together with `Transfer-Encoding`, and fragments (which it drops). With such a head, an attacker could make two
//! servers see different requests.

/// Maximum size of a head, in bytes.
pub(crate) const MAX_HEAD: usize = 1 << 16;
/// Maximum size of a line between the chunks of a body, and of a trailer, in bytes.
const MAX_LINE: usize = 1 << 12;
/// Bytes that hyper receives in place of a refused head. hyper answers with the status 400, and closes the connection.
const REFUSED: &[u8] = b"\0\r\n\r\n";

#[derive(Debug)]
pub(crate) struct Framing {
    state: State,
    /// The bytes of an incomplete head.
    head: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Head,
    /// A body, with the number of its remaining bytes.
    Body(u64),
    Chunked(Chunked),
    /// A head was refused, or is too long, so hyper ends the connection.
    Ended,
}

#[derive(Debug, PartialEq, Eq)]
enum Chunked {
    /// The line with the size of a chunk: the size so far, and true if its digits have ended.
    Size {
        size: u64,
        length: usize,
        has_ended: bool,
    },
    /// The line feed after the size of a chunk.
    SizeEnd(u64),
    Data(u64),
    DataReturn,
    DataEnd,
    /// A line after the last chunk, with its length so far.
    Trailer(usize),
    TrailerEnd(usize),
}

/// The body is ambiguous. The connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Framing {
    pub(crate) fn new() -> Framing {
        Framing { state: State::Head, head: Vec::new() }
    }

    pub(crate) fn is_between_requests(&self) -> bool {
        self.state == State::Head && self.head.is_empty()
    }

    pub(crate) fn is_in_head(&self) -> bool {
        self.state == State::Head && !self.head.is_empty()
    }

    /// Returns true if a head was refused. Nothing more is read from the connection.
    pub(crate) fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    pub(crate) fn is_all_body(&self, length: usize) -> bool {
        matches!(self.state, State::Body(rest) if rest >= length as u64)
    }

    /// Reads bytes of the connection up to the end of a request, and appends to `out` the bytes that hyper may read.
    /// Returns the number of read bytes.
    pub(crate) fn read(&mut self, all: &[u8], out: &mut Vec<u8>) -> Result<usize, Malformed> {
        let (mut bytes, begin) = (all, out.len());
        while let Some((first, rest)) = bytes.split_first() {
            if self.is_between_requests() && out.len() > begin {
                break;
            }
            match &mut self.state {
                State::Ended => {
                    out.extend_from_slice(bytes);
                    return Ok(all.len());
                }
                State::Body(length) => {
                    let part = usize::try_from(*length).unwrap_or(usize::MAX).min(bytes.len());
                    let (body, after) = bytes.split_at(part);
                    out.extend_from_slice(body);
                    *length -= part as u64;
                    if *length == 0 {
                        self.state = State::Head;
                    }
                    bytes = after;
                }
                State::Chunked(Chunked::Data(length)) => {
                    let part = usize::try_from(*length).unwrap_or(usize::MAX).min(bytes.len());
                    let (body, after) = bytes.split_at(part);
                    out.extend_from_slice(body);
                    *length -= part as u64;
                    if *length == 0 {
                        self.state = State::Chunked(Chunked::DataReturn);
                    }
                    bytes = after;
                }
                State::Chunked(chunked) => {
                    out.push(*first);
                    self.state = chunked.next(*first)?;
                    bytes = rest;
                }
                State::Head => bytes = self.read_head(bytes, out),
            }
        }
        Ok(all.len() - bytes.len())
    }

    fn read_head<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        for (at, byte) in bytes.iter().enumerate() {
            let after_return = self.head.last() == Some(&b'\r');
            self.head.push(*byte);
            if after_return != (*byte == b'\n') {
                // A line feed alone, or a carriage return alone.
                self.refuse(out);
                return &[];
            }
            if *byte != b'\n' {
                continue;
            }
            if self.head == b"\r\n" {
                // Empty lines before a request are allowed (RFC 9112, 2.2).
                self.head.clear();
            } else if self.head.ends_with(b"\r\n\r\n") && self.head.len() <= MAX_HEAD {
                match framing(&self.head) {
                    Some(state) => {
                        out.append(&mut self.head);
                        self.state = state;
                    }
                    None => self.refuse(out),
                }
                return bytes.get(at + 1..).unwrap_or_default();
            }
        }
        if self.head.len() > MAX_HEAD {
            // hyper has this limit, too, and answers with the status 431, because it does not receive the end of the
            // head.
            self.head.truncate(MAX_HEAD);
            out.append(&mut self.head);
            self.state = State::Ended;
        }
        &[]
    }

    fn refuse(&mut self, out: &mut Vec<u8>) {
        self.head = Vec::new();
        self.state = State::Ended;
        out.extend_from_slice(REFUSED);
    }

    pub(crate) fn flush_head(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.head);
    }
}

impl Chunked {
    fn next(&self, byte: u8) -> Result<State, Malformed> {
        Ok(State::Chunked(match (self, byte) {
            (Chunked::Size { size, length, .. }, b'\r') if *length > 0 => Chunked::SizeEnd(*size),
            (Chunked::Size { .. }, b'\r' | b'\n') => return Err(Malformed),
            (Chunked::Size { length, .. }, _) if *length >= MAX_LINE => return Err(Malformed),
            (Chunked::Size { size, length, has_ended: false }, byte) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let size = size.checked_mul(16).and_then(|size| size.checked_add(digit.into())).ok_or(Malformed)?;
                Chunked::Size { size, length: length + 1, has_ended: false }
            }
            // An extension follows. It is ignored.
            (Chunked::Size { size, length, has_ended }, byte) if *length > 0 && (*has_ended || byte == b';') => {
                Chunked::Size { size: *size, length: length + 1, has_ended: true }
            }
            (Chunked::SizeEnd(0), b'\n') => Chunked::Trailer(0),
            (Chunked::SizeEnd(size), b'\n') => Chunked::Data(*size),
            (Chunked::DataReturn, b'\r') => Chunked::DataEnd,
            (Chunked::DataEnd, b'\n') => Chunked::Size { size: 0, length: 0, has_ended: false },
            (Chunked::Trailer(length), b'\r') => Chunked::TrailerEnd(*length),
            (Chunked::Trailer(length), byte) if byte != b'\n' && *length < MAX_LINE => Chunked::Trailer(length + 1),
            (Chunked::TrailerEnd(0), b'\n') => return Ok(State::Head),
            (Chunked::TrailerEnd(_), b'\n') => Chunked::Trailer(0),
            _ => return Err(Malformed),
        }))
    }
}

/// Returns the state after a head; `None` if the request is refused.
fn framing(head: &[u8]) -> Option<State> {
    let text = head.strip_suffix(b"\r\n\r\n")?;
    let mut lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let words: Vec<&[u8]> = lines.next()?.split(|byte| *byte == b' ').collect();
    let [method, target, version] = words.as_slice() else { return None };
    // CONNECT has an authority as its target. With a path, hyper would send it without the path.
    if *method == b"CONNECT" || target.contains(&b'#') || !matches!(*version, b"HTTP/1.1" | b"HTTP/1.0") {
        return None;
    }
    let (mut length, mut is_chunked) = (None, false);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?.trim_ascii());
        if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            // This includes folded lines, which begin with white space.
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let found = digits.and_then(|text| text.parse::<u64>().ok())?;
            if length.replace(found).is_some() {
                return None;
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if is_chunked || !value.eq_ignore_ascii_case(b"chunked") || *version == b"HTTP/1.0" {
                return None;
            }
            is_chunked = true;
        }
    }
    match (length, is_chunked) {
        (Some(_), true) => None,
        (None, true) => Some(State::Chunked(Chunked::Size { size: 0, length: 0, has_ended: false })),
        (None | Some(0), false) => Some(State::Head),
        (Some(length), false) => Some(State::Body(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `size` is the size of the pieces. Returns what hyper reads, and the rest of the state.
    fn read(text: &[u8], size: usize) -> (Result<(), Malformed>, Vec<u8>, Framing) {
        let (mut framing, mut out) = (Framing::new(), Vec::new());
        let result = text.chunks(size).try_for_each(|mut piece| {
            while !piece.is_empty() {
                let length = framing.read(piece, &mut out)?;
                piece = piece.get(length..).unwrap_or_default();
            }
            Ok(())
        });
        (result, out, framing)
    }

    #[test]
    fn requests_pass_unchanged_in_any_pieces() {
        let requests = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n\
            POST /a?b HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\r\nGET / HTTP/1.0\r\n\r\n\
            POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
            4;a=\"b\"\r\n\n\n\r\n\r\n1f\r\n0123456789012345678901234567890\r\n\
            0\r\nX: y\r\n\r\nPOST / HTTP/1.1\r\ncontent-length:0\r\n\r\n";
        for size in 1..requests.len() {
            let (result, out, framing) = read(requests, size);
            assert_eq!((result, framing.is_between_requests()), (Ok(()), true), "{size}");
            assert_eq!(out, requests, "{size}");
        }
        let (_, out, framing) = read(b"\r\n\r\nGET / HTTP/1.1\r\n", 3);
        assert!(out.is_empty() && framing.is_in_head());
    }

    #[test]
    fn heads_that_can_be_read_in_two_ways_are_refused() {
        for head in [
            "GET / HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\ncontent-length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4, 4\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length : 4\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET /a b HTTP/1.1\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET /#a HTTP/1.1\r\n\r\n",
            "GET /\r\n\r\n",
        ] {
            for size in [1, 7, 1000] {
                let (result, out, framing) = read(head.as_bytes(), size);
                assert_eq!(result, Ok(()), "{head}");
                assert!(out.starts_with(REFUSED) && framing.has_ended(), "{head}");
            }
        }
    }

    #[test]
    fn chunks_that_can_be_read_in_two_ways_end_the_connection() {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let long = format!("1;{}\r\n", "a".repeat(MAX_LINE));
        for body in [
            "1\n",
            "1\r\rx",
            "x\r\n",
            "\r\n",
            "1 \r\n",
            "1\r\nab",
            "1\r\na\n",
            "fffffffffffffffff\r\n",
            "0\r\n\n",
            &long,
        ] {
            assert_eq!(read(format!("{head}{body}").as_bytes(), 1000).0, Err(Malformed), "{body}");
        }
    }

    #[test]
    fn long_heads_are_left_to_hyper() {
        let head = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(MAX_HEAD));
        let (_, out, framing) = read(head.as_bytes(), 1 << 13);
        assert!(out.len() == MAX_HEAD && framing.has_ended());
        let (_, out, framing) = read(format!("{head}\r\n\r\n").as_bytes(), 1 << 17);
        assert!(out.len() == MAX_HEAD && framing.has_ended());
    }
}
