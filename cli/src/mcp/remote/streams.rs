//! Event streams of a server: replies to calls, and the server's own messages. A stream that has ended is continued
//! after its last event with an id.
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use std::time::Duration;

use bytes::Bytes;
use hyper::{
    body::Incoming,
    header::{HeaderValue, CONTENT_TYPE},
    Method,
};
use tokio::time::{sleep, Instant};
use toolwire_command::ContentEncoding;

use super::{encoding, is_of_type, Shared, Undelivered, MAX_DELAY, SILENCE, STREAM, UNANSWERED};
use crate::{
    http::body::{Broken, Pieces},
    mcp::{
        events::{Events, ServerEvent},
        MAX_MESSAGE,
    },
};

/// Delay before a stream is continued, unless the server asks for another delay within the two limits below.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const MIN_RETRY: Duration = Duration::from_millis(100);
const MAX_RETRY: Duration = Duration::from_secs(3600);
/// Maximum number of attempts to continue the reply to a call without a new event.
const ATTEMPTS: u32 = 4;
/// Maximum size of an event id, which is sent as a header, in bytes.
const MAX_ID: usize = 4_096;

#[derive(Default)]
pub(super) struct Position {
    /// Id of the last event that has an id.
    id: Option<HeaderValue>,
    /// The delay that the server asks for, in milliseconds.
    retry: Option<u64>,
    /// True after a new event.
    has_progress: bool,
}

impl Position {
    fn advance(&mut self, events: &Events, has_events: bool) {
        let id = Some(events.last_id()).filter(|id| !id.is_empty() && id.len() <= MAX_ID);
        let id = id.and_then(|id| HeaderValue::from_bytes(id).ok());
        self.has_progress |= has_events || id.is_some() && id != self.id;
        self.id = id.or_else(|| self.id.take());
        self.retry = events.retry().or(self.retry);
    }

    fn delay(&self, failures: u32) -> Duration {
        let first = self.retry.map_or(FIRST_DELAY, Duration::from_millis).clamp(MIN_RETRY, MAX_RETRY);
        first.saturating_mul(1 << failures.min(10)).min(MAX_DELAY).max(first)
    }
}

impl Shared {
    /// Opens the stream of the server's own messages, or continues a stream after the event with the id `last`.
    async fn open(&self, last: Option<&HeaderValue>) -> Result<(Incoming, Option<ContentEncoding>), Undelivered> {
        let reply = self.request(&Method::GET, &self.address, (STREAM, last, &[]), Bytes::new()).await?;
        if !is_of_type(reply.headers().get(CONTENT_TYPE), STREAM) {
            return Err(Undelivered::Reason(format!("expected an answer of the type {STREAM}, found another")));
        }
        let encoding = encoding(&reply).map_err(Undelivered::Reason)?;
        Ok((reply.into_body(), encoding))
    }

    /// Continues the stream until the call has an answer.
    pub(super) async fn continue_reply(
        &self,
        body: Incoming,
        encoding: Option<ContentEncoding>,
        key: Option<&str>,
    ) -> Result<(), Undelivered> {
        let mut position = Position::default();
        let mut read = self.read_stream((body, encoding), key, &mut position, |_| None).await;
        let mut failures = 0;
        while let (Err(Undelivered::Ended(_)), Some(id)) = (&read, position.id.clone()) {
            if failures == ATTEMPTS {
                break;
            }
            sleep(position.delay(failures)).await;
            if !self.is_wanted(key) {
                break;
            }
            position.has_progress = false;
            match self.open(Some(&id)).await {
                Ok(reply) => read = self.read_stream(reply, key, &mut position, |_| None).await,
                Err(Undelivered::Status(status, _)) if status.is_client_error() => break,
                Err(_) => {}
            }
            failures = if position.has_progress { 0 } else { failures + 1 };
        }
        read
    }

    fn is_wanted(&self, key: Option<&str>) -> bool {
        let state = self.state();
        !state.is_over && key.and_then(|key| state.calls.get(key)).is_some_and(|call| !call.is_cancelled)
    }

    /// Passes on the messages of a stream. `read` receives its other events. Fails if the stream ends before the answer
    /// to the call `unanswered_key`.
    pub(super) async fn read_stream(
        &self,
        (body, encoding): (Incoming, Option<ContentEncoding>),
        unanswered_key: Option<&str>,
        position: &mut Position,
        mut read: impl FnMut(&ServerEvent) -> Option<()>,
    ) -> Result<(), Undelivered> {
        let (mut pieces, mut events) = (Pieces::new(body, encoding), Events::new(MAX_MESSAGE));
        loop {
            let piece = match pieces.next(SILENCE).await {
                Ok(Some(piece)) => piece,
                Ok(None) if self.is_unanswered(unanswered_key) => return Err(Undelivered::Ended(UNANSWERED.into())),
                Ok(None) => return Ok(()),
                // After the answer, nothing is missing.
                Err(_) if unanswered_key.is_some() && !self.is_unanswered(unanswered_key) => return Ok(()),
                Err(Broken::Late) => return Err(Undelivered::Ended("the connection was closed".into())),
                Err(Broken::Reason(why)) => return Err(Undelivered::Ended(why)),
            };
            self.spend(piece.len())?;
            let found = events.push(&piece).map_err(|_| self.too_large())?;
            let has_events = !found.is_empty();
            position.advance(&events, has_events);
            for event in found {
                match event.name.as_str() {
                    "" | "message" => {
                        let refusal = self.pass_on_message(event.data).await;
                        if let Some(why) = refusal.filter(|_| self.is_unanswered(unanswered_key)) {
                            return Err(Undelivered::Reason(why));
                        }
                    }
                    _ => {
                        read(&event);
                    }
                }
            }
        }
    }

    /// Reads the stream of the server's own messages, if it exists. Fails if the connection has to end.
    pub(super) async fn listen(&self) -> Result<(), String> {
        let (mut position, mut failures) = (Position::default(), 0);
        loop {
            match self.open(position.id.as_ref()).await {
                Ok(reply) => {
                    let begin = Instant::now();
                    position.has_progress = false;
                    self.state().is_listening = true;
                    let read = self.read_stream(reply, None, &mut position, |_| None).await;
                    if position.id.is_none() {
                        self.stop_listening().await;
                    }
                    if let Err(Undelivered::TooLarge(why)) = read {
                        return Err(why);
                    }
                    let is_new = position.has_progress || begin.elapsed() > MAX_DELAY;
                    failures = if is_new { 0 } else { failures + 1 };
                }
                Err(why) => {
                    self.stop_listening().await;
                    let is_refused = match why {
                        // If the server no longer knows the session, the next message finds that.
                        Undelivered::Status(status, _) => status.is_client_error(),
                        Undelivered::Reason(_) => true,
                        Undelivered::Ended(_) | Undelivered::TooLarge(_) => false,
                    };
                    // The server may have forgotten the event.
                    if is_refused && position.id.take().is_none() {
                        return Ok(());
                    }
                    failures += 1;
                }
            }
            if self.state().is_over {
                return Ok(());
            }
            sleep(position.delay(failures)).await;
        }
    }

    /// Reports the calls whose answers were expected in the stream of the server's own messages. The stream has ended.
    async fn stop_listening(&self) {
        let keys: Vec<String> = {
            let mut state = self.state();
            state.is_listening = false;
            state.calls.iter().filter(|(_, call)| call.is_late).map(|(key, _)| key.clone()).collect()
        };
        for key in keys {
            self.fail(Some(&key), UNANSWERED.into()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_with_failures_and_is_at_least_what_the_server_asks_for() {
        for (retry, failures, milliseconds) in [
            (None, 0, 1_000),
            (None, 3, 8_000),
            (None, u32::MAX, 30_000),
            (Some(0), 0, 100),
            (Some(500), 2, 2_000),
            (Some(60_000), 2, 60_000),
            (Some(u64::MAX), 0, 3_600_000),
        ] {
            let position = Position { retry, ..Position::default() };
            assert_eq!(position.delay(failures), Duration::from_millis(milliseconds), "{retry:?} {failures}");
        }
    }
}
