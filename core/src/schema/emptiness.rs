//! Proves that no object is an instance of a schema, or that two schemas have no instance in common.
//!
//! Arguments are objects, so a tool's schema must accept at least one object. If `admits_object` returns false, it is
//! proved that the schema accepts no object. True only means that no contradiction was found. The schema may be
//! as the caller wrote it, or rewritten by passes.
//!
//! If `are_disjoint` returns true, it is proved that no instance satisfies both schemas, for JSON Schema 2020-12. Then
//! `oneOf` may become `anyOf`. False only means that no proof was found. Schemas of older drafts must be converted
//! first. The search is bounded, and malformed keywords prove nothing.

use core::cmp::Ordering;

use super::{
    instance_types::InstanceTypes,
    intersect::{accepts_nothing, values, ByValue},
    keyword::{Draft, Keyword, Role},
    references::{self, Form, References},
};
use crate::{
    budget::Budget,
    collections::Map,
    json::{self, Data, Node, Object, Text},
    schema::keyword::Keywords,
};

/// Maximum number of schemas that the search for an object inspects. If there are more, the result is true.
const MAX_STEPS: usize = 10_000;

/// Maximum depth of the search for an object. No known tool schema nests ten unions at its root.
const MAX_LEVELS: usize = 64;

pub(crate) fn admits_object(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> bool {
    ObjectSearch { root, form, draft, budget, references: None, steps: MAX_STEPS }.search_object(root, MAX_LEVELS)
}

struct ObjectSearch<'s, 'a> {
    root: &'s Node<'a>,
    form: Form,
    draft: Draft,
    budget: &'s Budget,
    /// References are collected on first use, because most roots have no references.
    references: Option<References>,
    steps: usize,
}

impl<'s, 'a> ObjectSearch<'s, 'a> {
    fn search_object(&mut self, schema: &'s Node<'a>, levels: usize) -> bool {
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.steps = steps;
        self.budget.pay(1);
        if let Some(value) = schema.as_bool() {
            return value;
        }
        if schema.as_object().is_none() {
            return true;
        }
        if schema.get(Keyword::Ref).is_some() {
            let admitted = self.target(schema).is_none_or(|target| self.search_object(target, levels));
            if !admitted || self.draft.ignores_ref_siblings() {
                return admitted;
            }
        }
        if accepts_nothing(schema) || type_excludes_objects(schema) || lists_no_object(schema) {
            return false;
        }
        let branches = |keyword: &str| schema.array_at(keyword).filter(|list| !list.is_empty());
        let all_parts = branches("allOf").is_none_or(|parts| parts.iter().all(|part| self.search_object(part, levels)));
        all_parts
            && ["anyOf", "oneOf"].into_iter().all(|keyword| {
                branches(keyword)
                    .is_none_or(|branches| branches.iter().any(|branch| self.search_object(branch, levels)))
            })
    }

    fn target(&mut self, schema: &Node<'a>) -> Option<&'s Node<'a>> {
        let (root, draft, budget) = (self.root, self.draft, self.budget);
        let form = self.form;
        // If the budget is spent, later walks report it.
        let references =
            self.references.get_or_insert_with(|| references::of(root, form, draft, budget).unwrap_or_default());
        references.target_node(root, references.target_of(schema)?)
    }
}

/// An invalid `type` proves nothing, because it will be repaired.
fn type_excludes_objects(schema: &Node<'_>) -> bool {
    let declared =
        schema.get(Keyword::Type).and_then(InstanceTypes::of_keyword).filter(|types| *types != InstanceTypes::NONE);
    declared.is_some_and(|types| !types.intersects(InstanceTypes::OBJECT))
}

/// Returns true if `enum` or `const` lists no object. An empty list is malformed, and will be repaired.
fn lists_no_object(schema: &Node<'_>) -> bool {
    let listed = schema.array_at(Keyword::Enum).filter(|values| !values.is_empty());
    listed.is_some_and(|values| values.iter().all(|value| value.as_object().is_none()))
        || schema.get(Keyword::Const).is_some_and(|value| value.as_object().is_none())
}

pub(crate) fn is_never(node: &Node<'_>) -> bool {
    node.get(Keyword::Not)
        .is_some_and(|not| not.as_bool() == Some(true) || not.as_object().is_some_and(Object::is_empty))
}

/// Returns true if the schema certainly accepts nothing. False proves nothing: references are not followed, and few
/// contradictions between keywords are detected.
pub(crate) fn admits_nothing(schema: &Node<'_>, budget: &Budget) -> bool {
    certainly_admits_nothing(schema, MAX_LEVELS, budget)
}

/// Like [`admits_nothing`], for a branch of a union. An empty `enum` is intended in a branch: generators write it for
/// "never".
pub(crate) fn branch_admits_nothing(branch: &Node<'_>, budget: &Budget) -> bool {
    branch_certainly_admits_nothing(branch, MAX_LEVELS, budget)
}

fn certainly_admits_nothing(schema: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    budget.pay(1);
    // Most schemas have none of these keywords. Siblings of `$ref` prove nothing, because older drafts ignore them.
    const INSPECTED: Keywords = Keywords::of(&[Keyword::Not, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);
    let present = schema.as_object().map(Keywords::in_object);
    if present.is_some_and(|present| !present.intersects(INSPECTED) || present.contains(Keyword::Ref)) {
        return false;
    }
    if accepts_nothing(schema) {
        return true;
    }
    let list_at = |keyword| schema.array_at(keyword).filter(|list: &&[_]| !list.is_empty());
    let is_empty_union = |keyword| {
        list_at(keyword).is_some_and(|branches| {
            branches.iter().all(|branch| branch_certainly_admits_nothing(branch, levels, budget))
        })
    };
    is_empty_union(Keyword::AnyOf)
        || is_empty_union(Keyword::OneOf)
        || list_at(Keyword::AllOf)
            .is_some_and(|parts| parts.iter().any(|part| certainly_admits_nothing(part, levels, budget)))
}

fn branch_certainly_admits_nothing(branch: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let has_no_value = branch.array_at(Keyword::Enum).is_some_and(<[_]>::is_empty);
    (has_no_value && branch.get(Keyword::Ref).is_none()) || certainly_admits_nothing(branch, levels, budget)
}

/// Maximum number of schemas, names and values that a proof of disjointness inspects.
const MAX_DISJOINT_STEPS: usize = 100_000;

/// Maximum nesting that a proof of disjointness inspects. No known tool schema nests deeper than 40.
const MAX_DISJOINT_LEVELS: usize = 64;

pub(crate) fn are_disjoint(budget: &Budget, left: &Node<'_>, right: &Node<'_>) -> bool {
    DisjointSearch { budget, steps: MAX_DISJOINT_STEPS, levels: MAX_DISJOINT_LEVELS }.are_disjoint(left, right)
}

struct DisjointSearch<'b> {
    budget: &'b Budget,
    steps: usize,
    levels: usize,
}

impl DisjointSearch<'_> {
    fn search_within_limits(&mut self, schemas: &[&Node<'_>], search: impl FnOnce(&mut Self) -> bool) -> bool {
        let steps = breadth_of(schemas);
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(steps), self.levels.checked_sub(1)) else {
            return false;
        };
        // The meaning of `nullable` next to other keywords is disputed, and earlier passes remove it.
        if !self.budget.pay(breadth_of(schemas)) || schemas.iter().any(|schema| schema.get(Keyword::Nullable).is_some())
        {
            return false;
        }
        (self.steps, self.levels) = (steps, levels);
        let result = search(self);
        self.levels += 1;
        result
    }

    fn are_disjoint(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        self.search_within_limits(&[left, right], |search| search.is_proved_disjoint(left, right))
    }

    fn is_proved_disjoint(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        accepts_nothing(left)
            || accepts_nothing(right)
            || self.listed_values_are_rejected(left, right)
            || self.listed_values_are_rejected(right, left)
            || self.common_types_are_excluded(left, right)
            || not_excludes(self.budget, left, right)
            || not_excludes(self.budget, right, left)
            || self.parts_are_disjoint(left, right)
            || self.parts_are_disjoint(right, left)
    }

    fn listed_values_are_rejected(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        let Some(listed) = listed_values(left) else { return false };
        if let Some(other_values) = listed_values(right) {
            let other_values = values(other_values);
            return values(listed).iter().all(|value| !other_values.contains(value));
        }
        listed.iter().all(|value| self.rejects(right, value))
    }

    /// Returns true if, for every type that both schemas accept, another keyword excludes common instances.
    fn common_types_are_excluded(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        let common_types = types_of(left).and(types_of(right));
        let have_disjoint_ranges = |minimums: &[Keyword], maximums: &[Keyword]| {
            [(left, right), (right, left)].iter().any(|(low, high)| ends_before(low, maximums, high, minimums))
        };
        let is_excluded = |types: InstanceTypes, rejected: bool| rejected || !common_types.intersects(types);
        common_types.is_subset_of(
            InstanceTypes::NUMBER.or(InstanceTypes::STRING).or(InstanceTypes::ARRAY).or(InstanceTypes::OBJECT),
        ) && is_excluded(
            InstanceTypes::NUMBER,
            have_disjoint_ranges(
                &[Keyword::Minimum, Keyword::ExclusiveMinimum],
                &[Keyword::Maximum, Keyword::ExclusiveMaximum],
            ),
        ) && is_excluded(InstanceTypes::STRING, have_disjoint_ranges(&[Keyword::MinLength], &[Keyword::MaxLength]))
            && is_excluded(InstanceTypes::ARRAY, have_disjoint_ranges(&[Keyword::MinItems], &[Keyword::MaxItems]))
            && (!common_types.intersects(InstanceTypes::OBJECT)
                || have_disjoint_ranges(&[Keyword::MinProperties], &[Keyword::MaxProperties])
                || self.members_are_disjoint(left, right)
                || self.members_are_disjoint(right, left))
    }

    fn members_are_disjoint(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        let Some(required) = left.array_at(Keyword::Required) else { return false };
        let (left_members, right_members) = (MemberSchemas::of(left), MemberSchemas::of(right));
        required.iter().filter_map(Node::as_text).any(|name| {
            match (left_members.schema_of(name), right_members.schema_of(name)) {
                (Some(left_schema), Some(right_schema)) => self.are_disjoint(left_schema, right_schema),
                (Some(only), None) | (None, Some(only)) => accepts_nothing(only),
                (None, None) => false,
            }
        })
    }

    fn parts_are_disjoint(&mut self, left: &Node<'_>, right: &Node<'_>) -> bool {
        let branches = |keyword: &str| left.array_at(keyword);
        let all = |search: &mut Self, keyword: &str| {
            branches(keyword)
                .is_some_and(|list| !list.is_empty() && list.iter().all(|branch| search.are_disjoint(branch, right)))
        };
        all(self, "anyOf")
            || all(self, "oneOf")
            || branches("allOf").is_some_and(|list| list.iter().any(|part| self.are_disjoint(part, right)))
    }

    fn rejects(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        self.search_within_limits(&[schema], |search| search.is_rejected(schema, value))
    }

    fn is_rejected(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        let value_type = InstanceTypes::of_instance(value);
        let violates = |keyword: Keyword, is_violated: fn(Ordering) -> bool| {
            number(schema, keyword)
                .zip(value.as_number())
                .is_some_and(|(bound, value)| is_violated(json::compare(value, bound)))
        };
        let list_at = |keyword: &str| schema.array_at(keyword);
        accepts_nothing(schema)
            || !value_type.intersects(types_of(schema))
            || listed_values(schema)
                .is_some_and(|values| !values.iter().any(|listed| ByValue(listed) == ByValue(value)))
            || violates(Keyword::Minimum, Ordering::is_lt)
            || violates(Keyword::ExclusiveMinimum, Ordering::is_le)
            || violates(Keyword::Maximum, Ordering::is_gt)
            || violates(Keyword::ExclusiveMaximum, Ordering::is_ge)
            || self.rejects_members(schema, value)
            || list_at("allOf").is_some_and(|parts| parts.iter().any(|part| self.rejects(part, value)))
            || ["anyOf", "oneOf"].into_iter().any(|keyword| {
                list_at(keyword)
                    .is_some_and(|list| !list.is_empty() && list.iter().all(|branch| self.rejects(branch, value)))
            })
    }

    fn rejects_members(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        let Some(object) = value.as_object() else { return false };
        let required = schema.items_at(Keyword::Required);
        let members = MemberSchemas::of(schema);
        required.iter().filter_map(Node::as_text).any(|name| object.get_text(name).is_none())
            || object
                .iter()
                .any(|member| members.schema_of(&member.key).is_some_and(|inner| self.rejects(inner, &member.value)))
    }
}

struct MemberSchemas<'s, 'a> {
    properties: Map<&'s Text<'a>, &'s Node<'a>>,
    /// `None` if the schema depends on patterns.
    schema_of_other_names: Option<&'s Node<'a>>,
}

impl<'s, 'a> MemberSchemas<'s, 'a> {
    fn of(schema: &'s Node<'a>) -> Self {
        let table = |keyword: &str| schema.get(keyword).map(Node::as_object);
        let properties = table("properties");
        // A malformed table proves nothing, because a repair may replace it with any other table.
        let is_readable = !matches!(properties, Some(None));
        let has_no_patterns =
            table("patternProperties").is_none_or(|table| table.is_some_and(|table| table.is_empty()));
        MemberSchemas {
            properties: properties.flatten().into_iter().flatten().map(|member| (&member.key, &member.value)).collect(),
            schema_of_other_names: schema.get(Keyword::AdditionalProperties).filter(|_| is_readable && has_no_patterns),
        }
    }

    fn schema_of(&self, name: &Text<'_>) -> Option<&'s Node<'a>> {
        self.properties.get(name).copied().or(self.schema_of_other_names)
    }
}

fn listed_values<'s, 'a>(schema: &'s Node<'a>) -> Option<&'s [Node<'a>]> {
    match schema.get(Keyword::Const) {
        Some(value) => Some(core::slice::from_ref(value)),
        // An empty list is malformed, and a repair may remove it.
        None => schema.array_at(Keyword::Enum).filter(|values| !values.is_empty()),
    }
}

fn types_of(schema: &Node<'_>) -> InstanceTypes {
    let declared_types =
        |schema: &Node<'_>| schema.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    let types_of_values = listed_values(schema)
        .map(|values| values.iter().map(InstanceTypes::of_instance).fold(InstanceTypes::NONE, InstanceTypes::or));
    let excluded_types =
        schema.get(Keyword::Not).filter(|excluded| asserts_only(excluded, &[Keyword::Type])).and_then(declared_types);
    declared_types(schema)
        .unwrap_or(InstanceTypes::ALL)
        .and(types_of_values.unwrap_or(InstanceTypes::ALL))
        .without(excluded_types.unwrap_or(InstanceTypes::NONE))
}

fn asserts_only(schema: &Node<'_>, keywords: &[Keyword]) -> bool {
    schema.as_object().is_some_and(|object| {
        object.iter().all(|member| match Keyword::named(&member.key) {
            Some(keyword) if keyword.role() == Role::Assertion => keywords.contains(&keyword),
            _ => true,
        })
    })
}

/// Returns true if `not` of the left schema excludes every instance of the right schema. Then `not` repeats the right
/// schema, or contains only types and required names of all these instances.
fn not_excludes(budget: &Budget, left: &Node<'_>, right: &Node<'_>) -> bool {
    let Some(not) = left.get(Keyword::Not) else { return false };
    if json::same_within(budget, not, right) {
        return true;
    }
    if !asserts_only(not, &[Keyword::Type, Keyword::Required]) {
        return false;
    }
    let common_types = types_of(left).and(types_of(right));
    let always_require = |names: &[Node<'_>]| {
        let required = right.items_at(Keyword::Required);
        !common_types.intersects(InstanceTypes::OBJECT) || values(names).is_subset(&values(required))
    };
    let types = not.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    types.is_some_and(|types| common_types.is_subset_of(types))
        && not.get(Keyword::Required).is_none_or(|names| names.as_array().is_some_and(always_require))
}

fn breadth_of(schemas: &[&Node<'_>]) -> usize {
    schemas.iter().map(|schema| breadth(schema)).sum()
}

fn breadth(schema: &Node<'_>) -> usize {
    let members = schema.as_object().into_iter().flatten();
    let lists = members.map(|member| match member.value.data() {
        Data::Array(items) => items.len(),
        Data::Object(object) => object.len(),
        _ => 1,
    });
    lists.sum::<usize>() + 1
}

fn ends_before(lower: &Node<'_>, maximums: &[Keyword], upper: &Node<'_>, minimums: &[Keyword]) -> bool {
    let is_exclusive = |keyword: &Keyword| matches!(keyword, Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum);
    maximums.iter().any(|maximums| {
        minimums.iter().any(|minimums| match (number(lower, *maximums), number(upper, *minimums)) {
            (Some(end), Some(start)) => match json::compare(end, start) {
                Ordering::Less => true,
                Ordering::Equal => is_exclusive(maximums) || is_exclusive(minimums),
                Ordering::Greater => false,
            },
            _ => false,
        })
    })
}

fn number<'s>(schema: &'s Node<'_>, keyword: Keyword) -> Option<&'s str> {
    schema.get(keyword.name()).and_then(Node::as_number)
}
