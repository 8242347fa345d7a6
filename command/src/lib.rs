//! The command line `toolwire …`, which is the same from npm and from PyPI.
//!
//! This crate touches no file, starts no process and prints nothing: it names its needs, accepts their content, and
//! returns the output. Input and output are left to the host that embeds the crate.

#![forbid(unsafe_code)]

mod agents;
mod arguments;
mod baseline;
mod check;
mod clients;
mod config;
mod defer;
mod dialects;
mod diff;
mod document;
mod error;
mod explain;
mod finding;
mod fix;
mod formats;
mod gather;
mod glob;
mod hosted;
mod http;
mod in_code;
mod input;
mod install;
mod markup;
mod matrix;
mod naming;
mod need;
mod outcome;
mod position;
mod probe;
mod profile;
mod proxy;
mod reading;
mod relay;
mod report;
mod restore;
mod sanitize;
mod secrets;
mod servers;
mod table;
mod task;
mod terminal;
mod toml_file;
mod turns;
mod validate;

use clap::Parser as _;
use toolwire::internal::json::{self, Node};

use self::{
    arguments::CommandLine,
    error::{host_error, CommandError, EXIT_UNUSABLE},
    gather::{Gathering, Want, INPUT},
    task::{Content, Encoding, Output, Task},
    terminal::{cut, shown, shown_lines, without_commands, Terminal},
};
pub use self::{
    http::headers::Headers,
    need::{Key, Need, Request, Server, Transport},
    proxy::{
        discovered, mirrored, modern_params, Effect, Era, Listener, ListenerEffect, Outline, Proxy, DISCOVER,
        EVERY_PROGRAM, MODERN_ERRORS,
    },
    relay::{ContentEncoding, Reading, Relay, RelayEffect, RelayRequest, ReplyHead, RequestHead, Unsent, UpstreamHead},
    secrets::Secrets,
};

/// Output of a command, and its exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Printed {
    /// Standard output: the result, and nothing else.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// 0: success; 1: something was found; 2: wrong usage, or an unreadable input.
    pub exit_code: u8,
    /// Files to write.
    pub files: Vec<OutputFile>,
}

/// File to write. The host replaces it atomically, so that a full disk or the end of the program loses nothing. It
/// writes in place only to a device, a pipe, or a symbolic link without a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputFile {
    /// Path of the file.
    pub path: String,
    /// Content of the file.
    pub content: String,
    /// Suffix of the path that comes from the configuration, or a whole relative path; otherwise empty. The host
    /// refuses to write through a symbolic link in that part, whether it is a directory or the file itself.
    pub confined: String,
    /// If this path is not empty, the file gets the permissions of the file at this path. The write fails if the file
    /// at this path has changed since it was read. If this file is a backup of the file at this path and cannot be
    /// written, the file at this path is not written either.
    pub like: String,
    /// True if the file must not replace an input: if the host read a file at such a path in this run, even under
    /// another name, it writes none of the files.
    pub keeps_inputs: bool,
}

/// A running command line.
///
/// ```
/// use toolwire_command::{Command, Need};
/// let mut command = Command::new(r#"{"arguments": ["sanitize", "--dialect", "codex", "--compact", "schema.json"]}"#);
/// assert_eq!(command.need(), Some(Need::File("schema.json".into())));
/// command.give(br#"{"const": "celsius"}"#);
/// while command.step().is_some() {}
/// let printed = command.finish();
/// assert_eq!((printed.stdout.as_str(), printed.exit_code), ("{\"type\":\"string\",\"enum\":[\"celsius\"]}\n", 0));
/// ```
pub struct Command {
    terminal: Terminal,
    gathering: Gathering,
    /// Input that messages refer to by default: the first input.
    source: String,
    state: State,
    /// Index of the next step. `shows` is true if a progress line is on the terminal.
    step: usize,
    shows: bool,
}

enum State {
    Waiting(Box<arguments::Command>),
    Working(Box<dyn Task>),
    Ended(Output),
}

/// Minimum product of weight and steps for showing progress; a smaller task ends before a user could read the line.
const WORTH_SHOWING: usize = 1_000_000;

impl Command {
    /// Returns the options of all commands, for the man page and the completions of shells.
    #[doc(hidden)]
    pub fn options() -> clap::Command {
        <arguments::CommandLine as clap::CommandFactory>::command()
    }

    /// Starts a command line with the facts that the host knows, as JSON: `{ arguments, stdin, stdout, stderr, columns,
    /// date, environment, folder, program }`. The arguments are those after the program's name. `stdin`, `stdout` and
    /// `stderr` are true if the stream is a terminal, and `columns` is the width of the terminal. `date` has the form
    /// `2026-11-23`. `environment` contains the variables `NO_COLOR`, `FORCE_COLOR` and `TERM` that are set. `folder`
    /// is the absolute path of the working directory, and `program` is the command with which a client starts this
    /// program. All members except `arguments` are optional.
    pub fn new(facts: &str) -> Command {
        let facts = json::read(facts).unwrap_or_default();
        let terminal = Terminal::read(&facts);
        let arguments = facts.items_at("arguments");
        let arguments = arguments.iter().filter_map(Node::as_text).map(|text| text.display().into_owned());
        let (state, gathering) =
            match CommandLine::try_parse_from(["toolwire".to_string()].into_iter().chain(arguments)) {
                Ok(CommandLine { command }) => match Gathering::new(&command, &terminal) {
                    Ok(gathering) => (State::Waiting(Box::new(command)), gathering),
                    Err(error) => (State::Ended(unusable_output(&error, INPUT, &terminal)), Gathering::default()),
                },
                Err(error) => (State::Ended(usage_output(&error)), Gathering::default()),
            };
        let mut command = Command { terminal, gathering, source: INPUT.into(), state, step: 0, shows: false };
        command.begin();
        command
    }

    /// Describes what the commands read in an input, as JSON: `{ kind, alone, pointer, entries }`. `kind` is `tools`,
    /// `schemas` or `request`; `alone` is true for a single tool or schema. `pointer` is the location of the list,
    /// or null if each line is an entry. Each entry is `{ name, line?, pointer, format, schema }`, in which `schema` is
    /// the pointer from the entry to its schema. If the commands refuse the input, the result is `{ error }`, with
    /// `{ line, pointer, code, message }`.
    ///
    /// ```
    /// let read = toolwire_command::Command::reading(br#"{"result": {"tools": [{"name": "a"}]}, "jsonrpc": "2.0"}"#);
    /// assert!(read.contains(r#""pointer":"/result/tools/0""#), "{read}");
    /// ```
    pub fn reading(bytes: &[u8]) -> String {
        let read = decode(bytes).map_or_else(|error| reading::refusal(&error), |(text, _)| reading::reading(&text));
        json::write(&read)
    }

    /// Returns the outcome of a change of a report, which is JSON, as a word of the matrix; `None` if it is not a
    /// change.
    ///
    /// ```
    /// let change = r#"{"rule":"close-object","accepts":"closed","guidance":"same","encoded":false}"#;
    /// assert_eq!(toolwire_command::Command::outcome(change), Some("closed"));
    /// ```
    pub fn outcome(change: &str) -> Option<&'static str> {
        let change = json::read(change).ok()?;
        outcome::Outcome::of_report(&change).map(outcome::Outcome::as_str)
    }

    /// Returns the next need, if there is one.
    pub fn need(&self) -> Option<Need> {
        match &self.state {
            State::Waiting(_) => self.gathering.next().map(|want| want.need.clone()),
            State::Working(task) => task.need(),
            State::Ended(_) => None,
        }
    }

    /// Supplies the content of the next need.
    pub fn give(&mut self, bytes: &[u8]) {
        if let State::Working(task) = &mut self.state {
            let outcome = decode(bytes).and_then(|(text, _)| task.give(&text));
            let source = self.source.clone();
            return self.go_on(outcome, &source);
        }
        let (State::Waiting(_), Some(want)) = (&self.state, self.gathering.next()) else { return };
        let source = want.source.clone();
        let outcome = match decode(bytes) {
            Ok((text, encoding)) => self.gathering.give(text, encoding),
            Err(error) => self.gathering.fail(false, error),
        };
        self.go_on(outcome, &source);
    }

    /// Reports that the next need cannot be met: a message, or the name of the system's error (`ENOENT`).
    pub fn fail(&mut self, message: &str) {
        if let State::Working(task) = &mut self.state {
            let failed = task.fail(message);
            let source = self.source.clone();
            return self.go_on(failed, &source);
        }
        let (State::Waiting(_), Some(want)) = (&self.state, self.gathering.next()) else { return };
        let source = want.source.clone();
        let what = if matches!(want.need, Need::Folder(_)) { "folder" } else { "file" };
        let name = if let Need::File(path) | Need::RegularFile(path) = &want.need { path } else { &source };
        let (missing, message) = host_error(message, name, what);
        let failed = self.gathering.fail(missing, CommandError::new("", message));
        self.go_on(failed, &source);
    }

    /// Returns the text that a host writes to standard error once a second while it waits for a server or an API.
    /// `seconds` counts up, and is 0 when the wait ends.
    pub fn waiting(&self, seconds: u32) -> String {
        let awaited = match &self.state {
            State::Working(task) => task.awaited(),
            _ => self.gathering.next().and_then(|Want { need, source, .. }| match need {
                Need::Server(server) => Some((cut(&shown(source), 50).into_owned(), server.timeout)),
                _ => None,
            }),
        };
        match (awaited.filter(|_| self.terminal.progress), seconds) {
            (None, _) => String::new(),
            (Some(_), 0) => task::CLEAR.into(),
            (Some((what, limit)), seconds) => format!("{}waiting for {what}: {seconds} of {limit} s", task::CLEAR),
        }
    }

    /// Executes the next step. Returns text for standard error, which may be empty, or `None` if the work is done and
    /// [`Self::finish`] returns the result.
    pub fn step(&mut self) -> Option<String> {
        let State::Working(task) = &mut self.state else { return self.clear_progress() };
        let (steps, at) = (task.steps(), self.step);
        if at >= steps {
            return self.clear_progress();
        }
        if let Err(error) = task.step(at) {
            self.state = State::Ended(unusable_output(&error, &self.source, &self.terminal));
            return Some(String::new());
        }
        self.step += 1;
        if !self.terminal.progress || task.weight().saturating_mul(steps) < WORTH_SHOWING {
            return Some(String::new());
        }
        self.shows = true;
        Some(task::progress(self.step, steps, task.label(self.step)))
    }

    /// Returns the result.
    pub fn finish(self) -> Printed {
        let source = self.source.as_str();
        let output = match self.state {
            State::Working(task) => {
                task.finish(&self.terminal).unwrap_or_else(|error| unusable_output(&error, source, &self.terminal))
            }
            State::Ended(output) => output,
            State::Waiting(_) => {
                unusable_output(&CommandError::new("", "expected an input, found none"), source, &self.terminal)
            }
        };
        let Output { mut stdout, stderr, exit_code, content, mut files } = output;
        // A program that reads data from a pipe gets every byte unchanged.
        if content == Content::Document || content == Content::Data && self.terminal.width.is_some() {
            stdout = shown_lines(&stdout).into_owned();
        }
        let stdout = without_commands(&stdout, content == Content::Commands).into_owned();
        let stderr = without_commands(&stderr, false).into_owned();
        for file in files.iter_mut().filter(|file| file.like.is_empty()) {
            file.content = escaped_lines(&file.content);
        }
        Printed { stdout, stderr, exit_code, files }
    }

    /// Escapes the standard error of a server for a terminal.
    pub fn escape_log(log: &str) -> String {
        let mut log = escaped_lines(log);
        if !log.is_empty() && !log.ends_with('\n') {
            log.push('\n');
        }
        log
    }

    /// Clears the progress once, because the result may also go to the terminal.
    fn clear_progress(&mut self) -> Option<String> {
        std::mem::take(&mut self.shows).then(|| task::CLEAR.into())
    }

    fn go_on(&mut self, outcome: Result<(), CommandError>, source: &str) {
        match outcome {
            Ok(()) => self.begin(),
            Err(error) => self.state = State::Ended(unusable_output(&error, source, &self.terminal)),
        }
    }

    fn begin(&mut self) {
        if self.gathering.next().is_some() || !matches!(self.state, State::Waiting(_)) {
            return;
        }
        let State::Waiting(command) = std::mem::replace(&mut self.state, State::Ended(Output::default())) else {
            return;
        };
        let gathered = std::mem::take(&mut self.gathering);
        if let Some(input) = gathered.inputs.first() {
            self.source = input.source.clone();
        }
        self.state = match gathered.require_named_servers().and_then(|()| new_task(*command, gathered, &self.terminal))
        {
            Ok(task) => State::Working(task),
            Err(error) => State::Ended(unusable_output(&error, &self.source, &self.terminal)),
        };
    }
}

fn new_task(
    command: arguments::Command,
    gathered: Gathering,
    terminal: &Terminal,
) -> Result<Box<dyn Task>, CommandError> {
    let none = || CommandError::new("", "expected an input, found none");
    let command = match command {
        arguments::Command::Check(arguments) => return Ok(Box::new(check::Check::new(arguments, gathered)?)),
        arguments::Command::Diff(arguments) => return Ok(Box::new(diff::Diff::new(arguments, gathered)?)),
        arguments::Command::Matrix(arguments) => return Ok(Box::new(matrix::Matrices::new(&arguments, gathered)?)),
        arguments::Command::Probe(arguments) => return Ok(Box::new(probe::Probe::new(arguments, gathered)?)),
        arguments::Command::Proxy(arguments) if arguments.edits() => {
            return Ok(Box::new(install::Install::new(&arguments, terminal)?));
        }
        arguments::Command::Proxy(arguments) => return Ok(Box::new(proxy::run(&arguments, gathered)?)),
        arguments::Command::Relay(arguments) => return Ok(Box::new(relay::run(&arguments, gathered)?)),
        arguments::Command::Report(arguments) => {
            return Ok(Box::new(report::Report::new(arguments, gathered, terminal)?));
        }
        arguments::Command::Run(arguments) => return Ok(Box::new(relay::clients::run(arguments, gathered)?)),
        command => command,
    };
    let Gathering { inputs, with, .. } = gathered;
    let mut inputs = inputs.into_iter();
    let mut next = || inputs.next().ok_or_else(none);
    Ok(match command {
        arguments::Command::Sanitize(arguments) => Box::new(sanitize::Sanitize { arguments, input: next()? }),
        arguments::Command::Explain(arguments) => Box::new(explain::Explain { arguments, input: next()? }),
        arguments::Command::Defer(arguments) if arguments.turns => Box::new(turns::Turns::new(arguments, next()?)?),
        arguments::Command::Defer(arguments) => Box::new(defer::Defer { arguments, input: next()? }),
        arguments::Command::Restore(arguments) => {
            Box::new(restore::Restore { arguments, input: next()?, with: with.ok_or_else(none)? })
        }
        arguments::Command::Validate(arguments) => {
            Box::new(validate::Validate { arguments, input: next()?, schema: with.ok_or_else(none)? })
        }
        arguments::Command::Dialects(arguments) => Box::new(dialects::Dialects { arguments }),
        arguments::Command::Check(_)
        | arguments::Command::Diff(_)
        | arguments::Command::Matrix(_)
        | arguments::Command::Probe(_)
        | arguments::Command::Proxy(_)
        | arguments::Command::Relay(_)
        | arguments::Command::Report(_)
        | arguments::Command::Run(_) => return Err(none()),
    })
}

fn unusable_output(error: &CommandError, source: &str, terminal: &Terminal) -> Output {
    let mut output = Output::default().with_exit_code(error.exit_code());
    output.add_note(&error.render(source, terminal.err));
    output
}

fn usage_output(error: &clap::Error) -> Output {
    // The message repeats arguments, which may be names of files.
    let text = shown_lines(&error.render().to_string()).into_owned();
    if error.use_stderr() {
        let mut output = Output::default().with_exit_code(EXIT_UNUSABLE);
        output.add_note(&text);
        output
    } else {
        Output::new(text)
    }
}

fn escaped_lines(text: &str) -> String {
    without_commands(&shown_lines(text), false).into_owned()
}

/// Decodes a file: UTF-8, or UTF-16 with a byte order mark, which PowerShell writes.
fn decode(bytes: &[u8]) -> Result<(String, Encoding), CommandError> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| pair.try_into().ok()).map(unit);
        let text = String::from_utf16(&units.collect::<Vec<u16>>()).ok().filter(|_| bytes.len() % 2 == 0);
        let text = text.map(|text| (text, Encoding::Utf16));
        text.ok_or_else(|| CommandError::new("", "expected UTF-16 after its byte order mark, found something else"))
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => {
            let (bytes, encoding) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
                Some(rest) => (rest, Encoding::MarkedUtf8),
                None => (bytes, Encoding::Utf8),
            };
            std::str::from_utf8(bytes).map(|text| (text.into(), encoding)).map_err(|error| {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
                CommandError::new("", format!("expected UTF-8, found the byte `0x{byte:02x}` (line {line})"))
            })
        }
    }
}
