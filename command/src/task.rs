//! A running command: its steps, and then its result. A host can show progress between steps.

use toolwire::internal::json::{self, Node};

use super::{
    document::indented,
    error::{CommandError, EXIT_SUCCESS},
    need::Need,
    position::{positions, Position},
    terminal::Terminal,
    OutputFile,
};

pub(crate) trait Task: Send + Sync {
    fn steps(&self) -> usize {
        0
    }

    /// Work of one step, in bytes of input. Progress is shown only if the work of all steps is large.
    fn weight(&self) -> usize {
        0
    }

    fn label(&self, _step: usize) -> &'static str {
        ""
    }

    fn step(&mut self, _step: usize) -> Result<(), CommandError> {
        Ok(())
    }

    /// Returns what the host has to provide next, such as a file or a reply of an API. `None` if the task can continue.
    /// The host answers with [`Self::give`] or [`Self::fail`].
    fn need(&self) -> Option<Need> {
        None
    }

    fn give(&mut self, _text: &str) -> Result<(), CommandError> {
        Ok(())
    }

    /// `message` is text, or the name of a system error.
    fn fail(&mut self, _message: &str) -> Result<(), CommandError> {
        Ok(())
    }

    /// Returns a human-readable name of the awaited host or server, and the timeout in seconds.
    fn awaited(&self) -> Option<(String, u32)> {
        None
    }

    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError>;
}

#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) source: String,
    pub(crate) text: String,
    pub(crate) origin: Origin,
    pub(crate) encoding: Encoding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// UTF-8 with a byte order mark.
    MarkedUtf8,
    Utf16,
}

impl SourceText {
    pub(crate) fn locate_error(&self, error: CommandError) -> CommandError {
        let error = error.in_source(&self.source);
        match &self.origin {
            // Text that is not JSON has no positions.
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

/// Origin of an input's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File,
    Stream,
    /// A server, with the file that declares it and the position in that file.
    Server(Option<(String, Position)>),
}

/// Kind of an output, which determines its escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// Human-readable text: untrusted text in it is already escaped.
    #[default]
    Text,
    /// Commands to a CI runner, one in each line.
    Commands,
    /// A JSON document of the command: invisible characters are escaped, which does not change its meaning.
    Document,
    /// JSON text of the library, which other programs must receive unchanged.
    Data,
}

#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: u8,
    pub(crate) content: Content,
    pub(crate) files: Vec<OutputFile>,
}

impl Output {
    pub(crate) fn new(stdout: String) -> Output {
        Output { stdout, stderr: String::new(), exit_code: EXIT_SUCCESS, ..Output::default() }
    }

    pub(crate) fn json(document: &Node<'_>) -> Output {
        let compact = false;
        Output { content: Content::Document, ..Output::data(&json::write(document), compact) }
    }

    pub(crate) fn data(text: &str, compact: bool) -> Output {
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

    pub(crate) fn add_note(&mut self, line: &str) {
        self.stderr.push_str(line);
        if !line.ends_with('\n') {
            self.stderr.push('\n');
        }
    }
}

pub(crate) fn progress(done: usize, steps: usize, label: &str) -> String {
    const WIDTH: usize = 20;
    let full = (WIDTH * done).checked_div(steps).unwrap_or(WIDTH);
    let bar: String = (0..WIDTH).map(|at| if at < full { '#' } else { '-' }).collect();
    format!("{CLEAR}[{bar}] {done}/{steps} {label}")
}

/// Moves to the start of the line and clears it.
pub(crate) const CLEAR: &str = "\r\u{1b}[2K";
