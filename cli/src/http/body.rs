//! Reads bodies, whole or piece by piece.

use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame, Incoming};
use tokio::{runtime::Handle, time::timeout};
use toolwire_command::{ContentEncoding, Reading};

use super::{
    client::why,
    decode::{grow, Decoder, Undecodable},
};

/// Maximum time for draining the rest of a request after an early answer.
const LINGER: Duration = Duration::from_secs(10);
/// Size of the pieces that are decompressed without a pause, in bytes.
const PIECE: usize = 1 << 12;
/// Maximum size of the pieces of a stream that are returned together, in bytes.
const MAX_PIECE: usize = 1 << 16;
/// Maximum decompressed size of [`PIECE`] bytes of a stream, in bytes. gzip reaches half of it.
const MAX_DECODED: usize = 8 << 20;

pub(crate) enum Unread<S> {
    /// The body is refused: a status, and the reason.
    Refused(u16, String),
    Late,
    Gone(hyper::Error),
    /// `count` has stopped the reading.
    Stopped(S),
}

/// Reads a whole body, and decodes its content encoding. `patience` is the time limit for each piece. `count` receives
/// the length of each decoded piece.
pub(crate) async fn whole<S>(
    body: &mut Incoming,
    Reading { most, encoding }: Reading,
    patience: Duration,
    mut count: impl FnMut(u64) -> Result<(), S>,
) -> Result<Vec<u8>, Unread<S>> {
    let too_long = || Unread::Refused(413, format!("expected a body of at most {most} bytes, found a larger one"));
    let unreadable = |undecodable: Undecodable| match (undecodable, encoding) {
        (Undecodable::Malformed, Some(encoding)) => {
            let encoding = encoding.as_str();
            Unread::Refused(400, format!("expected a body with the content encoding {encoding}, found another"))
        }
        _ => too_long(),
    };
    let most_bytes = usize::try_from(most).unwrap_or(usize::MAX);
    let mut decoder = encoding.map(Decoder::new);
    let mut out = Vec::new();
    if let Some(length) = body.size_hint().exact().filter(|length| encoding.is_none() && *length <= most) {
        out.reserve_exact(usize::try_from(length).unwrap_or_default());
    }
    let mut received = 0_u64;
    while let Some(frame) = timeout(patience, body.frame()).await.map_err(|_| Unread::Late)? {
        let Ok(data) = frame.map_err(Unread::Gone)?.into_data() else { continue };
        received += data.len() as u64;
        if received > most {
            return Err(too_long());
        }
        let Some(decoder) = &mut decoder else {
            count(data.len() as u64).map_err(Unread::Stopped)?;
            grow(&mut out, data.len(), most_bytes);
            out.extend_from_slice(&data);
            continue;
        };
        for piece in data.chunks(PIECE) {
            let decoded = decoder.push(piece, most_bytes - out.len()).map_err(unreadable)?;
            count(decoded.len() as u64).map_err(Unread::Stopped)?;
            grow(&mut out, decoded.len(), most_bytes);
            out.extend_from_slice(&decoded);
            let is_large = decoded.len() > 16 * PIECE;
            drop(decoded);
            if is_large {
                tokio::task::yield_now().await;
            }
        }
        // Parts of a body without content take time, too.
        tokio::task::yield_now().await;
    }
    if let Some(decoder) = decoder {
        let decoded = decoder.end(most_bytes - out.len()).map_err(unreadable)?;
        count(decoded.len() as u64).map_err(Unread::Stopped)?;
        grow(&mut out, decoded.len(), most_bytes);
        out.extend_from_slice(&decoded);
    }
    Ok(out)
}

/// Reads the rest of a body in the background, for a limited time. Some clients read an answer only after sending the
/// whole request.
pub(crate) fn drain(mut body: Incoming) {
    // Without a runtime, the program ends.
    let Ok(runtime) = Handle::try_current() else { return };
    runtime.spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        // After the time limit, the connection closes.
        let _ = timeout(LINGER, rest).await;
    });
}

pub(crate) struct Pieces {
    body: Incoming,
    decoder: Option<Decoder>,
    /// Bytes that have arrived, but are not decoded.
    rest: Bytes,
    /// A failure that follows the returned pieces.
    failure: Option<Broken>,
}

pub(crate) enum Broken {
    Late,
    Reason(String),
}

impl Pieces {
    pub(crate) fn new(body: Incoming, encoding: Option<ContentEncoding>) -> Pieces {
        Pieces { body, decoder: encoding.map(Decoder::new), rest: Bytes::new(), failure: None }
    }

    /// Returns the next decoded piece, together with pieces that have already arrived. Returns `None` at the end.
    pub(crate) async fn next(&mut self, patience: Duration) -> Result<Option<Vec<u8>>, Broken> {
        let mut out = Vec::new();
        while out.len() < MAX_PIECE {
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let mut is_end = false;
            if self.rest.is_empty() {
                let frame = if out.is_empty() {
                    timeout(patience, self.body.frame()).await.map_err(|_| Broken::Late)?
                } else {
                    match poll_fn(|context| Poll::Ready(Pin::new(&mut self.body).poll_frame(context))).await {
                        Poll::Ready(frame) => frame,
                        Poll::Pending => break,
                    }
                };
                is_end = frame.is_none();
                match frame.map(|frame| frame.map(Frame::into_data)) {
                    Some(Ok(Ok(data))) => self.rest = data,
                    // Trailers.
                    Some(Ok(Err(_))) => continue,
                    Some(Err(error)) => self.failure = Some(Broken::Reason(why(&error))),
                    None => {}
                }
            }
            match self.decoded(is_end) {
                Ok(decoded) if is_end && decoded.is_empty() && out.is_empty() => return Ok(None),
                Ok(decoded) if out.is_empty() => out = decoded,
                Ok(decoded) => out.extend(decoded),
                Err(failure) => self.failure = self.failure.take().or(Some(failure)),
            }
            if is_end || self.failure.is_some() && !out.is_empty() {
                break;
            }
            if self.decoder.is_some() {
                tokio::task::yield_now().await;
            }
        }
        Ok(Some(out))
    }

    fn decoded(&mut self, is_end: bool) -> Result<Vec<u8>, Broken> {
        let decoded = match &mut self.decoder {
            None => return Ok(std::mem::take(&mut self.rest).into()),
            Some(_) if is_end => self.decoder.take().map_or(Ok(Vec::new()), |decoder| decoder.end(MAX_DECODED)),
            Some(decoder) => {
                let part = self.rest.split_to(self.rest.len().min(PIECE));
                decoder.push(&part, MAX_DECODED)
            }
        };
        decoded.map_err(|undecodable| {
            Broken::Reason(match undecodable {
                Undecodable::TooLong => "a piece of its reply is too large".into(),
                Undecodable::Malformed => "its reply does not have its content encoding".into(),
            })
        })
    }
}
