//! How types may be said, and what says "anything" and null.

use crate::{
    json::{Member, Node},
    schema::keyword::{Keyword, Keywords},
};

/// Which lists of types may stand under `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeLists {
    /// Any.
    Any,
    /// Of `null`, strings, numbers, integers and booleans only.
    Scalars,
    /// None: `type` is one name.
    None,
}

/// What a schema that says nothing of types needs.
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
    /// The keywords of which one must stand there; none, where nothing must.
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

    /// The same for people.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            TypeRequirement::No => "anything",
            TypeRequirement::Type => "`type`",
            TypeRequirement::TypeOrUnion => "one of `type`, `anyOf` and `$ref`",
            TypeRequirement::TypeOrApplicator => "one of `type`, `anyOf`, `allOf`, `enum`, `const` and `$ref`",
        }
    }

    /// Must a type stand beside a list of values, or a constant? Beside keywords that are about one type it is written,
    /// so that what does not apply can be told.
    pub(crate) fn needs_type_beside(self, keyword: Keyword, schema: &Node<'_>) -> bool {
        let is_about_a_type = |member: &Member<'_>| Keyword::named(&member.key).and_then(Keyword::applies_to).is_some();
        self != TypeRequirement::No
            && (!self.one_of().contains(keyword)
                || schema.as_object().is_some_and(|object| object.iter().any(is_about_a_type)))
    }
}

/// How "anything" is said where a schema needs a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyEncoding {
    /// By saying nothing.
    Unsaid,
    /// `type`, a list of six; `anyOf` of the six where something else stands there that such a list forbids.
    TypeList,
    /// `anyOf` of all six types.
    Union,
    /// As a string that holds JSON: all six cannot be said, and what is left out could not be sent.
    JsonText,
}

/// How null is admitted where lists of types may not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Null {
    /// As a type of its own: in a list of types, or in a branch of `anyOf`.
    Type,
    /// By OpenAPI's `nullable: true`.
    Nullable,
}

/// What may stand beside a list of several types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeListRule {
    /// Anywhere.
    pub(crate) anywhere: Keywords,
    /// At the root, in addition.
    pub(crate) at_root: Keywords,
}
