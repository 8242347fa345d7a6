//! Bodies of replies over HTTP/2, whose clients decide how much of each reply they read: a client that opens no window
//! would keep a reply in memory forever.

use std::{
    pin::Pin,
    task::{ready, Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::connection::{Busy, Unread};

/// Size of the parts of a body whose reading is observed, in bytes.
const PART: usize = 1 << 16;

/// A body that records which parts of it the client has not read.
pub(crate) struct Watched<B> {
    body: B,
    /// `None` if nothing is recorded.
    busy: Option<Busy>,
    /// What was received of the body, but not given to hyper.
    rest: Bytes,
    /// Since the last part, hyper waits until the client opens its window.
    _unread: Option<Unread>,
}

/// A part of a body until it is written.
struct Part {
    bytes: Bytes,
    _unread: Unread,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<B> Watched<B> {
    pub(crate) fn new(body: B, busy: Option<Busy>) -> Watched<B> {
        let unread = busy.as_ref().map(Busy::unread);
        Watched { body, busy, rest: Bytes::new(), _unread: unread }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let Some(busy) = &this.busy else { return Pin::new(&mut this.body).poll_frame(context) };
        // The client has opened its window. From here on, it waits for the body.
        this._unread = None;
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }
        let bytes = this.rest.split_to(this.rest.len().min(PART));
        this._unread = Some(busy.unread());
        let part = Part { bytes, _unread: busy.unread() };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut sum = SizeHint::new();
        sum.set_lower(hint.lower() + rest);
        if let Some(upper) = hint.upper() {
            sum.set_upper(upper + rest);
        }
        sum
    }
}
