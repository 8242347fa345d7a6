//! Rules for `type`, and the encodings of "anything" and null.

use crate::{
    json::{Member, Node},
    schema::keyword::{Keyword, Keywords},
};

/// Accepted lists of types in `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeLists {
    /// Any list.
    Any,
    /// Lists of `null`, `string`, `number`, `integer` and `boolean` only.
    Scalars,
    /// No lists: `type` must be a string.
    None,
}

/// Keywords that a schema needs to constrain its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeRequirement {
    /// Nothing: `{}` is accepted.
    No,
    /// `type`.
    Type,
    /// One of `type`, `anyOf` and `$ref`.
    TypeOrUnion,
    /// One of `type`, `anyOf`, `allOf`, `enum`, `const` and `$ref`.
    TypeOrApplicator,
}

impl TypeRequirement {
    /// Returns the keywords of which a schema needs at least one; empty if it needs none.
    pub(crate) const fn one_of(self) -> Keywords {
        match self {
            TypeRequirement::No => Keywords::NONE,
            TypeRequirement::Type => Keywords::of(&[Keyword::Type]),
            TypeRequirement::TypeOrUnion => Keywords::of(&[Keyword::Type, Keyword::AnyOf, Keyword::Ref]),
            TypeRequirement::TypeOrApplicator => Keywords::of(&[
                Keyword::Type,
                Keyword::AnyOf,
                Keyword::AllOf,
                Keyword::Enum,
                Keyword::Const,
                Keyword::Ref,
            ]),
        }
    }

    /// Describes the same keywords for messages.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            TypeRequirement::No => "anything",
            TypeRequirement::Type => "`type`",
            TypeRequirement::TypeOrUnion => "one of `type`, `anyOf` and `$ref`",
            TypeRequirement::TypeOrApplicator => "one of `type`, `anyOf`, `allOf`, `enum`, `const` and `$ref`",
        }
    }

    /// Returns true if `type` is required as a sibling of `enum` or `const`. It is also written next to type-specific
    /// keywords such as `minLength`, so that keywords for another type can be detected.
    pub(crate) fn needs_type_beside(self, keyword: Keyword, schema: &Node<'_>) -> bool {
        let is_about_a_type = |member: &Member<'_>| Keyword::named(&member.key).and_then(Keyword::applies_to).is_some();
        self != TypeRequirement::No
            && (!self.one_of().contains(keyword)
                || schema.as_object().is_some_and(|object| object.iter().any(is_about_a_type)))
    }
}

/// Encoding of "anything" in schemas that need a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyEncoding {
    /// A schema without keywords.
    Unsaid,
    /// `type` with all six types, or `anyOf` of the six types if a sibling does not allow such a list.
    TypeList,
    /// `anyOf` of all six types.
    Union,
    /// A string that contains JSON: the six types cannot all be listed, and values of an unlisted type could not be
    /// sent.
    JsonText,
}

/// Encoding of null in schemas that accept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    /// A type: in a list of types, or in a branch of `anyOf`.
    Type,
    /// OpenAPI's `nullable: true`.
    Nullable,
}

/// Accepted siblings of a list of several types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeListRule {
    /// Accepted in every schema.
    pub(crate) anywhere: Keywords,
    /// Additionally accepted at the root.
    pub(crate) at_root: Keywords,
}
