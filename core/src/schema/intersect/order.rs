//! Total order of JSON values whose equality is that of `json::same`, so that long lists can be compared through an
//! index.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::{
    collections::{self, Set},
    json::{self, Data, Member, Node},
};

/// A value, ordered by its JSON meaning: numbers by value, objects regardless of the order of members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByValue<'n, 'a>(pub(crate) &'n Node<'a>);

/// Returns the distinct values of a list.
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
