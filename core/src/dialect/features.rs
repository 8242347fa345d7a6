//! What passes ask of a grammar, answered from its tables.

use super::grammar::{Grammar, OpenRule, PatternRule, Recursion};
use crate::schema::keyword::{Keyword, Keywords};

/// Keywords that judge an object or a part of it by what its members are, beside those that say what they are.
pub(crate) const JUDGES_MEMBERS: Keywords = Keywords::of(&[
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

/// Keywords that say what the members of an object are, beside `additionalProperties`.
pub(crate) const OF_MEMBERS: Keywords = Keywords::of(&[
    Keyword::Properties,
    Keyword::PatternProperties,
    Keyword::Required,
    Keyword::MinProperties,
    Keyword::MaxProperties,
]);

/// Keywords that hold a count.
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
    /// Does this surface need its schemas encoded?
    pub(crate) const fn encodes(&self) -> bool {
        matches!(self.objects.open, OpenRule::MustClose)
    }

    /// Does a schema, or the root, have to say its `allOf` in itself? What is encoded must be one schema.
    pub(crate) const fn merges_all_of(&self, is_root: bool) -> bool {
        self.refuses.contains(Keyword::AllOf)
            || (is_root && self.root_refuses.contains(Keyword::AllOf))
            || self.encodes()
    }

    /// Is "anything" said by a definition that refers to itself, rather than as JSON in a string?
    ///
    /// The definition keeps the API's guarantee that what comes back is JSON, so it is preferred where recursion is
    /// accepted. Where it is not, a string that holds JSON loses nothing and costs one line, while a union of scalars
    /// would lose every object and array.
    pub(crate) const fn defines_any(&self) -> bool {
        let refs = &self.refs;
        refs.to_defs && matches!(refs.recursion, Recursion::Free) && !refs.not_directly_under.contains(Keyword::AnyOf)
    }

    /// The keywords that something may be wrong with below the root.
    pub(crate) const fn restricted(&self) -> Keywords {
        let mut restricted = self.refuses.difference(Keywords::UNKNOWN);
        if self.encodes() {
            restricted = restricted.union(JUDGES_MEMBERS);
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
        let mut rest = self.at_most;
        while let [(limited, _), tail @ ..] = rest {
            restricted = restricted.insert(*limited);
            rest = tail;
        }
        restricted
    }
}
