//! The command line, for a host that has files, processes and a terminal.

use toolwire_command::{Command, Effect, Printed, Proxy};
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
    /// write: the path of each, its content, and the suffix of the path in which no link is followed.
    pub fn finish(self) -> Vec<String> {
        let Printed { stdout, stderr, exit_code, files, .. } = self.0.finish();
        let files = files.into_iter().flat_map(|file| [file.path, file.content, file.confined]);
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
