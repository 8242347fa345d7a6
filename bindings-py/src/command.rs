//! The command line, for a host with files, processes and a terminal.

use pyo3::prelude::*;
use toolwire_command::{self as command, Printed};

use crate::entry::guarded;

/// Standard output, standard error, exit code, and the files to write. Each file is its path, its content, the suffix
/// of the path in which no symbolic link is followed, and the file whose permissions it gets.
type Finished = (String, String, u8, Vec<(String, String, String, String)>);

/// A command line that is being executed; see `toolwire_command::Command`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Command(Option<command::Command>);

#[pymethods]
impl Command {
    /// Starts a command line with the facts that the host knows, as JSON.
    #[new]
    #[pyo3(signature = (facts, /))]
    fn new(facts: &str) -> PyResult<Self> {
        guarded(|| Ok(Command(Some(command::Command::new(facts)))))
    }

    /// Returns what the command needs next from its host, as strings, or `None` if it needs nothing.
    fn need(&self) -> PyResult<Option<Vec<String>>> {
        guarded(|| Ok(self.0.as_ref().and_then(command::Command::need).map(command::Need::words)))
    }

    /// Provides the content of the current need.
    #[pyo3(signature = (content, /))]
    fn give(&mut self, content: &[u8]) -> PyResult<()> {
        guarded(|| {
            if let Some(command) = &mut self.0 {
                command.give(content);
            }
            Ok(())
        })
    }

    /// Returns a server's standard error in a form that is safe to print to a terminal.
    #[staticmethod]
    #[pyo3(signature = (log, /))]
    fn heard(log: &str) -> PyResult<String> {
        guarded(|| Ok(command::Command::heard(log)))
    }

    /// Reports that the current need cannot be met.
    #[pyo3(signature = (message, /))]
    fn fail(&mut self, message: &str) -> PyResult<()> {
        guarded(|| {
            if let Some(command) = &mut self.0 {
                command.fail(message);
            }
            Ok(())
        })
    }

    /// Runs a step of the work. Returns text to show immediately, or `None` at the end.
    fn step(&mut self) -> PyResult<Option<String>> {
        guarded(|| Ok(self.0.as_mut().and_then(command::Command::step)))
    }

    /// Returns the text to show while the host waits for a server; `seconds` is 0 when the wait ends.
    #[pyo3(signature = (seconds, /))]
    fn waiting(&self, seconds: u32) -> PyResult<String> {
        guarded(|| Ok(self.0.as_ref().map(|command| command.waiting(seconds)).unwrap_or_default()))
    }

    /// Returns standard output, standard error, the exit code, and the files to write.
    fn finish(&mut self) -> PyResult<Finished> {
        guarded(|| {
            let printed = self.0.take().map(command::Command::finish).unwrap_or_default();
            let Printed { stdout, stderr, exit_code, files, .. } = printed;
            let files = files.into_iter().map(|file| (file.path, file.content, file.confined, file.like)).collect();
            Ok((stdout, stderr, exit_code, files))
        })
    }
}

/// Effects for the host to perform: for each effect its kind, a number or an empty string, and a string.
type Effects = Vec<(String, String, String)>;

/// A connection of `toolwire proxy`; see `toolwire_command::Proxy`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Proxy(command::Proxy);

#[pymethods]
impl Proxy {
    /// Creates a connection from the settings that `Command.need` returned.
    #[new]
    #[pyo3(signature = (settings, /))]
    fn new(settings: &str) -> PyResult<Self> {
        guarded(|| Ok(Proxy(command::Proxy::new(settings))))
    }

    /// Handles a message of the client.
    #[pyo3(signature = (message, /))]
    fn client(&mut self, message: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.client(message))))
    }

    /// Handles a message of a server.
    #[pyo3(signature = (server, message, /))]
    fn server(&mut self, server: usize, message: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.server(server, message))))
    }

    /// Handles the end of a server.
    #[pyo3(signature = (server, why, /))]
    fn ended(&mut self, server: usize, why: &str) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.ended(server, why))))
    }

    /// Handles the restart of a server.
    #[pyo3(signature = (server, /))]
    fn started(&mut self, server: usize) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.started(server))))
    }

    /// Handles the end of an alarm's delay.
    #[pyo3(signature = (alarm, /))]
    fn alarm(&mut self, alarm: u64) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.alarm(alarm))))
    }

    /// Handles a message that could not be delivered to a server.
    #[pyo3(signature = (server, message, why, /))]
    fn undelivered(&mut self, server: usize, message: &[u8], why: &str) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.undelivered(server, message, why))))
    }

    /// Returns the number of client requests without an answer.
    fn unanswered(&self) -> PyResult<usize> {
        guarded(|| Ok(self.0.unanswered()))
    }

    /// Handles a message of the client that was too long.
    #[pyo3(signature = (length, /))]
    fn too_long(&mut self, length: usize) -> PyResult<Effects> {
        guarded(|| Ok(words(self.0.too_long(length))))
    }
}

fn words(effects: Vec<command::Effect>) -> Effects {
    effects.into_iter().map(command::Effect::words).map(|[kind, number, text]| (kind, number, text)).collect()
}

/// The sessions of `toolwire proxy --listen`; see `toolwire_command::Listener`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Listener(command::Listener);

#[pymethods]
impl Listener {
    /// Creates the sessions from the settings that `Command.need` returned and the token, if one is required.
    #[new]
    #[pyo3(signature = (settings, token, /))]
    fn new(settings: &str, token: Option<&str>) -> PyResult<Self> {
        guarded(|| Ok(Listener(command::Listener::new(settings, token))))
    }

    /// Handles the head of a request.
    #[pyo3(signature = (number, head, /))]
    fn request(&mut self, number: u64, head: &str) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.request(number, head))))
    }

    /// Handles the body of a request.
    #[pyo3(signature = (number, body, /))]
    fn body(&mut self, number: u64, body: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.body(number, body))))
    }

    /// Handles a request whose body could not be read.
    #[pyo3(signature = (number, status, why, /))]
    fn unread(&mut self, number: u64, status: u16, why: &str) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.unread(number, status, why))))
    }

    /// Handles the end of a request.
    #[pyo3(signature = (number, /))]
    fn closed(&mut self, number: u64) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.closed(number))))
    }

    /// Handles a message that the proxy of a session has for its client.
    #[pyo3(signature = (session, message, /))]
    fn message(&mut self, session: u64, message: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.message(session, message))))
    }

    /// Handles the end of a session's proxy.
    #[pyo3(signature = (session, why, /))]
    fn ended(&mut self, session: u64, why: &str) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.ended(session, why))))
    }

    /// Handles the end of an alarm's delay.
    #[pyo3(signature = (session, /))]
    fn alarm(&mut self, session: u64) -> PyResult<Effects> {
        guarded(|| Ok(listened(self.0.alarm(session))))
    }

    /// Returns the startup message.
    #[pyo3(signature = (address, /))]
    fn started(&self, address: &str) -> PyResult<String> {
        guarded(|| Ok(self.0.started(address)))
    }
}

fn listened(effects: Vec<command::ListenerEffect>) -> Effects {
    effects.into_iter().map(command::ListenerEffect::words).map(|[kind, about, text]| (kind, about, text)).collect()
}

/// The state of `toolwire relay`; see `toolwire_command::NumberedRelay`.
#[pyclass(module = "toolwire._toolwire")]
pub(crate) struct Relay(command::NumberedRelay);

#[pymethods]
impl Relay {
    /// Creates the state from the settings that `Command.need` returned and the token, if one is required.
    #[new]
    #[pyo3(signature = (settings, token, /))]
    fn new(settings: &str, token: Option<&str>) -> PyResult<Self> {
        guarded(|| Ok(Relay(command::NumberedRelay::new(settings, token))))
    }

    /// Handles the head of a request.
    #[pyo3(signature = (number, head, /))]
    fn request(&mut self, number: u64, head: &str) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.request(number, head))))
    }

    /// Counts received bytes of the body that is being read.
    #[pyo3(signature = (number, length, /))]
    fn received(&mut self, number: u64, length: u64) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.received(length)))))
    }

    /// Handles the body of a request.
    #[pyo3(signature = (number, body, /))]
    fn body(&mut self, number: u64, body: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.body(body)))))
    }

    /// Handles a request whose body could not be read.
    #[pyo3(signature = (number, status, why, /))]
    fn unread(&mut self, number: u64, status: u16, why: &str) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.unread(status, why)))))
    }

    /// Handles the head of a reply.
    #[pyo3(signature = (number, status, headers, /))]
    fn reply(&mut self, number: u64, status: u16, headers: &str) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.reply(number, status, headers))))
    }

    /// Handles the whole body of a reply.
    #[pyo3(signature = (number, body, /))]
    fn whole(&mut self, number: u64, body: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.whole(body)))))
    }

    /// Handles a piece of a streamed reply.
    #[pyo3(signature = (number, piece, /))]
    fn piece(&mut self, number: u64, piece: &[u8]) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.piece(piece)))))
    }

    /// Handles the end of a streamed reply.
    #[pyo3(signature = (number, /))]
    fn end(&mut self, number: u64) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, command::RelayRequest::end))))
    }

    /// Handles the failure of an upstream, before or during its reply.
    #[pyo3(signature = (number, is_late, why, /))]
    fn failed(&mut self, number: u64, is_late: bool, why: &str) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.failed(is_late, why)))))
    }

    /// Handles the end of a request.
    #[pyo3(signature = (number, spent, /))]
    fn closed(&mut self, number: u64, spent: u64) -> PyResult<Effects> {
        guarded(|| Ok(relayed(self.0.with(number, |request| request.closed(spent)))))
    }

    /// Returns the startup message.
    #[pyo3(signature = (address, /))]
    fn started(&self, address: &str) -> PyResult<String> {
        guarded(|| Ok(self.0.started(address)))
    }
}

fn relayed(effects: Vec<command::RelayEffect>) -> Effects {
    effects.into_iter().map(command::RelayEffect::words).map(|[kind, about, text]| (kind, about, text)).collect()
}
