//! What tools and members of other formats become in a format.

use super::choice::{CHOICE, PARALLEL_CALLS};

/// How a request of another format is written in this one, and how its own tools are read for another.
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

/// The form of a function in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"name": …}`. The type may be `custom`, and any other one is a tool of the API.
    Plain,
    /// `{"type": "function", "name": …}`
    Typed,
    /// `{"type": "function", "function": {"name": …}}`
    Wrapped,
}

/// The flag `strict` of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strict {
    /// Not written, and not read.
    Unknown,
    /// Read, but not written.
    Ignored,
    /// Written if it is true.
    IfTrue,
    /// Written with any value, because a function without it is strict.
    Always,
}

/// The member `metadata` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// The API has none.
    None,
    /// Only the API's own keys.
    Own,
    Any,
}

impl Metadata {
    /// Returns true if the metadata of a format fits into another one.
    pub(crate) fn fits(self, target: Metadata) -> bool {
        match target {
            Metadata::None => false,
            Metadata::Own => self == Metadata::Own,
            Metadata::Any => true,
        }
    }
}

/// Members of a translated request that its writer has set, in any format.
pub(crate) const WRITTEN: [&str; 7] =
    ["input", "messages", "system", "system_instruction", "tools", CHOICE, PARALLEL_CALLS];
