//! Proves that two schemas have no instance in common, which is what lets `oneOf` be spelled `anyOf`.
//!
//! An answer of yes is a theorem of JSON Schema 2020-12; no means only that no proof was found. Whoever calls has
//! respelled what older drafts say otherwise. The search is bounded, and what it cannot read proves nothing.

use core::cmp::Ordering;

use super::{
    instance_types::InstanceTypes,
    intersect::{accepts_nothing, values, ByValue},
    keyword::{Keyword, Role},
};
use crate::{
    budget::Budget,
    collections::Map,
    json::{self, Data, Node, Text},
};

/// How much is looked at before the search gives up: schemas, and the names and values they list.
const MAX_STEPS: usize = 100_000;

/// How far down the search goes. No real tool schema passes 40.
const MAX_LEVELS: usize = 64;

/// No instance satisfies both.
pub(crate) fn disjoint(budget: &Budget, one: &Node<'_>, two: &Node<'_>) -> bool {
    Search { budget, steps: MAX_STEPS, levels: MAX_LEVELS }.disjoint(one, two)
}

struct Search<'b> {
    budget: &'b Budget,
    steps: usize,
    levels: usize,
}

impl Search<'_> {
    /// One level further down, if there is anything left to spend. Without an answer nothing is proved.
    fn below(&mut self, schemas: &[&Node<'_>], inside: impl FnOnce(&mut Self) -> bool) -> bool {
        let steps = breadth_of(schemas);
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(steps), self.levels.checked_sub(1)) else {
            return false;
        };
        // What `nullable` means beside other keywords is not agreed on, and here it should be gone.
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

    /// Every value that one lists is none of the other's.
    fn values_are_rejected(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let Some(listed) = listed(one) else { return false };
        if let Some(others) = self::listed(two) {
            let others = values(others);
            return values(listed).iter().all(|value| !others.contains(value));
        }
        listed.iter().all(|value| self.rejects(two, value))
    }

    /// For every kind of instance that both admit by type, something makes it impossible.
    fn kinds_are_rejected(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let common = kinds(one).and(kinds(two));
        let apart = |least: &[Keyword], most: &[Keyword]| {
            [(one, two), (two, one)].iter().any(|(low, high)| ends_before(low, most, high, least))
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

    /// A property that one requires can have no value that suits both.
    fn members_are_disjoint(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let Some(required) = one.get(Keyword::Required).and_then(Node::as_array) else { return false };
        let (ones, twos) = (Members::of(one), Members::of(two));
        required.iter().filter_map(Node::as_text).any(|name| match (ones.says_of(name), twos.says_of(name)) {
            (Some(ones), Some(twos)) => self.disjoint(ones, twos),
            (Some(only), None) | (None, Some(only)) => accepts_nothing(only),
            (None, None) => false,
        })
    }

    /// One is a list of branches that are each disjoint from the other, or says something further that is.
    fn parts_are_disjoint(&mut self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let branches = |keyword: &str| one.get(keyword).and_then(Node::as_array);
        let all = |search: &mut Self, keyword: &str| {
            branches(keyword)
                .is_some_and(|list| !list.is_empty() && list.iter().all(|branch| search.disjoint(branch, two)))
        };
        all(self, "anyOf")
            || all(self, "oneOf")
            || branches("allOf").is_some_and(|list| list.iter().any(|part| self.disjoint(part, two)))
    }

    /// The schema certainly does not accept the value.
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
        let lists = |keyword: &str| schema.get(keyword).and_then(Node::as_array);
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
        let required = schema.get(Keyword::Required).and_then(Node::as_array).unwrap_or_default();
        let members = Members::of(schema);
        required.iter().filter_map(Node::as_text).any(|name| object.get_text(name).is_none())
            || object
                .iter()
                .any(|member| members.says_of(&member.key).is_some_and(|inner| self.rejects(inner, &member.value)))
    }
}

/// What a schema says of the members of an object, by name.
struct Members<'s, 'a> {
    properties: Map<&'s Text<'a>, &'s Node<'a>>,
    /// What it says of all other names, if they can be told without matching patterns.
    rest: Option<&'s Node<'a>>,
}

impl<'s, 'a> Members<'s, 'a> {
    fn of(schema: &'s Node<'a>) -> Self {
        let table = |keyword: &str| schema.get(keyword).map(Node::as_object);
        let properties = table("properties");
        // A malformed table may say anything.
        let readable = !matches!(properties, Some(None));
        let no_patterns = table("patternProperties").is_none_or(|table| table.is_some_and(|table| table.is_empty()));
        Members {
            properties: properties.flatten().into_iter().flatten().map(|member| (&member.key, &member.value)).collect(),
            rest: schema.get(Keyword::AdditionalProperties).filter(|_| readable && no_patterns),
        }
    }

    fn says_of(&self, name: &Text<'_>) -> Option<&'s Node<'a>> {
        self.properties.get(name).copied().or(self.rest)
    }
}

/// All the values a schema can accept, where it lists them.
fn listed<'s, 'a>(schema: &'s Node<'a>) -> Option<&'s [Node<'a>]> {
    match schema.get(Keyword::Const) {
        Some(value) => Some(core::slice::from_ref(value)),
        // An empty list is a mistake that somebody may repair by dropping it.
        None => schema.get(Keyword::Enum).and_then(Node::as_array).filter(|values| !values.is_empty()),
    }
}

/// The kinds of instance a schema can accept, by its `type`, its values and a `not` that only speaks of types.
fn kinds(schema: &Node<'_>) -> InstanceTypes {
    let by_type =
        |schema: &Node<'_>| schema.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    let by_values = listed(schema)
        .map(|values| values.iter().map(InstanceTypes::of_instance).fold(InstanceTypes::NONE, InstanceTypes::or));
    let not = schema.get(Keyword::Not).filter(|not| speaks_only_of(not, &[Keyword::Type])).and_then(by_type);
    by_type(schema)
        .unwrap_or(InstanceTypes::ALL)
        .and(by_values.unwrap_or(InstanceTypes::ALL))
        .without(not.unwrap_or(InstanceTypes::NONE))
}

/// Nothing but these keywords and annotations.
fn speaks_only_of(schema: &Node<'_>, keywords: &[Keyword]) -> bool {
    schema.as_object().is_some_and(|object| {
        object.iter().all(|member| match Keyword::named(&member.key) {
            Some(keyword) if keyword.role() == Role::Assertion => keywords.contains(&keyword),
            _ => true,
        })
    })
}

/// One denies what the other always is: `not` of a schema that says of types and required names no more than the other
/// does.
fn denies(budget: &Budget, one: &Node<'_>, two: &Node<'_>) -> bool {
    let Some(not) = one.get(Keyword::Not) else { return false };
    if json::same_within(budget, not, two) {
        return true;
    }
    if !speaks_only_of(not, &[Keyword::Type, Keyword::Required]) {
        return false;
    }
    let common = kinds(one).and(kinds(two));
    let always_has = |names: &[Node<'_>]| {
        let known = two.get(Keyword::Required).and_then(Node::as_array).unwrap_or_default();
        !common.meets(InstanceTypes::OBJECT) || values(names).is_subset(&values(known))
    };
    let types = not.get(Keyword::Type).map_or(Some(InstanceTypes::ALL), InstanceTypes::of_keyword);
    types.is_some_and(|types| common.within(types))
        && not.get(Keyword::Required).is_none_or(|names| names.as_array().is_some_and(always_has))
}

fn breadth_of(schemas: &[&Node<'_>]) -> usize {
    schemas.iter().map(|schema| breadth(schema)).sum()
}

/// How many names and values a schema lists at its top, and itself.
fn breadth(schema: &Node<'_>) -> usize {
    let members = schema.as_object().into_iter().flatten();
    let lists = members.map(|member| match member.value.data() {
        Data::Array(items) => items.len(),
        Data::Object(object) => object.len(),
        _ => 1,
    });
    lists.sum::<usize>() + 1
}

/// One's largest lies below the other's smallest.
fn ends_before(low: &Node<'_>, most: &[Keyword], high: &Node<'_>, least: &[Keyword]) -> bool {
    let exclusive = |keyword: &Keyword| matches!(keyword, Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum);
    most.iter().any(|most| {
        least.iter().any(|least| match (number(low, *most), number(high, *least)) {
            (Some(end), Some(start)) => match json::compare(end, start) {
                Ordering::Less => true,
                Ordering::Equal => exclusive(most) || exclusive(least),
                Ordering::Greater => false,
            },
            _ => false,
        })
    })
}

fn number<'s>(schema: &'s Node<'_>, keyword: Keyword) -> Option<&'s str> {
    schema.get(keyword.name()).and_then(Node::as_number)
}
