//! The command line, for the playground, which has one input and neither files nor servers.

use toolwire_command::{Command, Printed};
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

    /// Reports that the current need cannot be met.
    pub fn fail(&mut self, message: &str) {
        self.0.fail(message);
    }

    /// Runs a step of the work. Returns text to show immediately, or undefined at the end.
    pub fn step(&mut self) -> Option<String> {
        self.0.step()
    }

    /// Returns the result: standard output, standard error, and the exit code in digits.
    pub fn finish(self) -> Vec<String> {
        let Printed { stdout, stderr, exit_code, .. } = self.0.finish();
        Vec::from([stdout, stderr, exit_code.to_string()])
    }
}
