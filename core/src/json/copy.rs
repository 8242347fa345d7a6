//! Copies of values: the budget pays for each node.

use alloc::{borrow::Cow, vec::Vec};

use super::{Data, Member, Node, Object, Text};
use crate::budget::Budget;

impl<'a> Node<'a> {
    /// Returns a copy. Each copied node is paid from the budget. Once the budget is spent, the remaining values are
    /// null.
    pub(crate) fn copy(&self, budget: &Budget) -> Node<'a> {
        let data = match self.data() {
            _ if !budget.pay(1) => Data::Null,
            Data::Null => Data::Null,
            Data::Bool(value) => Data::Bool(*value),
            Data::Number(text) => Data::Number(text.clone()),
            Data::String(text) => Data::String(text.clone()),
            Data::Verbatim(text) => Data::Verbatim(text),
            Data::Array(items) => Data::Array(copies(items, budget)),
            Data::Object(object) => Data::Object(object.copy(budget)),
        };
        self.shell().around(data)
    }

    /// Returns the same value as a synthesized node that borrows nothing. (Unparsed text cannot be kept, and becomes
    /// null.)
    pub(crate) fn detached(&self) -> Node<'static> {
        Node::new(match self.data() {
            Data::Null | Data::Verbatim(_) => Data::Null,
            Data::Bool(value) => Data::Bool(*value),
            Data::Number(text) => Data::Number(Cow::Owned(text.clone().into_owned())),
            Data::String(text) => Data::String(text.clone().into_owned()),
            Data::Array(items) => Data::Array(items.iter().map(Node::detached).collect()),
            Data::Object(object) => {
                let detach = |member: &Member<'_>| Member {
                    key: member.key.clone().into_owned(),
                    value: member.value.detached(),
                };
                Data::Object(Object::from_unique(object.iter().map(detach).collect()))
            }
        })
    }
}

/// Returns copies, which the budget pays for.
pub(crate) fn copies<'a>(items: &[Node<'a>], budget: &Budget) -> Vec<Node<'a>> {
    items.iter().map(|item| item.copy(budget)).collect()
}

/// Returns the nesting depth of a value. Uses a list of open values, because the value may be nested too deeply for
/// recursion. The budget pays for each value.
pub(crate) fn height(node: &Node<'_>, budget: &Budget) -> usize {
    let (mut highest, mut open) = (0, alloc::vec![(node, 0)]);
    while let Some((node, level)) = open.pop().filter(|_| budget.pay(1)) {
        highest = highest.max(level);
        match node.data() {
            Data::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Data::Object(object) => open.extend(object.iter().map(|member| (&member.value, level + 1))),
            _ => {}
        }
    }
    highest
}

/// Returns the number of values in a tree. The budget pays for each value.
pub(crate) fn size(node: &Node<'_>, budget: &Budget) -> usize {
    let (mut count, mut open) = (0, alloc::vec![node]);
    while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
        count += 1;
        match node.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) => open.extend(object.iter().map(|member| &member.value)),
            _ => {}
        }
    }
    count.max(1)
}

/// Returns the approximate size of a tree in memory, in bytes: its nodes, names and strings.
pub(crate) fn weight(node: &Node<'_>) -> usize {
    let (mut bytes, mut open) = (0_usize, alloc::vec![node]);
    while let Some(node) = open.pop() {
        bytes += size_of::<Node<'_>>();
        match node.data() {
            Data::Array(items) => open.extend(items),
            Data::Object(object) => {
                for member in object {
                    bytes += size_of::<Text<'_>>() + member.key.chars().len();
                    open.push(&member.value);
                }
            }
            Data::String(text) => bytes += text.chars().len(),
            _ => {}
        }
    }
    bytes
}
