//! A client's connection: the rules of [`Framing`], and time limits.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        Arc, Mutex, MutexGuard, PoisonError,
    },
    task::{ready, Context, Poll, Waker},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{sleep, timeout_at, Instant, Sleep},
};

use super::framing::Framing;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time limit for the first byte, and for each head from its first byte.
    pub(crate) head: Duration,
    /// Time limit for a connection without a request.
    pub(crate) idle: Duration,
    /// Time limit for a client that does not read.
    pub(crate) unread: Duration,
}

impl Limits {
    /// Clients should close an idle connection first: a request is lost if the server closes at that time. Go and
    /// reqwest keep idle connections for 90 s, Java for 20 minutes.
    pub(crate) fn new(unread: Duration) -> Limits {
        Limits { head: Duration::from_secs(60), idle: Duration::from_secs(3600), unread }
    }
}

/// Size of a read, in bytes.
const PIECE: usize = 1 << 14;
/// Maximum size of the part of the next request that is read while a request is open, in bytes.
const MAX_HELD: usize = 1 << 16;
/// Time for local answers after the client has closed its side of the connection. A request that waits for an API or
/// for a server ends at once: nearly all such clients have closed the connection, and the answer costs money.
const HALF_CLOSED: Duration = Duration::from_secs(1);
/// The first bytes of a connection of HTTP/2 (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The open requests of a connection, and what its client has not read.
#[derive(Clone, Debug)]
pub(crate) struct Busy(Arc<Requests>);

#[derive(Debug)]
struct Requests {
    open: AtomicUsize,
    /// Number of open requests that wait for an API or a server.
    waiting: AtomicUsize,
    has_begun: AtomicBool,
    /// The time since which no request is open.
    idle: Mutex<Instant>,
    /// Waker of the reader of the connection, if it waits for the end of the request.
    reader: Mutex<Option<Waker>>,
    /// Number of parts of replies that wait for the client.
    unread: AtomicUsize,
    /// The last time at which the client has read a part, or a first part has begun to wait.
    last_read: Mutex<Instant>,
}

/// Dropping it ends the request.
#[derive(Debug)]
pub(crate) struct Open {
    requests: Arc<Requests>,
    /// True if the request waits for an API or a server, or has ended.
    is_waiting: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
pub(crate) struct RemoteWait {
    requests: Arc<Requests>,
    is_waiting: Arc<AtomicBool>,
}

/// A part of a reply that waits for the client, until it is dropped.
#[derive(Debug)]
pub(crate) struct Unread(Arc<Requests>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Busy {
    fn default() -> Busy {
        Busy(Arc::new(Requests {
            open: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            has_begun: AtomicBool::new(false),
            idle: Mutex::new(Instant::now()),
            reader: Mutex::default(),
            unread: AtomicUsize::new(0),
            last_read: Mutex::new(Instant::now()),
        }))
    }
}

impl Busy {
    pub(crate) fn begin(&self) -> Open {
        self.0.open.fetch_add(1, Ordering::Relaxed);
        self.0.has_begun.store(true, Ordering::Relaxed);
        Open { requests: self.0.clone(), is_waiting: Arc::default() }
    }

    fn is_busy(&self) -> bool {
        self.0.open.load(Ordering::Relaxed) > 0
    }

    fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_since(&self) -> Option<Instant> {
        (!self.is_busy()).then(|| *lock(&self.0.idle))
    }

    pub(crate) fn unread(&self) -> Unread {
        let mut last_read = lock(&self.0.last_read);
        if self.0.unread.fetch_add(1, Ordering::Relaxed) == 0 {
            *last_read = Instant::now();
        }
        Unread(self.0.clone())
    }

    /// Returns once the client has read nothing of the waiting replies for longer than the limit.
    pub(crate) async fn wait_until_stuck(&self, limit: Duration) {
        loop {
            let is_unread = self.0.unread.load(Ordering::Relaxed) > 0;
            let since = if is_unread { *lock(&self.0.last_read) } else { Instant::now() };
            if is_unread && since.elapsed() >= limit {
                return;
            }
            tokio::time::sleep_until(since + limit).await;
        }
    }
}

impl Unread {
    pub(crate) fn record_read(&self) {
        *lock(&self.0.last_read) = Instant::now();
    }
}

impl Requests {
    fn wake_reader(&self) {
        if let Some(reader) = lock(&self.reader).take() {
            reader.wake();
        }
    }
}

impl Open {
    pub(crate) fn remote_wait(&self) -> RemoteWait {
        RemoteWait { requests: self.requests.clone(), is_waiting: self.is_waiting.clone() }
    }
}

impl RemoteWait {
    /// From now on, the request ends as soon as its client closes its side.
    pub(crate) fn begin(&self) {
        if !self.is_waiting.swap(true, Ordering::Relaxed) {
            self.requests.waiting.fetch_add(1, Ordering::Relaxed);
            self.requests.wake_reader();
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.is_waiting.swap(true, Ordering::Relaxed) {
            self.requests.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        if self.requests.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            *lock(&self.requests.idle) = Instant::now();
            self.requests.wake_reader();
        }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.0.unread.fetch_sub(1, Ordering::Relaxed);
    }
}

/// State of a waiting connection, which determines the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// The first byte, or the rest of a head.
    Head,
    Idle,
    /// A body, whose time limits the host sets, or the end of a request.
    Request,
}

/// A connection that hyper reads from and writes to.
pub(crate) struct Connection {
    stream: TcpStream,
    /// `None` for HTTP/2, which has no ambiguous frames.
    framing: Option<Framing>,
    /// Bytes that hyper may read.
    ready: Vec<u8>,
    /// Number of bytes of `ready` that hyper has read.
    ready_start: usize,
    /// Bytes after the current request. If hyper received them, it would no longer notice that the client disconnects.
    held: Vec<u8>,
    busy: Busy,
    /// The end of [`HALF_CLOSED`], once the client has closed its side while a request was open.
    half_closed: Option<Pin<Box<Sleep>>>,
    waits: Waits,
    read_limit: Pin<Box<Sleep>>,
    /// Time limit for a client that does not read.
    write_limit: Option<Pin<Box<Sleep>>>,
    limits: Limits,
}

impl Connection {
    /// Creates a connection. `begin` contains the bytes that were already read.
    pub(crate) fn new(stream: TcpStream, begin: &[u8], busy: Busy, limits: Limits) -> Connection {
        let (mut ready, mut held) = (Vec::new(), Vec::new());
        let framing = if begin == PREFACE {
            ready.extend_from_slice(begin);
            None
        } else {
            held.extend_from_slice(begin);
            Some(Framing::new())
        };
        Connection {
            stream,
            framing,
            ready,
            ready_start: 0,
            held,
            busy,
            half_closed: None,
            waits: Waits::Head,
            read_limit: Box::pin(sleep(limits.head)),
            write_limit: None,
            limits,
        }
    }

    fn fill_from_ready(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let rest = self.ready.get(self.ready_start..).unwrap_or_default();
        let part = rest.get(..rest.len().min(buffer.remaining())).unwrap_or(rest);
        if part.is_empty() {
            return false;
        }
        buffer.put_slice(part);
        self.ready_start += part.len();
        if self.ready_start == self.ready.len() {
            self.ready.clear();
            self.ready.shrink_to(PIECE);
            self.ready_start = 0;
        }
        true
    }

    /// Waits until the client disconnects, or until the open request ends and wakes this reader. Meanwhile, a part of
    /// the next request may arrive.
    fn poll_disconnect(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        *lock(&self.busy.0.reader) = Some(context.waker().clone());
        let mut piece = [0; 1 << 10];
        while self.half_closed.is_none() && self.busy.is_busy() && self.held.len() < MAX_HELD {
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut piece))?;
            if piece.filled().is_empty() {
                self.half_closed = Some(Box::pin(sleep(HALF_CLOSED)));
            }
            self.held.extend_from_slice(piece.filled());
        }
        if let Some(limit) = &mut self.half_closed {
            if self.busy.is_busy() {
                if self.busy.0.waiting.load(Ordering::Relaxed) == 0 {
                    ready!(limit.as_mut().poll(context));
                }
                return Poll::Ready(Ok(()));
            }
        }
        if !self.busy.is_busy() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Returns an error once the connection has waited for too long.
    fn poll_limit(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let waits = match &self.framing {
            Some(framing) if framing.is_in_head() => Waits::Head,
            Some(framing) if !framing.is_between_requests() => Waits::Request,
            _ if self.busy.is_busy() => Waits::Request,
            _ if self.busy.has_begun() => Waits::Idle,
            _ => Waits::Head,
        };
        if waits != self.waits {
            let limit = if waits == Waits::Head { self.limits.head } else { self.limits.idle };
            self.read_limit.as_mut().reset(Instant::now() + limit);
            self.waits = waits;
        }
        if waits == Waits::Request {
            return Poll::Pending;
        }
        ready!(self.read_limit.as_mut().poll(context));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }

    /// Fails if the client has not read for too long.
    fn fail_if_unread<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_limit = None;
            return written;
        }
        let unread = self.limits.unread;
        let limit = self.write_limit.get_or_insert_with(|| Box::pin(sleep(unread)));
        ready!(limit.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if this.fill_from_ready(buffer) {
                return Poll::Ready(Ok(()));
            }
            if this.framing.as_ref().is_some_and(Framing::has_ended) {
                return Poll::Ready(Ok(()));
            }
            if this.framing.as_ref().is_some_and(Framing::is_between_requests) && this.busy.is_busy() {
                ready!(this.poll_disconnect(context))?;
                return Poll::Ready(Ok(()));
            }
            if let Some(framing) = this.framing.as_mut().filter(|_| !this.held.is_empty()) {
                let length = framing.read(&this.held, &mut this.ready).map_err(|_| io::ErrorKind::InvalidData)?;
                this.held.drain(..length);
                continue;
            }
            let size = buffer.remaining().min(PIECE);
            let mut piece = ReadBuf::new(buffer.initialize_unfilled_to(size));
            match Pin::new(&mut this.stream).poll_read(context, &mut piece) {
                Poll::Pending => return this.poll_limit(context).map(Err),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {}
            }
            let length = piece.filled().len();
            let Some(framing) = &mut this.framing else {
                buffer.advance(length);
                return Poll::Ready(Ok(()));
            };
            if length == 0 {
                framing.flush_head(&mut this.ready);
                this.framing = None;
                this.fill_from_ready(buffer);
                return Poll::Ready(Ok(()));
            }
            let bytes = piece.filled();
            let is_all_body = framing.is_all_body(length);
            let read = framing.read(bytes, &mut this.ready).map_err(|_| io::ErrorKind::InvalidData)?;
            if is_all_body || this.ready.len() == length && this.ready == bytes {
                // The bytes are already where hyper reads them.
                this.ready.clear();
                buffer.advance(length);
                return Poll::Ready(Ok(()));
            }
            this.held.extend_from_slice(bytes.get(read..).unwrap_or_default());
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.fail_if_unread(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, pieces);
        this.fail_if_unread(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

/// Reads the preface of HTTP/2, or bytes that are not the preface.
pub(crate) async fn beginning(stream: &mut TcpStream, limits: Limits) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + limits.head;
    let (mut begin, mut piece) = (Vec::new(), [0; PREFACE.len()]);
    while begin.len() < PREFACE.len() && PREFACE.starts_with(&begin) {
        let rest = piece.get_mut(begin.len()..).unwrap_or_default();
        let read = timeout_at(deadline, stream.read(rest)).await;
        let length = read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if length == 0 {
            break;
        }
        begin.extend_from_slice(rest.get(..length).unwrap_or_default());
    }
    Ok(begin)
}

pub(crate) fn is_http2(begin: &[u8]) -> bool {
    begin == PREFACE
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        time::timeout,
    };

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(30);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    async fn pair(limits: Limits, busy: &Busy) -> (TcpStream, Connection) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("an address");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        let (server, _) = listener.accept().await.expect("a connection");
        (client, Connection::new(server, b"", busy.clone(), limits))
    }

    async fn ends(server: &mut Connection) -> Option<io::ErrorKind> {
        let read = timeout(10 * SHORT, server.read(&mut [0; 1000])).await;
        read.ok().map(|read| read.expect_err("no bytes").kind())
    }

    async fn request(client: &mut TcpStream, server: &mut Connection) {
        client.write_all(REQUEST).await.expect("a connection");
        server.read_exact(&mut [0; REQUEST.len()]).await.expect("a request");
    }

    #[tokio::test]
    async fn each_wait_has_its_own_limit() {
        let late = Some(io::ErrorKind::TimedOut);
        let busy = Busy::default();
        let head = Limits { head: SHORT, idle: LONG, unread: LONG };
        // The first byte.
        assert_eq!(ends(&mut pair(head, &busy).await.1).await, late);
        // Half a head.
        let (mut client, mut server) = pair(head, &busy).await;
        request(&mut client, &mut server).await;
        client.write_all(b"GET ").await.expect("a connection");
        assert_eq!(ends(&mut server).await, late);
        // An idle connection, with and without an open request.
        let idle = Limits { head: LONG, idle: SHORT, unread: LONG };
        let (mut client, mut server) = pair(idle, &busy).await;
        request(&mut client, &mut server).await;
        let open = busy.begin();
        assert_eq!(ends(&mut server).await, None);
        drop(open);
        assert_eq!(ends(&mut server).await, late);
        // An empty line is no request.
        let fresh = Busy::default();
        let (mut client, mut server) = pair(head, &fresh).await;
        client.write_all(b"\r\n").await.expect("a connection");
        assert_eq!(ends(&mut server).await, late);
        // A client that does not read.
        let unread = Limits { head: LONG, idle: LONG, unread: SHORT };
        let (_client, mut server) = pair(unread, &busy).await;
        let written = timeout(LONG, server.write_all(&vec![0; 50_000_000])).await.expect("a limit");
        assert_eq!(written.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
    }

    #[tokio::test]
    async fn the_next_request_waits_and_a_disconnect_is_noticed_while_one_is_open() {
        let (busy, limits) = (Busy::default(), Limits { head: LONG, idle: LONG, unread: LONG });
        let (mut client, mut server) = pair(limits, &busy).await;
        client.write_all(&REQUEST.repeat(2)).await.expect("a connection");
        let mut found = [0; 2 * REQUEST.len()];
        assert_eq!(server.read(&mut found).await.expect("a request"), REQUEST.len());
        let open = busy.begin();
        assert!(timeout(2 * SHORT, server.read(&mut found)).await.is_err());
        let end = tokio::spawn(async move {
            sleep(SHORT).await;
            drop(open);
        });
        let read = timeout(LONG, server.read(&mut found)).await.expect("no wait").expect("a request");
        assert_eq!(read, REQUEST.len());
        end.await.expect("no panic");
        let open = busy.begin();
        client.write_all(b"GET ").await.expect("a connection");
        drop(client);
        assert_eq!(timeout(LONG, server.read(&mut found)).await.expect("no wait").expect("an end"), 0);
        drop(open);
    }

    #[tokio::test]
    async fn a_request_that_waits_for_others_ends_as_soon_as_its_client_closes_its_side() {
        let limits = Limits { head: LONG, idle: LONG, unread: LONG };
        for begins_early in [true, false] {
            let busy = Busy::default();
            let (mut client, mut server) = pair(limits, &busy).await;
            request(&mut client, &mut server).await;
            let open = busy.begin();
            let waiting = open.remote_wait();
            if begins_early {
                waiting.begin();
            }
            client.shutdown().await.expect("a connection");
            let end = tokio::spawn(async move { server.read(&mut [0; 10]).await });
            if !begins_early {
                sleep(SHORT).await;
                assert!(!end.is_finished());
                waiting.begin();
            }
            let read = timeout(HALF_CLOSED / 2, end).await.expect("no wait").expect("no panic");
            assert_eq!(read.expect("an end"), 0);
            drop(open);
            assert_eq!(busy.0.waiting.load(Ordering::Relaxed), 0);
            // Its number is correct also if the request has ended before.
            waiting.begin();
            assert_eq!(busy.0.waiting.load(Ordering::Relaxed), 0);
        }
    }

    #[tokio::test]
    async fn the_preface_of_http2_is_recognized() {
        for (sent, found) in [
            (PREFACE, Ok(PREFACE)),
            (REQUEST, Ok(REQUEST.get(..PREFACE.len()).expect("a part"))),
            (b"PRI * HTTP/1.1", Ok(b"PRI * HTTP/1.1")),
            (b"", Err(io::ErrorKind::TimedOut)),
            (b"PRI *", Err(io::ErrorKind::TimedOut)),
        ] {
            let limits = Limits { head: SHORT, idle: LONG, unread: LONG };
            let (mut client, mut server) = pair(limits, &Busy::default()).await;
            client.write_all(sent).await.expect("a connection");
            let begin = beginning(&mut server.stream, limits).await.map_err(|error| error.kind());
            assert_eq!(begin.as_deref().map_err(|kind| *kind), found);
        }
    }

    #[tokio::test]
    async fn a_client_is_stuck_only_if_it_reads_nothing() {
        let busy = Busy::default();
        assert!(timeout(4 * SHORT, busy.wait_until_stuck(SHORT)).await.is_err());
        let first = busy.unread();
        assert!(timeout(4 * SHORT, busy.wait_until_stuck(LONG)).await.is_err());
        assert!(timeout(LONG, busy.wait_until_stuck(SHORT)).await.is_ok());
        // Another part that waits is no progress, and one that is read is.
        let second = busy.unread();
        assert!(timeout(LONG, busy.wait_until_stuck(SHORT)).await.is_ok());
        second.record_read();
        assert!(timeout(4 * SHORT, busy.wait_until_stuck(LONG)).await.is_err());
        drop((first, second));
        assert!(timeout(4 * SHORT, busy.wait_until_stuck(SHORT)).await.is_err());
    }
}
