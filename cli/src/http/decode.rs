//! Decoders of content encodings, which accept a body in pieces.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::{write::GzDecoder, Decompress, FlushDecompress, Status};
use toolwire_command::ContentEncoding;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// Size of the buffer of a decoder, in bytes.
const BUFFER: usize = 1 << 14;
/// Maximum size of the window of zstd, as a power of two (RFC 9659).
const MAX_WINDOW: u32 = 23;
/// Maximum number of members of gzip without content. Each costs some microseconds.
const MAX_EMPTY: usize = 1 << 12;
/// A stream of brotli with a large window begins with these bits: the window may have 1 GiB. `br` has no such streams
/// (RFC 7932, 9.1), but the decoder accepts them.
const LARGE_WINDOW: u8 = 0x11;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    TooLong,
    /// The body does not have its content encoding, or is truncated.
    Malformed,
}

pub(crate) struct Decoder(Kind);

enum Kind {
    Gzip(Box<Gzip>),
    Deflate(Deflate),
    Brotli { inner: Box<DecompressorWriter<Decoded>>, has_begun: bool },
    Zstd(Zstd),
}

#[derive(Default)]
struct Decoded {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl Write for Decoded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(piece.len()) > self.most {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        grow(&mut self.bytes, piece.len(), self.most);
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes room for more bytes, but at most for `most` bytes and one more.
pub(super) fn grow(out: &mut Vec<u8>, more: usize, most: usize) {
    if out.capacity() - out.len() < more {
        let room = most.saturating_sub(out.len()).saturating_add(1);
        out.reserve_exact(out.len().max(BUFFER).min(room).max(more));
    }
}

/// The format is zlib or, from some servers, raw deflate.
struct Deflate {
    inner: Option<Decompress>,
    has_ended: bool,
}

/// A body of several members.
struct Gzip {
    inner: GzDecoder<Decoded>,
    /// Number of members without content.
    empty: usize,
    has_content: bool,
}

/// A body of one or more frames.
struct Zstd {
    inner: DCtx<'static>,
    /// True after a whole frame.
    is_whole: bool,
}

impl Decoder {
    pub(crate) fn new(encoding: ContentEncoding) -> Decoder {
        Decoder(match encoding {
            ContentEncoding::Gzip => {
                Kind::Gzip(Box::new(Gzip { inner: GzDecoder::new(Decoded::default()), empty: 0, has_content: false }))
            }
            ContentEncoding::Deflate => Kind::Deflate(Deflate { inner: None, has_ended: false }),
            ContentEncoding::Brotli => {
                Kind::Brotli { inner: Box::new(DecompressorWriter::new(Decoded::default(), BUFFER)), has_begun: false }
            }
            ContentEncoding::Zstd => {
                let mut inner = DCtx::create();
                // The parameter is in the range that the decoder knows.
                let _ = inner.set_parameter(DParameter::WindowLogMax(MAX_WINDOW));
                Kind::Zstd(Zstd { inner, is_whole: false })
            }
        })
    }

    pub(crate) fn push(&mut self, piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        match &mut self.0 {
            Kind::Gzip(inner) => {
                inner.inner.get_mut().most = most;
                let written = inner.write(piece);
                take_decoded(inner.inner.get_mut(), written)
            }
            Kind::Brotli { inner, has_begun } => {
                if !*has_begun && piece.first().is_some_and(|first| first & 0x7f == LARGE_WINDOW) {
                    return Err(Undecodable::Malformed);
                }
                *has_begun |= !piece.is_empty();
                inner.get_mut().most = most;
                let written = inner.write_all(piece);
                take_decoded(inner.get_mut(), written)
            }
            Kind::Deflate(inner) => inner.push(piece, most),
            Kind::Zstd(inner) => inner.push(piece, most),
        }
    }

    /// Fails if the body is truncated.
    pub(crate) fn end(mut self, most: usize) -> Result<Vec<u8>, Undecodable> {
        match &mut self.0 {
            Kind::Gzip(inner) => {
                inner.inner.get_mut().most = most;
                let written = inner.inner.try_finish();
                take_decoded(inner.inner.get_mut(), written)
            }
            Kind::Brotli { inner, .. } => {
                inner.get_mut().most = most;
                let written = inner.close();
                take_decoded(inner.get_mut(), written)
            }
            Kind::Deflate(inner) if inner.has_ended => Ok(Vec::new()),
            Kind::Zstd(inner) if inner.is_whole => Ok(Vec::new()),
            _ => Err(Undecodable::Malformed),
        }
    }
}

fn take_decoded(decoded: &mut Decoded, written: io::Result<()>) -> Result<Vec<u8>, Undecodable> {
    match written {
        Ok(()) => Ok(std::mem::take(&mut decoded.bytes)),
        Err(_) if decoded.is_full => Err(Undecodable::TooLong),
        Err(_) => Err(Undecodable::Malformed),
    }
}

impl Deflate {
    fn push(&mut self, mut piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        let Some(first) = piece.first() else { return Ok(Vec::new()) };
        // The lower half of zlib's first byte is 8. Raw deflate could begin with such a byte only as a stored block
        // with padding bits that no encoder writes.
        let inner = self.inner.get_or_insert_with(|| Decompress::new(first & 0x0f == 8));
        let mut out = Vec::new();
        while !self.has_ended {
            let (read, length) = (inner.total_in(), out.len());
            if length > most {
                return Err(Undecodable::TooLong);
            }
            grow(&mut out, 1, most);
            let status = inner.decompress_vec(piece, &mut out, FlushDecompress::None);
            let read = usize::try_from(inner.total_in() - read).unwrap_or_default();
            piece = piece.get(read..).unwrap_or_default();
            match status {
                Ok(Status::StreamEnd) => self.has_ended = true,
                Ok(_) if read == 0 && out.len() == length => break,
                Ok(_) => {}
                Err(_) => return Err(Undecodable::Malformed),
            }
        }
        match () {
            () if out.len() > most => Err(Undecodable::TooLong),
            () if self.has_ended && !piece.is_empty() => Err(Undecodable::Malformed),
            () => Ok(out),
        }
    }
}

impl Gzip {
    fn write(&mut self, mut piece: &[u8]) -> io::Result<()> {
        let mut begin = self.inner.get_ref().bytes.len();
        while !piece.is_empty() {
            let length = self.inner.write(piece)?;
            piece = piece.get(length..).unwrap_or_default();
            if length > 0 {
                continue;
            }
            // The member is complete, and another one follows.
            self.inner.try_finish()?;
            let is_empty = !self.has_content && self.inner.get_ref().bytes.len() == begin;
            self.empty += usize::from(is_empty);
            if self.empty > MAX_EMPTY {
                return Err(io::ErrorKind::InvalidData.into());
            }
            (self.has_content, begin) = (false, self.inner.get_ref().bytes.len());
            let decoded = std::mem::take(self.inner.get_mut());
            self.inner = GzDecoder::new(decoded);
        }
        self.inner.flush()?;
        self.has_content |= self.inner.get_ref().bytes.len() > begin;
        Ok(())
    }
}

impl Zstd {
    fn push(&mut self, piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        let (mut out, mut input) = (Vec::new(), InBuffer::around(piece));
        if piece.is_empty() {
            return Ok(out);
        }
        loop {
            grow(&mut out, 1, most);
            let (read, length) = (input.pos(), out.len());
            let mut output = OutBuffer::around_pos(&mut out, length);
            let rest = self.inner.decompress_stream(&mut output, &mut input).map_err(|_| Undecodable::Malformed)?;
            let is_stuck = input.pos() == read && out.len() == length;
            // After the end of a frame, a call without input asks for the next frame, so `rest` is not 0.
            if !is_stuck {
                self.is_whole = rest == 0;
            }
            if out.len() > most {
                return Err(Undecodable::TooLong);
            }
            let has_room = out.len() < out.capacity();
            if has_room && input.pos() == piece.len() || is_stuck {
                return Ok(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use flate2::{
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
        Compression,
    };

    /// `TEXT` as Node encodes it, because the crate has no encoder.
    const BROTLI: &[u8] = b"\x8b\x06\x80{\"model\":\"m\"}\n\x03";
    const TEXT: &[u8] = b"{\"model\":\"m\"}\n";

    fn encoded(encoding: ContentEncoding, text: &[u8]) -> Vec<u8> {
        match encoding {
            ContentEncoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).and_then(|()| encoder.finish()).expect("gzip")
            }
            ContentEncoding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).and_then(|()| encoder.finish()).expect("zlib")
            }
            ContentEncoding::Brotli => BROTLI.to_vec(),
            ContentEncoding::Zstd => {
                let mut out = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
                zstd_safe::compress(&mut out, text, 1).expect("zstd");
                out
            }
        }
    }

    fn decode(encoding: ContentEncoding, body: &[u8], size: usize, most: usize) -> Result<Vec<u8>, Undecodable> {
        let (mut decoder, mut out) = (Decoder::new(encoding), Vec::new());
        for piece in body.chunks(size) {
            out.extend(decoder.push(piece, most - out.len())?);
        }
        out.extend(decoder.end(most - out.len())?);
        Ok(out)
    }

    const ALL: [ContentEncoding; 4] =
        [ContentEncoding::Gzip, ContentEncoding::Deflate, ContentEncoding::Brotli, ContentEncoding::Zstd];

    #[test]
    fn bodies_are_decoded_in_any_pieces_and_not_if_they_are_truncated() {
        for encoding in ALL {
            let body = encoded(encoding, TEXT);
            for size in 1..=body.len() {
                assert_eq!(decode(encoding, &body, size, 100).as_deref(), Ok(TEXT), "{encoding:?} {size}");
            }
            for end in 0..body.len() {
                let body = body.get(..end).expect("a part");
                assert_eq!(decode(encoding, body, 3, 100), Err(Undecodable::Malformed), "{encoding:?} {end}");
            }
            assert_eq!(decode(encoding, b"not encoded", 100, 100), Err(Undecodable::Malformed), "{encoding:?}");
            assert_eq!(decode(encoding, &body, 100, TEXT.len() - 1), Err(Undecodable::TooLong), "{encoding:?}");
        }
    }

    #[test]
    fn several_members_are_one_body() {
        for encoding in [ContentEncoding::Gzip, ContentEncoding::Zstd] {
            let body = [encoded(encoding, b"ab"), encoded(encoding, b"cd")].concat();
            for size in 1..=body.len() {
                assert_eq!(decode(encoding, &body, size, 100).as_deref(), Ok(&b"abcd"[..]), "{encoding:?} {size}");
            }
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let raw = encoder.write_all(TEXT).and_then(|()| encoder.finish()).expect("deflate");
        assert_eq!(decode(ContentEncoding::Deflate, &raw, 2, 100).as_deref(), Ok(TEXT));
    }

    /// Each body decodes to a few bytes: only its window is too large.
    #[test]
    fn large_windows_are_refused() {
        // `TEXT` as Node encodes it with a window of 256 MiB.
        let large = b"\x11\x1c\x1a\x00\x02{\"model\":\"m\"}\n\x03";
        assert_eq!(decode(ContentEncoding::Brotli, large, 1, 100), Err(Undecodable::Malformed));
        // A frame with this window, and one raw block with two bytes.
        let frame = |window: u8| [b"\x28\xb5\x2f\xfd\x00", &[window][..], b"\x11\x00\x00ab"].concat();
        for size in [1, 100] {
            assert_eq!(decode(ContentEncoding::Zstd, &frame(13 << 3), size, 100).as_deref(), Ok(&b"ab"[..]));
            for window in [13 << 3 | 1, 14 << 3, 31 << 3 | 7] {
                assert_eq!(decode(ContentEncoding::Zstd, &frame(window), size, 100), Err(Undecodable::Malformed));
            }
        }
        let content = |size: u64| [b"\x28\xb5\x2f\xfd\xe0", &size.to_le_bytes()[..], b"\x11\x00\x00ab"].concat();
        assert_eq!(decode(ContentEncoding::Zstd, &content((1 << 23) + 1), 1, 100), Err(Undecodable::Malformed));
        assert_eq!(decode(ContentEncoding::Zstd, &content(2), 1, 100).as_deref(), Ok(&b"ab"[..]));
    }

    #[test]
    fn bombs_are_refused_within_their_limit() {
        let zeros = vec![0; 20 << 20];
        for encoding in [ContentEncoding::Gzip, ContentEncoding::Deflate, ContentEncoding::Zstd] {
            let body = encoded(encoding, &zeros);
            assert!(body.len() < 100_000);
            assert_eq!(decode(encoding, &body, 4096, 1 << 20), Err(Undecodable::TooLong), "{encoding:?}");
            let decoded = decode(encoding, &body, 4096, 20 << 20).expect("the body");
            assert!(decoded == zeros, "{encoding:?}");
        }
    }

    #[test]
    fn a_body_that_fills_the_buffer_is_whole() {
        for size in [1 << 14, 1 << 15, 1 << 16, 1 << 17] {
            let text = vec![b'a'; size];
            let decoded = decode(ContentEncoding::Zstd, &encoded(ContentEncoding::Zstd, &text), 1 << 20, 1 << 20);
            assert_eq!(decoded.map(|out| out.len()), Ok(size));
        }
    }

    /// A decoder that regenerates blocks whole would need 4 GB for the second frame, which has 128 KB.
    #[test]
    fn a_block_of_zstd_does_not_regenerate_more_than_a_block_may() {
        // A raw block; then a compressed one with one literal and `count` sequences, whose codes are repeated: no
        // literals, a match of 65,539 bytes, and the second last offset (RFC 8878, 3.1.1.3.2).
        let frame = |count: &[u8], sequences: usize| {
            let mut block = [b"\x08a", count, &[0b0101_0100, 0, 0, 52]].concat();
            block.resize(block.len() + 2 * sequences, 0);
            block.push(1);
            let head = block.len() << 3 | 2 << 1 | 1;
            let mut frame = b"\x28\xb5\x2f\xfd\x00\x68\x40\x00\x00abcdefgh".to_vec();
            frame.extend(head.to_le_bytes().iter().take(3));
            frame.extend(block);
            frame
        };
        let whole = decode(ContentEncoding::Zstd, &frame(&[1], 1), 1 << 12, 1 << 20);
        assert_eq!(whole.map(|out| out.len()), Ok(8 + 65_539 + 1));
        let bomb = frame(&[0xff, 0x00, 0x80], 65_280);
        assert_eq!(decode(ContentEncoding::Zstd, &bomb, 1 << 12, usize::MAX / 2), Err(Undecodable::Malformed));
    }

    #[test]
    fn no_buffer_is_larger_than_the_limit() {
        const MOST: usize = (8 << 20) + 1;
        let zeros = vec![0; MOST];
        for encoding in [ContentEncoding::Gzip, ContentEncoding::Deflate, ContentEncoding::Zstd] {
            let body = encoded(encoding, &zeros);
            let mut decoder = Decoder::new(encoding);
            let out = decoder.push(&body, MOST).expect("the body");
            assert!(out.len() == MOST && out.capacity() <= MOST + 1, "{encoding:?}: {}", out.capacity());
        }
    }

    /// Returns the CPU time of this thread in nanoseconds; `None` if the system does not report it.
    fn spent() -> Option<u64> {
        std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
    }

    #[test]
    fn parts_without_content_are_limited_or_cheap() {
        let member = encoded(ContentEncoding::Gzip, b"");
        assert_eq!(decode(ContentEncoding::Gzip, &member.repeat(1 << 13), 1 << 12, 100), Err(Undecodable::Malformed));
        assert_eq!(decode(ContentEncoding::Gzip, &member.repeat(1 << 10), 1 << 12, 100), Ok(Vec::new()));
        // Some servers write a member for each event of a stream.
        let events = encoded(ContentEncoding::Gzip, b"data: 1\n\n").repeat(1 << 13);
        for size in [7, 1 << 12] {
            let decoded = decode(ContentEncoding::Gzip, &events, size, 1 << 20);
            assert_eq!(decoded.map(|out| out.len()), Ok(9 << 13), "{size}");
        }
        // Raw blocks and frames to skip.
        let blocks = |count: usize| [&b"\x28\xb5\x2f\xfd\x00\x68"[..], &vec![0; 3 * count], b"\x01\x00\x00"].concat();
        let skipped = |count: usize| b"\x50\x2a\x4d\x18\x00\x00\x00\x00".repeat(count);
        let time = |body: &[u8]| {
            let begin = spent();
            assert_eq!(decode(ContentEncoding::Zstd, body, 1 << 12, 100), Ok(Vec::new()));
            Some(spent()? - begin?)
        };
        for body in [blocks(1 << 20), skipped(1 << 18)] {
            let Some(spent) = time(&body) else { continue };
            // A byte of other bodies costs up to a microsecond, because it may represent a thousand decoded bytes.
            let each = spent / body.len() as u64;
            assert!(each < 1_000, "{each} ns for each byte");
        }
    }
}
