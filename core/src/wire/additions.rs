//! Messages that add tools in the middle of a conversation.

/// How the history of a format adds tools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Additions {
    /// It does not add definitions.
    None,
    /// A system message lists tools.
    System,
    /// An item of these types lists tools.
    Items(&'static [&'static str]),
    /// The result of the client's search lists tools in this member; the result of a hosted search has this `type`.
    Results { list: &'static str, hosted: &'static str },
    /// A block of a system message adds a tool.
    Blocks,
    /// A block of a system message adds a tool of the list again, or removes one.
    Listed,
}

impl Additions {
    /// Returns the member of a message that lists the added tools, if blocks do not add them.
    pub(crate) const fn list(self) -> &'static str {
        match self {
            Additions::Results { list, .. } => list,
            _ => "tools",
        }
    }
}
