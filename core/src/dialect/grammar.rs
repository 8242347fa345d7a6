//! What a surface accepts, as data: the one description that `sanitize` writes towards and `check` judges by.
//!
//! Every field is a fact about some API; a dialect's file says which, with its source. Nothing here rewrites anything.

use crate::schema::keyword::Keywords;

/// The language of one API surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// The root must say `type: "object"` and nothing else.
    pub(crate) object_root: bool,
    /// How references may be written.
    pub(crate) refs: RefRule,
    /// What an object that says nothing becomes.
    pub(crate) any: AnyRule,
    /// What may stand beside a list of several types; `None`: anything.
    pub(crate) beside_type_list: Option<TypeListRule>,
    /// How `enum` may be written.
    pub(crate) enums: EnumRule,
    /// How `anyOf` may be written.
    pub(crate) any_of: AnyOfRule,
    /// `required` may name only properties of the same schema.
    pub(crate) required_is_known: bool,
    /// Boolean schemas may stand where a schema belongs (beyond `additionalProperties`).
    pub(crate) boolean_schemas: bool,
    /// Positions before `items` may be spelled `items: […]`.
    pub(crate) array_items: bool,
    /// Keywords whose value must be a string.
    pub(crate) strings: Keywords,
    /// Which property names may be used.
    pub(crate) names: NameRule,
    /// Keywords that are accepted and whose schemas are not looked into.
    pub(crate) opaque: Keywords,
    /// Numbers must lie within the range of a 64-bit float.
    pub(crate) finite_numbers: bool,
}

/// How references may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefRule {
    /// References may be written `#/$defs/name`, with the table at the root. `false`: not at all.
    pub(crate) to_defs: bool,
    /// References may be written `#`.
    pub(crate) to_root: bool,
    /// The keywords that may stand beside `$ref`.
    pub(crate) beside: Keywords,
    /// A definition may refer to itself, as long as an instance can end.
    pub(crate) recursion: bool,
    /// A reference may not be the direct value of these keywords, nor a direct member of these tables.
    pub(crate) not_directly_under: Keywords,
    /// Pointer escapes are not decoded, so no definition's name, nor any key inside a definition, may need one.
    pub(crate) no_slash_in_definitions: bool,
}

/// What "anything" is, in this language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyRule {
    /// A list of all types where only annotations stand beside it, else `anyOf` of the single types.
    AllTypes,
    /// `{}` is accepted as it is.
    Empty,
}

/// What may stand beside a list of several types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeListRule {
    /// Anywhere.
    pub(crate) anywhere: Keywords,
    /// At the root, in addition.
    pub(crate) at_root: Keywords,
}

/// How `enum` may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumRule {
    /// A `type` must stand beside it, and every value must match it.
    pub(crate) needs_type: bool,
    /// A list of types beside it may only be `null` and one scalar type.
    pub(crate) nullable_scalar_only: bool,
    /// `null` stands first among the values.
    pub(crate) null_first: bool,
    /// The most values.
    pub(crate) most: usize,
}

/// How `anyOf` may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyOfRule {
    /// No `type` beside it.
    pub(crate) no_type_beside: bool,
    /// No keyword but annotations both beside it and in a branch.
    pub(crate) no_shared_keywords: bool,
    /// The most branches.
    pub(crate) most: usize,
}

/// Which property names may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    /// Names that are taken for keywords.
    pub(crate) reserved: &'static [&'static str],
    /// A name with `{` and `}` may not have a schema with `enum`, `required`, `anyOf` or `$ref`.
    pub(crate) no_braces: bool,
}
