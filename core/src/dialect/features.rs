//! Properties of a grammar that passes need, derived from its tables.

use super::grammar::{Grammar, OpenRule, PatternRule, Recursion};
use crate::schema::keyword::{Keyword, Keywords};

/// Keywords that constrain an object by its members, in addition to those that define the members.
pub(crate) const CONSTRAINS_MEMBERS: Keywords = Keywords::of(&[
    Keyword::If,
    Keyword::Then,
    Keyword::Else,
    Keyword::Not,
    Keyword::Contains,
    Keyword::MinContains,
    Keyword::MaxContains,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::UnevaluatedItems,
    Keyword::UnevaluatedProperties,
    Keyword::MinProperties,
    Keyword::MaxProperties,
]);

/// Keywords that define the members of an object, other than `additionalProperties`.
pub(crate) const OF_MEMBERS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::Required,
    Keyword::MinProperties,
    Keyword::MaxProperties,
]);

pub(crate) const COUNTS: Keywords = Keywords::of(&[
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::MinContains,
    Keyword::MaxContains,
]);

impl Grammar {
    pub(crate) const fn encodes(&self) -> bool {
        matches!(self.objects.open, OpenRule::MustClose)
    }

    /// Returns true if `allOf` has to be merged: the grammar refuses it, or schemas are encoded.
    pub(crate) const fn merges_all_of(&self, is_root: bool) -> bool {
        self.refuses.contains(Keyword::AllOf)
            || (is_root && self.root_refuses.contains(Keyword::AllOf))
            || self.encodes()
    }

    /// Returns true if "anything" is encoded as a definition that refers to itself, not as a string that contains JSON.
    ///
    /// With the definition, the API guarantees that the argument is JSON, so it is preferred if recursion is accepted.
    /// Otherwise, a string that contains JSON loses nothing, and a union of scalars would lose objects and arrays.
    pub(crate) const fn defines_any(&self) -> bool {
        let refs = &self.refs;
        refs.to_defs && matches!(refs.recursion, Recursion::Free) && !refs.not_directly_under.contains(Keyword::AnyOf)
    }

    pub(crate) const fn restricted(&self) -> Keywords {
        let mut restricted = self.refuses.difference(Keywords::UNKNOWN);
        if self.encodes() {
            restricted = restricted.union(CONSTRAINS_MEMBERS);
        }
        if self.unknown.is_some() {
            restricted = restricted.union(Keywords::UNKNOWN);
        }
        if !matches!(self.patterns, PatternRule::Any) {
            restricted = restricted.insert(Keyword::Pattern).insert(Keyword::PatternProperties);
        }
        let mut conflicts = self.conflicts;
        while let [conflict, rest @ ..] = conflicts {
            restricted = restricted.union(conflict.refused);
            conflicts = rest;
        }
        if self.drafts.is_some() {
            restricted = restricted.insert(Keyword::Schema);
        }
        if self.formats.is_some() {
            restricted = restricted.insert(Keyword::Format);
        }
        let mut rest = self.maxima;
        while let [(limited, _), tail @ ..] = rest {
            restricted = restricted.insert(*limited);
            rest = tail;
        }
        restricted
    }
}
