//! How to write the tools and members of a translated request in a format.

use super::choice::{CHOICE, PARALLEL_CALLS};

#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) form: Form,
    /// Member that contains the schema of a function.
    pub(crate) schema: &'static str,
    pub(crate) strict: Strict,
    /// True if a tool may have free-form input: the type `custom`.
    pub(crate) has_custom: bool,
    /// Member with the maximum number of output tokens.
    pub(crate) limit: &'static str,
    /// True if the API requires the maximum.
    pub(crate) needs_limit: bool,
    /// Member with the texts that end a reply.
    pub(crate) stop: Option<&'static str>,
    pub(crate) metadata: Metadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"name": …}`. The type may be `custom`; an entry with any other type is a tool of the API.
    Plain,
    /// `{"type": "function", "name": …}`
    Typed,
    /// `{"type": "function", "function": {"name": …}}`
    Wrapped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strict {
    /// The flag is neither read nor written.
    Unknown,
    /// The flag is read, but not written.
    Ignored,
    /// The flag is written if it is true.
    IfTrue,
    /// The flag is always written, because a function without the flag is strict.
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metadata {
    None,
    /// Only the API's own keys.
    Own,
    Any,
}

impl Metadata {
    pub(crate) fn fits(self, target: Metadata) -> bool {
        match target {
            Metadata::None => false,
            Metadata::Own => self == Metadata::Own,
            Metadata::Any => true,
        }
    }
}

/// Members that the writer of a translated request sets, in any format.
pub(crate) const WRITTEN: [&str; 7] =
    ["input", "messages", "system", "system_instruction", "tools", CHOICE, PARALLEL_CALLS];
