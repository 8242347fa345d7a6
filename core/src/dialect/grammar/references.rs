//! Rules for references and recursion.

use crate::schema::keyword::Keywords;

/// Rules for references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefRule {
    /// References may have any form that resolves to a schema of the document: pointers, anchors, identifiers. If
    /// false, only the forms that the next three fields allow.
    pub(crate) anywhere: bool,
    /// References may have the form `#/$defs/name`, with `$defs` at the root. If false, this form is refused.
    pub(crate) to_defs: bool,
    /// References may have the form `#/definitions/name`, with `definitions` at the root.
    pub(crate) to_definitions: bool,
    /// References may have the form `#`.
    pub(crate) to_root: bool,
    /// References that are not pointers are reinterpreted rather than refused. A pointer to a place outside the
    /// definitions does not resolve.
    pub(crate) takes_other_forms: bool,
    /// A definition may be `true`.
    pub(crate) to_true: bool,
    /// References to definitions may use pointer escapes.
    pub(crate) escapes: bool,
    /// Accepted siblings of `$ref`, regardless of the target.
    pub(crate) beside: Keywords,
    /// All other siblings are refused. If false, `sanitize` does not write them, but `check` accepts them.
    pub(crate) nothing_else_beside: bool,
    /// `type` is refused as a sibling, and so is `anyOf` if the target has a type.
    pub(crate) no_type_beside: bool,
    /// Keywords that occur both as a sibling of `$ref` and in its target (or in a branch of the target's `anyOf`) are
    /// refused, except for annotations.
    pub(crate) no_shared_keywords: bool,
    /// Places at which recursion is accepted.
    pub(crate) recursion: Recursion,
    /// Keywords whose direct subschemas must not be references.
    pub(crate) not_directly_under: Keywords,
    /// If set, every `$ref` key counts as a reference, even inside values such as `default` (but not in lists other
    /// than `anyOf`), and references are accepted only as the value or as a member of these keywords, at the root, and
    /// directly below it. If `None`, only schemas contain references.
    pub(crate) only_under: Option<Keywords>,
    /// Keywords below which the siblings, the position and the recursion of references are not checked.
    pub(crate) unjudged_under: Keywords,
    /// Pointer escapes are not decoded, so neither the names of definitions nor the keys inside them may need escapes.
    pub(crate) no_slash_in_definitions: bool,
    /// References must be pointers that begin with `#/` and contain no escapes. Anchors, identifiers and `#` are
    /// refused.
    pub(crate) plain_pointers: bool,
    /// Accepted references that are inlined if the option `refs` is not set.
    pub(crate) inlining: Inlining,
}

impl RefRule {
    /// Accepts every reference that resolves within the document.
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

    /// Returns true if references resolve by the rules of JSON Schema.
    pub(crate) const fn resolves(&self) -> bool {
        self.anywhere || !matches!(self.recursion, Recursion::Free | Recursion::MustEnd)
    }

    /// Accepts no references.
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

/// Accepted references that are inlined. Recursive references remain, if recursion is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inlining {
    /// No references.
    None,
    /// All references, as long as there are few copies: a model reads every copy. Beyond that, a definition that is
    /// used more than once remains.
    Small,
    /// All references, because some models behind the API do not follow them, or because they are refused in the most
    /// common positions.
    All,
}

/// Places at which recursion is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recursion {
    /// Anywhere.
    Free,
    /// Wherever a finite instance exists, as determined by the provider's validator. Other recursion is refused.
    MustEnd,
    /// Only through properties that are not required.
    OnlyOptional,
    /// Nowhere: recursion is unrolled to a few levels.
    Refused,
}
