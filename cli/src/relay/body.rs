//! Bodies of requests from a client to an upstream, and of replies to the client.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{ready, Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::{
    sync::mpsc::Receiver,
    time::{sleep, Instant, Sleep},
};

use toolwire_command::Unsent;

use crate::http::{body::drain, client::why};

/// A client's body. It is shared, because its rest is drained if the upstream replies early.
#[derive(Clone)]
pub(super) struct Upload(Arc<Mutex<State>>);

struct State {
    /// `None` after the body was read to its end, or taken.
    body: Option<Incoming>,
    /// The time of the last received piece.
    last_received: Instant,
    is_silent: bool,
    /// Waker of the connection to the upstream, if it waits for the rest.
    upstream_waker: Option<Waker>,
}

impl Upload {
    pub(super) fn new(body: Incoming) -> Upload {
        let body = (!body.is_end_stream()).then_some(body);
        Upload(Arc::new(Mutex::new(State {
            body,
            last_received: Instant::now(),
            is_silent: false,
            upstream_waker: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state().body.is_none()
    }

    /// Returns true if the client did not send the rest of its request in time.
    pub(super) fn is_silent(&self) -> bool {
        self.state().is_silent
    }

    pub(super) fn last_received(&self) -> Instant {
        self.state().last_received
    }

    /// Removes and returns the rest of the body. The connection to the upstream cannot receive it any more, and ends.
    pub(super) fn take(&self) -> Option<Incoming> {
        let mut state = self.state();
        if let Some(waker) = state.upstream_waker.take() {
            waker.wake();
        }
        state.body.take()
    }

    pub(super) fn put_back(&self, body: Incoming) {
        self.state().body = (!body.is_end_stream()).then_some(body);
    }

    pub(super) fn drain(&self) {
        if let Some(body) = self.take() {
            drain(body);
        }
    }
}

/// Size of the parts of a whole body, in bytes.
const PART: usize = 1 << 16;

/// A whole body for an upstream. It is shared, so that its rest can be dropped when the reply ends. Otherwise, the rest
/// would stay in memory until the upstream reads it.
#[derive(Clone)]
pub(super) struct Whole(Arc<Mutex<Rest>>);

struct Rest {
    bytes: Bytes,
    /// True if the rest is not sent.
    is_cut: bool,
    /// Counts the rest after the reply has begun.
    unsent: Option<Unsent>,
}

impl Whole {
    fn new(bytes: Bytes) -> Whole {
        Whole(Arc::new(Mutex::new(Rest { bytes, is_cut: false, unsent: None })))
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, unsent: impl FnOnce(usize) -> Unsent) {
        let mut rest = self.rest();
        if !rest.bytes.is_empty() {
            rest.unsent = Some(unsent(rest.bytes.len()));
        }
    }

    pub(super) fn drop_rest(&self) {
        let mut rest = self.rest();
        if !rest.bytes.is_empty() {
            *rest = Rest { bytes: Bytes::new(), is_cut: true, unsent: None };
        }
    }

    fn next(&self) -> Option<io::Result<Frame<Bytes>>> {
        let mut rest = self.rest();
        if rest.is_cut {
            return Some(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let part = match rest.bytes.len() {
            0 => return None,
            // Copies, because a part would keep the whole body.
            1..=PART => {
                rest.unsent = None;
                Bytes::copy_from_slice(&std::mem::take(&mut rest.bytes))
            }
            _ => Bytes::copy_from_slice(&rest.bytes.split_to(PART)),
        };
        Some(Ok(Frame::data(part)))
    }
}

pub(super) enum Sent {
    Whole(Whole),
    /// The client's body as it arrives.
    Passed {
        upload: Upload,
        patience: Duration,
        limit: Pin<Box<Sleep>>,
    },
}

impl Sent {
    pub(super) fn whole(body: Bytes) -> Sent {
        Sent::Whole(Whole::new(body))
    }

    pub(super) fn passed(upload: &Upload, patience: Duration) -> Sent {
        if upload.is_complete() {
            return Sent::whole(Bytes::new());
        }
        Sent::Passed { upload: upload.clone(), patience, limit: Box::pin(sleep(patience)) }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let (upload, patience, limit) = match self.get_mut() {
            Sent::Whole(body) => return Poll::Ready(body.next()),
            Sent::Passed { upload, patience, limit } => (upload, patience, limit),
        };
        let state = &mut *upload.state();
        state.upstream_waker = Some(context.waker().clone());
        let Some(body) = &mut state.body else {
            // After an early reply, `take` has removed the body.
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        };
        loop {
            match Pin::new(&mut *body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are not forwarded.
                    let Ok(data) = frame.into_data() else { continue };
                    state.last_received = Instant::now();
                    limit.as_mut().reset(state.last_received + *patience);
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Poll::Ready(Some(Err(_))) => {
                    return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
                }
                Poll::Ready(None) => {
                    state.body = None;
                    return Poll::Ready(None);
                }
                Poll::Pending => {
                    ready!(limit.as_mut().poll(context));
                    state.is_silent = true;
                    return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Sent::Whole(body) => {
                let rest = body.rest();
                rest.bytes.is_empty() && !rest.is_cut
            }
            Sent::Passed { .. } => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Sent::Whole(body) => SizeHint::with_exact(body.rest().bytes.len() as u64),
            Sent::Passed { upload, .. } => upload.state().body.as_ref().map_or_else(SizeHint::default, Body::size_hint),
        }
    }
}

struct Counted {
    bytes: Bytes,
    _unsent: Unsent,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

pub(super) fn counted(bytes: Bytes, unsent: Unsent) -> Bytes {
    Bytes::from_owner(Counted { bytes, _unsent: unsent })
}

pub(crate) enum Reply {
    Whole(Option<Bytes>),
    Passed(Box<Passed>),
    Pieces(Receiver<Piece>),
}

/// A stream without the piece `End` is broken: its writer has panicked, or has stopped.
#[derive(Debug)]
pub(crate) enum Piece {
    Data(Bytes),
    End,
}

/// The exchange of a reply that is passed on as it arrives.
pub(super) trait Passing: Send {
    /// Counts the bytes until they are written to the client.
    fn counted(&self, bytes: Bytes) -> Bytes;

    /// Handles a failure. `is_late` is true if the rest does not arrive in time. Otherwise, `why` is the reason.
    fn fails(&mut self, is_late: bool, why: &str);
}

pub(crate) struct Passed {
    body: Incoming,
    passing: Box<dyn Passing>,
    patience: Duration,
    limit: Pin<Box<Sleep>>,
}

impl Reply {
    pub(super) fn whole(body: Bytes) -> Reply {
        Reply::Whole((!body.is_empty()).then_some(body))
    }

    pub(super) fn passed(body: Incoming, passing: impl Passing + 'static, patience: Duration) -> Reply {
        let (limit, passing) = (Box::pin(sleep(patience)), Box::new(passing));
        Reply::Passed(Box::new(Passed { body, passing, patience, limit }))
    }
}

impl Passed {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            let (is_late, reason) = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are not forwarded.
                    let Ok(data) = frame.into_data() else { continue };
                    self.limit.as_mut().reset(Instant::now() + self.patience);
                    return Poll::Ready(Some(Ok(Frame::data(self.passing.counted(data)))));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(error))) => (false, why(&error)),
                Poll::Pending => {
                    ready!(self.limit.as_mut().poll(context));
                    (true, String::new())
                }
            };
            self.passing.fails(is_late, &reason);
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Reply::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Reply::Passed(passed) => passed.poll_frame(context),
            Reply::Pieces(pieces) => Poll::Ready(match ready!(pieces.poll_recv(context)) {
                Some(Piece::Data(data)) => Some(Ok(Frame::data(data))),
                Some(Piece::End) => None,
                None => Some(Err(io::ErrorKind::ConnectionAborted.into())),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Reply::Whole(body) => body.is_none(),
            Reply::Passed(passed) => passed.body.is_end_stream(),
            Reply::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Reply::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Reply::Passed(passed) => passed.body.size_hint(),
            Reply::Pieces(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use http_body_util::BodyExt as _;
    use tokio::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn a_stream_without_an_end_is_broken() {
        for has_end in [true, false] {
            let (sender, receiver) = channel(2);
            let mut reply = Reply::Pieces(receiver);
            sender.send(Piece::Data(Bytes::from_static(b"a"))).await.expect("a reader");
            if has_end {
                sender.send(Piece::End).await.expect("a reader");
            }
            drop(sender);
            assert!(reply.frame().await.is_some_and(|frame| frame.is_ok()));
            assert_eq!(reply.frame().await.is_none(), has_end);
        }
    }
}
