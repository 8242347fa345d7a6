//! How references may be written, and where recursion may stand.

use crate::schema::keyword::Keywords;

/// How references may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefRule {
    /// References may be written in any way that leads to a schema of the document: pointers, anchors, identifiers.
    /// `false`: only as the next three fields say.
    pub(crate) anywhere: bool,
    /// References may be written `#/$defs/name`, with the table at the root. `false`: not at all.
    pub(crate) to_defs: bool,
    /// References may be written `#/definitions/name`, with the table at the root.
    pub(crate) to_definitions: bool,
    /// References may be written `#`.
    pub(crate) to_root: bool,
    /// What is no pointer is taken for something else, so that the form alone is no reason to refuse; a pointer to
    /// another place than the table has no target.
    pub(crate) takes_other_forms: bool,
    /// A definition may be `true`.
    pub(crate) to_true: bool,
    /// Names of definitions may be written in the escapes of pointers.
    pub(crate) escapes: bool,
    /// The keywords that may stand beside `$ref`, whatever its target says.
    pub(crate) beside: Keywords,
    /// Any other keyword beside it is refused; `false`: others are only not written there.
    pub(crate) nothing_else_beside: bool,
    /// No `type` beside it, and no `anyOf` where the target has a type.
    pub(crate) no_type_beside: bool,
    /// No keyword but annotations both beside it and in its target (or in a branch of its target's `anyOf`).
    pub(crate) no_shared_keywords: bool,
    /// Where recursion may stand.
    pub(crate) recursion: Recursion,
    /// A reference may not be the direct value of these keywords, nor a direct member of these tables.
    pub(crate) not_directly_under: Keywords,
    /// Wherever an object holds the key `$ref`, in whatever JSON, it counts as a reference, and it may stand only as
    /// the value of one of these keywords or as a member of it; `None`: only schemas hold references. The root and the
    /// values right below it are free.
    pub(crate) only_under: Option<Keywords>,
    /// What is said between a reference and its target, where it stands and whether it can end is not looked at below
    /// these.
    pub(crate) unjudged_under: Keywords,
    /// Pointer escapes are not decoded, so no definition's name, nor any key inside a definition, may need one.
    pub(crate) no_slash_in_definitions: bool,
    /// References are pointers from `#/` on, followed as they stand: no anchor, no identifier, no escape, not the root.
    pub(crate) plain_pointers: bool,
    /// Which of the accepted references are inlined where `refs` does not say.
    pub(crate) inlining: Inlining,
}

impl RefRule {
    /// Any reference that leads somewhere in the document.
    pub(crate) const OPEN: RefRule = RefRule {
        anywhere: true,
        to_defs: true,
        to_definitions: true,
        to_root: true,
        takes_other_forms: false,
        to_true: false,
        escapes: false,
        beside: Keywords::ALL,
        nothing_else_beside: true,
        no_type_beside: false,
        no_shared_keywords: false,
        recursion: Recursion::Free,
        not_directly_under: Keywords::NONE,
        only_under: None,
        unjudged_under: Keywords::NONE,
        no_slash_in_definitions: false,
        plain_pointers: false,
        inlining: Inlining::None,
    };

    /// Is it by the rules of JSON Schema that references find their targets?
    pub(crate) const fn resolves(&self) -> bool {
        self.anywhere || !matches!(self.recursion, Recursion::Free | Recursion::MustEnd)
    }

    /// No references at all.
    pub(crate) const NONE: RefRule = RefRule {
        anywhere: false,
        to_defs: false,
        to_definitions: false,
        to_root: false,
        recursion: Recursion::Refused,
        inlining: Inlining::All,
        ..RefRule::OPEN
    };
}

/// Which references are inlined although they are accepted. What is recursive stays, if that is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inlining {
    /// None.
    None,
    /// All, as long as the copies stay few: a model reads every one of them. Beyond that, what is used more than once
    /// stays a definition.
    Small,
    /// All: not every model behind the API follows references, or they are refused where most of them stand.
    All,
}

/// Where recursion may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recursion {
    /// Anywhere.
    Free,
    /// Where an instance can end, by the reading of the validator that refuses it elsewhere.
    MustEnd,
    /// Only through properties that are not required.
    OnlyOptional,
    /// Nowhere: it is unrolled a few levels.
    Refused,
}
