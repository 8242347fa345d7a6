//! MCP servers: programs that this program starts, and servers at URLs. Messages are bytes, which are not parsed here.

mod calls;
mod events;
pub(crate) mod lines;
#[cfg(any(windows, test))]
pub(crate) mod lookup;
pub(crate) mod process;
mod remote;
pub(crate) mod tools;

use std::env;

use tokio::sync::mpsc::Sender;
use toolwire_command::{Secrets, Server, Transport};

use self::{process::Process, remote::Remote};

/// Maximum size of a message, and of all messages that a server has not read, in bytes.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

#[derive(Debug)]
pub(crate) enum Event {
    Message(Vec<u8>),
    /// The message could not be delivered, for this reason.
    Undelivered(Vec<u8>, String),
    /// A piece of standard error.
    Log(Vec<u8>),
    /// The server has ended. No event follows.
    Ended(String),
}

/// A connection to a server. Dropping it ends the server at once.
pub(crate) enum Link {
    Process(Process),
    Remote(Remote),
}

impl Link {
    /// Starts or connects a server. `number` identifies the server in its events. All answers of a server at a URL may
    /// have `total` bytes together.
    pub(crate) fn open(
        server: &Server,
        number: usize,
        events: Sender<(usize, Event)>,
        total: Option<usize>,
    ) -> Result<Link, String> {
        match &server.transport {
            Transport::Process { command, folder, inherited, environment } => {
                let variables = inherited.iter().filter_map(|name| Some((name.clone(), env::var(name).ok()?)));
                // Shells export their functions in such variables, which are not passed on.
                let variables = variables.filter(|(_, value)| !value.starts_with("()"));
                let variables: Vec<(String, String)> = variables.chain(environment.iter().cloned()).collect();
                Process::start(command, folder.as_deref(), &variables, number, events).map(Link::Process)
            }
            Transport::Remote { url, headers, sse } => {
                Remote::open((url, headers, *sse), number, events, total).map(Link::Remote)
            }
        }
    }

    /// Sends a message. Only a server at a URL receives the headers. A server that does not read is ended.
    pub(crate) fn write(&self, message: &[u8], headers: &[(String, String)]) {
        match self {
            Link::Process(process) => process.write(message),
            Link::Remote(remote) => remote.write(message, headers),
        }
    }

    /// Ends the server at once. The last event is [`Event::Ended`].
    pub(crate) fn stop(&self) {
        match self {
            Link::Process(process) => process.stop(None),
            Link::Remote(remote) => remote.stop(),
        }
    }

    /// Asks the server to end, and waits for a limited time until it has ended.
    pub(crate) async fn terminate(&mut self) {
        match self {
            Link::Process(process) => process.terminate().await,
            Link::Remote(remote) => remote.close().await,
        }
    }

    pub(crate) async fn close(&mut self) {
        match self {
            Link::Process(process) => process.close().await,
            Link::Remote(remote) => remote.close().await,
        }
    }
}

pub(crate) fn secrets(server: &Server) -> Secrets {
    Secrets::of_server(server, |name| env::var(name).ok())
}
