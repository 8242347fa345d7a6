//! Responses of `proxy --listen`, and the count of their unsent bytes.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{
        atomic::{AtomicUsize, Ordering},
        Arc, Mutex, MutexGuard, PoisonError,
    },
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use hyper::{
    body::{Body, Frame, SizeHint},
    header::{HeaderName, HeaderValue},
    Response, StatusCode,
};
use tokio::sync::Notify;
use toolwire::internal::json;

use super::Closing;

/// Number of bytes of a session's responses that its clients have not read.
#[derive(Default)]
pub(super) struct Room {
    unsent: AtomicUsize,
    changed: Notify,
}

impl Room {
    pub(super) async fn wait_until_below(&self, most: usize) {
        loop {
            let changed = self.changed.notified();
            if self.unsent.load(Ordering::SeqCst) <= most {
                return;
            }
            changed.await;
        }
    }
}

struct Part {
    text: String,
    queue: Arc<AtomicUsize>,
    room: Option<Arc<Room>>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.queue.fetch_sub(self.text.len(), Ordering::SeqCst);
        if let Some(room) = &self.room {
            room.unsent.fetch_sub(self.text.len(), Ordering::SeqCst);
            room.changed.notify_waiters();
        }
    }
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    /// Number of bytes that are not written.
    unsent: Arc<AtomicUsize>,
}

#[derive(Default)]
struct QueueState {
    parts: VecDeque<Bytes>,
    has_ended: bool,
    is_aborted: bool,
    reader: Option<Waker>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text to the response. Until it is written, it is counted in the session's `room`.
    pub(super) fn push(&self, text: String, room: Option<&Arc<Room>>) {
        let mut state = self.state();
        if text.is_empty() || state.is_aborted {
            return;
        }
        self.unsent.fetch_add(text.len(), Ordering::SeqCst);
        if let Some(room) = room {
            room.unsent.fetch_add(text.len(), Ordering::SeqCst);
        }
        let part = Part { text, queue: self.unsent.clone(), room: room.cloned() };
        state.parts.push_back(Bytes::from_owner(part));
        state.wake();
    }

    pub(super) fn length(&self) -> usize {
        self.unsent.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.wake();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    pub(super) fn abort(&self) {
        let mut state = self.state();
        (state.is_aborted, state.parts) = (true, VecDeque::new());
        state.wake();
    }
}

impl QueueState {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

pub(crate) struct Reply {
    queue: Arc<Queue>,
    _closing: Closing,
}

impl Reply {
    pub(super) fn new(queue: Arc<Queue>, closing: Closing) -> Reply {
        Reply { queue, _closing: closing }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut state = self.queue.state();
        if state.is_aborted {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        }
        match state.parts.pop_front() {
            Some(part) => Poll::Ready(Some(Ok(Frame::data(part)))),
            None if state.has_ended => Poll::Ready(None),
            None => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let state = self.queue.state();
        state.has_ended && state.parts.is_empty() && !state.is_aborted
    }

    fn size_hint(&self) -> SizeHint {
        let state = self.queue.state();
        if state.has_ended && !state.is_aborted {
            SizeHint::with_exact(state.parts.iter().map(|part| part.len() as u64).sum())
        } else {
            SizeHint::default()
        }
    }
}

pub(super) struct Head {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// Reads `{ status, headers }`. Each byte of a header's value is one character.
    pub(super) fn read(text: &str) -> Head {
        let head = json::read(text).unwrap_or_default();
        let header = |pair: &json::Node<'_>| {
            let [name, value] = pair.as_array()? else { return None };
            let (name, value) = (name.as_text()?.display(), value.as_text()?.display());
            Some((name.into_owned(), value.chars().filter_map(|character| u8::try_from(character).ok()).collect()))
        };
        Head {
            status: head.u64_at("status").and_then(|status| u16::try_from(status).ok()).unwrap_or(500),
            headers: head.items_at("headers").iter().filter_map(header).collect(),
        }
    }
}

/// Returns the response with this head; `None` if the head cannot be sent.
pub(super) fn response(head: Head, body: Reply) -> Option<Response<Reply>> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).ok()?;
    for (name, value) in head.headers {
        let name = HeaderName::try_from(name).ok()?;
        response.headers_mut().append(name, HeaderValue::try_from(value).ok()?);
    }
    Some(response)
}
