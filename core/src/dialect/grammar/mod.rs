//! What a surface accepts, as data: the one description that `sanitize` writes towards and `check` judges by.
//!
//! Every field is a fact about some API; a dialect's file says which, with its source. Nothing here rewrites anything.
//! [`Grammar::OPEN`] refuses nothing: a table names what it refuses and takes the rest from there.

mod conflicts;
mod effects;
mod patterns;
mod references;
mod types;
mod walk;

pub(crate) use conflicts::Conflict;
pub(crate) use effects::{Effects, TypedKeywords};
pub(crate) use patterns::PatternRule;
pub(crate) use references::{Inlining, Recursion, RefRule};
pub(crate) use types::{AnyEncoding, Null, TypeListRule, TypeLists, TypeRequirement};
pub(crate) use walk::{Trail, Walk};

use alloc::format;

use super::name_rule::NameRule;
use crate::{
    json::{self, Node, Object, Pointer, Step, Text},
    schema::keyword::{Keyword, Keywords},
};

/// Rules of one API surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// Returns schemas unchanged if `check` finds nothing, unless an option asks for more. If false, the rules always
    /// run, because the documentation requires a form that the validator does not enforce.
    pub(crate) accept_unchanged: bool,
    /// The root must have `type: "object"` and no other type.
    pub(crate) object_root: bool,
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
    /// Conditions under which keywords have an effect.
    pub(crate) effects: Effects,
    /// Alternative grammars: a schema that one of them accepts entirely is accepted.
    pub(crate) alternatives: &'static [&'static Grammar],
    /// Accepted keys that are not JSON Schema keywords; `None`: any.
    pub(crate) unknown: Option<&'static [&'static str]>,
    /// Accepted drafts in `$schema`; `None`: any.
    pub(crate) drafts: Option<&'static [&'static str]>,
    /// Every keyword value must be valid by the 2020-12 meta-schema.
    pub(crate) metaschema: bool,
    /// Keywords whose value is checked by the meta-schema if `metaschema` is false.
    pub(crate) checked_values: Keywords,
    /// Keywords that are fields of a protocol message: the value must have the field's type, or be a string of it;
    /// null means absent.
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
    /// Encoding of null if lists of types must not contain it.
    pub(crate) null: Null,
    /// Keywords whose subschemas are checked.
    pub(crate) through: Keywords,
    /// True if the model sees the root's description.
    pub(crate) describes_root: bool,
    /// Keywords that never conflict with others.
    pub(crate) annotations: Keywords,
    /// Rules for references.
    pub(crate) refs: RefRule,
    /// Rules for siblings of a list of several types; `None`: any.
    pub(crate) beside_type_list: Option<TypeListRule>,
    /// Rules for `enum`.
    pub(crate) enums: EnumRule,
    /// Rules for `anyOf`.
    pub(crate) any_of: AnyOfRule,
    /// Rules for objects.
    pub(crate) objects: ObjectRule,
    /// Rules for arrays.
    pub(crate) arrays: ArrayRule,
    /// Dialect of regular expressions.
    pub(crate) patterns: PatternRule,
    /// Accepted formats by type; `None`: any. A type that is not listed has none; an empty list means any.
    pub(crate) formats: Option<&'static [(&'static str, &'static [&'static str])]>,
    /// Maximum values of numeric keywords.
    pub(crate) at_most: &'static [(Keyword, u64)],
    /// Ranges of refused numbers (first and last), although smaller and larger numbers are accepted.
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
    /// Accepted property names.
    pub(crate) names: NameRule,
    /// Keywords that are accepted and whose subschemas are not checked.
    pub(crate) opaque: Keywords,
    /// Counts must be written without fraction and exponent.
    pub(crate) plain_counts: bool,
    /// A maximum must not be below its minimum.
    pub(crate) ordered_counts: bool,
    /// Numbers must be in the range of a 64-bit float.
    pub(crate) finite_numbers: bool,
    /// Characters that count as six bytes in size limits.
    pub(crate) escaped_chars: &'static [char],
}

impl Grammar {
    /// May `required` name only properties of this schema, which stands at this place?
    pub(crate) fn required_is_known_at(&self, schema: &Object<'_>, place: &Pointer<'_>) -> bool {
        let lists_properties =
            || schema.get(Keyword::Type).is_some_and(|name| name.is_text("object")) && schema.has(Keyword::Properties);
        if self.required_needs_properties && !place.steps().is_empty() && !lists_properties() {
            return false;
        }
        let is_free = |step: &Step<'_>| {
            let Step::Name(name) = step else { return false };
            Keyword::named(&Text::literal(name)).is_some_and(|keyword| self.required_is_free_under.contains(keyword))
        };
        self.required_is_known && !place.steps().iter().any(is_free)
    }

    /// Is this keyword refused at the root, with this value?
    pub(crate) fn refuses_at_root(&self, keyword: Keyword, value: &Node<'_>) -> bool {
        let is_object = |branch: &Node<'_>| branch.get(Keyword::Type).is_some_and(|name| name.is_text("object"));
        let is_union_of_objects = || {
            matches!(keyword, Keyword::AnyOf | Keyword::OneOf)
                && value.as_array().is_some_and(|branches| branches.iter().all(is_object))
        };
        self.root_refuses.contains(keyword) && !(self.root_unions_of_objects && is_union_of_objects())
    }

    /// The largest number that a keyword may have instead of this one, if this one is refused for its size.
    pub(crate) fn too_large(&self, keyword: Keyword, number: &str) -> Option<u64> {
        let is_above = |most: u64| json::compare(number, &format!("{most}")).is_gt();
        let most = self.at_most.iter().find(|(limited, most)| *limited == keyword && is_above(*most));
        let gap = self.gaps.iter().find(|(limited, first, last)| {
            *limited == keyword && is_above(first.saturating_sub(1)) && !is_above(*last)
        });
        most.map(|(_, most)| *most).or_else(|| gap.map(|(_, first, _)| first.saturating_sub(1)))
    }

    /// Is this a maximum of a count that is refused, because it is below its minimum?
    pub(crate) fn is_below_minimum(&self, keyword: Keyword, value: &Node<'_>, schema: &Object<'_>) -> bool {
        let minimum = match keyword {
            Keyword::MaxLength => Keyword::MinLength,
            Keyword::MaxItems => Keyword::MinItems,
            _ => return false,
        };
        let (least, most) = (schema.get(minimum).and_then(Node::as_number), value.as_number());
        self.ordered_counts && least.zip(most).is_some_and(|(least, most)| json::compare(least, most).is_gt())
    }

    /// Refuses nothing but a root that is no object.
    pub(crate) const OPEN: Grammar = Grammar {
        accept_unchanged: true,
        object_root: true,
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
        anything: AnyEncoding::Unsaid,
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
        at_most: &[],
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

/// How objects may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRule {
    /// `properties` must stand there.
    pub(crate) properties: PropertiesRule,
    /// What an object that names no `additionalProperties` is, and what may be said.
    pub(crate) open: OpenRule,
    /// Which properties must be in `required`.
    pub(crate) required: RequiredRule,
    /// Those accept something.
    pub(crate) required_accepts: bool,
    /// `additionalProperties` may be a schema.
    pub(crate) maps: bool,
    /// Where `properties` must not be empty, an object that says what its other members are needs none.
    pub(crate) maps_count: bool,
}

impl ObjectRule {
    /// Any object.
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
    /// Does an object of which no property is known have to be written in another way?
    pub(crate) fn needs_properties(&self, others: Option<&Node<'_>>) -> bool {
        let is_map = self.maps_count && others.is_some_and(|others| others.as_bool() != Some(false));
        self.properties == PropertiesRule::NotEmptyBelowRoot && !is_map
    }
}

/// Where `properties` must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertiesRule {
    /// Nowhere.
    Optional,
    /// At the root, though it may be empty.
    AtRoot,
    /// At every object schema (`type: "object"`), though it may be empty.
    Written,
    /// At every object schema, and below the root it may not be empty.
    NotEmptyBelowRoot,
}

/// Which properties must be in `required`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredRule {
    /// Any, or none.
    Any,
    /// One at least, unless the object says what its other members are.
    One,
    /// All.
    All,
}

/// What an object that names no `additionalProperties` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenRule {
    /// Open, as JSON Schema says.
    AsJsonSchema,
    /// Closed, so that an open one must say `additionalProperties: true`.
    ClosedByDefault,
    /// Closed if it lists properties. `true` is not written, because that breaks grammars of many names.
    Closes,
    /// The same where it says anything of its members, and open where it does not.
    ClosedBesideMembers,
    /// Whatever it says, only the listed properties ever come: nothing is lost where an object cannot be closed.
    Listed,
    /// Every object must say `additionalProperties: false`.
    MustClose,
}

/// How arrays may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayRule {
    /// `items` (or `prefixItems`, where it is accepted) must stand beside `type: "array"`.
    pub(crate) needs_items: bool,
    /// `items` may say nothing: `{}` or `true`.
    pub(crate) open_items: bool,
    /// `items` must stand there whatever else does, and may not be `false`.
    pub(crate) truthy_items: bool,
    /// An array with `prefixItems` and without `items` has no items beyond those.
    pub(crate) closed_tuples: bool,
}

impl ArrayRule {
    /// Any array.
    pub(crate) const OPEN: ArrayRule =
        ArrayRule { needs_items: false, open_items: true, truthy_items: false, closed_tuples: false };

    /// Does encoding write `items` where a schema has none?
    pub(crate) const fn say_items(self) -> bool {
        self.needs_items || !self.open_items
    }
}

/// How `enum` may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnumRule {
    /// A `type` must stand beside it, and every value must match it.
    pub(crate) needs_type: bool,
    /// A list of types beside it may only be `null` and one scalar type.
    pub(crate) nullable_scalar_only: bool,
    /// `null` stands first in that list where a value is null: the first numeric type refuses every other kind of
    /// value.
    pub(crate) null_first: bool,
    /// The kinds of value it may hold, by type name; `integer` is every number that has no fraction.
    pub(crate) kinds: &'static [&'static str],
    /// An empty string may be a value.
    pub(crate) empty_string: bool,
    /// Values may not hold this.
    pub(crate) without: Option<char>,
    /// Values of these types may be listed as strings, beside their type and `format: "enum"`.
    pub(crate) as_text: &'static [&'static str],
    /// A type beside it that no value has is refused.
    pub(crate) agrees: bool,
    /// It may have no value.
    pub(crate) empty: bool,
    /// No value may stand there twice.
    pub(crate) distinct: bool,
    /// Maximum number of values.
    pub(crate) most: usize,
}

impl EnumRule {
    /// Any list of values.
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
        most: usize::MAX,
    };
}

/// How `anyOf` may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnyOfRule {
    /// No `type` beside it.
    pub(crate) no_type_beside: bool,
    /// No keyword, known or not, both beside it and in a branch, except the annotations of the grammar.
    pub(crate) no_shared_keywords: bool,
    /// The keywords that may stand beside it; everything else goes into its branches.
    pub(crate) beside: Keywords,
    /// No two branches may be objects whose first property has the same name.
    pub(crate) distinct_first_keys: bool,
    /// Every branch says a `type` of its own, so that none is a union again.
    pub(crate) typed_branches: bool,
    /// The most branches.
    pub(crate) most: usize,
}

impl AnyOfRule {
    /// Any list of schemas.
    pub(crate) const OPEN: AnyOfRule = AnyOfRule {
        no_type_beside: false,
        no_shared_keywords: false,
        beside: Keywords::ALL,
        distinct_first_keys: false,
        typed_branches: false,
        most: usize::MAX,
    };
}
