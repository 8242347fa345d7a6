//! The command line, for a host that has files, processes and a terminal.

use toolwire_command::{Command, Effect, Listener, ListenerEffect, Printed, Proxy, Relay, RelayEffect};
use wasm_bindgen::prelude::wasm_bindgen;

/// A command line that is being carried out: see `toolwire_command::Command`.
#[wasm_bindgen]
pub struct CommandLine(Command);

#[wasm_bindgen]
impl CommandLine {
    /// Takes what the host knows, as JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(facts: &str) -> CommandLine {
        CommandLine(Command::new(facts))
    }

    /// What is needed next, as words; undefined if nothing is.
    pub fn need(&self) -> Option<Vec<String>> {
        self.0.need().map(|need| need.words())
    }

    /// Gives what was needed.
    pub fn give(&mut self, bytes: &[u8]) {
        self.0.give(bytes);
    }

    /// What a server wrote to its standard error, as a terminal can show it.
    pub fn heard(log: &str) -> String {
        Command::heard(log)
    }

    /// Says why what is needed cannot be had.
    pub fn fail(&mut self, message: &str) {
        self.0.fail(message);
    }

    /// Does a part of the work; undefined at its end, otherwise what is to be shown right now.
    pub fn step(&mut self) -> Option<String> {
        self.0.step()
    }

    /// What is to be shown while a server is waited for: so many seconds by now, or none any more.
    pub fn waiting(&self, seconds: u32) -> String {
        self.0.waiting(seconds)
    }

    /// The result: what goes to standard output, to standard error, the exit code in digits, and then the files to
    /// write: the path of each, its content, the suffix of the path in which no link is followed, and the file whose
    /// permissions it gets.
    pub fn finish(self) -> Vec<String> {
        let Printed { stdout, stderr, exit_code, files, .. } = self.0.finish();
        let files = files.into_iter().flat_map(|file| [file.path, file.content, file.confined, file.like]);
        [stdout, stderr, exit_code.to_string()].into_iter().chain(files).collect()
    }
}

/// A connection of `toolwire proxy`: see `toolwire_command::Proxy`. What it returns is what there is to do: for each
/// thing its kind, a number or an empty word, and a text.
#[wasm_bindgen]
pub struct ProxyConnection(Proxy);

#[wasm_bindgen]
impl ProxyConnection {
    /// Takes the settings that `CommandLine.need` gave.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> ProxyConnection {
        ProxyConnection(Proxy::new(settings))
    }

    /// Takes a message of the client.
    pub fn client(&mut self, message: &[u8]) -> Vec<String> {
        words(self.0.client(message))
    }

    /// Takes a message of a server.
    pub fn server(&mut self, server: usize, message: &[u8]) -> Vec<String> {
        words(self.0.server(server, message))
    }

    /// A server has ended.
    pub fn ended(&mut self, server: usize, why: &str) -> Vec<String> {
        words(self.0.ended(server, why))
    }

    /// A server was started again.
    pub fn started(&mut self, server: usize) -> Vec<String> {
        words(self.0.started(server))
    }

    /// The time of an alarm is over.
    pub fn alarm(&mut self, alarm: u32) -> Vec<String> {
        words(self.0.alarm(alarm.into()))
    }

    /// A message could not be handed to a server.
    pub fn undelivered(&mut self, server: usize, message: &[u8], why: &str) -> Vec<String> {
        words(self.0.undelivered(server, message, why))
    }

    /// Number of client requests without an answer.
    pub fn unanswered(&self) -> usize {
        self.0.unanswered()
    }

    /// A message of the client was too long.
    #[wasm_bindgen(js_name = tooLong)]
    pub fn too_long(&mut self, bytes: usize) -> Vec<String> {
        words(self.0.too_long(bytes))
    }
}

fn words(effects: Vec<Effect>) -> Vec<String> {
    effects.into_iter().flat_map(Effect::words).collect()
}

/// The sessions of `toolwire proxy --listen`: see `toolwire_command::Listener`. What it returns is what there is to do:
/// for each thing its kind, JSON or an empty word, and a text.
#[wasm_bindgen]
pub struct ProxyListener(Listener);

#[wasm_bindgen]
impl ProxyListener {
    /// Takes the settings that `CommandLine.need` gave, and the token, if one is demanded.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, token: Option<String>) -> ProxyListener {
        ProxyListener(Listener::new(settings, token.as_deref()))
    }

    /// Takes the head of a request.
    pub fn request(&mut self, number: u32, head: &str) -> Vec<String> {
        listened(self.0.request(number.into(), head))
    }

    /// Takes the body of a request.
    pub fn body(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        listened(self.0.body(number.into(), body))
    }

    /// The body of a request could not be read.
    pub fn unread(&mut self, number: u32, status: u16, why: &str) -> Vec<String> {
        listened(self.0.unread(number.into(), status, why))
    }

    /// A request is over.
    pub fn closed(&mut self, number: u32) -> Vec<String> {
        listened(self.0.closed(number.into()))
    }

    /// Takes a message that the proxy of a session has for its client.
    pub fn message(&mut self, session: u32, message: &[u8]) -> Vec<String> {
        listened(self.0.message(session.into(), message))
    }

    /// The proxy of a session has ended.
    pub fn ended(&mut self, session: u32, why: &str) -> Vec<String> {
        listened(self.0.ended(session.into(), why))
    }

    /// The time of an alarm is over.
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

/// The state of `toolwire relay`: see `toolwire_command::Relay`. What it returns is what there is to do: for each thing
/// its kind, JSON or an empty word, and a text.
#[wasm_bindgen]
pub struct RelayState(Relay);

#[wasm_bindgen]
impl RelayState {
    /// Takes the settings that `CommandLine.need` gave, and the token, if one is demanded.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, token: Option<String>) -> RelayState {
        RelayState(Relay::new(settings, token.as_deref()))
    }

    /// Takes the head of a request.
    pub fn request(&mut self, number: u32, head: &str) -> Vec<String> {
        relayed(self.0.request(number.into(), head))
    }

    /// Takes the body of a request.
    pub fn body(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        relayed(self.0.body(number.into(), body))
    }

    /// The body of a request could not be read.
    pub fn unread(&mut self, number: u32, status: u16, why: &str) -> Vec<String> {
        relayed(self.0.unread(number.into(), status, why))
    }

    /// Takes the head of a reply.
    pub fn reply(&mut self, number: u32, status: u16, headers: &str) -> Vec<String> {
        relayed(self.0.reply(number.into(), status, headers))
    }

    /// Takes the whole body of a reply.
    pub fn whole(&mut self, number: u32, body: &[u8]) -> Vec<String> {
        relayed(self.0.whole(number.into(), body))
    }

    /// Takes a piece of a reply that is a stream.
    pub fn piece(&mut self, number: u32, piece: &[u8]) -> Vec<String> {
        relayed(self.0.piece(number.into(), piece))
    }

    /// A reply that is a stream has ended.
    pub fn end(&mut self, number: u32) -> Vec<String> {
        relayed(self.0.end(number.into()))
    }

    /// An upstream did not answer, or not to the end.
    pub fn failed(&mut self, number: u32, is_late: bool, why: &str) -> Vec<String> {
        relayed(self.0.failed(number.into(), is_late, why))
    }

    /// A request is over.
    pub fn closed(&mut self, number: u32, spent: u32) -> Vec<String> {
        relayed(self.0.closed(number.into(), spent.into()))
    }

    /// Returns the startup message.
    pub fn started(&self, address: &str) -> String {
        self.0.started(address)
    }
}

fn relayed(effects: Vec<RelayEffect>) -> Vec<String> {
    effects.into_iter().flat_map(RelayEffect::words).collect()
}
