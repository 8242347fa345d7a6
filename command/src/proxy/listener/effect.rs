//! The actions that a [`Listener`](super::Listener) asks its host to perform.

use toolwire::json::{self, Node};

use crate::document::record;

/// An action for the host. Requests have the host's numbers, sessions the listener's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenerEffect {
    /// Reads the body of a request of at most this many bytes, then calls [`Listener::body`](super::Listener::body), or
    /// [`Listener::unread`](super::Listener::unread) if that fails.
    Read(u64, u64),
    /// Answers a request: `{ status, headers }` as JSON, and the body.
    Answer(u64, String, String),
    /// Starts the response to a request: `{ status, headers }` as JSON.
    Head(u64, String),
    /// Writes a piece of a response of this session. If the client does not read, the session's servers are paused. The
    /// servers of session 0, which all clients share, are never paused; instead, the response ends if too much of it is
    /// unsent.
    Write(u64, u64, String),
    /// Ends the response.
    End(u64),
    /// Starts a proxy for a new session. Its messages for the client are passed to
    /// [`Listener::message`](super::Listener::message). If it cannot be started, the host calls
    /// [`Listener::ended`](super::Listener::ended).
    Open(u64),
    /// Passes a message to the proxy of a session, as if its client had sent it.
    Message(u64, String),
    /// Passes the body just received to the proxy of a session, byte for byte. The second number is the request's.
    Pass(u64, u64),
    /// Stops the proxy of a session. The host calls [`Listener::ended`](super::Listener::ended) when the proxy's
    /// servers have ended.
    Close(u64),
    /// Calls [`Listener::alarm`](super::Listener::alarm) with this session after a delay in milliseconds.
    Alarm(u64, u64),
    /// Writes a line to standard error.
    Log(String),
}

impl ListenerEffect {
    /// Returns the effect as strings, for the bindings: its kind; the applicable members of `{ request, session, most,
    /// delay, status, headers }` as JSON, or an empty string; and a string.
    pub fn words(self) -> [String; 3] {
        let (kind, about, text) = match self {
            ListenerEffect::Read(request, most) => ("read", numbers([("request", request), ("most", most)]), None),
            ListenerEffect::Answer(request, head, body) => ("answer", with_head(request, &head), Some(body)),
            ListenerEffect::Head(request, head) => ("head", with_head(request, &head), None),
            ListenerEffect::Write(session, request, text) => {
                ("write", numbers([("request", request), ("session", session)]), Some(text))
            }
            ListenerEffect::End(request) => ("end", numbers([("request", request)]), None),
            ListenerEffect::Open(session) => ("open", numbers([("session", session)]), None),
            ListenerEffect::Message(session, text) => ("message", numbers([("session", session)]), Some(text)),
            ListenerEffect::Pass(session, request) => {
                ("pass", numbers([("session", session), ("request", request)]), None)
            }
            ListenerEffect::Close(session) => ("close", numbers([("session", session)]), None),
            ListenerEffect::Alarm(session, delay) => ("alarm", numbers([("session", session), ("delay", delay)]), None),
            ListenerEffect::Log(line) => ("log", String::new(), Some(line)),
        };
        [kind.into(), about, text.unwrap_or_default()]
    }
}

fn numbers<const N: usize>(members: [(&'static str, u64); N]) -> String {
    json::write(&record(members.map(|(name, number)| (name, Node::count(number)))))
}

fn with_head(request: u64, head: &str) -> String {
    let mut about = json::read(head).unwrap_or_default();
    about.set("request", Node::count(request));
    json::write(&about)
}
