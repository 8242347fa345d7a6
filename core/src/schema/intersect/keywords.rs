//! Merges two values of one keyword that does not depend on others. Long lists are compared through an index, in a
//! total order of JSON values whose equality is `json::same`.

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
    pub(super) fn doubt_older_spellings(&mut self, outer: &Node<'a>, inner: &Node<'a>) {
        let has =
            |node: &Node<'a>, keywords: &[Keyword]| keywords.iter().any(|keyword| node.get(keyword.name()).is_some());
        let is = |node: &Node<'a>, keyword: Keyword| {
            node.get(keyword.name()).is_some_and(|value| value.as_bool() == Some(true))
        };
        for (one, other) in [(outer, inner), (inner, outer)] {
            self.inexact |= is(one, Keyword::Nullable) && has(other, &[Keyword::Type, Keyword::Enum, Keyword::Const])
                || has(one, &[Keyword::AdditionalItems]) && has(other, &[Keyword::Items, Keyword::PrefixItems])
                || is(one, Keyword::ExclusiveMinimum) && has(other, &[Keyword::Minimum])
                || is(one, Keyword::ExclusiveMaximum) && has(other, &[Keyword::Maximum]);
        }
    }

    pub(super) fn value(&mut self, merged_member: &mut MergedMember<'a>) -> Result<(), Impossible> {
        let (Some(outer), Some(inner)) = merged_member.value.take() else { return Ok(()) };
        let kept = match merged_member.keyword {
            Some(keyword) if matches!(keyword.role(), Role::Assertion | Role::Definitions) => {
                self.assertion(keyword, outer, inner)?
            }
            Some(Keyword::Description) => self.description(outer, inner),
            keyword => {
                let same = self.same(&outer, &inner);
                self.guidance_lost |= !same && keyword != Some(Keyword::Comment);
                if same {
                    Chosen::Either(outer, inner)
                } else {
                    Chosen::Outer(outer)
                }
            }
        };
        merged_member.value = Value::Merged(kept);
        Ok(())
    }

    fn assertion(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        match keyword {
            Keyword::Type => self.types(outer, inner),
            Keyword::Enum => self.enums(outer, inner),
            Keyword::Const if self.same(&outer, &inner) => Ok(Chosen::Either(outer, inner)),
            Keyword::Const => Err(Impossible),
            Keyword::Minimum
            | Keyword::ExclusiveMinimum
            | Keyword::MinLength
            | Keyword::MinItems
            | Keyword::MinProperties => Ok(self.tighter(keyword, Ordering::Greater, outer, inner)),
            Keyword::Maximum
            | Keyword::ExclusiveMaximum
            | Keyword::MaxLength
            | Keyword::MaxItems
            | Keyword::MaxProperties => Ok(self.tighter(keyword, Ordering::Less, outer, inner)),
            Keyword::MultipleOf => Ok(self.least_common_multiple(outer, inner)),
            Keyword::UniqueItems => Ok(match (outer.as_bool(), inner.as_bool()) {
                (Some(true), Some(false)) => Chosen::Outer(outer),
                (Some(false), Some(true)) => Chosen::Inner(inner),
                _ => self.equal(keyword, outer, inner),
            }),
            Keyword::Required => Ok(self.union_of_names(keyword, outer, inner)),
            Keyword::DependentRequired => {
                Ok(self.table(keyword, outer, inner, |merge, outer, inner| merge.union_of_names(keyword, outer, inner)))
            }
            Keyword::DependentSchemas => Ok(self.table(keyword, outer, inner, Merge::schema)),
            Keyword::Defs | Keyword::Definitions => Ok(self.table(keyword, outer, inner, |merge, outer, inner| {
                // References of the outer schema keep their meaning; references of the inner schema are the caller's
                // task.
                let same = merge.same(&outer, &inner);
                merge.inexact |= !same;
                if same {
                    Chosen::Either(outer, inner)
                } else {
                    Chosen::Outer(outer)
                }
            })),
            Keyword::PropertyNames | Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties => {
                Ok(self.merge_under(keyword, outer, inner))
            }
            Keyword::AllOf => Ok(self.all_of(outer, inner)),
            Keyword::AnyOf => self.any_of(outer, inner),
            Keyword::Not => self.not(outer, inner),
            _ => Ok(self.equal(keyword, outer, inner)),
        }
    }

    pub(super) fn equal(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        if self.same(&outer, &inner) {
            return Chosen::Either(outer, inner);
        }
        self.push_residual(Operand::Inner, keyword, [(keyword, inner)]);
        Chosen::Outer(outer)
    }

    fn types(&mut self, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        let (Some(ours), Some(theirs)) = (InstanceTypes::of_keyword(&outer), InstanceTypes::of_keyword(&inner)) else {
            return Ok(self.equal(Keyword::Type, outer, inner));
        };
        match ours.and(theirs) {
            InstanceTypes::NONE => Err(Impossible),
            types if types == ours && types == theirs => Ok(Chosen::Either(outer, inner)),
            types if types == ours => Ok(Chosen::Outer(outer)),
            types if types == theirs => Ok(Chosen::Inner(inner)),
            types => {
                let data = types.spelled_like(&outer);
                Ok(Chosen::New(replaced(outer, data)))
            }
        }
    }

    fn enums(&mut self, outer: Node<'a>, inner: Node<'a>) -> Result<Chosen<'a>, Impossible> {
        let (Some(ours), Some(theirs)) = (outer.as_array(), inner.as_array()) else {
            return Ok(self.equal(Keyword::Enum, outer, inner));
        };
        let (our_values, their_values) = (values(ours), values(theirs));
        let common = ours.iter().filter(|value| their_values.contains(&ByValue(value)));
        let (common, distinct) =
            (common.count(), our_values.iter().filter(|value| their_values.contains(*value)).count());
        if distinct == 0 {
            return Err(Impossible);
        }
        let kept = match (common == ours.len(), distinct == their_values.len()) {
            (true, true) => Chosen::Either(outer, inner),
            (true, false) => Chosen::Outer(outer),
            (false, true) => Chosen::Inner(inner),
            (false, false) => {
                let common = ours
                    .iter()
                    .filter(|value| their_values.contains(&ByValue(value)))
                    .map(|value| value.copy(self.budget))
                    .collect();
                Chosen::New(replaced(outer, Data::Array(common)))
            }
        };
        Ok(kept)
    }

    pub(super) fn enum_within_type(&mut self, sides: &mut Operands<'a>) -> Result<(), Impossible> {
        if sides.is_one_sided(Keywords::of(&[Keyword::Type, Keyword::Enum])) {
            return Ok(());
        }
        let Some(types) = sides.get(Keyword::Type).and_then(InstanceTypes::of_keyword) else { return Ok(()) };
        let Some(values) = sides.get(Keyword::Enum).and_then(Node::as_array) else { return Ok(()) };
        let fits = |value: &Node<'a>| InstanceTypes::of_instance(value).within(types);
        if values.iter().all(fits) {
            return Ok(());
        }
        if !values.iter().any(fits) {
            return Err(Impossible);
        }
        let fitting = values.iter().filter(|value| fits(value)).map(|value| value.copy(self.budget)).collect();
        if let Some(merged_member) = sides.merged_member(Keyword::Enum) {
            let before = match core::mem::replace(&mut merged_member.value, Value::Removed) {
                Value::Merged(kept) => kept.into_node(),
                Value::Outer(node) | Value::Inner(node) | Value::Both(node, _) => node,
                Value::Removed => return Ok(()),
            };
            merged_member.value = Value::Merged(Chosen::New(replaced(before, Data::Array(fitting))));
        }
        Ok(())
    }

    /// `side` is the order of the tighter bound.
    pub(super) fn tighter(&mut self, keyword: Keyword, side: Ordering, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (outer.as_number(), inner.as_number()) else {
            return self.equal(keyword, outer, inner);
        };
        match json::compare(ours, theirs) {
            Ordering::Equal => Chosen::Either(outer, inner),
            order if order == side => Chosen::Outer(outer),
            _ => Chosen::Inner(inner),
        }
    }

    fn least_common_multiple(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (outer.as_u64(), inner.as_u64()) else {
            return self.equal(Keyword::MultipleOf, outer, inner);
        };
        let common = (ours / common_divisor(ours, theirs).max(1)).checked_mul(theirs).filter(|common| *common > 0);
        match common {
            _ if ours == theirs => Chosen::Either(outer, inner),
            Some(common) if common == ours => Chosen::Outer(outer),
            Some(common) if common == theirs => Chosen::Inner(inner),
            Some(common) => Chosen::New(replaced(outer, Data::Number(Cow::Owned(common.to_string())))),
            None => self.equal(Keyword::MultipleOf, outer, inner),
        }
    }

    fn union_of_names(&mut self, keyword: Keyword, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        let (Some(ours), Some(theirs)) = (texts(&outer), texts(&inner)) else {
            if keyword == Keyword::DependentRequired {
                // A single entry of a table cannot be a residual.
                self.inexact = true;
                return Chosen::Outer(outer);
            }
            return self.equal(keyword, outer, inner);
        };
        let (known, theirs_known): (Set<_>, Set<_>) = (ours.iter().collect(), theirs.iter().collect());
        let nothing_new = theirs_known.is_subset(&known);
        if nothing_new || known.is_subset(&theirs_known) && theirs.starts_with(&ours) {
            return match (nothing_new, known.is_subset(&theirs_known)) {
                (true, true) => Chosen::Either(outer, inner),
                (true, false) => Chosen::Outer(outer),
                _ => Chosen::Inner(inner),
            };
        }
        let mut seen = known;
        let mut names = json::copies(outer.as_array().unwrap_or_default(), self.budget);
        for (node, name) in inner.as_array().unwrap_or_default().iter().zip(&theirs) {
            if seen.insert(name) {
                names.push(node.copy(self.budget));
            }
        }
        Chosen::New(replaced(outer, Data::Array(names)))
    }

    /// Returns the outer text followed by the inner text, unless one contains the other.
    fn description(&mut self, outer: Node<'a>, inner: Node<'a>) -> Chosen<'a> {
        if self.same(&outer, &inner) {
            return Chosen::Either(outer, inner);
        }
        let text = |node: &Node<'a>| node.as_text().and_then(Text::value).map(Cow::into_owned);
        match (text(&outer), text(&inner)) {
            (Some(ours), Some(theirs)) if contains_words(&ours, &theirs) => Chosen::Outer(outer),
            (Some(ours), Some(theirs)) if contains_words(&theirs, &ours) => Chosen::Inner(inner),
            (Some(ours), Some(theirs)) => {
                Chosen::New(replaced(outer, Data::String(format!("{ours}\n{theirs}").into())))
            }
            // Either value is not a string, or contains an unpaired surrogate, which cannot be written.
            _ => {
                self.guidance_lost = true;
                Chosen::Outer(outer)
            }
        }
    }
}

fn replaced<'a>(mut node: Node<'a>, data: Data<'a>) -> Node<'a> {
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

fn texts<'a>(node: &Node<'a>) -> Option<Vec<Text<'a>>> {
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
        order(self.0, other.0)
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

fn order(one: &Node<'_>, two: &Node<'_>) -> Ordering {
    match (one.data(), two.data()) {
        (Data::Bool(one), Data::Bool(two)) => one.cmp(two),
        (Data::Number(one), Data::Number(two)) => json::compare(one, two),
        (Data::String(one), Data::String(two)) => one.cmp(two),
        (Data::Array(one), Data::Array(two)) => one.iter().map(ByValue).cmp(two.iter().map(ByValue)),
        (Data::Object(one), Data::Object(two)) => one.len().cmp(&two.len()).then_with(|| {
            let (one, two) = (by_name(one.iter()), by_name(two.iter()));
            let pairs = one.iter().zip(&two);
            let mut orders = pairs.map(|(one, two)| one.key.cmp(&two.key).then_with(|| order(&one.value, &two.value)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Data::Verbatim(one), Data::Verbatim(two)) => one.cmp(two),
        _ => rank(one).cmp(&rank(two)),
    }
}

fn by_name<'n, 'a>(members: impl Iterator<Item = &'n Member<'a>>) -> Vec<&'n Member<'a>>
where
    'a: 'n,
{
    collections::by(members.collect(), |one, two| one.key.cmp(&two.key))
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
