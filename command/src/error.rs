//! The error of a command, printed as `toolwire: source:line:pointer: code: message`. Also converts a host's error to a
//! human-readable message.

use toolwire::Code;

use super::{
    naming::normal,
    terminal::{cut, shown, Paint},
};

/// Exit code if nothing was found.
pub(crate) const EXIT_SUCCESS: u8 = 0;
/// Exit code if the command found something, or if a tool cannot be rewritten.
pub(crate) const EXIT_FOUND: u8 = 1;
/// Exit code if the command line is wrong, or the input cannot be read.
pub(crate) const EXIT_UNUSABLE: u8 = 2;

/// Maximum length of a printed pointer. A longer pointer would hide the message.
const POINTER: usize = 300;

/// Error that ends a command without a result.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Input that caused the error, unless it is the first.
    pub(crate) source: Option<String>,
    /// File that caused the error, with the line if it is known. Boxed to keep the error small.
    pub(crate) file: Option<Box<(String, Option<usize>)>>,
    /// Line of the input, for JSON Lines.
    pub(crate) line: Option<usize>,
    /// JSON Pointer into the input, or into its line.
    pub(crate) pointer: String,
    pub(crate) code: Option<Code>,
    pub(crate) message: String,
}

impl CommandError {
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

    /// `name` is in camelCase.
    pub(crate) fn option(name: &str, message: impl Into<String>) -> CommandError {
        CommandError { code: Some(Code::InvalidOption), ..CommandError::new(format!("/{name}"), message) }
    }

    pub(crate) fn from_core(error: &toolwire::Error, prefix: &str) -> CommandError {
        let pointer = format!("{prefix}{}", error.pointer());
        CommandError { code: Some(error.code()), ..CommandError::new(pointer, error.message()) }
    }

    pub(crate) fn in_source(mut self, source: &str) -> CommandError {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn in_file(mut self, file: &str, line: Option<usize>) -> CommandError {
        self.file = Some(Box::new((normal(file), line.or(self.line))));
        self
    }

    pub(crate) fn in_line(mut self, line: usize) -> CommandError {
        self.line = Some(line);
        self
    }

    /// If the input was read, the error is a finding about the input.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.code {
            Some(
                Code::NotRepresentable
                | Code::TooLossy
                | Code::BudgetExceeded
                | Code::LimitExceeded
                | Code::ForcedDeferredTool
                | Code::InvalidSchema,
            ) => EXIT_FOUND,
            _ => EXIT_UNUSABLE,
        }
    }

    pub(crate) fn render(&self, source: &str, paint: Paint) -> String {
        format!("{} {}\n", paint.bad("toolwire:"), self.line(source))
    }

    pub(crate) fn line(&self, source: &str) -> String {
        let location = match self.code {
            Some(Code::InvalidOption | Code::UnknownOption | Code::UnknownDialect) => option_of_pointer(&self.pointer),
            _ => format_location(self.source.as_deref().unwrap_or(source), self.line, &self.pointer),
        };
        let code = self.code.map(|code| format!("{code}: ")).unwrap_or_default();
        format!("{location}: {code}{}", shown(&self.message))
    }
}

/// Converts the pointer to an option of the library to an option of the command line.
fn option_of_pointer(pointer: &str) -> String {
    let mut out = String::from("--");
    for character in pointer.trim_start_matches('/').chars() {
        if character.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

/// Formats the location like editors and compilers do: `tools.json:/3/inputSchema`, `tools.jsonl:17:/inputSchema`.
pub(crate) fn format_location(source: &str, line: Option<usize>, pointer: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let pointer = if pointer.is_empty() { String::new() } else { format!(":{}", shown(&cut(pointer, POINTER))) };
    format!("{}{line}{pointer}", shown(source))
}

/// Returns true if the file does not exist, and a message for the host's error. `message` is text, or the name
/// of a system error (`ENOENT`).
pub(crate) fn host_error(message: &str, name: &str, what: &str) -> (bool, String) {
    let missing = matches!(message, "ENOENT" | "ENOTDIR");
    let words = match message {
        "ENOENT" | "ENAMETOOLONG" if is_json(name) => {
            "expected the name of a file, found what looks like JSON: pass JSON on standard input (`echo … | \
                toolwire …`)"
                .into()
        }
        "ENOENT" | "ENOTDIR" | "ENAMETOOLONG" => "expected a file, found none with that name".into(),
        "ENOTREG" => "expected a regular file, found a device, a pipe or a socket".into(),
        "EISDIR" => "expected a file, found a folder".into(),
        "EACCES" | "EPERM" => format!("expected a readable {what}, found one without read permission"),
        code if is_code(code) => format!("expected a readable {what}, found one that cannot be read ({code})"),
        other => other.to_string(),
    };
    (missing, words)
}

/// Returns true for JSON that was passed in place of a file name.
pub(crate) fn is_json(name: &str) -> bool {
    name.trim_start().starts_with(['{', '['])
}

/// Returns true for the name of a system error, such as `EIO`.
fn is_code(message: &str) -> bool {
    message.starts_with('E')
        && message
            .chars()
            .all(|character| character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_')
}
