//! Merges two values of a keyword that does not depend on other keywords. Lists are compared as sorted sets. Values are
//! equal in that order exactly if `json::same` returns true.

use alloc::{borrow::Cow, format, string::ToString, vec::Vec};
use core::cmp::Ordering;

use super::{
    operands::{Chosen, MergedMember, Operands, Value},
    Impossible, Merge, Operand,
};
use crate::{
    collections::{self, Set},
    json::{self, Data, Member, Node, Text},
    schema::{
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords, Role},
    },
};

impl<'a> Merge<'_, 'a> {
    /// Marks the result as inexact if an older spelling on one side affects a keyword of the other.
    pub(super) fn mark_older_spellings(&mut self, outer: &Node<'a>, inner: &Node<'a>) {
        let has =
            |node: &Node<'a>, keywords: &[Keyword]| keywords.iter().any(|keyword| node.get(keyword.name()).is_some());
        let is_true = |node: &Node<'a>, keyword: Keyword| {
            node.get(keyword.name()).is_some_and(|value| value.as_bool() == Some(true))
        };
        for (side, other) in [(outer, inner), (inner, outer)] {
            self.inexact |= is_true(side, Keyword::Nullable)
                && has(other, &[Keyword::Type, Keyword::Enum, Keyword::Const])
                || has(side, &[Keyword::AdditionalItems]) && has(other, &[Keyword::Items, Keyword::PrefixItems])
                || is_true(side, Keyword::ExclusiveMinimum) && has(other, &[Keyword::Minimum])
                || is_true(side, Keyword::ExclusiveMaximum) && has(other, &[Keyword::Maximum]);
        }
    }

    pub(super) fn merge_value(&mut self, merged_member: &mut MergedMember<'a>) -> Result<(), Impossible> {
        let (Some(outer), Some(inner)) = merged_member.value.take() else { return Ok(()) };
        let chosen = match merged_member.keyword {
            Some(keyword) if matches!(keyword.role(), Role::Assertion | Role::Definitions) => {
                self.merge_assertion(keyword, outer, inner)?
            }
            Some(Keyword::Description) => self.merge_descriptions(outer, inner),
            keyword => {
                let are_same = self.are_same(&outer, &inner);
                self.guidance_lost |= !are_same && keyword != Some(Keyword::Comment);
                if are_same {
                    Chosen::Either(outer, inner)
                } else {
                    Chosen::Outer(outer)
                }
            }
        };
        merged_member.value = Value::Merged(chosen);
        Ok(())
    }

    fn merge_assertion(
        &mut self,
        keyword: Keyword,
        outer: Node<'a>,
        inner: Node<'a>,
    ) -> Result<Chosen<'a>, Impossible> {
        match keyword {
            Keyword::Type => self.merge_types(outer, inner),
            Keyword::Enum => self.merge_enums(outer, inner),
            Keyword::Const if self.are_same(&outer, &inner) => Ok(Chosen::Either(outer, inner)),
            Keyword::Const => Err(Impossible),
            Keyword::Minimum
            | Keyword::ExclusiveMinimum
            | Keyword::MinLength
            | Keyword::MinItems
            | Keyword::MinProperties => Ok(self.choose_tighter(keyword, Ordering::Greater, outer, inner)),
            Keyword::Maximum
            | Keyword::ExclusiveMaximum
            | Keyword::MaxLength
            | Keyword::MaxItems
            | Keyword::MaxProperties => Ok(self.choose_tighter(keyword, Ordering::Less, outer, inner)),
            Keyword::MultipleOf => Ok(self.least_common_multiple(outer, inner)),
            Keyword::UniqueItems => Ok(match (outer.as_bool(), inner.as_bool()) {
                (Some(true), Some(false)) => Chosen::Outer(outer),
                (Some(false), Some(true)) => Chosen::Inner(inner),
                _ => self.keep_outer_unless_equal(keyword, outer, inner),
            }),
            Keyword::Required => Ok(self.union_of_names(keyword, outer, inner)),
            Keyword::DependentRequired => Ok(self.merge_tables(keyword, outer, inner, |merge, outer, inner| {
                merge.union_of_names(keyword, outer, inner)
            })),
            Keyword::DependentSchemas => Ok(self.merge_tables(keyword, outer, inner, Merge::merge_schemas)),
            Keyword::Defs | Keyword::Definitions => {
                Ok(self.merge_tables(keyword, outer, inner, |merge, outer, inner| {
                    // References of the outer schema keep their meaning; references of the inner schema are the
                    // caller's task.
                    let are_equal = merge.are_same(&outer, &inner);
                    merge.inexact |= !are_equal;
                    if are_equal {
                        Chosen::Either(outer, inner)
                    } else {
                        Chosen::Outer(outer)
                    }
                }))
            }
            Keyword::PropertyNames | Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties => {
                Ok(self.merge_under(keyword, outer, inner))
            }
            Keyword::AllOf => Ok(self.all_of(outer, inner)),
            Keyword::AnyOf => self.any_of(outer, inner),
            Keyword::Not => self.not(outer, inner),
            _ => Ok(self.keep_outer_unless_equal(keyword, outer, inner)),
        }
    }

    pub(super) fn keep_outer_unless_equal(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        if self.are_same(&outer, &inner) {
            return Chosen::Either(outer, inner);
        }
        self.push_residual(Operand::Inner, keyword, [(keyword, inner)]);
        Chosen::Outer(outer)
    }

    fn merge_types(&mut self, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        let (Some(ours), Some(theirs)) = (InstanceTypes::of_keyword(&outer), InstanceTypes::of_keyword(&inner)) else {
            return Ok(self.keep_outer_unless_equal(Keyword::Type, outer, inner));
        };
        match ours.and(theirs) {
            InstanceTypes::NONE => Err(Impossible),
            types if types == ours && types == theirs => Ok(Chosen::Either(outer, inner)),
            types if types == ours => Ok(Chosen::Outer(outer)),
            types if types == theirs => Ok(Chosen::Inner(inner)),
            types => {
                let data = types.spelled_like(&outer);
                Ok(Chosen::New(with_data(outer, data)))
            }
        }
    }

    fn merge_enums(&mut self, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        let (Some(ours), Some(theirs)) = (outer.as_array(), inner.as_array()) else {
            return Ok(self.keep_outer_unless_equal(Keyword::Enum, outer, inner));
        };
        let (our_values, their_values) = (values(ours), values(theirs));
        let common = ours.iter().filter(|value| their_values.contains(&ByValue(value)));
        let (common_count, distinct_common_count) =
            (common.count(), our_values.iter().filter(|value| their_values.contains(*value)).count());
        if distinct_common_count == 0 {
            return Err(Impossible);
        }
        let chosen = match (common_count == ours.len(), distinct_common_count == their_values.len()) {
            (true, true) => Chosen::Either(outer, inner),
            (true, false) => Chosen::Outer(outer),
            (false, true) => Chosen::Inner(inner),
            (false, false) => {
                let common = ours
                    .iter()
                    .filter(|value| their_values.contains(&ByValue(value)))
                    .map(|value| value.copy(self.budget))
                    .collect();
                Chosen::New(with_data(outer, Data::Array(common)))
            }
        };
        Ok(chosen)
    }

    pub(super) fn limit_enum_to_type(&mut self, sides: &mut Operands<'a>) -> Result<(), Impossible> {
        if sides.is_one_sided(Keywords::of(&[Keyword::Type, Keyword::Enum])) {
            return Ok(());
        }
        let Some(types) = sides.get(Keyword::Type).and_then(InstanceTypes::of_keyword) else { return Ok(()) };
        let Some(values) = sides.get(Keyword::Enum).and_then(Node::as_array) else { return Ok(()) };
        let has_type = |value: &Node<'a>| InstanceTypes::of_instance(value).is_subset_of(types);
        if values.iter().all(has_type) {
            return Ok(());
        }
        if !values.iter().any(has_type) {
            return Err(Impossible);
        }
        let matching = values.iter().filter(|value| has_type(value)).map(|value| value.copy(self.budget)).collect();
        if let Some(merged_member) = sides.merged_member(Keyword::Enum) {
            let previous = match core::mem::replace(&mut merged_member.value, Value::Removed) {
                Value::Merged(chosen) => chosen.into_node(),
                Value::Outer(node) | Value::Inner(node) | Value::Both(node, _) => node,
                Value::Removed => return Ok(()),
            };
            merged_member.value = Value::Merged(Chosen::New(with_data(previous, Data::Array(matching))));
        }
        Ok(())
    }

    /// Returns the tighter of two bounds. `tighter` is `Greater` for minimums and `Less` for maximums.
    pub(super) fn choose_tighter(
        &mut self,
        keyword: Keyword,
        tighter: Ordering,
        outer: Node<'a>,
        inner: Node<'a>,
    ) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (outer.as_number(), inner.as_number()) else {
            return self.keep_outer_unless_equal(keyword, outer, inner);
        };
        match json::compare(ours, theirs) {
            Ordering::Equal => Chosen::Either(outer, inner),
            order if order == tighter => Chosen::Outer(outer),
            _ => Chosen::Inner(inner),
        }
    }

    fn least_common_multiple(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (outer.as_u64(), inner.as_u64()) else {
            return self.keep_outer_unless_equal(Keyword::MultipleOf, outer, inner);
        };
        let common = (ours / common_divisor(ours, theirs).max(1)).checked_mul(theirs).filter(|common| *common > 0);
        match common {
            _ if ours == theirs => Chosen::Either(outer, inner),
            Some(common) if common == ours => Chosen::Outer(outer),
            Some(common) if common == theirs => Chosen::Inner(inner),
            Some(common) => Chosen::New(with_data(outer, Data::Number(Cow::Owned(common.to_string())))),
            None => self.keep_outer_unless_equal(Keyword::MultipleOf, outer, inner),
        }
    }

    fn union_of_names(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (names_in(&outer), names_in(&inner)) else {
            if keyword == Keyword::DependentRequired {
                // A single entry of a table cannot be a residual.
                self.inexact = true;
                return Chosen::Outer(outer);
            }
            return self.keep_outer_unless_equal(keyword, outer, inner);
        };
        let (our_names, their_names): (Set<_>, Set<_>) = (ours.iter().collect(), theirs.iter().collect());
        let adds_nothing = their_names.is_subset(&our_names);
        // The inner list replaces the outer list only if the order of the outer names stays.
        if adds_nothing || our_names.is_subset(&their_names) && theirs.starts_with(&ours) {
            return match (adds_nothing, our_names.is_subset(&their_names)) {
                (true, true) => Chosen::Either(outer, inner),
                (true, false) => Chosen::Outer(outer),
                _ => Chosen::Inner(inner),
            };
        }
        let mut seen = our_names;
        let mut names = json::copies(outer.as_array().unwrap_or_default(), self.budget);
        for (node, name) in inner.as_array().unwrap_or_default().iter().zip(&theirs) {
            if seen.insert(name) {
                names.push(node.copy(self.budget));
            }
        }
        Chosen::New(with_data(outer, Data::Array(names)))
    }

    /// Returns the outer text followed by the inner text, unless one contains the other.
    fn merge_descriptions(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        if self.are_same(&outer, &inner) {
            return Chosen::Either(outer, inner);
        }
        let text = |node: &Node<'a>| node.as_text().and_then(Text::value).map(Cow::into_owned);
        match (text(&outer), text(&inner)) {
            (Some(ours), Some(theirs)) if contains_words(&ours, &theirs) => Chosen::Outer(outer),
            (Some(ours), Some(theirs)) if contains_words(&theirs, &ours) => Chosen::Inner(inner),
            (Some(ours), Some(theirs)) => {
                Chosen::New(with_data(outer, Data::String(format!("{ours}\n{theirs}").into())))
            }
            // Either value is not a string, or contains an unpaired surrogate, which cannot be written.
            _ => {
                self.guidance_lost = true;
                Chosen::Outer(outer)
            }
        }
    }
}

fn with_data<'a>(mut node: Node<'a>, data: Data<'a>) -> Node<'a> {
    node.replace(data);
    node
}

fn common_divisor(one: u64, two: u64) -> u64 {
    let (mut one, mut two) = (one, two);
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

fn names_in<'a>(node: &Node<'a>) -> Option<Vec<Text<'a>>> {
    node.as_array()?.iter().map(|name| name.as_text().cloned()).collect()
}

fn contains_words(text: &str, part: &str) -> bool {
    let joins = |end: Option<char>, start: Option<char>| {
        end.zip(start).is_some_and(|(end, start)| end.is_alphanumeric() && start.is_alphanumeric())
    };
    text.match_indices(part).any(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let after = rest.strip_prefix(part).unwrap_or_default();
        !joins(before.chars().next_back(), part.chars().next())
            && !joins(part.chars().next_back(), after.chars().next())
    })
}

/// A value, ordered by its JSON meaning: numbers by value, objects regardless of the order of members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByValue<'n, 'a>(pub(crate) &'n Node<'a>);

pub(crate) fn values<'n, 'a>(list: &'n [Node<'a>]) -> Set<ByValue<'n, 'a>> {
    list.iter().map(ByValue).collect()
}

impl Ord for ByValue<'_, '_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_values(self.0, other.0)
    }
}

impl PartialOrd for ByValue<'_, '_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByValue<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByValue<'_, '_> {}

fn compare_values(left: &Node<'_>, right: &Node<'_>) -> Ordering {
    match (left.data(), right.data()) {
        (Data::Bool(left), Data::Bool(right)) => left.cmp(right),
        (Data::Number(left), Data::Number(right)) => json::compare(left, right),
        (Data::String(left), Data::String(right)) => left.cmp(right),
        (Data::Array(left), Data::Array(right)) => left.iter().map(ByValue).cmp(right.iter().map(ByValue)),
        (Data::Object(left), Data::Object(right)) => left.len().cmp(&right.len()).then_with(|| {
            let (left, right) = (by_name(left.iter()), by_name(right.iter()));
            let pairs = left.iter().zip(&right);
            let mut orders = pairs
                .map(|(left, right)| left.key.cmp(&right.key).then_with(|| compare_values(&left.value, &right.value)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Data::Verbatim(left), Data::Verbatim(right)) => left.cmp(right),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn by_name<'n, 'a>(members: impl Iterator<Item = &'n Member<'a>>) -> Vec<&'n Member<'a>>
where
    'a: 'n,
{
    collections::sorted_by(members.collect(), |one, two| one.key.cmp(&two.key))
}

const fn rank(node: &Node<'_>) -> u8 {
    match node.data() {
        Data::Null => 0,
        Data::Bool(_) => 1,
        Data::Number(_) => 2,
        Data::String(_) => 3,
        Data::Array(_) => 4,
        Data::Object(_) => 5,
        Data::Verbatim(_) => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::{values, ByValue};
    use crate::json::{read, same};

    #[test]
    fn order_agrees_with_equality() {
        let list = read(
            r#"[null, true, false, 0, -0.0, 1, 1.0, 10e-1, 2, "a", "\u0061", "b", [], [1], [1.0], [1, 2], [[1]],
                {}, {"a": 1}, {"\u0061": 1.0}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2, "b": 1}, {"a": null}]"#,
        )
        .unwrap();
        let list = list.as_array().unwrap();
        for one in list {
            for two in list {
                assert_eq!(ByValue(one) == ByValue(two), same(one, two), "{one:?} {two:?}");
                assert_eq!(ByValue(one).cmp(&ByValue(two)), ByValue(two).cmp(&ByValue(one)).reverse());
            }
        }
        assert_eq!(values(list).len(), 17);
    }
}
