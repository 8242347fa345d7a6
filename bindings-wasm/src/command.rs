//! The command line, for a host that provides files, processes and a terminal.

use toolwire_command::{
    Command, Effect, Listener, ListenerEffect, NumberedRelay, Printed, Proxy, RelayEffect, RelayRequest,
};
use wasm_bindgen::prelude::wasm_bindgen;

/// A command line that is being executed; see `toolwire_command::Command`.
#[wasm_bindgen]
pub struct CommandLine(Command);

#[wasm_bindgen]
impl CommandLine {
    /// Creates a command line from the facts about the host, as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(facts: &str) -> CommandLine {
        CommandLine(Command::new(facts))
    }

    /// Returns what the command needs next from its host, as strings, or undefined if it needs nothing.
    pub fn need(&self) -> Option<Vec<String>> {
        self.0.need().map(|need| need.words())
    }

    /// Provides the content of the current need.
    pub fn give(&mut self, bytes: &[u8]) {
        self.0.give(bytes);
    }

    /// Describes what the commands read in an input; see `toolwire_command::Command::reading`.
    pub fn reading(bytes: &[u8]) -> String {
        Command::reading(bytes)
    }

    /// Returns the outcome of a change as a word, or undefined; see `toolwire_command::Command::outcome`.
    pub fn outcome(change: &str) -> Option<String> {
        Command::outcome(change).map(String::from)
    }

    /// Returns a server's standard error in a form that is safe to print to a terminal.
    pub fn heard(log: &str) -> String {
        Command::heard(log)
    }

    /// Reports that the current need cannot be met.
    pub fn fail(&mut self, message: &str) {
        self.0.fail(message);
    }

    /// Runs a step of the work. Returns text to show immediately, or undefined at the end.
    pub fn step(&mut self) -> Option<String> {
        self.0.step()
    }

    /// Returns the text to show while the host waits for a server; `seconds` is 0 when the wait ends.
    pub fn waiting(&self, seconds: u32) -> String {
        self.0.waiting(seconds)
    }

    /// Returns the result: standard output, standard error, the exit code in digits, and then four strings for each
    /// file to write: its path, its content, the suffix of the path in which symbolic links are not followed, and the
    /// file whose permissions it gets.
    pub fn finish(self) -> Vec<String> {
        let Printed { stdout, stderr, exit_code, files, .. } = self.0.finish();
        let files = files.into_iter().flat_map(|file| [file.path, file.content, file.confined, file.like]);
        [stdout, stderr, exit_code.to_string()].into_iter().chain(files).collect()
    }
}

/// A connection of `toolwire proxy`; see `toolwire_command::Proxy`. Its methods return effects, each as three strings:
/// a kind, a number or an empty string, and a string.
#[wasm_bindgen]
pub struct ProxyConnection(Proxy);

#[wasm_bindgen]
impl ProxyConnection {
    /// Creates a connection from the settings that `CommandLine.need` returned.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> ProxyConnection {
        ProxyConnection(Proxy::new(settings))
    }

    /// Handles a message of the client.
    pub fn client(&mut self, message: &[u8]) -> Vec<String> {
        words(self.0.client(message))
    }

    /// Handles a message of a server.
    pub fn server(&mut self, server: usize, message: &[u8]) -> Vec<String> {
        words(self.0.server(server, message))
    }

    /// Handles the end of a server.
    pub fn ended(&mut self, server: usize, why: &str) -> Vec<String> {
        words(self.0.ended(server, why))
    }

    /// Handles the restart of a server.
    pub fn started(&mut self, server: usize) -> Vec<String> {
        words(self.0.started(server))
    }

    /// Handles the end of an alarm's delay.
    pub fn alarm(&mut self, alarm: u32) -> Vec<String> {
        words(self.0.alarm(alarm.into()))
    }

    /// Handles a message that could not be delivered to a server.
    pub fn undelivered(&mut self, server: usize, message: &[u8], why: &str) -> Vec<String> {
        words(self.0.undelivered(server, message, why))
    }

    /// Returns the number of client requests without an answer.
    pub fn unanswered(&self) -> usize {
        self.0.unanswered()
    }

    /// Handles a message of the client that was too long.
    #[wasm_bindgen(js_name = tooLong)]
    pub fn too_long(&mut self, bytes: usize) -> Vec<String> {
        words(self.0.too_long(bytes))
    }
}

fn words(effects: Vec<Effect>) -> Vec<String> {
    effects.into_iter().flat_map(Effect::words).collect()
}

/// The sessions of `toolwire proxy --listen`; see `toolwire_command::Listener`. Its methods return effects, each as
/// three strings: a kind, JSON or an empty string, and a string.
#[wasm_bindgen]
pub struct ProxyListener(Listener);

#[wasm_bindgen]
impl ProxyListener {
    /// Creates the sessions from the settings that `CommandLine.need` returned and the token, if one is required.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, token: Option<String>) -> ProxyListener {
        ProxyListener(Listener::new(settings, token.as_deref()))
    }

    /// Handles the head of a request.
    pub fn request(&mut self, number: u32, head: &str) -> Vec<String> {
        listened(self.0.request(number.into(), head))
    }

    /// Handles the body of a request.
    pub fn body(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        listened(self.0.body(number.into(), body))
    }

    /// Handles a request whose body could not be read.
    pub fn unread(&mut self, number: u32, status: u16, why: &str) -> Vec<String> {
        listened(self.0.unread(number.into(), status, why))
    }

    /// Handles the end of a request.
    pub fn closed(&mut self, number: u32) -> Vec<String> {
        listened(self.0.closed(number.into()))
    }

    /// Handles a message that the proxy of a session has for its client.
    pub fn message(&mut self, session: u32, message: &[u8]) -> Vec<String> {
        listened(self.0.message(session.into(), message))
    }

    /// Handles the end of a session's proxy.
    pub fn ended(&mut self, session: u32, why: &str) -> Vec<String> {
        listened(self.0.ended(session.into(), why))
    }

    /// Handles the end of an alarm's delay.
    pub fn alarm(&mut self, session: u32) -> Vec<String> {
        listened(self.0.alarm(session.into()))
    }

    /// Returns the startup message.
    pub fn started(&self, address: &str) -> String {
        self.0.started(address)
    }
}

fn listened(effects: Vec<ListenerEffect>) -> Vec<String> {
    effects.into_iter().flat_map(ListenerEffect::words).collect()
}

/// The state of `toolwire relay`; see `toolwire_command::NumberedRelay`. Its methods return effects, each as three
/// strings: a kind, JSON or an empty string, and a string.
#[wasm_bindgen]
pub struct RelayState(NumberedRelay);

#[wasm_bindgen]
impl RelayState {
    /// Creates the state from the settings that `CommandLine.need` returned and the token, if one is required.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, token: Option<String>) -> RelayState {
        RelayState(NumberedRelay::new(settings, token.as_deref()))
    }

    /// Handles the head of a request.
    pub fn request(&mut self, number: u32, head: &str) -> Vec<String> {
        relayed(self.0.request(number.into(), head))
    }

    /// Counts received bytes of the body that is being read.
    pub fn received(&mut self, number: u32, length: u32) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.received(length.into())))
    }

    /// Handles the body of a request.
    pub fn body(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.body(body)))
    }

    /// Handles a request whose body could not be read.
    pub fn unread(&mut self, number: u32, status: u16, why: &str) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.unread(status, why)))
    }

    /// Handles the head of a reply.
    pub fn reply(&mut self, number: u32, status: u16, headers: &str) -> Vec<String> {
        relayed(self.0.reply(number.into(), status, headers))
    }

    /// Handles the whole body of a reply.
    pub fn whole(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.whole(body)))
    }

    /// Handles a piece of a streamed reply.
    pub fn piece(&mut self, number: u32, piece: &[u8]) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.piece(piece)))
    }

    /// Handles the end of a streamed reply.
    pub fn end(&mut self, number: u32) -> Vec<String> {
        relayed(self.0.with(number.into(), RelayRequest::end))
    }

    /// Handles the failure of an upstream, before or during its reply.
    pub fn failed(&mut self, number: u32, is_late: bool, why: &str) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.failed(is_late, why)))
    }

    /// Handles the end of a request.
    pub fn closed(&mut self, number: u32, spent: u32) -> Vec<String> {
        relayed(self.0.with(number.into(), |request| request.closed(spent.into())))
    }

    /// Returns the startup message.
    pub fn started(&self, address: &str) -> String {
        self.0.started(address)
    }
}

fn relayed(effects: Vec<RelayEffect>) -> Vec<String> {
    effects.into_iter().flat_map(RelayEffect::words).collect()
}
