//! The command line, `toolwire …`: one for all hosts, so that it is the same from npm and from PyPI.
//!
//! It touches no file, starts no process and prints nothing: it names what it needs, takes it, and returns what to
//! print. What is left to a host is input and output. It knows nothing of which host that is.

#![forbid(unsafe_code)]

mod arguments;
mod check;
mod defer;
mod dialects;
mod document;
mod error;
mod explain;
mod indent;
mod input;
mod matrix;
mod outcome;
mod restore;
mod sanitize;
mod table;
mod task;
mod terminal;

use clap::Parser as _;
use toolwire::json::{self, Node};

use self::{
    arguments::{CommandLine, Source},
    error::{CommandError, UNUSABLE},
    task::{Output, SourceText, Task},
    terminal::{shown_lines, Terminal},
};

/// Something that only the host can get.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// The bytes of a file.
    File(String),
    /// What comes on standard input, to its end.
    Input,
    /// The tools of an MCP server that the host starts with this command and asks over stdio: `{"tools": […]}` with the
    /// tools of all pages, as JSON.
    Server {
        /// The program and its arguments.
        command: Vec<String>,
        /// The variables of the environment that the server gets beside those that every program needs. A server is
        /// somebody else's program: what else is in the environment is not for it.
        environment: Vec<String>,
    },
}

impl Need {
    /// As words, for bindings: `file` and its name; `input`; or `server`, the number of variables, their names, and the
    /// command.
    pub fn words(self) -> Vec<String> {
        match self {
            Need::File(path) => Vec::from(["file".into(), path]),
            Need::Input => Vec::from(["input".into()]),
            Need::Server { command, environment } => {
                ["server".into(), environment.len().to_string()].into_iter().chain(environment).chain(command).collect()
            }
        }
    }
}

/// What a command printed, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Printed {
    /// For standard output: the result, and nothing else.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// 0: fine; 1: something was found; 2: wrong usage, or an input that cannot be read.
    pub exit_code: u8,
}

/// A command line that is being carried out.
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
    needs: Vec<(Need, String)>,
    inputs: Vec<SourceText>,
    state: State,
    /// The next step, and whether a line of progress stands on the terminal.
    step: usize,
    shows: bool,
}

enum State {
    /// Something is needed first.
    Waiting(Box<arguments::Command>),
    Working(Box<dyn Task>),
    Ended(Output),
}

/// Less than this, times the number of steps, and it is done before anybody has read of it.
const WORTH_SHOWING: usize = 1_000_000;
const INPUT: &str = "<stdin>";

impl Command {
    /// Takes what the host knows, as JSON: `{ arguments, stdin, stdout, stderr, columns, environment }`. The arguments
    /// are those after the program's name; the next three are booleans that say what is a terminal; then its width, and
    /// the variables `NO_COLOR`, `FORCE_COLOR` and `TERM` as they are set. All but the arguments can be left out.
    pub fn new(facts: &str) -> Command {
        let facts = json::read(facts).unwrap_or_default();
        let terminal = Terminal::read(&facts);
        let arguments = facts.get("arguments").and_then(Node::as_array).unwrap_or_default();
        let arguments = arguments.iter().filter_map(Node::as_text).map(|text| text.display().into_owned());
        let (state, needs) = match CommandLine::try_parse_from(["toolwire".to_string()].into_iter().chain(arguments)) {
            Ok(CommandLine { command }) => match needs(&command, &terminal) {
                Ok(needs) => (State::Waiting(Box::new(command)), needs),
                Err(error) => (State::Ended(unusable(&error, INPUT, &terminal)), Vec::new()),
            },
            Err(error) => (State::Ended(usage(&error)), Vec::new()),
        };
        let mut command = Command { terminal, needs, inputs: Vec::new(), state, step: 0, shows: false };
        command.begin();
        command
    }

    /// What is needed next, if anything.
    pub fn need(&self) -> Option<Need> {
        match self.state {
            State::Waiting(_) => self.needs.first().map(|(need, _)| need.clone()),
            _ => None,
        }
    }

    /// Gives what was needed.
    pub fn give(&mut self, bytes: &[u8]) {
        if self.need().is_none() {
            return;
        }
        let (_, source) = self.needs.remove(0);
        match decoded(bytes) {
            Ok(text) => self.inputs.push(SourceText { source, text }),
            Err(error) => self.state = State::Ended(unusable(&error, &source, &self.terminal)),
        }
        self.begin();
    }

    /// Takes the reason why what is needed cannot be had: in words, or as the name of the system's error (`ENOENT`).
    pub fn fail(&mut self, message: &str) {
        let Some((_, source)) = self.needs.first() else { return };
        let message = match message {
            "ENOENT" | "ENAMETOOLONG" if source.starts_with(['{', '[']) => {
                "expected the name of a file, found what looks like JSON: give that on standard input (`echo … | \
                    toolwire …`)"
                    .into()
            }
            "ENOENT" | "ENOTDIR" | "ENAMETOOLONG" => "expected a file, found none of that name".into(),
            "EISDIR" => "expected a file, found a folder".into(),
            "EACCES" | "EPERM" => "expected a file that may be read, found one that may not".into(),
            code if is_code(code) => format!("expected a file that can be read, found one that cannot ({code})"),
            other => other.to_string(),
        };
        self.state = State::Ended(unusable(&CommandError::new("", message), source, &self.terminal));
    }

    /// Does a part of the work. `None`: there is no more, and [`Self::finish`] gives the result. Otherwise what is to
    /// be written to standard error right now, which may be nothing.
    pub fn step(&mut self) -> Option<String> {
        let State::Working(task) = &mut self.state else { return self.cleared() };
        let (steps, at) = (task.steps(), self.step);
        if at >= steps {
            return self.cleared();
        }
        let source = self.inputs.first().map(|input| input.source.clone());
        if let Err(error) = task.step(at) {
            self.state = State::Ended(unusable(&error, &source.unwrap_or_default(), &self.terminal));
            return Some(String::new());
        }
        self.step += 1;
        if !self.terminal.progress || task.weight().saturating_mul(steps) < WORTH_SHOWING {
            return Some(String::new());
        }
        self.shows = true;
        Some(task::progress(self.step, steps, task.label(self.step)))
    }

    /// The result.
    pub fn finish(self) -> Printed {
        let source = self.inputs.first().map_or(INPUT, |input| input.source.as_str());
        let output = match self.state {
            State::Working(task) => {
                task.finish(&self.terminal).unwrap_or_else(|error| unusable(&error, source, &self.terminal))
            }
            State::Ended(output) => output,
            State::Waiting(_) => {
                unusable(&CommandError::new("", "expected an input, was given none"), source, &self.terminal)
            }
        };
        let Output { mut stdout, stderr, exit_code, is_json } = output;
        // Whoever pipes it somewhere gets every byte as it is.
        if is_json && self.terminal.width.is_some() {
            stdout = shown_lines(&stdout).into_owned();
        }
        Printed { stdout, stderr, exit_code }
    }

    /// What a server wrote to its standard error, as a terminal can show it.
    pub fn heard(log: &str) -> String {
        let mut log = shown_lines(log).into_owned();
        if !log.is_empty() && !log.ends_with('\n') {
            log.push('\n');
        }
        log
    }

    /// The last thing that is shown of progress: nothing. The result may go to the same terminal, and comes next.
    fn cleared(&mut self) -> Option<String> {
        std::mem::take(&mut self.shows).then(|| task::CLEAR.into())
    }

    /// Begins the work once everything is there.
    fn begin(&mut self) {
        if !self.needs.is_empty() || !matches!(self.state, State::Waiting(_)) {
            return;
        }
        let State::Waiting(command) = std::mem::replace(&mut self.state, State::Ended(Output::default())) else {
            return;
        };
        let sources: Vec<String> = self.inputs.iter().map(|input| input.source.clone()).collect();
        let mut inputs = std::mem::take(&mut self.inputs).into_iter();
        self.inputs = sources.into_iter().map(|source| SourceText { source, text: String::new() }).collect();
        self.state = match task(*command, &mut inputs) {
            Ok(task) => State::Working(task),
            Err(error) => {
                let source = self.inputs.first().map_or(INPUT, |input| input.source.as_str());
                State::Ended(unusable(&error, source, &self.terminal))
            }
        };
    }
}

fn task(
    command: arguments::Command,
    inputs: &mut dyn Iterator<Item = SourceText>,
) -> Result<Box<dyn Task>, CommandError> {
    let mut next = || inputs.next().ok_or_else(|| CommandError::new("", "expected an input, was given none"));
    Ok(match command {
        arguments::Command::Matrix(arguments) => Box::new(matrix::Matrix::new(arguments, next()?)?),
        arguments::Command::Check(arguments) => Box::new(check::Check::new(arguments, next()?)?),
        arguments::Command::Sanitize(arguments) => Box::new(sanitize::Sanitize { arguments, input: next()? }),
        arguments::Command::Explain(arguments) => Box::new(explain::Explain { arguments, input: next()? }),
        arguments::Command::Defer(arguments) => Box::new(defer::Defer { arguments, input: next()? }),
        arguments::Command::Restore(arguments) => {
            Box::new(restore::Restore { arguments, input: next()?, with: next()? })
        }
        arguments::Command::Dialects(arguments) => Box::new(dialects::Dialects { arguments }),
    })
}

/// What a command needs, and what messages call it.
fn needs(command: &arguments::Command, terminal: &Terminal) -> Result<Vec<(Need, String)>, CommandError> {
    let file = |file: &Option<String>| match file.as_deref() {
        Some("-") => Ok((Need::Input, INPUT.into())),
        Some(path) => Ok((Need::File(path.into()), path.into())),
        None if terminal.typed => Err(CommandError::new(
            "",
            "expected a file, a server after `--`, or something on standard input (`-` to type it), found none; see \
                `--help`",
        )),
        None => Ok((Need::Input, INPUT.to_string())),
    };
    let source = |source: &Source| match source.server.as_slice() {
        [] => file(&source.file),
        command => {
            let environment = source.environment.clone();
            Ok((Need::Server { command: command.into(), environment }, command.join(" ")))
        }
    };
    Ok(match command {
        arguments::Command::Matrix(arguments) => Vec::from([source(&arguments.source)?]),
        arguments::Command::Check(arguments) => Vec::from([source(&arguments.source)?]),
        arguments::Command::Sanitize(arguments) => Vec::from([source(&arguments.source)?]),
        arguments::Command::Explain(arguments) => Vec::from([source(&arguments.source)?]),
        arguments::Command::Defer(arguments) => Vec::from([file(&arguments.file)?]),
        arguments::Command::Restore(arguments) => {
            let with = (Need::File(arguments.with.clone()), arguments.with.clone());
            Vec::from([file(&arguments.file)?, with])
        }
        arguments::Command::Dialects(_) => Vec::new(),
    })
}

/// Is it the name of a system's error, as `EIO`?
fn is_code(message: &str) -> bool {
    message.starts_with('E')
        && message.chars().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_')
}

/// The end of a command that did not do what was asked.
fn unusable(error: &CommandError, source: &str, terminal: &Terminal) -> Output {
    let mut output = Output::default().with_exit_code(error.exit_code());
    output.note(&error.render(source, terminal.err));
    output
}

/// Help and version, which were asked for, or what is wrong with the command line.
fn usage(error: &clap::Error) -> Output {
    let text = error.render().to_string();
    if error.use_stderr() {
        let mut output = Output::default().with_exit_code(UNUSABLE);
        output.note(&text);
        output
    } else {
        Output::new(text)
    }
}

/// Text as it comes in files: UTF-8, or UTF-16 with a mark, as PowerShell writes it.
fn decoded(bytes: &[u8]) -> Result<String, CommandError> {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| pair.try_into().ok()).map(unit);
        let text = String::from_utf16(&units.collect::<Vec<u16>>()).ok().filter(|_| bytes.len() % 2 == 0);
        text.ok_or_else(|| CommandError::new("", "expected UTF-16 after its mark, found something else"))
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            std::str::from_utf8(bytes).map(String::from).map_err(|error| {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
                CommandError::new("", format!("expected UTF-8, found the byte `0x{byte:02x}` (line {line})"))
            })
        }
    }
}
