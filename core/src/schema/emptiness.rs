//! Proves that no object is an instance of a schema, or that two schemas have no instance in common.
//!
//! Arguments are objects, so a tool's schema must accept at least one. If `admits_object` returns false, it is proved
//! that the schema accepts none; true only means that no contradiction was found. The function works on schemas as
//! read, in any form.
//!
//! If `disjoint` returns true, it is proved that no instance satisfies both schemas, for JSON Schema 2020-12. Then
//! `oneOf` may become `anyOf`. False only means that no proof was found. Older drafts must be respelled first. The
//! search is bounded, and malformed keywords prove nothing.

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

/// After this number of schemas, the answer is true.
const MAX_STEPS: usize = 10_000;

/// Maximum depth. No known tool schema nests ten unions at its root.
const MAX_LEVELS: usize = 64;

pub(crate) fn admits_object(root: &Node<'_>, form: Form, draft: Draft, budget: &Budget) -> bool {
    ObjectSearch { root, form, draft, budget, references: None, steps: MAX_STEPS }.object(root, MAX_LEVELS)
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
    fn object(&mut self, schema: &'s Node<'a>, levels: usize) -> bool {
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.steps = steps;
        self.budget.pay(1);
        if let Some(answer) = schema.as_bool() {
            return answer;
        }
        if schema.as_object().is_none() {
            return true;
        }
        if schema.get(Keyword::Ref).is_some() {
            let admitted = self.target(schema).is_none_or(|target| self.object(target, levels));
            if !admitted || self.draft.ignores_ref_siblings() {
                return admitted;
            }
        }
        if accepts_nothing(schema) || is_of_another_type(schema) || lists_no_object(schema) {
            return false;
        }
        let branches = |keyword: &str| schema.array_at(keyword).filter(|list| !list.is_empty());
        let all = branches("allOf").is_none_or(|parts| parts.iter().all(|part| self.object(part, levels)));
        all && ["anyOf", "oneOf"].into_iter().all(|keyword| {
            branches(keyword).is_none_or(|branches| branches.iter().any(|branch| self.object(branch, levels)))
        })
    }

    fn target(&mut self, schema: &Node<'a>) -> Option<&'s Node<'a>> {
        let (root, draft, budget) = (self.root, self.draft, self.budget);
        let form = self.form;
        // If the budget is spent, later walks report it.
        let references =
            self.references.get_or_insert_with(|| references::of(root, form, draft, budget).unwrap_or_default());
        references.located(root, references.target_of(schema)?)
    }
}

/// Returns true if `type` excludes objects. An invalid `type` will be repaired, and proves nothing.
fn is_of_another_type(schema: &Node<'_>) -> bool {
    let declared =
        schema.get(Keyword::Type).and_then(InstanceTypes::of_keyword).filter(|types| *types != InstanceTypes::NONE);
    declared.is_some_and(|types| !types.meets(InstanceTypes::OBJECT))
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

/// False proves nothing: references are not followed, and most contradictions between keywords are not looked for.
pub(crate) fn admits_nothing(schema: &Node<'_>, budget: &Budget) -> bool {
    nothing(schema, MAX_LEVELS, budget)
}

/// Like [`admits_nothing`], for a branch of a union. There an empty `enum` is intended: generators write it for
/// "never".
pub(crate) fn branch_admits_nothing(branch: &Node<'_>, budget: &Budget) -> bool {
    branch_is_nothing(branch, MAX_LEVELS, budget)
}

fn nothing(schema: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    budget.pay(1);
    // Most schemas have none of these keywords. Older drafts ignore siblings of a reference.
    const CONTRADICT: Keywords = Keywords::of(&[Keyword::Not, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);
    let present = schema.as_object().map(Keywords::in_object);
    if present.is_some_and(|present| !present.intersects(CONTRADICT) || present.contains(Keyword::Ref)) {
        return false;
    }
    if accepts_nothing(schema) {
        return true;
    }
    let list = |keyword| schema.array_at(keyword).filter(|list: &&[_]| !list.is_empty());
    let is_empty_union = |keyword| {
        list(keyword).is_some_and(|branches| branches.iter().all(|branch| branch_is_nothing(branch, levels, budget)))
    };
    is_empty_union(Keyword::AnyOf)
        || is_empty_union(Keyword::OneOf)
        || list(Keyword::AllOf).is_some_and(|parts| parts.iter().any(|part| nothing(part, levels, budget)))
}

fn branch_is_nothing(branch: &Node<'_>, levels: usize, budget: &Budget) -> bool {
    let has_no_value = branch.array_at(Keyword::Enum).is_some_and(<[_]>::is_empty);
    (has_no_value && branch.get(Keyword::Ref).is_none()) || nothing(branch, levels, budget)
}

/// Maximum number of schemas, names and values that the search inspects.
const MAX_DISJOINT_STEPS: usize = 100_000;

/// No known tool schema exceeds 40.
const MAX_DISJOINT_LEVELS: usize = 64;

pub(crate) fn disjoint(budget: &Budget, one: &Node<'_>, two: &Node<'_>) -> bool {
    DisjointSearch { budget, steps: MAX_DISJOINT_STEPS, levels: MAX_DISJOINT_LEVELS }.disjoint(one, two)
}

struct DisjointSearch<'b> {
    budget: &'b Budget,
    steps: usize,
    levels: usize,
}

impl DisjointSearch<'_> {
    fn below(&mut self, schemas: &[&Node<'_>], inside: impl FnOnce(&mut Self) -> bool) -> bool {
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
        let result = inside(self);
        self.levels += 1;
        result
    }

    fn disjoint(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        self.below(&[one, two], |search| search.is_proved(one, two))
    }

    fn is_proved(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        accepts_nothing(one)
            || accepts_nothing(two)
            || self.values_are_rejected(one, two)
            || self.values_are_rejected(two, one)
            || self.kinds_are_rejected(one, two)
            || denies(self.budget, one, two)
            || denies(self.budget, two, one)
            || self.parts_are_disjoint(one, two)
            || self.parts_are_disjoint(two, one)
    }

    fn values_are_rejected(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let Some(listed) = listed(one) else { return false };
        if let Some(others) = self::listed(two) {
            let others = values(others);
            return values(listed).iter().all(|value| !others.contains(value));
        }
        listed.iter().all(|value| self.rejects(two, value))
    }

    /// Returns true if, for every type that both schemas accept, another keyword excludes common instances.
    fn kinds_are_rejected(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let common = kinds(one).and(kinds(two));
        let apart = |minimums: &[Keyword], maximums: &[Keyword]| {
            [(one, two), (two, one)].iter().any(|(low, high)| ends_before(low, maximums, high, minimums))
        };
        let none_of = |types: InstanceTypes, rejected: bool| rejected || !common.meets(types);
        common
            .within(InstanceTypes::NUMBER.or(InstanceTypes::STRING).or(InstanceTypes::ARRAY).or(InstanceTypes::OBJECT))
            && none_of(
                InstanceTypes::NUMBER,
                apart(&[Keyword::Minimum, Keyword::ExclusiveMinimum], &[Keyword::Maximum, Keyword::ExclusiveMaximum]),
            )
            && none_of(InstanceTypes::STRING, apart(&[Keyword::MinLength], &[Keyword::MaxLength]))
            && none_of(InstanceTypes::ARRAY, apart(&[Keyword::MinItems], &[Keyword::MaxItems]))
            && (!common.meets(InstanceTypes::OBJECT)
                || apart(&[Keyword::MinProperties], &[Keyword::MaxProperties])
                || self.members_are_disjoint(one, two)
                || self.members_are_disjoint(two, one))
    }

    fn members_are_disjoint(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let Some(required) = one.array_at(Keyword::Required) else { return false };
        let (ones, twos) = (Members::of(one), Members::of(two));
        required.iter().filter_map(Node::as_text).any(|name| match (ones.schema_of(name), twos.schema_of(name)) {
            (Some(ones), Some(twos)) => self.disjoint(ones, twos),
            (Some(only), None) | (None, Some(only)) => accepts_nothing(only),
            (None, None) => false,
        })
    }

    fn parts_are_disjoint(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let branches = |keyword: &str| one.array_at(keyword);
        let all = |search: &mut Self, keyword: &str| {
            branches(keyword)
                .is_some_and(|list| !list.is_empty() && list.iter().all(|branch| search.disjoint(branch, two)))
        };
        all(self, "anyOf")
            || all(self, "oneOf")
            || branches("allOf").is_some_and(|list| list.iter().any(|part| self.disjoint(part, two)))
    }

    fn rejects(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        self.below(&[schema], |search| search.is_rejected(schema, value))
    }

    fn is_rejected(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        let is = InstanceTypes::of_instance(value);
        let bound = |keyword: Keyword, wrong: fn(Ordering) -> bool| {
            number(schema, keyword)
                .zip(value.as_number())
                .is_some_and(|(bound, value)| wrong(json::compare(value, bound)))
        };
        let lists = |keyword: &str| schema.array_at(keyword);
        accepts_nothing(schema)
            || !is.meets(kinds(schema))
            || listed(schema).is_some_and(|values| !values.iter().any(|listed| ByValue(listed) == ByValue(value)))
            || bound(Keyword::Minimum, Ordering::is_lt)
            || bound(Keyword::ExclusiveMinimum, Ordering::is_le)
            || bound(Keyword::Maximum, Ordering::is_gt)
            || bound(Keyword::ExclusiveMaximum, Ordering::is_ge)
            || self.rejects_members(schema, value)
            || lists("allOf").is_some_and(|parts| parts.iter().any(|part| self.rejects(part, value)))
            || ["anyOf", "oneOf"].into_iter().any(|keyword| {
                lists(keyword)
                    .is_some_and(|list| !list.is_empty() && list.iter().all(|branch| self.rejects(branch, value)))
            })
    }

    fn rejects_members(&mut self, schema: &Node<'_>, value: &Node<'_>) -> bool {
        let Some(object) = value.as_object() else { return false };
        let required = schema.items_at(Keyword::Required);
        let members = Members::of(schema);
        required.iter().filter_map(Node::as_text).any(|name| object.get_text(name).is_none())
            || object
                .iter()
                .any(|member| members.schema_of(&member.key).is_some_and(|inner| self.rejects(inner, &member.value)))
    }
}

struct Members<'s, 'a> {
    properties: Map<&'s Text<'a>, &'s Node<'a>>,
    /// Schema of all other names, if it is known without matching patterns.
    rest: Option<&'s Node<'a>>,
}

impl<'s, 'a> Members<'s, 'a> {
    fn of(schema: &'s Node<'a>) -> Self {
        let table = |keyword: &str| schema.get(keyword).map(Node::as_object);
        let properties = table("properties");
        // A malformed table proves nothing, because a repair may replace it with any other.
        let readable = !matches!(properties, Some(None));
        let no_patterns = table("patternProperties").is_none_or(|table| table.is_some_and(|table| table.is_empty()));
        Members {
            properties: properties.flatten().into_iter().flatten().map(|member| (&member.key, &member.value)).collect(),
            rest: schema.get(Keyword::AdditionalProperties).filter(|_| readable && no_patterns),
        }
    }

    fn schema_of(&self, name: &Text<'_>) -> Option<&'s Node<'a>> {
        self.properties.get(name).copied().or(self.rest)
    }
}

fn listed<'s, 'a>(schema: &'s Node<'a>) -> Option<&'s [Node<'a>]> {
    match schema.get(Keyword::Const) {
        Some(value) => Some(core::slice::from_ref(value)),
        // An empty list is malformed, and a repair may remove it.
        None => schema.array_at(Keyword::Enum).filter(|values| !values.is_empty()),
    }
}

fn kinds(schema: &Node<'_>) -> InstanceTypes {
    let by_type =
        |schema: &Node<'_>| schema.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    let by_values = listed(schema)
        .map(|values| values.iter().map(InstanceTypes::of_instance).fold(InstanceTypes::NONE, InstanceTypes::or));
    let not = schema.get(Keyword::Not).filter(|not| asserts_only(not, &[Keyword::Type])).and_then(by_type);
    by_type(schema)
        .unwrap_or(InstanceTypes::ALL)
        .and(by_values.unwrap_or(InstanceTypes::ALL))
        .without(not.unwrap_or(InstanceTypes::NONE))
}

fn asserts_only(schema: &Node<'_>, keywords: &[Keyword]) -> bool {
    schema.as_object().is_some_and(|object| {
        object.iter().all(|member| match Keyword::named(&member.key) {
            Some(keyword) if keyword.role() == Role::Assertion => keywords.contains(&keyword),
            _ => true,
        })
    })
}

/// Returns true if `not` of the first schema excludes every instance of the second schema. Then `not` contains the same
/// schema, or only types and required names that all these instances have.
fn denies(budget: &Budget, one: &Node<'_>, two: &Node<'_>) -> bool {
    let Some(not) = one.get(Keyword::Not) else { return false };
    if json::same_within(budget, not, two) {
        return true;
    }
    if !asserts_only(not, &[Keyword::Type, Keyword::Required]) {
        return false;
    }
    let common = kinds(one).and(kinds(two));
    let always_has = |names: &[Node<'_>]| {
        let known = two.items_at(Keyword::Required);
        !common.meets(InstanceTypes::OBJECT) || values(names).is_subset(&values(known))
    };
    let types = not.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    types.is_some_and(|types| common.within(types))
        && not.get(Keyword::Required).is_none_or(|names| names.as_array().is_some_and(always_has))
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

fn ends_before(low: &Node<'_>, maximums: &[Keyword], high: &Node<'_>, minimums: &[Keyword]) -> bool {
    let exclusive = |keyword: &Keyword| matches!(keyword, Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum);
    maximums.iter().any(|maximums| {
        minimums.iter().any(|minimums| match (number(low, *maximums), number(high, *minimums)) {
            (Some(end), Some(start)) => match json::compare(end, start) {
                Ordering::Less => true,
                Ordering::Equal => exclusive(maximums) || exclusive(minimums),
                Ordering::Greater => false,
            },
            _ => false,
        })
    })
}

fn number<'s>(schema: &'s Node<'_>, keyword: Keyword) -> Option<&'s str> {
    schema.get(keyword.name()).and_then(Node::as_number)
}
