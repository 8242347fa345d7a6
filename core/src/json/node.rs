//! The node: a JSON value with its origin in the input. Copying a node is charged to the budget.

use alloc::{borrow::Cow, vec::Vec};

use super::{Flags, Member, Name, Object, Text};
use crate::budget::Budget;

/// Identifies the input value that a node was read from, by its number in document order. A synthesized value has no
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// Origin of a synthesized value.
    pub const NONE: Origin = Origin(u32::MAX);

    /// Returns the origin of the input value with this number.
    pub const fn new(number: u32) -> Self {
        Origin(number)
    }

    /// Returns the number, unless the value is synthesized.
    pub const fn number(self) -> Option<u32> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0)
        }
    }
}

/// Content of a node. The list is closed: JSON has these kinds of values.
#[derive(Clone, Debug)]
pub enum Data<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is spelled in JSON.
    Number(Cow<'a, str>),
    /// A string.
    String(Text<'a>),
    /// An array.
    Array(Vec<Node<'a>>),
    /// An object.
    Object(Object<'a>),
    /// JSON text of one value, which was checked and is copied unchanged, including whitespace: a message without
    /// anything to rewrite. Its content is not accessible.
    Verbatim(&'a str),
}

/// A JSON value and its origin.
///
/// A node is *intact* if it equals the input value that its origin identifies, including all descendants. Bindings
/// return the caller's own value for intact nodes, and the text path returns the caller's own text for an intact root.
/// Every method that changes a node clears this state. A change of a child through [`Node::visit_children`] clears it
/// for the parents as well.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    data: Data<'a>,
    origin: Origin,
    flags: Flags,
}

const _: () = assert!(
    size_of::<Node<'_>>() <= size_of::<Data<'_>>() + size_of::<u64>(),
    "origin and flags take no more space than one aligned word"
);

impl<'a> Node<'a> {
    /// Returns a synthesized node.
    pub const fn new(data: Data<'a>) -> Self {
        Node { data, origin: Origin::NONE, flags: Flags::NONE }
    }

    /// Returns a node that was read from the input.
    pub const fn read(data: Data<'a>, origin: Origin) -> Self {
        Node { data, origin, flags: Flags::STATE }
    }

    /// Returns a node of checked, unparsed text. `flags` were collected during the check: see
    /// [`read_outline`](super::read_outline).
    pub(crate) const fn verbatim(text: &'a str, origin: Origin, flags: Flags) -> Self {
        Node { data: Data::Verbatim(text), origin, flags: Flags::STATE.union(flags) }
    }

    pub(crate) const fn flags(&self) -> Flags {
        self.flags
    }

    /// Adds flags. Replacing the content of the node clears them.
    pub(crate) fn flag(&mut self, flags: Flags) {
        self.flags = self.flags | flags;
    }

    pub(crate) fn unflag(&mut self, flags: Flags) {
        self.flags = self.flags.without(flags);
    }

    /// Returns a synthesized string.
    pub fn string(value: impl Into<Text<'a>>) -> Self {
        Node::new(Data::String(value.into()))
    }

    pub(crate) const fn literal(value: &'static str) -> Self {
        Node::new(Data::String(Text::literal(value)))
    }

    /// Returns a synthesized boolean.
    pub const fn bool(value: bool) -> Self {
        Node::new(Data::Bool(value))
    }

    /// Returns a synthesized non-negative integer.
    pub fn count(value: u64) -> Self {
        Node::new(Data::Number(Cow::Owned(super::number::spell(value))))
    }

    /// Returns a synthesized array.
    pub const fn array(items: Vec<Node<'a>>) -> Self {
        Node::new(Data::Array(items))
    }

    /// Returns a synthesized object.
    pub const fn object(object: Object<'a>) -> Self {
        Node::new(Data::Object(object))
    }

    /// Returns an object with these members, whose names must be unique.
    pub(crate) fn record<const N: usize>(members: [(&'static str, Node<'a>); N]) -> Self {
        Node::object(Object::from_unique(
            members.into_iter().map(|(key, value)| Member { key: Text::literal(key), value }).collect(),
        ))
    }

    /// Returns `{}`.
    pub const fn empty_object() -> Self {
        Node::object(Object::new())
    }

    /// Returns the content.
    pub const fn data(&self) -> &Data<'a> {
        &self.data
    }

    /// Returns a mutable reference to the content. The node is no longer intact.
    pub fn data_mut(&mut self) -> &mut Data<'a> {
        self.unflag(Flags::STATE);
        &mut self.data
    }

    /// Consumes the node and returns its content.
    pub fn into_data(self) -> Data<'a> {
        self.data
    }

    /// Returns the origin. Changes of the node do not affect it.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns true if the node equals the input value that its origin identifies.
    pub const fn is_intact(&self) -> bool {
        self.flags.intersects(Flags::INTACT)
    }

    pub(crate) const fn is_unchanged(&self) -> bool {
        self.flags.intersects(Flags::UNCHANGED)
    }

    /// Starts to record changes: flags every value of the tree as unchanged. A synthesized value gets the origin of the
    /// nearest enclosing value with an origin, or `around`. Clears the flags of references.
    pub(crate) fn track(&mut self, around: Origin) {
        fn track(node: &mut Node<'_>, around: Origin) {
            if node.origin == Origin::NONE {
                node.origin = around;
            }
            node.flag(Flags::UNCHANGED);
            match &mut node.data {
                Data::Array(items) => items.iter_mut().for_each(|item| track(item, node.origin)),
                Data::Object(object) => {
                    object.members_mut().iter_mut().for_each(|member| track(&mut member.value, node.origin))
                }
                Data::String(_) => node.unflag(Flags::REFERENCE),
                _ => {}
            }
        }
        track(self, around);
    }

    /// Flags every value as unchanged, and returns true if any value was changed. Visits only changed values, because
    /// all values inside an unchanged value are unchanged.
    pub(crate) fn clear_changed(&mut self) -> bool {
        if self.is_unchanged() {
            return false;
        }
        self.flag(Flags::UNCHANGED);
        match &mut self.data {
            Data::Array(items) => items.iter_mut().for_each(|item| {
                item.clear_changed();
            }),
            Data::Object(object) => object.members_mut().iter_mut().for_each(|member| {
                member.value.clear_changed();
            }),
            _ => {}
        }
        true
    }

    pub(crate) const fn shell(&self) -> Shell {
        Shell { origin: self.origin, flags: self.flags }
    }

    /// Sets the origin of a synthesized value, so that reports can refer to an input value.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub(crate) fn number_in_order(&mut self) {
        let mut next = 0;
        let mut open = alloc::vec![self];
        while let Some(node) = open.pop() {
            node.origin = Origin::new(next);
            next = next.saturating_add(1);
            match &mut node.data {
                Data::Array(items) => open.extend(items.iter_mut().rev()),
                Data::Object(object) => {
                    open.extend(object.members_mut().iter_mut().rev().map(|member| &mut member.value))
                }
                _ => {}
            }
        }
    }

    /// Makes the tree a separate document: numbers its values in document order, and marks no value as intact.
    pub(crate) fn make_document(&mut self) {
        self.number_in_order();
        let mut open = alloc::vec![self];
        while let Some(node) = open.pop() {
            node.unflag(Flags::INTACT);
            node.flag(Flags::UNCHANGED);
            match &mut node.data {
                Data::Array(items) => open.extend(items.iter_mut()),
                Data::Object(object) => {
                    open.extend(object.members_mut().iter_mut().map(|member| &mut member.value));
                }
                _ => {}
            }
        }
    }

    /// Returns the number of values that were read. The last value has the highest number.
    pub(crate) fn values_read(&self) -> usize {
        let mut last = self;
        loop {
            let inner = match &last.data {
                Data::Array(items) => items.last(),
                Data::Object(object) => object.iter().last().map(|member| &member.value),
                _ => None,
            };
            match inner {
                Some(inner) => last = inner,
                None => break,
            }
        }
        let (first, last) = (self.origin.number().unwrap_or(0), last.origin.number().unwrap_or(0));
        last.saturating_sub(first) as usize + 1
    }

    /// Replaces the content. Keeps the origin.
    pub fn replace(&mut self, data: Data<'a>) {
        self.data = data;
        self.flags = Flags::NONE;
    }

    /// Marks the node as changed.
    pub fn touch(&mut self) {
        self.unflag(Flags::STATE);
    }

    /// Returns the object, or `None` for any other kind of value.
    pub const fn as_object(&self) -> Option<&Object<'a>> {
        match &self.data {
            Data::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns a mutable reference to the object. The node is no longer intact.
    pub fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match &mut self.data {
            Data::Object(object) => {
                self.flags = self.flags.without(Flags::STATE);
                Some(object)
            }
            _ => None,
        }
    }

    /// Returns the items of an array, or `None` for any other kind of value.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns a mutable reference to the items of an array. The node is no longer intact.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Node<'a>>> {
        match &mut self.data {
            Data::Array(items) => {
                self.flags = self.flags.without(Flags::STATE);
                Some(items)
            }
            _ => None,
        }
    }

    /// Returns the string, or `None` for any other kind of value.
    pub const fn as_text(&self) -> Option<&Text<'a>> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the boolean, or `None` for any other kind of value.
    pub const fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number as it is spelled, or `None` for any other kind of value.
    pub fn as_number(&self) -> Option<&str> {
        match &self.data {
            Data::Number(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number as an unsigned integer, if it is spelled as one and fits into 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(super::number::as_u64)
    }

    /// Returns true if the value is this string.
    #[inline(never)]
    pub fn is_text(&self, value: &str) -> bool {
        self.as_text().is_some_and(|text| text.has_value(value))
    }

    /// Returns true if the value is null, including unparsed text that is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null | Data::Verbatim("null"))
    }

    /// Returns the value of a member of an object.
    pub fn get(&self, key: impl Name) -> Option<&Node<'a>> {
        self.as_object()?.get(key)
    }

    pub(crate) const fn is_container(&self) -> bool {
        matches!(self.data, Data::Array(_) | Data::Object(_))
    }

    /// Returns true if `test` holds for any member, at any depth. This is faster than a walk over schemas, because it
    /// does not distinguish keywords from other members. It takes linear time, and charges no budget.
    pub(crate) fn has_member(&self, test: impl Fn(&Member<'a>) -> bool) -> bool {
        let mut open = Vec::from([self]);
        // Most values are neither arrays nor objects. They are not added to the list of values to visit.
        while let Some(node) = open.pop() {
            match node.data() {
                Data::Array(items) => open.extend(items.iter().filter(|item| item.is_container())),
                Data::Object(object) => {
                    for member in object {
                        if test(member) {
                            return true;
                        }
                        if member.value.is_container() {
                            open.push(&member.value);
                        }
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// Returns the items of a member that is an array.
    pub fn array_at(&self, key: impl Name) -> Option<&[Node<'a>]> {
        self.get(key)?.as_array()
    }

    /// Returns the items of a member that is an array, and no items for any other value.
    pub fn items_at(&self, key: impl Name) -> &[Node<'a>] {
        self.array_at(key).unwrap_or_default()
    }

    /// Returns a member that is an object.
    pub fn object_at(&self, key: impl Name) -> Option<&Object<'a>> {
        self.get(key)?.as_object()
    }

    /// Returns a member that is a string.
    pub fn text_at(&self, key: impl Name) -> Option<&Text<'a>> {
        self.get(key)?.as_text()
    }

    /// Returns a member that is a boolean.
    pub fn bool_at(&self, key: impl Name) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// Returns a member that is an unsigned integer, like [`Node::as_u64`].
    pub fn u64_at(&self, key: impl Name) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// Sets a member of an object. An existing member keeps its position, and a new member is appended.
    pub fn set(&mut self, key: &'static str, value: Node<'a>) {
        if let Some(object) = self.as_object_mut() {
            object.set(Text::literal(key), value);
        }
    }

    /// Removes a member of an object. An object without this member stays intact.
    pub fn remove(&mut self, key: &str) -> Option<Node<'a>> {
        self.get(key)?;
        self.as_object_mut()?.remove(key)
    }

    /// Calls `visit` with a member of an object. If `visit` changes the member, this node is no longer intact.
    pub fn visit<R>(&mut self, key: impl Name, visit: impl FnOnce(&mut Node<'a>) -> R) -> Option<R> {
        let Data::Object(object) = &mut self.data else { return None };
        let child = object.get_mut(key)?;
        let result = visit(child);
        self.flags = self.flags.without(Flags::STATE.without(child.flags));
        Some(result)
    }

    /// Calls `visit` with every child and its name or index. If `visit` changes a child, this node is no longer intact.
    /// Stops at the first error.
    pub fn visit_children<E>(
        &mut self,
        mut visit: impl FnMut(Child<'_, 'a>, &mut Node<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (items, members): (&mut [Node<'a>], &mut [Member<'a>]) = match &mut self.data {
            Data::Array(items) => (items, &mut []),
            Data::Object(object) => (&mut [], object.members_mut()),
            _ => return Ok(()),
        };
        let items = items.iter_mut().enumerate().map(|(index, item)| (Child::Item(index), item));
        let members = members.iter_mut().map(|member| (Child::Member(&member.key), &mut member.value));
        // Items and members share one call to `visit`, so that the compiler can inline it.
        for (child, node) in items.chain(members) {
            let result = visit(child, node);
            self.flags = self.flags.without(Flags::STATE.without(node.flags));
            result?;
        }
        Ok(())
    }

    /// Returns the kind of JSON value, as messages name it.
    pub const fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::String(_) => "a string",
            Data::Array(_) => "an array",
            Data::Object(_) => "an object",
            Data::Verbatim(_) => "JSON text",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell {
    origin: Origin,
    flags: Flags,
}

impl Shell {
    pub(crate) const fn around(self, data: Data<'_>) -> Node<'_> {
        Node { data, origin: self.origin, flags: self.flags }
    }

    pub(crate) const fn flags(self) -> Flags {
        self.flags
    }
}

/// Position of a child in its parent. The list is closed.
#[derive(Clone, Copy, Debug)]
pub enum Child<'c, 'a> {
    /// The member with this name.
    Member(&'c Text<'a>),
    /// The item at this index.
    Item(usize),
}

impl Default for Node<'_> {
    fn default() -> Self {
        Node::new(Data::Null)
    }
}

impl<'a> Node<'a> {
    /// Copies the tree, and charges each copied node to the budget. Once the budget is spent, the remaining values are
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

    /// Returns a synthesized node that borrows nothing. Unparsed text cannot be kept, and becomes null.
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

pub(crate) fn copies<'a>(items: &[Node<'a>], budget: &Budget) -> Vec<Node<'a>> {
    items.iter().map(|item| item.copy(budget)).collect()
}

/// Returns the number of nested levels. Charges each value to the budget. Avoids recursion, because the value may be
/// nested too deeply for it.
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

/// Returns the approximate size in memory, in bytes: nodes, names and strings.
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
