//! Why a command cannot go on, and the line that is printed then: `toolwire: source:line:pointer: code: message`.

use toolwire::Code;

use super::{
    naming::normal,
    terminal::{cut, shown, Paint},
};

/// What was asked was done, and nothing was found.
pub(crate) const FINE: u8 = 0;
/// Something was found: what the command looks for, or a tool that cannot be had.
pub(crate) const FOUND: u8 = 1;
/// The command line is wrong, or the input cannot be read.
pub(crate) const UNUSABLE: u8 = 2;

/// A longer pointer hides the message behind it. It is one into nothing but depth, or into names without an end.
const POINTER: usize = 300;

/// Why a command ends without a result.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Which input, if it is not the first.
    pub(crate) source: Option<String>,
    /// The file that it stands in, and its line there, if that is known. Boxed: errors are passed around a lot.
    pub(crate) file: Option<Box<(String, Option<usize>)>>,
    /// Where in the input: a line of JSON Lines.
    pub(crate) line: Option<usize>,
    /// Where in the input, or in its line.
    pub(crate) pointer: String,
    pub(crate) code: Option<Code>,
    pub(crate) message: String,
}

impl CommandError {
    /// An input that is not what the command reads.
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> CommandError {
        CommandError {
            source: None,
            file: None,
            line: None,
            pointer: pointer.into(),
            code: None,
            message: message.into(),
        }
    }

    /// An option, in camelCase, that cannot be as it is.
    pub(crate) fn option(name: &str, message: impl Into<String>) -> CommandError {
        CommandError { code: Some(Code::InvalidOption), ..CommandError::new(format!("/{name}"), message) }
    }

    /// An error of the library; its pointer is below `prefix`.
    pub(crate) fn from_core(error: &toolwire::Error, prefix: &str) -> CommandError {
        let pointer = format!("{prefix}{}", error.pointer());
        CommandError { code: Some(error.code()), ..CommandError::new(pointer, error.message()) }
    }

    /// The same about another input than the first.
    pub(crate) fn in_source(mut self, source: &str) -> CommandError {
        self.source = Some(source.into());
        self
    }

    /// The same in a file that people have, and maybe in a line of it.
    pub(crate) fn in_file(mut self, file: &str, line: Option<usize>) -> CommandError {
        self.file = Some(Box::new((normal(file), line.or(self.line))));
        self
    }

    pub(crate) fn in_line(mut self, line: usize) -> CommandError {
        self.line = Some(line);
        self
    }

    /// Whether the input was read and understood: then what is wrong with it is what was found.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.code {
            Some(
                Code::NotRepresentable
                | Code::TooLossy
                | Code::BudgetExceeded
                | Code::LimitExceeded
                | Code::ForcedDeferredTool
                | Code::InvalidSchema,
            ) => FOUND,
            _ => UNUSABLE,
        }
    }

    /// The line that is printed.
    pub(crate) fn render(&self, source: &str, paint: Paint) -> String {
        format!("{} {}\n", paint.bad("toolwire:"), self.line(source))
    }

    /// The same for other places than a terminal: where, and what was expected and found.
    pub(crate) fn line(&self, source: &str) -> String {
        let place = match self.code {
            Some(Code::InvalidOption | Code::UnknownOption | Code::UnknownDialect) => option(&self.pointer),
            _ => place(self.source.as_deref().unwrap_or(source), self.line, &self.pointer),
        };
        let code = self.code.map(|code| format!("{code}: ")).unwrap_or_default();
        format!("{place}: {code}{}", shown(&self.message))
    }
}

/// An option of the library as the command line spells it.
fn option(pointer: &str) -> String {
    let mut out = String::from("--");
    for one in pointer.trim_start_matches('/').chars() {
        if one.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(one.to_ascii_lowercase());
    }
    out
}

/// Where something stands, as editors and compilers write it: `tools.json:/3/inputSchema`,
/// `tools.jsonl:17:/inputSchema`.
pub(crate) fn place(source: &str, line: Option<usize>, pointer: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let pointer = if pointer.is_empty() { String::new() } else { format!(":{}", shown(&cut(pointer, POINTER))) };
    format!("{}{line}{pointer}", shown(source))
}
