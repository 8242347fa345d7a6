//! Decoders of content encodings, which accept a body in pieces.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::{write::MultiGzDecoder, Decompress, FlushDecompress, Status};
use ruzstd::decoding::{errors::FrameDecoderError, BlockDecodingStrategy, FrameDecoder};
use toolwire_command::ContentEncoding;

/// Size of the buffers of decoders, in bytes.
const BUFFER: usize = 1 << 14;
/// Maximum sizes of a block of zstd and of the head of a frame, in bytes (RFC 8878, 3.1.1).
const MAX_BLOCK: usize = 1 << 17;
const MAX_FRAME_HEAD: usize = 18;
/// Maximum size of the window of zstd, in bytes (RFC 9659). ruzstd holds a whole window in memory.
const MAX_WINDOW: u64 = 1 << 23;
/// The bits with which a stream of brotli with a large window begins: the window may have 1 GiB. `br` has no such
/// streams (RFC 7932, 9.1), but the decoder accepts them.
const LARGE_WINDOW: u8 = 0x11;

/// Why a body cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// The decoded body is longer than allowed.
    TooLong,
    /// The body does not have its content encoding, or is truncated.
    Malformed,
}

/// Decoder of one body.
pub(crate) struct Decoder(Kind);

enum Kind {
    Gzip(Box<MultiGzDecoder<Decoded>>),
    Deflate(Deflate),
    /// With true once the first byte was read.
    Brotli(Box<DecompressorWriter<Decoded>>, bool),
    Zstd(Box<Zstd>),
}

/// Decoded bytes, up to a limit.
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
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The encoding `deflate`: the format zlib or, from some servers, raw deflate.
struct Deflate {
    inner: Option<Decompress>,
    has_ended: bool,
}

/// The encoding `zstd`: frames, one after the other.
struct Zstd {
    inner: FrameDecoder,
    /// Bytes that are not a whole block.
    rest: Vec<u8>,
    is_in_frame: bool,
    has_begun: bool,
    has_checksum: bool,
}

impl Decoder {
    pub(crate) fn new(encoding: ContentEncoding) -> Decoder {
        Decoder(match encoding {
            ContentEncoding::Gzip => Kind::Gzip(Box::new(MultiGzDecoder::new(Decoded::default()))),
            ContentEncoding::Deflate => Kind::Deflate(Deflate { inner: None, has_ended: false }),
            ContentEncoding::Brotli => {
                Kind::Brotli(Box::new(DecompressorWriter::new(Decoded::default(), BUFFER)), false)
            }
            ContentEncoding::Zstd => Kind::Zstd(Box::new(Zstd {
                inner: FrameDecoder::new(),
                rest: Vec::new(),
                is_in_frame: false,
                has_begun: false,
                has_checksum: false,
            })),
        })
    }

    /// Decodes a piece. The result has at most `most` bytes.
    pub(crate) fn push(&mut self, piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        match &mut self.0 {
            Kind::Gzip(inner) => {
                inner.get_mut().most = most;
                let written = inner.write_all(piece).and_then(|()| inner.flush());
                taken(inner.get_mut(), written)
            }
            Kind::Brotli(inner, has_begun) => {
                if !*has_begun && piece.first().is_some_and(|first| first & 0x7f == LARGE_WINDOW) {
                    return Err(Undecodable::Malformed);
                }
                *has_begun |= !piece.is_empty();
                inner.get_mut().most = most;
                let written = inner.write_all(piece);
                taken(inner.get_mut(), written)
            }
            Kind::Deflate(inner) => inner.push(piece, most),
            Kind::Zstd(inner) => inner.push(piece, most),
        }
    }

    /// Ends the body. Fails if it is truncated.
    pub(crate) fn end(mut self, most: usize) -> Result<Vec<u8>, Undecodable> {
        match &mut self.0 {
            Kind::Gzip(inner) => {
                inner.get_mut().most = most;
                let written = inner.try_finish();
                taken(inner.get_mut(), written)
            }
            Kind::Brotli(inner, _) => {
                inner.get_mut().most = most;
                let written = inner.close();
                taken(inner.get_mut(), written)
            }
            Kind::Deflate(inner) if inner.has_ended => Ok(Vec::new()),
            Kind::Zstd(inner) if inner.has_begun && !inner.is_in_frame && inner.rest.is_empty() => Ok(Vec::new()),
            _ => Err(Undecodable::Malformed),
        }
    }
}

fn taken(decoded: &mut Decoded, written: io::Result<()>) -> Result<Vec<u8>, Undecodable> {
    match written {
        Ok(()) => Ok(std::mem::take(&mut decoded.bytes)),
        Err(_) if decoded.is_full => Err(Undecodable::TooLong),
        Err(_) => Err(Undecodable::Malformed),
    }
}

impl Deflate {
    fn push(&mut self, mut piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        let Some(first) = piece.first() else { return Ok(Vec::new()) };
        // The lower half of zlib's first byte is 8. In raw deflate, such a byte would begin a stored block that is not
        // the last one, with other bits set than encoders write.
        let inner = self.inner.get_or_insert_with(|| Decompress::new(first & 0x0f == 8));
        let mut out = Vec::new();
        while !self.has_ended {
            let (read, length) = (inner.total_in(), out.len());
            if length > most {
                return Err(Undecodable::TooLong);
            }
            out.reserve(BUFFER);
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

impl Zstd {
    /// Decodes one block at a time, because ruzstd would decode all blocks of a piece into memory.
    fn push(&mut self, piece: &[u8], most: usize) -> Result<Vec<u8>, Undecodable> {
        self.rest.extend_from_slice(piece);
        let (mut decoded, mut at) = (Decoded { most, ..Decoded::default() }, 0);
        loop {
            let source = self.rest.get(at..).unwrap_or_default();
            if self.is_in_frame {
                let Some((length, is_last)) = self.block(source)? else { break };
                let mut block = source.get(..length).unwrap_or_default();
                let blocks = self.inner.decode_blocks(&mut block, BlockDecodingStrategy::UptoBlocks(1));
                blocks.map_err(|_| Undecodable::Malformed)?;
                let written = self.inner.collect_to_writer(&mut decoded);
                if decoded.is_full {
                    return Err(Undecodable::TooLong);
                }
                let sums = self.inner.get_checksum_from_data().zip(self.inner.get_calculated_checksum());
                if written.is_err() || is_last && sums.is_some_and(|(expected, found)| expected != found) {
                    return Err(Undecodable::Malformed);
                }
                at += length;
                self.is_in_frame = !is_last;
            } else {
                let mut head = source;
                if window(source).is_some_and(|window| window > MAX_WINDOW) {
                    return Err(Undecodable::Malformed);
                }
                match self.inner.init(&mut head) {
                    Ok(()) => {}
                    // The head of the frame is not complete.
                    Err(FrameDecoderError::ReadFrameHeaderError(_)) if source.len() < MAX_FRAME_HEAD => break,
                    Err(_) => return Err(Undecodable::Malformed),
                }
                self.has_checksum = source.get(4).is_some_and(|descriptor| descriptor & 4 != 0);
                (self.is_in_frame, self.has_begun) = (true, true);
                at += source.len() - head.len();
            }
        }
        self.rest.drain(..at);
        Ok(decoded.bytes)
    }

    /// Returns the length of the first block with its head and, after the last block, the checksum, and true if it is
    /// the last block; `None` if it is not complete (RFC 8878, 3.1.1.2).
    fn block(&self, source: &[u8]) -> Result<Option<(usize, bool)>, Undecodable> {
        let Some(head) = source.first_chunk::<3>() else { return Ok(None) };
        let [low, middle, high] = head.map(usize::from);
        let (is_last, is_repeated) = (low & 1 == 1, low >> 1 & 3 == 1);
        let size = (low | middle << 8 | high << 16) >> 3;
        if size > MAX_BLOCK {
            return Err(Undecodable::Malformed);
        }
        let checksum = if is_last && self.has_checksum { 4 } else { 0 };
        let length = head.len() + if is_repeated { 1 } else { size } + checksum;
        Ok((source.len() >= length).then_some((length, is_last)))
    }
}

/// Returns the size of the window that a frame of zstd declares (RFC 8878, 3.1.1.1). Returns `None` if the head of the
/// frame is not complete.
fn window(frame: &[u8]) -> Option<u64> {
    let (descriptor, rest) = frame.get(4..)?.split_first()?;
    if descriptor & 0x20 == 0 {
        let first = *rest.first()?;
        let base = 1_u64 << (10 + (first >> 3));
        return Some(base + base / 8 * u64::from(first & 7));
    }
    // A frame in a single segment has a window of the size of its content.
    let id = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or_default();
    let length = [1, 2, 4, 8].get(usize::from(descriptor >> 6)).copied().unwrap_or_default();
    let size = rest.get(id..id + length)?;
    let size = size.iter().rev().fold(0, |size: u64, byte| size << 8 | u64::from(*byte));
    Some(if length == 2 { size + 256 } else { size })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use flate2::{
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
        Compression,
    };
    use ruzstd::encoding::{compress_to_vec, CompressionLevel};

    use super::*;

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
            ContentEncoding::Zstd => compress_to_vec(text, CompressionLevel::Fastest),
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
}
