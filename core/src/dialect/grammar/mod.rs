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

/// The language of one API surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// What `check` finds nothing in is returned as it is, unless an option asks for more. `false`: the rules run on
    /// everything, because the documentation asks for a form that the validator does not insist on.
    pub(crate) accept_unchanged: bool,
    /// The root must say `type: "object"` and nothing else.
    pub(crate) object_root: bool,
    /// Or it is a reference.
    pub(crate) root_reference: bool,
    /// Keywords that may not stand at the root, though they may further down.
    pub(crate) root_refuses: Keywords,
    /// Except unions whose branches all say `type: "object"` themselves.
    pub(crate) root_unions_of_objects: bool,
    /// Keywords that may not stand anywhere.
    pub(crate) refuses: Keywords,
    /// Keywords that may not stand beside certain others, or beside certain types.
    pub(crate) conflicts: &'static [Conflict],
    /// Keywords that are accepted and have no effect: `check` says so, and nothing is done about them.
    pub(crate) ignores: Keywords,
    /// What else keywords need to have an effect.
    pub(crate) effects: Effects,
    /// What else the API takes: a schema that one of these takes whole is accepted, though this one refuses it.
    pub(crate) alternatives: &'static [&'static Grammar],
    /// Keys that JSON Schema does not have: `None`, any may stand; else only these.
    pub(crate) unknown: Option<&'static [&'static str]>,
    /// What `$schema` must speak of; `None`: anything.
    pub(crate) drafts: Option<&'static [&'static str]>,
    /// Every keyword's value must be what the 2020-12 meta-schema says.
    pub(crate) metaschema: bool,
    /// Only the values of these must be, where `metaschema` is not set.
    pub(crate) checked_values: Keywords,
    /// Keywords that are fields of a message: their value is of the kind that the field has, or a text that spells it,
    /// and null says nothing.
    pub(crate) fields: Keywords,
    /// The names that `type` may hold.
    pub(crate) types: &'static [&'static str],
    /// Whether type names may be in upper case, or numbers, as in Google's protocol.
    pub(crate) protocol_types: bool,
    /// Keywords that may stand only beside a type that they apply to.
    pub(crate) beside_their_type: Keywords,
    /// Which lists of types may stand under `type`.
    pub(crate) type_lists: TypeLists,
    /// What a schema that says nothing of types needs.
    pub(crate) typed: TypeRequirement,
    /// Where `types`, `type_lists`, `typed` and `arrays.needs_items` hold.
    pub(crate) walked: Walk,
    /// How "anything" is said where a schema needs a type.
    pub(crate) anything: AnyEncoding,
    /// How null is admitted where lists of types may not say it.
    pub(crate) null: Null,
    /// The keywords whose schemas are looked into.
    pub(crate) through: Keywords,
    /// What the root's description says is read.
    pub(crate) describes_root: bool,
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
    /// How objects may be written.
    pub(crate) objects: ObjectRule,
    /// How arrays may be written.
    pub(crate) arrays: ArrayRule,
    /// Which regular expressions compile.
    pub(crate) patterns: PatternRule,
    /// The values of `format`: `None`, any; else by type, none where a type is not listed, and any where its list is
    /// empty.
    pub(crate) formats: Option<&'static [(&'static str, &'static [&'static str])]>,
    /// Keywords whose number may not be larger than this.
    pub(crate) at_most: &'static [(Keyword, u64)],
    /// Numbers of a keyword that are refused although smaller and larger ones are not: the first and the last.
    pub(crate) gaps: &'static [(Keyword, u64, u64)],
    /// `required` may name only properties of the same schema.
    pub(crate) required_is_known: bool,
    /// That is so only where `properties` stand beside `type: "object"`, and at the root.
    pub(crate) required_needs_properties: bool,
    /// `required` may stand only beside `properties` that are not empty, even if it is an empty list.
    pub(crate) required_beside_properties: bool,
    /// Below these it may name anything.
    pub(crate) required_is_free_under: Keywords,
    /// The root may be a boolean, where boolean schemas may stand.
    pub(crate) boolean_root: bool,
    /// Boolean schemas may stand where a schema belongs (beyond `additionalProperties`).
    pub(crate) boolean_schemas: bool,
    /// Properties of the root may be boolean schemas.
    pub(crate) root_booleans: bool,
    /// `false` may be one of them (beyond `items`).
    pub(crate) false_schemas: bool,
    /// `items` may be `true`.
    pub(crate) true_items: bool,
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
    /// Counts are written without a fraction and an exponent.
    pub(crate) plain_counts: bool,
    /// No maximum of a count may be below its minimum.
    pub(crate) ordered_counts: bool,
    /// Numbers must lie within the range of a 64-bit float.
    pub(crate) finite_numbers: bool,
    /// Characters that count six bytes each where the whole is measured.
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
    /// The most values.
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
