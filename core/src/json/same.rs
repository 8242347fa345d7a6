//! Compares values: by the equality of JSON Schema, and by canonical text.

use alloc::vec::Vec;

use super::{Data, Member, Node, Object};
use crate::budget::Budget;

/// Returns true if two values are equal as JSON Schema defines it: numbers by value (`1` is `1.0`), objects regardless
/// of order.
pub fn same(left: &Node<'_>, right: &Node<'_>) -> bool {
    compare_pairs(left, right, &mut |_| true)
}

/// Like [`same`], but charges its steps to a budget. Returns false if the budget is spent.
pub(crate) fn same_within(budget: &Budget, left: &Node<'_>, right: &Node<'_>) -> bool {
    budget.pay(1) && compare_pairs(left, right, &mut |steps| budget.pay(steps))
}

/// Compares two values and all values inside them. Avoids recursion, so that values may nest to any depth.
fn compare_pairs(left: &Node<'_>, right: &Node<'_>, pay: &mut dyn FnMut(usize) -> bool) -> bool {
    let mut open = Vec::new();
    let mut next = Some((left, right));
    while let Some((left, right)) = next {
        let alike = match (left.data(), right.data()) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(left), Data::Bool(right)) => left == right,
            (Data::Number(left), Data::Number(right)) => super::compare(left, right).is_eq(),
            (Data::String(left), Data::String(right)) => left == right,
            (Data::Array(left), Data::Array(right)) => {
                open.extend(left.iter().zip(right).rev());
                left.len() == right.len() && pay(left.len())
            }
            (Data::Object(left), Data::Object(right)) => {
                left.len() == right.len()
                    && pay(left.len())
                    && each_pair(left, right, &mut |left, right| open.push((left, right)))
            }
            (Data::Verbatim(left), Data::Verbatim(right)) => left == right,
            _ => false,
        };
        if !alike {
            return false;
        }
        next = open.pop();
    }
    true
}

/// Calls `each` with the two values of every name, for two objects of equal size. Returns false if only one object has
/// a name.
fn each_pair<'o, 'p, 'a, 'b>(
    left: &'o Object<'a>,
    right: &'p Object<'b>,
    each: &mut dyn FnMut(&'o Node<'a>, &'p Node<'b>),
) -> bool {
    // The orders of the names are usually equal, and no look-up is needed.
    if left.iter().zip(right).all(|(left, right)| left.key == right.key) {
        left.iter().zip(right).for_each(|(left, right)| each(&left.value, &right.value));
        return true;
    }
    let index = right.index();
    left.iter().all(|member| match index.get(&member.key).and_then(|index| right.iter().nth(*index)) {
        Some(twin) => {
            each(&member.value, &twin.value);
            true
        }
        None => false,
    })
}

/// Returns the canonical text of a value: members are sorted, and numbers are written by value. Two values have equal
/// texts exactly if they are [`same`].
pub fn canonical(node: &Node<'_>) -> alloc::string::String {
    fn emit(node: &Node<'_>, out: &mut alloc::string::String) {
        use core::fmt::Write as _;
        match node.data() {
            Data::Number(text) => out.push_str(&super::number::canonical(text)),
            Data::String(text) => {
                out.push('"');
                for point in text.code_points() {
                    // Writing into a String cannot fail.
                    let _ = write!(out, "{point:x},");
                }
            }
            Data::Array(items) => {
                out.push('[');
                items.iter().for_each(|item| {
                    emit(item, out);
                    out.push(',');
                });
                out.push(']');
            }
            Data::Object(object) => {
                out.push('{');
                let members: Vec<&Member<'_>> = object.iter().collect();
                for member in crate::collections::sorted_by(members, |left, right| left.key.cmp(&right.key)) {
                    emit(&Node::string(member.key.borrowed()), out);
                    emit(&member.value, out);
                    out.push(',');
                }
                out.push('}');
            }
            _ => super::write_into(node, out),
        }
    }
    let mut out = alloc::string::String::new();
    emit(node, &mut out);
    out
}
