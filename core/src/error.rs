//! The one error type, and the closed list of its codes.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use crate::report::Change;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// What went wrong, as a closed list of kebab-case names that are part of the API in every language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as callers see it, for instance `invalid-json`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
        }
    };
}

codes! {
    /// The text is not JSON; the message has line and column.
    InvalidJson = "invalid-json",
    /// A value of the caller's language that JSON cannot say: NaN, a cycle, a key that is no string.
    InvalidValue = "invalid-value",
    /// More nesting than [`crate::limits::MAX_DEPTH`].
    TooDeep = "too-deep",
    /// Not a JSON Schema where one is needed.
    InvalidSchema = "invalid-schema",
    /// Not a request of a known format.
    InvalidRequest = "invalid-request",
    /// No dialect of that name.
    UnknownDialect = "unknown-dialect",
    /// No option of that name.
    UnknownOption = "unknown-option",
    /// An option's value is of the wrong kind, or this dialect does not have the option.
    InvalidOption = "invalid-option",
    /// The dialect cannot say this schema at all.
    NotRepresentable = "not-representable",
    /// The result loses more than `allow` permits; [`Error::changes`] says what.
    TooLossy = "too-lossy",
    /// More nodes would be produced than `maxNodes` permits.
    BudgetExceeded = "budget-exceeded",
    /// A size limit of the dialect (or of this library) cannot be met.
    LimitExceeded = "limit-exceeded",
    /// `tool_choice` forces a tool that is deferred, and `forcedTool` is `"error"`.
    ForcedDeferredTool = "forced-deferred-tool",
    /// A tool search without a query.
    EmptyQuery = "empty-query",
    /// A tool search whose pattern is no regular expression.
    InvalidPattern = "invalid-pattern",
    /// A tool search whose pattern is longer than the hosted search takes.
    PatternTooLong = "pattern-too-long",
    /// A defect of this library, never the caller's doing: please report it.
    Internal = "internal",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an internal error says around what was found: npm/src/error.ts has the same words.
const INTERNAL: (&str, &str) = (
    "expected every call to end with a result or an error, found a defect of toolwire (",
    "); the next call works. Please report it with the name of the function, its options, an input that shows it \
     and the version, at https://github.com/toolwire/toolwire/issues, or as SECURITY.md says if others could make use \
     of it",
);

/// An error: what went wrong, where, and what was expected.
///
/// ```
/// let error = toolwire::sanitize("{\"type\": ", &toolwire::SanitizeOptions::new("codex")).unwrap_err();
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
    /// An error at a JSON Pointer (RFC 6901); `""` is the whole input.
    pub fn new(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Error::made(code, pointer.into(), message.into())
    }

    #[cold]
    #[inline(never)]
    fn made(code: Code, pointer: String, message: String) -> Self {
        Error(Box::new(Parts { code, pointer, message, changes: Vec::new() }))
    }

    /// The error of a defect of this library: for bindings, which turn a panic or a trap into it. `found` is what is
    /// known of it. The caller's input is not in the message, because messages end up in logs.
    pub fn internal(found: &str) -> Self {
        Error::new(Code::Internal, "", [INTERNAL.0, found, INTERNAL.1].concat())
    }

    /// The same error, carrying the changes that explain it.
    pub fn with_changes(mut self, changes: Vec<Change>) -> Self {
        self.0.changes = changes;
        self
    }

    /// The same error at another pointer.
    pub(crate) fn at(mut self, pointer: String) -> Self {
        self.0.pointer = pointer;
        self
    }

    /// The same error, its pointer moved below `prefix`.
    pub(crate) fn below(mut self, prefix: &str) -> Self {
        self.0.pointer.insert_str(0, prefix);
        self
    }

    /// The same error of what is read from a text, into which no pointer leads: at the text.
    pub(crate) fn of_text(mut self) -> Self {
        self.0.pointer.clear();
        self
    }

    /// What kind of error this is.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Where in the input, as a JSON Pointer. For options: where in the options.
    pub fn pointer(&self) -> &str {
        &self.0.pointer
    }

    /// For people: what was expected, then what was found.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// With `too-lossy`: every change that was needed. Otherwise empty.
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
        let mut shown = f.debug_struct("Error");
        shown.field("code", code).field("pointer", pointer).field("message", message).field("changes", changes).finish()
    }
}

impl core::error::Error for Error {}
