//! Bodies of replies until they are written. Over HTTP/2, clients decide how much of each reply they read: a client
//! that opens no window would keep a reply in memory forever.

use std::{
    pin::Pin,
    sync::Arc,
    task::{ready, Context, Poll},
};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use super::connection::{Busy, Open, Unread};

/// A body of a reply. The request is open until the last part is written.
pub(crate) struct Watched<B> {
    body: B,
    open: Arc<Open>,
    /// If it is `None`, unread parts are not recorded.
    busy: Option<Busy>,
    /// Exists while hyper waits, after the last part, until the client opens its window.
    unread: Option<Unread>,
}

/// A part of a body until it is written.
pub(crate) struct Part {
    bytes: Bytes,
    unread: Option<Unread>,
    _open: Arc<Open>,
}

impl Buf for Part {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(unread) = self.unread.as_ref().filter(|_| count > 0) {
            unread.record_read();
        }
    }
}

impl<B> Watched<B> {
    pub(crate) fn new(body: B, open: Open, busy: Option<Busy>) -> Watched<B> {
        let unread = busy.as_ref().map(Busy::unread);
        Watched { body, open: Arc::new(open), busy, unread }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Part;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Part>, B::Error>>> {
        let this = self.get_mut();
        // The client has opened its window. From here on, it waits for the body.
        if let Some(unread) = this.unread.take() {
            unread.record_read();
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let unread = || this.busy.as_ref().map(Busy::unread);
            let frame = frame?.map_data(|bytes| Part { bytes, unread: unread(), _open: this.open.clone() });
            this.unread = unread();
            Ok(frame)
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
