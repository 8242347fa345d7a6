//! What a surface accepts, as data: the one description that `sanitize` writes towards and `check` judges by.
//!
//! Every field is a fact about some API; a dialect's file says which, with its source. Nothing here rewrites anything.

use crate::schema::keyword::Keywords;

/// The language of one API surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// The root must say `type: "object"` and nothing else.
    pub(crate) object_root: bool,
    /// The names that `type` may hold.
    pub(crate) types: &'static [&'static str],
    /// The keywords whose schemas are looked into.
    pub(crate) through: Keywords,
    /// Keywords that conflict with nothing, wherever they stand.
    pub(crate) annotations: Keywords,
    /// How references may be written.
    pub(crate) refs: RefRule,
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
    /// Those of them that may also be null.
    pub(crate) nullable_strings: Keywords,
    /// Which property names may be used.
    pub(crate) names: NameRule,
    /// Keywords that are accepted and whose schemas are not looked into.
    pub(crate) opaque: Keywords,
    /// Numbers must lie within the range of a 64-bit float.
    pub(crate) finite_numbers: bool,
    /// Characters that count six bytes each where the whole is measured.
    pub(crate) six_bytes: &'static [char],
}

/// How references may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefRule {
    /// References may be written `#/$defs/name`, with the table at the root. `false`: not at all.
    pub(crate) to_defs: bool,
    /// References may be written `#`.
    pub(crate) to_root: bool,
    /// The keywords that may stand beside `$ref`, whatever its target says.
    pub(crate) beside: Keywords,
    /// No `type` beside it, and no `anyOf` where the target has a type.
    pub(crate) no_type_beside: bool,
    /// No keyword but annotations both beside it and in its target (or in a branch of its target's `anyOf`).
    pub(crate) no_shared_keywords: bool,
    /// A definition may refer to itself, as long as an instance can end.
    pub(crate) recursion: bool,
    /// A reference may not be the direct value of these keywords, nor a direct member of these tables.
    pub(crate) not_directly_under: Keywords,
    /// Wherever an object holds the key `$ref`, in whatever JSON, it counts as a reference, and it may stand only as the value of
    /// one of these keywords or as a member of it; `None`: only schemas hold references. The root and the values right below it
    /// are free.
    pub(crate) only_under: Option<Keywords>,
    /// What is said between a reference and its target, where it stands and whether it can end is not looked at below these.
    pub(crate) unjudged_under: Keywords,
    /// Pointer escapes are not decoded, so no definition's name, nor any key inside a definition, may need one.
    pub(crate) no_slash_in_definitions: bool,
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
    /// `null` stands first in that list where a value is null: the first numeric type refuses every other kind of value.
    pub(crate) null_first: bool,
    /// The most values.
    pub(crate) most: usize,
}

/// How `anyOf` may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyOfRule {
    /// No `type` beside it.
    pub(crate) no_type_beside: bool,
    /// No keyword, known or not, both beside it and in a branch, except the annotations of the grammar.
    pub(crate) no_shared_keywords: bool,
    /// The most branches.
    pub(crate) most: usize,
}

/// Which property names may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    /// Names that are taken for keywords.
    pub(crate) reserved: &'static [&'static str],
    /// Below a name with `{` and `}` no schema may have `enum`, `required`, `anyOf` or a `$ref` other than `#`.
    pub(crate) no_braces: bool,
}
