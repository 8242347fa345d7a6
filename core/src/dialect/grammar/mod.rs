//! The grammar that an API surface accepts, as data. `sanitize` rewrites schemas for it, and `check` enforces it.
//!
//! Every field is a fact about some API; the file of the dialect states which API, with its source. [`Grammar::OPEN`]
//! refuses almost nothing: a table lists its restrictions and inherits the other fields from `OPEN`.

mod effects;

pub(crate) use effects::{Conflict, Effects, Trail, TypedKeywords, Walk};

use alloc::format;

use super::name_rules::NameRule;
use crate::{
    json::{self, Member, Node, Object, Pointer, Step, Text},
    schema::keyword::{Keyword, Keywords},
};

/// Rules of one API surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// True if a schema in which `check` finds nothing is returned unchanged, unless an option asks for more. If false,
    /// the rules always run, because the documentation requires a form that the validator does not enforce.
    pub(crate) accept_unchanged: bool,
    /// The root must have `type: "object"` and no other type.
    pub(crate) object_root: bool,
    /// The root may also be `{}`, which is treated as an object without properties. No keyword may be in it.
    pub(crate) empty_root: bool,
    /// The root may also be a reference.
    pub(crate) root_reference: bool,
    /// Keywords refused at the root, but accepted below it.
    pub(crate) root_refuses: Keywords,
    /// Unions at the root are accepted if all branches have `type: "object"`.
    pub(crate) root_unions_of_objects: bool,
    /// Keywords refused everywhere.
    pub(crate) refuses: Keywords,
    /// Keywords refused together with certain other keywords or types.
    pub(crate) conflicts: &'static [Conflict],
    /// Keywords that are accepted without effect: `check` reports them, `sanitize` leaves them.
    pub(crate) ignores: Keywords,
    pub(crate) effects: Effects,
    /// Alternative grammars: a schema that one of them accepts entirely is accepted.
    pub(crate) alternatives: &'static [&'static Grammar],
    /// Accepted keys that are not JSON Schema keywords; `None`: any.
    pub(crate) unknown: Option<&'static [&'static str]>,
    /// Accepted drafts in `$schema`; `None`: any.
    pub(crate) drafts: Option<&'static [&'static str]>,
    /// Every keyword value must match the 2020-12 meta-schema.
    pub(crate) metaschema: bool,
    /// Keywords whose value is checked by the meta-schema if `metaschema` is false.
    pub(crate) checked_values: Keywords,
    /// Keywords that are fields of a protocol message: the value must have the field's type, or be a string that spells
    /// such a value; null means absent.
    pub(crate) fields: Keywords,
    /// Accepted type names.
    pub(crate) types: &'static [&'static str],
    /// True if type names may be upper case or numbers, as in Google's protocol.
    pub(crate) protocol_types: bool,
    /// Keywords that require a `type` that they apply to.
    pub(crate) beside_their_type: Keywords,
    /// Accepted lists of types.
    pub(crate) type_lists: TypeLists,
    /// Requirement for schemas without type information.
    pub(crate) typed: TypeRequirement,
    /// Schemas to which `types`, `type_lists`, `typed` and `arrays.needs_items` apply.
    pub(crate) walked: Walk,
    /// Encoding of "any value" if a type is required.
    pub(crate) anything: AnyEncoding,
    /// Encoding of null in schemas that accept it.
    pub(crate) null: Null,
    /// Keywords whose subschemas are checked.
    pub(crate) through: Keywords,
    /// True if the model sees the root's description.
    pub(crate) describes_root: bool,
    /// Keywords that never conflict with others.
    pub(crate) annotations: Keywords,
    pub(crate) refs: RefRule,
    /// Rules for siblings of a list of several types; `None`: any.
    pub(crate) beside_type_list: Option<TypeListRule>,
    pub(crate) enums: EnumRule,
    pub(crate) any_of: AnyOfRule,
    pub(crate) objects: ObjectRule,
    pub(crate) arrays: ArrayRule,
    /// Dialect of regular expressions.
    pub(crate) patterns: PatternRule,
    /// Accepted formats by type; `None`: any. A type that is not listed has none; an empty list means any.
    pub(crate) formats: Option<&'static [(&'static str, &'static [&'static str])]>,
    /// Maximum values of numeric keywords.
    pub(crate) maxima: &'static [(Keyword, u64)],
    /// Ranges of refused numbers (first and last). Smaller and larger numbers are accepted.
    pub(crate) gaps: &'static [(Keyword, u64, u64)],
    /// `required` may only name declared properties.
    pub(crate) required_is_known: bool,
    /// Limits `required_is_known` to schemas with `properties` and `type: "object"`, and to the root.
    pub(crate) required_needs_properties: bool,
    /// `required`, even an empty list, needs non-empty `properties`.
    pub(crate) required_beside_properties: bool,
    /// Keywords below which `required` may name anything.
    pub(crate) required_is_free_under: Keywords,
    /// The root may be a boolean, if boolean schemas are accepted.
    pub(crate) boolean_root: bool,
    /// Boolean schemas are accepted everywhere (not only in `additionalProperties`).
    pub(crate) boolean_schemas: bool,
    /// Properties of the root may be boolean schemas.
    pub(crate) root_booleans: bool,
    /// `false` is accepted as a boolean schema (not only in `items`).
    pub(crate) false_schemas: bool,
    /// `items` may be `true`.
    pub(crate) true_items: bool,
    /// `prefixItems` may be written as `items: […]`.
    pub(crate) array_items: bool,
    /// Keywords whose value must be a string.
    pub(crate) strings: Keywords,
    /// Keywords of `strings` that may also be null.
    pub(crate) nullable_strings: Keywords,
    pub(crate) names: NameRule,
    /// Keywords that are accepted and whose subschemas are not checked.
    pub(crate) opaque: Keywords,
    /// Counts must be written without fraction and exponent.
    pub(crate) plain_counts: bool,
    /// A maximum must not be below its minimum.
    pub(crate) ordered_counts: bool,
    /// Numbers must be in the range of a 64-bit float.
    pub(crate) finite_numbers: bool,
    /// Characters that are treated as six bytes in size limits.
    pub(crate) escaped_chars: &'static [char],
}

impl Grammar {
    pub(crate) fn required_is_known_at(&self, schema: &Object<'_>, location: &Pointer<'_>) -> bool {
        let lists_properties =
            || schema.get(Keyword::Type).is_some_and(|name| name.is_text("object")) && schema.has(Keyword::Properties);
        if self.required_needs_properties && !location.steps().is_empty() && !lists_properties() {
            return false;
        }
        let is_free = |step: &Step<'_>| {
            let Step::Name(name) = step else { return false };
            Keyword::named(&Text::literal(name)).is_some_and(|keyword| self.required_is_free_under.contains(keyword))
        };
        self.required_is_known && !location.steps().iter().any(is_free)
    }

    pub(crate) fn refuses_at_root(&self, keyword: Keyword, value: &Node<'_>) -> bool {
        let is_object = |branch: &Node<'_>| branch.get(Keyword::Type).is_some_and(|name| name.is_text("object"));
        let is_union_of_objects = || {
            matches!(keyword, Keyword::AnyOf | Keyword::OneOf)
                && value.as_array().is_some_and(|branches| branches.iter().all(is_object))
        };
        self.root_refuses.contains(keyword) && !(self.root_unions_of_objects && is_union_of_objects())
    }

    /// Returns the maximum that replaces this number if the number is refused for its size.
    pub(crate) fn too_large(&self, keyword: Keyword, number: &str) -> Option<u64> {
        let is_above = |max: u64| json::compare(number, &format!("{max}")).is_gt();
        let max = self.maxima.iter().find(|(limited, max)| *limited == keyword && is_above(*max));
        let gap = self.gaps.iter().find(|(limited, first, last)| {
            *limited == keyword && is_above(first.saturating_sub(1)) && !is_above(*last)
        });
        max.map(|(_, max)| *max).or_else(|| gap.map(|(_, first, _)| first.saturating_sub(1)))
    }

    /// Returns true if the API ignores a keyword and loses nothing by it, so that `sanitize` leaves it in place.
    pub(crate) fn leaves_unread(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        self.objects.open == OpenRule::Unread
            && keyword == Keyword::AdditionalProperties
            && value.as_bool().is_some()
            && !schema.has(Keyword::PatternProperties)
    }

    pub(crate) fn is_below_minimum(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        let minimum = match keyword {
            Keyword::MaxLength => Keyword::MinLength,
            Keyword::MaxItems => Keyword::MinItems,
            _ => return false,
        };
        let (min, max) = (schema.get(minimum).and_then(Node::as_number), value.as_number());
        self.ordered_counts && min.zip(max).is_some_and(|(min, max)| json::compare(min, max).is_gt())
    }

    /// Refuses nothing except a root that is not an object.
    pub(crate) const OPEN: Grammar = Grammar {
        accept_unchanged: true,
        object_root: true,
        empty_root: false,
        root_reference: false,
        root_refuses: Keywords::NONE,
        root_unions_of_objects: false,
        refuses: Keywords::NONE,
        conflicts: &[],
        ignores: Keywords::NONE,
        effects: Effects::ALL,
        alternatives: &[],
        unknown: None,
        drafts: None,
        metaschema: false,
        checked_values: Keywords::NONE,
        fields: Keywords::NONE,
        types: &["string", "number", "integer", "boolean", "object", "array", "null"],
        protocol_types: false,
        beside_their_type: Keywords::NONE,
        type_lists: TypeLists::Any,
        typed: TypeRequirement::No,
        walked: Walk::EVERYWHERE,
        anything: AnyEncoding::Empty,
        null: Null::Type,
        through: Keywords::ALL,
        describes_root: true,
        annotations: Keywords::of(&[Keyword::Description, Keyword::Title]),
        refs: RefRule::OPEN,
        beside_type_list: None,
        enums: EnumRule::OPEN,
        any_of: AnyOfRule::OPEN,
        objects: ObjectRule::OPEN,
        arrays: ArrayRule::OPEN,
        patterns: PatternRule::Any,
        formats: None,
        maxima: &[],
        gaps: &[],
        required_is_known: false,
        required_needs_properties: false,
        required_beside_properties: false,
        required_is_free_under: Keywords::NONE,
        boolean_root: true,
        boolean_schemas: true,
        root_booleans: true,
        false_schemas: true,
        true_items: true,
        array_items: true,
        strings: Keywords::NONE,
        nullable_strings: Keywords::NONE,
        names: NameRule::OPEN,
        opaque: Keywords::NONE,
        plain_counts: false,
        ordered_counts: false,
        finite_numbers: false,
        escaped_chars: &[],
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRule {
    /// Schemas in which `properties` is required.
    pub(crate) properties: PropertiesRule,
    /// Meaning of an object without `additionalProperties`, and the accepted values of that keyword.
    pub(crate) open: OpenRule,
    /// Properties that must be in `required`.
    pub(crate) required: RequiredRule,
    /// Every property in `required` must accept some value.
    pub(crate) required_accepts: bool,
    /// `additionalProperties` may be a schema.
    pub(crate) maps: bool,
    /// If `properties` must not be empty, an object with a schema for additional properties does not need it.
    pub(crate) maps_count: bool,
}

impl ObjectRule {
    pub(crate) const OPEN: ObjectRule = ObjectRule {
        properties: PropertiesRule::Optional,
        open: OpenRule::AsJsonSchema,
        required: RequiredRule::Any,
        required_accepts: false,
        maps: true,
        maps_count: false,
    };
}

impl ObjectRule {
    /// Returns true if an object without known properties must be rewritten.
    pub(crate) fn needs_properties(&self, additional: Option<&Node<'_>>) -> bool {
        let is_map = self.maps_count && additional.is_some_and(|additional| additional.as_bool() != Some(false));
        self.properties == PropertiesRule::NotEmptyBelowRoot && !is_map
    }
}

/// Schemas in which `properties` is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertiesRule {
    /// Nowhere, but no accepted root without it is known.
    Optional,
    /// Nowhere: a root without it was accepted.
    Unneeded,
    /// At the root; it may be empty.
    AtRoot,
    /// In every object schema (`type: "object"`); it may be empty.
    Written,
    /// In every object schema; below the root it must not be empty.
    NotEmptyBelowRoot,
}

impl PropertiesRule {
    pub(crate) const fn is_free(self) -> bool {
        matches!(self, PropertiesRule::Optional | PropertiesRule::Unneeded)
    }
}

/// Properties that must be in `required`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredRule {
    /// Any list, or no `required`.
    Any,
    /// At least one, unless the object has a schema for additional properties.
    One,
    /// All.
    All,
}

/// Meaning of an object without `additionalProperties`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenRule {
    /// Open, as in JSON Schema.
    AsJsonSchema,
    /// Closed, so an open object needs `additionalProperties: true`.
    ClosedByDefault,
    /// Closed if it lists properties. `true` is not written, because it breaks grammars with many names.
    Closes,
    /// Closed if it has any keyword about its members, otherwise open.
    ClosedBesideMembers,
    /// The model generates only listed properties, whatever the schema states. So nothing is lost if an object cannot
    /// be closed.
    Listed,
    /// As `Listed`, and the API ignores `additionalProperties`: if it is a boolean, removing it would change nothing.
    Unread,
    /// Every object needs `additionalProperties: false`.
    MustClose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayRule {
    /// `type: "array"` requires `items` (or `prefixItems`, if it is accepted).
    pub(crate) needs_items: bool,
    /// `items` may be unconstrained: `{}` or `true`.
    pub(crate) open_items: bool,
    /// `items` is required even with `prefixItems`, and must not be `false`.
    pub(crate) truthy_items: bool,
    /// An array with `prefixItems` and without `items` allows no further items.
    pub(crate) closed_tuples: bool,
}

impl ArrayRule {
    pub(crate) const OPEN: ArrayRule =
        ArrayRule { needs_items: false, open_items: true, truthy_items: false, closed_tuples: false };

    pub(crate) const fn require_items(self) -> bool {
        self.needs_items || !self.open_items
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumRule {
    /// `enum` requires `type`, and every value must match it.
    pub(crate) needs_type: bool,
    /// A list of types next to `enum` may only contain `null` and one scalar type.
    pub(crate) nullable_scalar_only: bool,
    /// `null` must be first in that list if a value is null: a numeric type before it refuses all other kinds of value.
    pub(crate) null_first: bool,
    /// Accepted kinds of values by type name; `integer` includes every number without a fraction.
    pub(crate) kinds: &'static [&'static str],
    /// The empty string is accepted as a value.
    pub(crate) empty_string: bool,
    /// A character that values must not contain.
    pub(crate) without: Option<char>,
    /// Values of these types may be written as strings, together with their type and `format: "enum"`.
    pub(crate) as_text: &'static [&'static str],
    /// A type that no value has is refused.
    pub(crate) agrees: bool,
    /// The list may be empty.
    pub(crate) empty: bool,
    /// Duplicate values are refused.
    pub(crate) distinct: bool,
    /// Maximum number of values.
    pub(crate) max_values: usize,
}

impl EnumRule {
    pub(crate) const OPEN: EnumRule = EnumRule {
        needs_type: false,
        nullable_scalar_only: false,
        null_first: false,
        kinds: &["string", "number", "integer", "boolean", "object", "array", "null"],
        empty_string: true,
        without: None,
        as_text: &[],
        agrees: false,
        empty: false,
        distinct: false,
        max_values: usize::MAX,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyOfRule {
    /// `type` is refused as a sibling.
    pub(crate) no_type_beside: bool,
    /// Keywords, known or not, that occur both as a sibling of `anyOf` and in a branch are refused, except for the
    /// grammar's annotations.
    pub(crate) no_shared_keywords: bool,
    /// Accepted siblings; all other keywords are moved into the branches.
    pub(crate) beside: Keywords,
    /// Two branches must not be objects whose first property has the same name.
    pub(crate) distinct_first_keys: bool,
    /// No branch may be null only.
    pub(crate) no_null: bool,
    /// Every branch needs `type`, so a branch cannot be another union.
    pub(crate) typed_branches: bool,
    /// Maximum number of branches.
    pub(crate) max_branches: usize,
}

impl AnyOfRule {
    pub(crate) const OPEN: AnyOfRule = AnyOfRule {
        no_type_beside: false,
        no_shared_keywords: false,
        beside: Keywords::ALL,
        distinct_first_keys: false,
        no_null: false,
        typed_branches: false,
        max_branches: usize::MAX,
    };
}

/// Accepted lists of types in `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeLists {
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
    /// A schema needs at least one of these keywords; empty if it needs none.
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
    Empty,
    /// `type` with all six types, or `anyOf` of the six types if a sibling does not allow such a list.
    TypeList,
    /// `anyOf` of all six types.
    Union,
    /// A string that contains JSON. Not all six types can be listed, and values of an unlisted type could not be sent.
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
    /// References that are not pointers are reinterpreted rather than refused. A pointer to a location outside the
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
    /// Locations at which recursion is accepted.
    pub(crate) recursion: Recursion,
    /// A schema that applies to itself at the same instance location is refused: its grammar is left-recursive.
    pub(crate) no_left_recursion: bool,
    /// Keywords whose direct subschemas must not be references.
    pub(crate) not_directly_under: Keywords,
    /// If set, every `$ref` key is treated as a reference, even inside values such as `default` (but not in lists other
    /// than `anyOf`). References are accepted only as the value or as a member of these keywords, at the root, and
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
        no_left_recursion: false,
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
    /// All references, unless this makes many copies, because a model reads every copy. Then, a definition that is used
    /// more than once remains.
    Small,
    /// All references, because some models behind the API do not follow them, or because they are refused in the most
    /// common positions.
    All,
}

/// Locations at which recursion is accepted.
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

/// The regular expressions that compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternRule {
    /// All of them.
    Any,
    /// Expressions that Python's `re` compiles. Only constructs that are known to fail are refused.
    Python,
    /// Expressions that JavaScript compiles with the flag `u`. Only constructs that are known to fail are refused.
    Unicode,
    /// The expressions of `Python` without lookaround, backreferences and word boundaries: regular expressions in the
    /// strict sense.
    Regular,
    /// Expressions that llama.cpp's converter reads. It does not enforce most others, and refuses a few.
    Gbnf,
    /// The expressions of `Regular`, matched against the whole string with or without anchors.
    Whole,
    /// The expressions of `Regular`, without anchors.
    Unanchored,
}

impl PatternRule {
    /// Returns true if the engine reads `pattern`, or a key of `patternProperties`, in this schema. Engines that
    /// compile grammars read it only for strings without certain other keywords.
    pub(crate) fn reads(self, keyword: Keyword, schema: &Object<'_>) -> bool {
        const BEFORE: Keywords =
            Keywords::of(&[Keyword::Ref, Keyword::AnyOf, Keyword::OneOf, Keyword::Const, Keyword::Enum]);
        let names_string = |types: &Node<'_>| {
            types.is_text("string")
                || types.as_array().is_some_and(|names| names.iter().any(|name| name.is_text("string")))
        };
        match self {
            PatternRule::Any => false,
            PatternRule::Python | PatternRule::Unicode | PatternRule::Regular | PatternRule::Unanchored => true,
            PatternRule::Whole if keyword == Keyword::PatternProperties => true,
            PatternRule::Whole => {
                !Keywords::in_object(schema).intersects(BEFORE) && schema.get(Keyword::Type).is_some_and(names_string)
            }
            PatternRule::Gbnf => {
                keyword == Keyword::Pattern
                    && !Keywords::in_object(schema).intersects(BEFORE)
                    && schema.get(Keyword::Type).is_none_or(names_string)
            }
        }
    }
}
