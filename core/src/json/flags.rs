//! The flags of a node. Each bit has one meaning, in every layer.

use core::ops::BitOr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u32);

/// The state of a node, which every change clears.
impl Flags {
    /// The node equals the input value that its origin identifies.
    pub(crate) const INTACT: Flags = Flags(1);
    /// The node is unchanged since [`Node::track`](super::Node::track) was called.
    pub(crate) const UNCHANGED: Flags = Flags(1 << 1);
    pub(crate) const STATE: Flags = Flags::INTACT.union(Flags::UNCHANGED);
}

/// Content of unparsed text, which `request::prefilter` finds.
impl Flags {
    /// A type or a key of deferred loading.
    pub(crate) const DEFERRAL: Flags = Flags(1 << 2);
    /// A role or key that only Chat Completions uses.
    pub(crate) const CHAT: Flags = Flags(1 << 3);
    /// A tool call.
    pub(crate) const CALL: Flags = Flags(1 << 4);
    /// An item of OpenAI Responses that contains definitions of tools.
    pub(crate) const CARRIER: Flags = Flags(1 << 5);
    /// The result of a call, if no other flag covers it.
    pub(crate) const RESULT: Flags = Flags(1 << 6);
    /// An item of OpenAI Responses that sets the response format.
    pub(crate) const FORMAT: Flags = Flags(1 << 7);
    /// A word of a rule about requests.
    pub(crate) const RULE: Flags = Flags(1 << 16);
    /// A string that contains only white space.
    pub(crate) const EMPTY: Flags = Flags(1 << 17);
    /// The role `system`.
    pub(crate) const SYSTEM: Flags = Flags(1 << 18);
    /// The flags of messages that may name a tool, in any API.
    pub(crate) const NAMES_TOOLS: Flags = Flags::DEFERRAL.union(Flags::CHAT).union(Flags::CALL);
}

/// A reference (the value of `$ref`), while `sanitize::resolve` resolves it.
impl Flags {
    /// Siblings apply, regardless of the draft.
    pub(crate) const APPLIES: Flags = Flags(1 << 8);
    /// The reference is resolved: it names a definition in the form that `inline` writes.
    pub(crate) const RESOLVED: Flags = Flags(1 << 9);
    pub(crate) const REFERENCE: Flags = Flags::APPLIES.union(Flags::RESOLVED);
}

/// How `sanitize::encode` has encoded a schema.
impl Flags {
    /// Strings hold any JSON.
    pub(crate) const HOLDS_ANYTHING: Flags = Flags(1 << 10);
    /// Strings hold a JSON object.
    pub(crate) const HOLDS_OBJECT: Flags = Flags(1 << 11);
    /// Strings hold integers of an `enum`.
    pub(crate) const HOLDS_INTEGER: Flags = Flags(1 << 12);
    /// Strings hold numbers of an `enum`.
    pub(crate) const HOLDS_NUMBER: Flags = Flags(1 << 13);
    /// Strings hold booleans of an `enum`.
    pub(crate) const HOLDS_BOOLEAN: Flags = Flags(1 << 14);
    /// The object requires a property that was optional before. It has no other required property.
    pub(crate) const REQUIRES_OPTIONAL: Flags = Flags(1 << 15);
    pub(crate) const ENCODING: Flags = Flags::HOLDS_ANYTHING
        .union(Flags::HOLDS_OBJECT)
        .union(Flags::HOLDS_INTEGER)
        .union(Flags::HOLDS_NUMBER)
        .union(Flags::HOLDS_BOOLEAN)
        .union(Flags::REQUIRES_OPTIONAL);
}

impl Flags {
    pub(crate) const NONE: Flags = Flags(0);

    pub(crate) const fn union(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    pub(crate) const fn intersection(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }

    pub(crate) const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        self.union(other)
    }
}
