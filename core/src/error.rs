//! The error type, and the closed list of its codes.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use crate::report::Change;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// Kind of an error: a closed list of kebab-case names that are part of the API in every language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// Returns the name of the code, for example `invalid-json`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
        }
    };
}

codes! {
    /// The text is not JSON; the message contains line and column.
    InvalidJson = "invalid-json",
    /// A value of the caller's language that JSON cannot express: NaN, a cycle, a key that is not a string.
    InvalidValue = "invalid-value",
    /// Nesting deeper than [`crate::limits::MAX_DEPTH`].
    TooDeep = "too-deep",
    /// A value that is not a JSON Schema where a schema is expected.
    InvalidSchema = "invalid-schema",
    /// A value that is not a request of a known format.
    InvalidRequest = "invalid-request",
    /// No dialect has this name.
    UnknownDialect = "unknown-dialect",
    /// No option has this name.
    UnknownOption = "unknown-option",
    /// An option has a value of the wrong kind, or the dialect does not have the option.
    InvalidOption = "invalid-option",
    /// The dialect cannot express this schema.
    NotRepresentable = "not-representable",
    /// The result loses more than `allow` permits; [`Error::changes`] contains the changes.
    TooLossy = "too-lossy",
    /// The call needs more steps than `maxSteps` permits, or more nodes than `maxNodes`.
    BudgetExceeded = "budget-exceeded",
    /// A size limit of the dialect or of this library is exceeded.
    LimitExceeded = "limit-exceeded",
    /// `tool_choice` forces a tool that is deferred, and `forcedTool` is `"error"`.
    ForcedDeferredTool = "forced-deferred-tool",
    /// A tool search without a query.
    EmptyQuery = "empty-query",
    /// A tool search whose pattern is not a regular expression.
    InvalidPattern = "invalid-pattern",
    /// A tool search whose pattern is longer than the hosted search accepts.
    PatternTooLong = "pattern-too-long",
    /// A defect in this library, never the caller's fault: please report it.
    Internal = "internal",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Message of an internal error, before and after the description; npm/src/error.ts has the same text.
const INTERNAL: (&str, &str) = (
    "expected every call to end with a result or an error, found a defect in toolwire (",
    "); the next call works. Please report it with the name of the function, its options, an input that shows it \
     and the version, at https://github.com/toolwire/toolwire/issues, or privately (see SECURITY.md) if others \
     could make use of it",
);

/// An error: its kind, its position, and what was expected.
///
/// ```
/// use toolwire::{sanitize, Dialect, SanitizeOptions};
/// let error = sanitize("{\"type\": ", &SanitizeOptions::new(Dialect::CODEX)).unwrap_err();
/// assert_eq!(error.code().as_str(), "invalid-json");
/// assert_eq!(error.pointer(), "/type");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    code: Code,
    pointer: String,
    message: String,
    changes: Vec<Change>,
}

impl Error {
    /// Creates an error at a JSON Pointer (RFC 6901); `""` refers to the whole input.
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Error::create(code, pointer.into(), message.into())
    }

    #[cold]
    #[inline(never)]
    fn create(code: Code, pointer: String, message: String) -> Self {
        Error(Box::new(Parts { code, pointer, message, changes: Vec::new() }))
    }

    /// Creates the error that reports a defect in this library; bindings convert panics and traps into it. `found`
    /// describes the defect. The message does not contain the caller's input, because messages are written to logs.
    pub(crate) fn internal(found: &str) -> Self {
        Error::new(Code::Internal, "", [INTERNAL.0, found, INTERNAL.1].concat())
    }

    pub(crate) fn with_changes(mut self, changes: Vec<Change>) -> Self {
        self.0.changes = changes;
        self
    }

    pub(crate) fn at(mut self, pointer: String) -> Self {
        self.0.pointer = pointer;
        self
    }

    pub(crate) fn append_message(mut self, words: &str) -> Self {
        self.0.message.push_str(words);
        self
    }

    pub(crate) fn below(mut self, prefix: &str) -> Self {
        self.0.pointer.insert_str(0, prefix);
        self
    }

    /// Clears the pointer, for an error in JSON text within a string: no pointer can refer to a location inside a
    /// string.
    pub(crate) fn without_pointer(mut self) -> Self {
        self.0.pointer.clear();
        self
    }

    /// Returns the kind of the error.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the JSON Pointer to the error in the input, or in the options if they are wrong.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// Returns the human-readable message: what was expected, then what was found.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// If the code is `too-lossy`, returns every change that was needed; otherwise, returns an empty slice.
    pub fn changes(&self) -> &[Change] {
        &self.0.changes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { code, pointer, message, .. } = &*self.0;
        if pointer.is_empty() {
            write!(f, "{code}: {message}")
        } else {
            write!(f, "{code} at `{pointer}`: {message}")
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { code, pointer, message, changes } = &*self.0;
        let mut output = f.debug_struct("Error");
        output
            .field("code", code)
            .field("pointer", pointer)
            .field("message", message)
            .field("changes", changes)
            .finish()
    }
}

impl core::error::Error for Error {}
