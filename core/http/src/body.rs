//! The body of a reply.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt as _, Full};

/// An error of the wrapped service, or of the body of one of its replies.
pub type BoxError = Box<dyn Error + Send + Sync>;

type Inner = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

/// The body of a reply: unchanged, restored as a whole, or restored piece by piece.
// The mutex is never locked for long; it makes the body `Sync`, as reqwest requires.
pub struct ReplyBody(Mutex<Inner>);

impl ReplyBody {
    pub(crate) fn new<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let bytes = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
        ReplyBody(Mutex::new(Box::pin(bytes.map_err(Into::into))))
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        ReplyBody::new(Full::new(bytes.into()))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReplyBody").finish_non_exhaustive()
    }
}
