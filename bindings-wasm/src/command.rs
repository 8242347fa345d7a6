//! The command line, for a host that has files, processes and a terminal.

use toolwire_command::{Command, Printed};
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
