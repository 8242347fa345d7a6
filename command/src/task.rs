//! What a command is while it runs: steps, so that a host can show progress between them, and then a result.

use toolwire::json::{self, Node};

use super::{
    error::{CommandError, FINE},
    indent::indented,
    need::Need,
    position::{positions, Position},
    terminal::Terminal,
    OutputFile,
};

/// A command at work.
pub(crate) trait Task: Send + Sync {
    /// How many steps it takes.
    fn steps(&self) -> usize {
        0
    }

    /// How much there is to be done in a step; what is little is done before anybody can read of it.
    fn weight(&self) -> usize {
        0
    }

    /// What a step is about.
    fn label(&self, _step: usize) -> &'static str {
        ""
    }

    /// Does a step.
    fn step(&mut self, _step: usize) -> Result<(), CommandError> {
        Ok(())
    }

    /// What it needs to go on, if it does: then it is given that, or told why it cannot be had.
    fn need(&self) -> Option<Need> {
        None
    }

    /// Takes what it needed.
    fn give(&mut self, _text: &str) -> Result<(), CommandError> {
        Ok(())
    }

    /// Takes the reason why it cannot be had: the name of a system's error, or words.
    fn fail(&mut self, _message: &str) -> Result<(), CommandError> {
        Ok(())
    }

    /// What it waits for, and for how many seconds at most.
    fn awaited(&self) -> Option<(String, u32)> {
        None
    }

    /// What comes of it, once all steps are done.
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError>;
}

/// A text that was read, and where it came from.
#[derive(Debug)]
pub(crate) struct SourceText {
    pub(crate) source: String,
    pub(crate) text: String,
    pub(crate) origin: Origin,
}

impl SourceText {
    /// An error of it, at its place.
    pub(crate) fn place(&self, error: CommandError) -> CommandError {
        let error = error.in_source(&self.source);
        match &self.origin {
            // What is not JSON has no places.
            Origin::File if error.line.is_none() && json::read(&self.text).is_ok() => {
                let position = positions(&self.text, [error.pointer.as_str()].into_iter()).pop();
                error.in_file(&self.source, position.map(|position| position.line))
            }
            Origin::File => error.in_file(&self.source, None),
            Origin::Server(Some((file, position))) => error.in_file(file, Some(position.line)),
            Origin::Server(None) | Origin::Stream => error,
        }
    }
}

/// Where a text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File,
    Stream,
    /// A server; where it is declared, if a file does that.
    Server(Option<(String, Position)>),
}

/// Kind of output, which decides how it is escaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text for people: untrusted text in it is already escaped.
    #[default]
    Text,
    /// Commands to a CI runner, one a line.
    Commands,
    /// A JSON document of ours: invisible characters are written as escapes, which mean the same.
    Document,
    /// JSON text of the library, which programs get as it is.
    Data,
}

/// What a command prints, and its exit code.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: u8,
    /// What standard output is.
    pub(crate) content: Content,
    /// Files to be written.
    pub(crate) files: Vec<OutputFile>,
}

impl Output {
    pub(crate) fn new(stdout: String) -> Output {
        Output { stdout, stderr: String::new(), exit_code: FINE, ..Output::default() }
    }

    /// A JSON document and the end of its line.
    pub(crate) fn json(document: &Node<'_>) -> Output {
        Output { content: Content::Document, ..Output::text(&json::write(document), false) }
    }

    /// JSON text and the end of its line.
    pub(crate) fn text(text: &str, compact: bool) -> Output {
        let mut stdout = if compact { String::from(text) } else { indented(text) };
        if !stdout.ends_with('\n') {
            stdout.push('\n');
        }
        Output { content: Content::Data, ..Output::new(stdout) }
    }

    pub(crate) fn with_exit_code(mut self, exit_code: u8) -> Output {
        self.exit_code = exit_code;
        self
    }

    /// Adds a line for standard error.
    pub(crate) fn note(&mut self, line: &str) {
        self.stderr.push_str(line);
        if !line.ends_with('\n') {
            self.stderr.push('\n');
        }
    }
}

/// A line that shows how far a task is, over the one before; for a terminal.
pub(crate) fn progress(done: usize, steps: usize, label: &str) -> String {
    const WIDTH: usize = 20;
    let full = (WIDTH * done).checked_div(steps).unwrap_or(WIDTH);
    let bar: String = (0..WIDTH).map(|at| if at < full { '#' } else { '-' }).collect();
    format!("{CLEAR}[{bar}] {done}/{steps} {label}")
}

/// Goes back to the start of the line and empties it.
pub(crate) const CLEAR: &str = "\r\u{1b}[2K";
